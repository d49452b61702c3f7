"""The CUDA backend: programs as kernels with one thread per state, on arrays in structure-of-arrays layout.

    x.cu    __global__ void robot_function(int n, const double *q, ..., double *out), and a launcher for each kernel
    x.cuh   the launchers' prototypes, callable from C and C++, with the shapes as in the C backend

Entry e of state s is at `q[e * n + s]`, so that neighboring threads read neighboring numbers. A program is code without
loops in registers; a loop program works on arrays that are local to its thread. If the file is compiled at run time
(NVRTC), it contains only device code.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.c.functions import (
    Function,
    Statements,
    about,
    braced,
    parameters,
    places,
    unused,
)
from kinemorph.codegen.backends.c.spelling import CUDA, block_comment
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram, all_runnable, refuse_foreign

THREADS = 128  # threads in a block
REMARKS = (
    "Entry e of state s stands at array[e * n + s]; one thread evaluates one state.",
    "A launcher takes pointers to device memory and a cudaStream_t, and answers with the cudaError_t of the launch.",
    "For the same bits, nvcc: --fmad=false. Products that are rounded together with a sum are written as fma().",
)
THREAD = (
    "const size_t states = (size_t)n;",
    "const size_t state = (size_t)blockIdx.x * blockDim.x + threadIdx.x;",
    "if (state >= states) return;",
)
PLACE = "{0}[{1} * states + state]"


def export_cuda(
    programs: Sequence[Program | LoopProgram], name: str, *, precision: str = "float64", file: str | None = None
) -> dict[str, str]:
    """{file name: text} of `name.cu` and `name.cuh`, with one kernel and one launcher for each program.

    `file` is the name of the files without their endings, by default `name` as an identifier.
    """
    programs = all_runnable(programs, "export_cuda")
    for program in programs:
        refuse_foreign(program, "CUDA")
    unit = Unit(programs, name, of_precision(CUDA, precision, programs), file)
    launchers = [unit.names.new(f"{function.name}_launch") for function in unit.functions]
    signatures = [
        f"int {launcher}(int n, {parameters(function.inputs, function.outputs, unit.dialect, restrict=False)}, "
        "void *stream)"
        for function, launcher in zip(unit.functions, launchers, strict=True)
    ]
    header = unit.header("cuh", REMARKS, [f"{signature};" for signature in signatures])
    for function in unit.functions:
        body = _loops(function, unit) if isinstance(function.program, LoopProgram) else _straight(function, unit)
        listed = parameters(function.inputs, function.outputs, unit.dialect)
        heading = f'extern "C" __global__ void __launch_bounds__({THREADS}) {function.name}(int n, {listed})'
        unit.lines += [*block_comment(about(function)), *braced(heading, body)]
    host = ["#ifndef __CUDACC_RTC__", f'#include "{unit.file}.cuh"', ""]
    for function, signature in zip(unit.functions, signatures, strict=True):
        host += braced(signature, _launch(function))
    return {
        f"{unit.file}.cu": "\n".join([*unit.opening(REMARKS), *unit.lines, *host, "#endif", ""]),
        f"{unit.file}.cuh": header,
    }


def _straight(function: Function, unit: Unit) -> list[str]:
    """The body of the kernel of a Program; each input is read where it is first used."""
    assert isinstance(function.program, Program)
    program = fused(function.program)
    inputs, outputs = (
        places(names, ports, PLACE)
        for names, ports in ((function.inputs, program.inputs), (function.outputs, program.outputs))
    )
    body = Statements(program, unit, inputs, outputs, load=True)
    body.store_leaves()
    for i, _ in program.steps:
        body.carry_out(i)
        body.store(i)
    return [*THREAD, *unused(function, body.touched), *body.lines]


def _loops(function: Function, unit: Unit) -> list[str]:
    """The body of the kernel of a loop program, which works on copies of one state's arrays."""
    program, real = function.program, unit.dialect.real
    inner = unit.internal(program)
    own = [f"t{k}" for k in range(len(function.arrays))]
    ports = (*program.inputs, *program.outputs)
    lines = [*THREAD, *(f"{real} {name}[{max(port.size, 1)}];" for name, port in zip(own, ports, strict=True))]
    n_in = len(function.inputs)
    triples = list(zip(function.arrays, own, ports, strict=True))
    lines += [_each(port, f"{mine}[i0] = {PLACE.format(array, 'i0')};") for array, mine, port in triples[:n_in]]
    lines.append(f"{inner}({', '.join(own)});")
    lines += [_each(port, f"{PLACE.format(array, 'i0')} = {mine}[i0];") for array, mine, port in triples[n_in:]]
    return lines


def _each(port: Port, statement: str) -> str:
    """The line of a loop that runs `statement` for each entry of a port; i0 is the index of the entry."""
    return f"for (int i0 = 0; i0 < {port.size}; ++i0) {statement}"


def _launch(function: Function) -> list[str]:
    """The body of the function that launches a kernel."""
    blocks = f"((unsigned)n + {THREADS - 1}u) / {THREADS}u"
    arguments = ", ".join(["n", *function.arrays])
    return [
        "if (n <= 0) return 0;",
        f"{function.name}<<<{blocks}, {THREADS}, 0, (cudaStream_t)stream>>>({arguments});",
        "return (int)cudaGetLastError();",
    ]
