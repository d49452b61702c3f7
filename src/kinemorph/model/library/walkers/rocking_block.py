"""Housner's rocking block: it stands on one corner until the other one strikes."""

from __future__ import annotations

import math

from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.library.textbook import planet
from kinemorph.model.library.walkers.planar import SIDES, above_zero, starting, turning
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System


def rocking_block(width: float = 1.0, height: float = 3.0, tilt: float = 0.2, mass: float = 1.0) -> System:
    """A uniform block [m] on rough ground, released at rest with the tilt `tilt` [rad], positive toward +x.

    Where it is upright the other corner strikes, a plastic impact. A slender block rocks on, with 1 - 1.5 sin(a)^2 of
    its rate, tan(a) = width / height, ever faster, until the run ends in rest; a block with width^2 >= 2 height^2 comes
    to rest at once. The phases "left" and "right" name the corner on which it stands; in the
    phase "rest" it stands on both.
    """
    above_zero("rocking_block", width=width, height=height, mass=mass)
    m, w, h = (
        Parameter(name, value, unit, name)
        for name, value, unit in (("m", mass, "kg"), ("w", width, "m"), ("h", height, "m"))
    )
    builder = RobotBuilder("rocking_block", gravity=planet()).add(Body.box("block", m, (w, 0.5 * w, h)))
    turning(builder, "block")
    for side, sign in zip(SIDES, (-0.5, 0.5), strict=True):
        builder.frame(f"{side}_corner", "block", translation=(sign * w, 0.0, -0.5 * h))
    robot = builder.build()
    holds = tuple(Hold(f"{side}_stands", f"{side}_corner", axes="xz") for side in SIDES)
    left, right = (Phase(side, f"{side}_stands") for side in SIDES)
    rest = Phase("rest", tuple(hold.name for hold in holds))
    first, other = (right, left) if tilt >= 0.0 else (left, right)
    guards = {"right": "q.pitch", "left": "-q.pitch"}
    if width * width < 2.0 * height * height:
        phases: tuple[Phase, ...] = (first, other)
        edges = tuple(
            Edge(f"{b.name}_strikes", a.name, b.name, guards[a.name]) for a, b in ((first, other), (other, first))
        )
    else:
        phases, edges = (first, rest), (Edge(f"{other.name}_strikes", first.name, "rest", guards[first.name]),)
    x, z = (-0.5 if tilt >= 0.0 else 0.5) * width, 0.5 * height  # the center, seen from the corner that stands
    c, s = math.cos(tilt), math.sin(tilt)
    start = starting(robot, {"x": c * x + s * z, "z": -s * x + c * z, "pitch": tilt}, {}, 3.0)
    return System(robot, holds, start, automaton=Automaton(phases, edges))
