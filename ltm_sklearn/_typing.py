"""Type aliases of arrays and states, used in the whole package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Named arrays and numbers of an algorithm after a round.
State = dict[str, Any]
