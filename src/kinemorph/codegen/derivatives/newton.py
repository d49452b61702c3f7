"""Newton's iteration for a residual program, with exact derivatives: all iterations are one call of machine code."""

from __future__ import annotations

from dataclasses import replace

from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program, as_program
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.errors import CompileError
from kinemorph.vocabulary.blocks import LeastSquares

HALVINGS = 20  # how often a Newton step that does not lower the residual is halved
HUGE = 1e30  # a tolerance beyond it counts as infinite, in float32 too
LARGEST = 1e15  # the largest limit: whole numbers up to it are exact, and no run makes more iterations


def newton(residual: Program, by: str = "x") -> LoopProgram:
    """A loop program that finds x with residual(x, ...) = 0 by Newton's iteration with exact derivatives.

    `residual` has one output (m,); `by` names the input (n,) to solve for, whose value is the initial guess. Steps are
    least-squares steps of least norm, so m and n may differ and rows may repeat; a step that does not lower the largest
    residual is halved. The loop program takes the inputs of `residual`, then `tolerance` () and `limit` (), the largest
    number of iterations. It returns `solution`, `error` (the largest residual) and `iterations`; if `error` is above
    the tolerance, it has not converged. `solution` and `error` are NaN if the tolerance or the limit is negative or
    not finite.
    """
    residual = as_program(residual, "newton")
    places = {port.name: port for port in residual.inputs}
    if by not in places or len(residual.outputs) != 1:
        listed = ", ".join(places)
        raise CompileError(
            f"newton: program '{residual.name}' has the inputs {listed} and {len(residual.outputs)} outputs; "
            f"expected an input '{by}' and one output. Name the input to solve for in `by`."
        )
    m, n = residual.outputs[0].size, places[by].size
    ends = {"solution": (n,), "error": (), "iterations": ()}
    settings: dict[str, tuple[int, ...]] = {"tolerance": (), "limit": ()}
    for name in (name for name in (*settings, *ends) if name in places):
        raise CompileError(
            f"newton: program '{residual.name}' has an input '{name}', a name that the loop program around it uses "
            "itself. Rename the input."
        )
    shapes = {port.name: port.shape for port in residual.inputs}
    loop = LoopBuilder(f"newton of {residual.name}", shapes | settings, ends)
    x, error, count = loop["solution"], loop["error"], loop["iterations"]
    system, found = loop.buffer("system", (m * n + m,)), loop.buffer("found", (n + 1,))
    rest, trial, size = loop.buffer("rest", (m,)), loop.buffer("trial", (n,)), loop.buffer("size")
    going, share, worse = loop.buffer("going"), loop.buffer("share"), loop.buffer("worse")
    slope = jacobian(residual, residual.outputs[0].name, by)

    def inputs(at: View) -> list[View]:
        return [at if port.name == by else loop[port.name] for port in residual.inputs]

    def measure(at: View, size: View) -> None:
        loop.call(residual, [rest], inputs(at))
        loop.let(size, lambda: 0.0)
        with loop.repeat(m) as i:
            loop.let(size, lambda e, r: e.maximum(abs(r)), size, rest[i])  # a NaN stays

    def look() -> None:
        loop.let(
            going,
            lambda e, tol, k, limit: (tol < e) * (k < limit),
            *(error, loop["tolerance"], count, loop["limit"]),
        )

    valid = loop.buffer("valid")
    loop.let(
        valid,
        lambda tol, limit: (tol >= 0.0) * (tol <= HUGE) * (limit >= 0.0) * (limit <= LARGEST),
        *(loop["tolerance"], loop["limit"]),
    )
    _copy_if(loop, valid, x, loop[by])
    loop.let(count, lambda: 0.0)
    measure(x, error)
    _copy_if(loop, valid, error, error)
    look()
    with loop.while_(going):
        loop.call(slope, [system.part(0, m * n)], inputs(x))
        with loop.repeat(m) as i:
            loop.let(system[i + m * n], lambda r: -r, rest[i])
        loop.call(routine(LeastSquares(m, n, 1)), [found], [system])
        loop.let(share, lambda: 2.0)
        loop.let(worse, lambda: 1.0)
        with loop.while_(worse):
            loop.let(share, lambda s: 0.5 * s, share)
            with loop.repeat(n) as i:
                loop.let(trial[i], lambda x, s, d: x + s * d, x[i], share, found[i])
            measure(trial, size)
            loop.let(worse, lambda e, old, s: (1.0 - (e < old)) * (s > 0.5**HALVINGS), size, error, share)
        loop.copy(x, trial)
        loop.copy(error, size)
        loop.let(count, lambda k: k + 1.0, count)
        look()
    return loop.program()


def _copy_if(loop: LoopBuilder, valid: View, out: View, source: View) -> None:
    """Writes `source` to `out`, or NaN if `valid` is 0, by multiplying and dividing by `valid` (exact for 1)."""
    source, out = replace(source, shape=(source.size,)), replace(out, shape=(out.size,))
    loop.let(out, lambda x, ok: [entry * ok / ok for entry in x], source, valid)
