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

    `point` [m] is in the axes of `body`, any body or frame. With a `radius` it is the center of a sphere; with an `end`
    [m] as well, the two are the ends of a capsule's axis. A capsule touches with `samples` spheres in a row: against a
    plane its two ends say all; over terrain give as many as leave less than a radius between them.

    `normal` and `friction` (none: smooth) act at each sphere's deepest point.
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
