"""Motions from rest to rest as linear functions of few unknowns: `FourierSeries` with its end conditions solved.

A joint moves as  q = o + sum over l = 1 .. n of  b_l sin(l w t) + c_l cos(l w t).  It is at rest at both ends of the
period if  sum l b_l = 0  and  sum l^2 c_l = 0.  The solutions of these two conditions are a linear space, of which the
columns of `coefficients` are a basis: it is orthogonal in  l b_l  and  l c_l,  so that a step of the same length along
each unknown changes velocities by about the same amount.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array


class SeriesBasis:
    """The series of one joint: coefficients (o, b_1 .. b_n, c_1 .. c_n) = start e_0 + `coefficients` @ x.

    `harmonics`   n, at least 2
    `period`      [s]
    `anchored`    whether the position at both ends is given; else the first unknown is the offset o
    """

    def __init__(self, harmonics: int, period: float, anchored: bool) -> None:
        self.harmonics, self.period, self.anchored = harmonics, period, anchored
        order = np.arange(1.0, harmonics + 1.0)
        sines = scipy.linalg.null_space(np.ones((1, harmonics))) / order[:, None]
        cosines = scipy.linalg.null_space(order[None]) / order[:, None]
        blocks = scipy.linalg.block_diag(np.zeros((1, 0)) if anchored else np.ones((1, 1)), sines, cosines)
        if anchored:  # o = start - sum of c_l
            blocks[0] = -blocks[1 + harmonics :].sum(axis=0)
        self.coefficients: Array = blocks
        self.size = int(blocks.shape[1])

    def functions(self, t: Array) -> Array:
        """Position, velocity and acceleration at times t (N,) for a unit of each unknown, shape (3, N, size)."""
        rates = 2.0 * np.pi / self.period * np.arange(1.0, self.harmonics + 1.0)
        angles = np.outer(t, rates)
        s, c = np.sin(angles), np.cos(angles)
        ones, none = np.ones((len(t), 1)), np.zeros((len(t), 1))
        rows = [np.hstack([ones, s, c]), np.hstack([none, rates * c, -rates * s])]
        rows.append(np.hstack([none, -(rates**2) * s, -(rates**2) * c]))
        return np.stack([row @ self.coefficients for row in rows])

    def series(self, x: Array, start: Array) -> tuple[Array, Array, Array]:
        """The offsets (joints,), sines and cosines (harmonics, joints) of unknowns x (joints, size)."""
        found = self.coefficients @ x.T
        offset = found[0] + (start if self.anchored else 0.0)
        return offset, found[1 : 1 + self.harmonics], found[1 + self.harmonics :]
