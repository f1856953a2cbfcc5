from typing import Any

from .._typing import Integers
from ..experts._kernel import MemoryRounds
from .._typing import Floats

SQUARED: int
ABSOLUTE: int
PINBALL: int
PERCENTAGE: int
HUBER: int
LOG_COSH: int

def run(
    follow: MemoryRounds,
    follow_linear: bool,
    poly: dict[str, Any] | None,
    arbiter: MemoryRounds | None,
    mean: Floats | None,
    gaps: Floats,
    held_until: Integers,
    held: Floats,
    starts: Integers,
    issue: Integers,
    known_at: Integers,
    n_complete: int,
    forecasts: Floats,
    targets: Floats,
    awake: Floats | None,
    row_weights: Floats | None,
    kind: int,
    parameters: Floats,
    growth: float,
    fading: float,
    kept_until: Integers,
    kept: Floats,
    predictions: Floats,
    weights: Floats | None,
    tally: Floats,
    n_further: int,
) -> int: ...
