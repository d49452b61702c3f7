"""Wrong use is answered by one sentence that names the thing and its remedy; never by nonsense or Python's insides."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.linear import least_squares, solve
from kinemorph.algebra.scalar import equal, where
from kinemorph.algebra.tables import lookup, through
from kinemorph.codegen.backends.c.cuda import export_cuda
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.text.matlab import export_matlab
from kinemorph.codegen.backends.text.python import export_python
from kinemorph.codegen.backends.text.sympy_matrices import to_sympy
from kinemorph.codegen.backends.text.sympy_source import export_sympy
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import forward, hessian, jacobian, pattern, reverse, sparse_jacobian
from kinemorph.codegen.derivatives.newton import newton
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.printing import format_program
from kinemorph.codegen.reading.equations import equations
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import CompileError, KinemorphError, ShapeError, TracingError, UnsupportedError
from kinemorph.model.library import build as build_robot
from support.tools.each_case import each_case

Attempt = Callable[[], Any]

P = trace(lambda q, v: [q[0] * v[0], q[1] + v[1]], {"q": (2,), "v": (2,)}, name="pair")
ROOT = trace(lambda x: [x[0] * x[0] - 2.0], {"x": (1,)}, name="root")
NEWTON = newton(ROOT)
F = build(P, "interpreter")
CURVE = through([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])


def traced(function: Any, inputs: Any = None, **options: Any) -> Attempt:
    return lambda: trace(function, {"x": (2,)} if inputs is None else inputs, **options)


def looped(write: Callable[[LoopBuilder], Any]) -> Attempt:
    """A loop program with an output that is written, so that only what `write` adds can be wrong."""

    def attempt() -> None:
        loop = LoopBuilder("odd", {"x": (2,)}, {"y": (2,)})
        loop.copy(loop["y"], loop["x"])
        write(loop)
        loop.program()

    return attempt


def inside(loop: LoopBuilder, *bounds: Any) -> None:
    with loop.repeat(*bounds):
        pass


def kept() -> Any:
    """An expression of a trace that is over."""
    store: list[Any] = []
    trace(lambda x: store.append(x) or x, {"x": ()})
    return store[0]


TRACES: dict[str, tuple[Attempt, type[Exception], str]] = {
    "ragged rows": (traced(lambda x: [[x[0], x[1]], [x[0]]]), ShapeError, "ragged: entry 0 has shape"),
    "ragged, first one short": (traced(lambda x: [[x[0]], x]), ShapeError, "ragged"),
    "ragged depth": (traced(lambda x: [x, x[0]]), ShapeError, "ragged"),
    "another shape is declared": (
        traced(lambda x: x, outputs={"out": (3,)}),
        ShapeError,
        r"\(2,\), but `outputs` gives \(3,\)",
    ),
    "a scalar is declared": (traced(lambda x: x, outputs={"out": ()}), ShapeError, r"shape \(2,\)"),
    "an unknown output": (
        traced(lambda x: x, outputs={"y": (2,)}),
        ShapeError,
        "'y', but the function returns only 'out'",
    ),
    "no outputs": (traced(lambda x: {}), TracingError, "returns an empty dict"),
    "None": (traced(lambda x: None), TracingError, "NoneType"),
    "a text": (traced(lambda x: "x"), TracingError, "str"),
    "a generator": (traced(lambda x: (y for y in x)), TracingError, "generator"),
    "a complex number": (traced(lambda x: [1j]), TracingError, "complex"),
    "a shape that is a number": (traced(lambda x: x, {"x": 2}), ShapeError, r"Write \(2,\)"),
    "a negative shape": (traced(lambda x: x, {"x": (-1,)}), ShapeError, "0 or more"),
    "a broken shape": (traced(lambda x: x, {"x": (1.5,)}), ShapeError, "whole numbers"),
    "shapes without names": (traced(lambda x: x, [2]), ShapeError, "expected a dict"),
    "too few shapes": (traced(lambda x, y: x), TracingError, "missing a required argument: 'y'"),
    "too many shapes": (traced(lambda: 1.0), TracingError, "too many"),
    "no function": (traced(5), TracingError, "expected a function"),
    "NumPy's sine": (traced(lambda x: np.sin(x[0])), TracingError, "kinemorph.algebra.scalar"),
    "math's sine": (traced(lambda x: math.sin(x[0])), TracingError, "kinemorph.algebra.scalar"),
    "if": (traced(lambda x: 1.0 if x[0] > 0 else 2.0), TracingError, "where"),
    "==": (traced(lambda x: 0.0 if x[0] == 0 else 1.0 / x[0]), TracingError, "equal"),
    "!=": (traced(lambda x: 1.0 if x[0] != x[1] else 2.0), TracingError, "equal"),
    "in": (traced(lambda x: 1.0 if x[0] in (1, 2) else 2.0), TracingError, "equal"),
    "a sum with another trace": (traced(lambda x: x[0] + kept()), TracingError, "one trace is used in another"),
    "a product with another trace": (traced(lambda x: x[0] * kept()), TracingError, "another"),
    "a result of another trace": (traced(lambda x: kept()), TracingError, "another"),
    "an op on a list": (traced(lambda x: x[0].minimum([1.0])), TracingError, "entry by entry"),
}

BLOCKS: dict[str, tuple[Attempt, type[Exception], str]] = {
    "A is not square": (lambda: solve([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0], [2.0]]), ShapeError, r"\[3, 3\]"),
    "A is too small": (lambda: solve([[1.0]], [[1.0], [2.0]]), ShapeError, "A of 2 x 2"),
    "B is a vector": (lambda: solve([[1.0]], [1.0]), ShapeError, r"\[\[x\], \[y\]\]"),
    "ragged A": (lambda: solve([[1.0, 0.0], [1.0]], [[1.0], [1.0]]), ShapeError, r"rows of \[2, 1\]"),
    "rows differ": (lambda: least_squares([[1.0]], [[1.0], [2.0]]), ShapeError, "same number of rows"),
    "letters for a curve": (lambda: through("ab", [1.0, 2.0]), ShapeError, "x is 'ab'"),
    "a ragged curve": (lambda: through([0.0, 1.0], [[1.0], [1.0, 2.0]]), ShapeError, "plain numbers"),
    "arguments swapped": (lambda: lookup(1.0, CURVE), ShapeError, "made by `through`"),
    "a list to look up": (lambda: lookup(CURVE, [1.0, 2.0]), ShapeError, "entry by entry"),
}

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "build": build,
    "forward": forward,
    "reverse": reverse,
    "jacobian": lambda p: jacobian(p, "out", "q"),
    "sparse_jacobian": lambda p: sparse_jacobian(p, "out", "q"),
    "pattern": lambda p: pattern(p, "out", "q"),
    "hessian": lambda p: hessian(p, "out", "q"),
    "equations": equations,
    "format_program": format_program,
    "export_c": lambda p: export_c([p], "m"),
    "export_cuda": lambda p: export_cuda([p], "m"),
    "export_python": lambda p: export_python([p], "m"),
    "export_matlab": lambda p: export_matlab([p], "m"),
    "export_sympy": lambda p: export_sympy([p], "m"),
    "to_sympy": to_sympy,
    "newton": newton,
}
STRAIGHT = ("jacobian", "hessian", "forward", "pattern", "equations", "export_sympy", "to_sympy", "newton")

USES: dict[str, tuple[Attempt, type[Exception], str]] = {
    "an unknown mode": (lambda: jacobian(P, "out", "q", mode="fwd"), UnsupportedError, "'auto', 'forward'"),
    "nothing to differentiate by": (lambda: jacobian(P, "out", ()), ShapeError, "one name or a list of names"),
    "an input twice": (lambda: jacobian(P, "out", ("q", "q")), ShapeError, "'q' is named twice"),
    "a second derivative by two": (lambda: hessian(P, "out", ("q", "v")), ShapeError, "expected one"),
    "seeds that are numbers": (lambda: jacobian(P, "out", "q", seeds={"q": [1, 2]}), ShapeError, "function"),
    "a number for an input": (lambda: jacobian(P, "out", 3), ShapeError, "one name or a list of names"),
    "refs are missing": (lambda: Program("odd", (), (Port("y", (2,)),), P.graph, (0,)), CompileError, "2 entries; 1"),
    "an unknown backend": (lambda: build(P, ["llvm"]), UnsupportedError, "unknown"),
    "a program alone": (lambda: export_c(P, "m"), CompileError, r"Pass \[program\]"),
    "a function alone": (lambda: export_c(F, "m"), CompileError, "function.program"),
    "no programs": (lambda: export_python([], "m"), CompileError, "empty"),
    "a file called 5": (lambda: export_c([P], 5), CompileError, "expected a string"),
    "unknown constants": (lambda: to_sympy(P, constants="foo"), UnsupportedError, "'exact'"),
    "an unfinished loop": (lambda: build(LoopBuilder("odd", {}, {"y": ()})), CompileError, r"\.program\(\)"),
    "a plain function": (lambda: build(lambda x: x), CompileError, "trace"),
    "an output not written": (lambda: LoopBuilder("odd", {}, {"y": ()}).program(), CompileError, "nothing is written"),
    "an unknown array": (looped(lambda loop: loop["yy"]), CompileError, "no array 'yy'.*Did you mean 'y'"),
    "a name for a view": (looped(lambda loop: loop.copy(loop["y"], "x")), CompileError, r"loop\['x'\]"),
    "a view of another loop": (
        looped(lambda loop: loop.copy(loop["y"], LoopBuilder("b", {"z": (2,)}, {})["z"])),
        CompileError,
        "no array 'z'",
    ),
    "in and out of one name": (lambda: LoopBuilder("odd", {"x": ()}, {"x": ()}), CompileError, "already an array"),
    "a bound that is a text": (looped(lambda loop: inside(loop, "n")), CompileError, "'n' is given as the bound"),
    "a negative bound": (looped(lambda loop: inside(loop, -1)), CompileError, "bounds 0 and -1"),
    "a bound of two numbers": (looped(lambda loop: inside(loop, loop["x"])), CompileError, "has 2 numbers"),
    "a residual with a limit": (
        lambda: newton(trace(lambda x, limit: x, {"x": (1,), "limit": ()})),
        CompileError,
        "has an input 'limit', a name that the loop program around it uses itself",
    ),
}


CASES = TRACES | BLOCKS | USES


@each_case(("attempt", "kind", "words"), CASES.values(), ids=CASES.keys())
def test_wrong_use_is_answered_by_a_sentence(attempt: Attempt, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        attempt()
    assert isinstance(caught.value, KinemorphError)


@each_case("name", PROGRAMS)
def test_a_compiled_function_in_place_of_its_program_says_what_to_pass(name: str) -> None:
    with pytest.raises(CompileError, match=f"{name}: 'pair' is a compiled function.*function.program"):
        PROGRAMS[name](F)
    with pytest.raises(CompileError, match=f"{name}: 5 .*expected a program"):
        PROGRAMS[name](5)


@pytest.mark.parametrize("name", STRAIGHT)
def test_a_loop_program_where_a_straight_line_is_needed_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{name}: 'newton of root' is a loop program"):
        PROGRAMS[name](NEWTON)


def test_truth_in_a_trace_is_a_type_error_too() -> None:
    with pytest.raises(TypeError):
        trace(lambda x: 1.0 if x else 2.0, {"x": ()})


def test_what_can_be_compared_still_is() -> None:
    def held(x: Any, y: Any) -> Any:
        assert x == x and x in [y, x][1:] and {x: 1}[x] == 1 and x is not None and x != "x"
        return where(equal(x, y), 1.0, 2.0)

    chosen = build(trace(held, {"x": (), "y": ()}), "interpreter")
    assert (chosen(3.0, 3.0), chosen(3.0, 4.0)) == (1.0, 2.0)


def test_arrays_of_expressions_are_results_as_lists_are() -> None:
    program = trace(lambda x: np.array([[x[0], 2.0], [x[1], x[0] * x[1]]]), {"x": (2,)})
    assert program.outputs == (Port("out", (2, 2)),)
    assert build(program, "interpreter")([3.0, 5.0]).tolist() == [[3.0, 2.0], [5.0, 15.0]]


def test_an_empty_matrix_has_the_shape_that_is_declared() -> None:
    assert trace(lambda x: [], {"x": ()}, outputs={"out": (0, 3)}).outputs == (Port("out", (0, 3)),)


# ── settings of loops ─────────────────────────────────────────────────────────────────────────────────────────────────

BAD = (-1.0, np.nan, np.inf)
SETTINGS = [*((tolerance, 50.0) for tolerance in BAD), *((1e-9, limit) for limit in BAD)]


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_settings_that_mean_nothing_are_refused_and_give_nan(backend: str) -> None:
    function = build(NEWTON, backend)
    for settings in SETTINGS:
        with pytest.raises(KinemorphError):
            function([1.0], *settings)
        outs = tuple(np.zeros(port.shape) for port in NEWTON.outputs)
        function.raw(outs, np.array([1.0]), *map(np.asarray, settings))
        assert np.isnan(outs[0]).all() and np.isnan(outs[1]).all(), settings
    assert function([1.0], 1e-12, 50)[0] == pytest.approx(math.sqrt(2.0))


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_a_loop_that_a_number_decides_is_not_begun_on_an_infinite_one(backend: str) -> None:
    loop = LoopBuilder("count", {"n": (), "x": (2,)}, {"y": ()})
    loop.let(loop["y"], lambda: 0.0)
    with loop.repeat(loop["n"]):
        loop.let(loop["y"], lambda y, x: y + x[0], loop["y"], loop["x"])
    function = build(loop.program(), backend)
    assert function(3, [2.0, 0.0]) == 6.0
    assert function(x=np.ones((4, 2)), n=2.0).tolist() == [2.0] * 4
    for n in (np.inf, -np.inf, np.nan, np.array(np.inf)):
        with pytest.raises(ShapeError, match=r"input n is -?(inf|nan); expected a finite number"):
            function(n, [2.0, 0.0])
    with pytest.raises(ShapeError, match=r"input x\[1\] of state 2 is nan"):
        function(1.0, [[0.0, 0.0], [0.0, 0.0], [0.0, np.nan]])
    with pytest.raises(ShapeError, match="dtype"):
        function("many", [2.0, 0.0])


@pytest.mark.parametrize("count", [0, -1, 1.5, "x", None, True])
def test_threads_are_a_whole_number_from_one_up(count: Any) -> None:
    function = build(P, "interpreter")
    before = function.threads
    with pytest.raises(KinemorphError, match=r"'pair': threads is .*1 or more"):
        function.threads = count
    assert function.threads == before
    function.threads = 2
    assert function.threads == 2


def test_masked_entries_are_refused() -> None:
    """Their mask was lost, and the numbers below it were used."""
    function = derive(build_robot("double_pendulum")).mass_matrix
    with pytest.raises(ShapeError, match=r"input 'q' has 1 of 2 entries masked; expected a number in every entry\."):
        function(np.ma.array([0.1, 0.2], mask=[True, False]))
    with pytest.raises(ShapeError, match=r"has 2 of 6 entries masked"):
        function(np.ma.array(np.zeros((3, 2)), mask=[[0, 0], [1, 1], [0, 0]]))
    assert (function(np.ma.array([0.1, 0.2])) == function([0.1, 0.2])).all()  # nothing is masked


def test_a_nan_on_which_nothing_depends_is_not_an_error() -> None:
    function = derive(build_robot("double_pendulum")).mass_matrix
    assert np.isfinite(function([np.nan, 0.2])).all()  # M does not depend on the first angle
    with pytest.raises(ShapeError, match=r"input q\[1\] is nan"):
        function([0.2, np.nan])
