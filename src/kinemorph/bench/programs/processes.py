"""Programs in C that are written, built and run as processes of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.backends.c.library import compiler
from kinemorph.errors import CompileError
from kinemorph.programs.job import Job
from kinemorph.programs.program_files import write_program

FAST = ("-std=c99", "-O3", "-march=native")


def built(job: Job, folder: Path) -> Path:
    """The program of a job, written into a folder and compiled there with FAST."""
    sources = [path.name for path in write_program(job, "c", folder) if path.suffix == ".c"]
    return linked(folder, [*FAST, *sources, "-lm"], "program")


def linked(folder: Path, arguments: Sequence[str], name: str) -> Path:
    """A program that the C compiler makes in a folder from these arguments. Raises CompileError where it refuses."""
    command = [*compiler(), *arguments, "-o", name]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompileError(f"the C compiler '{command[0]}' cannot be run: {error}. Install it, or set CC.") from error
    if done.returncode:
        raise CompileError(f"the C compiler '{command[0]}' refuses '{name}': {done.stderr.strip()[-300:]}")
    return folder / name


def cpu_time(program: Path, *options: str, samples: Path) -> float:
    """The CPU time [s] of a program from its start to its end, in which it writes its samples to a file."""
    command = [str(program), "--quiet", "--output", str(samples), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise CompileError(f"the program '{program.name}' ended with status {process.returncode}. Run it by itself.")
    return usage.ru_utime + usage.ru_stime


def samples_of(file: Path) -> Array:
    """The samples [t, q, v, x, m] (n, 1 + row) in a file that a program has written."""
    return np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)
