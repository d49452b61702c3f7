"""User laws: functions over any scalar, with arguments that are named after what they read, `lambda t, q: [...]`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.errors import ModelError, ShapeError
from kinemorph.plants.instant import Instant

Law = Callable[..., Any]

GROUPS = Instant._fields  # what a law may read, by the name of its argument
LEVEL = 7  # the level of dual numbers in plants, above those that laws may use


@dataclass(frozen=True)
class Column:
    """A named number with its unit ("" for none)."""

    name: str
    unit: str = ""


def columns(units: Mapping[str, str] | None) -> tuple[Column, ...]:
    """Columns from a dict of units by name."""
    if units is not None and not isinstance(units, Mapping):
        raise ModelError(f"names are given as {units!r}; expected a dict of units by name, as {{'place': 'm'}}.")
    return tuple(Column(*item) for item in (units or {}).items())


def split(s: Sequence[Any], nv: int) -> tuple[Any, Any, Any]:
    """(w, v, x) of s."""
    return s[:nv], s[nv : 2 * nv], s[2 * nv :]


def of_groups(law: Law, given: Mapping[str, Any], what: str) -> Any:
    """The value of a law, with its arguments chosen by their names."""
    try:
        names = list(inspect.signature(law).parameters)
    except (TypeError, ValueError):
        raise ModelError(f"law {what}: {law!r} is given; expected a function of some of {', '.join(GROUPS)}.") from None
    for name in names:
        if name not in given:
            listed = ", ".join(given)
            raise ModelError(
                f"law {what} has an argument '{name}'; expected some of {listed}. Name each after what it reads."
            )
    return law(*(given[name] for name in names))


def one_number(value: Any, key: str) -> Any:
    """The value of a law that has to give one number."""
    if isinstance(value, (list, tuple, np.ndarray)):
        raise ShapeError(f"'{key}' gives {len(value)} numbers; expected one. Name a law for each.")
    return value


def checked_length(values: Any, length: int, what: str) -> list[Any]:
    """The value of a law that has to give a list of that many numbers."""
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != length:
        found = f"{len(values)} numbers" if isinstance(values, (list, tuple, np.ndarray)) else f"{values!r}"
        hint = (
            " What it reads are lists; np.asarray(q) calculates with all of their numbers at once."
            if isinstance(values, list) and len(values) % max(length, 1) == 0
            else ""
        )
        raise ShapeError(f"{what} gives {found}; expected a list of {length}.{hint}")
    return [value.item() if isinstance(value, np.generic) else value for value in values]
