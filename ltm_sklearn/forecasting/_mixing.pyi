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
    old_from: Integers,
    old_versions: Floats,
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
    new_from: Integers,
    new_versions: Floats,
    predictions: Floats,
    weights: Floats | None,
    loss_sums: Floats,
    n_further: int,
) -> int: ...
