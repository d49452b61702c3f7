"""`identify_payload`: mass, center of mass and inertia of a load that a robot carries, from measured forces.

The load adds ten columns to the rows of the robot. The robot itself is known, as its model says or as it was
identified; or it is unknown, and recordings without the load show what belongs to it. The load is a real body:
`feasible_parameters` finds it, with a prior that decides only what the recordings leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.feasible.feasible_parameters import feasible_parameters
from kinemorph.analysis.identification.loads.load_rows import (
    EXACT,
    FRICTION,
    Trials,
    left_out,
    listed_recordings,
    load_columns,
    trials,
)
from kinemorph.analysis.identification.rates import Rates
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.analysis.identification.with_parameters import body_with
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.parameter_functions import body_parameters
from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions.regressors import OF_VELOCITY
from kinemorph.model.body import Body
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.sheet import QUANTITIES, Facts, Note, Sheet, Table, fields, named
from kinemorph.shown import Shown
from kinemorph.words import did_you_mean, quoted

LOAD = "payload"
PRIOR = Body.sphere(LOAD, 1.0, 0.1)
ROUNDS = 4  # estimates of the deviations of the channels
COLUMNS = (*named("parameter", "name"), *named("value"), *fields("deviation data_share"))


@dataclass(frozen=True, eq=False)
class Payload(Shown):
    """The result of `identify_payload`.

    `body`          the load as a body, in the frame that it is fixed to: mass, center of mass, inertia
    `at`            the frame or body that it is fixed to
    `columns`       the names of its ten parameters, "payload.m" to "payload.Izz"
    `values`        their values [kg, kg m, kg m^2], about the origin of the frame, shape (10,)
    `deviations`    standard deviations, which count that residuals are coloured, shape (10,); infinite where the
                    recordings do not determine a value
    `data_share`    the share of the recordings in each value, shape (10,); the rest is that of the prior
    `error`         the norm of the residuals of the loaded recordings, relative to that of their forces
    `failure`       empty, or a sentence that says why there is no solution
    """

    body: Body
    at: str
    columns: tuple[str, ...]
    values: Array
    deviations: Array
    data_share: Array
    error: float
    failure: str = ""

    def __repr__(self) -> str:
        return f"<Payload at '{self.at}': {self.values[0]:.4g} kg, error {100.0 * self.error:.2f} %>"

    def sheet(self) -> Sheet:
        """The ten parameters, with their deviations and the share of the recordings in them."""
        rows = zip(self.columns, self.values, self.deviations, self.data_share, strict=True)
        title = "Parameters in SI units, in the frame that carries the load"
        note = "Where a deviation is not finite, the recordings do not determine the value."
        table = Table("parameters", COLUMNS, [*rows], title, note)
        parts = (Note(self.failure, "warning", "failure"), Facts(((QUANTITIES["error"], self.error),)), table)
        return Sheet("Payload at", self.at, parts, "at")


def identify_payload(
    model: Robot | System,
    loaded: Recording | Sequence[Recording],
    *,
    at: str,
    unloaded: Recording | Sequence[Recording] = (),
    known: Mapping[str, float] | None = None,
    prior: Body | None = None,
    weight: float = 1.0,
    friction: Sequence[str] = FRICTION,
    armature: bool = False,
    rates: Rates | None = None,
) -> Payload:
    """The body that a robot carries, fixed to the frame or body `at`, from recordings of motions and forces.

    `loaded`                recordings with the load
    `unloaded`              recordings of the same robot without it. With them, the robot's own parameters are unknown,
                            near those of the model where data leave them open; without, they are those of the model
    `known`                 known parameters of the robot, which replace those of the model, and of the load, by name:
                            {"elbow.coulomb": 1.2, "payload.m": 2.8}
    `prior`                 a body near which the load is searched where data leave it open; by default a ball of 1 kg
                            with a radius of 0.1 m. `weight` is that of the prior, as in `feasible_parameters`
    `friction`, `armature`  which parts of friction, and whether armatures, are unknown, with unloaded recordings
    `rates`                 how velocities and accelerations are found
    """
    dynamics = derive(model)
    values = system_parameters(model)
    without, with_load = (listed_recordings(one) for one in (unloaded, loaded))
    if not with_load:
        raise ModelError("identify_payload: no recording with the load is given. Give at least one.")
    given = left_out(values, friction, armature) if without else values
    given = {**given, **_known(known or {}, (*values, *load_columns(LOAD)))}
    # a body is known as a whole, or has ten unknowns with equalities
    settled = {name: x for name, x in given.items() if name in values and (not without or _of_joint(name))}
    fixed = {name: x for name, x in given.items() if name not in settled}
    several = [(one, False) for one in without] + [(one, True) for one in with_load]
    whole = trials(dynamics, at, LOAD, several, settled, gains=False, rates=rates)
    names = whole.information.columns
    body = dict(zip(load_columns(LOAD), body_parameters(prior or PRIOR), strict=True))
    deviations = np.ones(len(whole.trials[0].rows.channels))
    for _ in range(ROUNDS):
        R, z, _ = whole.information.weighted(deviations.tolist())
        found = feasible_parameters(R, z, names, dynamics.robot, weight=weight, prior={**values, **body}, known=fixed)
        deviations = _deviations(whole, found.values, len(names) - len(fixed))
    covariance, estimable = whole.covariance(found.values, deviations)
    chosen = [names.index(name) for name in load_columns(LOAD)]
    spread = np.where(estimable, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    spread[[names.index(name) for name in fixed]] = 0.0
    residuals = whole.residuals(found.values)[len(without) :]
    forces = [np.array(trial.recording.tau) for trial in whole.trials[len(without) :]]
    return Payload(
        body_with(Body(LOAD), found.values[chosen]),
        at,
        load_columns(LOAD),
        found.values[chosen],
        spread[chosen],
        found.data_share[chosen],
        float(np.linalg.norm(np.concatenate(residuals)) / max(float(np.linalg.norm(np.concatenate(forces))), 1e-300)),
        found.failure,
    )


def _known(known: Mapping[str, float], columns: Sequence[str]) -> dict[str, float]:
    """The known values as floats. Raises ModelError for unknown names and values that are no finite numbers."""
    for name, value in known.items():
        if name not in columns:
            raise ModelError(f"known: there is no parameter {quoted([name])}.{did_you_mean(name, columns)}")
        if not np.isfinite(value):
            raise ModelError(f"known: '{name}' is {value}, expected a finite number in SI units.")
    return {name: float(value) for name, value in known.items()}


def _of_joint(name: str) -> bool:
    return name.rpartition(".")[2] in OF_VELOCITY


def _deviations(whole: Trials, theta: Array, unknowns: int) -> Array:
    """The standard deviations of the channels, shape (channels,), at least EXACT of the forces."""
    left = np.concatenate(whole.residuals(theta))
    forces = np.concatenate([np.array(trial.recording.tau) for trial in whole.trials])
    share = max(1.0, left.size - unknowns) / left.size
    least = EXACT * max(float(np.abs(forces).max(initial=0.0)), 1e-300)
    found: Array = np.maximum(np.sqrt(np.mean(left**2, axis=0) / share), least)
    return found
