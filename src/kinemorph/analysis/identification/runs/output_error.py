"""`output_error`: parameters with which simulated runs match recorded ones.

The residuals are measured minus simulated columns, each divided by the deviation of its noise. Gauss-Newton steps with
the damping of Levenberg and Marquardt use the exact derivatives of runs by parameters and by initial states
(`piece_runs`). The deviations are those of the residuals, and are found in turns with the parameters: this is the
maximum of the likelihood for normal noise. Noise of positions never enters a derivative, and no acceleration is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.covariances import correlation_time, lengths, score_sums
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.runs.fitted import Fitted, Prediction
from kinemorph.analysis.identification.runs.least_squares import determined, normal, triangles, without_each
from kinemorph.analysis.identification.runs.outputs import Outputs
from kinemorph.analysis.identification.runs.parametrized import FREE, parametrized, with_values
from kinemorph.analysis.identification.runs.piece_runs import FailedRun, PieceRuns
from kinemorph.analysis.identification.runs.pieces import Between, Piece, cut, measured_names
from kinemorph.analysis.identification.runs.transformations import Transformation, transformation
from kinemorph.analysis.small_motions.plant_derivatives import slopes_of
from kinemorph.analysis.small_motions.start_slopes import Start
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.stepping.step_options import StepOptions, longest_step, step_options

MOST = 60  # runs of all pieces
SETTLED = 1e-4  # [deviations] the distance from the best parameters at which steps end
NEAR = 1e-2  # [deviations] the distance that is good enough where steps do not gain any more
STILL = 1e-9  # a step of the variables that is shorter changes nothing
ROOM = 4_000_000  # numbers that the derivatives of one batch of pieces may take
PATIENT, LOST = 1e-3, 1e9  # the first damping, and that at which no better parameters are near
ENTRY, WORTH = 4, 0.3  # first steps of initial states alone, and the share of squares that makes one worth it
LEAST_PIECES = 8  # from so many pieces on, deviations come from leaving out one after the other
NOISELESS = 1e-11  # the least deviation, relative to the range of a column

Initial = Literal["estimated", "recorded"]


def output_error(
    model: Robot | System,
    recordings: Recording | Sequence[Recording],
    parameters: str | Sequence[str] | Mapping[str, float],
    *,
    measured: Sequence[str] | None = None,
    deviations: Mapping[str, float] | None = None,
    piece: float | None = None,
    initial: Initial = "estimated",
    between: Between = "held",
    free: Sequence[str] = (),
    bounds: Mapping[str, tuple[float, float]] | None = None,
    method: str | Method = "dormand_prince",
    step: float | None = None,
    rtol: float = 1e-7,
    atol: float = 1e-9,
) -> Fitted:
    """Finds parameters of a robot and its elements with which simulated runs match recordings.

        fitted = output_error(system, recording, ["motor.R", "motor.K", "elbow.coulomb"], piece=0.5)
        fitted["motor.R"], fitted.interval("motor.R"), fitted.model, fitted.predict(other)

    Every run has the inputs u of its recording: those in `Recording.inputs` by name, and for a robot without motors the
    forces `Recording.tau`. Controllers of the system act on the simulated motion; recorded forces are then not used.

    `parameters`   names of Parameters of the robot and its elements, or of regressor columns such as "forearm.m" and
                   "elbow.viscous"; "all" for every Parameter of the model. A dict gives values to begin with
    `measured`     the columns that are compared: "q", "v", "q.elbow", or names in `Recording.outputs`, which are states
                   or outputs of elements. By default the configuration and all else that every recording has
    `deviations`   the noise of measured columns, by name; by default it is found with the parameters
    `piece`        recordings are cut into pieces of about this length [s], each with an initial state of its own, so
                   that unstable motions can be compared; None leaves them whole
    `initial`      "estimated" finds the initial state of each piece; "recorded" trusts the recorded q and v
    `between`      "held" if an input keeps its value up to the next sample, as commands of digital controllers do;
                   "linear" if it changes linearly, as a measured force does
    `free`         parameters that may change their sign; all others keep that of their first value, unless it is 0
    `bounds`       (low, high) of parameters, by name

    The other arguments are those of `simulate`. Where steps end without having found the best parameters, the result
    says so in `message`.
    """
    system, found = parametrized(model, parameters)
    names = [one.name for one in found]
    free = [*free, *(name for name in names if name.rpartition(".")[2] in FREE and name not in (bounds or {}))]
    scales = transformation(names, np.array([one.value for one in found]), free, bounds or {})
    kept = [recordings] if isinstance(recordings, Recording) else list(recordings)
    plant = shared_plant(system, parameters=names)
    if initial not in ("estimated", "recorded"):
        raise ShapeError(f"initial is {initial!r}; expected 'estimated' or 'recorded'.")
    if piece is not None and plant.ticks:
        raise UnsupportedError(
            f"'{plant.name}' has controllers that sample, whose memory within a recording is not known; piece is "
            f"{piece:g} s. Leave piece out: recordings are then simulated from their beginning."
        )
    steps = step_options(plant, method, step, rtol, atol, longest_step(system, None, step))
    task = Task.of(plant, names, kept, Choices(measured, piece, initial, between, steps))
    return _fitted(task, scales, _given(task, deviations), system, [one.unit for one in found])


def _given(task: Task, deviations: Mapping[str, float] | None) -> Array | None:
    """The deviations of the columns that the user gave, shape (c,)."""
    if deviations is None:
        return None
    wrong = sorted(set(deviations) ^ set(task.outputs.names))
    if wrong:
        raise ShapeError(f"deviations: '{wrong[0]}' is unknown or missing. Measured: {', '.join(task.outputs.names)}.")
    values = np.array([deviations[name] for name in task.outputs.names], dtype=float)
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise ShapeError(f"deviations are {values}; expected one positive number for each measured column.")
    return values


# ── runs through pieces ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class At:
    """The runs of all pieces for one set of parameters and initial states.

    `p`            all parameters of the plant, shape (np,)
    `starts`       the initial state of each piece, and `slopes` its derivatives (k, ns)
    `triangles`    of the rows of each piece, (c, d, d); see `least_squares`
    `squares`      sums of squared residuals of each column, shape (c,)
    """

    p: Array
    starts: list[Start]
    slopes: list[Array]
    triangles: list[Array]
    squares: Array


class Choices(NamedTuple):
    """How recordings are compared with runs; see `output_error`."""

    measured: Sequence[str] | None
    longest: float | None
    initial: Initial
    between: Between
    steps: StepOptions


@dataclass(frozen=True, eq=False)
class Task:
    """Pieces of recordings and the runs that are compared with them."""

    recordings: tuple[Recording, ...]
    pieces: list[Piece]
    plant: Plant
    runs: PieceRuns
    outputs: Outputs
    initial: tuple[tuple[str, ...], ...]  # names of the unknown initial values of each piece
    counts: Array  # samples of each column, shape (c,)
    choices: Choices

    @classmethod
    def of(
        cls,
        plant: Plant,
        names: Sequence[str],
        recordings: Sequence[Recording],
        choices: Choices,
    ) -> Task:
        """The task of a plant that keeps the parameters `names`."""
        columns = measured_names(recordings, plant, choices.measured)
        pieces = cut(recordings, plant, columns, choices.longest, choices.between)
        first = PieceRuns(plant, names, 0, choices.steps)
        p = plant.initial("p")
        unknown: list[tuple[str, ...]] = [() for _ in pieces]
        if choices.initial == "estimated":
            unknown = [first.start(one, one.q[0], one.v, one.x, p).names("all") for one in pieces]
        count = len(unknown[0])
        counts = np.full(len(columns), float(sum(len(one.t) for one in pieces)))
        least = len(names) + count * len(pieces)
        if counts.sum() <= least:
            raise ShapeError(
                f"the recordings have {counts.sum():.0f} measured numbers, and {least} numbers are unknown: "
                f"{len(names)} parameters and {count} initial values of each of {len(pieces)} pieces. Record longer, "
                "or make pieces longer."
            )
        runs = first if count == 0 else PieceRuns(plant, names, count, choices.steps)
        outputs = Outputs(plant, columns, names)
        return cls(tuple(recordings), pieces, plant, runs, outputs, tuple(unknown), counts, choices)

    def other(self, recordings: Sequence[Recording]) -> Task:
        """The task of finding the initial states of other recordings."""
        return Task.of(self.plant, (), recordings, self.choices)

    @property
    def groups(self) -> Iterator[list[int]]:
        """The indices of pieces that are simulated together, so that memory stays bounded."""
        width = len(self.runs.names) + len(self.initial[0])
        each = max(len(piece.t) for piece in self.pieces) * self.plant.ns * (width + 1)
        size = max(1, ROOM // each)
        for first in range(0, len(self.pieces), size):
            yield list(range(first, min(first + size, len(self.pieces))))

    def at(self, p: Array, states: Sequence[tuple[Array, Array, Array]]) -> At:
        """The runs with parameters p (np,) from initial states (q, v, x); raises FailedRun where one fails."""
        try:
            starts = [self.runs.start(piece, *state, p) for piece, state in zip(self.pieces, states, strict=True)]
            slopes = [start.slopes(self.runs.names, names) for start, names in zip(starts, self.initial, strict=True)]
        except (ShapeError, UnsupportedError) as error:
            raise FailedRun(f"an initial state does not satisfy the constraints. {error}") from None
        found, squares = [], np.zeros(len(self.outputs.names))
        bare = At(p, starts, slopes, [], squares)
        for _, r, dr in self.residuals(bare):
            found.append(triangles(r, dr, len(self.initial[0])))
            squares += np.sum(r * r, axis=0)
        return At(p, starts, slopes, found, squares)

    def residuals(self, at: At) -> Iterator[tuple[Piece, Array, Array]]:
        """Each piece with its residuals (n, c) and their derivatives (n, c, k)."""
        for group in self.groups:
            pieces = [self.pieces[k] for k in group]
            runs = self.runs.run(pieces, [at.starts[k] for k in group], [at.slopes[k] for k in group], at.p)
            for piece, run in zip(pieces, runs, strict=True):
                yield piece, *self.outputs.residuals(piece, run, at.p)

    def moved(self, at: At, dp: Array, own: Array) -> list[tuple[Array, Array, Array]]:
        """The initial states (q, v, x) after steps dp of the parameters and `own` (pieces, initial) of their values."""
        found, nv = [], self.plant.nv
        for start, slopes, change in zip(at.starts, at.slopes, own, strict=True):
            ds = np.concatenate([dp, change]) @ slopes
            point = start.point
            q = slopes_of(self.plant).place(point.q, ds) if nv else point.q
            found.append((q, point.v + ds[nv : 2 * nv], point.x + ds[2 * nv :]))
        return found

    def deviations(self, at: At) -> Array:
        """The deviations of the columns (c,) from their residuals, for all unknown numbers together."""
        unknown = len(self.runs.names) + len(self.pieces) * len(self.initial[0])
        left = self.counts * (1.0 - unknown / self.counts.sum())
        ranges = [np.ptp(piece.y, axis=0) for piece in self.pieces]
        least = NOISELESS * np.maximum(np.max(ranges, axis=0), 1.0)
        found: Array = np.maximum(np.sqrt(at.squares / left), least)
        return found


# ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class End:
    """Where steps ended: variables z (k,), runs, deviations (c,), and a sentence where this is not the optimum."""

    z: Array
    at: At
    deviations: Array
    runs: int
    message: str = ""


def _optimum(task: Task, scales: Transformation, given: Array | None, others: Array | None = None) -> End:
    """The best variables and initial states, by Gauss-Newton steps with the damping of Levenberg and Marquardt.

    `others` are the parameters p (np,) of the plant, of which only those of the task change; nominal by default.
    """
    places = [task.plant.index("p", name) for name in task.runs.names]
    z, p = scales.first, task.plant.initial("p") if others is None else others.copy()
    p[places] = scales.values(z)
    try:
        at = task.at(p, [(piece.q[0], piece.v, piece.x) for piece in task.pieces])
    except FailedRun as error:
        raise ShapeError(
            f"the runs of '{task.plant.name}' with the first values of the parameters cannot be compared: {error} "
            "Give better first values, or shorter pieces."
        ) from None
    damping, runs, entered = PATIENT, 1, 0
    deviations = task.deviations(at) if given is None else given
    while True:
        chain = scales.slopes(z)
        linear = normal([_chained(one, chain) for one in at.triangles], deviations, len(task.initial[0]))
        entering = len(z) and entered < ENTRY and len(task.initial[0])  # first guesses of initial states are rough
        step = linear.step(damping, np.zeros(len(z)) if entering else scales.limits)
        if entering and step.gain < WORTH * float(np.sum(at.squares / deviations**2)):
            entered = ENTRY
            continue
        fresh = task.deviations(at) if given is None else given
        steady = np.abs(fresh / deviations - 1.0).max() < 1e-3
        if steady and (step.gain < SETTLED**2 or np.abs(step.shared).max(initial=1.0) < STILL):
            if damping <= PATIENT:
                return End(z, at, fresh, runs)
            damping = PATIENT  # what a short step does not gain, a longer one may
            continue
        if runs >= MOST or damping > LOST:
            gain = math.sqrt(max(step.gain, 0.0))
            reason = f"after {runs} runs" if runs >= MOST else "because no step made the residuals smaller"
            return End(
                *(z, at, fresh, runs),
                f"Steps ended {reason}, about {gain:.2g} deviations from the best parameters. Give better first "
                "values, shorter pieces or fewer parameters.",
            )
        runs += 1
        z_new = z + step.shared
        p_new = p.copy()
        p_new[places] = scales.values(z_new)
        try:
            new = task.at(p_new, task.moved(at, (p_new - p)[places], step.own))
            worse = bool(np.sum(new.squares / deviations**2) > np.sum(at.squares / deviations**2) * (1.0 + 1e-12))
        except FailedRun:
            worse = True
        if worse and steady and not entering and step.gain < NEAR**2:
            return End(z, at, fresh, runs)  # errors of integration are larger than what a step can gain
        if worse:
            damping *= 10.0
            continue
        entered += 1
        z, p, at, damping = z_new, p_new, new, max(0.1 * damping, 1e-9)
        deviations = task.deviations(at) if given is None else given


def _chained(found: Array, chain: Array) -> Array:
    """The triangles (c, d, d) of [A B r] with B times dp/dz."""
    initial = found.shape[-1] - len(chain) - 1
    scale: Array = np.concatenate([np.ones(initial), chain, [1.0]])
    return found * scale


# ── results ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fitted(task: Task, scales: Transformation, given: Array | None, system: System, units: Sequence[str]) -> Fitted:
    end = _optimum(task, scales, given)
    chain = scales.slopes(end.z)
    linear = normal([_chained(one, chain) for one in end.at.triangles], end.deviations, len(task.initial[0]))
    R, _, own = linear.eliminated()
    inverse, left_open = determined(R)
    residuals: list[list[Array]] = [[] for _ in task.recordings]
    scores: list[list[Array]] = [[] for _ in task.recordings]
    for number, (piece, r, dr) in enumerate(task.residuals(end.at)):
        residuals[piece.recording].append(r)
        scores[piece.recording].append(_scores(r, dr, own[number], chain, end.deviations))
    joined = [np.concatenate(each) for each in residuals]
    times = [max(correlation_time(column) for column in each.T) for each in joined]
    pieces, unknown = len(task.pieces), len(chain) + len(task.pieces) * len(task.initial[0])
    if pieces >= max(LEAST_PIECES, len(chain)):
        covariance, freedoms = without_each(own, len(task.initial[0])), pieces - 1.0
    else:
        sizes = lengths(times, [len(one) for one in joined])
        sums = score_sums(zip(sizes, map(iter, scores), strict=True), len(chain))
        freedoms = max(1.0, float(sum(len(one) / time for one, time in zip(joined, times, strict=True))) - unknown)
        covariance = inverse @ sums @ inverse * task.counts.sum() / (task.counts.sum() - unknown)
    values = scales.values(end.z)
    names = task.runs.names
    return Fitted(
        model=with_values(system, dict(zip(names, values.tolist(), strict=True))),
        names=names,
        units=tuple(units),
        values=values,
        transformation=scales,
        variables=end.z,
        covariance=covariance,
        freedoms=freedoms,
        open_directions=left_open,
        columns=task.outputs.names,
        noise=dict(zip(task.outputs.names, np.sqrt(end.at.squares / task.counts).tolist(), strict=True)),
        residuals=tuple(joined),
        correlation_times=tuple(times),
        runs=end.runs,
        message=end.message,
        _predict=lambda recording: _prediction(task, end, recording),
    )


def _scores(r: Array, dr: Array, own: Array, chain: Array, deviations: Array) -> Array:
    """The scores of the samples of a piece, shape (n, k), once initial values are chosen best for every parameter.

    `own` is the triangle of the piece: with dz its initial values change by -R_A^-1 R_AB dz.
    """
    k = len(chain)
    initial = dr.shape[-1] - k
    B = dr[..., :k] * chain
    if initial:
        follow = -np.linalg.lstsq(own[:initial, :initial], own[:initial, initial:-1], rcond=1e-12)[0]
        B = B + dr[..., k:] @ follow
    found: Array = np.einsum("nck,nc->nk", B, r / deviations**2)
    return found


def _prediction(task: Task, end: End, recording: Recording) -> Prediction:
    """The residuals of another recording with the parameters of `end`; only its initial states are found."""
    other = task.other([recording])
    none = transformation((), np.zeros(0), (), {})
    found = _optimum(other, none, end.deviations, end.at.p)
    r = np.concatenate([each for _, each, _ in other.residuals(found.at)])
    unknown = len(other.pieces) * len(other.initial[0])
    left = other.counts * (1.0 - unknown / other.counts.sum())
    deviations = dict(zip(task.outputs.names, np.sqrt(found.at.squares / left).tolist(), strict=True))
    return Prediction(task.outputs.names, recording.t, r, deviations)
