"""The implicit step once more, densely: matrices of Pinocchio, laws in world axes, one linear solve a pass.

    (M + sum J^T D J + diag(pivots)) a = tau - h + sum J^T (f + D J a_before) + joints

with J the rows of a point's velocity in world axes. A centered step has q at its middle: places move on for h/2, and
joints follow the midpoint rule. Nothing of the package's mechanics is used but its order of q, v.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinemorph.model.robot import Robot
from support.cases.stiff_laws import Ground, Hold, Tether
from support.peers.pinocchio_peer import PinocchioPeer

Array = np.ndarray


def ground(law: Ground, x: Array, u: Array, h: float, left: float) -> tuple[Array, Array]:
    """(force, D) of the plane z = 0 in world axes: up and along the ground have nothing to do with each other.

    h is the step, `left` what places move on for.
    """
    pen, rate = -x[2], -u[2]
    normal = max(pen, 0.0) * max(law.k + law.c * rate, 0.0)
    gamma = law.mu * normal / max(float(np.hypot(u[0], u[1])), law.v_lim)
    slope = 0.0
    if pen > 0.0:
        slope += left * max(law.k + law.c * rate, 0.0)
    if law.k + law.c * rate > 0.0:
        slope += law.c * max(pen, 0.0)
    return np.array([-gamma * u[0], -gamma * u[1], normal]), h * np.diag([gamma, gamma, slope])


def tether(law: Tether, x: Array, u: Array, h: float, left: float) -> tuple[Array, Array]:
    """(force, D) with the slopes by hand."""
    away, speed = x - np.array(law.place), np.sqrt(1.0 + u @ u)
    f = -law.k * (1.0 + away @ away) * away - law.c * speed * u
    stiff = law.k * ((1.0 + away @ away) * np.eye(3) + 2.0 * np.outer(away, away))
    return f, h * law.c * (speed * np.eye(3) + np.outer(u, u) / speed) + h * left * stiff


WORLD_LAWS = {Ground: ground, Tether: tether}


@dataclass(frozen=True)
class DenseStep:
    """A robot with laws at frames and at velocities (by index, with the index of their coordinate)."""

    robot: Robot
    points: Mapping[str, Ground | Tether]
    joints: Mapping[int, tuple[int, Hold]]

    def solve(
        self, q: Array, v: Array, tau: Array, h: float, passes: int, guess: Array | None = None, centered: bool = False
    ) -> tuple[Array, list[Array], float]:
        """(a, forces at the end in world axes, condition of the last matrix)."""
        peer = PinocchioPeer(self.robot)
        M, rest = peer.mass_matrix(q), tau - peer.bias_forces(q, v)
        seen = {}
        for frame in self.points:
            J, Jdot = peer.jacobian(frame, "local_world_aligned", q, v)
            seen[frame] = J[:3], Jdot[:3] @ v, peer.pose(frame, q)[:3, 3]
        a = np.zeros(self.robot.nv) if guess is None else guess
        left = h / 2 if centered else h
        for _ in range(passes):
            matrix, right, forces = M.copy(), rest.copy(), []
            for frame, law in self.points.items():
                J, drift, x = seen[frame]
                u = J @ v + h * (drift + J @ a)
                f, D = WORLD_LAWS[type(law)](law, x + left * u, u, h, left)  # type: ignore[operator]
                matrix, right = matrix + J.T @ D @ J, right + J.T @ (f + D @ J @ a)
                forces.append((f + D @ J @ a, D @ J))
            for j, (place, law) in self.joints.items():
                # at the end, q + h (v + h a) and v + h a; at the middle, q + h^2/4 a and v + h/2 a
                moved, pivot = (
                    (0.0, left * law.kv + left * left * law.kp) if centered else (h * v[j], h * law.kv + h * h * law.kp)
                )
                matrix[j, j] += pivot
                right[j] += law.kp * (law.target - q[place] - moved) - law.kv * v[j]
            a = np.linalg.solve(matrix, right)
        return a, [f - DJ @ a for f, DJ in forces], float(np.linalg.cond(matrix))
