"""From a program to a function of NumPy arrays.

`build(program)` looks up the backend in one table and wraps what it makes in a `CompiledFunction`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kinemorph.codegen.backends import Kernel
from kinemorph.codegen.function import CompiledFunction
from kinemorph.codegen.loops import LoopProgram
from kinemorph.codegen.program import Program
from kinemorph.errors import UnsupportedError


def _interpreter(program: Program | LoopProgram) -> Kernel:
    from kinemorph.codegen.backends.interpreter import interpreter
    from kinemorph.codegen.backends.interpreter_loops import interpreter_loops

    return interpreter_loops(program) if isinstance(program, LoopProgram) else interpreter(program)


def _llvm(program: Program | LoopProgram) -> Kernel:
    from kinemorph.codegen.backends.llvm import llvm

    if isinstance(program, LoopProgram):
        raise UnsupportedError(f"loop program '{program.name}': this backend does not run loops. Use 'interpreter'.")
    return llvm(program)


BACKENDS: dict[str, Callable[[Program | LoopProgram], Kernel]] = {"interpreter": _interpreter, "llvm": _llvm}


def build(program: Program | LoopProgram, backend: str = "llvm") -> CompiledFunction:
    """A program as a function of NumPy arrays, made by the named backend ("llvm" or "interpreter")."""
    make = BACKENDS.get(backend)
    if make is None:
        known = ", ".join(f"'{name}'" for name in BACKENDS)
        raise UnsupportedError(f"backend '{backend}' is unknown. Choose one of {known}.")
    start = time.perf_counter()
    kernel = make(program)
    return CompiledFunction(program, kernel, backend=backend, compile_seconds=time.perf_counter() - start)
