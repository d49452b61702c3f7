"""Divides the joints of a robot into tree joints, which connect every body to the world, and joints that close loops.

A joint is an edge between two bodies. The tree consists of shortest paths from the world, so that it is as shallow as
the joints allow; the remaining joints close loops. A joint declared by `joint` leads from its parent to its child; a
joint declared by `connect` leads to the body that is farther from the world. If the user chooses the joints that close
loops (cut=True), other joints may have to be reversed (`reversed_joint`); joints with one axis keep their coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kinemorph.errors import Problem
from kinemorph.model.body import Body
from kinemorph.model.building.part_checks import Declared
from kinemorph.model.building.reversed_joint import PER_VELOCITY, obstacles, opposite, reversed_joint
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate
from kinemorph.model.topology import WORLD, Edge, SpanningTree, spanning_tree, straight_tree
from kinemorph.words import listed, quoted

EXPLAINED = 12  # problems for which the reason is searched


class Wishes(NamedTuple):
    """`cut` names joints that are chosen to close loops, `either` joints of which either body may become the parent."""

    cut: frozenset[str] = frozenset()
    either: frozenset[str] = frozenset()


class Cut(NamedTuple):
    """The joints of a robot: tree joints, some of them reversed, and joints that close loops."""

    tree: tuple[Joint, ...]
    loops: tuple[Joint, ...]


def cut_loops(bodies: Sequence[Body], joints: Sequence[Joint], wishes: Wishes) -> Cut:
    """The tree joints and the joints that close loops, each in the order of declaration.

    The joints must have no `structure_problems`.
    """
    grown = _tree(bodies, joints, wishes)
    turned = {step.edge.name: step.against for step in grown.steps}
    tree = [reversed_joint(j) if turned[j.name] else j for j in joints if j.name in turned]
    return Cut(tuple(tree), tuple(joint for joint in joints if joint.name not in turned))


def _tree(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    wishes: Wishes,
    extra: Sequence[Edge] = (),
    *,
    any_way: bool = False,
) -> SpanningTree:
    """The spanning tree of the joints that are not chosen to close loops, together with the `extra` edges.

    With `any_way`, joints may be reversed even if their data do not allow it.
    """
    vertices = dict.fromkeys((WORLD, *(body.name for body in bodies)))
    known = [j for j in joints if j.name not in wishes.cut and j.parent in vertices and j.child in vertices]
    turnable = {j.name for j in known if (wishes.cut or j.name in wishes.either) and (any_way or not obstacles(j))}
    edges = [*(Edge(joint.name, joint.parent, joint.child) for joint in known), *extra]
    if not turnable:
        return spanning_tree(list(vertices), edges, directed=True)
    return straight_tree(list(vertices), edges, either=turnable & wishes.either, against=turnable)


# ── problems of the structure ─────────────────────────────────────────────────────────────────────────────────────────


def structure_problems(bodies: Sequence[Body], joints: Sequence[Joint], wishes: Wishes) -> list[Problem]:
    """Problems with unknown bodies, missing roots, bodies not connected to the world, and wrong cuts."""
    found: list[Problem] = []
    names = [body.name for body in bodies]
    ends, declared = {*names, WORLD}, Declared("body", names)
    for joint in joints:
        for end, body in (("parent", joint.parent), ("child", joint.child)):
            if body not in ends:
                what, remedy = declared.unknown(body)
                found.append(Problem("joint", joint.name, f"{end}: {what}", remedy, end, rule="name"))
    tree = _tree(bodies, joints, wishes)
    if tree.unreached:
        chosen = _cut_problems(bodies, joints, wishes) or _turning_problems(bodies, joints, wishes, tree)
        found += chosen or _root_problems(bodies, joints, wishes, tree)
    return found + _loop_problems(joints, wishes, tree)


def _root_problems(
    bodies: Sequence[Body], joints: Sequence[Joint], wishes: Wishes, tree: SpanningTree
) -> list[Problem]:
    """Problems with bodies that are no joint's child, and with rings of bodies that are not connected to the world."""
    found: list[Problem] = []
    names, unreached = dict.fromkeys(body.name for body in bodies), set(tree.unreached)
    carried = {joint.child for joint in joints if joint.name not in wishes.cut}
    backwards = {joint.parent: joint for joint in reversed(joints)}
    backwards |= {joint.parent: joint for joint in reversed(joints) if joint.child == WORLD}
    for name in names:
        if name in carried or name not in unreached:
            continue
        remedy = f"Call root('{name}', 'fixed') or root('{name}', 'free'), or add the missing joint."
        joint = backwards.get(name)
        if joint is not None and joint.child == WORLD:
            remedy = f"Swap parent and child of joint '{joint.name}': the world cannot be a child."
        elif joint is not None and joint.child not in unreached:
            remedy = (
                f"Call root('{name}', 'fixed') or root('{name}', 'free'); or, to make '{joint.child}' its parent, swap "
                f"parent and child of joint '{joint.name}'."
            )
        what = "it is not the child of a joint and not a root, expected one of the two"
        found.append(Problem("body", name, what, remedy, rule="root"))
    # bodies below a body without a root, or that are their own parents, are not reached either, but have own problems
    loose = [Edge("", WORLD, name) for name in names if name not in carried]
    loose += [Edge("", WORLD, joint.child) for joint in joints if joint.child == joint.parent and joint.child in names]
    adrift = _tree(bodies, joints, wishes, loose).unreached
    if adrift and all(joint.parent in names or joint.parent == WORLD for joint in joints):
        what = f"bodies {quoted(adrift)} are connected to each other in a ring, but not to the world"
        found.append(Problem("body", adrift[0], what, "Declare one of them as a root.", rule="root"))
    return found


def _cut_problems(bodies: Sequence[Body], joints: Sequence[Joint], wishes: Wishes) -> list[Problem]:
    """Problems with joints declared with cut=True that close no loop."""
    found: list[Problem] = []
    group = {name: name for name in (WORLD, *(body.name for body in bodies))}

    def first(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    for joint in sorted(joints, key=lambda joint: joint.name in wishes.cut):
        if joint.parent not in group or joint.child not in group:
            continue
        ends = {first(joint.parent): joint.parent, first(joint.child): joint.child}
        if joint.name in wishes.cut and len(ends) > 1:
            lost = next(end for head, end in reversed(ends.items()) if head != first(WORLD))
            explained = len(found) < EXPLAINED and _in_cycle(joint, joints, group)
            others = " after the other cuts" if explained else ""
            what = f"it has cut=True, but closes no loop{others}: without it body '{lost}' would not be connected to "
            what += "the world; expected a joint in a loop"
            found.append(Problem("joint", joint.name, what, "Remove cut from this joint.", "cut", rule="loop"))
        group[first(joint.child)] = first(joint.parent)
    return found


def _in_cycle(joint: Joint, joints: Sequence[Joint], bodies: Iterable[str]) -> bool:
    """Whether the two bodies of a joint are connected without the joint."""
    vertices = dict.fromkeys(bodies)
    others = [Edge(j.name, j.parent, j.child) for j in joints if j.parent in vertices and j.child in vertices]
    edges = [edge for edge in others if edge.name != joint.name]
    return joint.child not in spanning_tree(list(vertices), edges, joint.parent).unreached


def _turning_problems(
    bodies: Sequence[Body], joints: Sequence[Joint], wishes: Wishes, tree: SpanningTree
) -> list[Problem]:
    """Problems with joints that would have to be reversed, but cannot be."""
    by_name, missing = {joint.name: joint for joint in joints}, set(tree.unreached)
    steps = [s for s in _tree(bodies, joints, wishes, any_way=True).steps if s.against and s.child in missing]
    return [
        Problem(
            "joint",
            step.edge.name,
            f"it would have to be reversed, so that '{step.child}' is its child, but {what}",
            remedy,
            rule="loop",
        )
        for step in steps
        for what, remedy in obstacles(by_name[step.edge.name])
    ]


def _loop_problems(joints: Sequence[Joint], wishes: Wishes, tree: SpanningTree) -> list[Problem]:
    """Problems with free joints that close loops."""
    closing = {chord.name for chord in tree.chords} | wishes.cut
    return [
        Problem(
            "joint", joint.name, "it closes a loop but is free: it constrains nothing", "Remove the joint.", rule="loop"
        )
        for joint in joints
        if joint.name in closing and joint.kind == "free"
    ]


def loop_remarks(cut: Cut) -> list[Problem]:
    """Warnings about joints that close loops: limits, damping and the like, which have no effect, and duplicates."""
    found: list[Problem] = []
    for loop in cut.loops:
        idle = [key for key, none, _ in PER_VELOCITY if any(evaluate(x) != none for x in getattr(loop, key))]
        if any(map(math.isfinite, (*loop.lower, *loop.upper))):
            idle.insert(0, "limits")
        if idle:
            what = f"it closes a loop, so it has no coordinate on which its {listed(idle)} could act"
            remedy = f"Cut the loop at another joint (cut=True there), or leave out {listed(idle)}."
            found.append(Problem("joint", loop.name, what, remedy, rule="loop"))
    closing = {frozenset((loop.parent, loop.child)) for loop in cut.loops}
    said: dict[object, str] = {}
    for joint in (*(j for j in cut.tree if frozenset((j.parent, j.child)) in closing), *cut.loops):
        ends = frozenset(((joint.parent, joint.placement), (joint.child, joint.child_placement)))
        axis = joint.axis if joint.axis > opposite(joint.axis) else opposite(joint.axis)  # either sign says the same
        first = said.setdefault((joint.kind, ends, axis), joint.name)
        if first != joint.name:
            what = f"it closes a loop, but has the same bodies, kind and placement as joint '{first}', so it adds no "
            what += "constraint"
            found.append(Problem("joint", joint.name, what, "Remove one of the two.", rule="loop"))
    return found
