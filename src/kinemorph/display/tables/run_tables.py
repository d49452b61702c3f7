"""The data of `run_summaries` as tables for a terminal."""

from __future__ import annotations

import textwrap
from typing import Any

from kinemorph.display.charts.runs import ENDINGS
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts, grid_of

FEW = 16  # largest number of coordinates whose last values are listed
MOST_EVENTS = 12  # largest number of events that are listed


def run_tables(data: Data) -> Parts:
    """The tables of a run: outcome, steps and time, events, last state."""
    return [_overview(data), *_events(data), *_final(data)]


def result_tables(data: Data) -> Parts:
    """The tables of a saved run: outcome, events, and the first, last and extreme values of its columns."""
    numbers = ("first", "last", "smallest", "largest")
    rows = [(row["name"], row["unit"], *(_number(row.get(name)) for name in numbers)) for row in data["columns"]]
    title = "columns" if rows else ""
    return [_overview(data), *_events(data), Grid(title, ("column", "unit", *numbers), rows, numbers)]


def _overview(data: Data) -> Facts:
    outcome, energy = data["outcome"], data["energy"]
    ended = f"{ENDINGS.get(outcome['kind'], outcome['kind'])} at t = {_number(outcome['t'])} s"
    message = textwrap.fill(outcome["message"], 100) if outcome["message"] else ""
    step = data["settings"].get("step")
    how = f"steps of {step:g} s" if step else f"rtol {data['settings'].get('rtol', 0.0) or 0.0:g}"
    rows = [
        ("run", f"{data['name']}, {_number(data['start'])} to {_number(data['end'])} s, {data['samples']:,} samples"),
        ("outcome", "\n".join(filter(None, (ended, message)))),
        *_systems(data),
        ("method", f"{data['method']}, {how}: {data['steps']:,} steps, {data['rejected']:,} rejected"),
    ]
    if data["seconds"]:  # some files do not store it
        parts = {"compile": "to derive and compile", "preparation": "to prepare", "check": "to check"}
        spent = [f"{_time(data[f'{part}_seconds'])} {what}" for part, what in parts.items()]
        rows.append(("time", ", ".join([f"{_time(data['seconds'])} to run", *spent])))
    if energy:
        most = f"kinetic energy is at most {energy['largest_kinetic']:.3g} J"
        rows.append(("energy drift", f"{energy['drift']:.2e} J in kinetic + potential - supplied + dissipated; {most}"))
    if data["loop_error"] is not None:
        rows.append(("loop error", f"{data['loop_error']:.2e} m or rad at most"))
    return Facts(rows)


def _systems(data: Data) -> list[tuple[str, str]]:
    """A line that lists the systems of a run with docking events, in order; none for a run of one system."""
    parts = data["systems"]
    lines = [
        f"{part['name']} ({part['dof']} dof) from {_number(part['start'])} to {_number(part['end'])} s"
        for part in parts[:MOST_EVENTS]
    ]
    more = [f"and {len(parts) - MOST_EVENTS} more"] if len(parts) > MOST_EVENTS else []
    return [(f"{len(parts)} systems", "\n".join([*lines, *more]))] if len(parts) > 1 else []


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1.0 else f"{1e3 * seconds:.3g} ms"


def _events(data: Data) -> Parts:
    events = data["events"]
    if not events:
        return []
    rows = [
        [_number(event["t"], 9), event["name"], event["kind"], textwrap.fill(_told(event), 60)]
        for event in events[:MOST_EVENTS]
    ]
    heads = ["t [s]", "event", "kind", "what happened"]
    if not any(row[3] for row in rows):
        heads, rows = heads[:3], [row[:3] for row in rows]
    more = [f"and {len(events) - MOST_EVENTS} more events"] if len(events) > MOST_EVENTS else []
    return [Grid("events", heads, rows, ("t [s]",)), *more]


def _told(event: Data) -> str:
    return str(event.get("told", event.get("note", "")))


def _final(data: Data) -> Parts:
    """The table of the last state; for many coordinates, a sentence with their number."""
    q, v, x = (data["final"][group] for group in ("q", "v", "x"))
    if max(len(q), len(v), len(x)) > FEW:
        return [f"the last state has {len(q)} coordinates: --json prints it, --save stores it"]
    rows = [
        (f"{group}.{row['name']}", _number(row["value"], 8), row["unit"])
        for group, part in (("q", q), ("v", v))
        for row in part
    ]
    rows += [(row["name"], _number(row["value"], 8), row["unit"]) for row in x]
    return [Grid("last state", ("", "value", "unit"), rows, ("value",))] if rows else []


def _number(value: float | None, digits: int = 5) -> str:
    return "not finite" if value is None else f"{value:.{digits}g}"


def method_tables(data: Data) -> Parts:
    """The tables of the integration methods and of the MATLAB names for them."""
    methods: dict[str, Any] = {"method": "{name}", "order": "{order}"}
    methods |= {"adaptive": lambda row: "yes" * row["adaptive"], "stiff": lambda row: "yes" * row["stiff"]}
    known = {"name": "{name}", "is here": "{method}", "because": "{why}"}
    return [
        grid_of("methods", data["methods"], methods | {"what it is": "{text}"}, ("order",)),
        grid_of("other names", data["aliases"], known),
    ]
