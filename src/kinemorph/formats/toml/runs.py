"""The tables [runs.NAME] and [starts.NAME] of a TOML file, read as `RunPlan` and `Start` and written from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from kinemorph.errors import ModelError, Problem
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.toml import fields as rows
from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.values import At, Values
from kinemorph.model.elements.fields import Field
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot
from kinemorph.model.run_plans import RunPlan
from kinemorph.model.starts import Start, given_numbers
from kinemorph.model.units import kind_called
from kinemorph.words import listed

R = TypeVar("R", RunPlan, Start)


def read_runs(data: Mapping[str, Any], values: Values, blueprint: Blueprint) -> None:
    """Reads all run plans of a document, when the robot is complete; mistakes are recorded as findings."""
    _read_named("runs", data, values, blueprint, read_plan, blueprint.runs)


def read_starts(data: Mapping[str, Any], values: Values, blueprint: Blueprint) -> None:
    """Reads all starts of a document, when the robot is complete; mistakes are recorded as findings."""
    _read_named("starts", data, values, blueprint, _start, blueprint.starts)


def _read_named(
    key: str,
    data: Mapping[str, Any],
    values: Values,
    blueprint: Blueprint,
    made: Callable[[Any, At, Values, Robot], R | None],
    into: dict[str, R],
) -> None:
    """Reads the tables [key.NAME] of a document by `made` and puts the records `into` a dict by name."""
    table, word, view = data.get(key, {}), rows.WORDS[key], blueprint.findings
    if not isinstance(table, dict):
        problem = f"'{key}' is {short(table)}, expected a table with one table per name"
        values.error("structure", At((key,), "", ""), problem, f"Write [{key}.NAME] and its keys below.")
        return

    def read(robot: Robot) -> None:
        for name, raw in table.items():
            at = At((key, name), f"{word} '{name}'", "")
            if not name.strip() or not name.isprintable():
                values.error("name", at, f"the name is {short(name)}, expected printable text", f"Rename the {word}.")
                continue
            found = made(raw, at, values, robot)
            if found is not None:
                into[name] = found
                blueprint.lines[word, name] = values.lines.line(at.path)
                blueprint.files[word, name] = view
                blueprint.keys[word, name] = partial(_line, values, at)

    if table:
        blueprint.afterwards.append(read)


def _line(values: Values, at: At, key: str) -> int:
    """The line of a key of the table at `at`; 0 if the table does not have it."""
    return values.lines.line((*at.path, key)) if values.lines.has((*at.path, key)) else 0


def _start(raw: Any, at: At, values: Values, robot: Robot) -> Start | None:
    """The start of a table; None if it has errors, which are recorded."""
    before = values.error_count
    read = values.table(raw, at, rows.START)
    if not isinstance(raw, dict):
        return None
    read |= _state(raw, at, values, robot, ("x", "m", "u"))
    return Start(**read) if values.error_count == before else None


def _state(
    raw: Mapping[str, Any], at: At, values: Values, robot: Robot | None, others: tuple[str, ...]
) -> dict[str, Any]:
    """The numbers of q, v and of the groups `others` in a table, each in order or by name."""
    read: dict[str, Any] = {}
    if robot is None:
        given = [key for key in ("q", "v", *others) if key in raw]
        return {key: named_numbers(raw[key], at.key(key), values, None, None) for key in given}
    for key, names, units in (("q", robot.q_names, robot.q_units), ("v", robot.v_names, robot.v_units)):
        if key in raw:
            kinds = [kind_called(unit) for unit in units]
            read[key] = named_numbers(raw[key], at.key(key), values, dict(zip(names, kinds, strict=True)), robot)
    for key in others:
        if key in raw:
            read[key] = named_numbers(raw[key], at.key(key), values, None, robot)
    return read


def read_plan(raw: Any, at: At, values: Values, robot: Robot | None) -> RunPlan | None:
    """The plan of a table; None if it has errors, which are recorded. Without a robot, names are checked by the run."""
    before = values.error_count
    read = values.table(raw, at, rows.RUN, skip=tuple(rows.RUN_ROWS))
    if not isinstance(raw, dict):
        return None
    for key, fields in rows.RUN_ROWS.items():
        if key in raw:
            items = values.items(raw[key], at.key(key))
            read[key] = [values.table(row, at.key(key).key(i), fields) for i, row in enumerate(items)]
    read |= _state(raw, at, values, robot, ("x", "inputs"))
    for place, name in enumerate(read.get("locked", ()) if robot is not None else ()):
        assert robot is not None
        known = (*robot.joint_names, *robot.v_names)
        if name not in known:
            problem = f"there is no joint {short(name)} to lock, expected one of {listed(robot.joint_names, 20)}"
            values.error("name", at.key("locked").key(place), problem, "Correct the name.")
    if values.error_count > before:
        return None
    try:
        return RunPlan(**read)
    except ModelError as error:
        for problem in map(Problem.of, error.problems):
            values.error("data", at.key(problem.key) if problem.key else at, problem.what, problem.remedy)
        return None


def named_numbers(
    raw: Any, at: At, values: Values, kinds: Mapping[str, str] | None, robot: Robot | None
) -> dict[str, float] | tuple[float, ...]:
    """Numbers from a list, in order, or from a table, by name. A loop-closing joint has no coordinate to name.

    `kinds` gives the kind of quantity of each known name; None if names are not known here: the run checks them.
    """
    if isinstance(raw, dict):
        closing = {loop.name for loop in robot.loops} if kinds is not None and robot is not None else set()
        for name in raw:
            if name in closing:
                problem = f"joint '{name}' closes a loop and has no coordinate, expected one of "
                problem += listed(kinds or (), 20)
                remedy = f"Leave '{name}' out: its motion follows from the other joints."
                values.error("name", at.key(name), problem, remedy)
        given = {name: value for name, value in raw.items() if name not in closing}
        known = dict.fromkeys(given, "") if kinds is None else kinds
        return values.table(given, at, [Field(name, "literal", kind) for name, kind in known.items()])
    if kinds is None:
        items = values.items(raw, at)
        return tuple(values.literal(item, at.key(i)) for i, item in enumerate(items))
    items = values.items(raw, at, len(kinds))
    fields = [Field(name, "literal", kind) for name, kind in kinds.items()]
    return tuple(values.literal(item, at.key(i), row) for i, (item, row) in enumerate(zip(items, fields, strict=True)))


def start_entries(start: Start) -> dict[str, str]:
    """The keys of a start and their values as text; what has its default is left out."""
    return _entries(start, Start(), rows.START)


def run_entries(plan: RunPlan) -> dict[str, str]:
    """The keys of a plan and their values as text; what has its default is left out."""
    entries = _entries(plan, RunPlan(), rows.RUN)
    for key, fields in rows.RUN_ROWS.items():
        lines = [_row(row, fields) for row in getattr(plan, key)]
        if lines:
            entries[key] = "[\n" + "".join(f"  {line},\n" for line in lines) + "]"
    return entries


def _entries(record: R, usual: R, fields: tuple[Field, ...]) -> dict[str, str]:
    """The keys `fields` of a record and their values as text, except those that are equal in `usual`."""
    entries: dict[str, str] = {}
    for field in fields:
        value = getattr(record, field.name)
        if value == getattr(usual, field.name):
            continue
        if field.form == "state":
            numbers = given_numbers(value) or []
            entries[field.name] = (
                spell.inline({name: spell.number(x) for name, x in numbers.items()})
                if isinstance(numbers, dict)
                else spell.array(map(spell.number, numbers))
            )
        else:
            entries[field.name] = spell.FORMS[field.form](value, field)
    return entries


def _row(row: Any, fields: tuple[Field, ...]) -> str:
    """A row of docking or undocking as an inline table."""
    given = {field.name: getattr(row, field.name) for field in fields}
    return spell.inline({name: _text(value) for name, value in given.items() if value is not None})


def _text(value: Any) -> str:
    if isinstance(value, str):
        return spell.text(value)
    return str(value) if isinstance(value, int) else spell.number(value)
