"""Functions of a model as exported source code, beside the interpreter: C, which the C compiler of this computer
compiles, and Python, which needs only NumPy.

Compared are M, h, inverse and forward dynamics; errors of forward dynamics are divided by the condition number of M,
which amplifies rounding.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.verification.laws import condition_numbers
from kinemorph.analysis.verification.sampling import Sample, WorstError, largest
from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.c.library import has_compiler, load
from kinemorph.codegen.backends.c.spelling import C
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.backends.text.python import export_python
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.deriving.function_names import MAIN_FUNCTIONS
from kinemorph.errors import CompileError, UnsupportedError

NAME = "exported"  # of the files
Traced = Program | LoopProgram
Call = Callable[[Sequence[Array]], Any]  # of a function: its inputs at n states to its outputs at these


def exported_c_error(s: Sample) -> Callable[[], WorstError]:
    """Begins to compile exported C code, and returns a function that waits for the compiler and compares.

    That function returns the largest relative error against the interpreter, at the states of the sample. Raises
    UnsupportedError where this computer has no C compiler.
    """
    if not has_compiler():
        raise UnsupportedError("not checked: this computer has no C compiler.")
    programs = _programs(s)
    texts = export_c(programs, NAME)
    source = texts[f"{NAME}.c"].replace(f'#include "{NAME}.h"', texts[f"{NAME}.h"])
    compiling = Thread(target=_attempted, args=(source,))
    compiling.start()

    def compared() -> WorstError:
        compiling.join()
        library = load(source, NAME)
        named = Unit(programs, NAME, of_precision(C, "float64", programs)).functions
        return _compared(s, programs, [_of_c(library[one.name], one.program) for one in named])

    return compared


def exported_python_error(s: Sample) -> WorstError:
    """The largest relative error of exported Python code against the interpreter, at the states of the sample."""
    programs = _programs(s)
    (text,) = export_python(programs, NAME).values()
    names: dict[str, Any] = {}
    exec(compile(text, NAME, "exec"), names)  # our own text, made of numbers and names that were checked
    return _compared(s, programs, [_of_python(names[name]) for name in MAIN_FUNCTIONS])


def _programs(s: Sample) -> list[Traced]:
    return [getattr(s.dynamics, name).program.traced for name in MAIN_FUNCTIONS]


def _attempted(source: str) -> None:
    """Compiles a source for a later `load` of it, which raises the error where that failed."""
    with suppress(CompileError):
        load(source, NAME)


def _compared(s: Sample, programs: Sequence[Traced], calls: Sequence[Call]) -> WorstError:
    """The largest relative error of functions, those of the programs, against the interpreter."""
    condition, errors = condition_numbers(s), []
    for program, call in zip(programs, calls, strict=True):
        inputs = s.inputs(program)
        expected = _several(build(program, "interpreter")(*inputs))
        for ours, exact in zip(_several(call(inputs)), expected, strict=True):
            gap = ours - exact
            if program.name.endswith(".forward_dynamics"):
                gap = gap / condition.reshape(-1, *[1] * (gap.ndim - 1))
            error = s.worst(gap, exact, floor=s.weight, by_joint=False)
            errors.append(WorstError(error.worst, f"largest in function '{program.name}'"))
    return largest(errors)


def _several(found: Any) -> Sequence[Array]:
    return found if isinstance(found, (tuple, list)) else (found,)


def _of_python(function: Callable[..., Any]) -> Call:
    return lambda inputs: function(*inputs)


def _of_c(function: Any, program: Traced) -> Call:
    """The call of a C function at n states; an input without a first axis is the same at all states."""

    def call(inputs: Sequence[Array]) -> list[Array]:
        ports = list(zip(program.inputs, inputs, strict=True))
        n = next(len(array) for port, array in ports if np.ndim(array) > len(port.shape))
        rows = [np.ascontiguousarray(np.broadcast_to(array, (n, *port.shape)), dtype=float) for port, array in ports]
        outs = [np.zeros((n, *port.shape)) for port in program.outputs]
        for k in range(n):
            function(*(ctypes.c_void_p(array[k : k + 1].ctypes.data) for array in (*rows, *outs)))
        return outs

    return call
