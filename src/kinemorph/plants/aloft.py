"""Robots in the air: the same equations without contacts that are above the ground.

A robot from a file has a contact for each of its shapes, often with hundreds of touching points, most of which are far
from the ground most of the time. Where all of them are above it (`near` is 0), the rate is that of a robot without
these contacts, which costs a fraction: an arm over its floor, a drone, a jump.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

from kinemorph.algebra.scalar import less, minimum
from kinemorph.mechanics.elements.contact.clearances import DistantContactLaw, clearance, has_clearance
from kinemorph.mechanics.elements.contact.touching_points import spots
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.loaded_robot import LoadedRobot

MANY = 32  # touching points: with fewer it is not worth asking how far they are from the ground


def without_distant_contacts(loaded: LoadedRobot) -> LoadedRobot | None:
    """The robot while its contacts are above the ground; None where they have few touching points, or parameters."""
    chosen = _left_out(loaded)
    if not chosen:
        return None
    members = tuple(
        member._replace(law=DistantContactLaw()) if index in chosen else member
        for index, member in enumerate(loaded.elements.members)
    )
    return replace(loaded, elements=replace(loaded.elements, members=members))


def near(loaded: LoadedRobot, at: LocalInstant) -> Any:
    """1 where a contact that `without_distant_contacts` leaves out may touch the ground, else 0."""
    now = loaded.instant(at)
    views = loaded.seen(loaded.tree(at.p, at.t), now).views
    heights = [clearance(loaded.elements.members[index].element, views[index]) for index in _left_out(loaded)]
    return less(reduce(minimum, heights), 0.0)


def _left_out(loaded: LoadedRobot) -> list[int]:
    """The indices of contacts that may be left out above the ground; none where they have few touching points."""
    members = [] if loaded.parameters else list(enumerate(loaded.elements.members))
    found = [index for index, member in members if has_clearance(member.element, member.law)]
    count = sum(len(spots(loaded.elements.members[index].element)) for index in found)
    return found if count >= MANY else []
