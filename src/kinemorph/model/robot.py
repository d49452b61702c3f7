"""A robot: bodies, joints, loops, frames, couplings, gravity. Frozen data, no equations.

Robots are made by `RobotBuilder`, which checks everything once; code that receives a Robot may rely on it: names are
unique, axes are unit vectors, every body hangs on the world through exactly one tree joint, loops are apart. The
ground is "world": the parent of every root joint, never in `bodies`.

q and v are laid out in the declared order of the tree joints, even where a child was declared before its parent.
Algorithms that walk from the root to the tips use `order`.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, NoReturn

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.errors import ModelError
from kinemorph.frozen import dataclass
from kinemorph.model import topology
from kinemorph.model.body import Body, Vector
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Parameter, Value, evaluate
from kinemorph.model.topology import WORLD, Edge, IntMatrix, SpanningTree
from kinemorph.shown import Shown


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
    multiplier: Value = 1.0
    offset: Value = 0.0


class JointRow(NamedTuple):
    """One line of `Robot.table()`."""

    joint: str
    kind: str
    parent: str
    child: str
    q: tuple[str, ...]
    v: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Robot(Shown):
    """A checked robot. Build one with `RobotBuilder`. `gravity` [m/s^2] (3,) is the acceleration of free fall."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    loops: tuple[Joint, ...] = ()
    frames: tuple[Frame, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)
    parameters: tuple[Parameter, ...] = ()

    def __repr__(self) -> str:
        loops = f", {len(self.loops)} loop{'s' * (len(self.loops) > 1)}" if self.loops else ""
        loops += f", {len(self.couplings)} coupling{'s' * (len(self.couplings) > 1)}" if self.couplings else ""
        return f"<Robot '{self.name}': {len(self.bodies)} bodies, {len(self.joints)} joints, {self.nv} dof{loops}>"

    @cached_property
    def nq(self) -> int:
        """Length of q."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """Length of v: degrees of freedom of the tree, before loops and couplings reduce them."""
        return sum(joint.nv for joint in self.joints)

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
    def q_units(self) -> tuple[str, ...]:
        return tuple(unit for joint in self.joints for unit in joint.table.q_units)

    @cached_property
    def v_units(self) -> tuple[str, ...]:
        return tuple(unit for joint in self.joints for unit in joint.table.v_units)

    @property
    def is_open(self) -> bool:
        """Whether the tree is all there is: no loop closes and no joint follows another."""
        return not self.loops and not self.couplings

    @property
    def q_lower(self) -> Array:
        """Lower limits of q, shape (nq,); -inf where there is none."""
        return np.array([value for joint in self.joints for value in joint.lower], dtype=float)

    @property
    def q_upper(self) -> Array:
        """Upper limits of q, shape (nq,); inf where there is none."""
        return np.array([value for joint in self.joints for value in joint.upper], dtype=float)

    @property
    def total_mass(self) -> float:
        """Mass of all bodies [kg] at the nominal parameters."""
        return float(sum(evaluate(body.mass) for body in self.bodies))

    # ── finding things ────────────────────────────────────────────────────────────────────────────────────────────

    def body(self, name: str) -> Body:
        found = self._bodies.get(name)
        return _missing("body", name, self.bodies) if found is None else found

    def joint(self, name: str) -> Joint:
        """A tree joint or a loop by name."""
        found = self._joints.get(name)
        return _missing("joint", name, (*self.joints, *self.loops)) if found is None else found

    def frame(self, name: str) -> Frame:
        """A declared frame, or the frame of the body of that name, or the world's."""
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
        """Where a tree joint's coordinates lie in q."""
        return self._layout[self._tree_joint(joint)][0]

    def v_slice(self, joint: str) -> slice:
        """Where a tree joint's velocities lie in v."""
        return self._layout[self._tree_joint(joint)][1]

    def _tree_joint(self, name: str) -> str:
        if name in self._layout:
            return name
        if name in self._joints:
            raise ModelError(
                f"joint '{name}' closes a loop and has no coordinates of its own; q covers {self.joint_names}."
            )
        return _missing("joint", name, self.joints)

    @cached_property
    def _layout(self) -> dict[str, tuple[slice, slice]]:
        layout, q, v = {}, 0, 0
        for joint in self.joints:
            layout[joint.name] = (slice(q, q + joint.nq), slice(v, v + joint.nv))
            q, v = q + joint.nq, v + joint.nv
        return layout

    # ── topology ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The tree joints as edges, in the order of q; then the loops."""
        return tuple(Edge(joint.name, joint.parent, joint.child) for joint in (*self.joints, *self.loops))

    @cached_property
    def tree(self) -> SpanningTree:
        """The tree of the robot from the world, breadth first; its chords are the loops."""
        tree_edges = self.edges[: len(self.joints)]
        grown = topology.spanning_tree((WORLD, *self.body_names), tree_edges, directed=True)
        return SpanningTree(WORLD, grown.steps, self.edges[len(self.joints) :], ())

    @cached_property
    def order(self) -> tuple[Joint, ...]:
        """The tree joints with every parent before its children: the declared order wherever that already holds."""
        # as if the list were gone through again and again, each time taking the joints whose parents were taken before
        place = {joint.child: index for index, joint in enumerate(self.joints)}
        rounds = {WORLD: (0, -1)}  # body -> (round in which its joint is taken, place of the joint in the list)
        for step in self.tree.steps:
            round_, before = rounds[step.parent]
            here = place[step.child]
            rounds[step.child] = (round_ + (here < before), here)
        return tuple(sorted(self.joints, key=lambda joint: rounds[joint.child]))

    @cached_property
    def parent_joint(self) -> dict[str, Joint]:
        """For every body: the tree joint that carries it."""
        return {joint.child: joint for joint in self.joints}

    def path_to_root(self, body: str) -> tuple[str, ...]:
        """The bodies from `body` up to the world, both included."""
        if body != WORLD:
            self.body(body)
        return topology.path_to_root(self.tree.parents, body)

    @property
    def cycles(self) -> dict[str, tuple[str, ...]]:
        """For every loop by name: the bodies of the cycle it closes."""
        return topology.cycles(self.tree)

    @property
    def adjacency(self) -> IntMatrix:
        """Adjacency matrix (1 + bodies, 1 + bodies), the world first."""
        return topology.adjacency_matrix((WORLD, *self.body_names), self.edges)

    @property
    def incidence(self) -> IntMatrix:
        """Incidence matrix (1 + bodies, joints + loops), the world first: -1 at the child, +1 at the parent."""
        return topology.incidence_matrix((WORLD, *self.body_names), self.edges)

    def table(self) -> list[JointRow]:
        """One row per joint, the tree in the order of q, then the loops."""
        rows = [JointRow(j.name, j.kind, j.parent, j.child, j.q_names, j.v_names) for j in self.joints]
        return rows + [JointRow(j.name, f"{j.kind} (loop)", j.parent, j.child, (), ()) for j in self.loops]


def _missing(what: str, name: str, items: tuple[Body, ...] | tuple[Joint, ...] | tuple[Frame, ...]) -> NoReturn:
    known = ", ".join(f"'{item.name}'" for item in items[:12]) + (", ..." if len(items) > 12 else "")
    raise ModelError(f"there is no {what} '{name}'; expected one of: {known or 'none is declared'}.")
