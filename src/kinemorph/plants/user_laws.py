"""User laws: functions over any scalar type, whose arguments are named after what they read, `lambda t, q: [...]`."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.plants.instant import Instant
from kinemorph.words import counted

Law = Callable[..., Any]

GROUPS = Instant._fields  # the names that arguments of a law may have
LEVEL = 7  # the level of dual numbers in plants, above those that laws may use


@dataclass(frozen=True)
class Column:
    """The name and the unit ("" for none) of one variable of a plant, or of one column of a run."""

    name: str
    unit: str = ""


def check_importable(value: Any, owner: str) -> None:
    """Raises UnsupportedError if `value` holds a function that another process cannot import by its name.

    Pickles hold names of functions and not their code. cloudpickle and dill do hold the code; once one of these is
    loaded, nothing is checked. `owner` starts the message.
    """
    if "cloudpickle" in sys.modules or "dill" in sys.modules:
        return
    for law in _functions(value, {}):
        found: Any = sys.modules.get(law.__module__)
        for name in law.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is not law:
            where = f"{law.__code__.co_filename}, line {law.__code__.co_firstlineno}"
            raise UnsupportedError(
                f"{owner} cannot be pickled for another process: its function '{law.__qualname__}' ({where}) cannot be "
                "imported there by name. Define it with `def` at the top level of a module, pickle with cloudpickle, "
                "or send the results as numbers or files (run.save)."
            )


def _functions(value: Any, known: dict[int, Any]) -> Iterator[types.FunctionType]:
    """The functions in nested data, laws of the package included; derived robots, which have none, are left out.

    `known` holds the data that were looked into, as many laws refer to the same data.
    """
    if id(value) in known:
        return
    known[id(value)] = value
    parts: Iterable[Any] = ()
    if isinstance(value, types.FunctionType):
        yield value
    elif isinstance(value, functools.partial):
        parts = (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, types.MethodType):
        parts = (value.__self__,)
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, (tuple, list)):
        parts = value
    elif is_dataclass(value) and not isinstance(value, (type, Dynamics, Robot)):
        parts = [getattr(value, part.name) for part in fields(value)]
    for part in parts:
        yield from _functions(part, known)


def columns(units: Mapping[str, str] | None) -> tuple[Column, ...]:
    """Columns from a dict of units by name; an empty tuple for None."""
    if units is not None and not isinstance(units, Mapping):
        raise ModelError(f"names are given as {units!r}; expected a dict of units by name, such as {{'place': 'm'}}.")
    return tuple(Column(*item) for item in (units or {}).items())


def split(s: Sequence[Any], nv: int) -> tuple[Any, Any, Any]:
    """The parts w (nv,), v (nv,) and x (nx,) of s = [w, v, x]."""
    return s[:nv], s[nv : 2 * nv], s[2 * nv :]


def of_groups(law: Law, given: Mapping[str, Any], what: str) -> Any:
    """The value of a law at the values `given` by name; each argument of the law gets the value that it is named after.

    `what` names the law in messages.
    """
    try:
        names = list(inspect.signature(law).parameters)
    except (TypeError, ValueError):
        raise ModelError(f"law {what}: {law!r} is given; expected a function of some of {', '.join(GROUPS)}.") from None
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
        raise ShapeError(f"law '{key}' returns {found}; expected one. Give a law for each number.")
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
