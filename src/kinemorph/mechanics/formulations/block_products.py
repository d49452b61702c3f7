"""Matrices of blocks, one for each link or for each pair of links, and their products.

The formulations in matrix form share them. Blocks that are structurally zero are never formed, so the work grows with
the number of pairs of links of which one carries the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from kinemorph.algebra.scalar import S as Scalar
from kinemorph.algebra.scalar import plus, times
from kinemorph.algebra.vectors import Mat, Vec, add, dot, mat_add, matmul, matvec, sub, transpose, zeros
from kinemorph.mechanics.recursions.kinematics import dense
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.tree import WORLD, Tree

Pairs = dict[tuple[int, int], Mat]  # the blocks (i, j) of a matrix that are not structurally zero
Diagonal = tuple[Mat, ...]


def lines(tree: Tree) -> list[tuple[int, ...]]:
    """For each link the indices of the links that carry it, root first, and last the link itself."""
    above: list[tuple[int, ...]] = []
    for i, link in enumerate(tree.links):
        above.append((i,) if link.parent == WORLD else (*above[link.parent], i))
    return above


def joint_axes(tree: Tree) -> Diagonal:
    """S: for each link a block 6 x k with the k axes of its joint as columns, in the frame of the link."""
    return tuple(transpose([dense(axis) for axis in link.axes]) if link.axes else ((),) * 6 for link in tree.links)


def along_axes(tree: Tree, S: Diagonal, rates: Sequence[Scalar]) -> list[Vec]:
    """The product S rates, `rates` of shape (nv,): for each link a twist, shape (6,)."""
    parts = zip(S, tree.links, strict=True)
    return [matvec(axes, [rates[k] for k in link.velocities]) for axes, link in parts]


def onto_axes(tree: Tree, S: Diagonal, loads: Sequence[Vec]) -> list[Scalar]:
    """The product S^T loads of wrenches, one per link: generalized forces, shape (nv,)."""
    tau: list[Scalar] = [0.0] * tree.nv
    for link, axes, load in zip(tree.links, S, loads, strict=True):
        for k, axis in zip(link.velocities, transpose(axes), strict=True):
            tau[k] = dot(axis, load)
    return tau


def from_left(diagonal: Sequence[Mat], parts: Pairs) -> Pairs:
    """The product of a block diagonal matrix and a matrix given by the blocks `parts`."""
    return {(i, j): matmul(diagonal[i], part) for (i, j), part in parts.items()}


def applied(parts: Pairs, x: Sequence[Vec], rows: int) -> list[Vec]:
    """The product of a matrix given by the blocks `parts`, with this number of `rows` of blocks, and a stack x."""
    found: list[Vec] = [()] * rows
    for (i, j), part in parts.items():
        term = matvec(part, x[j])
        found[i] = add(found[i], term) if found[i] else term
    return [part or zeros(3) for part in found]


def applied_transposed(parts: Pairs, x: Sequence[Vec], columns: int) -> list[Vec]:
    """The product of the transpose of a matrix given by the blocks `parts`, with `columns` of blocks, and a stack x."""
    return applied({(j, i): transpose(part) for (i, j), part in parts.items()}, x, columns)


def multiplied(A: Pairs, B: Pairs, above: Sequence[Sequence[int]]) -> Pairs:
    """The product A B of two matrices with blocks (i, j) where j is in the line above[i]; `above` is as in `lines`."""
    found: Pairs = {}
    for i, line in enumerate(above):
        for place, j in enumerate(line):
            terms = [matmul(A[i, k], B[k, j]) for k in line[place:]]
            found[i, j] = reduce(mat_add, terms)
    return found


def squared(tree: Tree, J: Pairs, X: Pairs, *, symmetric: bool = False) -> list[list[Scalar]]:
    """The product J^T X, shape (nv, nv). Where it is `symmetric`, one half is computed and mirrored."""
    places = {i: link.velocities for i, link in enumerate(tree.links)}
    return gram(J, X, places, tree.nv, symmetric=symmetric)


def gram(
    J: Pairs, X: Pairs, places: Mapping[int, Sequence[int]], size: int, *, symmetric: bool = False
) -> list[list[Scalar]]:
    """The product J^T X, shape (size, size); `places` are the rows and columns of each block column of J and X.

    Where it is `symmetric`, one half is computed and mirrored.
    """
    rows: dict[int, list[int]] = {}
    for i, j in J:
        rows.setdefault(i, []).append(j)
    total: list[list[Scalar]] = [[0.0] * size for _ in range(size)]
    for i, line in rows.items():
        for place, a in enumerate(line):
            for b in line[: place + 1] if symmetric else line:
                for row, one in zip(places[a], transpose(J[i, a]), strict=True):
                    for column, other in zip(places[b], transpose(X[i, b]), strict=True):
                        if symmetric and a == b and column > row:
                            continue
                        total[row][column] = plus(total[row][column], dot(one, other))
                        if symmetric:
                            total[column][row] = total[row][column]
    return total


def without(needed: Sequence[Vec], wrenches: Mapping[int, Wrench] | None) -> list[Vec]:
    """The wrenches that the links need for their motion, one per link, minus the external wrenches on them."""
    left = list(needed)
    for index, (force, moment) in (wrenches or {}).items():
        left[index] = sub(left[index], (*force, *moment))
    return left


def with_armatures(tree: Tree, tau: list[Scalar], a: Sequence[Scalar]) -> list[Scalar]:
    """The generalized forces `tau`, shape (nv,), plus those that accelerate the armatures."""
    for link in tree.links:
        for k, armature in zip(link.velocities, link.armature, strict=True):
            tau[k] = plus(tau[k], times(armature, a[k]))
    return tau


def with_armature_masses(tree: Tree, M: list[list[Scalar]]) -> list[list[Scalar]]:
    """The mass matrix M, shape (nv, nv), with the armatures added to its diagonal."""
    for link in tree.links:
        for k, armature in zip(link.velocities, link.armature, strict=True):
            M[k][k] = plus(M[k][k], armature)
    return M


def dense_matrix(parts: Mapping[tuple[int, int], Mat], rows: int, columns: int, height: int = 6) -> list[list[Scalar]]:
    """The dense matrix of shape (rows, columns) with the blocks `parts`; block (i, at) is at row height * i, column
    `at`.
    """
    found: list[list[Scalar]] = [[0.0] * columns for _ in range(rows)]
    for (i, at), part in parts.items():
        for r, entries in enumerate(part):
            found[height * i + r][at : at + len(entries)] = entries
    return found


def dense_diagonal(parts: Diagonal) -> list[list[Scalar]]:
    """The dense matrix (6n, 6n) of n blocks 6 x 6 on the diagonal."""
    return dense_matrix({(i, 6 * i): part for i, part in enumerate(parts)}, 6 * len(parts), 6 * len(parts))


def dense_axes(tree: Tree, S: Diagonal) -> list[list[Scalar]]:
    """The dense matrix (6n, nv) of the joint axes of n links."""
    parts = {(i, tree.links[i].v): part for i, part in enumerate(S)}
    return dense_matrix(parts, 6 * len(S), tree.nv)
