"""Writes a `StudyPlan` as TOML that people can read well, and that is read back as the same plan."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from kinemorph.durable_files import write_whole
from kinemorph.errors import ModelError, Problem
from kinemorph.formats.findings import Findings
from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.runs import run_entries
from kinemorph.formats.toml.writer import UNITS_NOTE, element_entries, lines_of
from kinemorph.model.elements.fields import defaults_of
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.outcomes import BestRuns
from kinemorph.studies.spaces.parts import Choice, Part, is_number
from kinemorph.studies.study_files import study_fields as rows
from kinemorph.studies.study_files.study_plan import StudyPlan

Entries = dict[str, str]  # key -> text of its value


def save_study_plan(plan: StudyPlan, path: str | Path) -> Path:
    """Writes a plan as a study file and returns its path. Raises ModelError for what a file cannot contain."""
    path = Path(path)
    write_whole(path, study_text(plan, path.parent).encode())
    return path


def study_text(plan: StudyPlan, folder: str | Path = ".") -> str:
    """The text of the study file of a plan; its paths are relative to `folder`, where the file will be."""
    top: dict[str, Any] = {rows.MARK: rows.VERSION, "name": plan.name, "model": _relative(plan.model, folder)}
    top |= {"base": plan.base, "package_dirs": [_relative(one, folder) for one in plan.package_dirs] or None}
    top |= {"run": plan.run if isinstance(plan.run, str) else None, "until": plan.until}
    top |= {"store": _relative(plan.store, folder), "workers": plan.workers, "keep": plan.keep}
    top |= {"seconds": plan.seconds, "memory": plan.memory}
    entries = {name: _value(value) for name, value in top.items() if value is not None and value != ""}
    space = plan.space
    design = {"design": _value(space.design), "count": space.count, "seed": space.seed or None}
    sections = [
        f"# A study for Kinemorph. {UNITS_NOTE}\n{lines_of(entries)}",
        *([f"[run]\n{lines_of(run_entries(plan.run))}"] if isinstance(plan.run, RunPlan) else []),
        f"[space]\n{lines_of({name: str(value) for name, value in design.items() if value is not None})}",
    ]
    for name, part in space.parts.items():
        sections += _part_sections(name, part, space.conditions.get(name, {}), folder)
    if plan.measures:
        sections.append(f"[measures]\n{lines_of({name: _measure(name, text) for name, text in plan.measures.items()})}")
    for kind in rows.KINDS:
        record = getattr(plan, kind)
        if record is not None:
            sections.append(f"[{kind}]\n{lines_of({name: _value(value) for name, value in record.options.items()})}")
    return "\n".join(sections)


def _part_sections(name: str, part: Part, condition: Any, folder: str | Path) -> list[str]:
    """The tables of a part: its own, and one for each element that it may choose."""
    kind = next((key for key, form in rows.PART_FORMS.items() if isinstance(part, form.type)), None)
    if kind is None:
        raise _unwritable(
            "part", name, f"it is {type(part).__name__}, which a study file cannot contain", "Use values."
        )
    header = f"space.parts.{spell.key(name)}"
    more: list[str] = []
    if isinstance(part, Choice):
        entries, more = _choices(name, part, header, folder)
    else:
        numbers = [getattr(part, field.name) for field in fields(part) if field.name not in rows.PART_FORMS[kind].more]  # type: ignore[arg-type]
        entries = {kind: spell.array(_value(number) for number in (numbers[0] if kind == "values" else numbers))}
        usual = defaults_of(part)
        given = {key: getattr(part, key) for key in rows.PART_FORMS[kind].more}
        entries |= {key: _value(value) for key, value in given.items() if value != usual[key]}
    if condition:
        wanted = {other: [_value(value) for value in values] for other, values in condition.items()}
        entries["when"] = spell.inline({k: v[0] if len(v) == 1 else spell.array(v) for k, v in wanted.items()})
    return [f"[{header}]\n{lines_of(entries)}", *more]


def _choices(name: str, part: Choice, header: str, folder: str | Path) -> tuple[Entries, list[str]]:
    """The choices of a part: a list if they are their own labels, else a table, or tables for elements."""
    written: Entries = {}
    sections = []
    for label, value in part.objects.items():
        if isinstance(value, os.PathLike):
            written[label] = _value(_relative(Path(value), folder))
        elif isinstance(value, (str, bool)) or is_number(value):
            written[label] = _value(value)
        elif getattr(value, "name", None) == name:
            sections.append(f"[{header}.choices.{spell.key(label)}]\n{lines_of(_element(name, value))}")
        else:
            what = f"its choice '{label}' is {type(value).__name__}, which a study file cannot contain"
            remedy = "Save a model and name its file; give an element the name of its part."
            raise _unwritable("part", name, what, remedy)
    if sections and written:
        raise _unwritable("part", name, "it has elements and other choices together", "Make two parts of it.")
    if sections:
        return {}, sections
    if not part.labels:
        return {"choices": spell.array(map(_value, part.options))}, []
    plain = all(label == value for label, value in part.objects.items())
    paths = all(isinstance(value, os.PathLike) for value in part.options)
    if plain or (paths and all(spell.text(label) == text for label, text in written.items())):
        return {"choices": spell.array(map(spell.text, part.labels))}, []
    return {"choices": spell.inline(written)}, []


def _element(name: str, element: Any) -> Entries:
    """The keys of an element and their values as text."""
    findings = Findings("study")
    found = [entries for _, entries, _ in element_entries([element], findings)]
    if not found:
        raise _unwritable("part", name, findings.found[0].problem, findings.found[0].remedy)
    return found[0]


def _measure(name: str, text: Any) -> str:
    if not isinstance(text, str):
        what = f"it is {type(text).__name__}, and a study file cannot contain Python code"
        raise _unwritable("measure", name, what, "Write it as a text, such as 'q.x'.")
    return spell.text(text)


def _unwritable(kind: str, name: str, what: str, remedy: str) -> ModelError:
    return ModelError([Problem(kind, name, what, remedy)])


def _relative(path: Path | None, folder: str | Path) -> str | None:
    """A path as it is written in a file in `folder`."""
    return None if path is None else os.path.relpath(path, folder).replace(os.sep, "/")


def _value(value: Any) -> str:
    """The TOML text of a plain value."""
    if isinstance(value, BestRuns):
        return spell.inline({field.name: _value(getattr(value, field.name)) for field in fields(value)})
    if isinstance(value, dict):
        return spell.inline({name: _value(entry) for name, entry in value.items()})
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return spell.anything(value)
