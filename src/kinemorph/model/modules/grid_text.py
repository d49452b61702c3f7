"""The grid of cells, as text, of an assembly that stands on the ground: the inverse of `grids`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinemorph.algebra.groups import extent, relative
from kinemorph.model.modules.assembly import Assembly, Module
from kinemorph.model.modules.grid_sheet import Sheet, links_between
from kinemorph.model.modules.grids import (
    DIRECTIONS,
    FILLED,
    NAME,
    Cell,
    footprint,
    middle_of,
    read_grid,
)
from kinemorph.model.modules.module_types import ModuleType

MOST = 100_000  # cells of a grid that is written
NEAR = 1e-9  # [m] and [rad]: rounding errors of places


def grid_of(assembly: Assembly, types: Mapping[str, ModuleType], *, exact: bool = True) -> str | None:
    """The text of the grid from which `read_grid` makes the same assembly; None if no grid describes it.

    An assembly that is not flat has no grid. Connectors are drawn if there are neighbors that are not docked. With
    `exact` False, the dockings of the grid may have another order, and places may differ by rounding errors.
    """
    if not exact:
        poses = assembly.poses()
        assembly = replace(assembly, modules=tuple(replace(one, at=poses[one.name]) for one in assembly.modules))
    cells = cells_of(assembly)
    if not cells:
        return None
    for drawn in (False, True):
        text = _sheet(assembly, cells, drawn).text()
        again = read_grid(text, types, [], name=assembly.name, base=assembly.base, several=True)
        if again == assembly or (again is not None and not exact and _is_alike(again, assembly)):
            return text
    return None


def _is_alike(one: Assembly, other: Assembly) -> bool:
    """Whether two assemblies have the same modules and dockings, at the same places within rounding errors."""

    def dockings(assembly: Assembly) -> set[Any]:
        return {(frozenset(d.ends), d.turn, d.joint, d.offset) for d in assembly.dockings}

    kinds = [{module.name: module.type for module in assembly.modules} for assembly in (one, other)]
    if kinds[0] != kinds[1] or dockings(one) != dockings(other):
        return False
    there, here = one.poses(), other.poses()
    return all(max(extent(relative(here[name], there[name]))) < NEAR for name in here)


def cells_of(assembly: Assembly) -> dict[str, Cell] | None:
    """The cell of every module's token, rows counted from the top; None if a module is not in a cell of the grid."""
    base = assembly.module(assembly.base) if assembly.modules else None
    front = None if base is None else direction(base)
    if base is None or base.at is None or front is None:
        return None
    x0, y0 = middle_of((0, 0), base.type, front)
    found: dict[str, Cell] = {}
    for module in assembly.modules:
        way = direction(module)
        if module.at is None or way is None:
            return None
        x, y = ((float(module.at.p[k]) - float(base.at.p[k])) / base.type.pitch for k in range(2))
        dx, dy = middle_of((0, 0), module.type, way)
        row, column = dy - y0 - y, x + x0 - dx
        if max(abs(row - round(row)), abs(column - round(column))) > 1e-6:
            return None
        found[module.name] = (round(row), round(column))
    filled = [c for name, cell in found.items() for c in _filled(assembly.module(name), cell)]
    top, left = (min(cell[k] for cell in filled) for k in range(2))
    bottom, right = (max(cell[k] for cell in filled) for k in range(2))
    if (bottom - top + 1) * (right - left + 1) > MOST:
        return None
    return {name: (row - top, column - left) for name, (row, column) in found.items()}


def direction(module: Module) -> str | None:
    """The sign (> ^ < v) for the direction of a module's front; None if it is not upright and aligned to the grid."""
    if module.at is None:
        return None
    R = module.at.R
    for sign, (c, s) in DIRECTIONS.items():
        upright = ((c, -s, 0), (s, c, 0), (0, 0, 1))
        if all(abs(float(R[i][j]) - upright[i][j]) < 1e-9 for i in range(3) for j in range(3)):
            return sign
    return None


def _filled(module: Module, cell: Cell) -> list[Cell]:
    return list(footprint(cell, module.type, direction(module) or ">"))


def _sheet(assembly: Assembly, cells: Mapping[str, Cell], drawn: bool) -> Sheet:
    """The sheet of an assembly whose tokens are in these cells; `drawn` says whether connectors are drawn."""
    tokens: dict[Cell, str] = {}
    owner: dict[Cell, str] = {}
    for module in assembly.modules:
        for cell in _filled(module, cells[module.name]):
            tokens[cell], owner[cell] = FILLED, module.name
        if NAME.fullmatch(module.name):
            tokens[cells[module.name]] = f"{module.type.letter}{direction(module)}{label_of(module.name)}"
    docked = {frozenset((docking.a, docking.b)) for docking in assembly.dockings}
    return Sheet(tokens, links_between(owner, docked) if drawn else frozenset())


def label_of(name: str) -> str:
    """The name of a module as it is written in a cell: the number alone for a name such as m4."""
    return name[1:] if name[:1] == "m" and name[1:].isdecimal() else name
