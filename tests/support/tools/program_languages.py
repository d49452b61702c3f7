"""Helpers for the tests of programs: a job is written, built and run, in every language."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinemorph.codegen.backends.c.library import compiler, has_compiler
from kinemorph.programs import Job, make_job, write_program
from support.cases.c_programs import STRICT
from support.cases.program_cases import Case

SANITIZED = ("-O1", "-g", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ROUGH = ("-O0", "-std=c99")  # soon compiled
STRICT_CPP = ("-O1", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic")


class Program(NamedTuple):
    """A program that is ready to run: its command, and the folder of its files."""

    command: tuple[str, ...]
    folder: Path


def job_of(case: Case) -> Job:
    """The job of a case."""
    return make_job(case.model, case.until, **case.options)


def compile_files(folder: Path, command: Sequence[str]) -> None:
    """Runs a compiler in a folder; a warning is a failure."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def c_program(job: Job, folder: Path, flags: Sequence[str] = STRICT) -> Program:
    """The program of a job in C, compiled by one command."""
    sources = [path.name for path in write_program(job, "c", folder) if path.suffix == ".c"]
    compile_files(folder, [*compiler(), *flags, *sources, "-lm", "-o", "program"])
    return Program((str(folder / "program"),), folder)


def cpp_program(job: Job, folder: Path) -> Program:
    """The program of a job in C++; the C library in it is compiled by the C compiler."""
    sources = [path.name for path in write_program(job, "cpp", folder) if path.suffix == ".c"]
    compile_files(folder, [*compiler(), *STRICT, "-c", *sources])
    objects = [f"{name[:-2]}.o" for name in sources]
    compile_files(folder, ["c++", *STRICT_CPP, "main.cpp", *objects, "-lm", "-o", "program"])
    return Program((str(folder / "program"),), folder)


def python_program(job: Job, folder: Path) -> Program:
    """The program of a job in Python."""
    files = write_program(job, "python", folder)
    (main,) = [path for path in files if not path.stem.endswith(("_model", "_data", "_names", "user"))]
    return Program((sys.executable, str(main)), folder)


OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
IN_OCTAVE = """% carries out the program with options as those of the other languages: --until 5 --set q.elbow=0.5
given = argv();
options = {}; values = {};
if numel(given) == 1
    options = {given{1}(3:end), true}; given = {};
end
for k = 1:2:numel(given)
    name = strrep(given{k}(3:end), '-', '_');
    if strcmp(name, 'set')
        at = rindex(given{k + 1}, '=');
        values(end + 1:end + 2) = {given{k + 1}(1:at - 1), str2double(given{k + 1}(at + 1:end))};
    elseif any(strcmp(name, {'output', 'events'}))
        options(end + 1:end + 2) = {name, given{k + 1}};
    else
        options(end + 1:end + 2) = {name, str2double(given{k + 1})};
    end
end
try
    [t, rows, outcome] = PROGRAM(options{:}, 'set', values);
catch failure
    fprintf(2, 'error: %s\\n', failure.message);
    exit(2);
end
exit(double(strcmp(outcome.kind, 'failed')));
"""


def octave_program(job: Job, folder: Path) -> Program:
    """The program of a job for MATLAB, which GNU Octave carries out."""
    names = [path.stem for path in write_program(job, "matlab", folder)]
    (main,) = [name for name in names if f"{name}_data" in names]
    (folder / "in_octave.m").write_text(IN_OCTAVE.replace("PROGRAM", main), encoding="ascii")
    return Program((str(OCTAVE), "--quiet", "--no-history", "--path", str(folder), str(folder / "in_octave.m")), folder)


def run_program(program: Program, *arguments: str, code: int = 0) -> tuple[np.ndarray, str]:
    """(the samples that a program writes, its message on the standard error)."""
    file = program.folder / "run.csv"
    command = [*program.command, "--output", str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return (np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2) if code < 2 else np.zeros(0)), done.stderr


WRITERS = {"c": c_program, "cpp": cpp_program, "python": python_program, "matlab": octave_program}


def has_language(language: str) -> str:
    """The reason why programs in a language cannot be built here; empty where they can."""
    if language == "python":
        return ""
    if language == "matlab":
        return "" if OCTAVE else "GNU Octave is not installed on this computer"
    if not has_compiler():
        return f"no C compiler '{compiler()[0]}' on this computer"
    return "no C++ compiler 'c++' on this computer" if language == "cpp" and shutil.which("c++") is None else ""
