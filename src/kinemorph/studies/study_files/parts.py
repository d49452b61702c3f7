"""Reads the tables [space] and [space.parts.NAME] of a study file as a Space. Mistakes become findings with lines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinemorph.errors import OptionWarning, Problem
from kinemorph.formats.toml.parts import Parts
from kinemorph.formats.toml.values import At
from kinemorph.model import units
from kinemorph.model.input_reader import short
from kinemorph.studies.spaces.parts import Choice, Part
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.spaces.space_checks import option_remarks, space_problems
from kinemorph.studies.study_files import study_fields as rows
from kinemorph.words import listed

MODEL = "model"  # the part whose choices are model files
# remedies in the words of a study file, by the key that is wrong; those of a Space are in the words of Python
REMEDIES = {
    "low": "Correct the numbers; choices = [value] is a fixed value.",
    "deviation": "Raise it; choices = [value] is a fixed value.",
    "points": 'Write points = 5, or design = "sobol" and count = 1024 in [space].',
    "count": "Write count = 1024.",
    "design": 'Write values = [...], or design = "latin" and count = 1000 in [space].',
    "values": "Write values = [1.0, 2.0].",
    "choices": 'Write choices = ["a", "b"] with different printable texts.',
    "parts": "Write [space.parts.NAME] with a range, values or choices.",
}


class SpaceReader:
    """Reads the space of one study file."""

    def __init__(self, tables: Parts) -> None:
        self.tables, self.values = tables, tables.values
        self.values.forms |= {"choices": self._choices, "when": self._when}
        self._forms: dict[str, str] = {}  # of parts by name: the key that gives its values
        self._part = ""  # the part that is being read

    def read(self, raw: Any, usual: Mapping[str, Any]) -> Space | None:
        """The space of the table [space]; None if it has errors. `usual` has defaults of its design and count."""
        at = At(("space",), "space", "")
        before = self.values.error_count
        read = {**usual, **self.values.table(raw, at, rows.SPACE, skip=("parts",))}
        tables = raw.get("parts", {}) if isinstance(raw, dict) else {}
        if not isinstance(tables, dict):
            problem = f"parts is {short(tables)}, expected a table with one table per part"
            self.values.error("structure", at.key("parts"), problem, REMEDIES["parts"])
            tables = {}
        parts, when = {}, {}
        for name, table in tables.items():
            part, condition = self._read_part(name, table)
            parts[name] = part
            if condition:
                when[name] = condition
        if self.values.error_count > before:
            return None
        when = {name: self._with_numbers(name, condition, parts) for name, condition in when.items()}
        problems = space_problems([*parts.items()], read["design"], read.get("count"), read.get("seed", 0), when)
        for problem in problems:
            self._tell(problem)
        if problems:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptionWarning)  # they become findings
            space = Space(parts, when=when, **read)
        for remark in option_remarks(space.parts, space.design, space.count, space.seed):
            self.values.warn("data", self._place(remark), remark.what, remark.remedy)
        return space

    def _read_part(self, name: str, raw: Any) -> tuple[Any, dict[str, Any]]:
        """The part of a table and its condition; None for a part with errors, which are recorded."""
        at = At(("space", "parts", name), f"part '{name}'", "")
        before = self.values.error_count
        self._part = name
        read = self.values.table(raw, at, rows.PART)
        condition = read.pop("when", {})
        forms = [key for key in read if key in rows.PART_FORMS]
        if self.values.error_count == before and len(forms) != 1:
            found = f"has {listed(forms)} together" if forms else "has no values"
            problem = f"it {found}, expected exactly one of {listed(rows.PART_FORMS)}"
            self.values.error("structure", at, problem, "Write one of these keys.")
        if self.values.error_count > before:
            return None, {}
        (key,) = forms
        form = rows.PART_FORMS[key]
        more = {name: value for name, value in read.items() if name != key}
        for other in more:
            if other not in form.more:
                problem = f"the key '{other}' has no meaning beside {key}, expected {listed(form.more)} or nothing"
                self.values.error("unknown", at.key(other), problem, "Remove it.")
        if self.values.error_count > before:
            return None, {}
        self._forms[name] = key
        return form.make(read[key], **more), condition

    def _choices(self, raw: Any, at: At, field: Any) -> Part | None:
        """Choices, from a list of texts and numbers, or from a table with a value for each label."""
        if isinstance(raw, list):
            for i, item in enumerate(raw):
                if not isinstance(item, (str, int, float)):
                    problem = f"{at.key(i).what} is {short(item)}, expected a text or a number"
                    self.values.error("structure", at.key(i), problem, "Write labels: { label = value, ... }.")
                    return None
            if raw and all(isinstance(item, str) and units.is_quantity(item) for item in raw):
                problem = f"choices are texts, so {short(raw[0])} is no number here"
                self.values.warn("unit", at, problem, "Write values = [...] for numbers.")
            if self._part == MODEL:
                return Choice({item: self._model(item, at.key(i)) for i, item in enumerate(raw)})
            return Choice(*raw)
        if not isinstance(raw, dict):
            problem = f"{at.what} is {short(raw)}, expected a list, or a table with a value for each label"
            self.values.error("structure", at, problem, 'Write ["a", "b"].')
            return None
        return Choice({label: self._labeled(value, at.key(label)) for label, value in raw.items()})

    def _labeled(self, raw: Any, at: At) -> Any:
        """The value behind a label: an element from a table, a number, or a text; of the part "model", a file."""
        if isinstance(raw, dict):
            return self.tables.element(self._part, raw, at)
        if self._part == MODEL:
            return self._model(raw, at)
        return raw if isinstance(raw, (bool, str)) and not units.is_quantity(str(raw)) else self.values.literal(raw, at)

    def _model(self, raw: Any, at: At) -> Path:
        return model_path(self.tables, self.values.text(raw, at), at)

    def _when(self, raw: Any, at: At, field: Any) -> dict[str, Any]:
        """A condition: values of other parts by name, each one value or a list."""
        if not isinstance(raw, dict):
            problem = f"{at.what} is {short(raw)}, expected a table of values of other parts"
            self.values.error("structure", at, problem, 'Write when = { gait = "wave" }.')
            return {}
        return {name: self._wanted(value, at.key(name)) for name, value in raw.items()}

    def _wanted(self, raw: Any, at: At) -> Any:
        if isinstance(raw, list):
            return [self._wanted(item, at.key(i)) for i, item in enumerate(raw)]
        if isinstance(raw, (str, bool, int, float)):
            return raw
        self.values.error("structure", at, f"{at.what} is {short(raw)}, expected a text or a number", "Write one.")
        return ""

    def _with_numbers(self, name: str, condition: dict[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
        """A condition in which quantities are numbers, where they are values of a part that has numbers."""
        found = dict(condition)
        for other, wanted in condition.items():
            part, at = parts.get(other), At(("space", "parts", name, "when", other), f"part '{name}'", other)
            if isinstance(part, Part) and not part.labels:
                values = wanted if isinstance(wanted, list) else [wanted]
                found[other] = [
                    self.values.literal(value, at) if isinstance(value, str) and units.is_quantity(value) else value
                    for value in values
                ]
        return found

    # ── problems of the whole space ───────────────────────────────────────────────────────────────────────────────

    def _tell(self, problem: Problem) -> None:
        """Records a problem of the space, with a remedy in the words of a study file."""
        remedy = REMEDIES.get(str(problem.key), problem.remedy)
        self.values.error(problem.rule, self._place(problem), problem.what, remedy)

    def _place(self, problem: Problem) -> At:
        """Where the file says what a problem is about."""
        if problem.kind != "part":
            return At(("space", problem.key), "space", "")
        path = ("space", "parts", problem.name)
        given = self.values.lines.has((*path, problem.key))
        return At((*path, problem.key if given else self._forms.get(problem.name, "")), f"part '{problem.name}'", "")


def model_path(tables: Parts, name: str, at: At) -> Path:
    """The path of a model file that a study file names, relative to its folder. A missing file gives a finding."""
    path = (tables.source.folder or Path()) / name
    what = at.what.strip()
    if name.endswith(".py"):
        problem = f"{what} is {short(name)}, but a study file never runs Python code"
        tables.values.error("path", at, problem, "Name a model file, or call kinemorph.studies.sweep from Python.")
    elif name and not path.is_file():
        problem = f"{what} names the file {short(name)}, which does not exist"
        tables.values.error("path", at, problem, "Correct the name; it is relative to the folder of the study file.")
    return path
