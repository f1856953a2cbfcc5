import numpy as np
from numpy.typing import NDArray

from .experts._validation import Floats

def mistakes(said: Floats, truth: NDArray[np.intp]) -> Floats: ...
def blend(said: Floats, truth: NDArray[np.intp], parts: Floats, safe_margin: float) -> tuple[Floats, Floats]: ...
