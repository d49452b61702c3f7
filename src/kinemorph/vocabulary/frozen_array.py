"""Read-only arrays as plain data of models: they are compared and hashed by their numbers.

Nested tuples would do, but then every function that goes through the data of a model would visit each number. The
digest of an array is computed once, so that later comparisons and hashes of millions of numbers cost nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt


class FrozenArray:
    """A read-only array of float64, row by row in memory. The numbers given are copied."""

    def __init__(self, numbers: npt.ArrayLike) -> None:
        own = np.array(numbers, dtype=np.float64, order="C")
        own.setflags(write=False)
        self.array = own

    @classmethod
    def read(cls, numbers: Any, axes: int) -> FrozenArray | None:
        """The numbers of nested tuples or lists, or of an array, if they have this number of axes; else None."""
        if isinstance(numbers, FrozenArray):
            return numbers if numbers.array.ndim == axes else None
        try:
            found = np.asarray(numbers)
        except (TypeError, ValueError):  # rows of different lengths
            return None
        return cls(found) if found.ndim == axes and found.dtype.kind in "biuf" else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self.array.shape

    @cached_property
    def digest(self) -> str:
        """A hash of the shape and of all numbers to the last bit."""
        found = hashlib.sha256(f"{self.shape}\n".encode())
        found.update(self.array.data)
        return found.hexdigest()

    @cached_property
    def float32(self) -> npt.NDArray[np.float32]:
        """The numbers in single precision, converted at the first request."""
        return self.array.astype(np.float32)

    def tolist(self) -> Any:
        """The numbers as nested lists of floats."""
        return self.array.tolist()

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the first axis: floats if the array has one axis, (nested) tuples of floats if it has more."""
        return map(_tuples, self.array.tolist())

    def __getitem__(self, place: Any) -> Any:
        return _tuples(self.array[place].tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.array, dtype=dtype) if copy or dtype not in (None, self.array.dtype) else self.array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrozenArray):
            return NotImplemented
        return self is other or (self.shape == other.shape and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenArray, (np.array(self.array),)

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        ends = f" from {self.array.min():g} to {self.array.max():g}" if self.array.size else ""
        return f"<{size} numbers{ends}>"


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
