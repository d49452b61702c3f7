"""Rows of an identification: equations  y = Y theta  at every sample of a recording, in blocks.

A *form* says what is balanced: torques of joints (`torque_rows`). Rows of a form are made in blocks, and a block is
forgotten when it has been used, so that memory does not grow with the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.information import Block, Information, gathered
from kinemorph.analysis.identification.recording import Recording
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError
from kinemorph.model.configuration import random_configuration

SAMPLES = 1024  # samples in a block
STATES = 4  # random states at which the columns of a channel are found
NOTHING = 1e-13  # entries that are smaller, relative to the largest of their column, are zero


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one form for one robot.

    `columns`      the names of the unknowns
    `channels`     the names of the forces, such as "tau.elbow"
    `dependent`    for each channel the indices of the columns that it depends on
    `blocks`       a recording with v and a -> blocks: Y (b, channels, columns) and y (b, channels)
    """

    columns: tuple[str, ...]
    channels: tuple[str, ...]
    dependent: tuple[tuple[int, ...], ...]
    blocks: Callable[[Recording], Iterator[Block]]

    def information(self, recordings: Iterable[Recording]) -> Information:
        """The information of recordings with v and a. They may come from a generator: none is kept."""
        every = (block for recording in recordings for block in self.blocks(recording))
        return gathered(self.columns, self.channels, every, dependent=self.dependent)


def torque_rows(dynamics: Dynamics, channels: Sequence[str] | None = None) -> Rows:
    """The rows of `Dynamics.regressor`: forces of the actuators, tau = Y(q, v, a) theta.

    `channels` are names of velocities whose forces were measured; all by default.
    """
    robot = dynamics.robot
    known = robot.v_names
    names = list(known if channels is None else channels)
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ShapeError(f"robot '{robot.name}' has no velocity '{wrong[0]}'. Known: {', '.join(known)}.")
    chosen = [known.index(name) for name in names]
    every = chosen == list(range(len(known)))

    def blocks(recording: Recording) -> Iterator[Block]:
        v, a, tau = (_needed(recording, group) for group in ("v", "a", "tau"))
        for start in range(0, len(recording), SAMPLES):
            part = slice(start, start + SAMPLES)
            Y = dynamics.regressor(recording.q[part], v[part], a[part])
            yield (Y, tau[part]) if every else (Y[:, chosen], tau[part][:, chosen])

    rng = np.random.default_rng(0)
    q = np.array([random_configuration(robot, rng) for _ in range(STATES)])
    v, a = rng.normal(size=(2, STATES, robot.nv))
    dependent = nonzero_columns(dynamics.regressor(q, v, a)[:, chosen])
    return Rows(dynamics.regressor_columns, tuple(f"tau.{name}" for name in names), dependent, blocks)


def nonzero_columns(Y: Array) -> tuple[tuple[int, ...], ...]:
    """For each channel the indices of the columns of Y (b, channels, columns) that are not zero at random states."""
    largest = np.abs(Y).max(axis=0)
    found = largest > NOTHING * largest.max(axis=0, initial=0.0)
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in found)


def _needed(recording: Recording, group: str) -> Array:
    found: Array | None = getattr(recording, group)
    if found is None:
        raise ShapeError(f"recording '{recording.name}' has no {group}, which these rows need. Add its columns.")
    return found
