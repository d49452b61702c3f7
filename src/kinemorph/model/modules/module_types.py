"""Module types: the parts of a module, the joints between them, and the ports at which modules dock.

A module has its own frame at its middle. The sides of a cubic module are numbered: 3 is +x, 4 is -x, 5 is +y, 2 is -y,
1 is +z and 6 is -z. In the initial configuration, where all joints are at 0, the pose of a docked module b in the frame
of module a is

    T_ab = P_a turned(k) P_b^-1

with P the pose of a port in its module (z points out of the side, y up) and `turned(k)` half a turn about y, then k
quarter turns about the z axis of b's port. For k = 0 both modules are upright.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
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
from kinemorph.sheet import Sheet
from kinemorph.shown import Shown
from kinemorph.words import counted, listed

Side: TypeAlias = int | str
DYADS = ("halves", "adapted")  # each part is a body, or each module is one body; see `organisms`

# turned(k): the pose of a port in the frame of the port that it is docked to, for k quarter turns
TURNED: tuple[Pose, ...] = tuple(
    Pose(((-c, s, 0.0), (s, c, 0.0), (0.0, 0.0, -1.0)), (0.0, 0.0, 0.0))
    for c, s in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
)


@dataclass(frozen=True)
class Port:
    """A port, where another module docks: its `side`, the `body` that it is fixed to, and its pose in that body.

    The z axis of `pose` points out of the module, its y axis is up.
    """

    side: Side
    body: str
    pose: Pose


@dataclass(frozen=True)
class JointModule:
    """A joint between two docked ports, as in Chen and Yang's kits, by default about or along the normal of the ports.

    `axis` is in the frame of the first module's port. `lower`, `upper` [rad] or [m], `velocity`, `effort` and `damping`
    are as for a `Joint`.
    """

    kind: Literal["revolute", "prismatic"]
    letter: str
    axis: Axis = field(default=(0.0, 0.0, 1.0), metadata={"kind": "number"})
    lower: float = field(default=-math.inf, metadata={"kind": ("angle", "length")})
    upper: float = field(default=math.inf, metadata={"kind": ("angle", "length")})
    velocity: float = field(default=math.inf, metadata={"kind": ("rate", "speed")})
    effort: float = field(default=math.inf, metadata={"kind": ("torque", "force")})
    damping: float = field(default=0.0, metadata={"kind": ("angular damping", "damping")})


@dataclass(frozen=True)
class ModuleType(Shown):
    """A module type. In a robot, the names of its bodies and joints are preceded by the name of the module: m3_hinge.

    `letter`    its name in grids and lists
    `bodies`    its parts; the first part is the root of the robot if the module is the base
    `joints`    the joints between its parts, which connect all of them
    `ports`     the ports at which other modules dock
    `pitch`     the distance [m] from a module to the next one beside it
    `cells`     the number of cells of a grid that it fills along x, y and z
    `hinge`     the name of the joint that bends it, "" for none
    """

    name: str
    letter: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...] = ()
    ports: tuple[Port, ...] = ()
    pitch: float = field(default=0.1, metadata={"kind": "length"})
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

    __str__ = __repr__  # one line, as for use in sentences

    def sheet(self) -> Sheet:
        """Its size, its parts with their masses and ports, and its joints."""
        from kinemorph.model.sheets.assembly_sheet import module_type_sheet

        return module_type_sheet(self)

    @property
    def size(self) -> Vector:
        """The edge lengths [m] along x, y and z of the box that the module fills."""
        x, y, z = self.cells
        return (x * self.pitch, y * self.pitch, z * self.pitch)

    @property
    def corners(self) -> tuple[Vector, ...]:
        """The eight corners [m] of the box that the module fills, in its frame."""
        x, y, z = (0.5 * float(edge) for edge in self.size)
        return tuple((a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1))

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that have a port."""
        return tuple(port.side for port in self.ports)

    def port(self, side: Side) -> Port:
        """The port on this side."""
        for port in self.ports:
            if port.side == side:
                return port
        what = f"it has no port on side {side!r}; its ports are {listed(self.sides)}"
        raise ModelError(Problem("module type", self.name, what, "Choose one of them."))

    def joint(self, name: str) -> Joint:
        """The joint of this name, without the name of a module before it."""
        for joint in self.joints:
            if joint.name == name:
                return joint
        what = f"it has no joint {name!r}; its joints are {listed(joint.name for joint in self.joints)}"
        raise ModelError(Problem("module type", self.name, what, "Choose one of them."))

    @cached_property
    def part_poses(self) -> dict[str, Pose]:
        """The pose of every part in the module's frame, which is the frame of the first part, with all joints at 0."""
        edges = [Edge(joint.name, joint.parent, joint.child) for joint in self.joints]
        tree = spanning_tree([body.name for body in self.bodies], edges, self.bodies[0].name)
        poses = {tree.root: IDENTITY}
        for step in tree.steps:
            joint = self.joint(step.edge.name)
            T_PB = joint_pose(joint, list(joint.table.neutral))
            poses[step.child] = compose(poses[step.parent], inverse(T_PB) if step.against else T_PB)
        return poses

    @cached_property
    def port_poses(self) -> dict[Side, Pose]:
        """The pose of every port in the module's frame, by side, with all joints at 0."""
        return {port.side: compose(self.part_poses[port.body], port.pose) for port in self.ports}

    def port_pose(self, side: Side) -> Pose:
        """The pose of a port in the module's frame, with all joints at 0."""
        return self.port_poses[self.port(side).side]


def side_port(side: int, body: str, reach: float) -> Port:
    """The port on a side of a cube, 1 to 6, at the distance `reach` [m] from the middle of the module.

    Side 3 is +x, 4 is -x, 5 is +y, 2 is -y, 1 is +z and 6 is -z.
    """
    if side not in SIDES:
        raise ModelError(f"side_port: side is {side!r}; expected 1 to 6. Use Port for other ports.")
    if not isinstance(reach, (Real, Symbolic)):
        raise ModelError(f"side_port: reach of side {side} is {reach!r}; expected a length [m].")
    R = SIDES[side]
    return Port(side, body, Pose(R, (R[0][2] * reach, R[1][2] * reach, R[2][2] * reach)))


def strangers(kind: str, owner: Any, types: Mapping[str, type], remedy: str) -> list[Problem]:
    """Problems with entries of the wrong Python type in the fields of `owner`; `types` gives the type by field name."""
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
    """All problems of a module type."""
    about = partial(Problem, "module type", kind.name)
    found = strangers("module type", kind, {"bodies": Body, "joints": Joint, "ports": Port}, "Replace it.")
    if found:
        return found
    names = [body.name for body in kind.bodies]
    if not names:
        return [about("it has no bodies, expected at least one", "Pass its parts as bodies.")]
    if not isinstance(kind.pitch, Real) or not 0.0 < kind.pitch < math.inf:
        found.append(about(f"pitch is {kind.pitch}, expected a length above 0 m", "Give a length in meters.", "pitch"))
    if len(kind.cells) != 3 or any(not isinstance(n, int) or n < 1 for n in kind.cells):
        what = f"cells is {kind.cells}, expected three whole numbers of at least 1"
        found.append(about(what, "Give (1, 1, 1) for a cube.", "cells"))
    if not isinstance(kind.letter, str) or not kind.letter or any(not c.isalpha() for c in kind.letter):
        found.append(about(f"letter is {kind.letter!r}, expected one letter or more", "Give a letter such as 'B'."))
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
        about(f"{part} '{body}', which is not one of its bodies ({listed(names)})", "Name one of them.")
        for part, body in ends
        if body not in names
    ]
    if kind.hinge and kind.hinge not in [joint.name for joint in kind.joints]:
        what = f"hinge is '{kind.hinge}', which is not one of its joints ({listed(j.name for j in kind.joints)})"
        found.append(about(what, "Name one of them, or leave it out.", "hinge"))
    if not found:
        edges = [Edge(joint.name, joint.parent, joint.child) for joint in kind.joints]
        tree = spanning_tree(names, edges, names[0])
        if tree.unreached:
            what = f"body '{tree.unreached[0]}' is not connected to body '{names[0]}'"
            found.append(about(what, "Connect it by a joint."))
        if tree.chords:
            what = f"joint '{tree.chords[0].name}' closes a loop in the module, expected a tree of parts"
            found.append(about(what, "Remove this joint."))
    if not found:
        found += [about(f"{p.kind} '{p.name}': {p.what}", p.remedy) for p in _alone(kind).problems()]
    return found


def _alone(kind: ModuleType) -> RobotBuilder:
    """A builder of a robot of one module, which checks the parts of the module."""
    builder = RobotBuilder(kind.name).add(*kind.bodies).root(kind.bodies[0].name, "free")
    for joint in kind.joints:
        builder.joint_of({**draft_of(joint), "either": True})
    for port in kind.ports:
        builder.frame(f"port {port.side}", port.body, placement=port.pose)
    return builder


def draft_of(joint: Joint) -> dict[str, Any]:
    """The data of a joint as arguments for a builder, without empty tuples, for which the builder has defaults."""
    data = {field.name: getattr(joint, field.name) for field in fields(joint)}
    return {name: value for name, value in data.items() if value != ()}
