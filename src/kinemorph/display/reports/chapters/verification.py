"""The last chapter: the signature of the report, all checks of the model and its runs with their worst figures.

Model and verdict are attached to the report; `kinemorph verify --report FILE` computes everything again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinemorph.analysis.signature import RATES, Row
from kinemorph.analysis.verification.verdict import counts
from kinemorph.display.faces.blocks import written
from kinemorph.display.faces.document import (
    Attachment,
    Block,
    Code,
    Facts,
    Grid,
    Paragraph,
    Section,
    Table,
)
from kinemorph.display.faces.languages.sentences import sentence
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.signing.verdicts import MODEL_FILE, VERDICT_FILE, SignedModel
from kinemorph.display.reports.subject import Subject

KINDS = {MODEL_FILE: "application/toml", VERDICT_FILE: "application/json"}
DESCRIPTIONS = {MODEL_FILE: "The model of this report.", VERDICT_FILE: "The verdict of this report."}
COMMAND = "kinemorph verify --report"


def chapter(subject: Subject, words: Words) -> Section | None:
    """The tables of all checks, digests, and the attached files."""
    signed = subject.signed
    blocks: list[Block] = [
        *_summary(signed, words),
        *_tables(signed, words),
        Facts(_digests(signed, words)),
        Paragraph(
            (
                words("The files {model} and {verdict} are attached to this report. The command ", **_files()),
                Code(COMMAND),
                words(
                    " with the name of this report computes all rows again from the attached model and names those "
                    "that no longer hold."
                ),
            )
        ),
    ]
    if signed.dropped:
        told = words("The attached model lacks parts that a file cannot express. The program says: ")
        blocks += [Paragraph((told, Code(text)), "warning") for text in signed.dropped]
    attached = [Attachment(name, data, KINDS[name], words(DESCRIPTIONS[name])) for name, data in signed.files.items()]
    return Section("verification", words("Verification"), blocks, attached)


def _files() -> dict[str, str]:
    return {"model": MODEL_FILE, "verdict": VERDICT_FILE}


def _summary(signed: SignedModel, words: Words) -> list[Block]:
    """How many checks passed, and at which states they were made."""
    found = signed.signature
    over = words("Random states: {states}, seed {seed}.", states=found.states, seed=found.seed)
    return [*written(counts(found.checks), words), Paragraph(over)]


def _tables(signed: SignedModel, words: Words) -> list[Block]:
    part, runs = signed.signature.part, [repeat.name for repeat in signed.repeats]
    blocks: list[Block] = [Table(_checks("Laws of mechanics", part("laws"), words), True)]
    if part("formulations"):
        blocks.append(Table(_formulations(part("formulations"), words), True))
    if part("code"):
        blocks.append(Table(_checks("Code beside the interpreter", part("code"), words), True))
    if part("values"):
        blocks.append(Table(_values(part("values"), words), colored=True, code=(words("function"),)))
    if part("runs"):
        blocks.append(Table(_checks("Energy balance and other laws of the runs", part("runs"), words, runs), True))
    return blocks


def _name(name: str, runs: Sequence[str], words: Words) -> str:
    """The name of a check; that of a run's check begins with the name of the run."""
    run = next((run for run in runs if name.startswith(f"{run}, ")), None)
    return sentence(words, name) if run is None else f"{run}, {sentence(words, name.removeprefix(f'{run}, '))}"


def _checks(title: str, rows: Sequence[Row], words: Words, runs: Sequence[str] = ()) -> Grid:
    """A table of checks: verdict, worst figure, tolerance, and the law; the reason where one does not apply."""
    cells = [
        [
            _name(row.check.name, runs, words),
            words(row.check.status),
            _error(row.check.worst, words),
            _error(row.check.tolerance, words),
            sentence(words, row.check.note if row.check.status == "skipped" else row.check.says),
        ]
        for row in rows
    ]
    columns = ("check", "verdict", "worst", "tolerance", "what it says")
    return words.grid(Grid(title, columns, cells, ("worst", "tolerance")), numbers=())


def _formulations(rows: Sequence[Row], words: Words) -> Grid:
    """The table of `kinemorph verify --table` without its times."""
    cells = []
    for row in rows:
        check = row.check
        error = words("reference") if check.worst is None and check.passed else _error(check.worst, words)
        ops = [*(words.integer(count) for count in row.ops), "", ""][:2]
        note = sentence(words, check.note) if check.status == "skipped" else ""
        cells.append([check.name, words(check.status), error, _error(check.tolerance, words), *ops, note])
    columns = ("formulation", "verdict", "error", "tolerance", "operations ID", "operations FD", "note")
    kept = [k for k in range(len(columns)) if any(row[k] for row in cells)]
    names = tuple(columns[k] for k in kept)
    right = tuple(name for name in names if name in columns[2:6])
    grid = Grid("Formulations beside the recursion", names, [[row[k] for k in kept] for row in cells], right)
    told = "ID is inverse, FD forward dynamics."
    few = "ID is inverse dynamics; operations of forward dynamics are counted for small robots only."
    return words.grid(grid._replace(note=told if "operations FD" in names else few), numbers=())


def _values(rows: Sequence[Row], words: Words) -> Grid:
    """The values of the model: how many, their root mean square, and how exactly they have to be found again."""
    cells = []
    for row in rows:
        size = math.sqrt(sum(x * x for x in row.numbers) / len(row.numbers)) if row.numbers else None
        cells.append(
            [
                words(row.check.name) if row.check.name == RATES else row.check.name,
                words(row.check.status),
                words.integer(len(row.numbers)) if row.numbers else "",
                "" if size is None else words.number(size, 10),
                _error(row.check.tolerance, words),
                sentence(words, row.check.note if row.check.status == "skipped" else row.check.says),
            ]
        )
    columns = ("function", "verdict", "values", "root mean square", "tolerance", "what it is")
    grid = Grid("Values of the model at random states", columns, cells, columns[2:5])
    grid = grid._replace(note="All values are in the attached verdict.")
    return words.grid(grid, numbers=())


def _error(value: float | None, words: Words) -> str:
    return "" if value is None else words.number(value, ".1e")


def _digests(signed: SignedModel, words: Words) -> list[tuple[str, object]]:
    """The digests of model, settings and versions, and the versions."""
    names = {"model": "SHA-256 of the model", "settings": "SHA-256 of the settings"}
    names["versions"] = "SHA-256 of the versions"
    rows: list[tuple[str, object]] = [(words(text), signed.digests[key]) for key, text in names.items()]
    used = ", ".join(f"{name} {version}" for name, version in signed.versions.items() if version)
    return [*rows, (words("versions"), used)]
