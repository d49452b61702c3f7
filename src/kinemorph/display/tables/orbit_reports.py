"""Motions that repeat as plain data and as tables: orbits, branches, bifurcation diagrams, basins, static gaits."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.static_gait import StaticGait
from kinemorph.analysis.orbits.basin import FELL, UNDECIDED, Basin
from kinemorph.analysis.orbits.bifurcation_diagram import BifurcationDiagram
from kinemorph.analysis.orbits.continuation import Branch
from kinemorph.analysis.orbits.periodic_orbit import Orbit
from kinemorph.analysis.orbits.return_map import ReturnMap
from kinemorph.display.faces.grid import Data, Facts, Grid, Parts, grid_of
from kinemorph.words import counted

WIDTH = 100  # characters per line of a wrapped sentence
SAME = 1e-4  # returns that differ by less than this, relative to their size, are the same
STABLE = {True: "stable", False: "not stable", None: "neutral"}


def _edges(cycle: ReturnMap) -> list[str]:
    """The names of the edges of a cycle; empty for a motion without an automaton."""
    found = getattr(cycle, "edges", None)
    return [] if found is None else list(found.edges)


def _coordinates(cycle: ReturnMap, z: Array) -> list[Data]:
    pairs = zip(cycle.columns, z, strict=True)
    return [{"name": column.name, "unit": column.unit, "value": float(value)} for column, value in pairs]


def orbit_summary(orbit: Orbit) -> Data:
    """An orbit as data: period, coordinates where its cycle begins, and multipliers."""
    multipliers = zip(orbit.multipliers, orbit.multiplier_names, strict=True)
    return {
        "name": orbit.map.name,
        "found": orbit.found,
        "stable": orbit.stable,
        "period": float(orbit.period) if orbit.found else None,
        "cycles": orbit.cycles,
        "edges": _edges(orbit.map),
        "residual": float(orbit.residual) if orbit.found else None,
        "parameters": orbit.parameters,
        "coordinates": _coordinates(orbit.map, orbit.z),
        "multipliers": [
            {"real": float(one.real), "imag": float(one.imag), "magnitude": float(abs(one)), "name": name}
            for one, name in multipliers
        ],
        "message": orbit.message,
    }


def orbit_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT orbit`, from the data of `orbit_summary`."""
    rows = [("orbit", textwrap.fill(data["message"], WIDTH))]
    if not data["found"]:
        return [Facts(rows)]
    rows += [("period", f"{data['period']:.10g}"), ("stable", STABLE[data["stable"]])]
    rows += [("edges of a cycle", ", ".join(data["edges"]))] if data["edges"] else []
    places = {"coordinate": "{name}", "value": "{value:.10g}", "unit": "{unit}"}
    columns = {"magnitude": "{magnitude:.9g}", "real": "{real:.9g}", "imaginary": "{imag:.9g}", "mostly": "{name}"}
    return [
        Facts(rows),
        grid_of("where a cycle begins", data["coordinates"], places, ("value",)),
        grid_of("multipliers", data["multipliers"], columns, ("magnitude", "real", "imaginary")),
    ]


def branch_summary(branch: Branch) -> Data:
    """A branch of orbits as data: its special points, its ends, and all orbits."""
    return {
        "name": branch.points[0].map.name,
        "parameter": branch.parameter,
        "unit": branch.unit,
        "special": [
            {
                "kind": one.kind,
                "value": float(one.value),
                "period": float(one.orbit.period),
                "coordinates": _coordinates(one.orbit.map, one.orbit.z),
            }
            for one in branch.special
        ],
        "ends": list(branch.ends),
        "orbits": [
            {
                "value": float(value),
                "period": float(orbit.period),
                "largest": float(np.abs(orbit.multipliers).max(initial=0.0)),
                "stable": orbit.stable,
                "z": [float(one) for one in orbit.z],
            }
            for value, orbit in zip(branch.values, branch.points, strict=True)
        ],
    }


def branch_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT continuation`, from the data of `branch_summary`."""
    name = f"{data['parameter']} [{data['unit']}]" if data["unit"] else data["parameter"]
    rows = [
        ("branch", f"{len(data['orbits'])} orbits along {name}"),
        ("first point", textwrap.fill(data["ends"][0], WIDTH)),
        ("last point", textwrap.fill(data["ends"][1], WIDTH)),
    ]
    special = {"kind": "{kind}", name: "{value:.10g}", "period": "{period:.9g}"}
    columns = {name: "{value:.6g}", "period": "{period:.6g}", "largest multiplier": "{largest:.6g}"}
    stable = {"stable": lambda row: STABLE[row["stable"]]}
    return [
        Facts(rows),
        grid_of("special points", data["special"], special, (name, "period")),
        grid_of("orbits", data["orbits"], {**columns, **stable}, tuple(columns)),
    ]


def diagram_summary(found: BifurcationDiagram) -> Data:
    """A bifurcation diagram as data: for each value the number of cycles after which the motion repeats, and returns.

    The number is 0 for a motion that does not repeat, and -1 for one that is lost.
    """
    periods = found.periods(SAME)
    return {
        "name": found.map.name,
        "parameter": found.parameter,
        "coordinates": [column.name for column in found.map.columns],
        "edges": _edges(found.map),
        "values": [
            {
                "value": float(value),
                "cycles": int(count),
                "z": [] if count < 0 else [[float(one) for one in row] for row in z],
                "message": found.messages.get(k, ""),
            }
            for k, (value, count, z) in enumerate(zip(found.values, periods, found.z, strict=True))
        ],
    }


def diagram_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT diagram`: ranges of values whose motions repeat after equal cycles."""
    spans: list[Data] = []
    for row in data["values"]:
        if not spans or spans[-1]["cycles"] != row["cycles"]:
            spans.append({"cycles": row["cycles"], "low": row["value"], "high": row["value"], "count": 0})
        spans[-1]["high"] = row["value"]
        spans[-1]["count"] += 1
    lost = Counter(row["message"] for row in data["values"] if row["message"])
    words = {0: "does not repeat", -1: "lost"}
    columns = {"from": "{low:.6g}", "to": "{high:.6g}", "values": "{count}"}
    repeats = {"repeats after": lambda row: words.get(row["cycles"]) or counted(row["cycles"], "cycle")}
    parts: Parts = [grid_of(f"values of {data['parameter']}", spans, {**columns, **repeats}, tuple(columns))]
    rows = [("lost", textwrap.fill(f"{count}: {why}", WIDTH)) for why, count in lost.most_common(1)]
    return [*parts, *([Facts(rows)] if rows else [])]


def basin_summary(found: Basin) -> Data:
    """A basin as data: the shares of starts, the attractors, and the label of each start."""
    return {
        "name": found.map.name,
        "cycles": found.cycles,
        "edges": _edges(found.map),
        "axes": [
            {"name": name, "values": [float(one) for one in axis]}
            for name, axis in zip(found.names, found.axes, strict=True)
        ],
        "attractors": [
            {
                "label": k,
                "cycles": len(attractor),
                "share": found.share(k),
                "coordinates": _coordinates(found.map, attractor[0]),
            }
            for k, attractor in enumerate(found.attractors, start=1)
        ],
        "undecided": found.share(UNDECIDED),
        "fell": found.share(FELL),
        "labels": found.labels.tolist(),
    }


def basin_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT basin`, from the data of `basin_summary`."""
    axes = [f"{axis['name']}, {_span(axis['values'])}" for axis in data["axes"]]
    rows = [("starts", "\n".join(axes)), ("cycles", str(data["cycles"]))]
    rows += [("undecided", f"{data['undecided']:.2%}"), ("do not return", f"{data['fell']:.2%}")]
    columns = {"attractor": "{label}", "share of starts": "{share:.2%}"}
    where = {
        "repeats after": lambda row: counted(row["cycles"], "cycle"),
        "at": lambda row: ", ".join(f"{one['name']} = {one['value']:.6g}" for one in row["coordinates"]),
    }
    table: Grid = grid_of("attractors", data["attractors"], {**columns, **where}, tuple(columns))
    return [Facts(rows), table]


def _span(values: Sequence[float]) -> str:
    return f"{len(values)} values from {values[0]:.6g} to {values[-1]:.6g}"


def static_summary(gait: StaticGait) -> Data:
    """A static gait as data: torques and foot loads of every posture, and the smallest margins."""
    motion = {name: [float(one) for one in values] for name, values in gait.motion.items()}
    torques = {name: [float(one) for one in values] for name, values in gait.torques.items()}
    loads = {name: [float(one) for one in values] for name, values in gait.loads.items()}
    return {
        "name": gait.plant.name,
        "holds": gait.holds,
        "message": gait.message,
        "motion": motion,
        "torques": torques,
        "loads": loads,
        "margins": {name: float(values.min()) for name, values in gait.margins.items()},
        "unbalanced": float(gait.unbalanced.max(initial=0.0)),
    }


def static_tables(data: Data) -> Parts:
    """The tables of the command `analyze ROBOT static`, from the data of `static_summary`."""
    rows = [("static gait", textwrap.fill(data["message"], WIDTH))]
    rows += [(f"largest torque of {name}", f"{max(map(abs, values)):.6g}") for name, values in data["torques"].items()]
    rows += [(f"smallest {name}", f"{value:.6g}") for name, value in data["margins"].items()]
    named = {**data["motion"], **{f"torque of {name}": values for name, values in data["torques"].items()}}
    named |= {f"force {name}": values for name, values in data["loads"].items()}
    count = len(next(iter(data["motion"].values())))
    postures = [{name: values[k] for name, values in named.items()} for k in range(count)]
    columns = {name: lambda row, name=name: f"{row[name]:.6g}" for name in named}
    return [Facts(rows), grid_of("postures", postures, columns, tuple(named))]
