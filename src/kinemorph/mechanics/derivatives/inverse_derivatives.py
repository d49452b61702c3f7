"""Derivatives of inverse dynamics with respect to configuration, velocity and acceleration, in closed form.

Singh, Russo & Wensing (2022). Direction k of the configuration is the motion at unit velocity v_k: the link turns and
shifts along its own axis k. `axis_responses` has the directions and responses of every axis; here they are multiplied
in pairs. For an axis i and an axis j nearer to the root:

    d tau_j / d q_i = S_j . u_i        d tau_i / d q_j = t_i . psi2_j + P_i . psi1_j
    d tau_j / d v_i = S_j . w_i        d tau_i / d v_j = t_i . mixed_j + P_i . S_j          d tau / d a = M = S_j . t_i

Between two axes of one link, u is taken without S x* f, because these axes turn together. The factors of a product have
to be in one frame: either t, P, u and w are transformed from link to link towards the root, where S_j is a unit vector
and costs nothing, or everything is expressed in the root link's frame once; `root_frame` tells which is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import Pose, move_twist, move_wrench
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, cross, dot, matvec, plus, scale
from kinemorph.mechanics.derivatives.axis_responses import (
    Direction,
    Jump,
    Response,
    axis_directions,
    axis_responses,
    origin_jumps,
)
from kinemorph.mechanics.recursions.newton_euler import Wrench, moved_wrench, outward
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.root_frame import root_frame_pays, root_poses
from kinemorph.mechanics.trees.tree import WORLD, Tree


class Derivatives(NamedTuple):
    """d tau / d q (along unit velocities), d tau / d v and d tau / d a = M, each of shape (nv, nv)."""

    dq: list[list[S]]
    dv: list[list[S]]
    da: list[list[S]]


def inverse_dynamics_derivatives(
    tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> Derivatives:
    """The derivatives of inverse dynamics ID(q, v, a). `wrenches` by link are constant in the axes of their links."""
    moves = tree.moves(q)
    flows = outward(tree, moves, v, a)
    jumps = origin_jumps(tree, moves, flows, v)
    directions = axis_directions(tree, moves, flows, v)
    responses = axis_responses(tree, moves, flows, v, directions, wrenches)
    return pair_products(tree, moves, jumps, directions, responses)


def pair_products(
    tree: Tree,
    moves: Sequence[Move],
    jumps: Sequence[Jump],
    directions: Sequence[Direction],
    responses: Sequence[Response],
) -> Derivatives:
    """The derivatives of inverse dynamics, from the directions and responses of every axis."""
    n = tree.nv
    result = Derivatives(*([[0.0] * n for _ in range(n)] for _ in range(3)))
    for j, i, *entries in inside_products(tree, directions, responses):
        result.dq[j][i], result.dv[j][i], result.da[j][i] = entries
    common = root_frame_pays(tree, moves, turned=7, shifted=3, local=24, dots=6)
    if common:
        directions, responses = in_root_frame(tree, moves, jumps, directions, responses)
    for index, link in enumerate(tree.links):
        for i in link.velocities:
            response, at = responses[i], index
            while tree.links[at].parent != WORLD:
                if not common:
                    response = _carried(moves[at], jumps[at], response)
                at = tree.links[at].parent
                for j in tree.links[at].velocities:
                    _pair(result, i, j, directions[j], response)
    return result


def inside_products(
    tree: Tree, directions: Sequence[Direction], responses: Sequence[Response]
) -> Iterator[tuple[int, int, S, S, S]]:
    """(row, column, entries of dq, dv and da) for all pairs of axes of one link, link by link, row by row."""
    for link in tree.links:
        for j in link.velocities:
            S = directions[j].S
            for i in link.velocities:
                inertia = dot(S, responses[i].t)
                if i == j:
                    inertia = inertia + link.armature[i - link.v]
                yield j, i, dot(S, responses[i].u_inside), dot(S, responses[i].w), inertia


def _pair(result: Derivatives, i: int, j: int, direction: Direction, response: Response) -> None:
    """Writes the entries (i, j) and (j, i) of the three matrices, for an axis i and an axis j nearer to the root.

    `direction` is that of j and `response` that of i, in one frame.
    """
    S, psi1, psi2, mixed, _ = direction
    t, P, u, w, _ = response
    result.dq[j][i], result.dv[j][i] = dot(S, u), dot(S, w)
    result.dq[i][j] = plus(dot(P, psi1[3:]), dot(t, psi2))
    result.dv[i][j] = plus(dot(P, S[3:]), dot(t, mixed))
    result.da[i][j] = result.da[j][i] = dot(S, t)


def _carried(move: Move, jump: Jump, response: Response) -> Response:
    """A response, given in a link's frame, expressed in the frame and about the origin of its parent."""
    P = move.out(add(response.P, cross(scale(2.0, jump.slide), response.t[:3])))
    moved = (moved_wrench(move, (F[:3], F[3:])) for F in (response.t, response.u, response.w))
    t, u, w = ((*force, *moment) for force, moment in moved)
    return Response(t, add(P, cross(scale(2.0, jump.before), t[:3])), u, w, ())


def in_root_frame(
    tree: Tree,
    moves: Sequence[Move],
    jumps: Sequence[Jump],
    directions: Sequence[Direction],
    responses: Sequence[Response],
) -> tuple[list[Direction], list[Response]]:
    """Directions and responses in the frame of their tree's root link, velocities measured from its origin."""
    poses = root_poses(tree, moves)
    speeds: list[Vec3] = []  # velocities of the links' origins, each in its own frame
    seen = list(directions)
    felt = list(responses)
    for link, move, jump, pose in zip(tree.links, moves, jumps, poses, strict=True):
        if link.parent == WORLD:
            speeds.append(ZERO3)
            continue
        c = add(move.into(add(speeds[link.parent], jump.before)), jump.slide)
        speeds.append(c)
        for k in link.velocities:
            seen[k] = _placed_direction(pose, c, directions[k], single=len(link.axes) == 1)
            t, P, u, w, _ = responses[k]
            P = matvec(pose.R, add(P, cross(scale(2.0, c), t[:3])))
            felt[k] = Response(move_wrench(pose, t), P, move_wrench(pose, u), move_wrench(pose, w), ())
    return seen, felt


def _placed_direction(pose: Pose, c: Vec3, direction: Direction, *, single: bool) -> Direction:
    """A direction, given in a link's frame, expressed in the root link's frame.

    `pose` is that of the link in the root's frame; `c` [m/s] is the velocity of its origin. `single`: the link has one
    axis.
    """
    S, psi1, psi2, mixed, _ = direction
    around = cross(c, S[3:])
    psi1 = move_twist(pose, (*add(psi1[:3], around), *psi1[3:]))
    psi2 = move_twist(pose, (*add(psi2[:3], scale(2.0, cross(c, direction.psi1[3:]))), *psi2[3:]))
    if single:  # the axis is constant in both parent and link
        mixed = scale(2.0, psi1)
    else:
        mixed = move_twist(pose, (*add(mixed[:3], scale(2.0, around)), *mixed[3:]))
    return Direction(move_twist(pose, S), psi1, psi2, mixed, ())
