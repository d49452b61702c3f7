"""Loop programs: what the statements mean, on every backend; and loops of steps and of Newton's iteration."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.newton import newton
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View
from kinemorph.codegen.loops.printing import format_loops
from kinemorph.errors import CompileError
from support.tools.program_runs import all_ways, assert_agrees

STATES = 21  # two full vectors of 8 and a rest


def powers() -> LoopProgram:
    loop = LoopBuilder("powers", inputs={"x": ()}, outputs={"y": (8,)})
    x, y = loop["x"], loop["y"]
    loop.let(y[0], lambda: 1.0)
    with loop.repeat(1, 8) as i:
        loop.let(y[i], lambda before, x: before * x, y[i - 1], x)
    return loop.program()


def collatz() -> LoopProgram:
    """Steps until 1 is reached: every state takes its own number of passes."""
    loop = LoopBuilder("collatz", inputs={"n": ()}, outputs={"steps": (), "top": ()})
    steps, top = loop["steps"], loop["top"]
    x, going, odd = loop.buffer("x"), loop.buffer("going"), loop.buffer("odd")
    loop.copy(x, loop["n"])
    loop.copy(top, loop["n"])
    loop.let(steps, lambda: 0.0)
    loop.let(going, lambda x: x > 1.0, x)
    with loop.while_(going):
        loop.let(odd, lambda x: x - 2.0 * (0.5 * x).floor(), x)
        with loop.if_(odd):
            loop.let(x, lambda x: 3.0 * x + 1.0, x)
        with loop.otherwise():
            loop.let(x, lambda x: 0.5 * x, x)
        loop.let(top, lambda a, b: a.maximum(b), top, x)
        loop.let(steps, lambda k: k + 1.0, steps)
        loop.let(going, lambda x: x > 1.0, x)
    return loop.program()


def triangle() -> LoopProgram:
    """A triangular double loop, then a loop whose end stands in an array, then one entry picked by each state."""
    loop = LoopBuilder(
        "triangle", inputs={"A": (4, 4), "count": (), "k": ()}, outputs={"s": (4,), "t": (), "pick": (4,)}
    )
    A, s, t = loop["A"], loop["s"], loop["t"]
    with loop.repeat(4) as i:
        loop.let(s[i], lambda: 0.0)
        with loop.repeat(i, 4) as j:
            loop.let(s[i], lambda s, a, b: s + a * b, s[i], A[i, j], A[3 - i, j])
    loop.let(t, lambda: 0.0)
    with loop.repeat(1, loop["count"]) as _:
        loop.let(t, lambda t, a: 0.5 * t + a, t, A[2, 1])
    loop.copy(loop["pick"], A.picked(loop["k"]))
    return loop.program()


def nested() -> LoopProgram:
    """Calls a loop program again and again: its buffers are zero at each call."""
    inner = LoopBuilder("inner", inputs={"x": (2,)}, outputs={"y": ()})
    total = inner.buffer("total")
    with inner.repeat(3):
        inner.let(total, lambda s, x: s + x[0] * x[1], total, inner["x"])
    inner.copy(inner["y"], total)
    called = inner.program()
    loop = LoopBuilder("outer", inputs={"x": (6,)}, outputs={"y": (3,), "turned": (6,)})
    with loop.repeat(3) as i:
        loop.call(called, [loop["y"][i]], [loop["x"].part(2 * i, 2)])
    loop.copy(loop["turned"], loop["x"])
    # what is read may overlap what is written: a rotation in place
    loop.let(loop["turned"].part(1, 5), lambda x: [*x[1:], x[0]], loop["turned"].part(0, 5))
    return loop.program()


def rng_inputs(program: LoopProgram, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(STATES, *port.shape)) for port in program.inputs]


@all_ways
def test_counted_loops(way: str) -> None:
    program = powers()
    inputs = rng_inputs(program)
    (y,) = assert_agrees(way, program, inputs)
    assert np.allclose(y, inputs[0][:, None] ** np.arange(8), rtol=1e-14)


@all_ways
def test_each_state_leaves_a_while_by_itself(way: str) -> None:
    steps, top = assert_agrees(way, collatz(), [np.arange(1.0, STATES + 1.0)], tolerance=0.0)
    assert list(steps[:9]) == [0, 1, 7, 2, 5, 8, 16, 3, 19] and top[6] == 52
    counts, _ = assert_agrees(way, collatz(), [np.array([np.nan, 27.0, -3.0])], tolerance=0.0)
    assert list(counts) == [0, 111, 0]  # a NaN goes nowhere


@all_ways
def test_bounds_and_picks_of_each_state(way: str) -> None:
    program = triangle()
    A, count, k = rng_inputs(program)
    count[:] = np.resize([0.0, 1.0, 2.0, 2.5, 7.0, -3.0, np.nan], STATES)
    k[:] = np.resize([0.0, 1.0, 2.0, 3.0, -2.0, 9.0, np.nan], STATES)  # outside is kept inside
    s, t, pick = assert_agrees(way, program, [A, count, k])
    expected = [sum(A[0, i, j] * A[0, 3 - i, j] for j in range(i, 4)) for i in range(4)]
    assert np.allclose(s[0], expected, rtol=1e-13)
    a = A[:, 2, 1]
    assert np.allclose(t[:7], [0.0, 0.0, a[2], 1.5 * a[3], a[4] * (2.0 - 0.5**5), 0.0, 0.0], rtol=1e-14)
    rows = [0, 1, 2, 3, 0, 3, 0]
    assert np.array_equal(pick[:7], A[np.arange(7), rows])


@all_ways
def test_loop_programs_call_loop_programs(way: str) -> None:
    program = nested()
    (x,) = rng_inputs(program)
    y, turned = assert_agrees(way, program, [x])
    assert np.allclose(y, 3.0 * x[:, ::2] * x[:, 1::2], rtol=1e-14)
    assert np.array_equal(turned, x[:, [0, 1, 2, 3, 4, 0]])


@all_ways
def test_an_empty_view_moves_nothing(way: str) -> None:
    loop = LoopBuilder("empty", inputs={"x": (3,)}, outputs={"y": (3,)})
    loop.copy(loop["y"], loop["x"])
    with loop.if_(loop["x"][0]):
        loop.copy(loop["y"].part(1, 0), loop["x"].part(0, 0))
        loop.copy(loop["y"][0], loop["x"][0])
    (x,) = rng_inputs(loop.program())
    (y,) = assert_agrees(way, loop.program(), [x])
    assert np.array_equal(y, x)


# ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def swinging() -> LoopProgram:
    """Steps of the classical Runge-Kutta method for a driven pendulum: as many as each state says."""
    rate = trace(lambda t, y, g: [y[1], -g * y[0].sin() + 0.3 * t.cos()], {"t": (), "y": (2,), "g": ()}, name="swing")
    loop = LoopBuilder("steps", {"y": (2,), "g": (), "dt": (), "steps": ()}, {"end": (2,), "t": ()})
    end, t, dt = loop["end"], loop["t"], loop["dt"]
    start, stage, k = (loop.buffer(name, (2,)) for name in ("start", "stage", "k"))
    moment, taken = loop.buffer("moment"), loop.buffer("taken")
    loop.copy(end, loop["y"])
    loop.let(t, lambda: 0.0)
    with loop.repeat(loop["steps"]):
        loop.copy(start, end)
        for share, weight in ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
            ahead = (lambda y, k, h, c=share: [y[0] + c * h * k[0], y[1] + c * h * k[1]], start, k, dt)
            added = (lambda y, k, h, b=weight: [y[0] + b * h * k[0], y[1] + b * h * k[1]], end, k, dt)
            loop.let(stage, *ahead)
            loop.let(moment, lambda t, h, c=share: t + c * h, t, dt)
            loop.call(rate, [k], [moment, stage, loop["g"]])
            loop.let(end, *added)
        loop.let(taken, lambda n: n + 1.0, taken)
        loop.let(t, lambda n, h: n * h, taken, dt)
    return loop.program()


def exact(y: np.ndarray, g: float, end: float) -> np.ndarray:
    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -g * np.sin(y[0]) + 0.3 * np.cos(t)]

    return solve_ivp(rate, (0.0, end), y, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@all_ways
def test_steps_that_each_state_counts(way: str) -> None:
    rng = np.random.default_rng(4)
    y, g = rng.normal(size=(STATES, 2)), rng.uniform(5.0, 15.0, size=STATES)
    steps = np.resize([100.0, 40.0, 0.0], STATES)
    end, time = assert_agrees(way, swinging(), [y, g, np.full(STATES, 0.01), steps], 1e-12)
    assert np.allclose(time, 0.01 * steps, rtol=1e-15)
    assert np.abs(end[0] - exact(y[0], g[0], 1.0)).max() < 1e-7
    assert np.array_equal(end[2], y[2])


def circle() -> Any:
    return trace(
        lambda x, c: [x[0] * x[0] + x[1] * x[1] - c, x[0] - x[1] * x[1] * x[1]], {"x": (2,), "c": ()}, name="circle"
    )


@all_ways
def test_newton(way: str) -> None:
    rng = np.random.default_rng(6)
    x, c = rng.uniform(0.5, 2.0, size=(STATES, 2)), rng.uniform(1.0, 4.0, size=STATES)
    tolerance, limit = np.full(STATES, 1e-13), np.full(STATES, 60.0)
    limit[4] = 1.0
    found, error, passes = assert_agrees(way, newton(circle()), [x, c, tolerance, limit], 1e-11)
    done = np.arange(STATES) != 4
    assert (error[done] <= 1e-13).all() and error[4] > 1e-13 and passes[4] == 1.0
    assert np.abs(found[done, 0] ** 2 + found[done, 1] ** 2 - c[done]).max() < 1e-12


@all_ways
def test_newton_never_takes_a_nan_for_a_solution(way: str) -> None:
    """Not at the start, and not from a step that leaves the domain: that one is halved."""
    residual = trace(lambda x: [x[0].log(), x[1]], {"x": (2,)}, name="domain")
    x = np.array([[-1.0, 0.0], [3.0, 0.0], [0.5, 0.0]])  # the first step from 3 leads to -0.3
    found, error, passes = assert_agrees(way, newton(residual), [x, np.full(3, 1e-14), np.full(3, 20.0)])
    assert np.isnan(error[0]) and passes[0] == 0
    assert np.allclose(found[1:], [1.0, 0.0], atol=1e-14) and (error[1:] <= 1e-14).all()


def test_newton_with_repeated_rows_and_more_unknowns_than_equations() -> None:
    sphere = trace(lambda x: [x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 1.0] * 2, {"x": (3,)}, name="sphere")
    found, error, _ = build(newton(sphere), "interpreter")([0.3, -0.4, 1.2], 1e-14, 30.0)
    assert error < 1e-14 and np.allclose(found / np.linalg.norm(found), np.array([0.3, -0.4, 1.2]) / 1.3, atol=1e-12)


def test_numbers_of_the_loop_are_not_taken_for_those_of_the_program() -> None:
    program = trace(lambda x, p: [p * x[0]], {"x": (1,), "tolerance": ()}, name="held")
    with pytest.raises(CompileError, match="program 'held' has an input 'tolerance'"):
        newton(program)


def test_a_thousand_steps_are_one_foreign_call() -> None:
    run = build(swinging(), "llvm")
    y, t = np.empty(2), np.empty(())
    given = (np.array([0.3, 0.0]), np.array(9.81), np.array(1e-3), np.array(1000.0))
    run.raw((y, t), *given)  # so that nothing is left to be made
    calls: list[str] = []

    def watch(frame: Any, event: str, function: Any) -> None:
        if event in ("call", "c_call"):
            calls.append(getattr(function, "__name__", event))

    sys.setprofile(watch)
    run.raw((y, t), *given)
    sys.setprofile(None)
    assert calls[:-1] == ["raw"] and calls[-1] == "setprofile"
    assert t == pytest.approx(1.0, abs=1e-12) and np.abs(y - exact(given[0], 9.81, 1.0)).max() < 1e-10


def test_a_state_does_not_depend_on_its_batch() -> None:
    run = build(newton(circle()), "llvm")
    rng = np.random.default_rng(6)
    given = (rng.uniform(0.5, 2.0, size=(STATES, 2)), rng.uniform(1.0, 4.0, size=STATES))
    settings = [np.full(STATES, value) for value in (1e-13, 60.0)]
    together = run(*given, *settings)
    assert len({*together[2]}) > 1  # each takes its own number of passes
    for k in (0, 7, 8, 20):
        alone = run(*(x[k : k + 1] for x in (*given, *settings)))
        assert all(np.array_equal(one[0], all_[k]) for one, all_ in zip(alone, together, strict=True))


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_affine_numbers() -> None:
    i, j = Affine(0, (("i", 1),)), Affine(0, (("j", 1),))
    assert (3 * i - j + 2).at({"i": 4, "j": 5}) == 9
    assert (i - i) == Affine(0) and (5 - i).at({"i": 2}) == 3


def test_printing_shows_arrays_statements_and_programs() -> None:
    text = format_loops(triangle())
    for part in (
        "loop program triangle",
        "for i0 from 0 below 4:",
        "A[4 i0 + i1]",
        "A[-4 i0 + i1 + 12]",
        "below count[0]:",
    ):
        assert part in text, part
    assert "A[4 k[0] : +4]" in text


def test_mistakes_in_writing_are_named() -> None:
    loop = LoopBuilder("bad", inputs={"x": (3,)}, outputs={"y": (3,)})
    with pytest.raises(CompileError, match="cannot be written"):
        loop.let(loop["x"][0], lambda: 1.0)
    with pytest.raises(CompileError, match="sizes"):
        loop.let(loop["y"], lambda x: x, loop["x"][0])
    with pytest.raises(CompileError, match="already an array 'y'"):
        loop.buffer("y")
    with pytest.raises(CompileError, match="outside axis"):
        _ = loop["x"][3]
    with pytest.raises(CompileError, match="follow an `if_`"), loop.otherwise():
        pass
    assert View("x", (2, 3), Affine(0))[1].offset == Affine(3)
