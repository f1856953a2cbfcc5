from collections.abc import Callable
from typing import Any

from .._typing import Floats

class MemoryRounds:
    rounds: int
    def __init__(
        self,
        state: dict[str, Any],
        rates: Floats,
        tracker_rates: Floats,
        switching: Floats,
        memory: float,
        sharpening_prior: Callable[[Floats], Floats],
        potential_floor: float,
        tracker_sharing: float,
        belief_floor: float,
        weight_floor: float,
        sharpened_from: float,
        avx2: bool | None = None,
    ) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def weights(self) -> Floats: ...
    def run(self, losses: Floats, awake: Floats | None = None) -> Floats: ...
    def update(self, losses: Any) -> bool: ...

def share_rounds(
    losses: Floats,
    awake: Floats | None,
    weights: Floats,
    memory: Floats,
    rate: float,
    switching: Floats,
    memory_rates: Floats,
    weight_floor: float,
    avx2: bool | None = None,
) -> tuple[Floats, Floats, Floats, int]: ...
def has_avx2() -> bool: ...
