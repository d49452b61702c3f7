"""Model files as plain data and as lines of text, for the command `check`.

A line of `check` begins as in the messages of compilers, `file:line: error: ...`, so that editors can jump there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kinemorph.display.faces.grid import Data
from kinemorph.formats.hints import Hint
from kinemorph.formats.loading import Examination
from kinemorph.words import counted


def check_summary(path: str, examination: Examination, hints: Sequence[Hint] = ()) -> Data:
    """A checked file as data: its format, its sizes if it could be loaded, findings and hints."""
    system = examination.system
    sizes = (
        None
        if system is None
        else {
            "bodies": len(system.robot.bodies),
            "massless": system.robot.massless,
            "dof": system.robot.nv,
            "loops": len(system.robot.loops),
            "couplings": len(system.robot.couplings),
        }
    )
    return {
        "file": path,
        "format": examination.format,
        "loaded": system is not None,
        "robot": None if system is None else system.name,
        "sizes": sizes,
        "errors": len(examination.errors),
        "warnings": len(examination.warnings),
        "untold": examination.unlisted,
        "findings": [finding.as_dict() for finding in examination.findings],
        "hints": [
            {
                "line": examination.lines.get((hint.kind, hint.name), 0),
                "element": f"{_word(hint.kind, examination.format)} '{hint.name}'",
                "sentence": hint.sentence,
            }
            for hint in hints
        ],
    }


def check_lines(data: Data) -> list[str]:
    """The data of `check_summary` as lines: one for each finding and hint, and a summary at the end."""
    lines = []
    for row in data["findings"]:
        element = f"{row['element']}: " if row["element"] else ""
        fixable = " (--fix repairs it)" if row["repairable"] else ""
        sentence = f"{element}{row['problem']}. {row['remedy']}{fixable} [{row['rule']}]"
        lines.append(f"{_place(row['file'], row['line'])}: {row['severity']}: {sentence}")
    if data["untold"]:
        lines.append(f"{data['file']}: {data['untold']} more findings are not listed")
    for row in data["hints"]:
        lines.append(f"{_place(data['file'], row['line'])}: hint: {row['element']}: {row['sentence']}")
    lines.append(f"{data['file']}: {_sizes(data)}")
    return lines


def _word(kind: str, format: str) -> str:
    """The word of a file format for a kind of part: "link" for "body" in URDF, xacro and SDF."""
    return "link" if kind == "body" and format in ("urdf", "xacro", "sdf") else kind


def _place(file: str, line: int) -> str:
    return f"{file}:{line}" if line else file


def _sizes(data: Data) -> str:
    """The summary of a checked file: `7 bodies, 7 dof, 2 warnings`, or `3 errors, 1 warning`."""
    parts = []
    if data["sizes"]:
        sizes = data["sizes"]
        cut = " of the cut tree" if sizes["loops"] else ""
        massless = f" ({sizes['massless']} of them massless)" if sizes["massless"] else ""
        parts += [counted(sizes["bodies"], "body", "bodies") + massless, f"{sizes['dof']} dof{cut}"]
        parts += [counted(sizes[key], key[:-1]) for key in ("loops", "couplings") if sizes[key]]
    parts += [counted(data[key], key[:-1]) for key in ("errors", "warnings") if data[key]]
    if data["hints"]:
        parts.append(counted(len(data["hints"]), "hint"))
    return ", ".join(parts) or "no findings"


def verification_line(path: str, verdict: Data) -> str:
    """The line `arm.urdf: verified: 14 passed, 0 failed, 2 skipped`, followed by the names of failed checks."""
    count = Counter(row["status"] for row in verdict["checks"])
    counts = ", ".join(f"{count[status]} {status}" for status in ("passed", "failed", "skipped"))
    failed = [f"{row['name']} ({row['note']})" for row in verdict["checks"] if row["status"] == "failed"]
    return f"{path}: verified: {counts}" + (f": {'; '.join(failed)}" if failed else "")
