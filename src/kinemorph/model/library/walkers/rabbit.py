"""RABBIT, the biped of five links of the French project ROBEA, in the sagittal plane, with the data of FROST."""

from __future__ import annotations

import math

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.drives.actuators import Actuator
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.elements.sensing.sensors import Probe
from kinemorph.model.library.walkers.planar import AHEAD, BACK, SIDES, limb, on_slope, starting, turning
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import ORANGE, Capsule
from kinemorph.model.system import Element, System

TORSO = (12.0, 0.63, 0.24, 1.33)  # mass [kg], length [m], distance of its center from the joint [m], inertia [kg m^2]
THIGH = (6.8, 0.4, 0.11, 0.47)
SHIN = (3.2, 0.4, 0.24, 0.20)
ROTOR = 0.83  # [kg m^2], of each of the four motors, reflected to its joint
STEP, HEIGHT = 0.5, 0.74  # [m], of the posture in which a run begins


def rabbit(slope: float = 0.0, gravity: float = 9.81) -> System:
    """RABBIT: a torso, two thighs and two shins of 32 kg, with motors at hips and knees, on a slope [rad].

    Torso 12 kg, 0.63 m; thighs 6.8 kg, 0.4 m; shins 3.2 kg, 0.4 m. The leg "left" stands on its foot, without an ankle
    motor, and "right" swings; where its foot strikes ahead, the names of the legs are exchanged. The inputs are the
    torques [N m] of the motors "left_hip_motor", "left_knee_motor", "right_hip_motor" and "right_knee_motor". The angle
    of a knee is positive where it is bent, that of a hip where the thigh is ahead of the axis of the torso. The run
    begins at rest, with both feet on the ground 0.5 m apart; without torques the robot falls.
    """
    builder = RobotBuilder("rabbit", gravity=on_slope(slope, gravity))
    mass, length, center, inertia = TORSO
    l = Parameter("l_torso", length, "m", "l_T")
    bar = Capsule(0.05, l, Pose(IDENTITY.R, (0.0, 0.0, 0.5 * l)), ORANGE)
    moment = Parameter("I_torso", inertia, "kg m^2", "I_T")
    moments = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, 0.0))
    builder.add(Body("torso", Parameter("m_torso", mass, "kg", "m_T"), (0.0, 0.0, center), moments, (bar,)))
    turning(builder, "torso")
    sizes = {part: _parameters(part, data) for part, data in (("thigh", THIGH), ("shin", SHIN))}
    for side in SIDES:
        for part, parent, joint, axis, below in (
            ("thigh", "torso", "hip", AHEAD, 0.0),
            ("shin", f"{side}_thigh", "knee", BACK, -sizes["thigh"][1]),
        ):
            m, long, down, about = sizes[part]
            builder.add(limb(f"{side}_{part}", m, long, down, inertia=about, radius=0.03))
            place = (0.0, 0.0, below)
            builder.joint(
                *(f"{side}_{joint}", "revolute", parent, f"{side}_{part}"), translation=place, axis=axis, armature=ROTOR
            )
        builder.frame(f"{side}_foot", f"{side}_shin", translation=(0.0, 0.0, -sizes["shin"][1]))
    robot = builder.build()
    motors = [Actuator(f"{side}_{joint}_motor", f"{side}_{joint}") for side in SIDES for joint in ("hip", "knee")]
    exchanged = tuple((f"{a}_{joint}", f"{b}_{joint}") for a, b in (SIDES, SIDES[::-1]) for joint in ("hip", "knee"))
    ahead = "foot.x - heel.x"
    strike = Edge("strike", "step", "step", "foot.z", when=ahead, relabel=exchanged)
    elements: tuple[Element, ...] = (
        Hold("stance", "left_foot", axes="xz"),
        Probe("foot", "right_foot"),
        Probe("heel", "left_foot"),
        *motors,
    )
    (front, bent), (rear, bent_rear) = _leg(0.5 * STEP), _leg(-0.5 * STEP)
    q = {"z": HEIGHT, "left_hip": front, "left_knee": bent, "right_hip": rear, "right_knee": bent_rear}
    settings = starting(robot, q, {}, 0.5)
    return System(robot, elements, settings, automaton=Automaton((Phase("step", "stance"),), (strike,)))


def _parameters(part: str, data: tuple[float, ...]) -> tuple[Parameter, ...]:
    """Mass, length, distance of the center of mass from the joint and inertia of a limb as parameters."""
    names = (("m", "kg"), ("l", "m"), ("c", "m"), ("I", "kg m^2"))
    letter = part[0]
    return tuple(
        Parameter(f"{name}_{part}", value, unit, f"{name}_{letter}")
        for (name, unit), value in zip(names, data, strict=True)
    )


def _leg(ahead: float) -> tuple[float, float]:
    """The angles [rad] of hip and knee that put a foot on the ground, `ahead` [m] of the hip.

    Thigh and shin have the same length.
    """
    length = THIGH[1]
    far = math.hypot(ahead, HEIGHT)
    half = math.acos(0.5 * far / length)
    return math.atan2(ahead, HEIGHT) + half, 2.0 * half
