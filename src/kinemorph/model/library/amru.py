"""AMRU5, the hexapod of Verlinden, Habumuremyi and Kouroussis: 49 bodies in 24 coordinates, from position matrices.

The central body is body 0. Each leg has eight bodies: its support, the four links of a pantograph and the rotors of its
three motors. The coordinates are those of Table 1 of the paper: q0 to q5 place the central body by Tdisp(q0, q1, q2)
Trotx(q3) Troty(q4) Trotz(q5); leg 1 has q6, q7, q8, leg 2 has q9, q10, q11, and so on:

    q6   the rotation of the leg about the vertical, 0 where it points sideways [rad]
    q7   the height of the nut A of the vertical drive above the point C [m]
    q8   the distance of the nut C of the horizontal drive from the vertical screw [m]

The pantograph lies in the plane of the leg, x outward and z up. The bars are AB = BC = 0.1 m, AD = DF = 4 AB and
CE = BD, so that BDEC is a parallelogram. Equations 14 to 17 of the paper give its angles (the angle at C is delta, and
alpha is atan2(q7, q8), see docs/errata.md), and the foot is

    F = A + 4 (C - A) = (4 q8, -3 q7)

each nut moves it along one direction only. Rotors are bodies that turn by n q, where n is the reduction of gearbox and
screw; a motor on a coordinate therefore has no rotor inertia of its own (`DCMotor.inertia` is 0).

The paper gives the structure of the model and few numbers. All masses, inertias, lengths and reductions here are
assumptions, a consistent set for a robot of this size, and not data of the real robot. The numbering of the legs is an
assumption too, except that leg 1 is at the rear and leg 4 in front: 1 rear right, 2 middle right, 3 front right,
4 front left, 5 middle left, 6 rear left. The robot walks along +y, and its right side is at +x.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.notation import Tdisp, Trotx, Troty, Trotz, mth
from kinemorph.algebra.scalar import acos, atan2, sqrt
from kinemorph.model.body import STANDING
from kinemorph.model.positions.position_builder import PositionBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import GRAPHITE, ORANGE, STEEL, Box, Capsule, Color, Cylinder, Shape, Sphere

# all numbers up to COLORS are assumptions
BODY_MASS, BODY_SIZE, BODY_INERTIA = 12.4, (0.35, 0.50, 0.12), (0.273, 0.141, 0.385)  # [kg], [m], [kg m^2]
SUPPORT_MASS, SUPPORT_INERTIA = 1.4, (4e-3, 4e-3, 4e-3)
THIGH_MASS, SHANK_MASS, SHORT_MASS, LONG_MASS = 0.4, 0.4, 0.1, 0.3  # of AD, DF, BC and CE [kg]
ROTOR_MASS, ROTOR_INERTIA, ROTOR_ACROSS = 1.0 / 3.0, 1.05e-6, 3e-5  # of one motor [kg]; about its axis, and across
LEG_MASS = SUPPORT_MASS + THIGH_MASS + SHANK_MASS + SHORT_MASS + LONG_MASS + 3.0 * ROTOR_MASS  # [kg]
HIPS = ((0.175, -0.2), (0.175, 0.0), (0.175, 0.2), (-0.175, 0.2), (-0.175, 0.0), (-0.175, -0.2))  # legs 1 to 6 [m]
AB, RATIO, OUTWARD = 0.1, 4.0, 0.05  # AB = BC [m], AD/AB, distance L_x of the vertical screw from the hip axis [m]
AD, BD = RATIO * AB, (RATIO - 1.0) * AB  # also DF, and CE
GEAR, SCREW_GEAR, LEAD = 246.0, 4.0, 0.002  # rotation gearbox; gear before the screws, and their lead [m]
SCREW = 2.0 * math.pi * SCREW_GEAR / LEAD  # angle of a motor per travel of its nut [rad/m]
HEIGHTS, REACHES = (0.05, 0.11), (0.07, 0.13)  # ranges of q7 and q8 [m]
TURN = 0.8  # range of q6 to both sides [rad]
STANDING_HEIGHT, STANDING_REACH = 0.08, 0.10  # q7 and q8 of the standing robot [m]

COLORS: dict[str, Color] = {"thigh": ORANGE, "shank": GRAPHITE, "short": (0.36, 0.60, 0.32), "long": (0.16, 0.44, 0.64)}
LEGS = range(1, 7)
DRIVES = ("rotation", "vertical", "horizontal")  # of a leg, in the order of its coordinates


class LegCoordinates(NamedTuple):
    """The names of the coordinates of one leg."""

    rotation: str
    vertical: str
    horizontal: str


def leg_coordinates(leg: int) -> LegCoordinates:
    """The names of the three coordinates of leg 1 to 6: q6, q7, q8 for leg 1."""
    return LegCoordinates(*(f"q{3 * leg + 3 + k}" for k in range(3)))


def hip(leg: int) -> mth:
    """The position of the hip of leg 1 to 6 in the central body; its x axis points outward."""
    x, y = HIPS[leg - 1]
    return Tdisp(x, y, 0.0) if x > 0.0 else Tdisp(x, y, 0.0) * Trotz(math.pi)


def amru5(*, elastic_screws: bool = False) -> Robot:
    """AMRU5 with its 49 bodies and 24 coordinates q0 to q23; see the top of this file for its data.

    With `elastic_screws`, the rotors of the vertical and horizontal drives do not turn with their nuts: an elastic
    `DCMotor` has the motion and the inertia of its own rotor.

    The bodies are "central" and, for leg k, "leg<k>_support", "_shank", "_thigh", "_short", "_long", "_rotor1",
    "_rotor2" and "_rotor3". The feet are the frames "foot1" to "foot6". At the initial values of the coordinates the
    robot stands on the ground z = 0.
    """
    builder = PositionBuilder("amru5")
    q = [builder.coordinate(f"q{k}", "m") for k in range(2)]
    q.append(builder.coordinate("q2", "m", standing_height()))
    q += [builder.coordinate(f"q{k}") for k in range(3, 6)]
    central = Tdisp(*q[:3]) * Trotx(q[3]) * Troty(q[4]) * Trotz(q[5])
    builder.body("central", BODY_MASS, BODY_INERTIA, T0G=central, shapes=[Box(BODY_SIZE, color=STEEL)])
    for leg in LEGS:
        add_leg(builder, leg, hip(leg), "central", elastic_screws=elastic_screws)
    return builder.build()


def standing_height() -> float:
    """The height [m] of the hips over the feet of the standing robot, without the depth of contacts."""
    return (RATIO - 1.0) * STANDING_HEIGHT


def add_leg(
    builder: PositionBuilder, leg: int, place: mth, reference: str = "", *, elastic_screws: bool = False
) -> None:
    """Declares the coordinates and bodies of a leg, whose hip has the position `place` in the body `reference`.

    Without a reference, the hip is fixed to the world. `elastic_screws` as in `amru5`.
    """
    rotation, vertical, horizontal = leg_coordinates(leg)
    q6 = builder.coordinate(rotation, lower=-TURN, upper=TURN)
    q7 = builder.coordinate(vertical, "m", STANDING_HEIGHT, lower=HEIGHTS[0], upper=HEIGHTS[1])
    q8 = builder.coordinate(horizontal, "m", STANDING_REACH, lower=REACHES[0], upper=REACHES[1])
    AC = sqrt(q7 * q7 + q8 * q8)
    alpha = atan2(q7, q8)
    # AB = BC: the angles delta at C and gamma at A of eqs 16 and 17 are equal
    gamma = builder.dependent(f"gamma{leg}", acos(AC / (2.0 * AB)))
    delta = builder.dependent(f"delta{leg}", acos(AC / (2.0 * AB)))
    upper = builder.dependent(f"thigh{leg}", alpha - gamma)  # the slope of AD and CE
    support = Trotz(q6)
    A = support * Tdisp(OUTWARD, 0.0, q7) * Troty(upper)
    C = support * Tdisp(OUTWARD, 0.0, 0.0) * Tdisp(q8, 0.0, 0.0)
    D, B = A * Tdisp(AD, 0.0, 0.0), A * Tdisp(AB, 0.0, 0.0)
    foot = Sphere(0.014, Pose(STANDING["z"], (0.5 * AD, 0.0, 0.0)), GRAPHITE)
    upright, lying = (ROTOR_ACROSS, ROTOR_ACROSS, ROTOR_INERTIA), (ROTOR_INERTIA, ROTOR_ACROSS, ROTOR_ACROSS)
    long_rod = rod_inertia(THIGH_MASS, AD)  # also of the shank, which has the same mass
    screw = 0.0 if elastic_screws else SCREW
    parts: tuple[tuple[str, float, tuple[float, float, float], mth, list[Shape]], ...] = (
        ("support", SUPPORT_MASS, SUPPORT_INERTIA, support, _support_shapes()),
        (
            "shank",
            SHANK_MASS,
            rod_inertia(SHANK_MASS, AD),
            D * Troty(gamma + delta) * _middle(AD),
            [*_bar("shank", AD), foot],
        ),
        ("thigh", THIGH_MASS, long_rod, A * _middle(AD), _bar("thigh", AD)),
        ("short", SHORT_MASS, rod_inertia(SHORT_MASS, AB), B * Troty(gamma + delta) * _middle(AB), _bar("short", AB)),
        ("long", LONG_MASS, rod_inertia(LONG_MASS, BD), C * Troty(upper) * _middle(BD), _bar("long", BD)),
        ("rotor1", ROTOR_MASS, upright, Tdisp(0.0, 0.0, 0.05) * Trotz(GEAR * q6), _rotor("z")),
        ("rotor2", ROTOR_MASS, upright, support * Tdisp(OUTWARD, 0.0, 0.15) * Trotz(screw * q7), _rotor("z")),
        ("rotor3", ROTOR_MASS, lying, support * Tdisp(0.02, 0.0, 0.0) * Trotx(screw * q8), _rotor("x")),
    )
    for name, mass, inertia, position, shapes in parts:
        where = {"TrefG": place * position, "reference": reference} if reference else {"T0G": place * position}
        builder.body(f"leg{leg}_{name}", mass, inertia, shapes=shapes, **where)
    builder.frame(f"foot{leg}", f"leg{leg}_shank", Tdisp(0.5 * AD, 0.0, 0.0))


def _middle(length: float) -> mth:
    return Tdisp(0.5 * length, 0.0, 0.0)


def rod_inertia(mass: float, length: float) -> tuple[float, float, float]:
    """The moments of inertia [kg m^2] of a slender rod along x; about its own axis it is as thick as its picture."""
    across = mass * length * length / 12.0
    return 0.5 * mass * 0.008**2, across, across


def _bar(name: str, length: float) -> list[Shape]:
    return [Capsule(0.008, length, Pose(STANDING["x"], (0.0, 0.0, 0.0)), COLORS[name])]


def _rotor(axis: str) -> list[Shape]:
    return [Cylinder(0.016, 0.05, Pose(STANDING[axis], (0.0, 0.0, 0.0)), GRAPHITE)]


def _support_shapes() -> list[Shape]:
    """The hip axis, the vertical screw and the horizontal screw."""
    return [
        Cylinder(0.02, 0.14, Pose(STANDING["z"], (0.0, 0.0, 0.0)), STEEL),
        Cylinder(0.005, 0.14, Pose(STANDING["z"], (OUTWARD, 0.0, 0.07)), STEEL),
        Cylinder(0.005, 0.18, Pose(STANDING["x"], (0.09, 0.0, 0.0)), STEEL),
    ]
