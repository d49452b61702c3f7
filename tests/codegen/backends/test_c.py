"""C does what the interpreter does, builds without warnings under the strictest rules, and touches no stray memory."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from codegen.backends.test_llvm_ops import AWKWARD, LIBRARY_ULPS, ULPS, distance_in_ulps
from kinemorph.codegen.backends.c import functions as c_functions
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.library import c
from kinemorph.codegen.backends.c.spelling import RESERVED
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs import schedule
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.errors import CompileError, UnsupportedError
from kinemorph.vocabulary.blocks import Block, Item
from kinemorph.vocabulary.ops import OPS
from support.cases.c_programs import (
    HOSTILE,
    STRICT,
    compiled,
    every_op,
    loops,
    needs_cc,
    random_program,
    with_blocks,
    write,
)
from support.tools.program_runs import assert_agrees

GOLDEN = Path(__file__).parents[1] / "golden"


def raw(program, arguments, backend="c", dtype=np.float64):
    """The values as they are, NaN included, one array (n, size) per output."""
    n = len(arguments[0])
    outs = [np.full((n, port.size), 77.0, dtype) for port in program.outputs]
    ins = [np.ascontiguousarray(array, dtype) for array in arguments]
    if backend == "c":
        c(program, dtype.__name__).run(n, outs, ins)
    else:
        build(program, backend).raw(outs[0] if len(outs) == 1 else tuple(outs), *ins)
    return outs


# ── ops ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
@pytest.mark.parametrize("sign", [1, -1])
def test_every_op_equals_interpreter(sign):
    rng = np.random.default_rng(1)
    usual = rng.normal(size=(3, 2000)) * 10.0 ** rng.integers(-3, 4, size=(3, 2000))
    grids = np.meshgrid(*[AWKWARD] * 3)
    arguments = [np.concatenate([grid.ravel(), random]) for grid, random in zip(grids, usual, strict=True)]
    program = every_op(sign)
    for op, got, meant in zip(OPS, raw(program, arguments), raw(program, arguments, "interpreter"), strict=True):
        worst = distance_in_ulps(got, meant)
        k = int(np.argmax(worst))
        assert worst[k] <= ULPS.get(op, LIBRARY_ULPS), f"{op} {[a[k] for a in arguments]}: {got[k]} != {meant[k]}"


@needs_cc
def test_every_op_in_single_precision():
    x = np.random.default_rng(2).uniform(0.05, 0.95, size=(3, 500)).astype(np.float32)
    program = every_op()
    for op, got, meant in zip(
        OPS, raw(program, list(x), dtype=np.float32), raw(program, list(x), "interpreter"), strict=True
    ):
        np.testing.assert_allclose(got, meant, rtol=2e-6, atol=1e-6, err_msg=op)


@needs_cc
@pytest.mark.parametrize("lengths", [None, (8, 16)])
def test_random_programs_are_the_same_to_the_last_bit(lengths, monkeypatch):
    if lengths:
        cut = {"whole": 1, "shortest": lengths[0], "longest": lengths[1]}
        monkeypatch.setattr(c_functions, "plan", lambda program: schedule.plan(program, **cut))
    rng = np.random.default_rng(4)
    for seed in range(3):
        program = random_program(seed)
        arguments = [rng.normal(size=(50, 3)), rng.normal(size=(50, 2))]
        for got, meant in zip(raw(program, arguments), raw(program, arguments, "interpreter"), strict=True):
            np.testing.assert_array_equal(got, meant)
        assert ("_part2(" in export_c([program], "x")["x.c"]) == bool(lengths)


@needs_cc
def test_constants_reach_the_code_without_loss():
    graph = Graph()
    values = [0.1, 1e-310, 5e-324, 1.7976931348623157e308, -1 / 3, np.inf, -np.inf, 1e22, 1e16]
    program = Program("constants", (), (Port("y", (9,)),), graph, tuple(map(graph.constant, values)))
    out, single = np.zeros(9), np.zeros(9, np.float32)
    c(program).run(1, [out], [])
    assert out.tolist() == values
    c(program, "float32").run(1, [single], [])
    with np.errstate(all="ignore"):
        assert single.tolist() == np.array(values, np.float32).tolist()


@needs_cc
def test_call_contract():
    """Batches, broadcasting, several outputs, and the answer about numbers that are not finite."""
    program = trace(
        lambda x, y: {"s": x[0] + y, "d": [x[1] / y, x[0]]}, {"x": (2,), "y": ()}, name="pair", outputs={"s": ()}
    )
    function = build(program, "c")
    s, d = function([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], 2.0)
    assert s.tolist() == [3.0, 5.0, 7.0]
    assert d.tolist() == [[1.0, 1.0], [2.0, 3.0], [3.0, 5.0]]
    s, d = np.zeros(2), np.zeros((2, 2))
    assert function.raw((s, d), np.ones((2, 2)), np.ones(2)) is True
    assert function.raw((s, d), np.ones((2, 2)), np.array([1.0, 0.0])) is False
    assert np.isinf(d[1, 0])
    assert "void pair(" in function.source


@needs_cc
def test_any_name_runs():
    for name in ("steps", "in", "finite", "batch", "n", "i0", "x", "", "*/"):
        program = trace(lambda x: {"y": 2.0 * x}, {name: ()}, name=name)
        assert build(program, "c")([1.0, 2.0]).tolist() == [2.0, 4.0]


# ── blocks and loops ──────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
@pytest.mark.parametrize("lengths", [None, (1, 2)])
def test_blocks_equal_interpreter(lengths, monkeypatch):
    if lengths:
        cut = {"whole": 1, "shortest": lengths[0], "longest": lengths[1]}
        monkeypatch.setattr(c_functions, "plan", lambda program: schedule.plan(program, **cut))
    program = with_blocks(3)
    assert_agrees("c", program, [np.random.default_rng(5).normal(size=(40, 3))], 1e-11)


@pytest.mark.parametrize("lengths", [(1, 2), (4, 8)])
def test_chunks_keep_a_block_and_its_entries_together(lengths):
    program = with_blocks(6)
    nodes = program.graph.nodes
    plan = schedule.plan(program, whole=1, shortest=lengths[0], longest=lengths[1])
    assert len(plan.chunks) > 3
    for chunk in plan.chunks:
        assert all(nodes[i][1] in chunk for i in chunk if isinstance(nodes[i][0], Item))
    assert not any(isinstance(nodes[i][0], Block) for i in plan.slots)


LOOPS = loops()


@needs_cc
@pytest.mark.parametrize("name", LOOPS)
def test_loop_programs_equal_interpreter(name):
    program = LOOPS[name]
    rng = np.random.default_rng(6)
    numbers = np.array([0.0, 1.0, 2.0, 3.0, 4.9, -3.0, 1e300, -1e300, np.nan, np.inf, 0.25])
    if name == "counted by a number":
        numbers = np.array([0.0, 1.0, 5.0, 4.5, -2.0, np.nan, 7.0])
    given = [np.resize(numbers, 20) if not port.shape else rng.normal(size=(20, port.size)) for port in program.inputs]
    assert_agrees("c", program, [x.reshape(-1, *port.shape) for x, port in zip(given, program.inputs, strict=True)])


@needs_cc
def test_blocks_and_loops_build_without_warnings(tmp_path):
    programs = [*LOOPS.values(), with_blocks(2), random_program(1), every_op()]
    for precision in ("float64", "float32"):
        write(tmp_path, export_c(programs, "all", precision=precision))
        compiled(tmp_path, *STRICT, "-c", "all.c")


# ── the 36-dof robot ──────────────────────────────────────────────────────────────────────────────────────────────────

MAIN = """
#include "model.h"
#include <stdio.h>
#include <stdlib.h>

static double *numbers(int count)
{
    double *found = malloc((size_t)count * sizeof(double));
    for (int k = 0; k < count; ++k) if (scanf("%lf", found + k) != 1) exit(2);
    return found;
}

static void show(double *out, int count)
{
    for (int k = 0; k < count; ++k) printf("%.17g\\n", out[k]);
    free(out);
}

int main(void)
{
    double *q = numbers(HEXAPOD36_INVERSE_DYNAMICS_Q_SIZE), *v = numbers(HEXAPOD36_INVERSE_DYNAMICS_V_SIZE);
    double *a = numbers(HEXAPOD36_INVERSE_DYNAMICS_A_SIZE);
    double *tau = malloc(HEXAPOD36_INVERSE_DYNAMICS_OUT_SIZE * sizeof(double));
    double *M = malloc(HEXAPOD36_MASS_MATRIX_OUT_SIZE * sizeof(double));
    double *back = malloc(HEXAPOD36_FORWARD_DYNAMICS_OUT_SIZE * sizeof(double));
    hexapod36_inverse_dynamics(q, v, a, tau);
    hexapod36_mass_matrix(q, M);
    hexapod36_forward_dynamics(q, v, a, back);
    show(tau, HEXAPOD36_INVERSE_DYNAMICS_OUT_SIZE);
    show(M, HEXAPOD36_MASS_MATRIX_OUT_SIZE);
    show(back, HEXAPOD36_FORWARD_DYNAMICS_OUT_SIZE);
    free(q), free(v), free(a);
    return 0;
}
"""


@pytest.fixture(scope="module")
def hexapod(tmp_path_factory):
    """The folder with the exported pair of files, the state, and what the interpreter says of it."""
    dynamics = kinemorph.derive(kinemorph.library.hexapod36(), backend="interpreter")
    functions = [dynamics.inverse_dynamics, dynamics.mass_matrix, dynamics.forward_dynamics]
    folder = tmp_path_factory.mktemp("hexapod")
    write(folder, export_c([function.program for function in functions], "model") | {"main.c": MAIN})
    rng = np.random.default_rng(7)
    q, v, a = rng.normal(size=37), rng.normal(size=36), rng.normal(size=36)
    return folder, (q, v, a), [functions[0](q, v, a), functions[1](q), functions[2](q, v, a)]


def agree(got: list[np.ndarray], meant: list[np.ndarray]) -> None:
    for one, other in zip(got, meant, strict=True):
        assert np.max(np.abs(one - other.ravel())) <= 1e-13 * np.max(np.abs(other))


@needs_cc
@pytest.mark.slow
def test_hexapod_builds_without_warnings_and_agrees(hexapod):
    folder, (q, v, a), meant = hexapod
    compiled(folder, *STRICT, "-fPIC", "-shared", "-o", "model.so", "model.c", "-lm")
    library = ctypes.CDLL(str(folder / "model.so"))
    outs = [np.full(other.size, np.nan) for other in meant]
    for name, ins, out in zip(
        ("inverse_dynamics", "mass_matrix", "forward_dynamics"), ((q, v, a), (q,), (q, v, a)), outs, strict=True
    ):
        getattr(library, f"hexapod36_{name}")(*(ctypes.c_void_p(x.ctypes.data) for x in (*ins, out)))
    agree(outs, meant)


@pytest.mark.slow
@needs_cc
def test_hexapod_is_clean_under_sanitizers(hexapod):
    folder, state, meant = hexapod
    flags = ("-O0", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    (folder / "empty.c").write_text("int main(void) { return 0; }\n")
    try:
        compiled(folder, *flags, "empty.c", "-o", "empty")
        subprocess.run([str(folder / "empty")], check=True, capture_output=True)
    except (AssertionError, subprocess.CalledProcessError, OSError):
        pytest.skip("this compiler has no runtime for -fsanitize=address,undefined")
    compiled(folder, *flags, "main.c", "model.c", "-o", "main", "-lm")
    given = "\n".join(repr(float(x)) for array in state for x in array)
    done = subprocess.run([str(folder / "main")], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    printed = np.array(done.stdout.split(), dtype=float)
    agree(np.split(printed, np.cumsum([other.size for other in meant])[:-1]), meant)


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler 'c++' on this computer")
def test_header_serves_cpp(hexapod):
    folder, _, _ = hexapod
    use = '#include "model.h"\nint main() { return HEXAPOD36_MASS_MATRIX_OUT_SIZE == 36 * 36 ? 0 : 1; }\n'
    (folder / "use.cpp").write_text(use)
    subprocess.run(
        ["c++", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "use.cpp"], cwd=folder, check=True
    )


# ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
def test_hostile_names_stay_names(tmp_path):
    programs = []
    for name in [*HOSTILE, "q", "Q", "model", *HOSTILE]:
        graph = Graph()
        inputs = [graph.input(port) for port in HOSTILE]
        total = sum(inputs[1:], inputs[0].sin())
        ports = tuple(Port(port, ()) for port in HOSTILE)
        programs.append(Program(name, ports, (Port(name, ()), Port("out", ())), graph, (total.ref, -total.ref)))
    for file in ("model", *HOSTILE[:4]):
        files = export_c(programs, file)
        assert all(re.fullmatch(r"\w+\.[ch]", name) for name in files)
    files = export_c(programs, "model")
    write(tmp_path, files)
    compiled(tmp_path, *STRICT, "-fPIC", "-shared", "-o", "model.so", "model.c", "-lm")
    code = re.sub(r"/\*.*?\*/", "", "".join(files.values()), flags=re.DOTALL)
    assert "system(" not in code
    assert "main" not in re.findall(r"\w+", code)
    names = re.findall(r"^void (\w+)\(", files["model.h"], re.MULTILINE)
    assert len(set(names)) == len(programs)
    assert not set(names) & RESERVED
    library, out = ctypes.CDLL(str(tmp_path / "model.so")), np.zeros(2)
    x = np.arange(1.0, len(HOSTILE) + 1.0)
    for name in names:
        pointers = [x[k:].ctypes.data for k in range(len(x))] + [out.ctypes.data, out[1:].ctypes.data]
        getattr(library, name)(*map(ctypes.c_void_p, pointers))
        expected = np.sin(1.0) + x[1:].sum()
        np.testing.assert_allclose(out, [expected, -expected], rtol=1e-15)


@needs_cc
@pytest.mark.parametrize("name", ['"; system("x")', "*/ int main(){", "%s", "\\", "??/"])
def test_robot_with_a_hostile_name(name, tmp_path):
    builder = kinemorph.RobotBuilder(name)
    builder.add(kinemorph.Body.rod(f"{name} rod", 1.0, 1.0, center=(0.5, 0, 0), axis="x"))
    builder.joint(name, "revolute", "world", f"{name} rod", axis=(0, 1, 0))
    builder.frame(f"{name} tip", f"{name} rod", translation=(1, 0, 0))
    dynamics = kinemorph.derive(builder.build(), backend="c")
    assert dynamics.pose(f"{name} tip")([0.0])[0, 3] == 1.0
    write(tmp_path, export_c([dynamics.pose(f"{name} tip").program], name))
    compiled(tmp_path, *STRICT, "-c", *(path.name for path in tmp_path.glob("*.c")))


# ── text and errors ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_c_text_is_stable(precision, request):
    programs = [every_op(), LOOPS["newton"], LOOPS["picked twice"], LOOPS["in place"]]
    for name, text in export_c(programs, f"ops_{precision}", precision=precision).items():
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert text == path.read_text()


def test_unknown_precision():
    with pytest.raises(UnsupportedError, match=r"precision 'half' is unknown\. Choose 'float64' or 'float32'"):
        export_c([every_op()], "x", precision="half")


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -v")
    with pytest.raises(CompileError, match=r"'no-such-compiler' is not installed on this computer.*CC.*'llvm'"):
        build(trace(lambda x: x + 12345.0, {"x": ()}, name="f"), "c")


@needs_cc
def test_compiler_that_fails(monkeypatch):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CompileError, match="'false' does not accept"):
        build(trace(lambda x: x + 54321.0, {"x": ()}, name="f"), "c")


@pytest.mark.parametrize("name", ["finite", "finite_", "outs", "n", "i", "good", "steps"])
def test_a_program_may_have_the_name_of_a_local_variable_of_its_batch(name: str) -> None:
    """A program called `finite` was a function that a variable of the same name hid: the compiler refused it."""
    program = trace(lambda x: {"y": 2.0 * x[0]}, {"x": (1,)}, name=name, outputs={"y": ()})
    assert build(program, backend="c")([[3.0], [4.0]]).tolist() == [6.0, 8.0]
