"""Seeded robots that are hard to compute: almost-coordinate axes, dusty quarter turns, unlike masses and lengths.

What files really hold: cos(pi/2) = 6e-17 in a rotation, an axis that is vertical but for the last digit, numbers
rounded to nine decimals, a gripper of grams on an arm of tons, a body drawn 100 m from its own frame, a base 1 km from
the origin, massless bodies in between. The same seed gives the same robot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kinemorph.errors import ModelError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot

KINDS = ["revolute"] * 6 + ["prismatic"] * 3 + ["fixed"] * 2
KINDS += ["helical", "cylindrical", "universal", "spherical", "planar", "free"]


class Hard:
    """The draws behind one robot. `rounded`: its rotations, axes and places have nine decimals."""

    def __init__(self, seed: int, attempt: int) -> None:
        self.rng = rng = np.random.default_rng([seed, attempt, 29])
        self.rounded, self.far_base = self.chance(0.25), self.chance(0.3)
        self.masses, self.sizes = (-6, 4) if self.chance(0.5) else (-1, 1), (-3, 3) if self.chance(0.5) else (-1, 0.5)
        self.builder = RobotBuilder(f"hard{seed}", gravity=[(0.0, 0.0, -9.81), (3.0, -2.0, 1.0)][int(rng.integers(2))])

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def ten_to(self, low: float, high: float, shape: Any = None) -> Any:
        return 10.0 ** self.rng.uniform(low, high, size=shape)

    def near_unit(self, draw: Callable[[], np.ndarray], error: Callable[[np.ndarray], float]) -> np.ndarray:
        """A draw, or its nine decimals where these are as near to unit length as a robot may be given."""
        while True:
            x = draw()
            if self.rounded:
                x = np.round(x, 9) + 0.0
            if error(x) < 0.9e-9:
                return x

    def axis(self) -> np.ndarray:
        def draw() -> np.ndarray:
            u = np.eye(3)[self.rng.integers(3)] * self.rng.choice([-1.0, 1.0])
            kind = self.rng.integers(3)
            if kind == 0:
                return u + 0.0
            u = self.rng.normal(size=3) if kind == 1 else u + self.rng.normal(size=3) * self.ten_to(-17, -1)
            return u / np.linalg.norm(u)

        return self.near_unit(draw, lambda u: abs(float(np.linalg.norm(u)) - 1.0))

    def rotation(self) -> np.ndarray:
        def draw() -> np.ndarray:
            R, angles = np.eye(3), np.pi / 2 * self.rng.integers(-2, 3, size=3)
            for k, angle in enumerate(angles[: self.rng.integers(4)]):
                c, s, (i, j) = np.cos(angle), np.sin(angle), ((1, 2), (2, 0), (0, 1))[k]  # with dust: cos(pi/2) > 0
                turn = np.eye(3)
                turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
                R = R @ turn
            if self.chance(0.5):
                R = np.round(R) + 0.0
            if self.chance(0.3):
                R = R @ Rotation.from_rotvec(self.rng.normal(size=3) * self.ten_to(-16, -1)).as_matrix()
            return Rotation.from_rotvec(self.rng.normal(size=3) * 2.0).as_matrix() if self.chance(0.2) else R

        return self.near_unit(draw, lambda R: float(np.abs(R @ R.T - np.eye(3)).max()))

    def place(self) -> np.ndarray:
        p = self.rng.normal(size=3) * self.ten_to(*self.sizes) * self.rng.integers(0, 2, size=3)
        if self.chance(0.1):
            p = p + self.rng.normal(size=3) * self.ten_to(-17, -6)
        return np.round(p, 9) + 0.0 if self.rounded else p

    def pose(self, away: Any = 0.0) -> np.ndarray:
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = self.rotation(), self.place() + away
        return T

    def build(self) -> Robot:
        rng, count = self.rng, int(self.rng.integers(1, 7))
        for n in range(count):
            kind = "free" if n == 0 and self.chance(0.3) else str(rng.choice(KINDS))
            parent = "world" if n == 0 or self.chance(0.1) else f"b{rng.integers(max(0, n - 2), n)}"
            away = rng.normal(size=3) * self.ten_to(0, 3) if self.chance(0.25) else np.zeros(3)  # body off its frame
            self._body(f"b{n}", away)
            base = np.array([1e3, -5e2, 2e2]) if parent == "world" and self.far_base and kind != "free" else 0.0
            data: dict[str, Any] = {"placement": self.pose(base), "child_placement": self.pose(away)}
            if JOINT_KINDS[kind].axes:
                data["axis"] = self.axis()
            if kind == "universal":
                data["axis2"] = self.axis()
            if kind == "helical":
                data["pitch"] = float(rng.normal())
            if self.chance(0.4):
                data["armature"] = self.ten_to(-3, 1, JOINT_KINDS[kind].nv).tolist()
            self.builder.joint(f"j{n}", kind, parent, f"b{n}", **data)
        return self.builder.frame("tool", f"b{count - 1}", placement=self.pose()).build()

    def _body(self, name: str, away: np.ndarray) -> None:
        rng, mass, reach = self.rng, float(self.ten_to(*self.masses)), 0.3 * float(self.ten_to(*self.sizes))
        points = rng.normal(size=(3, 5)) * reach  # the body as five points, about their center
        second = mass / 5.0 * points @ points.T
        inertia = np.trace(second) * np.eye(3) - second
        if self.chance(0.5):
            inertia = np.diag(np.diag(inertia))
        com = rng.normal(size=3) * reach * rng.integers(0, 2, size=3) + away
        kind = rng.uniform()
        if kind < 0.15:
            mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        elif kind < 0.3:
            inertia = np.zeros((3, 3))
        self.builder.body(name, mass, com=com, inertia=inertia)


def hard_robot(seed: int) -> Robot:
    """The first draw of this seed that is a robot: parts without inertia that move freely are refused."""
    for attempt in range(1000):
        try:
            robot = Hard(seed, attempt).build()
        except ModelError:
            continue
        if robot.nv:
            return robot
    raise AssertionError(f"seed {seed} gave no robot")


def hard_state(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, v, tau): speeds up to 100, free bases of every second seed about 1 km from the origin."""
    rng = np.random.default_rng([seed, 31])
    q = random_configuration(robot, rng)
    for joint in robot.joints:
        if joint.kind == "free" and joint.parent == "world" and seed % 2:
            q[robot.q_slice(joint.name)][:3] += [-7e2, 1e3, 3e2]
    v = rng.uniform(-1, 1, size=robot.nv) * 10.0 ** rng.uniform(-1, 2)
    return q, v, rng.normal(size=robot.nv) * 10.0 ** rng.uniform(-1, 3)
