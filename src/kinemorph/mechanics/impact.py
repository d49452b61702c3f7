"""Plastic impacts: velocities that must vanish from one instant to the next, and what that costs.

Two ports that lock onto each other have no relative twist from then on. The impulse lambda that takes it away acts on
both of them, equal and opposite, so that momentum stays; and the velocities after it are the nearest ones in the
measure of the masses:

    M v+ = M v + J^T lambda,      J v+ = 0,      v+ = v - M^-1 J^T (J M^-1 J^T)^-1 J v

Nothing moves meanwhile: q stays. Rows that held before, as those of loops, go on as they were, J v+ = J v. The energy
that is lost is the kinetic energy of the change of velocity (Carnot's theorem),

    loss = 1/2 (v - v+)^T M (v - v+)

and is never negative. Rows that repeat others, as in a planar ring, take no part; see `constrained`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import Pose, compose, inverse, move_twist
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import dot, matvec, sub
from kinemorph.mechanics.branch_factor import branch_factor
from kinemorph.mechanics.composite_bodies import mass_matrix
from kinemorph.mechanics.constrained import Rows, constrained_dynamics
from kinemorph.mechanics.kinematics import forward_kinematics, jacobian
from kinemorph.mechanics.tree import Tree

Matrix = Sequence[Sequence[S]]


class Impact(NamedTuple):
    """Velocities after an impact (nv,), the impulse along each new row (n,) [N s or N m s], and the loss [J]."""

    v: list[S]
    impulse: list[S]
    loss: S


def plastic_impact(tree: Tree, q: Sequence[S], v: Sequence[S], rows: Matrix, kept: Matrix = ()) -> Impact:
    """The impact at (q, v) after which `rows` (n, nv) have no velocity; `kept` (m, nv) have the one that they had."""
    M = mass_matrix(tree, q)
    J = [*kept, *rows]
    wanted = [*(dot(row, v) for row in kept), *[0.0] * len(rows)]
    found = constrained_dynamics(branch_factor(tree, M), matvec(M, v), Rows(J, wanted, [1.0] * len(J)))
    lost = sub(v, found.a)
    return Impact(found.a, found.multipliers[len(kept) :], 0.5 * dot(lost, matvec(M, lost)))


def relative_pose(tree: Tree, q: Sequence[S], a: str, b: str) -> Pose:
    """T_AB: frame b seen from frame a."""
    T_WA, T_WB = forward_kinematics(tree, q, [a, b])
    return compose(inverse(T_WA), T_WB)


def relative_twist_rows(tree: Tree, q: Sequence[S], a: str, b: str) -> list[list[S]]:
    """J, shape (6, nv): the twist of frame b less that of frame a, [linear; angular], at a's origin in its axes."""
    T_AB = relative_pose(tree, q, a, b)
    of_a, of_b = (list(zip(*jacobian(tree, q, frame), strict=True)) for frame in (a, b))
    columns = [sub(move_twist(T_AB, far), near) for near, far in zip(of_a, of_b, strict=True)]
    return [[column[row] for column in columns] for row in range(6)]
