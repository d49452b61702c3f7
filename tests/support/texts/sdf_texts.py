"""Robots written as SDF in needlessly many ways, for tests of the reader: NumPy only, none of the reader's own code.

Every pose is told relative to a frame drawn at random, as angles, degrees or a quaternion; axes are told in frames
drawn at random; frames hang on each other in chains.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinemorph.algebra.groups import IDENTITY, matrix_of
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_robot

Array = np.ndarray
KINDS = ("revolute", "prismatic", "helical", "universal", "spherical")
TYPES = {
    "revolute": "revolute",
    "prismatic": "prismatic",
    "helical": "screw",
    "universal": "universal",
    "spherical": "ball",
    "fixed": "fixed",
}


def sdf_robot(seed: int, most: int = 20, *, upright: bool = False) -> Robot:
    """A random robot that SDF can say; with an even seed its first tree is free.

    `upright`: axes of universal joints are perpendicular, as Drake wants them.
    """
    robot = random_robot(seed, kinds=KINDS, most=most)
    joints = [replace(joint, armature=(0.0,) * joint.nv) for joint in robot.joints]
    if upright:
        joints = [replace(joint, axis2=_across(joint.axis, joint.axis2)) for joint in joints]
    if seed % 2 == 0:
        root = next(i for i, joint in enumerate(joints) if joint.parent == "world")
        body = joints[root].child
        joints[root] = Joint(f"{body}_root", "free", "world", body, IDENTITY, IDENTITY)
    builder = RobotBuilder(robot.name, robot.gravity).add(*robot.bodies)
    for joint in joints:
        data = {} if joint.kind == "free" else {"axis": joint.axis, "axis2": joint.axis2, "pitch": joint.pitch}
        places = {"placement": joint.placement, "child_placement": joint.child_placement}
        builder.joint(joint.name, joint.kind, joint.parent, joint.child, **places, **data)
    return builder.add(*robot.frames).build()


def _across(axis: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    """The direction of `other`, made perpendicular to `axis`."""
    part = np.array(other) - np.dot(axis, other) * np.array(axis)
    return tuple(float(x) for x in part / max(np.linalg.norm(part), 1e-300)) if part.any() else other


def sdf_of(robot: Robot, seed: int) -> str:
    """The text of a file with one model in a world. Loops and couplings are left out."""
    return _Writer(robot, np.random.default_rng(seed)).text()


class _Writer:
    def __init__(self, robot: Robot, rng: np.random.Generator) -> None:
        self.robot, self.rng = robot, rng
        self.poses: dict[str, Array] = {"__model__": _pose(rng)}  # in the world
        world = {"world": np.eye(4)}
        for joint in robot.order:
            before, after = np.array(matrix_of(joint.placement)), np.array(matrix_of(joint.child_placement))
            T = world[joint.parent] @ before
            world[joint.child] = _pose(rng) if joint.kind == "free" else T @ np.linalg.inv(after)
            if joint.kind != "free":
                self.poses[joint.name] = T
        self.poses |= {name: T for name, T in world.items() if name != "world"}
        for frame in robot.frames:
            self.poses[frame.name] = world[frame.body] @ np.array(matrix_of(frame.placement))
        self.extra = [f"extra{k}" for k in range(4)]
        self.poses |= {name: _pose(rng) for name in self.extra}
        self.order = list(self.poses)
        rng.shuffle(self.order)
        self.order.insert(0, self.order.pop(self.order.index("__model__")))

    def text(self) -> str:
        robot, parts = self.robot, []
        for body in robot.bodies:
            Q = _pose(self.rng)[:3, :3]  # the moments, in axes drawn at random
            xx, xy, xz, yy, yz, zz = (Q.T @ np.array(body.inertia) @ Q)[np.triu_indices(3)]
            C = np.eye(4)
            C[:3, :3], C[:3, 3] = Q, body.com
            names = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
            moments = "".join(f"<{key}>{float(x)!r}</{key}>" for key, x in names.items())
            inertial = (
                f"<inertial>{self._written(C, '')}<mass>{body.mass!r}</mass><inertia>{moments}</inertia></inertial>"
            )
            parts.append(f'<link name="{body.name}">{self._pose(body.name, "__model__")}{inertial}</link>')
        for joint in robot.joints:
            if joint.kind != "free":
                parts.append(self._joint(joint))
        for frame in robot.frames:
            parts.append(
                f'<frame name="{frame.name}" attached_to="{frame.body}">{self._pose(frame.name, frame.body)}</frame>'
            )
        for name in self.extra:
            parts.append(f'<frame name="{name}">{self._pose(name, "__model__")}</frame>')
        self.rng.shuffle(parts)
        model = f'<model name="{robot.name}">{self._written(self.poses["__model__"], "")}{"".join(parts)}</model>'
        gravity = " ".join(map(repr, robot.gravity))
        return f'<sdf version="1.9"><world name="w"><gravity>{gravity}</gravity>{model}</world></sdf>'

    def _joint(self, joint: Joint) -> str:
        axes = ""
        for tag, axis in zip(("axis", "axis2")[: joint.table.axes], joint.axes, strict=False):
            told = str(self.rng.choice(["", *self.order]))
            R = self.poses[joint.name][:3, :3]
            vector = np.array(axis) if not told else self.poses[told][:3, :3].T @ R @ np.array(axis)
            where = f' expressed_in="{told}"' if told else ""
            axes += f"<{tag}><xyz{where}>{_numbers(vector)}</xyz></{tag}>"
        pitch = ""
        if joint.kind == "helical" and self.rng.uniform() < 0.5:
            pitch = f"<screw_thread_pitch>{2.0 * np.pi * joint.pitch!r}</screw_thread_pitch>"
        elif joint.kind == "helical":
            pitch = f"<thread_pitch>{-1.0 / joint.pitch!r}</thread_pitch>"
        return (
            f'<joint name="{joint.name}" type="{TYPES[joint.kind]}"><parent>{joint.parent}</parent>'
            f"<child>{joint.child}</child>{self._pose(joint.name, joint.child)}{axes}{pitch}</joint>"
        )

    def _pose(self, name: str, default: str) -> str:
        """The pose relative to a frame before this one in an order drawn at random, so that no ring forms."""
        place = self.order.index(name)
        told = str(self.rng.choice(self.order[:place]))
        if self.order.index(default) < place and self.rng.uniform() < 0.3:
            told = default
        T = np.linalg.inv(self.poses[told]) @ self.poses[name]
        return self._written(T, "" if told == default else told)

    def _written(self, T: Array, told: str) -> str:
        where = f' relative_to="{told}"' if told else ""
        x, y, z, w = _quaternion(T[:3, :3])
        form = self.rng.integers(3)
        if form == 0 or np.hypot(T[0, 0], T[1, 0]) < 1e-3:  # near a pitch of a right angle, angles lose digits
            return f'<pose rotation_format="quat_xyzw"{where}>{_numbers(T[:3, 3])} {_numbers((x, y, z, w))}</pose>'
        R = T[:3, :3]
        angles = np.array([
            np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])), np.arctan2(R[1, 0], R[0, 0])
        ])  # fmt: skip
        if form == 1:
            return f'<pose degrees="true"{where}>{_numbers(T[:3, 3])} {_numbers(np.degrees(angles))}</pose>'
        return f"<pose{where}>{_numbers(T[:3, 3])} {_numbers(angles)}</pose>"


def _pose(rng: np.random.Generator) -> Array:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = q * np.sign(np.diag(r)), rng.normal(size=3)
    T[:3, 0] *= np.linalg.det(T[:3, :3])
    return T


def _quaternion(R: Array) -> Array:
    """x y z w, by the eigenvector of Bar-Itzhack's matrix."""
    (a, b, c), (d, e, f), (g, h, i) = R
    K = np.array([
        [a - e - i, b + d, c + g, h - f],
        [b + d, e - a - i, f + h, c - g],
        [c + g, f + h, i - a - e, d - b],
        [h - f, c - g, d - b, a + e + i],
    ])  # fmt: skip
    return np.linalg.eigh(K)[1][:, -1]


def _numbers(values: object) -> str:
    return " ".join(repr(float(x)) for x in values)
