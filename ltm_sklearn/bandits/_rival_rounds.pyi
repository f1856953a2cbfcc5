from .._typing import Floats
from ._validation import Arms

def exponential_rounds(
    losses: Floats,
    uniforms: Floats,
    played: Arms,
    gains: Floats,
    rate: float,
    exploration: float,
    implicit: float,
    baseline: float,
    smallest_chance: float,
    low: float,
    high: float,
) -> None: ...
def sharing_rounds(
    losses: Floats,
    uniforms: Floats,
    played: Arms,
    weights: Floats,
    rate: float,
    exploration: float,
    share: float,
    smallest_chance: float,
    largest_exponent: float,
    smallest_weight: float,
    low: float,
    high: float,
) -> None: ...
def discounted_rounds(
    losses: Floats,
    uniforms: Floats,
    played: Arms,
    counts: Floats,
    sums: Floats,
    discount: float,
    exploration: float,
    tiny: float,
    rounding: float,
    low: float,
    high: float,
) -> None: ...
def window_rounds(
    losses: Floats,
    uniforms: Floats,
    played: Arms,
    before: Arms,
    gains_before: Floats,
    window: int,
    exploration: float,
    rounding: float,
    low: float,
    high: float,
) -> tuple[Arms, Floats]: ...
