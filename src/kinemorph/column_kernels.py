"""Derivatives of forward dynamics of robots with many joints: straight-line code up to the columns, loops to solve.

Dense matrices come out, n^2 entries each, from sparse ones: M couples what hangs on each other and nothing else.
Written out, the solution is two thirds of all operations at 24 joints and more beyond; as loops along rows it is short
to compile, and goes through SIMD registers on one state too. Between M and the columns stands the acceleration, which
is solved for by the same factor:

    first ──► M, tau - h ──► factor, a ──► second ──► columns B ──► M X = B
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinemorph.codegen.forest import Forest, factor
from kinemorph.codegen.forest_rows import solve_rows
from kinemorph.codegen.loops import LoopBuilder, LoopProgram, View
from kinemorph.codegen.program import Program
from kinemorph.codegen.repeats import Repeat
from kinemorph.codegen.staging import EARLY, LATE, staged


def forward_dynamics_derivatives(
    system: Program,
    forest: Forest,
    bases: Sequence[int],
    name: str,
    repeats: Sequence[Repeat] = (),
    numbers: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> LoopProgram:
    """dq, dv and dtau, shape (n, n) each, from the program of `forward_system`; `bases` answer for themselves.

    `repeats` are limbs that are alike; `numbers` stand for the inputs of the system in which they differ.
    """
    n, fixed = forest.size, numbers or {}
    parts = staged(system, ("M", "force"), repeats)
    inputs = {port.name: port.shape for port in system.inputs if port.name not in ("a", *fixed)}
    loop = LoopBuilder(name, inputs, {"dq": (n, n), "dv": (n, n), "dtau": (n, n)})
    M, a = loop.buffer("M", (n, n)), loop.buffer("a", (n, 1))
    X = [loop[out] for out in ("dq", "dv", "dtau")]
    arrays = {port: loop[port] for port in inputs} | {"M": M, "force": a, "a": a}
    arrays |= dict(zip(("by_q", "by_v", "by_tau"), X, strict=True))
    arrays |= {table: loop.constant(table, [x for row in rows for x in row]) for table, rows in fixed.items()}
    answered = next(port for port in system.outputs if port.name == "answered")
    arrays |= {port.name: loop.buffer(port.name, port.shape) for port in (*parts.carried, answered)}

    parts.write(loop, EARLY, arrays)
    factor(loop, forest, M)
    solve_rows(loop, forest, M, a)
    parts.write(loop, LATE, arrays)
    solve_rows(loop, forest, M, *X)
    _take_answered(loop, X, arrays["answered"], bases)
    return loop.program()


def _take_answered(loop: LoopBuilder, X: Sequence[View], answered: View, bases: Sequence[int]) -> None:
    """Takes from the translations of every base what they answer alone: six columns by q, six by v."""
    for number, base in enumerate(bases):
        for part in range(2):
            with loop.repeat(3) as k, loop.repeat(6) as c:
                place = X[part][k + base, c + base]
                loop.let(place, lambda x, y: x - y, place, answered[k + 6 * number + 3 * part, c])
