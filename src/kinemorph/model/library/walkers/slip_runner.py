"""The spring-mass runner (SLIP): a point mass on a massless spring leg, with phases of flight and stance."""

from __future__ import annotations

import math

from kinemorph.algebra.scalar import cos, sin
from kinemorph.errors import ModelError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.forces.legs import SpringLeg
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.library.textbook import planet
from kinemorph.model.library.walkers.planar import above_zero, bob, sliding, starting
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System

# apex height [m], apex speed [m/s] of the stable gait with the default data
APEX = (0.9402671443796007, 5.115853655771658)


def slip_runner(
    attack: float = math.radians(68.0),
    mass: float = 80.0,
    stiffness: float = 20000.0,
    length: float = 1.0,
    apex_height: float = APEX[0],
    apex_speed: float = APEX[1],
) -> System:
    """A point `mass` [kg] on a leg of `stiffness` [N/m] and free `length` [m] runs toward +x.

    In flight the leg points forward at the angle of `attack` [rad] above the ground, until its foot touches down; it
    lifts off where the leg has its free length again. The edge "apex" marks the highest point of each flight and does
    not change the motion. The run begins at an apex of this height [m] and speed [m/s]; the default is a stable gait.
    """
    above_zero("slip_runner", mass=mass, stiffness=stiffness, length=length)
    if not 0.0 < attack < math.pi:
        raise ModelError(f"slip_runner: attack is {attack:g} rad, expected an angle between 0 and pi. Give 1.2, say.")
    m, k = Parameter("m", mass, "kg", "m"), Parameter("k", stiffness, "N/m", "k")
    l, angle = Parameter("l", length, "m", "l"), Parameter("attack", attack, "rad", r"\alpha")
    builder = RobotBuilder("slip_runner", gravity=planet()).add(bob("hip", m, 0.1 * length))
    sliding(builder, "hip")
    robot = builder.build()
    leg = SpringLeg("leg", "hip", k, l, direction=(cos(angle), 0.0, -sin(angle)))
    edges = (
        Edge("touchdown", "flight", "stance", "q.z - l * sin(attack)", impact="none"),
        Edge("liftoff", "stance", "flight", "l - leg.length", impact="none"),
        Edge("apex", "flight", "flight", "v.z", impact="none"),
    )
    automaton = Automaton((Phase("flight"), Phase("stance", "leg")), edges, known=(("l", l), ("attack", angle)))
    start = starting(robot, {"z": apex_height}, {"x": apex_speed}, 5.0)
    return System(robot, (leg,), start, automaton=automaton)
