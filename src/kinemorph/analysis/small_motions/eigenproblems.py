"""Eigenvalues of a linearized plant, by three methods.

    M a + K w = 0, M and K symmetric      (K - omega^2 M) psi = 0, by Cholesky's factor of M: real, to full accuracy
    ds/dt = A s                           eigenvalues of A
    equations without accelerations       E ds/dt = F s with a singular E, by inversion about a shift; infinite
                                          eigenvalues are left out

NumPy suffices for all three.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.analysis.small_motions.linearize import Linearization, independent
from kinemorph.analysis.small_motions.plant_derivatives import Point, Slopes
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.trees.charts import CHARTS
from kinemorph.mechanics.trees.motions import ELEMENTARY

Complex = npt.NDArray[np.complex128]
SYMMETRIC = 1e-11  # K and M count as symmetric up to this error, relative to their largest entry
RIGID = 1e-12  # a stiffness per mass below this, relative to the largest, is zero
NEARLY_ZERO = 1e-6  # eigenvalues below this, relative to the largest, are zero: rounding moves double zeros that far
INFINITE = 1e-8  # eigenvalues of the inverse below this, relative to the largest, are infinite poles


class Motions(NamedTuple):
    """Poles (n,) and their eigenvectors in all states s = [w, v, x], columns (ns, n), not yet sorted or scaled.

    s holds displacements w, velocities v and further states x.
    """

    values: Complex
    vectors: Complex


def poles_of_linearization(linear: Linearization) -> Motions:
    """Poles from the symmetric problem where the plant is conservative and at rest, else from the eigenvalues of A."""
    second = linear.second_order
    if second is not None and not linear.point.v.any():
        Z, V = linear.directions
        M, C, K = (Z.T @ matrix @ Z for matrix in (second.M, second.C, second.K))
        if Z.shape == V.shape and not C.any() and _is_symmetric(M) and _is_symmetric(K):
            return _of_symmetric(M, K, Z)
    A = linear.dual @ _of_deviations(linear) @ linear.basis
    values, vectors = np.linalg.eig(A)
    kept = _without_repeated_zeros(A, values)
    return Motions(values[kept].astype(complex), linear.basis @ vectors[:, kept].astype(complex))


def _of_deviations(linear: Linearization) -> Array:
    """The matrix A of ds/dt = A s, s = [w, v, x], if displacements w are measured from the moving configuration.

    The matrix A of a Linearization measures them from the fixed configuration q instead.

    A pole is a growth rate of the deviation from a motion, so that the coordinates have to move with it. For joints of
    one axis nothing changes. For others a deviation is measured in moving axes:  dw/dt = dv - (dc/dw) w, where
    c(w, v) is the velocity of the displaced joint if q moves at v and w is constant; for a rotation the last term is
    -v x w.
    """
    A, v = linear.A.copy(), linear.point.v
    for place in linear.plant.manifold if v.any() else ():
        n = ELEMENTARY[place.kind].nv
        part = slice(place.v, place.v + n)
        for k in range(n):
            along = Direction()
            w = [along.moved(0.0, float(j == k)) for j in range(n)]
            turned = CHARTS[place.kind].carried(w, v[part].tolist())
            A[part, place.v + k] = [-entry for entry in along.tangents(turned)]
    return A


def _is_symmetric(matrix: Array) -> bool:
    return bool(np.abs(matrix - matrix.T).max(initial=0.0) <= SYMMETRIC * np.abs(matrix).max(initial=0.0))


def _of_symmetric(M: Array, K: Array, Z: Array) -> Motions:
    """Poles i omega and motions Z psi from (K - omega^2 M) psi = 0; a negative omega^2 gives two real poles.

    The columns of Z are the directions in which the state may move; M and K are inertia and stiffness along them.
    """
    M, K = 0.5 * (M + M.T), 0.5 * (K + K.T)
    if not len(M):
        return Motions(np.zeros(0, complex), np.zeros((2 * len(Z), 0), complex))
    factor = np.linalg.cholesky(M)
    inverse = np.linalg.inv(factor)
    _, turned = np.linalg.eigh(inverse @ K @ inverse.T)
    shapes = inverse.T @ turned
    # Rayleigh's quotient: its error is the square of the shape's
    squares = np.einsum("ik,ij,jk->k", shapes, K, shapes) / np.einsum("ik,ij,jk->k", shapes, M, shapes)
    squares[np.abs(squares) <= RIGID * np.abs(squares).max(initial=0.0)] = 0.0
    values: list[complex] = []
    columns: list[Complex] = []
    for square, shape in zip(squares, (Z @ shapes).T, strict=True):
        size = math.sqrt(abs(square))
        for value in (complex(0.0, size),) if square >= 0.0 else (complex(size), complex(-size)):
            values.append(value)
            columns.append(np.concatenate([shape, value * shape]))
    return Motions(np.array(values), np.array(columns).T)


def _without_repeated_zeros(A: Array, values: Complex) -> npt.NDArray[np.intp]:
    """Indices of the eigenvalues of A to list; eigenvalues near zero are set to zero in `values`.

    Zero is listed as often as it has independent eigenvectors.
    """
    size = np.abs(values).max(initial=0.0)
    scale = np.linalg.norm(A, 2) if len(A) else 0.0
    shapes = len(A) - int(np.linalg.matrix_rank(A, RIGID * scale)) if scale else len(A)
    order = np.argsort(np.abs(values), kind="stable")
    zeros = [k for k in order[: 2 * shapes] if abs(values[k]) <= NEARLY_ZERO * size]
    values[zeros] = 0.0
    dropped = zeros[shapes:]
    return np.array([k for k in range(len(values)) if k not in dropped], dtype=np.intp)


def poles_of_pencil(slopes: Slopes, point: Point) -> Motions:
    """Poles of  E ds/dt = F s  with a singular matrix E, where s = [w, v, x] is a small change of the state.

    They are the finite eigenvalues, computed from the matrix (F - shift E)^-1 E.
    """
    plant = slopes.plant
    nv, ns = plant.nv, plant.ns
    blocks = slopes.blocks(point, np.zeros(slopes.n))
    E, F = np.eye(ns), np.zeros((ns, ns))
    E[nv:, nv:] = blocks.z
    F[:nv, nv : 2 * nv] = np.eye(nv)
    F[nv:] = -np.hstack([blocks.w, blocks.v, blocks.x])
    basis, dual = independent(slopes, point)
    E, F = dual @ E @ basis, dual @ F @ basis
    shift = _best_shift(E, F)
    if shift is None:
        raise UnsupportedError(
            f"plant '{plant.name}': its linearized equations do not determine the motion, because some are redundant "
            "or hold for any state. Give one independent equation for each unknown."
        )
    values, vectors = np.linalg.eig(np.linalg.solve(F - shift * E, E))
    kept = np.abs(values) > INFINITE * np.abs(values).max(initial=0.0)
    found = shift + 1.0 / values[kept]
    size = np.abs(found).max(initial=0.0)
    found[np.abs(found) <= 1e-12 * max(size, abs(shift))] = 0.0
    return Motions(found.astype(complex), basis @ vectors[:, kept].astype(complex))


def _best_shift(E: Array, F: Array) -> float | None:
    """The shift for which F - shift E has the best condition number; None where it is singular for all shifts tried."""
    size = np.abs(F).max(initial=0.0) / max(np.abs(E).max(initial=0.0), 1e-300)
    tried = [math.pi / 3.0 * size**power for power in (0.0, 0.25, 0.5, 0.75, 1.0)]
    conditions = [float(np.linalg.cond(F - shift * E)) for shift in tried]
    best = int(np.argmin(conditions))
    return tried[best] if conditions[best] < 1e15 else None
