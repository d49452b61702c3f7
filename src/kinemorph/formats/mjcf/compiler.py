"""Runs MuJoCo's compiler in a separate process with limits on time and memory; the processes exchange arrays.

An error message, an abort, a hang or too much memory gives one finding. Nothing is pickled.
"""

from __future__ import annotations

import io
import json
import re
import signal
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.disk_cache import kept_data
from kinemorph.errors import MissingExtraError
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.limited_process import ask, inherited
from kinemorph.formats.mjcf import child
from kinemorph.formats.mjcf.files import Bundle

KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TEMP", "LANG")  # environment variables passed on
WALL = 5.0  # times the processor time: largest wall-clock time, which is longer on a busy computer
_LINE = re.compile(r"\n?Element (?:name )?'(?P<name>[^\n]*)'(?:, id -?\d+)?, line (?P<line>-?\d+)\s*$")


@dataclass(frozen=True)
class Compiled:
    """A model that MuJoCo has compiled: the arrays of mjModel, which are also attributes, and names and counts."""

    arrays: dict[str, Any]
    names: dict[str, list[str]]
    counts: dict[str, int]
    paths: list[str]  # of meshes: the name of the file in the Bundle, empty if the mesh is not in a file
    name: str
    meshes: dict[str, list[int]]  # by name: MuJoCo's number of the way to compute inertias, most vertices of the hull

    def __getattr__(self, key: str) -> Any:
        try:
            return self.arrays[key]
        except KeyError:
            raise AttributeError(key) from None


def compile_bundle(bundle: Bundle, findings: Findings) -> Compiled | None:
    """The compiled model of a bundle; None if MuJoCo cannot compile it, which is recorded as a finding."""
    spec = find_spec("mujoco")
    if spec is None or spec.origin is None:
        missing = MissingExtraError("mujoco", "mujoco")
        findings.error("file", 0, "", f"an MJCF file needs MuJoCo, but {missing.what}", f"{missing.remedy}.")
        return None
    answer = _answer(bundle, str(Path(spec.origin).parent.parent), findings)
    if answer is None:
        return None
    data, arrays = answer
    if "error" in data:
        _report(data["error"], bundle, findings)
        return None
    return Compiled(arrays, data["names"], data["counts"], data["paths"], data["model"], data["meshes"])


Answer = tuple[dict[str, Any], dict[str, Any]]  # plain data, arrays


def _answer(bundle: Bundle, folder: str, findings: Findings) -> Answer | None:
    """What the process returns; None if it gives no answer, which is recorded as a finding. Models are kept on disk.

    `folder` is where MuJoCo is installed.
    """
    parts = {"text": bundle.text, **{f"file:{key}": data for key, data in bundle.files.items()}}
    sources = (Path(child.__file__).read_bytes(), version("mujoco").encode(), str(limits.BODIES).encode())
    answers: list[Answer] = []

    def asked() -> bytes | None:
        output = _asked(parts, folder, findings)
        answers.extend([] if output is None else [_read(output)])
        return None if output is None or "error" in answers[0][0] else output

    kept = kept_data([*sources, *(x for key, data in parts.items() for x in (key.encode(), data))], asked)
    if not answers and kept is not None:
        answers.append(_read(kept))
    return answers[0] if answers else None


def _asked(parts: dict[str, bytes], folder: str, findings: Findings) -> bytes | None:
    """The answer of the process as bytes that `_read` can read; None if there is none, which is recorded."""
    packed = io.BytesIO()
    np.savez(packed, **{key: np.frombuffer(data, dtype=np.uint8) for key, data in parts.items()})  # type: ignore[arg-type]
    seconds = limits.COMPILE_SECONDS + len(packed.getvalue()) / limits.COMPILE_RATE
    memory = limits.COMPILE_MEMORY + 4 * len(packed.getvalue())
    arguments = [*(str(number) for number in (memory, round(seconds), limits.BODIES)), folder]
    environment = {**inherited(*KEPT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        code, output, said = ask(child.__file__, arguments, packed.getvalue(), WALL * seconds, environment, (folder,))
    except OSError as error:
        problem = f"the process for MuJoCo cannot be started: {error.strerror}"
        findings.error("file", 0, "", problem, "Run `kinemorph doctor` to check the installation.")
        return None
    try:
        _read(output)
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        _gone(code, said, seconds, memory, findings)
        return None
    return output


def _read(output: bytes) -> Answer:
    with np.load(io.BytesIO(output), allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    return json.loads(arrays.pop("data").tobytes()), arrays


def _gone(code: int | None, said: str, seconds: float, memory: int, findings: Findings) -> None:
    """Reports why the process gave no answer; `code` and `said` are its exit code and its text on stderr."""
    last = " ".join(said.split()[-30:])
    if code is None or code == -getattr(signal, "SIGXCPU", 0):
        problem = f"MuJoCo takes longer than {seconds:.0f} s to compile the model, the longest time allowed"
        remedy = "Make the model smaller."
    elif "MemoryError" in said or "bad_alloc" in said or "allocate" in said:
        problem = f"MuJoCo needs more than {memory / 1024**3:.1f} GiB to compile the model, the largest memory allowed"
        remedy = "Make the model smaller."
    else:
        how = f"signal {-code}" if code < 0 else f"code {code}"
        problem = f"MuJoCo ended with {how} when it compiled the model{f': {last}' if last else ''}".rstrip(".")
        remedy = "Remove parts of the model until it compiles, to find the one that causes this."
    findings.error("file", 0, "", problem, remedy)


def _report(message: str, bundle: Bundle, findings: Findings) -> None:
    """Records an error message of MuJoCo as a finding, on the line of the element that it names."""
    message = message.strip()
    if message.startswith("the compiled model"):
        findings.error("file", 0, "", message, "Split the model, or merge bodies that are fixed to each other.")
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
    problem = f"MuJoCo cannot compile the model: {' '.join(what.split())}".rstrip(". ")
    remedy = "Correct this element of the model."
    findings.within(file).error("structure", line, element, problem, remedy)
