"""Parameters as functions of unbounded variables z, so that steps never leave their signs or bounds.

sign     p = start exp(z)                                      a mass, a resistance, a stiffness
bounds   p = low + (high - low) / (1 + exp(-z))                a number between two others
free     p = start + scale z                                   an offset, a coordinate of a center of mass
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ShapeError
from kinemorph.words import did_you_mean

Mask = npt.NDArray[np.bool_]
LARGEST = 1.5  # the longest step of z: a factor of 4.5 where the sign is kept


@dataclass(frozen=True, eq=False)
class Transformation:
    """The parameters p (k,) as functions of variables z (k,), which begin at z = `first`.

    `kinds` are "sign", "bounds" or "free"; `start` (k,) the first values, `low` and `high` (k,) the bounds.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    start: Array
    low: Array
    high: Array

    @property
    def first(self) -> Array:
        """The variables z (k,) at which the parameters have their first values."""
        share = (self.start - self.low) / np.where(self.is_bounded, self.high - self.low, 1.0)
        share = np.where(self.is_bounded, share, 0.5)
        return np.where(self.is_bounded, np.log(share) - np.log1p(-share), 0.0)

    @property
    def is_bounded(self) -> Mask:
        """Which parameters have bounds, shape (k,)."""
        return np.array([kind == "bounds" for kind in self.kinds], dtype=bool)

    @property
    def keeps_sign(self) -> Mask:
        """Which parameters keep the sign of their first values, shape (k,)."""
        return np.array([kind == "sign" for kind in self.kinds], dtype=bool)

    def values(self, z: Array) -> Array:
        """p (k,)."""
        inside = self.low + (self.high - self.low) / (1.0 + np.exp(-np.clip(z, -700.0, 700.0)))
        kept = self.start * np.exp(np.where(self.keeps_sign, np.clip(z, -300.0, 300.0), 0.0))
        moved = self.start + self._scale * z
        return np.where(self.is_bounded, inside, np.where(self.keeps_sign, kept, moved))

    def slopes(self, z: Array) -> Array:
        """dp/dz (k,): each parameter depends on its own variable alone."""
        share = 1.0 / (1.0 + np.exp(-np.clip(z, -700.0, 700.0)))
        inside = (self.high - self.low) * share * (1.0 - share)
        return np.where(self.is_bounded, inside, np.where(self.keeps_sign, self.values(z), self._scale))

    @property
    def ranges(self) -> Array:
        """The lowest and highest values that the parameters can have, shape (k, 2)."""
        positive = np.stack([np.where(self.start > 0.0, 0.0, -np.inf), np.where(self.start > 0.0, np.inf, 0.0)], -1)
        anywhere = np.tile([-np.inf, np.inf], (len(self.names), 1))
        kept = np.where(self.keeps_sign[:, None], positive, anywhere)
        return np.where(self.is_bounded[:, None], np.stack([self.low, self.high], axis=-1), kept)

    @property
    def limits(self) -> Array:
        """The longest steps of z, shape (k,)."""
        return np.where(self.is_bounded | self.keeps_sign, LARGEST, np.inf)

    @property
    def _scale(self) -> Array:
        return np.where(self.start != 0.0, np.abs(self.start), 1.0)


def transformation(
    names: Sequence[str], start: Array, free: Sequence[str], bounds: Mapping[str, tuple[float, float]]
) -> Transformation:
    """Parameters that keep their sign, unless they are 0 at first, `free`, or between `bounds` (low, high).

    Raises ShapeError for unknown names and for bounds that do not enclose the first value.
    """
    for name in (*free, *bounds):
        if name not in names:
            raise ShapeError(
                f"'{name}' is named in free or bounds, and is not among the parameters.{did_you_mean(name, names)}"
            )
    both = [name for name in bounds if name in free]
    if both:
        raise ShapeError(f"parameter '{both[0]}' is free and has bounds {bounds[both[0]]}. Name it in one of them.")
    low, high = np.zeros(len(names)), np.ones(len(names))
    kinds = []
    for k, name in enumerate(names):
        kinds.append("bounds" if name in bounds else "free" if name in free or start[k] == 0.0 else "sign")
        if name not in bounds:
            continue
        low[k], high[k] = bounds[name]
        if not (low[k] < start[k] < high[k]) or not np.isfinite([low[k], high[k]]).all():
            raise ShapeError(
                f"parameter '{name}' is {start[k]:g} at first, and its bounds are {low[k]:g} and {high[k]:g}; expected "
                "finite bounds on both sides of the first value."
            )
    return Transformation(tuple(names), tuple(kinds), np.array(start, dtype=float), low, high)
