"""Vectors, rotations, inertia tensors and homogeneous matrices with operators, as in the EasyDyn paper (section 4.1).

    a = vec(1.0, 2.0, 3.0);  b = vec(3.0, 2.0, 1.0)
    c = (2 * a + (b ^ vcoord(3, 4, 5))) / 3      # ^ is the cross product; as in C++ it binds less than + and *
    d = a * b                                    # the scalar product
    T = Troty(0.1) * Tdisp(1, 0, 0)              # a homogeneous matrix: T * r moves a point, T.R and T.e are its parts

The numbers may be scalars of any kind: floats, NumPy arrays, coordinates and parameters, dual numbers, graph nodes. A
homogeneous matrix remembers the factors that it was multiplied from, so that a robot can be built from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.groups import Pose, compose, inverse
from kinemorph.algebra.quaternions import quat_to_rotation
from kinemorph.algebra.rotations import rotation
from kinemorph.algebra.scalar import S, div, plus, sqrt, times
from kinemorph.algebra.vectors import Mat, Vec, add, cross, dot, identity, matmul, matvec, neg, scale, sub, transpose

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class vec:
    """A vector (x, y, z)."""

    __array_ufunc__ = None  # NumPy scalars leave the operators to us

    def __init__(self, x: S = 0.0, y: S = 0.0, z: S = 0.0) -> None:
        self.x, self.y, self.z = x, y, z

    def put(self, x: S, y: S, z: S) -> None:
        """Sets all three entries."""
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[S]:
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"vec({self.x}, {self.y}, {self.z})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, vec) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: vec) -> vec:
        return vec(*add(tuple(self), _three(other, "+")))

    def __sub__(self, other: vec) -> vec:
        return vec(*sub(tuple(self), _three(other, "-")))

    def __neg__(self) -> vec:
        return vec(*neg(tuple(self)))

    def __mul__(self, other: Any) -> Any:
        """The scalar product with a vector, or a multiple."""
        if isinstance(other, vec):
            return dot(tuple(self), tuple(other))
        return vec(*scale(_scalar(other, "*"), tuple(self)))

    def __rmul__(self, other: Any) -> vec:
        return vec(*scale(_scalar(other, "*"), tuple(self)))

    def __truediv__(self, other: Any) -> vec:
        return vec(*(div(x, _scalar(other, "/")) for x in self))

    def __xor__(self, other: vec) -> vec:
        """The cross product."""
        return vec(*cross(tuple(self), _three(other, "^")))

    def length(self) -> S:
        """The length of the vector."""
        return sqrt(dot(tuple(self), tuple(self)))

    def unite(self) -> vec:
        """The vector of length 1 in this direction."""
        return vec(*(div(x, self.length()) for x in self))


class trot:
    """A rotation matrix, given by its rows; its entries are r11 to r33."""

    __array_ufunc__ = None

    def __init__(self, rows: Sequence[Sequence[S]] = identity(3)) -> None:
        self.rows: Mat = tuple(map(tuple, rows))
        if len(self.rows) != 3 or any(len(row) != 3 for row in self.rows):
            raise TypeError(f"trot: {len(self.rows)} rows are given, expected three rows of three numbers.")

    def __getattr__(self, name: str) -> S:
        if len(name) == 3 and name[0] == "r" and {name[1], name[2]} <= set("123"):
            return self.rows[int(name[1]) - 1][int(name[2]) - 1]
        raise AttributeError(f"a trot has no '{name}'; expected the entries r11 to r33 of the rotation, rows or inv().")

    def __repr__(self) -> str:
        return f"trot({self.rows})"

    def inv(self) -> trot:
        """The inverse rotation, which is the transposed matrix."""
        return trot(transpose(self.rows))

    def __mul__(self, other: Any) -> Any:
        """The rotated vector, or the product with a rotation."""
        if isinstance(other, vec):
            return vec(*matvec(self.rows, tuple(other)))
        if isinstance(other, trot):
            return trot(matmul(self.rows, other.rows))
        raise TypeError(
            f"trot * {type(other).__name__} is not defined; expected a vec (a vector) or a trot (a rotation)."
        )


class tiner:
    """An inertia tensor by the entries of its symmetric matrix [kg m^2]: Ixx, Iyy, Izz, Ixy, Ixz, Iyz."""

    __array_ufunc__ = None

    def __init__(self, Ixx: S = 0.0, Iyy: S = 0.0, Izz: S = 0.0, Ixy: S = 0.0, Ixz: S = 0.0, Iyz: S = 0.0) -> None:
        self.put(Ixx, Iyy, Izz, Ixy, Ixz, Iyz)

    def put(self, Ixx: S, Iyy: S, Izz: S, Ixy: S = 0.0, Ixz: S = 0.0, Iyz: S = 0.0) -> None:
        """Sets all six entries."""
        self.Ixx, self.Iyy, self.Izz, self.Ixy, self.Ixz, self.Iyz = Ixx, Iyy, Izz, Ixy, Ixz, Iyz

    @property
    def matrix(self) -> Mat:
        """The symmetric matrix, shape (3, 3)."""
        return ((self.Ixx, self.Ixy, self.Ixz), (self.Ixy, self.Iyy, self.Iyz), (self.Ixz, self.Iyz, self.Izz))

    def __repr__(self) -> str:
        return f"tiner({self.Ixx}, {self.Iyy}, {self.Izz}, {self.Ixy}, {self.Ixz}, {self.Iyz})"

    def _entries(self) -> tuple[S, ...]:
        return (self.Ixx, self.Iyy, self.Izz, self.Ixy, self.Ixz, self.Iyz)

    def __add__(self, other: tiner) -> tiner:
        if not isinstance(other, tiner):
            raise TypeError(f"tiner + {type(other).__name__} is not defined; expected a tiner.")
        return tiner(*(plus(x, y) for x, y in zip(self._entries(), other._entries(), strict=True)))

    def __mul__(self, other: Any) -> Any:
        """The product with a vector, such as the angular momentum I * omega, or a multiple."""
        if isinstance(other, vec):
            return vec(*matvec(self.matrix, tuple(other)))
        return tiner(*(times(_scalar(other, "*"), x) for x in self._entries()))

    __rmul__ = __mul__


class Factor(NamedTuple):
    """One factor of a homogeneous matrix.

    `kind` is "x", "y" or "z" (a rotation about that axis, `values` has the angle [rad]), "n" (a rotation about any
    axis: three entries, then the angle), "disp" (a displacement: x, y, z [m]), "quat" (a unit quaternion wxyz) or
    "matrix" (the rows of the rotation matrix, then the displacement).
    """

    kind: str
    values: tuple[S, ...]

    @property
    def pose(self) -> Pose:
        """The factor as a pose."""
        v = self.values
        if self.kind in AXES:
            return Pose(rotation(AXES[self.kind], v[0]), (0.0, 0.0, 0.0))
        if self.kind == "n":
            return Pose(rotation(v[:3], v[3]), (0.0, 0.0, 0.0))
        if self.kind == "disp":
            return Pose(identity(3), v)
        if self.kind == "quat":
            return Pose(quat_to_rotation(v), (0.0, 0.0, 0.0))
        return Pose((v[0:3], v[3:6], v[6:9]), v[9:12])


class mth:
    """A homogeneous matrix: the rotation T.R and the position T.e [m] of its frame, and the `factors` it is made of."""

    __array_ufunc__ = None

    def __init__(self, R: trot | None = None, e: vec | None = None, *, factors: Sequence[Factor] | None = None) -> None:
        if factors is None:
            rows = (R or trot()).rows
            factors = [Factor("matrix", (*(x for row in rows for x in row), *(e or vec())))]
        self.factors = tuple(factors)

    @cached_property
    def pose(self) -> Pose:
        """The matrix as a pose."""
        first, *others = [factor.pose for factor in self.factors] or [Pose(identity(3), (0.0, 0.0, 0.0))]
        return compose(first, *others)

    @property
    def R(self) -> trot:
        """The rotation."""
        return trot(self.pose.R)

    @property
    def e(self) -> vec:
        """The position of the frame's origin [m]."""
        return vec(*self.pose.p)

    def inv(self) -> mth:
        """The inverse matrix."""
        R, p = inverse(self.pose)
        return mth(trot(R), vec(*p))

    def __repr__(self) -> str:
        return " * ".join(f"{NAMES[factor.kind]}({', '.join(map(str, factor.values))})" for factor in self.factors)

    def __mul__(self, other: Any) -> Any:
        """The product with another homogeneous matrix; for a vector, the point with these coordinates in the moved
        frame, in coordinates of the fixed frame.
        """
        if isinstance(other, mth):
            return mth(factors=(*self.factors, *other.factors))
        if isinstance(other, vec):
            R, p = self.pose
            return vec(*add(matvec(R, tuple(other)), p))
        raise TypeError(
            f"mth * {type(other).__name__} is not defined; expected an mth (a homogeneous matrix) or a vec (a point)."
        )


NAMES = {"x": "Trotx", "y": "Troty", "z": "Trotz", "n": "Trotn", "disp": "Tdisp", "quat": "Tquat", "matrix": "mth"}
COUNTS = {"Trotx": 1, "Troty": 1, "Trotz": 1, "Trotn": 4, "Tdisp": 3, "Tquat": 4}  # arguments of each transform


def vcoord(x: S, y: S, z: S) -> vec:
    """The vector (x, y, z)."""
    return vec(x, y, z)


def Rrotx(angle: S) -> trot:
    """The rotation by `angle` [rad] about x."""
    return trot(rotation(AXES["x"], angle))


def Rroty(angle: S) -> trot:
    """The rotation by `angle` [rad] about y."""
    return trot(rotation(AXES["y"], angle))


def Rrotz(angle: S) -> trot:
    """The rotation by `angle` [rad] about z."""
    return trot(rotation(AXES["z"], angle))


def Rrotn(axis: vec | Sequence[S], angle: S) -> trot:
    """The rotation by `angle` [rad] about a unit vector."""
    return trot(rotation(tuple(axis), angle))


def Trotx(angle: S) -> mth:
    """The homogeneous matrix of a rotation by `angle` [rad] about x."""
    return _transform("x", angle)


def Troty(angle: S) -> mth:
    """The homogeneous matrix of a rotation by `angle` [rad] about y."""
    return _transform("y", angle)


def Trotz(angle: S) -> mth:
    """The homogeneous matrix of a rotation by `angle` [rad] about z."""
    return _transform("z", angle)


def Trotn(axis: vec | Sequence[S], angle: S) -> mth:
    """The homogeneous matrix of a rotation by `angle` [rad] about a unit vector."""
    return _transform("n", *axis, angle)


def Tdisp(x: S, y: S, z: S) -> mth:
    """The homogeneous matrix of a displacement by (x, y, z) [m]."""
    return _transform("disp", x, y, z)


def Tquat(e0: S, e1: S, e2: S, e3: S) -> mth:
    """The homogeneous matrix of the rotation of a unit quaternion; e0 is its real part."""
    return _transform("quat", e0, e1, e2, e3)


def _transform(kind: str, *values: S) -> mth:
    """The homogeneous matrix of one factor; raises TypeError for a text in place of a number."""
    for value in values:
        if isinstance(value, str):
            raise TypeError(
                f"{NAMES[kind]}: {value!r} is a text, expected a number, a coordinate or a formula. Give the "
                f"coordinate itself, as builder.coordinate({value!r}) returns it."
            )
    return mth(factors=[Factor(kind, values)])


def _three(other: Any, sign: str) -> Vec:
    if not isinstance(other, vec):
        raise TypeError(f"vec {sign} {type(other).__name__} is not defined; expected a vec.")
    return tuple(other)


def _scalar(other: Any, sign: str) -> S:
    if isinstance(other, (vec, trot, tiner, mth)):
        raise TypeError(f"vec {sign} {type(other).__name__} is not defined; expected a number.")
    return other if not isinstance(other, int) else float(other)
