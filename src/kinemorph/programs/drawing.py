"""What a program draws for EasyDyn's viewer, as plain data, and the program that moves it.

All nodes are fixed to carriers: to bodies, to spans, which stretch from one point to another (a spring), or to the
world. A carrier takes a node from its own axes to the world by

    x -> A x + b,        A (3, 3), b (3,) [m]

where A is the rotation of a body, or the rotation and the scales of a span. `kinemorph.display.scenes.program_scene`
makes drawings from scenes; nothing here depends on how shapes look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose, act
from kinemorph.algebra.scalar import div, less, where
from kinemorph.algebra.vectors import Vec, add, norm, sub
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.frozen import Fixed
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.plants.programs import Plant

WORLD_CARRIER = -1  # the carrier of nodes and points that are fixed to the world
SHORTEST = 1e-9  # a span shorter than this is not shown [m]
DOWN = 1e-12  # a direction whose z component differs from -1 by less than this is opposite to the z axis
FOOT = ("foot_x", "foot_y", "foot_z")  # memory of an element that stands: the position of its foot in the world [m]


class FixedPoint(NamedTuple):
    """A point [m] in the axes of the body with the index `carrier`, or of the world for WORLD_CARRIER."""

    carrier: int
    place: tuple[float, float, float]


@dataclass(frozen=True)
class Span:
    """A look about the z axis, from z = 0 to 1 with radius 1, stretched from `start` to `end`.

    Without an end it goes from its start along `vector` [m] in world axes, or to the foot of the element `standing`
    while this element's memory says that it stands. `width` [m] is its radius; a `ball` has this radius and lies at
    the end.
    """

    start: FixedPoint
    end: FixedPoint | None
    width: float
    ball: bool = False
    vector: tuple[float, float, float] = (0.0, 0.0, 0.0)
    standing: str = ""


@dataclass(frozen=True, eq=False)
class Drawing(Fixed):
    """The shapes of a robot as nodes, each on a carrier, which edges and sides connect.

    The carriers are the `bodies`, by name, then the `spans`. `nodes` are (carrier, x, y, z) in the axes of the carrier
    [m], `edges` are (node, node, color) and `sides` (node, node, node, color). Nodes are counted from 0, and colors
    are those of EasyAnim, from 0 to 15.
    """

    title: str
    bodies: tuple[str, ...]
    spans: tuple[Span, ...]
    nodes: tuple[tuple[int, float, float, float], ...]
    edges: tuple[tuple[int, int, int], ...]
    sides: tuple[tuple[int, int, int, int], ...]

    @property
    def carriers(self) -> int:
        """The number of carriers, without the world."""
        return len(self.bodies) + len(self.spans)


def carrier_program(plant: Plant, drawing: Drawing) -> Program:
    """The program (t, q, m, p) -> A row by row, then b, of all carriers of a drawing, shape (carriers, 12)."""
    sizes = plant.sizes
    memory = {column.name: k for k, column in enumerate(plant.m)}
    names = [column.name for column in plant.p]
    robot = plant.robot
    assert robot is not None

    def carried(t: Any, q: Sequence[Any], m: Sequence[Any], p: Sequence[Any]) -> list[list[Any]]:
        tree = resolve(robot, dict(zip(names, p, strict=True))).at_time(t)
        poses = forward_kinematics(tree, tree.all_joints(q).q, drawing.bodies)
        known = {name: m[k] for name, k in memory.items()}
        found = [(pose.R, pose.p) for pose in poses] + [_stretched(span, poses, known) for span in drawing.spans]
        return [[*(entry for row in A for entry in row), *b] for A, b in found]

    ports = {"t": (), "q": (sizes["nq"],), "m": (sizes["nm"],), "p": (sizes["np"],)}
    return trace(carried, ports, name="carriers", outputs={"out": (drawing.carriers, 12)})


def _stretched(span: Span, poses: Sequence[Pose], memory: Mapping[str, Any]) -> tuple[list[Vec], Vec]:
    """(A, b) of a span for bodies at these poses; `memory` has the memory of elements by name.

    The rotation is the shortest one from the z axis to the direction of the span; a half turn about x if they are
    opposite.
    """
    start, end = _at(span.start, poses), _end(span, poses, memory)
    along = sub(end, start)
    length = norm(along)
    seen = less(SHORTEST, length)
    x, y, z = (where(seen, div(a, where(seen, length, 1.0)), up) for a, up in zip(along, (0.0, 0.0, 1.0), strict=True))
    down = less(z, DOWN - 1.0)
    c = div(1.0, where(down, 1.0, 1.0 + z))
    turned = ((1.0 - c * x * x, -c * x * y, x), (-c * x * y, 1.0 - c * y * y, y), (-x, -y, z))
    opposite = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
    R = [[where(down, b, a) for a, b in zip(*rows, strict=True)] for rows in zip(turned, opposite, strict=True)]
    wide = span.width if span.ball else where(seen, span.width, 0.0)
    scales = (wide, wide, span.width if span.ball else where(seen, length, 0.0))
    A = [tuple(a * s for a, s in zip(row, scales, strict=True)) for row in R]
    return A, end if span.ball else start


def _end(span: Span, poses: Sequence[Pose], memory: Mapping[str, Any]) -> Vec:
    """The end of a span in the world [m]."""
    if span.end is not None:
        return _at(span.end, poses)
    free = add(_at(span.start, poses), span.vector)
    if not span.standing:
        return free
    stands = less(0.5, memory[f"{span.standing}.stance"])
    foot = [memory[f"{span.standing}.{part}"] for part in FOOT]
    return tuple(where(stands, on_ground, aloft) for on_ground, aloft in zip(foot, free, strict=True))


def _at(point: FixedPoint, poses: Sequence[Pose]) -> Vec:
    return point.place if point.carrier == WORLD_CARRIER else act(poses[point.carrier], point.place)
