"""Conditions of a search as users give them: a text or a function, and its lower and upper limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.plants.user_laws import Law

Bound = float | tuple[float, float]
Conditions = Mapping[str | Law, Bound]


@dataclass(frozen=True)
class Limit:
    """A condition on a number: lower <= number <= upper. Where both limits are equal it is an equation."""

    name: str
    lower: float
    upper: float

    def margin(self, values: Array) -> Array:
        """The distances of values to the nearer limit, negative beyond it."""
        return np.minimum(values - self.lower, self.upper - values)


def called(text: str | Law) -> str:
    """The name of a condition: its text, or the name of its function."""
    return text if isinstance(text, str) else getattr(text, "__name__", "condition")


def limits_of(bound: Any, name: str, of: str) -> tuple[float, float]:
    """(lower, upper) of a condition; a number alone is both.

    Raises UnsupportedError for limits that are no numbers or in the wrong order; `of` is the function that was called.
    """
    try:
        found = tuple(map(float, bound)) if isinstance(bound, Sequence) else (float(bound), float(bound))
    except (TypeError, ValueError):
        found = ()
    if len(found) != 2 or not found[0] <= found[1]:
        raise UnsupportedError(
            f"{of}: the limits of '{name}' are {bound}; expected a number, or a lower and an upper limit."
        )
    return found[0], found[1]
