"""Positions and motions of single bodies as programs to print: poses in the world and in the parent, velocities,
accelerations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kinemorph.algebra.groups import Pose, compose, inverse, matrix_of
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.deriving.making import Maker
from kinemorph.mechanics.recursions.kinematics import pose_of_move
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot


def parent_names(robot: Robot) -> tuple[str, ...]:
    """The name of the body that carries each body, in the order of `robot.body_names`; "world" for a base."""
    parents = {joint.child: joint.parent for joint in robot.order}
    return tuple(parents.get(body, "world") for body in robot.body_names)


def relative_poses(robot: Robot, parameters: tuple[Parameter, ...]) -> Program:
    """The poses of all bodies in the bodies that carry them, shape (bodies, 4, 4), as a program of q."""
    pairs = list(zip(robot.body_names, parent_names(robot), strict=True))

    def law(tree: Tree, q: Any) -> list[Any]:
        moves = tree.moves(tree.all_joints(q).q)

        def pose(body: str, parent: str) -> Pose:
            at, base = tree.attachments[body], tree.attachments[parent]
            found, link = at.pose, at.link
            while link != base.link:
                found, link = compose(pose_of_move(moves[link]), found), tree.links[link].parent
            return compose(inverse(base.pose), found)

        return [matrix_of(pose(body, parent)) for body, parent in pairs]

    maker = Maker(robot, "newton_euler", parameters, backend="interpreter")
    shape = (len(pairs), 4, 4)
    return maker.program("relative_poses", ("q",), law, {"out": shape}, written=True)


def of_each_body(program: Program) -> dict[str, list[Program]]:
    """{output: programs of its part for each body} of a program whose outputs have the shape (bodies, ...)."""
    return {port.name: list(_parts(program, port, start)) for port, start in _places(program)}


def _places(program: Program) -> Iterator[tuple[Port, int]]:
    """The outputs of a program, and the place at which their references begin."""
    start = 0
    for port in program.outputs:
        yield port, start
        start += port.size


def _parts(program: Program, port: Port, start: int) -> Iterator[Program]:
    """The program of each first index of one output; vectors become columns, shape (n, 1)."""
    bodies, *rest = port.shape
    size = port.size // bodies if bodies else 0
    shape = tuple(rest) if len(rest) == 2 else (*rest, 1)
    for i in range(bodies):
        refs = program.refs[start + i * size : start + (i + 1) * size]
        yield replace(program, name=f"{program.name}.{port.name}", outputs=(Port("out", shape),), refs=refs)
