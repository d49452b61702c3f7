"""Assemblies as a list of docked sides.

    (0, 1, 3, 2)                            module m0 and module m1, side 3 of the one on side 2 of the other
    (0, 1, 3, 2, 1)                         the same, by a quarter turn
    ("m0", 3, "m1", 2)                      by names, each with its side
    {"a": "m0", "side_a": 3, "b": "m1", "side_b": 2, "turn": 1, "joint": "revolute"}

What the modules are is said beside it: one kind for all, a text or list with one for each, or a table by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, act, translation
from kinemorph.errors import ModelError, did_you_mean
from kinemorph.model.input_reader import short
from kinemorph.model.modules.assembly import Assembly, Docking, Module, joint_module
from kinemorph.model.modules.matrices import measured_pose
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.model.modules.organism_checks import organism_problems

Places: TypeAlias = Mapping[Any, Any]  # a Pose, a 4x4 matrix, or a point [m]
Kinds: TypeAlias = str | ModuleType | Sequence[str | ModuleType] | Mapping[Any, str | ModuleType]
KEYS = tuple(field.name for field in fields(Docking))
REQUIRED = ("a", "side_a", "b", "side_b")


def listed_assembly(
    rows: Iterable[Any],
    modules: Kinds,
    types: Mapping[str, ModuleType],
    *,
    name: str = "organism",
    base: str | None = None,
    at: Places | None = None,
    planar: bool = False,
    several: bool = False,
) -> Assembly:
    """The assembly of a list of docked sides; raises ModelError with everything that is wrong with it."""
    problems: list[str] = []
    dockings = [made for k, row in enumerate(rows) if (made := docking_of(row, f"row {k + 1}", problems)) is not None]
    if problems:
        raise ModelError(problems)
    named = [name for docking in dockings for name in (docking.a, docking.b)]
    if not named and isinstance(modules, (str, ModuleType)) and not base:
        raise ModelError(f"assembly '{name}': no sides are listed; expected rows such as (0, 1, 3, 2). Add one.")
    found = placed_modules(named, modules, types, at or {}, base)
    return settled(Assembly(name, found, tuple(dockings), base or ""), planar=planar, several=several)


def settled(assembly: Assembly, *, planar: bool = False, several: bool = False) -> Assembly:
    """The assembly, standing on the ground where nobody has placed it; raises ModelError where it is not as asked."""
    problems = organism_problems(assembly, planar=planar, several=several)
    if problems:
        raise ModelError(problems)
    return assembly if any(module.at is not None for module in assembly.modules) else _standing(assembly)


def module_name(name: Any) -> str:
    """The name of a module: a number k stands for "m<k>"."""
    counts = hasattr(name, "__index__") and not isinstance(name, bool)
    if (counts and name < 0) or not (counts or isinstance(name, str)) or name == "":
        raise ModelError(f"a module is called {short(name)}; expected a name, or a number from 0 on.")
    return f"m{int(name)}" if counts else str(name)


def docking_of(row: Any, what: str, problems: list[str]) -> Docking | None:
    """A docking out of a row; None, with a problem, where it is none."""
    if isinstance(row, Docking):
        return row
    if isinstance(row, Mapping):
        unknown = [key for key in row if key not in KEYS]
        missing = [key for key in REQUIRED if key not in row]
        if unknown:
            hint = did_you_mean(unknown[0], KEYS)
            problems.append(f"{what}: key {unknown[0]!r} is unknown; expected {', '.join(KEYS)}.{hint}")
        if missing:
            problems.append(f"{what}: {', '.join(missing)} is missing; expected two modules and their sides. Add it.")
        if unknown or missing:
            return None
        data = dict(row)
    else:
        items = list(row) if isinstance(row, Iterable) and not isinstance(row, str) else []
        if len(items) not in (4, 5):
            problems.append(
                f"{what} is {short(row)}; expected (i, j, side of i, side of j), such as (0, 1, 3, 2). Mend it."
            )
            return None
        by_name = isinstance(items[0], str) and isinstance(items[2], str)
        order = (0, 1, 2, 3) if by_name else (0, 2, 1, 3)
        data = dict(zip(REQUIRED, (items[k] for k in order), strict=True))
        if len(items) == 5:
            data["turn"] = items[4]
    data |= {key: _whole(data[key]) for key in ("side_a", "side_b", "turn") if key in data}
    try:
        data |= {key: module_name(data[key]) for key in ("a", "b")}
        return Docking(**{**data, "joint": joint_module(data.get("joint"))})
    except ModelError as error:
        problems += [f"{what}: {problem}" for problem in error.problems]
        return None


def placed_modules(
    named: Sequence[str], modules: Kinds, types: Mapping[str, ModuleType], at: Places, base: str | None
) -> tuple[Module, ...]:
    """Modules with their kinds: those numbered in their order, then the others as they are named."""
    kinds: dict[str, str | ModuleType] = {}
    per_module: Sequence[str | ModuleType] | None = None
    if isinstance(modules, Mapping):
        kinds = {module_name(key): kind for key, kind in modules.items()}
    elif isinstance(modules, str) and modules not in types and modules not in (k.name for k in types.values()):
        per_module = [*modules]
        if not any(letter in types for letter in per_module):
            problems: list[str] = []
            kind_of(modules, types, "modules", problems)
            raise ModelError(problems)
    elif not isinstance(modules, (str, ModuleType)):
        if not isinstance(modules, Iterable):
            raise ModelError(f"modules is {short(modules)}; expected a letter such as 'B', one for each, or a table.")
        per_module = list(modules)
    if per_module is not None:
        numbered = _ordered(dict.fromkeys(named)) or [f"m{k}" for k in range(len(per_module))]
        numbers = [f"m{k}" for k in range(len(per_module))]
        names = numbers if {*numbered} <= {*numbers} else numbered
        if len(names) != len(per_module):
            raise ModelError(
                f"modules has {len(per_module)} kinds for {len(names)} modules: {', '.join(names[:12])}. Give one "
                "for each, or one for all."
            )
        kinds = dict(zip(names, per_module, strict=True))
    default = modules if isinstance(modules, (str, ModuleType)) and per_module is None else None
    problems = []
    if not isinstance(at, Mapping):
        raise ModelError(f"at is {short(at)}; expected places by the names of modules, such as {{0: (0, 0, 0.1)}}.")
    places = {module_name(key): _place(module_name(key), raw, problems) for key, raw in at.items()}
    found = []
    alone = [base] if base and default is not None and not named else []  # a base is all that is said
    names = _ordered(dict.fromkeys((*named, *kinds, *alone)))
    for name in names:
        kind = kinds.get(name, default)
        if kind is None:
            problems.append(f"module '{name}' has no kind; expected one for each module. Add it to modules.")
            continue
        made = kind if isinstance(kind, ModuleType) else kind_of(kind, types, f"module '{name}'", problems)
        if made is not None:
            found.append(Module(name, made, places.get(name)))
    problems += [
        f"at: there is no module '{name}'; known: {', '.join(names[:12])}.{did_you_mean(name, names)}"
        for name in places
        if name not in names
    ]
    if problems:
        raise ModelError(list(dict.fromkeys(problems)))
    return tuple(found)


def _place(name: str, raw: Any, problems: list[str]) -> Pose | None:
    """A pose in the world, or that of an upright module at a point; None, with a problem, where it is neither."""
    if isinstance(raw, Pose):
        return raw
    if isinstance(raw, (np.ndarray, list, tuple)) and len(raw) == 4:
        return measured_pose(raw, f"at: the place of module '{name}'", problems)
    try:
        x, y, z = (float(value) for value in raw)
    except (TypeError, ValueError):
        problems.append(
            f"at: the place of module '{name}' is {short(raw)}; expected a Pose, a matrix "
            "of 4 rows of 4 numbers, or a point (x, y, z) [m]."
        )
        return None
    if not all(map(math.isfinite, (x, y, z))):
        problems.append(f"at: the place of module '{name}' is {short(raw)}; expected numbers that are finite.")
        return None
    return translation((x, y, z))


def kind_of(word: Any, types: Mapping[str, ModuleType], what: str, problems: list[str]) -> ModuleType | None:
    """A kind of module by its letter or its name; None, with a problem, where there is none."""
    by_name = {kind.name.lower(): kind for kind in types.values()}
    if str(word) in types:
        return types[str(word)]
    if str(word).lower().replace("_", " ") in by_name:
        return by_name[str(word).lower().replace("_", " ")]
    known = ", ".join(f"{letter} ({kind.name})" for letter, kind in types.items())
    hint = did_you_mean(word, by_name)
    problems.append(f"{what}: the kind {word!r} is unknown; known are {known}.{hint or ' Choose one of them.'}")
    return None


def _ordered(names: Iterable[str]) -> list[str]:
    """Numbered names m0, m1, ... in their order, then the others as they come."""
    numbers = {name: int(name[1:]) for name in names if name[:1] == "m" and name[1:].isdecimal()}
    return sorted(names, key=lambda name: (name not in numbers, numbers.get(name, 0)))


def _whole(value: Any) -> Any:
    """Whole numbers as ints, as MATLAB and NumPy write them; anything else as it is, for whoever checks it."""
    whole = hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, bool) else value


def _standing(assembly: Assembly) -> Assembly:
    """With the base over the origin, upright, and the lowest module of its organism on the ground z = 0."""
    poses = assembly.poses()
    lowest = min(
        float(act(poses[name], corner)[2])
        for name in assembly.organisms[0]
        for corner in _corners(assembly.module(name).type)
    )
    place = Pose(IDENTITY.R, (0.0, 0.0, 0.0 - lowest))
    modules = (m if m.name != assembly.base else Module(m.name, m.type, place) for m in assembly.modules)
    return Assembly(assembly.name, tuple(modules), assembly.dockings, assembly.base)


def _corners(kind: ModuleType) -> list[tuple[float, float, float]]:
    x, y, z = (0.5 * float(edge) for edge in kind.size)
    return [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
