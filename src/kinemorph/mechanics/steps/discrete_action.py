"""The Lagrangian of a whole step: the action of a robot's particles between two configurations.

Every particle moves in a straight line from its position at `base` to its position at place(base, w) in the time h:

    L_d = sum over particles of  m |dx|^2 / (2 h)  -  h (potential energy at the start + at the end) / 2

For a free particle this gives Stoermer and Verlet's method, for a free rigid body Moser and Veselov's (1991), for a
mechanism RATTLE without multipliers. It does not depend on a frame of reference: a step preserves momentum, angular
momentum and the straight path of the center of mass exactly.

Displacements are summed from the root outward, in the frames of the links at the start of the step: a point r of a link
moves to r + d + E r. No term is a difference of two nearly equal numbers, so that small displacements keep their
digits. With the moments of mass of a link,

    sum of m |dx|^2 = m d.d + 2 d.(E h) + trace(E Sigma E^T).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.inertia import symmetric
from kinemorph.algebra.scalar import S, div, sincos
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, hat, mat_add, mat_scale, matmul, matvec, scale
from kinemorph.mechanics.recursions.momentum import potential_energy
from kinemorph.mechanics.trees.charts import halfway
from kinemorph.mechanics.trees.motions import ELEMENTARY, ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Tree

Matrix3 = tuple[Vec3, ...]
NOTHING: Matrix3 = (ZERO3, ZERO3, ZERO3)


class Displacement(NamedTuple):
    """The displacement of a link, which moves its point r to r + d + E r; d [m], E = R - 1."""

    d: Vec3
    E: Matrix3


def _turn_about_z(angle: S) -> Matrix3:
    s, c = sincos(angle)
    short = -div(s * s, 1.0 + c)  # c - 1
    return ((short, -s, 0.0), (s, short, 0.0), ZERO3)


def _turn(w: Sequence[S]) -> Matrix3:
    """The matrix cay(w) - 1, shape (3, 3), for the rotation cay(w) by Cayley's map."""
    W = hat(w)
    return mat_scale(div(1.0, 1.0 + 0.25 * dot(w, w)), mat_add(W, mat_scale(0.5, matmul(W, W))))


# by joint kind: (w, pitch) -> the displacement in the frame of the link
JOINT_DISPLACEMENTS: dict[str, Callable[[Sequence[S], S], Displacement]] = {
    "revolute": lambda w, pitch: Displacement(ZERO3, _turn_about_z(w[0])),
    "prismatic": lambda w, pitch: Displacement((0.0, 0.0, w[0]), NOTHING),
    "helical": lambda w, pitch: Displacement((0.0, 0.0, pitch * w[0]), _turn_about_z(w[0])),
    "planar": lambda w, pitch: Displacement((w[0], w[1], 0.0), _turn_about_z(w[2])),
    "spherical": lambda w, pitch: Displacement(ZERO3, _turn(w)),
    "free": lambda w, pitch: Displacement((w[0], w[1], w[2]), _turn(w[3:])),
}


def link_displacements(tree: Tree, moves: Sequence[Move], w: Sequence[S]) -> list[Displacement]:
    """The displacement of every link from the configuration of `moves` to the one at local coordinates w about it.

    Each is given in the link's own frame at the configuration of `moves`.
    """
    found: list[Displacement] = []
    for link, move in zip(tree.links, moves, strict=True):
        own = JOINT_DISPLACEMENTS[link.kind](w[link.v : link.v + ELEMENTARY[link.kind].nv], link.pitch)
        found.append(own if link.parent == WORLD else _after(_seen_from(move, found[link.parent]), own))
    return found


def _seen_from(move: Move, parent: Displacement) -> Displacement:
    """The parent's displacement, given in its own frame, expressed in the frame of a link."""
    d = move.into(add(parent.d, matvec(parent.E, move.origin())))
    columns = [move.into(column) for column in zip(*parent.E, strict=True)]  # R^T E
    return Displacement(d, tuple(move.into(row) for row in zip(*columns, strict=True)))


def _after(parent: Displacement, own: Displacement) -> Displacement:
    """The displacement by `own` and then by `parent`: its E is (1 + parent.E) (1 + own.E) - 1."""
    d = add(parent.d, add(own.d, matvec(parent.E, own.d)))
    return Displacement(d, mat_add(mat_add(parent.E, own.E), matmul(parent.E, own.E)))


def discrete_action(tree: Tree, q: Sequence[S], w: Sequence[S], h: S) -> S:
    """The discrete Lagrangian L_d [J s] of a step of size h [s] from q to the configuration at local coordinates w."""
    doubled: S = 0.0  # sum of m |dx|^2
    fallen: S = 0.0  # loss of potential energy
    gravity: list[Vec3] = []
    moves = tree.moves(q)
    for link, move, (d, E) in zip(tree.links, moves, link_displacements(tree, moves, w), strict=True):
        m, first, entries = link.moments
        sigma = symmetric(entries)
        turned = matvec(E, first)
        doubled = doubled + m * dot(d, d) + 2.0 * dot(d, turned)
        for row in E:
            doubled = doubled + dot(row, matvec(sigma, row))
        gravity.append(move.into(tree.gravity if link.parent == WORLD else gravity[link.parent]))
        fallen = fallen + dot(gravity[-1], add(scale(m, d), turned))
    _, way = halfway(tree, w)
    for link in tree.links:
        for k, armature in enumerate(link.armature):
            doubled = doubled + armature * (way[link.v + k] * way[link.v + k])
    return div(doubled, 2.0 * h) + h * (0.5 * fallen - potential_energy(tree, q))
