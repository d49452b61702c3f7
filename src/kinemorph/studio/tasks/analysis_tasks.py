"""Analyses of a model: verification, mobility, equilibrium, poles with their mode shapes and energies."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from kinemorph.display.faces.page import page_of
from kinemorph.errors import KinemorphError
from kinemorph.sheet import Sheet
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report

MOST_MODES = 60  # modes whose shapes are shown in motion


def verify_model(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """All checks of `verify` with their verdicts; `states`, `seed` and `formulation` choose what is checked."""
    from kinemorph.analysis.verification.verify import verify
    from kinemorph.deriving.dynamics import derive

    system = task_model(data)
    dynamics = derive(system.robot, data["formulation"], few_calls=True)
    found = verify(
        dynamics,
        states=data["states"],
        seed=data["seed"],
        progress=lambda name, fraction: report(name, fraction=fraction),
    )
    return _shown(found.sheet())


def count_freedoms(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """The degrees of freedom with closed loops, and the redundant rows of every loop and coupled joint."""
    from kinemorph.analysis.loops.mobility import mobility

    system = task_model(data)
    report("counting the degrees of freedom")
    return _shown(mobility(system, data["q"] or None).sheet())


def find_equilibrium(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """An equilibrium near the initial state, or near `q`; with `stable`, one that is stable."""
    from kinemorph.analysis.small_motions.equilibrium import equilibrium

    system = task_model(data)
    report("searching for an equilibrium")
    found = equilibrium(system, data["q"] or system.settings.q or None, stable=data["stable"])
    report.check()
    return _shown(found.sheet()) | {"configuration": [float(value) for value in found.q]}


def _shown(sheet: Sheet) -> dict[str, Any]:
    """The data of a sheet, and the parts that the page draws as "sheet"."""
    return sheet.data() | {"sheet": page_of(sheet)}


def plot_clusters(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """A picture of the clusters of coupled maps, as a part of the result; `maps` are arguments of `plot_clusters`."""
    from kinemorph.display.charts.plot_clusters import plot_clusters as drawn

    report("starting maps at many random values")
    with tempfile.TemporaryDirectory(prefix="kinemorph_") as folder:
        path = Path(folder) / "clusters.png"
        drawn(**data["maps"], path=path)
        report.part({"file": data["name"], "media": "image/png"}, path.read_bytes())
    return {}


def find_poles(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """The poles about the equilibrium near the initial state, with mode shapes and their energies.

    `window` are the lowest and the highest frequency to list [Hz], or null. "energies" has for each mode the shares of
    the bodies in its kinetic energy.
    """
    from kinemorph.analysis.small_motions.mode_energies import mode_energies
    from kinemorph.analysis.small_motions.poles import poles
    from kinemorph.display.painting.draw_modes import mode_caption

    system = task_model(data)
    report("linearizing about the equilibrium")
    found = poles(system, window=None if data["window"] is None else tuple(data["window"]))
    count = min(len(found), MOST_MODES)
    made = found.modes_sheet(count).data() | _shown(found.sheet())
    report("sharing the energies of modes")
    made["captions"] = [mode_caption(found, number) for number in range(1, count + 1)]
    try:
        energies = mode_energies(found)
        made["energies"] = {"parts": list(energies.parts), "shares": energies.shares[:count].tolist()}
    except KinemorphError as error:
        made["energies"] = {"parts": [], "shares": [], "reason": str(error)}
    return made
