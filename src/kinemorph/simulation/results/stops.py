"""Which joints stop at their limits, which coordinates begin or end beyond them, and feedback that stays at limits."""

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
from kinemorph.mechanics.elements.control.channels import each
from kinemorph.mechanics.elements.law import law_of
from kinemorph.model.elements import Actuator, DCMotor, JointLimits, StateFeedback
from kinemorph.model.elements.control.wiring import below
from kinemorph.model.parameter import evaluate_all
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
SHARE = 0.2  # of the time of a run: state feedback that is longer at its limits gets a warning
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
def joint_stops(plant: Plant) -> _Stops | None:
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
    stops = joint_stops(last.plant) if run.outcome.ok and len(last.q) else None
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
    stops = joint_stops(plant)
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


@kept_with
def state_feedbacks(plant: Plant) -> tuple[StateFeedback, ...]:
    """The state feedback of a plant."""
    return tuple(element for element in plant.elements if isinstance(element, StateFeedback))


def warn_of_saturation(run: Trajectory) -> bool:
    """Warns where state feedback is at limits for a large share of a run, for the worst output; whether it did."""
    plant, spans = run.segments[-1].plant, np.diff(run.t)
    parts = {element.name: element for element in plant.elements}
    values = dict(zip([column.name for column in plant.p], run.segments[-1].p.tolist(), strict=True))
    worst: tuple[Any, ...] = (SHARE,)
    for element in state_feedbacks(plant) if spans.any() else ():
        drives = law_of(element).drives(element)
        own = [each(evaluate_all(ends, values), len(drives)) for ends in (element.lower, element.upper)]
        kept = {0.0} | {float(x) for row in element.inputs for x in evaluate_all(row, values)}  # where it may idle
        for (target, channel), *limits in zip(drives.items(), *own, strict=True):
            lows, highs = zip(limits, _limits(parts.get(target)), strict=True)
            lower, upper, signal = max(lows), min(highs), below(element.name, channel).removesuffix(".")
            u = run[signal][:-1]  # each sample stands for the time until the next one
            held = (u >= upper) & (upper not in kept) | (u <= lower) & (lower not in kept)
            share = float(spans[held].sum() / spans.sum())
            worst = max(worst, (share, element.name, target, signal, lower, upper))
    if len(worst) == 1:
        return False
    share, name, target, signal, lower, upper = worst
    told = " and ".join(f"{end:.4g}" for end in (lower, upper) if math.isfinite(end))
    warnings.warn(
        f"'{name}' drives '{target}' of '{plant.name}' at its limits ({told} {run.columns[signal].unit}) for "
        f"{share:.0%} of the run: its gains do not act there. Begin nearer to the point or motion that it keeps, "
        "design it with larger weights R, or allow more.",
        LimitWarning,
        stacklevel=users_level(),
    )
    return True


def _limits(part: Any) -> tuple[float, float]:
    """The limits of what the input of a driven part can be."""
    if isinstance(part, DCMotor):
        return -part.voltage_limit, part.voltage_limit
    if isinstance(part, Actuator):
        forced = part.control == "effort" and part.activation is None  # the input is the force
        weakest, strongest = part.efforts if forced else (-math.inf, math.inf)
        return max(part.lower, weakest), min(part.upper, strongest)
    return -math.inf, math.inf
