"""Products of exponentials along the paths of an organism, which is a robot of modules that are docked to each other.

A path leads from the base to an end link; products that paths share are computed once.

Meister and Gutenkunst's eqs 18 to 21 (docs/errata.md, E000-6), over any scalar:

    T_ij(q) = H_ij(0) exp(s_j q_j)                      i carries j; s_j: axis in the frame of j        (18)
    g(q) = exp(S_1 q_1) ... exp(S_n q_n) g(0)           S_k = Ad(g_k(0)) s_k, in the frame of the base  (19)
    H_k(q) = T_01 T_12 ... of each path k               poses of the last links of the paths            (20)
    T_ij = T_ix T_xj                                    each pair of a path by one product              (21)

A walk (`traversal`) visits the bodies of an organism and lists the pairs of bodies on its paths: direct transformations
(DTL) between a body and the next one, indirect transformations (IDTL) between all other pairs. One step of a walk may
contain several joints of the robot: the plate of a Scout, a type of module, turns before the module that is docked to
it bends. Joints with more than one axis enter with their own motion in place of an exponential.
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
    """The poses T_ij of all pairs in DTL (direct) and IDTL (indirect), by (i, j), and the number of products of poses
    that the IDTL took.
    """

    direct: dict[tuple[str, str], Pose]
    indirect: dict[tuple[str, str], Pose]
    products: int


# ── the local form ────────────────────────────────────────────────────────────────────────────────────────────────────


def transforms(robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None) -> Transforms:
    """The poses T_ij(q) of all pairs of bodies on a path, q of shape (nq,).

    Direct poses come from exponentials, each indirect pose from one product. `walk` is a walk over the robot's bodies,
    such as `traverse(assembly)` where modules are bodies; without it the walk is over all bodies.
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
    """The pose in the world of every body of a walk, by name, with one product for each body."""
    walk = walk or traverse_bodies(robot)
    poses = {base: _chain(_joints(robot, base), robot, q, lookup) for base in walk.bases}
    for row in walk.direct:
        poses[row.j] = compose(poses[row.i], _step(robot, row.i, row.j, q, lookup))
    return poses


def pendant_poses(
    robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None
) -> dict[str, Pose]:
    """The poses in the world of all pendant links (the ends of paths), by name: products of exponentials (eq 20)."""
    walk = walk or traverse_bodies(robot)
    poses = base_poses(robot, q, walk, lookup)
    return {name: poses[name] for name in walk.pendants}


# ── the spatial form ──────────────────────────────────────────────────────────────────────────────────────────────────


def pendant_poses_spatial(
    robot: Robot, q: Sequence[S], walk: Traversal | None = None, lookup: Lookup | None = None
) -> dict[str, Pose]:
    """The poses in the world of all pendant links, by name, from twists in the reference configuration (eq 19).

    Each path is computed separately.
    """
    walk = walk or traverse_bodies(robot)
    found = {}
    for name in walk.pendants:
        moved, home = IDENTITY, IDENTITY
        for joint in _joints(robot, name):
            at = q[robot.q_slice(joint.name)]
            home = compose(home, _home(joint, lookup))
            if joint.nv == 1:
                motion = exp_screw(move_twist(home, local_twist(joint, lookup)), at[0])
            else:  # the joint's own motion, about its pose in the reference configuration
                own = compose(inverse(_home(joint, lookup)), joint_pose(joint, at, lookup))
                motion = compose(home, own, inverse(home))
            moved = compose(moved, motion) if joint.nv else moved
        found[name] = compose(moved, home)
    return found


# ── one joint ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def local_twist(joint: Joint, lookup: Lookup | None = None) -> tuple[S, ...]:
    """s_j: the twist [v; w], shape (6,), of a joint with one axis at unit velocity, in the frame of its child."""
    return move_twist(evaluate_all(joint.child_placement, lookup), joint_twist(joint, (0.0,), (1.0,), lookup))


def _home(joint: Joint, lookup: Lookup | None) -> Pose:
    """The pose of the joint's child body in its parent body at q = 0."""
    return joint_pose(joint, joint.table.neutral, lookup)


def _chain(joints: Sequence[Joint], robot: Robot, q: Sequence[S], lookup: Lookup | None) -> Pose:
    """The product of H(0) exp(s q) over the joints, in their order: poses at q = 0, then exponentials of twists s."""
    T = IDENTITY
    for joint in joints:
        at = q[robot.q_slice(joint.name)]
        if joint.nv == 1:
            T = compose(T, _home(joint, lookup), exp_screw(local_twist(joint, lookup), at[0]))
        else:
            T = compose(T, joint_pose(joint, at, lookup))
    return T


def _step(robot: Robot, i: str, j: str, q: Sequence[S], lookup: Lookup | None) -> Pose:
    """The pose T_ij of a body j, seen from a body i that carries it, over all joints between them."""
    return _chain(_joints(robot, j, i), robot, q, lookup)


def _joints(robot: Robot, body: str, above: str | None = None) -> list[Joint]:
    """The joints from the world, or from the body `above`, to a body that it carries, in this order."""
    found: list[Joint] = []
    while body in robot.parent_joint and body != above:
        found.append(robot.parent_joint[body])
        body = found[-1].parent
    if above is not None and body != above:
        raise ModelError(
            f"robot '{robot.name}': in the given traversal of the assembly, body '{above}' carries "
            f"'{found[0].child}'; in the robot it does not. Start the traversal at the base of the robot, and use "
            "breadth first where the assembly has rings."
        )
    return found[::-1]
