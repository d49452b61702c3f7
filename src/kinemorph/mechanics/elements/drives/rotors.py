"""The inertia that elements, such as the rotors of motors, add to joints.

A motor's rotor behind a gear of reduction n adds n^2 J to the diagonal of the mass matrix: the joint's armature. The
equations of a System include it; those of its Robot alone do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Value, parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import System


def robot_with_rotors(system: System) -> Robot:
    """The robot of a system with the armature that its elements add to joints; unchanged where no element adds any."""
    robot = system.robot
    if not system.elements:
        return robot
    from kinemorph.mechanics.elements.law import law_of  # a robot without elements does not import laws

    added: dict[str, Value] = {}
    for element in system.elements:
        for joint, inertia in law_of(element).armature(element).items():
            if not (isinstance(inertia, (int, float)) and inertia == 0.0):
                added[joint] = added.get(joint, 0.0) + inertia
    if not added:
        return robot
    for name in added:
        if name not in robot.axis_places:
            robot.joint(name)  # raises for a joint that does not exist; the law reports one with several axes
    joints = tuple(_with_rotors(joint, added) for joint in robot.joints)
    parameters = tuple(dict.fromkeys((*robot.parameters, *parameters_of(tuple(added.values())))))
    return replace(robot, joints=joints, parameters=parameters)


def _with_rotors(joint: Joint, added: Mapping[str, Value]) -> Joint:
    """A joint with the inertia that is `added` to its axes, by their names."""
    names = joint.motion_names("v")
    if not any(name in added for name in names):
        return joint
    pairs = zip(names, joint.armature, strict=True)
    return replace(joint, armature=tuple(own + added[name] if name in added else own for name, own in pairs))
