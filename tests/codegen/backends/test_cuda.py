"""CUDA text compiles where nvcc is, as the same statements that C runs and tests; one thread per state."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.backends.c.cuda import export_cuda
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.errors import UnsupportedError
from support.cases.c_programs import HOSTILE, every_op, loops, random_program, with_blocks, write

GOLDEN = Path(__file__).parents[1] / "golden"
LOOPS = loops()
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA compiler 'nvcc' on this computer")


def hostile() -> Program:
    graph = Graph()
    total = sum((graph.input(port) for port in HOSTILE), 0.0)
    ports = tuple(Port(port, ()) for port in HOSTILE)
    return Program(HOSTILE[0], ports, (Port(HOSTILE[1], ()),), graph, (total.ref,))


@pytest.mark.slow
@needs_nvcc
@pytest.mark.parametrize("precision", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_compiles_without_warnings(precision, tmp_path):
    puma = kinemorph.derive(kinemorph.library.puma(), backend="interpreter")
    recursions = [puma.inverse_dynamics.program, puma.forward_dynamics.program]
    programs = [*recursions, every_op(), random_program(1), with_blocks(), hostile(), *LOOPS.values()]
    write(tmp_path, export_cuda(programs, "model", precision=precision))
    command = ["nvcc", "-arch=sm_90", "-Werror", "all-warnings", "-c", "model.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr


# What a C++ compiler needs to take the kernels for functions; `run_thread` says which thread calls them.
STAND_IN = """
#include <cmath>
#include <cstddef>
#include <cstring>
#define __CUDACC_RTC__
#define __global__
#define __device__
#define __launch_bounds__(threads)
struct Place { unsigned x; };
static Place blockIdx, blockDim = {128}, threadIdx;
extern "C" void run_thread(unsigned k) { blockIdx.x = k / 128; threadIdx.x = k % 128; }
static double __longlong_as_double(long long bits) { double x; std::memcpy(&x, &bits, sizeof x); return x; }
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler 'c++' on this computer")
def test_kernels_equal_interpreter(tmp_path):
    """The same text taken for C++, thread by thread: what it computes, and that every number is in its place."""
    programs = [every_op(), random_program(3), with_blocks(), *LOOPS.values()]
    files = export_cuda(programs, "model")
    write(tmp_path, {"model.cpp": STAND_IN + files["model.cu"]})
    command = ["c++", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-o", "model.so", "model.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "model.so"))
    kernels = re.findall(r"__launch_bounds__\(128\) (\w+)\(", files["model.cu"])
    n, rng = 130, np.random.default_rng(8)
    for program, kernel in zip(programs, kernels, strict=True):
        ins = [rng.uniform(0.1, 0.9, size=(n, port.size)) for port in program.inputs]
        meant = [np.empty((n, port.size)) for port in program.outputs]
        build(program, "interpreter").raw(meant[0] if len(meant) == 1 else tuple(meant), *ins)
        arrays = [np.ascontiguousarray(a.T) for a in ins] + [np.full(out.T.shape, np.nan) for out in meant]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        for thread in range(256):
            library.run_thread(thread)
            getattr(library, kernel)(n, *pointers)
        for got, out in zip(arrays[len(ins) :], meant, strict=True):
            np.testing.assert_allclose(got.T, out, rtol=1e-11, atol=1e-13, err_msg=kernel)


def test_every_state_has_its_own_thread_and_every_number_its_place():
    program = random_program(2)
    text = export_cuda([program], "model")["model.cu"]
    places = re.findall(r"\b([qpyz])\[(.*?)\]", text)
    assert all(re.fullmatch(r"\d+ \* states \+ state", place) for _, place in places)
    written = re.findall(r"^    ([yz])\[(\d+) \* states \+ state\] = ", text, re.MULTILINE)
    assert sorted((name, int(k)) for name, k in written) == [
        *(("y", k) for k in range(16)),
        *(("z", k) for k in range(4)),
    ]
    assert "if (state >= states) return;" in text


def test_statements_are_those_of_c():
    """Without the reads of inputs, a kernel's definitions are the C function's, line by line."""

    def definitions(text: str) -> list[str]:
        """What is defined, with `x` for every operand."""
        texts = re.findall(r"^    const double n\d+ = (.*);$", text, re.MULTILINE)
        return [re.sub(r"\bn\d+\b|\bx\d\[0\]", "x", found) for found in texts if "states" not in found]

    program = every_op()
    cuda, c = export_cuda([program], "ops")["ops.cu"], export_c([program], "ops")["ops.c"]
    assert definitions(cuda) == definitions(c)
    assert len(definitions(c)) == len(program.steps)


def test_a_launcher_for_each_kernel():
    files = export_cuda([every_op(), with_blocks()], "model")
    assert files["model.cuh"].count("_launch(int n, ") == 2
    assert files["model.cu"].count("__launch_bounds__") == 2
    assert files["model.cu"].count("<<<") == 2


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_cuda_text_is_stable(precision, request):
    programs = [every_op(), LOOPS["newton"]]
    for name, text in export_cuda(programs, f"ops_{precision}", precision=precision).items():
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text)
        assert text == path.read_text()


def test_unknown_precision():
    with pytest.raises(UnsupportedError, match="precision 'half' is unknown"):
        export_cuda([every_op()], "x", precision="half")
