"""Exciting motions as plain data and as tables."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.analysis.identification.excitation.excitation import Excitation
from kinemorph.display.faces.grid import Data, Facts, Parts, grid_of
from kinemorph.words import counted

NEAR = 0.9  # limits of which more than this share is used are listed


def excitation_summary(found: Excitation) -> Data:
    """An exciting motion as data: figures of its information, unknowns with their deviations, and use of limits."""
    element = found.element
    return {
        "robot": found.robot.name,
        "duration": element.period,
        "harmonics": len(element.sines),
        "joints": list(element.joints),
        "offset": list(element.offset) if isinstance(element.offset, tuple) else [element.offset],
        "sines": [list(row) for row in element.sines if isinstance(row, tuple)],
        "cosines": [list(row) for row in element.cosines if isinstance(row, tuple)],
        "measured": list(found.measured),
        "samples": len(found.t) - 1,
        "log_det": found.log_det,
        "gain": found.gain,
        "draws": len(found.random),
        "unknowns": [
            {"name": name, "deviation": float(x)} for name, x in zip(found.names, found.deviations, strict=True)
        ],
        "limits": [
            {
                "name": one.name,
                "quantity": one.quantity,
                "least": one.least,
                "most": one.most,
                "lower": one.lower if math.isfinite(one.lower) else None,
                "upper": one.upper if math.isfinite(one.upper) else None,
                "share": one.share,
            }
            for one in found.limits
        ],
        "assumed": list(found.assumed),
        "steps": found.steps,
        "seconds": found.seconds,
    }


def excitation_tables(data: Data) -> Parts:
    """The tables of the command `excite`, from the data of `excitation_summary`."""
    worst = sorted(data["unknowns"], key=lambda row: -row["deviation"])[:5]
    rows = [
        ("robot", f"{data['robot']}, {counted(len(data['joints']), 'joint')} that move"),
        ("motion", f"{data['duration']:g} s, {data['harmonics']} harmonics, {data['samples']:,} samples"),
        ("unknowns", f"{len(data['unknowns'])}; log det of their information {data['log_det']:.5g}"),
        (
            "standard deviations",
            f"{data['gain']:.3g} times smaller than of the median of {data['draws']} random motions",
        ),
        ("largest of them", ", ".join(f"{row['name']} {row['deviation']:.3g}" for row in worst)),
        ("search", f"{counted(data['steps'], 'step')} in {data['seconds']:.3g} s"),
        *(("note", text) for text in data["assumed"]),
    ]
    used = [row for row in data["limits"] if row["share"] > NEAR]
    columns: dict[str, Any] = {
        "limit": "{quantity}",
        "of": "{name}",
        "least": "{least:.4g}",
        "most": "{most:.4g}",
        "lower": lambda row: "" if row["lower"] is None else f"{row['lower']:.4g}",
        "upper": lambda row: "" if row["upper"] is None else f"{row['upper']:.4g}",
        "share": lambda row: f"{100.0 * row['share']:.1f} %",
    }
    return [Facts(rows), grid_of("", used, columns, ("least", "most", "lower", "upper", "share"))]
