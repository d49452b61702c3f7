"""Spatial inertias of rigid and articulated bodies as blocks.

An inertia is stored as blocks (A, B, J) in the order [linear; angular]: force = A a + B al, moment = B^T a + J al, with
a the linear and al the angular acceleration. A and J are symmetric 6-tuples (xx, xy, xz, yy, yz, zz), B a 9-tuple by
rows. Structural zeros stay zeros; the origin is shifted along one axis after the other.
"""

from __future__ import annotations

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.inertia import Inertia
from kinemorph.algebra.scalar import S, times
from kinemorph.algebra.turns import Mat3, Sym3, TurnFull, Vec3
from kinemorph.algebra.vectors import Mat, dot

Axis = tuple[tuple[int, S], ...]  # a sparse twist: (component of [linear; angular], coefficient)
Moments = tuple[S, Vec3, Sym3]  # mass [kg], first [kg m] and second [kg m^2] moment about a frame's origin, in its axes
Blocks = tuple[Sym3, Mat3, Sym3]
Six = tuple[S, ...]


def column(blocks: Blocks, axis: Axis) -> Six:
    """U = I S: the spatial inertia I, given as blocks, times a sparse screw axis S; shape (6,)."""
    (axx, axy, axz, ayy, ayz, azz), B, (jxx, jxy, jxz, jyy, jyz, jzz) = blocks
    bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz = B
    columns: tuple[Six, ...] = (
        (axx, axy, axz, bxx, bxy, bxz),
        (axy, ayy, ayz, byx, byy, byz),
        (axz, ayz, azz, bzx, bzy, bzz),
        (bxx, byx, bzx, jxx, jxy, jxz),
        (bxy, byy, bzy, jxy, jyy, jyz),
        (bxz, byz, bzz, jxz, jyz, jzz),
    )
    if len(axis) == 1 and axis[0][1] == 1.0:
        return columns[axis[0][0]]
    total: list[S] = [0.0] * 6
    for component, coefficient in axis:
        total = [x + coefficient * y for x, y in zip(total, columns[component], strict=True)]
    return tuple(total)


def dense_blocks(blocks: Blocks) -> Mat:
    """The spatial inertia as a matrix, shape (6, 6)."""
    return tuple(column(blocks, ((k, 1.0),)) for k in range(6))


def joined_blocks(one: Blocks, other: Blocks) -> Blocks:
    """The sum of two spatial inertias."""
    A, B, J = [tuple([x + y for x, y in zip(a, b, strict=True)]) for a, b in zip(one, other, strict=True)]
    return A, B, J


def times_blocks(blocks: Blocks, a: Vec3, al: Vec3) -> tuple[Vec3, Vec3]:
    """(force, moment) = I [a; al]: a spatial inertia times a linear and an angular acceleration."""
    six = (*a, *al)
    rows = [dot(row, six) for row in dense_blocks(blocks)]
    return (rows[0], rows[1], rows[2]), (rows[3], rows[4], rows[5])


def along(axis: Axis, U: Six) -> S:
    """S . U: the scalar product of a sparse screw axis S and a six-vector U."""
    total: S = 0.0
    for component, coefficient in axis:
        total = total + coefficient * U[component]
    return total


def deflated(blocks: Blocks, U: Six, G: Six, freed: Axis | None, pivot: S = 0.0) -> Blocks:
    """The inertia that a joint with the axis S passes on to its parent: I - U G^T, U = I S, G = U / (S . U + pivot).

    I is the articulated inertia of the joint's child, given as blocks; `pivot` is inertia along the joint itself, such
    as its armature. Where S is a coordinate axis, its row and its column of the result equal G pivot. They are computed
    in that form if S is given as `freed`, so that they are structural zeros where there is no pivot; with `freed` None,
    all entries are computed by the formula.
    """
    gone = freed[0][0] if freed is not None and len(freed) == 1 else -1
    Uk = tuple(0.0 if k == gone else U[k] for k in range(6))
    Gk = tuple(0.0 if k == gone else G[k] for k in range(6))
    (axx, axy, axz, ayy, ayz, azz), B, (jxx, jxy, jxz, jyy, jyz, jzz) = blocks
    x, y, z, rx, ry, rz = Uk
    gx, gy, gz, hx, hy, hz = Gk
    A = [axx - x * gx, axy - x * gy, axz - x * gz, ayy - y * gy, ayz - y * gz, azz - z * gz]
    C = [B[3 * i + j] - Uk[i] * Gk[3 + j] for i in range(3) for j in range(3)]
    J = [jxx - rx * hx, jxy - rx * hy, jxz - rx * hz, jyy - ry * hy, jyz - ry * hz, jzz - rz * hz]
    left = [times(g, pivot) for g in G] if gone >= 0 else []
    if gone >= 3:
        for k, entry in enumerate(_TOUCHING[gone - 3]):
            J[entry] = left[3 + k]
        for i in range(3):
            C[3 * i + gone - 3] = left[i]
    elif gone >= 0:
        for k, entry in enumerate(_TOUCHING[gone]):
            A[entry] = left[k]
        for j in range(3):
            C[3 * gone + j] = left[3 + j]
    return tuple(A), tuple(C), tuple(J)


_TOUCHING = ((0, 1, 2), (1, 3, 4), (2, 4, 5))  # entries of a symmetric 6-tuple in row k


# ── change of frame ───────────────────────────────────────────────────────────────────────────────────────────────────


def rigid_blocks(moments: Moments) -> Blocks:
    """The spatial inertia of a rigid body from its `moments` about the same origin: mass, first and second moment."""
    m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz) = moments
    return (
        (m, 0.0, 0.0, m, 0.0, m),
        (0.0, hz, -hy, -hz, 0.0, hx, hy, -hx, 0.0),
        (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy),
    )


def body_blocks(body: Inertia) -> Blocks:
    """The spatial inertia of a rigid body about the origin of the frame in which `body` is given."""
    m, (x, y, z), ((xx, xy, xz), (_, yy, yz), (_, _, zz)) = body.mass, body.com, body.moment
    mx, my, mz = m * x, m * y, m * z
    return (
        (m, 0.0, 0.0, m, 0.0, m),
        (0.0, mz, -my, -mz, 0.0, mx, my, -mx, 0.0),
        (
            xx + my * y + mz * z,
            xy - mx * y,
            xz - mx * z,
            yy + mx * x + mz * z,
            yz - my * z,
            zz + mx * x + my * y,
        ),
    )


def posed_blocks(T: Pose, blocks: Blocks) -> Blocks:
    """A spatial inertia, given in frame b, expressed in frame a, where T = T_ab."""
    turn, (A, B, J) = TurnFull(T.R), blocks
    return shifted_blocks((turn.out_symmetric(A), turn.out_general(B), turn.out_symmetric(J)), T.p)


def shifted_blocks(blocks: Blocks, p: Vec3) -> Blocks:
    """A spatial inertia, given about the point O, expressed about the point O' = O - p.

    B' = B - A [p x] and J' = J + [p x] B' + ([p x] B)^T.
    """
    A, B, J = blocks
    for k in (0, 1, 2):
        if not (p[k].__class__ is float and p[k] == 0.0):
            B, J = _SHIFTS[k](A, B, J, p[k])
    return A, B, J


def _shift_x(A: Sym3, B: Mat3, J: Sym3, r: S) -> tuple[Mat3, Sym3]:
    _, axy, axz, ayy, ayz, azz = A
    bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz = B
    jxx, jxy, jxz, jyy, jyz, jzz = J
    ryz = r * ayz
    cxy, cyy, czy = bxy - r * axz, byy - ryz, bzy - r * azz
    cxz, cyz, czz = bxz + r * axy, byz + r * ayy, bzz + ryz
    J = (
        jxx,
        jxy - r * bzx,
        jxz + r * byx,
        jyy - r * (bzy + czy),
        jyz + r * (byy - czz),
        jzz + r * (byz + cyz),
    )
    return (bxx, cxy, cxz, byx, cyy, cyz, bzx, czy, czz), J


def _shift_y(A: Sym3, B: Mat3, J: Sym3, r: S) -> tuple[Mat3, Sym3]:
    axx, axy, axz, _, ayz, azz = A
    bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz = B
    jxx, jxy, jxz, jyy, jyz, jzz = J
    rxz = r * axz
    cxx, cyx, czx = bxx + rxz, byx + r * ayz, bzx + r * azz
    cxz, cyz, czz = bxz - r * axx, byz - r * axy, bzz - rxz
    J = (
        jxx + r * (bzx + czx),
        jxy + r * bzy,
        jxz + r * (czz - bxx),
        jyy,
        jyz - r * bxy,
        jzz - r * (bxz + cxz),
    )
    return (cxx, bxy, cxz, cyx, byy, cyz, czx, bzy, czz), J


def _shift_z(A: Sym3, B: Mat3, J: Sym3, r: S) -> tuple[Mat3, Sym3]:
    axx, axy, axz, ayy, ayz, _ = A
    bxx, bxy, bxz, byx, byy, byz, bzx, bzy, bzz = B
    jxx, jxy, jxz, jyy, jyz, jzz = J
    rxy = r * axy
    cxx, cyx, czx = bxx - rxy, byx - r * ayy, bzx - r * ayz
    cxy, cyy, czy = bxy + r * axx, byy + rxy, bzy + r * axz
    J = (
        jxx - r * (byx + cyx),
        jxy + r * (bxx - cyy),
        jxz - r * byz,
        jyy + r * (bxy + cxy),
        jyz + r * bxz,
        jzz,
    )
    return (cxx, cxy, bxz, cyx, cyy, byz, czx, czy, bzz), J


_SHIFTS = (_shift_x, _shift_y, _shift_z)
