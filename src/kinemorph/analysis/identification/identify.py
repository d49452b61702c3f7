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
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.covariances import correlation_time, lengths, sandwich, score_sums
from kinemorph.analysis.identification.cutoffs import chosen_cutoff
from kinemorph.analysis.identification.estimators import Estimate, Task, estimated
from kinemorph.analysis.identification.feasible.conditions import Plane
from kinemorph.analysis.identification.feasible.feasible_parameters import feasible_parameters
from kinemorph.analysis.identification.identified import Identified, error_of, predicted
from kinemorph.analysis.identification.information import Block, Information, gathered
from kinemorph.analysis.identification.misfits import far_masses, misfit, unexplained
from kinemorph.analysis.identification.rates import Rates, ZeroPhase, with_rates
from kinemorph.analysis.identification.read_recording import Target, read_recording
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.recording_checks import bad_predictions, check_recording
from kinemorph.analysis.identification.rows import FORMS, Rows, torque_rows
from kinemorph.analysis.identification.runs.moments import Moments
from kinemorph.analysis.identification.shares import data_shares
from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.analysis.identification.unknowns import Known, Unknowns, unknowns
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import RecordingWarning, ShapeError, users_level
from kinemorph.mechanics.recursions.regressors import OF_VELOCITY
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.system import System
from kinemorph.words import listed

FRICTION = ("viscous", "coulomb", "offset")
PRIOR = 0.1  # the default weight of the model's values
MASSES = 0.3  # the default deviation of the model's masses, relative to them
LEAST_ROWS = 2  # rows for each parameter that forces depend on
MOST_SPREAD = 4.0  # the largest correction of a covariance for the number of parameters
ROUNDING = 1e-10  # singular values that are smaller, relative to the largest, are zero
EXACT = ("offset", "coulomb")  # parts whose columns have no errors

Data = Recording | str | Path
Solver = Callable[[Array, Array], Array]


def identify(
    model: Robot | System,
    data: Data | Sequence[Data],
    *,
    validate: Data | Sequence[Data] = (),
    columns: Mapping[str, Target] | None = None,
    units: Mapping[str, str] | None = None,
    rates: Rates | None = None,
    form: str = "torques",
    channels: Sequence[str] | None = None,
    friction: Sequence[str] = FRICTION,
    armature: bool = False,
    known: Known | None = None,
    mass_deviation: float | None = MASSES,
    method: str = "weighted",
    options: Mapping[str, Any] | None = None,
    prior: float = PRIOR,
    physical: bool = True,
    mirrored: Mapping[str, str] | None = None,
    plane: Plane = "xz",
    shapes: Mapping[str, Shape] | None = None,
    confidence: float = 0.95,
) -> Identified:
    """Identifies masses, inertias and friction of a robot from recordings of its motions and forces.

    `data`         recordings, or files of them; `columns` and `units` as in `read_recording`
    `validate`     other recordings, whose forces are predicted
    `rates`        how velocities and accelerations are found: ZeroPhase, Periodic or Measured
    `form`         what is balanced: "torques"; "momentum", which needs no accelerations; or "wrenches" through joints
    `channels`     the names of the velocities whose forces were measured, or of the joints whose wrenches were; all
                   forces by default, or the wrench of a free base
    `friction`     which parts of friction are identified: "viscous", "coulomb", "offset"
    `armature`     whether the armatures of joints are identified, too; otherwise they have the model's values
    `known`        values that are known, by name: {"hand.m": 0.73}, or {"hand.m": (0.73, 0.02)} with a deviation
    `mass_deviation`   the standard deviation of the model's masses, relative to them; None to trust masses as little
                   as all other values of the model
    `method`       "ordinary", "weighted", "robust", "total", or "instrumental", which needs the controllers and
                   references of the recorded robot in the model; `options` are those of the method
    `prior`        the weight of the model's values, which decide where data leave parameters open: a moment of a body
                   that differs from the model by as much as itself costs as much as `prior` residuals of one standard
                   deviation; 0 for none, which needs physical=False
    `physical`     whether parameters have to be those of real bodies: every body has a mass distribution, and friction
                   and armatures are not negative. `mirrored`, `plane` and `shapes` as in
                   `feasible_parameters`
    `confidence`   the probability with which intervals hold the true values
    """
    system = model if isinstance(model, System) else System(model)
    _check_numbers(prior, confidence, physical, mass_deviation)
    dynamics = derive(system)  # with the rotors of motors
    if form not in FORMS:
        raise ShapeError(f"form is '{form}'; expected one of {', '.join(FORMS)}.")
    rows = FORMS[form](dynamics, channels)
    shown = torque_rows(dynamics, channels) if form == "momentum" else rows
    some = shown if channels is not None or form == "wrenches" else None
    wanted = unknowns(dynamics, system_parameters(system), friction, armature, known or {}, mass_deviation, rows=some)
    notes = _taken_as_known(wanted, known or {})

    def read(one: Data) -> Recording:
        if not isinstance(one, Recording):
            return read_recording(one, system.robot, columns, units=units)
        check_recording(one, system.robot)
        return one

    used = [read(one) for one in _listed(data)]
    if not used:
        raise ShapeError("identify: no recording is given. Give at least one.")
    cutoff, why = chosen_cutoff(rows, wanted, system.robot, used, rates)

    def prepared(one: Recording) -> Recording:
        found = with_rates(one, system.robot, rates, needs=rows.needs, cutoff=cutoff)
        notes.append(found.note)
        return found.recording

    notes += [why] if why else []
    recordings = [prepared(one) for one in used]
    others = [prepared(read(one)) for one in _listed(validate)]
    passes = Passes(rows, recordings, wanted)
    info = passes.information
    _check_rows(info, wanted)
    D = wanted.trust(info)
    quick = _free_solver(wanted, D, prior)
    failures: list[str] = []
    limits = {"mirrored": mirrored, "plane": plane, "shapes": shapes}
    solve = _feasible_solver(wanted, system, prior, limits, failures) if physical else quick
    solve, quick = (_with_measurements(one, wanted) for one in (solve, quick))
    task = passes.task(solve, quick)
    if method == "instrumental":
        from kinemorph.analysis.identification.runs.instrumental import instruments

        task = task._replace(instruments=instruments(system, rows, wanted, recordings))
    estimate = estimated(task, method, options or {})
    spread = _spread(passes, estimate, wanted.trust(info, estimate.theta) if physical else D, prior)
    fits, validation = (
        tuple(predicted(rows, one, passes.whole(estimate.theta)) for one in group) for group in (recordings, others)
    )
    failures += bad_predictions(error_of(fits), [(one.name, one.error) for one in validation])
    feasible = _with_measurements(_feasible_solver(wanted, system, prior, limits, []), wanted)

    def shares_of(some: Sequence[Recording]) -> Array:
        part = Passes(rows, some, wanted)
        theta = estimated(part.task(feasible if physical else quick, quick), "weighted", {}).theta
        return unexplained([predicted(rows, one, part.whole(theta)) for one in some])[0]

    def refiltered() -> list[Recording]:
        own, _ = chosen_cutoff(rows, wanted, system.robot, used, ZeroPhase())
        return [with_rates(one, system.robot, ZeroPhase(), cutoff=own).recording for one in used]

    told = misfit(rows, wanted, system.robot, recordings, fits, shares_of, None if cutoff else refiltered)
    failures += [one for one in (told, far_masses(wanted.columns, estimate.theta, wanted.nominal)) if one]
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
        fits=fits,
        validation=validation,
        method=method,
        prior=prior,
        confidence=confidence,
        quantile=_quantile(confidence, freedoms, spread.summed),
        notes=(*notes, *failures),
        rows=rows,
        rates=rates,
        cutoff=cutoff,
    )
    for failure in failures:
        warnings.warn(f"identify: {failure}", RecordingWarning, stacklevel=users_level())
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


def _taken_as_known(wanted: Unknowns, given: Known) -> list[str]:
    """Sentences that name what has the model's value without being given as known: armatures, and parts of friction."""
    found = []
    for part in OF_VELOCITY:
        taken = {name: value for name, value in wanted.known.items() if name.endswith(f".{part}") and name not in given}
        some = [f"{name} = {value:.4g}" for name, value in taken.items() if value != 0.0]
        if taken:
            values = listed(some, 4) if some else "0 for all joints"
            remedy = "armature=True" if part == "armature" else f"'{part}' in friction="
            found.append(f"{part} is not identified, it has the model's values ({values}); {remedy} identifies it")
    return found


def _check_numbers(prior: float, confidence: float, physical: bool, mass_deviation: float | None) -> None:
    if mass_deviation is not None and not (np.isfinite(mass_deviation) and mass_deviation > 0.0):
        raise ShapeError(f"mass_deviation is {mass_deviation:g}; expected a positive share, such as 0.3, or None.")
    if not (np.isfinite(prior) and prior >= 0.0):
        raise ShapeError(f"prior is {prior:g}; expected a weight of 0 or more.")
    if physical and prior == 0.0:
        raise ShapeError(
            "prior is 0, but parameters of real bodies need a weight above 0, such as 1e-3, for what no force shows. "
            "Give one, or physical=False."
        )
    if not 0.0 < confidence < 1.0:
        raise ShapeError(f"confidence is {confidence:g}; expected a probability between 0 and 1, such as 0.95.")


def _check_rows(info: Information, wanted: Unknowns) -> None:
    count, needed = int(info.rows().sum()), LEAST_ROWS * len(wanted.base)
    if count < needed:
        raise ShapeError(
            f"the recordings have {count} measured forces in all, but {len(wanted.base)} base parameters are unknown; "
            f"expected at least {needed}. Record longer, or give some parameters as known."
        )


def _quantile(confidence: float, freedoms: float, summed: float) -> float:
    """The quantile of Student's distribution for an interval to both sides, wider for covariances of long sums.

    `summed` is b, the length of the sums of scores as a share of the samples. With Bartlett's weights the 95 % interval
    has 1.96 + 2.9694 b + 0.4160 b^2 - 0.5324 b^3 deviations to either side (Kiefer & Vogelsang 2005).
    """
    from scipy.special import stdtrit  # `scipy.stats` takes a second to import

    wider = 1.0 + (2.9694 * summed + 0.4160 * summed**2 - 0.5324 * summed**3) / 1.96
    return float(stdtrit(freedoms, 0.5 * (1.0 + confidence))) * wider


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

    def task(self, solve: Solver, quick: Solver) -> Task:
        """What estimators work on."""
        info, base = self.information, self.wanted.base
        freedoms = len(base) * info.rows() / info.rows().sum()
        exact = tuple(k for k, name in enumerate(self.wanted.columns) if name.rpartition(".")[2] in EXACT)
        return Task(info, solve, quick, self.residuals, self.reweighted, freedoms, exact, base.combinations)

    def residuals(self, theta: Array) -> list[Array]:
        """The residuals of each channel, over all recordings."""
        values = self.whole(theta)
        rows = self.rows
        every = [y - rows.forces(Y, values) for recording in self.recordings for Y, y in rows.blocks(recording)]
        return list(np.concatenate(every).T)

    def reweighted(self, weights: list[Array]) -> Information:
        """The information of rows that are multiplied by the roots of weights."""

        def blocks() -> Iterator[Block]:
            start = 0
            for recording in self.recordings:
                for Y, y in self.rows.blocks(recording):
                    roots = np.sqrt(np.stack([one[start : start + len(y)] for one in weights], axis=1))
                    start += len(y)
                    yield [Y_c * root[:, None] for Y_c, root in zip(Y, roots.T, strict=True)], y * roots

        rows = self.rows
        return gathered(rows.columns, rows.channels, blocks(), dependent=rows.dependent, maps=rows.maps).without(
            self.wanted.known
        )

    def scores(self, recording: Recording, start: int, estimate: Estimate) -> Iterator[Array]:
        """Blocks of the scores Y^T w r / deviation^2 of the samples of a recording, shape (b, unknowns).

        `start` is the number of samples in the recordings before, for the weights of a robust estimate.
        """
        values, inverse = self.whole(estimate.theta), estimate.deviations**-2.0
        sums = estimate.information if isinstance(estimate.information, Moments) else None
        every = ((Y, y, Y) for Y, y in self.rows.blocks(recording))
        if sums is not None:
            simulated = self.rows.blocks(sums.recordings[self.recordings.index(recording)])
            every = ((*block, Z) for block, (Z, _) in zip(self.rows.blocks(recording), simulated, strict=True))
        for Y, y, Z in every:
            r = (y - self.rows.forces(Y, values)) * inverse
            if estimate.weights is not None:
                r = r * np.stack([one[start : start + len(y)] for one in estimate.weights], axis=1)
            start += len(y)
            found = self.rows.powers(Z, r)[:, self._chosen]
            yield found if sums is None else found @ sums.scores_of(estimate.deviations)


# ── solving, and the spread of the solution ───────────────────────────────────────────────────────────────────────────


def _free_solver(wanted: Unknowns, D: Array, prior: float) -> Solver:
    """(R, z) -> the parameters that minimize |R theta - z|^2 + prior |D (theta - nominal)|^2, of whatever sign.

    Without a prior, directions that no row sees have the model's values.
    """
    nominal, free = wanted.nominal, wanted.free
    T = np.linalg.qr(D[:, free])[1]
    trusted = np.sqrt(prior) * D

    def solve(R: Array, z: Array) -> Array:
        rows = np.concatenate([R, trusted])
        right = np.append(z - R @ nominal, np.zeros(len(D)))
        W = scipy.linalg.solve_triangular(T, rows[:, free].T, trans="T").T
        found = np.array(nominal)
        found[free] += scipy.linalg.solve_triangular(T, np.linalg.lstsq(W, right, rcond=ROUNDING)[0])
        return found

    return solve


def _with_measurements(solve: Solver, wanted: Unknowns) -> Solver:
    """The solver with the rows of what is known approximately below those of the data."""
    E, e = wanted.measurements()
    return lambda R, z: solve(np.concatenate([R, E]), np.append(z, e))


def _feasible_solver(
    wanted: Unknowns, system: System, prior: float, limits: Mapping[str, Any], said: list[str]
) -> Solver:
    """(R, z) -> the best parameters of real bodies, by `feasible_parameters`; what fails is added to `said`."""
    values = dict(zip(wanted.columns, wanted.nominal.tolist(), strict=True))

    def solve(R: Array, z: Array) -> Array:
        found = feasible_parameters(
            R, z, wanted.columns, system, weight=prior, prior=values, known=wanted.fixed, **limits
        )
        said[:] = [found.failure] if found.failure else []
        return found.values

    return solve


class Spread(NamedTuple):
    """The covariance of an estimate (n, n), the shares of the data in parameters (n,) and in base parameters (k,), the
    number of independent residuals, and the length of sums of scores as a share of all samples.
    """

    covariance: Array
    shares: Array
    base_shares: Array
    independent: float
    summed: float


def _spread(passes: Passes, estimate: Estimate, D: Array, prior: float) -> Spread:
    """The covariance of the parameters, with Newey and West's sums of scores, and the prior as a measurement."""
    residuals = passes.residuals(estimate.theta)
    counts = [len(passes.rows.times(recording)) for recording in passes.recordings]
    ends = np.cumsum([0, *counts])
    times = [max(correlation_time(one[first:last]) for one in residuals) for first, last in pairwise(ends)]
    sums = lengths(times, counts)
    parts = [
        (length, passes.scores(recording, int(start), estimate))
        for length, recording, start in zip(sums, passes.recordings, ends, strict=False)
    ]
    n, free, K = len(passes.wanted.columns), passes.wanted.free, passes.wanted.base.combinations
    S = score_sums(parts, n)
    independent = float(sum(len(residuals) * count / time for count, time in zip(counts, times, strict=True)))
    S *= min(MOST_SPREAD, independent / max(independent - len(K), 1.0))
    R = np.sqrt(estimate.stretch) * estimate.information.weighted(estimate.deviations)[0][:, free]
    trusted = np.concatenate([np.sqrt(prior) * D, passes.wanted.measurements()[0]])[:, free]
    whole = S[np.ix_(free, free)] + trusted.T @ trusted
    covariance = np.zeros((n, n))
    covariance[np.ix_(free, free)] = sandwich(np.concatenate([R, trusted]), whole, D[:, free])
    if prior == 0.0:  # a prior so light that all that data see is theirs
        trusted = np.concatenate([trusted, ROUNDING * np.linalg.norm(R) / np.linalg.norm(D) * D[:, free]])
    curvature = trusted.T @ trusted
    shares = np.zeros(n)
    shares[free] = data_shares(R, curvature, np.eye(len(free)))
    summed = (max(sums) - 1) / sum(counts)
    return Spread(covariance, shares, data_shares(R, curvature, K[:, free]), independent, summed)
