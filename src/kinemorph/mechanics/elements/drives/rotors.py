"""The inertia that elements, such as the rotors of motors, add to joints.

A motor's rotor behind a gear of reduction n adds n^2 J to the diagonal of the mass matrix: the joint's armature. The
equations of a System include it; those of its Robot alone do not.
"""

from __future__ import annotations

from dataclasses import replace

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
        robot.v_slice(name)  # raises for a joint that does not exist
    joints = tuple(
        replace(joint, armature=(joint.armature[0] + added[joint.name],)) if joint.name in added else joint
        for joint in robot.joints
    )
    parameters = tuple(dict.fromkeys((*robot.parameters, *parameters_of(tuple(added.values())))))
    return replace(robot, joints=joints, parameters=parameters)
