"""Recipes of plants: all data that the programs of a plant are made from, as one text.

Compiled programs are found again by their recipe and by the package's own sources (codegen.storing.recipes). So a
recipe covers everything else that determines them. A plant has no recipe where that is not plain data: where a law is a
Python function, and where an element, a part of it or its law is of a class that does not belong to this package.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kinemorph.codegen.storing.recipes import written
from kinemorph.model.parameter import Parameter
from kinemorph.plants.loaded_robot import LoadedRobot

PACKAGE = __name__.partition(".")[0]


def recipe_of(loaded: LoadedRobot) -> str | None:
    """The recipe of a robot's plant; None where the robot, an element or a law is not plain data of this package."""
    dynamics, members = loaded.dynamics, loaded.elements.members
    elements = tuple(_without_values(member.element, loaded.data) for member in members)
    laws = tuple(type(member.law) for member in members)
    if type(dynamics).__module__.partition(".")[0] != PACKAGE or not is_packaged(elements):
        return None
    if not all(law.__module__.partition(".")[0] == PACKAGE for law in laws):
        return None
    named = tuple((law.__module__, law.__qualname__) for law in laws)
    parameters = tuple(_without_values(parameter, loaded.data) for parameter in loaded.parameters)
    acting = (elements, named, parameters, loaded.added, loaded.locked, loaded.account)
    return written((dynamics.robot, dynamics.formulation, acting, loaded.loops, loaded.dependent))


def _without_values(value: Any, names: Collection[str]) -> Any:
    """An element or a part of it, with the value 0 for all parameters with these names."""
    if isinstance(value, Parameter):
        return replace(value, value=0.0) if value.name in names else value
    if not names or not is_dataclass(value) or isinstance(value, type):
        return value
    own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    changed = {name: _without_values(part, names) for name, part in own.items()}
    return replace(value, **changed) if any(changed[name] is not part for name, part in own.items()) else value


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
