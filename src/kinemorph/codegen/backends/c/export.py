"""The C backend: programs as a self-contained pair of files that need no more than libm.

    x.h   one prototype per program, its shapes in the comment above it and as macros; may be included from C++
    x.c   void robot_function(const double *q, ..., double *out), one state per call

Nothing is allocated and nothing is kept between calls, so the functions may be called from several threads at once.
C99, without warnings.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.codegen.backends.c.functions import parameters
from kinemorph.codegen.backends.c.spelling import C
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram, all_runnable

REMARKS = (
    "Each function evaluates one state; outputs must not overlap inputs.",
    "C99; link with the math library (-lm).",
)


def export_c(programs: Sequence[Program | LoopProgram], name: str, *, precision: str = "float64") -> dict[str, str]:
    """The texts of `name.c` and `name.h`, by file name, with one function for each program."""
    programs = all_runnable(programs, "export_c")
    unit = Unit(programs, name, of_precision(C, precision, programs))
    prototypes = [
        f"void {function.name}({parameters(function.inputs, function.outputs, unit.dialect, restrict=False)});"
        for function in unit.functions
    ]
    header = unit.header("h", REMARKS, prototypes)
    for function in unit.functions:
        unit.define(function)
    includes = [f'#include "{unit.name}.h"', "", "#include <math.h>", ""]
    source = "\n".join([*unit.opening(REMARKS), *includes, *unit.lines])
    return {f"{unit.name}.c": source, f"{unit.name}.h": header}
