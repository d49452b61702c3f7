"""Run plans of a scaled system: times, tolerances of dockings, initial states and inputs in the new size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinemorph.errors import ModelError
from kinemorph.model.robot import Robot
from kinemorph.model.run_plans import Numbers, RunPlan, RunPlans
from kinemorph.model.scales import Scales

EFFORTS = {"rad/s": "N m", "m/s": "N"}  # unit of the effort along a velocity


def scaled_plans(plans: Mapping[str, RunPlan], robot: Robot, scales: Scales) -> RunPlans:
    """All plans in the new size. Raises ModelError for numbers of a plan whose units are not known."""
    return RunPlans({name: _scaled(name, plan, robot, scales) for name, plan in plans.items()})


def _scaled(name: str, plan: RunPlan, robot: Robot, scales: Scales) -> RunPlan:
    second, meter = scales.factor("s"), scales.factor("m")
    units: dict[str, Mapping[str, str]] = {
        "q": dict(zip(robot.q_names, robot.q_units, strict=True)),
        "v": dict(zip(robot.v_names, robot.v_units, strict=True)),
        "inputs": dict(zip(robot.v_names, (EFFORTS.get(unit, "") for unit in robot.v_units), strict=True)),
        "x": {},
    }
    new: dict[str, Any] = {
        group: _numbers(name, group, getattr(plan, group), known, scales) for group, known in units.items()
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


def _numbers(run: str, group: str, given: Numbers, units: Mapping[str, str], scales: Scales) -> Numbers:
    """Numbers in order or by name, each times the factor of its unit."""
    named: Any = given and isinstance(given[0], tuple)
    pairs: Any = given if named else tuple(zip(units, given, strict=False))
    unknown = [name for name, _ in pairs if name not in units]
    if unknown or len(pairs) < len(given):
        raise ModelError(
            f"run '{run}': the unit of {group} '{unknown[0] if unknown else len(pairs)}' is not known, so it cannot be "
            "scaled. Leave the run out: replace(system, runs={})."
        )
    found = tuple((name, scales.factor(units[name]) * value if units[name] else value) for name, value in pairs)
    return found if named else tuple(value for _, value in found)
