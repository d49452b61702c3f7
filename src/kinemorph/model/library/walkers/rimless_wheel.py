"""The rimless wheel of McGeer and Coleman: spokes without a rim, which roll down a slope from spoke to spoke."""

from __future__ import annotations

import math

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.library.walkers.planar import MASSLESS, above_zero, on_slope, starting, turning
from kinemorph.model.parameter import Parameter
from kinemorph.model.shapes import GRAPHITE, ORANGE, Capsule, Shape, Sphere
from kinemorph.model.system import System


def rimless_wheel(
    spokes: int = 8, slope: float = 0.08, mass: float = 1.0, length: float = 1.0, gravity: float = 9.81
) -> System:
    """A point `mass` [kg] at the hub of `spokes` massless spokes of this `length` [m] rolls down a slope [rad].

    One spoke stands until the next one strikes, which is a plastic impact; the coordinates are x and z of the hub and
    the angle `pitch` of the spoke that stands, positive where the hub is ahead of the foot. At a strike the pitch
    changes by the angle between two spokes, so that it always belongs to the spoke that stands. The wheel may roll
    uphill too. The run begins after a strike, with the speed of the steady motion of the closed form.
    """
    above_zero("rimless_wheel", mass=mass, length=length, gravity=gravity)
    if spokes < 5:
        raise ModelError(f"rimless_wheel: spokes is {spokes}, expected at least 5, since it cannot roll with fewer.")
    m, l = Parameter("m", mass, "kg", "m"), Parameter("l", length, "m", "l")
    alpha = math.pi / spokes
    builder = RobotBuilder("rimless_wheel", gravity=on_slope(slope, gravity))
    moment = MASSLESS * m * l * l
    inertia = ((moment, 0.0, 0.0), (0.0, moment, 0.0), (0.0, 0.0, moment))
    builder.add(Body("wheel", m, inertia=inertia, shapes=_spokes(spokes, l, length)))
    turning(builder, "wheel")
    builder.frame("foot", "wheel", translation=(0.0, 0.0, -l))
    robot = builder.build()
    edges = (
        Edge("strike", "roll", "roll", "alpha - q.pitch", reset=(("q.pitch", "q.pitch - 2 * alpha"),)),
        Edge("strike_uphill", "roll", "roll", "alpha + q.pitch", reset=(("q.pitch", "q.pitch + 2 * alpha"),)),
    )
    automaton = Automaton((Phase("roll", "stance"),), edges, known=(("alpha", alpha),))
    rate = _steady(alpha, slope, gravity / length)
    speed = (length * math.cos(alpha) * rate, length * math.sin(alpha) * rate)  # of the hub along x and z
    q = {"x": -length * math.sin(alpha), "z": length * math.cos(alpha), "pitch": -alpha}
    start = starting(robot, q, {"x": speed[0], "z": speed[1], "pitch": rate}, 10.0)
    stance = Hold("stance", "foot", axes="xz", along="wheel")
    return System(robot, (stance,), start, automaton=automaton)


def _steady(alpha: float, slope: float, pull: float) -> float:
    """The rate [rad/s] after a strike of the steady motion; where the wheel would stop, the rate to reach the top.

    Between strikes the square of the rate grows by 4 pull sin(alpha) sin(slope); a strike multiplies it by
    cos(2 alpha)^2. `pull` is g / l [1/s^2].
    """
    kept = math.cos(2.0 * alpha) ** 2
    steady = 4.0 * pull * math.sin(alpha) * math.sin(slope) * kept / (1.0 - kept)
    over = 2.0 * pull * (1.0 - math.cos(alpha - slope))
    return math.sqrt(max(steady, 1.01 * over))


def _spokes(spokes: int, l: Parameter, length: float) -> tuple[Shape, ...]:
    """The shapes of the wheel: a capsule from the hub to each foot, and a ball for the mass."""
    shapes: list[Shape] = [Sphere(0.12 * length, color=ORANGE)]
    for k in range(spokes):
        c, s = math.cos(2.0 * math.pi * k / spokes), math.sin(2.0 * math.pi * k / spokes)
        turn = ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c))
        shapes.append(Capsule(0.02 * length, l, Pose(turn, (-0.5 * s * l, 0.0, -0.5 * c * l)), GRAPHITE))
    return tuple(shapes)
