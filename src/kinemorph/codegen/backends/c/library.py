"""Programs run as C code, which the C compiler of this computer compiles to a shared library.

The compiler is `cc`, or the one that the environment variable CC names. Libraries are in a temporary folder of this
process, which is removed when the process ends. The name of a library is a hash of its source, since loading another
library under the same name would return the first one.
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
from kinemorph.codegen.backends.c.spelling import C, arithmetic
from kinemorph.codegen.backends.c.unit import Unit
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import of_precision
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.errors import CompileError

FLAGS = ("-O2", "-std=c99", "-fPIC", "-shared")

# evaluates n states one after the other, then checks every number written; `good` is 1 where all of them are finite
BATCH = """
int {batch}(long long {n}, const {real} *const *{ins}, const long long *{steps}, {real} *const *{outs})
{{
    int {good} = 1;
    for (long long {i} = 0; {i} < {n}; ++{i}) {{
        {function}({arguments});
    }}
    {looks}
    return {good};
}}
"""
LOOK = "for (long long {i} = 0; {i} < {n} * {size}; ++{i}) {good} &= isfinite({outs}[{number}][{i}]) != 0;"
LOCALS = ("n", "ins", "steps", "outs", "good", "i")  # names of variables in `BATCH`, none of which may hide a function

_LOCK = threading.Lock()
_LOADED: dict[str, ctypes.CDLL] = {}


def c(program: Program | LoopProgram, precision: str = "float64") -> Kernel:
    """The kernel of a program, compiled as C; its source is the C code."""
    unit = Unit([program], program.name, of_precision(C, precision, [program]))
    (function,) = unit.functions
    batch = unit.names.new("batch")
    unit.define(function, "static ")
    source = "\n".join([*unit.opening(()), *arithmetic(unit.dialect), *unit.lines, _batch(function, batch, unit)])
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
    """The C function `batch`, which evaluates n states and returns whether every number written is finite."""
    program = function.program
    own = {name: unit.names.new(name) for name in LOCALS}
    i, ins, outs, steps = (own[name] for name in ("i", "ins", "outs", "steps"))
    arguments = [f"{ins}[{k}] + {i} * {steps}[{k}]" for k in range(len(program.inputs))]
    arguments += [f"{outs}[{k}] + {i} * {port.size}" for k, port in enumerate(program.outputs)]
    looks = [LOOK.format(size=port.size, number=k, **own) for k, port in enumerate(program.outputs)]
    return BATCH.format(
        **own,
        batch=batch,
        real=unit.dialect.real,
        function=function.name,
        arguments=", ".join(arguments),
        looks="\n    ".join(looks),
    )


def load(source: str, name: str) -> ctypes.CDLL:
    """The library compiled from C source; the same source is compiled only once. `name` is for messages."""
    with _LOCK:
        if source not in _LOADED:
            stem = _folder() / hashlib.sha256(source.encode()).hexdigest()
            text, library = stem.with_suffix(".c"), stem.with_suffix(".so")
            text.write_text(source, encoding="ascii")
            compile_c(name, [*FLAGS, "-o", str(library), str(text), "-lm"])
            _LOADED[source] = ctypes.CDLL(str(library))
        return _LOADED[source]


def compiler() -> list[str]:
    """The command of the C compiler, with the options that the variable CC may contain."""
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


def has_compiler() -> bool:
    """Whether the C compiler is installed on this computer."""
    return shutil.which(compiler()[0]) is not None


def compile_c(name: str, arguments: Sequence[str]) -> None:
    """Runs the C compiler with the given arguments; `name` names the program in the message if it fails."""
    command = compiler()
    if not has_compiler():
        raise CompileError(
            f"program '{name}': the C compiler '{command[0]}' is not installed on this computer. Install it, name "
            "another one in the environment variable CC, or use the backend 'llvm', which needs no compiler."
        )
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(
            f"program '{name}': the C compiler '{command[0]}' does not accept the code emitted for it. Check the "
            f"variable CC, or use the backend 'llvm'. The compiler says: {done.stderr[:2000]}"
        )


@cache
def _folder() -> Path:
    """A new folder that only this user can read; it is removed when this process ends."""
    folder, owner = tempfile.mkdtemp(prefix="kinemorph-"), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    return Path(folder)
