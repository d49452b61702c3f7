"""The matrices and lists of an assembly as tables: adjacency, incidence, assembly incidence matrices (AIM), direct and
indirect transformations (DTL, IDTL), paths and dyad classes.

tables = assembly_tables(assembly)
print(tables.aim.text())
tables.written("latex")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinemorph.display.faces.grid import Format, Grid
from kinemorph.model.modules.assembly import Assembly, as_assembly
from kinemorph.model.modules.dyads import MEANINGS, DyadClass, dyad_classes
from kinemorph.model.modules.incidence import (
    IncidenceMatrix,
    Row,
    assembly_incidence,
    module_adjacency,
    module_incidence,
)
from kinemorph.model.modules.module_types import ModuleType, Side
from kinemorph.model.modules.traversal import Traversal, traverse
from kinemorph.model.topology import IntMatrix, Method

CORNER = ""


class AssemblyTables(NamedTuple):
    """All tables of an assembly, with its modules numbered from one base module.

    `aim`           the adapted assembly incidence matrix (AIM), with dyad classes
    `chen_aim`      the AIM of Chen and Yang, with joint modules
    `adjacency`     the adjacency matrix, modules by modules
    `incidence`     the signed incidence matrix, modules by dockings
    `dtl`, `idtl`   the lists of direct and indirect transformations
    `paths`         the paths from the base to the pendant modules
    """

    aim: Grid
    dtl: Grid
    idtl: Grid
    paths: Grid
    adjacency: Grid
    incidence: Grid
    chen_aim: Grid

    def written(self, form: Format = "text") -> str:
        """All tables, one below the other, as "text", "markdown", "latex" or "html"."""
        return "\n".join(grid.written(form) for grid in self)


def assembly_tables(assembly: Assembly, base: str | None = None, *, method: Method = "dfs") -> AssemblyTables:
    """The tables of an assembly, numbered from the module `base` (by default the assembly's own); see AssemblyTables.

    `method`: "dfs" numbers modules path by path, as the paper does; "bfs" level by level, on shortest paths.
    """
    assembly = as_assembly(assembly)
    walk = traverse(assembly, base, method=method)
    aim = assembly_incidence(assembly, base, method=method)
    chen = assembly_incidence(assembly, base, form="chen", method=method)
    labels = [row.label for row in aim.rows]
    edges = [f"e{walk.numbers[row.j]}" for row in walk.direct] + [f"c{k + 1}" for k in range(len(walk.chords))]
    return AssemblyTables(
        incidence_grid(aim),
        direct_grid(walk),
        indirect_grid(walk),
        path_grid(walk),
        _matrix(
            f"adjacency matrix of {assembly.name}", labels, [row.number for row in aim.rows], module_adjacency(walk)
        ),
        _matrix(f"incidence matrix of {assembly.name}", labels, edges, module_incidence(walk)),
        incidence_grid(chen),
    )


def incidence_grid(aim: IncidenceMatrix) -> Grid:
    """The table of an assembly incidence matrix, as in the paper's Fig. 5: paths above the columns, kinds of modules in
    the last column, kinds of dockings in the last row.
    """
    names = tuple(column.name for column in aim.columns)
    rows = [[row.label, *line, row.letter] for row, line in zip(aim.rows, aim.entries, strict=True)]
    adapted = aim.form == "adapted"
    rows.append(["Dyads" if adapted else "Joints", *(column.kind for column in aim.columns), ""])
    return Grid(
        f"{'AIM_SB' if adapted else 'AIM'} of {aim.name}",
        (CORNER, *names, "Type"),
        rows,
        right=names,
        groups=((CORNER, 1), *aim.paths, (CORNER, 1)) if aim.columns else (),
        heads=1,
        tails=1,
        feet=1,
    )


def direct_grid(walk: Traversal) -> Grid:
    """The table of direct transformations (DTL): which modules are docked, and by which sides."""
    number = walk.numbers
    rows = [[str(number[row.i]), str(number[row.j]), str(row.side_from), str(row.side_to)] for row in walk.direct]
    rings = ", ".join(f"{number[r.i]}-{number[r.j]} by sides {r.side_from}-{r.side_to}" for r in walk.chords)
    notes = [f"Rings are closed by {rings}."] * bool(rings) + _named(walk)
    return Grid(
        "DTL", ("i", "j", "from", "to"), rows, ("i", "j", "from", "to"), (("T_ij", 2), ("sides", 2)),
        note=" ".join(notes),
    )  # fmt: skip


def indirect_grid(walk: Traversal) -> Grid:
    """The table of indirect transformations (IDTL), T_ij = T_ix T_xj (docs/errata.md, E000-16)."""
    number = walk.numbers
    rows = [[str(number[name]) for name in (i, j, i, x, x, j)] for i, j, x in walk.indirect]
    groups = (("T_ij", 2), ("T_ix", 2), ("T_xj", 2))
    return Grid("IDTL", ("i", "j", "i", "x", "x", "j"), rows, ("i", "j", "x"), groups, note=" ".join(_named(walk)))


def path_grid(walk: Traversal) -> Grid:
    """The table of the paths from the base to each pendant module, as module numbers."""
    rows = [[str(k), "-".join(str(walk.numbers[name]) for name in path)] for k, path in enumerate(walk.paths, 1)]
    return Grid("paths", ("path", "modules"), rows, ("path",), note=" ".join(_named(walk)))


def dyad_grid(a: ModuleType, b: ModuleType) -> Grid:
    """The table of the dyads of two kinds of modules, as in the paper's Table II: the pairs of sides of each class."""
    found: Mapping[tuple[Side, Side], DyadClass] = dyad_classes(a, b)
    sets = {name: [pair for pair, kind in found.items() if kind == name] for name in MEANINGS if name in found.values()}
    longest = max(map(len, sets.values()), default=0)
    rows = [
        [str(side) for pairs in sets.values() for side in (pairs[k] if k < len(pairs) else ("", ""))]
        for k in range(longest)
    ]
    groups = tuple((f"{name}: {MEANINGS[name]}", 2) for name in sets)
    columns = ("first", "second") * len(sets)
    return Grid(f"dyads of {a.name} and {b.name}", columns, rows, ("first", "second"), groups)


def _matrix(title: str, labels: list[str], columns: list[str], entries: IntMatrix) -> Grid:
    rows = [[label, *map(str, line)] for label, line in zip(labels, entries.tolist(), strict=True)]
    return Grid(title, (CORNER, *columns), rows, tuple(columns), heads=1)


def _named(walk: Traversal) -> list[str]:
    """A note that lists the numbers of the modules; empty where their names show the numbers."""
    if all(Row(f"v{k}", name, "").label == f"v{k}" for name, k in walk.numbers.items()):
        return []
    return ["Numbers: " + ", ".join(f"{k} is {name}" for name, k in walk.numbers.items()) + "."]
