from typing import Any

from .._typing import Floats

ZERO_ONE: int
BRIER: int
LOG: int

class RowRound:
    def predictions(self) -> Floats: ...
    def losses_of_live(self) -> list[float]: ...

class ClassificationRound(RowRound):
    def __init__(
        self,
        predictors: list[Any],
        trainers: list[tuple[int, Any]],
        live: list[int],
        members: list[tuple[Any, Any]],
        arbiter: tuple[Any, Any] | None,
        stats: Any,
        classes: dict[Any, int],
        loss: int,
        rounding: float,
        smallest: float,
        safe_margin: float,
        absurd: float,
        stack: Any,
    ) -> None: ...
    def label(self, x: Any) -> Any: ...
    def chances(self, x: Any) -> dict[Any, float] | None: ...
    def learn(self, x: Any, y: Any, truth: int, score: Any) -> list[tuple[int, BaseException]] | None: ...

class RegressionRound(RowRound):
    def __init__(
        self,
        predictors: list[Any],
        trainers: list[tuple[int, Any]],
        live: list[int],
        members: list[tuple[Any, Any]],
        arbiter: tuple[Any, Any] | None,
        stats: Any,
        score: Any,
        slopes: tuple[float, float] | None,
        margin: float,
        growth: float,
        fading: float,
        largest: float,
        rounding: float,
    ) -> None: ...
    def number(self, x: Any) -> float | None: ...
    def learn(self, x: Any, y: Any) -> list[tuple[int, BaseException]] | None: ...
