"""Optimized designs as plain data and as tables."""

from __future__ import annotations

import math
import textwrap

from kinemorph.analysis.optimizing.optimized import Optimized
from kinemorph.display.faces.grid import Data, Facts, Parts, grid_of

WIDTH = 100  # characters per line of a wrapped sentence


def optimization_summary(found: Optimized) -> Data:
    """An optimized design as data: what was chosen, its cost, and its conditions."""
    names = [one.name for one in found.unknowns.each]
    ranges = {one.name: one for one in found.unknowns.each}
    return {
        "name": found.name,
        "found": found.found,
        "at": found.at,
        "search": found.search,
        "cost": _number(found.cost),
        "values": [
            {"name": name, "value": found.values[name], "lower": ranges[name].lower, "upper": ranges[name].upper}
            for name in names
        ],
        "conditions": [
            {"name": name, "value": _number(value), "margin": _number(found.margins[name])}
            for name, value in found.conditions.items()
        ],
        "iterations": found.iterations,
        "designs": len(found.history.costs),
        "message": found.message,
    }


def optimization_tables(data: Data) -> Parts:
    """The tables of the command `optimize`, from the data of `optimization_summary`."""
    rows = [("result", textwrap.fill(data["message"], WIDTH))]
    rows += [("cost", f"{data['cost']:.10g}")] if data["cost"] is not None else []
    columns = {"name": "{name}", "value": "{value:.8g}", "lower": "{lower:g}", "upper": "{upper:g}"}
    parts: Parts = [Facts(rows), grid_of("chosen", data["values"], columns, ("value", "lower", "upper"))]
    known = [row for row in data["conditions"] if row["value"] is not None]
    if known:
        columns = {"condition": "{name}", "value": "{value:.8g}", "margin": "{margin:.3g}"}
        parts = [*parts, grid_of("conditions", known, columns, ("value", "margin"))]
    return parts


def _number(value: float) -> float | None:
    """A finite number; None for others, which JSON does not have."""
    return value if math.isfinite(value) else None
