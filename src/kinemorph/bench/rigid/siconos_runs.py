"""Siconos on the problems of `kinemorph bench rigid`, in a Python process of its own.

Debian's package python3-siconos is built for the Python of the system and for an older NumPy. The contacts are compiled
with the C compiler, as plugins of Siconos, so that no Python runs within a step.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from kinemorph.bench.foreign_python import answer, python_with
from kinemorph.bench.rigid.problems import G, Problem
from kinemorph.bench.rigid.runs import Outcome
from kinemorph.errors import CompileError, MissingExtraError

HERE = Path(__file__).parent
PYTHONS = ("/usr/bin/python3", "python3", sys.executable)


def siconos_runs(problem: Problem, steps: tuple[float, ...], repeats: int) -> dict[float, Outcome]:
    """The runs by step size [s]. Raises MissingExtraError without Siconos, CompileError without a C compiler."""
    python, compiler = _python(), shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise CompileError("no C compiler is found for the contacts of Siconos. Install gcc.")
    data = {
        **{"bodies": problem.bodies, "q": problem.q, "v": problem.v, "mu": problem.mu, "g": G},
        **{"times": problem.times.tolist(), "links": [(point.body, point.on) for point in problem.points]},
    }
    with tempfile.TemporaryDirectory() as folder:
        lines = [f'#include "{HERE / "touch_relation.c"}"']
        for k, point in enumerate(problem.points):
            below = -1 if point.on is None else point.on
            lines.append(f"POINT({k}, {point.x!r}, {point.z!r}, {point.radius!r}, {below}, {point.top!r})")
        source, plugin = Path(folder) / "touchPlugin.c", Path(folder) / "touchPlugin.so"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(plugin), "-lm"], check=True)
        command = [python, str(HERE / "siconos_script.py")]
        given = {"problem": data, "steps": steps, "repeats": repeats}
        failed = f"Siconos failed on '{problem.name}'"
        found = answer(failed, command, given, Path(folder), LD_LIBRARY_PATH=folder)
    return {one["step"]: Outcome(np.array(one["rows"]), one["seconds"]) for one in found}


@cache
def _python() -> str:
    """The path of a Python that can import Siconos."""
    found = python_with("siconos.kernel", PYTHONS)
    if found is None:
        raise MissingExtraError("python3-siconos (a package of Debian)", "peers")
    return found
