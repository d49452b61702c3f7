"""Contacts in Coulomb's cone as a loop program: pyramids, sweeps and Newton's method, see `vocabulary.coulomb_cone`."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.vocabulary.blocks import Block, LeastSquares
from kinemorph.vocabulary.complementarity import Complementarity
from kinemorph.vocabulary.coulomb_cone import (
    FANS,
    NEWTON_STEPS,
    PER,
    SHARES,
    SIDES,
    STARTS,
    STATE,
    SWEEPS,
    TOLERANCE,
    UNSOLVED,
    UNSWEPT,
    CoulombCone,
    contact_residual,
    contact_slope,
    contact_state,
    contact_sweep,
    fan_directions,
)

LARGE = 1e38  # the violation before there is a result
EXPRESSIONS = SimpleNamespace(where=lambda c, a, b: c.where(a, b), less=lambda a, b: a < b, sqrt=lambda x: x.sqrt())


class _Point:
    """The arrays of one set of impulses: p (m,), u (m,), the states of the contacts (n, 8), residual (m,), error."""

    def __init__(self, loop: LoopBuilder, name: str, n: int) -> None:
        self.p, self.u = loop.buffer(f"p_{name}", (3 * n,)), loop.buffer(f"u_{name}", (3 * n,))
        self.state = loop.buffer(f"state_{name}", (n, STATE))
        self.residual, self.error = loop.buffer(f"residual_{name}", (3 * n,)), loop.buffer(f"error_{name}")
        self.arrays = (self.p, self.u, self.state, self.residual, self.error)


def coulomb_cone(block: CoulombCone, loop: LoopBuilder, routine: Callable[[Block], LoopProgram]) -> None:
    """Writes code that finds the impulses of contacts; `routine` gives the loop programs of other blocks."""
    n, m = block.n, 3 * block.n
    x = loop["x"]
    b, mu, floor = x.part(m * m, m), x.part(m * m + m, n), x.part(m * m + m + n, n)
    W = loop.buffer("W", (n, n, 9))
    with loop.repeat(n) as i, loop.repeat(n) as j:
        for r in range(3):
            loop.copy(View("W", (3,), W[i, j].offset + 3 * r), x.part((i * 3 + r) * m + j * 3, 3))
    now, trial, best = (_Point(loop, name, n) for name in ("now", "trial", "best"))
    size, going, stage = loop.buffer("size"), loop.buffer("going"), loop.buffer("stage")
    with loop.repeat(m) as k:
        loop.let(size, lambda top, b: top.maximum(abs(b)), size, b[k])
    with loop.repeat(m) as k, loop.repeat(n) as j:
        loop.let(size, lambda top, w, least: top.maximum(abs(w * least)), size, x[k * m + j * 3], floor[j])
    loop.let(best.error, lambda: LARGE)
    loop.let(going, lambda: 1.0)

    def rate(at: _Point) -> None:
        loop.copy(at.u, b)
        with loop.repeat(m) as i, loop.repeat(m) as j:
            loop.let(at.u[i], lambda u, a, p: u + a * p, at.u[i], x[i * m + j], at.p[j])
        loop.let(at.error, lambda: 0.0)
        with loop.repeat(n) as i:
            p, u = at.p.part(i * 3, 3), at.u.part(i * 3, 3)
            loop.let(
                at.state[i],
                lambda W, p, u, mu, floor: contact_state(EXPRESSIONS, _square(W), p, u, mu, floor),
                *(W[i, i], p, u, mu[i], floor[i]),
            )
            loop.let(
                at.residual.part(i * 3, 3),
                lambda state, p, u, floor: contact_residual(EXPRESSIONS, state, p, u, floor),
                *(at.state[i], p, u, floor[i]),
            )
            loop.let(
                at.error,
                lambda worst, r: worst.maximum(abs(r[0])).maximum(abs(r[1])).maximum(abs(r[2])),
                *(at.error, at.residual.part(i * 3, 3)),
            )

    better = loop.buffer("better")

    def keep(one: _Point, other: _Point) -> None:
        """Writes `one` over `other` where its violation is smaller."""
        loop.let(better, lambda a, b: a < b, one.error, other.error)
        with loop.if_(better):
            for source, target in zip(one.arrays, other.arrays, strict=True):
                loop.copy(target, source)

    step, system = loop.buffer("step", (m + 1,)), loop.buffer("system", (m * m + m,))
    by_sweeps, swept = loop.buffer("by_sweeps"), loop.buffer("swept", (m,))
    with loop.while_(going):
        loop.let(by_sweeps, lambda stage: stage >= float(len(FANS)), stage)
        with loop.if_(by_sweeps):
            with loop.repeat(m) as k:
                loop.let(swept[k], _begun, stage, best.error, best.p[k], swept[k])
            _sweeps(loop, W, swept, n, (b, mu, floor))
            loop.copy(now.p, swept)
        with loop.otherwise():
            _pyramid(block, loop, routine, W, best, now, stage, (b, mu, floor))
        rate(now)
        keep(now, best)
        with loop.repeat(NEWTON_STEPS):
            loop.let(going, lambda error, size: error > TOLERANCE * size, best.error, size)
            with loop.if_(going):
                _newton_system(loop, system, W, now, mu, n)
                loop.call(routine(LeastSquares(m, m)), [step], [system])
                start = loop.scratch("start", (m,))
                loop.copy(start, now.p)
                for number, share in enumerate(SHARES):
                    at = trial if number else now
                    with loop.repeat(m) as i:
                        loop.let(at.p[i], lambda p, d, share=share: p + share * d, start[i], step[i])
                    rate(at)
                    if number:
                        keep(trial, now)
                keep(now, best)
        loop.let(stage, lambda stage: stage + 1.0, stage)
        loop.let(going, _goes_on, best.error, size, stage)
    unknown, nothing = loop.buffer("unknown"), loop.buffer("nothing")  # 0, or NaN where there is no result
    loop.let(unknown, lambda e, size, zero: zero / (e <= UNSOLVED * size), best.error, size, nothing)
    with loop.repeat(block.n_in) as k:
        loop.let(unknown, lambda so_far, zero, x: so_far + zero * x, unknown, nothing, x[k])
    with loop.repeat(n) as i:
        loop.let(
            loop["y"].part(i * 3, 3),
            lambda p, floor, unknown: [p[0].maximum(floor) + unknown, p[1] + unknown, p[2] + unknown],
            *(best.p.part(i * 3, 3), floor[i], unknown),
        )
    loop.let(loop["y"][m], lambda e, unknown: e + unknown, best.error, unknown)


def _square(entries: Any) -> list[list[Any]]:
    return [list(entries[3 * r : 3 * r + 3]) for r in range(3)]


def _goes_on(error: Any, size: Any, stage: Any) -> Any:
    """Whether there is another start after `stage` starts; sweeps are for violations that are more than rounding."""
    limit = (stage < float(len(FANS))).where(TOLERANCE, UNSWEPT)
    return (error > limit * size) * (stage < float(STARTS))


def _begun(stage: Any, error: Any, best: Any, swept: Any) -> Any:
    """The impulse from which sweeps begin: the best one so far, if there is one, then where the last sweeps ended."""
    first = (error < LARGE).where(best, 0.0)
    return (stage < len(FANS) + 0.5).where(first, swept)


def _sweeps(loop: LoopBuilder, W: View, p: View, n: int, given: tuple[View, View, View]) -> None:
    """Writes sweeps over all contacts, which change their impulses p (m,) one after the other."""
    (b, mu, floor), x, m = given, loop["x"], 3 * n
    u = loop.buffer("u_swept", (3,))
    with loop.repeat(SWEEPS), loop.repeat(n) as i:
        loop.copy(u, b.part(i * 3, 3))
        with loop.repeat(m) as j:
            for r in range(3):
                loop.let(u[r], lambda u, a, p: u + a * p, u[r], x[(i * 3 + r) * m + j], p[j])
        loop.let(
            p.part(i * 3, 3),
            lambda W, p, u, mu, floor: contact_sweep(EXPRESSIONS, _square(W), p, u, mu, floor),
            *(W[i, i], p.part(i * 3, 3), u, mu[i], floor[i]),
        )


def _newton_system(loop: LoopBuilder, system: View, W: View, at: _Point, mu: View, n: int) -> None:
    """Writes the matrix and the right side of a step of Newton's method into `system`."""
    m = 3 * n
    same = loop.constant("same", [float(i == j) for i in range(n) for j in range(n)], (n, n))

    def rows(state: Any, W: Any, mu: Any, own: Any) -> dict[str, Any]:
        return dict(zip(("r0", "r1", "r2"), contact_slope(state, _square(W), mu, own), strict=True))

    program = trace(rows, {"state": (STATE,), "W": (9,), "mu": (), "own": ()}, name="contact slope")
    with loop.repeat(n) as i, loop.repeat(n) as j:
        outs = [system.part((i * 3 + r) * m + j * 3, 3) for r in range(3)]
        loop.call(program, outs, [at.state[i], W[i, j], mu[i], same[i, j]])
    with loop.repeat(m) as i:
        loop.let(system[i + m * m], lambda r: -r, at.residual[i])


def _pyramid(
    block: CoulombCone,
    loop: LoopBuilder,
    routine: Callable[[Block], LoopProgram],
    W: View,
    best: _Point,
    now: _Point,
    stage: View,
    given: tuple[View, View, View],
) -> None:
    """Writes the linear complementarity problem of the pyramid, its solution, and the impulses `now.p` of it."""
    n, m, x = block.n, 3 * block.n, loop["x"]
    b, mu, floor = given
    turns = [part for fan in FANS for angle in fan for part in (math.cos(angle), math.sin(angle))]
    fans = loop.constant("fans", turns, (len(FANS), 2 * SIDES))
    N = PER * n
    problem, z = loop.buffer("problem", (N * N + N,)), loop.buffer("z", (N + 1,))
    directions, raised = loop.buffer("directions", (n, 2 * SIDES)), loop.buffer("raised", (m,))

    def directed(error: Any, W: Any, p: Any, u: Any, b: Any, turns: Any) -> list[Any]:
        mean = 0.5 * (W[4] + W[8])
        aim = [(error < LARGE).where(u[k] - mean * p[k], b[k]) for k in (1, 2)]
        return fan_directions(EXPRESSIONS, aim, turns)

    def columns(directions: Any) -> list[list[Any]]:
        return [[1.0, 0.0, 0.0], *([0.0, directions[2 * k], directions[2 * k + 1]] for k in range(SIDES))]

    def products(W: Any, left: Any, right: Any) -> dict[str, Any]:
        blocks, first, second = _square(W), columns(left), columns(right)
        seen = [[_dot(row, c) for row in blocks] for c in second]
        return {f"r{a}": [_dot(c, column) for column in seen] for a, c in enumerate(first)}

    def pressing(directions: Any, raised: Any, mu: Any, floor: Any) -> list[Any]:
        return [*(_dot(c, raised) for c in columns(directions)), mu * floor]

    def impulse(z: Any, directions: Any, floor: Any) -> list[Any]:
        terms = columns(directions)
        return [_dot([c[r] for c in terms], z) + (floor if r == 0 else 0.0) for r in range(3)]

    with loop.repeat(n) as i:
        places = [at.part(i * 3, 3) for at in (best.p, best.u, b)]
        loop.let(directions[i], directed, best.error, W[i, i], *places, fans.picked(stage))
    loop.copy(raised, b)
    with loop.repeat(m) as k, loop.repeat(n) as j:
        loop.let(raised[k], lambda s, a, floor: s + a * floor, raised[k], x[k * m + j * 3], floor[j])
    shape = (2 * SIDES,)
    program = trace(products, {"W": (9,), "left": shape, "right": shape}, name="pyramid")
    with loop.repeat(n) as i, loop.repeat(n) as j:
        outs = [problem.part((i * PER + a) * N + j * PER, SIDES + 1) for a in range(SIDES + 1)]
        loop.call(program, outs, [W[i, j], directions[i], directions[j]])
    with loop.repeat(n) as i:
        loop.let(problem.part(i * PER + N * N, PER), pressing, *(directions[i], raised.part(i * 3, 3), mu[i], floor[i]))
        last = i * PER + SIDES + 1
        loop.copy(problem[last * N + i * PER], mu[i])
        with loop.repeat(1, SIDES + 1) as k:
            loop.let(problem[last * N + i * PER + k], lambda: -1.0)
            loop.let(problem[(i * PER + k) * N + last], lambda: 1.0)
    loop.call(routine(Complementarity(N)), [z], [problem])
    with loop.repeat(n) as i:
        loop.let(now.p.part(i * 3, 3), impulse, *(z.part(i * PER, SIDES + 1), directions[i], floor[i]))


def _dot(a: Any, b: Any) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        if not (type(x) is float and x == 0.0):
            total = total + x * y
    return total
