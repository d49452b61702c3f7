"""Joint reactions: the wrench that the parent exerts on the child through every joint.

The Newton-Euler recursion computes it on its pass from the tips to the root; here it is returned for all joints,
including fixed joints, on a tree in which no bodies are merged (`resolve(robot, merged=False)`). The wrenches on each
body balance:

    wrench through its own joint - sum of the wrenches through its children's joints = m (a - g) and its moment

Along the joint's axes it is the result of inverse dynamics, minus armature times acceleration, because an armature is
not part of a body.

The wrench through a joint that closes a loop follows from its multipliers. The joint's rows are functions of the pose T
of its child frame seen from its parent frame. Where T moves by the twist xi, given in the child frame,

    lambda . d phi = F . xi        so        F = (d phi / d xi)^T lambda

is the wrench on the child about the origin of the child frame, whatever the conditions are. The opposite acts on the
parent, and the recursion takes both as loads on links. A coupling acts along the axes of two joints, as motors there
would: it puts no load on a link, and its effect is in the wrenches through these joints already.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kinemorph.algebra.dual import derivative
from kinemorph.algebra.groups import IDENTITY, Pose, compose, move_wrench
from kinemorph.algebra.scalar import S
from kinemorph.algebra.vectors import dot, hat, matmul, matvec
from kinemorph.mechanics.constraints import closures
from kinemorph.mechanics.constraints.constrained import ConstraintRows, shared_out, with_locked_rows
from kinemorph.mechanics.constraints.wrench_views import IN_JOINT, WrenchView, wrenches_in_view
from kinemorph.mechanics.recursions.newton_euler import (
    Wrench,
    added,
    carried,
    inward,
    negative,
    outward,
)
from kinemorph.mechanics.trees.motions import ZERO3, ZERO_SYM, Move
from kinemorph.mechanics.trees.tree import WORLD, Attachment, Closure, Link, Tree
from kinemorph.model.robot import Robot

Loads = Mapping[int, Wrench]
AT_REST = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)  # coordinates of a free joint whose two frames coincide
UNITS = tuple(tuple(float(i == k) for i in range(3)) for k in range(3))


def joint_wrenches(
    robot: Robot,
    tree: Tree,
    q: Sequence[S],
    v: Sequence[S],
    a: Sequence[S],
    wrenches: Loads | None = None,
    multipliers: Sequence[S] = (),
    subtrees: Loads | None = None,
    *,
    view: WrenchView = IN_JOINT,
) -> list[list[S]]:
    """The wrench [force; moment] through each joint on its child, shape (joints + loops, 6) [N, N m], at accelerations
    a.

    They are in the order of `robot.joints`, then of `robot.loops`; `view` says in which frame they are, and which part
    of them. No bodies are merged in `tree`; `wrenches` are external wrenches on its links, `multipliers` those of its
    constraints (see `reaction_multipliers`), `subtrees` the loads on a link and all it carries, see `loosened`.
    """
    moves = tree.moves(q)
    closing = closure_wrenches(tree, moves, multipliers)
    loads = inward(tree, moves, outward(tree, moves, v, a), _gathered(tree, moves, closing, wrenches))
    for index, (force, moment) in (subtrees or {}).items():
        loads[index] = added(loads[index], (negative(force), negative(moment)))
    return wrenches_in_view(robot, tree, moves, loads, closing, view)


def reaction_multipliers(
    M: Sequence[Sequence[S]], unmet: Sequence[S], rows: ConstraintRows, locked: Collection[int] = ()
) -> list[S]:
    """The multipliers lambda, shape (nc,) [N or N m], with J^T lambda = M a + h - tau: the constraint forces in a
    motion.

    M is the mass matrix, shape (nv, nv), and `unmet` tau - (M a + h), shape (nv,). `rows` are all constraints; their
    values `wanted` are not used. Where rows repeat each other, lambda has the least norm, as in
    `constrained.shared_out`; where no lambda satisfies the equation, it is the nearest one, with errors measured as
    accelerations. `locked` are velocity indices kept constant by additional forces, which are not returned.
    """
    still = rows._replace(wanted=[0.0] * len(rows.J))  # accelerations beyond `a`, along the constraints
    return shared_out(M, unmet, with_locked_rows(still, locked, len(M))).multipliers[: len(rows.J)]


def multiplier_wrenches(robot: Robot, tree: Tree, q: Sequence[S]) -> list[list[list[S]]]:
    """The wrench through each joint for a unit of each multiplier, shape (joints + loops, 6, nc); joints and axes are
    those of `joint_wrenches` by default.
    """
    moves = tree.moves(q)
    nc = len(closures.constraint_error(tree, q))
    nothing: list[Wrench] = [(ZERO3, ZERO3)] * len(tree.links)
    of_each = []
    for c in range(nc):
        closing = closure_wrenches(tree, moves, [float(i == c) for i in range(nc)])
        loads = carried(tree, moves, nothing, _gathered(tree, moves, closing, None))
        of_each.append(wrenches_in_view(robot, tree, moves, loads, closing, IN_JOINT))
    return [[[one[j][k] for one in of_each] for k in range(6)] for j in range(len(robot.joints) + len(robot.loops))]


def loosened(tree: Tree, names: Sequence[str]) -> tuple[Tree, list[int], list[float]]:
    """The tree without its constraints, with a free joint between every named body and the joint that carries it.

    It returns also the indices of these bodies' links in `tree`, and the coordinates to append to q at which the free
    joints add no motion. A constraint that is linear in velocities has columns for the free joints too: they give the
    wrench on a body and all that it carries, in the axes of its link and about its origin.
    """
    loose = list(dict.fromkeys(tree.attachments[name].link for name in names))
    places: dict[int, int] = {WORLD: WORLD}  # index of a link -> its index in the new tree
    links: list[Link] = []
    for index, link in enumerate(tree.links):
        links.append(replace(link, parent=places[link.parent]))
        places[index] = len(links) - 1
        if index in loose:
            n = loose.index(index)
            at = {"q": tree.nq + len(AT_REST) * n, "v": tree.nv + 6 * n, "placement": IDENTITY}
            inertia = {"mass": 0.0, "h": ZERO3, "sigma": ZERO_SYM, "armature": (0.0,) * 6}
            links.append(Link(f"{link.name}.loose", "free", places[index], **at, **inertia))  # type: ignore[arg-type]
            places[index] += 1
    attachments = {name: Attachment(places[at.link], at.pose) for name, at in tree.attachments.items()}
    nq, nv = tree.nq + len(AT_REST) * len(loose), tree.nv + 6 * len(loose)
    free = Tree(tree.name, tuple(links), nq, nv, tree.gravity, attachments)
    return free, loose, list(AT_REST) * len(loose)


# ── closures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def closure_wrenches(tree: Tree, moves: Sequence[Move], multipliers: Sequence[S]) -> list[Wrench]:
    """The wrench of each closure on its child, in the axes and about the origin of the closure's child frame."""
    found: list[Wrench] = []
    first = 0
    for closure in tree.closures:
        slopes = closure_slopes(closure, closures.closure_pose(tree, moves, closure))
        own = multipliers[first : first + len(slopes[0])]
        first += len(own)
        x, y, z, *moment = (dot(slope, own) for slope in slopes)
        found.append(((x, y, z), (moment[0], moment[1], moment[2])))
    return found


def closure_slopes(closure: Closure, T: Pose) -> list[list[S]]:
    """d phi / d xi, shape (6, rows): the change of a closure's rows per unit of each component of the twist xi of its
    child frame; T is the pose of the child frame in the parent frame.
    """
    still = ((0.0,) * 3,) * 3
    along = [Pose(still, matvec(T.R, unit)) for unit in UNITS]
    along += [Pose(matmul(T.R, hat(unit)), (0.0, 0.0, 0.0)) for unit in UNITS]
    return [list(derivative(lambda moved: tuple(closures.closure_opening(closure, moved)), T, dT)) for dT in along]


def _gathered(tree: Tree, moves: Sequence[Move], closing: Sequence[Wrench], outside: Loads | None) -> Loads:
    """The loads on links: external wrenches (`outside`), and wrenches of closures (`closing`) on child and parent."""
    loads = dict(outside or {})
    for closure, (force, moment) in zip(tree.closures, closing, strict=True):
        on_child = (*force, *moment)
        on_parent = (*negative(force), *negative(moment))
        seen = compose(closure.parent.pose, closures.closure_pose(tree, moves, closure))
        for link, pose, wrench in (
            (closure.child.link, closure.child.pose, on_child),
            (closure.parent.link, seen, on_parent),
        ):
            if link == WORLD:
                continue
            x, y, z, *turning = move_wrench(pose, wrench)
            load: Wrench = ((x, y, z), (turning[0], turning[1], turning[2]))
            loads[link] = added(loads[link], load) if link in loads else load
    return loads
