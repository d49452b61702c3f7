"""Derivatives of forward dynamics with respect to configuration, velocity and generalized force.

From  ID(q, v, FD(q, v, tau)) = tau,  Carpentier & Mansard (2018):

    d a / d q = -M^-1 d ID / d q      d a / d v = -M^-1 d ID / d v      d a / d tau = M^-1      at a = FD(q, v, tau)

The mass matrix is factored along the branches of the tree; the acceleration comes from the same factors. The
translations of a free base need no solution: weight and the rotation of the base's own velocity give columns M c, where
c is a translation of the base. Such a column is -c in the result, and the product M c is never computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, is_zero, minus
from kinemorph.algebra.vectors import Vec3, neg, zeros
from kinemorph.mechanics.derivatives.axis_responses import Direction, axis_directions, axis_responses, origin_jumps
from kinemorph.mechanics.derivatives.branch_factor import branch_factor, inverse_of, solved
from kinemorph.mechanics.derivatives.inverse_derivatives import pair_products
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.newton_euler import Wrench, bias_forces, outward
from kinemorph.mechanics.trees.tree import WORLD, Tree

Answered = dict[int, tuple[int, Vec3]]  # column -> index in v where the base's translations begin, and c


class Unsolved(NamedTuple):
    """The derivatives before the solution: the matrices B, by q and by v, for which M X = -B has to be solved.

    `answered` is the part of the results that is known without a solution, from the translations of free bases.
    """

    by_q: list[list[S]]
    by_v: list[list[S]]
    answered_q: Answered
    answered_v: Answered


class ForwardDerivatives(NamedTuple):
    """d a / d q (along unit velocities), d a / d v and d a / d tau = M^-1, each of shape (nv, nv)."""

    dq: list[list[S]]
    dv: list[list[S]]
    dtau: list[list[S]]


def forward_dynamics_derivatives(
    tree: Tree, q: Sequence[S], v: Sequence[S], tau: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> ForwardDerivatives:
    """The derivatives of forward dynamics FD(q, v, tau). `wrenches` by link are constant in the axes of their links."""
    factor = branch_factor(tree, mass_matrix(tree, q))
    bias = bias_forces(tree, q, v, wrenches)
    a = solved(factor, [minus(x, y) for x, y in zip(tau, bias, strict=True)])
    by_q, by_v, answered_q, answered_v = _unsolved(tree, q, v, a, wrenches)
    dq = _columns([solved(factor, neg(column)) for column in zip(*by_q, strict=True)])
    dv = _columns([solved(factor, neg(column)) for column in zip(*by_v, strict=True)])
    for result, answered in ((dq, answered_q), (dv, answered_v)):
        for column, (first, c) in answered.items():
            for k in range(3):
                result[first + k][column] = minus(result[first + k][column], c[k])
    return ForwardDerivatives(dq, dv, inverse_of(factor))


def forward_system(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    tau: Sequence[S],
    a: Sequence[S],
    wrenches: Mapping[int, Wrench] | None = None,
) -> dict[str, list[list[S]]]:
    """The linear system that loop programs solve for the derivatives of FD(q, v, tau), for robots with many entries.

    `M`, shape (nv, nv), lower triangle; `force` = tau - h = M a, shape (1, nv), which gives a = FD(q, v, tau); `by_q`,
    `by_v` and `by_tau`, shape (nv, nv): M times the results. `answered`, shape (6 bases, 6), is the part of the results
    that is known without a solution: the translations of `answering_bases`, by q and then by v. It has to be subtracted
    from the results.
    """
    n = tree.nv
    mass, bias = mass_matrix(tree, q), bias_forces(tree, q, v, wrenches)
    by_q, by_v, *answered = _unsolved(tree, q, v, a, wrenches)
    return {
        "M": [[*mass[i][: i + 1], *zeros(n - 1 - i)] for i in range(n)],
        "force": [[minus(x, y) for x, y in zip(tau, bias, strict=True)]],
        "by_q": [list(neg(row)) for row in by_q],
        "by_v": [list(neg(row)) for row in by_v],
        "by_tau": [[float(i == j) for j in range(n)] for i in range(n)],
        "answered": [
            [answer[base + column][1][k] for column in range(6)]
            for base in answering_bases(tree)
            for answer in answered
            for k in range(3)
        ],
    }


def answering_bases(tree: Tree) -> list[int]:
    """The first velocity index of each free base whose translations need no solution: bases without armature there."""
    return [
        link.v
        for link in tree.links
        if link.parent == WORLD and link.kind == "free" and all(map(is_zero, link.armature[:3]))
    ]


def _unsolved(
    tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], wrenches: Mapping[int, Wrench] | None
) -> Unsolved:
    moves = tree.moves(q)
    flows = outward(tree, moves, v, a)
    jumps = origin_jumps(tree, moves, flows, v)
    directions, answered_q, answered_v = _answered_by_base(tree, axis_directions(tree, moves, flows, v))
    responses = axis_responses(tree, moves, flows, v, directions, wrenches)
    by_q, by_v, _ = pair_products(tree, moves, jumps, directions, responses)
    return Unsolved(by_q, by_v, answered_q, answered_v)


def _answered_by_base(tree: Tree, directions: Sequence[Direction]) -> tuple[list[Direction], Answered, Answered]:
    """The directions without the part known from the translations of free bases, and this part by q and by v."""
    rest = list(directions)
    by_q: Answered = {}
    by_v: Answered = {}
    for base in answering_bases(tree):
        for column in range(base, base + 6):
            own = directions[column]
            by_q[column], by_v[column] = (base, own.psi2[:3]), (base, own.mixed[:3])
            rest[column] = own._replace(psi2=(*zeros(3), *own.psi2[3:]), mixed=(*zeros(3), *own.mixed[3:]))
    return rest, by_q, by_v


def _columns(columns: Sequence[Sequence[S]]) -> list[list[S]]:
    return [list(row) for row in zip(*columns, strict=True)]
