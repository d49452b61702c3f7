"""What passes through every joint: the wrench that the parent exerts on the child.

The Newton-Euler recursion finds it on its way from the tips to the root; here it is kept for all joints, fixed ones
included, on a tree in which no bodies are merged (`resolve(robot, merged=False)`). Each body's wrenches balance:

    wrench through its own joint - sum of those through the joints of its children = m (a - g) and its moment

Along the joint's axes it is what inverse dynamics gives, less the rotor inertia times the acceleration, which is no
part of a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import matvec
from kinemorph.mechanics.newton_euler import Wrench, inward, outward
from kinemorph.mechanics.resolving import joint_turn
from kinemorph.mechanics.tree import Tree
from kinemorph.model.robot import Robot


def joint_wrenches(
    robot: Robot,
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    a: Sequence[S],
    wrenches: Mapping[int, Wrench] | None = None,
) -> list[list[S]]:
    """[force; moment] on the child, shape (joints, 6) [N, N m], at accelerations `a`, in the order of `robot.joints`.

    Each in the axes of the joint frame on the child, about its origin. The tree is an unmerged one; `wrenches` act on
    its links from outside.
    """
    moves = tree.moves(q)
    loads = inward(tree, moves, outward(tree, moves, v, a), wrenches)
    rows = []
    for joint in robot.joints:
        R, (force, moment) = joint_turn(joint), loads[tree.attachments[joint.child].link]
        rows.append([*matvec(R, force), *matvec(R, moment)])
    return rows
