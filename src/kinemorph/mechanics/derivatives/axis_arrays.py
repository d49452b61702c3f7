"""Directions and responses of all axes as arrays: the factors of the pair products, in the root link's frame.

For robots with many pairs of axes, loops compute the products; this file has the part that is linear in the number of
links. Arrays have one row per component and one column per velocity, so that a loop over velocities reads contiguous
memory. Pairs of axes of one link follow another formula: their entries are given directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinemorph.algebra.groups import move_twist, move_wrench
from kinemorph.algebra.scalar import S
from kinemorph.mechanics.derivatives.axis_responses import axis_directions, axis_responses, origin_jumps
from kinemorph.mechanics.derivatives.branch_factor import ways_to_root
from kinemorph.mechanics.derivatives.inverse_derivatives import in_root_frame, inside_products
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.composite_bodies import composite_moments, momentum
from kinemorph.mechanics.recursions.kinematics import dense
from kinemorph.mechanics.recursions.newton_euler import Wrench, outward, project
from kinemorph.mechanics.trees.root_frame import root_poses
from kinemorph.mechanics.trees.tree import Link, Tree

Arrays = dict[str, list[list[S]]]


def axis_parents(tree: Tree) -> tuple[int, ...]:
    """For every velocity the index of the velocity whose axis carries its axis, or -1 for the world.

    The axes of one link carry each other in order.
    """
    return tuple(way[-1] if way else -1 for way in ways_to_root(tree))


def inside_places(tree: Tree) -> list[tuple[int, int]]:
    """(row, column) of every entry that belongs to two axes of one link, in the order of the arrays `inside_...`."""
    return [(j, i) for link in tree.links for j in link.velocities for i in link.velocities]


def momentum_arrays(tree: Tree, q: Sequence[S]) -> Arrays:
    """The screw axes S and their momenta t = I S, shape (6, nv) each, and the entries of M for two axes of one link.

    The other entries are M[j][i] = S_j . t_i.
    """
    moves = tree.moves(q)
    composites, poses = composite_moments(tree, moves), root_poses(tree, moves)
    screws: list[Sequence[S]] = [()] * tree.nv
    momenta: list[Sequence[S]] = [()] * tree.nv
    inside: list[S] = []
    for link, pose, moments in zip(tree.links, poses, composites, strict=True):
        loads = [momentum(moments, axis) for axis in link.axes]
        for k, (axis, load) in enumerate(zip(link.axes, loads, strict=True)):
            screws[link.v + k] = move_twist(pose, dense(axis))
            momenta[link.v + k] = move_wrench(pose, (*load[0], *load[1]))
        inside += _with_armature(link, [[project(axis, load) for load in loads] for axis in link.axes])
    return {"S": _rows(screws), "t": _rows(momenta), "inside": [inside]}


def derivative_arrays(
    tree: Tree, q: Sequence[S], v: Sequence[S], a: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> Arrays:
    """The arrays S, psi2, mixed, t, u, w, shape (6, nv), psi1 (its angular part) and P (a moment), shape (3, nv).

    Each column belongs to one axis: see `axis_responses.Direction` and `Response`. Their products are the derivatives:
    see `inverse_derivatives`. `inside_q`, `inside_v` and `inside_a` are the entries of the three matrices for two axes
    of one link, in the order of `inside_places`.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, a)
    jumps = origin_jumps(tree, moves, flows, v)
    directions = axis_directions(tree, moves, flows, v)
    responses = axis_responses(tree, moves, flows, v, directions, wrenches)
    inside = list(inside_products(tree, directions, responses))
    seen, felt = in_root_frame(tree, moves, jumps, directions, responses)
    return {
        "S": _rows(x.S for x in seen),
        "psi1": _rows(x.psi1[3:] for x in seen),
        "psi2": _rows(x.psi2 for x in seen),
        "mixed": _rows(x.mixed for x in seen),
        "t": _rows(x.t for x in felt),
        "P": _rows(x.P for x in felt),
        "u": _rows(x.u for x in felt),
        "w": _rows(x.w for x in felt),
        "inside_q": [[by_q for _, _, by_q, _, _ in inside]],
        "inside_v": [[by_v for _, _, _, by_v, _ in inside]],
        "inside_a": [[by_a for _, _, _, _, by_a in inside]],
    }


def forward_derivative_arrays(
    tree: Tree, q: Sequence[S], v: Sequence[S], tau: Sequence[S], wrenches: Mapping[int, Wrench] | None = None
) -> Arrays:
    """`derivative_arrays` at the acceleration that the generalized forces `tau`, shape (nv,), cause."""
    return derivative_arrays(tree, q, v, forward_dynamics(tree, q, v, tau, wrenches), wrenches)


def _with_armature(link: Link, block: list[list[S]]) -> list[S]:
    """The entries, row by row, of the block of M for the axes of one link, with the armature on its diagonal."""
    return [entry + link.armature[j] if i == j else entry for j, row in enumerate(block) for i, entry in enumerate(row)]


def _rows(columns: Iterable[Sequence[S]]) -> list[list[S]]:
    """The transpose: from one list per axis to one list per component."""
    return [list(row) for row in zip(*columns, strict=True)]
