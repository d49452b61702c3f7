"""Twists as matrices of se(3), and what the package does not need of that group: logarithm and coadjoint."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.groups import Ad, Pose, inverse
from kinemorph.algebra.rotations import left_jacobian_so3_inverse, log_so3
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import Mat, Vec, hat, matvec, transpose, zeros


def vee(W: Sequence[Sequence[S]]) -> Vec:
    """The vector of a skew matrix, shape (3,): the inverse of `hat`."""
    return (W[2][1], W[0][2], W[1][0])


def hat_se3(V: Sequence[S]) -> Mat:
    """The twist as a matrix of se(3), shape (4, 4): Tdot_ab = T_ab hat_se3(V_b)."""
    return (*((*row, x) for row, x in zip(hat(V[3:]), V[:3], strict=True)), zeros(4))


def vee_se3(matrix: Sequence[Sequence[S]]) -> Vec:
    """The twist, shape (6,), of a matrix of se(3): the inverse of `hat_se3`."""
    return (matrix[0][3], matrix[1][3], matrix[2][3], *vee(matrix))


def log_se3(T: Pose) -> Vec:
    """The twist [v; w], shape (6,), that reaches T in unit time, turning by at most pi: the inverse of `exp_se3`."""
    w = log_so3(T.R)
    return (*matvec(left_jacobian_so3_inverse(w), T.p), *w)


def coAd(T_ab: Pose) -> Mat:
    """The coadjoint Ad(T_ab^-1)^T, shape (6, 6): F_a = coAd(T_ab) F_b."""
    return transpose(Ad(inverse(T_ab)))
