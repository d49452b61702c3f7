"""The assembly incidence matrix (AIM): a row for each module, a column for each docking; its entries are docked sides.

In the form of Chen and Yang, the last column has the types of the link modules and the last row those of the joint
modules. In the adapted form of Meister and Gutenkunst, AIM_SB, the last row has dyad classes (`dyads`), and the columns
are ordered path by path. The cells of a docking's column are:

    side            the side of the module of that row; 0 if the docking does not belong to the module
    side:turn       for the second module, with the number of quarter turns if it is not 0
    R, P, ...       in the last row, the letter of the joint module; without one, in AIM_SB, the class DS, DP, DO or DX
    F               in the last row, a fixed docking, and in AIM_SB one of modules without two hinges

Rows are numbered in the order of a traversal (`traversal`): v0 is the base. Column ej is the docking of module vj to
the module before it. Dockings that close rings are the last columns, c1, c2, ... Measured offsets and places in the
world are not part of an AIM.
"""

from __future__ import annotations

from typing import Literal, get_args

from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.model.modules.assembly import Assembly, Docking
from kinemorph.model.modules.dyads import dyad_class
from kinemorph.model.modules.module_types import Side
from kinemorph.model.modules.traversal import Direct, Traversal, traverse
from kinemorph.model.topology import Edge, IntMatrix, Method, adjacency_matrix, incidence_matrix
from kinemorph.words import counted, listed

Form = Literal["adapted", "chen"]
RINGS = "Rings"
NONE = "0"  # the entry for a module that does not take part in a docking


@dataclass(frozen=True)
class Row:
    """A row of an AIM: the number of the module, such as `v0`, its name, and the letter of its type."""

    number: str
    module: str
    letter: str

    @property
    def label(self) -> str:
        """The label of the row: `v0`, or `v0=head` if the name of the module is not m0."""
        return self.number if self.module == f"m{self.number[1:]}" else f"{self.number}={self.module}"


@dataclass(frozen=True)
class Column:
    """A column of an AIM: side `side_from` of module `i` docked to side `side_to` of `j`, with `turn` quarter turns.

    `name`      e3 if it connects v3 to the module before it, c1 if it closes a ring
    `path`      the path that it belongs to, "Path 1"; "Rings" if it closes a ring
    `kind`      the cell in the last row
    """

    name: str
    path: str
    i: str
    side_from: Side
    j: str
    side_to: Side
    turn: int
    kind: str

    def entry(self, module: str) -> str:
        """The cell of this column in the row of a module: its docked side, or "0" if it has none in this docking."""
        if module == self.i:
            return str(self.side_from)
        turned = f":{self.turn}" if self.turn else ""
        return f"{self.side_to}{turned}" if module == self.j else NONE


@dataclass(frozen=True, repr=False)
class IncidenceMatrix:
    """An assembly incidence matrix. `entries` has a row for each module and a column for each docking."""

    name: str
    form: Form
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        size = f"{counted(len(self.rows), 'module')}, {counted(len(self.columns), 'docking')}"
        return f"<IncidenceMatrix '{self.name}' ({self.form}): {size}>"

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """The entries of the matrix as text, without the last row and column, shape (modules, dockings)."""
        return tuple(tuple(column.entry(row.module) for column in self.columns) for row in self.rows)

    @property
    def paths(self) -> tuple[tuple[str, int], ...]:
        """The name of each path and its number of columns, in the order of the columns."""
        counts: dict[str, int] = {}
        for column in self.columns:
            counts[column.path] = counts.get(column.path, 0) + 1
        return tuple(counts.items())


def assembly_incidence(
    assembly: Assembly, base: str | None = None, *, form: Form = "adapted", method: Method = "dfs"
) -> IncidenceMatrix:
    """The assembly incidence matrix; the last row has dyad classes ("adapted") or joint modules ("chen")."""
    if form not in get_args(Form):
        raise ModelError(f"assembly_incidence: form is {form!r}; expected one of: {listed(get_args(Form))}.")
    walk = traverse(assembly, base, method=method)
    rows = tuple(Row(f"v{k}", name, assembly.module(name).type.letter) for name, k in walk.numbers.items())
    dockings = {docking.name: docking for docking in assembly.dockings}

    def column(row: Direct, name: str, path: str) -> Column:
        docking = dockings[row.edge]
        kind = _kind(assembly, row, docking, form)
        return Column(name, path, row.i, row.side_from, row.j, row.side_to, docking.turn, kind)

    columns = [column(row, f"e{walk.numbers[row.j]}", path) for path, row in by_path(walk)]
    columns += [column(row, f"c{k}", RINGS) for k, row in enumerate(walk.chords, 1)]
    return IncidenceMatrix(assembly.name, form, rows, tuple(columns))


def by_path(walk: Traversal) -> list[tuple[str, Direct]]:
    """The direct transformations grouped by path, each with the name of its path; a shared one is in the first path."""
    carrying = {row.j: row for row in walk.direct}
    grouped = []
    for k, path in enumerate(walk.paths, 1):
        grouped += [(f"Path {k}", carrying.pop(name)) for name in path if name in carrying]
    return grouped


def _kind(assembly: Assembly, row: Direct, docking: Docking, form: Form) -> str:
    """The cell of a docking in the last row of the matrix: its joint module or its dyad class."""
    if docking.joint is not None:
        return docking.joint.letter
    if form == "chen":
        return "F"
    a, b = assembly.module(row.i).type, assembly.module(row.j).type
    return dyad_class(a, row.side_from, b, row.side_to, docking.turn)


# ── plain graph matrices ──────────────────────────────────────────────────────────────────────────────────────────────


def walk_edges(walk: Traversal) -> tuple[Edge, ...]:
    """The dockings as edges, from the module nearer to the base to the other; dockings that close rings are last."""
    return tuple(Edge(row.edge, row.i, row.j) for row in (*walk.direct, *walk.chords))


def module_adjacency(walk: Traversal) -> IntMatrix:
    """The adjacency matrix, shape (n, n): the number of dockings between modules i and j, in traversal order."""
    return adjacency_matrix(walk.order, walk_edges(walk))


def module_incidence(walk: Traversal) -> IntMatrix:
    """The incidence matrix, shape (n, m): for each docking +1 at the module nearer to the base, -1 at the other."""
    return incidence_matrix(walk.order, walk_edges(walk))
