"""Exact derivatives of programs, as programs like any other.

    forward(program)                 how the outputs change along given rates of the inputs        (one direction)
    reverse(program)                 how a weighted sum of the outputs changes with the inputs     (one gradient)
    jacobian(program, of, by)        all partial derivatives of some outputs with respect to some inputs
    sparse_jacobian(program, of, by) the Jacobian without structural zeros, with the row and column of each entry
    hessian(program, of, by)         second derivatives
    pattern(program, of, by)         which entries of a Jacobian can be nonzero

A sweep runs over the nodes of the graph and applies the chain rule to each. The derivatives become nodes of the same
hash-consed graph, so that subexpressions of value and derivative are shared. A derivative that is structurally zero is
the constant 0. No graph coloring is needed: sweeps use sparsity node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from kinemorph.codegen.derivatives.jacobian_entries import Entries, Mode, Seeds, adjoint_seed
from kinemorph.codegen.derivatives.sweeps import pull, push, signed
from kinemorph.codegen.graphs.ports import (
    Names,
    added_ports,
    chosen,
    detached,
    input_ids,
    new_inputs,
    offset,
    only,
    output_refs,
)
from kinemorph.codegen.graphs.program import Port, Program, as_program
from kinemorph.codegen.work_clock import at_work


class SparseJacobian(NamedTuple):
    """Entry k of the program's output `values` is d of[rows[k]] / d by[cols[k]]; entries are counted row by row."""

    program: Program
    rows: npt.NDArray[np.intp]
    cols: npt.NDArray[np.intp]


P = ParamSpec("P")
R = TypeVar("R")


def _derivative(derive: Callable[P, R]) -> Callable[P, R]:
    """A decorator: the time that a function takes to differentiate a program is shown to the user as "deriving"."""

    @wraps(derive)
    def made(*args: P.args, **options: P.kwargs) -> R:
        program = args[0] if args else options.get("program")
        with at_work("deriving", f"{getattr(program, 'name', '')}_{derive.__name__}"):
            return derive(*args, **options)

    return made


# ── along one direction ───────────────────────────────────────────────────────────────────────────────────────────────


@_derivative
def forward(program: Program, by: Names | None = None, *, of: Names | None = None, values: bool = False) -> Program:
    """A program for the Jacobian times a vector: it computes rates of the outputs from rates of the inputs.

    For each input named in `by` (default: all) an input `d_<name>` of the same shape is added after the others; for
    each output named in `of` (default: all) there is an output `d_<name>`. If `values` is true, the outputs named in
    `of` come before these.
    """
    program = detached(as_program(program, "forward"))
    ins, outs = chosen(program.inputs, by, program, "input"), chosen(program.outputs, of, program, "output")
    inputs = added_ports(program, "d_", ins)
    seed: dict[int, int] = {}
    for port, rate in zip(ins, inputs, strict=True):
        seed |= zip(input_ids(program, port), new_inputs(program.graph, rate), strict=True)
    refs = [ref for port in outs for ref in output_refs(program, port)]
    (tangents,) = push(program.graph, program.graph.reachable(refs), [seed])
    found = [signed(tangents, ref) for ref in refs]
    rates = [Port(f"d_{port.name}", port.shape) for port in outs]
    return _derived(program, "forward", rates, found, outs if values else (), inputs)


@_derivative
def reverse(program: Program, of: Names | None = None, *, by: Names | None = None, values: bool = False) -> Program:
    """A program for a vector times the Jacobian: it computes the gradient of a weighted sum of the outputs.

    For each output named in `of` (default: all) an input `w_<name>` of the same shape, its weights, is added after the
    others; for each input named in `by` (default: all) there is an output `g_<name>`. If `values` is true, the outputs
    named in `of` come before these.
    """
    program = detached(as_program(program, "reverse"))
    ins, outs = chosen(program.inputs, by, program, "input"), chosen(program.outputs, of, program, "output")
    entries = [i for port in ins for i in input_ids(program, port)]
    refs = [ref for port in outs for ref in output_refs(program, port)]
    inputs = added_ports(program, "w_", outs)
    weights = [ref for port in inputs for ref in new_inputs(program.graph, port)]
    (adjoints,) = pull(
        program.graph, program.graph.reachable(refs), [adjoint_seed(program.graph, refs, weights)], entries
    )
    found = [adjoints.get(i, 0) for i in entries]
    gradients = [Port(f"g_{port.name}", port.shape) for port in ins]
    return _derived(program, "reverse", gradients, found, outs if values else (), inputs)


# ── all entries ───────────────────────────────────────────────────────────────────────────────────────────────────────


@_derivative
def jacobian(
    program: Program, of: Names, by: Names, *, seeds: Seeds | None = None, mode: Mode = "auto", values: bool = False
) -> Program:
    """A program for all partial derivatives of outputs: for each pair an output `d_<of>_d_<by>`, shape (*of, *by).

    `of`, `by`   one name or several: the outputs to differentiate, and the inputs to differentiate with respect to
    `seeds`      directions to use instead of the entries of an input: {name: function}. The function takes the input
                 (nested lists of expressions) and returns one tangent for each direction, in the shape of the input.
                 The output then has shape (*of, directions). This gives derivatives on a manifold: tangents of a
                 quaternion depend on the quaternion.
    `mode`       "forward" (a sweep for each direction), "reverse" (a sweep for each output entry), or "auto": the mode
                 that takes fewer operations on this graph. Both give the same derivative.
    `values`     whether the outputs named in `of` come before the derivatives
    """
    found = Entries(as_program(program, "jacobian"), of, by, seeds, mode)
    ports: list[Port] = []
    refs: list[int] = []
    for out in found.outs:
        start = offset(found.outs, out)
        for name, shape, directions in found.blocks:
            ports.append(Port(f"d_{out.name}_d_{name}", (*out.shape, *shape)))
            refs += [found.entry(r, d) for r in range(start, start + out.size) for d in directions]
    return _derived(program, "jacobian", ports, refs, found.outs if values else ())


@_derivative
def sparse_jacobian(
    program: Program, of: str, by: str, *, seeds: Seeds | None = None, mode: Mode = "auto"
) -> SparseJacobian:
    """The entries of a Jacobian that are not structurally zero: a program with one output `values`, shape (nnz,).

    Rows and columns of the entries are returned too; they count the entries of `of` and of `by` (or the directions of
    `seeds`) row by row. They are the nonzero entries of `pattern`, sorted by row.
    """
    found = Entries(as_program(program, "sparse_jacobian"), of, by, seeds, mode)
    rows, cols = np.nonzero(found.pattern())
    refs = [found.entry(int(r), int(d)) for r, d in zip(rows, cols, strict=True)]
    return SparseJacobian(_derived(program, "sparse_jacobian", [Port("values", (len(refs),))], refs), rows, cols)


@_derivative
def pattern(program: Program, of: str, by: str, *, seeds: Seeds | None = None) -> npt.NDArray[np.bool_]:
    """Which entries of a Jacobian can be nonzero: bools, shape (entries of `of`, entries of `by` or directions).

    The pattern is structural: it follows from the graph alone, not from numbers.
    """
    return Entries(as_program(program, "pattern"), of, by, seeds, "forward").pattern()


@_derivative
def hessian(program: Program, of: str, by: str, *, values: bool = False) -> Program:
    """A program for the second derivatives of an output with respect to one input, by forward over reverse mode.

    Its output is `dd_<of>_d_<by>`, shape (*of, *by, *by); with `values` the output `of` comes before it. It is
    symmetric to the last bit: one triangle is computed and mirrored.
    """
    program = as_program(program, "hessian")
    port, out = only(program.inputs, by, program, "input"), only(program.outputs, of, program, "output")
    gradients = jacobian(program, out.name, port.name, mode="reverse")
    second = Entries(gradients, gradients.outputs[0].name, port.name, None, "forward")
    n = port.size
    refs = [second.entry(m * n + max(i, j), min(i, j)) for m in range(out.size) for i in range(n) for j in range(n)]
    result = Port(f"dd_{out.name}_d_{port.name}", (*out.shape, *port.shape, *port.shape))
    return _derived(program, "hessian", [result], refs, [out] if values else ())


def _derived(
    program: Program,
    what: str,
    outputs: Sequence[Port],
    refs: Sequence[int],
    values: Sequence[Port] = (),
    inputs: Sequence[Port] = (),
) -> Program:
    """A program in the same graph as `program`; `what` is added to its name.

    Its outputs are the ports `values` of `program`, then `outputs` with the references `refs`. Its inputs are those of
    `program`, then `inputs`.
    """
    kept = [ref for port in values for ref in output_refs(program, port)]
    ports, ins = (*values, *outputs), (*program.inputs, *inputs)
    return Program(f"{program.name}_{what}", ins, ports, program.graph, (*kept, *refs))
