"""Kinds of modules: parts, the joints between them, and the ports at which modules dock.

A module has its own frame at its middle. Its sides are counted like those of a die: 3 is +x, 4 is -x, 5 is +y, 2 is -y,
1 is +z and 6 is -z. In the initial configuration, where all joints are at 0, modules dock face to face:

    T_ab = P_a turned(k) P_b^-1

with P the pose of a port in its module (z out of the side, y up) and `turned(k)` half a turn about y, then k quarter
turns about the z of b's port. For k = 0 both modules stand upright, and module b lies across side a of module a.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property, partial
from numbers import Real
from typing import Any, Literal, TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.body import Body, Vector
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import joint_pose
from kinemorph.model.input_reader import short
from kinemorph.model.joint import Axis, Joint
from kinemorph.model.modules.cube_shapes import SIDES
from kinemorph.model.parameter import Symbolic
from kinemorph.model.topology import Edge, spanning_tree
from kinemorph.shown import Shown
from kinemorph.words import counted, listed

Side: TypeAlias = int | str
DYADS = ("halves", "adapted")  # modules as they are built, and as one body each; see `organisms`

# half a turn about y, then quarter turns about its own z: how a port looks from the one that it is docked to
TURNED: tuple[Pose, ...] = tuple(
    Pose(((-c, s, 0.0), (s, c, 0.0), (0.0, 0.0, -1.0)), (0.0, 0.0, 0.0))
    for c, s in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
)


@dataclass(frozen=True)
class Port:
    """A place where another module docks: its `side`, the `body` (part) that carries it, and its pose there.

    The z axis of `pose` points out of the module, its y axis is up.
    """

    side: Side
    body: str
    pose: Pose


@dataclass(frozen=True)
class JointModule:
    """A joint between two docked ports, as in Chen and Yang's kits: it turns about or slides along the ports' normal.

    `axis` is in the port's frame. `lower`, `upper` [rad or m], `velocity`, `effort` and `damping` as for a Joint.
    """

    kind: Literal["revolute", "prismatic"]
    letter: str
    axis: Axis = (0.0, 0.0, 1.0)
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    damping: float = 0.0


@dataclass(frozen=True)
class ModuleType(Shown):
    """A kind of module. Names of bodies and joints are its own: in a robot they follow the name of the module.

    `bodies`    its parts, the first one first when the module is a base
    `joints`    between them; the parts hang together
    `ports`     where other modules dock
    `pitch`     [m] from a module to the next one beside it
    `cells`     how many cells of a grid it fills along x, y and z
    `hinge`     the joint that bends it, "" where none does
    """

    name: str
    letter: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...] = ()
    ports: tuple[Port, ...] = ()
    pitch: float = 0.1
    cells: tuple[int, int, int] = (1, 1, 1)
    hinge: str = ""

    def __post_init__(self) -> None:
        problems = _problems(self)
        if problems:
            raise ModelError(problems)

    def __repr__(self) -> str:
        joints = counted(len(self.joints), "joint")
        ports = "ports " + ", ".join(str(port.side) for port in self.ports) if self.ports else "no ports"
        return f"<ModuleType '{self.name}' ({self.letter}): {joints}, {ports}>"

    @property
    def size(self) -> Vector:
        """Edges [m] of the box that it fills."""
        x, y, z = self.cells
        return (x * self.pitch, y * self.pitch, z * self.pitch)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that dock."""
        return tuple(port.side for port in self.ports)

    def port(self, side: Side) -> Port:
        """The port on a side."""
        for port in self.ports:
            if port.side == side:
                return port
        what = f"it has no port on side {side!r}; its ports are {listed(self.sides)}"
        raise ModelError(Problem("module type", self.name, what, "Choose one of them."))

    def joint(self, name: str) -> Joint:
        """A joint by its own name."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        what = f"it has no joint {name!r}; its joints are {listed(joint.name for joint in self.joints)}"
        raise ModelError(Problem("module type", self.name, what, "Choose one of them."))

    @cached_property
    def part_poses(self) -> dict[str, Pose]:
        """The pose of every part in the module's frame, which is that of the first part, where all joints are at 0."""
        edges = [Edge(joint.name, joint.parent, joint.child) for joint in self.joints]
        tree = spanning_tree([body.name for body in self.bodies], edges, self.bodies[0].name)
        poses = {tree.root: IDENTITY}
        for step in tree.steps:
            joint = self.joint(step.edge.name)
            T_PB = joint_pose(joint, list(joint.table.neutral))
            poses[step.child] = compose(poses[step.parent], inverse(T_PB) if step.against else T_PB)
        return poses

    def port_pose(self, side: Side) -> Pose:
        """The pose of a port in the module's frame, where all joints are at 0."""
        port = self.port(side)
        return compose(self.part_poses[port.body], port.pose)


def side_port(side: int, body: str, reach: float) -> Port:
    """A port on a side of a cube, 1 to 6 as on a die (see above), `reach` [m] from the middle of the module."""
    if side not in SIDES:
        raise ModelError(f"side_port is asked for side {side!r}; expected 1 to 6, as on a die. Use Port for others.")
    if not isinstance(reach, (Real, Symbolic)):
        raise ModelError(f"side_port: reach of side {side} is {reach!r}; expected a length [m].")
    R = SIDES[side]
    return Port(side, body, Pose(R, (R[0][2] * reach, R[1][2] * reach, R[2][2] * reach)))


def strangers(kind: str, owner: Any, types: Mapping[str, type], remedy: str) -> list[Problem]:
    """Entries of fields that have the wrong type; `types` are the right ones by the name of the field."""
    found = []
    for key, expected in types.items():
        given = getattr(owner, key)
        several = given if isinstance(given, (tuple, list)) else (given,)
        found += [
            Problem(kind, owner.name, f"{key} has {short(one)}; expected a {expected.__name__}", remedy, key)
            for one in several
            if not isinstance(one, expected)
        ]
    return found


def _problems(kind: ModuleType) -> list[Problem]:
    """What is wrong with a kind of module."""
    about = partial(Problem, "module type", kind.name)
    found = strangers("module type", kind, {"bodies": Body, "joints": Joint, "ports": Port}, "Correct it.")
    if found:
        return found
    names = [body.name for body in kind.bodies]
    if not names:
        return [about("it has no bodies, expected one or more", "Give it its parts.")]
    if not isinstance(kind.pitch, Real) or not 0.0 < kind.pitch < math.inf:
        found.append(about(f"pitch is {kind.pitch}, expected a length above 0 m", "Enlarge it.", "pitch"))
    if len(kind.cells) != 3 or any(not isinstance(n, int) or n < 1 for n in kind.cells):
        found.append(about(f"cells is {kind.cells}, expected three whole numbers from 1 on", "Correct it.", "cells"))
    if not isinstance(kind.letter, str) or not kind.letter or any(not c.isalpha() for c in kind.letter):
        found.append(about(f"letter is {kind.letter!r}, expected one letter or more", "Correct it."))
    declared: dict[str, Sequence[Side]] = {"body": names, "joint": [j.name for j in kind.joints], "port": kind.sides}
    for part, given in declared.items():
        found += [
            about(f"{part} {name!r} is declared {count} times, expected once", "Rename all but one.")
            for name, count in Counter(given).items()
            if count > 1
        ]
    ends = [(f"joint '{joint.name}' joins", end) for joint in kind.joints for end in (joint.parent, joint.child)]
    ends += [(f"port {port.side!r} is on", port.body) for port in kind.ports]
    found += [
        about(f"{part} '{body}', which is none of its bodies ({', '.join(names)})", "Rename it.")
        for part, body in ends
        if body not in names
    ]
    if kind.hinge and kind.hinge not in [joint.name for joint in kind.joints]:
        what = f"hinge is '{kind.hinge}', which is none of its joints"
        found.append(about(what, "Name one of them, or leave it out.", "hinge"))
    if not found:
        edges = [Edge(joint.name, joint.parent, joint.child) for joint in kind.joints]
        tree = spanning_tree(names, edges, names[0])
        if tree.unreached:
            found.append(about(f"body '{tree.unreached[0]}' hangs on no other part", "Join it by a joint."))
        if tree.chords:
            what = f"joint '{tree.chords[0].name}' closes a loop inside it, expected a tree of parts"
            found.append(about(what, "Remove it."))
    if not found:
        found += [about(f"{p.kind} '{p.name}': {p.what}", p.remedy) for p in _alone(kind).problems()]
    return found


def _alone(kind: ModuleType) -> RobotBuilder:
    """The builder of one module alone, which checks its parts."""
    builder = RobotBuilder(kind.name).add(*kind.bodies).root(kind.bodies[0].name, "free")
    for joint in kind.joints:
        builder.joint_of({**draft_of(joint), "either": True})
    for port in kind.ports:
        builder.frame(f"port {port.side}", port.body, placement=port.pose)
    return builder


def draft_of(joint: Joint) -> dict[str, Any]:
    """A joint as a builder takes it, without data that it leaves to the defaults."""
    data = {field.name: getattr(joint, field.name) for field in fields(joint)}
    return {name: value for name, value in data.items() if value != ()}
