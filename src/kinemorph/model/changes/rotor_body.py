"""The rotor of a motor as a body, for models in which its reaction on the link that carries it matters.

Armature only adds the inertia of the rotor to that of its joint. A rotor that is a body also has gyroscopic effects:
its angular momentum resists rotations of the link, and the link feels its torque about the axis of the shaft.
"""

from __future__ import annotations

import math
from dataclasses import replace

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelError
from kinemorph.model.body import Body, Vector
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.joint import Axis, Joint
from kinemorph.model.parameter import Coordinate, Value, evaluate, parameters_of
from kinemorph.model.system import System


def with_rotor_body(
    system: System,
    motor: str,
    *,
    mass: Value = 0.0,
    across: Value | None = None,
    placement: Pose | None = None,
    axis: Axis | None = None,
) -> System:
    """The system with the rotor of a motor as the body `<motor>_rotor` on the joint `<motor>_shaft`.

    `mass`          the mass of the rotor [kg]; 0 if it is part of the mass of the link that carries the motor
    `across`        the inertia [kg m^2] about axes across the shaft; by default half of the inertia about the shaft
    `placement`     the pose of the shaft in the link that carries the motor, which is the parent of the motor's joint;
                    by default the placement of that joint
    `axis`          the axis of the shaft, a unit vector; by default the axis of the motor's joint

    The motor then drives the shaft, whose motion follows that of the joint: the angle of the shaft is n q[joint]. The
    coordinates of the robot stay the same.
    """
    element = system.element(motor)
    what = f"motor '{motor}'"
    if not isinstance(element, DCMotor):
        raise ModelError(f"element '{motor}' is a {type(element).__name__}; expected a DCMotor. Name a motor.")
    if not element.is_rigid:
        raise ModelError(
            f"{what}: its transmission has a stiffness, so its rotor has a state of its own already; expected a rigid "
            "transmission. Leave stiffness out."
        )
    about, side = float(evaluate(element.inertia)), evaluate(across) if across is not None else math.inf
    if not 0.0 < about <= 2.0 * side:
        raise ModelError(
            f"{what}: the inertia of the rotor is {about:g} kg m^2 about its axis and {side:g} kg m^2 across it; "
            "expected more than 0 about the axis, and at most twice the inertia across it. Give both in kg m^2."
        )
    if not 0.0 <= evaluate(mass) < math.inf:
        raise ModelError(f"{what}: mass is {evaluate(mass):g} kg; expected a finite number of at least 0.")
    robot = system.robot
    joint = robot.joint(element.joint)
    along = joint.axis if axis is None else axis
    if not math.isclose(math.hypot(*along), 1.0, rel_tol=1e-9):
        raise ModelError(f"{what}: axis has length {math.hypot(*along):.3g}, expected 1. Divide by its length.")
    rotor = Body(f"{motor}_rotor", mass, inertia=_round(element.inertia, across, along))
    shaft = Joint(
        f"{motor}_shaft",
        "revolute",
        joint.parent,
        rotor.name,
        joint.placement if placement is None else placement,
        axis=along,
        damping=(0.0,),
        friction=(0.0,),
        armature=(0.0,),
        driven=(element.reduction * Coordinate(joint.q_names[0], 0.0, joint.table.q_units[0]),),
    )
    new = parameters_of((rotor.mass, rotor.inertia, shaft.driven, shaft.placement))
    robot = replace(
        robot,
        bodies=(*robot.bodies, rotor),
        joints=(*robot.joints, shaft),
        parameters=tuple(dict.fromkeys((*robot.parameters, *new))),
    )
    driving = replace(element, joint=shaft.name, ratio=1.0, lead=0.0, inertia=0.0)
    elements = tuple(driving if one is element else one for one in system.elements)
    return replace(system, robot=robot, elements=elements)


def _round(about: Value, across: Value | None, axis: Axis) -> tuple[Vector, Vector, Vector]:
    """The inertia matrix of a body of revolution about the unit vector a = axis: across (1 - a a^T) + about a a^T."""
    side = 0.5 * about if across is None else across
    rows = [[(side if i == j else 0.0) + (about - side) * (axis[i] * axis[j]) for j in range(3)] for i in range(3)]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = rows
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
