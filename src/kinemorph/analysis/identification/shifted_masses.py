"""Masses that can be moved from a body to the body that carries it, without any change of the forces.

The ten inertial parameters of a body are the entries of its pseudo-inertia P = [[Sigma, h], [h^T, m]], shape (4, 4); in
another frame it is T P T^T. A distribution of mass whose points a joint does not move belongs to either side of the
joint: with the twists xi of the joint as matrices (4, 4) in the child's frame, these are the P with xi P = 0. For a
hinge they are three, the moments 1, z and z^2 along its axis; for a slide six, all of Sigma; for a weld all ten. What
is added to the child and taken from the parent is a direction in the space of all parameters that no force depends on
(Gautier 1991; `mechanics.trees.reframing.regroup` uses the same rules to make links simpler). Directions that end at
the world are hidden on their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import Pose, inverse, matrix_of
from kinemorph.algebra.inertia import from_pseudo_inertia, pseudo_inertia
from kinemorph.mechanics.recursions.kinematics import dense, pose_of_move
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree

SIZE = len(OF_BODY)
ROUNDING = 1e-12  # entries below it, in matrices with entries of the size 1, are zero


def shifted_masses(tree: Tree, q: Array, bodies: Sequence[str]) -> Array:
    """Directions in the space of the parameters that no force depends on, as rows of shape (k, 10 len(bodies)).

    `bodies` are the bodies that joints move, in the order of their parameters; q are any coordinates of all joints.
    """
    first: dict[int, int] = {}  # link -> the first body on it
    for place, name in enumerate(bodies):
        first.setdefault(tree.attachments[name].link, place)
    rows = []
    for place, name in enumerate(bodies):
        at = tree.attachments[name]
        if first[at.link] != place:  # welded to another body
            home, found = (at.link, np.eye(SIZE))
            seen = changed(at.pose) @ found.T
        else:
            home, found, seen = _climbed(tree, q, at.link, first, at.pose)
        for own, moved in zip(found, seen.T, strict=True):
            row = np.zeros(SIZE * len(bodies))
            row[SIZE * place : SIZE * (place + 1)] = own
            if home != WORLD:
                other = first[home]
                there = changed(inverse(tree.attachments[bodies[other]].pose)) @ moved
                row[SIZE * other : SIZE * (other + 1)] -= there
            rows.append(row)
    return np.array(rows).reshape(-1, SIZE * len(bodies))


def _climbed(tree: Tree, q: Array, link: int, first: dict[int, int], pose: Pose) -> tuple[int, Array, Array]:
    """The link of the next body below, what a body can give to it, and how this is seen from that link.

    They are the link's index, parameters of the body (k, 10), and parameters in the frame of the link (10, k).
    """
    moves = tree.moves(q.tolist())
    seen = changed(pose)
    conditions = []
    while link != WORLD:
        conditions.append(_unmoved(tree.links[link]) @ seen)
        seen = changed(pose_of_move(moves[link])) @ seen
        link = tree.links[link].parent
        if link in first:
            break
    kept = null_rows(np.concatenate(conditions))
    return link, kept, seen @ kept.T


def _unmoved(link: Link) -> Array:
    """Rows (16 axes, 10) that are zero for parameters of masses that the joint of a link does not move."""
    rows = [np.zeros((0, SIZE))]
    for axis in link.axes:
        v, w = np.split(np.array(dense(axis), dtype=float), 2)
        xi = np.zeros((4, 4))
        xi[:3, :3] = [[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]]
        xi[:3, 3] = v
        rows.append(np.array([(xi @ np.array(pseudo_inertia(unit))).ravel() for unit in np.eye(SIZE).tolist()]).T)
    return np.concatenate(rows)


def changed(pose: Pose) -> Array:
    """The matrix (10, 10) from the parameters of a body to those in the frame in which the body has this pose."""
    T = np.array(matrix_of(pose), dtype=float)
    return np.array([from_pseudo_inertia(T @ np.array(pseudo_inertia(unit)) @ T.T) for unit in np.eye(SIZE).tolist()]).T


def null_rows(A: Array) -> Array:
    """A basis of the vectors x with A x = 0, as rows, from the reduced echelon form of A: simple where A is simple."""
    reduced, pivots = echelon(A, range(A.shape[1]))
    free = [k for k in range(A.shape[1]) if k not in pivots]
    found = np.zeros((len(free), A.shape[1]))
    for row, k in enumerate(free):
        found[row, k] = 1.0
        found[row, pivots] = -reduced[: len(pivots), k]
    return found


def echelon(A: Array, order: Sequence[int]) -> tuple[Array, list[int]]:
    """The reduced echelon form of A with pivots in the first columns of `order` that are possible, and these columns.

    Row k has the entry 1 in the column pivots[k], where all other rows have 0.
    """
    R = np.array(A, dtype=float)
    scale = max(1.0, float(np.abs(R).max(initial=0.0)))
    pivots: list[int] = []
    for column in order:
        rank = len(pivots)
        if rank == len(R):
            break
        best = rank + int(np.abs(R[rank:, column]).argmax())
        if abs(R[best, column]) <= ROUNDING * scale:
            continue
        R[[rank, best]] = R[[best, rank]]
        R[rank] /= R[rank, column]
        others = [row for row in range(len(R)) if row != rank]
        R[others] -= np.outer(R[others, column], R[rank])
        R[np.abs(R) <= ROUNDING * scale] = 0.0
        pivots.append(column)
    return R, pivots
