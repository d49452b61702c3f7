"""Conversion of states between the conventions of Kinemorph and those of Pinocchio, MuJoCo and Drake.

The libraries differ in the order of quaternions, the frame of velocities, and angles given as cosine and sine.
`joint_rows` has one row for each library and kind of joint that differs; the other kinds (revolute, prismatic, helical,
universal, gimbal, cylindrical) are the same in all libraries.

                Kinemorph             Pinocchio                MuJoCo                Drake
    free q      x y z  qw qx qy qz    x y z  qx qy qz qw       x y z  qw qx qy qz    qw qx qy qz  x y z
    free v      linear, angular,      linear, angular,         linear in the world,  angular, linear,
                both in the body      both in the body         angular in the body   both in the world
    spherical   qw qx qy qz           qx qy qz qw              qw qx qy qz           roll pitch yaw
            v   rate in the body      rate in the body         rate in the body      rate in the parent
    planar q    x y theta             x y cos sin              x y theta             x y theta
            v   in the body           in the body              in the parent         in the parent
    revolute    angle                 angle, or cos sin of     angle                 angle
                                      joints without limits

In MuJoCo and Drake the state of a free root joint is the pose of the body itself, so the placements of our joint are
taken into account. A free joint between two bodies is three slide joints and a ball joint in MuJoCo; a planar joint is
two slide joints and a hinge. All functions take arrays of states, shape (..., n).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.errors import ModelError, ShapeError
from kinemorph.model.conventions.joint_rows import CIRCLE, ROWS, Row, State, is_free_root, plain
from kinemorph.model.conventions.joint_rows import quat_wxyz_to_xyzw as quat_wxyz_to_xyzw
from kinemorph.model.conventions.joint_rows import quat_xyzw_to_wxyz as quat_xyzw_to_wxyz
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.words import did_you_mean, listed, quoted

Peer: TypeAlias = Literal["pinocchio", "mujoco", "drake"]

# ── whole states ──────────────────────────────────────────────────────────────────────────────────────────────────────


def to_convention(
    model: Robot | System,
    peer: Peer,
    q: Any,
    v: Any = None,
    *,
    joints: Sequence[str] | None = None,
    unbounded: Collection[str] = (),
) -> State:
    """States (q, v) of Kinemorph, shapes (..., nq) and (..., nv), in the convention of another library, the `peer`.

    `joints` lists the names of the joints in the order of the peer, such as `list(model.names)` of Pinocchio; by
    default the order is that of the robot. Names that the robot does not have are taken as its free roots, in order;
    "universe" is ignored. A free root that is not listed comes first. The name of a free joint that is a chain of
    joints here ("base.x", "base.y", "base.z", "base") stands for the whole chain. Empty and repeated names are refused.
    `unbounded` names the revolute joints with nq = 2 in Pinocchio, given there as cosine and sine. Without v the robot
    is at rest.
    """
    robot = as_robot(model)
    places = _places(robot, peer, joints, unbounded)
    q, v = _state(robot.name, q, v, robot.nq, robot.nv)
    parts = [place.row.to(place.joint, q[..., place.q], v[..., place.v]) for place in places]
    return _joined([part[0] for part in parts], q), _joined([part[1] for part in parts], v)


def from_convention(
    model: Robot | System,
    peer: Peer,
    q: Any,
    v: Any = None,
    *,
    joints: Sequence[str] | None = None,
    unbounded: Collection[str] = (),
) -> State:
    """States (q, v) of the library `peer`, converted to the convention of Kinemorph: the inverse of `to_convention`.

    The shapes of the result are (..., nq) and (..., nv). Angles from cosine and sine are between -pi and pi.
    """
    robot = as_robot(model)
    places = _places(robot, peer, joints, unbounded)
    q, v = _state(f"{robot.name} in {peer}", q, v, sum(place.row.nq for place in places), robot.nv)
    ours_q, ours_v = np.zeros((*q.shape[:-1], robot.nq)), np.zeros((*q.shape[:-1], robot.nv))
    at_q = at_v = 0
    for place in places:
        part_q, part_v = q[..., at_q : at_q + place.row.nq], v[..., at_v : at_v + place.joint.nv]
        ours_q[..., place.q], ours_v[..., place.v] = place.row.back(place.joint, part_q, part_v)
        at_q, at_v = at_q + place.row.nq, at_v + place.joint.nv
    return ours_q, ours_v


def _state(what: str, q: Any, v: Any, nq: int, nv: int) -> State:
    """q and v as arrays of the same batch shape, checked; `what` names the robot in messages."""
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], nv)) if v is None else np.asarray(v, dtype=float)
    if q.shape[-1:] != (nq,) or v.shape[-1:] != (nv,):
        raise ShapeError(
            f"'{what}': q has shape {q.shape} and v has shape {v.shape}; expected (..., {nq}) for q and "
            f"(..., {nv}) for v."
        )
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
        raise ShapeError(f"q or v of '{what}' has values that are not finite. Replace them.")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        shapes = f"q and v of '{what}' have shapes {q.shape} and {v.shape}"
        raise ShapeError(f"{shapes}, expected the same batch shape before the last axis.") from None
    return np.broadcast_to(q, (*batch, nq)), np.broadcast_to(v, (*batch, nv))


def _joined(parts: list[Array], like: Array) -> Array:
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*like.shape[:-1], 0))


# ── order of the joints ───────────────────────────────────────────────────────────────────────────────────────────────


class _Place(NamedTuple):
    """A joint, its slices of q and v in Kinemorph, and the conversion of its state."""

    joint: Joint
    q: slice
    v: slice
    row: Row


def _places(robot: Robot, peer: str, names: Sequence[str] | None, unbounded: Collection[str]) -> list[_Place]:
    if peer not in ROWS:
        raise ModelError(f"there is no convention '{peer}'; expected one of {listed(ROWS)}.{did_you_mean(peer, ROWS)}")
    if isinstance(unbounded, str):
        unbounded = (unbounded,)
    for name in unbounded:
        if robot.joint(name).kind != "revolute" or peer != "pinocchio":
            kind = robot.joint(name).kind
            raise ModelError(
                f"`unbounded` contains joint '{name}' ({kind}), for {peer}; expected revolute joints only, and only "
                f"for pinocchio. Leave '{name}' out of `unbounded`."
            )
    ordered = robot.joints if names is None else _ordered(robot, names)
    return [
        _Place(joint, robot.q_slice(joint.name), robot.v_slice(joint.name), _row(peer, joint, joint.name in unbounded))
        for joint in ordered
    ]


def _row(peer: str, joint: Joint, unbounded: bool) -> Row:
    return CIRCLE if unbounded else ROWS[peer].get(joint.kind) or plain(joint.nq)


def _ordered(robot: Robot, names: Sequence[str]) -> list[Joint]:
    """The joints of `robot` that have coordinates, in the order of `names`, the joint names of the other library."""
    if isinstance(names, str):
        raise ModelError(f"joints is the text '{names}', expected a list of names. Put it in brackets.")
    _check_names(robot, names)
    moving = {joint.name: joint for joint in robot.joints if joint.nv}
    names = [part for name in names for part in _chain(robot, moving, name, names)]
    known = [name for name in names if name in moving]
    fixed = {joint.name for joint in (*robot.joints, *robot.loops) if joint.name not in moving}
    strange = [name for name in names if name not in moving and name not in fixed and name != "universe"]
    roots = [name for name, joint in moving.items() if is_free_root(joint) and name not in known]
    missing = [name for name in moving if name not in known and name not in roots]
    if missing:
        what = f"joints does not list {quoted(missing)}"
        raise ModelError(
            f"{what}, expected every moving joint of '{robot.name}' once. Give all names, in the order in which the "
            "other program has them."
        )
    if len(strange) > len(roots):
        hint = did_you_mean(strange[-1], moving)
        expected = f"expected names of its joints, {quoted(moving)}"
        raise ModelError(f"joints lists {quoted(strange)}, which robot '{robot.name}' does not have; {expected}.{hint}")
    ahead, instead = (
        roots[: len(roots) - len(strange)],
        dict(zip(strange, roots[len(roots) - len(strange) :], strict=True)),
    )
    return [moving[name] for name in (*ahead, *(instead.get(name, name) for name in names)) if name in moving]


def _check_names(robot: Robot, names: Sequence[str]) -> None:
    """Raises ModelError if a name of the list `joints` is no text, is empty, or is listed twice."""
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name:
            own = [joint.name for joint in robot.joints if joint.nv]
            raise ModelError(
                f"joints[{place}] is {name!r}, expected a name. Joints without a name in their file have one in "
                f"Kinemorph: the moving joints of '{robot.name}' are {quoted(own)}. Leave `joints` out if the order is "
                "the same."
            )
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ModelError(
            f"joints lists {quoted(twice)} twice, expected every moving joint of '{robot.name}' once. Give all names "
            "in order."
        )


def _chain(robot: Robot, moving: Mapping[str, Joint], name: str, names: Sequence[str]) -> list[str]:
    """The joints that a listed name stands for: "base", or the chain "base.x", "base.y", "base.z", "base".

    Joints of the chain that `names` lists themselves are left out.
    """
    found = [name]
    while found[0] in moving:
        before = robot.parent_joint.get(moving[found[0]].parent)
        if before is None or before.name in names or not before.name.startswith(f"{name}."):
            break
        found.insert(0, before.name)
    return found
