"""Derivatives of forward dynamics by configuration, velocity and generalized force.

From  ID(q, v, FD(q, v, tau)) = tau,  Carpentier & Mansard (2018):

    d a / d q = -M^-1 d ID / d q      d a / d v = -M^-1 d ID / d v      d a / d tau = M^-1      at a = FD(q, v, tau)

The mass matrix is factored along the branches of the tree; the acceleration comes from the same factor. A free base
answers for itself: a column M c with c among its translations, as weight and the turning of its own velocity give,
is -c in the result and never multiplied out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import is_zero, minus
from kinemorph.algebra.vectors import Vec3, neg, zeros
from kinemorph.mechanics.axis_responses import Direction, axis_directions, axis_responses, origin_jumps
from kinemorph.mechanics.branch_factor import branch_factor, inverse_of, solved
from kinemorph.mechanics.composite_bodies import mass_matrix
from kinemorph.mechanics.derivatives import pair_products
from kinemorph.mechanics.motions import S
from kinemorph.mechanics.newton_euler import Wrench, bias_forces, outward
from kinemorph.mechanics.tree import WORLD, Tree


class ForwardDerivatives(NamedTuple):
    """d a / d q (along unit velocities), d a / d v and d a / d tau = M^-1, each of shape (nv, nv)."""

    dq: list[list[S]]
    dv: list[list[S]]
    dtau: list[list[S]]


def forward_dynamics_derivatives(
    tree: Tree, q: Sequence[S], v: Sequence[S], tau: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> ForwardDerivatives:
    """Derivatives of FD(q, v, tau). `wrenches` on links move along with them."""
    factor = branch_factor(tree, mass_matrix(tree, q))
    bias = bias_forces(tree, q, v, wrenches)
    a = solved(factor, [minus(x, y) for x, y in zip(tau, bias, strict=True)])

    moves = tree.moves(q)
    flows = outward(tree, moves, v, a)
    jumps = origin_jumps(tree, moves, flows, v)
    directions, answered_q, answered_v = _answered_by_base(tree, axis_directions(tree, moves, flows, v))
    responses = axis_responses(tree, moves, flows, v, directions, wrenches)
    by_q, by_v, _ = pair_products(tree, moves, jumps, directions, responses)

    dq = _columns([solved(factor, neg(column)) for column in zip(*by_q, strict=True)])
    dv = _columns([solved(factor, neg(column)) for column in zip(*by_v, strict=True)])
    for result, answered in ((dq, answered_q), (dv, answered_v)):
        for column, (first, c) in answered.items():
            for k in range(3):
                result[first + k][column] = minus(result[first + k][column], c[k])
    return ForwardDerivatives(dq, dv, inverse_of(factor))


Answered = dict[int, tuple[int, Vec3]]  # column -> where the base's translations begin, and c


def _answered_by_base(tree: Tree, directions: Sequence[Direction]) -> tuple[list[Direction], Answered, Answered]:
    """Directions without what the translations of a free base answer alone, and that, by q and by v."""
    rest = list(directions)
    by_q: Answered = {}
    by_v: Answered = {}
    for link in tree.links:
        if link.parent != WORLD or link.kind != "free" or not all(map(is_zero, link.armature[:3])):
            continue
        for column in range(link.v, link.v + 6):
            own = directions[column]
            by_q[column], by_v[column] = (link.v, own.psi2[:3]), (link.v, own.mixed[:3])
            rest[column] = own._replace(psi2=(*zeros(3), *own.psi2[3:]), mixed=(*zeros(3), *own.mixed[3:]))
    return rest, by_q, by_v


def _columns(columns: Sequence[Sequence[S]]) -> list[list[S]]:
    return [list(row) for row in zip(*columns, strict=True)]
