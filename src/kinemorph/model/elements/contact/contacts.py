"""Contacts of bodies with the ground."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.contact.contact_laws import Friction, Normal
from kinemorph.model.elements.contact.grounds import Ground, Plane
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class Contact:
    """A point, sphere or capsule of a body that touches the ground.

    `point` [m] is in the axes of `body`, a body or frame. With a `radius` [m] it is the center of a sphere; with an
    `end` [m] too, `point` and `end` are the ends of a capsule's axis. A capsule is replaced by `samples` spheres along
    its axis: for a plane the two at its ends are enough; for terrain use so many that they are less than a radius
    apart.

    The laws `normal` and `friction` (None for no friction) act at the deepest point of each sphere.
    """

    name: str
    body: str
    normal: Normal
    friction: Friction | None = None
    ground: Ground = field(default_factory=Plane)
    point: Vector = field(default=(0.0, 0.0, 0.0), metadata={"kind": "length"})
    radius: Value = field(default=0.0, metadata={"kind": "length"})
    end: Vector | None = field(default=None, metadata={"kind": "length"})
    samples: int = 2
