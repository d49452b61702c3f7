"""Seeded random robots for sweeps: any tree, any joint kinds, any axes and offsets. The same seed gives the same robot.

Half of the robots (even seeds) stand on a free base. Structure is mixed on purpose: general numbers find wrong
formulas, coordinate axes and zero offsets find wrong shortcuts, axes that are parallel but for a hair find lost digits.
Branches, several trees, bodies fixed to the world or to each other, joint frames away from the child's frame, rotor
inertias and children declared before their parents all occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose, exp_so3, quat_to_rotation
from kinemorph.algebra.vectors import matmul
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import random_configuration
from kinemorph.model.joint import GIMBAL_ORDERS, JOINT_KINDS
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot

# points on lines and planes are slides and a ball, which robots have anyway; without them seeds keep their robots.
# A gimbal near its singular angle spoils the digits of forward dynamics: `kinds=TURNING` or ALL_KINDS asks for it.
KINDS = tuple(name for name in JOINT_KINDS if name not in ("fixed", "gimbal") and not name.startswith("point"))
ALL_KINDS = (*KINDS, "gimbal")
TURNING = ("revolute", "universal", "gimbal", "spherical")
WEIGHTS = {"revolute": 6.0, "prismatic": 2.0, "free": 0.5}  # the others: 1
COORDINATE_AXES = [tuple(sign * float(i == k) + 0.0 for i in range(3)) for k in range(3) for sign in (1.0, -1.0)]


def random_robot(seed: int, *, kinds: Sequence[str] = KINDS, most: int = 60, symbolic: bool = False) -> Robot:
    """A robot of 1 to `most` degrees of freedom; `symbolic` writes masses, lengths and gravity with parameters."""
    return _Grower(seed, kinds, symbolic).grow(most)


def random_states(robot: Robot, seed: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(q, v, a, tau), each of shape (count, n)."""
    rng = np.random.default_rng([seed, 17])
    q = np.array([random_configuration(robot, rng) for _ in range(count)])
    v, a, tau = rng.normal(size=(3, count, robot.nv)) * np.array([1.0, 2.0, 5.0])[:, None, None]
    return q, v, a, tau


def random_pose(rng: np.random.Generator, reach: float = 0.4) -> Pose:
    """A general pose."""
    return Pose(_rotation(rng), tuple(map(float, rng.normal(size=3) * reach)))


def random_axis(rng: np.random.Generator) -> tuple[float, ...]:
    """A general unit vector."""
    axis = rng.normal(size=3)
    return tuple(map(float, axis / np.linalg.norm(axis)))


def random_body(rng: np.random.Generator, name: str) -> Body:
    """A general body of about 1 kg and 0.3 m."""
    mass = float(np.exp(rng.uniform(-1.0, 1.0)))
    a, b, c = mass * rng.uniform(0.005, 0.03, size=3)  # second moments, so that the triangle inequalities hold
    Q = np.array(_rotation(rng))
    inertia = Q @ np.diag([b + c, a + c, a + b]) @ Q.T
    rows = tuple(tuple(map(float, row)) for row in 0.5 * (inertia + inertia.T))
    return Body(name, mass, tuple(map(float, rng.normal(size=3) * 0.1)), rows)  # type: ignore[arg-type]


def joint_data(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    """General data for one joint of a kind: axes, pitch, a joint frame away from both bodies' frames."""
    data: dict[str, Any] = {"placement": random_pose(rng), "child_placement": random_pose(rng)}
    if kind not in ("planar", "point_on_plane"):
        data["axis"] = random_axis(rng)
    if kind == "universal":
        data["axis2"] = _second_axis(rng, data["axis"])
    if kind == "gimbal":
        data["order"] = str(rng.choice(GIMBAL_ORDERS))
    if kind == "helical":
        data["pitch"] = -0.23
    return data


def uneven_armature(kind: str) -> list[float]:
    """Rotor inertias that differ from each other: they add to the diagonal of M and to nothing else."""
    return [0.07 + 0.04 * k for k in range(JOINT_KINDS[kind].nv)]


class _Grower:
    def __init__(self, seed: int, kinds: Sequence[str], symbolic: bool) -> None:
        self.rng = np.random.default_rng([seed, 3])
        self.free_base = seed % 2 == 0 and "free" in kinds
        self.kinds, self.symbolic = kinds, symbolic
        if self.chance(0.5):  # so that many of the large robots too can be built without it
            self.kinds = [kind for kind in kinds if kind != "helical"] or kinds
        self.bodies: list[Body] = []
        self.joints: list[dict[str, Any]] = []
        self.trunkiness = self.rng.uniform()  # 1: one long chain, 0: a bush
        self.generality = self.rng.uniform()  # 1: general numbers, 0: coordinate axes and zeros
        self.armature = self.chance(0.3)
        self.parameters = 0
        self.name = f"random{seed}"

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def grow(self, most: int) -> Robot:
        rng = self.rng
        wanted = (
            int(rng.integers(1, most + 1)) if self.chance(0.4) else round(float(np.exp(rng.uniform(0, np.log(most)))))
        )
        wanted = max(wanted, 6 if self.free_base else 1)
        trees, dof = int(rng.choice([1, 2, 3], p=[0.8, 0.15, 0.05])), 0
        while dof < wanted:
            parent = self._parent(trees)
            allowed = [kind for kind in self.kinds if JOINT_KINDS[kind].nv <= wanted - dof]
            if not self.bodies and self.free_base:
                kind = "free"
            elif self.chance(0.12) or not allowed:
                kind = "fixed"
            else:
                weights = np.array([WEIGHTS.get(kind, 1.0) for kind in allowed])
                kind = str(rng.choice(allowed, p=weights / weights.sum()))
            if kind == "fixed" and not allowed:
                break
            self._add(kind, parent)
            dof += JOINT_KINDS[kind].nv
        if self.chance(0.3):
            rng.shuffle(self.joints)  # type: ignore[arg-type]
        gravity = (0.0, 0.0, -9.81) if self.chance(0.8) else tuple(map(float, rng.normal(size=3) * 5.0))
        builder = RobotBuilder(self.name, gravity=tuple(self._named(x) for x in gravity)).add(*self.bodies)
        for joint in self.joints:
            builder.joint(**joint)
        return builder.frame("tool", self.bodies[-1].name, placement=random_pose(rng)).build()

    def _parent(self, trees: int) -> str:
        roots = sum(joint["parent"] == "world" for joint in self.joints)
        if roots == 0 or (roots < trees and self.chance(0.2)):
            return "world"
        if self.chance(self.trunkiness):
            return self.bodies[-1].name
        return self.bodies[int(self.rng.integers(len(self.bodies)))].name

    def _add(self, kind: str, parent: str) -> None:
        n, rng, row = len(self.bodies), self.rng, JOINT_KINDS[kind]
        name = f"b{n}"
        body = random_body(rng, name)
        com = tuple(self._named(x) for x in body.com)
        inertia = tuple(
            tuple(self._named(x) if i == k else x for k, x in enumerate(r)) for i, r in enumerate(body.inertia)
        )
        self.bodies.append(Body(name, self._named(body.mass), com, inertia))  # type: ignore[arg-type]
        joint: dict[str, Any] = {"name": f"j{n}", "kind": kind, "parent": parent, "child": name}
        joint["placement"] = self._placement()
        if self.chance(0.3):
            joint["child_placement"] = self._placement()
        if kind not in ("planar", "point_on_plane"):
            joint["axis"] = self._axis()
        if kind == "universal":
            joint["axis2"] = _second_axis(rng, joint["axis"])
        if kind == "gimbal":
            joint["order"] = str(rng.choice(GIMBAL_ORDERS))
        if kind == "helical":
            joint["pitch"] = self._named(float(rng.uniform(-0.3, 0.3)))
        if self.armature and self.chance(0.5) and row.nv:
            along = self.chance(0.2)  # rotor inertia along x and y of a plane or space is rare, but legal
            joint["armature"] = [
                self._named(float(rng.uniform(0.01, 0.2))) if along or row.nv < 3 or unit == "rad/s" else 0.0
                for unit in row.v_units
            ]
        self.joints.append(joint)

    def _axis(self) -> tuple[float, ...]:
        if self.chance(self.generality):
            return random_axis(self.rng)
        return COORDINATE_AXES[int(self.rng.integers(6))]

    def _placement(self) -> Pose:
        rng = self.rng
        if self.chance(self.generality):
            R = _rotation(rng)
        elif self.chance(0.5):
            R = IDENTITY.R
        else:  # a quarter turn about a coordinate axis
            x, y, z = COORDINATE_AXES[int(rng.integers(6))]
            half = float(np.sqrt(0.5))
            R = tuple(
                tuple(float(round(e)) for e in row) for row in quat_to_rotation((half, half * x, half * y, half * z))
            )
        if self.chance(0.1):  # axes that are parallel but for a hair, as files write them
            R = matmul(R, exp_so3(tuple(rng.normal(size=3) * 10.0 ** rng.uniform(-16, -1))))
        p = rng.normal(size=3) * 0.3
        if not self.chance(self.generality):
            p = p * rng.integers(0, 2, size=3)
        return Pose(R, tuple(self._named(float(x)) for x in p))

    def _named(self, x: float) -> Any:
        """The number, or a parameter of that value where the robot is symbolic and the number no structural zero."""
        if not self.symbolic or x == 0.0:
            return x
        self.parameters += 1
        return Parameter(f"p{self.parameters}", x)


def _rotation(rng: np.random.Generator) -> tuple[tuple[float, ...], ...]:
    quaternion = rng.normal(size=4)
    return tuple(tuple(map(float, row)) for row in quat_to_rotation(tuple(quaternion / np.linalg.norm(quaternion))))


def _second_axis(rng: np.random.Generator, axis: Sequence[float]) -> tuple[float, ...]:
    """A direction at least 17 degrees off the first axis."""
    while True:
        second = random_axis(rng) if rng.uniform() < 0.5 else COORDINATE_AXES[int(rng.integers(6))]
        if np.linalg.norm(np.cross(axis, second)) > 0.3:
            return second


def robot_of_kind(kind: str, *, chained: bool, seed: int = 1) -> Robot:
    """One joint of a kind alone, or between two revolute ones: general frames, axes, bodies; uneven rotor inertias."""
    rng = np.random.default_rng([seed, 5])
    kinds = ("revolute", kind, "revolute") if chained else (kind,)
    builder = RobotBuilder(f"{kind}{'_chained' if chained else ''}", gravity=(1.0, -2.0, -9.0))
    for n, each in enumerate(kinds):
        builder.add(random_body(rng, f"b{n}"))
        data = joint_data(rng, each) | {"armature": uneven_armature(each)}
        builder.joint(f"j{n}", each, f"b{n - 1}" if n else "world", f"b{n}", **data)
    return builder.frame("tool", f"b{len(kinds) - 1}", placement=random_pose(rng)).build()
