"""Contacts of bodies with the ground."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.contact.contact_laws import Friction, Normal
from kinemorph.model.elements.contact.grounds import Ground, Plane
from kinemorph.model.elements.declared import declared
from kinemorph.model.parameter import Value
from kinemorph.model.shapes import Solid


@dataclass(frozen=True)
class Contact:
    """A point, sphere, capsule or any other solid of a body that touches the ground.

    `point` [m] is in the axes of `body`, a body or frame. With a `radius` [m] it is the center of a sphere; with an
    `end` [m] too, `point` and `end` are the ends of a capsule's axis. A capsule is replaced by `samples` spheres along
    its axis: for a plane the two at its ends are enough; for terrain use so many that they are less than a radius
    apart.

    Other solids are given as `shape`, placed in the axes of `body`, instead of these. A box touches with its corners,
    an ellipsoid with its deepest point. The flat ends of cylinders, frustums and half ellipsoids touch with the deepest
    point of their rim and two more, a third of a turn away from it on both sides, so that they roll exactly and stand.
    A mesh touches with its vertices; one of more than 16 with the deepest vertex of each of eight parts.

    The laws `normal` and `friction` (None for no friction) act at every point that touches, each with its full
    stiffness.
    """

    name: str
    body: str
    normal: Normal
    friction: Friction | None = None
    ground: Ground = field(default_factory=Plane)
    point: Vector = declared((0.0, 0.0, 0.0), "length")
    radius: Value = declared(0.0, "length", least=0.0)
    end: Vector | None = declared(None, "length")
    samples: int = 2
    shape: Solid | None = None
