"""Robot arms: SCARA and Puma 560."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.inertia import Inertia, transformed
from kinemorph.algebra.vectors import diagonal
from kinemorph.model.body import STANDING, Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import ORANGE, STEEL, Box, Capsule, Cylinder, Line, Shape, Sphere


def scara() -> Robot:
    """A SCARA arm, 4 dof: two vertical hinges, a vertical slide, a turning flange. Reach 0.6 m, moving mass 12.5 kg."""
    builder = RobotBuilder("scara").add(
        Body.cylinder("column", 20.0, 0.09, 0.4, (0.0, 0.0, 0.2)),
        Body.box("upper_arm", 6.0, (0.45, 0.14, 0.10), (0.17, 0.0, 0.0)),
        Body.box("forearm", 5.0, (0.35, 0.12, 0.14), (0.13, 0.0, 0.0)),
        Body.cylinder("quill", 1.0, 0.015, 0.4, (0.0, 0.0, -0.05)),
        Body.cylinder("flange", 0.5, 0.03, 0.03, (0.0, 0.0, -0.015)),
    )
    builder.root("column", "fixed")
    drive: dict[str, Any] = {"damping": 0.4, "armature": 0.3, "velocity": 6.0, "effort": 60.0}
    builder.joint(
        "shoulder",
        "revolute",
        "column",
        "upper_arm",
        translation=(0.0, 0.0, 0.45),
        lower=-2.4,
        upper=2.4,
        **drive,
    )
    builder.joint(
        "elbow",
        "revolute",
        "upper_arm",
        "forearm",
        translation=(0.325, 0.0, 0.12),
        lower=-2.6,
        upper=2.6,
        **drive,
    )
    builder.joint(
        "lift",
        "prismatic",
        "forearm",
        "quill",
        translation=(0.275, 0.0, -0.1),
        lower=-0.2,
        upper=0.0,
        damping=20.0,
        armature=2.0,
    )
    builder.joint("twist", "revolute", "quill", "flange", translation=(0.0, 0.0, -0.25), damping=0.01, armature=0.002)
    return builder.frame("tool", "flange", translation=(0.0, 0.0, -0.03)).build()


class PumaLink(NamedTuple):
    """The data of a link of the Puma in its Denavit-Hartenberg frame: mass [kg], com [m], moments [kg m^2] and more.

    The frame follows from d [m], a [m] and `turns`, the twist angle in quarter turns about x.
    """

    d: float
    a: float
    turns: int
    mass: float
    com: tuple[float, float, float]
    moments: tuple[float, float, float]
    rotor: float  # [kg m^2]
    gear: float
    viscous: float  # [N m s] at the motor
    coulomb: tuple[float, float]  # [N m] at the motor, for each direction
    range_deg: tuple[float, float]


PUMA_LINKS = (
    PumaLink(
        0.0, 0.0, 1, 13.0, (0, 0, 0), (0.35, 0.35, 0.35), 200e-6, 62.6111, 1.48e-3, (0.395, 0.435), (-160, 160)
    ),
    PumaLink(
        0.0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539),
        200e-6, 107.815, 0.817e-3, (0.126, 0.071), (-45, 225),
    ),
    PumaLink(
        0.15005, 0.0203, -1, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.0785, 0.0125),
        200e-6, 53.7063, 1.38e-3, (0.132, 0.105), (-225, 45),
    ),
    PumaLink(
        0.4318, 0.0, 1, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3),
        33e-6, 76.0364, 71.2e-6, (11.2e-3, 16.9e-3), (-110, 170),
    ),
    PumaLink(
        0.0, 0.0, -1, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3),
        33e-6, 71.923, 82.6e-6, (9.26e-3, 14.5e-3), (-100, 100),
    ),
    PumaLink(
        0.0, 0.0, 0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3),
        33e-6, 76.686, 36.7e-6, (3.96e-3, 10.5e-3), (-266, 266),
    ),
)  # fmt: skip


def puma() -> Robot:
    """The Puma 560, 6 dof, with the data measured by Armstrong, Khatib & Burdick (1986).

    Joint angles are standard Denavit-Hartenberg angles; joint 1 is vertical. Two values differ from the published ones,
    because a real body could not have those: link 1 is published without a mass (only with its moment of 0.35 kg m^2
    about the joint) and has 13 kg on the axis here, which does not change the dynamics; the moments of link 3 violate
    the triangle inequality, so I_yy is 0.0785 instead of 0.086 kg m^2. Armature, damping and friction are those of the
    motors, reflected through the gears.
    """
    builder = RobotBuilder("puma")
    parent, placement = "world", Pose(STANDING["z"], (0.0, 0.0, 0.0))
    for i, link in enumerate(PUMA_LINKS, 1):
        # the body frame is at the joint; `end` is the Denavit-Hartenberg frame in it: Trans(z d) Trans(x a) Rot(x)
        end = Pose(_quarter_turns(link.turns), (link.a, 0.0, link.d))
        com = tuple(float(x) for x in link.com)
        inertia = transformed(Inertia(link.mass, com, diagonal(link.moments)), end)
        builder.body(f"link{i}", link.mass, com=inertia.com, inertia=inertia.moment, shapes=_puma_shapes(i))
        builder.joint(
            f"joint{i}",
            "revolute",
            parent,
            f"link{i}",
            placement=placement,
            lower=math.radians(link.range_deg[0]),
            upper=math.radians(link.range_deg[1]),
            damping=link.viscous * link.gear**2,
            friction=0.5 * sum(link.coulomb) * link.gear,
            armature=link.rotor * link.gear**2,
        )
        parent, placement = f"link{i}", end
    return builder.frame("flange", parent, placement=placement).build()


def _quarter_turns(turns: int) -> tuple[tuple[float, ...], ...]:
    """The rotation about x by 0, 90 or -90 degrees (`turns` 0, 1 or -1), with exact zeros."""
    c, s = (1.0, 0.0) if turns == 0 else (0.0, float(turns))
    return ((1.0, 0.0, 0.0), (0.0, c, 0.0 - s), (0.0, s, c))


def _puma_shapes(i: int) -> tuple[Shape, ...]:
    """The shapes of link i, in its body frame at joint i, whose axis is z."""
    if i == 1:
        return (Cylinder(0.09, 0.30, Pose(STANDING["z"], (0.0, 0.0, -0.05)), STEEL),)
    if i == 2:
        return (Box((0.54, 0.11, 0.08), Pose(STANDING["z"], (0.2159, 0.0, 0.15)), ORANGE),)
    if i == 3:
        return (Capsule(0.035, 0.43, Pose(STANDING["y"], (0.0203, 0.2159, 0.15)), STEEL),)
    return (
        Sphere(0.042 if i < 6 else 0.03, Pose(STANDING["z"], (0.0, 0.0, 0.0)), STEEL),
        Line((0.0, 0.0, 0.0), (0.0, 0.0, 0.06)),
    )
