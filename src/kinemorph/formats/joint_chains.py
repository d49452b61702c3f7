"""Replaces joints that a format does not have by a chain of simple joints with massless bodies between them.

The order of q and v stays the same; the names of coordinates change: `knee.first` becomes `knee_first`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kinemorph.algebra.groups import IDENTITY
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint, Primitive, Z
from kinemorph.model.system import System
from kinemorph.words import listed

CHAINS = ("universal", "gimbal", "cylindrical", "point_on_line", "point_on_plane")
PER_COORDINATE, PER_VELOCITY = ("lower", "upper"), ("velocity", "effort", "damping", "friction", "armature")
# the pieces of joints that are one piece here: slides along x, y (and z) of the joint frame, and a turn
SLIDES = {
    "planar": (
        Primitive("prismatic", 2, (0, 1), (0, 1)),
        Primitive("prismatic", 3, (1, 2), (1, 2)),
        Primitive("revolute", None, (2, 3), (2, 3)),
    ),
    "free": (
        Primitive("prismatic", 2, (0, 1), (0, 1)),
        Primitive("prismatic", 3, (1, 2), (1, 2)),
        Primitive("prismatic", None, (2, 3), (2, 3)),
        Primitive("spherical", None, (3, 7), (3, 6)),
    ),
}
BALL = "ball"  # ends the name of the last joint of a chain if it has several velocities


def without_chains(
    system: System, lack: Callable[[str, str], None], is_split: Callable[[Joint], bool] = lambda one: one.kind in CHAINS
) -> System:
    """The system with each joint that `is_split` chooses replaced by a chain of simple joints.

    `lack` is called with a text that says what the format does not have, and the name of the part.
    """
    robot = system.robot
    bodies, joints = list(robot.bodies), list[Joint]()
    taken_bodies, taken_joints = {"world", *robot.body_names}, {joint.name for joint in (*robot.joints, *robot.loops)}
    split = set()
    for joint in robot.joints:
        if not is_split(joint):
            joints.append(joint)
            continue
        steps = SLIDES.get(joint.kind, joint.table.primitives)
        suffixes = [BALL if step.kind == "spherical" else joint.table.v_names[step.v[0]] for step in steps]
        between = [free_name(f"{joint.name}_link", taken_bodies) for _ in steps[1:]]
        names = [free_name(f"{joint.name}_{suffix}", taken_joints) for suffix in suffixes]
        bodies += map(Body.massless, between)
        joints += _steps(joint, between, names)
        split.add(joint.name)
        endings = listed(f"_{suffix}" for suffix in suffixes)
        turned = ", with velocities along the parent's axes" if joint.kind in SLIDES else ""
        what = f"{joint.kind} joint; it is written as {len(steps)} joints whose names end in {endings}{turned}"
        lack(what, joint.name)
    if not split:
        return system
    kept = []
    for element in system.elements:
        if getattr(element, "joint", "") in split:
            lack("actuator for a joint with several coordinates; it is left out", element.name)
        else:
            kept.append(element)
    starts = {name: system.start(name) for name in system.starts}  # in order, as the names of coordinates change
    new = replace(robot, bodies=tuple(bodies), joints=tuple(joints))
    return replace(system, robot=new, elements=tuple(kept), starts=starts)


def _steps(joint: Joint, between: list[str], names: list[str]) -> list[Joint]:
    """The simple joints, called `names`, of a chain; `between` are the names of the massless bodies between them."""
    steps = []
    for name, primitive in zip(names, SLIDES.get(joint.kind, joint.table.primitives), strict=True):
        numbers: dict[str, Any] = {key: getattr(joint, key)[slice(*primitive.q)] for key in PER_COORDINATE}
        numbers |= {key: getattr(joint, key)[slice(*primitive.v)] for key in PER_VELOCITY}
        axis = Z if primitive.axis is None else joint.axes[primitive.axis]
        steps.append(replace(joint, name=name, kind=primitive.kind, axis=axis, **numbers))
    for index, body in enumerate(between):
        steps[index] = replace(steps[index], child=body, child_placement=IDENTITY)
        steps[index + 1] = replace(steps[index + 1], parent=body, placement=IDENTITY)
    return steps


def free_name(name: str, taken: set[str]) -> str:
    """The name, with underscores added until it is not in `taken`; it is added to `taken`."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
