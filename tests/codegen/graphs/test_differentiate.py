"""Derivatives on the graph are exact: op by op, program by program, both ways, at kinks, in branches not taken."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import (
    forward,
    hessian,
    jacobian,
    pattern,
    reverse,
    sparse_jacobian,
)
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.ports import detached
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import ShapeError
from kinemorph.vocabulary.ops import OPS
from support.references.derivative_oracles import ANALYTIC, by_complex_step, by_duals, run
from support.tools.each_case import each_case

MODES = ("forward", "reverse")
UNIT = ("asin", "acos")  # defined on [-1, 1]
POSITIVE = ("sqrt", "log", "pow")


def program_of(op: str, signs: tuple[int, ...] = (1, 1, 1)) -> Program:
    """One op of an input `x`, with signed arguments as they may stand in a graph."""
    graph = Graph()
    refs = [sign * graph.input(f"x[{k}]").ref for k, sign in zip(range(OPS[op].arity), signs, strict=False)]
    return Program(op, (Port("x", (len(refs),)),), (Port("y", ()),), graph, (-graph.intern((op, *refs)),))


def arguments_for(op: str, signs: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """A point well inside the domain of an op."""
    x = rng.uniform(0.2, 2.0, size=OPS[op].arity)
    if op in UNIT:
        x = rng.uniform(-0.9, 0.9, size=1)
    elif op not in POSITIVE:
        x *= rng.choice([-1.0, 1.0], size=len(x))
    return x if op in UNIT else x * np.array(signs[: len(x)]) if op in POSITIVE else x


@each_case("mode", MODES)
@each_case("op", OPS)
def test_every_op(op, mode):
    rng = np.random.default_rng(7)
    for signs in ((1, 1, 1), (-1, 1, -1), (1, -1, -1)):
        program = program_of(op, signs)
        derived = jacobian(program, "y", "x", mode=mode)
        for _ in range(20):
            x = arguments_for(op, signs, rng)
            expected = (by_complex_step if op in ANALYTIC else by_duals)(program, x)[0]
            np.testing.assert_allclose(run(derived, x), expected, rtol=1e-13, atol=1e-14, err_msg=f"{op}{tuple(x)}")


# ── random programs ───────────────────────────────────────────────────────────────────────────────────────────────────

SAFE = {  # ops that stay inside their domain for any argument
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - 0.5 * b,
    "mul": lambda a, b, c: a * b,
    "square": lambda a, b, c: a * a,
    "div": lambda a, b, c: a / (1.5 + b * b),
    "sin": lambda a, b, c: a.sin() if not isinstance(a, float) else math.sin(a),
    "cos": lambda a, b, c: (a + 1.0 * b).cos() if not isinstance(a + b, float) else math.cos(a + b),
    "sqrt": lambda a, b, c: (1.0 + a * a) ** 0.5,
    "pow": lambda a, b, c: (2.0 + a * a) ** 1.7,
    "atan2": lambda a, b, c: a.atan2(2.0 + b * b) if not isinstance(a, float) else math.atan(a),
    "abs": lambda a, b, c: abs(a - 0.1234),
    "min": lambda a, b, c: a.minimum(b) if not isinstance(a, float) else a,
    "max": lambda a, b, c: a.maximum(0.3 * b) if not isinstance(a, float) else a,
    "where": lambda a, b, c: (a < 0.2).where(b, c) if not isinstance(a, float) else c,
}
STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(SAFE)), *[st.integers(0, 30)] * 3, st.sampled_from([1.0, -1.0, 0.7])),
    min_size=1,
    max_size=25,
)


def random_program(steps, n: int = 4) -> Program:
    """Four numbers in, the last few values out; the inputs are an array and a number."""

    def function(x, z):
        values = [*x, z]
        for op, i, j, k, sign in steps:
            a, b, c = (values[m % len(values)] for m in (i, j, k))
            values.append(sign * SAFE[op](a, b, c))
        return {"y": values[-3:], "w": [[values[-1], values[len(values) // 2]]]}

    return trace(function, {"x": (n,), "z": ()}, name="random")


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(0, 2**32 - 1))
def test_all_ways_agree_on_random_programs(steps, seed):
    program = random_program(steps)
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=4), rng.normal()
    expected = by_duals(program, [*x, z])
    if not np.isfinite(expected).all() or np.abs(expected).max() > 1e8:
        return
    scale = max(1.0, np.abs(expected).max())

    def close(found, wanted):
        np.testing.assert_allclose(np.ravel(found), np.ravel(wanted), rtol=1e-11, atol=1e-11 * scale)

    for mode in (*MODES, "auto"):
        y_x, y_z, w_x, w_z = run(jacobian(program, ("y", "w"), ("x", "z"), mode=mode), x, z)
        assert (y_x.shape, y_z.shape, w_x.shape, w_z.shape) == ((3, 4), (3,), (1, 2, 4), (1, 2))
        close(y_x, expected[:3, :4])
        close(y_z, expected[:3, 4])
        close(w_x, expected[3:, :4])
        close(w_z, expected[3:, 4])
        sparse = sparse_jacobian(program, "y", "x", mode=mode)
        dense = np.zeros((3, 4))
        dense[sparse.rows, sparse.cols] = run(sparse.program, x, z)
        close(dense, y_x)
        assert not y_x[~pattern(program, "y", "x")].any()
    dx, dz, weights = rng.normal(size=4), rng.normal(), rng.normal(size=3)
    value, rate = run(forward(program, of="y", values=True), x, z, dx, dz)
    close(value, run(program, x, z)[0])
    close(rate, expected[:3] @ [*dx, dz])
    g_x, g_z = run(reverse(program, "y"), x, z, weights)
    close([*g_x, g_z], weights @ expected[:3])


@settings(max_examples=25, deadline=None)
@given(STEPS, st.integers(0, 2**32 - 1))
def test_hessian_is_the_jacobian_of_the_gradient(steps, seed):
    program = random_program(steps, n=3)
    x, z = np.random.default_rng(seed).normal(size=3), 0.4
    first = jacobian(program, "w", "x", mode="forward")
    expected = by_duals(first, [*x, z])[:, :3].reshape(1, 2, 3, 3)
    if not np.isfinite(expected).all() or np.abs(expected).max() > 1e8:
        return
    found = run(hessian(program, "w", "x"), x, z)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11 * max(1.0, np.abs(expected).max()))
    assert np.array_equal(found, np.swapaxes(found, -1, -2))


def test_compiled_derivative_equals_interpreted():
    program = random_program([(op, k, 2 * k + 1, k + 2, 0.7) for k, op in enumerate(SAFE)])
    derived = jacobian(program, "y", "x")
    x = np.random.default_rng(0).normal(size=(16, 4))
    for row in x:
        np.testing.assert_allclose(build(derived)(row, 0.3), run(derived, row, 0.3), rtol=1e-12, atol=1e-13)


# ── kinks, edges and branches ─────────────────────────────────────────────────────────────────────────────────────────


def both_modes(function, x: float) -> list[float]:
    """The derivative of a scalar function at x: by forward and reverse Jacobian, and by `reverse` with weight 1."""
    program = trace(lambda x: function(x), {"x": ()})
    found = [float(run(jacobian(program, "out", "x", mode=mode), x)) for mode in MODES]
    return [*found, float(run(reverse(program), x, 1.0))]


@each_case(
    ("function", "x", "slope"),
    [
        (lambda x: (x < 0.0).where(1.0, x.sqrt()), -4.0, 0.0),
        (lambda x: (x < 0.0).where(3.0 * x, x.sqrt()), -4.0, 3.0),
        (lambda x: (x < 0.0).where(3.0 * x, x * x.log()), -4.0, 3.0),  # a product with NaN
        (lambda x: (x < 0.0).where(3.0 * x, x.log().sin() * x), 0.0 - 1e-9, 3.0),
        (lambda x: x.equals(0.0).where(1.0 + x, x.sin() / x), 0.0, 1.0),  # 0 / 0
        (lambda x: x.equals(0.0).where(x, (1.0 / x).exp()), 0.0, 1.0),
        (lambda x: (x < 0.0).where(x, (x < 1.0).where(x.sqrt() / x, x.log())), -1.0, 1.0),  # nested
        (lambda x: (x < 0.0).where(x, x.log()) + (x < 0.0).where(x * x.log(), 2.0 * x).minimum(5.0), 1.0, 3.0),
        (lambda x: x.sqrt().minimum(-1.0 + 2.0 * x), 0.0, 2.0),  # an infinite slope that is not chosen
        (lambda x: x.sqrt().maximum(1.0 + 2.0 * x), 0.0, 2.0),
        (lambda x: abs(x), 0.0, 0.0),  # at the kink: the sign of zero
        (lambda x: abs(x), -2.0, -1.0),
        (lambda x: x.maximum(0.0), 0.0, 1.0),  # on a tie the first argument
        (lambda x: x.minimum(2.0 * x), 0.0, 1.0),
        (lambda x: (x * 0.0 + x).floor() + x, 1.5, 1.0),
    ],
)
def test_kinks_and_branches_not_taken(function, x, slope):
    assert both_modes(function, x) == [slope] * 3


def test_zero_weight_on_an_infinite_slope_is_zero():
    """sqrt has a value at 0 but no slope; what nobody weighs does not matter."""
    program = trace(lambda x: {"a": x.sqrt(), "b": 2.0 * x, "c": x.atan2(x), "d": (1.0 - x).asin()}, {"x": ()})
    assert run(reverse(program), 0.0, 0.0, 1.0, 0.0, 0.0) == 2.0
    assert run(reverse(program), 0.0, 1.0, 0.0, 0.0, 0.0) == np.inf


def test_guards_do_not_hide_second_derivatives():
    """A zero adjoint is no reason to drop a product: it may have a slope of its own. A spring at rest length."""

    def spring(p):
        return ((p[0] * p[0] + p[1] * p[1]).sqrt() - 1.0) ** 2

    program = trace(spring, {"p": (2,)})
    np.testing.assert_allclose(run(hessian(program, "out", "p"), [0.6, 0.8]), [[0.72, 0.96], [0.96, 1.28]], rtol=1e-14)
    inside = trace(lambda p: (p[0] < 0.0).where(p[1], spring(p)), {"p": (2,)})
    np.testing.assert_allclose(run(hessian(inside, "out", "p"), [0.6, 0.8]), [[0.72, 0.96], [0.96, 1.28]], rtol=1e-14)
    assert not run(hessian(inside, "out", "p"), [-0.6, 0.8]).any()
    logarithm = trace(lambda x: (x < 0.1).where(x, x.log() ** 2), {"x": ()})
    assert run(hessian(logarithm, "out", "x"), 1.0) == 2.0


# ── structure and cost ────────────────────────────────────────────────────────────────────────────────────────────────


def test_structural_zeros_are_the_constant_zero():
    def function(x, y):
        return [x[0] * y, x[1].sin(), 3.0, x[2].floor() + (x[1] < y).where(1.0, 2.0) + x[0].where(y, 2.0)]

    program = trace(function, {"x": (3,), "y": ()})
    assert pattern(program, "out", "x").tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    for mode in MODES:
        derived = jacobian(program, "out", "x", mode=mode)
        assert [k for k, ref in enumerate(derived.refs) if ref] == [0, 4]
    sparse = sparse_jacobian(program, "out", "x")
    assert (sparse.rows.tolist(), sparse.cols.tolist(), sparse.program.outputs[0].shape) == ([0, 1], [0, 1], (2,))


def test_constant_exponents_need_no_logarithm():
    for exponent in (2.5, -1.5, 3, 0.3):
        program = trace(lambda x, e=exponent: x**e, {"x": ()})
        for mode in MODES:
            assert "log" not in jacobian(program, "out", "x", mode=mode).op_counts
    assert run(jacobian(trace(lambda x: (-2.0) ** x, {"x": ()}), "out", "x"), 2.0) != 0.0  # no warning either


def test_value_and_derivative_share_their_work():
    program = trace(lambda x: (x.sin().exp() / (1.0 + x * x)).sqrt(), {"x": ()})
    derived = jacobian(program, "out", "x", values=True)
    assert [port.name for port in derived.outputs] == ["out", "d_out_d_x"]
    assert derived.graph is program.graph
    counts = derived.op_counts
    assert (counts["sin"], counts["exp"], counts["sqrt"]) == (1, 1, 1)


def test_gradient_costs_a_small_multiple_of_the_value():
    """However many inputs: the cheap gradient principle."""

    def energy(x):
        return sum(((a - b * a).sin() * (1.0 + b * b).sqrt() / (2.0 + a) for a, b in pairwise(x)), 0.0)

    program = trace(energy, {"x": (200,)})
    gradient = jacobian(program, "out", "x", values=True)
    assert gradient.ops < 4 * program.ops
    x = np.linspace(0.1, 0.9, 200)
    np.testing.assert_allclose(run(gradient, x)[1], by_complex_step(program, x)[0], rtol=1e-11)


def test_auto_takes_the_cheaper_mode():
    def chain(t):
        for _ in range(5):
            t = (t * t + t).sin()
        return t

    wide = trace(lambda x: chain(sum((a * a for a in x), 0.0)), {"x": (30,)})
    tall = trace(lambda x: [k * chain(x) + (k + x) * x for k in range(1, 30)], {"x": ()})
    for program, better in ((wide, "reverse"), (tall, "forward")):
        ops = {mode: jacobian(detached(program), "out", "x", mode=mode).ops for mode in (*MODES, "auto")}
        assert ops["auto"] == ops[better] < 0.7 * max(ops.values()), ops


# ── ports and seeds ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_seeds_give_the_derivative_on_a_manifold():
    """The tangents of a unit quaternion are had from rotation rates; they depend on the quaternion."""

    def rates(q):
        w, x, y, z = (0.5 * a for a in q)
        return [[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]]

    program = trace(lambda q, s: [q[0] * q[1] * s, q[2].sin(), s * q[3]], {"q": (4,), "s": ()})
    q = np.array([0.5, -0.5, 0.7, 0.1])
    plain, (_, by_s) = run(jacobian(program, "out", "q"), q, 2.0), run(jacobian(program, "out", ("q", "s")), q, 2.0)
    for mode in MODES:
        turned, along = run(jacobian(program, "out", ("q", "s"), seeds={"q": rates}, mode=mode), q, 2.0)
        np.testing.assert_allclose(turned, plain @ np.array(rates(q)).T, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(along, by_s)
    sparse = sparse_jacobian(program, "out", "q", seeds={"q": lambda q: [[0.0, 0.0, 1.0, 0.0]]})
    assert (sparse.rows.tolist(), sparse.cols.tolist()) == ([1], [0])


def test_derivatives_of_derivatives_keep_their_inputs_apart():
    """forward of forward: rates of rates, each its own input; programs made of one do not disturb each other."""
    program = trace(lambda x, y: x * x * y, {"x": (), "y": ()}, name="f")
    once, again = forward(program, by="x"), reverse(program)
    twice = forward(once, by=("x", "d_x"))
    assert [port.name for port in twice.inputs] == ["x", "y", "d_x", "d_d_x", "d_d_d_x"]
    assert run(once, 2.0, 3.0, 1.0) == 12.0
    assert run(twice, 2.0, 3.0, 1.0, 1.0, 0.0) == 6.0
    assert run(again, 2.0, 3.0, 1.0) == (12.0, 4.0)
    assert run(program, 2.0, 3.0) == 12.0


def test_outputs_that_are_inputs_or_constants():
    program = trace(lambda x: [x[1], -x[0], 5.0, x[1]], {"x": (2,)})
    for mode in MODES:
        assert run(jacobian(program, "out", "x", mode=mode), [1.0, 2.0]).tolist() == [[0, 1], [-1, 0], [0, 0], [0, 1]]
    assert run(reverse(program), [1.0, 2.0], [1.0, 10.0, 100.0, 1000.0]).tolist() == [-10.0, 1001.0]


def test_unknown_names_are_refused():
    program = trace(lambda q, v: [q * v], {"q": (), "v": ()}, name="f")
    with pytest.raises(ShapeError, match=r"program 'f' has no input 'Q'; it has 'q', 'v'\. Did you mean 'q'\?"):
        jacobian(program, "out", "Q")
    with pytest.raises(ShapeError, match="no output 'tau'"):
        hessian(program, "tau", "q")
    with pytest.raises(ShapeError, match="'v'"):
        jacobian(program, "out", "q", seeds={"v": lambda v: [v]})
    with pytest.raises(ShapeError, match="tangent 0 has 2 entries; expected 1"):
        jacobian(program, "out", "q", seeds={"q": lambda q: [[q, q]]})
