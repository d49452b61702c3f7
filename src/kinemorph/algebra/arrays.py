"""The array of numbers that the whole package speaks of: float64, of any shape."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
