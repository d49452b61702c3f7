"""`Identified`: the result of `identify`, and `Prediction`: forces that it predicts for a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.base_parameters import BaseParameters
from kinemorph.analysis.identification.covariances import correlation_time
from kinemorph.analysis.identification.information import Information
from kinemorph.analysis.identification.rates import Rates, with_rates
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.recording_checks import check_recording
from kinemorph.analysis.identification.rows import Rows
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.sheet import Facts, Field, Note, Part, Sheet, Table, attributes, fields, hidden, named, said
from kinemorph.shown import ShownIdentification
from kinemorph.words import listed

OPEN = 0.5  # a parameter of which data have a smaller share is determined by the model's value
METHODS = {
    "ordinary": "ordinary least squares",
    "weighted": "weighted least squares",
    "robust": "robust least squares",
    "total": "total least squares",
    "instrumental": "instrumental variables",
}
UNUSED = "Recordings that were not used: error of the predicted forces"
FACTS = (
    Field("method", "method", form=METHODS),
    Field("prior", "weight of the prior"),
    Field("", "recordings"),
    *fields("error"),
    Field("", "parameters"),
    Field("", "combinations of them that forces show"),
)
CHANNELS = (
    *named("channel", "name"),
    Field("rows", "samples"),
    Field("error", "error", form=".2%"),
    Field("deviation", "standard deviation", "N m, N", 4),
    Field("correlation_time", "correlation", "samples", ".1f"),
)
ENDS = (*named("value"), Field("lower", "from", form=4), Field("upper", "to", form=4))
PARAMETERS = (*named("parameter", "name"), *ENDS, *named("model"), *fields("data_share"))
BASE = (*ENDS, *fields("data_share combination"))


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Forces that identified parameters predict for the motion of a recording.

    `name`         the recording
    `channels`     the names of the forces, such as "tau.elbow"
    `t`            times [s], shape (n,)
    `measured`     forces [N m or N], shape (n, channels)
    `predicted`    the same forces as the parameters predict them
    """

    name: str
    channels: tuple[str, ...]
    t: Array
    measured: Array
    predicted: Array

    @cached_property
    def errors(self) -> dict[str, float]:
        """For each channel the norm of the error over all samples, relative to the norm of the measured force."""
        norms = np.linalg.norm(self.measured, axis=0)
        found = np.linalg.norm(self.residuals, axis=0) / np.where(norms > 0.0, norms, 1.0)
        return dict(zip(self.channels, found.tolist(), strict=True))

    @property
    def error(self) -> float:
        """The norm of the errors of all channels and samples, relative to that of all measured forces."""
        norm = float(np.linalg.norm(self.measured))
        return float(np.linalg.norm(self.residuals)) / (norm or 1.0)

    @property
    def residuals(self) -> Array:
        """Measured minus predicted forces, shape (n, channels)."""
        return self.measured - self.predicted

    def data(self) -> dict[str, Any]:
        """The errors, for programs."""
        return {"recording": self.name, "samples": len(self.t), "error": self.error, "errors": self.errors}

    def __repr__(self) -> str:
        return f"<Prediction of '{self.name}': {100.0 * self.error:.2f} % of the norm of all forces>"


@dataclass(frozen=True, eq=False, repr=False)
class Identified(ShownIdentification):
    """Parameters of a robot that recordings determine.

    `system`         the model that was given
    `columns`        the names of the n identified parameters
    `theta`          their values, shape (n,), in SI units
    `nominal`        the values of the model that was given, shape (n,)
    `covariance`     of theta, shape (n, n); it counts that residuals are coloured, and the spread of the prior
    `shares`         shape (n,): the share of the data in each value, between 0 (the model's value) and 1
    `known`          the values of parameters that were not identified, by name
    `base`           the combinations of parameters that the measured forces depend on
    `base_shares`    the share of the data in each base parameter, shape (k,)
    `information`    what the recordings say about the parameters
    `deviations`     the standard deviation of the residuals of each channel [N m or N]
    `fits`           measured and predicted forces of the recordings that were used
    `validation`     measured and predicted forces of other recordings
    `method`         the estimator; `prior` the weight of the model's values
    `quantile`       the number of standard deviations to either side that `intervals` have
    `notes`          how rates were found, and what was noticed
    `cutoff`         of the filter [Hz], where it was chosen by the forces of the recordings
    """

    system: System
    columns: tuple[str, ...]
    theta: Array
    nominal: Array
    covariance: Array
    shares: Array
    known: Mapping[str, float]
    base: BaseParameters
    base_shares: Array
    information: Information
    deviations: Mapping[str, float]
    fits: tuple[Prediction, ...]
    validation: tuple[Prediction, ...]
    method: str
    prior: float
    confidence: float
    quantile: float
    notes: tuple[str, ...]
    rows: Rows
    rates: Rates | None
    cutoff: float | None = None

    def __repr__(self) -> str:
        return (
            f"<Identified '{self.robot.name}': {len(self.columns)} parameters, {len(self.base)} combinations seen by "
            f"forces, error {100.0 * self.error:.2f} %>"
        )

    @property
    def robot(self) -> Robot:
        """The robot that was given."""
        return self.system.robot

    @cached_property
    def values(self) -> dict[str, float]:
        """The identified parameters by name."""
        return dict(zip(self.columns, self.theta.tolist(), strict=True))

    @cached_property
    def standard_deviations(self) -> dict[str, float]:
        """The standard deviation of each identified parameter."""
        return dict(zip(self.columns, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The interval of each parameter that holds its true value with the probability `confidence`."""
        spread = self.quantile * np.sqrt(np.diag(self.covariance))
        pairs = zip((self.theta - spread).tolist(), (self.theta + spread).tolist(), strict=True)
        return dict(zip(self.columns, pairs, strict=True))

    @cached_property
    def base_values(self) -> Array:
        """The values of the base parameters, shape (k,)."""
        found: Array = self.base.combinations @ self.theta
        return found

    @cached_property
    def base_deviations(self) -> Array:
        """The standard deviations of the base parameters, shape (k,)."""
        K = self.base.combinations
        found: Array = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", K, self.covariance, K), 0.0))
        return found

    @cached_property
    def base_intervals(self) -> Array:
        """Lower and upper ends of the intervals of the base parameters, shape (k, 2)."""
        spread = self.quantile * self.base_deviations
        return np.stack([self.base_values - spread, self.base_values + spread], axis=1)

    @property
    def undetermined(self) -> tuple[str, ...]:
        """The base parameters that the model's values determine more than the data do."""
        return tuple(name for name, share in zip(self.base.names, self.base_shares, strict=True) if share < OPEN)

    @property
    def error(self) -> float:
        """The norm of all residuals of the recordings that were used, relative to that of the measured forces."""
        return error_of(self.fits)

    @property
    def errors(self) -> dict[str, float]:
        """For each channel the norm of its residuals, relative to the norm of the measured force."""
        norms = self.information.norms()
        found = np.sqrt(self.information.squares(self.theta)) / np.where(norms > 0.0, norms, 1.0)
        return dict(zip(self.deviations, found.tolist(), strict=True))

    @cached_property
    def correlation_times(self) -> dict[str, float]:
        """The correlation time of the residuals of each channel, in samples: 1 where they are independent."""
        return {
            name: max(correlation_time(fit.residuals[:, k]) for fit in self.fits)
            for k, name in enumerate(self.deviations)
        }

    @cached_property
    def model(self) -> System:
        """The system with the identified parameters: masses, inertias, armatures and friction."""
        from kinemorph.analysis.identification.with_parameters import with_parameters

        return with_parameters(self.system, self.values)

    def predict(self, recording: Recording, *, rates: Rates | None = None) -> Prediction:
        """The forces that the parameters predict for the motion of another recording.

        `rates` says how its velocities and accelerations are found; by default as in the identification.
        """
        check_recording(recording, self.robot)
        method = rates or self.rates
        prepared = with_rates(recording, self.robot, method, needs=self.rows.needs, cutoff=self.cutoff)
        return predicted(self.rows, prepared.recording, self.all_values)

    @cached_property
    def all_values(self) -> Array:
        """The values of all columns of the rows, identified or known, in their order."""
        every = {**self.known, **self.values}
        return np.array([every[name] for name in self.rows.columns])

    def sheet(self) -> Sheet:
        """How well forces are predicted, and the parameters with their intervals and the share of the data in them."""
        facts = (self.method, self.prior, len(self.fits), self.error, len(self.columns), len(self.base))
        errors, times = self.errors, self.correlation_times
        channels = [
            (one.name, one.rows, errors[one.name], self.deviations[one.name], times[one.name])
            for one in self.information.channels
        ]
        ends = [self.intervals[name] for name in self.columns]
        parameters = zip(self.columns, self.theta, *zip(*ends, strict=True), self.nominal, self.shares, strict=True)
        base = zip(self.base_values, *self.base_intervals.T, self.base_shares, self.base.names, strict=True)
        unused = (CHANNELS[0], *(Field("", said("{name}", name=one.name), form=".2%") for one in self.validation))
        rows = [(name, *(one.errors[name] for one in self.validation)) for name in errors]
        rows.append(("all", *(one.error for one in self.validation)))
        open_ones = said(
            "The model determines these rather than the data: {names}.", names=listed(self.undetermined, 6)
        )
        between = said("True values are within the intervals with a probability of {p} %.", p=100.0 * self.confidence)
        parts: list[Part] = [
            Facts(tuple(zip(FACTS, facts, strict=True))),
            Table("channels", CHANNELS, channels, "Residuals"),
            Table(
                "",
                unused,
                rows if self.validation else (),
                UNUSED,
            ),
            Table("parameters", PARAMETERS, list(parameters), "Parameters in SI units", between),
            Table("base_parameters", BASE, list(base), "Base parameters: all that forces show"),
            *((Note(open_ones),) if self.undetermined else ()),
            *(Note(note, "note") for note in self.notes),
            attributes(self, "confidence undetermined notes"),
            hidden(validation=[one.data() for one in self.validation]),
        ]
        return Sheet("Identified parameters of", self.robot.name, parts, "robot")


def error_of(fits: Sequence[Prediction]) -> float:
    """The error of several predictions together, relative to the norm of all their measured forces."""
    errors = sum(float(np.sum(fit.residuals**2)) for fit in fits)
    forces = sum(float(np.sum(fit.measured**2)) for fit in fits)
    return float(np.sqrt(errors / forces)) if forces > 0.0 else 0.0


def predicted(rows: Rows, recording: Recording, values: Array) -> Prediction:
    """The forces of rows for values of all their columns; `recording` has v and a."""
    y, found = [], []
    for Y, measured in rows.blocks(recording):
        y.append(measured)
        found.append(rows.forces(Y, values))
    return Prediction(recording.name, rows.channels, rows.times(recording), np.concatenate(y), np.concatenate(found))
