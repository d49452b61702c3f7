"""Rows of an identification: equations  y = Y theta  at every sample of a recording, in blocks.

A *form* says what is balanced. All forms have the columns of `Dynamics.regressor_columns`:

    torques     forces of the actuators, tau = Y(q, v, a) theta; along independent velocities where there are loops
    momentum    mean forces over short windows, from the change of momentum in them: no accelerations are needed
    wrenches    wrenches measured through joints, by force plates or force-torque sensors: no torques are needed

Rows are made in blocks, and a block is forgotten when it has been used, so that memory does not grow with the number of
samples. A block has a matrix for each channel, with only the columns that the channel depends on and that do not depend
on each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.base_parameters import independent_columns
from kinemorph.analysis.identification.information import Block, Information, gathered
from kinemorph.analysis.identification.random_motions import random_motions
from kinemorph.analysis.identification.recording import Recording
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.parameter_functions import Pattern, regressor_entries
from kinemorph.errors import ShapeError
from kinemorph.words import did_you_mean, listed

SAMPLES = 1024  # samples in a block
ROUNDING = 1e-12  # coefficients of unit columns that are smaller are zero
OVER = 2  # random states for each column of a channel, to find those that depend on others
SEEN = 40  # rows at random states at which the columns of a channel are found
NOTHING = 1e-13  # entries that are smaller, relative to the largest of their column, are zero
WINDOW = 0.1  # [s], the default length of the windows of the momentum form
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one form for one robot.

    `columns`      the names of the unknowns
    `channels`     the names of the forces, such as "tau.elbow"
    `dependent`    for each channel the indices of the columns that it depends on
    `needs`        what a recording has to have, such as ("v", "a", "tau")
    `blocks`       a recording -> blocks: for each channel a matrix (b, k), and y (b, channels)
    `times`        a recording -> the times [s] of its rows
    `maps`         for each channel (k, its columns): the rows of a block times these are the rows of all its columns.
                   So blocks have only columns that do not depend on each other. None where k are all columns
    """

    columns: tuple[str, ...]
    channels: tuple[str, ...]
    dependent: tuple[tuple[int, ...], ...]
    needs: tuple[str, ...]
    blocks: Callable[[Recording], Iterator[Block]]
    times: Callable[[Recording], Array]
    maps: tuple[Array, ...] | None = None
    function: CompiledFunction | None = None  # that makes the rows, where there is one

    @property
    def every_map(self) -> tuple[Array, ...]:
        """`maps`, or unit matrices in their place."""
        return self.maps or tuple(np.eye(len(part)) for part in self.dependent)

    def information(self, recordings: Iterable[Recording]) -> Information:
        """The information of recordings. They may come from a generator: none is kept."""
        every = (block for recording in recordings for block in self.blocks(recording))
        return gathered(self.columns, self.channels, every, dependent=self.dependent, maps=self.maps)

    def forces(self, Y: Sequence[Array], values: Array) -> Array:
        """The forces of a block for values of all columns, shape (b, channels)."""
        own = [values[list(part)] for part in self.dependent]
        if self.maps is not None:
            own = [K @ one for K, one in zip(self.maps, own, strict=True)]
        return np.stack([Y_c @ one for Y_c, one in zip(Y, own, strict=True)], axis=1)

    def powers(self, Y: Sequence[Array], factors: Array) -> Array:
        """The sums over channels of rows times factors (b, channels), shape (b, columns)."""
        found = np.zeros((len(factors), len(self.columns)))
        for k, part in enumerate(self.dependent):
            found[:, list(part)] += self._own(Y, k, factors[:, k, None])
        return found

    def written_out(self, Y: Sequence[Array], channel: int) -> Array:
        """The rows of one channel of a block, with all columns, shape (b, columns)."""
        found = np.zeros((len(Y[channel]), len(self.columns)))
        found[:, list(self.dependent[channel])] = self._own(Y, channel)
        return found

    def _own(self, Y: Sequence[Array], channel: int, factors: Array | float = 1.0) -> Array:
        """The rows of one channel times factors, with the columns that it depends on."""
        scaled = Y[channel] * factors
        return scaled if self.maps is None else np.asarray(scaled @ self.maps[channel])


def torque_rows(dynamics: Dynamics, channels: Sequence[str] | None = None) -> Rows:
    """Forces of the actuators: tau = Y(q, v, a) theta.

    `channels` are names of velocities whose forces were measured; all by default. In a robot with closed chains or
    coupled joints they are independent velocities, chosen by `Dynamics.reduced` by default, and a row has the power of
    all forces along one of them; joints without actuators have tau = 0.
    """
    return _open_rows(dynamics, channels) if dynamics.robot.is_open else _loop_rows(dynamics, channels)


def _open_rows(dynamics: Dynamics, channels: Sequence[str] | None) -> Rows:
    names, chosen = _velocities(dynamics, channels)
    dependent, heads, maps = _independent_entries(dynamics, chosen)
    pattern = Pattern(
        np.repeat(chosen, [len(one) for one in heads]).astype(np.intp), np.concatenate([*heads, []]).astype(np.intp)
    )
    digest = hashlib.sha256(np.stack(pattern).tobytes()).hexdigest()[:16]
    function = regressor_entries(dynamics._maker, pattern, f"regressor_entries_{digest}")
    ends = np.cumsum([0, *(len(one) for one in heads)])
    parts = [slice(int(first), int(last)) for first, last in pairwise(ends)]

    def blocks(recording: Recording) -> Iterator[Block]:
        q, v, a, tau = (needed(recording, group) for group in ("q", "v", "a", "tau"))
        for part in _parts(len(recording)):
            found = function(*_time(dynamics, recording, part), q[part], v[part], a[part])
            yield [found[:, one] for one in parts], tau[part][:, chosen]

    channel_names = tuple(f"tau.{name}" for name in names)
    return Rows(
        dynamics.regressor_columns, channel_names, dependent, ("v", "a", "tau"), blocks, _sample_times, maps, function
    )


def _independent_entries(
    dynamics: Dynamics, chosen: Sequence[int]
) -> tuple[tuple[tuple[int, ...], ...], list[list[int]], tuple[Array, ...]]:
    """For each of the chosen rows of Y: the columns that it depends on, those of them that are independent of each
    other, and the matrix (independent, columns) by which these give all, found at random states.
    """
    pattern = dynamics.regressor_pattern
    ends = np.searchsorted(pattern.rows, np.arange(dynamics.robot.nv + 1))
    widest = int(np.diff(ends).max(initial=0))
    motions = random_motions(dynamics, OVER * (widest + 1) * dynamics.robot.nv, np.random.default_rng(0))
    entries = dynamics.regressor_entries(*motions.before, motions.q, motions.v, motions.a, *motions.after)
    dependent, heads, maps = [], [], []
    for k in chosen:
        part = slice(int(ends[k]), int(ends[k + 1]))
        columns, Y = pattern.columns[part], entries[:, part]
        sizes = np.linalg.norm(Y, axis=0)
        seen = np.flatnonzero(sizes > NOTHING * sizes.max(initial=0.0))
        kept, shares = independent_columns(Y[:, seen] / sizes[seen])
        shares = np.where(np.abs(shares) > ROUNDING, shares, 0.0) * (sizes[seen] / sizes[seen[kept]][:, None])
        dependent.append(tuple(columns[seen].tolist()))
        heads.append(columns[seen[kept]].tolist())
        maps.append(shares)
    return tuple(dependent), heads, tuple(maps)


def _loop_rows(dynamics: Dynamics, channels: Sequence[str] | None) -> Rows:
    reduction = dynamics.reduced(None if channels is None else tuple(channels))
    independent = list(reduction.parts.independent)

    def forces(q: Array, v: Array, a: Array) -> Array:
        found: Array = reduction.reduced_regressor(q, v[:, independent], a[:, independent])
        return found

    motions = random_motions(dynamics, SEEN, np.random.default_rng(0))
    dependent = nonzero_columns(forces(motions.q, motions.v, motions.a))

    def blocks(recording: Recording) -> Iterator[Block]:
        q, v, a, tau = (needed(recording, group) for group in ("q", "v", "a", "tau"))
        for part in _parts(len(recording)):
            Y = forces(q[part], v[part], a[part])
            y = np.einsum("skn,sk->sn", reduction.velocity_map(q[part]), tau[part])
            yield split(Y, dependent), y

    names = tuple(f"tau.{name}" for name in reduction.independent)
    return Rows(dynamics.regressor_columns, names, dependent, ("v", "a", "tau"), blocks, _sample_times)


def momentum_rows(dynamics: Dynamics, channels: Sequence[str] | None = None, *, window: float = WINDOW) -> Rows:
    """Mean forces over windows [s] of tau = d/dt (P theta) + H theta, by the trapezoidal rule.

    A row is  mean of tau = ((P at the end - P at the beginning) / window + mean of H) theta. Windows follow each other
    and have the same number of samples, at least two.
    """
    names, chosen = _velocities(dynamics, channels)
    if not window > 0.0:
        raise ShapeError(f"window is {window:g} s; expected a positive time, such as 0.1.")
    robot, columns = dynamics.robot, dynamics.regressor_columns
    if not robot.is_open:
        raise ShapeError(f"the momentum form needs an open tree, but robot '{robot.name}' has loops. Take torques.")
    motions = random_motions(dynamics, SEEN, np.random.default_rng(0))
    P, H = dynamics.momentum_regressor(*motions.before, motions.q, motions.v)
    dependent = nonzero_columns((np.abs(P) + np.abs(H))[:, chosen])

    def blocks(recording: Recording) -> Iterator[Block]:
        q, v, tau = (needed(recording, group) for group in ("q", "v", "tau"))
        size = _window_samples(recording, window)
        many = max(1, SAMPLES // size)
        for first in range(0, (len(recording) - 1) // size, many):
            count = min(many, (len(recording) - 1) // size - first)
            part = slice(first * size, (first + count) * size + 1)
            P, H = dynamics.momentum_regressor(*_time(dynamics, recording, part), q[part], v[part])
            t = recording.t[part]
            spans = np.diff(t[::size])
            change = np.diff(P[::size][:, chosen], axis=0) / spans[:, None, None]
            Y = change + _means(t, H[:, chosen], size)
            yield split(Y, dependent), _means(t, tau[part][:, chosen], size)

    def times(recording: Recording) -> Array:
        size = _window_samples(recording, window)
        marks = recording.t[: (len(recording) - 1) // size * size + 1 : size]
        return 0.5 * (marks[1:] + marks[:-1])

    return Rows(columns, tuple(f"tau.{name}" for name in names), dependent, ("v", "tau"), blocks, times)


def _window_samples(recording: Recording, window: float) -> int:
    step = float(recording.t[-1] - recording.t[0]) / max(1, len(recording) - 1)
    return max(2, round(window / step))


def _means(t: Array, x: Array, size: int) -> Array:
    """Means of x (n, ...) over windows of `size` steps, by the trapezoidal rule."""
    steps = np.diff(t).reshape(-1, *(1,) * (x.ndim - 1))
    areas = 0.5 * steps * (x[1:] + x[:-1])
    sums: Array = areas.reshape(-1, size, *x.shape[1:]).sum(axis=1)
    return sums / np.diff(t[::size]).reshape(-1, *(1,) * (x.ndim - 1))


def wrench_rows(dynamics: Dynamics, joints: Sequence[str] | None = None, *, reference: Any = "joint") -> Rows:
    """Wrenches through joints = W(q, v, a) theta; see `Dynamics.wrench_regressor` for joints and reference.

    By default it is the joint of a free base, whose wrench is the sum of all outside wrenches on the robot. Channels
    are "wrench.<joint>.fx" to "mz".
    """
    function = dynamics.wrench_regressor(None if joints is None else tuple(joints), reference)
    names = joints or [one.name for one in dynamics.robot.joints if one.kind == "free" and one.parent == "world"]
    motions = random_motions(dynamics, SEEN, np.random.default_rng(0))
    columns = dynamics.regressor_columns
    W = function(*motions.before, motions.q, motions.v, motions.a)
    dependent = nonzero_columns(W.reshape(len(W), -1, len(columns)))

    def blocks(recording: Recording) -> Iterator[Block]:
        q, v, a = (needed(recording, group) for group in ("q", "v", "a"))
        missing = [name for name in names if name not in recording.wrenches]
        if missing:
            raise ShapeError(
                f"recording '{recording.name}' has no wrench of joint '{missing[0]}', which these rows need. Add its "
                "six columns."
            )
        y = np.concatenate([recording.wrenches[name] for name in names], axis=1)
        for part in _parts(len(recording)):
            W = function(*_time(dynamics, recording, part), q[part], v[part], a[part])
            yield split(W.reshape(len(W), -1, len(columns)), dependent), y[part]

    channels = tuple(f"wrench.{name}.{part}" for name in names for part in WRENCH)
    return Rows(columns, channels, dependent, ("v", "a"), blocks, _sample_times)


FORMS: dict[str, Callable[..., Rows]] = {"torques": torque_rows, "momentum": momentum_rows, "wrenches": wrench_rows}


def sampled_rows(rows: Rows, dynamics: Dynamics, count: int, seed: int) -> Array:
    """Rows of torques or wrenches at random states, one below the other, shape (at least `count`, columns)."""
    robot = dynamics.robot
    states = -(-count // len(rows.channels))
    q, v, a, _, before, _ = random_motions(dynamics, states * robot.nv, np.random.default_rng(seed))
    order = np.argsort(before[0]) if before else np.arange(len(q))
    t = before[0][order] if before else np.arange(float(len(q)))
    nothing = {joint.name: np.zeros((len(q), len(WRENCH))) for joint in robot.joints}
    recording = Recording("random states", t, q[order], v[order], a[order], np.zeros_like(v), nothing)
    blocks = [Y for Y, _ in rows.blocks(recording)]
    return np.concatenate([rows.written_out(Y, k) for Y in blocks for k in range(len(rows.channels))])


# ── parts of forms ────────────────────────────────────────────────────────────────────────────────────────────────────


def _velocities(dynamics: Dynamics, channels: Sequence[str] | None) -> tuple[list[str], list[int]]:
    """The names of velocities, and their indices; all by default."""
    known = dynamics.robot.v_names
    names = list(known if channels is None else channels)
    for name in names:
        if name not in known:
            raise ShapeError(
                f"robot '{dynamics.robot.name}' has no velocity '{name}'.{did_you_mean(name, known)} Known: "
                f"{listed(known)}."
            )
    return names, [known.index(name) for name in names]


def _parts(count: int) -> Iterator[slice]:
    for start in range(0, count, SAMPLES):
        yield slice(start, min(start + SAMPLES, count))


def _time(dynamics: Dynamics, recording: Recording, part: slice) -> list[Array]:
    """The time, which functions of a robot with joints that it moves take first."""
    return [recording.t[part]] if dynamics.robot.is_timed else []


def _sample_times(recording: Recording) -> Array:
    return recording.t


def split(Y: Array, dependent: Sequence[Sequence[int]]) -> list[Array]:
    """For each channel its columns of Y (b, channels, columns)."""
    return [Y[:, k, list(part)] for k, part in enumerate(dependent)]


def nonzero_columns(Y: Array) -> tuple[tuple[int, ...], ...]:
    """For each channel the indices of the columns of Y (b, channels, columns) that are not zero at random states."""
    largest = np.abs(Y).max(axis=0)
    found = largest > NOTHING * largest.max(axis=0, initial=0.0)
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in found)


def needed(recording: Recording, group: str) -> Array:
    """The array of a recording with this name; raises ShapeError where it was not measured."""
    found: Array | None = getattr(recording, group)
    if found is None:
        raise ShapeError(
            f"recording '{recording.name}' has no {group}, which these rows need. Add columns '{group}.JOINT' for all "
            "joints, or say which columns of the file they are: `columns`, or --column on the command line."
        )
    return found
