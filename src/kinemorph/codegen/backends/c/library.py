"""Programs run as compiled C: the text of `c`, a loop over states, and the system's own compiler.

The compiler is `cc`, or what the environment variable CC names. A library lies in a folder of this process alone, under
a name made from its text (a library loaded again under an old name would be the old library), and goes when it ends.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kinemorph.codegen.backends import Array, Kernel
from kinemorph.codegen.backends.c.functions import Function
from kinemorph.codegen.backends.c.spelling import C
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.errors import CompileError

FLAGS = ("-O2", "-std=c99", "-fPIC", "-shared")

# n states one after the other, then a look at every number written; names that end in _ are never those of a program
BATCH = """
int {batch}(long long n, const {real} *const *in_, const long long *steps_, {real} *const *out_)
{{
    int finite_ = 1;
    for (long long i0 = 0; i0 < n; ++i0) {{
        {function}({arguments});
    }}
    {looks}
    return finite_;
}}
"""
LOOK = "for (long long i0 = 0; i0 < n * {size}; ++i0) finite_ &= isfinite(out_[{number}][i0]) != 0;"

_LOCK = threading.Lock()
_LOADED: dict[str, ctypes.CDLL] = {}


def c(program: Program | LoopProgram, precision: str = "float64") -> Kernel:
    """The kernel of a program, compiled as C; its source is that text."""
    unit = Unit([program], program.name, of_precision(C, precision, [program]))
    (function,) = unit.functions
    batch = unit.names.new("batch")
    unit.define(function, "static ")
    source = "\n".join([*unit.opening(()), "#include <math.h>", "", *unit.lines, _batch(function, batch, unit)])
    entry = getattr(load(source, program.name), batch)
    sizes = [port.size for port in program.inputs]
    pointers_in, pointers_out = ctypes.c_void_p * len(sizes), ctypes.c_void_p * len(program.outputs)
    whole = ctypes.c_longlong * len(sizes)

    def run(n: int, outs: Sequence[Array], ins: Sequence[Array]) -> bool:
        steps = [0 if array.size == size else size for array, size in zip(ins, sizes, strict=True)]
        places_in = pointers_in(*(array.ctypes.data for array in ins))
        places_out = pointers_out(*(array.ctypes.data for array in outs))
        return bool(entry(ctypes.c_longlong(n), places_in, whole(*steps), places_out))

    return Kernel(lambda: source, run)


def _batch(function: Function, batch: str, unit: Unit) -> str:
    program = function.program
    arguments = [f"in_[{k}] + i0 * steps_[{k}]" for k in range(len(program.inputs))]
    arguments += [f"out_[{k}] + i0 * {port.size}" for k, port in enumerate(program.outputs)]
    looks = [LOOK.format(size=port.size, number=k) for k, port in enumerate(program.outputs)]
    return BATCH.format(
        batch=batch,
        real=unit.dialect.real,
        function=function.name,
        arguments=", ".join(arguments),
        looks="\n    ".join(looks),
    )


def load(source: str, name: str) -> ctypes.CDLL:
    """A text compiled and loaded; the same text is compiled once."""
    with _LOCK:
        if source not in _LOADED:
            stem = _folder() / hashlib.sha256(source.encode()).hexdigest()
            text, library = stem.with_suffix(".c"), stem.with_suffix(".so")
            text.write_text(source, encoding="ascii")
            compile_c(name, [*FLAGS, "-o", str(library), str(text), "-lm"])
            _LOADED[source] = ctypes.CDLL(str(library))
        return _LOADED[source]


def compiler() -> list[str]:
    """The command of the C compiler, with the options that CC may hold."""
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


def has_compiler() -> bool:
    """Whether that command is on this computer."""
    return shutil.which(compiler()[0]) is not None


def compile_c(name: str, arguments: Sequence[str]) -> None:
    """Runs the C compiler; `name` is what it compiles, for the message where it fails."""
    command = compiler()
    if not has_compiler():
        raise CompileError(
            f"program '{name}': the C compiler '{command[0]}' is not on this computer. Install one, name one in the "
            "environment variable CC, or use the backend 'llvm', which needs none."
        )
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"program '{name}': {command[0]} refuses the code emitted for it: {done.stderr[:2000]}")


@cache
def _folder() -> Path:
    """A folder that only this user can read, removed when the process that made it ends."""
    folder, owner = tempfile.mkdtemp(prefix="kinemorph-"), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    return Path(folder)
