"""The same robot with fewer bodies: what is joined by fixed joints becomes one body.

A body that is fixed to another goes into it: the inertias add up, shapes, collisions and frames move along, joints
that hung on it hang on the other, and its name stays as that of a frame. Degrees of freedom, the layout of q and v,
loops, couplings and parameters stay as they are, and so do the equations of motion.

What is fixed to the world is one body less deep, but not gone: the body next to the world stays, as the world has no
shapes. A loop whose two ends would come to lie on one body keeps the bodies of its ends apart.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.algebra.inertia import Inertia, added, transformed
from kinemorph.model.body import NO_INERTIA, Body
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Frame, Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.topology import WORLD

Seats = dict[str, tuple[str, Pose]]  # of every body: the body it goes into, and its pose there


def merge_fixed(robot: Robot, *, keep: Collection[str] = ()) -> Robot:
    """The robot with bodies that do not move against each other welded into one; every name is still a frame.

    `keep` names bodies and joints that stay: such a body is not merged into another, and such a fixed joint is left.
    """
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
    """Where every body goes: with the body it is fixed to, and with what that is fixed to."""
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
    """A body with all that goes into it, in the order of declaration; `parts` holds the body itself too."""
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
    """Whether there is no mass at all, whatever the parameters are."""
    return all(isinstance(x, float) and x == 0.0 for x in (inertia.mass, *(x for row in inertia.moment for x in row)))


def _moved(shape: Shape, pose: Pose) -> Shape:
    return shape if pose is IDENTITY else replace(shape, placement=compose(pose, shape.placement))


def _reseated(frame: Frame, seats: Seats) -> Frame:
    host, pose = seats[frame.body]
    return frame if pose is IDENTITY else Frame(frame.name, host, compose(pose, frame.placement))


def _reattached(joint: Joint, seats: Seats) -> Joint:
    """The joint on the bodies that its ends went into; only a loop may hold a child that went into another."""
    (parent, T_parent), (child, T_child) = seats[joint.parent], seats[joint.child]
    return replace(
        joint,
        parent=parent,
        child=child,
        placement=joint.placement if T_parent is IDENTITY else compose(T_parent, joint.placement),
        child_placement=joint.child_placement if T_child is IDENTITY else compose(T_child, joint.child_placement),
    )
