"""Reads and writes the hybrid automaton of a system: the tables [phases.*], [edges.*] and [automaton].

Phases have the order of the file; runs begin in the first one unless [automaton] names another.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from functools import partial
from typing import Any

from kinemorph.errors import ModelError, Problem
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml.lines import Path
from kinemorph.formats.toml.values import At, Values
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.input_reader import short
from kinemorph.words import quoted

TABLES = {"phases": Phase, "edges": Edge}
KeyLine = Callable[[Path, str], int]  # the line of a key of the part at a path


def read_automaton(data: dict[str, Any], values: Values, blueprint: Blueprint, key_line: KeyLine) -> None:
    """Reads the automaton of a document into a blueprint; a document without phases has none."""
    if data.keys().isdisjoint((*TABLES, "automaton")):
        return
    parts = {key: _parts(key, data.get(key, {}), values, blueprint, key_line) for key in TABLES}
    at = At(("automaton",), "automaton", "")
    blueprint.keys["automaton", ""] = partial(key_line, at.path)
    before = values.error_count
    read = values.table(data.get("automaton", {}), at, rows.AUTOMATON)
    if not data.get("phases"):
        given = quoted([key for key in ("edges", "automaton") if key in data])
        problem = f"the file has {given}, but no phases; expected at least one"
        values.error("structure", At((next(iter(parts)),), "automaton", ""), problem, "Write [phases.NAME].")
    if values.findings.failed or values.error_count > before:
        return
    try:
        made = Automaton(tuple(parts["phases"]), tuple(parts["edges"]), **read)
    except ModelError as error:
        for message in error.problems:
            blueprint.report("error", Problem.of(message))
        return
    blueprint.automaton = made.knowing(values.names)


def _parts(key: str, table: Any, values: Values, blueprint: Blueprint, key_line: KeyLine) -> list[Any]:
    """The phases or the edges of a document, as its section `key` lists them."""
    if not isinstance(table, dict):
        problem = f"'{key}' is {short(table)}, expected a table with one table per name"
        values.error("structure", At((key,), "", ""), problem, f"Write [{key}.NAME] and its keys below.")
        return []
    found = []
    for name, raw in table.items():
        at = At((key, name), f"{rows.WORDS[key]} '{name}'", "")
        blueprint.keys[rows.WORDS[key], name] = partial(key_line, at.path)
        blueprint.lines[rows.WORDS[key], name] = values.lines.line(at.path)
        before = values.error_count
        read = values.table(raw, at, rows.TABLES[key])
        for field in rows.TABLES[key] if isinstance(raw, dict) else ():
            if field.form == "texts" and field.name in raw:
                read[field.name] = _texts(raw[field.name], at.key(field.name), values)
        made = None if values.error_count > before else values.made(TABLES[key], {"name": name, **read}, at)
        found += [] if made is None else [made]
    return found


def _texts(raw: Any, at: At, values: Values) -> tuple[tuple[str, str], ...]:
    """A table of names and texts as pairs; plain numbers are texts too."""
    if not isinstance(raw, dict):
        problem = f"{at.what} is {short(raw)}, expected a table from names to texts"
        values.error("structure", at, problem, 'Write { name = "text" }.')
        return ()
    plain = {name: repr(float(one)) if type(one) in (int, float) else one for name, one in raw.items()}
    return tuple((name, values.text(one, at.key(name))) for name, one in plain.items())


def writable(automaton: Automaton | None, written: Container[str], findings: Findings) -> Automaton | None:
    """The automaton as a file can express it; None, with a warning, where an edge has a Python function.

    Phases name only the elements that are `written` (names); of the others a warning has told already.
    """
    if automaton is None:
        return None
    for edge in automaton.edges:
        for key in ("guard", "when", "reset"):
            if callable(getattr(edge, key)):
                problem = f"its {key} is a Python function, which a file cannot contain, so all phases are left out"
                findings.warn("dropped", 0, f"edge '{edge.name}'", problem, "Write it as a text.")
                return None
    phases = [
        replace(phase, elements=tuple(name for name in phase.elements if name in written)) for phase in automaton.phases
    ]
    return replace(automaton, phases=tuple(phases), known=automaton.brief().known)
