"""In which frame the wrench through a joint is given, and the two parts that it consists of.

It is always the wrench [force; moment] that the parent exerts on the child through the joint; the child exerts the
opposite on the parent. The reference says in which axes it is given, and about which point:

    joint     axes and origin of the joint frame on the child
    child     axes and origin of the child's own frame
    parent    axes and origin of the parent's own frame, where the parent is now
    world     axes and origin of the world

Power is wrench . twist in each of them, with the twist of the child relative to the parent in the same axes and about
the same point.

    whole = actuation + constraint,     S^T constraint = 0,     actuation = D (S^T D)^-1 S^T whole

S (6, k) are the axes of the joint's k freedoms. D are moments about its hinges and forces along its slides, through the
origin of the joint frame: the axes themselves, and for a helical joint a moment about its axis. So the actuation has
the power of the whole wrench in every motion that the joint allows, whatever it comes from: a motor, friction, a
spring, a coupling of joints, the drive of a driven joint. The constraint is what the bearings bear, and has no power
there. A fixed joint has no actuation, a free joint no constraint, and a joint that closes a loop has no actuation,
because no force acts along its freedoms. The turns of a gimbal span all moments, as those of a ball joint do; so the
whole moment is actuation, also at its singular angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, move_twist_back, move_wrench, turn
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import Vec, add, dot, scale, sub, transpose, zeros
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.constraints.closures import closure_pose
from kinemorph.mechanics.recursions.kinematics import dense, pose_of_move, poses_of_moves
from kinemorph.mechanics.recursions.newton_euler import Wrench
from kinemorph.mechanics.trees.motions import ELEMENTARY, Move
from kinemorph.mechanics.trees.resolve import joint_turn, z_frame
from kinemorph.mechanics.trees.tree import WORLD, Closure, Tree
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from kinemorph.words import listed

WrenchReference = Literal["joint", "child", "parent", "world"]
WrenchPart = Literal["whole", "actuation", "constraint"]
WORDS: dict[str, tuple[str, ...]] = {"reference": get_args(WrenchReference), "part": get_args(WrenchPart)}


class WrenchView(NamedTuple):
    """How wrenches through joints are given: the reference (axes and point), and which part of them."""

    reference: str = "joint"
    part: str = "whole"

    @property
    def label(self) -> str:
        """The words in brackets that a function's name ends with, such as "[world, constraint]"; empty by default."""
        return "" if self == IN_JOINT else f"[{', '.join(self)}]"


IN_JOINT = WrenchView()


def wrench_view(reference: object, part: object, caller: str) -> WrenchView:
    """The view that two words choose; raises UnsupportedError, with the name of the caller, for unknown words."""
    for (name, known), word in zip(WORDS.items(), (reference, part), strict=True):
        if not isinstance(word, str) or word not in known:
            given = f"'{word}'" if isinstance(word, str) else f"a {type(word).__name__}"
            raise UnsupportedError(
                f"{caller}: the {name} is {given}, expected one of {listed(known)}. Choose one of these words."
            )
    return WrenchView(str(reference), str(part))


def wrenches_in_view(
    robot: Robot,
    tree: Tree,
    moves: Sequence[Move],
    loads: Sequence[Wrench],
    closing: Sequence[Wrench],
    view: WrenchView,
) -> list[list[S]]:
    """The wrenches through all joints as the view asks for, shape (joints + loops, 6) [N, N m].

    They are in the order of `robot.joints`, then of `robot.loops`. No bodies are merged in `tree`; `loads` are the
    wrenches on links through their joints, in the frames of the links, and `closing` those of closures on their
    children, in the closures' child frames.
    """
    poses = poses_of_moves(tree, moves) if view.reference == "world" else []
    found: list[list[S]] = []
    for joint in robot.joints:
        index = tree.attachments[joint.child].link
        load = _part(tree, moves, joint, index, _six(loads[index]), view.part)
        found.append([*move_wrench(link_in_reference(view.reference, tree, moves, poses, joint, index), load)])
    for joint, closure, wrench in zip(robot.loops, tree.closures, closing, strict=True):
        load = zeros(6) if view.part == "actuation" else _six(wrench)
        found.append([*move_wrench(_of_closure(view.reference, tree, moves, poses, joint, closure), load)])
    return found


def _six(wrench: Wrench) -> Vec:
    return (*wrench[0], *wrench[1])


# ── the frame ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def link_in_reference(
    reference: str, tree: Tree, moves: Sequence[Move], poses: Sequence[Pose], joint: Joint, index: int
) -> Pose:
    """The pose of the link that a joint carries, as seen from the frame of the reference."""
    if reference == "joint":
        return turn(joint_turn(joint))
    if reference == "child":
        return inverse(tree.attachments[joint.child].pose)
    if reference == "world":
        return poses[index]
    at = inverse(tree.attachments[joint.parent].pose)
    return compose(at, *(pose_of_move(moves[k]) for k in _links(joint, index)))


def _of_closure(
    reference: str, tree: Tree, moves: Sequence[Move], poses: Sequence[Pose], joint: Joint, closure: Closure
) -> Pose:
    """The pose of a closure's child frame, as seen from the frame of the reference."""
    if reference == "joint":
        return turn(z_frame(joint.axis))
    if reference == "child":
        return compose(inverse(tree.attachments[joint.child].pose), closure.child.pose)
    if reference == "world":
        at = closure.child
        return at.pose if at.link == WORLD else compose(poses[at.link], at.pose)
    seen = compose(closure.parent.pose, closure_pose(tree, moves, closure))
    return compose(inverse(tree.attachments[joint.parent].pose), seen)


def _links(joint: Joint, index: int) -> range:
    """The indices of the links of a joint, one for each of its elementary joints; `index` is that of the last one."""
    return range(index + 1 - max(len(joint.motion.primitives), 1), index + 1)


# ── the parts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _part(tree: Tree, moves: Sequence[Move], joint: Joint, index: int, load: Vec, part: str) -> Vec:
    """The part of the wrench `load` through a joint, both in the frame of the link that the joint carries."""
    if part == "whole":
        return load
    if [step.kind for step in joint.motion.primitives] == ["revolute"] * 3:  # a gimbal, whose turns span all moments
        actuation = (0.0, 0.0, 0.0, *load[3:])
        return actuation if part == "actuation" else sub(load, actuation)
    efforts: list[S] = []
    units: list[Vec] = []  # D, in the frame of the child's link
    seen = IDENTITY  # the pose of the child's link in the link of the axis
    for k in reversed(_links(joint, index)):
        link, back = tree.links[k], turn(transpose(seen.R))  # forces act through the origin of the child's link
        efforts = [*(dot(move_twist_back(seen, dense(axis)), load) for axis in link.axes), *efforts]
        units = [*(move_wrench(back, dense(axis)) for axis in ELEMENTARY[link.kind].axes(0.0)), *units]
        seen = compose(pose_of_move(moves[k]), seen)
    actuation = zeros(6)
    for amount, unit in zip(_amounts(joint, efforts), units, strict=True):
        actuation = add(actuation, scale(amount, unit))
    return actuation if part == "actuation" else sub(load, actuation)


def _amounts(joint: Joint, efforts: list[S]) -> list[S]:
    """(S^T D)^-1 efforts: the amounts of the forces and moments D that have the given powers along the axes S.

    S^T D is the unit matrix, except for the two hinges of a universal joint, which need not be perpendicular; the angle
    between them is constant.
    """
    if [step.kind for step in joint.motion.primitives] != ["revolute", "revolute"]:
        return efforts
    cosine = float(dot(joint.axis, joint.axis2))
    if cosine == 0.0:
        return efforts
    one, other = efforts
    return [(one - cosine * other) / (1.0 - cosine**2), (other - cosine * one) / (1.0 - cosine**2)]
