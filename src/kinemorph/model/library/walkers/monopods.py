"""Hoppers on one leg with closed chains: stand-ins for BOLT and for the leg of Raptor, whose sizes were not published.

BOLT's leg has six links in two loops, like Klann's; the leg of Raptor has eight links in three loops, like Jansen's
(Kamidi et al., see docs/closed_chain_paper.md). As in that paper the pitch of the trunk is held, and the crank turns to
and fro in a narrow band: in flight a PD controller turns it to the angle of attack, in stance another one pushes it to
the angle at which the leg is long. The leg has one degree of freedom, so that the whole robot has three in flight and
one in stance. It lifts off where the ground would have to pull; friction at the foot has no limit.

The angles and gains were tuned for a steady gait; they are the arguments of the functions.
"""

from __future__ import annotations

import math

from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.control.controllers import PD
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.elements.sensing.sensors import Probe
from kinemorph.model.library.bars import Hinge, Link, linkage
from kinemorph.model.library.textbook import planet
from kinemorph.model.library.walkers.planar import above_zero, sliding, starting
from kinemorph.model.library.walking_linkages import Leg, jansen_leg, klann_leg
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System

MOTOR = 25.0  # [N m], the largest torque of the motor at the crank
DROP = 0.1  # [m], height of the foot at the start


def bolt_like(
    attack: float = math.radians(225.0),
    push: float = math.radians(190.0),
    mass: float = 3.0,
    stiffness: float = 60.0,
    damping: float = 0.5,
    speed: float = 1.0,
) -> System:
    """A monopod on Klann's leg that runs forward, a stand-in for BOLT.

    `attack` and `push` [rad] are the angles of the crank, from +x toward +z, that the controllers follow in flight and
    in stance; `stiffness` [N m/rad] and `damping` [N m s/rad] are those of the controller in stance, and `mass` [kg] is
    that of the trunk. The run begins in flight, with the foot 0.1 m above the ground, at `speed` [m/s].
    """
    leg = klann_leg(0.004, 0.405, attack, frame="trunk")
    return _monopod("bolt_like", leg, ("A", "C"), 0.405, (attack, push), mass, (stiffness, damping), speed)


def raptor_like(
    attack: float = math.radians(248.0),
    push: float = math.radians(288.0),
    mass: float = 1.5,
    stiffness: float = 30.0,
    damping: float = 0.3,
    speed: float = 0.0,
) -> System:
    """A monopod on Jansen's leg that hops in place, a stand-in for one leg of Raptor, with arguments as `bolt_like`."""
    leg = jansen_leg(0.476 / 91.8, 0.15, attack, frame="trunk")
    return _monopod("raptor_like", leg, ("O", "M"), 0.15, (attack, push), mass, (stiffness, damping), speed)


def _monopod(
    name: str,
    leg: Leg,
    crank: tuple[str, str],
    density: float,
    angles: tuple[float, float],
    mass: float,
    gains: tuple[float, float],
    speed: float,
) -> System:
    """A trunk that does not turn on a leg; `crank` are the points of its axis and pin, `angles` those of its crank."""
    above_zero(name, mass=mass, stiffness=gains[0])
    axis, pin = (leg.points[point] for point in crank)
    m = Parameter("m", mass, "kg", "m")
    kp, kd = Parameter("kp", gains[0], "N m/rad", "k_p"), Parameter("kd", gains[1], "N m s/rad", "k_d")
    attack, push = (
        Parameter(key, angle - angles[0], "rad", symbol)
        for key, angle, symbol in (("attack", angles[0], r"\alpha"), ("push", angles[1], r"\beta"))
    )
    builder = RobotBuilder(name, gravity=planet())
    builder.add(Body.box("trunk", m, (0.3, 0.15, 0.1)))
    sliding(builder, "trunk")
    links = [Link("crank", "-".join(crank), density * math.dist(axis, pin)), *leg.links]
    hinges = [Hinge(crank[0], "trunk", "crank"), *leg.hinges]
    linkage(builder, leg.points, links, hinges, carriers={"trunk": axis})
    builder.frame("foot", "leg", translation=leg.foot)
    robot = builder.build()
    elements = (
        Hold("stance", "foot", axes="xz"),
        Probe("toe", "foot"),
        PD("swing", "crank_joint", 40.0, 1.5, attack, lower=-MOTOR, upper=MOTOR),
        PD("thrust", "crank_joint", kp, kd, push, lower=-MOTOR, upper=MOTOR),
    )
    phases = (Phase("flight", "swing"), Phase("stance", ("stance", "thrust")))
    edges = (
        Edge("touchdown", "flight", "stance", "toe.z"),
        Edge("liftoff", "stance", "flight", "stance.z.force", impact="none"),
    )
    below = leg.points["G" if "G" in leg.points else "P5"][1]
    start = starting(robot, {"z": DROP - below}, {"x": speed}, 5.0)
    return System(robot, elements, start, automaton=Automaton(phases, edges))
