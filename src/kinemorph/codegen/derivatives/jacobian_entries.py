"""The entries of a Jacobian: the seeds of its inputs, the direction of its sweeps, and the entries that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.derivatives.node_derivatives import References
from kinemorph.codegen.derivatives.sparsity import forward_work, gather, reverse_work, spread
from kinemorph.codegen.derivatives.sweeps import Seed, pull, push, seed_sets, signed
from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.ports import Names, Shape, chosen, input_ids, nested, output_refs
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import entries_of
from kinemorph.errors import ShapeError, UnsupportedError

Mode = Literal["auto", "forward", "reverse"]
Rule = Callable[[Any], Sequence[Any]]  # from an input's expressions to a tangent for each direction
Seeds = Mapping[str, Rule]


class Entries:
    """The Jacobian of the outputs named `of` with respect to the inputs named `by`, as graph references.

    Rows are entries of the outputs, columns are directions of the inputs; both are counted over all named ports.
    """

    def __init__(self, program: Program, of: Names, by: Names, seeds: Seeds | None, mode: Mode) -> None:
        if mode not in get_args(Mode):
            listed = ", ".join(f"'{one}'" for one in get_args(Mode))
            raise UnsupportedError(f"program '{program.name}': mode '{mode}' is unknown. Choose one of {listed}.")
        self.graph = program.graph
        self.mode = mode
        self.outs = chosen(program.outputs, of, program, "output")
        self.refs = [ref for port in self.outs for ref in output_refs(program, port)]
        self.order = self.graph.reachable(self.refs)
        self.inputs: list[int] = []  # ids of all input entries
        self.directions: list[Seed] = []
        self.blocks: list[tuple[str, Shape, range]] = []  # name, shape and directions of each input
        ins = chosen(program.inputs, by, program, "input")
        if seeds:
            chosen(ins, tuple(seeds), program, "input among those to differentiate by")
        for port in ins:
            ids, start = input_ids(program, port), len(self.directions)
            shape: Shape
            if seeds and port.name in seeds:
                self.directions += _directions(self.graph, port, ids, seeds[port.name])
                shape = (len(self.directions) - start,)
            else:
                self.directions += [{i: self.graph.constant(1.0)} for i in ids]
                shape = port.shape
            self.inputs += ids
            self.blocks.append((port.name, shape, range(start, len(self.directions))))

    @cached_property
    def felt(self) -> dict[int, int]:
        """For each node that changes along a direction, by id: the set of these directions, as a bit mask."""
        return spread(self.graph, self.order, seed_sets(self.directions))

    @cached_property
    def rows(self) -> list[Seed]:
        """The seed of the reverse sweep of each output entry: adjoint 1 for that entry."""
        return [adjoint_seed(self.graph, [ref], [self.graph.constant(1.0)]) for ref in self.refs]

    @cached_property
    def goes_forward(self) -> bool:
        """Whether forward mode is used: as `mode` says, or for "auto" if it takes fewer operations."""
        if self.mode != "auto":
            return self.mode == "forward"
        path = [i for i in self.order if i in self.felt]
        wanted = gather(self.graph, path, seed_sets(self.rows))
        return forward_work(self.graph, self.felt) <= reverse_work(self.graph, self.felt, wanted)

    @cached_property
    def swept(self) -> list[dict[int, int]]:
        """The results of the sweeps by node id: tangents along each direction, or adjoints for each row."""
        if self.goes_forward:
            return push(self.graph, self.order, self.directions)
        return pull(self.graph, self.order, self.rows, self.inputs)

    def entry(self, r: int, d: int) -> int:
        """The derivative of output entry r along direction d, as a node id; a negative id means minus that node."""
        if self.goes_forward:
            return signed(self.swept[d], self.refs[r])
        algebra, total = References(self.graph), 0
        for i, tangent in self.directions[d].items():
            total = algebra.plus(total, algebra.times(self.swept[r].get(i, 0), tangent))
        return total

    def pattern(self) -> npt.NDArray[np.bool_]:
        """Which entries can be nonzero, shape (rows, directions)."""
        sets = [self.felt.get(abs(ref), 0) for ref in self.refs]
        found = [[bool(mask >> d & 1) for d in range(len(self.directions))] for mask in sets]
        return np.array(found, dtype=bool).reshape(len(sets), len(self.directions))


def adjoint_seed(graph: Graph, refs: Sequence[int], weights: Sequence[int]) -> Seed:
    """The seed of a reverse sweep: the node of each output entry gets the entry's weight as its adjoint.

    `refs` and `weights` are signed references: node ids, negative for minus the node.
    """
    algebra, row = References(graph), dict[int, int]()
    for ref, weight in zip(refs, weights, strict=True):
        row[abs(ref)] = algebra.plus(row.get(abs(ref), 0), weight if ref >= 0 else -weight)
    return row


def _directions(graph: Graph, port: Port, ids: Sequence[int], rule: Rule) -> list[Seed]:
    """The directions that a seed function returns for one input; `ids` are the nodes of the input's entries."""
    if not callable(rule):
        raise ShapeError(
            f"seeds of input '{port.name}': {rule!r} is given; expected a function of the input that returns one "
            "tangent for each direction. Write lambda x: [...] if the tangents are constant."
        )
    rows = rule(nested([Expr(graph, i) for i in ids], port.shape))
    seeds: list[Seed] = []
    for k, row in enumerate(rows):
        flat = list(entries_of(row))
        if len(flat) != len(ids):
            raise ShapeError(
                f"seeds of input '{port.name}': tangent {k} has {len(flat)} entries; expected {len(ids)}. Return "
                "tangents in the shape of the input."
            )
        seeds.append({i: ref for i, ref in zip(ids, map(graph.reference, flat), strict=True) if ref})
    return seeds
