from typing import Any

from numpy.typing import NDArray

from .experts._validation import Floats

def blend(said: Floats, truth: NDArray[Any], parts: Floats, safe_margin: float) -> tuple[Floats, Floats, Floats]: ...
