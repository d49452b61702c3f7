"""Legs driven by one crank: the linkages of Klann and Jansen. Both are closed at q = 0, see `bars`.

They replace two legs of the paper on closed chains by Kamidi et al. whose dimensions were not published: Klann's leg
has six links and two loops, like the leg of BOLT; Jansen's leg has eight links and three loops, like that of Raptor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.bars import Hinge, Link, Place, Point, arm, at_angle, linkage, meet, positive
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, STEEL, Color

# the optimized leg of the patent, in its units: lengths AC (crank), BH, CH, CF, FH, DE, EF, EG, FG; positions of the
# pivots B and D relative to A
KLANN_LENGTHS = (17.5, 23.7, 38.8, 73.4, 35.2, 34.1, 57.7, 111.7, 59.0)
KLANN_PIVOTS = (-38.8, -12.5, -14.6, 41.9)
# Jansen's numbers a to m: a and l are the position of the fixed pivot, m is the length of the crank
JANSEN_LENGTHS = (38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0)


def klann(
    scale: float = 0.004,
    density: float = 0.405,
    angle: float = 1.0,
    lengths: Sequence[float] = KLANN_LENGTHS,
    pivots: Sequence[float] = KLANN_PIVOTS,
) -> Robot:
    """Klann's leg: crank, two rockers, a connecting rod and the leg, five moving links in two loops.

    `scale` [m] is the unit of `lengths` and `pivots`, `density` [kg/m] the mass of the bars per length (25 x 6 mm of
    aluminum), `angle` [rad] the angle of the crank at q = 0, from +x toward +z. The foot is the frame "foot".
    """
    leg = klann_leg(scale, density, angle, lengths, pivots)
    A, C = leg.points["A"], leg.points["C"]
    links = [Link("crank", "A-C", density * math.dist(A, C)), *leg.links]
    hinges = [Hinge("A", "world", "crank"), *leg.hinges]
    builder = linkage(RobotBuilder("klann"), leg.points, links, hinges)
    return builder.frame("foot", "leg", translation=leg.foot).build()


def jansen(
    scale: float = 0.005185,
    density: float = 0.15,
    angle: float = 0.0,
    lengths: Sequence[float] = JANSEN_LENGTHS,
) -> Robot:
    """Jansen's leg: a crank, two triangles and four bars, seven moving links in three loops.

    `scale` [m] is the unit of the thirteen `lengths`, `density` [kg/m] the mass of the bars per length (carbon fiber
    strips), `angle` [rad] the angle of the crank at q = 0, from +x toward +z. The foot is the frame "foot".
    """
    leg = jansen_leg(scale, density, angle, lengths)
    O, M = leg.points["O"], leg.points["M"]
    links = [Link("crank", "O-M", density * math.dist(O, M)), *leg.links]
    hinges = [Hinge("O", "world", "crank"), *leg.hinges]
    builder = linkage(RobotBuilder("jansen"), leg.points, links, hinges)
    return builder.frame("foot", "leg", translation=leg.foot).build()


class Leg(NamedTuple):
    """The parts of a leg without its crank, as arguments for `bars.linkage`.

    In `points`, the axis of the crank is A (Klann) or O (Jansen), and its pin C or M. `foot` [m] is in the frame of the
    link "leg".
    """

    points: dict[str, Point]
    links: list[Link]
    hinges: list[Hinge]
    foot: Place


def klann_leg(
    scale: float,
    density: float,
    angle: float,
    lengths: Sequence[float] = KLANN_LENGTHS,
    pivots: Sequence[float] = KLANN_PIVOTS,
    *,
    frame: str = "world",
) -> Leg:
    """The parts of one leg, with data as for `klann`, hinged to the bodies `frame` and "crank"."""
    positive("klann", "scale", (scale,), 1)
    AC, BH, CH, CF, FH, DE, EF, EG, FG = (scale * length for length in positive("klann", "lengths", lengths, 9))
    A: Point = (0.0, 0.0)
    B, D = (scale * pivots[0], scale * pivots[1]), (scale * pivots[2], scale * pivots[3])
    C = at_angle(A, angle, AC)
    H = meet(C, CH, B, BH, -1, name="klann")
    F = meet(C, CF, H, FH, 1, name="klann")
    E = meet(F, EF, D, DE, 1, name="klann")
    G = meet(E, EG, F, FG, 1, name="klann")
    points = {"A": A, "B": B, "C": C, "D": D, "E": E, "F": F, "G": G, "H": H}
    links = [
        Link("rocker", "B-H", density * BH),
        Link("upper_rocker", "D-E", density * DE),
        Link("rod", "C-H-F", density * (CH + FH)),
        Link("leg", "E-F-G", density * (EF + FG), GRAPHITE),
    ]
    hinges = [
        Hinge("B", frame, "rocker"),
        Hinge("D", frame, "upper_rocker"),
        Hinge("C", "crank", "rod"),
        Hinge("E", "upper_rocker", "leg"),
        Hinge("H", "rocker", "rod"),
        Hinge("F", "rod", "leg"),
    ]
    return Leg(points, links, hinges, arm(E, G))


def jansen_leg(
    scale: float,
    density: float,
    angle: float,
    lengths: Sequence[float] = JANSEN_LENGTHS,
    *,
    frame: str = "world",
    prefix: str = "",
    mirrored: bool = False,
    colors: tuple[Color, Color] = (STEEL, GRAPHITE),
) -> Leg:
    """The parts of one leg, with data as for `jansen`, hinged to the bodies `frame` and "crank".

    The leg is behind the crank or, if `mirrored`, in front of it. The names of its links start with `prefix`; `colors`
    are those of the upper triangle and of the lower one, which has the foot.
    """
    positive("jansen", "scale", (scale,), 1)
    a, b, c, d, e, f, g, h, i, j, k, l, m = (scale * length for length in positive("jansen", "lengths", lengths, 13))
    O: Point = (0.0, 0.0)
    B = (-a, -l)
    M = at_angle(O, math.pi - angle if mirrored else angle, m)
    P1 = meet(M, j, B, b, -1, name="jansen")
    P2 = meet(P1, e, B, d, -1, name="jansen")
    P3 = meet(M, k, B, c, 1, name="jansen")
    P4 = meet(P2, f, P3, g, -1, name="jansen")
    P5 = meet(P4, h, P3, i, -1, name="jansen")
    points = {"O": O, "B": B, "M": M, "P1": P1, "P2": P2, "P3": P3, "P4": P4, "P5": P5}
    if mirrored:
        points = {name: (-x, z) for name, (x, z) in points.items()}
    upper, rocker, upper_rod, lower_rod, coupler, last = (
        f"{prefix}{name}" for name in ("upper", "lower_rocker", "upper_rod", "lower_rod", "coupler", "leg")
    )
    links = [
        Link(upper, "B-P1-P2-B", density * (b + d + e), colors[0]),
        Link(rocker, "B-P3", density * c),
        Link(upper_rod, "M-P1", density * j),
        Link(lower_rod, "M-P3", density * k),
        Link(coupler, "P2-P4", density * f),
        Link(last, "P3-P4-P5-P3", density * (g + h + i), colors[1]),
    ]
    hinges = [
        Hinge("B", frame, upper),
        Hinge("B", frame, rocker),
        Hinge("M", "crank", upper_rod),
        Hinge("M", "crank", lower_rod),
        Hinge("P2", upper, coupler),
        Hinge("P3", rocker, last),
        Hinge("P1", upper, upper_rod),
        Hinge("P3", rocker, lower_rod),
        Hinge("P4", coupler, last),
    ]
    return Leg(points, links, hinges, arm(points["P3"], points["P5"]))
