"""Legs without mass."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class SpringLeg:
    """A spring without mass as a leg: the runner of Blickhan, and of McMahon and Cheng.

    In flight the leg is stretched to its `length` [m] and points along `direction` in the world, of any length, from
    `point` [m] of `body`. Where the foot meets the ground it stays, and the spring pushes with  stiffness (length - l)
    [N] along the line to it, until l is `length` again. Touchdown and liftoff are events.
    """

    name: str
    body: str
    stiffness: Value = field(metadata={"kind": "stiffness"})
    length: Value = field(metadata={"kind": "length"})
    direction: Vector = (0.0, 0.0, -1.0)
    ground: Plane = field(default_factory=Plane)
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
