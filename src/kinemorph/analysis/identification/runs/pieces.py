"""Pieces of recordings: short parts, each of which is simulated from an initial state of its own.

The motion of an unstable robot leaves the recorded one within a short time, whatever its parameters. A run that begins
again every few tenths of a second from an unknown state does not, and its errors change almost linearly with the
parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.recording import Recording
from kinemorph.errors import ShapeError
from kinemorph.model.configuration import difference
from kinemorph.model.elements.control.controllers import PD, PID
from kinemorph.model.elements.control.functions import OwnFunction
from kinemorph.model.elements.control.fuzzy_rules import FuzzyRules
from kinemorph.model.elements.control.model_based import ComputedTorque, GravityCompensation
from kinemorph.model.robot import Robot
from kinemorph.plants.programs import Plant
from kinemorph.words import did_you_mean, listed

LEAST = 3  # samples of a piece
CONTROLLERS = (PD, PID, ComputedTorque, FuzzyRules, GravityCompensation, OwnFunction)
NEAR = 7  # samples at the beginning of a piece that give a first guess of its velocities

Between = Literal["held", "linear"]


class Piece(NamedTuple):
    """Samples `first` to `last`, without the latter, of the recording with the index `recording`.

    `name`     of its recording
    `t`        times [s], shape (n,)
    `u`        inputs from each sample to the next, shape (n, nu); the last row is not used
    `y`        measured columns, shape (n, columns); those of the configuration are not in it, see `q`
    `q`        recorded configurations, shape (n, nq)
    `v`, `x`   a first guess of the initial velocities (nv,) and further states (nx,)
    """

    recording: int
    first: int
    last: int
    name: str
    t: Array
    u: Array
    y: Array
    q: Array
    v: Array
    x: Array


def cut(
    recordings: Sequence[Recording], plant: Plant, measured: Sequence[str], longest: float | None, between: Between
) -> list[Piece]:
    """The pieces of all recordings, at most `longest` [s] each; None leaves recordings whole.

    Neighboring pieces share no sample. Raises ShapeError for recordings that do not fit the plant.
    """
    if between not in ("held", "linear"):
        raise ShapeError(f"between is {between!r}; expected 'held' or 'linear'.")
    if longest is not None and not longest > 0.0:
        raise ShapeError(f"piece is {longest!r} s; expected a time above 0, or None for whole recordings.")
    if not recordings:
        raise ShapeError("there are no recordings. Give at least one Recording.")
    found: list[Piece] = []
    for number, recording in enumerate(recordings):
        _check(recording, plant)
        u = _inputs(recording, plant, between)
        y = np.stack([_column(recording, plant, name) for name in measured], axis=-1)
        for first, last in _bounds(recording, longest):
            part = slice(first, last)
            v = _velocity(recording, plant, first, last)
            x = _further(recording, plant, first)
            numbers = (recording.t[part], u[part], y[part], recording.q[part])
            found.append(Piece(number, first, last, recording.name, *numbers, v, x))
    return found


def _bounds(recording: Recording, longest: float | None) -> Iterator[tuple[int, int]]:
    """The first sample and the one after the last of each piece: pieces of one recording are about equally long."""
    n, span = len(recording), float(recording.t[-1] - recording.t[0])
    count = 1 if longest is None else max(1, int(np.ceil(span / longest - 1e-9)))
    ends = np.searchsorted(recording.t, recording.t[0] + span * np.arange(1, count) / count)
    edges = [0, *ends.tolist(), n]
    for first, last in pairwise(edges):
        if last - first < LEAST:
            raise ShapeError(
                f"recording '{recording.name}': a piece of {span / count:.3g} s has {last - first} samples; expected "
                f"at least {LEAST}. Make pieces longer."
            )
        yield first, last


def _check(recording: Recording, plant: Plant) -> None:
    if len(recording) < LEAST:
        raise ShapeError(f"recording '{recording.name}' has {len(recording)} samples; expected at least {LEAST}.")
    if recording.q.shape[1] != plant.nq:
        names = listed([column.name for column in plant.q])
        raise ShapeError(
            f"recording '{recording.name}': q has {recording.q.shape[1]} columns; expected {plant.nq}: {names}."
        )
    if recording.v is not None and recording.v.shape[1] != plant.nv:
        raise ShapeError(
            f"recording '{recording.name}': v has {recording.v.shape[1]} columns; expected {plant.nv}, one for each "
            "velocity."
        )


def is_controlled(plant: Plant) -> bool:
    """Whether controllers of the system drive its joints, so that recorded forces of actuators are not inputs."""
    return any(isinstance(element, CONTROLLERS) for element in plant.elements)


def _inputs(recording: Recording, plant: Plant, between: Between) -> Array:
    """The inputs that act from each sample to the next, shape (n, nu)."""
    columns = []
    velocities = [column.name for column in plant.v]
    for column in plant.u:
        if column.name in recording.inputs:
            columns.append(recording.inputs[column.name])
        elif column.name in velocities and is_controlled(plant):
            columns.append(np.zeros(len(recording)))  # the forces are those of the controllers
        elif recording.tau is not None and column.name in velocities:
            columns.append(recording.tau[:, velocities.index(column.name)])
        else:
            known = [*recording.inputs, *(velocities if recording.tau is not None else ())]
            raise ShapeError(
                f"recording '{recording.name}' has no input '{column.name}' [{column.unit}], which '{plant.name}' "
                f"needs.{did_you_mean(column.name, known)} Recorded inputs: {listed(known) or 'none'}."
            )
    u = np.stack(columns, axis=-1) if columns else np.zeros((len(recording), 0))
    if between == "linear":  # the mean over an interval of an input that is linear there
        u = np.concatenate([0.5 * (u[1:] + u[:-1]), u[-1:]])
    return u


def measured_names(recordings: Sequence[Recording], plant: Plant, wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the measured columns: by default the whole configuration, and what all recordings have besides."""
    velocities = [column.name for column in plant.v]
    places, rates = [f"q.{name}" for name in velocities], [f"v.{name}" for name in velocities]
    further = [*(column.name for column in plant.x), *plant.outputs]
    if wanted is None:
        names = [*places, *(rates if all(one.v is not None for one in recordings) else ())]
        return (*names, *(name for name in further if all(name in one.outputs for one in recordings)))
    names = []
    for name in (wanted,) if isinstance(wanted, str) else wanted:
        names += {"q": places, "v": rates}.get(name, [name])
    known = [*places, *rates, *further]
    for name in names:
        if name not in known:
            raise ShapeError(
                f"measured: '{plant.name}' has no column '{name}'.{did_you_mean(name, known)} Known: {listed(known)}."
            )
        if names.count(name) > 1:
            raise ShapeError(f"measured: '{name}' is named {names.count(name)} times. Name it once.")
    if not names:
        raise ShapeError("measured is empty; expected at least one column, such as 'q.elbow'.")
    return tuple(names)


def _column(recording: Recording, plant: Plant, name: str) -> Array:
    """A measured column, shape (n,). Those of the configuration are zeros: they are compared as configurations."""
    group, _, rest = name.partition(".")
    velocities = [column.name for column in plant.v]
    if group == "q" and rest in velocities:
        return np.zeros(len(recording))
    if group == "v" and rest in velocities:
        if recording.v is None:
            raise ShapeError(
                f"recording '{recording.name}' has no velocities, and '{name}' is to be compared. Leave it out of "
                "`measured`."
            )
        found: Array = recording.v[:, velocities.index(rest)]
        return found
    if name not in recording.outputs:
        raise ShapeError(
            f"recording '{recording.name}' has no column '{name}' in its outputs; it has "
            f"{listed(list(recording.outputs)) or 'none'}. Add it, or leave it out of `measured`."
        )
    return recording.outputs[name]


def _velocity(recording: Recording, plant: Plant, first: int, last: int) -> Array:
    """The velocity at the sample `first`: recorded, or that of a parabola through the first configurations."""
    if recording.v is not None:
        return np.array(recording.v[first])
    robot = plant.robot
    near = slice(first, min(first + NEAR, last))
    t = recording.t[near] - recording.t[first]
    q = recording.q[near]
    moved = difference(robot, np.tile(q[:1], (len(q), 1)), q) if isinstance(robot, Robot) else q - q[0]
    powers = np.stack([np.ones_like(t), t, t * t], axis=-1)[:, : min(3, len(t))]
    rates: Array = np.linalg.lstsq(powers, moved, rcond=None)[0][1]
    return rates


def _further(recording: Recording, plant: Plant, first: int) -> Array:
    """The further states at the sample `first`: recorded, or those at the start of any run."""
    x = plant.initial("x")
    for k, column in enumerate(plant.x):
        if column.name in recording.outputs:
            x[k] = recording.outputs[column.name][first]
    return x
