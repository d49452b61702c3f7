"""Rigid motions: the group SE(3), its exponential, logarithm and adjoints, twists, wrenches, screws, over any scalar.

A pose `T_ab = (R_ab, p_ab)` maps coordinates of frame b to frame a: x_a = R_ab x_b + p_ab, so that T_ab T_bc = T_ac.
Six-vectors put the linear part first: a twist is [v; w] with v [m/s] the velocity of the point at the frame's origin
and w [rad/s]; a wrench is [f; m] with f [N] and m [N m] about the frame's origin. Their product is power [W], the same
in every frame:

    V_a = Ad(T_ab) V_b         F_a = coAd(T_ab) F_b,  coAd(T) = Ad(T^-1)^T         F_a . V_a = F_b . V_b
    bracket(V, W) = ad(V) W    cobracket(V, F) = coad(V) F,  coad(V) = -ad(V)^T

Murray, Li & Sastry (1994), chapter 2, with the order [linear; angular]. Rotations are in `rotations` and `quaternions`;
their main functions can be imported from here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.quaternions import quat_exp as quat_exp
from kinemorph.algebra.quaternions import quat_log as quat_log
from kinemorph.algebra.quaternions import quat_multiply as quat_multiply
from kinemorph.algebra.quaternions import quat_to_rotation as quat_to_rotation
from kinemorph.algebra.quaternions import rotation_to_quat as rotation_to_quat
from kinemorph.algebra.rotations import exp_so3 as exp_so3
from kinemorph.algebra.rotations import is_rotation as is_rotation
from kinemorph.algebra.rotations import left_jacobian_so3
from kinemorph.algebra.rotations import log_so3 as log_so3
from kinemorph.algebra.rotations import rotation as rotation
from kinemorph.algebra.rotations import rpy_to_rotation as rpy_to_rotation
from kinemorph.algebra.scalar import S, is_zero, times
from kinemorph.algebra.vectors import (
    Mat,
    Vec,
    add,
    block,
    cross,
    dot,
    hat,
    identity,
    mat_neg,
    matmul,
    matvec,
    matvec_transposed,
    neg,
    norm,
    scale,
    sub,
    transpose,
    zeros,
)


class Pose(NamedTuple):
    """A rigid motion T_ab: the axes R_ab, shape (3, 3), and the origin p_ab [m], shape (3,), of frame b seen from a."""

    R: Mat
    p: Vec


IDENTITY = Pose(identity(3), zeros(3))

# ── the group SE(3) ───────────────────────────────────────────────────────────────────────────────────────────────────


def translation(p: Sequence[S]) -> Pose:
    """The pose that only shifts by p [m], shape (3,)."""
    return Pose(identity(3), tuple(p))


def turn(R: Sequence[Sequence[S]]) -> Pose:
    """The pose that only rotates by R, shape (3, 3)."""
    return Pose(R if isinstance(R, tuple) else tuple(map(tuple, R)), zeros(3))


def compose(T_ab: Pose, *others: Pose) -> Pose:
    """The product of poses, T_ab T_bc ..."""
    R, p = T_ab
    for T_bc in others:
        R, p = matmul(R, T_bc.R), add(p, matvec(R, T_bc.p))
    return Pose(R, p)


def inverse(T_ab: Pose) -> Pose:
    """The inverse pose, T_ba = T_ab^-1."""
    return Pose(transpose(T_ab.R), neg(matvec_transposed(T_ab.R, T_ab.p)))


def relative(T_wa: Pose, T_wb: Pose) -> Pose:
    """T_ab = T_wa^-1 T_wb: the pose of frame b in frame a."""
    return Pose(matmul(transpose(T_wa.R), T_wb.R), matvec_transposed(T_wa.R, sub(T_wb.p, T_wa.p)))


def act(T_ab: Pose, x_b: Sequence[S]) -> Vec:
    """The point x_b [m], shape (3,), in coordinates of frame a."""
    return add(matvec(T_ab.R, x_b), T_ab.p)


def extent(T_ab: Pose) -> tuple[S, S]:
    """The size of a pose: the distance between the origins of a and b [m], and the angle of the rotation R_ab [rad]."""
    return norm(T_ab.p), norm(log_so3(T_ab.R))


def matrix_of(T: Pose) -> Mat:
    """The homogeneous matrix of a pose, shape (4, 4)."""
    return (*((*row, x) for row, x in zip(T.R, T.p, strict=True)), (0.0, 0.0, 0.0, 1.0))


def pose_of(matrix: Sequence[Sequence[S]]) -> Pose:
    """The pose of a homogeneous matrix, shape (4, 4) or its upper (3, 4)."""
    return Pose(tuple(tuple(row[:3]) for row in matrix[:3]), tuple(row[3] for row in matrix[:3]))


# ── the algebra se(3): twists and screws ──────────────────────────────────────────────────────────────────────────────


def screw(axis: Sequence[S], point: Sequence[S] = (0.0, 0.0, 0.0), pitch: S = 0.0) -> Vec:
    """The twist [v; w], shape (6,), of rotation at 1 rad/s about a unit axis through a point [m]; `pitch` in m/rad."""
    return (*add(cross(point, axis), scale(pitch, axis)), *axis)


def exp_se3(V: Sequence[S]) -> Pose:
    """The pose reached by the twist V = [v; w], shape (6,), in unit time; smooth through zero."""
    return Pose(exp_so3(V[3:]), matvec(left_jacobian_so3(V[3:]), V[:3]))


def exp_screw(V: Sequence[S], q: S) -> Pose:
    """The pose exp(V q) of a constant screw V = [v; w]: a turn by q [rad] where |w| = 1, a shift by q [m] where w = 0.

    The choice is made when a program is traced, not when it runs: w has to consist of constants.
    """
    v, w = V[:3], V[3:]
    if all(is_zero(x) for x in w):
        return translation(scale(q, v))
    R = rotation(w, q)
    center = cross(w, v)  # the axis point nearest the origin
    return Pose(R, add(sub(center, matvec(R, center)), scale(times(q, dot(w, v)), w)))


# ── adjoints: how twists and wrenches change frame, and their rates ───────────────────────────────────────────────────


def Ad(T_ab: Pose) -> Mat:
    """The adjoint [[R, hat(p) R], [0, R]], shape (6, 6): V_a = Ad(T_ab) V_b."""
    return block([[T_ab.R, matmul(hat(T_ab.p), T_ab.R)], [(zeros(3),) * 3, T_ab.R]])


def ad(V: Sequence[S]) -> Mat:
    """The adjoint of the algebra [[hat(w), hat(v)], [0, hat(w)]], shape (6, 6): the rate of Ad along V."""
    return block([[hat(V[3:]), hat(V[:3])], [(zeros(3),) * 3, hat(V[3:])]])


def coad(V: Sequence[S]) -> Mat:
    """The coadjoint of the algebra -ad(V)^T, shape (6, 6): the rate of coAd along V."""
    return mat_neg(transpose(ad(V)))


def move_twist(T_ab: Pose, V_b: Sequence[S]) -> Vec:
    """The twist V_b, given in frame b, expressed in frame a: V_a = Ad(T_ab) V_b, shape (6,)."""
    w = matvec(T_ab.R, V_b[3:])
    return (*add(matvec(T_ab.R, V_b[:3]), cross(T_ab.p, w)), *w)


def move_twist_back(T_ab: Pose, V_a: Sequence[S]) -> Vec:
    """The twist V_a, given in frame a, expressed in frame b: V_b = Ad(T_ab^-1) V_a, shape (6,)."""
    v = sub(V_a[:3], cross(T_ab.p, V_a[3:]))
    return (*matvec_transposed(T_ab.R, v), *matvec_transposed(T_ab.R, V_a[3:]))


def move_wrench(T_ab: Pose, F_b: Sequence[S]) -> Vec:
    """The wrench F_b, given in frame b, expressed in frame a: F_a = coAd(T_ab) F_b = Ad(T_ab^-1)^T F_b, shape (6,)."""
    f = matvec(T_ab.R, F_b[:3])
    return (*f, *add(matvec(T_ab.R, F_b[3:]), cross(T_ab.p, f)))


def bracket(V: Sequence[S], W: Sequence[S]) -> Vec:
    """The Lie bracket ad(V) W, shape (6,): [w x v' + v x w'; w x w'] for V = [v; w] and W = [v'; w']."""
    v, w = V[:3], V[3:]
    return (*add(cross(w, W[:3]), cross(v, W[3:])), *cross(w, W[3:]))


def cobracket(V: Sequence[S], F: Sequence[S]) -> Vec:
    """coad(V) F = -ad(V)^T F, shape (6,): the rate of a wrench F = [f; m] that moves along with the twist V = [v; w].

    It equals [w x f; v x f + w x m].
    """
    v, w = V[:3], V[3:]
    return (*cross(w, F[:3]), *add(cross(v, F[:3]), cross(w, F[3:])))
