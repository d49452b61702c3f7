"""Coordinates that keep their values while others move, to close loops for example.

A coordinate is kept alone, also that of a joint with several, as the x of a free joint; a quaternion is kept as a
whole. The displacements w that change no kept coordinate are the null space of the rows of dq/dw of these coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.mechanics.trees.motions import ELEMENTARY

Look: TypeAlias = Callable[[Array], tuple[Array, Array]]  # q -> (phi (nc,), J (nc, nv)), rows divided by their sizes
Move: TypeAlias = Callable[[Array, Array], Array]  # q after a displacement (nv,)
DUST = 1e-12  # entries of a projection below this are rounding errors


class Kept(NamedTuple):
    """The indices in q of kept coordinates, of robots with these elementary joints, and a mask (nv,) of what stands
    still. A joint has a `kind`, a row of motions.ELEMENTARY, and begins at `q` and at `v`.
    """

    joints: Sequence[Any]
    coordinates: Collection[int]
    still: npt.NDArray[np.bool_]

    def directions(self, q: Array) -> Array:
        """The orthogonal projection (nv, nv) onto the displacements about q (nq,) that change nothing that is kept."""
        P = np.diag(np.where(self.still, 0.0, 1.0))
        for joint in self.joints:
            row, units = ELEMENTARY[joint.kind], np.eye(ELEMENTARY[joint.kind].nv)
            named = [k for k in range(row.nq) if joint.q + k in self.coordinates]
            if not named:
                continue
            here, block = q[joint.q : joint.q + row.nq].tolist(), slice(joint.v, joint.v + row.nv)
            rates = np.array([row.rate(here, unit) for unit in units.tolist()], dtype=float).T  # (nq, nv)
            plain = row.nq if row.nq == row.nv else row.nq - 4  # coordinates before the quaternion
            held = [*units[self.still[block]], *(rates[k] for k in named if k < plain)]
            held += [*units[-3:]] if named[-1] >= plain else []
            left = units - np.linalg.pinv(np.array(held)) @ np.array(held)
            P[block, block] = np.where(np.abs(left) < DUST, 0.0, left)
        return P

    def keeping(self, look: Look, move: Move) -> tuple[Look, Move]:
        """`look` and `move` of Newton's method, with a Jacobian for those displacements only, and exact kept values."""
        kept = list(self.coordinates)

        def seen(q: Array) -> tuple[Array, Array]:
            phi, J = look(q)
            return phi, J @ self.directions(q)

        def moved(q: Array, step: Array) -> Array:
            found = move(q, step)
            found[kept] = q[kept]
            return found

        return seen, moved
