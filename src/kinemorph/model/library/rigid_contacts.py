"""Robots with rigid contacts: a block, a rod and a stack of blocks, a ball, and Newton's cradle, each a System.

Bodies in the vertical x-z plane float with the coordinates x, z [m] and pitch [rad].
"""

from __future__ import annotations

import itertools
import math

from kinemorph.errors import ModelError
from kinemorph.model.body import Body, Vector
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Coulomb, Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.library.walkers.planar import sliding, turning
from kinemorph.model.parameter import Value, evaluate
from kinemorph.model.system import Settings, System

GRAVITY = (0.0, 0.0, -9.81)


def sliding_block(mass: Value = 1.0, slope: float = math.radians(30.0), mu: Value = 0.5) -> System:
    """A block of `mass` [kg] on a `slope` [rad] that falls toward +x, with friction mu; it does not turn.

    Its coordinates x and z are horizontal and vertical.
    """
    builder = RobotBuilder("sliding_block", gravity=GRAVITY)
    builder.add(Body.point("block", mass))
    sliding(builder, "block")
    ground = Plane(normal=(math.sin(slope), 0.0, math.cos(slope)))
    return System(builder.build(), (Contact("foot", "block", Rigid(), Coulomb(mu), ground),))


def standing_block(width: Value = 1.0, height: Value = 3.0, mass: Value = 1.0, mu: Value = 0.8) -> System:
    """A uniform block of `width` and `height` [m] that stands on its lower edges, without restitution, and may rock.

    It starts upright; the pitch is positive from z to x.
    """
    builder = RobotBuilder("standing_block", gravity=GRAVITY)
    builder.add(Body.box("block", mass, (width, 0.5 * width, height)))
    turning(builder, "block")
    feet = [
        Contact(name, "block", Rigid(), Coulomb(mu), point=(0.5 * side * width, 0.0, -0.5 * height))
        for name, side in (("left", -1.0), ("right", 1.0))
    ]
    return System(builder.build(), tuple(feet), Settings(q=(0.0, float(evaluate(height)) / 2.0, 0.0)))


def stacked_blocks(count: int = 3, side: float = 0.2, mass: float = 1.0, mu: Value = 0.5) -> System:
    """A stack of `count` cubes with edges of `side` [m], each on a plane that is the top of the one below."""
    if count < 1:
        raise ModelError(f"stacked_blocks: count is {count}; expected at least 1.")
    builder, feet, start = RobotBuilder("stacked_blocks", gravity=GRAVITY), [], []
    half = side / 2.0
    for k in range(1, count + 1):
        name = f"block{k}"
        builder.add(Body.box(name, mass, (side, side, side)))
        turning(builder, name, f"{name}_")
        ground = Plane() if k == 1 else Plane(point=(0.0, 0.0, half), on=f"block{k - 1}")
        for foot, x in (("left", -half), ("right", half)):
            feet.append(Contact(f"{name}_{foot}", name, Rigid(), Coulomb(mu), ground, point=(x, 0.0, -half)))
        start += [0.0, (k - 0.5) * side, 0.0]
    return System(builder.build(), tuple(feet), Settings(q=tuple(start)))


def falling_rod(
    half: float = 1.0, mass: float = 1.0, mu: Value = 0.3, restitution: float = 0.0, law: str = "energetic"
) -> System:
    """A slender rod of length 2 `half` [m] whose lower end touches the ground: Painleve's rod.

    At pitch 0 it stands upright; its lower end is on the ground at z = half cos(pitch).
    """
    builder = RobotBuilder("falling_rod", gravity=GRAVITY)
    builder.add(Body.rod("rod", mass, 2.0 * half, radius=0.02 * half))
    turning(builder, "rod")
    tip: Vector = (0.0, 0.0, -half)
    contact = Contact("tip", "rod", Rigid(restitution, law), Coulomb(mu), point=tip)  # type: ignore[arg-type]
    return System(builder.build(), (contact,), Settings(q=(0.0, half, 0.0)))


# ── balls ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def rigid_ball(
    radius: float = 0.1, mass: float = 1.0, mu: float = 0.3, restitution: float = 0.8, height: float = 1.0
) -> System:
    """A uniform ball that floats freely over the ground, `height` [m] above it at the start."""
    builder = RobotBuilder("rigid_ball", gravity=GRAVITY).add(Body.sphere("ball", mass, radius))
    builder.joint("free", "free", "world", "ball")
    contact = Contact("ground", "ball", Rigid(restitution), Coulomb(mu), radius=radius)
    q = (0.0, 0.0, radius + height, 1.0, 0.0, 0.0, 0.0)
    return System(builder.build(), (contact,), Settings(q=q))


def cradle(count: int = 3, radius: float = 0.05, length: float = 0.5, *, in_sequence: bool = True) -> System:
    """Newton's cradle: `count` balls of 1 kg on massless rods of `length` [m] in the x-z plane; they hang and touch.

    All impacts are elastic. Where balls collide at the same instant they are hit one after the other (`in_sequence`),
    which gives the motion of the toy, or all at once.
    """
    if count < 2:
        raise ModelError(f"cradle: count is {count}; expected at least 2 balls.")
    builder, touching = RobotBuilder("cradle", gravity=GRAVITY), []
    names = [f"ball{k}" for k in range(1, count + 1)]
    hanging = (0.0, 0.0, -length)
    for k, name in enumerate(names):
        builder.add(Body.point(name, 1.0, hanging, radius=radius))
        builder.joint(f"q{k + 1}", "revolute", "world", name, translation=(2.0 * radius * k, 0.0, 0.0), axis=(0, -1, 0))
    law = Rigid(1.0, "newton", in_sequence)
    for a, b in itertools.pairwise(names):
        pair = PairContact(f"{a}_{b}", b, a, law, radius, radius, point_a=hanging, point_b=hanging)
        touching.append(pair)
    return System(builder.build(), tuple(touching))
