from .._typing import Floats
from ._validation import Arms

def play(
    losses: Floats,
    uniforms: Floats,
    played: Arms,
    cumulative: Floats,
    weights: Floats,
    confidence: Floats,
    multiplier: float,
    rates: Floats,
    barrier: float,
    floor: float,
    bias: float,
    exploration: float,
) -> float: ...
