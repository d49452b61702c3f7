"""Code generation: expression graphs, programs, and the backends that run programs or write them as source code.

    graph ──► program ──► schedule ──► backends (interpreter, llvm) ──► function
    trace     named       order and    what runs                       NumPy arrays in,
              ports       chunks                                       NumPy arrays out

graphs/        expression graphs, and programs with named inputs and outputs
loops/         loop programs: programs that are called in loops
derivatives/   exact derivatives of programs
reading/       equations that people read
storing/       the cache of compiled code on disk
backends/      interpreter, LLVM, C and CUDA, text of other languages
building/      from a program to a function of NumPy arrays
work_clock     the time spent on deriving and compiling, and a progress line on stderr

Nothing here depends on robots. `building.compile.build(program)` runs through all steps;
`loops.printing.format_program` shows a program after any step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "trace": "kinemorph.codegen.graphs.tracing",
    "build": "kinemorph.codegen.building.compile",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.codegen.building.compile import build as build
    from kinemorph.codegen.graphs.tracing import trace as trace
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
