"""Plastic impacts: relative velocities that vanish from one instant to the next, and the energy that is lost.

Two ports that lock onto each other have no relative twist from then on. The impulse lambda that removes the twist acts
on both ports, equal and opposite, so that momentum is conserved; the velocities after it are the nearest ones in the
metric of the mass matrix:

    M v+ = M v + J^T lambda,      J v+ = 0,      v+ = v - M^-1 J^T (J M^-1 J^T)^-1 J v

The impact takes no time, so q does not change. Constraints that were active before, such as those of loops, keep their
rates, J v+ = J v. The energy that is lost is the kinetic energy of the change of velocity (Carnot's theorem),

    loss = 1/2 (v - v+)^T M (v - v+)

and is never negative. Rows that repeat others, as in a planar ring, are not used; see `constrained`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kinemorph.algebra.groups import Pose, compose, inverse, move_twist
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import add, dot, matvec, sub
from kinemorph.mechanics.constraints.closures import constraint_sizes, constraint_weights
from kinemorph.mechanics.constraints.constrained import ConstraintRows, constrained_dynamics
from kinemorph.mechanics.derivatives.branch_factor import branch_factor
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics, jacobian
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Closure, Tree
from kinemorph.model.joint import JOINT_KINDS


class Impact(NamedTuple):
    """The velocities after an impact (nv,), the impulse along each new row (n,) [N s or N m s], the energy lost [J]."""

    v: list[S]
    impulse: list[S]
    loss: S


NONE = ConstraintRows([], [], [])


def plastic_impact(
    tree: Tree, q: Sequence[S], v: Sequence[S], rows: ConstraintRows, kept: ConstraintRows = NONE
) -> Impact:
    """The impact at (q, v) after which the rates J v of `rows` are those wanted (mostly zero), and the rates of `kept`
    are the same as before.
    """
    M = mass_matrix(tree, q)
    J = [*kept.J, *rows.J]
    missing = [*(0.0 for _ in kept.J), *(goal - dot(row, v) for goal, row in zip(rows.wanted, rows.J, strict=True))]
    both = ConstraintRows(J, missing, [*kept.weights, *rows.weights], kept.opening)
    metric, still = branch_factor(tree, M), [0.0] * len(v)
    first = constrained_dynamics(metric, still, both)
    left = both._replace(wanted=sub(missing, matvec(J, first.a)))
    again = constrained_dynamics(metric, still, left)  # removes the rounding errors that are left
    change, impulse = add(first.a, again.a), add(first.multipliers, again.multipliers)
    return Impact(list(add(v, change)), list(impulse[len(kept.J) :]), 0.5 * dot(change, matvec(M, change)))


def relative_pose(tree: Tree, q: Sequence[S], a: str, b: str) -> Pose:
    """The pose T_ab of frame b in frame a at configuration q (nq,)."""
    T_wa, T_wb = forward_kinematics(tree, q, [a, b])
    return compose(inverse(T_wa), T_wb)


def locked_rows(tree: Tree, q: Sequence[S], a: str, b: str) -> ConstraintRows:
    """The six constraint rows with which frame b does not move in frame a: its relative twist [linear; angular] is
    zero.

    The twist is at the origin of a, in its axes. Velocities that move both frames together have columns that are
    exactly zero. Rows that are only rounding errors get the weight 0, as in a loop that a fixed joint closes.
    """
    T_ab = relative_pose(tree, q, a, b)
    of_a, of_b = (list(zip(*jacobian(tree, q, frame), strict=True)) for frame in (a, b))
    shared = _carrying(tree, a) & _carrying(tree, b)
    still = [0.0] * 6
    columns = [
        still if k in shared else sub(move_twist(T_ab, far), near)
        for k, (near, far) in enumerate(zip(of_a, of_b, strict=True))
    ]
    J = [[column[row] for column in columns] for row in range(6)]
    at_a, at_b = tree.attachments[a], tree.attachments[b]
    there = Attachment(at_b.link, compose(at_b.pose, inverse(T_ab)))  # on b, where frame a is now
    closure = Closure("docking", JOINT_KINDS["fixed"].closure, at_a, there, (0.0, 0.0, 0.0), 0.0)
    closed = replace(tree, closures=(closure,), follows=())
    return ConstraintRows(J, [0.0] * 6, constraint_weights(closed, J, constraint_sizes(closed, q)))


def _carrying(tree: Tree, frame: str) -> set[int]:
    """The indices in v of the velocities that move a frame."""
    found: set[int] = set()
    index = tree.attachments[frame].link
    while index != WORLD:
        link = tree.links[index]
        found |= {link.v + k for k in range(len(link.axes))}
        index = link.parent
    return found
