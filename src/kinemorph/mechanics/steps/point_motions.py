"""Velocities of points and pairs of a tree, at the start of a step and at its end without joint acceleration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, minus, plus, times
from kinemorph.algebra.turns import Mat3, Vec3
from kinemorph.algebra.vectors import add, cross, scale, sub
from kinemorph.mechanics.recursions.newton_euler import Flow, carried_point, joint_twist
from kinemorph.mechanics.steps.pair_forces import PairForce, outward_vector, relative
from kinemorph.mechanics.steps.point_states import PointForce, Sight
from kinemorph.mechanics.trees.motions import ELEMENTARY, ZERO3, Move
from kinemorph.mechanics.trees.tree import WORLD, Tree


class FreeMotions(NamedTuple):
    """Velocities at the end of a step without joint acceleration.

    Those of points are in the axes of their links. Those of pairs, of the first point relative to the second, are in
    world axes; the velocity at the start of the step comes first. `field(link)` gives (u, U): u + U p
    is that of the place p on a link.
    """

    points: list[Vec3]
    pairs: list[tuple[Vec3, Vec3]]
    field: Callable[[int], tuple[Vec3, Mat3]]


def free_motions(
    tree: Tree,
    sight: Sight,
    flows: Sequence[Flow],
    v: Sequence[S],
    h: S,
    origins: Mapping[int, Vec3],
    points: Sequence[PointForce],
    pairs: Sequence[PairForce],
) -> FreeMotions:
    """The velocities of all points and pairs at the end of a step without joint acceleration.

    `origins` are the velocities of the origins of links by index.
    """

    def field(link: int) -> tuple[Vec3, Mat3]:
        flow = flows[link]
        x, y, z = add(origins[link], scale(h, add(flow.a, sight.into(link, tree.gravity))))
        return (x, y, z), _spread(flow, h)

    found = [carried_point(*field(link), point) for link, point, _ in points]
    return FreeMotions(found, [_free_pair(tree, sight, flows, v, h, pair) for pair in pairs], field)


def _spread(flow: Flow, h: S) -> Mat3:
    """The matrix [w x] + h U by rows: how velocities differ within a link after the time h at the accelerations of
    `flow`, shape (3, 3). Points of one link share it.
    """
    x, y, z = flow.w
    xx, xy, xz, yx, yy, yz, zx, zy, zz = (times(h, entry) for entry in flow.U)
    return (xx, minus(xy, z), plus(xz, y), plus(yx, z), yy, minus(yz, x), minus(zx, y), plus(zy, x), zz)


def _free_pair(
    tree: Tree, sight: Sight, flows: Sequence[Flow], v: Sequence[S], h: S, pair: PairForce
) -> tuple[Vec3, Vec3]:
    """A pair's relative velocity in world axes: at the start of a step, and at its end without joint acceleration."""
    rates: list[Vec3] = []
    for link, point in zip(pair.links, pair.points, strict=True):
        if link == WORLD:
            rates.append(ZERO3)
        elif pair.turning:
            rates.append(outward_vector(sight, link, flows[link].al))
        else:
            c = add(carried_point(flows[link].a, flows[link].U, point), sight.into(link, tree.gravity))
            rates.append(outward_vector(sight, link, c))
    now = present_motion(tree, sight, flows, v, pair)
    x, y, z = add(now, scale(h, sub(sub(*rates), pair.leaving)))
    return now, (x, y, z)


def present_motion(tree: Tree, sight: Sight, flows: Sequence[Flow], v: Sequence[S], pair: PairForce) -> Vec3:
    """The velocity of the first point of a pair relative to the second, in world axes."""
    links = [link for link in pair.links if link != WORLD]
    origins = origin_velocities(tree, sight.moves, flows, v, links)
    return relative(pair, sight, {link: (origins[link], flows[link].w) for link in links})


def point_velocities(
    tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S], points: Sequence[PointForce]
) -> list[Vec3]:
    """The velocity of each point, in its link's axes."""
    origins = origin_velocities(tree, moves, flows, v, {force.link for force in points})
    return [add(origins[link], cross(flows[link].w, point)) for link, point, _ in points]


def origin_velocities(
    tree: Tree, moves: Sequence[Move], flows: Sequence[Flow], v: Sequence[S], links: Collection[int]
) -> dict[int, Vec3]:
    """Velocities of the origins of these links and of the links that carry them, each in its own axes."""
    wanted: set[int] = set()
    for index in links:
        while index != WORLD and index not in wanted:
            wanted.add(index)
            index = tree.links[index].parent
    found: dict[int, Vec3] = {}
    for index in sorted(wanted):
        link, move = tree.links[index], moves[index]
        u, _ = joint_twist(link, v)
        if link.parent != WORLD:
            w = flows[link.parent].w
            x, y, z = move.into(add(found[link.parent], cross(w, move.p)))
            wx, wy, _ = move.into(w)
            u = add(u, (x + wy * move.slide, y - wx * move.slide, z))
        found[index] = u
    return found


def coordinates(tree: Tree) -> dict[int, int]:
    """Index in v -> index in q, for the velocities of joints with one axis, which are rates of coordinates."""
    return {link.v: link.q for link in tree.links if (row := ELEMENTARY[link.kind]).nq == row.nv == 1}
