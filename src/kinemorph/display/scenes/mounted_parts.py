"""Elements that are fixed to a body, as parts of its figure: motors, springs inside joints, sensors.

Each kind of element that is drawn has a row in FITTINGS. A driven joint has a flange, and a motor also a housing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.display.looks.solids import moved, ribbon, z_toward
from kinemorph.display.scenes.driven_joints import driven_joints
from kinemorph.display.scenes.figures import owner_of
from kinemorph.display.scenes.scene import Color, Figure, Part, Surface
from kinemorph.display.scenes.surfaces import shape_surface, surface_of
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.drives.motors import DCMotor
from kinemorph.model.elements.forces.joint_forces import TorsionSpring
from kinemorph.model.elements.sensing.sensors import IMU, ForceTorqueSensor
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.shapes import Box, Cylinder
from kinemorph.model.system import Element

# sizes as fractions of the robot's extent
ASIDE = 0.011  # distance of a flange or spiral from the middle of its joint
HOUSING = (0.017, 0.042)  # radius and length of a motor's housing
FLANGE = (0.021, 0.008)  # radius and length
SPIRAL, TURNS = 0.034, 3.25  # radius and number of turns of a torsion spring
CHIP = (0.03, 0.022, 0.01)  # edges of an IMU
CELL = (0.026, 0.01)  # radius and length of a force-torque sensor
HOUSING_COLOR: Color = (0.17, 0.18, 0.21, 1.0)
FLANGE_COLOR: Color = (0.80, 0.55, 0.24, 1.0)
SPIRAL_COLOR: Color = (0.35, 0.45, 0.55, 1.0)
CHIP_COLOR: Color = (0.09, 0.42, 0.30, 1.0)
CELL_COLOR: Color = (0.45, 0.36, 0.60, 1.0)


def parts_of(figure: Figure, elements: Sequence[Element]) -> list[Part]:
    """The parts that show elements on a figure, all in the layer "elements"."""
    found = [_flange(figure.robot.joint(name), figure) for name in driven_joints(figure.robot, elements)]
    rows = [(element, FITTINGS[type(element)]) for element in elements if type(element) in FITTINGS]
    return found + [part for element, row in rows for part in row(element, figure)]


def _flange(joint: Joint, figure: Figure) -> Part:
    """A disk beside a joint, perpendicular to its axis, fixed to its parent body."""
    radius, length = FLANGE[0] * figure.size, FLANGE[1] * figure.size
    disk = Cylinder(radius, length, Pose(IDENTITY.R, (0.0, 0.0, ASIDE * figure.size + 0.5 * length)))
    return _on_joint(f"{joint.name} flange", joint, figure, shape_surface(disk), FLANGE_COLOR)


def _motor(motor: DCMotor | Actuator, figure: Figure) -> Iterator[Part]:
    """The housing of a motor, behind the flange of its joint; nothing for a joint with several axes, or none."""
    place = figure.robot.axis_places.get(motor.joint)
    if place is None or place.joint.motion.nv > 1:
        return
    joint = place.joint
    radius, length = HOUSING[0] * figure.size, HOUSING[1] * figure.size
    middle = (ASIDE + FLANGE[1]) * figure.size + 0.5 * length
    housing = shape_surface(Cylinder(radius, length, Pose(IDENTITY.R, (0.0, 0.0, middle))))
    yield _on_joint(motor.name, joint, figure, housing, HOUSING_COLOR)


def _torsion(spring: TorsionSpring, figure: Figure) -> Iterator[Part]:
    """A flat spiral about the axis of a revolute or helical joint, on the side without a motor; otherwise nothing."""
    joint = figure.robot.axis_places[spring.joint].joint
    if joint.kind not in ("revolute", "helical"):
        return
    angle = np.linspace(0.0, 2.0 * np.pi * TURNS, 90)
    radius = SPIRAL * figure.size * np.linspace(0.3, 1.0, len(angle))
    line = np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), np.full_like(angle, -ASIDE * figure.size)], axis=-1
    )
    thickness = 0.055 * SPIRAL * figure.size
    surface = surface_of(ribbon(line, thickness, 0.22 * SPIRAL * figure.size))
    yield _on_joint(spring.name, joint, figure, surface, SPIRAL_COLOR)


def _imu(imu: IMU, figure: Figure) -> Iterator[Part]:
    """A small box, like a chip, at the frame in which an IMU measures."""
    frame = figure.robot.frame(imu.body)
    a, b, c = (edge * figure.size for edge in CHIP)
    surface = shape_surface(Box((a, b, c), evaluate_all(frame.placement)))
    yield Part(imu.name, owner_of(figure.robot, frame.body), surface, CHIP_COLOR, "elements")


def _cell(sensor: ForceTorqueSensor, figure: Figure) -> Iterator[Part]:
    """A disk perpendicular to the z axis of the joint frame, fixed to the joint's child body."""
    joint = figure.robot.joint(sensor.joint)
    disk = Cylinder(CELL[0] * figure.size, CELL[1] * figure.size, evaluate_all(joint.child_placement))
    owner = owner_of(figure.robot, joint.child)
    yield Part(sensor.name, owner, shape_surface(disk), CELL_COLOR, "elements")


def _on_joint(name: str, joint: Joint, figure: Figure, surface: Surface, color: Color) -> Part:
    """A surface about the z axis, rotated to the axis of a joint and fixed to the joint's parent body."""
    T = evaluate_all(joint.placement)
    R = np.array(T.R, dtype=float) @ z_toward(np.array(joint.axis, dtype=float))
    points = moved(surface.points, R, np.array(T.p, dtype=float))
    placed = Surface(points, surface.normals @ R.T, surface.faces)
    return Part(name, owner_of(figure.robot, joint.parent), placed, color, "elements")


FITTINGS: dict[type[Any], Callable[[Any, Figure], Iterator[Part]]] = {
    DCMotor: _motor,
    Actuator: _motor,
    TorsionSpring: _torsion,
    IMU: _imu,
    ForceTorqueSensor: _cell,
}
