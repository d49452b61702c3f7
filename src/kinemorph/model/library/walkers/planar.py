"""Parts of walkers that move in the vertical x-z plane, on a slope.

x points downhill along the ground and z away from it, so that the ground is z = 0 and the slope turns gravity. Angles
of legs are measured from -z; a positive angle puts the foot ahead, toward +x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.scalar import cos, sin
from kinemorph.errors import ModelError
from kinemorph.model.body import Body, Vector
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Axis
from kinemorph.model.parameter import Parameter, Value
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, ORANGE, STEEL, Capsule, Color, Sphere
from kinemorph.model.system import Settings
from kinemorph.model.topology import WORLD

AHEAD: Axis = (0.0, -1.0, 0.0)  # about this axis a positive angle moves a foot below the joint toward +x
BACK: Axis = (0.0, 1.0, 0.0)  # about this axis it moves the foot back, as a knee that bends
SIDES = ("left", "right")
EXCHANGED = (("left", "right"), ("right", "left"))  # names of legs at the end of a step, so that "left" stands again
# A massless part has this share of the mass of the robot. The motion is that of the limit, up to rounding errors: the
# equations of a light part do not depend on its mass, and its effect on the other parts is of the size of rounding
# errors.
MASSLESS = 1e-13


def on_slope(slope: float, gravity: float) -> Vector:
    """Gravity on a slope that falls toward +x by the angle `slope` [rad], with the parameters slope and g [m/s^2]."""
    angle, g = Parameter("slope", slope, "rad", r"\gamma"), Parameter("g", gravity, "m/s^2", "g")
    return (g * sin(angle), 0.0, -g * cos(angle))


def above_zero(owner: str, **numbers: float) -> None:
    """Raises ModelError for the first of these numbers that is not finite and above 0."""
    for name, number in numbers.items():
        if not 0.0 < number < math.inf:
            raise ModelError(f"{owner}: {name} is {number:g}, expected a finite number above 0. Give one.")


def sliding(builder: RobotBuilder, body: str, prefix: str = "") -> None:
    """Lets a body move along x and z without turning, by the joints "x" and "z", named after a `prefix`."""
    builder.add(Body.massless(f"{prefix}slider"))
    builder.joint(f"{prefix}x", "prismatic", WORLD, f"{prefix}slider", axis=(1.0, 0.0, 0.0))
    builder.joint(f"{prefix}z", "prismatic", f"{prefix}slider", body, axis=(0.0, 0.0, 1.0))


def turning(builder: RobotBuilder, body: str, prefix: str = "") -> None:
    """Lets a body move along x and z and turn about y, by the joints "x", "z" and "pitch", positive forward.

    The names of the joints come after a `prefix`.
    """
    builder.add(Body.massless(f"{prefix}carriage"))
    sliding(builder, f"{prefix}carriage", prefix)
    builder.joint(f"{prefix}pitch", "revolute", f"{prefix}carriage", body, axis=BACK)


def bob(name: str, mass: Any, radius: float) -> Body:
    """A point mass [kg] at the origin of its body, drawn as a ball of `radius` [m]."""
    return Body(name, mass, shapes=(Sphere(radius, color=ORANGE),))


def limb(
    name: str, mass: Any, length: Value, masses_at: Value, *, inertia: Any = 0.0, radius: float, color: Color = STEEL
) -> Body:
    """A straight limb of `length` [m] below its joint; its center of mass is `masses_at` [m] below the joint.

    `inertia` [kg m^2] is about an axis across the limb, through its center of mass.
    """
    bar = Capsule(radius, length, Pose(IDENTITY.R, (0.0, 0.0, -0.5 * length)), color)
    ball = Sphere(2.0 * radius, Pose(IDENTITY.R, (0.0, 0.0, -masses_at)), GRAPHITE)
    moments = ((inertia, 0.0, 0.0), (0.0, inertia, 0.0), (0.0, 0.0, 0.0))
    return Body(name, mass, (0.0, 0.0, -masses_at), moments, (bar, ball))


def starting(robot: Robot, q: Mapping[str, float], v: Mapping[str, float], duration: float) -> Settings:
    """Settings with an initial state by names; coordinates that are not named are 0."""
    values: Sequence[tuple[float, ...]] = [
        tuple(float(given.get(name, 0.0)) for name in names)
        for given, names in ((q, robot.q_names), (v, robot.v_names))
    ]
    return Settings(values[0], values[1], time=duration)
