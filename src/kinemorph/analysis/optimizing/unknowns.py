"""What `optimize` chooses: parameters, inputs and initial values, each with its range, and scaled for a search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant

Range = tuple[float, float] | tuple[float, float, str]
PREFIXES = {"u.": "u", "q.": "q", "v.": "v"}  # of names that are not those of parameters


@dataclass(frozen=True)
class Unknown:
    """One number that is chosen between `lower` and `upper`.

    `group` is that of the plant, "p", "u", "q" or "v", and `column` its name there. With `log`, the search moves along
    the logarithm of the number, so that a range over decades is searched evenly.
    """

    name: str
    group: str
    column: str
    lower: float
    upper: float
    log: bool


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The numbers that are chosen, in order. A search moves Y (n,) between 0 and 1; `values` are the numbers."""

    each: tuple[Unknown, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names, as the user gave them."""
        return tuple(one.name for one in self.each)

    @cached_property
    def _log(self) -> npt.NDArray[np.bool_]:
        return np.array([one.log for one in self.each], dtype=bool)

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """The ends of the ranges, logarithms where the search moves along them."""
        ends = np.array([(one.lower, one.upper) for one in self.each]).T
        low, high = (np.where(self._log, np.log(np.where(self._log, end, 1.0)), end) for end in ends)
        return low, high

    def values(self, Y: Array) -> Array:
        """The numbers (..., n) at Y (..., n); Y that rounding puts beyond 0 or 1 counts as 0 or 1."""
        low, high = self._ends
        along = low + np.clip(Y, 0.0, 1.0) * (high - low)
        found: Array = np.where(self._log, np.exp(np.where(self._log, along, 0.0)), along)
        return found

    def slopes(self, Y: Array) -> Array:
        """The derivatives (n,) of the numbers by their Y."""
        low, high = self._ends
        return np.where(self._log, self.values(Y), 1.0) * (high - low)

    def scaled(self, values: Array) -> Array:
        """Y (n,) of numbers (n,); those beyond their range are put at its end."""
        low, high = self._ends
        kept = np.clip(values, [one.lower for one in self.each], [one.upper for one in self.each])
        along = np.where(self._log, np.log(np.where(self._log, kept, 1.0)), kept)
        return np.clip((along - low) / (high - low), 0.0, 1.0)

    def places(self, plant: Plant, group: str) -> tuple[list[int], list[int]]:
        """(places in Y, places in a group of the plant) of the unknowns of this group."""
        chosen = [(k, plant.index(group, one.column)) for k, one in enumerate(self.each) if one.group == group]
        return [k for k, _ in chosen], [place for _, place in chosen]

    def put(self, plant: Plant, group: str, base: Array, values: Array) -> Array:
        """The values (..., size) of a group of the plant: `base` (size,), with the unknowns at `values` (..., n)."""
        mine, theirs = self.places(plant, group)
        found = np.array(np.broadcast_to(base, (*values.shape[:-1], len(base))))
        found[..., theirs] = values[..., mine]
        return found


def unknowns_of(over: Mapping[str, Range], groups: str, *, at: str) -> Unknowns:
    """The unknowns that a user names, {name: (low, high)} or {name: (low, high, "log")}.

    `groups` are those that may be chosen, such as "pu"; `at` is the argument of `optimize`, for messages.
    """
    if not isinstance(over, Mapping) or not over:
        raise UnsupportedError(
            f"optimize: over is {over!r}; expected the ranges of parameters by name, {{'stiffness': (1.0, 10.0)}}."
        )
    found = []
    for name, given in over.items():
        if not isinstance(name, str):
            raise UnsupportedError(f"optimize: over has the key {name!r}; expected the name of a parameter.")
        low, high, log = _range(name, given)
        group = PREFIXES.get(name[:2], "p")
        if group not in groups:
            what = {"q": "coordinate", "v": "velocity", "u": "input"}[group]
            raise UnsupportedError(
                f"optimize: over names the {what} '{name}', which cannot be chosen with at='{at}'. Name parameters, "
                "or initial values with at='run'."
            )
        found.append(Unknown(name, group, name if group == "p" else name[2:], low, high, log))
    return Unknowns(tuple(found))


def _range(name: str, given: Any) -> tuple[float, float, bool]:
    """(low, high, whether it is logarithmic) of one range; raises UnsupportedError where it is none."""
    wrong = f"optimize: the range of '{name}' is {given!r}; expected "
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) not in (2, 3):
        raise UnsupportedError(f"{wrong}a lower and an upper end, as (1.0, 10.0).")
    scale = given[2] if len(given) == 3 else "linear"
    if scale not in ("linear", "log"):
        raise UnsupportedError(f"{wrong}'log' or 'linear' as its third entry.")
    try:
        low, high = float(given[0]), float(given[1])
    except (TypeError, ValueError):
        raise UnsupportedError(f"{wrong}numbers as its ends.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UnsupportedError(f"{wrong}finite ends with the lower one first.")
    if scale == "log" and low <= 0.0:
        raise UnsupportedError(f"{wrong}ends above 0, since its scale is 'log'.")
    return low, high, scale == "log"
