"""Which joints stop at their limits in a system, and which coordinates begin or end beyond them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import LimitWarning, users_level
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements import JointLimits
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import listed

NAMED = 4  # coordinates that a sentence lists
PASSED = 1e-6  # tolerance of joint limits [m or rad]
STAYED = 0.5  # of how far a joint begins beyond its limit: one that is still that far at the end has not returned
GIVES = (  # why a joint ends beyond its limit, and what to do
    "its stop gives way that far under what presses on it",
    "Press it less, or give it a harder stop: elements.JointLimits with these joints and a larger stiffness (in an "
    "MJCF file, a shorter solreflimit).",
)
STAYS = (
    "it began beyond it, and loops, loads or too little time keep it from returning",
    "Begin within the limits: give q, or a `start` of the model.",
)
FAR = {"rad": 0.05, "m": 0.005}  # beyond a limit: a joint that ends a run farther beyond its stop gets a warning


def stopped_joints(robot: Robot, elements: Sequence[Any]) -> set[str]:
    """The names of the joints that elements stop at their limits."""
    stops = [element for element in elements if isinstance(element, JointLimits)]
    return {name for element in stops for name in law_of(element).acts_on(element, robot)}


def warn_of_stops(run: Trajectory) -> bool:
    """Warns where joints end a run far beyond limits at which they have stops; returns whether it did."""
    first, last, found = run.segments[0], run.segments[-1], []
    robot = last.robot
    if robot is None or not run.outcome.ok or not len(last.q):
        return False
    if first.robot is None or first.robot.q_names != robot.q_names:  # modules have docked
        first = last
    for joint in map(robot.joint, stopped_joints(robot, last.plant.elements)):
        values = np.array([first.q[0], last.q[-1]])[:, robot.q_slice(joint.name)].T.tolist()
        names = zip(joint.q_names, joint.table.q_units, strict=True)
        for (begun, q), (name, unit), low, high in zip(values, names, joint.lower, joint.upper, strict=True):
            before, beyond = (max(low - x, x - high) for x in (begun, q))
            if beyond > FAR.get(unit, math.inf):
                where = f"at {q:.4g} {unit}, {beyond:.3g} {unit} beyond its limit"
                found.append((beyond / FAR[unit], name, where, before > STAYED * beyond))
    if not found:
        return False
    _, worst, where, stayed = max(found)
    others = [name for _, name, *_ in found if name != worst]
    reason, advice = STAYS if stayed else GIVES
    warnings.warn(
        f"'{worst}' of '{last.plant.name}' ends the run {where}: {reason}."
        f"{f' Also beyond their limits: {listed(others, NAMED)}.' if others else ''} {advice}",
        LimitWarning,
        stacklevel=users_level(),
    )
    return True


def begun_beyond(system: System, q: Array) -> str:
    """A clause that names the coordinates that begin beyond limits with stops; empty where none does.

    `q` [m or rad] is an initial configuration, (nq,), or those of many runs, (n, nq).
    """
    places = {name: k for k, name in enumerate(system.robot.q_names)}
    stopped = stopped_joints(system.robot, system.elements)
    begun = []
    for joint in system.robot.joints if stopped else ():
        if joint.name in stopped:
            for name, low, high in zip(joint.q_names, joint.lower, joint.upper, strict=True):
                values = np.atleast_2d(q)[:, places[name]] if name in places else np.empty(0)
                if np.any((values < low - PASSED) | (values > high + PASSED)):
                    begun.append(name)
    return f"{listed(begun, NAMED)} started beyond the limits, and the stops push back at once" if begun else ""
