"""Orientations of many bodies at many times as quaternions (w, x, y, z) that never jump."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.arrays import Array


def quaternions_of(R: Array) -> Array:
    """Unit quaternions (..., 4) wxyz of rotation matrices (..., 3, 3).

    Of the four formulas for the same quaternion (Shepperd, 1978), the one with the largest divisor is used.
    """
    trace = np.trace(R, axis1=-2, axis2=-1)
    diagonal = np.diagonal(R, axis1=-2, axis2=-1)
    squares = np.concatenate([trace[..., None], 2.0 * diagonal - trace[..., None]], axis=-1) + 1.0  # 4 w^2, 4 x^2, ...
    # rows of the matrix 4 q q^T: each is the quaternion times four times one of its entries
    products = np.empty((*R.shape[:-2], 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        products[..., 0, 1 + i] = products[..., 1 + i, 0] = R[..., k, j] - R[..., j, k]
        products[..., 1 + j, 1 + k] = products[..., 1 + k, 1 + j] = R[..., k, j] + R[..., j, k]
    for i in range(4):
        products[..., i, i] = squares[..., i]
    chosen = np.argmax(squares, axis=-1)
    found = np.take_along_axis(products, chosen[..., None, None], axis=-2)[..., 0, :]
    unit: Array = found / np.linalg.norm(found, axis=-1, keepdims=True)
    return unit


def without_jumps(quaternions: Array) -> Array:
    """Quaternions (n, ..., 4) over time with signs chosen so that none jumps to its negative; the first has w >= 0."""
    first = np.where(quaternions[:1, ..., :1] < 0.0, -1.0, 1.0)
    turns = np.where(np.sum(quaternions[1:] * quaternions[:-1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    signs = np.cumprod(np.concatenate([first, turns]), axis=0)
    continuous: Array = quaternions * signs
    return continuous


def rotated(quaternions: Array, vectors: Array) -> Array:
    """Vectors (..., 3) rotated by unit quaternions (..., 4) wxyz."""
    w, u = quaternions[..., :1], quaternions[..., 1:]
    across = 2.0 * _cross(u, vectors)
    turned: Array = vectors + w * across + _cross(u, across)
    return turned


def _cross(a: Array, b: Array) -> Array:
    """The cross product of vectors (..., 3), entry by entry: several times faster than `numpy.cross`."""
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)
