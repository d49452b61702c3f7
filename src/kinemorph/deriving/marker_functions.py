"""Functions of points on a robot that were measured: where the points are, and the normal equations of their errors.

With the error e_i = x_i - p_i(q) of marker i at its measured position x_i, its weight w_i and its Jacobian J_i (3, nv),
a Gauss-Newton step dv solves

    (sum of w_i J_i^T J_i) dv = sum of w_i J_i^T e_i

A marker that is far off counts less: w_i is its given weight divided by 1 + c |e_i|^2 (Cauchy's function). One function
gives the positions and both sums, of which only entries that are not always 0 are stored; called with a batch, it
computes all frames of a recording side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import Vec, add, cross, dot, scale, sub
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.deriving.making import Maker
from kinemorph.mechanics.recursions import kinematics
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot

Places = npt.NDArray[np.intp]


class Triangle(NamedTuple):
    """The places (row, column) of the lower triangle of a normal matrix (nv, nv) that are not always 0."""

    rows: Places
    columns: Places


def moving_velocities(robot: Robot, frame: str) -> list[int]:
    """The velocities of a robot without driven joints that move a body or frame, as increasing indices."""
    above = robot.path_to_root(robot.frame(frame).body)[:-1]
    found: set[int] = set()
    for body in above:
        at = robot.v_slice(robot.parent_joint[body].name)
        found |= set(range(at.start, at.stop))
    return sorted(found)


def normal_triangle(robot: Robot, frames: Sequence[str]) -> Triangle:
    """The places of the normal matrix of these frames: pairs of velocities that move a frame together."""
    groups = [moving_velocities(robot, frame) for frame in frames]
    pairs = {(a, b) for group in groups for a in group for b in group if b <= a}
    ordered = sorted(pairs)
    return Triangle(np.array([a for a, _ in ordered], dtype=np.intp), np.array([b for _, b in ordered], dtype=np.intp))


def marker_equations(maker: Maker, frames: Sequence[str]) -> CompiledFunction:
    """The function (q, x (k, 3), w (k,), c ()) -> positions (k, 3), matrix (entries,), push (nv,) of k frames.

    `x` are the measured positions [m] of the origins of the frames in the world, `w` their weights, and c [1/m^2] says
    how much less markers count that are far off; 0 gives plain least squares. `matrix` holds the entries of the normal
    matrix at the places of `normal_triangle`, `push` is the right side of the equations.
    """
    robot, count = maker.robot, len(frames)
    triangle = normal_triangle(robot, frames)
    places = list(zip(triangle.rows.tolist(), triangle.columns.tolist(), strict=True))
    moving = [moving_velocities(robot, frame) for frame in frames]

    def law(tree: Tree, q: Any, x: Any, w: Any, c: Any) -> dict[str, Any]:
        positions = [pose.p for pose in kinematics.forward_kinematics(tree, q, frames)]
        matrix: dict[tuple[int, int], Any] = dict.fromkeys(places, 0.0)
        push: list[Any] = [0.0] * robot.nv
        for i, frame in enumerate(frames):
            twists = kinematics.jacobian(tree, q, frame, "world")
            columns = {a: _velocity([row[a] for row in twists], positions[i]) for a in moving[i]}
            error = sub(x[i], positions[i])
            weight = w[i] / (1.0 + c * dot(error, error))
            for a, column in columns.items():
                weighted = scale(weight, column)
                push[a] = push[a] + dot(weighted, error)
                for b in moving[i]:
                    if b <= a:
                        matrix[a, b] = matrix[a, b] + dot(weighted, columns[b])
        return {"positions": positions, "matrix": [matrix[place] for place in places], "push": push}

    shapes: dict[str, Shape] = {"positions": (count, 3), "matrix": (len(places),), "push": (robot.nv,)}
    sizes: dict[str, Shape] = {"x": (count, 3), "w": (count,), "c": ()}
    name = f"marker_equations[{', '.join(frames)}]"
    return maker.function(name, ("q", "x", "w", "c"), law, shapes, written=True, sizes=sizes)


def _velocity(twist: Sequence[S], point: Sequence[S]) -> Vec:
    """The velocity of a point of a body [m/s], whose twist [linear; angular] is that at the origin of the world."""
    return add(twist[:3], cross(twist[3:], point))
