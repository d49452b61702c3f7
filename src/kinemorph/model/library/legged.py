"""Legged robots on a free base: two hexapods and a humanoid. x is forward, y left, z up.

Masses and sizes are typical values, not those of a real robot; every link is a uniform solid.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Axis
from kinemorph.model.robot import Robot

X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
Z: Axis = (0.0, 0.0, 1.0)

# ── hexapods ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Segment(NamedTuple):
    """One joint of a leg and its link along x: axis, offset from the previous joint [m], length [m], mass [kg]."""

    name: str
    axis: Axis
    offset: tuple[float, float, float]
    length: float
    mass: float


LEG = (
    Segment("hip", Z, (0.0, 0.0, 0.0), 0.06, 0.4),
    Segment("thigh", Y, (0.06, 0.0, 0.01), 0.15, 0.4),
    Segment("shank", Y, (0.15, 0.0, 0.0), 0.20, 0.4),
)
LONG_LEG = (
    LEG[0],
    LEG[1],
    Segment("shank", Y, (0.15, 0.0, 0.0), 0.12, 0.4),
    Segment("ankle", X, (0.12, 0.0, 0.0), 0.05, 0.2),
    Segment("foot", Y, (0.05, 0.0, 0.0), 0.08, 0.2),
)


def hexapod24() -> Robot:
    """A hexapod: six legs of three hinges (hip z, thigh y, shank y) around a body of 8 kg; 24 dof with the base."""
    return _hexapod("hexapod24", LEG)


def hexapod36() -> Robot:
    """A hexapod: six legs of five hinges (z, y, y, x, y) around a body of 8 kg; 36 dof with the free base."""
    return _hexapod("hexapod36", LONG_LEG)


def _hexapod(name: str, leg: tuple[Segment, ...]) -> Robot:
    builder = RobotBuilder(name).add(Body.cylinder("trunk", 8.0, 0.2, 0.08))
    builder.root("trunk", "free")
    for k in range(6):
        # hips at 30, 90, 150, ... degrees; rounding gives exact zeros at 90 and 270 degrees
        angle = math.radians(30.0 + 60.0 * k)
        c, s = round(math.cos(angle), 15), round(math.sin(angle), 15)
        heading = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
        parent = "trunk"
        for segment in leg:
            link = f"leg{k + 1}_{segment.name}"
            center = (0.5 * segment.length, 0.0, 0.0)
            builder.add(Body.cylinder(link, segment.mass, 0.02, segment.length, center, axis="x"))
            first = segment is leg[0]
            builder.joint(
                f"{link}_joint",
                "revolute",
                parent,
                link,
                rotation=heading if first else None,
                translation=(0.2 * c, 0.2 * s, 0.03) if first else segment.offset,
                axis=segment.axis,
                lower=-1.6 if not first else -1.0,
                upper=1.6 if not first else 1.0,
                damping=0.05,
            )
            parent = link
        builder.frame(f"foot{k + 1}", parent, translation=(leg[-1].length, 0.0, 0.0))
    return builder.build()


# ── humanoid ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Limb(NamedTuple):
    """One joint of the humanoid and its child body, a box of `size` [m] around `center` [m].

    The joint is at `offset` [m] in its parent, with limits [rad]; the data are those of the left side.
    """

    name: str
    parent: str
    axis: Axis
    offset: tuple[float, float, float]
    mass: float
    size: tuple[float, float, float]
    center: tuple[float, float, float]
    lower: float
    upper: float


MIDDLE = (
    Limb("waist", "pelvis", Z, (0.0, 0.0, 0.08), 2.0, (0.16, 0.22, 0.08), (0.0, 0.0, 0.04), -1.2, 1.2),
    Limb("chest", "waist", Y, (0.0, 0.0, 0.08), 14.0, (0.20, 0.34, 0.40), (0.0, 0.0, 0.22), -0.4, 0.9),
    Limb("neck", "chest", Z, (0.0, 0.0, 0.44), 0.8, (0.08, 0.08, 0.08), (0.0, 0.0, 0.04), -1.4, 1.4),
    Limb("head", "neck", Y, (0.0, 0.0, 0.08), 3.5, (0.18, 0.16, 0.22), (0.02, 0.0, 0.11), -0.7, 0.7),
)
SIDES = (
    Limb("hip_yaw", "pelvis", Z, (0.0, 0.10, -0.05), 1.2, (0.10, 0.10, 0.06), (0.0, 0.0, -0.03), -0.8, 0.8),
    Limb("hip_roll", "hip_yaw", X, (0.0, 0.0, -0.06), 1.2, (0.10, 0.10, 0.06), (0.0, 0.0, 0.0), -0.6, 0.6),
    Limb("thigh", "hip_roll", Y, (0.0, 0.0, 0.0), 6.0, (0.13, 0.13, 0.38), (0.0, 0.0, -0.20), -2.0, 0.8),
    Limb("shank", "thigh", Y, (0.0, 0.0, -0.40), 3.5, (0.10, 0.10, 0.38), (0.0, 0.0, -0.19), 0.0, 2.4),
    Limb("ankle", "shank", Y, (0.0, 0.0, -0.40), 0.6, (0.06, 0.06, 0.04), (0.0, 0.0, 0.0), -0.9, 0.7),
    Limb("foot", "ankle", X, (0.0, 0.0, 0.0), 1.0, (0.24, 0.10, 0.06), (0.04, 0.0, -0.05), -0.5, 0.5),
    Limb("shoulder_pitch", "chest", Y, (0.0, 0.20, 0.36), 0.8, (0.08, 0.08, 0.08), (0.0, 0.02, 0.0), -3.0, 1.2),
    Limb("shoulder_roll", "shoulder_pitch", X, (0.0, 0.05, 0.0), 0.8, (0.08, 0.08, 0.08), (0.0, 0.0, -0.02), -0.3, 2.8),
    Limb("upper_arm", "shoulder_roll", Z, (0.0, 0.0, -0.05), 2.0, (0.08, 0.08, 0.26), (0.0, 0.0, -0.12), -1.6, 1.6),
    Limb("forearm", "upper_arm", Y, (0.0, 0.0, -0.26), 1.8, (0.07, 0.07, 0.32), (0.0, 0.0, -0.15), -2.4, 0.0),
)


def humanoid() -> Robot:
    """A humanoid of 68 kg and 1.7 m, 30 dof with the free base: legs of six, arms of four, waist and neck of two."""
    builder = RobotBuilder("humanoid").add(Body.box("pelvis", 10.1, (0.18, 0.26, 0.16)))
    builder.root("pelvis", "free")
    for limb in MIDDLE:
        _add_limb(builder, limb, "", 1.0)
    for side, sign in (("left_", 1.0), ("right_", -1.0)):
        for limb in SIDES:
            _add_limb(builder, limb, side, sign)
        builder.frame(f"{side}sole", f"{side}foot", translation=(0.0, 0.0, -0.08))
        builder.frame(f"{side}hand", f"{side}forearm", translation=(0.0, 0.0, -0.31))
    return builder.frame("eyes", "head", translation=(0.11, 0.0, 0.12)).build()


def _add_limb(builder: RobotBuilder, limb: Limb, side: str, sign: float) -> None:
    """Adds a limb to the builder; for `sign` -1 its mirror image on the right side.

    In the mirror image y and rotations about x and z change sign, with their limits. `side` is put before its name.
    """
    mirrored = sign < 0.0 and limb.axis != Y
    lower, upper = (-limb.upper, -limb.lower) if mirrored else (limb.lower, limb.upper)
    x, y, z = limb.offset
    a, b, c = limb.center
    middle = limb.parent in ("pelvis", "chest") or not side
    name = f"{side}{limb.name}"
    builder.add(Body.box(name, limb.mass, limb.size, (a, sign * b, c)))
    builder.joint(
        f"{name}_joint",
        "revolute",
        limb.parent if middle else f"{side}{limb.parent}",
        name,
        translation=(x, sign * y, z),
        axis=limb.axis,
        lower=lower,
        upper=upper,
        damping=0.5,
        armature=0.02,
    )
