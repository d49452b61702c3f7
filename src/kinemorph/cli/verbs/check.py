"""The verb `check`: all errors and questionable values in model files, and copies with repairs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, option, out, put, say, verb, working
from kinemorph.cli.options.model_argument import ReadingOptions
from kinemorph.errors import KinemorphError
from kinemorph.formats import FORMATS
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options

if TYPE_CHECKING:
    from kinemorph.formats.loading import Examination

SURE = tuple(ending for name in ("urdf", "xacro", "sdf", "dh") for ending in FORMATS[name].endings)
# other files have these endings, too; the beginning of a model file matches the pattern
MARKS = {
    ".xml": re.compile(rb"<(mujoco|robot|sdf)\b"),
    ".mjcf": re.compile(rb"<mujoco\b"),
    ".toml": re.compile(rb"^\s*kinemorph\s*=", re.MULTILINE),
}


def _print_rules(wanted: bool) -> None:
    if wanted:
        from kinemorph.display.tables import file_reports
        from kinemorph.display.tables.grid import Grid

        rows = file_reports.rule_rows()
        put(rows, False, lambda rows: [Grid("", ("rule", "says"), [tuple(r.values()) for r in rows])])
        raise typer.Exit


@verb
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Model files, or folders of them.", show_default=False)
    ],
    strict: Annotated[bool, flag("--strict", "Count warnings as errors.")] = False,
    verify: Annotated[bool, flag("--verify", "Also verify the derived equations.")] = False,
    fix: Annotated[
        bool, flag("--fix", "Write a copy in which everything that can be repaired safely is repaired.")
    ] = False,
    output: Annotated[Path | None, option("Path of the repaired copy, if one file is checked.", "PATH")] = None,
    rules: Annotated[bool, flag("--rules", "List the rules.", callback=_print_rules, is_eager=True)] = False,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Lists all errors and questionable values in model files, with file, line, reason and remedy."""
    from kinemorph.display.tables import file_reports

    if output is not None and not fix:
        raise KinemorphError(f"--output '{output}' is where --fix writes. Give --fix as well.")
    found = list(dict.fromkeys(path for given in files for path in _files(given)))
    if output is not None and len(found) != 1:
        raise KinemorphError(f"--output '{output}' is for one file, but {len(found)} are given. Leave it out.")
    rows, well = [], True
    for path in found:
        with working(f"checking {path}"):
            data, examination = _checked(path, reading.for_files(mendable=fix))
        well = well and data["loaded"] and not (strict and data["warnings"])
        if not as_json:
            out("\n".join(file_reports.check_lines(data)) + "\n")
        if fix:
            data["fixed"] = _fixed(path, examination, output, reading.for_files(), quiet=as_json)
        if verify and examination.system is not None:
            data["verification"] = _verified(path, examination)
            well = well and data["verification"]["passed"]
            if not as_json:
                out(file_reports.verification_line(path, data["verification"]) + "\n")
        rows.append(data)
    if len(rows) > 1:
        wrong, questionable = (sum(bool(data[key]) for data in rows) for key in ("errors", "warnings"))
        say(f"{len(rows)} files: {wrong} with errors, {questionable} with warnings")
    if as_json:
        out(json.dumps({"well": well, "files": rows}, indent=2, allow_nan=False) + "\n")
    raise typer.Exit(WELL if well else FAILED)


def _checked(path: str, options: Options) -> tuple[dict[str, Any], Examination]:
    """The examination of one file, and the same as data; with hints if it could be loaded."""
    from kinemorph.display.tables import file_reports
    from kinemorph.formats.hints import hints
    from kinemorph.formats.loading import Examination, examine

    if os.path.isdir(path):
        findings = Findings(path)
        findings.error("file", 0, "", "there are no model files in this folder", "Name files, or another folder.")
        examination = Examination(None, tuple(findings.found))
    else:
        examination = examine(path, options=options)
    system = examination.system
    found = [] if system is None else hints(system.robot, start=system.settings.q)
    return file_reports.check_summary(path, examination, found), examination


def _verified(path: str, examination: Examination) -> dict[str, Any]:
    from kinemorph.analysis.verification import verify as verification
    from kinemorph.deriving.dynamics import derive

    assert examination.system is not None
    with working(f"verifying {path}"):
        return verification.verify(derive(examination.system.robot)).as_dict()


# ── repairs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fixed(
    path: str, examination: Examination, output: Path | None, options: Options, *, quiet: bool
) -> dict[str, Any] | None:
    """Writes the repaired copy of a file and checks it; None, with a message, if nothing can be repaired."""
    from kinemorph.display.tables import file_reports
    from kinemorph.formats.repairs import copy_name, mend

    # included files have documents of their own
    repairs = [finding for finding in examination.findings if finding.repair is not None and finding.file == path]
    if not repairs or examination.document is None:
        say(f"note: {path}: nothing can be repaired safely")
        return None
    place = output or copy_name(Path(path))
    try:
        with place.open("xb") as file:
            file.write(mend(examination.document, repairs))
    except FileExistsError:
        raise KinemorphError(
            f"cannot write '{place}': it exists already. Remove it, or name another with --output."
        ) from None
    except OSError as error:
        raise KinemorphError(f"cannot write '{place}': {error.strerror}. Name another place with --output.") from None
    say(f"wrote {place}: {len(repairs)} repaired")
    data, _ = _checked(str(place), options)
    if not quiet:
        out("\n".join(file_reports.check_lines(data)) + "\n")
    return data


# ── folders ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _files(given: str) -> Iterator[str]:
    """A file, or all model files in a folder, sorted; a folder without model files is yielded itself.

    XML and TOML files count as models if they begin like one.
    """
    if not given:
        raise KinemorphError("FILE is empty. Name a model file, or a folder of them.")
    if not os.path.isdir(given):
        yield given
        return
    count = 0
    for folder, folders, names in os.walk(given):
        folders.sort()
        for name in sorted(names):
            path = os.path.normpath(os.path.join(folder, name))
            if name.lower().endswith(SURE) or _is_model(path):
                count += 1
                yield path
    if not count:
        yield given


def _is_model(path: str) -> bool:
    mark = MARKS.get(os.path.splitext(path)[1].lower())
    if mark is None or path.lower().endswith(".sidecar.toml"):
        return False
    try:
        with open(path, "rb") as file:
            return mark.search(file.read(4096)) is not None
    except OSError:
        return False
