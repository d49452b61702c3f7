"""Reads xacro, which is URDF with macros: xacro expands them in a separate process (`child`), then URDF is read.

Included files, and packages that $(find ...) names, are searched in the folder of the model, in the package that
contains it, and in the folders of `package_dirs`. Lines in messages are those of the expanded text.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinemorph.errors import MissingExtraError
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.limited_process import ask
from kinemorph.formats.sources import Options, Source, is_package
from kinemorph.formats.urdf import reader as urdf
from kinemorph.formats.xacro import child
from kinemorph.model.input_reader import short
from kinemorph.model.system import System

SECONDS = 4  # [s], largest processor time of an expansion
WALL = 5.0  # times SECONDS: largest wall-clock time, which is longer on a busy computer
MEMORY = 1024**3  # bytes, if the operating system can limit memory
CLASS = re.compile(r"<class '[\w.]+'>: ")  # in messages of xacro


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a xacro file; None, with findings, if it cannot be read."""
    text = expand(source, options, findings)
    if text is None:
        return None
    view = findings.within(f"{findings.file} (expanded)")
    system = urdf.read(replace(source, data=text.encode()), options, view)
    return None if findings.failed else system


def expand(source: Source, options: Options, findings: Findings) -> str | None:
    """The URDF text that a xacro file expands to; None, with a finding, if the expansion fails."""
    spec = find_spec("xacro")
    if spec is None or spec.origin is None:
        missing = MissingExtraError("xacro", "xacro")
        problem = f"a xacro file needs the package xacro, but {missing.what}"
        findings.error("file", 0, "", problem, f"{missing.remedy}.")
        return None
    if b"<!DOCTYPE" in source.data or b"<!ENTITY" in source.data:
        problem = "the file has a document type declaration, expected none"
        findings.error("entities", 0, "", problem, "Remove <!DOCTYPE ...>.")
        return None
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        findings.error("syntax", line, "", "the text is not encoded in UTF-8", "Save the file in UTF-8.")
        return None
    answer = _answer(text, source, options, str(Path(spec.origin).parent.parent), findings)
    if answer is None:
        return None
    if "error" in answer:
        _report(answer, findings)
        return None
    expanded = str(answer["text"])
    if len(expanded) > limits.FILE_SIZE:
        problem = f"the expanded text has {len(expanded)} characters, expected at most {limits.FILE_SIZE}"
        findings.error("file", 0, "", problem, "Look for macros that call each other without end.")
        return None
    return expanded


def _folders(source: Source, options: Options) -> dict[str, list[str]]:
    """The folders that `child` needs: "roots" may be read, packages are searched in "packages", and "above" are the
    packages that contain the model.

    A folder above the model is used only if it has a file such as package.xml. Otherwise a model could read any folder.
    """
    own = [] if source.folder is None else [source.folder.resolve()]
    roots = [str(root) for root in (*own, *(folder.resolve() for folder in options.package_dirs))]
    above = [str(folder) for place in own for folder in (place, *place.parents) if is_package(folder)]
    return {"roots": roots, "packages": roots, "above": above}


def _answer(text: str, source: Source, options: Options, place: str, findings: Findings) -> dict[str, Any] | None:
    """The answer of the process that expands a text; None, with a finding, if it gives none.

    `place` is the folder in which xacro is installed.
    """
    name = os.path.join(source.folder.resolve(), os.path.basename(source.name)) if source.folder else ""
    given = json.dumps({"text": text, "file": name, **_folders(source, options)})
    arguments = [str(MEMORY), str(SECONDS), place]
    try:
        code, output, _ = ask(child.__file__, arguments, given.encode(), WALL * SECONDS)
    except OSError as error:
        problem = f"the process for xacro cannot be started: {error.strerror}"
        findings.error("file", 0, "", problem, "Run `kinemorph doctor` to check the installation.")
        return None
    try:
        answer: dict[str, Any] = json.loads(output)
        return answer
    except ValueError:
        pass
    if code is None or code in (-24, -9):  # SIGXCPU, SIGKILL
        problem = f"the expansion of the macros takes longer than {SECONDS} s, the longest time allowed"
    else:
        problem = f"xacro ended with exit code {code} and no result"
    findings.error("file", 0, "", problem, "Look for macros that call each other without end.")
    return None


def _report(answer: dict[str, Any], findings: Findings) -> None:
    """The error message of xacro as a finding, in the file where it occurred."""
    view = findings.within(str(answer.get("file") or findings.file))
    if answer.get("outside"):
        view.error(
            "path",
            0,
            "",
            f"the file {short(answer['outside'][0])} is outside the folders that may be read",
            "Name its folder in package_dirs (--package-dir).",
        )
        return
    reason = " ".join(CLASS.sub("", str(answer["error"])).split())[: limits.TEXT_LENGTH].rstrip(".")
    half = reason[: len(reason) // 2]
    reason = half if reason == f"{half} {half}" else reason  # xacro repeats some messages
    remedy = (
        "Name the folder that contains the package in package_dirs (--package-dir)."
        if "package" in reason
        else "Correct the macros."
    )
    view.error("structure", 0, "", f"xacro cannot expand the file: {reason}", remedy)
