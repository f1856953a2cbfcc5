from typing import Any

from ._validation import Floats

class MemoryRounds:
    rounds: int
    def __init__(
        self,
        state: dict[str, Any],
        rates: Floats,
        tracker_rates: Floats,
        switching: Floats,
        memory: Floats,
        memory_follows: Floats,
        potential_floor: float,
        belief_floor: float,
        weight_floor: float,
        avx2: bool | None = None,
    ) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def weights(self) -> Floats: ...
    def run(self, losses: Floats, awake: Floats | None = None) -> Floats: ...
    def update(self, losses: Any) -> bool: ...

def has_avx2() -> bool: ...
