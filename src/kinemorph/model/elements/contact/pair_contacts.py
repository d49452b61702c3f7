"""Contacts between two bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinemorph.model.body import Vector
from kinemorph.model.elements.contact.contact_laws import Coulomb, Normal, Regularized
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class PairContact:
    """A contact between a sphere or capsule of one body and one of another body; a body may be "world".

    `point_a` [m] is the center of a sphere in the axes of `body_a`; with `end_a` [m], `point_a` and `end_a` are the
    ends of a capsule's axis. The same holds for b. The contact is at the nearest points; for parallel capsules, at the
    middle of their overlap.
    """

    name: str
    body_a: str
    body_b: str
    normal: Normal
    radius_a: Value = field(metadata=declaration("length", least=0.0))
    radius_b: Value = field(metadata=declaration("length", least=0.0))
    friction: Regularized | Coulomb | None = None
    point_a: Vector = declared((0.0, 0.0, 0.0), "length")
    point_b: Vector = declared((0.0, 0.0, 0.0), "length")
    end_a: Vector | None = declared(None, "length")
    end_b: Vector | None = declared(None, "length")
