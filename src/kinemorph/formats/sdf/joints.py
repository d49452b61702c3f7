"""Reads joints of SDF as joints of a robot.

The pose of the joint frame is given relative to the child. Its pose on the parent follows from the poses in the file,
so at q = 0 every link has its pose of the file, and loops are closed.

Screws: <screw_thread_pitch> [m/rev] is positive for a right-handed thread. The older <thread_pitch> has the meaning of
gazebo-classic: radians per meter, positive for a LEFT-handed thread; sdformat converts by -2 pi / value
(src/Joint.cc, and the description in sdf/1.11/joint.sdf). Our pitch is in m/rad. The default of SDF is 1 m/rev.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kinemorph.algebra.vectors import matvec
from kinemorph.formats.sdf.frames import Entry, Frames
from kinemorph.formats.sdf.models import Model
from kinemorph.formats.sdf.values import SdfValues, text_of
from kinemorph.formats.xml_documents import Node, drake_child, line_of
from kinemorph.formats.xml_values import At, Tally
from kinemorph.model.input_reader import short
from kinemorph.model.joint import JOINT_KINDS, Axis, Joint, Z
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "screw": "helical",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "fixed": "fixed",
}
STOPS = {"stiffness": ("1e8", "1e+8", "100000000"), "dissipation": ("1", "1.0")}  # numbers that SDF has by default
SPRUNG = ("revolute", "continuous", "prismatic", "screw")  # types of joints whose springs can be expressed
TURN = 2.0 * math.pi
NEAR_UNIT = 1e-3  # error of the length of an axis that gives no warning, because files have rounded numbers


@dataclass(frozen=True)
class Connection:
    """A joint, with its line in the main file and its node. Its parent, child and name are keys of frames."""

    joint: Joint
    line: int
    node: Node
    model: Model
    spring: tuple[float, float] | None = None  # stiffness [N m/rad or N/m], rest position [rad or m]


class Joints:
    """Reads joints into `connections`; stores the nodes of `mimics` and `gearboxes`, which `Couplings` reads."""

    def __init__(self, frames: Frames, tally: Tally) -> None:
        self.frames, self.tally = frames, tally
        self.connections: list[Connection] = []
        self.gearboxes: list[tuple[Node, Model, str]] = []
        self.mimics: list[tuple[Node, Model, str]] = []

    def read(self, node: Node, model: Model, key: str) -> None:
        """Reads one joint, whose frame has the key `key`."""
        entry, findings = self.frames.entries[key], model.file.findings
        element, line = entry.element, line_of(node)
        kind = (node.get("type") or "").strip()
        if kind == "gearbox":
            self.gearboxes.append((node, model, key))
            return
        if kind not in KINDS:
            problem = f"the type is {short(kind)}, expected one of {', '.join(KINDS)}, gearbox"
            hint = did_you_mean(kind, KINDS).strip() if kind else ""
            findings.error("structure", line, element, problem, hint or "Choose one of these types.")
            return
        ends = self.ends(node, model, entry)
        if ends is None:
            return
        ours = KINDS[kind]
        axes = [self.axis(node, tag, model, key, element) for tag in ("axis", "axis2")[: JOINT_KINDS[ours].axes]]
        data = self._per_axis(node, ours, kind, model, element)
        self._count_axes(node, ours, model, element)
        joint = Joint(
            key,
            ours,
            *ends,
            placement=self.frames.between(ends[0], key),
            child_placement=self.frames.between(ends[1], key),
            axis=axes[0] if axes else Z,
            axis2=axes[1] if len(axes) > 1 else (1.0, 0.0, 0.0),
            pitch=self._pitch(node, model, element) if ours == "helical" else 0.0,
            **data,
        )
        spring = self._spring(node, model, element) if kind in SPRUNG else None
        self.connections.append(Connection(joint, model.file.line_of(node), node, model, spring))
        for tag in ("axis", "axis2"):
            axis = node.find(tag)
            mimic = None if axis is None else axis.find("mimic")
            if mimic is not None:
                self.mimics.append((mimic, model, key))

    def ends(self, node: Node, model: Model, entry: Entry) -> tuple[str, str] | None:
        """The keys (parent, child) of the links that a joint connects; the parent may be the world. None, with a
        finding, if one of them is missing or wrong.
        """
        found = []
        for tag in ("parent", "child"):
            # a missing child was reported when the frame of the joint was declared
            name = model.file.values.text(node, tag, entry.element, "" if tag == "child" else None)
            key = self.frames.find(model.scope, name, world=tag == "parent") if name else None
            if name and key is None and tag == "parent":
                self.frames.unknown(entry, f"<{tag}>", name)
            body = None if key is None else self.frames.body(key)
            found.append(body)
        parent, child = found
        if parent is None or child is None:
            return None
        if child == WORLD or parent == child:
            what = "the child is the world" if child == WORLD else "parent and child are the same link"
            problem = f"{what}, expected two different links, of which the child can move"
            entry.error(
                "structure", problem, "Exchange <parent> and <child>." if child == WORLD else "Name another <parent>."
            )
            return None
        return parent, child

    def axis(self, node: Node, tag: str, model: Model, key: str, element: str) -> Axis:
        """The unit vector of <axis> or <axis2> (`tag`) in the frame of a joint; `key` is the key of that frame."""
        values, findings = model.file.values, model.file.findings
        axis = values.only(node, tag, element)
        if axis is None:
            problem = f"<{tag}> is missing, expected a direction"
            At(findings, node, element).error("structure", problem, f"Add <{tag}><xyz>0 0 1</xyz></{tag}>.")
            return Z
        xyz = values.only(axis, "xyz", element)
        if xyz is None:
            what, remedy = f"<{tag}> has no <xyz>: SDF's default 0 0 1 is used", "Write <xyz> with the direction."
            self.tally.add(values.at(axis, element), "assumed", what, remedy)
        vector = Z if xyz is None else values.reals(xyz, text_of(xyz), 3, "<xyz>", element)
        length = math.hypot(*vector) if max(map(abs, vector)) < 1e150 else math.inf
        line = line_of(axis if xyz is None else xyz)
        if not 1e-150 < length < math.inf:
            problem = f"<{tag}> <xyz> is {short(vector)}, expected a direction of length 1"
            findings.error("axis", line, element, problem, "Write a unit vector, such as 0 0 1.")
            return Z
        unit = tuple(x / length for x in vector)
        if abs(length - 1.0) > NEAR_UNIT:
            problem = f"<{tag}> <xyz> is {short(vector)} with length {length:.6g}, expected length 1: it is scaled"
            remedy = "Write a vector of length 1."
            findings.warn(
                "axis", line, element, problem, remedy, None if model.file.line else partial(_rewrite, xyz, unit)
            )
        frame = self._expressed_in(axis, xyz, model, key, element)
        x, y, z = unit if frame == key else matvec(self.frames.between(key, frame).R, unit)
        return (x, y, z)

    def _expressed_in(self, axis: Node, xyz: Node | None, model: Model, key: str, element: str) -> str:
        """The key of the frame in which an axis is given: that of the joint, `key`, unless the file names another."""
        values = model.file.values
        name = "" if xyz is None else (xyz.get("expressed_in") or "").strip()
        old = axis.find("use_parent_model_frame")
        if model.file.version < (1, 7):  # up to SDF 1.4, axes are in the frame of the model by default
            always = model.file.version < (1, 5)
            name = "__model__" if values.switch(axis, "use_parent_model_frame", element, always) else name
        elif old is not None:
            what = "<use_parent_model_frame> has no effect since SDF 1.7"
            remedy = 'Write <xyz expressed_in="__model__">.'
            self.tally.add(values.at(old, element), "unknown", what, remedy)
        if not name:
            return key
        found = self.frames.find(model.scope, name)
        if found is None:
            self.frames.unknown(self.frames.entries[key], "expressed_in", name)
        return key if found is None else found

    def _pitch(self, node: Node, model: Model, element: str) -> float:
        """The pitch of a screw joint: travel per angle [m/rad]."""
        values = model.file.values
        if node.find("screw_thread_pitch") is None and node.find("thread_pitch") is None:
            what = "<screw_thread_pitch> is missing: SDF's default of 1 m per turn is used"
            remedy = "Write <screw_thread_pitch>."
            self.tally.add(values.at(node, element), "assumed", what, remedy)
        if node.find("screw_thread_pitch") is not None or node.find("thread_pitch") is None:
            return values.value(node, "screw_thread_pitch", element, 1.0) / TURN
        old = values.value(node, "thread_pitch", element, 1.0)
        if abs(old) < 1e-150:
            problem = f"<thread_pitch> is {old}, expected a number in radians per meter, not 0"
            values.at(node, element).error("number", problem, "Write <screw_thread_pitch> in meters per revolution.")
            return 0.0
        return -1.0 / old

    # ── numbers of the axes ───────────────────────────────────────────────────────────────────────────────────────

    def _per_axis(self, node: Node, ours: str, kind: str, model: Model, element: str) -> dict[str, Any]:
        """Limits, damping and friction of a joint by name, one entry per coordinate; `ours` is our kind, `kind` SDF's.

        All three axes of a ball have the damping and friction of its <axis>.
        """
        row = JOINT_KINDS[ours]
        tags = ("axis", "axis2")[: max(row.axes, 1)] if row.nv else ()
        rows = [self._numbers(node.find(tag), tag, kind, model, element) for tag in tags]
        data: dict[str, Any] = {key: tuple(numbers[key] for numbers in rows) for key in rows[0]} if rows else {}
        if row.nv == 1:
            data["armature"] = (_reflected(node, model, element),)
        if ours == "spherical":
            data = {key: values * 3 for key, values in data.items()}
            data |= {"lower": (-math.inf,) * 4, "upper": (math.inf,) * 4}
        return data

    def _numbers(self, axis: Node | None, tag: str, kind: str, model: Model, element: str) -> dict[str, float]:
        """Limits, damping and friction of one axis by name; the defaults if `axis` is None."""
        values = model.file.values
        data = {
            "lower": -math.inf,
            "upper": math.inf,
            "velocity": math.inf,
            "effort": math.inf,
            "damping": 0.0,
            "friction": 0.0,
            "armature": 0.0,
        }
        limit = None if axis is None else values.only(axis, "limit", element)
        if limit is not None:
            for side in ("lower", "upper"):
                bound = values.bound(limit, side, element, data[side])
                if kind not in ("continuous", "ball"):
                    data[side] = bound
                elif bound != data[side]:
                    what = f"<{side}> is not used, because a {kind} joint has no limits"
                    remedy = f"Remove <{side}>, or change the type of the joint."
                    self.tally.add(values.at(limit, element), "limit", what, remedy)
            for side in ("velocity", "effort"):
                bound = SdfValues(values.findings, optional=True).bound(limit, side, element, math.inf)
                if bound == 0.0:
                    what = f"<{side}> is 0, expected a limit above 0: no limit is assumed"
                    remedy = f"Leave <{side}> out, or write a limit above 0."
                    self.tally.add(values.at(limit, element), "limit", what, remedy)
                data[side] = bound if bound > 0.0 else math.inf  # in SDF, a negative number means no limit
        dynamics = None if axis is None else values.only(axis, "dynamics", element)
        if dynamics is not None:
            data |= {key: values.value(dynamics, key, element, 0.0) for key in ("damping", "friction")}
            if kind not in SPRUNG and values.value(dynamics, "spring_stiffness", element, 0.0):
                what = f"the spring of a {kind} joint is left out"
                remedy = "Add elements.Bushing to the system instead."
                self.tally.add(values.at(dynamics, element), "dropped", what, remedy)
        for side, never in STOPS.items():
            found = None if limit is None else limit.find(side)
            if found is not None and text_of(found) not in never:
                what, remedy = f"<{side}> of a limit has no effect", "Add elements.JointLimits with this number."
                self.tally.add(values.at(found, element), "dropped", what, remedy)
        if axis is not None and values.value(axis, "initial_position", element, 0.0):
            what, remedy = "<initial_position> has no effect", "Give q in the settings of a sidecar."
            self.tally.add(values.at(axis, element), "dropped", what, remedy)
        return data

    def _spring(self, node: Node, model: Model, element: str) -> tuple[float, float] | None:
        """(stiffness [N m/rad or N/m], rest position [rad or m]) of the spring of a joint with one axis; None if it has
        none.
        """
        dynamics = node.find("axis/dynamics")
        if dynamics is None:
            return None
        values = model.file.values
        stiffness = values.value(dynamics, "spring_stiffness", element, 0.0)
        return (stiffness, values.value(dynamics, "spring_reference", element, 0.0)) if stiffness else None

    def _count_axes(self, node: Node, ours: str, model: Model, element: str) -> None:
        """Warns about a second axis of a joint whose kind has only one."""
        axis2 = node.find("axis2")
        if axis2 is not None and JOINT_KINDS[ours].axes < 2:
            what = f"<axis2> of a {node.get('type')} joint has no effect"
            remedy = "Remove <axis2>, or change the type of the joint."
            self.tally.add(model.file.values.at(axis2, element), "unknown", what, remedy)


def _rewrite(node: Node, numbers: Sequence[float]) -> None:
    """Writes numbers into the text of a node."""
    node.text = " ".join(map(repr, numbers))


def _reflected(node: Node, model: Model, element: str) -> float:
    """The rotor inertia of Drake's tags, seen at the joint [kg m^2 or kg]: gear ratio^2 times rotor inertia."""
    found = {"rotor_inertia": 0.0, "gear_ratio": 1.0}
    for name in found:
        child = drake_child(node, name)
        if child is not None:
            found[name] = model.file.values.real(child, text_of(child), f"<drake:{name}>", element, "")
    return found["gear_ratio"] ** 2 * found["rotor_inertia"]
