"""Balls with rigid contacts: one on the ground, and Newton's cradle."""

from __future__ import annotations

import itertools

from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Coulomb, Rigid
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.system import Settings, System


def rigid_ball(
    radius: float = 0.1, mass: float = 1.0, mu: float = 0.3, restitution: float = 0.8, height: float = 1.0
) -> System:
    """A uniform ball that floats freely over the ground, `height` [m] above it at the start."""
    builder = RobotBuilder("rigid_ball", gravity=(0.0, 0.0, -9.81)).add(Body.sphere("ball", mass, radius))
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
    builder, touching = RobotBuilder("cradle", gravity=(0.0, 0.0, -9.81)), []
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
