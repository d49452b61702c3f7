"""Least squares of a recording: configurations of a robot, one for each frame, that bring its points to the markers.

The function to minimize, over the configurations q_1 ... q_n, is

    sum over frames and markers of w rho(|x - p(q)|)  +  smoothness * sum over frames of s |second difference of q|^2

with rho(r) = r^2, or c^2 log(1 + r^2 / c^2) where outliers are expected beyond a distance c (Cauchy's function: the
weight of a marker at the distance c is halved). s makes the two sums comparable: it is the mean of the squared motion
of all markers for a unit motion of the coordinate. Without smoothness the frames are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.fitting.marker_model import MarkerModel
from kinemorph.deriving.marker_functions import Places
from kinemorph.frozen import dataclass
from kinemorph.model.robot import Robot


class Linearized(NamedTuple):
    """The problem about n configurations: see `marker_equations` for `matrix` (n, entries) and `push` (n, nv).

    `distances` (n, k) are those of markers from the points of the robot [m], 0 where a marker is missing; `loss` (n, k)
    is w rho of each marker [m^2].
    """

    positions: Array
    matrix: Array
    push: Array
    distances: Array
    loss: Array

    def chosen(self, frames: Places) -> Linearized:
        """The rows of these frames alone."""
        return Linearized(*(array[frames] for array in self))


@dataclass(frozen=True, eq=False, repr=False)
class MarkerProblem:
    """The data of the problem.

    `model`       the points of the robot
    `times`       (n,) [s]
    `targets`     (n, k, 3) [m], 0 where a marker is missing
    `weights`     (n, k), 0 where a marker is missing
    `size`        of the cloud of markers [m]: their root mean square distance from their middle, in all frames; for a
                  single marker how far a joint moves it
    `outlier`     the distance c [m], infinite where all markers count in full
    """

    model: MarkerModel
    times: Array
    targets: Array
    weights: Array
    size: float
    outlier: float = np.inf

    @property
    def robot(self) -> Robot:
        """The robot, with a frame for each marker."""
        return self.model.robot

    def chosen(self, frames: Sequence[int] | Places) -> MarkerProblem:
        """The problem of these frames of the recording alone, in this order; frames may be repeated."""
        at = np.asarray(frames, dtype=np.intp)
        return replace(self, times=self.times[at], targets=self.targets[at], weights=self.weights[at])

    def exchanged(self, order: Sequence[int]) -> MarkerProblem:
        """The problem in which marker i has the positions and weights of marker order[i]."""
        at = list(order)
        return replace(self, targets=self.targets[:, at], weights=self.weights[:, at])

    def linearized(self, q: Array) -> Linearized:
        """The problem about the configurations q (n, nq), one for each frame."""
        sharpness = 0.0 if np.isinf(self.outlier) else self.outlier**-2
        positions, matrix, push = self.model.linearized(q, self.targets, self.weights, sharpness)
        squares = np.sum((self.targets - positions) ** 2, axis=2) * (self.weights > 0.0)
        loss = squares if sharpness == 0.0 else np.log1p(sharpness * squares) / sharpness
        return Linearized(positions, matrix, push, np.sqrt(squares), self.weights * loss)


def cloud_size(points: Array, seen: npt.NDArray[np.bool_]) -> float:
    """The root mean square distance [m] of the points (n, k, 3) that are seen from their middle in each frame."""
    there = seen[..., None]
    middle = np.sum(points * there, axis=1) / np.maximum(seen.sum(axis=1), 1)[:, None]
    squares = np.sum(((points - middle[:, None]) * there) ** 2, axis=2)
    return float(np.sqrt(squares.sum() / max(seen.sum(), 1)))
