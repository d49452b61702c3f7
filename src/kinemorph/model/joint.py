"""Joints: a table of joint kinds, and the data of one joint.

A joint lets its child move relative to its parent. It has one frame on the parent, at `placement`, and one frame on the
child, at `child_placement`; the motion of the joint kind is the pose of the second frame in the first:

    T_parent_child = placement * motion(q) * inverse(child_placement)

Axes are unit vectors of plain numbers in the joint frame. The motion is a product of primitives, from left to right.
The screw axis of a primitive is constant in the frame after its motion, so its velocity subspace does not depend on q.

    revolute     Rot(axis, q)                                  cylindrical  Rot(axis, q0) Trans(axis q1)
    prismatic    Trans(axis q)                                 universal    Rot(axis, q0) Rot(axis2, q1)
    helical      Rot(axis, q) Trans(axis pitch q)              spherical    unit quaternion wxyz, v = body rate
    planar       Trans(x, y, 0) Rot(z, theta), v = body twist  free         position and quaternion, v = body twist
    gimbal       Rot(a, q0) Rot(b, q1) Rot(c, q2) about axes a, b, c of the joint frame, in one of the 12 GIMBAL_ORDERS
    point_on_line   Trans(axis q0), then a spherical joint: a ball on a rod
    point_on_plane  Trans(x, y, 0), then a spherical joint: a ball on a table whose normal is z

A gimbal has fewer than three degrees of freedom at its singular angle, where its first and third axis are parallel:
q1 = +-pi/2 if its three axes differ (Cardan angles), q1 = 0 or pi if the first and the third are the same (Euler
angles). The mass matrix is singular there. A spherical joint is a joint without such an angle.

A joint that closes a loop has no coordinates of its own; `closure` names the constraints that it imposes.

A *driven* joint has no coordinates of its own either: formulas of the coordinates of other joints, of parameters and of
the time give its motion. A joint of the kind "pose" is always driven: twelve formulas give the rows of its rotation
matrix, then its translation.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cache
from numbers import Real
from typing import TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.frozen import dataclass
from kinemorph.model.parameter import Symbolic, Value

Axis: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class Primitive:
    """One factor of a joint's motion: its kind, the index of its axis, and its ranges of the joint's q and v."""

    kind: str  # revolute, prismatic, helical, spherical, planar, free
    axis: int | None  # 0: `axis`, 1: `axis2`, 2 and 3: x and y of the joint frame, 4 to 6: `order`, None: no axis
    q: tuple[int, int]
    v: tuple[int, int]


@dataclass(frozen=True)
class JointKind:
    """A row of the joint table. `q_names` and `v_names` are suffixes of the joint's name; "" if there is only one."""

    name: str
    primitives: tuple[Primitive, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]
    neutral: tuple[float, ...]
    closure: tuple[str, ...]  # constraints of a joint of this kind that closes a loop, see CLOSURE_ROWS

    @property
    def nq(self) -> int:
        """Number of configuration coordinates."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """Number of velocities, the degrees of freedom."""
        return len(self.v_names)

    @property
    def axes(self) -> int:
        """How many axes the kind needs: 0, 1 or 2."""
        return len({step.axis for step in self.primitives} & {0, 1})

    @property
    def quaternions(self) -> tuple[int, ...]:
        """The index in q of the first entry of each unit quaternion."""
        return tuple(step.q[1] - 4 for step in self.primitives if step.kind in ("spherical", "free"))


# Constraints between the joint frame on the parent (A) and the one on the child (B), and how many rows each has.
CLOSURE_ROWS: dict[str, int] = {
    "point": 3,  # the origins coincide
    "line": 2,  # B's origin lies on A's axis
    "height": 1,  # B's origin lies in the plane through A's origin normal to A's axis
    "parallel": 2,  # both axes are parallel
    "angle": 1,  # the angle between A's axis and B's second axis is constant
    "orientation": 3,  # A and B have the same orientation
    "pitch": 1,  # travel along the axis = pitch * angle about it
}

_RAD, _METER, _RATE, _SPEED = ("rad",), ("m",), ("rad/s",), ("m/s",)
_QUATERNION = ("qw", "qx", "qy", "qz")


def _one(kind: str, axis: int | None, nq: int = 1, nv: int = 1) -> tuple[Primitive, ...]:
    """The primitives of a joint kind that has only one: a tuple of one."""
    return (Primitive(kind, axis, (0, nq), (0, nv)),)


_ROWS = (
    JointKind("revolute", _one("revolute", 0), ("",), ("",), _RAD, _RATE, (0.0,), ("point", "parallel")),
    JointKind("prismatic", _one("prismatic", 0), ("",), ("",), _METER, _SPEED, (0.0,), ("line", "orientation")),
    JointKind("helical", _one("helical", 0), ("",), ("",), _RAD, _RATE, (0.0,), ("line", "parallel", "pitch")),
    JointKind(
        "cylindrical",
        (Primitive("revolute", 0, (0, 1), (0, 1)), Primitive("prismatic", 0, (1, 2), (1, 2))),
        ("angle", "travel"),
        ("angle", "travel"),
        _RAD + _METER,
        _RATE + _SPEED,
        (0.0, 0.0),
        ("line", "parallel"),
    ),
    JointKind(
        "universal",
        (Primitive("revolute", 0, (0, 1), (0, 1)), Primitive("revolute", 1, (1, 2), (1, 2))),
        ("first", "second"),
        ("first", "second"),
        _RAD * 2,
        _RATE * 2,
        (0.0, 0.0),
        ("point", "angle"),
    ),
    JointKind(
        "gimbal",
        tuple(Primitive("revolute", 4 + k, (k, k + 1), (k, k + 1)) for k in range(3)),
        ("first", "second", "third"),
        ("first", "second", "third"),
        _RAD * 3,
        _RATE * 3,
        (0.0, 0.0, 0.0),
        ("point",),
    ),
    JointKind(
        "spherical",
        _one("spherical", None, 4, 3),
        _QUATERNION,
        ("wx", "wy", "wz"),
        ("",) * 4,
        _RATE * 3,
        (1.0, 0.0, 0.0, 0.0),
        ("point",),
    ),
    JointKind(
        "planar",
        _one("planar", None, 3, 3),
        ("x", "y", "theta"),
        ("vx", "vy", "wz"),
        _METER * 2 + _RAD,
        _SPEED * 2 + _RATE,
        (0.0, 0.0, 0.0),
        ("height", "parallel"),
    ),
    JointKind(
        "point_on_line",
        (Primitive("prismatic", 0, (0, 1), (0, 1)), Primitive("spherical", None, (1, 5), (1, 4))),
        ("travel", *_QUATERNION),
        ("travel", "wx", "wy", "wz"),
        _METER + ("",) * 4,
        _SPEED + _RATE * 3,
        (0.0, 1.0, 0.0, 0.0, 0.0),
        ("line",),
    ),
    JointKind(
        "point_on_plane",
        (
            Primitive("prismatic", 2, (0, 1), (0, 1)),
            Primitive("prismatic", 3, (1, 2), (1, 2)),
            Primitive("spherical", None, (2, 6), (2, 5)),
        ),
        ("x", "y", *_QUATERNION),
        ("x", "y", "wx", "wy", "wz"),
        _METER * 2 + ("",) * 4,
        _SPEED * 2 + _RATE * 3,
        (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        ("height",),
    ),
    JointKind(
        "free",
        _one("free", None, 7, 6),
        ("x", "y", "z", *_QUATERNION),
        ("vx", "vy", "vz", "wx", "wy", "wz"),
        _METER * 3 + ("",) * 4,
        _SPEED * 3 + _RATE * 3,
        (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        (),
    ),
    JointKind("fixed", (), (), (), (), (), (), ("point", "orientation")),
)
JOINT_KINDS: dict[str, JointKind] = {row.name: row for row in _ROWS}

PLAIN = ("revolute", "prismatic", "helical")  # primitives whose velocities are the rates of their coordinates

# the motion of a driven joint whose pose is given by formulas: rows of the rotation matrix, then the translation
POSE = JointKind(
    "pose",
    _one("pose", None, 12, 6),
    ("r11", "r12", "r13", "r21", "r22", "r23", "r31", "r32", "r33", "x", "y", "z"),
    ("vx", "vy", "vz", "wx", "wy", "wz"),
    ("",) * 9 + _METER * 3,
    _SPEED * 3 + _RATE * 3,
    (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
    (),
)

Z: Axis = (0.0, 0.0, 1.0)
X: Axis = (1.0, 0.0, 0.0)
Y: Axis = (0.0, 1.0, 0.0)
LETTERS: dict[str, Axis] = {"x": X, "y": Y, "z": Z}
CARDAN_ORDERS = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx")
EULER_ORDERS = ("xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
GIMBAL_ORDERS = (*CARDAN_ORDERS, *EULER_ORDERS)
USUAL_ORDER = "zyx"  # yaw, pitch and roll
ENTRIES = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature", "driven")  # several per joint


@dataclass(frozen=True)
class ImpedanceStop:
    """How softly MuJoCo stops a joint at its limits, as a force whose strength an impedance i(s) sets:

        F = i/(1 - i) I/(end time) (i s/(end time) + 2 ratio sqrt(1 - end) ds/dt)

    Here s is how far the coordinate is beyond the limit, which `margin` moves inwards, and I the `inertia`: by default
    the one that an effort of this joint alone accelerates, at the neutral configuration. The impedance goes from
    `start` at s = 0 to `end` at s = `width` as that of `ImpedanceNormal`. `time` and the damping `ratio` are those of a
    free joint at its stop. The defaults are those of MuJoCo.
    """

    time: float = field(default=0.02, metadata={"kind": "time"})
    ratio: float = field(default=1.0, metadata={"kind": "number"})
    start: float = field(default=0.9, metadata={"kind": "number"})
    end: float = field(default=0.95, metadata={"kind": "number"})
    width: float = field(default=1e-3, metadata={"kind": "joint coordinate"})
    midpoint: float = field(default=0.5, metadata={"kind": "number"})
    power: float = field(default=2.0, metadata={"kind": "number"})
    margin: float = field(default=0.0, metadata={"kind": "joint coordinate"})
    inertia: float | None = field(default=None, metadata={"kind": "joint inertia"})


@dataclass(frozen=True)
class Joint:
    """A checked joint. `lower` and `upper` have one entry per coordinate of q, the other limits and forces one per v.

    For rotations and translations the units are [rad] or [m] for the position limits `lower` and `upper`, [rad/s] or
    [m/s] for the limit `velocity`, [N m] or [N] for the limit `effort` and for the Coulomb `friction`, [N m s/rad] or
    [N s/m] for `damping`, [kg m^2] or [kg] for `armature` (reflected rotor inertia). `pitch` [m/rad] is for helical
    joints, `axis2` for universal joints, `order` for gimbals: the axes of their three turns, first to last. Planar and
    point_on_plane joints move in the x-y plane of their frames.

    Armature is part of the mass matrix. Damping and friction are data for force laws: M a + h = tau does not contain
    them.

    `driven` has a formula for each coordinate of the joint's motion if other coordinates determine it. Such a joint has
    no limits, and its damping, friction and armature have one entry per velocity of its motion.

    A limit or force of a joint with one entry may be given as a number; lists become tuples.

    `stop` is how the limits act that `elements.JointLimits` stops the joint at; None takes the numbers of that element.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Pose = IDENTITY
    child_placement: Pose = IDENTITY
    axis: Axis = field(default=Z, metadata={"kind": "number"})
    axis2: Axis = field(default=X, metadata={"kind": "number"})
    pitch: Value = field(default=0.0, metadata={"kind": "pitch"})
    lower: tuple[float, ...] = field(default=(), metadata={"kind": ("angle", "length")})
    upper: tuple[float, ...] = field(default=(), metadata={"kind": ("angle", "length")})
    velocity: tuple[float, ...] = field(default=(), metadata={"kind": ("rate", "speed")})
    effort: tuple[float, ...] = field(default=(), metadata={"kind": ("torque", "force")})
    damping: tuple[Value, ...] = field(default=(), metadata={"kind": ("angular damping", "damping")})
    friction: tuple[Value, ...] = field(default=(), metadata={"kind": ("torque", "force")})
    armature: tuple[Value, ...] = field(default=(), metadata={"kind": ("inertia", "mass")})
    driven: tuple[Value, ...] = field(default=(), metadata={"kind": ("angle", "length")})
    order: str = USUAL_ORDER
    stop: ImpedanceStop | None = None

    def __post_init__(self) -> None:
        for name in ENTRIES:
            given = getattr(self, name)
            if not isinstance(given, tuple):
                entries = (given,) if isinstance(given, (Real, Symbolic)) else tuple(given)
                object.__setattr__(self, name, entries)

    @property
    def table(self) -> JointKind:
        """The row of the joint table for this kind of joint; for a driven joint, a row without coordinates."""
        return _without_coordinates(self.kind) if self.driven else self.motion

    @property
    def motion(self) -> JointKind:
        """The row of the joint table for this kind of joint, with the coordinates of its motion, driven or not."""
        return POSE if self.kind == "pose" else JOINT_KINDS[self.kind]

    @property
    def nq(self) -> int:
        return self.table.nq

    @property
    def nv(self) -> int:
        return self.table.nv

    @property
    def axes(self) -> tuple[Axis, ...]:
        """`axis`, `axis2`, x and y of the joint frame, then those of `order`: `Primitive.axis` is an index of this."""
        return (self.axis, self.axis2, X, Y, *(LETTERS[letter] for letter in self.order))

    @property
    def q_names(self) -> tuple[str, ...]:
        """The names of the coordinates: the name of the joint, with a suffix such as `.x` if there are several."""
        return () if self.driven else self.motion_names("q")

    @property
    def v_names(self) -> tuple[str, ...]:
        return () if self.driven else self.motion_names("v")

    def motion_names(self, group: str) -> tuple[str, ...]:
        """The names of the coordinates ("q") or velocities ("v") of the joint's motion, driven or not."""
        suffixes = self.motion.q_names if group == "q" else self.motion.v_names
        return tuple(f"{self.name}.{suffix}" if suffix else self.name for suffix in suffixes)


@cache
def _without_coordinates(kind: str) -> JointKind:
    """The row of the joint table for a driven joint: no motion, coordinates and velocities of its own."""
    row = JOINT_KINDS.get(kind, POSE)
    return replace(row, primitives=(), q_names=(), v_names=(), q_units=(), v_units=(), neutral=())
