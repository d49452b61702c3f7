"""Products of exponentials along the paths of an organism; products that paths share are computed once.

Meister and Gutenkunst's eqs 18 to 21 (docs/errata.md, E000-6), over any scalar:

    T_ij(q) = H_ij(0) exp(s_j q_j)                      i carries j; s_j in the frame of j              (18)
    g(q) = exp(S_1 q_1) ... exp(S_n q_n) g(0)           S_k = Ad(g_k(0)) s_k, in the frame of the base  (19)
    H_k(q) = T_01 T_12 ... of each path k               poses of the pendant links                      (20)
    T_ij = T_ix T_xj                                    each pair of a path by one product              (21)

A step of a walk (`traversal`) may go over several joints of the robot: a Scout's plate turns before the module that is
docked to it bends. Joints with more than one axis enter with their own motion in place of an exponential.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.groups import IDENTITY, Pose, compose, exp_screw, inverse, move_twist
from kinemorph.algebra.scalar import S
from kinemorph.errors import ModelError
from kinemorph.model.configuration import joint_pose, joint_twist
from kinemorph.model.joint import Joint
from kinemorph.model.modules.traversal import Traversal, traverse_bodies
from kinemorph.model.parameter import Lookup, evaluate_all
from kinemorph.model.robot import Robot


class Transforms(NamedTuple):
    """T_ij of every line of DTL and IDTL by (i, j), and by how many products of poses the IDTL was computed."""

    direct: dict[tuple[str, str], Pose]
    indirect: dict[tuple[str, str], Pose]
    products: int


# ── the local form ────────────────────────────────────────────────────────────────────────────────────────────────────


def transforms(robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None) -> Transforms:
    """T_ij(q) of all pairs of a path, q of shape (nq,): direct ones from exponentials, each other one by one product.

    `walk`: over bodies of the robot, `traverse(assembly)` where modules are bodies; all bodies where none is given.
    """
    walk = walk or traverse_bodies(robot)
    direct = {(row.i, row.j): _step(robot, row.i, row.j, q, lookup) for row in walk.direct}
    known = dict(direct)
    for i, j, x in walk.indirect:
        known[i, j] = compose(known[i, x], known[x, j])
    indirect = {(row.i, row.j): known[row.i, row.j] for row in walk.indirect}
    return Transforms(direct, indirect, len(walk.indirect))


def base_poses(
    robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None
) -> dict[str, Pose]:
    """The pose of every body of a walk in the world: the lines of DTL and IDTL from a base, one product each."""
    walk = walk or traverse_bodies(robot)
    poses = {base: _chain(_joints(robot, base), robot, q, lookup) for base in walk.bases}
    for row in walk.direct:
        poses[row.j] = compose(poses[row.i], _step(robot, row.i, row.j, q, lookup))
    return poses


def pendant_poses(
    robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None
) -> dict[str, Pose]:
    """The poses of all pendant links in the world (eq 20): one product of exponentials for each path."""
    walk = walk or traverse_bodies(robot)
    poses = base_poses(robot, q, walk, lookup)
    return {name: poses[name] for name in walk.pendants}


# ── the spatial form ──────────────────────────────────────────────────────────────────────────────────────────────────


def pendant_poses_spatial(
    robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None
) -> dict[str, Pose]:
    """The poses of all pendant links by twists of the reference configuration, each path separately (eq 19)."""
    walk = walk or traverse_bodies(robot)
    found = {}
    for name in walk.pendants:
        moved, home = IDENTITY, IDENTITY
        for joint in _joints(robot, name):
            at = q[robot.q_slice(joint.name)]
            home = compose(home, _home(joint, lookup))
            if joint.nv == 1:
                motion = exp_screw(move_twist(home, local_twist(joint, lookup)), at[0])
            else:  # its own motion, about its pose in the reference configuration
                own = compose(inverse(_home(joint, lookup)), joint_pose(joint, at, lookup))
                motion = compose(home, own, inverse(home))
            moved = compose(moved, motion) if joint.nv else moved
        found[name] = compose(moved, home)
    return found


# ── one joint ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def local_twist(joint: Joint, lookup: Lookup | None = None) -> tuple[S, ...]:
    """s_j: the twist [v; w], shape (6,), of a unit motion of a joint with one axis, in the frame of its child."""
    return move_twist(evaluate_all(joint.child_placement, lookup), joint_twist(joint, (0.0,), (1.0,), lookup))


def _home(joint: Joint, lookup: Lookup | None) -> Pose:
    """H_ij(0)."""
    return joint_pose(joint, joint.table.neutral, lookup)


def _chain(joints: Sequence[Joint], robot: Robot, q: Sequence[S], lookup: Lookup | None) -> Pose:
    """The product of H(0) exp(s q) over joints."""
    T = IDENTITY
    for joint in joints:
        at = q[robot.q_slice(joint.name)]
        if joint.nv == 1:
            T = compose(T, _home(joint, lookup), exp_screw(local_twist(joint, lookup), at[0]))
        else:
            T = compose(T, joint_pose(joint, at, lookup))
    return T


def _step(robot: Robot, i: str, j: str, q: Sequence[S], lookup: Lookup | None) -> Pose:
    """T_ij of a body i and a body j that it carries, over all joints between them."""
    return _chain(_joints(robot, j, i), robot, q, lookup)


def _joints(robot: Robot, body: str, above: str | None = None) -> list[Joint]:
    """The joints from the world, or from a body `above`, down to a body."""
    found: list[Joint] = []
    while body in robot.parent_joint and body != above:
        found.append(robot.parent_joint[body])
        body = found[-1].parent
    if above is not None and body != above:
        raise ModelError(
            f"robot '{robot.name}': body '{found[0].child}' is not carried by '{above}' as in this walk. Walk over the "
            "assembly from the base of its robot, and breadth first where it has rings."
        )
    return found[::-1]
