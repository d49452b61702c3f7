"""Whether data can be pickled for another process: functions in them have to be importable there by name."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.model.robot import Robot


def check_importable(value: Any, owner: str, without: tuple[type, ...] = ()) -> None:
    """Raises UnsupportedError if `value` holds a function that another process cannot import by its name.

    Pickles hold names of functions and not their code. cloudpickle and dill do hold the code; once one of these is
    loaded, nothing is checked. `owner` starts the message; objects of the classes `without` are not looked into.
    """
    if "cloudpickle" in sys.modules or "dill" in sys.modules:
        return
    for law in _functions(value, without, {}):
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


def _functions(value: Any, without: tuple[type, ...], known: dict[int, Any]) -> Iterator[types.FunctionType]:
    """The functions in nested data, laws of the package included; robots have none.

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
    elif is_dataclass(value) and not isinstance(value, (type, Robot, *without)):
        parts = [getattr(value, part.name) for part in fields(value)]
    for part in parts:
        yield from _functions(part, without, known)
