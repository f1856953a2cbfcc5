import numpy as np
from numpy.typing import NDArray

from .._typing import Floats

def mistakes(predictions: Floats, targets: NDArray[np.intp]) -> Floats: ...
def blend(
    predictions: Floats, targets: NDArray[np.intp], member_weights: Floats, safe_margin: float
) -> tuple[Floats, Floats]: ...
def stack(
    predictions: Floats,
    coefficients: Floats,
    least: float,
    targets: NDArray[np.intp] | None = None,
    row_weights: Floats | None = None,
    trained: Floats | None = None,
    squares: Floats | None = None,
    rate: float = 0.0,
) -> Floats: ...
