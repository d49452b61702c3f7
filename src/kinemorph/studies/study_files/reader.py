"""`load_study_plan` reads a study file as a `StudyPlan`; `examine_study` also returns what is wrong with a file.

A study file never runs Python code: its model is a model file, and its measures are texts.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from kinemorph.errors import KinemorphError, ModelWarning, ParseError, Problem, users_level
from kinemorph.formats.findings import Finding, Findings
from kinemorph.formats.sources import Options, Source, read_file
from kinemorph.formats.toml.documents import has_version, parse
from kinemorph.formats.toml.fields import MARK as MODEL_MARK
from kinemorph.formats.toml.parts import Parts
from kinemorph.formats.toml.runs import read_plan
from kinemorph.formats.toml.values import At
from kinemorph.model.elements.fields import Field, part_fields
from kinemorph.model.expressions import ExpressionError, names_in, parse_expression
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import Parameter
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.experiments.measures import EXTREME
from kinemorph.studies.outcomes import BestRuns
from kinemorph.studies.statistics.plans import MonteCarloPlan, SensitivityPlan
from kinemorph.studies.study_files import study_fields as rows
from kinemorph.studies.study_files.parts import MODEL, SpaceReader, model_path
from kinemorph.studies.study_files.study_plan import StudyPlan
from kinemorph.words import did_you_mean, listed

ENDING = ".study"  # of files of results
TABLES = {"part": ("space", "parts"), "measure": ("measures",)}  # where what an error is about is written
DRAWS = 1000  # items of a Monte Carlo study that gives neither a count nor an error
# numbers of a statistical study by key: they lie between two bounds, which are described in words
ABOVE_ZERO = (0.0, math.inf, "above 0")
BOUNDS = {"seed": (-1.0, math.inf, "0 or more"), "confidence": (0.0, 1.0, "between 0 and 1")}


class StudyExamination(NamedTuple):
    """The result of reading a study file: its plan, which is None if there is an error, and all findings."""

    plan: StudyPlan | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


def load_study_plan(path: str | Path) -> StudyPlan:
    """The plan of a study file. Raises ParseError with every error; questionable values give a ModelWarning."""
    found = examine_study(path)
    if found.plan is None:
        raise ParseError([*map(str, found.errors)], found.findings)
    for finding in found.findings:
        warnings.warn(str(finding), ModelWarning, stacklevel=users_level())
    return found.plan


def examine_study(path: str | Path) -> StudyExamination:
    """Reads a study file and returns its plan with findings for everything that is wrong or questionable."""
    findings = Findings(str(path))
    source = read_file(Path(path), findings)
    plan = None if source is None else read_study(source, findings)
    return StudyExamination(None if findings.failed else plan, tuple(findings.found))


def line_of_error(path: str | Path, error: KinemorphError) -> str:
    """The text "FILE:LINE: " for an error about a part or a measure of a study file; empty for other errors.

    Such errors show only when the model is there: a name that it does not have, for example.
    """
    kind, name = error.about
    source = read_file(Path(path), Findings(str(path))) if kind in TABLES else None
    document = None if source is None else parse(source, Findings(str(path)))
    if document is None:
        return ""
    table: Any = document.data
    for key in TABLES[kind]:
        table = table.get(key, {})
    return f"{path}:{document.lines.line((*TABLES[kind], name))}: " if name in table else ""


def read_study(source: Source, findings: Findings) -> StudyPlan | None:
    """The plan of a study file in memory; None if it has errors, which are recorded as findings."""
    document = parse(source, findings)
    if document is None:
        return None
    data, tables = document.data, Parts(document, source, Options(), findings)
    if MODEL_MARK in data and rows.MARK not in data:
        problem = f"the file has the key '{MODEL_MARK}' and is a model, expected a study file"
        remedy = f'Write a study file with {rows.MARK} = {rows.VERSION} and model = "{Path(source.name).name}".'
        tables.values.error("structure", At((MODEL_MARK,), "", ""), problem, remedy)
        return None
    if not has_version(data, rows.MARK, rows.VERSION, tables.values):
        return None
    plan = _Study(tables, data).plan()
    return None if findings.failed else plan


class _Study:
    """Reads the document of one study file."""

    def __init__(self, tables: Parts, data: dict[str, Any]) -> None:
        self.tables, self.values, self.data = tables, tables.values, data
        self.folder = tables.source.folder or Path()

    def plan(self) -> StudyPlan | None:
        top = At((), "", "")
        special = {
            rows.RUN.name: self._run,
            rows.WORKER.name: self._workers,
            rows.MEASURES.name: self._measures,
            rows.KEEP.name: self._keep,
            **dict.fromkeys(rows.KINDS, self._statistics),
        }
        self.values.forms["literal"] = self._positive  # as all numbers at the top of the file are
        read = self.values.table(self.data, top, rows.TOP, skip=("space", *special))
        self.values.forms["literal"] = self.values.literal
        read.pop(rows.MARK, None)
        for key, reading in special.items():
            if key in self.data:
                read[key] = reading(self.data[key], top.key(key))
        if all(key in self.data for key in rows.KINDS):
            problem = "[monte_carlo] and [sensitivity] are given together, expected only one"
            self.values.error("structure", top.key("sensitivity"), problem, "Write a study file for each.")
        space = self._space(read)
        self._check_kept(read)
        read |= {"model": self._model(read.get("model")), "space": space}
        if self.tables.findings.failed:
            return None
        file = Path(self.tables.source.name)
        read["store"] = self.folder / (read.get("store") or f"{file.stem}{ENDING}")
        read["name"] = read.get("name") or file.stem
        read["package_dirs"] = tuple(self.folder / folder for folder in read.get("package_dirs") or ())
        if read.get("memory") is not None:
            read["memory"] = int(read["memory"])
        return StudyPlan(**read)

    def _positive(self, raw: Any, at: At, field: Field) -> float:
        """A finite number above 0."""
        before = self.values.error_count
        number = self.values.literal(raw, at, field)
        if self.values.error_count == before and not 0.0 < number < math.inf:
            problem = f"{at.what} is {number:g}, expected a finite number above 0"
            self.values.error("number", at, problem, f"Give a positive {at.what}.")
        return number

    def _space(self, read: dict[str, Any]) -> Any:
        """The space. Statistical studies draw their own items, so that their spaces need no design."""
        if "space" not in self.data:
            problem = "the table [space] is missing"
            remedy = "Write [space] with a design, and [space.parts.NAME] with a range for each part."
            self.values.error("structure", At((), "", ""), problem, remedy)
            return None
        usual: dict[str, Any] = {"design": "grid"}
        if draws := read.get("monte_carlo"):
            usual = {"design": "random", "count": draws.count or DRAWS}
        elif read.get("sensitivity"):
            usual = {"design": "random", "count": 1}
        if isinstance(self.data["space"], dict) and "design" in self.data["space"]:
            usual = {"design": "grid"}
        return SpaceReader(self.tables).read(self.data["space"], usual)

    def _model(self, name: str | None) -> Path | None:
        """The path of the model; None if the space has a part for it."""
        raw = self.data.get("space")
        parts = raw.get("parts") if isinstance(raw, dict) else None
        varied = isinstance(parts, dict) and MODEL in parts
        if name and varied:
            problem = "model is given, and the space has a part 'model', expected only one"
            self.values.error("structure", At(("model",), "", ""), problem, "Remove one of them.")
        elif name:
            return model_path(self.tables, name, At(("model",), "", "model"))
        elif not varied:
            problem = "the key 'model' is missing, and the space has no part 'model'"
            self.values.error("structure", At((), "", ""), problem, 'Write model = "robot.toml".')
        return None

    def _run(self, raw: Any, at: At) -> str | RunPlan | None:
        """The name of a run of the model, or the options of a run."""
        if isinstance(raw, dict):
            return read_plan(raw, At(at.path, "run", ""), self.values, None)
        return self.values.text(raw, at)

    def _workers(self, raw: Any, at: At) -> int | str | None:
        """How many processes, "here", "dask", or the address of a cluster."""
        if isinstance(raw, str) and (raw in rows.WORKERS or "://" in raw):
            return raw
        if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
            return raw
        problem = f"{at.what} is {short(raw)}, expected a number of processes, {listed(rows.WORKERS)} or an address"
        remedy = did_you_mean(raw, rows.WORKERS).strip() or 'Write workers = 2, or workers = "tcp://host:8786".'
        self.values.error("structure", at, problem, remedy)
        return None

    def _measures(self, raw: Any, at: At) -> dict[str, str]:
        """The texts of measures by name."""
        if not isinstance(raw, dict):
            problem = f"{at.what} is {short(raw)}, expected a table with a text for each measure"
            self.values.error("structure", at, problem, 'Write [measures] and distance = "q.x" below.')
            return {}
        for name in raw:
            if not name.strip() or not name.isprintable():
                problem = f"a measure is called {short(name)}, expected printable text"
                self.values.error("name", at.key(name), problem, "Rename it.")
        found = {}
        for name, text in raw.items():
            place = At(at.key(name).path, f"measure '{name}'", "")
            found[name] = self.values.text(text, place)
            if not isinstance(text, str) or EXTREME.fullmatch(text):
                continue
            try:
                parse_expression(found[name], {used: Parameter(used, 1.0) for used in names_in(found[name])})
            except ExpressionError as error:
                problem = Problem.of(error.args[0])
                self.values.error("structure", place, problem.what, problem.remedy)
        return found

    def _keep(self, raw: Any, at: At) -> Any:
        """Which runs are kept: a word, or a table that names the best ones."""
        if isinstance(raw, str):
            return self.values.choice(raw, at, Field("keep", "choice", inner=rows.KEPT))
        before = self.values.error_count
        read = self.values.table(raw, at, rows.BEST)
        if self.values.error_count == before and read["best"] < 1:
            problem = f"{at.key('best').what} is {read['best']}, expected a whole number of 1 or more"
            self.values.error("number", at.key("best"), problem, "Write how many runs to keep.")
        return BestRuns(**read) if self.values.error_count == before else None

    def _check_kept(self, read: dict[str, Any]) -> None:
        """Records a finding if the best runs are those of a measure that the file does not have."""
        keep, names = read.get("keep"), [*read.get("measures", {})]
        if isinstance(keep, BestRuns) and keep.of not in names:
            problem = f"keep of is {short(keep.of)}, expected one of the measures: {listed(names)}"
            remedy = did_you_mean(keep.of, names).strip() or "Add it to [measures]."
            self.values.error("name", At(("keep", "of"), "", ""), problem, remedy)

    def _statistics(self, raw: Any, at: At) -> MonteCarloPlan | SensitivityPlan | None:
        """The options of a Monte Carlo or sensitivity study."""
        kind = rows.KINDS[str(at.path[0])]
        before = self.values.error_count
        place = At(at.path, at.what, "")
        own = () if kind is SensitivityPlan else (rows.ERROR.name,)
        read = self.values.table(raw, place, part_fields(kind), skip=own)
        if own and isinstance(raw, dict) and "error" in raw:
            read["error"] = self._error(raw["error"], place.key("error"))
        for key, value in read.items():
            if self.values.error_count == before:
                self._check_number(key, value, place.key(key))
        return kind(**read) if self.values.error_count == before else None

    def _check_number(self, key: str, value: Any, at: At) -> None:
        """Records a finding for a number of a statistical study that is out of its range."""
        if isinstance(value, dict):
            for name, number in value.items():
                self._check_number(key, number, at.key(name))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            lower, upper, expected = BOUNDS.get(key, ABOVE_ZERO)
            if not lower < value < upper:
                problem = f"{at.what} is {value}, expected a finite number {expected}"
                self.values.error("number", at, problem, f"Write a number {expected}.")

    def _error(self, raw: Any, at: At) -> float | dict[str, float]:
        if isinstance(raw, dict):
            return {name: self.values.literal(value, at.key(name)) for name, value in raw.items()}
        return self.values.literal(raw, at)
