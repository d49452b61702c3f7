"""A robot hand with five fingers: a branched tree of 20 hinges.

It is a right hand, held upright: z points from the wrist to the fingertips, x is the direction in which the palm faces,
and the thumb is on the side of +y. Lengths and masses are typical values, not those of a real hand; every link is a
uniform solid.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.rotations import rotation
from kinemorph.algebra.vectors import Mat, matmul
from kinemorph.model.body import STANDING, Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import X, Y, Z
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import ORANGE, STEEL, Capsule

RADII = (0.0085, 0.008, 0.007)  # of the phalanges, from the palm to the tip [m]
MASSES = (0.030, 0.020, 0.012)  # [kg]
KNUCKLE = (0.015, 0.009)  # mass [kg] and radius [m] of the link between the first two hinges of a finger
PALM = (0.35, (0.026, 0.084, 0.095))  # mass [kg] and size [m]
SPREAD, FLEXION = (-0.35, 0.35), ((-0.3, 1.6), (0.0, 1.9), (0.0, 1.3))  # ranges of the hinges [rad]
DRIVE: dict[str, Any] = {"damping": 0.01, "armature": 5e-5, "effort": 1.5, "velocity": 8.0}


class Finger(NamedTuple):
    """The place of a finger's first hinge on the palm [m], the lengths of its three phalanges [m], and its hinges.

    `tilt` and `roll` [rad] turn the straight finger from the direction of z: about -x, and then about its own axis.
    """

    name: str
    place: tuple[float, float, float]
    lengths: tuple[float, float, float]
    links: tuple[str, str, str] = ("proximal", "middle", "distal")
    hinges: tuple[str, str, str, str] = ("spread", "mcp", "pip", "dip")
    tilt: float = 0.0
    roll: float = 0.0


FINGERS = (
    Finger(
        "thumb",
        (0.012, 0.030, 0.022),
        (0.046, 0.034, 0.027),
        ("metacarpal", "proximal", "distal"),
        ("spread", "cmc", "mcp", "ip"),
        tilt=math.radians(50.0),
        roll=math.radians(-55.0),
    ),
    Finger("index", (0.0, 0.032, 0.095), (0.044, 0.026, 0.022), tilt=math.radians(4.0)),
    Finger("middle", (0.0, 0.011, 0.099), (0.048, 0.030, 0.023)),
    Finger("ring", (0.0, -0.011, 0.095), (0.044, 0.028, 0.023), tilt=math.radians(-4.0)),
    Finger("little", (0.0, -0.031, 0.087), (0.035, 0.021, 0.020), tilt=math.radians(-9.0)),
)


def hand(free: bool = False) -> Robot:
    """A right hand of 0.735 kg with 20 hinges: each finger can be spread, and bent at three hinges.

    The hinges of a finger are `index_spread`, `index_mcp`, `index_pip`, `index_dip`, those of the thumb `thumb_spread`,
    `thumb_cmc`, `thumb_mcp`, `thumb_ip`; positive angles of the last three bend it toward the palm. The frames
    `thumb_tip`, `index_tip` and so on are at the ends of the fingers. The palm is fixed to the world, or `free`.
    """
    mass, size = PALM
    builder = RobotBuilder("hand").add(Body.box("palm", mass, size, (0.0, 0.0, 0.5 * size[2])))
    builder.root("palm", "free" if free else "fixed")
    for finger in FINGERS:
        _add_finger(builder, finger)
    return builder.build()


def _add_finger(builder: RobotBuilder, finger: Finger) -> None:
    """Adds a finger: a knuckle that turns about x of the finger, and three phalanges that bend about y."""
    name = finger.name
    turned: Mat = matmul(rotation(X, 0.0 - finger.tilt), rotation(Z, finger.roll))
    spread, *bends = finger.hinges
    knuckle = f"{name}_knuckle"
    builder.add(Body.sphere(knuckle, *KNUCKLE))
    low, high = SPREAD
    at: dict[str, Any] = {"rotation": turned, "translation": finger.place, "axis": X, "lower": low, "upper": high}
    builder.joint(f"{name}_{spread}", "revolute", "palm", knuckle, **at, **DRIVE)
    parent, start = knuckle, 0.0
    for k, (link, hinge, length) in enumerate(zip(finger.links, bends, finger.lengths, strict=True)):
        low, high = FLEXION[k]
        builder.add(_phalanx(f"{name}_{link}", k, length))
        at = {"translation": (0.0, 0.0, start), "axis": Y, "lower": low, "upper": high}
        builder.joint(f"{name}_{hinge}", "revolute", parent, f"{name}_{link}", **at, **DRIVE)
        parent, start = f"{name}_{link}", length
    builder.frame(f"{name}_tip", parent, translation=(0.0, 0.0, start))


def _phalanx(name: str, place: int, length: float) -> Body:
    """A phalanx along z: the inertia of a solid cylinder, drawn as a capsule; `place` counts from the palm."""
    solid = Body.cylinder(name, MASSES[place], RADII[place], length, (0.0, 0.0, 0.5 * length))
    look = Capsule(RADII[place], length, Pose(STANDING["z"], (0.0, 0.0, 0.5 * length)), ORANGE if place == 2 else STEEL)
    return Body(solid.name, solid.mass, solid.com, solid.inertia, (look,))
