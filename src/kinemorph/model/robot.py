"""A robot: bodies, joints, loops, frames, couplings, gravity. Frozen data, no equations.

Robots are made by `RobotBuilder`, which checks everything once. Code that receives a Robot may rely on this: names are
unique, axes are unit vectors, every body is the child of exactly one tree joint, and joints that close loops are listed
in `loops`, not in `joints`. The ground is "world": the parent of every root joint, never in `bodies`.

q and v follow the declared order of the tree joints, even if a child was declared before its parent. Algorithms that go
from the root to the tips use `order`.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.notation import Factor
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.model import topology
from kinemorph.model.body import Body, Vector
from kinemorph.model.joint import PLAIN, Joint
from kinemorph.model.parameter import TIME, Parameter, Value, coordinates_of, evaluate, evaluate_all
from kinemorph.model.topology import WORLD, Edge, IntMatrix, SpanningTree
from kinemorph.sheet import Sheet
from kinemorph.shown import Shown, library_names
from kinemorph.words import counted, did_you_mean, quoted

NO_MASSES = "nothing that moves has mass, so that it has no dynamics"
GIVE_MASSES = "Give its bodies mass and inertia, or its joints an armature."


@dataclass(frozen=True)
class Frame:
    """A named frame on a body (or on "world"): a tool, a foot, a sensor. `placement` is its pose in the body."""

    name: str
    body: str
    placement: Pose = IDENTITY


@dataclass(frozen=True)
class Coupling:
    """A mimic joint: q[joint] = multiplier * q[leader] + offset, for joints with one coordinate."""

    joint: str
    leader: str
    multiplier: Value = field(default=1.0, metadata={"unit": "{in}/{leader}"})
    offset: Value = field(default=0.0, metadata={"unit": "{in}"})


@dataclass(frozen=True)
class Dependent:
    """A quantity that formulas of driven joints use: its name, its formula, and its unit, such as "rad"."""

    name: str
    formula: Value = field(metadata={"unit": "{own}"})
    unit: str = ""


@dataclass(frozen=True)
class Position:
    """The position of a body as it was declared: factors of a matrix, in the world or in the frame of `reference`."""

    body: str
    factors: tuple[Factor, ...]
    reference: str = ""


class JointRow(NamedTuple):
    """One line of `Robot.table()`: a joint, its kind, its bodies, and the names of its coordinates and velocities."""

    joint: str
    kind: str
    parent: str
    child: str
    q: tuple[str, ...]
    v: tuple[str, ...]


class AxisPlace(NamedTuple):
    """One axis of a joint: the joint, the number of the axis among its velocities, and its indices in q and v."""

    joint: Joint
    number: int
    q: int
    v: int

    @property
    def kind(self) -> str:
        """The motion about or along the axis: "revolute", "prismatic" or "helical"."""
        return next(step.kind for step in self.joint.motion.primitives if step.v[0] == self.number)


@dataclass(frozen=True, repr=False)
class Robot(Shown):
    """A checked robot. Build one with `RobotBuilder`. `gravity` [m/s^2] (3,) is the acceleration of free fall."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    loops: tuple[Joint, ...] = ()
    frames: tuple[Frame, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    gravity: Vector = field(default=(0.0, 0.0, -9.81), metadata={"kind": "acceleration"})
    parameters: tuple[Parameter, ...] = ()
    dependents: tuple[Dependent, ...] = ()
    positions: tuple[Position, ...] = ()  # of a robot from position matrices, from which its joints were made

    def __repr__(self) -> str:
        loops = f", {counted(len(self.loops), 'loop')}" if self.loops else ""
        loops += f", {counted(len(self.couplings), 'coupling')}" if self.couplings else ""
        bodies = counted(len(self.bodies), "body", "bodies")
        if self.driven:  # position matrices put massless bodies between their factors
            heavy = len(self.bodies) - self.massless
            bodies = f"{counted(heavy, 'body', 'bodies')}, {self.massless} massless"
        return f"<Robot '{self.name}': {bodies}, {counted(len(self.joints), 'joint')}, {self.nv} dof{loops}>"

    __str__ = __repr__  # one line, as for use in sentences

    def sheet(self) -> Sheet:
        """Its sizes, the tables of its bodies, joints, couplings, frames and parameters, and its picture."""
        from kinemorph.model.sheets.robot_sheet import robot_sheet

        return robot_sheet(self)

    @cached_property
    def massless(self) -> int:
        """The number of bodies without mass of a robot with driven joints, otherwise 0."""
        return sum(evaluate(body.mass) == 0.0 for body in self.bodies) if self.driven else 0

    @cached_property
    def is_kinematic(self) -> bool:
        """Whether nothing that moves has mass: the robot has poses and velocities, but no equations of motion.

        Joints with an armature have an inertia of their own; the robot is kinematic if a joint has none.
        """
        if not self.nv or all(evaluate(rotor) > 0.0 for joint in self.joints for rotor in joint.armature):
            return False
        moving: set[str] = set()
        for joint in self.order:
            if joint.nv or joint.driven or joint.parent in moving:
                moving.add(joint.child)
        return not any(
            evaluate(body.mass) or any(evaluate(x) for row in body.inertia for x in row)
            for body in self.bodies
            if body.name in moving
        )

    def check_masses(self, wanted: str) -> None:
        """Raises ModelError if the robot is kinematic, although `wanted` needs its equations of motion."""
        if self.is_kinematic:
            raise ModelError(
                f"robot '{self.name}': {NO_MASSES}, which {wanted} needs; poses, Jacobians and inverse kinematics need "
                f"no masses. {GIVE_MASSES}"
            )

    @cached_property
    def nq(self) -> int:
        """The length of q."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """The length of v: the degrees of freedom of the tree, before loops and couplings reduce them."""
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def driven(self) -> tuple[Joint, ...]:
        """The driven joints: formulas of other coordinates give their motion."""
        return tuple(joint for joint in self.joints if joint.driven)

    @property
    def is_free(self) -> bool:
        """Whether the robot floats: it has a free joint."""
        return any(joint.kind == "free" for joint in self.joints)

    @cached_property
    def is_timed(self) -> bool:
        """Whether the motion of a driven joint depends on the time t."""
        return TIME in coordinates_of(tuple(joint.driven for joint in self.driven))

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the tree joints, in the order of q."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        return tuple(name for joint in self.joints for name in joint.q_names)

    @cached_property
    def v_names(self) -> tuple[str, ...]:
        return tuple(name for joint in self.joints for name in joint.v_names)

    @cached_property
    def all_q_names(self) -> tuple[str, ...]:
        """The names of the coordinates of all joints: `q_names`, then those of driven joints; see `q_slice`."""
        return (*self.q_names, *(name for joint in self.driven for name in joint.motion_names("q")))

    @cached_property
    def all_v_names(self) -> tuple[str, ...]:
        """The names of the velocities of all joints: `v_names`, then those of driven joints."""
        return (*self.v_names, *(name for joint in self.driven for name in joint.motion_names("v")))

    @cached_property
    def q_units(self) -> tuple[str, ...]:
        return tuple(unit for joint in self.joints for unit in joint.table.q_units)

    @cached_property
    def v_units(self) -> tuple[str, ...]:
        return tuple(unit for joint in self.joints for unit in joint.table.v_units)

    @property
    def is_open(self) -> bool:
        """Whether the robot is only a tree: it has no loops and no couplings."""
        return not self.loops and not self.couplings

    @property
    def q_lower(self) -> Array:
        """Lower limits of q, shape (nq,); -inf for coordinates without a limit."""
        return np.array([value for joint in self.joints for value in joint.lower], dtype=float)

    @property
    def q_upper(self) -> Array:
        """Upper limits of q, shape (nq,); inf for coordinates without a limit."""
        return np.array([value for joint in self.joints for value in joint.upper], dtype=float)

    @property
    def total_mass(self) -> float:
        """The mass of all bodies together [kg], at the nominal values of the parameters."""
        return float(sum(evaluate(body.mass) for body in self.bodies))

    @property
    def total_weight(self) -> float:
        """The weight of all bodies together [N], at the nominal values of the parameters."""
        return self.total_mass * float(np.linalg.norm(np.array(evaluate_all(self.gravity), dtype=float)))

    # ── parts by name ─────────────────────────────────────────────────────────────────────────────────────────────

    def body(self, name: str) -> Body:
        found = self._bodies.get(name)
        return _missing("body", name, self.bodies) if found is None else found

    def joint(self, name: str) -> Joint:
        """The tree joint or the joint that closes a loop, of this name."""
        found = self._joints.get(name)
        return _missing("joint", name, (*self.joints, *self.loops)) if found is None else found

    def frame(self, name: str) -> Frame:
        """The declared frame of this name; or the frame of the body, or of the world, of this name."""
        found = self._frames.get(name)
        if found is not None:
            return found
        if name == WORLD or name in self._bodies:
            return Frame(name, name)
        return _missing("frame", name, (*self.frames, *(Frame(body, body) for body in self.body_names)))

    @cached_property
    def _bodies(self) -> dict[str, Body]:
        return {body.name: body for body in self.bodies}

    @cached_property
    def _joints(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in (*self.joints, *self.loops)}

    @cached_property
    def _frames(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def q_slice(self, joint: str) -> slice:
        """The slice of q that holds the coordinates of this tree joint.

        The coordinates of driven joints are not in q. Their slices are those of q with these coordinates appended, in
        the order of `driven`; `v_slice` does the same.
        """
        return self._layout[self._tree_joint(joint)][0]

    def v_slice(self, joint: str) -> slice:
        """The slice of v that holds the velocities of this tree joint; see `q_slice` for driven joints."""
        return self._layout[self._tree_joint(joint)][1]

    def _tree_joint(self, name: str) -> str:
        if name in self._layout:
            return name
        if name in self._joints:
            raise ModelError(
                f"joint '{name}' closes a loop, so it has no coordinates in q and v. Name one of the tree joints "
                f"{quoted(self.joint_names)}."
            )
        return _missing("joint", name, self.joints)

    @cached_property
    def _layout(self) -> dict[str, tuple[slice, slice]]:
        layout, q, v = {}, 0, 0
        for joint in (*(joint for joint in self.joints if not joint.driven), *self.driven):
            row = joint.motion
            layout[joint.name] = (slice(q, q + row.nq), slice(v, v + row.nv))
            q, v = q + row.nq, v + row.nv
        return layout

    @cached_property
    def axis_places(self) -> dict[str, AxisPlace]:
        """All single axes by name, with their indices in q and v; see `q_slice` for those of driven joints.

        A joint with one velocity is an axis by its own name. The axes of other joints, about which they turn or along
        which they slide, have the names of their coordinates: "hip.first", "hip.second" and "hip.third" for a gimbal.
        Elements that act on one axis accept all these names.
        """
        found = {}
        for joint in self.joints:
            q, v = (place.start for place in self._layout[joint.name])
            names = joint.motion_names("v")
            for step in joint.motion.primitives:
                if step.kind in PLAIN:
                    found[names[step.v[0]]] = AxisPlace(joint, step.v[0], q + step.q[0], v + step.v[0])
        return found

    # ── topology ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All joints as edges of the graph of bodies: the tree joints in the order of q, then the loops."""
        return tuple(Edge(joint.name, joint.parent, joint.child) for joint in (*self.joints, *self.loops))

    @cached_property
    def tree(self) -> SpanningTree:
        """The tree of tree joints, from the world, breadth first; its chords are the loops."""
        tree_edges = self.edges[: len(self.joints)]
        grown = topology.spanning_tree((WORLD, *self.body_names), tree_edges, directed=True)
        return SpanningTree(WORLD, grown.steps, self.edges[len(self.joints) :], ())

    @cached_property
    def order(self) -> tuple[Joint, ...]:
        """The tree joints with every parent before its children, in the declared order as far as possible."""
        # the same as passing over the list again and again, each time taking the joints whose parents are taken already
        place = {joint.child: index for index, joint in enumerate(self.joints)}
        rounds = {WORLD: (0, -1)}  # body -> (pass in which its joint is taken, index of the joint in the list)
        for step in self.tree.steps:
            round_, before = rounds[step.parent]
            here = place[step.child]
            rounds[step.child] = (round_ + (here < before), here)
        return tuple(sorted(self.joints, key=lambda joint: rounds[joint.child]))

    @cached_property
    def parent_joint(self) -> dict[str, Joint]:
        """For every body, the tree joint whose child it is."""
        return {joint.child: joint for joint in self.joints}

    def path_to_root(self, body: str) -> tuple[str, ...]:
        """The names of the bodies from `body` to the world, both included."""
        if body != WORLD:
            self.body(body)
        return topology.path_to_root(self.tree.parents, body)

    @property
    def cycles(self) -> dict[str, tuple[str, ...]]:
        """For the name of every loop, the names of the bodies of the cycle that it closes."""
        return topology.cycles(self.tree)

    @property
    def adjacency(self) -> IntMatrix:
        """The adjacency matrix of the graph of bodies, shape (1 + bodies, 1 + bodies), the world first."""
        return topology.adjacency_matrix((WORLD, *self.body_names), self.edges)

    @property
    def incidence(self) -> IntMatrix:
        """The incidence matrix, shape (1 + bodies, joints + loops), the world first: child -1, parent +1."""
        return topology.incidence_matrix((WORLD, *self.body_names), self.edges)

    def table(self) -> list[JointRow]:
        """One row per joint: the tree joints in the order of q, then the loops."""
        rows = [JointRow(j.name, j.kind, j.parent, j.child, j.q_names, j.v_names) for j in self.joints]
        return rows + [JointRow(j.name, f"{j.kind} (loop)", j.parent, j.child, (), ()) for j in self.loops]


def _missing(what: str, name: str, items: tuple[Body, ...] | tuple[Joint, ...] | tuple[Frame, ...]) -> NoReturn:
    names = [item.name for item in items]
    raise ModelError(f"there is no {what} '{name}'; expected one of: {quoted(names)}.{did_you_mean(name, names)}")


# ── what is given as a model ──────────────────────────────────────────────────────────────────────────────────────────

REMEDIES = {
    "Assembly": "Pass the result of its method system() or robot().",
    "Dynamics": "Pass its `robot`.",
    "PositionBuilder": "Call build() on it first.",
    "Robot": "Add its elements: kinemorph.System(robot, elements).",
    "RobotBuilder": "Call build() on it first.",
    "System": "Pass its `robot`.",
    "Trajectory": "Pass the model of the run.",
}


def not_a_model(given: Any, expected: str = "a Robot or a System", name: str = "model") -> ModelError:
    """The error for an argument `name` that is no model of the kinds that are `expected`, with the remedy.

    A text is taken for the name of a robot of the library, or for the path of a model file.
    """
    kind = type(given).__name__
    what = f"{'an' if kind[0] in 'AEIOaeio' else 'a'} {kind}"
    remedy = REMEDIES.get(kind, "The model is the first argument.")
    if isinstance(given, str | PurePath):
        what, remedy = repr(str(given)), _remedy_for_text(str(given))
    elif given is None:
        what = "None"
    elif isinstance(given, int | float):
        what = f"{given}, {what}"
    return ModelError(f"{name} is {what}; expected {expected}. {remedy}")


def _remedy_for_text(text: str) -> str:
    """How to get the model that a text names: a file, or a robot or system of the library."""
    robots, systems = library_names()
    if any(mark in text for mark in "./\\"):
        return f"Use kinemorph.load({text!r})."
    if text in systems:
        return f"Use kinemorph.library.{text}()."
    if text in robots:
        return f"Use kinemorph.library.build({text!r})."
    guess = did_you_mean(text, [*robots, *systems])
    return f"There is no such robot in kinemorph.library.{guess}" if guess else "Use kinemorph.load(path) for a file."


def check_robot(robot: Any) -> None:
    """Raises ModelError where something else than a Robot is given."""
    if not isinstance(robot, Robot):
        raise not_a_model(robot, "a Robot", "robot")
