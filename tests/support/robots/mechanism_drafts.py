"""Drafts of mechanisms with closed loops: bodies and joints where they stand, from which a robot is built.

Poses of bodies in the world, and for every joint its frame in the world and its coordinates, give the frames on both
bodies. So all loops are closed to rounding, whatever joints close them and whichever of them the robot cuts; nothing
has to be solved.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelWarning
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from support.references.maximal_coordinates import Array, inverse, motion, pose, turn, turn_of_quaternion
from support.robots.random_robots import random_axis, random_body

CLOSING = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "fixed")
FRAMED = ("spherical", "planar", "free", "fixed")  # kinds without an axis: velocities are along the joint frame's own
FREEDOM = {kind: JOINT_KINDS[kind].nv for kind in (*CLOSING, "free")}


@dataclass(frozen=True)
class Hinge:
    """A joint of any kind: its frame on the parent's side in the world (4, 4), and its coordinates."""

    name: str
    kind: str
    parent: str
    child: str
    frame: Array
    q: Array
    axis: tuple[float, ...] = (0.0, 0.0, 1.0)
    axis2: tuple[float, ...] = (1.0, 0.0, 0.0)
    pitch: float = 0.0
    armature: tuple[float, ...] = ()


@dataclass
class Draft:
    """Bodies where they stand, the joints between them, and joints that follow others by a ratio."""

    name: str
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    bodies: dict[str, tuple[Body, Array]] = field(default_factory=dict)  # and their poses in the world (4, 4)
    hinges: list[Hinge] = field(default_factory=list)
    ratios: list[tuple[str, str, float]] = field(default_factory=list)
    cut: str = ""  # the joint that is to close a loop; "": as the robot likes
    mobility: int | None = None  # where theory tells it; it may be more where joints of a row happen to be alike
    exact: bool = True

    def standing(self, body: str) -> Array:
        return np.eye(4) if body == "world" else self.bodies[body][1]

    def built(self) -> tuple[Robot, Array]:
        """The robot and its closed configuration (nq,)."""
        builder = RobotBuilder(self.name, gravity=tuple(map(float, self.gravity)))
        builder.add(*(body for body, _ in self.bodies.values()))
        q = {hinge.name: hinge.q for hinge in self.hinges}
        for hinge in self.hinges:
            moved = hinge.frame @ motion(hinge.kind, hinge.q, hinge.axis, hinge.axis2, hinge.pitch)
            data: dict[str, Any] = {"axis": hinge.axis} if hinge.kind not in FRAMED else {}
            data |= {"axis2": hinge.axis2} if hinge.kind == "universal" else {}
            data |= {"pitch": hinge.pitch} if hinge.kind == "helical" else {}
            data |= {"armature": hinge.armature} if hinge.armature else {}
            builder.joint(
                hinge.name, hinge.kind, hinge.parent, hinge.child, cut=hinge.name == self.cut,
                placement=_posed(inverse(self.standing(hinge.parent)) @ hinge.frame),
                child_placement=_posed(inverse(self.standing(hinge.child)) @ moved), **data,
            )  # fmt: skip
        for joint, leader, ratio in self.ratios:
            builder.couple(joint, leader, ratio, float(q[joint][0] - ratio * q[leader][0]))
        with warnings.catch_warnings():  # a rotor may be on the joint that is cut: it acts on nothing
            warnings.simplefilter("ignore", ModelWarning)
            robot = builder.build()
        declared = {hinge.name: hinge.parent for hinge in self.hinges}
        asked = [(j.kind, q[j.name], j.parent != declared[j.name]) for j in robot.joints]
        return robot, np.concatenate([backward(kind, at) if turned else at for kind, at, turned in asked])

    def closing(self) -> list[Hinge]:
        """The joints that lie in a loop: without any one of them all bodies still hang together."""
        return [hinge for hinge in self.hinges if self._reached(hinge) == {"world", *self.bodies}]

    def _reached(self, without: Hinge) -> set[str]:
        reached, before = {"world"}, 0
        while len(reached) > before:
            before = len(reached)
            for hinge in self.hinges:
                if hinge is not without and {hinge.parent, hinge.child} & reached:
                    reached |= {hinge.parent, hinge.child}
        return reached

    def scaled(self, length: float, mass: float) -> Draft:
        """The same mechanism with all lengths and all masses multiplied."""
        bodies = {}
        for name, (body, stands) in self.bodies.items():
            inertia = np.array(body.inertia) * mass * length**2
            com = _floats(length * np.array(body.com))
            sized = replace(body, mass=mass * body.mass, com=com, inertia=tuple(map(_floats, inertia)))
            bodies[name] = (sized, _longer(stands, length))
        hinges = []
        for hinge in self.hinges:
            slides = sliding(hinge.kind)
            armature = _floats(np.where(slides, mass, mass * length**2)[: len(hinge.armature)] * hinge.armature)
            q = hinge.q.copy()
            q[: len(slides)][slides[: len(q)]] *= length
            sized = replace(hinge, frame=_longer(hinge.frame, length), q=q, pitch=length * hinge.pitch)
            hinges.append(replace(sized, armature=armature))
        per = {hinge.name: length if sliding(hinge.kind).all() else 1.0 for hinge in hinges}
        ratios = [(joint, leader, ratio * per[joint] / per[leader]) for joint, leader, ratio in self.ratios]
        return replace(self, name=f"{self.name}_scaled", bodies=bodies, hinges=hinges, ratios=ratios)

    def askew(self, seed: int) -> Draft:
        """The same mechanism turned in space, every body and every axis described in a turned frame of its own."""
        rng = np.random.default_rng([seed, 11])
        Q = pose(random_turn(rng), rng.normal(size=3))
        bodies = {}
        for name, (body, stands) in self.bodies.items():
            own = pose(random_turn(rng), 0.2 * rng.normal(size=3))
            R = own[:3, :3]
            com = (inverse(own) @ [*body.com, 1.0])[:3]
            inertia = R.T @ np.array(body.inertia) @ R
            seen = replace(body, com=_floats(com), inertia=tuple(map(_floats, 0.5 * (inertia + inertia.T))))
            bodies[name] = (seen, Q @ stands @ own)
        hinges = []
        for hinge in self.hinges:
            R = np.eye(3) if hinge.kind in FRAMED else random_turn(rng)
            axes = {} if hinge.kind in FRAMED else {key: unit(R.T @ getattr(hinge, key)) for key in ("axis", "axis2")}
            hinges.append(replace(hinge, frame=Q @ hinge.frame @ pose(R, np.zeros(3)), **axes))
        name = f"{self.name}_askew"
        return replace(self, name=name, gravity=Q[:3, :3] @ self.gravity, bodies=bodies, hinges=hinges)


def sliding(kind: str) -> npt.NDArray[np.bool_]:
    """Which velocities (nv,) of a kind are along something."""
    return np.array([unit == "m/s" for unit in JOINT_KINDS[kind].v_units], dtype=bool)


def backward(kind: str, q: Array) -> Array:
    """Coordinates of a joint that is turned round."""
    if kind == "universal":
        return q[::-1]
    if kind == "spherical":
        return q * [1.0, -1.0, -1.0, -1.0]
    if kind == "planar":
        x, y, _ = -flat_turn(-q[2]) @ [q[0], q[1], 0.0]
        return np.array([x, y, -q[2]])
    return q


def _longer(T: Array, length: float) -> Array:
    return pose(T[:3, :3], length * T[:3, 3])


def _posed(T: Array) -> Pose:
    return Pose(tuple(map(_floats, T[:3, :3])), _floats(T[:3, 3]))


def _floats(x: Any) -> Any:
    return tuple(float(each) for each in x)


def unit(x: Array) -> tuple[float, ...]:
    return _floats(x / np.linalg.norm(x))


def random_turn(rng: np.random.Generator) -> Array:
    x = rng.normal(size=4)
    return turn_of_quaternion(x / np.linalg.norm(x))


class Drafter:
    """Puts bodies and joints in place, at random where nothing else is said; in the x-y plane where it is `flat`."""

    def __init__(self, name: str, seed: Sequence[int], flat: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.flat = flat
        self.thick = bool(self.rng.uniform() < 0.5)  # links of a flat mechanism side by side along z
        self.draft = Draft(name)
        if flat:
            self.draft.gravity = np.array([0.7, -9.81, 0.0])

    def chance(self, p: float) -> bool:
        return bool(self.rng.uniform() < p)

    def place(self) -> Array:
        """A frame (4, 4) somewhere."""
        rng = self.rng
        if self.flat:
            aside = 0.1 * rng.normal() if self.thick else 0.0
            return pose(flat_turn(rng.uniform(-3.0, 3.0)), (*(0.6 * rng.normal(size=2)), aside))
        return pose(random_turn(rng), 0.5 * rng.normal(size=3))

    def body(self, stands: Array | None = None) -> str:
        name = f"b{len(self.draft.bodies)}"
        self.draft.bodies[name] = (random_body(self.rng, name), self.place() if stands is None else stands)
        return name

    def joint(self, kind: str, parent: str, child: str, frame: Array | None = None, **data: Any) -> Hinge:
        rng, n = self.rng, FREEDOM[kind]
        q = rng.uniform(-1.5, 1.5, size=n)
        if kind in ("spherical", "free"):
            x = rng.normal(size=4)
            q = np.concatenate([rng.normal(size=n - 3), x / np.linalg.norm(x)])
        axes: dict[str, Any] = {}
        if self.flat and kind == "prismatic":
            axes = {"axis": (1.0, 0.0, 0.0)}
        elif not self.flat and kind not in FRAMED and "axis" not in data:
            axes = {"axis": random_axis(rng)}
            axes["axis2"] = unit(np.cross(axes["axis"], rng.normal(size=3)) + 0.3 * np.array(axes["axis"]))
        axes |= {"pitch": float(rng.uniform(0.05, 0.3) * rng.choice([-1, 1]))} if kind == "helical" else {}
        if n and self.chance(0.15):  # such that joints may be turned round: alike about all axes, none along
            rotors = rng.uniform(0.01, 0.2, size=n) if kind not in FRAMED else np.where(sliding(kind), 0.0, 0.05)
            axes |= {"armature": _floats(rotors)}
        hinge = Hinge(f"j{len(self.draft.hinges)}", kind, parent, child, self.place() if frame is None else frame, q)
        self.draft.hinges.append(replace(hinge, **(axes | data)))
        return self.draft.hinges[-1]

    def ear(self, kinds: Sequence[str], start: str, end: str, frames: Sequence[Array] | None = None) -> list[str]:
        """New bodies in a row from one body to another, one fewer than joints.

        Joints point to a body in the middle, or to the end where nothing carries that yet.
        """
        new = [self.body() for _ in kinds[1:]]
        row = [start, *new, end]
        carried = end == "world" or any(hinge.child == end for hinge in self.draft.hinges)
        meet = int(self.rng.integers(1, len(row) - 1)) if new and carried else len(kinds)
        for k, kind in enumerate(kinds):
            ends = (row[k], row[k + 1]) if k < meet else (row[k + 1], row[k])
            self.joint(kind, *ends, frame=frames[k] if frames else None)
        return new

    def base(self, *kinds: str) -> str:
        """The world, or a body that hangs on it by a joint of one of these kinds."""
        kind = str(self.rng.choice(["world", *kinds]))
        if kind == "world":
            return "world"
        body = self.body()
        self.joint(kind, "world", body)
        return body

    def any_body(self) -> str:
        return str(self.rng.choice(["world", *self.draft.bodies]))

    def dangle(self, kinds: Sequence[str], most: int) -> None:
        """Open branches."""
        for _ in range(int(self.rng.integers(0, most + 1))):
            parent = self.any_body()
            self.joint(str(self.rng.choice(kinds)), parent, self.body())


def flat_turn(angle: float) -> Array:
    return turn((0, 0, 1), angle)
