"""xacro: URDF with macros, expanded by xacro in a limited process of its own (`child`), then read as URDF.

Files that it includes, and packages that $(find ...) names, are searched in the model's own folder, in the package
that holds it and in the folders of `package_dirs`. Lines in messages are those of the expanded text.
"""

from __future__ import annotations

import json
import os
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

SECONDS = 4  # processor time of an expansion
WALL = 5.0  # times as long do we wait for it on a busy computer
MEMORY = 1024**3  # bytes, where the platform can limit them


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a xacro file."""
    text = expand(source, options, findings)
    if text is None:
        return None
    view = findings.within(f"{findings.file} (expanded)")
    system = urdf.read(replace(source, data=text.encode()), options, view)
    return None if findings.failed else system


def expand(source: Source, options: Options, findings: Findings) -> str | None:
    """The plain URDF that a xacro text expands to; None, with a finding, where it fails."""
    spec = find_spec("xacro")
    if spec is None or spec.origin is None:
        missing = MissingExtraError("xacro", "xacro")
        findings.error("file", 0, "", f"xacro files are expanded by xacro, and {missing.what}", f"{missing.remedy}.")
        return None
    if b"<!DOCTYPE" in source.data or b"<!ENTITY" in source.data:
        problem = "a document type declaration is there, expected none"
        findings.error("entities", 0, "", problem, "Remove <!DOCTYPE ...>.")
        return None
    try:
        text = source.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        findings.error("syntax", line, "", "the text is not UTF-8", "Save the file as UTF-8.")
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
    """Folders that may be read; those in which packages may lie; those above the model that are packages themselves.

    A folder above counts only if a package.xml or the like makes it one: otherwise a model could name any folder.
    """
    own = [] if source.folder is None else [source.folder.resolve()]
    roots = [str(root) for root in (*own, *(folder.resolve() for folder in options.package_dirs))]
    above = [str(folder) for place in own for folder in (place, *place.parents) if is_package(folder)]
    return {"roots": roots, "packages": roots, "above": above}


def _answer(text: str, source: Source, options: Options, place: str, findings: Findings) -> dict[str, Any] | None:
    name = os.path.join(source.folder.resolve(), os.path.basename(source.name)) if source.folder else ""
    given = json.dumps({"text": text, "file": name, **_folders(source, options)})
    arguments = [str(MEMORY), str(SECONDS), place]
    try:
        code, output, _ = ask(child.__file__, arguments, given.encode(), WALL * SECONDS)
    except OSError as error:
        findings.error("file", 0, "", f"xacro cannot be started: {error.strerror}", "Check the installation.")
        return None
    try:
        answer: dict[str, Any] = json.loads(output)
        return answer
    except ValueError:
        pass
    if code is None or code in (-24, -9):  # SIGXCPU, SIGKILL
        problem = f"the macros are not expanded within {SECONDS} s"
    else:
        problem = f"xacro broke down with code {code}"
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
            f"the file {short(answer['outside'][0])} lies outside the folders that may be read",
            "Name its folder in package_dirs (--package-dir).",
        )
        return
    reason = " ".join(str(answer["error"]).split())[: limits.TEXT_LENGTH].rstrip(".")
    remedy = (
        "Name the folder that holds it in package_dirs (--package-dir)."
        if "package" in reason
        else "Correct it in the macros."
    )
    view.error("structure", 0, "", f"xacro refuses the text: {reason}", remedy)
