"""Forward dynamics: the articulated-body algorithm (ABA).

Featherstone (1983; 2008, table 7.1), with one rearrangement. The accelerations and wrenches at zero joint acceleration
are found first, exactly as in inverse dynamics; the remaining problem is linear:

    inward    I_A = I + sum of the children's,  p = bias wrench + sum of the children's
              per axis S:  U = I_A S,  D = S^T U + pivot,  u = tau - S^T p
              I_A -= U U^T / D,  p += U u / D           (the axes of a joint are eliminated one by one)
    outward   x = (u - U^T b) / D,  b += S x            (b: acceleration beyond the one at zero joint acceleration)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.inertia_blocks import (
    Axis,
    Blocks,
    Six,
    along,
    column,
    deflated,
    joined_blocks,
    rigid_blocks,
    shifted_blocks,
)
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Vec3
from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions.newton_euler import (
    Wrench,
    added,
    inertial_wrench,
    moved_wrench,
    negative,
    outward,
    project,
)
from kinemorph.mechanics.trees.motions import ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree


class Pivot(NamedTuple):
    """The results of the inward pass for one axis, for the outward pass: U = I_A S, 1 / D and u = tau - S^T p."""

    U: Six
    inverse: S  # 1 / D
    u: S


def forward_dynamics(
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    tau: Sequence[S],
    wrenches: Mapping[int, Wrench] | None = None,
    *,
    added_inertia: Mapping[int, Blocks] | None = None,
    added_pivots: Mapping[int, S] | None = None,
    locked: Collection[int] = (),
) -> list[S]:
    """The joint accelerations, shape (nv,), under generalized forces `tau` and external wrenches by link.

    `added_inertia` (link -> blocks) and `added_pivots` (velocity index -> number) enter the linear equations like mass,
    but have no weight and no Coriolis forces: an implicit force f0 - D a is the wrench f0 and the added inertia D.
    `locked` are velocity indices whose acceleration is 0, whatever force that takes.
    """
    moves = tree.moves(q)
    flows = outward(tree, moves, v, [0.0] * tree.nv)
    loads = [inertial_wrench(link, flow) for link, flow in zip(tree.links, flows, strict=True)]
    for index, (force, moment) in (wrenches or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    return responses(tree, moves, tau, loads, added_inertia, added_pivots, locked).a


class Responses(NamedTuple):
    """Joint accelerations, shape (nv,), and for every link the (linear, angular) acceleration that they add to the one
    at zero joint acceleration.
    """

    a: list[S]
    links: list[tuple[Vec3, Vec3]]


def responses(
    tree: Tree,
    moves: Sequence[Move],
    tau: Sequence[S],
    loads: Sequence[Wrench],
    added_inertia: Mapping[int, Blocks] | None = None,
    added_pivots: Mapping[int, S] | None = None,
    locked: Collection[int] = (),
) -> Responses:
    """The accelerations under `tau`, shape (nv,): the linear part of forward dynamics.

    `loads` are the wrenches that the links need at zero joint acceleration; the other arguments are those of
    `forward_dynamics`. A limb that represents several limbs (`tree.of_all`) passes the sum over all of them to its
    parent.
    """
    loads, inertias = list(loads), [rigid_blocks(link.moments) for link in tree.links]
    for index, blocks in (added_inertia or {}).items():
        inertias[index] = joined_blocks(inertias[index], blocks)
    extra = added_pivots or {}

    pivots: list[Pivot | None] = [None] * tree.nv
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        blocks, load = inertias[index], loads[index]
        last = link.parent == WORLD
        for k, axis in enumerate(link.axes):
            j = link.v + k
            if j in locked:
                continue
            pivot = link.armature[k] + extra.get(j, 0.0)
            U = column(blocks, axis)
            D = along(axis, U) + pivot
            u = tau[j] - project(axis, load)
            if D.__class__ is float and D == 0.0:
                raise meets_no_inertia(link, k)
            inverse = 1.0 / D
            pivots[j] = Pivot(U, inverse, u)
            if last and k == len(link.axes) - 1:
                break  # no link nearer to the root needs the remaining inertia
            G: Six = tuple(x * inverse for x in U)
            blocks = deflated(blocks, U, G, axis, pivot)
            push = [g * u for g in G]
            if len(axis) == 1 and pivot.__class__ is float and pivot == 0.0:
                # the component of the wrench along the axis is now exactly tau
                load = _with_component(load, push, axis[0][0], tau[j])
            else:
                load = added(load, ((push[0], push[1], push[2]), (push[3], push[4], push[5])))
        if not last:
            blocks, load = tree.of_all(index, (moved_blocks(moves[index], blocks), moved_wrench(moves[index], load)))
            inertias[link.parent] = joined_blocks(inertias[link.parent], blocks)
            loads[link.parent] = added(loads[link.parent], load)

    a: list[S] = [0.0] * tree.nv
    extras: list[tuple[Vec3, Vec3]] = []
    for index, link in enumerate(tree.links):
        b = (ZERO3, ZERO3) if link.parent == WORLD else _carried(moves[index], *extras[link.parent])
        for k in range(len(link.axes) - 1, -1, -1):
            j = link.v + k
            row = pivots[j]
            if row is None:
                continue
            a[j] = (row.u - _dot(row.U, (*b[0], *b[1]))) * row.inverse
            b = _advanced(b, link.axes[k], a[j])
        extras.append(b)
    return Responses(a, extras)


def given_responses(tree: Tree, moves: Sequence[Move], a: Sequence[S]) -> Responses:
    """The responses at known joint accelerations `a`, shape (nv,)."""
    extras: list[tuple[Vec3, Vec3]] = []
    for index, link in enumerate(tree.links):
        b = (ZERO3, ZERO3) if link.parent == WORLD else _carried(moves[index], *extras[link.parent])
        for k, axis in enumerate(link.axes):
            b = _advanced(b, axis, a[link.v + k])
        extras.append(b)
    return Responses(list(a), extras)


def meets_no_inertia(link: Link, k: int) -> ModelError:
    """The error for a link whose joint axis number k moves no mass."""
    return ModelError(
        f"joint of '{link.name}' ({link.kind}) moves no inertia along its axis {k + 1}: forward dynamics "
        "would divide by zero. Give the bodies that it carries mass off the axis, or give the joint an armature."
    )


# ── one axis ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def moved_blocks(move: Move, blocks: Blocks) -> Blocks:
    """A link's spatial inertia, given in its own frame, expressed in the frame and about the origin of its parent."""
    A, B, J = shifted_blocks(blocks, (0.0, 0.0, move.slide))
    return shifted_blocks((move.out_symmetric(A), move.out_general(B), move.out_symmetric(J)), move.p)


def _with_component(load: Wrench, push: Sequence[S], k: int, value: S) -> Wrench:
    """The wrench load + push, with its component k replaced by `value`, which it is known to equal."""
    whole = [x + y if i != k else value for i, (x, y) in enumerate(zip((*load[0], *load[1]), push, strict=True))]
    return (whole[0], whole[1], whole[2]), (whole[3], whole[4], whole[5])


# ── outward ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _carried(move: Move, a: Vec3, al: Vec3) -> tuple[Vec3, Vec3]:
    """The acceleration (of the origin, angular) of a link that moves rigidly with its parent, whose acceleration is
    (a, al).
    """
    (x, y, z), (rx, ry, rz) = move.p, al
    bx, by, bz = move.into((a[0] + (ry * z - rz * y), a[1] + (rz * x - rx * z), a[2] + (rx * y - ry * x)))
    rx, ry, rz = move.into(al)
    d = move.slide
    return (bx + ry * d, by - rx * d, bz), (rx, ry, rz)


def _advanced(b: tuple[Vec3, Vec3], axis: Axis, x: S) -> tuple[Vec3, Vec3]:
    """The acceleration b + S x: b and the acceleration x along a screw axis S."""
    whole = [*b[0], *b[1]]
    for component, coefficient in axis:
        whole[component] = whole[component] + coefficient * x
    return (whole[0], whole[1], whole[2]), (whole[3], whole[4], whole[5])


def _dot(a: Six, b: Six) -> S:
    total: S = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
