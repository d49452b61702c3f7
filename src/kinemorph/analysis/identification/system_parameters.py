"""The parameters of `Dynamics.regressor_columns` that a system has: those of its robot, and what its elements add.

Rotors of motors are armatures. The friction of a velocity is that of its joint, of the elements JointFriction that act
on it and of motors with rigid transmissions, all at the joint. A constant AppliedEffort called "<joint> offset" is an
offset with the opposite sign, as `with_parameters` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinemorph.deriving.parameter_functions import column_names, parameter_values
from kinemorph.mechanics.elements.drives.rotors import robot_with_rotors
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.applied import AppliedEffort
from kinemorph.model.elements.forces.joint_forces import JointFriction, has_friction
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Symbolic, evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import Element, System


def system_parameters(model: Robot | System) -> dict[str, float]:
    """The values of all columns by name, in their order, with what the elements of the system add."""
    system = model if isinstance(model, System) else System(model)
    robot = robot_with_rotors(system)
    found = dict(zip(column_names(robot), parameter_values(robot).tolist(), strict=True))
    rubbed: set[str] = set()
    for element in system.elements:
        if isinstance(element, JointFriction):
            names = rubbed_joints(element, robot.joints)
            for joint in (joint for joint in robot.joints if joint.name in names):
                own = joint.friction if element.coulomb is None else (element.coulomb,) * len(joint.friction)
                for velocity, coulomb in zip(joint.motion_names("v"), evaluate_all(own), strict=True):
                    found[f"{velocity}.viscous"] += float(evaluate(element.viscous))
                    before = found[f"{velocity}.coulomb"] if velocity in rubbed else 0.0
                    found[f"{velocity}.coulomb"] = before + float(coulomb)
                    rubbed.add(velocity)
        elif isinstance(element, AppliedEffort):
            found[f"{element.joint}.offset"] += offset_of(element) or 0.0
    for name, value in held_by_motors(system).items():
        if not name.endswith(".armature"):
            found[name] += value
    return found


def held_by_motors(system: System) -> dict[str, float]:
    """The armature and friction that motors with rigid transmissions add to joints, by the names of columns."""
    found: dict[str, float] = {}
    geared = {joint.name: joint.armature for joint in robot_with_rotors(system).joints}
    for joint in system.robot.joints:
        for name, own, total in zip(joint.motion_names("v"), joint.armature, geared[joint.name], strict=True):
            found[f"{name}.armature"] = float(evaluate(total) - evaluate(own))
    for element in system.elements:
        if isinstance(element, DCMotor) and element.is_rigid:
            n, viscous, coulomb = (float(evaluate(x)) for x in (element.reduction, element.viscous, element.coulomb))
            for column, value in (("viscous", n * n * viscous), ("coulomb", abs(n) * coulomb)):
                name = f"{element.joint}.{column}"
                found[name] = found.get(name, 0.0) + value
    return found


def rubbed_joints(element: JointFriction, joints: Iterable[Joint]) -> list[str]:
    """The names of the joints that a JointFriction acts on."""
    return [joint.name for joint in joints if (joint.name in element.joints if element.joints else has_friction(joint))]


def offset_of(element: Element) -> float | None:
    """The offset of a joint [N m or N] that an element is, as `with_parameters` writes it; None for other elements."""
    if not isinstance(element, AppliedEffort) or element.name != offset_name(element.joint):
        return None
    return -float(evaluate(element.effort)) if isinstance(element.effort, (int, float, Symbolic)) else None


def offset_name(velocity: str) -> str:
    """The name of the element that is the offset of a velocity."""
    return f"{velocity} offset"
