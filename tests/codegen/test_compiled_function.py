"""Compiled functions: batches, broadcasting, the raw way, and what they say about bad input."""

import contextlib
import gc
import inspect
import os
import pickle
import platform
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from kinemorph.codegen.backends.llvm import python_objects
from kinemorph.codegen.building.compile import build, runnable_backends
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from support.tools.each_case import each_case
from support.tools.some_slow import first


def sample() -> Program:
    """Two outputs of three inputs: y (2, 2) and z ()."""
    graph = Graph()
    q = [graph.input(f"q{k}") for k in range(3)]
    v = [graph.input(f"v{k}") for k in range(2)]
    t = graph.input("t")
    y = [q[0].sin() * v[0], q[1] / q[2], -q[2], v[1] + t]
    z = q[0].cos() * q[0].sin() - t
    ports = (Port("q", (3,)), Port("v", (2,)), Port("t", ()))
    return Program("sample", ports, (Port("y", (2, 2)), Port("z", ())), graph, tuple(e.ref for e in [*y, z]))


def scale() -> Program:
    """One output, (3,) to (3,)."""
    graph = Graph()
    x = [graph.input(f"x{k}") for k in range(3)]
    refs = tuple((e * 2.0 + 1.0 / x[0]).ref for e in x)
    return Program("scale", (Port("x", (3,)),), (Port("y", (3,)),), graph, refs)


@pytest.fixture(scope="module", params=runnable_backends())
def function(request):
    return build(sample(), request.param)


@pytest.fixture(scope="module", params=runnable_backends())
def scaled(request):
    return build(scale(), request.param)


def states(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), rng.normal(size=n)


def test_batch_equals_single_states(function):
    q, v, t = states(50)
    y, z = function(q, v, t)
    assert y.shape == (50, 2, 2)
    assert z.shape == (50,)
    for k in range(50):
        y_one, z_one = function(q[k], v[k], float(t[k]))
        assert y_one.shape == (2, 2)
        assert z_one.shape == ()
        np.testing.assert_array_equal(y[k], y_one)
        np.testing.assert_array_equal(z[k], z_one)


def test_values(function):
    y, z = function([0.5, 2.0, 4.0], [3.0, 1.0], 0.25)
    np.testing.assert_allclose(y, [[3 * np.sin(0.5), 0.5], [-4.0, 1.25]], rtol=1e-15)
    np.testing.assert_allclose(z, np.sin(0.5) * np.cos(0.5) - 0.25, rtol=1e-15)


def test_arrays_that_fit_go_straight_to_machine_code(monkeypatch):
    one, two = build(scale()), build(sample())
    (q, v, t), x = states(9), np.ones((9, 3))
    fitting = [
        (one, [x]),
        (one, [x[0]]),
        (two, [q, v, t]),
        (two, [q[0], v[0], t[0, None].reshape(())]),
        (two, [q[0], v[0], 0.5]),
        (two, [q[0], v[0], t[0]]),
        (two, [q, v[0], 0.5]),
        (two, [q[0], v[0], t]),
        (two, [q[:1], v[0], 0.5]),
    ]
    strange = [
        (one, [x.tolist()]),
        (one, [x[None, :3]]),
        (one, [x[:, ::-1]]),
        (two, [q[:1], v, t]),
        (two, [q[:, None], v, 0.5]),
        (two, [q, v, np.float32(0.5)]),
    ]
    expected = [[np.array(a).tolist() for a in arrays] for _, arrays in fitting]
    expected = [function(*lists) for (function, _), lists in zip(fitting, expected, strict=True)]

    def refuse(arrays):
        raise RuntimeError("in Python")

    for function in (one, two):
        monkeypatch.setattr(function, "_general", refuse)
    for (function, arrays), values in zip(fitting, expected, strict=True):
        got = function(*arrays)
        for a, b in zip(got, values, strict=True) if function is two else [(got, values)]:
            np.testing.assert_array_equal(a, b)
            assert a.shape == b.shape
    for function, arrays in strange:
        with pytest.raises(RuntimeError, match="in Python"):
            function(*arrays)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators have rules of their own")
def test_several_big_results_do_not_fetch_their_memory_anew():
    resource = pytest.importorskip("resource")
    graph = Graph()
    refs = tuple(graph.input(f"x{k}").ref for k in range(4))
    outputs = tuple(Port(f"y{k}", (4,)) for k in range(3))
    function = build(Program("copies", (Port("x", (4,)),), outputs, graph, refs * 3))
    x = np.ones((15_000, 4))

    def faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    for _ in range(5):
        function(x)
    before = faults()
    for _ in range(10):
        function(x)
    assert faults() - before < 100  # ten times 3 x 480 kB are 3500 pages


def test_leading_axes_broadcast(function):
    q, v, t = states(12)
    q, v, t = q[:4].reshape(4, 1, 3), v[:3], t[0]
    y, z = function(q, v, t)
    assert y.shape == (4, 3, 2, 2)
    for i in range(4):
        for j in range(3):
            np.testing.assert_array_equal(y[i, j], function(q[i, 0], v[j], t)[0])
            np.testing.assert_array_equal(z[i, j], function(q[i, 0], v[j], t)[1])


def test_anything_that_is_numbers_is_taken(scaled):
    expected = [3.0, 5.0, 7.0]
    for x in ([1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3]), np.array([1, 2, 3], dtype=np.float32)):
        assert scaled(x).tolist() == expected
    assert scaled(np.array([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]])[:, 0]).tolist() == expected  # not contiguous
    assert scaled(np.array([1.0, 2.0, 3.0], dtype=">f8")).tolist() == expected  # other byte order
    unpickled = pickle.loads(pickle.dumps(np.array([1.0, 2.0, 3.0])))  # float64, but another dtype object
    assert scaled(unpickled).tolist() == expected
    assert scaled(unpickled.reshape(1, 3)).tolist() == [expected]
    unaligned = np.frombuffer(b"x" + np.array(2 * [1.0, 2.0, 3.0]).tobytes(), dtype=np.float64, offset=1)
    assert scaled(unaligned[:3]).tolist() == expected
    assert scaled(unaligned.reshape(2, 3)).tolist() == [expected] * 2
    assert scaled(np.asfortranarray(np.tile([1.0, 2.0, 3.0], (5, 1)))).tolist() == [expected] * 5


def test_inputs_are_never_changed(function):
    arrays = states(5)
    before = [a.copy() for a in arrays]
    function(*arrays)
    function(arrays[0][0], arrays[1][0], arrays[2][0])
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_results_are_fresh(scaled):
    first = scaled([1.0, 2.0, 3.0])
    scaled([2.0, 2.0, 2.0])
    assert first.tolist() == [3.0, 5.0, 7.0]


def test_empty_batch(function):
    y, z = function(np.zeros((0, 3)), np.zeros((0, 2)), np.zeros(0))
    assert y.shape == (0, 2, 2)
    assert z.shape == (0,)


def test_empty_port():
    graph = Graph()
    x = graph.input("x")
    program = Program("narrow", (Port("x", ()), Port("p", (0,))), (Port("none", (0,)), Port("y", ())), graph, (x.ref,))
    for backend in runnable_backends():
        none, y = build(program, backend)([1.0, 2.0], np.zeros(0))
        assert none.shape == (2, 0)
        assert y.tolist() == [1.0, 2.0]


def test_nothing_but_empty_outputs():
    program = trace(lambda x: [], {"x": ()}, name="nothing")
    for backend in runnable_backends():
        assert build(program, backend)(np.zeros(3)).shape == (3, 0)


@pytest.mark.parametrize("n", [1, 2, 200])
def test_raw_writes_what_the_call_returns(function, n):
    q, v, t = states(n)
    y, z = np.full((n, 2, 2), np.nan), np.full(n, np.nan)
    assert function.raw((y, z), q, v, t) is True
    expected = function(q, v, t)
    np.testing.assert_array_equal(y, expected[0])
    np.testing.assert_array_equal(z, expected[1])


def test_raw_takes_one_state_for_all(function):
    q, v, _ = states(40)
    t = np.array(0.5)
    y, z = np.empty((40, 2, 2)), np.empty(40)
    function.raw((y, z), q, v[:1], t)
    np.testing.assert_array_equal(y, function(q, v[:1], 0.5)[0])


@pytest.mark.parametrize("n", [1, 3, 100])
def test_raw_hands_on_what_is_not_finite_and_says_so(scaled, n):
    x, out = np.ones((n, 3)), np.empty((n, 3))
    x[-1, 0] = 0.0
    assert scaled.raw(out, x) is False
    assert np.isinf(out[-1]).all()


def test_raw_refuses_what_would_read_past_an_array():
    function = build(scale())
    good, out = np.ones((4, 3)), np.empty((4, 3))
    locked = np.empty((4, 3))
    locked.flags.writeable = False
    bad = [
        (out, good[:2]),
        (out, good.astype(np.float32)),
        (out, good[:, ::-1]),
        (out, [1.0]),
        (out,),
        (out, good, good),
    ]
    bad += [
        (out, good.astype(">f8")),
        ([1.0], [1.0]),
        (np.empty(4), good),
        (locked, good),
        ((out,), good),
        (np.empty(0), good),
    ]
    for arguments in bad:
        with pytest.raises(ShapeError, match="'scale': raw"):
            function.raw(*arguments)


def test_without_direct_entries_the_results_are_the_same(monkeypatch):
    direct = build(sample())
    monkeypatch.setattr(python_objects, "layout_is_known", lambda: False)
    indirect = build(sample())
    assert "@raw" not in indirect.source
    q, v, t = states(7)
    for got, expected in zip(indirect(q, v, t), direct(q, v, t), strict=True):
        np.testing.assert_array_equal(got, expected)
    outs = np.empty((7, 2, 2)), np.empty(7)
    indirect.raw(outs, q, v, t)
    np.testing.assert_array_equal(outs[0], direct(q, v, t)[0])


def test_this_interpreter_has_direct_entries():
    assert python_objects.layout_is_known()


MISTAKES = {
    "too few inputs": (([1.0, 2.0, 3.0],), "takes 3 inputs .*q \\(3,\\), v \\(2,\\), t \\(\\).* 1 were given"),
    "short": (([1.0, 2.0], [1.0, 2.0], 0.0), "'sample': input 'q' has shape \\(2,\\); expected \\(3,\\)"),
    "short array": ((np.ones(2), np.ones(2), 0.0), "input 'q' has shape \\(2,\\)"),
    "long array": ((np.ones(6), np.ones(2), 0.0), "input 'q' has shape \\(6,\\)"),
    "transposed": ((np.ones((3, 5)), [1.0, 2.0], 0.0), "'q' has shape \\(3, 5\\).*pass the transpose"),
    "number for a vector": ((1.0, [1.0, 2.0], 0.0), "'q' has shape \\(\\)"),
    "column": ((np.ones((3, 1)), [1.0, 2.0], 0.0), "'q' has shape \\(3, 1\\)"),
    "batches differ": (
        (np.ones((4, 3)), np.ones((5, 2)), 0.0),
        "do not broadcast \\(q \\(4,\\), v \\(5,\\), t \\(\\)\\)",
    ),
    "complex": ((np.ones(3) * 1j, [1.0, 2.0], 0.0), "'q' has dtype complex128"),
    "text": ((["a", "b", "c"], [1.0, 2.0], 0.0), "'q' has dtype"),
    "nothing": ((None, [1.0, 2.0], 0.0), "'q' has dtype object"),
    "ragged": (([[1.0, 2.0], [1.0]], [1.0, 2.0], 0.0), "'q' is a ragged sequence"),
    "nan": (([np.nan, 2.0, 3.0], [1.0, 2.0], 0.0), "input q\\[0\\] is nan"),
    "inf in a batch": (([[1.0, 2.0, 3.0]] * 2, [[1.0, 2.0], [1.0, np.inf]], 0.0), "input v\\[1\\] of state 1 is inf"),
}


@each_case("mistake", MISTAKES)
def test_bad_input_is_named(function, mistake):
    arguments, message = MISTAKES[mistake]
    with pytest.raises(ShapeError, match=message):
        function(*arguments)


def test_result_that_is_not_finite_is_named(function):
    q, v, t = states(6)
    q[4, 2] = 0.0
    with pytest.raises(KinemorphError, match=r"'sample': output y\[0, 1\] of state 4 is -?inf.*every input is finite"):
        function(q, v, t)
    with pytest.raises(KinemorphError, match=r"'sample': output y\[0, 1\] is -?inf") as caught:
        function(q[4], v[4], t[4])
    assert not isinstance(caught.value, ShapeError)


def test_unknown_backend_lists_the_known_ones():
    with pytest.raises(UnsupportedError, match=r"'fortran' is unknown.*'interpreter', 'llvm'"):
        build(scale(), "fortran")


def test_facts_about_itself(function):
    assert function.name == "sample"
    assert function.ops == len(function.program.steps) == 7
    assert function.compile_seconds > 0
    assert "sample" in function.source
    assert repr(function) == "<sample: q (3,), v (2,), t () -> y (2, 2), z (); 7 ops>"


def test_raw_outlives_its_function():
    function = build(scale())
    raw = function.raw
    del function
    gc.collect()
    out = np.empty(3)
    raw(out, np.array([1.0, 2.0, 3.0]))
    assert out.tolist() == [3.0, 5.0, 7.0]


def test_a_call_outlives_its_function():
    call = build(scale()).__call__
    gc.collect()
    assert call(np.array([1.0, 2.0, 3.0])).tolist() == [3.0, 5.0, 7.0]
    assert call([1.0, 2.0, 3.0]).tolist() == [3.0, 5.0, 7.0]


def test_a_function_no_longer_used_goes(scaled):
    function = build(scale(), scaled.backend)
    seen = weakref.ref(function)
    del function
    gc.collect()
    assert seen() is None


CYCLES = """
import gc
import numpy as np
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace

program = trace(lambda x: 2.0 * x, {"x": ()}, name="double")
said = []

class Asks:
    def __init__(self, function):
        self.function, self.itself = function, self

    def __del__(self):
        said.append((self.function(1.0), self.function(np.ones(2)).sum()))

for _ in range(5):
    build(program, "llvm")
    Asks(build(program, "llvm"))
    gc.collect()
assert said == [(2.0, 4.0)] * 5
"""


def test_the_garbage_collector_may_take_functions_in_any_order():
    # glibc fills freed memory with 2s: CPython would read them as flags of a built-in function, and crash
    filled = {"PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "2", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    done = subprocess.run([sys.executable, "-c", CYCLES], env=os.environ | filled, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_results_own_their_memory(scaled):
    y = scaled(np.ones(3))
    assert type(y) is np.ndarray
    assert y.dtype == np.float64
    assert y.flags.owndata
    assert y.flags.carray


DOUBLE = np.dtype("float64")
LASTING = {
    "raw": lambda one, two, x, v: one.raw(np.empty_like(x), x),
    "one output": lambda one, two, x, v: one(x),
    "by name": lambda one, two, x, v: one(x=x),
    "two outputs": lambda one, two, x, v: two(x, v, 1.0),
    "wrong shape": lambda one, two, x, v: one(v),
    "not finite": lambda one, two, x, v: one(np.zeros_like(x)),
    "batch": lambda one, two, x, v: two(x[None], v, 1.0),
}


@pytest.mark.parametrize("case", first(LASTING, 3))
def test_no_references_leak(case):
    one, two = build(scale()), build(sample())
    x, v = np.ones(3), np.ones(2)
    direct = case in ("one output", "by name", "two outputs")
    watched = (None, True, x, v, one.program, two.program, *([DOUBLE] if direct else []))  # np.empty keeps dtypes

    def counted():
        for _ in range(1000):
            with contextlib.suppress(KinemorphError):
                LASTING[case](one, two, x, v)
        gc.collect()
        return [*map(sys.getrefcount, watched), sys.getallocatedblocks()]

    before = counted()
    assert all(after - count < 200 for after, count in zip(counted(), before, strict=True))


@pytest.mark.parametrize("program", [scale, sample])
def test_a_call_without_memory_raises(program):
    memory = pytest.importorskip("_testcapi", reason="CPython's test module makes allocations fail")
    function = build(program())
    arguments = tuple(np.ones(port.shape) for port in function.program.inputs)
    result, failures = None, 0
    for k in range(20):
        memory.set_nomemory(k, k + 1)  # after k allocations that succeed one fails
        try:
            result = function(*arguments)
        except MemoryError:
            failures += 1
        memory.remove_mem_hooks()
        if result is not None:
            break
    assert failures >= len(function.program.outputs)
    assert result is not None


def test_inputs_by_name(function):
    q, v, t = states(1)
    expected = function(q[0], v[0], t[0])
    for got in (function(q[0], v[0], t=t[0]), function(t=t[0], v=v[0], q=q[0]), function(q[0], t=float(t[0]), v=v[0])):
        np.testing.assert_array_equal(got[0], expected[0])
        np.testing.assert_array_equal(got[1], expected[1])
    with pytest.raises(ShapeError, match=r"'sample' takes the inputs q \(3,\).*2 were given by position and w by name"):
        function(q[0], v[0], w=t)


def test_its_signature_is_its_inputs(function):
    assert str(inspect.signature(function)) == "(q, v, t)"


def test_compiling_and_calling_in_threads():
    results = {}

    def work(k):
        results[k] = build(scale())(np.full((1000, 3), k + 1.0))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_allclose(results[k], 2.0 * (k + 1) + 1.0 / (k + 1), rtol=1e-15)
