"""How far a contact is from the ground: a lower bound that costs little, however many points may touch.

A box around all touching points, in the axes of the link, with center c and half edges e, is above a plane with the
unit normal n by at least

    height(c) - sum_k e_k |n_k|,        n in the axes of the link

and exactly so where a corner of the box is a touching point. Above the ground a soft contact has no force, stores no
energy and loses none (`normal_forces`), so that it may be left out there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import S, absolute
from kinemorph.mechanics.elements.contact.contacts import ContactLaw
from kinemorph.mechanics.elements.contact.grounds import surface
from kinemorph.mechanics.elements.contact.touching_points import Spot, spots
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, Stiff
from kinemorph.model.elements.contact.contact_laws import Anchor
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.parameter import parameters_of
from kinemorph.model.topology import WORLD


class DistantContactLaw(ContactLaw):
    """The law of a contact while it is above the ground: it publishes its signals, and has no force."""

    def effort(self, element: Contact, view: ElementView) -> Effort:
        return Effort()

    def stiff(self, element: Contact, view: ElementView) -> Stiff:
        return Stiff()


def has_clearance(element: Any, law: Any) -> bool:
    """Whether an element is a soft contact with a plane in the world whose clearance is known, and without memory."""
    return (
        type(law) is ContactLaw
        and isinstance(element.ground, Plane)
        and element.ground.on == WORLD
        and not isinstance(element.friction, Anchor)
        and not parameters_of((element.ground, element.shape, element.point, element.radius, element.end))
    )


def clearance(element: Contact, view: ElementView) -> S:
    """A lower bound [m] of the heights of all touching points of a contact over its plane."""
    motions = view.instant.motions
    at = motions.attachment(element.body)
    low, high = bounds([spot.moved(at.pose) for spot in spots(element)])
    center = motions.point(at.link, (0.5 * (low + high)).tolist())
    height, normal = surface(element.ground)(center.position)
    for half, part in zip((0.5 * (high - low)).tolist(), center.into(normal), strict=True):
        height = height - half * absolute(part)
    return height


def bounds(found: list[Spot]) -> tuple[Array, Array]:
    """The lowest and the highest corner [m], (3,) each, of a box around touching points."""
    lows, highs = [], []
    for spot in found:
        places = np.array(spot.corners or (spot.center,), dtype=float)
        reach = np.array([math.hypot(*(float(axis[k]) for axis in spot.axes)) for k in range(3)]) + float(spot.radius)
        lows.append(places.min(axis=0) - reach)
        highs.append(places.max(axis=0) + reach)
    return np.min(lows, axis=0), np.max(highs, axis=0)
