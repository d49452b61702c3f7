"""Benchmark linkages for multibody codes: N four-bars, Bricard's mechanism, a slider-crank in space.

They are Systems with the initial velocities and the durations of the benchmark problems. The initial configuration is
q = 0, with closed loops, see `bars`. The data are those of the IFToMM library of computational benchmark problems: A02,
A04 and Haug's slider-crank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.algebra.groups import IDENTITY, Pose, translation
from kinemorph.algebra.vectors import cross, scale, sub
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Axis
from kinemorph.model.library.bars import Hinge, Link, Point, linkage, positive
from kinemorph.model.shapes import GRAPHITE, Box, Capsule, Shape
from kinemorph.model.system import Settings, System

MOST_FOUR_BARS = 500
X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
Z: Axis = (0.0, 0.0, 1.0)
# Bricard's mechanism: its six corners and the hinge axes there; its rods: the corner at the parent hinge and the other
# corner, chosen so that the loop is closed at the middle; its hinges: corner, parent, child
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, -1.0, 0.0), (1.0, -1.0, 1.0), (0.0, -1.0, 1.0), (0.0, 0.0, 1.0))
BRICARD_AXES = (Y, Z, X, Y, Z, X)
RODS = ((0, 1), (1, 2), (2, 3), (4, 3), (5, 4))
BRICARD_HINGES = (
    (0, "world", "rod0"), (1, "rod0", "rod1"), (2, "rod1", "rod2"), (5, "world", "rod4"), (4, "rod4", "rod3"),
    (3, "rod2", "rod3"),
)  # fmt: skip


def n_four_bar(n: int = 2, length: float = 1.0, mass: float = 1.0, speed: float = 1.0) -> System:
    """`n` four-bars in a row: n + 1 vertical cranks and n couplers on top, all of `length` [m] and `mass` [kg].

    The initial velocity of the couplers is `speed` [m/s], and all four-bars move as parallelograms. At the instants
    when the cranks are horizontal, every four-bar could fold independently: the mobility there is n + 1.
    """
    if not 1 <= n <= MOST_FOUR_BARS:
        raise ModelError(f"n_four_bar: n is {n}, expected 1 to {MOST_FOUR_BARS}. Choose a number in that range.")
    positive("n_four_bar", "length", (length,), 1)
    points: dict[str, Point] = {}
    links, hinges, closing = [], [], []
    for i in range(n + 1):
        points |= {f"A{i}": (i * length, 0.0), f"B{i}": (i * length, length)}
        links.append(Link(f"crank{i}", f"A{i}-B{i}", mass))
        hinges.append(Hinge(f"A{i}", "world", f"crank{i}"))
    for i in range(n):
        links.append(Link(f"coupler{i}", f"B{i}-B{i + 1}", mass))
        hinges.append(Hinge(f"B{i}", f"crank{i}", f"coupler{i}"))
        closing.append(Hinge(f"B{i + 1}", f"coupler{i}", f"crank{i + 1}"))
    rate = speed / length
    return System(
        linkage(RobotBuilder(f"n_four_bar{n}"), points, links, hinges + closing).build(),
        settings=Settings(v=(-rate,) * (n + 1) + (rate,) * n),
    )


def bricard(length: float = 1.0, mass: float = 1.0, width: float = 0.1) -> System:
    """Bricard's mechanism: five square rods along edges of a cube, and six hinges across them, two on the ground.

    In general a closed chain of six hinges cannot move; with these axes it has one degree of freedom, so one of the
    constraint rows is redundant. The rods have a `length` [m], a `mass` [kg] and a `width` [m]; gravity is along -y.
    The frame "P3" is the middle corner.
    """
    positive("bricard", "length", (length,), 1)
    corners = [scale(length, corner) for corner in CORNERS]
    builder = RobotBuilder("bricard", gravity=(0.0, -9.81, 0.0))
    for k, (held, far) in enumerate(RODS):
        way = sub(corners[far], corners[held])
        ex, ey, ez = (abs(x) or width for x in way)
        builder.add(Body.box(f"rod{k}", mass, (ex, ey, ez), scale(0.5, way)))
    origins = {"world": (0.0, 0.0, 0.0)} | {f"rod{k}": corners[held] for k, (held, _) in enumerate(RODS)}
    for corner, parent, child in BRICARD_HINGES:
        builder.joint(
            f"q{corner}",
            "revolute",
            parent,
            child,
            translation=sub(corners[corner], origins[parent]),
            child_placement=translation(sub(corners[corner], origins[child])),
            axis=BRICARD_AXES[corner],
        )
    return System(builder.frame("P3", "rod2", translation=sub(corners[3], corners[2])).build())


def spatial_slider_crank(
    lengths: Sequence[float] = (0.08, 0.3),
    masses: Sequence[float] = (0.12, 0.5, 2.0),
    moments: Sequence[float] = (1e-4, 4e-4, 4e-3, 1e-4),
    pivot: Sequence[float] = (0.1, 0.12),
    speed: float = 6.0,
) -> System:
    """Haug's spatial slider-crank: crank on a hinge along x, rod on a ball joint, slider along x on a universal joint.

    `lengths`   [m] of crank and rod
    `masses`    [kg] of crank, rod and slider
    `moments`   [kg m^2] of the crank about its axis, of the rod about and across its axis, of the slider
    `pivot`     y and z [m] of the crank's axis
    `speed`     initial angular velocity of the crank [rad/s], which points upward

    The center of mass of the crank is on its axis, that of the rod at its middle.
    """
    short, long = positive("spatial_slider_crank", "lengths", lengths, 2)
    y, z = pivot[0], pivot[1] + short
    off = math.hypot(y, z)
    if not long > off:
        raise ModelError(
            f"spatial_slider_crank: the length of the rod is {long:.4g} m, expected more than {off:.4g} m to reach the "
            "line of the slider. Increase lengths[1]."
        )
    x = math.sqrt((long - off) * (long + off))
    slider, pin = (x, 0.0, 0.0), (0.0, y, z)
    u = scale(1.0 / long, sub(pin, slider))  # along the rod
    across = (0.0, z / off, -y / off)  # to the rod and to the slider's line
    thick, (about, transverse) = 0.02 * long, moments[1:3]
    inertia = [[(i == j) * transverse + (about - transverse) * u[i] * u[j] for j in range(3)] for i in range(3)]
    standing = tuple(zip(cross(across, u), across, u, strict=True))  # turns z to u
    shapes: dict[str, Shape] = {
        "crank": Capsule(1.5 * thick, short, translation((0.0, 0.0, 0.5 * short))),
        "slider": Box((8 * thick, 5 * thick, 5 * thick), IDENTITY, GRAPHITE),
        "rod": Capsule(thick, long, Pose(standing, scale(0.5 * long, u))),
    }
    builder = RobotBuilder("spatial_slider_crank")
    builder.body("crank", masses[0], inertia=(moments[0],) * 3, shapes=[shapes["crank"]])
    builder.body("slider", masses[2], inertia=(moments[3],) * 3, shapes=[shapes["slider"]])
    builder.body("rod", masses[1], com=scale(0.5 * long, u), inertia=inertia, shapes=[shapes["rod"]])
    builder.joint("crank_joint", "revolute", "world", "crank", translation=(0.0, *pivot), axis=X)
    builder.joint("slider_joint", "prismatic", "world", "slider", translation=slider, axis=X)
    builder.joint("rod_joint", "universal", "slider", "rod", axis=X, axis2=across)
    end = translation(sub(pin, slider))
    builder.joint("pin", "spherical", "rod", "crank", placement=end, child_placement=translation((0.0, 0.0, short)))
    # initial velocities: the pin moves along -y, and the length of the rod is constant
    slides = y * short * speed / x
    turns = -slides / off
    swings = (short * speed + turns * x * y / off) / z
    return System(builder.build(), settings=Settings(v=(speed, slides, swings, turns), time=5.0))
