"""Reads xacro, which is URDF with macros: xacro expands them in a separate process (`child`), then URDF is read.

Included files, and packages that $(find ...) names, are searched in the folder of the model, in the package that
contains it, and in the folders of `package_dirs`. Lines in messages are those of the files with the macros. Text that
expands to SDF is read as SDF.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from kinemorph.errors import MissingExtraError
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.limited_process import ask
from kinemorph.formats.sdf import reader as sdf
from kinemorph.formats.sources import PACKAGE_MARKS, Options, Source, is_package, model_root, package_name, packages
from kinemorph.formats.urdf import reader as urdf
from kinemorph.formats.xacro import child
from kinemorph.model.input_reader import short
from kinemorph.model.system import System
from kinemorph.words import did_you_mean, quoted

Places: TypeAlias = tuple[tuple[str, int], ...]  # (file, line) of elements, by their numbers in the expanded text
SECONDS = 4  # [s], largest processor time of an expansion
WALL = 5.0  # times SECONDS: largest wall-clock time, which is longer on a busy computer
MEMORY = 1024**3  # bytes, if the operating system can limit memory
_ARGUMENT = re.compile(r"Undefined substitution argument (\w+)")  # in a message of xacro
_SDF = re.compile(r"<sdf\b[^>]*\bversion\b")
_LINK = re.compile(r"<link\b")
_MACRO = re.compile(rb"""<xacro:macro\b[^>]*?\bname\s*=\s*["']([^"']*)""")
CLASS = re.compile(r"<class '[\w.]+'>: ")  # in messages of xacro


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a xacro file; None if it cannot be read, which is recorded as a finding."""
    found = expand(source, options, findings)
    if found is None:
        return None
    text, places = found
    if not _LINK.search(text):
        names = list(dict.fromkeys(name.decode(errors="replace") for name in _MACRO.findall(source.data)))
        only = (
            f": the file only defines {'the macro' if len(names) == 1 else 'macros'} {quoted(names)}" if names else ""
        )
        problem = f"the expanded text has no <link>, expected a robot{only}"
        findings.error("structure", 0, "", problem, "Name the file that includes this one.")
        return None
    view = findings.within(findings.file, places) if places else findings.within(f"{findings.file} (expanded)")
    reader = sdf if _SDF.search(text) else urdf
    system = reader.read(replace(source, data=text.encode(), numbered=child.PLACE if places else ""), options, view)
    return None if findings.failed else system


def expand(source: Source, options: Options, findings: Findings) -> tuple[str, Places] | None:
    """(text that a xacro file expands to, places (file, line) of its numbers); None if the expansion fails, which is
    recorded as a finding. Too large files have no places.
    """
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
    for name in answer.get("unknown", ()):
        declared = answer["declared"]
        known = f"; it has {quoted(declared)}" if declared else "; it declares none"
        remedy = did_you_mean(name, declared).strip() or "Leave it out, or name an argument that the file declares."
        findings.error("unknown", 0, name, f"this argument is given, but the file does not declare it{known}", remedy)
    if "unknown" in answer:
        return None
    if "error" in answer:
        _report(answer, findings)
        return None
    expanded = str(answer["text"])
    if len(expanded) > limits.FILE_SIZE:
        problem = f"the expanded text has {len(expanded)} characters, expected at most {limits.FILE_SIZE}"
        findings.error("file", 0, "", problem, "Look for macros that call each other without end.")
        return None
    main, places = _main_file(source), [(file, line) for file, line in answer["places"]]
    if len(places) >= child.MOST_PLACES:
        return expanded, ()
    return expanded, tuple((findings.file if file == main else file, line) for file, line in places)


def _main_file(source: Source) -> str:
    """The path of the file for xacro, with links followed; empty for a text that is not in a file."""
    return os.path.join(source.folder.resolve(), os.path.basename(source.name)) if source.folder else ""


def _folders(source: Source, options: Options) -> dict[str, Any]:
    """The folders that `child` needs: "roots" may be read, packages are searched in "packages", "named" are folders
    with the names of their packages, and in "beside" folders with one of the files "marks" are packages.

    The root of the model (`model_root`) may be read.

    A folder above the model is used only if it has a file such as package.xml, and one beside it only if both have.
    Otherwise a model could read any folder.
    """
    own = [] if source.folder is None else [source.folder.resolve()]
    searched = [str(root) for root in (*own, *(folder.resolve() for folder in options.package_dirs))]
    roots = [*searched, *(str(model_root(place)) for place in own)]
    above = [folder for place in own for folder in (place, *place.parents) if is_package(folder)]
    named = [
        [name, str(folder)]
        for folder in (*above, *options.package_dirs)
        for name in (folder.name, package_name(folder))
        if name
    ]
    named += [[name, str(folder)] for name, folder in packages(options) if name]
    beside = [str(folder.parent) for folder in above]
    return {"roots": roots, "packages": searched, "named": named, "beside": beside, "marks": list(PACKAGE_MARKS)}


def _answer(text: str, source: Source, options: Options, place: str, findings: Findings) -> dict[str, Any] | None:
    """The answer of the process that expands a text; None if it gives none, which is recorded as a finding.

    `place` is the folder in which xacro is installed.
    """
    given = json.dumps(
        {"text": text, "file": _main_file(source), "arguments": dict(options.arguments), **_folders(source, options)}
    )
    arguments = [str(MEMORY), str(SECONDS), place]
    try:
        code, output, _ = ask(child.__file__, arguments, given.encode(), WALL * SECONDS, prepared=(place,))
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
    argument = _ARGUMENT.search(reason)
    if argument:
        declared = [name for name in answer["declared"] if name != argument[1]]
        reason += f"; the file has {quoted(declared)} besides" if declared else ""
        remedy = (
            f"Give it a value: arguments={{'{argument[1]}': ...}} of `load`, --arg {argument[1]}:=... on the "
            f'command line, or <xacro:arg name="{argument[1]}" default="..."/> in the file.'
        )
    elif "package" in reason:
        remedy = "Name the folder that contains the package in package_dirs (--package-dir)."
    elif answer.get("declared"):  # such as the name of a file that is empty by default
        remedy = (
            f"Give values to the arguments of the file, {quoted(answer['declared'])} (--arg NAME:=VALUE), or correct "
            "its macros."
        )
    else:
        remedy = "Correct the macros."
    view.error("structure", 0, "", f"xacro cannot expand the file: {reason}", remedy)
