"""The array type of the whole package: float64, of any shape; and the choice of some of many rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def evenly(count: int, most: int) -> npt.NDArray[np.int64]:
    """The numbers from 0 to `count` - 1; where these are more than `most`, so many of them at even distances."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(int)
