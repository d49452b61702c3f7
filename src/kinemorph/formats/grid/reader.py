"""Reads grids: text files that show docked modules as cells, seen from above (see `model.modules.grids`).

    ; base: m0
    ; root: fixed
    B>4 B>3 .
    .   B>0 Bv1

A comment line that begins with one of `SETTINGS` and a colon is a setting, as in `[assembly]` of a TOML file; other
comments have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kinemorph.errors import ModelError, Problem
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, unused_sidecar
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.grids import line_of, read_grid
from kinemorph.model.modules.ground_contacts import on_ground
from kinemorph.model.modules.organisms import organism_system
from kinemorph.model.system import System

SETTINGS = ("name", "base", "dyads", "root", "planar", "several", "ground")
FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_REMARK = re.compile(rf"\s*;\s*({'|'.join(SETTINGS)})\s*:\s*(.*?)\s*")


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a grid; None if it cannot be read, which is recorded as a finding."""
    unused_sidecar(options, "a grid", findings)
    try:
        text = source.data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        findings.error("syntax", line, "", "the text is not encoded in UTF-8", "Save the file in UTF-8.")
        return None
    said = _settings(text, findings)
    name = said.get("name") or Path(source.name).stem.strip("<>") or "organism"
    problems: list[Problem] = []
    asked = {key: said[key] for key in ("base", "planar", "several") if key in said}
    assembly = read_grid(text, standard_types(), problems, name=name, **asked)
    _report(problems, findings)
    if assembly is None or findings.failed:
        return None
    robot = {key: said[key] for key in ("dyads", "root") if key in said}
    if options.base is not None:
        robot["root"] = options.base
    try:
        system = organism_system(assembly, **robot)
        return on_ground(system) if said.get("ground") else system
    except ModelError as error:
        _report([Problem.of(message) for message in error.problems], findings)
        return None


def _report(problems: Iterable[Problem], findings: Findings) -> None:
    """Records problems of an assembly as findings on their lines."""
    for problem in problems:
        findings.error("assembly", line_of(problem), "", problem.what, problem.remedy)


def _settings(text: str, findings: Findings) -> dict[str, Any]:
    """The settings in the comments of a grid, by name."""
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _REMARK.fullmatch(line)
        if match is None:
            continue
        key, value = match[1], match[2]
        if key in ("planar", "several", "ground"):
            if value.lower() not in FLAGS:
                findings.error("structure", number, "", f"{key} is {value!r}, expected yes or no", "Write yes or no.")
                continue
            found[key] = FLAGS[value.lower()]
        elif key == "root" and re.search(r"[\s,]", value):
            found[key] = tuple(filter(None, re.split(r"[\s,]+", value)))
        elif key == "base" and value.isdecimal():
            found[key] = f"m{int(value)}"
        elif value:
            found[key] = value
    return found
