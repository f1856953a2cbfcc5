from typing import Any

from .._typing import Floats

ZERO_ONE: int
BRIER: int
LOG: int

class Row:
    def answers(self) -> Floats: ...
    def losses_of_live(self) -> list[float]: ...

class ClassRow(Row):
    def __init__(
        self,
        asks: list[Any],
        learns: list[tuple[int, Any]],
        live: list[int],
        members: list[tuple[Any, Any]],
        between: tuple[Any, Any] | None,
        expert_stats: Floats,
        classes: dict[Any, int],
        loss: int,
        rounding: float,
        smallest: float,
        safe_margin: float,
        stack: Any,
    ) -> None: ...
    def label(self, x: Any) -> Any: ...
    def chances(self, x: Any) -> dict[Any, float] | None: ...
    def learn(self, x: Any, y: Any, truth: int, score: Any) -> list[tuple[int, Exception]] | None: ...

class TargetRow(Row):
    def __init__(
        self,
        asks: list[Any],
        learns: list[tuple[int, Any]],
        live: list[int],
        members: list[tuple[Any, Any]],
        between: tuple[Any, Any] | None,
        expert_stats: Floats,
        score: Any,
        slopes: tuple[float, float] | None,
        margin: float,
        growth: float,
        fading: float,
        largest: float,
    ) -> None: ...
    def number(self, x: Any) -> float | None: ...
    def learn(self, x: Any, y: Any) -> list[tuple[int, Exception]] | None: ...
