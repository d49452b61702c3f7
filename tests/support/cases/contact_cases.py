"""Bodies on the ground for tests of contact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinemorph.algebra.scalar import cos, sin
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal, HuntCrossley, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import HeightFunction, HeightMap, Plane
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.elements.forces.legs import SpringLeg
from kinemorph.model.robot import Robot
from kinemorph.model.system import System

G = 9.81
SLOPE = np.radians(30.0)
HILLS = HeightFunction(lambda x, y: 0.06 * sin(2.0 * x) * cos(1.5 * y) + 0.1 * x)
GRID = HeightMap(
    tuple(tuple(0.05 * float(np.sin(1.3 * i) + np.cos(0.9 * j)) for j in range(8)) for i in range(9)),
    (0.4, 0.5),
    (-1.6, -1.7),
)
TILTED = Plane((0.0, 0.0, 0.02), (0.3, -0.2, 2.0))
EASYDYN = EasyDynNormal(8e3, 4e3)
HERTZ = HuntCrossley.bouncing(1e5, 0.7, 2.0)
COULOMB = Regularized(0.4, 0.02)
ANCHOR = Anchor(0.5, 0.35, 6e3, 15.0, 1e-5)


def slope(angle: float = SLOPE) -> Plane:
    """A plane that falls towards +x."""
    return Plane(normal=(float(np.sin(angle)), 0.0, float(np.cos(angle))))


def particle(mass: float = 1.0, name: str = "block") -> Robot:
    """A point that moves along x and z and does not turn."""
    builder = RobotBuilder(name).add(Body.massless("rail")).add(Body.point("block", mass))
    return (
        builder.joint("x", "prismatic", "world", "rail", axis=(1, 0, 0))
        .joint("z", "prismatic", "rail", "block", axis=(0, 0, 1))
        .build()
    )


def ball(radius: float = 0.1) -> Robot:
    """A solid ball of 1 kg, free."""
    return RobotBuilder("ball").add(Body.sphere("ball", 1.0, radius)).joint("free", "free", "world", "ball").build()


def jack() -> Robot:
    """Two limbs on a free body: masses and axes that do not line up."""
    builder = RobotBuilder("jack").add(Body.box("trunk", 1.2, (0.3, 0.2, 0.1)))
    builder = builder.joint("free", "free", "world", "trunk")
    for side, y in (("left", 0.1), ("right", -0.1)):
        builder = builder.add(Body.rod(side, 0.4, 0.3, (0.0, 0.0, -0.15)))
        builder = builder.joint(f"{side}_hip", "revolute", "trunk", side, translation=(0.05, y, 0.0), axis=(0, 1, 0))
    return builder.build()


JACK_Q = np.array([0.05, -0.1, 0.3, 0.98, 0.1, -0.12, 0.07, 0.3, -0.25])
JACK_V = np.array([0.3, -0.2, -0.4, 0.5, 0.9, -0.3, 0.7, -1.1])


def systems() -> Iterator[tuple[str, System]]:
    """Every law on every ground, with names."""
    robot = jack()
    tip = {"point": (0.0, 0.0, -0.3)}
    capsule = {"point": (0.0, 0.0, -0.3), "end": (0.0, 0.0, -0.1), "radius": 0.03, "samples": 3}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("easydyn point on plane", {"normal": EASYDYN, **tip}),
        ("easydyn powers", {"normal": EasyDynNormal(5e4, 4e3, 1.5, 1.2), "friction": COULOMB, **tip}),
        ("hertz sphere on slope", {"normal": HERTZ, "friction": COULOMB, "radius": 0.04, "ground": TILTED, **tip}),
        ("easydyn capsule on plane", {"normal": EASYDYN, "friction": COULOMB, **capsule}),
        ("hertz capsule on hills", {"normal": HERTZ, "friction": COULOMB, "ground": HILLS, **capsule}),
        ("easydyn sphere on grid", {"normal": EASYDYN, "friction": COULOMB, "ground": GRID, "radius": 0.05, **tip}),
        ("anchored point on plane", {"normal": EASYDYN, "friction": ANCHOR, **tip}),
        ("anchored sphere on slope", {"normal": HERTZ, "friction": ANCHOR, "radius": 0.04, "ground": TILTED, **tip}),
        ("anchored point on hills", {"normal": EASYDYN, "friction": ANCHOR, "ground": HILLS, **tip}),
    ]
    for name, data in rows:
        yield name, System(robot, (Contact("foot", "left", **data), Contact("other", "right", **data)))
    limbs = PairContact(
        "limbs", "left", "right", HERTZ, 0.11, 0.12, COULOMB, (0, 0, -0.3), (0, 0, -0.3), (0, 0, -0.05), (0, 0, -0.1)
    )
    yield "capsules of two limbs", System(robot, (limbs,))
    post = PairContact("post", "world", "trunk", EASYDYN, 0.2, 0.08, COULOMB, (0.0, 0.0, 0.1), end_b=(0.1, 0.1, 0.0))
    yield "sphere of the world and capsule", System(robot, (post,))
    spheres = PairContact("spheres", "left", "right", HERTZ, 0.11, 0.12, COULOMB, (0, 0, -0.2), (0, 0, -0.2))
    yield "spheres", System(robot, (spheres,))


def runner(m: float, k: float, length: float, angle: float) -> System:
    """The spring-mass runner: a leg that meets the ground at an angle [rad]."""
    leg = SpringLeg("leg", "block", k, length, (float(np.cos(angle)), 0.0, -float(np.sin(angle))))
    return System(particle(m, "runner"), (leg,))
