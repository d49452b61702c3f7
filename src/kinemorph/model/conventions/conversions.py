"""States between conventions: ours, and those of Pinocchio, MuJoCo and Drake.

Every library lays out q and v in its own way: order of the quaternion, frame of the linear velocity, angles as cosine
and sine. One row per library and joint kind says how; kinds without a row are plain numbers in all of them (revolute,
prismatic, helical, universal, cylindrical).

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

MuJoCo's and Drake's free joint on the world tells the pose of the body itself, whatever our joint's placements are. A
free joint below a body is three slides and a ball in MuJoCo; planar is two slides and a hinge. All functions take
arrays (..., n) of states, batch first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from kinemorph.words import did_you_mean

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
    """Our states (q, v), shapes (..., nq) and (..., nv), as `peer` writes them. Without v the robot is at rest.

    `joints` are the peer's names of joints in its order (`list(model.names)` of Pinocchio); without it the order is
    ours. Names that the robot does not have stand for its free roots, in order; "universe" stands for nothing. A root
    that is not listed comes first. `unbounded` names the revolute joints that Pinocchio holds as cosine and sine:
    those with nq = 2. Velocities are converted at the configuration q.
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
    """States of `peer` in our convention, shapes (..., nq) and (..., nv): the way back from `to_convention`.

    Angles that the peer holds as cosine and sine come back between -pi and pi.
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
    """Both parts as arrays of one batch shape."""
    q = np.asarray(q, dtype=float)
    v = np.zeros((*q.shape[:-1], nv)) if v is None else np.asarray(v, dtype=float)
    if q.shape[-1:] != (nq,) or v.shape[-1:] != (nv,):
        raise ShapeError(f"q, v of '{what}' have shapes {q.shape}, {v.shape}, expected (..., {nq}), (..., {nv}).")
    if not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))):
        raise ShapeError(f"q or v of '{what}' is not finite. Look for a missing value.")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ShapeError(f"q, v of '{what}' have shapes {q.shape}, {v.shape}, expected one batch shape.") from None
    return np.broadcast_to(q, (*batch, nq)), np.broadcast_to(v, (*batch, nv))


def _joined(parts: list[Array], like: Array) -> Array:
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*like.shape[:-1], 0))


# ── which joint is where ──────────────────────────────────────────────────────────────────────────────────────────────


class _Place(NamedTuple):
    """A joint, its slices of our q and v, and how the peer writes it."""

    joint: Joint
    q: slice
    v: slice
    row: Row


def _places(robot: Robot, peer: str, names: Sequence[str] | None, unbounded: Collection[str]) -> list[_Place]:
    if peer not in ROWS:
        raise ModelError(
            f"there is no convention '{peer}'; expected one of {', '.join(ROWS)}.{did_you_mean(peer, ROWS)}"
        )
    if isinstance(unbounded, str):
        unbounded = (unbounded,)
    for name in unbounded:
        if robot.joint(name).kind != "revolute" or peer != "pinocchio":
            kind = robot.joint(name).kind
            raise ModelError(
                f"joint '{name}' ({kind}) is called unbounded in {peer}, expected a revolute joint in pinocchio. "
                "Leave it out."
            )
    ordered = robot.joints if names is None else _ordered(robot, names)
    return [
        _Place(joint, robot.q_slice(joint.name), robot.v_slice(joint.name), _row(peer, joint, joint.name in unbounded))
        for joint in ordered
    ]


def _row(peer: str, joint: Joint, unbounded: bool) -> Row:
    return CIRCLE if unbounded else ROWS[peer].get(joint.kind) or plain(joint.nq)


def _ordered(robot: Robot, names: Sequence[str]) -> list[Joint]:
    """The joints of `robot` that have coordinates, in the order of `names`, as the other library lists them."""
    if isinstance(names, str):
        raise ModelError(f"joints is the text '{names}', expected a list of names. Put it in brackets.")
    moving = {joint.name: joint for joint in robot.joints if joint.nv}
    listed = [name for name in names if name in moving]
    fixed = {joint.name for joint in (*robot.joints, *robot.loops) if joint.name not in moving}
    strange = [name for name in names if name not in moving and name not in fixed and name != "universe"]
    roots = [name for name, joint in moving.items() if is_free_root(joint) and name not in listed]
    missing = [name for name in moving if name not in listed and name not in roots]
    if missing or len(set(listed)) < len(listed):
        twice = sorted({name for name in listed if listed.count(name) > 1})
        what = f"joints {missing} are not listed" if missing else f"joints {twice} are listed twice"
        raise ModelError(f"{what}, expected every joint of '{robot.name}' that moves once. Give all names in order.")
    if len(strange) > len(roots):
        hint = did_you_mean(strange[-1], moving)
        raise ModelError(f"joints {strange} are not in '{robot.name}', expected its names.{hint}")
    ahead, instead = (
        roots[: len(roots) - len(strange)],
        dict(zip(strange, roots[len(roots) - len(strange) :], strict=True)),
    )
    return [moving[name] for name in (*ahead, *(instead.get(name, name) for name in names)) if name in moving]
