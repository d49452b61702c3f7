"""Loops as plain data and as tables: mobility, redundant constraint rows, and closed configurations."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from kinemorph.analysis.loops.closed_configurations import ClosedConfigurations
from kinemorph.analysis.loops.mobility import Mobility
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts, grid_of
from kinemorph.model.robot import Robot

WIDTH = 100  # characters per line of a wrapped sentence


def mobility_summary(robot: Robot, found: Mobility) -> Data:
    """The mobility of a robot as data: numbers, and the constraint rows of each loop and coupled joint."""
    return {
        "name": robot.name,
        "dof": found.dof,
        "instantaneous": found.instantaneous,
        "rank": found.rank,
        "rows": found.rows,
        "smallest": found.smallest,
        "singular": found.singular,
        "closed": found.closed,
        "independent": list(found.independent),
        "condition": found.condition if math.isfinite(found.condition) else None,
        "constraints": [
            {"name": name, "rows": count, "redundant": list(found.redundant.get(name, ()))}
            for name, count in found.constraints.items()
        ],
        "q": [{"name": name, "value": float(x)} for name, x in zip(robot.q_names, found.q, strict=True)],
        "message": found.message,
    }


def freedom_rows(data: Data) -> list[tuple[str, str]]:
    """The lines of `info` about loops: the degrees of freedom and the independent joints, from `mobility_summary`."""
    free = f"{data['dof']} with loops closed, {data['rank']} of {data['rows']} rows are independent"
    doubt = "" if data["closed"] else " (but the loops do not close)"
    lead = ", ".join(data["independent"]) or "none"
    return [("mobility", f"{free}{doubt}"), ("independent", f"{lead}  (condition {_number(data['condition'])})")]


def constraint_table(data: Data) -> Grid:
    """A table of the loops, coupled joints and elements with their numbers of constraint rows and redundant rows."""
    columns: dict[str, Any] = {"constraint": "{name}", "rows": "{rows}"}
    columns |= {"redundant": lambda row: str(len(row["redundant"])), "these": lambda row: ", ".join(row["redundant"])}
    return grid_of("constraints", data["constraints"], columns, ("rows", "redundant"))


def mobility_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT mobility`, from the data of `mobility_summary`."""
    least = "none, there are no rows" if data["smallest"] is None else f"{data['smallest']:.4g}, without units"
    rows = [
        ("mobility", textwrap.fill(data["message"], WIDTH)),
        ("degrees of freedom", str(data["dof"])),
        ("independent", f"{', '.join(data['independent']) or 'none'}  (condition {_number(data['condition'])})"),
        ("smallest singular value", least),
        ("singular", "yes" if data["singular"] else "no"),
    ]
    places = grid_of("where this was found", data["q"], {"coordinate": "{name}", "value": "{value:.10g}"}, ("value",))
    parts: Parts = [Facts(rows)]
    if data["constraints"]:
        parts.append(constraint_table(data))
    return [*parts, places]


def assembly_summary(robot: Robot, found: ClosedConfigurations) -> Data:
    """The closed configurations of a robot as data."""
    return {
        "name": robot.name,
        "complete": found.complete,
        "most": found.most,
        "held": list(found.held),
        "q_names": list(robot.q_names),
        "modes": [{"branch": mode.branch, "q": [float(x) for x in mode.q]} for mode in found],
        "message": found.message,
    }


def assembly_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT assembly`: one row for each closed configuration, one column for each
    coordinate.
    """
    columns = ["number", "branch", *data["q_names"]]
    rows = [
        [str(number), mode["branch"], *(f"{round(x, 12) + 0.0:.8g}" for x in mode["q"])]
        for number, mode in enumerate(data["modes"])
    ]
    title = f"closed configurations of {data['name']}"
    return [Grid(title, columns, rows, ["number", *data["q_names"]]), textwrap.fill(data["message"], WIDTH)]


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.3g}"
