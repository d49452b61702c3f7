"""From a Robot to a Tree: parameters become numbers, fixed bodies are merged, every joint axis becomes z.

A parameter for which `lookup` returns a graph node stays symbolic. Nothing is rounded here: where joint axes are
coordinate axes, components are only permuted, so structural zeros survive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose, act, compose, inverse, translation, turn
from kinemorph.algebra.inertia import Inertia, second_moment, transformed
from kinemorph.algebra.vectors import Mat, Vec, cross, matvec, scale, transpose
from kinemorph.mechanics.trees.driven import Drive, Driving
from kinemorph.mechanics.trees.moments import joined_moments
from kinemorph.mechanics.trees.motions import ZERO3, ZERO_SYM
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Closure, Follow, Link, MassiveBody, Moments, Tree
from kinemorph.model.driven import coordinate_places
from kinemorph.model.joint import Axis, Joint, Primitive
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot

Lookup = Mapping[str, Any]
FIXED = Primitive("fixed", None, (0, 0), (0, 0))


def resolve(robot: Robot, lookup: Lookup | None = None, *, merged: bool = True) -> Tree:
    """The tree of a robot. `lookup` gives scalars by parameter name; other parameters take their nominal value.

    Every loop is cut at one joint; the other joints carry the links, and the cut joints are the closures. Unless
    `merged`, every body is a separate link, and a fixed joint gives a link without axes.
    """
    links: list[dict[str, Any]] = []  # the data of each link except its mass
    attachments: dict[str, Attachment] = {"world": Attachment(WORLD, IDENTITY)}
    for joint in robot.order:
        base = attachments[joint.parent]
        at = Attachment(base.link, compose(base.pose, _pose(joint.placement, lookup)))
        at = _joined_by(joint, robot, at, links, lookup, joint.motion.primitives or (() if merged else (FIXED,)))
        attachments[joint.child] = Attachment(at.link, compose(at.pose, inverse(_pose(joint.child_placement, lookup))))
    for frame in robot.frames:
        base = attachments[frame.body]
        attachments[frame.name] = Attachment(base.link, compose(base.pose, _pose(frame.placement, lookup)))

    bodies: list[MassiveBody] = []
    held: list[Moments] = [(0.0, ZERO3, ZERO_SYM)] * (len(links) + 1)  # the last is the world's
    for body in robot.bodies:
        at = attachments[body.name]
        inertia = Inertia(*evaluate_all((body.mass, body.com, body.inertia), lookup))
        held[at.link] = joined_moments(held[at.link], _placed(inertia, at.pose))
        center = compose(at.pose, translation(inertia.com))
        bodies.append(MassiveBody(body.name, at.link, center, inertia.mass, inertia.moment))
    loaded = [Link(**link, mass=m, h=h, sigma=sigma) for link, (m, h, sigma) in zip(links, held[:-1], strict=True)]
    gravity = evaluate_all(robot.gravity, lookup)
    closures = tuple(_closure(joint, attachments, lookup) for joint in robot.loops)
    follows = tuple(
        Follow(
            f"coupling of {coupling.joint}",
            robot.q_slice(coupling.joint).start,
            robot.q_slice(coupling.leader).start,
            evaluate(coupling.multiplier, lookup),
            evaluate(coupling.offset, lookup),
        )
        for coupling in robot.couplings
    )
    driving = driving_of(robot, lookup)
    nq, nv = robot.nq, robot.nv
    if driving is not None:
        nq += sum(joint.motion.nq for joint in robot.driven)
        nv += sum(joint.motion.nv for joint in robot.driven)
    fixed = (attachments, held[-1], closures, follows, tuple(bodies))
    return Tree(robot.name, tuple(loaded), nq, nv, gravity, *fixed, driving)


def driving_of(robot: Robot, lookup: Lookup | None = None) -> Driving | None:
    """The driven joints of a robot, with parameters, and the time "t", as in `lookup`; None if it has none."""
    if not robot.driven:
        return None
    drives = tuple(
        Drive(step.kind, joint.driven[step.q[0] : step.q[1]])
        for joint in robot.driven
        for step in joint.motion.primitives
    )
    return Driving(robot.nq, robot.nv, drives, coordinate_places(robot), lookup or {})


def _closure(joint: Joint, attachments: Mapping[str, Attachment], lookup: Lookup | None) -> Closure:
    """The closure of a joint that closes a loop, between two frames whose z axis is the joint axis."""
    R = z_frame(joint.axis)

    def side(body: str, placement: Pose) -> Attachment:
        base = attachments[body]
        return Attachment(base.link, compose(base.pose, _pose(placement, lookup), turn(R)))

    return Closure(
        joint.name,
        joint.table.closure,
        side(joint.parent, joint.placement),
        side(joint.child, joint.child_placement),
        matvec(transpose(R), joint.axis2),
        evaluate(joint.pitch, lookup),
    )


def _joined_by(
    joint: Joint,
    robot: Robot,
    at: Attachment,
    links: list[dict[str, Any]],
    lookup: Lookup | None,
    steps: Sequence[Primitive],
) -> Attachment:
    """Adds the links of one joint, one for each primitive joint in `steps`; returns the joint frame on the child."""
    q, v = robot.q_slice(joint.name).start, robot.v_slice(joint.name).start
    for number, step in enumerate(steps):
        R = _turn_to_z(joint, step)
        last = number == len(steps) - 1
        links.append(
            dict(
                name=joint.child if last else f"{joint.name}.{number}",
                kind=step.kind,
                parent=at.link,
                placement=compose(at.pose, turn(R)),
                q=q + step.q[0],
                v=v + step.v[0],
                armature=tuple(evaluate(x, lookup) for x in joint.armature[step.v[0] : step.v[1]]),
                pitch=evaluate(joint.pitch, lookup),
            )
        )
        at = Attachment(len(links) - 1, turn(transpose(R)))
    return at


def _turn_to_z(joint: Joint, step: Primitive) -> Mat:
    return z_frame(joint.axes[step.axis]) if step.axis is not None else IDENTITY.R


def joint_turn(joint: Joint) -> Mat:
    """The rotation from the axes of the link that a joint carries to those of the joint frame on the child."""
    steps = joint.motion.primitives
    return _turn_to_z(joint, steps[-1]) if steps else IDENTITY.R


@lru_cache(maxsize=1024)
def z_frame(axis: Axis) -> Mat:
    """A rotation matrix whose third column is the unit axis; it only permutes axes where that is a coordinate axis."""
    along = [k for k in range(3) if axis[k] != 0.0]
    if len(along) == 1:
        after, sign = (along[0] + 1) % 3, axis[along[0]]
        x: Vec = tuple(sign if k == after else 0.0 for k in range(3))
    else:
        smallest = min(range(3), key=lambda k: abs(axis[k]))
        x = cross(tuple(1.0 if k == smallest else 0.0 for k in range(3)), axis)
        x = scale(1.0 / math.hypot(*x), x)
    return transpose([x, cross(axis, x), axis])


def _pose(pose: Pose, lookup: Lookup | None) -> Pose:
    resolved: Pose = evaluate_all(pose, lookup)
    return resolved


def _placed(inertia: Inertia, T: Pose) -> Moments:
    """The moments of mass of a body, given in its own frame, expressed in a frame where the body has the pose T."""
    # the center of mass first, so that a body far from its own frame loses no digits
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = second_moment(transformed(inertia, T))
    return inertia.mass, scale(inertia.mass, act(T, inertia.com)), (xx, xy, xz, yy, yz, zz)
