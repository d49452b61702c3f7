"""The verb `check`: lists all errors and questionable values in model and study files, and writes repaired copies."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import BAD_INPUT, FAILED, WELL, Json, flag, option, out, put, say, verb, working
from kinemorph.cli.options.model_argument import ReadingOptions
from kinemorph.errors import KinemorphError
from kinemorph.formats import FORMATS
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options
from kinemorph.words import counted

if TYPE_CHECKING:
    from kinemorph.formats.loading import Examination

SURE = tuple(ending for name in ("urdf", "xacro", "sdf", "dh") for ending in FORMATS[name].endings)
# files of other kinds have these endings, too; only a model file has this pattern near its beginning
MARKS = {
    ".xml": re.compile(rb"<(mujoco|robot|sdf)\b"),
    ".mjcf": re.compile(rb"<mujoco\b"),
    ".toml": re.compile(rb"^\s*kinemorph(_study)?\s*=", re.MULTILINE),
    ".mu": re.compile(rb"\b(T0G|TrefG|nbrbody)\b"),
    ".mac": re.compile(rb"\b(T0G|TrefG)\b"),
}

STUDY = re.compile(rb"^\s*kinemorph_study\s*=", re.MULTILINE)  # near the beginning of a study file


def _print_rules(context: typer.Context, wanted: bool) -> None:
    """Prints the rules that model files have to satisfy and exits, where --rules is given."""
    if wanted:
        from kinemorph.formats.findings import RULES
        from kinemorph.sheet import Field, Sheet, Table

        columns = Field("rule", "rule", form="name"), Field("says", "says", form="name")
        rules = Sheet("Rules of", "model files", (Table("rules", columns, list(RULES.items())),))
        put(rules, context.params.get("as_json", False))
        raise typer.Exit


@verb
def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Model files, study files, or folders of them.", show_default=False),
    ],
    strict: Annotated[bool, flag("--strict", "Count warnings as errors.")] = False,
    verify: Annotated[bool, flag("--verify", "Also verify the derived equations.")] = False,
    fix: Annotated[
        bool, flag("--fix", "Write a copy in which every error with exactly one possible repair is repaired.")
    ] = False,
    output: Annotated[Path | None, option("Path of the repaired copy, if one file is checked.", "PATH")] = None,
    rules: Annotated[
        bool, flag("--rules", "List the rules that files are checked against.", callback=_print_rules)
    ] = False,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Lists all errors and questionable values in model files and study files, with file, line, reason and remedy.

    The exit code is 1 if a file has errors, and 2 if a FILE does not exist or a folder has no model files.
    """
    from kinemorph.display.tables import file_reports

    if output is not None and not fix:
        raise KinemorphError(f"--output is '{output}', but without --fix nothing is written. Give --fix as well.")
    found = list(dict.fromkeys(path for given in files for path in _files(given)))
    if output is not None and len(found) != 1:
        raise KinemorphError(
            f"--output is '{output}', but {len(found)} files are checked; expected one file. Leave --output out, or "
            "check one file."
        )
    rows, well = [], True
    for path in found:
        with working(f"checking {path}"):
            data, examination = _checked(path, reading.for_files(repairable=fix))
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
    named = all(os.path.isfile(path) for path in found)
    raise typer.Exit(BAD_INPUT if not named else WELL if well else FAILED)


def _checked(path: str, options: Options) -> tuple[dict[str, Any], Examination]:
    """(data, examination) of one file. The data contain hints if the file can be loaded."""
    from kinemorph.display.tables import file_reports
    from kinemorph.formats.hints import contact_hints, hints, phase_hints
    from kinemorph.formats.loading import Examination, examine

    if path.lower().endswith(".toml") and os.path.isfile(path) and _begins_like(path, STUDY):  # no pipe, which waits
        return _checked_study(path)
    if os.path.isdir(path):
        findings = Findings(path)
        findings.error("file", 0, "", "there are no model files in this folder", "Name files, or another folder.")
        examination = Examination(None, tuple(findings.found))
    else:
        examination = examine(path, options=options)
    system = examination.system
    found = []
    if system is not None:
        found = [*hints(system.robot, start=system.settings.q), *contact_hints(system), *phase_hints(system)]
    return file_reports.check_summary(path, examination, found), examination


def _checked_study(path: str) -> tuple[dict[str, Any], Examination]:
    """(data, examination) of a study file, which has no system."""
    from kinemorph.display.tables import file_reports
    from kinemorph.formats.loading import Examination
    from kinemorph.studies.study_files.reader import examine_study

    found = examine_study(path)
    examination = Examination(None, found.findings, format="study")
    return file_reports.check_summary(path, examination) | {"loaded": found.plan is not None}, examination


def _verified(path: str, examination: Examination) -> dict[str, Any]:
    """The verification of the derived equations, as data."""
    from kinemorph.analysis.verification import verify as verification
    from kinemorph.deriving.dynamics import derive

    assert examination.system is not None
    with working(f"verifying {path}"):
        return verification.verify(derive(examination.system.robot)).as_dict()


# ── repairs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fixed(
    path: str, examination: Examination, output: Path | None, options: Options, *, quiet: bool
) -> dict[str, Any] | None:
    """Writes a repaired copy of a file and returns its check as data; None, with a note, if nothing can be repaired.

    `output` is the path of the copy; None puts it beside the file. `quiet` prints nothing to stdout.
    """
    from kinemorph.display.tables import file_reports
    from kinemorph.formats.repairs import copy_name, repaired

    # only findings of this file: the document of an included file is not kept
    repairs = [finding for finding in examination.findings if finding.repair is not None and finding.file == path]
    if not repairs or examination.document is None:
        say(f"note: {path}: no finding has exactly one possible repair, so no copy is written")
        return None
    place = output or copy_name(Path(path))
    try:
        with place.open("xb") as file:
            file.write(repaired(examination.document, repairs))
    except FileExistsError:
        raise KinemorphError(
            f"cannot write '{place}': this file exists already. Remove it, or name another file with --output."
        ) from None
    except OSError as error:
        raise KinemorphError(f"cannot write '{place}': {error.strerror}. Name another file with --output.") from None
    say(f"wrote {place} with {counted(len(repairs), 'repair')}")
    data, _ = _checked(str(place), options)
    if not quiet:
        out("\n".join(file_reports.check_lines(data)) + "\n")
    return data


# ── folders ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _files(given: str) -> Iterator[str]:
    """The path of a file; for a folder, the paths of all model files in it, sorted, or its own path if there are none.

    XML and TOML files count as model files if they begin like one.
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
    """Whether an XML or TOML file begins like a model file."""
    mark = MARKS.get(os.path.splitext(path)[1].lower())
    return mark is not None and not path.lower().endswith(".sidecar.toml") and _begins_like(path, mark)


def _begins_like(path: str, mark: re.Pattern[bytes]) -> bool:
    """Whether a file has a pattern near its beginning."""
    try:
        with open(path, "rb") as file:
            return mark.search(file.read(4096)) is not None
    except (OSError, ValueError):  # ValueError: the name has a zero byte
        return False
