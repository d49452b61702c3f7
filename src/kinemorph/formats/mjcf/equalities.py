"""Reads equality constraints of a compiled MuJoCo model: connect and weld close loops, joint couples two joints.

In MuJoCo these constraints are soft; here they are exact. The parent of a joint that closes a loop is the body farther
from the root, so that the tree is that of the file.
"""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.groups import Pose, quat_to_rotation, translation
from kinemorph.formats.mjcf.compiler import Compiled

CONNECT, WELD, JOINT = 0, 1, 2  # mjtEq
OTHERS = {3: "tendon equalities", 4: "flex equalities", 5: "flex equalities", 6: "flex equalities"}
SITE = 6  # mjtObj
SIMPLE = (2, 3)  # mjtJoint: slide, hinge


def add_equalities(model: Compiled, reading: Any) -> None:
    """Declares loops and couplings of a model; warns about equalities that cannot be expressed."""
    dropped: dict[str, list[str]] = {}
    leaders: dict[int, int] = {}
    for e, kind in enumerate(model.eq_type.tolist()):
        name = model.names["eq"][e]
        if not model.eq_active0[e]:
            why: str | None = "equalities that are switched off"
        elif kind in (CONNECT, WELD):
            why = _loop(model, reading, e, kind)
        elif kind == JOINT:
            why = _coupling(model, reading, e, leaders)
        else:
            why = OTHERS.get(kind, "distance equalities")
        if why:
            dropped.setdefault(why, []).append(name)
    for what, names in dropped.items():
        reading.drop(what, names)


def _loop(model: Compiled, reading: Any, e: int, kind: int) -> str | None:
    """Declares the loop of equality number e: two points, or two frames, that coincide. Returns a text that names the
    kind of equality if it is left out, else None.
    """
    one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    data = model.eq_data[e].tolist()
    if int(model.eq_objtype[e]) == SITE:
        frames = [
            Pose(quat_to_rotation(model.site_quat[k].tolist()), tuple(model.site_pos[k].tolist())) for k in (one, two)
        ]
        one, two = int(model.site_bodyid[one]), int(model.site_bodyid[two])
    elif kind == CONNECT:
        frames = [translation(data[:3]), translation(data[3:6])]
    else:  # the anchor is on the second body, the pose on the first
        frames = [Pose(quat_to_rotation(data[6:10]), tuple(data[3:6])), translation(data[:3])]
    if one == two:
        return "equalities within one body"
    ends = [(reading.bodies[one], frames[0]), (reading.bodies[two], frames[1])]
    ends.sort(key=lambda end: -reading.depth[end[0]])
    (parent, placement), (child, child_placement) = ends
    name = model.names["eq"][e]
    reading.blueprint.joint(
        reading.line("equality", name),
        reading.new_joint(name or f"equality{e}"),
        "spherical" if kind == CONNECT else "fixed",
        parent,
        child,
        placement=placement,
        child_placement=child_placement,
    )
    return None


def _coupling(model: Compiled, reading: Any, e: int, leaders: dict[int, int]) -> str | None:
    """Declares the coupling q1 - ref1 = c0 + c1 (q2 - ref2) of equality number e, in which joint 1 follows joint 2.

    Returns None, or, if the coupling cannot be expressed and is left out, a text that says which kind of equality it
    is. `leaders` maps each joint that follows another to that joint, by MuJoCo's ids.
    """
    one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    c0, c1, *more = model.eq_data[e][:5].tolist()
    if two < 0:  # a joint that is kept constant: it follows another joint with the factor 0
        c1, more = 0.0, []
        others = [j for j in range(len(reading.joints)) if j not in (one, *leaders) and model.jnt_type[j] in SIMPLE]
        if not others:
            return "equalities that keep the only joint constant"
        two = others[0]
    if any(more):
        return "couplings of joints by polynomials of higher order"
    here, seen = two, {one}
    while here in leaders and here not in seen:
        here = leaders[here]
    if one in leaders or here in seen:
        return "couplings of joints that are coupled already"
    ref1, ref2 = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (one, two))
    offset = ref1 + c0 - c1 * ref2
    if not _meet(model, one, two, c1, offset):
        return "couplings of joints whose limits contradict each other"
    leaders[one] = two
    line = reading.line("equality", model.names["eq"][e])
    reading.blueprint.couple(line, reading.joints[one], reading.joints[two], c1, offset)
    return None


def _meet(model: Compiled, one: int, two: int, multiplier: float, offset: float) -> bool:
    """Whether q1 = multiplier q2 + offset is possible within the limits of both joints."""
    if not model.jnt_limited[one]:
        return True
    lower, upper = model.jnt_range[one].tolist()
    if not model.jnt_limited[two]:
        return multiplier != 0.0 or lower <= offset <= upper
    reached = sorted(multiplier * bound + offset for bound in model.jnt_range[two].tolist())
    return bool(reached[0] <= upper and lower <= reached[1])
