"""What a system has to show: its robot, elements, phases, mobility, starts and planned runs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

from kinemorph.analysis.loops.mobility import mobility
from kinemorph.display.tables.element_tables import element_parts
from kinemorph.display.tables.phase_tables import phase_parts
from kinemorph.formats import FORMATS
from kinemorph.formats.loading import Examination
from kinemorph.model.conventions.statement import convention_table, conventions
from kinemorph.model.parameter import parameters_of
from kinemorph.model.run_plans import RunPlan
from kinemorph.model.sheets.robot_sheet import Row, body_parts, named_parts, robot_data, robot_facts
from kinemorph.model.system import Settings, System
from kinemorph.sheet import Facts, Field, Note, Part, Pose, Sheet, Table, hidden, shown

STARTS = shown("start", "q", "v", "x", "m", "u", "time")
RUNS = shown("run", "options of simulate")


def system_sheet(system: System) -> Sheet:
    """All that is known about a system without a computation."""
    robot, kind = system.robot, "System" if system.members else "Robot"
    parts: list[Part] = [
        Facts(system_facts(system)),
        *element_parts(system),
        *phase_parts(system.automaton),
        *body_parts(robot),
        *named_parts(robot, parameters_of(system.elements)),
        *_start_parts(system),
        *robot_data(robot),
        Pose(system, None, robot.name),
    ]
    return Sheet(kind, robot.name, parts, key="robot")


def info_sheet(system: System, examination: Examination | None = None, path: str = "") -> Sheet:
    """A system with its mobility, the conventions of all numbers, and the file that it was read from, if any."""
    sheet, file, read = system_sheet(system), None, Facts(())
    if examination is not None:
        file = {"path": path, "format": FORMATS[examination.format].title, "warnings": len(examination.warnings)}
        rows = [(Field("", head, form="name"), file[key]) for key, head in (("path", "file"), ("format", "format"))]
        read = Facts([*rows, (Field("", "warnings"), file["warnings"] or None)])
    docked = "`kinemorph assemble` lists the modules and how they are docked." if system.assembly else ""
    stated = {topic.replace(" ", "_"): text for topic, text in conventions().items()}
    added = (*_mobility_parts(system), Note(docked, "note"), convention_table())
    parts = (read, *sheet.parts, *added, hidden(file=file), hidden(conventions=stated))
    return Sheet(sheet.kind, sheet.name, parts, sheet.key)


def system_facts(system: System) -> list[Row]:
    """The sizes of a system, and how long its runs are where it says so."""
    settings, modules = system.settings, _modules(system)
    rows = [*robot_facts(system.robot), (Field("", "elements"), len(system.elements) or None)]
    if modules:
        rows += [
            (Field("", "modules", form="name"), [f"{count} {kind}" for kind, count in modules["kinds"].items()]),
            (Field("", "dockings"), modules["docked"]),
            (Field("", "base module", form="name"), modules["base"]),
        ]
    if settings != Settings():
        step = settings.max_step if math.isfinite(settings.max_step) else None
        rows += [
            (Field("", "time of a run", "s"), settings.time),
            (Field("", "time between samples", "s"), settings.sample),
            (Field("", "longest step", "s"), step),
        ]
    return rows


def _modules(system: System) -> dict[str, Any]:
    """The kinds and numbers of modules; empty for a robot without modules."""
    assembly = system.assembly
    if assembly is None:
        return {}
    kinds = Counter(module.type.name for module in assembly.modules)
    return {"kinds": kinds, "docked": len(assembly.dockings), "base": assembly.base}


def _start_parts(system: System) -> list[Part]:
    """Where runs begin, the planned runs, and for programs the settings."""
    settings = asdict(system.settings) if system.settings != Settings() else {}
    if not math.isfinite(system.settings.max_step):  # JSON has no infinity
        settings.pop("max_step", None)
    usual = asdict(RunPlan())
    runs = {
        name: {key: value for key, value in asdict(plan).items() if value != usual[key]}
        for name, plan in system.runs.items()
    }
    starts = {
        name: {key: value for key, value in asdict(start).items() if value} for name, start in system.starts.items()
    }
    begun = {"by default": {key: settings[key] for key in "qv" if settings.get(key)}} | starts
    rows = [(name, *(_told(one.get(key, ())) for key in "qvxmu"), _time(one)) for name, one in begun.items() if one]
    planned = [
        (name, ", ".join(f"{key} {_told(value)}" for key, value in run.items()) or "the defaults of simulate")
        for name, run in runs.items()
    ]
    return [
        Table("", STARTS, rows, "Where runs begin"),
        Table("", RUNS, planned, "Planned runs"),
        *([hidden(modules=_modules(system))] if system.assembly else []),
        hidden(settings=settings, starts=starts, runs=runs),
    ]


def _time(start: dict[str, Any]) -> str:
    return f"{start['t']:g} s" if "t" in start else ""


def _told(value: Any) -> str:
    """A value of a start or a run as text: numbers in order or by name, rows, names."""
    if isinstance(value, dict):
        return " ".join(f"{key} {_told(one)}" for key, one in value.items() if one is not None)
    if isinstance(value, (list, tuple)):
        return " ".join(map(_told, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _mobility_parts(system: System) -> list[Part]:
    """The degrees of freedom with closed loops, and all constraints; only data where there are none."""
    found = mobility(system)
    if not found.rows:
        return [hidden(mobility=None)]
    _, _, facts, constraints, _ = found.sheet().parts
    assert isinstance(facts, Facts) and isinstance(constraints, Table)
    return [
        Facts([(one._replace(key=""), value) for one, value in facts.rows]),
        Note("" if found.closed else "The loops do not close.", "warning"),
        replace(constraints, key=""),
        hidden(mobility=found.sheet().data()),
    ]
