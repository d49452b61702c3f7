"""Conditions: parts that apply only to items in which other parts have certain values.

    when={"phase_lag": {"gait": "wave"}}                    only the wave has a phase lag
    when={"damping": {"foot": ["soft", "medium"]}}          one of several values
    when={"b": {"a": 1.0, "c": "on"}}                       all conditions have to hold

Where a part does not apply, the parts whose conditions name it do not apply either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.studies.items import Value
from kinemorph.studies.spaces.parts import Part, known_value, label_of

Conditions = Mapping[str, Mapping[str, tuple[Value, ...]]]  # values of other parts, by part


def known_conditions(when: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, tuple[Value, ...]]]:
    """Conditions as they were given, with values as items have them, and a tuple for a single value."""
    return {
        name: {
            other: tuple(map(known_value, values if isinstance(values, (list, tuple, set, frozenset)) else [values]))
            for other, values in needed.items()
        }
        for name, needed in when.items()
    }


def in_order(names: list[str], conditions: Conditions) -> list[str]:
    """The names in an order in which each comes after the parts of its condition, and as given otherwise.

    Parts whose conditions form a circle are left out.
    """
    placed: list[str] = []
    waiting = list(names)
    while waiting:
        ready = next((name for name in waiting if all(other in placed for other in conditions.get(name, ()))), None)
        if ready is None:
            break
        placed.append(ready)
        waiting.remove(ready)
    return placed


def column_values(part: Part, values: tuple[Value, ...]) -> npt.NDArray[Any]:
    """The values of a part that a condition names, as they are in columns: numbers, or indices of labels."""
    if part.labels:
        return np.array([part.labels.index(label_of(value)) for value in values], dtype=np.int64)
    return np.array(values, dtype=float)


def where_applicable(
    parts: Mapping[str, Part], conditions: Conditions, values: Mapping[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """The values of parts for n items, with NaN or -1 where a part does not apply."""
    found: dict[str, npt.NDArray[Any]] = {}
    for name in in_order(list(parts), conditions):
        found[name] = values[name]
        for other, needed in conditions.get(name, {}).items():
            missing = -1 if parts[name].labels else np.nan
            holds = np.isin(found[other], column_values(parts[other], needed))
            found[name] = np.where(holds, found[name], missing)
    return found
