"""Reads URDF joints: kinds, axes, limits, dynamics and mimics.

T_parent_child = origin * motion(q): the joint frame is the child's frame, so child placements are the identity, except
for planar joints. In URDF the axis is the normal of the plane, here the normal is z, so the joint frame of a planar
joint is rotated on both sides.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose, compose, turn
from kinemorph.algebra.vectors import Mat
from kinemorph.formats.urdf.cursor import SILENT, Reading
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.formats.xml_values import Values
from kinemorph.model.building.part_readers import Draft
from kinemorph.model.input_reader import UNIT_TOLERANCE, short
from kinemorph.model.joint import JOINT_KINDS, Axis
from kinemorph.words import did_you_mean

# types of URDF and its extensions, and our kinds: MuJoCo and Isaac Sim have spherical; Drake has ball, universal, screw
KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "spherical",
    "ball": "spherical",
    "universal": "universal",
    "screw": "helical",
    "helical": "helical",
    "cylindrical": "cylindrical",
}
AXIS: Axis = (1.0, 0.0, 0.0)  # the default of URDF, without <axis>
AXIS2: Axis = (0.0, 1.0, 0.0)
NO_LIMIT = sys.float_info.max  # written instead of infinity
LIMITS = ("lower", "upper", "effort", "velocity")
ROUNDED = 1e-3  # error of the length of a unit vector that is written with few digits
LOSSES = ("damping", "friction")
MIMIC = ("joint", "multiplier", "offset")


Mimic: TypeAlias = tuple[str, float, float, int]  # leader, multiplier, offset, line
ReadJoint: TypeAlias = tuple[int, Draft, Mimic | None]  # line, arguments of `Blueprint.joint`, coupling


def read_joint(node: Node, reading: Reading) -> ReadJoint | None:
    """The joint that a <joint> declares; None if its name, parent or child is missing, which is recorded as a finding.

    A joint of unknown type, which is a finding, is returned as revolute, so that its links can still be checked.
    """
    name, word = node.get("name"), node.get("type")
    element = f"joint '{name}'"
    if not name or name.isspace():
        reading.values.word(node, "name", "joint")
        return None
    kind = KINDS.get(word) or read_kind(node, word, element, reading)
    origin = above = below = axis = limit = losses = None
    others: list[Node] = []
    for part in node[:]:
        tag = part.tag
        if tag == "origin" and origin is None:
            origin = part
        elif tag == "parent" and above is None:
            above = part
        elif tag == "child" and below is None:
            below = part
        elif tag == "axis" and axis is None:
            axis = part
        elif tag == "limit" and limit is None:
            limit = part
        elif tag == "dynamics" and losses is None:
            losses = part
        else:
            others.append(part)
    rare = _rare(others, element, reading) if others else {}
    parent = (above is not None and above.get("link")) or no_end(node, above, "parent", element, reading)
    child = (below is not None and below.get("link")) or no_end(node, below, "child", element, reading)
    draft: Draft = {"name": name, "kind": kind or "revolute", "parent": parent, "child": child}
    if kind is None or not parent or not child:
        read_axis(axis, AXIS, element, reading)  # reports a wrong axis
        return (node.sourceline or 0, draft, None) if parent and child else None
    if origin is not None:
        draft["placement"] = reading.placement(origin, element)
    mimic = None
    if kind != "fixed":
        single = kind == "revolute" or kind == "prismatic"
        if single and axis is not None:
            draft["axis"] = read_axis(axis, AXIS, element, reading)
        else:
            shape_motion(node, kind, draft, rare if axis is None else rare | {"axis": axis}, element, reading)
        if word == "continuous":
            _unlimited(limit, draft, element, reading)
        elif limit is None or not single or not _usual_limits(limit, draft):
            _limits(node, limit, kind, draft, element, reading)
        if losses is not None:
            _dynamics(losses, draft, element, reading)
        if "mimic" in rare:
            mimic = _mimic(rare["mimic"], element, reading)
    return node.sourceline or 0, draft, mimic


RARE = ("axis2", "mimic")
PITCHES = frozenset(
    ("screw_thread_pitch", "{http://drake.mit.edu}screw_thread_pitch", "drake:screw_thread_pitch", "pitch")
)


def _rare(children: list[Node], element: str, reading: Reading) -> dict[str, Node]:
    """The children <axis2>, <mimic> and the screw pitch of a joint, by tag; other children are checked, not used."""
    parts: dict[str, Node] = {}
    for part in children:
        tag = part.tag
        if tag in RARE and tag not in parts:
            parts[tag] = part
        elif tag in PITCHES:
            parts.setdefault("pitch", part)
        elif tag not in SILENT["joint"]:
            reading.other(part, "joint", element)
    return parts


def read_kind(node: Node, word: str | None, element: str, reading: Reading) -> str | None:
    """Our kind for the joint type `word`; None if the type is not known, which is recorded as a finding."""
    kind = KINDS.get(word or "")
    if kind is None:
        found = "is missing" if word is None else f"is {short(word)}"
        hint = did_you_mean(word, KINDS).strip() if word else ""
        problem = f"the type {found}, expected one of {', '.join(KINDS)}"
        reading.at(node, element).error("structure", problem, hint or "Choose one of these.")
    return kind


def no_end(node: Node, part: Node | None, end: str, element: str, reading: Reading) -> str:
    """Reports that a joint does not name its `end`, "parent" or "child"; returns an empty name."""
    if part is None:
        problem = f"<{end}> is missing, expected exactly one"
        reading.at(node, element).error("structure", problem, f'Add <{end} link="..."/> with the name of a link.')
        return ""
    return reading.values.word(part, "link", element)


# ── axes ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def shape_motion(node: Node, kind: str, draft: Draft, parts: dict[str, Node], element: str, reading: Reading) -> None:
    """Writes the axes and pitch of a joint into `draft`, and rotates the frames of a planar joint.

    `parts` are the children <axis>, <axis2> and the pitch, by tag.
    """
    if kind == "free" or kind == "spherical":
        return
    given = parts.get("axis")
    if given is None:
        problem = f"a {kind} joint has no <axis>: URDF's default 1 0 0 is used"
        reading.repeated(
            "assumed", f"axis of {kind}", node, element, problem, 'Add <axis xyz="..."/> with the direction.'
        )
    axis = draft["axis"] = read_axis(given, AXIS, element, reading)
    if kind == "revolute" or kind == "prismatic":
        return
    if kind == "planar":
        del draft["axis"]
        if axis != (0.0, 0.0, 1.0):
            across = turn(z_to(axis))
            for end in ("placement", "child_placement"):
                draft[end] = compose(Pose(*draft.get(end, IDENTITY)), across)
        return
    if kind == "universal":
        draft["axis2"] = read_axis(parts.get("axis2"), AXIS2, element, reading)
    elif kind == "helical":
        pitch = parts.get("pitch")
        if pitch is None:
            problem = "a screw joint has no <screw_thread_pitch>, expected its travel per turn [m]"
            reading.at(node, element).error("structure", problem, 'Add <screw_thread_pitch value="..."/>.')
        else:
            draft["pitch"] = reading.values.number(pitch, "value", element) / (2.0 * math.pi)


def read_axis(node: Node | None, default: Axis, element: str, reading: Reading) -> Axis:
    """The unit vector of an <axis>; `default` if there is none. Another length is scaled to 1, with a warning that has
    a repair.
    """
    if node is None:
        return default
    text = node.get("xyz")
    known = reading.axes.get(text)
    if known is not None:
        return known
    before = reading.findings.count
    x, y, z = reading.values.numbers(node, "xyz", 3, element)
    if reading.findings.count > before:  # there is a finding about the numbers already
        return default
    length = math.hypot(x, y, z)
    if abs(length - 1.0) <= UNIT_TOLERANCE:
        reading.axes[text] = (x, y, z)
        return (x, y, z)
    if not 1e-150 < length < 1e150:
        problem = f"<axis> xyz is {short(node.get('xyz'))}, expected a direction of length 1"
        reading.at(node, element).error("axis", problem, "Give the direction of the joint, such as 0 0 1.")
        return default
    unit = (x / length, y / length, z / length)
    rounded = abs(length - 1.0) < ROUNDED  # reported once for all joints
    problem = f"<axis> xyz is {short(node.get('xyz'))} with length {length:.9g}, expected 1: it is scaled"
    remedy = f'Write <axis xyz="{_written(unit)}"/>.'
    reading.repeated(
        "axis",
        "rounded" if rounded else f"axis of {element}",
        node,
        element,
        problem,
        remedy,
        repair=_rewrite(node, "xyz", _written(unit)),
    )
    return unit


def _written(numbers: tuple[float, ...]) -> str:
    """Numbers as text, separated by spaces, that is read back without rounding."""
    return " ".join(f"{number:.17g}" if number % 1.0 else f"{number:.0f}" for number in numbers)


def _rewrite(node: Node, attribute: str, text: str) -> Callable[[], None]:
    """A repair that writes a text into an attribute."""

    def repair() -> None:
        node.set(attribute, text)

    return repair


def z_to(axis: Axis) -> Mat:
    """The rotation matrix with the smallest angle that rotates z to a unit axis, shape (3, 3)."""
    x, y, z = axis
    if z < -1.0 + 1e-12:
        return ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
    share = 1.0 / (1.0 + z)
    return (
        (1.0 - share * x * x, -share * x * y, x),
        (-share * x * y, 1.0 - share * y * y, y),
        (-x, -y, z),
    )


# ── limits, damping, friction ─────────────────────────────────────────────────────────────────────────────────────────


def _usual_limits(node: Node, draft: Draft) -> bool:
    """Writes limits into `draft` if all four are given and valid; False if they have to be checked one by one."""
    get = node.get
    low, high, most, fastest = get("lower"), get("upper"), get("effort"), get("velocity")
    try:
        lower, upper, effort, velocity = float(low), float(high), float(most), float(fastest)
    except (TypeError, ValueError):
        return False
    bounded = -NO_LIMIT < lower <= upper < NO_LIMIT
    if bounded and effort > 0.0 and velocity > 0.0 and "_" not in f"{low}{high}{most}{fastest}":
        draft["lower"], draft["upper"] = lower, upper
        draft["effort"] = effort if effort < NO_LIMIT else math.inf
        draft["velocity"] = velocity if velocity < NO_LIMIT else math.inf
        return True
    return False


def _limits(joint: Node, node: Node | None, kind: str, draft: Draft, element: str, reading: Reading) -> None:
    """Writes the limits of position, speed and effort of a joint into `draft`; missing limits are infinite.

    `node` is the <limit> of the joint, or None.
    """
    single = JOINT_KINDS[kind].nv == 1
    if node is None:
        if single and joint.get("type") in ("revolute", "prismatic"):
            problem = f"a {joint.get('type')} joint has no <limit>, expected one: no limits are assumed"
            remedy = 'Add <limit lower="..." upper="..." effort="..." velocity="..."/>.'
            reading.repeated("limit", f"no limit on {joint.get('type')}", joint, element, problem, remedy)
        return
    if not single:
        if kind != "free" and node.attrib:
            problem = f"<limit> of a {kind} joint is not used, because the joint has several coordinates"
            remedy = "Give the limits in a TOML file if you need them."
            reading.repeated("dropped", f"limit of {kind}", node, element, problem, remedy)
        return
    lower = _bound(node, "lower", -math.inf, element, reading)
    upper = _bound(node, "upper", math.inf, element, reading)
    if lower > upper:  # some simulators understand such limits as none
        problem = f"the lower limit {lower:.6g} is above the upper limit {upper:.6g}: no limits are assumed"
        reading.at(node, element).warn("limit", problem, "Exchange the two limits, or make the joint continuous.")
        lower, upper = -math.inf, math.inf
    draft["lower"], draft["upper"] = lower, upper
    _rates(node, draft, element, reading)
    if lower == -math.inf or upper == math.inf:
        reading.strange(node, LIMITS, element)


def _unlimited(node: Node | None, draft: Draft, element: str, reading: Reading) -> None:
    """Writes the limits of a continuous joint into `draft`: speed and effort may be limited, the angle may not."""
    if node is None:
        return
    _rates(node, draft, element, reading)
    lower = _bound(node, "lower", 0.0, element, reading)
    upper = _bound(node, "upper", 0.0, element, reading)
    if lower != upper and math.isfinite(upper - lower):
        problem = (
            f"limits from {lower:.6g} to {upper:.6g} are given, but a continuous joint has none: they are not used"
        )
        remedy = "Make the joint revolute, or remove lower and upper."
        reading.repeated("limit", "limited continuous", node, element, problem, remedy)


def _rates(node: Node, draft: Draft, element: str, reading: Reading) -> None:
    """Writes the limits of effort and velocity into `draft`."""
    for key in ("effort", "velocity"):
        if node.get(key) is None:
            continue
        value = _bound(node, key, math.inf, element, reading)
        if value > 0.0:
            draft[key] = value
        else:
            problem = f"the {key} limit is {value:.6g}, expected above 0: no limit is assumed"
            reading.repeated("limit", key, node, element, problem, f"Write the true limit, or leave {key} out.")


def _bound(node: Node, key: str, default: float, element: str, reading: Reading) -> float:
    """The number in the attribute `key` of a <limit>, which may be infinite; the default if it is missing or wrong."""
    text = node.get(key)
    if text is None:
        return default
    try:
        value = float(text)
        if value == value and "_" not in text:  # not NaN
            return math.copysign(math.inf, value) if abs(value) >= NO_LIMIT else value
    except ValueError:
        pass
    values = Values(reading.findings, optional=True) if key in ("effort", "velocity") else reading.values
    values.real(node, text, f"<limit> {key}", element)
    return default


def _dynamics(node: Node, draft: Draft, element: str, reading: Reading) -> None:
    """Writes damping and friction of a joint into `draft`; they are 0 if they are missing."""
    damping, friction = node.get("damping"), node.get("friction")
    if damping is None or friction is None:
        reading.strange(node, LOSSES, element)
    try:  # the usual case: all numbers are valid
        lost = 0.0 if damping is None else float(damping)
        held = 0.0 if friction is None else float(friction)
        if 0.0 <= lost < NO_LIMIT and 0.0 <= held < NO_LIMIT and "_" not in f"{damping}{friction}":
            if lost or held:
                draft["damping"], draft["friction"] = lost, held
            return
    except ValueError:
        pass
    for key, text in (("damping", damping), ("friction", friction)):
        value = 0.0 if text is None else reading.values.number(node, key, element)
        if value < 0.0:
            problem = f"<dynamics> {key} is {value:.6g}, expected at least 0: 0 is assumed"
            reading.at(node, element).warn("data", problem, f"Change the sign of {key}, or leave it out.")
        elif value > 0.0:
            draft[key] = value


def _mimic(node: Node, element: str, reading: Reading) -> Mimic | None:
    """The coupling that a <mimic> declares. None if it names no joint to follow, which is recorded as a finding."""
    leader = node.get("joint") or reading.values.word(node, "joint", element)
    multiplier = reading.values.number(node, "multiplier", element, 1.0)
    offset = reading.values.number(node, "offset", element, 0.0)
    if not all(key in node.attrib for key in MIMIC):
        reading.strange(node, MIMIC, element)
    return (leader, multiplier, offset, line_of(node)) if leader else None
