"""Data as readable text with one line for each fact, such as "bodies.rod.mass = 1.2".

Two processes write the same text for the same data: it has no addresses, and sets are sorted. A difference of two texts
names what changed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain
from typing import Any

import numpy as np

from kinemorph.model.parameter import Coordinate, Formula, Parameter, Value, worked_out
from kinemorph.studies.experiments.source_texts import is_installed, read_values, source_text
from kinemorph.vocabulary.frozen_array import FrozenArray

FEW = 12  # numbers of an array that are written out; larger ones are known by their digest
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
LOOKS = ("color", "symbol")  # fields that determine how something is shown, and no result
INNER = ("__func__", "fget", "func")  # where static and class methods, properties and cached ones have their function
GENERATED = "<string>"  # the file of methods that dataclasses and named tuples write themselves
PLAIN = (bool, int, float, str, complex)


def flat_text(value: object, path: str = "") -> str:
    """The text of any data, one line for each fact; None and empty data are left out."""
    return "\n".join(_lines(value, path, ()))


def _lines(value: Any, path: str, inside: tuple[int, ...]) -> Iterator[str]:
    """The lines of a value; `inside` are the ids of the data that contain it."""
    text = _short(value)
    if text is not None:
        yield f"{path} = {text}" if path else text
    elif value is None or (isinstance(value, (tuple, list, Mapping, set, frozenset)) and not value):
        return
    elif id(value) in inside:
        yield f"{path} = (the same again)"
    else:
        within = (*inside, id(value))
        head, parts = _parts(value)
        if head:
            yield f"{path} = {head}" if path else head
        by_name = isinstance(value, (tuple, list)) and not hasattr(value, "_fields")
        for name, part in parts:
            place = f"{path}.{name}" if path else name
            known = f"{place}.name = {name!r}" if by_name else None  # the name is in the place already
            yield from (line for line in _lines(part, place, within) if line != known)


def _short(value: Any) -> str | None:
    """The text of a value that takes one line; None for others."""
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, (Parameter, Formula)):
        return _formula(value)
    if isinstance(value, FrozenArray):
        return f"{_sizes(value.shape)} numbers {value.digest[:16]}"
    if isinstance(value, np.ndarray):
        if value.size <= FEW:
            return f"array {value.tolist()!r}"
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{_sizes(value.shape)} {value.dtype} {digest[:16]}"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, type) and is_installed(value.__module__):
        return f"class {value.__module__}.{value.__qualname__}"
    if isinstance(value, (set, frozenset)) and value:
        return "{" + ", ".join(sorted(flat_text(entry).replace("\n", "; ") for entry in value)) + "}"
    if isinstance(value, (tuple, list)) and value and not hasattr(value, "_fields"):
        texts = [_short(entry) if not isinstance(entry, str) or len(value) <= FEW else None for entry in value]
        if all(text is not None and len(text) < 40 for text in texts):
            return f"({', '.join(map(str, texts))})"
    if isinstance(value, types.BuiltinFunctionType | np.ufunc):
        return f"function {getattr(value, '__module__', '')}.{value.__name__}"
    if isinstance(value, types.FunctionType) and is_installed(value.__module__):
        return f"function {value.__module__}.{value.__qualname__}"
    return None


def _sizes(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))


def _formula(value: Value) -> str:
    """A parameter with its value, or a formula of parameters."""

    def leaf(number: Value) -> str:
        if isinstance(number, Coordinate):
            return f"coordinate {number.name}"
        if isinstance(number, Parameter):
            return f"parameter {number.name} = {number.value!r}" + (f" {number.unit}" if number.unit else "")
        return repr(float(number))

    if isinstance(value, Formula):
        return str(worked_out(value, leaf, lambda part, args: f"{part.op}({', '.join(args)})"))
    return leaf(value)


def _parts(value: Any) -> tuple[str, Iterator[tuple[str, Any]]]:
    """(what the value is, its parts by name)."""
    if isinstance(value, types.FunctionType):
        return _indented(source_text(value)), read_values(value)
    if isinstance(value, type):
        return f"class {value.__qualname__}", _methods(value)
    if isinstance(value, functools.partial):
        given = {str(k): one for k, one in enumerate(value.args)} | value.keywords
        return "partial", iter({"function": value.func, **given}.items())
    if isinstance(value, types.MethodType):
        return "method", iter({"of": value.__self__, "function": value.__func__}.items())
    if isinstance(value, Mapping):
        return "", iter(sorted(((str(key), one) for key, one in value.items()), key=lambda pair: pair[0]))
    if hasattr(value, "_fields"):
        return type(value).__qualname__, chain(zip(value._fields, value, strict=True), _of_class(value))
    if isinstance(value, (tuple, list)):
        names = [getattr(entry, "name", None) for entry in value]
        named = len({*names}) == len(names) and all(isinstance(name, str) for name in names)
        return "", iter(zip(names if named else map(str, range(len(names))), value, strict=True))  # type: ignore[arg-type]
    if is_dataclass(value):
        held = ((field.name, getattr(value, field.name)) for field in fields(value) if field.compare or not _eq(value))
        shown = ((name, part) for name, part in held if name[0] != "_" and name not in LOOKS and not _is_empty(part))
        return type(value).__qualname__, chain(shown, _of_class(value))
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    own = getattr(value, "__dict__", None)
    if own:
        return kind, chain(sorted((str(name), part) for name, part in own.items()), _of_class(value))
    plain = repr(value)
    return (kind if ADDRESS.search(plain) else f"{kind} {plain}"), _of_class(value)


def _of_class(value: Any) -> Iterator[tuple[str, Any]]:
    """The class of an object, where it is one of the user, whose methods may compute something else one day."""
    kind = type(value)
    if not is_installed(kind.__module__):
        yield "class", kind


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """What determines what objects of a class do: its methods, its plain data, and the classes it is made from."""
    for name, part in vars(kind).items():
        made = next((inner for inner in (getattr(part, key, None) for key in INNER) if inner is not None), part)
        is_method = isinstance(made, types.FunctionType) and made.__code__.co_filename != GENERATED
        if is_method or (isinstance(made, PLAIN) and not name.startswith("__")):
            yield name, made
    yield from ((f"base {base.__name__}", base) for base in kind.__bases__ if not is_installed(base.__module__))


def _is_empty(part: Any) -> bool:
    """Whether a field is an empty text. Other types are not compared: an array would compare its elements."""
    return isinstance(part, str) and not part


def _eq(value: Any) -> bool:
    """Whether a dataclass is compared by its fields, so that fields that are not compared do not count."""
    return "__eq__" in {name for kind in type(value).__mro__[:-1] for name in vars(kind)}


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")
