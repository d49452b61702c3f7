"""Robots from files have a contact for each of their shapes: those of one link act as one.

The touching points of such a robot are hundreds, of which few touch at a time. As one contact of a link they are the
rows of a few tables, whose formulas are compiled once, and whose gates leave out what is above the ground
(`mechanics.steps.gates`). Each contact still publishes its own signals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinemorph.frozen import kept_with
from kinemorph.mechanics.elements.contact.contacts import ContactLaw, JoinedContactLaw, SilentContactLaw
from kinemorph.mechanics.elements.contact.normal_forces import normal_form
from kinemorph.mechanics.elements.contact.touching_points import spots
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.contact.contact_laws import Anchor
from kinemorph.model.parameter import parameters_of
from kinemorph.plants.loaded_robot import LoadedRobot

MANY = 32  # touching points of a robot: with fewer, each has its own code, and similar limbs run side by side


def joined(loaded: LoadedRobot) -> LoadedRobot:
    """The robot in which contacts of one link that differ in numbers only are one; itself where it has few points."""
    return _joined(loaded) or loaded


@kept_with
def _joined(loaded: LoadedRobot) -> LoadedRobot | None:
    """The robot with joined contacts; None where it has few points, or where limbs run side by side already."""
    members, phases = list(loaded.elements.members), loaded.elements.acts_in
    able = [index for index, member in enumerate(members) if _is_plain(*member[:2])]
    if loaded.limb_of or sum(len(spots(members[index].element)) for index in able) < MANY:
        return None
    places, alike = resolve(loaded.dynamics.robot).attachments, dict[Any, list[int]]()
    for index in able:
        one = members[index].element
        key = (places[one.body].link, one.ground, normal_form(one.normal), type(one.friction), phases[index])
        alike.setdefault(key, []).append(index)
    for first, *others in alike.values():
        law = JoinedContactLaw(tuple(members[index].element for index in others))
        members[first] = members[first]._replace(law=law)
        for index in others:
            members[index] = members[index]._replace(law=SilentContactLaw())
    return replace(loaded, elements=replace(loaded.elements, members=tuple(members)))


def _is_plain(element: Any, law: Any) -> bool:
    """Whether an element is a soft contact without memory, whose numbers are known."""
    return type(law) is ContactLaw and not isinstance(element.friction, Anchor) and not parameters_of(element)
