"""Run plans and starts of a scaled system: times, tolerances of dockings, states and inputs in the new size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.model.run_plans import RunPlan, RunPlans
from kinemorph.model.scales import Scales
from kinemorph.model.starts import Numbers, Start, Starts
from kinemorph.model.system import System

EFFORTS = {"rad/s": "N m", "m/s": "N"}  # unit of the effort along a velocity
Units = Mapping[str, Mapping[str, str]]  # group -> name -> unit


def scaled_plans(system: System, scales: Scales) -> RunPlans:
    """All run plans in the new size. Raises ModelError for numbers of a plan whose units are not known."""
    units = _units(system) if system.runs else {}
    return RunPlans({name: _scaled(name, plan, units, scales) for name, plan in system.runs.items()})


def scaled_starts(system: System, scales: Scales) -> Starts:
    """All starts in the new size. Raises ModelError for numbers of a start whose units are not known."""
    units = _units(system) if system.starts else {}
    found = {}
    for name, start in system.starts.items():
        new = {group: _numbers("start", name, group, getattr(start, group), units[group], scales) for group in units}
        found[name] = Start(**new, t=scales.factor("s") * start.t)
    return Starts(found)


def _units(system: System) -> Units:
    """The units of all states and inputs by name, in order; "" where they have none."""
    robot, cast = system.robot, ensemble(system.robot, system.members)
    efforts = dict(zip(robot.v_names, (EFFORTS.get(unit, "") for unit in robot.v_units), strict=True))
    return {
        "q": dict(zip(robot.q_names, robot.q_units, strict=True)),
        "v": dict(zip(robot.v_names, robot.v_units, strict=True)),
        "x": {slot.name: slot.unit for slot in cast.states},
        "m": {slot.name: slot.unit for slot in cast.memory},
        "u": {slot.name: slot.unit for slot in cast.inputs} or efforts,
    }


def _scaled(name: str, plan: RunPlan, units: Units, scales: Scales) -> RunPlan:
    second, meter = scales.factor("s"), scales.factor("m")
    new: dict[str, Any] = {
        group: _numbers("run", name, group, getattr(plan, group), units["u" if group == "inputs" else group], scales)
        for group in ("q", "v", "x", "inputs")
    }
    for key in ("step", "max_step", "time", "output_step"):
        value = getattr(plan, key)
        new[key] = None if value is None else second * value
    new["dock"] = tuple(
        replace(
            row,
            at=None if row.at is None else second * row.at,
            distance=None if row.distance is None else meter * row.distance,
        )
        for row in plan.dock
    )
    new["undock"] = tuple(replace(row, at=second * row.at) for row in plan.undock)
    return replace(plan, **new)


def _numbers(kind: str, name: str, group: str, given: Numbers, units: Mapping[str, str], scales: Scales) -> Numbers:
    """Numbers in order or by name, each times the factor of its unit; they belong to a run or start of this name."""
    named: Any = given and isinstance(given[0], tuple)
    pairs: Any = given if named else tuple(zip(units, given, strict=False))
    unknown = [one for one, _ in pairs if one not in units]
    if unknown or len(pairs) < len(given):
        raise ModelError(
            f"{kind} '{name}': the unit of {group} '{unknown[0] if unknown else len(pairs)}' is not known, so it "
            f"cannot be scaled. Leave the {kind} out: replace(system, {kind}s={{}})."
        )
    found = tuple((one, scales.factor(units[one]) * value if units[one] else value) for one, value in pairs)
    return found if named else tuple(value for _, value in found)
