"""Recipes of plants: all data that the programs of a plant are made from, as one text.

Compiled programs are found again by their recipe and by the package's own sources (codegen.storing.recipes). So a
recipe covers everything else that determines them. A plant has no recipe where that is not plain data: where a law is a
Python function, and where an element, a part of it or its law is of a class that does not belong to this package.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from kinemorph.codegen.storing.recipes import written
from kinemorph.plants.loaded_robot import LoadedRobot

PACKAGE = __name__.partition(".")[0]


def recipe_of(loaded: LoadedRobot) -> str | None:
    """The recipe of a robot's plant; None where the robot, an element or a law is not plain data of this package."""
    dynamics, members = loaded.dynamics, loaded.elements.members
    elements = tuple(member.element for member in members)
    laws = tuple(type(member.law) for member in members)
    if type(dynamics).__module__.partition(".")[0] != PACKAGE or not is_packaged(elements):
        return None
    if not all(law.__module__.partition(".")[0] == PACKAGE for law in laws):
        return None
    named = tuple((law.__module__, law.__qualname__) for law in laws)
    acting = (elements, named, loaded.parameters, loaded.added, loaded.locked, loaded.account)
    return written((dynamics.robot, dynamics.formulation, acting, loaded.loops, loaded.dependent))


def is_packaged(value: Any) -> bool:
    """Whether every dataclass in a value, at any depth, belongs to this package, whose sources are part of the key."""
    kind = type(value)
    if isinstance(value, (tuple, list)):
        parts = list(value)
    elif is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    else:
        return True
    known = kind in (tuple, list) or kind.__module__.partition(".")[0] == PACKAGE
    return known and all(map(is_packaged, parts))
