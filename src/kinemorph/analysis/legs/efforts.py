"""Efforts: the torques of the controlled joints of each leg, beside the position errors that make them.

The effort of a leg is the sum of squares of its joint torques, tau^T tau [N^2 m^2]; the position error is that of PD
and PID controllers, reference minus measured coordinate. Table 1 of Nelson and Quinn has these two numbers for
standing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.legs.limbs import Feet, drives_of, limbs, plant_of_run
from kinemorph.errors import ModelError
from kinemorph.model.elements.control.controllers import PD, PID
from kinemorph.model.elements.control.wiring import choices, measured
from kinemorph.model.parameter import evaluate
from kinemorph.simulation.results.trajectory import Trajectory


@dataclass(frozen=True)
class LegEffort:
    """The means over time of one leg.

    `effort` is the sum of squared torques of its joints [N^2 m^2], `error` the mean magnitude of the position errors of
    its controlled joints [rad]; NaN where no PD or PID controller moves a joint of this leg.
    """

    leg: str
    effort: float
    error: float


def efforts(run: Trajectory, feet: Feet = None, *, after: float = 0.0) -> dict[str, LegEffort]:
    """The mean effort and the mean position error of each leg of a run, from the time `after` [s] to its end.

    `feet` names the contacts of the feet as in `stances`. Means are by the trapezoidal rule over the samples.
    """
    plant, robot = plant_of_run(run, "efforts", after)
    chosen = run.t >= after
    if np.count_nonzero(chosen) < 2:
        raise ModelError(f"efforts: after is {after:g} s and the run ends at {run.t[-1]:g} s. Choose an earlier time.")
    t, errors = run.t[chosen], position_errors(run)
    found, signals = {}, drives_of(robot, plant.elements)
    for leg in limbs(robot, plant.elements, feet):
        names = [name for joint in leg.joints for name in robot.joint(joint).v_names]
        torques = [np.sum([run[one] for one in signals[name]], axis=0)[chosen] for name in names if name in signals]
        off = [np.abs(errors[joint][chosen]) for joint in (*leg.joints, *names) if joint in errors]
        effort = _mean(t, sum((torque**2 for torque in torques), np.zeros(len(t))))
        found[leg.name] = LegEffort(leg.name, effort, float(np.mean([_mean(t, one) for one in off])) if off else np.nan)
    return found


def position_errors(run: Trajectory) -> dict[str, Array]:
    """For each joint or coordinate of a PD or PID controller, reference minus measured value at all samples, (n,)."""
    found: dict[str, Array] = {}
    for element in run.segments[0].plant.elements:
        if isinstance(element, PD | PID) and element.joints:
            for joint, signal, target in zip(element.joints, measured(element), choices(element), strict=True):
                found[joint] = _followed(run, target) - run[signal]
    return found


def _followed(run: Trajectory, target: Any) -> Array:
    """The values of a reference at all samples: a number, or the first of several columns that exists."""
    if isinstance(target, str):
        return run[next(name for name in target.split("|") if name in run.columns)]
    return np.full(len(run.t), float(evaluate(target)))


def _mean(t: Array, values: Array) -> float:
    return float(np.trapezoid(values, t) / (t[-1] - t[0]))
