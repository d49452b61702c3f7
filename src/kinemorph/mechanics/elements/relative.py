"""The motion of one part of a robot relative to another, along the path between them: links that carry both do not
enter.

So a rod inside a flying robot constrains the robot's joints and has exactly no effect on its flight, not even by
rounding errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.dual import derivative
from kinemorph.algebra.groups import Pose, act, compose, inverse
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, normalize
from kinemorph.mechanics.constraints.closures import ways_apart
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import plain
from kinemorph.mechanics.recursions.kinematics import configuration_rate, pose_of_move
from kinemorph.mechanics.trees.motions import Move
from kinemorph.model.parameter import evaluate


def between(view: ElementView, a: str, point_a: Sequence[Any], b: str, point_b: Sequence[Any]) -> tuple[Vec3, Vec3]:
    """Two points of bodies or frames a and b [m], both in the frame of the nearest link that carries a and b.

    `point_a` and `point_b` [m] are their positions in the axes of a and b.
    """
    motions = view.instant.motions
    at_a, at_b = motions.attachment(a), motions.attachment(b)
    up_a, up_b = ways_apart(motions.tree, at_a.link, at_b.link)
    p, r = act(at_a.pose, view.value(tuple(point_a))), act(at_b.pose, view.value(tuple(point_b)))
    return _carried(motions.moves, up_a, plain(p)), _carried(motions.moves, up_b, plain(r))


def pose_from(view: ElementView, on: str, body: str) -> Pose:
    """The pose T_AB of a body or frame B = `body`, seen from the body or frame A = `on`."""
    return _pose_at(view, on, body, view.instant.motions.moves)


def velocity_from(view: ElementView, on: str, body: str, point: Sequence[S]) -> Vec3:
    """The velocity [m/s] of a point of a body relative to the body or frame `on`, in the axes of `on`.

    `point` [m] is fixed to the body and given in its axes.
    """
    motions = view.instant.motions
    tree, q = motions.tree, tuple(motions.q)
    rate = tuple(configuration_rate(tree, q, motions.v))
    return plain(derivative(lambda q: act(_pose_at(view, on, body, tree.moves(q)), point), q, rate))


def unit(view: ElementView, vector: Sequence[Any]) -> Vec3:
    """A vector of an element's data, scaled to length 1."""
    x, y, z = view.value(tuple(vector))
    nominal = [float(evaluate(part)) for part in vector]
    if sum(map(bool, nominal)) == 1 and all(isinstance(part, float) for part in (x, y, z)):  # exact for an axis
        return (x / abs(x) if x else 0.0, y / abs(y) if y else 0.0, z / abs(z) if z else 0.0)
    return plain(normalize((x, y, z)))


def across(direction: Sequence[S], vector: Sequence[Any]) -> tuple[Vec3, Vec3]:
    """Two unit vectors at right angles to the unit vector `direction` and to each other.

    `vector` is the direction in the element's data; its nominal values decide which unit vectors are chosen.
    """
    nominal = [abs(float(evaluate(part))) for part in vector]
    x, y, z = direction
    if nominal[2] > max(nominal[:2]):  # across the largest component, which is not 0
        first = plain(normalize((z, 0.0, -x)))
    elif nominal[1] > nominal[0]:
        first = plain(normalize((y, -x, 0.0)))
    else:
        first = plain(normalize((-y, x, 0.0)))
    a, b, c = first
    return first, (y * c - z * b, z * a - x * c, x * b - y * a)


def _pose_at(view: ElementView, on: str, body: str, moves: Sequence[Move]) -> Pose:
    motions = view.instant.motions
    at_a, at_b = motions.attachment(on), motions.attachment(body)
    up_a, up_b = ways_apart(motions.tree, at_a.link, at_b.link)
    T_A, T_B = at_a.pose, at_b.pose
    for index in up_a:
        T_A = compose(pose_of_move(moves[index]), T_A)
    for index in up_b:
        T_B = compose(pose_of_move(moves[index]), T_B)
    return T_B if on == "world" else compose(inverse(T_A), T_B)


def _carried(moves: Sequence[Move], way: Sequence[int], point: Vec3) -> Vec3:
    for index in way:
        point = plain(add(moves[index].out(point), moves[index].origin()))
    return point
