"""MuJoCo's compiler at arm's length: a process with limits on time and memory, arrays in and out.

Whatever happens - a message, an abort, a hang, too much memory - is one finding. Nothing is pickled.
"""

from __future__ import annotations

import io
import json
import re
import signal
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.errors import MissingExtraError
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.limited_process import ask, inherited
from kinemorph.formats.mjcf import child
from kinemorph.formats.mjcf.files import Bundle

KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TEMP", "LANG")  # of the environment
WALL = 5.0  # times the processor time: how long we wait on a busy computer
_LINE = re.compile(r"\n?Element (?:name )?'(?P<name>[^\n]*)'(?:, id -?\d+)?, line (?P<line>-?\d+)\s*$")


@dataclass(frozen=True)
class Compiled:
    """The compiled model: MuJoCo's arrays by their names, and names, counts and flags."""

    arrays: dict[str, Any]
    names: dict[str, list[str]]
    counts: dict[str, int]
    paths: list[str]  # of meshes: the made-up file name, empty where there is none
    name: str
    no_gravity: bool

    def __getattr__(self, key: str) -> Any:
        try:
            return self.arrays[key]
        except KeyError:
            raise AttributeError(key) from None


def compile_bundle(bundle: Bundle, findings: Findings) -> Compiled | None:
    """The compiled model of a bundle; None, with a finding, where MuJoCo cannot compile it."""
    spec = find_spec("mujoco")
    if spec is None or spec.origin is None:
        missing = MissingExtraError("mujoco", "mujoco")
        findings.error("file", 0, "", f"MJCF is read through MuJoCo, and {missing.what}", f"{missing.remedy}.")
        return None
    answer = _answer(bundle, str(Path(spec.origin).parent.parent), findings)
    if answer is None:
        return None
    data, arrays = answer
    if "error" in data:
        _report(data["error"], bundle, findings)
        return None
    return Compiled(arrays, data["names"], data["counts"], data["paths"], data["model"], data["no_gravity"])


def _answer(bundle: Bundle, folder: str, findings: Findings) -> tuple[dict[str, Any], dict[str, Any]] | None:
    packed = io.BytesIO()
    parts = {"text": bundle.text, **{f"file:{key}": data for key, data in bundle.files.items()}}
    np.savez(packed, **{key: np.frombuffer(data, dtype=np.uint8) for key, data in parts.items()})  # type: ignore[arg-type]
    seconds = limits.COMPILE_SECONDS + len(packed.getvalue()) / limits.COMPILE_RATE
    memory = limits.COMPILE_MEMORY + 4 * len(packed.getvalue())
    arguments = [*(str(number) for number in (memory, round(seconds), limits.BODIES)), folder]
    environment = {**inherited(*KEPT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        code, output, said = ask(child.__file__, arguments, packed.getvalue(), WALL * seconds, environment)
    except OSError as error:
        findings.error("file", 0, "", f"MuJoCo cannot be started: {error.strerror}", "Check the installation.")
        return None
    try:
        with np.load(io.BytesIO(output), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
        return json.loads(arrays.pop("data").tobytes()), arrays
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        _gone(code, said, seconds, memory, findings)
        return None


def _gone(code: int | None, said: str, seconds: float, memory: int, findings: Findings) -> None:
    """Reports why a process gave no answer."""
    last = " ".join(said.split()[-30:])
    if code is None or code == -getattr(signal, "SIGXCPU", 0):
        problem, remedy = f"MuJoCo does not compile the model within {seconds:.0f} s", "Make the model smaller."
    elif "MemoryError" in said or "bad_alloc" in said or "allocate" in said:
        problem = f"MuJoCo needs more than {memory / 1024**3:.1f} GiB to compile the model"
        remedy = "Make the model smaller."
    else:
        how = f"signal {-code}" if code < 0 else f"code {code}"
        problem = f"MuJoCo broke down with {how} when it compiled the model{f': {last}' if last else ''}".rstrip(".")
        remedy = "Remove the newest parts of the model until it compiles."
    findings.error("file", 0, "", problem, remedy)


def _report(message: str, bundle: Bundle, findings: Findings) -> None:
    """MuJoCo's message as a finding, on the line where its element stands."""
    message = message.strip()
    if message.startswith("the compiled model"):
        findings.error("file", 0, "", message, "Split it, or merge bodies that do not move against each other.")
        return
    found = _LINE.search(message)
    what, file, line, element = message, findings.file, 0, ""
    if found:
        what = message[: found.start()]
        row = int(found["line"])
        if 1 <= row <= len(bundle.places):
            file, line, _ = bundle.places[row - 1]
        element = f"'{found['name']}'" if found["name"] else ""
    for prefix in ("XML Error:", "Error:", "Schema violation:"):
        what = what.strip().removeprefix(prefix)
    problem = f"MuJoCo refuses the model: {' '.join(what.split())}".rstrip(". ")
    remedy = "Correct it, so that MuJoCo can compile the model."
    findings.within(file).error("structure", line, element, problem, remedy)
