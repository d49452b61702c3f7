"""How far a robot goes with a gait, how well its joints follow it, and whether the distance is accurate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.model.robot import Robot
from kinemorph.sheet import Facts, Field, Sheet, Table, hidden, said
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.running.energy_check import LOOSE

NEARLY = 0.05  # share of the distance: two step sizes that agree better give the same distance
LEAST = 0.01  # [m] a shorter distance counts as this one: a robot that stays in place wobbles
JOINT = (
    Field("joint", "joint", form="name"),
    Field("smallest", "smallest", form=4),
    Field("largest", "largest", form=4),
    Field("unit", "unit", form="unit"),
    Field("off", "off at most", form=4),
    Field("effort", "largest effort", form=4),
    Field("effort_unit", "unit of effort", form="unit"),
)
GAIT, WENT = Field("", "gait", form="sentence"), Field("", "distance from its initial position", "m", 4)


def following_sheet(robot: Robot, trajectory: Trajectory, kind: str, joints: Sequence[str], pd: str) -> Sheet:
    """The sheet of a run of a robot that follows a gait, with its displacement, tracking errors and efforts.

    `kind` is the kind of gait, `joints` are the joints that follow it, and `pd` is the name of their controller.
    """
    rows = []
    for joint in joints:
        name = f"{pd}.{joint}" if len(joints) > 1 else pd
        wish, angle, effort = (np.asarray(trajectory[one]) for one in (f"gait.{joint}", f"q.{joint}", name))
        units = (trajectory.columns[one].unit for one in (f"q.{joint}", name))
        most = (np.abs(angle - wish).max(), np.abs(effort).max())
        rows.append((joint, angle.min(), angle.max(), next(units), most[0], most[1], next(units)))
    places = _displacement(robot, trajectory)
    table, distance = Table("joints", JOINT, rows), _distance(places)
    told = said("{kind}, {n} joint", "{kind}, {n} joints", n=len(joints), kind=kind)
    data = {"kind": kind, "displacement": places, "distance": distance, **table.data()}
    sheet = trajectory.sheet()
    parts = (Facts([(GAIT, told), (WENT, distance)]), replace(table, key=""), *sheet.parts, hidden(gait=data))
    return replace(sheet, parts=parts)


def _displacement(robot: Robot, trajectory: Trajectory) -> list[float]:
    """How far the root of a robot moves along each axis in a run [m]; empty if the root is fixed."""
    series = (np.asarray(trajectory[name]) for name in displacement_columns(robot))
    return [float(one[-1] - one[0]) for one in series]


def _distance(places: Sequence[float]) -> float | None:
    return float(np.linalg.norm(places)) if places and np.isfinite(places).all() else None


def finer_steps(trajectory: Trajectory) -> dict[str, Any] | None:
    """Options of `simulate` for a more accurate run: half the step size, or a tenth of loose tolerances.

    None where the tolerances of the run are tight already.
    """
    settings = trajectory.settings
    if settings["step"] is not None:
        return {"step": 0.5 * float(settings["step"])}
    if settings["rtol"] <= LOOSE:
        return None
    tenth = {name: 0.1 * float(settings[name]) for name in ("rtol", "atol")}
    return {"method": trajectory.statistics.method, **tenth}


def convergence_notes(robot: Robot, trajectory: Trajectory, finer: Trajectory) -> list[str]:
    """A sentence if the distance of a run is not accurate: in `finer`, a run with `finer_steps`, it differs."""
    went, goes = (_distance(_displacement(robot, run)) for run in (trajectory, finer))
    if went is None or goes is None or abs(went - goes) <= NEARLY * max(abs(goes), LEAST):
        return []
    settings = finer.settings
    if settings["step"] is not None:
        how, remedy = "half the step size", f"a smaller --step, such as {float(settings['step']) / 2:.2g}"
    else:
        rtol, atol = (0.1 * float(settings[name]) for name in ("rtol", "atol"))
        how = "a tenth of the tolerances"
        remedy = f"smaller ones, such as --method {finer.statistics.method} --rtol {rtol:.2g} --atol {atol:.2g}"
    return [
        f"with {how} the robot moves {goes:.4g} m instead of {went:.4g} m: the error is about "
        f"{abs(went - goes) / max(abs(goes), LEAST):.0%}; take {remedy}"
    ]


def displacement_columns(robot: Robot) -> list[str]:
    """The columns with the robot's overall position [m]: translations of a free or planar root, or virtual joints."""
    found = []
    for joint in robot.joints:
        units = dict(zip(robot.q_names, robot.q_units, strict=True))
        if joint.kind in ("free", "planar") or joint.name.startswith("virtual_"):
            found += [f"q.{name}" for name in joint.q_names if units[name] == "m"]
    return found
