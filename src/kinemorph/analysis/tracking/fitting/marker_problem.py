"""Least squares of a recording: configurations of a robot, one for each frame, that bring its points to the markers.

The function to minimize, over the configurations q_1 ... q_n, is

    sum over frames and markers of w rho(|x - p(q)|)  +  smoothness * sum over frames of s |second difference of q|^2

with rho(r) = r^2, or c^2 log(1 + r^2 / c^2) where outliers are expected beyond a distance c (Cauchy's function: the
weight of a marker at the distance c is halved). s makes the two sums comparable: it is the mean of the squared motion
of all markers for a unit motion of the coordinate. Without smoothness the frames are independent.

Velocities that move a marker together belong to one group. Groups share neither markers nor coordinates, so each is a
problem of its own: the legs of an animal whose body is fixed, for example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.marker_functions import Triangle, marker_equations, moving_velocities, normal_triangle
from kinemorph.frozen import Fixed, dataclass
from kinemorph.model.configuration import random_configuration
from kinemorph.model.robot import Robot

Places = npt.NDArray[np.intp]

SAMPLES = 32  # random configurations whose mean gives the reach of joints
UNSEEN = 1e-7  # a velocity whose reach is below this share of the largest reach moves no marker
SHARED = (
    "triangle",
    "equations",
    "groups",
    "reach",
    "_sampled",
    "mean_matrix",
    "size",
)  # what all parts of a recording share


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


class Groups(NamedTuple):
    """Which of `many` groups velocities (nv,), coordinates (nq,), markers (k,) and matrix entries belong to.

    The number `many` itself stands for no group: for velocities that move no marker, and markers that nothing moves.
    """

    many: int
    velocities: Places
    coordinates: Places
    markers: Places
    entries: Places


@dataclass(frozen=True, eq=False, repr=False)
class MarkerProblem(Fixed):
    """The data of the problem.

    `dynamics`    of the robot, whose frames `frames` (k names) are the points of the markers
    `times`       (n,) [s]
    `targets`     (n, k, 3) [m], 0 where a marker is missing
    `weights`     (n, k), 0 where a marker is missing
    `ranges`      the configurations that are allowed
    `outlier`     the distance c [m], infinite where all markers count in full
    """

    dynamics: Dynamics
    frames: tuple[str, ...]
    times: Array
    targets: Array
    weights: Array
    ranges: Ranges
    outlier: float = np.inf

    @property
    def robot(self) -> Robot:
        """The robot, with a frame for each marker."""
        return self.dynamics.robot

    @cached_property
    def triangle(self) -> Triangle:
        """The places of the entries of the normal matrix of a frame. A coupled joint adds its entries to its leader's,
        which may move no marker itself: with couplings, these are all places of the lower triangle.
        """
        if self.robot.couplings:
            return Triangle(*np.tril_indices(self.robot.nv))
        return normal_triangle(self.robot, self.frames)

    def chosen(self, frames: Sequence[int] | Places) -> MarkerProblem:
        """The problem of these frames of the recording alone, in this order; frames may be repeated."""
        at = np.asarray(frames, dtype=np.intp)
        part = replace(self, times=self.times[at], targets=self.targets[at], weights=self.weights[at])
        part.__dict__.update({name: self.__dict__[name] for name in SHARED if name in self.__dict__})
        return part

    def exchanged(self, order: Sequence[int]) -> MarkerProblem:
        """The problem in which marker i has the positions and weights of marker order[i]."""
        at = list(order)
        return replace(self, targets=self.targets[:, at], weights=self.weights[:, at])

    def linearized(self, q: Array) -> Linearized:
        """The problem about the configurations q (n, nq), one for each frame."""
        sharpness = np.array(0.0 if np.isinf(self.outlier) else self.outlier**-2)
        q = np.ascontiguousarray(q)
        positions, matrix, push = self.equations(q, self.targets, self.weights, sharpness)
        if self.robot.couplings:
            leading = self.ranges.leading
            full = leading.T @ filled(normal_triangle(self.robot, self.frames), matrix, self.robot.nv) @ leading
            matrix, push = full[:, self.triangle.rows, self.triangle.columns], push @ leading
        squares = np.sum((self.targets - positions) ** 2, axis=2) * (self.weights > 0.0)
        loss = squares if sharpness == 0.0 else np.log1p(sharpness * squares) / sharpness
        return Linearized(positions, matrix, push, np.sqrt(squares), self.weights * loss)

    @cached_property
    def equations(self) -> CompiledFunction:
        """The compiled function of the normal equations; see `marker_equations`."""
        return marker_equations(self.dynamics._maker, self.frames)

    # ── the structure of the problem ──────────────────────────────────────────────────────────────────────────────

    @cached_property
    def groups(self) -> Groups:
        """The independent groups of velocities, coordinates, markers and matrix entries."""
        robot, nv = self.robot, self.robot.nv
        root = list(range(nv))

        def top(v: int) -> int:
            while root[v] != v:
                v = root[v]
            return v

        moving = [moving_velocities(robot, frame) for frame in self.frames]
        joined = [[*range(*robot.v_slice(joint.name).indices(nv))] for joint in robot.joints]
        led = [[v, *np.flatnonzero(row).tolist()] for v, row in enumerate(self.ranges.leading)]
        blocks: list[list[int]] = [*moving, *joined, *led]
        for block in blocks:
            for v in block[1:]:
                root[top(v)] = top(block[0])
        seen = sorted({top(v) for block in moving for v in block})
        number = {v: k for k, v in enumerate(seen)}
        count = len(seen)
        velocities = np.array([number.get(top(v), count) for v in range(nv)], dtype=np.intp)
        coordinates = np.full(robot.nq, count, dtype=np.intp)
        for joint in robot.joints:
            at = robot.v_slice(joint.name)
            if at.stop > at.start:
                coordinates[robot.q_slice(joint.name)] = velocities[at.start]
        markers = np.array([velocities[block[0]] if block else count for block in moving], dtype=np.intp)
        return Groups(count, velocities, coordinates, markers, velocities[self.triangle.rows])

    @cached_property
    def reach(self) -> Array:
        """How far all markers move for a unit of each velocity, (nv,) [m]: root of the sum of squares, mean over many
        configurations; 0 for velocities that move no marker that was ever seen.
        """
        diagonal = np.einsum("jj->j", self.mean_matrix)
        return np.where(diagonal > UNSEEN**2 * diagonal.max(initial=0.0), np.sqrt(diagonal), 0.0)

    @cached_property
    def _sampled(self) -> Linearized:
        """The problem at random configurations, with every marker that was ever seen, at the weight it has at most."""
        rng = np.random.default_rng(0)
        weights = np.tile(self.weights.max(axis=0), (SAMPLES, 1))
        q = self.ranges.inside(np.array([random_configuration(self.robot, rng) for _ in range(SAMPLES)]))
        part = replace(self, targets=np.zeros((SAMPLES, len(self.frames), 3)), weights=weights, outlier=np.inf)
        return part.linearized(q)

    @cached_property
    def mean_matrix(self) -> Array:
        """The mean of the normal matrix (nv, nv) over random configurations, with every marker that was ever seen."""
        return np.asarray(filled(self.triangle, self._sampled.matrix, self.robot.nv).mean(axis=0))

    @cached_property
    def size(self) -> float:
        """The size of the cloud of markers [m]: their root mean square distance from their middle."""
        return _spread(self.targets, self.weights > 0.0)


def _spread(points: Array, seen: npt.NDArray[np.bool_]) -> float:
    """The root mean square distance [m] of the points (n, k, 3) that are seen from their middle in each frame."""
    there = seen[..., None]
    middle = np.sum(points * there, axis=1) / np.maximum(seen.sum(axis=1), 1)[:, None]
    squares = np.sum(((points - middle[:, None]) * there) ** 2, axis=2)
    return float(np.sqrt(squares.sum() / max(seen.sum(), 1)))


def filled(triangle: Triangle, entries: Array, size: int) -> Array:
    """The symmetric matrices (n, size, size) with the given entries (n, entries) of their lower triangle."""
    full = np.zeros((len(entries), size, size))
    full[:, triangle.rows, triangle.columns] = entries
    full[:, triangle.columns, triangle.rows] = entries
    return full
