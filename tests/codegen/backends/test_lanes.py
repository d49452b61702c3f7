"""Batches in SIMD lanes: a state's result does not depend on the batch it is in, its place there, or the threads."""

from __future__ import annotations

import ctypes
import mmap
import re
import threading
from functools import partial

import numpy as np
import pytest

from kinemorph.codegen.backends import threads
from kinemorph.codegen.backends.llvm import backend
from kinemorph.codegen.backends.llvm import engine as llvm_engine
from kinemorph.codegen.backends.llvm.lanes import emit_lanes
from kinemorph.codegen.backends.llvm.math import C_LIBRARY, Real
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs import schedule
from kinemorph.codegen.graphs.graph import Expr, Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.errors import KinemorphError, ShapeError
from kinemorph.vocabulary.blocks import Solve
from kinemorph.vocabulary.ops import OPS

WIDTH = backend.lanes_of("float64")


def passed_on(size: int) -> Program:
    """y = x and twice = 2 x of `size` numbers; y in reverse, with every number there twice."""
    graph = Graph()
    xs = [graph.input(f"x{k}") for k in range(size)]
    refs = [x.ref for x in xs] + [(2.0 * x).ref for x in reversed(xs) for _ in range(2)]
    return Program(
        f"on{size}", (Port("x", (size,)),), (Port("y", (size,)), Port("twice", (size, 2))), graph, tuple(refs)
    )


def random_program(seed: int, steps: int) -> Program:
    """Ops taken at random on inputs x (7,), t () and p (3,), many of them read again later."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    values = [graph.input(f"x{k}") for k in range(11)]
    one = ("sin", "cos", "exp", "__abs__", "floor", "sign")
    for k in range(steps):
        a, b, c = (values[i] for i in rng.integers(max(0, len(values) - 30), len(values), size=3))
        kind = rng.integers(8)
        if kind < 2:
            made = getattr(a.sin() if k % 5 else a / (1.0 + b * b), one[rng.integers(6)] if kind else "sin")()
        elif kind < 5:
            made = a * 0.3 + b * c.cos()
        elif kind == 5:
            made = (a < b).where(a, -c)
        else:
            made = a.atan2(1.0 + b * b) - c.minimum(b) * 0.5
        values.append(made.sin() if k % 3 == 0 else made)
    outputs = (Port("y", (5, 3)), Port("z", ()))
    refs = tuple(values[-1 - k].ref for k in range(16))
    return Program(f"random{seed}", (Port("x", (7,)), Port("t", ()), Port("p", (3,))), outputs, graph, refs)


def random_inputs(program: Program, n: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(n, *port.shape)) for port in program.inputs]


@pytest.fixture(scope="module")
def mixed():
    return build(random_program(1, 120))


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_agree_with_the_interpreter(seed):
    program = random_program(seed, 150)
    inputs = random_inputs(program, 3 * WIDTH + 1)
    function = build(program)
    lanes, meant = function(*inputs), build(program, "interpreter")(*inputs)
    for ours, exact in zip(lanes, meant, strict=True):
        np.testing.assert_allclose(ours, exact, rtol=1e-12, atol=1e-12)
    for k in range(0, 3 * WIDTH, 5):
        for one, batch in zip(function(*(x[k] for x in inputs)), lanes, strict=True):
            np.testing.assert_allclose(one, batch[k], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("op", OPS)
def test_one_state_and_lanes_give_the_same_bits_for_an_op(op):
    graph = Graph()
    refs = [graph.input(f"x{k}").ref for k in range(OPS[op].arity)]
    ports = tuple(Port(f"x{k}", ()) for k in range(OPS[op].arity))
    function = build(Program(op, ports, (Port("y", ()),), graph, (graph.intern((op, *refs)),)))
    rng = np.random.default_rng(3)
    x = rng.normal(size=(OPS[op].arity, 60)) * 10.0 ** rng.integers(-3, 12, size=(OPS[op].arity, 60))
    x[:, :3] = [np.nan, np.inf, 0.0]
    lanes, alone = np.empty(60), np.empty(60)
    function.raw(lanes, *x)
    for k in range(60):
        one = np.empty(())
        function.raw(one, *(np.array(a[k]) for a in x))
        alone[k] = one
    np.testing.assert_array_equal(lanes, alone)


def test_a_state_does_not_depend_on_its_batch(mixed):
    """The same bits for every batch size and at every place, a batch of one included."""
    inputs = random_inputs(mixed.program, 2 * WIDTH + 3)
    whole = mixed(*inputs)
    for n in range(1, 2 * WIDTH + 4):
        for first in (0, 2 * WIDTH + 3 - n):
            part = mixed(*(x[first : first + n] for x in inputs))
            for ours, all_ in zip(part, whole, strict=True):
                np.testing.assert_array_equal(ours, all_[first : first + n])


def test_an_input_with_one_state_serves_all(mixed):
    x, t, p = random_inputs(mixed.program, 2 * WIDTH + 3)
    for one in ((x, t[0], p), (x[0], t, p[0]), (x, t[0], p[0])):
        repeated = [
            np.broadcast_to(a, (len(x), *port.shape)) for a, port in zip(one, mixed.program.inputs, strict=True)
        ]
        for ours, exact in zip(mixed(*one), mixed(*map(np.ascontiguousarray, repeated)), strict=True):
            np.testing.assert_array_equal(ours, exact)


class Guarded:
    """Arrays that end where memory that must not be touched begins."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        assert protect(self.start + mmap.PAGESIZE, mmap.PAGESIZE, 0) == 0

    def array(self, shape, dtype=np.float64):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(self.memory, dtype, int(np.prod(shape)), mmap.PAGESIZE - size).reshape(shape)


@pytest.mark.skipif(not hasattr(mmap, "PROT_READ"), reason="memory cannot be protected here")
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9, 19])
def test_nothing_outside_the_arrays_is_touched(size, precision):
    function = build(passed_on(size), precision=precision)
    before, y_memory, twice_memory = Guarded(), Guarded(), Guarded()
    rng = np.random.default_rng(size)
    for n in range(1, backend.lanes_of(precision) + 4):
        x, y = before.array((n, size), precision), y_memory.array((n, size), precision)
        twice = twice_memory.array((n, size, 2), precision)
        for memory in (y_memory, twice_memory):
            memory.array(mmap.PAGESIZE // 8)[:] = 7.0
        x[:] = rng.normal(size=x.shape)
        assert function.raw((y, twice), x)
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(twice, np.repeat(2.0 * x[:, ::-1, None], 2, axis=2))
        for memory, used in ((y_memory, y), (twice_memory, twice)):
            left = memory.array(mmap.PAGESIZE // 8).view(np.uint8)[: mmap.PAGESIZE - used.nbytes]
            np.testing.assert_array_equal(left, np.full(mmap.PAGESIZE // 8, 7.0).view(np.uint8)[: len(left)])


@pytest.mark.parametrize(("precision", "lanes"), [("float64", 2), ("float64", 4), ("float32", 4), ("float32", 8)])
def test_every_width_turns_rows(precision, lanes):
    """Narrower registers than this CPU's: the code is the same but for the width."""
    for size in (1, 3, 4, 11):
        program = passed_on(size)
        emit = partial(emit_lanes, program, Real(precision, lanes))
        engine = llvm_engine.load_module(f"turn {size} {precision} {lanes}", "on", emit)
        batch = engine.function("batch", "bool", ["int64", "pointer", "pointer", "pointer", "int64"])
        x = np.random.default_rng(size).normal(size=(11, size)).astype(precision)
        y, twice = np.empty_like(x), np.empty((11, size, 2), precision)
        assert batch(11, y.ctypes.data, twice.ctypes.data, x.ctypes.data, size)
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(twice[:, :, 1], 2.0 * x[:, ::-1])


@pytest.mark.parametrize("blocks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_long_program_goes_through_scratch(monkeypatch, blocks):
    """Values cross from chunk to chunk, entries of blocks among them."""
    monkeypatch.setenv("KINEMORPH_CACHE", "off")  # the plan is not part of the key
    monkeypatch.setattr(schedule.plan, "__kwdefaults__", {"whole": 10, "shortest": 20, "longest": 40})
    program = random_program(7, 150)
    if blocks:
        graph, (y, z) = program.graph, program.outputs
        last = [Expr(graph, ref) for ref in program.refs]
        lower = [2.0 + last[0] * last[0], 0.1 * last[1], 2.0 + last[2] * last[2]]
        solved = last[0].block(Solve(2), [*lower, last[3], last[4]])
        tail = [(x * solved[k % 2] + ((1.0 + k) * solved[1]).sin()).ref for k, x in enumerate(last)]
        program = Program("solved", program.inputs, (y, z), graph, tuple(tail))
    cut = build(program)
    assert "@main.5(" in cut.source
    inputs = random_inputs(program, WIDTH + 3)
    for ours, exact in zip(cut(*inputs), build(program, "interpreter")(*inputs), strict=True):
        np.testing.assert_allclose(ours, exact, rtol=1e-12, atol=1e-12)


def test_lanes_are_compiled_when_the_first_batch_comes(monkeypatch):
    keys = []
    load = backend.load_module

    def recorded(key, name, emit, effort):
        keys.append(key)
        return load(key, name, emit, effort)

    monkeypatch.setattr(backend, "load_module", recorded)
    function = build(passed_on(3))
    function([1.0, 2.0, 3.0])
    assert len(keys) == 1
    workers = [threading.Thread(target=function, args=(np.ones((2, 3)),)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(keys) == 2


def test_an_error_while_the_lanes_are_made_comes_through(monkeypatch):
    function = build(passed_on(4))

    def broken(*_, **__):
        raise KinemorphError("no lanes today")

    monkeypatch.setattr(backend, "load_module", broken)
    with pytest.raises(KinemorphError, match="no lanes today"):
        function(np.ones((2, 4)))
    monkeypatch.undo()
    assert function(np.ones((2, 4)))[0].shape == (2, 4)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_threads_give_the_same_bits(mixed, monkeypatch, count):
    monkeypatch.setattr(threads, "LEAST", 1)
    inputs = random_inputs(mixed.program, 10 * WIDTH + 3)
    inputs[1] = inputs[1][:1]  # one state for all
    monkeypatch.setattr(mixed, "threads", 1)
    alone = mixed(*inputs)
    monkeypatch.setattr(mixed, "threads", count)
    for ours, exact in zip(mixed(*inputs), alone, strict=True):
        np.testing.assert_array_equal(ours, exact)
    inputs[0][9 * WIDTH, 2] = np.nan
    with pytest.raises(ShapeError, match=rf"input x\[2\] of state {9 * WIDTH} is nan"):
        mixed(*inputs)


def test_shares_begin_at_whole_blocks_and_only_where_they_pay():
    assert threads.shares(1000, 8, 4, cost=10) == [0, 1000]
    assert threads.shares(10**7, 0, 4, cost=10) == [0, 10**7]
    assert threads.shares(3, 8, 4, cost=10**9) == [0, 3]  # never fewer states than a share has to have
    bounds = threads.shares(1_000_003, 8, 3, cost=100)
    assert len(bounds) == 4
    assert bounds[0] == 0
    assert bounds[-1] == 1_000_003
    assert all(bound % 8 == 0 for bound in bounds[:-1])
    assert max(np.diff(bounds)) - min(np.diff(bounds)) <= 16


@pytest.mark.parametrize(
    ("text", "expected"), [("3", 3), ("1", 1), ("", threads.default_threads()), ("0", None), ("many", None)]
)
def test_threads_by_environment(monkeypatch, text, expected):
    monkeypatch.setenv("KINEMORPH_THREADS", text)
    threads.default_threads.cache_clear()
    try:
        if expected is None:
            with pytest.raises(KinemorphError, match=f"KINEMORPH_THREADS is '{text}'"):
                build(passed_on(2))
        else:
            assert build(passed_on(2)).threads == expected
    finally:
        monkeypatch.undo()
        threads.default_threads.cache_clear()


@pytest.mark.parametrize("size", [5, 19])  # tiles of half a vector, and of whole ones
def test_what_is_not_finite_is_seen_in_every_lane(size):
    graph = Graph()
    refs = tuple((1.0 / graph.input(f"x{k}")).ref for k in range(size))
    function = build(Program("inverse", (Port("x", (size,)),), (Port("y", (size,)),), graph, refs))
    n = 2 * WIDTH + 3
    out = np.empty((n, size))
    assert function.raw(out, np.ones((n, size)))
    for state in range(n):
        for entry in (0, 3, size - 1):
            x = np.ones((n, size))
            x[state, entry] = 0.0
            assert not function.raw(out, x)
    expected = rf"output y\[{size - 1}\] of state {n - 1} is inf although every input is finite"
    with pytest.raises(KinemorphError, match=expected):
        function(x)


def test_emitted_code_calls_nothing_but_the_c_library():
    """No callback: what is declared is an intrinsic, or one of the functions named here."""
    graph = Graph()
    arguments = [graph.input(f"x{k}").ref for k in range(3)]
    refs = tuple(graph.intern((op.name, *arguments[: op.arity])) for op in OPS.values())
    program = Program("all", (Port("x", (3,)),), (Port("y", (len(refs),)),), graph, refs)
    declared = set(re.findall(r"^declare .*?@([\w.]+)\(", build(program).source, re.MULTILINE))
    assert {name for name in declared if not name.startswith("llvm.")} == {*C_LIBRARY, "malloc", "free"}


def test_big_arrays_do_not_lie_on_the_stack():
    """A thread with a small stack copies a trajectory whose lanes take megabytes, through a buffer as big."""
    loop = LoopBuilder("copied", {"x": (6000,)}, {"y": (6000,)})
    kept = loop.buffer("kept", (6000,))
    loop.copy(kept, loop["x"])
    loop.copy(loop["y"], kept)
    function = build(loop.program())
    x = np.random.default_rng(0).normal(size=(WIDTH + 1, 6000))
    results = []
    before = threading.stack_size(262144)
    try:
        worker = threading.Thread(target=lambda: results.append((function(x), function(x[0]))))
        worker.start()
    finally:
        threading.stack_size(before)
    worker.join()
    np.testing.assert_array_equal(results[0][0], x)
    np.testing.assert_array_equal(results[0][1], x[0])


# ── float32 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(2))
def test_float32_agrees_with_the_interpreter_and_with_float64(seed):
    program = random_program(seed, 25)
    inputs = random_inputs(program, 40)
    function, meant = (build(program, name, precision="float32") for name in ("llvm", "interpreter"))
    assert function.dtype == np.float32
    exact = build(program)(*inputs)
    for ours, slow, double in zip(function(*inputs), meant(*inputs), exact, strict=True):
        assert ours.dtype == slow.dtype == np.float32
        far = np.abs(slow - ours) > 1e-4  # at a jump, one rounding decides
        assert np.mean(far) < 0.02
        assert np.mean(np.abs(double - ours) > 1e-3) < 0.02
    alone = function(*(x[7] for x in inputs))
    for one, ours in zip(alone, function(*inputs), strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, ours[7], rtol=1e-5, atol=1e-6)


def test_float32_raw_takes_float32_only():
    function = build(passed_on(3), precision="float32")
    single, double = np.ones((4, 3), np.float32), np.ones((4, 3))
    outs = np.empty((4, 3), np.float32), np.empty((4, 3, 2), np.float32)
    assert function.raw(outs, single) is True
    with pytest.raises(ShapeError, match="takes C-contiguous float32 arrays"):
        function.raw(outs, double)
    with pytest.raises(ShapeError, match="takes C-contiguous float64 arrays"):
        build(passed_on(3)).raw((np.empty((4, 3)), np.empty((4, 3, 2))), single)


def test_float32_sincos_within_two_ulp():
    graph = Graph()
    x = graph.input("x")
    refs = (x.sin().ref, x.cos().ref, x.tan().ref)
    function = build(Program("turn", (Port("x", ()),), (Port("y", (3,)),), graph, refs), precision="float32")
    rng = np.random.default_rng(5)
    size = 10.0 ** rng.uniform(-6, 38, 40_000)
    turns = np.arange(1, 70_000, 7) * (np.pi / 2)  # about whole quarters
    near = rng.uniform(-10.0, 10.0, 40_000)
    x32 = np.concatenate([size, -size, turns, turns[::5] * 1e3, near]).astype(np.float32)
    got = function(x32).astype(float)
    exact = np.stack([np.sin(x32.astype(float)), np.cos(x32.astype(float)), np.tan(x32.astype(float))], axis=1)
    ulps = np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert np.max(ulps[:, :2]) < 2.0
    assert np.max(ulps[:, 2]) < 4.0
