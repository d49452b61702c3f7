"""Robots of the library given as text on a command line: `puma`, `chain:20`, `pendulum:mass=2,point=no`.

The arguments of the robot's function come after the colon, in order or by name, separated by commas. The numbers of a
list are separated by semicolons: `double_pendulum:lengths=1;0.5`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kinemorph.errors import ModelError
from kinemorph.model.library import LIBRARY, SYSTEMS
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import did_you_mean

CHOICE: dict[str, Callable[..., Robot | System]] = {**LIBRARY, **SYSTEMS}
MOST = 2000  # parts that a robot may be asked to have: more would take minutes to make
WORDS = {"yes": True, "true": True, "no": False, "false": False}


def choose(text: str) -> System:
    """The robot that a text such as "chain:20" names, as a system. Raises ModelError if it cannot be made."""
    name, colon, data = text.partition(":")
    if name not in CHOICE:
        hint = did_you_mean(name, CHOICE)
        raise ModelError(f"there is no robot '{name}'.{hint} Built-in robots: {', '.join(CHOICE)}.")
    factory = CHOICE[name]
    chosen = factory(**_arguments(name, inspect.signature(factory), data)) if colon else factory()
    return chosen if isinstance(chosen, System) else System(chosen)


def signatures() -> dict[str, str]:
    """For every robot of the library, its arguments with their defaults: "n=10, mass=0.1, length=0.1".

    Arguments whose default is None cannot be written after a colon and are left out.
    """
    listed = {}
    for name, factory in CHOICE.items():
        parameters = inspect.signature(factory).parameters.values()
        listed[name] = ", ".join(f"{p.name}={_written(p.default)}" for p in parameters if p.default is not None)
    return listed


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ";".join(f"{x:g}" for x in value) if isinstance(value, tuple) else str(value)


def _arguments(name: str, signature: inspect.Signature, data: str) -> dict[str, Any]:
    """The arguments in the text `data` after the colon, by name; each has the type of its default value."""
    known = signature.parameters
    if not known:
        raise ModelError(f"robot '{name}' takes no arguments after a colon. Write '{name}'.")
    in_order = [p.name for p in known.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    problems: list[str] = []
    arguments: dict[str, Any] = {}
    for place, item in enumerate(data.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            key, value = (in_order[place] if place < len(in_order) else ""), key
        if key not in known:
            problems.append(f"robot '{name}' has no argument '{key or item}'; expected one of: {', '.join(known)}.")
            continue
        try:
            arguments[key] = _read(value, known[key].default)
        except ValueError as error:
            problems.append(f"robot '{name}': {key} is '{value}', expected {error}.")
    if problems:
        raise ModelError(problems)
    return arguments


def _read(text: str, like: Any) -> Any:
    """The value of a text, of the same type as the default `like`. Raises ValueError with what was expected."""
    if isinstance(like, bool):
        if text.lower() not in WORDS:
            raise ValueError("yes, no, true or false")
        return WORDS[text.lower()]
    if isinstance(like, int):
        if not text.isdecimal() or len(text) > 9 or not 0 < int(text) <= MOST:
            raise ValueError(f"a whole number above 0 and at most {MOST}")
        return int(text)
    if isinstance(like, str):
        return text
    try:
        numbers = tuple(float(part) for part in text.split(";"))
    except ValueError:
        raise ValueError(f"a number, such as {_written(like)}") from None
    if isinstance(like, tuple):
        if len(numbers) != len(like):
            raise ValueError(f"{len(like)} numbers separated by semicolons, such as {_written(like)}")
        return numbers
    if len(numbers) != 1:
        raise ValueError("one number")
    return numbers[0]
