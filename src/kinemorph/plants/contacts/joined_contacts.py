"""Robots from files have a contact for each of their shapes: those of one link act as one.

The touching points of such a robot are hundreds, of which few touch at a time. As one contact of a link they are the
rows of a few tables, whose formulas are compiled once, and whose gates leave out what is above the ground
(`mechanics.steps.gates`). Each contact still publishes its own signals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinemorph.frozen import kept_with
from kinemorph.mechanics.elements.contact.contacts import ContactLaw, JoinedContactLaw, SilentContactLaw
from kinemorph.mechanics.elements.contact.normal_forces import normal_form
from kinemorph.mechanics.elements.contact.touching_points import spots
from kinemorph.model.elements.contact.contact_laws import Anchor
from kinemorph.model.parameter import parameters_of
from kinemorph.model.topology import WORLD
from kinemorph.plants.loaded_robot import LoadedRobot

MANY = 32  # touching points of a robot: with fewer, each has its own code, and similar limbs run side by side


@kept_with
def joined(loaded: LoadedRobot) -> LoadedRobot:
    """The robot in which contacts of one link that differ in numbers only are one; itself where it has few points."""
    alike: dict[Any, list[int]] = {}
    for index, (element, law, *_) in enumerate(loaded.elements.members):
        phases = loaded.elements.acts_in[index]
        if type(law) is ContactLaw and not isinstance(element.friction, Anchor) and not parameters_of(element):
            link = loaded.bare.attachments[element.body].link if element.body != WORLD else WORLD
            key = (link, element.ground, normal_form(element.normal), type(element.friction), phases)
            alike.setdefault(key, []).append(index)
    count = sum(len(spots(loaded.elements.members[k].element)) for group in alike.values() for k in group)
    if count < MANY or loaded.limb_of:
        return loaded
    members, laws = list(loaded.elements.members), _laws(loaded, alike)
    for index, law in laws.items():
        members[index] = members[index]._replace(law=law)
    return replace(loaded, elements=replace(loaded.elements, members=tuple(members)))


def _laws(loaded: LoadedRobot, alike: Mapping[Any, list[int]]) -> dict[int, ContactLaw]:
    """The laws of contacts by their indices: the first of each link acts for all others."""
    laws: dict[int, ContactLaw] = {}
    for first, *others in alike.values():
        laws |= dict.fromkeys(others, SilentContactLaw())
        laws[first] = JoinedContactLaw(tuple(loaded.elements.members[k].element for k in others))
    return laws
