"""User laws: functions over any scalar type, whose arguments are named after what they read, `lambda t, q: [...]`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError, ShapeError
from kinemorph.plants.instant import Instant
from kinemorph.words import counted

Law = Callable[..., Any]

GROUPS = Instant._fields  # the names that arguments of a law may have


@dataclass(frozen=True)
class Column:
    """The name and the unit ("" for none) of one variable of a plant, or of one column of a run."""

    name: str
    unit: str = ""

    @property
    def title(self) -> str:
        """The name with the unit, "q.knee [rad]"."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def columns(units: Mapping[str, str] | None) -> tuple[Column, ...]:
    """Columns from a dict of units by name; an empty tuple for None."""
    if units is not None and not isinstance(units, Mapping):
        raise ModelError(f"names are given as {units!r}; expected a dict of units by name, such as {{'place': 'm'}}.")
    return tuple(Column(*item) for item in (units or {}).items())


def split(s: Sequence[Any], nv: int) -> tuple[Any, Any, Any]:
    """The parts of a state s = [w, v, x]: local coordinates w (nv,), velocities v (nv,), further states x (nx,)."""
    return s[:nv], s[nv : 2 * nv], s[2 * nv :]


def of_groups(law: Law, given: Mapping[str, Any], what: str) -> Any:
    """The value of a law at the values `given` by name; each argument of the law gets the value that it is named after.

    `what` names the law in messages.
    """
    try:
        names = list(inspect.signature(law).parameters)
    except (TypeError, ValueError):
        raise ModelError(
            f"law {what} is {law!r}; expected a function whose arguments are some of {', '.join(GROUPS)}."
        ) from None
    for name in names:
        if name not in given:
            listed = ", ".join(given)
            raise ModelError(
                f"law {what} has an argument '{name}'; expected some of {listed}. Name each argument after the values "
                "that it reads."
            )
    return law(*(given[name] for name in names))


def one_number(value: Any, key: str) -> Any:
    """The value of the law `key`, which has to be one number; raises ShapeError where it is a sequence."""
    if isinstance(value, (list, tuple, np.ndarray)):
        found = counted(len(value), "number")
        raise ShapeError(f"law '{key}' returns {found}; expected one number. Give a separate law for each number.")
    return value


def checked_length(values: Any, length: int, what: str) -> list[Any]:
    """The value of a law as a list; raises ShapeError where it is not a sequence of `length` numbers."""
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != length:
        is_list = isinstance(values, (list, tuple, np.ndarray))
        found = counted(len(values), "number") if is_list else repr(values)
        hint = (
            " The arguments of a law are lists: convert them, np.asarray(q), to calculate with arrays."
            if isinstance(values, list) and len(values) % max(length, 1) == 0
            else ""
        )
        raise ShapeError(f"{what} returns {found}; expected a list of {counted(length, 'number')}.{hint}")
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def completed(values: Array, defaults: Array, optional: int) -> Array:
    """Values (..., n) in order; where the last `optional` of them are left out, these are the `defaults` (n,)."""
    short = len(defaults) - optional
    if not optional or values.shape[-1:] != (short,):
        return values
    return np.concatenate([values, np.broadcast_to(defaults[short:], (*values.shape[:-1], optional))], axis=-1)
