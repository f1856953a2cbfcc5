from typing import Any

from .._typing import Floats
from ._validation import Arms

def memory_rounds(
    losses: Floats,
    uniforms: Floats,
    played: Arms,
    state: dict[str, Any],
    switching: Floats,
    prior_belief: Floats,
    prior_trust: Floats,
    filter_constants: dict[str, float],
    constants: dict[str, float],
) -> dict[str, Any]: ...
