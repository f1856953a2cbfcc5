import numpy as np
from numpy.typing import NDArray

from .experts._validation import Floats

def mistakes(said: Floats, truth: NDArray[np.intp]) -> Floats: ...
def blend(said: Floats, truth: NDArray[np.intp], parts: Floats, safe_margin: float) -> tuple[Floats, Floats]: ...
def stack_predict(said: Floats, cells: Floats, least: float) -> Floats: ...
def stack_learn(
    said: Floats,
    truth: NDArray[np.intp],
    row_weights: Floats,
    cells: Floats,
    squares: Floats,
    least: float,
    rate: float,
) -> Floats: ...
