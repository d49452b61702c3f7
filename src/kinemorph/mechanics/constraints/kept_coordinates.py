"""Coordinates that keep their values while others move, to close loops for example.

A coordinate is kept alone, also that of a joint with several, as the x of a free joint; a quaternion is kept as a
whole. The displacements w that change no kept coordinate are the null space of the rows of dq/dw of these coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.trees.motions import ELEMENTARY

DUST = 1e-12  # entries of a projection below this are rounding errors


class ElementaryJoint(Protocol):
    """The `kind` of a joint, a row of motions.ELEMENTARY, and where it begins in q and in v."""

    @property
    def kind(self) -> str: ...
    @property
    def q(self) -> int: ...
    @property
    def v(self) -> int: ...


class Kept(NamedTuple):
    """The elementary joints of a robot, the indices in q of kept coordinates, and a mask (nv,) of what stands still."""

    joints: Sequence[ElementaryJoint]
    coordinates: Collection[int]
    still: npt.NDArray[np.bool_]

    def directions(self, q: Array) -> Array:
        """The orthogonal projection (nv, nv) onto the displacements about q (nq,) that change nothing that is kept."""
        P = np.diag(np.where(self.still, 0.0, 1.0))
        for joint in self.joints:
            row, units = ELEMENTARY[joint.kind], np.eye(ELEMENTARY[joint.kind].nv)
            named, plain = self._named(joint), _plain(joint)
            if not named:
                continue
            here, block = q[joint.q : joint.q + row.nq].tolist(), slice(joint.v, joint.v + row.nv)
            rates = np.array([row.rate(here, unit) for unit in units.tolist()], dtype=float).T  # (nq, nv)
            held = [*units[self.still[block]], *(rates[k] for k in named if k < plain)]
            held += [*units[-3:]] if named[-1] >= plain else []
            left = units - np.linalg.pinv(np.array(held)) @ np.array(held)
            P[block, block] = np.where(np.abs(left) < DUST, 0.0, left)
        return P

    def moved(self, move: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
        """The motion `move(q, step)`, after which kept coordinates have exactly the values of q."""
        fixed = [joint.q + k for joint in self.joints for k in self._named(joint) if k < _plain(joint)]

        def moved(q: Array, step: Array) -> Array:
            found = move(q, step)
            found[fixed] = q[fixed]
            return found

        return moved

    def _named(self, joint: ElementaryJoint) -> list[int]:
        return [k for k in range(ELEMENTARY[joint.kind].nq) if joint.q + k in self.coordinates]


def _plain(joint: ElementaryJoint) -> int:
    """How many coordinates come before the joint's quaternion; all of them where it has none."""
    row = ELEMENTARY[joint.kind]
    return row.nq if row.nq == row.nv else row.nq - 4
