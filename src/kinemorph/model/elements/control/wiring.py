"""The inputs and outputs of controllers: names and numbers, one for all channels or one for each.

A controller has a channel for each joint, actuator or motor that it drives, given by name. It reads signals, such as
"q.hip", "v.hip" or the name of an encoder. A joint "hip" in `joints` stands for both: the controller reads "q.hip" and
drives "hip".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from kinemorph.errors import ModelError, Problem
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Value

# types of arguments that may be one value or several; the elements store tuples
Names: TypeAlias = str | tuple[str, ...]
Numbers: TypeAlias = Value | tuple[Value, ...]  # one for all channels, or one for each
Targets: TypeAlias = Value | str | tuple[Value | str, ...]  # numbers or signals, one for all channels or one for each
Starts: TypeAlias = str | Mapping[str, float] | tuple[str | tuple[str, float], ...]  # names with initial values


def as_names(element: Any, *fields: str) -> None:
    """Converts these fields of an element, given as one name or a sequence of names, to tuples."""
    for name in fields:
        given = getattr(element, name)
        several = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
        object.__setattr__(element, name, tuple(given) if several else (given,))  # checked later


def as_numbers(element: Any, *fields: str) -> None:
    """Converts these fields of an element, given as one number (or signal) or a sequence, to tuples."""
    for name in fields:
        given = getattr(element, name)
        several = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
        values = tuple(given) if several else (given,)
        plain = tuple(float(x) if isinstance(x, (int, float, np.number)) else x for x in values)
        object.__setattr__(element, name, plain)


def as_starts(element: Any, *fields: str) -> None:
    """Converts these fields of an element to tuples of (name, initial value).

    They may be given as {name: value}, as pairs, or as names alone, which start at 0.
    """
    for name in fields:
        given = getattr(element, name)
        pairs = given.items() if isinstance(given, Mapping) else [given] if isinstance(given, str) else given
        try:
            starts = tuple((pair, 0.0) if isinstance(pair, str) else (str(pair[0]), float(pair[1])) for pair in pairs)
        except (TypeError, ValueError, IndexError):
            what = f"{name} is {short(given)}; expected a dict from names to initial values"
            raise ModelError(Problem("element", element.name, what, 'Write {"count": 0.0}.', name)) from None
        object.__setattr__(element, name, starts)


def driven(element: Any) -> tuple[str, ...]:
    """The names of the joints, actuators or motors that the channels drive."""
    names: tuple[str, ...] = element.drives or getattr(element, "joints", ())
    return names


def measured(element: Any) -> tuple[str, ...]:
    """The signal that each channel reads."""
    names: tuple[str, ...] = getattr(element, "reads", ()) or tuple(f"q.{joint}" for joint in element.joints)
    return names


def channel_names(element: Any) -> tuple[str, ...]:
    """The name of each channel of a control element, which its signals begin with; "" for a single channel.

    It is the joint that the channel acts on; without joints, the target that it drives, or the signal that it reads.
    """
    names = getattr(element, "joints", ()) or element.drives or getattr(element, "reads", ())
    return ("",) if len(names) == 1 else tuple(names)


def choices(element: Any, field: str = "reference") -> list[Any]:
    """The numbers or names of signals in a field, one for each channel.

    For a controller of joints, a name is that of a reference with a path for the joint, or else of a signal: it becomes
    "name.joint|name".
    """
    given, count = getattr(element, field), len(channel_names(element))
    joints = getattr(element, "joints", ()) or ("",) * count
    return [
        f"{target}.{joint}|{target}" if isinstance(target, str) and joint else target
        for target, joint in zip(given * count if len(given) == 1 else given, joints, strict=False)  # checked later
    ]


def below(channel: str, name: str) -> str:
    """The name of a signal with its channel before it: "hip.velocity", or "velocity" for the channel ""."""
    return f"{channel}.{name}" if channel else name
