"""`verify_report`: reads a report, computes everything that it states about its model again, and compares.

found = verify_report("report.pdf")
print(found.changes)      # (row, what changed) for the rows that no longer hold
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kinemorph.analysis.signature import RATES, changes, repeated, signature
from kinemorph.display.reports.signing.report_files import read_report
from kinemorph.display.reports.signing.sealed import digest
from kinemorph.display.reports.signing.verdicts import (
    MODEL_FILE,
    VERDICT_FILE,
    ReadVerdict,
    VerdictProblem,
    read_verdict,
    versions,
)
from kinemorph.errors import KinemorphError
from kinemorph.formats.loading import load_text
from kinemorph.frozen import dataclass
from kinemorph.model.system import System
from kinemorph.sheet import Field, Note, Part, Sheet, Table, Verdict, attributes, named, said
from kinemorph.shown import Shown
from kinemorph.simulation.results.trajectory import Trajectory

CHANGES = (*named("row", "name"), Field("what", "what changed", form="sentence"))


@dataclass(frozen=True)
class ReportCheck(Shown):
    """The result of `verify_report`. As a bool it is True where every row holds.

    `rows`       the number of rows of the report
    `changes`    (row, what changed) for each row that does not hold
    `failed`     names of the rows that failed already when the report was written
    `notes`      sentences about what was not compared, and about other versions
    """

    file: str
    rows: int
    changes: tuple[tuple[str, str], ...]
    failed: tuple[str, ...]
    notes: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.changes

    def sheet(self) -> Sheet:
        """How many rows hold, and what changed in the others."""
        n, m = len(self.changes), self.rows
        changed = said("{n} row does not hold, of {m} rows.", "{n} rows do not hold, of {m} rows.", n=n, m=m)
        before = said(
            "{n} row had failed when the report was written.",
            "{n} rows had failed when the report was written.",
            n=len(self.failed),
        )
        holds = said("All rows hold, of {m} rows.", m=m)
        parts: list[Part] = [
            Verdict(bool(self), changed if self.changes else holds, "passed"),
            Table("changes", CHANGES, self.changes, "Rows that do not hold"),
            *(Note(note, "note") for note in self.notes),
            Note(before if self.failed else "", "note"),
            attributes(self, "rows failed notes"),
        ]
        return Sheet("Report", self.file, parts, "file")


def verify_report(path: str | Path) -> ReportCheck:
    """Computes the rows of a report again from the model that is attached to it, and names those that do not hold.

    `path` is a PDF, an HTML page or LaTeX source that `report` wrote. Raises KinemorphError for a file that is no
    report, a report without attached files, and one of a newer version.
    """
    found = read_report(Path(path))
    try:
        verdict = read_verdict(found.files[VERDICT_FILE])
    except VerdictProblem as problem:
        raise KinemorphError(
            f"the verdict attached to '{path}' cannot be used: {problem}. Write the report again."
        ) from problem
    told: list[tuple[str, str]] = []
    if found.seal != "intact":
        what = {
            "broken": "it was changed after it was written: its last line, a digest, does not fit.",
            "missing": "its last line, a digest of all that is before, is missing: another program wrote the file.",
        }
        told.append(("document", what[found.seal]))
    if not verdict.intact:
        told.append((VERDICT_FILE, "it was changed after it was written: its digest does not fit."))
    model = found.files.get(MODEL_FILE)
    if model is None:
        raise KinemorphError(
            f"no model is attached to '{path}', because a file could not express it"
            f"{': ' + verdict.dropped[0] if verdict.dropped else ''}. Nothing can be computed again."
        )
    if digest(model) != verdict.digests.get("model"):
        told.append((MODEL_FILE, "it is not the model for which the report was written: its digest does not fit."))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        compared, notes = _compared(verdict, _system(model, path))
    failed = tuple(row.name for row in verdict.signature.rows if row.check.status == "failed")
    return ReportCheck(str(path), len(verdict.signature.rows), (*told, *compared), failed, tuple(notes))


def _system(model: bytes, path: str | Path) -> System:
    """The system of the attached model file."""
    try:
        return load_text(model, "toml")
    except KinemorphError as error:
        raise KinemorphError(f"the model attached to '{path}' cannot be read: {error}") from error


def _compared(verdict: ReadVerdict, system: System) -> tuple[list[tuple[str, str]], list[str]]:
    """(row, what changed) for rows that do not hold for the system, and notes."""
    before = verdict.signature
    runs: dict[str, Trajectory] = {}
    notes, told, now = [], [], versions()
    for repeat in verdict.repeats:
        try:
            problem = repeat.problem
            if not problem:
                runs[repeat.name] = repeated(repeat, system)
        except (KinemorphError, TypeError, KeyError, ValueError) as error:
            told.append((f"runs: {repeat.name}", f"it cannot be carried out again: {error}"))
            problem = "it failed"
        if problem:
            notes.append(f"Run '{repeat.name}' is not repeated: {problem}")
    kept = [row for row in before.rows if row.part != "runs" or row.check.name.startswith(starts_of(runs))]
    after = signature(system, runs, states=before.states, seed=before.seed)
    if verdict.dropped:  # the attached model lacks parts that these values depend on
        notes += [f"Values of the whole system are not compared: {text}" for text in verdict.dropped]
        kept = [row for row in kept if row.check.name != RATES]
        after = replace(after, rows=tuple(row for row in after.rows if row.check.name != RATES))
    skipped = {row.name for row in kept if row.check.status == "skipped"}
    notes += [
        f"{row.name} is not compared: {row.check.note}"
        for row in after.rows
        if row.check.status == "skipped" and row.name not in skipped
    ]
    others = [f"{name} {was} then, {now[name]} now" for name, was in verdict.versions.items() if was != now.get(name)]
    notes += [f"Other versions: {'; '.join(others)}."] if others else []
    return [*told, *changes(replace(before, rows=tuple(kept)), after)], notes


def starts_of(runs: Iterable[str]) -> tuple[str, ...]:
    """How the names of rows of these runs begin."""
    return tuple(f"{name}, " for name in runs)
