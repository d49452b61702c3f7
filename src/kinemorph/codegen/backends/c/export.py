"""The C backend: programs as a source file and a header that need only libm.

    x.h   one prototype per program, its shapes in the comment above it and as macros; may be included from C++
    x.c   void robot_function(const double *q, ..., double *out), one state per call

Functions allocate no memory and keep no state between calls, so several threads may call them at the same time. The
code is C99 and compiles without warnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinemorph.codegen.backends.c.functions import parameters
from kinemorph.codegen.backends.c.spelling import C, arithmetic
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram, all_runnable

REMARKS = (
    "Each function evaluates one state; outputs must not overlap inputs.",
    "C99 (gcc: -std=c99, or -ffp-contract=off for the same bits); link with the math library (-lm).",
)


def export_c(
    programs: Sequence[Program | LoopProgram],
    name: str,
    *,
    precision: str = "float64",
    file: str | None = None,
    foreign: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """{file name: text} of `name.c` and `name.h`, with one function for each program.

    `file` is the name of the files without their endings, by default `name` as an identifier. `foreign` are the names
    of foreign functions, which other files define, where they differ from the names in the programs.
    """
    programs = all_runnable(programs, "export_c")
    unit = Unit(programs, name, of_precision(C, precision, programs), file, foreign)
    prototypes = [
        f"void {function.name}({parameters(function.inputs, function.outputs, unit.dialect, restrict=False)});"
        for function in unit.functions
    ]
    header = unit.header("h", REMARKS, prototypes)
    for function in unit.functions:
        unit.define(function)
    includes = [f'#include "{unit.file}.h"', "", *arithmetic(unit.dialect)]
    source = "\n".join([*unit.opening(REMARKS), *includes, *unit.lines])
    return {f"{unit.file}.c": source, f"{unit.file}.h": header}
