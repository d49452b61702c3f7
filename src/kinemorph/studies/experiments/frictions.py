"""Friction of contacts as numbers that a study varies: `NAME.mu` of a contact or a body, `ground.mu` of all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import Any

from kinemorph.model.elements.contact.contact_laws import Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.parameter import Parameter, parameters_of
from kinemorph.model.system import System

ENDING = ".mu"
ALL = "ground"  # of all contacts that have friction and no name of their own in the study


def names_friction(name: str) -> bool:
    """Whether the name of a part may be that of a friction coefficient."""
    return name.endswith(ENDING)


def with_frictions(system: System, names: Iterable[str]) -> System:
    """The system with Parameters of these names as friction coefficients of its contacts.

    `NAME.mu` is that of the contact of this name and of all contacts of the body of this name, `ground.mu` that of all
    others. Coefficients that are formulas keep them; those of rigid contacts are parameters of every plant already.
    """
    known = {parameter.name for parameter in parameters_of(system.elements)}
    wanted = {name.removesuffix(ENDING): name for name in names if names_friction(name) and name not in known}
    if any(element.name == ALL and not isinstance(element, Contact) for element in system.elements):
        wanted.pop(ALL, None)
    return replace(system, elements=tuple(_varied(element, wanted) for element in system.elements))


def _varied(element: Any, wanted: dict[str, str]) -> Any:
    """A contact with its friction coefficient as a Parameter if its name is wanted; other elements as they are."""
    if not isinstance(element, Contact) or not isinstance(element.friction, Regularized):
        return element
    now = element.friction.coefficient
    name = wanted.get(element.name) or wanted.get(element.body) or wanted.get(ALL)
    if name is None or not isinstance(now, Real):
        return element
    return replace(element, friction=replace(element.friction, coefficient=Parameter(name, float(now))))
