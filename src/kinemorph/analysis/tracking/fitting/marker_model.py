"""The points of a robot that markers show: compiled normal equations, and which velocities and markers are connected.

Velocities that move a marker together belong to one group. Groups share neither markers nor coordinates, so each is a
problem of its own: the legs of an animal whose body is fixed, for example.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.ranges import Ranges
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.deriving.marker_functions import Places, Triangle, marker_equations, moving_velocities, normal_triangle
from kinemorph.frozen import Fixed, dataclass
from kinemorph.model.configuration import random_configuration
from kinemorph.model.robot import Robot

SAMPLES = 32  # random configurations whose mean gives the reach of joints
UNSEEN = 1e-7  # a velocity whose reach is below this share of the largest reach moves no marker


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
class MarkerModel(Fixed):
    """The points of a robot, with all that does not depend on single frames of a recording.

    `dynamics`    of the robot, whose frames `frames` (k names) are the points of the markers
    `ranges`      the configurations that are allowed
    `weights`     (k,), the largest weight of each marker in all frames; 0 for a marker that was never seen
    """

    dynamics: Dynamics
    frames: tuple[str, ...]
    ranges: Ranges
    weights: Array

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

    @cached_property
    def equations(self) -> CompiledFunction:
        """The compiled function of the normal equations; see `marker_equations`."""
        return marker_equations(self.dynamics._maker, self.frames)

    def linearized(self, q: Array, targets: Array, weights: Array, sharpness: float) -> tuple[Array, Array, Array]:
        """Positions (n, k, 3), entries of normal matrices (n, entries) and right sides (n, nv); see `marker_equations`.

        Velocities of coupled joints are those of their leaders.
        """
        positions, matrix, push = self.equations(np.ascontiguousarray(q), targets, weights, np.array(sharpness))
        if self.robot.couplings:
            leading = self.ranges.leading
            full = leading.T @ filled(normal_triangle(self.robot, self.frames), matrix, self.robot.nv) @ leading
            matrix, push = full[:, self.triangle.rows, self.triangle.columns], push @ leading
        return positions, matrix, push

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
    def mean_matrix(self) -> Array:
        """The mean of the normal matrix (nv, nv) over random configurations, with every marker that was ever seen."""
        rng, count = np.random.default_rng(0), len(self.frames)
        q = self.ranges.inside(np.array([random_configuration(self.robot, rng) for _ in range(SAMPLES)]))
        _, matrix, _ = self.linearized(q, np.zeros((SAMPLES, count, 3)), np.tile(self.weights, (SAMPLES, 1)), 0.0)
        return np.asarray(filled(self.triangle, matrix, self.robot.nv).mean(axis=0))


def filled(triangle: Triangle, entries: Array, size: int) -> Array:
    """The symmetric matrices (n, size, size) with the given entries (n, entries) of their lower triangle."""
    full = np.zeros((len(entries), size, size))
    full[:, triangle.rows, triangle.columns] = entries
    full[:, triangle.columns, triangle.rows] = entries
    return full
