"""Derivatives of forward dynamics of robots with many joints: straight-line code up to the columns, loops to solve.

Dense matrices come out, n^2 entries each, from sparse ones: M couples what hangs on each other and nothing else.
Written out, the solution is two thirds of all operations at 24 joints and more beyond; as loops along rows it is short
to compile, and goes through SIMD registers on one state too. Between M and the columns stands the acceleration, which
is solved for by the same factor:

    first ──► M, tau - h ──► factor, a ──► second ──► columns B ──► M X = B
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.forest import Forest, factor
from kinemorph.codegen.forest_rows import solve_rows
from kinemorph.codegen.loops import LoopBuilder, LoopProgram, View
from kinemorph.codegen.program import Program
from kinemorph.codegen.staging import SHARED, staged


def forward_dynamics_derivatives(system: Program, forest: Forest, bases: Sequence[int], name: str) -> LoopProgram:
    """dq, dv and dtau, shape (n, n) each, from the program of `forward_system`; `bases` answer for themselves."""
    n = forest.size
    first, second = staged(system, ("M", "force"), later=("a",))
    inputs = {port.name: port.shape for port in first.inputs}
    outputs = ("dq", "dv", "dtau")
    loop = LoopBuilder(name, inputs, dict.fromkeys(outputs, (n, n)))
    M, a = loop.buffer("M", (n, n)), loop.buffer("a", (n, 1))
    X = [loop[out] for out in outputs]
    buffers = {port.name: loop.buffer(port.name, port.shape) for port in (first.outputs[-1], second.outputs[-1])}
    given = {"a": a, **{port: loop[port] for port in inputs}, SHARED: buffers[SHARED]}

    loop.call(first, [M, a, buffers[SHARED]], [given[port.name] for port in first.inputs])
    factor(loop, forest, M)
    solve_rows(loop, forest, M, a)
    loop.call(second, [*X, buffers["answered"]], [given[port.name] for port in second.inputs])
    solve_rows(loop, forest, M, *X)
    _take_answered(loop, X, buffers["answered"], bases)
    return loop.program()


def _take_answered(loop: LoopBuilder, X: Sequence[View], answered: View, bases: Sequence[int]) -> None:
    """Takes from the translations of every base what they answer alone: six columns by q, six by v."""
    for number, base in enumerate(bases):
        for part in range(2):
            with loop.repeat(3) as k, loop.repeat(6) as c:
                place = X[part][k + base, c + base]
                loop.let(place, lambda x, y: x - y, place, answered[k + 6 * number + 3 * part, c])
