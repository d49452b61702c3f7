"""Which joints stop at their limits in a system, and which coordinates begin or end beyond them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.errors import LimitWarning, users_level
from kinemorph.frozen import kept_with
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements import JointLimits
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.words import listed

Indices = npt.NDArray[np.int64]

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


class _Stops(NamedTuple):
    """The coordinates that stop at limits: their names, units and indices in q, and their limits [m or rad], (n,)."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    places: Indices
    low: Array
    high: Array
    far: Array  # beyond a limit: what is farther gets a warning


@kept_with
def _stops(plant: Plant) -> _Stops | None:
    """The stops of a plant; None where it has none."""
    robot = plant.robot
    rows: list[tuple[Any, ...]] = []
    if robot is None:
        return None
    for joint in map(robot.joint, stopped_joints(robot, plant.elements)):
        own = range(robot.nq)[robot.q_slice(joint.name)]
        rows += zip(joint.q_names, joint.table.q_units, own, joint.lower, joint.upper, strict=True)
    if not rows:
        return None
    names, units, *numbers = zip(*rows, strict=True)
    places, low, high = map(np.array, numbers)
    return _Stops(names, units, places, low, high, np.array([FAR.get(unit, math.inf) for unit in units]))


def warn_of_stops(run: Trajectory) -> bool:
    """Warns where joints end a run far beyond limits at which they have stops; returns whether it did."""
    first, last = run.segments[0], run.segments[-1]
    stops = _stops(last.plant) if run.outcome.ok and len(last.q) else None
    if stops is None:
        return False
    if first.plant.q != last.plant.q:  # modules have docked
        first = last
    begun, ended = first.q[0][stops.places], last.q[-1][stops.places]
    before, beyond = (np.maximum(stops.low - q, q - stops.high) for q in (begun, ended))
    found = np.flatnonzero(beyond > stops.far)
    if not len(found):
        return False
    worst = int(found[np.argmax(beyond[found] / stops.far[found])])
    unit, others = stops.units[worst], [stops.names[k] for k in found if k != worst]
    reason, advice = STAYS if before[worst] > STAYED * beyond[worst] else GIVES
    warnings.warn(
        f"'{stops.names[worst]}' of '{last.plant.name}' ends the run at {ended[worst]:.4g} {unit}, "
        f"{beyond[worst]:.3g} {unit} beyond its limit: {reason}."
        f"{f' Also beyond their limits: {listed(others, NAMED)}.' if others else ''} {advice}",
        LimitWarning,
        stacklevel=users_level(),
    )
    return True


def begun_beyond(plant: Plant, q: Array) -> str:
    """A clause that names the coordinates that begin beyond limits with stops; empty where none does.

    `q` [m or rad] is an initial configuration, (nq,), or those of many runs, (n, nq).
    """
    stops = _stops(plant)
    if stops is None:
        return ""
    values = np.atleast_2d(q)[:, stops.places]
    beyond = np.fmax.reduce(np.maximum(stops.low - values, values - stops.high), axis=0, initial=-math.inf)
    begun = np.flatnonzero(beyond > PASSED)
    if not len(begun):
        return ""
    worst = int(begun[np.argmax(beyond[begun] / stops.far[begun])])
    how = f"(by {'up to ' if len(begun) > 1 else ''}{beyond[worst]:.3g} {stops.units[worst]})"
    names = listed([stops.names[k] for k in begun], NAMED)
    return f"{names} started beyond the limits {how}, and the stops push back at once"
