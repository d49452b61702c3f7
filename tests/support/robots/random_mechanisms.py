"""Seeded random mechanisms with closed loops: linkages in the plane and in space. The same seed gives the same one.

A mechanism is drafted where it stands: poses of its bodies in the world, and for every joint its frame in the world and
its coordinates. From these follow the frames on both bodies, so all loops are closed to rounding, whatever joints close
them and whichever of them the robot cuts; nothing has to be solved. Over-constrained mechanisms are placed by their
geometry: hinges through one point, half-turns about a line, equal cranks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
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


# ── drafts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── in the plane ──────────────────────────────────────────────────────────────────────────────────────────────────────


def flat(joints: int, *dyads: str) -> Callable[[Drafter], None]:
    """A ring of hinges on a base, then rows of three hinges between bodies; "near", "far" or "any" says which."""

    def drawn(d: Drafter) -> None:
        base = d.base("planar", "free", "prismatic", "fixed")
        ring = d.ear(["revolute"] * joints, base, base)
        for between in dyads:
            links = [base, *ring]
            first = int(d.rng.integers(len(ring)))
            step = {"near": 1, "far": 2, "any": int(d.rng.integers(1, len(links)))}[between]
            d.ear(["revolute"] * 3, links[first], links[(first + step) % len(links)])
        d.draft.mobility = joints - 3 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)

    return drawn


def sliders(d: Drafter) -> None:
    """Rings of four or five joints, some of them sliding; at least two turn. A dyad with one slider at times."""
    base = d.base("planar", "free")
    count = int(d.rng.integers(4, 6))
    kinds = ["revolute"] * count
    for k in d.rng.choice(count, size=int(d.rng.integers(1, count - 1)), replace=False):
        kinds[k] = "prismatic"
    ring = d.ear(kinds, base, base)
    if d.chance(0.4):
        kinds = ["revolute"] * 3
        kinds[int(d.rng.integers(3))] = "prismatic"
        d.ear(kinds, ring[0], ring[-1])


def all_sliders(d: Drafter) -> None:
    """Four sliders in a ring, in the plane: nothing turns."""
    base = d.base("planar")
    d.ear(["prismatic"] * 4, base, base)
    d.draft.mobility = 2 + (3 if base != "world" else 0)


def tower(stories: int) -> Callable[[Drafter], None]:
    """Four-bars on top of each other, each on the coupler of the one below."""

    def drawn(d: Drafter) -> None:
        base = "world"
        for _ in range(stories):
            base = d.ear(["revolute"] * 4, base, base)[1]
        d.draft.mobility = stories

    return drawn


def many_flat_loops(d: Drafter) -> None:
    base = d.base("planar", "free")
    links = [base, *d.ear(["revolute"] * int(d.rng.integers(4, 7)), base, base)]
    for _ in range(int(d.rng.integers(2, 5))):
        a, b = d.rng.choice(len(links), size=2, replace=False)
        kinds = ["revolute"] * 3
        if d.chance(0.2):
            kinds[int(d.rng.integers(3))] = "prismatic"
        links += d.ear(kinds, links[a], links[b])
    d.dangle(["revolute", "prismatic"], 2)


def cranks(count: int, angle: float | None = None) -> Callable[[Drafter], None]:
    """A coupler on equal cranks that stay parallel: every crank after the second repeats what the others say."""

    def drawn(d: Drafter) -> None:
        base = d.base("planar", "free") if angle is None else "world"
        turned = d.rng.uniform(0.3, 1.2) if angle is None else angle
        arm = 0.5 * np.array([np.cos(turned), np.sin(turned), 0.0])
        coupler = d.body()
        for k in range(count):
            aside = 0.1 * d.rng.normal() if angle is None else 0.0
            foot = np.array([0.6 * k, aside, 0.0]) + d.rng.uniform(0.0, 0.1, size=3) * [1, angle is None, angle is None]
            crank = d.body()
            d.joint("revolute", base, crank, frame=pose(np.eye(3), foot))
            ends = (crank, coupler) if d.chance(0.5) or k == 0 else (coupler, crank)
            d.joint("revolute", *ends, frame=pose(np.eye(3), foot + arm))
        d.draft.mobility = 1 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)

    return drawn


# ── over-constrained in space ─────────────────────────────────────────────────────────────────────────────────────────


def ring(d: Drafter, frames: Sequence[Array], kind: str = "revolute") -> list[str]:
    """Bodies in a ring, held together by joints along the z axes of frames in the world (4, 4)."""
    base = d.base("free", "spherical", "revolute")
    meet = int(d.rng.integers(1, len(frames)))
    links = [base, *(d.body() for _ in frames[1:]), base]
    for k, frame in enumerate(frames):
        ends = (links[k], links[k + 1]) if k < meet else (links[k + 1], links[k])
        d.joint(kind, *ends, frame=frame, axis=(0.0, 0.0, 1.0))
    d.draft.mobility = 1 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)
    return links


def z_along(axis: Array, origin: Array) -> Array:
    """A frame (4, 4) whose z axis has this direction."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return pose(np.stack([x, np.cross(z, x), z], axis=1), origin)


def spherical_ring(d: Drafter) -> None:
    """Four hinges through one point."""
    center = d.rng.normal(size=3)
    ring(d, [z_along(z, center + d.rng.normal() * z) for z in map(np.array, [random_axis(d.rng) for _ in range(4)])])


def bennett(d: Drafter) -> None:
    """Four hinges of which no two meet: opposite links alike, sin(twist) in proportion to the length (Bennett 1903)."""
    alpha, beta, a = d.rng.uniform(0.3, 1.2), d.rng.uniform(1.5, 2.5), d.rng.uniform(0.3, 0.8)
    b = a * np.sin(beta) / np.sin(alpha)
    first = d.rng.uniform(0.5, 2.5)
    second = 2.0 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * first))
    frames, T = [], d.place()
    for angle, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)):
        frames.append(T)
        T = T @ pose(flat_turn(angle), np.zeros(3)) @ pose(turn((1, 0, 0), twist), (length, 0.0, 0.0))
    assert np.abs(T - frames[0]).max() < 1e-12, np.abs(T - frames[0]).max()
    ring(d, frames)


def bricard(d: Drafter) -> None:
    """Six hinges, the last three the first three turned by half a turn about a line (Bricard 1897, line-symmetric)."""
    line = z_along(np.array(random_axis(d.rng)), 0.3 * d.rng.normal(size=3))
    half = line @ pose(np.diag([-1.0, -1.0, 1.0]), np.zeros(3)) @ inverse(line)
    three = [d.place() for _ in range(3)]
    ring(d, [*three, *(half @ frame for frame in three)])


def cube(d: Drafter) -> None:
    """Bricard's trihedral ring along six edges of a cube."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)]
    edges = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    size, T = d.rng.uniform(0.3, 1.0), d.place()
    ring(
        d,
        [T @ z_along(np.array(e, dtype=float), size * np.array(c, float)) for e, c in zip(edges, corners, strict=True)],
    )


def sarrus(d: Drafter) -> None:
    """A plate on two or three legs of three parallel hinges each, in different planes: it goes along a line."""
    base, plate = d.base("free", "prismatic"), d.body()
    for k in range(int(d.rng.integers(2, 4))):
        across = np.array([np.cos(1.9 * k + 0.2), np.sin(1.9 * k + 0.2), 0.0])
        d.ear(["revolute"] * 3, base, plate, [z_along(across, 0.5 * d.rng.normal(size=3)) for _ in range(3)])
    for at in range(len(d.draft.hinges)):
        if d.draft.hinges[at].kind == "revolute":
            d.draft.hinges[at] = replace(d.draft.hinges[at], axis=(0.0, 0.0, 1.0))
    d.draft.mobility = 1 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)


def space_sliders(d: Drafter) -> None:
    """Four sliders in different directions: a ring in which nothing turns."""
    ring(d, [d.place() for _ in range(4)], "prismatic")


def door(d: Drafter) -> None:
    """A body on two or three hinges in one line, with a driven row of links on it."""
    base = d.base("free")
    leaf, post = d.body(), d.place()
    for k in range(int(d.rng.integers(2, 4))):
        d.joint("revolute", base, leaf, frame=post @ pose(np.eye(3), (0.0, 0.0, 0.4 * k)), axis=(0.0, 0.0, 1.0))
    d.draft.mobility = 1 + (6 if base != "world" else 0)
    if d.chance(0.5):
        d.ear(["spherical", "spherical", "revolute"], base, leaf)
        d.draft.mobility += 1  # and the link between two balls spins


# ── in space ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def row_of_joints(d: Drafter, freedom: int, closing: str | None = None) -> list[str]:
    """Kinds of joints with so much freedom together, two to seven of them."""
    while True:
        kinds = [str(kind) for kind in d.rng.choice(CLOSING, size=int(d.rng.integers(1, 7)))]
        kinds += [closing] if closing else []
        if len(kinds) > 1 and sum(FREEDOM[kind] for kind in kinds) == freedom:
            d.rng.shuffle(kinds)
            return kinds


def space(loops: int, closing: str | None = None) -> Callable[[Drafter], None]:
    """Rows of joints of any kinds from body to body, one after the other; the first has one of the kind `closing`."""

    def drawn(d: Drafter) -> None:
        base = d.base("free", "spherical", "cylindrical", "fixed")
        links, spare = [base], 0
        for k in range(loops):
            freedom = int(d.rng.integers(7, 10)) if spare == 0 else int(d.rng.integers(6, 9))
            start, end = base, links[int(d.rng.integers(len(links)))]
            links += d.ear(row_of_joints(d, freedom, closing if k == 0 else None), start, end)
            spare += freedom - 6
        d.dangle(["revolute", "spherical", "universal", "helical", "planar", "fixed"], 2)
        own = sum(FREEDOM[h.kind] for h in d.draft.hinges)
        d.draft.mobility, d.draft.exact = own - 6 * loops, False

    return drawn


def coupled(d: Drafter) -> None:
    """A loop, and joints that follow others by a ratio: in the loop, next to it, and one that follows the follower."""
    base = d.base("free")
    links = d.ear(row_of_joints(d, int(d.rng.integers(8, 11))), base, base)
    tip = links[-1] if links else base
    names = []
    for _ in range(3):
        tip, parent = d.body(), tip
        names.append(d.joint(str(d.rng.choice(["revolute", "prismatic", "helical"])), parent, tip).name)
    d.draft.ratios = [(names[1], names[0], float(d.rng.uniform(-2.0, 2.0)))]
    d.draft.ratios += [(names[2], names[1], float(d.rng.uniform(-2.0, 2.0)))] if d.chance(0.5) else []
    robot, _ = d.draft.built()
    inside = [j.name for j in robot.joints if j.nv == 1 and j.name not in names]
    if len(inside) >= 2:
        d.draft.ratios.append((inside[-1], inside[0], float(d.rng.uniform(0.5, 2.0))))


# ── nearly singular ───────────────────────────────────────────────────────────────────────────────────────────────────


def near(kind: str, by: float) -> Callable[[Drafter], None]:
    """A ring of four joints that are off a plane (their directions), or a plate on legs that are off parallel, by so
    much [rad]: exactly on it there would be one freedom more, or two.
    """

    def drawn(d: Drafter) -> None:
        if kind == "legs":
            plate = d.body()
            for k in range(2):
                across = np.array([np.cos(by * k), np.sin(by * k), 0.0])
                frames = [z_along(across, 0.5 * d.rng.normal(size=3)) for _ in range(3)]
                d.ear(["revolute"] * 3, "world", plate, frames)
            d.draft.hinges = [replace(hinge, axis=(0.0, 0.0, 1.0)) for hinge in d.draft.hinges]
            d.draft.mobility = 1
            return
        T, center = d.place(), np.zeros(3)
        ways = [
            np.array([np.cos(k), np.sin(k), by * d.rng.choice([-1, 1]) * d.rng.uniform(0.5, 2.0)]) for k in range(4)
        ]
        ring(d, [T @ z_along(way, center) for way in ways], kind)

    return drawn


NEARLY: dict[str, Callable[[float], Callable[[Drafter], None]]] = {
    "flat_cranks": lambda by: cranks(2, by),
    "three_flat_cranks": lambda by: cranks(3, by),
    "parallel_legs": lambda by: near("legs", by),
    "sliders_in_a_plane": lambda by: near("prismatic", by),
    "hinges_in_a_plane": lambda by: near("revolute", by),
}


# ── families ──────────────────────────────────────────────────────────────────────────────────────────────────────────


FLAT: dict[str, Callable[[Drafter], None]] = {
    "four_bar": flat(4),
    "five_bar": flat(5),
    "watt": flat(4, "near"),
    "stephenson": flat(4, "far"),
    "six_ring": flat(6, "any"),
    "slider": sliders,
    "all_sliders": all_sliders,
    "many_flat_loops": many_flat_loops,
    "three_cranks": cranks(3),
    "four_cranks": cranks(4),
}
REPEATING: dict[str, Callable[[Drafter], None]] = {
    "spherical_ring": spherical_ring,
    "bennett": bennett,
    "bricard": bricard,
    "cube": cube,
    "sarrus": sarrus,
    "space_sliders": space_sliders,
    "door": door,
}
WITH: dict[str, Callable[[Drafter], None]] = {f"with_{kind}": space(1, kind) for kind in CLOSING}
SPACE: dict[str, Callable[[Drafter], None]] = {
    **WITH,
    "two_loops": space(2),
    "three_loops": space(3),
    "coupled": coupled,
}
FAMILIES = FLAT | REPEATING | SPACE


def random_mechanism(seed: int) -> Draft:
    """A mechanism of the family whose turn it is. Every other is cut at a joint of its loops that is drawn by lot."""
    family = list(FAMILIES)[seed % len(FAMILIES)]
    draft = drafted(FAMILIES[family], family, seed, flat=family in FLAT)
    kind = family.removeprefix("with_")
    cuts = [hinge.name for hinge in draft.closing() if hinge.kind == kind or family not in WITH]
    if (family in WITH or seed // len(FAMILIES) % 2) and not draft.ratios:
        draft.cut = str(np.random.default_rng([seed, 29]).choice(cuts))
    return draft


def drafted(family: Callable[[Drafter], None], name: str, seed: int, *, flat: bool = False) -> Draft:
    d = Drafter(f"{name}_{seed}", [seed, 17], flat)
    family(d)
    return d.draft
