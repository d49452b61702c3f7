"""The model of a document's text: the system, if the text can be read, and findings with their lines and keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.errors import KinemorphError
from kinemorph.formats.findings import Finding, Findings
from kinemorph.formats.loading import examine_source
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml.documents import parse
from kinemorph.formats.toml.lines import Lines
from kinemorph.model.system import System
from kinemorph.studio.documents.commands.command import Keys


class Reading(NamedTuple):
    """What a reader made of the text of one revision: its system, None if there are errors, and all findings."""

    revision: int
    system: System | None
    findings: tuple[dict[str, Any], ...]
    unlisted: int = 0  # number of further findings, which are only counted


def read_model(path: Path, text: str, revision: int, package_dirs: Sequence[Path] = ()) -> Reading:
    """Reads a text as the content of the model file `path`. Files that it names are searched in the file's folder."""
    data = text.encode("utf-8", "surrogateescape")
    findings = Findings(path.name)
    try:
        seen = examine_source(Source(str(path), data, path.parent), findings, Options(package_dirs=tuple(package_dirs)))
    except Exception as error:  # an edit is confirmed already, so whatever happens is shown beside the text
        expected = isinstance(error, KinemorphError)  # such as a program that a format needs and that is not installed
        problem = str(error).rstrip(".") if expected else f"reading it failed inside Kinemorph: {error!r:.200}"
        findings.error("file", 0, "", problem, "Undo the last edit, or open another file.")
        return Reading(revision, None, tuple(_as_data(one, {}) for one in findings.found))
    lines = _KeyLines(text.replace("\r\n", "\n")).paths if path.suffix == ".toml" else {}
    listed = tuple(_as_data(one, lines) for one in seen.findings)
    return Reading(revision, seen.system if not seen.errors else None, listed, seen.unlisted)


def syntax_mistake(path: Path, text: str) -> str:
    """The first mistake of a TOML text that is not well-formed, as " on line 3: ..."; empty if none is found.

    Only the syntax is looked at, which takes far less time than the model.
    """
    findings = Findings(path.name)
    parse(Source(str(path), text.encode("utf-8", "surrogateescape"), path.parent), findings)
    return next((f" on line {one.line}: {one.problem}" for one in findings.found), "")


def _as_data(finding: Finding, lines: Mapping[int, Sequence[Keys]]) -> dict[str, Any]:
    """A finding as data for pages: line, key (and its path), element, problem, remedy, severity and rule."""
    path = _meant(lines.get(finding.line, ()), finding.problem)
    return {
        "line": finding.line,
        "key": ".".join(map(str, path)),
        "path": list(path),
        "element": finding.element,
        "problem": finding.problem,
        "remedy": finding.remedy,
        "severity": finding.severity,
        "rule": finding.rule,
        "repairable": finding.repair is not None,
    }


def _meant(paths: Sequence[Keys], problem: str) -> Keys:
    """The key that a finding is about, out of those on its line: the one that all of them are in, and in it the key
    with which the problem begins, such as "axis is 'w', expected ...".
    """
    meant: Keys = ()
    while len(inside := [path for path in paths if path[: len(meant)] == meant and len(path) > len(meant)]) > 0:
        following = {path[: len(meant) + 1] for path in inside}
        if len(following) > 1:
            break
        (meant,) = following
    word = re.match(r"\w+", problem)
    if word is None:
        return meant
    return next((path for path in paths if path[:-1] == meant and path[-1] == word[0]), meant)


class _KeyLines(Lines):
    """The keys of a text by line, as paths."""

    @property
    def paths(self) -> dict[int, list[Keys]]:
        """The paths of all keys that begin on a line, by line."""
        found: dict[int, list[Keys]] = {}
        for path, line in self._lines.items():
            if path:
                found.setdefault(line, []).append(path)
        return found
