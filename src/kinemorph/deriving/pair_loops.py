"""Mass matrix and derivatives of robots with many joints: arrays over all axes are straight-line code, the products of
all pairs of axes are loops.

Unrolled, the pairs of a chain of 200 links are hundreds of thousands of operations, slow to compile and too long for
any instruction cache. As loops over arrays they are short, and the innermost loop runs along contiguous memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.branch_matrix import Forest, factor
from kinemorph.codegen.loops.branch_matrix_rows import solve_rows
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View

Places = Sequence[tuple[int, int]]
# the arrays whose products are summed to a matrix entry: (those of the axis nearer to the root, those of the other)
Factors = tuple[tuple[str, ...], tuple[str, ...]]

MASS: Factors = (("S",), ("t",))
# entry (j, i) and entry (i, j) for an axis i that an axis j carries
BY_Q: tuple[Factors, Factors] = ((("S",), ("u",)), (("psi1", "psi2"), ("P", "t")))
BY_V: tuple[Factors, Factors] = ((("S",), ("w",)), (("S:angular", "mixed"), ("P", "t")))


def mass_matrix(arrays: Program, forest: Forest, inside: Places, name: str) -> LoopProgram:
    """The loop program of M, shape (n, n), from the program `arrays` of `momentum_arrays`.

    `inside` are the entries (row, column) of pairs of axes of one link.
    """
    n = forest.size
    loop = _around(arrays, {"out": (n, n)}, name)
    M = loop["out"]
    _clear(loop, M)
    _products(loop, forest, M, MASS, MASS)
    _set_inside(loop, M, inside, loop["inside"])
    return loop.program()


def inverse_dynamics_derivatives(arrays: Program, forest: Forest, inside: Places, name: str) -> LoopProgram:
    """The loop program of dq, dv and da, shape (n, n) each, from the program `arrays` of `derivative_arrays`."""
    n = forest.size
    loop = _around(arrays, {"dq": (n, n), "dv": (n, n), "da": (n, n)}, name)
    _three_matrices(loop, forest, inside, loop["dq"], loop["dv"], loop["da"])
    return loop.program()


def forward_dynamics_derivatives(arrays: Program, forest: Forest, inside: Places, name: str) -> LoopProgram:
    """The loop program of dq, dv and dtau, shape (n, n) each, from `derivative_arrays` at a = FD(q, v, tau)."""
    n = forest.size
    loop = _around(arrays, {"dq": (n, n), "dv": (n, n), "dtau": (n, n)}, name)
    M = loop.buffer("M", (n, n))
    dq, dv, dtau = (loop[out] for out in ("dq", "dv", "dtau"))
    _three_matrices(loop, forest, inside, dq, dv, M)
    _clear(loop, dtau)
    with loop.repeat(n) as i:
        loop.let(dtau[i, i], lambda: -1.0)
    factor(loop, forest, M)
    solve_rows(loop, forest, M, dq, dv, dtau)
    for matrix in (dq, dv, dtau):
        with loop.repeat(n) as i, loop.repeat(n) as c:
            loop.let(matrix[i, c], lambda x: -x, matrix[i, c])
    return loop.program()


# ── parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _around(arrays: Program, outputs: dict[str, tuple[int, ...]], name: str) -> LoopBuilder:
    """A builder of a loop program with the inputs of `arrays`, which calls `arrays` with its outputs as buffers."""
    loop = LoopBuilder(name, {port.name: port.shape for port in arrays.inputs}, outputs)
    buffers = [loop.buffer(port.name, port.shape) for port in arrays.outputs]
    loop.call(arrays, buffers, [loop[port.name] for port in arrays.inputs])
    return loop


def _clear(loop: LoopBuilder, matrix: View) -> None:
    n, m = matrix.shape
    with loop.repeat(n) as i, loop.repeat(m) as j:
        loop.let(matrix[i, j], lambda: 0.0)


def _three_matrices(loop: LoopBuilder, forest: Forest, inside: Places, dq: View, dv: View, da: View) -> None:
    for matrix, factors, entries in ((dq, BY_Q, "inside_q"), (dv, BY_V, "inside_v"), (da, (MASS, MASS), "inside_a")):
        _clear(loop, matrix)
        _products(loop, forest, matrix, *factors)
        _set_inside(loop, matrix, inside, loop[entries])


def _products(loop: LoopBuilder, forest: Forest, out: View, up: Factors, down: Factors) -> None:
    """Adds to the loop program: compute the entries of `out` for all pairs of axes j, i where j carries i.

    out[j, i], above the diagonal, is the sum of products of the arrays named in `up`; out[i, j], below it, of those in
    `down`.
    """
    forest.by_columns(loop, lambda j, i: _entry(loop, out[j, i], up, j, i))
    forest.by_rows(loop, lambda i, j: _entry(loop, out[i, j], down, j, i))


def _entry(loop: LoopBuilder, out: View, factors: Factors, j: Affine, i: Affine) -> None:
    near, far = ([row for name in names for row in _components(loop, name)] for names in factors)
    count = len(near)

    def product(*values: Any) -> Any:
        return sum(x * y for x, y in zip(values[:count], values[count:], strict=True))

    loop.let(out, product, *(row[j] for row in near), *(row[i] for row in far))


def _components(loop: LoopBuilder, name: str) -> list[View]:
    name, _, part = name.partition(":")
    rows = [loop[name][k] for k in range(loop[name].shape[0])]
    return rows[3:] if part == "angular" else rows


def _set_inside(loop: LoopBuilder, matrix: View, places: Places, entries: View) -> None:
    """Adds to the loop program: copy `entries`, which belong to two axes of one link each, to `places` (row, column).

    Places that follow each other down a diagonal are copied by one loop.
    """
    flat = View(entries.array, (len(places),), entries.offset)
    for first, count in _diagonal_runs(places):
        if count > 1:
            with loop.repeat(count) as k:
                j, i = places[first]
                loop.copy(matrix[k + j, k + i], flat[k + first])
        else:
            loop.copy(matrix[places[first]], flat[first])


def _diagonal_runs(places: Places) -> list[tuple[int, int]]:
    """The runs of places (row, column) that follow each other down a diagonal, each as (index of the first, count)."""
    runs: list[tuple[int, int]] = []
    for k, (j, i) in enumerate(places):
        if runs:
            first, count = runs[-1]
            if places[first] == (j - count, i - count):
                runs[-1] = (first, count + 1)
                continue
        runs.append((k, 1))
    return runs
