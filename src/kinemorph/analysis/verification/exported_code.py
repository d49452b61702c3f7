"""Functions of a model as exported C code, compiled by the C compiler of this computer, beside the interpreter."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.verification.laws import condition_numbers
from kinemorph.analysis.verification.sampling import Sample, WorstError, largest
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.library import has_compiler, load
from kinemorph.codegen.backends.c.spelling import C
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.errors import CompileError, UnsupportedError

NAME = "exported"  # of the files


def exported_c_error(s: Sample) -> Callable[[], WorstError]:
    """Begins to compile exported C code, and returns a function that waits for the compiler and compares.

    That function returns the largest relative error against the interpreter, at the states of the sample, of M, h,
    inverse and forward dynamics; errors of forward dynamics are divided by the condition number of M, which amplifies
    rounding. Raises UnsupportedError where this computer has no C compiler.
    """
    if not has_compiler():
        raise UnsupportedError("not checked: this computer has no C compiler.")
    programs = [getattr(s.dynamics, name).program.traced for name in MAIN_FUNCTIONS]
    texts = export_c(programs, NAME)
    source = texts[f"{NAME}.c"].replace(f'#include "{NAME}.h"', texts[f"{NAME}.h"])
    compiling = Thread(target=_attempted, args=(source,))
    compiling.start()

    def compared() -> WorstError:
        compiling.join()
        return _compared(s, programs, load(source, NAME))

    return compared


def _attempted(source: str) -> None:
    """Compiles a source for a later `load` of it, which raises the error where that failed."""
    with suppress(CompileError):
        load(source, NAME)


def _compared(s: Sample, programs: Sequence[Program | LoopProgram], library: ctypes.CDLL) -> WorstError:
    """The largest relative error of the functions of a library, which are those of the programs."""
    condition, errors = condition_numbers(s), []
    for program, function in zip(
        programs, Unit(programs, NAME, of_precision(C, "float64", programs)).functions, strict=True
    ):
        inputs = s.inputs(program)
        found = build(program, "interpreter")(*inputs)
        expected = found if isinstance(found, tuple) else (found,)
        for ours, exact in zip(_called(library[function.name], program, inputs), expected, strict=True):
            gap = ours - exact
            if program.name.endswith(".forward_dynamics"):
                gap = gap / condition.reshape(-1, *[1] * (gap.ndim - 1))
            error = s.worst(gap, exact, floor=s.weight, by_joint=False)
            errors.append(WorstError(error.worst, f"largest in function '{program.name}'"))
    return largest(errors)


def _called(function: ctypes._NamedFuncPointer, program: Program | LoopProgram, inputs: Sequence[Array]) -> list[Array]:
    """The outputs (n, ...) of a C function at n states; an input without a first axis is the same at all states."""
    ports = list(zip(program.inputs, inputs, strict=True))
    n = next(len(array) for port, array in ports if np.ndim(array) > len(port.shape))
    rows = [np.ascontiguousarray(np.broadcast_to(array, (n, *port.shape)), dtype=float) for port, array in ports]
    outs = [np.zeros((n, *port.shape)) for port in program.outputs]
    for k in range(n):
        function(*(ctypes.c_void_p(array[k : k + 1].ctypes.data) for array in (*rows, *outs)))
    return outs
