"""Closed chains in the vertical plane. Their loops need not be declared: the builder finds and cuts them.

All of them are closed at q = 0 (see `bars`), except four_bar, which has the angles of textbooks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.groups import IDENTITY, Pose, translation
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.bars import Hinge, Link, Point, arm, at_angle, linkage, meet, positive
from kinemorph.model.library.textbook import SWING, length_parameter, mass_parameter, planet
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, Box, Capsule

NAMES = ("crank", "coupler", "rocker")
# drives of a leg similar to AMRU5: 20 W motors, gear 4 : 1 and a screw with a lead of 2 mm
SCREW = 4.0 * 2.0 * math.pi / 0.002  # angle of the motor per travel of the nut [rad/m]
ROTOR = 1.05e-6  # rotor inertia [kg m^2]
BRAKE = 0.0235**2 / 2.3  # damping of the short-circuited motor, K^2 / R [N m s]


def four_bar(
    ground: float = 1.0,
    lengths: Sequence[float] = (0.3, 0.9, 0.7),
    masses: Sequence[float] = (0.5, 1.0, 0.8),
    *,
    closure: str = "revolute",
) -> Robot:
    """A four-bar in the vertical x-z plane: crank, coupler and rocker, uniform rods of `lengths` [m] and `masses` [kg].

    Crank and rocker are hinged to the ground at x = 0 and x = `ground` [m]; their angles are measured from +x toward
    +z, that of the coupler from the crank. At q = 0 all three rods are along +x and the loop is open; a closed
    configuration for the default data is q = (0.6, 0.02989836, 1.6066907). `closure` is the kind of the joint that
    closes the loop, between the ends of coupler and rocker: "revolute" is the real hinge, "spherical" has fewer
    redundant constraint rows.
    """
    l0 = Parameter("l0", ground, "m", "l_{0}")
    l1, l2, l3 = (length_parameter(i, length) for i, length in enumerate(lengths, 1))
    builder = RobotBuilder("four_bar")
    for i, (name, mass, length) in enumerate(zip(NAMES, masses, (l1, l2, l3), strict=True), 1):
        builder.add(Body.rod(name, mass_parameter(i, mass), length, (0.5 * length, 0.0, 0.0), axis="x", radius=0.015))
    builder.joint("q1", "revolute", "world", "crank", axis=SWING)
    builder.joint("q2", "revolute", "crank", "coupler", translation=(l1, 0.0, 0.0), axis=SWING)
    builder.joint("q3", "revolute", "world", "rocker", translation=(l0, 0.0, 0.0), axis=SWING)
    end = translation((l3, 0.0, 0.0))
    builder.joint("closure", closure, "coupler", "rocker", translation=(l2, 0.0, 0.0), child_placement=end, axis=SWING)
    return builder.build()


def slider_crank(
    lengths: Sequence[float] = (1.0, 2.0),
    masses: Sequence[float] = (1.0, 2.0, 5.0),
    moments: Sequence[float] = (0.0833, 0.6667, 2.0),
) -> Robot:
    """A slider-crank in the vertical x-z plane: crank and rod of `lengths` [m], and a slider along x.

    `masses` [kg] and `moments` of inertia [kg m^2], about the centers of mass, are those of crank, rod and slider; the
    centers of mass of crank and rod are at their middles. The angle of the crank is measured from +x toward +z, that of
    the rod from the crank. At q = 0 both are along +x, and the coordinate of the slider is measured from its position
    there. The defaults are the example of the EasyDyn library.
    """
    l1, l2 = (length_parameter(i, l) for i, l in enumerate(positive("slider_crank", "lengths", lengths, 2), 1))
    builder = RobotBuilder("slider_crank", gravity=planet())
    for i, (name, length, moment) in enumerate(zip(("crank", "rod"), (l1, l2), moments, strict=False), 1):
        J = Parameter(f"J{i}", moment, "kg m^2", f"J_{{{i}}}")
        middle, along = (0.5 * length, 0.0, 0.0), ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))
        shape = Capsule(0.04 * lengths[0], length, Pose(along, middle))
        builder.body(name, mass_parameter(i, masses[i - 1]), com=middle, inertia=(0.0, J, J), shapes=[shape])
    edge = 0.3 * lengths[0]
    block = Box((edge, edge, 0.7 * edge), IDENTITY, GRAPHITE)
    builder.body("slider", mass_parameter(3, masses[2]), inertia=(moments[2],) * 3, shapes=[block])
    builder.joint("crank_joint", "revolute", "world", "crank", axis=SWING)
    builder.joint("rod_joint", "revolute", "crank", "rod", translation=(l1, 0.0, 0.0), axis=SWING)
    builder.joint("slider_joint", "prismatic", "world", "slider", translation=(l1 + l2, 0.0, 0.0), axis=(1.0, 0.0, 0.0))
    builder.joint("rod_slider", "revolute", "rod", "slider", translation=(l2, 0.0, 0.0), axis=SWING)
    return builder.build()


def five_bar(
    ground: float = 0.2,
    lengths: Sequence[float] = (0.25, 0.35),
    masses: Sequence[float] = (0.4, 0.3),
    angle: float = 0.6,
) -> Robot:
    """A five-bar: two arms hang from the world, side by side, and are hinged together at the tip; it has 2 dof.

    The upper hinges are `ground` [m] apart; each arm has an upper and a lower rod of `lengths` [m] and `masses` [kg].
    At q = 0 the upper rods point outward by `angle` [rad] from the vertical. The tip is the frame "tip".
    """
    upper, lower = positive("five_bar", "lengths", lengths, 2)
    A: Point = (-0.5 * ground, 0.0)
    B: Point = (0.5 * ground, 0.0)
    C, D = (at_angle(hip, spread - math.pi / 2, upper) for hip, spread in ((A, -angle), (B, angle)))
    E = meet(C, lower, D, lower, -1, name="five_bar")
    links = [
        Link("left_upper", "A-C", masses[0]),
        Link("right_upper", "B-D", masses[0]),
        Link("left_lower", "C-E", masses[1]),
        Link("right_lower", "D-E", masses[1]),
    ]
    hinges = [
        Hinge("A", "world", "left_upper"),
        Hinge("B", "world", "right_upper"),
        Hinge("C", "left_upper", "left_lower"),
        Hinge("D", "right_upper", "right_lower"),
        Hinge("E", "left_lower", "right_lower"),
    ]
    points = {"A": A, "B": B, "C": C, "D": D, "E": E}
    return (
        linkage(RobotBuilder("five_bar"), points, links, hinges)
        .frame("tip", "left_lower", translation=arm(C, E))
        .build()
    )


def pantograph_leg(
    short: float = 0.1,
    ratio: float = 4.0,
    masses: Sequence[float] = (0.4, 0.4, 0.1, 0.3, 0.1),
    start: Sequence[float] = (0.08, 0.1),
) -> Robot:
    """A leg similar to that of AMRU5: a pantograph that magnifies the motion of two nuts on screws at the foot.

    Thigh A-B-D and shank D-E-F are `ratio` times as long as AB = BC = DE = `short` [m]; the bars B-C and C-E complete
    the parallelogram B-D-E-C. The nut at A moves along z, the nut at C along x, and the foot F is at
    ratio C - (ratio - 1) A: each nut moves it along one axis only. `masses` [kg] are those of thigh, shank, B-C, C-E
    and one nut. `start` [m] is the height of A and the distance of C from the point where the two screws cross, at
    q = 0. The screws are connected to motors without current: their rotors add armature, and their short-circuited
    windings damping.
    """
    positive("pantograph_leg", "short", (short,), 1)
    A, C = (0.0, start[0]), (start[1], 0.0)
    B = meet(A, short, C, short, 1, name="pantograph_leg")
    D = (A[0] + ratio * (B[0] - A[0]), A[1] + ratio * (B[1] - A[1]))
    E = (C[0] + D[0] - B[0], C[1] + D[1] - B[1])
    F = (D[0] + ratio * (E[0] - D[0]), D[1] + ratio * (E[1] - D[1]))
    links = [
        Link("thigh", "A-B-D", masses[0]),
        Link("shank", "D-E-F", masses[1], GRAPHITE),
        Link("short_bar", "C-B", masses[2]),
        Link("long_bar", "C-E", masses[3]),
    ]
    hinges = [
        Hinge("A", "height_nut", "thigh"),
        Hinge("C", "reach_nut", "short_bar"),
        Hinge("C", "reach_nut", "long_bar"),
        Hinge("D", "thigh", "shank"),
        Hinge("B", "short_bar", "thigh"),
        Hinge("E", "long_bar", "shank"),
    ]
    builder = RobotBuilder("pantograph_leg")
    for name, at, axis in (("height_nut", A, (0.0, 0.0, 1.0)), ("reach_nut", C, (1.0, 0.0, 0.0))):
        builder.add(Body.box(name, masses[4], (0.5 * short,) * 3))
        builder.joint(
            f"{name}_joint",
            "prismatic",
            "world",
            name,
            translation=arm((0.0, 0.0), at),
            axis=axis,
            armature=ROTOR * SCREW**2,
            damping=BRAKE * SCREW**2,
        )
    points = {"A": A, "B": B, "C": C, "D": D, "E": E, "F": F}
    linkage(builder, points, links, hinges, carriers={"height_nut": A, "reach_nut": C})
    return builder.frame("foot", "shank", translation=arm(D, F)).build()
