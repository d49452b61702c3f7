"""Reads equality constraints of a compiled MuJoCo model: connect and weld close loops, joint couples two joints.

A coupling of first order is one of the robot; any other one, and a coupling of tendons, is an element `Constraint`.

In MuJoCo these constraints are soft; here they are exact, or springs where the user asks for it: bushings, and
tendons whose two limits coincide. The parent of a joint that closes a loop is the body farther
from the root, so that the tree is that of the file.
"""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.groups import Pose, quat_to_rotation, translation
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.mjcf.polynomials import Polynomial
from kinemorph.formats.mjcf.softness import JOINT, TENDON, springs_of, stop_of
from kinemorph.model.elements import Bushing, Constraint, Tendon

CONNECT, WELD = 0, 1  # mjtEq
TORQUE = 10  # the place of the torquescale among the data of a weld
OTHERS = {4: "flex equalities", 5: "flex equalities", 6: "flex equalities"}
VIOLATED = 1e-9  # [rad or m]: a coupling that qpos0 violates by more is reported
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
        elif kind == TENDON:
            why = _tendons(model, reading, e)
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
    if reading.soft:
        along, about = (model.body_invweight0[[one, two], k].tolist() for k in (0, 1))
        numbers = springs_of(model, e, along, 1.0)
        if kind == WELD:  # whose violation is half the angle, times the torquescale
            numbers += springs_of(model, e, about, 0.5 * data[TORQUE])
        name = reading.new_element(model.names["eq"][e] or f"equality{e}")
        places = {"placement_a": frames[0], "placement_b": frames[1]}
        spring = Bushing(name, reading.bodies[one], reading.bodies[two], *numbers, **places)
        reading.blueprint.element(reading.line("equality", model.names["eq"][e]), spring)
        return None
    ends.sort(key=lambda end: -reading.depth[end[0]])
    (parent, placement), (child, child_placement) = ends
    name = model.names["eq"][e]
    reading.equalities[e] = reading.new_joint(name or f"equality{e}")
    reading.blueprint.joint(
        reading.line("equality", name),
        reading.equalities[e],
        "spherical" if kind == CONNECT else "fixed",
        parent,
        child,
        placement=placement,
        child_placement=child_placement,
    )
    return None


def _coupling(model: Compiled, reading: Any, e: int, leaders: dict[int, int]) -> str | None:
    """Declares the coupling q1 - ref1 = c0 + c1 (q2 - ref2) + ... of equality number e: joint 1 follows joint 2.

    Returns None, or, if the coupling cannot be expressed and is left out, a text that says which kind of equality it
    is. `leaders` maps each joint that follows another to that joint, by MuJoCo's ids.
    """
    one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    c0, c1, *more = model.eq_data[e][:5].tolist()
    ref1, ref2 = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (one, two))
    sides = [[(1.0, reading.joints[j])] for j in (one, two) if j >= 0]
    weight = sum(float(model.dof_invweight0[model.jnt_dofadr[j]]) for j in (one, two) if j >= 0)
    if _spring(model, reading, e, sides, (ref1, ref2), weight):
        return None
    if two < 0:  # a joint that is kept constant: it follows another joint with the factor 0
        c1, more = 0.0, []
        others = [j for j in range(len(reading.joints)) if j not in (one, *leaders) and model.jnt_type[j] in SIMPLE]
        if not others:
            _polynomial(model, reading, e, sides, (ref1,), (c0,))
            return None
        two = others[0]
        ref2 = float(model.qpos0[model.jnt_qposadr[two]])
    here, seen = two, {one}
    while here in leaders and here not in seen:
        here = leaders[here]
    if any(more) or one in leaders or here in seen:
        _polynomial(model, reading, e, sides, (ref1, ref2), (c0, c1, *more))
        return None
    offset = ref1 + c0 - c1 * ref2
    if not _meet(model, one, two, c1, offset):
        return "couplings of joints whose limits contradict each other"
    leaders[one] = two
    reading.violated |= abs(c0) > VIOLATED
    reading.equalities[e] = reading.joints[one]
    line = reading.line("equality", model.names["eq"][e])
    reading.blueprint.couple(line, reading.joints[one], reading.joints[two], c1, offset)
    return None


def _tendons(model: Compiled, reading: Any, e: int) -> str | None:
    """Declares the coupling of the lengths of two tendons, or the constant length of one, of equality number e."""
    ids = [int(ids[e]) for ids in (model.eq_obj1id, model.eq_obj2id) if int(ids[e]) >= 0]
    if any(model.tendon_type[i] for i in ids):
        return "equalities of spatial tendons"
    sides = []
    for i in ids:
        part = slice(int(model.tendon_adr[i]), int(model.tendon_adr[i]) + int(model.tendon_num[i]))
        joints = [reading.joints[j] for j in model.wrap_objid[part].tolist()]
        sides.append(list(zip(model.wrap_prm[part].tolist(), joints, strict=True)))
    rests = tuple(float(model.tendon_length0[i]) for i in ids)
    if _spring(model, reading, e, sides, rests, sum(float(model.tendon_invweight0[i]) for i in ids)):
        return None
    _polynomial(model, reading, e, sides, rests, tuple(model.eq_data[e][:5].tolist()))
    return None


def _spring(
    model: Compiled, reading: Any, e: int, sides: list[list[tuple[float, str]]], rests: tuple[float, ...], weight: float
) -> bool:
    """Declares equality number e as a tendon whose two limits coincide, with the stops of its softness; whether it did.

    It is not done for exact equalities and polynomials of higher order. `sides` and `rests` are those of `_polynomial`.
    """
    c0, *rest = model.eq_data[e][:5].tolist() if len(sides) == 2 else (float(model.eq_data[e][0]), 0.0)
    stop = stop_of(model.eq_solref[e].tolist(), model.eq_solimp[e].tolist(), 0.0, weight, float(model.quickest))
    if not reading.soft or any(rest[1:]) or stop is None:
        return False
    arms: dict[str, float] = {}
    for share, side in zip((1.0, -rest[0]), sides, strict=False):
        for factor, joint in side:
            arms[joint] = arms.get(joint, 0.0) + share * factor
    length, name = rests[0] + c0 - (rest[0] * rests[1] if len(sides) == 2 else 0.0), model.names["eq"][e]
    own = reading.new_element(name or f"equality{e}")
    tendon = Tendon(own, tuple(arms), tuple(arms.values()), lower=length, upper=length, stop=stop)
    reading.blueprint.element(reading.line("equality", name), tendon)
    return True


def _polynomial(
    model: Compiled,
    reading: Any,
    e: int,
    sides: list[list[tuple[float, str]]],
    rests: tuple[float, ...],
    coefficients: tuple[float, ...],
) -> None:
    """Declares equality number e as a constraint y = c0 + c1 x + c2 x^2 + ...

    y and x are sums of factors times joint coordinates (`sides`), minus their `rests`; without x, y is c0.
    """
    name, row = model.names["eq"][e], Polynomial(sides, rests, coefficients).row
    reading.equalities[e] = reading.new_element(name or f"equality{e}")
    reading.blueprint.element(reading.line("equality", name), Constraint(reading.equalities[e], row))


def _meet(model: Compiled, one: int, two: int, multiplier: float, offset: float) -> bool:
    """Whether q1 = multiplier q2 + offset is possible within the limits of both joints."""
    if not model.jnt_limited[one]:
        return True
    lower, upper = model.jnt_range[one].tolist()
    if not model.jnt_limited[two]:
        return multiplier != 0.0 or lower <= offset <= upper
    reached = sorted(multiplier * bound + offset for bound in model.jnt_range[two].tolist())
    return bool(reached[0] <= upper and lower <= reached[1])
