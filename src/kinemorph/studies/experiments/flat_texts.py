"""Data as readable text with one line for each fact, such as "bodies.rod.mass = 1.2".

Two processes write the same text for the same data: it has no addresses, and sets are sorted. A difference of two texts
names what changed. Functions, classes and modules of the user count by their source and by all that they reach
(`reached`); each is written once, where it is first met.
"""

from __future__ import annotations

import hashlib
import os
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain
from typing import Any

import numpy as np

from kinemorph.mechanics.elements.law import registered_law
from kinemorph.model.elements.control.c_functions import CController
from kinemorph.model.parameter import Coordinate, Formula, Parameter, Value, worked_out
from kinemorph.plants.programs import Plant
from kinemorph.simulation.files.batch_record import record_of_batch
from kinemorph.simulation.files.run_record import record_of
from kinemorph.simulation.results.batch_run import BatchRun
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.experiments.code_parts import (
    Parts,
    c_files,
    code_parts,
    of_package,
    outside_text,
    state_of,
)
from kinemorph.studies.experiments.origins import FileContent, file_text, is_own
from kinemorph.studies.experiments.reached import Whole
from kinemorph.vocabulary.frozen_array import FrozenArray

FEW = 12  # numbers of an array that are written out; larger ones are known by their digest
LOOKS = ("color", "symbol")  # fields that determine how something is shown, and no result
CHANGING = ("random", "numpy.random", "weakref", "_weakref")  # modules of objects that are no data
PLAIN = (bool, int, float, str, complex)
HOLDERS = (tuple, list, Mapping, set, frozenset)
DEEP = 40  # levels of data, after which what follows is written separately


def flat_text(value: object, missed: Callable[[str], None] = lambda what: None) -> str:
    """The text of any data, one line for each fact; None and empty data are left out.

    `missed` takes the names of what code of the user reaches and cannot be followed.
    """
    return "\n".join(_Writing(missed).text(value))


class _Writing:
    """A text that is being written. Code that the text names is written after it, each piece once, under its name."""

    def __init__(self, missed: Callable[[str], None]) -> None:
        self.missed = missed
        self.names: dict[Any, str] = {}
        self.uses: Counter[str] = Counter()
        self.waiting: list[tuple[str, Any]] = []  # names and things; these stay alive, so that no other has their id

    def text(self, value: Any) -> Iterator[str]:
        """The lines of a value and of all code that it reaches."""
        self._name(value)
        self.waiting[:1] = [("", value)]
        for name, thing in self.waiting:  # which grows
            yield from self._lines(thing, name, ())

    def _name(self, value: Any) -> str:
        """The name under which code is written; that of data is the name of its class."""
        key = value if isinstance(value, Whole) else id(value)
        if key not in self.names:
            named = value if isinstance(value, (types.FunctionType, type)) else type(value)
            name = f"module {value}" if isinstance(value, Whole) else str(named.__qualname__)
            self.uses[name] += 1
            name += f" {self.uses[name]}" if self.uses[name] > 1 else ""
            self.names[key] = name
            self.waiting.append((name, value))
        return self.names[key]

    def _lines(self, value: Any, path: str, inside: tuple[int, ...]) -> Iterator[str]:
        """The lines of a value; `inside` are the ids of the data that contain it."""
        if isinstance(value, types.ModuleType) and is_own(value.__name__):
            value = Whole(value.__name__)
        text = _short(value)
        is_code = isinstance(value, (types.FunctionType, type, Whole))
        if text is not None:
            if text:
                yield f"{path} = {text}" if path else text
        elif value is None or (isinstance(value, HOLDERS) and not value):
            return
        elif id(value) in inside:
            yield f"{path} = (the same again)"
        elif inside and (is_code or (len(inside) > DEEP and not isinstance(value, HOLDERS))):
            yield f"{path} = {self._name(value)}"
        else:
            within = (*inside, id(value))
            head, parts = _parts(value, self.missed)
            if head:
                yield f"{path} = {head}" if path else head
            by_name = isinstance(value, (tuple, list)) and not hasattr(value, "_fields")
            for name, part in parts:
                place = f"{path}.{name}" if path else name
                known = f"{place}.name = {name!r}" if by_name else None  # the name is in the place already
                yield from (line for line in self._lines(part, place, within) if line != known)


def _short(value: Any, levels: int = 4) -> str | None:
    """The text of a value that takes one line; None for others, and for objects of the user's classes.

    Tuples and lists take one line up to so many levels.
    """
    if isinstance(value, (Parameter, Formula)):
        return _formula(value)
    if isinstance(value, FileContent):
        return file_text(value)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, FrozenArray):
        return f"{_sizes(value.shape)} numbers {value.digest[:16]}"
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, (types.FunctionType, type, types.ModuleType, types.BuiltinFunctionType)):
        return outside_text(value)
    if isinstance(value, np.ufunc):
        return f"function {value.__name__}"
    if isinstance(value, Whole) or is_own(type(value).__module__):
        return None
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, (bytes, bytearray)):
        return repr(value) if len(value) <= FEW else f"{len(value)} bytes {hashlib.sha256(value).hexdigest()[:16]}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        if value.size <= FEW:
            return f"array {value.tolist()!r}"
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"{_sizes(value.shape)} {value.dtype} {digest[:16]}"
    if isinstance(value, (set, frozenset)) and value:
        return "{" + ", ".join(sorted(map(_line, value))) + "}"
    if isinstance(value, (tuple, list)) and value and levels and not hasattr(value, "_fields"):
        is_few = len(value) <= FEW
        texts = [_short(entry, levels - 1) if is_few or not isinstance(entry, str) else None for entry in value]
        if all(text is not None and len(text) < 40 for text in texts):
            return f"({', '.join(map(str, texts))})"
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


def _parts(value: Any, missed: Callable[[str], None]) -> Parts:
    """(what the value is, its parts by name)."""
    code = code_parts(value, missed)
    if code is not None:
        return code
    head, parts = _data_parts(value, missed)
    return head, chain(parts, state_of(value) if is_own(type(value).__module__) else (), _behind(value, missed))


def _data_parts(value: Any, missed: Callable[[str], None]) -> Parts:
    """What data are, and their parts, without those that only objects of the user's classes have."""
    kind = type(value)
    whole = f"{kind.__module__}.{kind.__qualname__}{of_package(kind.__module__)}"
    if kind.__module__.startswith(CHANGING):
        missed(f"an object {whole}, which changes while it is used")
        return whole, iter(())
    if isinstance(value, Mapping):
        named = ((key if isinstance(key, str) else _line(key), one) for key, one in value.items())
        return "", iter(sorted(named, key=lambda pair: pair[0]))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind.__qualname__, zip(value._fields, value, strict=True)
    if isinstance(value, (tuple, list)):
        names = [getattr(entry, "name", None) for entry in value]
        is_named = len({*names}) == len(names) and all(isinstance(name, str) for name in names)
        return "", zip(names if is_named else map(str, range(len(names))), value, strict=True)  # type: ignore[arg-type]
    if isinstance(value, np.ndarray):
        entries = value.tolist() if value.dtype == object else np.asarray(value)
        return kind.__qualname__, iter([("entries", entries)])
    if isinstance(value, Plant):
        return kind.__qualname__, iter(plant_facts(value).items())
    if isinstance(value, (Trajectory, BatchRun)):  # without the times that they took
        record = record_of(value) if isinstance(value, Trajectory) else record_of_batch(value)
        return kind.__qualname__, iter(record._asdict().items())
    if is_own(kind.__module__):
        plain = next((one for one in (*PLAIN, set, frozenset) if isinstance(value, one)), None)
        return kind.__qualname__, iter([("value", plain(value))] if plain else [])
    if is_dataclass(value):
        held = ((field.name, getattr(value, field.name)) for field in fields(value) if field.compare or not _eq(value))
        shown = ((name, part) for name, part in held if name[0] != "_" and name not in LOOKS)
        return kind.__qualname__, (pair for pair in shown if not (isinstance(pair[1], str) and not pair[1]))
    return whole, _reduced(value)


def _line(value: Any) -> str:
    return flat_text(value).replace("\n", "; ")


def plant_facts(plant: Plant) -> dict[str, Any]:
    """A plant: its model and start; and its laws, where these are not made of plain data."""
    facts: dict[str, Any] = {"robot": plant.robot, "elements": plant.elements, "automaton": plant.automaton}
    facts |= {group: getattr(plant, group) for group in ("q", "v", "x", "u", "p", "start", "locked", "loops")}
    return facts if plant.recipe is not None else {**facts, "laws": plant.laws, "outputs": plant.outputs}


def _behind(value: Any, missed: Callable[[str], None]) -> Iterator[tuple[str, Any]]:
    """What acts for an element, besides its data: a law that the user registered, and files of C."""
    law = registered_law(type(value))
    if law is not None and is_own(type(law).__module__):
        yield "law", law
    if isinstance(value, CController):
        yield from c_files(value, missed)


def _reduced(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds as far as it can be packed, which leaves out locks, open files and what is only cached."""
    try:
        made = value.__reduce_ex__(4)
    except Exception:  # what __reduce__ raises
        return
    given, state, *more = (made, None) if isinstance(made, str) else (*made[1:], None)
    yield from (("made of", [one for one in given if one is not type(value)]), ("state", state))
    yield from (("entries", [*part]) for part in more if part)


def _eq(value: Any) -> bool:
    """Whether a dataclass is compared by its fields, so that fields that are not compared do not count."""
    return "__eq__" in {name for kind in type(value).__mro__[:-1] for name in vars(kind)}
