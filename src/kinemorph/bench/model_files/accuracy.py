"""The error of a run, and for how long it means something.

Contestants have different models of the ground, and soft or exact constraints, so that each is compared with a
reference of its own: the same simulator with much smaller steps. The state at each sample has all components of q and
v, each divided by its largest magnitude in the reference where that is above 1; so the error is in rad, m, rad/s or m/s
for small numbers, and relative for large ones. The largest error of all components and samples counts.

Robots that fall and slide may be chaotic: then tiny differences grow until two runs of any accuracy have nothing in
common. How long this takes is measured and not assumed: the horizon is the time up to which two references of different
accuracy agree to a tenth of the error that is asked for. Errors count up to the shorter horizon of both contestants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array

SHARE = 0.1  # of the error that is asked for: the largest difference between two references


class Reference(NamedTuple):
    """The states of a fine run, shape (n, nq + nv), and the number of samples that a less fine run confirms."""

    states: Array
    confirmed: int

    @property
    def sizes(self) -> Array:
        """The numbers by which the components of states are divided, shape (nq + nv,)."""
        known = self.states[: max(self.confirmed, 1)]
        sizes: Array = np.abs(np.where(np.isfinite(known), known, 0.0)).max(axis=0)
        return np.maximum(1.0, sizes)

    def scaled(self, states: Array, samples: int) -> Array:
        """The first `samples` states of a run, divided by the sizes."""
        found: Array = states[:samples] / self.sizes
        return found


def reference(fine: Array, finer: Array, enough: float) -> Reference:
    """The reference from two runs of different accuracy, for errors of about `enough`; both of shape (n, nq + nv)."""
    together = Reference(finer, len(finer))
    apart = np.abs(together.scaled(fine, len(finer)) - together.scaled(finer, len(finer))).max(axis=1)
    beyond = np.flatnonzero(~(apart <= SHARE * enough))
    return Reference(finer, int(beyond[0]) if len(beyond) else len(finer))


def longest(makers: Sequence[Callable[[], tuple[Array, Array]]], enough: float) -> Reference:
    """The reference with the longest horizon; each maker gives (fine, finer). One that lasts to the end is taken."""
    best: Reference | None = None
    for make in makers:
        found = reference(*make(), enough)
        if best is None or found.confirmed > best.confirmed:
            best = found
        if best.confirmed == len(best.states):
            break
    assert best is not None
    return best
