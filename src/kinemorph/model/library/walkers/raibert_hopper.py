"""A hopper after Raibert (1986): a body on one springy leg, with three controllers that do not know of each other.

height      a constant thrust along the leg, from the lowest point of the body until liftoff
speed       in flight, the hip puts the foot where it keeps the speed:  x = T v / 2 + gain (v - desired)
attitude    in stance, the hip keeps the body level
"""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.scalar import S, atan2, maximum, minimum, sqrt
from kinemorph.frozen import dataclass
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.control.functions import Continuous
from kinemorph.model.elements.forces.applied import AppliedEffort
from kinemorph.model.elements.forces.joint_forces import TorsionSpring
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.elements.sensing.sensors import Probe
from kinemorph.model.library.textbook import planet
from kinemorph.model.library.walkers.planar import AHEAD, above_zero, starting, turning
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import GRAPHITE, ORANGE, Box, Capsule
from kinemorph.model.system import System

DAMPING = 20.0  # [N s/m], of the spring in the leg
LENGTH = 1.0  # [m], of the leg with the spring at rest
STANCE = 0.2  # [s], about the duration of a stance, by which a foot is placed
MOST_AHEAD = 0.5  # [m], the farthest place of a foot ahead of the hip
APEX = 0.3  # [m], height of the foot above the ground at the start


def raibert_hopper(
    speed: float = 1.0,
    body_mass: float = 10.0,
    body_inertia: float = 10.0,
    leg_mass: float = 0.7,
    foot_mass: float = 0.3,
    stiffness: float = 3000.0,
    thrust: float = 80.0,
) -> System:
    """A planar hopper that runs at about `speed` [m/s]: body, upper leg, and a foot that slides on the upper leg.

    Masses in kg, `body_inertia` in kg m^2, `stiffness` [N/m] of the spring in the leg, `thrust` [N] along it. Phases
    are "flight", in which the leg is locked at its full length, "compression" and "thrust", in which the foot stands.
    The run begins in flight, at rest.
    """
    data = {"body_mass": body_mass, "body_inertia": body_inertia, "leg_mass": leg_mass, "foot_mass": foot_mass}
    above_zero("raibert_hopper", **data, stiffness=stiffness)
    M, m, mf = (
        Parameter(name, value, "kg", symbol)
        for name, value, symbol in (("M", body_mass, "M"), ("m", leg_mass, "m"), ("mf", foot_mass, "m_f"))
    )
    k, F = Parameter("k", stiffness, "N/m", "k"), Parameter("thrust", thrust, "N", "F")
    J = Parameter("J", body_inertia, "kg m^2", "J")
    builder = RobotBuilder("raibert_hopper", gravity=planet())
    frame = Box((0.8, 0.3, 0.12), color=ORANGE)
    builder.add(Body("body", M, inertia=((J, 0.0, 0.0), (0.0, J, 0.0), (0.0, 0.0, J)), shapes=(frame,)))
    turning(builder, "body")
    builder.add(Body.rod("upper_leg", m, 0.6, (0.0, 0.0, -0.3), radius=0.04))
    rod = Capsule(0.02, 0.6, Pose(IDENTITY.R, (0.0, 0.0, 0.3)), GRAPHITE)
    builder.add(Body("foot", mf, shapes=(rod,)))
    builder.joint("hip", "revolute", "body", "upper_leg", axis=AHEAD)
    down = (0.0, 0.0, -1.0)
    builder.joint("leg", "prismatic", "upper_leg", "foot", translation=(0.0, 0.0, -LENGTH), axis=down)
    robot = builder.build()
    reads = ("q.pitch", "v.pitch", "q.hip", "v.hip", "v.x")
    elements = (
        Hold("stance", "foot", axes="xz"),
        Probe("toe", "foot"),
        TorsionSpring("spring", "leg", k, 0.0, DAMPING),
        AppliedEffort("push", "leg", F),
        Continuous("placing", Placing(speed), reads, drives=("hip",)),
        Continuous("leveling", Leveling(), reads[:2], drives=("hip",)),
    )
    standing = ("stance", "spring", "leveling")
    phases = (
        Phase("flight", "placing", locked="leg"),
        Phase("compression", standing),
        Phase("thrust", (*standing, "push")),
    )
    edges = (
        Edge("touchdown", "flight", "compression", "toe.z"),
        Edge("bottom", "compression", "thrust", "-v.leg", impact="none"),
        Edge("liftoff", "thrust", "flight", "-q.leg"),
    )
    start = starting(robot, {"z": LENGTH + APEX}, {}, 10.0)
    return System(robot, elements, start, automaton=Automaton(phases, edges))


@dataclass(frozen=True)
class Placing:
    """The torque [N m] of the hip in flight, which puts the foot ahead of the hip for a desired speed [m/s]."""

    speed: float
    gain: float = 0.05  # [s]
    kp: float = 150.0  # [N m/rad]
    kd: float = 15.0  # [N m s/rad]

    def __call__(self, t: S, pitch: S, pitch_rate: S, hip: S, hip_rate: S, v: S) -> Any:
        """The torque for the angle of the leg from the vertical, hip - pitch."""
        wanted = 0.5 * STANCE * v + self.gain * (v - self.speed)
        ahead = maximum(minimum(wanted, MOST_AHEAD), -MOST_AHEAD)
        angle = atan2(ahead, sqrt(LENGTH * LENGTH - ahead * ahead))
        return [self.kp * (angle - (hip - pitch)) - self.kd * (hip_rate - pitch_rate)]


@dataclass(frozen=True)
class Leveling:
    """The torque [N m] of the hip in stance, which turns the body back to the level."""

    kp: float = 600.0  # [N m/rad]
    kd: float = 120.0  # [N m s/rad]

    def __call__(self, t: S, pitch: S, pitch_rate: S) -> Any:
        """The torque on the leg; its opposite turns the body, whose pitch is positive forward."""
        return [-self.kp * pitch - self.kd * pitch_rate]
