"""The transforms of all bodies as one tree of elementary joints.

A body is placed by a product of factors. Constant factors are placements. Every other factor is a hinge or a slide (or,
if it is a whole matrix or a quaternion, a pose), whose coordinate is a Value of the robot's coordinates. Bodies whose
products begin alike share the joints of this beginning.

A coordinate belongs to the first joint that it moves directly, as in Trotz(q), Tdisp(0, 0, q - 0.1) or Troty(-q). All
other joints are driven: their coordinate is a formula.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose, compose
from kinemorph.algebra.notation import AXES, Factor
from kinemorph.model.parameter import Coordinate, Formula, Value, coordinates_of

SNAP = 1e-15  # a smaller entry of a constant rotation is a rounding error of a right angle


@dataclass(eq=False)
class Node:
    """One joint of the tree: its motion, the constant pose before it, and the bodies that it carries directly.

    `kind` is "revolute", "prismatic" or "pose"; `values` are its coordinates; `before` is the pose of the joint frame
    in the frame of the parent node. `bodies` are names, each with the constant pose of the body in the node's frame.
    """

    kind: str
    axis: tuple[float, float, float]
    values: tuple[Value, ...]
    before: Pose
    parent: Node | None
    letter: str  # for the name of a driven joint
    bodies: list[tuple[str, Pose]] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    def same(self, kind: str, axis: Any, values: Any, before: Pose) -> bool:
        """Whether this is a joint with this motion after this constant pose."""
        return (self.kind, self.axis, self.values, self.before) == (kind, axis, values, before)


def position_tree(placed: Iterable[tuple[str, Sequence[Factor]]]) -> Node:
    """The root of the tree of joints of bodies, which are given as (name, factors from the world to the body)."""
    root = Node("fixed", AXES["z"], (), IDENTITY, None, "")
    for name, factors in placed:
        node, pose = root, IDENTITY
        for factor in factors:
            for motion in _motions(factor):
                if isinstance(motion, Pose):
                    pose = _snapped(compose(pose, motion))
                    continue
                kind, axis, values, letter = motion
                found = next((child for child in node.children if child.same(kind, axis, values, pose)), None)
                if found is None:
                    found = Node(kind, axis, values, pose, node, letter)
                    node.children.append(found)
                node, pose = found, IDENTITY
        node.bodies.append((name, pose))
    return root


def nodes_of(root: Node) -> Iterator[Node]:
    """All joints of the tree, each after the one that carries it."""
    waiting = list(root.children)
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting = [*node.children, *waiting]


def direct(value: Value) -> tuple[Coordinate, float, Value] | None:
    """(coordinate, sign, offset) where a value is sign * coordinate + offset, with a constant offset; else None."""
    if isinstance(value, Coordinate):
        return value, 1.0, 0.0
    if not isinstance(value, Formula):
        return None
    if value.op == "neg":
        found = direct(value.args[0])
        return None if found is None else (found[0], -found[1], -found[2])
    if value.op not in ("add", "sub"):
        return None
    left, right = value.args
    sign = 1.0 if value.op == "add" else -1.0
    if is_constant(right):
        found = direct(left)
        return None if found is None else (found[0], found[1], found[2] + sign * right)
    if is_constant(left):
        found = direct(right)
        return None if found is None else (found[0], sign * found[1], left + sign * found[2])
    return None


def is_constant(value: Any) -> bool:
    """Whether a Value, or a tuple of Values, names no coordinate and not the time."""
    return not coordinates_of(value)


def _motions(factor: Factor) -> Iterator[Pose | tuple[str, tuple[float, float, float], tuple[Value, ...], str]]:
    """The factor as constant poses and elementary motions (kind, axis, coordinates, letter), from left to right."""
    if is_constant(factor.values):
        yield factor.pose
        return
    if factor.kind == "disp":
        fixed = tuple(x if is_constant(x) else 0.0 for x in factor.values)
        if any(not isinstance(x, float) or x != 0.0 for x in fixed):
            yield Pose(IDENTITY.R, fixed)
        for letter, x in zip("xyz", factor.values, strict=True):
            if not is_constant(x):
                yield "prismatic", AXES[letter], (x,), letter
    elif factor.kind in AXES:
        yield "revolute", AXES[factor.kind], factor.values, f"r{factor.kind}"
    elif factor.kind == "n" and all(isinstance(x, float) for x in factor.values[:3]):
        a, b, c = factor.values[:3]
        size = math.hypot(a, b, c)
        yield "revolute", (a / size, b / size, c / size), factor.values[3:], "rn"
    else:
        R, p = factor.pose
        yield "pose", AXES["z"], (*(x for row in R for x in row), *p), "pose"


def _snapped(pose: Pose) -> Pose:
    """The pose with exact zeros and ones where a sine or cosine of right angles is only rounding errors away."""

    def exact(x: Value) -> Value:
        if not isinstance(x, float):
            return x
        return 0.0 if abs(x) < SNAP else math.copysign(1.0, x) if abs(abs(x) - 1.0) < SNAP else x

    return Pose(tuple(tuple(exact(x) for x in row) for row in pose.R), pose.p)
