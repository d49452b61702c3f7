"""Rows of recordings with and without a load: the ten parameters of the load are further columns.

A load that is fixed to a body at the pose T moves with it. Its parameters, in its own frame, are those of the body
after the linear map of T (`shifted_masses.changed`), so that its columns follow from those of the body. A drive whose
signal i has an unknown gain g, tau = g i, adds the column -i to its rows:

    Y theta + Y_load phi - i g = 0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.covariances import correlation_time, lengths, score_sums
from kinemorph.analysis.identification.information import Block, Information
from kinemorph.analysis.identification.rates import Rates, with_rates
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.recording_checks import check_recording
from kinemorph.analysis.identification.rows import Rows, torque_rows
from kinemorph.analysis.identification.shifted_masses import changed
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions.regressors import OF_BODY, OF_VELOCITY
from kinemorph.model.parameter import evaluate_all
from kinemorph.words import listed

DEPENDENT = 1e-9  # singular values that are smaller, relative to the largest, are zero
ESTIMABLE = 1e-6  # of a unit vector: what rows do not determine of an unknown
EXACT = 1e-6  # the least deviation of residuals, relative to the largest force: forces without noise
FRICTION = ("viscous", "coulomb", "offset")


@dataclass(frozen=True, eq=False)
class Trial:
    """One recording with v, a and tau, and the rows that explain its forces."""

    recording: Recording
    rows: Rows


@dataclass(frozen=True, eq=False)
class Trials:
    """Recordings of one robot with and without a load. `known` has the values of columns that are not unknown."""

    trials: tuple[Trial, ...]
    known: Mapping[str, float]

    @cached_property
    def information(self) -> Information:
        """What all recordings say about the unknowns."""
        parts = [trial.rows.information([trial.recording]) for trial in self.trials]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.plus(part)
        return whole.without(self.known)

    def residuals(self, theta: Array) -> list[Array]:
        """The residuals (n, channels) of each recording at values theta of the unknowns."""
        values = self._all(theta)
        return [
            np.concatenate([y - trial.rows.forces(Y, values) for Y, y in trial.rows.blocks(trial.recording)])
            for trial in self.trials
        ]

    def covariance(self, theta: Array, deviations: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The covariance of least squares with coloured residuals, and which unknowns the rows determine.

        `deviations` are the standard deviations of the channels. A deviation of an unknown that is not determined has
        no meaning.
        """
        R = self.information.weighted(deviations.tolist())[0]
        sizes = np.where(np.any(R != 0.0, axis=0), np.linalg.norm(R, axis=0), 1.0)
        _, values, axes = np.linalg.svd(R / sizes)
        kept = axes[values > DEPENDENT * values[0]]
        half = kept / values[: len(kept), None] / sizes
        inverse = half.T @ half
        residuals = self.residuals(theta)
        times = [max(correlation_time(one) for one in part.T) for part in residuals]
        spans = lengths(times, [len(part) for part in residuals])
        S = score_sums(
            zip(spans, (self._scores(trial, theta, deviations) for trial in self.trials), strict=True), len(R)
        )
        off = np.linalg.norm(np.eye(len(R)) - kept.T @ kept, axis=0)
        return inverse @ S @ inverse, off < ESTIMABLE

    def _scores(self, trial: Trial, theta: Array, deviations: Array) -> Iterator[Array]:
        rows, values = trial.rows, self._all(theta)
        chosen = [rows.columns.index(name) for name in self.information.columns]
        for Y, y in rows.blocks(trial.recording):
            r = (y - rows.forces(Y, values)) * deviations**-2.0
            yield rows.powers(Y, r)[:, chosen]

    def _all(self, theta: Array) -> Array:
        """The values of all columns."""
        named = {**self.known, **dict(zip(self.information.columns, theta.tolist(), strict=True))}
        return np.array([named[name] for name in self.trials[0].rows.columns])


def trials(
    dynamics: Dynamics,
    at: str,
    load: str,
    recordings: Sequence[tuple[Recording, bool]],
    known: Mapping[str, float],
    *,
    gains: bool,
    rates: Rates | None,
) -> Trials:
    """The trials of recordings, each given with whether it is loaded.

    `at` is the frame or body that carries the load, `load` the name of the load in its columns.
    """
    base = torque_rows(dynamics)
    found = []
    for recording, loaded in recordings:
        check_recording(recording, dynamics.robot)
        prepared = with_rates(recording, dynamics.robot, rates, needs=base.needs).recording
        rows = _with_load(base, dynamics, at, load, loaded=loaded)
        found.append(Trial(prepared, _with_gains(rows) if gains else rows))
    return Trials(tuple(found), known)


def left_out(values: Mapping[str, float], friction: Sequence[str], armature: bool) -> dict[str, float]:
    """The model's values of what is not identified of joints: other parts of friction, and armatures."""
    wrong = [part for part in friction if part not in FRICTION]
    if wrong:
        raise ModelError(f"friction has the part '{wrong[0]}', expected parts of {listed(FRICTION)}.")
    wanted = {*friction, *(("armature",) if armature else ())}
    parts = tuple(f".{part}" for part in OF_VELOCITY if part not in wanted)
    return {name: value for name, value in values.items() if parts and name.endswith(parts)}


def listed_recordings(recordings: Recording | Sequence[Recording]) -> list[Recording]:
    """One or several recordings as a list."""
    return [recordings] if isinstance(recordings, Recording) else list(recordings)


def load_columns(load: str) -> tuple[str, ...]:
    """The names of the ten columns of a load."""
    return tuple(f"{load}.{part}" for part in OF_BODY)


def _with_load(rows: Rows, dynamics: Dynamics, at: str, load: str, *, loaded: bool) -> Rows:
    """The rows with ten further columns for a load at a frame or body; without the load they are zero."""
    frame = dynamics.robot.frame(at)
    names = [f"{frame.body}.{part}" for part in OF_BODY]
    if names[0] not in rows.columns:
        raise ModelError(
            f"the load is at '{at}' on '{frame.body}', which no joint moves. Name a frame or body that moves."
        )
    taken = [name for name in load_columns(load) if name in rows.columns]
    if taken:
        raise ModelError(
            f"the load is called '{load}', as a body of robot '{dynamics.robot.name}'. Choose another name."
        )
    moved = changed(evaluate_all(frame.placement))
    first = len(rows.columns)
    columns = (*rows.columns, *load_columns(load))
    if not loaded:
        return replace(rows, columns=columns)
    place = {rows.columns.index(name): k for k, name in enumerate(names)}
    dependent, maps = [], []
    for part, K in zip(rows.dependent, rows.every_map, strict=True):
        own = [k for k, column in enumerate(part) if column in place]
        dependent.append((*part, *range(first, first + len(OF_BODY))))
        maps.append(np.hstack([K, K[:, own] @ moved[[place[part[k]] for k in own]]]))
    return replace(rows, columns=columns, dependent=tuple(dependent), maps=tuple(maps))


def _with_gains(rows: Rows) -> Rows:
    """The rows in which the measured forces are signals of drives, with their gains as further columns."""
    first = len(rows.columns)
    names = tuple(f"{channel.removeprefix('tau.')}.gain" for channel in rows.channels)

    def blocks(recording: Recording) -> Iterator[Block]:
        for Y, y in rows.blocks(recording):
            yield [np.column_stack([Y_c, -one]) for Y_c, one in zip(Y, y.T, strict=True)], np.zeros_like(y)

    dependent = tuple((*part, first + k) for k, part in enumerate(rows.dependent))
    maps = tuple(block_diag(K, 1.0) for K in rows.every_map)
    return replace(rows, columns=(*rows.columns, *names), dependent=dependent, blocks=blocks, maps=maps)
