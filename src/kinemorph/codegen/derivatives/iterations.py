"""Loops that any program can run in: many steps of fixed size, steps that choose their own size, Newton's iteration.

Each takes a Program and gives a LoopProgram, so that a whole run is one call of machine code. They have never heard of
a robot; a method is data (a `Tableau`), the loop around it is written once. Settings that mean nothing, as a broken
number of steps or a negative tolerance, give NaN in every result, never a run that ends at once or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Port, Program, as_program
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_program import LoopBuilder, LoopProgram, View, runnable
from kinemorph.errors import CompileError
from kinemorph.vocabulary.blocks import LeastSquares

Row = tuple[float, ...]


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: stage s is at time c[s], state y + dt sum a[s][j] k[j]; the step is by b.

    `error`, where the method has one, are the weights of the difference to its companion of lower order.
    """

    a: tuple[Row, ...]
    b: Row
    c: Row
    order: int
    error: Row = ()

    def __post_init__(self) -> None:
        stages = len(self.b)
        lengths = {"a": len(self.a), "c": len(self.c), "error": len(self.error) or stages}
        for name, length in lengths.items():
            if length != stages or not stages:
                raise CompileError(f"tableau: {name} has {length} entries and b {stages}; expected one for each stage.")
        for s, row in enumerate(self.a):
            if len(row) > s:
                raise CompileError(
                    f"tableau: row {s} of a has {len(row)} entries; expected at most {s}, one for each earlier stage. "
                    "Implicit methods are not for these loops."
                )

    @property
    def first_same_as_last(self) -> bool:
        """Whether the last stage of a step is the first one of the next."""
        return self.a[-1] == self.b[: len(self.a[-1])] and self.c[-1] == 1.0 and self.b[-1] == 0.0


EULER = Tableau(a=((),), b=(1.0,), c=(0.0,), order=1)
HEUN = Tableau(a=((), (1.0,)), b=(0.5, 0.5), c=(0.0, 1.0), order=2)
RK4 = Tableau(
    a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), c=(0.0, 0.5, 0.5, 1.0), order=4
)
DORMAND_PRINCE = Tableau(  # Dormand & Prince (1980), RK5(4)7M
    a=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    b=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
    c=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    order=5,
    error=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
)


LARGEST = 1e15  # of what a setting may be: whole numbers up to it are exact, and no run ends that makes more passes


def fixed_steps(rate: Program | LoopProgram, tableau: Tableau = RK4) -> LoopProgram:
    """`steps` steps of size `dt` of  dy/dt = rate(t, y, ...).

    `rate` has an input `y` and one output of the same size; an input `t` is the time, all others are held. The loop
    program takes the inputs of `rate`, then `dt` () and `steps` (), and gives `y_end` and `t_end`; both are NaN where
    `steps` is not a whole number from 0 up.
    """
    rate = _checked_rate(rate, tableau, "fixed_steps")
    loop, n = _around(rate, {"dt": (), "steps": ()}, {"y_end": n_of(rate), "t_end": ()})
    y, t, dt = loop["y_end"], loop["t_end"], loop["dt"]
    begun = loop["t"] if "t" in _names(rate.inputs) else loop.constant("t", [0.0], ())
    valid, steps = loop.buffer("valid"), loop.buffer("passes")
    loop.let(valid, lambda k: (k >= 0.0) * (k <= LARGEST) * k.floor().equals(k), loop["steps"])
    loop.let(steps, lambda ok, k: ok.where(k, 0.0), valid, loop["steps"])
    _copy_if(loop, valid, y, loop["y"])
    _copy_if(loop, valid, t, begun)
    taken = loop.buffer("taken")
    slopes = _slopes(loop, tableau, n)
    with loop.repeat(steps):
        _stages(loop, rate, tableau, y, t, dt, slopes)
        combine(loop, y, y, dt, slopes, tableau.b)
        loop.let(taken, lambda k: k + 1.0, taken)
        loop.let(t, lambda t0, k, dt: t0 + k * dt, begun, taken, dt)
    return loop.program()


HUGE = 1e30  # beyond it a time or tolerance counts as infinite, in float32 too
SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0  # of the step size control


def adaptive_steps(rate: Program | LoopProgram, tableau: Tableau = DORMAND_PRINCE) -> LoopProgram:
    """Steps of  dy/dt = rate(t, y, ...)  from `t` to `until` whose size keeps the error within tolerances.

    The loop program takes the inputs of `rate` (with `t` as in `fixed_steps`; it is added where `rate` has none), then
    `until` (), `dt` () the first step, `rtol` (), `atol` () and `limit` (), the most steps to try. It gives `y_end`,
    `t_end` (short of `until` where the limit was reached or the steps became too small to count), `dt_end` the next
    step, `accepted` and `rejected`. The error of a step is the root mean square of  error / (atol + rtol |y|). Results
    are NaN where `dt` is not above 0, `until` before `t`, a tolerance or the limit negative, both tolerances 0, or any
    of them is not finite.
    """
    rate = _checked_rate(rate, tableau, "adaptive_steps")
    if not tableau.error:
        raise CompileError("adaptive_steps: the tableau has no error weights. Use DORMAND_PRINCE, or fixed_steps.")
    more = {name: () for name in ("until", "dt", "rtol", "atol", "limit")}
    if "t" not in _names(rate.inputs):
        more = {"t": (), **more}
    ends = {"y_end": n_of(rate), "t_end": (), "dt_end": (), "accepted": (), "rejected": ()}
    loop, n = _around(rate, more, ends)
    y, t, dt = loop["y_end"], loop["t_end"], loop["dt_end"]
    until, accepted, rejected = loop["until"], loop["accepted"], loop["rejected"]
    valid = loop.buffer("valid")
    loop.let(
        valid,
        lambda t, until, dt, rtol, atol, limit: (
            ((t <= until) * (abs(t) <= HUGE) * (abs(until) <= HUGE) * (dt > 0.0) * (dt <= HUGE) * (rtol >= 0.0))
            * ((rtol <= HUGE) * (atol >= 0.0) * (atol <= HUGE) * (rtol + atol > 0.0) * (limit >= 0.0))
            * (limit <= LARGEST)
        ),
        *(loop[name] for name in ("t", "until", "dt", "rtol", "atol", "limit")),
    )
    for out, source in ((y, loop["y"]), (t, loop["t"]), (dt, loop["dt"])):
        _copy_if(loop, valid, out, source)
    for count in (accepted, rejected):
        loop.let(count, lambda: 0.0)
    going, step, error, good = (loop.buffer(name) for name in ("going", "step", "error", "good"))
    new, off = loop.buffer("new", (n,)), loop.buffer("off", (n,))
    slopes = _slopes(loop, tableau, n)

    def look() -> None:
        loop.let(
            going,
            lambda t, until, dt, a, r, limit: (t < until) * (a + r < limit) * (t + 0.01 * dt > t),
            *(t, until, dt, accepted, rejected, loop["limit"]),
        )

    look()
    fresh = loop.buffer("fresh")  # whether the first stage has to be computed
    loop.let(fresh, lambda: 1.0)
    with loop.while_(going):
        loop.let(step, lambda dt, t, until: dt.minimum(until - t), dt, t, until)
        with loop.if_(fresh):
            _rate_at(loop, rate, y, t, slopes[0])
        _stages(loop, rate, tableau, y, t, step, slopes, first=1)
        combine(loop, new, y, step, slopes, tableau.b)
        combine(loop, off, None, step, slopes, tableau.error)
        loop.let(error, lambda: 0.0)
        with loop.repeat(n) as i:
            loop.let(
                error,
                lambda e, d, old, new, rtol, atol: e + (d / (atol + rtol * abs(old).maximum(abs(new)))) ** 2 / n,
                *(error, off[i], y[i], new[i], loop["rtol"], loop["atol"]),
            )
        loop.let(error, lambda e: e.sqrt(), error)
        loop.let(good, lambda e: e <= 1.0, error)
        exponent = -1.0 / tableau.order
        loop.let(
            dt,
            lambda h, e: (
                h * (e <= 1e100).where((SAFETY * e.maximum(1e-10) ** exponent).minimum(GROW).maximum(SHRINK), SHRINK)
            ),
            *(step, error),
        )
        with loop.if_(good):
            loop.copy(y, new)
            loop.let(t, lambda t, h, until: (t + h < until).where(t + h, until), t, step, until)
            loop.let(accepted, lambda k: k + 1.0, accepted)
            if tableau.first_same_as_last:
                loop.copy(slopes[0], slopes[-1])
                loop.let(fresh, lambda: 0.0)
            else:
                loop.let(fresh, lambda: 1.0)
        with loop.otherwise():
            loop.let(rejected, lambda k: k + 1.0, rejected)
            loop.let(fresh, lambda: 0.0)
        look()
    return loop.program()


HALVINGS = 20  # of a Newton step that does not lead down


def newton(residual: Program, by: str = "x") -> LoopProgram:
    """x with residual(x, ...) = 0 near a first guess: Newton's iteration with exact derivatives.

    `residual` has one output (m,); `by` names its input (n,) that is sought. Steps are least-squares steps of least
    norm, so m and n may differ and rows may repeat; a step that does not lower the largest residual is halved. The
    loop program takes the inputs of `residual`, then `tolerance` () and `limit` (), and gives `solution`, `error` (the
    largest residual) and `iterations`; where `error` is above the tolerance, it has not converged. `solution` and
    `error` are NaN where the tolerance or the limit is negative or not finite.
    """
    residual = as_program(residual, "newton")
    places = {port.name: port for port in residual.inputs}
    if by not in places or len(residual.outputs) != 1:
        listed = ", ".join(places)
        raise CompileError(
            f"newton: program '{residual.name}' has the inputs {listed} and {len(residual.outputs)} outputs; "
            f"expected an input '{by}' and one output."
        )
    m, n = residual.outputs[0].size, places[by].size
    ends = {"solution": (n,), "error": (), "iterations": ()}
    loop = _builder("newton", residual, {"tolerance": (), "limit": ()}, ends)
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


# ── parts of a step ───────────────────────────────────────────────────────────────────────────────────────────────────


def _checked_rate(rate: object, tableau: object, what: str) -> Program | LoopProgram:
    if not isinstance(tableau, Tableau):
        raise CompileError(f"{what}: {tableau!r} is given as the method; expected a Tableau, as RK4 of this module.")
    return runnable(rate, what)


def n_of(rate: Program | LoopProgram) -> tuple[int]:
    """The size of the state `y` of a rate program, as a shape; checks that its output has that size."""
    sizes = {port.name: port.size for port in rate.inputs}
    if sizes.get("y", -1) != sum(port.size for port in rate.outputs) or len(rate.outputs) != 1:
        raise CompileError(
            f"program '{rate.name}' has the inputs {sizes} and outputs of sizes "
            f"{[port.size for port in rate.outputs]}; expected an input 'y' and one output of its size."
        )
    return (sizes["y"],)


def _around(rate: Program | LoopProgram, more: dict[str, Any], ends: dict[str, Any]) -> tuple[LoopBuilder, int]:
    (n,) = n_of(rate)
    return _builder("steps", rate, more, ends), n


def _builder(what: str, program: Program | LoopProgram, more: dict[str, Any], ends: dict[str, Any]) -> LoopBuilder:
    """A loop that takes the inputs of a program, then its own."""
    shapes = {port.name: port.shape for port in program.inputs}
    for name in (name for name in (*more, *ends) if name in shapes):
        raise CompileError(
            f"{what}: program '{program.name}' has an input '{name}', and the loop around it has a number of its own "
            "by that name. Rename the input."
        )
    return LoopBuilder(f"{what} of {program.name}", shapes | more, ends)


def _copy_if(loop: LoopBuilder, valid: View, out: View, source: View) -> None:
    """Writes `source` to `out`, NaN where `valid` is 0; the quotient is exact where it is 1."""
    source, out = replace(source, shape=(source.size,)), replace(out, shape=(out.size,))
    loop.let(out, lambda x, ok: [entry * ok / ok for entry in x], source, valid)


def _names(ports: Sequence[Port]) -> list[str]:
    return [port.name for port in ports]


def _slopes(loop: LoopBuilder, tableau: Tableau, n: int) -> list[View]:
    loop.buffer("stage", (n,))
    loop.buffer("stage_time")
    return [loop.buffer(f"k{s}", (n,)) for s in range(len(tableau.b))]


def _rate_at(loop: LoopBuilder, rate: Program | LoopProgram, y: View, t: View, out: View) -> None:
    places = {"y": y, "t": t}
    loop.call(rate, [out], [places.get(port.name, loop[port.name]) for port in rate.inputs])


def _stages(
    loop: LoopBuilder,
    rate: Program | LoopProgram,
    tableau: Tableau,
    y: View,
    t: View,
    dt: View,
    slopes: Sequence[View],
    first: int = 0,
) -> None:
    """The slopes of all stages from `first` on."""
    stage, moment = loop["stage"], loop["stage_time"]
    for s in range(first, len(slopes)):
        place, time = y, t
        if any(tableau.a[s]):
            combine(loop, stage, y, dt, slopes, tableau.a[s])
            place = stage
        if tableau.c[s]:
            share = tableau.c[s]
            loop.let(moment, lambda t, dt, share=share: t + share * dt, t, dt)
            time = moment
        _rate_at(loop, rate, place, time, slopes[s])


def combine(
    loop: LoopBuilder, out: View, y: View | None, dt: View, slopes: Sequence[View], weights: Sequence[float]
) -> None:
    """Writes out = y + dt sum weights[j] slopes[j], entry by entry; without y where it is None."""
    if not out.size:
        return
    used = [(weight, slope) for weight, slope in zip(weights, slopes, strict=False) if weight]

    def total(dt: Any, *values: Any) -> Any:
        ks = values if y is None else values[1:]
        change = dt * sum((weight * k for (weight, _), k in zip(used, ks, strict=True)), 0.0)
        return change if y is None else values[0] + change

    with loop.repeat(out.size) as i:
        start = [] if y is None else [y[i]]
        loop.let(out[i], total, dt, *start, *(slope[i] for _, slope in used))
