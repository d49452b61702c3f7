"""Joints of two coordinates as two joints of one, with a body without mass between: URDF has no other word for them.

The layout of q and v stays as it is; the names of the coordinates change, `knee.first` becomes `knee_first`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kinemorph.algebra.groups import IDENTITY
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.system import System

CHAINS = ("universal", "cylindrical")
PER_COORDINATE = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")


def without_chains(system: System, lack: Callable[[str, str], None]) -> System:
    """The system with two joints for each that has two coordinates; `lack` is told what URDF has not, and whose."""
    robot = system.robot
    bodies, joints = list(robot.bodies), list[Joint]()
    taken_bodies, taken_joints = {"world", *robot.body_names}, {joint.name for joint in (*robot.joints, *robot.loops)}
    split = set()
    for joint in robot.joints:
        if joint.kind not in CHAINS:
            joints.append(joint)
            continue
        between = free_name(f"{joint.name}_link", taken_bodies)
        names = [free_name(f"{joint.name}_{suffix}", taken_joints) for suffix in joint.table.v_names]
        bodies.append(Body.massless(between))
        joints += _steps(joint, between, names)
        split.add(joint.name)
        endings = " and ".join(f"_{suffix}" for suffix in joint.table.v_names)
        lack(f"{joint.kind} joint; it is written as two joints whose names end in {endings}", joint.name)
    if not split:
        return system
    kept = []
    for element in system.elements:
        if getattr(element, "joint", "") in split:
            lack("joint of two coordinates to drive, so its drive is left out", element.name)
        else:
            kept.append(element)
    return replace(system, robot=replace(robot, bodies=tuple(bodies), joints=tuple(joints)), elements=tuple(kept))


def _steps(joint: Joint, between: str, names: list[str]) -> list[Joint]:
    steps = []
    for index, (name, primitive) in enumerate(zip(names, joint.table.primitives, strict=True)):
        numbers = {key: getattr(joint, key)[index : index + 1] for key in PER_COORDINATE}
        step = replace(joint, name=name, kind=primitive.kind, axis=joint.axes[primitive.axis or 0], **numbers)
        steps.append(step)
    first, second = steps
    return [
        replace(first, child=between, child_placement=IDENTITY),
        replace(second, parent=between, placement=IDENTITY),
    ]


def free_name(name: str, taken: set[str]) -> str:
    """The name, with underscores where it is taken; it is taken from then on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
