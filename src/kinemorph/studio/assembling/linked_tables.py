"""The tables of an assembly as data for a page: every cell says which modules, ports and joints it is about.

A page lights up the cells that are about what is selected, and selects what a cell is about: the row of a module in the
AIM, its line in the DTL, its cell in the grid and its body in the picture belong together. A docking is the joint of
the robot that has its name; q_j, the coordinate of module j, is the joint of its hinge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kinemorph.display.faces.grid import Grid
from kinemorph.display.tables.assembly_tables import AssemblyTables, assembly_tables
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.incidence import IncidenceMatrix, assembly_incidence
from kinemorph.model.modules.traversal import Direct, Traversal, traverse
from kinemorph.model.topology import Method

About = list[str]  # "module m3", "port m3_port5", "joint m3_hinge"
Rows = Sequence[Sequence[About]]


def linked_tables(assembly: Assembly, *, method: Method = "dfs") -> list[dict[str, Any]]:
    """All tables of an assembly, in the order of `AssemblyTables`, as data."""
    tables = assembly_tables(assembly, method=method)
    walk = traverse(assembly, method=method)
    adapted = assembly_incidence(assembly, method=method)
    chen = assembly_incidence(assembly, form="chen", method=method)
    rows: dict[str, Rows] = {
        "aim": _incidence_rows(assembly, adapted),
        "chen_aim": _incidence_rows(assembly, chen),
        "dtl": [_direct_row(assembly, row) for row in walk.direct],
        "idtl": [[_module(name) for name in (i, j, i, x, x, j)] for i, j, x in walk.indirect],
        "paths": [[[], _all(path, _module)] for path in walk.paths],
        "adjacency": _adjacency_rows(assembly, walk),
        "incidence": _signed_rows(walk),
    }
    heads: dict[str, Sequence[About]] = {
        "aim": _incidence_heads(assembly, adapted),
        "chen_aim": _incidence_heads(assembly, chen),
        "adjacency": [[], *(_module(name) for name in walk.order)],
        "incidence": [[], *(_edge(row) for row in _edges(walk))],
    }
    return [_table(key, grid, rows[key], heads.get(key, ())) for key, grid in zip(KEYS, tables, strict=True)]


KEYS = AssemblyTables._fields


def _table(key: str, grid: Grid, about: Rows, heads: Sequence[About]) -> dict[str, Any]:
    columns = heads or [[] for _ in grid.columns]
    return {
        "key": key,
        "title": grid.title,
        "note": grid.note,
        "groups": [[text, count] for text, count in grid.groups],
        "columns": [[text, here] for text, here in zip(grid.columns, columns, strict=True)],
        "rows": [
            [[text, here] for text, here in zip(row, line, strict=True)]
            for row, line in zip(grid.rows, about, strict=True)
        ],
        "heads": grid.heads,
        "feet": grid.feet,
    }


def _module(name: str) -> About:
    return [f"module {name}"]


def _port(module: str, side: int | str) -> About:
    return [f"port {module}_port{side}"]


def _hinge(assembly: Assembly, name: str) -> About:
    """The joint of a module's hinge, the coordinate q of the module; nothing if it has no hinge."""
    kind = assembly.module(name).type
    return [f"joint {name}_{kind.hinge}"] if kind.hinge else []


def _edge(row: Direct) -> About:
    return [f"joint {row.edge}"]


def _edges(walk: Traversal) -> tuple[Direct, ...]:
    return (*walk.direct, *walk.chords)


def _all(names: Iterable[str], about: Callable[[str], About]) -> About:
    return [one for name in names for one in about(name)]


def _direct_row(assembly: Assembly, row: Direct) -> list[About]:
    j = [*_module(row.j), *_edge(row), *_hinge(assembly, row.j)]
    return [_module(row.i), j, _port(row.i, row.side_from), _port(row.j, row.side_to)]


def _incidence_heads(assembly: Assembly, aim: IncidenceMatrix) -> list[About]:
    names = {frozenset(d.ends): d.name for d in assembly.dockings}
    edges = [names[frozenset(((c.i, c.side_from), (c.j, c.side_to)))] for c in aim.columns]
    heads = [[f"joint {edge}", *_hinge(assembly, c.j)] for edge, c in zip(edges, aim.columns, strict=True)]
    return [[], *heads, []]


def _incidence_rows(assembly: Assembly, aim: IncidenceMatrix) -> list[list[About]]:
    heads = _incidence_heads(assembly, aim)[1:-1]
    rows = []
    for row in aim.rows:
        sides = [(c.side_from if c.i == row.module else c.side_to, row.module in (c.i, c.j)) for c in aim.columns]
        line = [_port(row.module, side) if docked else [] for side, docked in sides]
        rows.append([_module(row.module), *line, _module(row.module)])
    return [*rows, [[], *heads, []]]


def _adjacency_rows(assembly: Assembly, walk: Traversal) -> list[list[About]]:
    between: dict[frozenset[str], About] = {}
    for docking in assembly.dockings:
        between.setdefault(frozenset((docking.a, docking.b)), []).append(f"joint {docking.name}")
    return [[_module(i), *(between.get(frozenset((i, j)), []) for j in walk.order)] for i in walk.order]


def _signed_rows(walk: Traversal) -> list[list[About]]:
    edges = _edges(walk)
    return [[_module(name), *(_edge(row) if name in (row.i, row.j) else [] for row in edges)] for name in walk.order]
