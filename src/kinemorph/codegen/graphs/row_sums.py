"""Sums over the rows of a table: a formula that is traced once, however many rows the table has.

    x, y = v.tables.columns(((0.1, 0.2), (0.3, 0.4), ...))    expressions for the numbers of any row
    (total,) = x.tables.summed([x * v + y * w])               v and w: expressions of the outer graph
    (total,) = x.tables.summed([...], any_row, row)           the same, with gates

`columns` opens a graph inside another one. Expressions of the inner graph stand for one number per row; where they meet
an expression of the outer graph, that one becomes an input of the inner graph. `summed` makes one block of the
outer graph, a `RowSum`, from them. Its program is the formula for one row, of which all rows and all tables of the same
formula share the code; backends run several rows at a time in SIMD lanes.

A formula that is 0 for most rows, as the force of a contact that does not touch, may have gates (`algebra.rows.Gate`).
Backends need not compute rows whose gate is closed. Sums are the same numbers with gates and without.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from kinemorph.codegen.graphs.evaluation import carry_out, meaning_of
from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.errors import ShapeError, TracingError
from kinemorph.frozen import dataclass
from kinemorph.vocabulary.blocks import Block

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, eq=False)
class RowSum(Block):
    """The sum over all rows of a table of the outputs of a program.

    `program` has the inputs `x`, the arguments of the block, and `row`, the numbers of a row. Its output `y` has shape
    (n_out,). `gate` is a program with the same inputs and one output: rows for which it is not positive count as 0. If
    the block is `gated`, it has one more argument before the others: where that is not positive, all sums are 0.
    """

    of_rows: ClassVar[bool] = True
    program: Program = field(repr=False)
    rows: Rows = field(repr=False)
    gate: Program | None = field(default=None, repr=False)
    gated: bool = False

    @property
    def n_in(self) -> int:
        return self.program.inputs[0].size + self.gated

    @property
    def n_out(self) -> int:
        return self.program.outputs[0].size

    @cached_property
    def key(self) -> str:
        data = np.array(self.rows, dtype=float)
        name = f"sum over {len(self.rows)} rows {hashlib.sha256(data.tobytes()).hexdigest()} of {self.program.key}"
        return name + (f" where {self.gate.key}" if self.gate else "") + " if open" * self.gated

    @property
    def label(self) -> str:
        return f"sum over {len(self.rows)} rows of {self.program.ops} operations"

    @property
    def cost(self) -> int:
        return len(self.rows) * (self.program.cost + self.n_out)

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        numbers = [np.asarray(arg, dtype=float) for arg in args]
        gates, given = numbers[: int(self.gated)], numbers[int(self.gated) :]
        totals: list[Any] = [0.0] * self.n_out
        with np.errstate(all="ignore"):
            for row in self.rows:
                found = carry_out(self.program, [*given, *row], meaning_of)
                if self.gate is not None:
                    (number,) = carry_out(self.gate, [*given, *row], meaning_of)
                    found = [np.where(np.asarray(number) > 0.0, one, 0.0) for one in found]
                totals = [total + one for total, one in zip(totals, found, strict=True)]
        for gate in gates:
            totals = [np.where(np.asarray(gate) > 0.0, total, 0.0) for total in totals]
        return tuple(totals)


class RowGraph(Graph):
    """A graph of expressions that have a value for each row of a table, inside another graph.

    Its first inputs are the columns of the table, its others stand for expressions of the outer graph.
    """

    def __init__(self, outer: Graph, rows: Rows) -> None:
        super().__init__()
        self.outer, self.rows, self.depth = outer, rows, outer.depth + 1
        self.columns = [self.input(f"row[{k}]") for k in range(len(rows[0]))]
        self.met: list[int] = []  # the references of the outer graph that have an input, in the order of these inputs
        self._inputs: dict[int, int] = {}  # their inputs
        self._sums: dict[tuple[tuple[int, ...], ...], list[Any]] = {}

    def foreign(self, value: Expr) -> int:
        if value.graph is not self.outer:
            return super().foreign(value)
        if value.ref not in self._inputs:
            new = self.input(f"x[{len(self.met)}]").ref
            self._inputs |= {value.ref: new, -value.ref: -new}
            self.met.append(value.ref)
        return self._inputs[value.ref]

    def summed(self, refs: Sequence[int], any_row: Any, row: Any) -> list[Any]:
        """The sums over all rows of expressions of this graph, by reference, as expressions of the outer graph."""
        nodes = tuple(dict.fromkeys(abs(ref) for ref in refs))
        outer = () if any_row is None else (self.outer.reference(any_row),)
        inner = () if row is None else (self.reference(row),)
        key = (nodes, outer, inner)
        if key not in self._sums:
            block, taken = self._block(nodes, inner, bool(outer))
            self._sums[key] = self.outer.block(block, [*outer, *taken])
        totals = dict(zip(nodes, self._sums[key], strict=True))
        return [totals[ref] if ref > 0 else -totals[-ref] for ref in refs]

    def _block(self, nodes: Sequence[int], inner: Sequence[int], gated: bool) -> tuple[RowSum, list[int]]:
        """The block that sums these nodes, and the references in the outer graph of what it takes.

        `inner` is the reference of a gate for each row, if there is one.
        """
        order, count = self.reachable([*nodes, *map(abs, inner)]), len(self.columns)
        used = {i: self.nodes[i][1] for i in order if self.nodes[i][0] == "input"}
        met = {i: self.met[k - count] for i, k in used.items() if k >= count}
        asked = {i: k for i, k in used.items() if k < count} or {self.columns[0].ref: 0}  # at least one column
        column = {i: tuple(row[k] for row in self.rows) for i, k in asked.items()}
        graph = Graph()
        refs = {i: graph.input("").ref for i in (*met, *column)}
        for i in order:
            op, *args = self.nodes[i]
            if op == "const":
                refs[i] = graph.constant(args[0])
            elif op != "input":
                refs[i] = graph.intern((op, *(refs[arg] if arg >= 0 else -refs[-arg] for arg in args)))
        inputs = (Port("x", (len(met),)), Port("row", (len(column),)))
        formulas = [tuple(refs[i] for i in nodes), *((refs[i] if i >= 0 else -refs[-i],) for i in inner)]
        made = [Program("row", inputs, (Port("y", (len(one),)),), graph, one) for one in formulas]
        program, *gate = (_SHARED.setdefault(one.key, one) for one in made)
        rows = tuple(zip(*column.values(), strict=True))
        return RowSum(program, rows, gate[0] if gate else None, gated), list(met.values())


_SHARED: WeakValueDictionary[str, Program] = WeakValueDictionary()  # so that equal programs are compiled once


class Tables(NamedTuple):
    """The tables of a graph: those that are opened inside it, or the one that it is the graph of."""

    graph: Graph

    @property
    def has_rows(self) -> bool:
        """Whether the expressions of the graph have a value for each row of a table."""
        return isinstance(self.graph, RowGraph)

    def columns(self, rows: Rows) -> list[Expr]:
        """Expressions for the columns of a table with these rows; they mix with the expressions of the graph."""
        if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            raise ShapeError("columns: the table is empty or ragged; expected rows of equal length. Give it such rows.")
        if self.graph.depth:
            raise TracingError("columns: a table is opened inside another one; expected one table. Join both tables.")
        if rows not in self.graph.inside:
            self.graph.inside[rows] = RowGraph(self.graph, rows)
        return list(self.graph.inside[rows].columns)

    def summed(self, values: Sequence[Any], any_row: Any = None, row: Any = None) -> list[Any]:
        """The sums of values over all rows of the graph's table, as expressions of the graph that it is inside.

        A value that is the same in all rows counts in each of them. With gates, `any_row`, an expression of the outer
        graph, and `row`, one of this graph, values have to be 0 where one of both is not positive.
        """
        graph = self.graph
        if not isinstance(graph, RowGraph):
            raise TracingError("summed: the graph has no rows; expected an expression of the columns of a table.")
        refs = [graph.reference(value) for value in values]
        known = [graph.value_of(ref) for ref in refs]
        open_refs = [ref for ref, number in zip(refs, known, strict=True) if number is None]
        totals = iter(graph.summed(open_refs, any_row, row)) if open_refs else iter(())
        return [next(totals) if number is None else number * len(graph.rows) for number in known]
