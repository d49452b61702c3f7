"""The same robot with fewer bodies: bodies joined by fixed joints become one body.

If a body is fixed to another, the other body gets its inertia, shapes, collisions, frames and joints, and the name of
the merged body becomes the name of a frame. Degrees of freedom, the order of q and v, loops, couplings, parameters and
the equations of motion do not change.

A body fixed to the world is not merged into the world, because the world has no shapes; further bodies fixed to it are
merged into it. Two bodies that a loop connects are not merged with each other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.algebra.inertia import Inertia, added, transformed
from kinemorph.model.body import NO_INERTIA, Body
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Frame, Robot, check_robot
from kinemorph.model.shapes import Shape
from kinemorph.model.topology import WORLD

Seats = dict[str, tuple[str, Pose]]  # for every body, the body that it is merged into, and its pose there


def merge_fixed(robot: Robot, *, keep: Collection[str] = ()) -> Robot:
    """The robot with bodies that are fixed to each other merged; the names of merged bodies become frames.

    `keep` names bodies that are not merged into others, and fixed joints that are not removed.
    """
    check_robot(robot)
    seats = _seats(robot, keep)
    inside = {end for loop in robot.loops if seats[loop.parent][0] == seats[loop.child][0] for end in _ends(loop)}
    if inside:
        seats = _seats(robot, {*keep, *inside})
    gone = {body.name for body in robot.bodies if seats[body.name][0] != body.name}
    groups: dict[str, list[Body]] = {body.name: [] for body in robot.bodies if body.name not in gone}
    for body in robot.bodies:
        groups[seats[body.name][0]].append(body)
    frames = [_reseated(frame, seats) for frame in robot.frames]
    return replace(
        robot,
        bodies=tuple(_welded(body, groups[body.name], seats) for body in robot.bodies if body.name in groups),
        joints=tuple(_reattached(joint, seats) for joint in robot.joints if joint.child not in gone),
        loops=tuple(_reattached(joint, seats) for joint in robot.loops),
        frames=(*frames, *(Frame(name, *seats[name]) for name in robot.body_names if name in gone)),
    )


def _seats(robot: Robot, keep: Collection[str]) -> Seats:
    """For every body, the body that it is merged into (itself if it is not merged), and its pose there."""
    seats: Seats = {WORLD: (WORLD, IDENTITY)}
    for joint in robot.order:
        host, pose = seats[joint.parent]
        if joint.kind != "fixed" or host == WORLD or joint.child in keep or joint.name in keep:
            seats[joint.child] = (joint.child, IDENTITY)
        else:
            seats[joint.child] = (host, compose(pose, joint.placement, inverse(joint.child_placement)))
    return seats


def _ends(joint: Joint) -> tuple[str, str]:
    return joint.parent, joint.child


def _welded(host: Body, parts: list[Body], seats: Seats) -> Body:
    """The body `host` with the inertia and shapes of all `parts`, which are merged into it and include `host`."""
    if len(parts) == 1:
        return host
    parts = [host, *(part for part in parts if part is not host)]
    whole = Inertia(0.0, host.com, NO_INERTIA)
    for part in parts:
        inertia = transformed(Inertia(part.mass, part.com, part.inertia), seats[part.name][1])
        if not _nothing(inertia):
            whole = inertia if _nothing(whole) else added(whole, inertia)
    x, y, z = whole.com
    a, b, c = ((row[0], row[1], row[2]) for row in whole.moment)
    return replace(
        host,
        mass=whole.mass,
        com=(x, y, z),
        inertia=(a, b, c),
        shapes=tuple(_moved(shape, seats[part.name][1]) for part in parts for shape in part.shapes),
        collisions=tuple(_moved(shape, seats[part.name][1]) for part in parts for shape in part.collisions),
    )


def _nothing(inertia: Inertia) -> bool:
    """Whether mass and inertia are the plain number 0, so that they are 0 for all values of parameters."""
    return all(isinstance(x, float) and x == 0.0 for x in (inertia.mass, *(x for row in inertia.moment for x in row)))


def _moved(shape: Shape, pose: Pose) -> Shape:
    return shape if pose is IDENTITY else replace(shape, placement=compose(pose, shape.placement))


def _reseated(frame: Frame, seats: Seats) -> Frame:
    host, pose = seats[frame.body]
    return frame if pose is IDENTITY else Frame(frame.name, host, compose(pose, frame.placement))


def _reattached(joint: Joint, seats: Seats) -> Joint:
    """The joint, attached to the bodies that its parent and child are merged into, with placements in their frames."""
    (parent, T_parent), (child, T_child) = seats[joint.parent], seats[joint.child]
    return replace(
        joint,
        parent=parent,
        child=child,
        placement=joint.placement if T_parent is IDENTITY else compose(T_parent, joint.placement),
        child_placement=joint.child_placement if T_child is IDENTITY else compose(T_child, joint.child_placement),
    )
