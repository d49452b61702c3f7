"""Walkers with two straight legs, which walk down a slope without motors: the compass and its simplest limit.

The leg "left" stands and the leg "right" swings; where the feet are level, the swing foot strikes, and the names of the
legs are exchanged, so that "left" stands again. Scuffing of the swing foot where the legs pass each other is ignored.
"""

from __future__ import annotations

import math
from typing import Literal

from kinemorph.errors import ModelError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.library.walkers.planar import (
    AHEAD,
    EXCHANGED,
    MASSLESS,
    SIDES,
    above_zero,
    bob,
    limb,
    on_slope,
    sliding,
    starting,
)
from kinemorph.model.parameter import Parameter, Value
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

# angles from the normal of the ground and rates [rad/s] of the leg that stands and of the leg that swings, after a
# strike, on a gait with the default data
COMPASS_START = (0.2710286804987892, -0.2710286804987892, -1.0923835898835124, -0.37737394890733433)
SIMPLEST_STARTS = {
    "long": (0.2003109005442472, -0.1998324730049525),  # angle and rate of the leg that stands
    "short": (0.1939373698101818, -0.2038669274420069),
}


def compass_walker(
    slope: float = math.radians(3.0),
    hip_mass: float = 10.0,
    leg_mass: float = 5.0,
    foot_to_mass: float = 0.5,
    mass_to_hip: float = 0.5,
    gravity: float = 9.81,
) -> System:
    """The compass of Goswami, Thuilot and Espiau: two straight legs with point masses, and a point mass at the hip.

    Masses in kg, lengths in m along a leg. The run begins after a strike; with the default data it is on the stable
    gait.
    """
    above_zero("compass_walker", hip_mass=hip_mass, leg_mass=leg_mass, mass_to_hip=mass_to_hip, gravity=gravity)
    above_zero("compass_walker", foot_to_mass=foot_to_mass)
    mh, m = Parameter("mh", hip_mass, "kg", "m_h"), Parameter("m", leg_mass, "kg", "m")
    a, b = Parameter("a", foot_to_mass, "m", "a"), Parameter("b", mass_to_hip, "m", "b")
    builder = RobotBuilder("compass_walker", gravity=on_slope(slope, gravity))
    length = foot_to_mass + mass_to_hip
    return _walker(_legs(builder, mh, m, a + b, b, length), COMPASS_START, length, along="world")


def simplest_walker(slope: float = 0.009, gait: Literal["long", "short"] = "long") -> System:
    """The simplest walker of Garcia, Chatterjee, Ruina and Coleman: a mass at the hip, and feet without mass.

    It is scaled so that the mass of the hip, the length of a leg and gravity are 1. The mass of a foot is 1e-13 of that
    of the hip: its effect on the hip is of the size of rounding errors, and its own motion does not depend on its mass,
    so that the motion is that of the limit of vanishing feet. The run begins after a strike; with the default slope
    [rad] it is on the stable `gait` of long steps, or on the unstable one of short steps.
    """
    if gait not in SIMPLEST_STARTS:
        raise ModelError(f"simplest_walker: gait is '{gait}', expected 'long' or 'short'. Choose one of them.")
    M, l = Parameter("M", 1.0, "kg", "M"), Parameter("l", 1.0, "m", "l")
    builder = RobotBuilder("simplest_walker", gravity=on_slope(slope, 1.0))
    angle, rate = SIMPLEST_STARTS[gait]
    start = (angle, -angle, rate, rate * math.cos(2.0 * angle))
    return _walker(_legs(builder, M, MASSLESS * M, l, l, 1.0), start, 1.0, along="left_leg")


def _legs(builder: RobotBuilder, hip: Parameter, m: Value, l: Value, down: Value, size: float) -> Robot:
    """Two legs of length l [m], each with the mass m [kg] at the distance `down` [m] below the hip, as a robot."""
    builder.add(bob("hip", hip, 0.08 * size))
    sliding(builder, "hip")
    for side in SIDES:
        builder.add(limb(f"{side}_leg", m, l, down, radius=0.015 * size))
        builder.frame(f"{side}_foot", f"{side}_leg", translation=(0.0, 0.0, -l))
        builder.joint(side, "revolute", "hip", f"{side}_leg", axis=AHEAD)
    return builder.build()


def _walker(robot: Robot, start: tuple[float, float, float, float], length: float, *, along: str) -> System:
    """The robot with its automaton; `start` has the angles and rates of both legs, `length` [m] is that of a leg."""
    stand, swing, stand_rate, swing_rate = start
    strike = Edge("strike", "step", "step", "q.left + q.right", when="q.right - q.left", relabel=EXCHANGED)
    q = {"x": -length * math.sin(stand), "z": length * math.cos(stand), "left": stand, "right": swing}
    v = {"x": -length * math.cos(stand) * stand_rate, "z": -length * math.sin(stand) * stand_rate}
    settings = starting(robot, q, {**v, "left": stand_rate, "right": swing_rate}, 10.0)
    stance = Hold("stance", "left_foot", axes="xz", along=along)
    return System(robot, (stance,), settings, automaton=Automaton((Phase("step", "stance"),), (strike,)))
