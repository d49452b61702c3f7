"""Assemblies given as a list of docked sides. A row of the list is one of:

    (0, 1, 3, 2)                            side 3 of module m0 is docked to side 2 of module m1
    (0, 1, 3, 2, 1)                         the same, with one quarter turn
    ("m0", 3, "m1", 2)                      each module by name, followed by its side
    {"a": "m0", "side_a": 3, "b": "m1", "side_b": 2, "turn": 1, "joint": "revolute"}

The module types are given separately: one type for all modules, a text or list with one per module, or a dict by name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, act, pose_of, translation
from kinemorph.errors import ModelError, Problem
from kinemorph.model.input_reader import short
from kinemorph.model.modules.assembly import Assembly, Docking, Module, joint_module
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.model.modules.occupancy import organism_problems
from kinemorph.words import counted, did_you_mean, listed

Places: TypeAlias = Mapping[Any, Any]  # a Pose, a 4x4 matrix, or a point [m]
Kinds: TypeAlias = str | ModuleType | Sequence[str | ModuleType] | Mapping[Any, str | ModuleType]
KEYS = tuple(field.name for field in fields(Docking))
REQUIRED = ("a", "side_a", "b", "side_b")
CROOKED = 0.05  # largest accepted difference of an entry of a measured matrix from a rotation


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
    """The assembly given by rows of docked sides. Raises ModelError with all problems. See `assemble`."""
    problems: list[Problem] = []
    dockings = [made for k, row in enumerate(rows) if (made := docking_of(row, f"row {k + 1}", problems)) is not None]
    if problems:
        raise ModelError(problems)
    named = [name for docking in dockings for name in (docking.a, docking.b)]
    if not named and isinstance(modules, (str, ModuleType)) and not base:
        what = "the list of docked sides is empty; expected rows such as (0, 1, 3, 2)"
        raise ModelError(Problem("assembly", name, what, "Add a row."))
    found = placed_modules(named, modules, types, at or {}, base)
    return settled(Assembly(name, found, tuple(dockings), base or ""), planar=planar, several=several)


def settled(assembly: Assembly, *, planar: bool = False, several: bool = False) -> Assembly:
    """The checked assembly; if no module has a place, the organism of its base is put on the ground.

    Raises ModelError if the assembly is not as `planar` and `several` require; see `organism_problems`.
    """
    problems = organism_problems(assembly, planar=planar, several=several)
    if problems:
        raise ModelError(problems)
    return assembly if any(module.at is not None for module in assembly.modules) else _standing(assembly)


def module_name(name: Any) -> str:
    """The name of a module: a number k stands for "m<k>"."""
    counts = hasattr(name, "__index__") and not isinstance(name, bool)
    if (counts and name < 0) or not (counts or isinstance(name, str)) or name == "":
        what = f"a module is named {short(name)}; expected a name, or a whole number of at least 0"
        raise ModelError(Problem("", "", what, "Give it a name, or a number such as 0."))
    return f"m{int(name)}" if counts else str(name)


def docking_of(row: Any, called: str, problems: list[Problem]) -> Docking | None:
    """The docking given by a row; None, with a problem, if the row is wrong. Messages name the row `called`."""

    def note(what: str, remedy: str) -> None:
        problems.append(Problem(called, "", what, remedy))

    if isinstance(row, Docking):
        return row
    if isinstance(row, Mapping):
        unknown = [key for key in row if key not in KEYS]
        missing = [key for key in REQUIRED if key not in row]
        if unknown:
            hint = did_you_mean(unknown[0], KEYS).strip()
            note(f"key {unknown[0]!r} is unknown; expected {listed(KEYS)}", hint or "Leave this key out.")
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            note(f"{listed(missing)} {verb} missing; expected two modules and their sides", f"Add {listed(missing)}.")
        if unknown or missing:
            return None
        data = dict(row)
    else:
        items = list(row) if isinstance(row, Iterable) and not isinstance(row, str) else []
        if len(items) not in (4, 5):
            what = f"it is {short(row)}; expected (i, j, side of i, side of j), such as (0, 1, 3, 2)"
            note(what, "Write two modules and their sides.")
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
        for problem in map(Problem.of, error.problems):
            note(f"{problem.kind} '{problem.name}': {problem.what}" if problem.name else problem.what, problem.remedy)
        return None


def placed_modules(
    named: Sequence[str], modules: Kinds, types: Mapping[str, ModuleType], at: Places, base: str | None
) -> tuple[Module, ...]:
    """The modules with their types and places: m0, m1, ... in order of number, then the others as first named.

    `named` are the names in dockings, `modules` gives types and `at` places by name. If there are no dockings and no
    types by name, `base` is the only module.
    """
    kinds: dict[str, str | ModuleType] = {}
    per_module: Sequence[str | ModuleType] | None = None
    if isinstance(modules, Mapping):
        kinds = {module_name(key): kind for key, kind in modules.items()}
    elif isinstance(modules, str) and modules not in types and modules not in (k.name for k in types.values()):
        per_module = [*modules]
        if not any(letter in types for letter in per_module):
            problems: list[Problem] = []
            kind_of(modules, types, ("modules", ""), problems)
            raise ModelError(problems)
    elif not isinstance(modules, (str, ModuleType)):
        if not isinstance(modules, Iterable):
            what = f"modules is {short(modules)}; expected a letter such as 'B', a list of letters, or a dict by name"
            raise ModelError(Problem("", "", what, "Give one of these."))
        per_module = list(modules)
    if per_module is not None:
        numbered = _ordered(dict.fromkeys(named)) or [f"m{k}" for k in range(len(per_module))]
        numbers = [f"m{k}" for k in range(len(per_module))]
        names = numbers if {*numbered} <= {*numbers} else numbered
        if len(names) != len(per_module):
            given = counted(len(per_module), "type")
            what = f"modules has {given} for {counted(len(names), 'module')}: {listed(names)}"
            raise ModelError(Problem("", "", what, "Give one type for each module, or one for all."))
        kinds = dict(zip(names, per_module, strict=True))
    default = modules if isinstance(modules, (str, ModuleType)) and per_module is None else None
    problems = []
    if not isinstance(at, Mapping):
        what = f"at is {short(at)}; expected a dict from names or numbers of modules to places"
        raise ModelError(Problem("", "", what, "Write at={0: (0, 0, 0.1)} to place module m0."))
    places = {module_name(key): _place(module_name(key), raw, problems) for key, raw in at.items()}
    found = []
    alone = [base] if base and default is not None and not named else []  # only the base is named
    names = _ordered(dict.fromkeys((*named, *kinds, *alone)))
    for name in names:
        kind = kinds.get(name, default)
        if kind is None:
            what = "it has no type; expected one for each module"
            problems.append(Problem("module", name, what, "Add its type to modules."))
            continue
        made = kind if isinstance(kind, ModuleType) else kind_of(kind, types, ("module", name), problems)
        if made is not None:
            found.append(Module(name, made, places.get(name)))
    for name in places:
        if name not in names:
            what = f"there is no module '{name}'; the modules are {listed(names)}"
            problems.append(Problem("at", "", what, did_you_mean(name, names).strip() or "Name one of these."))
    if problems:
        raise ModelError(list(dict.fromkeys(problems)))
    return tuple(found)


def _place(name: str, raw: Any, problems: list[Problem]) -> Pose | None:
    """The place of a module, given as a pose in the world, or as a point [m] for an upright module.

    Returns None, with a problem, if `raw` is neither.
    """
    if isinstance(raw, Pose):
        return raw
    if isinstance(raw, (np.ndarray, list, tuple)) and len(raw) == 4:
        return measured_pose(raw, f"the place of module '{name}'", problems)
    try:
        x, y, z = (float(value) for value in raw)
    except (TypeError, ValueError):
        what = f"the place of module '{name}' is {short(raw)}; expected a Pose, a matrix of 4 rows of 4 numbers, or a "
        problems.append(Problem("at", "", f"{what}point (x, y, z) [m]", "Give one of these."))
        return None
    if not all(map(math.isfinite, (x, y, z))):
        what = f"the place of module '{name}' is {short(raw)}; expected finite numbers"
        problems.append(Problem("at", "", what, "Replace the values that are not finite."))
        return None
    return translation((x, y, z))


def measured_pose(raw: Any, what: str, problems: list[Problem]) -> Pose | None:
    """The measured pose, with the rotation nearest to the measured matrix; None, with a problem, for other input.

    `what` names the pose in messages.
    """
    H: Array = np.zeros(0)
    try:
        if isinstance(raw, Pose):
            H = np.eye(4)
            H[:3, :3], H[:3, 3] = np.asarray(raw.R, dtype=float), np.asarray(raw.p, dtype=float)
        else:
            H = np.asarray(raw, dtype=float)
    except (TypeError, ValueError):
        pass
    if H.shape != (4, 4):
        found = f"{what} is {short(raw)}; expected a Pose or a matrix of 4 rows of 4 numbers"
        problems.append(Problem("", "", found, "Give one of these."))
        return None
    if not np.isfinite(H).all():
        remedy = "Measure it again, or leave it out."
        problems.append(Problem("", "", f"{what} has a value that is not finite; expected finite numbers", remedy))
        return None
    U, _, V = np.linalg.svd(H[:3, :3])
    R = U @ np.diag((1.0, 1.0, np.sign(np.linalg.det(U @ V)) or 1.0)) @ V
    off = max(float(np.abs(R - H[:3, :3]).max()), float(np.abs(H[3] - (0.0, 0.0, 0.0, 1.0)).max()))
    if off > CROOKED:
        remedy = "Give a matrix with a rotation in its upper left 3x3 part, and 0 0 0 1 in its last row."
        found = f"{what} is {off:.3g} from the nearest rigid transformation; expected less than {CROOKED}"
        problems.append(Problem("", "", found, remedy))
        return None
    H[:3, :3] = R
    return pose_of(H.tolist())


def kind_of(
    word: Any, types: Mapping[str, ModuleType], part: tuple[str, str], problems: list[Problem]
) -> ModuleType | None:
    """The module type of this letter or name; None, with a problem, if there is none.

    `part` is the kind and the name of the part in the message.
    """
    by_name = {kind.name.lower(): kind for kind in types.values()}
    if str(word) in types:
        return types[str(word)]
    if str(word).lower().replace("_", " ") in by_name:
        return by_name[str(word).lower().replace("_", " ")]
    known = listed(f"{letter} ({kind.name})" for letter, kind in types.items())
    hint = did_you_mean(word, by_name).strip()
    what = f"the module type {word!r} is unknown; known are {known}"
    problems.append(Problem(*part, what, hint or "Choose one of them."))
    return None


def _ordered(names: Iterable[str]) -> list[str]:
    """The names m0, m1, ... in order of number, then the other names in the given order."""
    numbers = {name: int(name[1:]) for name in names if name[:1] == "m" and name[1:].isdecimal()}
    return sorted(names, key=lambda name: (name not in numbers, numbers.get(name, 0)))


def _whole(value: Any) -> Any:
    """A whole number, such as 3.0 from MATLAB or NumPy, as an int; anything else unchanged, to be checked later."""
    whole = hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer())
    return int(value) if whole and not isinstance(value, bool) else value


def _standing(assembly: Assembly) -> Assembly:
    """The assembly with its base upright above the origin, so that its organism stands on the ground z = 0."""
    poses = assembly.poses()
    lowest = min(
        float(act(poses[name], corner)[2])
        for name in assembly.organisms[0]
        for corner in assembly.module(name).type.corners
    )
    place = Pose(IDENTITY.R, (0.0, 0.0, 0.0 - lowest))
    modules = (m if m.name != assembly.base else Module(m.name, m.type, place) for m in assembly.modules)
    return Assembly(assembly.name, tuple(modules), assembly.dockings, assembly.base)
