"""Types of arrays and states that the whole package uses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


Integers = NDArray[np.int64]


State = dict[str, Any]
