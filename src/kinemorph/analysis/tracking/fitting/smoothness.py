"""Smoothness of configurations over time: the sum of the squared second differences of all coordinates.

At frames with distances h1 and h2 in time, in units of the median distance, the second difference of a coordinate is

    (q_3 - q_2) / h2 - (q_2 - q_1) / h1

Quaternions are differenced as the four numbers they are, with signs that do not change from frame to frame. With G(q),
which gives the rates of coordinates for velocities, the derivatives with respect to velocities are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.ranges import ONE_TO_ONE
from kinemorph.analysis.tracking.fitting.marker_problem import MarkerProblem
from kinemorph.deriving.marker_functions import Places

HALF_ANGLES = 4.0  # a small turn changes a quaternion by half its angle, so that squares count four times


class Smoothness:
    """The smoothness term of a problem with at least three frames, with its weight."""

    def __init__(self, problem: MarkerProblem, weight: float) -> None:
        self.problem = problem
        self.weight = weight
        steps = np.diff(problem.times)
        h = steps / np.median(steps)
        self.differences = np.zeros((3, len(h) - 1))  # coefficients of three frames in a row
        self.differences[0], self.differences[2] = 1.0 / h[:-1], 1.0 / h[1:]
        self.differences[1] = -self.differences[0] - self.differences[2]

    def curvature(self, q: Array) -> Array:
        """The second differences (n - 2, nq) of q (n, nq)."""
        a, b, c = self.differences[:, :, None]
        return np.asarray(a * q[:-2] + b * q[1:-1] + c * q[2:])

    def costs(self, q: Array) -> Array:
        """The weighted squared second differences of each coordinate, summed over all frames, (nq,) [m^2]."""
        return np.asarray(self.weights * np.sum(self.curvature(q) ** 2, axis=0))

    def push(self, q: Array) -> Array:
        """The negative half gradient with respect to velocities, (n, nv)."""
        bent = self.weights * self.curvature(q)
        a, b, c = self.differences[:, :, None]
        by_q = np.zeros_like(q)
        by_q[:-2] += a * bent
        by_q[1:-1] += b * bent
        by_q[2:] += c * bent
        by_v = np.zeros((len(q), self.problem.robot.nv))
        by_v[:, self.plain[1]] = by_q[:, self.plain[0]]
        for (at_q, at_v), G in zip(self.curved, self.rates(q), strict=True):
            by_v[:, at_v] = np.einsum("nqv,nq->nv", G, by_q[:, at_q])
        return -by_v

    def entries(self, q: Array, own: Places) -> Iterator[tuple[int, Places, Places, Array]]:
        """Entries of half the second derivative for the velocities `own`: (lag, a, b, values (places, n - lag)).

        They belong to velocity own[a] in frame k + lag and velocity own[b] in frame k; only a lower triangle is given.
        """
        local = {v: place for place, v in enumerate(own.tolist())}
        plain = [(c, local[v]) for c, v in zip(*self.plain, strict=True) if v in local]
        places = np.array([place for _, place in plain], dtype=np.intp)
        scale = self.weights[[c for c, _ in plain]]
        inside = [(block, G) for block, G in zip(self.curved, self.rates(q), strict=True) if block[1].start in local]
        for lag, products in enumerate(self.products):
            yield lag, places, places, scale[:, None] * products
            for (at_q, at_v), G in inside:
                S = self.weights[at_q]
                block = np.einsum("k,kca,c,kcb->abk", products, G[lag:], S, G[: len(G) - lag])
                a, b = np.indices(block.shape[:2]).reshape(2, -1)
                lower = np.flatnonzero(a >= b) if lag == 0 else np.arange(len(a))
                first = local[at_v.start]
                yield lag, first + a[lower], first + b[lower], block.reshape(-1, block.shape[2])[lower]

    @cached_property
    def products(self) -> list[Array]:
        """The band of D^T D for the matrix D of second differences: its diagonals (n - lag,) at the lags 0, 1 and 2."""
        a, b, c = self.differences
        n = len(a) + 2
        diagonal, next_one, second = np.zeros(n), np.zeros(n - 1), a * c
        for place, coefficient in enumerate((a, b, c)):
            diagonal[place : n - 2 + place] += coefficient**2
        next_one[: n - 2] += a * b
        next_one[1:] += b * c
        return [diagonal, next_one, second]

    # ── coordinates ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def weights(self) -> Array:
        """The weight of each coordinate, (nq,) [m^2 or m^2/rad^2]: squared reach times the weight of smoothness."""
        robot, squares = self.problem.robot, self.problem.model.reach**2
        found = np.zeros(robot.nq)
        found[self.plain[0]] = squares[self.plain[1]]
        for joint in robot.joints:
            at_q, at_v = robot.q_slice(joint.name), robot.v_slice(joint.name)
            if any(at_q == block[0] for block in self.curved):
                units, rates = joint.table.q_units, np.array([unit.startswith("m") for unit in joint.table.v_units])
                lengths, angles = (squares[at_v][chosen] for chosen in (rates, ~rates))
                each = {"m": lengths, "rad": angles, "": HALF_ANGLES * angles}
                found[at_q] = [each[unit].mean() if len(each[unit]) else 0.0 for unit in units]
        return self.weight * found

    @cached_property
    def plain(self) -> tuple[Places, Places]:
        """The coordinates whose rate is a velocity, and these velocities."""
        robot = self.problem.robot
        coordinates: list[int] = []
        velocities: list[int] = []
        for joint in robot.joints:
            if _is_plain(joint):
                at = robot.q_slice(joint.name)
                coordinates += range(at.start, at.stop)
                velocities += range(*robot.v_slice(joint.name).indices(robot.nv))
        return np.array(coordinates, dtype=np.intp), np.array(velocities, dtype=np.intp)

    @cached_property
    def curved(self) -> list[tuple[slice, slice]]:
        """The slices of coordinates and velocities of all other joints: free, spherical and planar ones."""
        robot = self.problem.robot
        joints = [joint for joint in robot.joints if not _is_plain(joint)]
        return [(robot.q_slice(joint.name), robot.v_slice(joint.name)) for joint in joints]

    @property
    def widest(self) -> int:
        """The largest number of velocities of one joint."""
        return max([1, *(int(at.stop - at.start) for _, at in self.curved)])

    def rates(self, q: Array) -> list[Array]:
        """For each joint of `curved`, the matrices G (n, coordinates, velocities) at q (n, nq)."""
        nv, found = self.problem.robot.nv, []
        for at_q, at_v in self.curved:
            units = np.eye(nv)[at_v]
            rates = self.problem.model.dynamics.configuration_rate(q[:, None, :], units[None])
            found.append(np.ascontiguousarray(rates[:, :, at_q].swapaxes(1, 2)))
        return found


def _is_plain(joint: object) -> bool:
    steps = joint.table.primitives  # type: ignore[attr-defined]
    return all(step.kind in ONE_TO_ONE and step.kind != "planar" for step in steps)
