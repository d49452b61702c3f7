"""The assembly incidence matrix (AIM): modules down, dockings across, the docked sides in between.

Chen and Yang's has the kinds of link modules in its last column and those of joint modules in its last row. The
adapted one of Meister and Gutenkunst, AIM_SB, has the class of the dyad there (`dyads`), and its columns stand path by
path. Their entries for a docking:

    side            of the module in that row; 0 where the docking is not on it
    side:turn       on the second module, where it is turned by quarter turns
    R, P, ...       letter of the joint module between the ports; in AIM_SB the class DS, DP or DO where there is none
    F               the ports hold each other, and no two hinges make a dyad

Rows are numbered as a walk finds the modules (`traversal`): v0 is the base. Column ej carries module vj. Dockings that
close rings stand last and are named c1, c2, ... Measured offsets and places in the world are not in an AIM.
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

Form = Literal["adapted", "chen"]
RINGS = "Rings"
NONE = "0"  # the entry of a module that a docking is not on


@dataclass(frozen=True)
class Row:
    """A module: its number as `v0`, its name, and the letter of its kind."""

    number: str
    module: str
    letter: str

    @property
    def label(self) -> str:
        """`v0`, and the module's name where it is not m0."""
        return self.number if self.module == f"m{self.number[1:]}" else f"{self.number}={self.module}"


@dataclass(frozen=True)
class Column:
    """A docking of side `side_from` of module `i` with side `side_to` of `j`, turned by `turn` quarters.

    `name`      e3 where it carries v3, c1 where it closes a ring
    `path`      the path that it belongs to, "Path 1"; "Rings" for chords
    `kind`      what the last row says
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
        """What stands in the row of a module."""
        if module == self.i:
            return str(self.side_from)
        turned = f":{self.turn}" if self.turn else ""
        return f"{self.side_to}{turned}" if module == self.j else NONE


@dataclass(frozen=True, repr=False)
class IncidenceMatrix:
    """An AIM. `entries` has a row for each module and a column for each docking."""

    name: str
    form: Form
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        return f"<IncidenceMatrix '{self.name}' ({self.form}): {len(self.rows)} modules, {len(self.columns)} dockings>"

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """Sides as text, shape (modules, dockings)."""
        return tuple(tuple(column.entry(row.module) for column in self.columns) for row in self.rows)

    @property
    def paths(self) -> tuple[tuple[str, int], ...]:
        """Names of the paths above the columns, each with how many columns it has."""
        counts: dict[str, int] = {}
        for column in self.columns:
            counts[column.path] = counts.get(column.path, 0) + 1
        return tuple(counts.items())


def assembly_incidence(
    assembly: Assembly, base: str | None = None, *, form: Form = "adapted", method: Method = "dfs"
) -> IncidenceMatrix:
    """The AIM of an assembly: "adapted" with dyad classes, "chen" with joint modules."""
    if form not in get_args(Form):
        raise ModelError(f"form is {form!r}; expected one of: {', '.join(get_args(Form))}.")
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
    """The lines of the DTL grouped by path, each with its name; shared lines belong to the first path."""
    carrying = {row.j: row for row in walk.direct}
    grouped = []
    for k, path in enumerate(walk.paths, 1):
        grouped += [(f"Path {k}", carrying.pop(name)) for name in path if name in carrying]
    return grouped


def _kind(assembly: Assembly, row: Direct, docking: Docking, form: Form) -> str:
    """What the last row says of a docking."""
    if docking.joint is not None:
        return docking.joint.letter
    if form == "chen":
        return "F"
    a, b = assembly.module(row.i).type, assembly.module(row.j).type
    return dyad_class(a, row.side_from, b, row.side_to, docking.turn)


# ── plain graph matrices ──────────────────────────────────────────────────────────────────────────────────────────────


def walk_edges(walk: Traversal) -> tuple[Edge, ...]:
    """The dockings as edges from what carries to what is carried, chords last."""
    return tuple(Edge(row.edge, row.i, row.j) for row in (*walk.direct, *walk.chords))


def module_adjacency(walk: Traversal) -> IntMatrix:
    """(n, n): how many dockings modules i and j share, in the order of the walk."""
    return adjacency_matrix(walk.order, walk_edges(walk))


def module_incidence(walk: Traversal) -> IntMatrix:
    """(n, m): +1 where a docking carries from, -1 at the module that it carries; chords last."""
    return incidence_matrix(walk.order, walk_edges(walk))
