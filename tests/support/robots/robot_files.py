"""The URDF files of `example-robot-data`, and what Pinocchio makes of them, in our order and convention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.recursions.newton_euler import bias_forces, inverse_dynamics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.configuration import random_configuration
from kinemorph.model.robot import Robot

Array = np.ndarray

# files that hold no robot whose accelerations are finite; Pinocchio refuses them too, or gives infinite numbers
REFUSED = {
    "bluevolta_bravo7_gripper.urdf": "singular",
    "bravo7_gripper.urdf": "singular",
    "falcon_bravo7_gripper.urdf": "singular",
    "romeo.urdf": "singular",
    "romeo_laas_small.urdf": "singular",
    "falcon.urdf": "name",  # a joint names a link that is not there
    "ur3.urdf": "structure",  # it has no links
}


@cache
def folder() -> Path:
    """Where the package keeps its robots."""
    from importlib.metadata import distribution

    for file in distribution("example-robot-data").files or ():
        if file.suffix == ".urdf":
            path = Path(str(file.locate())).resolve()
            return next(above for above in path.parents if above.name == "robots")
    raise FileNotFoundError("example-robot-data holds no URDF file")


def urdf_files() -> list[Path]:
    """All URDF files of the package, by name."""
    return sorted(folder().rglob("*.urdf"))


def urdf_file(name: str) -> Path:
    """A file by the end of its path; skips where other versions of the package have no such file."""
    found = next((path for path in urdf_files() if path.as_posix().endswith("/" + name)), None)
    if found is None:
        pytest.skip(f"the installed version of example-robot-data has no {name}")
    return found


class Errors(NamedTuple):
    """Largest differences: of poses [m and 1], and of the others as a share of their largest entry."""

    poses: float
    mass_matrix: float
    bias: float
    acceleration: float


class Twin:
    """A URDF file in Pinocchio beside the same file in Kinemorph."""

    def __init__(self, path: Path, robot: Robot, *, free: bool) -> None:
        import pinocchio as pin

        self.robot, self.free = robot, free
        self.model: Any = (
            pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(str(path))
        )
        self.data = self.model.createData()
        # (ours in q, theirs in q, ours in v, theirs in v) of every joint that moves
        self.slots = []
        for index in range(1, self.model.njoints):
            name, joint = self.model.names[index], self.model.joints[index]
            mine = robot.joints[0].name if name == "root_joint" else name
            theirs = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
            self.slots.append((robot.joint(mine), robot.q_slice(mine), theirs[0], robot.v_slice(mine), theirs[1]))
        self.order = np.zeros(robot.nv, dtype=int)  # theirs in our order
        for _, _, _, v, their_v in self.slots:
            self.order[v] = np.arange(their_v.start, their_v.stop)
        assert robot.nv == self.model.nv

    def configuration(self, q: Array) -> Array:
        """Our q as theirs: quaternions xyzw, endless angles as cosine and sine."""
        theirs = np.zeros(self.model.nq)
        for joint, mine, place, _, _ in self.slots:
            values = q[mine]
            if joint.kind == "free":
                values = np.concatenate([values[:3], values[4:], values[3:4]])
            elif joint.kind == "planar":
                values = np.array([values[0], values[1], np.cos(values[2]), np.sin(values[2])])
            elif place.stop - place.start == 2:
                values = np.array([np.cos(values[0]), np.sin(values[0])])
            theirs[place] = values
        return theirs

    def errors(self, rng: np.random.Generator) -> Errors:
        """At one random state."""
        import pinocchio as pin

        robot, tree = self.robot, resolve(self.robot)
        q = random_configuration(robot, rng)
        v, tau = rng.uniform(-1.0, 1.0, robot.nv), rng.uniform(-10.0, 10.0, robot.nv)
        theirs, there = self.configuration(q), np.argsort(self.order)
        # poses of all links
        pin.framesForwardKinematics(self.model, self.data, theirs)
        links = [frame for frame in self.model.frames if frame.type == pin.FrameType.BODY]
        names = ["world_link" if frame.name == "world" and self.free else frame.name for frame in links]
        names = [name if name in tree.attachments else "world" for name in names]
        poses = forward_kinematics(tree, q.tolist(), names)
        off = 0.0
        for frame, pose in zip(links, poses, strict=True):
            at = self.data.oMf[self.model.getFrameId(frame.name, pin.FrameType.BODY)]
            off = max(off, float(np.abs(np.array(pose.R) - at.rotation).max()))
            off = max(off, float(np.abs(np.array(pose.p) - at.translation).max()))
        # dynamics
        if robot.nv == 0:
            return Errors(off, 0.0, 0.0, 0.0)
        upper = np.triu(pin.crba(self.model, self.data, theirs))
        M = (upper + np.triu(upper, 1).T)[np.ix_(self.order, self.order)]
        bias = np.array(pin.nle(self.model, self.data, theirs, v[there]))[self.order]
        a = np.array(pin.aba(self.model, self.data, theirs, v[there], tau[there]))[self.order]
        lists = q.tolist(), v.tolist()
        return Errors(
            off,
            share(mass_matrix(tree, lists[0]), M),
            share(bias_forces(tree, *lists), bias),
            share(forward_dynamics(tree, *lists, tau.tolist()), a),
        )


def share(mine: Any, theirs: Array) -> float:
    """The largest difference as a share of the largest entry."""
    return float(np.abs(np.subtract(mine, theirs)).max() / max(float(np.abs(theirs).max()), 1e-300))


def worst_errors(path: Path, robot: Robot, *, free: bool, states: int = 3) -> Errors:
    """The largest differences over random states."""
    twin, rng = Twin(path, robot, free=free), np.random.default_rng(len(robot.bodies))
    rows = np.array([twin.errors(rng) for _ in range(states)])
    return Errors(*rows.max(axis=0).tolist())


def rounding_of_accelerations(robot: Robot, states: int = 10) -> float:
    """What a rounding of the mass matrix does to accelerations, as a share of them: eps times the condition number.

    Diagonal entries are scaled to 1 first, so that units do not count.
    """
    rng, tree, worst = np.random.default_rng(0), resolve(robot), 0.0
    for _ in range(states):
        M = np.array(mass_matrix(tree, random_configuration(robot, rng).tolist()))
        scale = 1.0 / np.sqrt(np.diag(M))
        worst = max(worst, float(np.linalg.cond(scale[:, None] * M * scale)))
    return float(np.finfo(float).eps) * worst


def differences(one: Robot, other: Robot, frames: Sequence[str], states: int = 2) -> float:
    """The largest difference of two robots with the same coordinates: of poses, and of M, bias and accelerations.

    Poses differ by [m] and 1; M, bias and the forces that belong to accelerations by a share of their largest entry. Of
    the forces, what the first robot's own accelerations miss by rounding does not count.
    """
    first, second, rng = resolve(one), resolve(other), np.random.default_rng(2)
    worst = 0.0
    for _ in range(states):
        q, v = random_configuration(one, rng).tolist(), rng.uniform(-1.0, 1.0, one.nv).tolist()
        if one.nv:
            tau = rng.uniform(-1.0, 1.0, one.nv)
            rounding, off = (
                share(inverse_dynamics(first, q, v, forward_dynamics(tree, q, v, tau.tolist())), tau)
                for tree in (first, second)
            )
            worst = max(
                worst,
                share(mass_matrix(second, q), np.array(mass_matrix(first, q))),
                share(bias_forces(second, q, v), np.array(bias_forces(first, q, v))),
                off - rounding,
            )
        for here, there in zip(*(forward_kinematics(tree, q, frames) for tree in (first, second)), strict=True):
            worst = max(worst, float(np.abs(np.subtract(here.R, there.R)).max()))
            worst = max(worst, float(np.abs(np.subtract(here.p, there.p)).max()))
    return worst
