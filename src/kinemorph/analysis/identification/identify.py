"""`identify`: masses, inertias and friction of a robot from recordings of its motions and forces.

    recordings -> rates -> rows  y = Y theta -> triangles -> estimate -> covariance -> `Identified`

Forces are linear in the parameters. What recordings say about them is a triangle for each force (`information`); an
estimator (`estimators`) finds the best parameters with the trust in the model's values (`unknowns`); their covariance
counts that residuals are coloured (`covariances`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.covariances import correlation_time, lengths, score_sums
from kinemorph.analysis.identification.estimators import Estimate, Task, estimated
from kinemorph.analysis.identification.identified import Identified, predicted
from kinemorph.analysis.identification.information import Block, Information, gathered
from kinemorph.analysis.identification.rates import Rates, with_rates
from kinemorph.analysis.identification.read_recording import Target, read_recording
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.recording_checks import check_forces, check_recording
from kinemorph.analysis.identification.rows import Rows, torque_rows
from kinemorph.analysis.identification.unknowns import Unknowns, unknowns
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import RecordingWarning, ShapeError, users_level
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import listed

FRICTION = ("viscous", "coulomb", "offset")
PRIOR = 1.0  # the default weight of the model's values
LEAST_ROWS = 2  # rows for each parameter that forces depend on
MOST_SPREAD = 4.0  # the largest correction of a covariance for the number of parameters
ROUNDING = 1e-12  # singular values that are smaller, relative to the largest, are zero
EXACT = ("offset", "coulomb")  # parts whose columns have no errors

Data = Recording | str | Path


def identify(
    model: Robot | System,
    data: Data | Sequence[Data],
    *,
    validate: Data | Sequence[Data] = (),
    columns: Mapping[str, Target] | None = None,
    units: Mapping[str, str] | None = None,
    rates: Rates | None = None,
    channels: Sequence[str] | None = None,
    friction: Sequence[str] = FRICTION,
    armature: bool = False,
    known: Mapping[str, float] | None = None,
    method: str = "weighted",
    options: Mapping[str, Any] | None = None,
    prior: float = PRIOR,
    confidence: float = 0.95,
) -> Identified:
    """Identifies masses, inertias and friction of a robot from recordings of its motions and forces.

    `data`         recordings, or files of them; `columns` and `units` as in `read_recording`
    `validate`     other recordings, whose forces are predicted
    `rates`        how velocities and accelerations are found: ZeroPhase, Periodic or Measured
    `channels`     the names of the velocities whose forces were measured; all by default
    `friction`     which parts of friction are identified: "viscous", "coulomb", "offset"
    `armature`     whether the armatures of joints are identified, too; otherwise they have the model's values
    `known`        values of parameters that are not identified, by name: {"hand.m": 0.73}
    `method`       "ordinary", "weighted", "robust" or "total"; `options` are those of the method
    `prior`        the weight of the model's values, which decide where data leave parameters open: a moment of a body
                   that differs from the model by as much as itself costs as much as `prior` residuals of one standard
                   deviation; 0 for none
    `confidence`   the probability with which intervals hold the true values
    """
    system = model if isinstance(model, System) else System(model)
    _check_numbers(prior, confidence)
    dynamics = derive(system.robot)
    wanted = unknowns(dynamics, friction, armature, known or {})
    rows = torque_rows(dynamics, channels)
    notes: list[str] = []

    def prepared(one: Data) -> Recording:
        recording = one if isinstance(one, Recording) else read_recording(one, system.robot, columns, units=units)
        if isinstance(one, Recording):
            check_recording(one, system.robot)
        found = with_rates(recording, system.robot, rates)
        notes.append(found.note)
        return found.recording

    recordings = [prepared(one) for one in _listed(data)]
    others = [prepared(one) for one in _listed(validate)]
    if not recordings:
        raise ShapeError("identify: no recording is given. Give at least one.")
    for recording in recordings:
        check_forces(recording, dynamics)
    passes = Passes(rows, recordings, wanted)
    info = passes.information
    _check_rows(info, wanted)
    D = wanted.trust(info)
    task = passes.task(_solver(wanted, D, prior))
    estimate = estimated(task, method, options or {})
    spread = _covariance(passes, estimate, D, prior)
    freedoms = max(1.0, spread.independent - len(wanted.base))
    result = Identified(
        system=system,
        columns=wanted.columns,
        theta=estimate.theta,
        nominal=wanted.nominal,
        covariance=spread.covariance,
        shares=spread.shares,
        known=wanted.known,
        base=wanted.base,
        base_shares=spread.base_shares,
        information=info,
        deviations=dict(zip(rows.channels, estimate.deviations.tolist(), strict=True)),
        fits=tuple(predicted(rows, one, passes.whole(estimate.theta)) for one in recordings),
        validation=tuple(predicted(rows, one, passes.whole(estimate.theta)) for one in others),
        method=method,
        prior=prior,
        confidence=confidence,
        quantile=_quantile(confidence, freedoms),
        notes=tuple(notes),
        rows=rows,
        rates=rates,
    )
    if result.undetermined:
        warnings.warn(
            f"identify: the motion determines {len(result.undetermined)} of {len(result.base)} base parameters less "
            f"than the model's values do: {listed(result.undetermined, 6)}. Record a motion that moves these bodies "
            "faster and in more directions (see `excite`), or trust the model there.",
            RecordingWarning,
            stacklevel=users_level(),
        )
    return result


def _listed(data: Data | Sequence[Data]) -> list[Data]:
    return [data] if isinstance(data, (Recording, str, Path)) else list(data)


def _check_numbers(prior: float, confidence: float) -> None:
    if not (np.isfinite(prior) and prior >= 0.0):
        raise ShapeError(f"prior is {prior:g}; expected a weight of 0 or more.")
    if not 0.0 < confidence < 1.0:
        raise ShapeError(f"confidence is {confidence:g}; expected a probability between 0 and 1, such as 0.95.")


def _check_rows(info: Information, wanted: Unknowns) -> None:
    count, needed = int(info.rows().sum()), LEAST_ROWS * len(wanted.base)
    if count < needed:
        raise ShapeError(
            f"the recordings have {count} measured forces in all, but {len(wanted.base)} base parameters are unknown; "
            f"expected at least {needed}. Record longer, or give some parameters as known."
        )


def _quantile(confidence: float, freedoms: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.5 * (1.0 + confidence), freedoms))


# ── passes over the recordings ────────────────────────────────────────────────────────────────────────────────────────


class Passes:
    """The recordings of an identification, which are passed over in blocks as often as an estimator asks for it."""

    def __init__(self, rows: Rows, recordings: Sequence[Recording], wanted: Unknowns) -> None:
        self.rows, self.recordings, self.wanted = rows, recordings, wanted
        self.information = rows.information(recordings).without(wanted.known)
        self._chosen = [rows.columns.index(name) for name in wanted.columns]

    def whole(self, theta: Array) -> Array:
        """The values of all columns, where the unknown ones have the values theta."""
        found = np.array([self.wanted.known.get(name, 0.0) for name in self.rows.columns])
        found[self._chosen] = theta
        return found

    def task(self, solve: Callable[[Array, Array], Array]) -> Task:
        """What estimators work on."""
        info, base = self.information, self.wanted.base
        freedoms = len(base) * info.rows() / info.rows().sum()
        exact = tuple(k for k, name in enumerate(self.wanted.columns) if name.rpartition(".")[2] in EXACT)
        return Task(info, solve, self.residuals, self.reweighted, freedoms, exact, base.combinations)

    def residuals(self, theta: Array) -> list[Array]:
        """The residuals of each channel, over all recordings."""
        values = self.whole(theta)
        every = [y - Y @ values for recording in self.recordings for Y, y in self.rows.blocks(recording)]
        return list(np.concatenate(every).T)

    def reweighted(self, weights: list[Array]) -> Information:
        """The information of rows that are multiplied by the roots of weights."""

        def blocks() -> Iterator[Block]:
            start = 0
            for recording in self.recordings:
                for Y, y in self.rows.blocks(recording):
                    roots = np.sqrt(np.stack([one[start : start + len(y)] for one in weights], axis=1))
                    start += len(y)
                    yield Y * roots[:, :, None], y * roots

        rows = self.rows
        return gathered(rows.columns, rows.channels, blocks(), dependent=rows.dependent).without(self.wanted.known)

    def scores(self, recording: Recording, start: int, estimate: Estimate) -> Iterator[Array]:
        """Blocks of the scores Y^T w r / deviation^2 of the samples of a recording, shape (b, unknowns).

        `start` is the number of samples in the recordings before, for the weights of a robust estimate.
        """
        values, inverse = self.whole(estimate.theta), estimate.deviations**-2.0
        for Y, y in self.rows.blocks(recording):
            r = (y - Y @ values) * inverse
            if estimate.weights is not None:
                r = r * np.stack([one[start : start + len(y)] for one in estimate.weights], axis=1)
            start += len(y)
            yield np.matmul(r[:, None, :], Y)[:, 0, self._chosen]


# ── solving, and the spread of the solution ───────────────────────────────────────────────────────────────────────────


def _solver(wanted: Unknowns, D: Array, prior: float) -> Callable[[Array, Array], Array]:
    """(R, z) -> the parameters that minimize |R theta - z|^2 + prior |D (theta - nominal)|^2.

    Without a prior, parameters that are not among the first of the base parameters keep the model's values.
    """
    nominal, K = wanted.nominal, wanted.base.combinations
    root = np.sqrt(prior) * D

    def solve(R: Array, z: Array) -> Array:
        if prior > 0.0:
            right = np.append(z - R @ nominal, np.zeros(len(root)))
            step: Array = np.linalg.lstsq(np.concatenate([R, root]), right, rcond=None)[0]
            return nominal + step
        found = np.array(nominal)
        Rb = R @ np.linalg.pinv(K)
        found[list(wanted.base.independent)] += np.linalg.lstsq(Rb, z - R @ nominal, rcond=None)[0]
        return found

    return solve


class Spread:
    """The covariance of an estimate, the shares of the data, and how many independent residuals there are."""

    def __init__(self, covariance: Array, shares: Array, base_shares: Array, independent: float) -> None:
        self.covariance, self.shares, self.base_shares = covariance, shares, base_shares
        self.independent = independent


def _covariance(passes: Passes, estimate: Estimate, D: Array, prior: float) -> Spread:
    """The covariance of the parameters, with Newey and West's sums of scores, and the prior as a measurement."""
    residuals = passes.residuals(estimate.theta)
    counts = [len(recording) for recording in passes.recordings]
    ends = np.cumsum([0, *counts])
    times = [max(correlation_time(one[first:last]) for one in residuals) for first, last in pairwise(ends)]
    parts = [
        (length, passes.scores(recording, int(start), estimate))
        for length, recording, start in zip(lengths(times, counts), passes.recordings, ends, strict=False)
    ]
    n, K = len(passes.wanted.columns), passes.wanted.base.combinations
    S = score_sums(parts, n)
    channels = len(residuals)
    independent = float(sum(channels * count / time for count, time in zip(counts, times, strict=True)))
    S *= min(MOST_SPREAD, independent / max(independent - len(K), 1.0))
    R = np.sqrt(estimate.stretch) * estimate.information.weighted(estimate.deviations)[0]
    if prior > 0.0:
        trusted = np.sqrt(prior) * D
        inverse = inverse_square(np.concatenate([R, trusted]))
        covariance = inverse @ (S + trusted.T @ trusted) @ inverse
        shares, base_shares = (_shares(inverse_square(trusted), inverse, rows) for rows in (np.eye(n), K))
    else:
        right, heads = np.linalg.pinv(K), list(passes.wanted.base.independent)
        inverse = inverse_square(R @ right)
        covariance, shares = np.zeros((n, n)), np.zeros(n)
        covariance[np.ix_(heads, heads)] = inverse @ (right.T @ S @ right) @ inverse
        base_shares = np.diag(inverse @ right.T @ R.T @ R @ right)
        shares[heads] = base_shares
    found = 0.5 * (covariance + covariance.T)
    return Spread(found, np.clip(shares, 0.0, 1.0), np.clip(base_shares, 0.0, 1.0), independent)


def _shares(before: Array, after: Array, rows: Array) -> Array:
    """The share of the data in the combinations rows @ theta: by how much they reduce the variance that the prior has.

    `before` and `after` are the covariances (n, n) of the prior, and of data and prior together.
    """
    prior, both = (np.einsum("ij,jk,ik->i", rows, one, rows) for one in (before, after))
    found: Array = 1.0 - both / np.where(prior > 0.0, prior, 1.0)
    return found


def inverse_square(rows: Array) -> Array:
    """The inverse of rows^T rows for rows (m, n), with columns scaled to 1; directions without rows are left out."""
    sizes = np.linalg.norm(rows, axis=0)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    _, values, axes = np.linalg.svd(rows / sizes, full_matrices=False)
    kept = values > ROUNDING * values.max(initial=0.0)
    half = axes[kept] / values[kept, None] / sizes
    found: Array = half.T @ half
    return found
