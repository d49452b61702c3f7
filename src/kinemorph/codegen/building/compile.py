"""From a program to a function of NumPy arrays.

`build(program)` looks up the backend in a table, has it make a kernel, and wraps that in a `CompiledFunction`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, get_args
from weakref import WeakSet

from kinemorph.codegen.backends import Effort, Kernel, Precision
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Runnable, as_program
from kinemorph.codegen.loops.block_routines import check_precision
from kinemorph.codegen.loops.loop_program import LoopProgram, refuse_foreign
from kinemorph.codegen.storing.recipes import Recalled
from kinemorph.codegen.work_clock import at_work
from kinemorph.errors import UnsupportedError

Foreign: TypeAlias = Mapping[str, Callable[..., Any]]  # foreign functions by name
_growing: WeakSet[CompiledFunction] = WeakSet()  # functions with code that may be improved


def _interpreter(program: Runnable, precision: Precision, effort: Effort, foreign: Foreign | None) -> Kernel:
    from kinemorph.codegen.backends.interpreter import interpreter, interpreter_loops

    traced = program.traced
    return interpreter_loops(traced, foreign) if isinstance(traced, LoopProgram) else interpreter(traced)


def _llvm(program: Runnable, precision: Precision, effort: Effort, foreign: Foreign | None) -> Kernel:
    from kinemorph.codegen.backends.llvm.backend import llvm

    return llvm(program, precision, effort)


def _c(program: Runnable, precision: Precision, effort: Effort, foreign: Foreign | None) -> Kernel:
    from kinemorph.codegen.backends.c.library import c

    refuse_foreign(program.traced, "the backend 'c'")
    return c(program.traced, precision)


BACKENDS: dict[str, Callable[[Runnable, Precision, Effort, Foreign | None], Kernel]] = {
    "interpreter": _interpreter,
    "llvm": _llvm,
    "c": _c,
}


def runnable_backends() -> tuple[str, ...]:
    """The names of the backends that can run on this computer; "c" needs a C compiler."""
    from kinemorph.codegen.backends.c.library import has_compiler

    return tuple(name for name in BACKENDS if name != "c" or has_compiler())


def check_target(backend: object, precision: object) -> None:
    """Raises UnsupportedError for an unknown backend or precision."""
    if not isinstance(backend, str) or backend not in BACKENDS:
        known = ", ".join(f"'{name}'" for name in BACKENDS)
        raise UnsupportedError(f"backend '{backend}' is unknown. Choose one of {known}.")
    if precision not in get_args(Precision):
        raise UnsupportedError(f"precision '{precision}' is unknown. Choose 'float64' or 'float32'.")


def build(
    program: Runnable,
    backend: str = "llvm",
    *,
    precision: Precision = "float64",
    few_calls: bool = False,
    grows: bool = False,
    foreign: Foreign | None = None,
) -> CompiledFunction:
    """A program as a function of NumPy arrays, made by the named backend ("llvm", "interpreter" or "c").

    `precision` ("float64" or "float32") is the precision of its arithmetic and of the arrays it returns. `few_calls`
    says that compiling it would take longer than all of its calls: it is compiled in the least time, up to five times
    faster, and a call takes up to twice as long. With `grows` it is so at first, and is compiled for speed in the
    background when it has been called for some time (`CompiledFunction.used`). `foreign` is a table {name: callable} of
    the foreign functions that a loop program calls (`codegen.loops.loop_program.Foreign`), for the interpreter only.
    """
    program = as_program(program, "build", (LoopProgram, Recalled))
    check_target(backend, precision)
    if precision != "float64":
        check_precision(program.traced, precision)
    effort: Effort = "least" if few_calls else "growing" if grows else "best"
    start = time.perf_counter()
    with at_work("compiling", program.name):
        kernel = BACKENDS[backend](program, precision, effort, foreign)
    seconds = time.perf_counter() - start
    made = CompiledFunction(
        program, kernel, backend=backend, compile_seconds=seconds, precision=precision, effort=effort
    )
    if grows:
        _growing.add(made)
    return made


def best_code() -> bool:
    """Has all functions that grow compiled for speed, and waits until they are: for measurements.

    Returns whether there were any that had not been.
    """
    waiting = [thread for thread in [function.improve() for function in list(_growing)] if thread is not None]
    for thread in waiting:
        thread.join()
    return bool(waiting)


def unpickled(program: Runnable, backend: str, precision: Precision, effort: Effort, threads: int) -> CompiledFunction:
    """The function that a pickle describes: the pickle holds its program, and the cache on disk its machine code."""
    few_calls, grows = effort == "least", effort == "growing"
    function = build(program, backend, precision=precision, few_calls=few_calls, grows=grows)
    function.threads = threads
    return function
