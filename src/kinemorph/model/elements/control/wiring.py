"""How elements that control are wired: names and numbers, one for all channels or one each.

A controller has a channel for each thing that it drives: a joint, an actuator or a motor by name. What it reads is a
signal: "q.hip", "v.hip", an encoder's name. `joints` is short for both: it reads "q.hip" and drives "hip".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from kinemorph.errors import ModelError, Problem
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Value

# one or several may be given; what an element holds are tuples
Names: TypeAlias = str | tuple[str, ...]
Numbers: TypeAlias = Value | tuple[Value, ...]  # one for all channels, or one for each
Targets: TypeAlias = Value | str | tuple[Value | str, ...]  # numbers or signals, one for all channels or one for each
Starts: TypeAlias = str | Mapping[str, float] | tuple[str | tuple[str, float], ...]  # names of numbers that are kept,
# and what they begin with


def as_names(element: Any, *fields: str) -> None:
    """Lets fields of names be given as one name or as any sequence of them."""
    for name in fields:
        given = getattr(element, name)
        several = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
        object.__setattr__(element, name, tuple(given) if several else (given,))  # checks report what is not a name


def as_numbers(element: Any, *fields: str) -> None:
    """Lets fields of numbers (or signals) be given as one or as any sequence of them."""
    for name in fields:
        given = getattr(element, name)
        several = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
        values = tuple(given) if several else (given,)
        plain = tuple(float(x) if isinstance(x, (int, float, np.number)) else x for x in values)
        object.__setattr__(element, name, plain)


def as_starts(element: Any, *fields: str) -> None:
    """Lets numbers that are kept be given as {name: start}, as pairs, or as names alone, which begin with 0."""
    for name in fields:
        given = getattr(element, name)
        pairs = given.items() if isinstance(given, Mapping) else [given] if isinstance(given, str) else given
        try:
            starts = tuple((pair, 0.0) if isinstance(pair, str) else (str(pair[0]), float(pair[1])) for pair in pairs)
        except (TypeError, ValueError, IndexError):
            what = f"{name} is {short(given)}; expected names, each with the number that it begins with"
            raise ModelError(Problem("element", element.name, what, 'Write {"count": 0.0}.', name)) from None
        object.__setattr__(element, name, starts)


def driven(element: Any) -> tuple[str, ...]:
    """What each channel drives."""
    names: tuple[str, ...] = element.drives or getattr(element, "joints", ())
    return names


def measured(element: Any) -> tuple[str, ...]:
    """The signal that each channel reads."""
    names: tuple[str, ...] = getattr(element, "reads", ()) or tuple(f"q.{joint}" for joint in element.joints)
    return names


def channel_names(element: Any) -> tuple[str, ...]:
    """What its signals are called: one like the element itself, several after joints, or what they drive or read."""
    names = getattr(element, "joints", ()) or element.drives or getattr(element, "reads", ())
    return ("",) if len(names) == 1 else tuple(names)


def below(channel: str, name: str) -> str:
    """The name of a number that belongs to a channel."""
    return f"{channel}.{name}" if channel else name
