import numpy as np
from numpy.typing import NDArray

from .._typing import Floats

def mistakes(said: Floats, truth: NDArray[np.intp]) -> Floats: ...
def blend(said: Floats, truth: NDArray[np.intp], parts: Floats, safe_margin: float) -> tuple[Floats, Floats]: ...
def stack(
    said: Floats,
    cells: Floats,
    least: float,
    truth: NDArray[np.intp] | None = None,
    row_weights: Floats | None = None,
    trained: Floats | None = None,
    squares: Floats | None = None,
    rate: float = 0.0,
) -> Floats: ...
