"""Joints of SDF that follow others: mimic, and gearboxes, which keep the angles of two hinges in a ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinemorph.algebra.vectors import dot, matvec
from kinemorph.formats.sdf.joints import Joints
from kinemorph.formats.sdf.models import Model
from kinemorph.formats.xml_documents import Node
from kinemorph.model.joint import Axis, Joint

SIMPLE = ("revolute", "prismatic", "helical")


@dataclass(frozen=True)
class Following:
    """A joint that follows another: q = multiplier * q[leader] + offset. Names are keys."""

    line: int
    joint: str
    leader: str
    multiplier: float
    offset: float


class Couplings:
    """Turns the mimics and gearboxes of `joints` into `followings`, with a warning where that is not possible."""

    def __init__(self, joints: Joints) -> None:
        self.joints, self.frames, self.tally = joints, joints.frames, joints.tally
        self.followings: list[Following] = []
        self._simple = {c.joint.name for c in joints.connections if c.joint.kind in SIMPLE}
        self._hinges: dict[frozenset[str | None], list[Joint]] = {}
        for connection in joints.connections:
            joint = connection.joint
            if joint.kind == "revolute":
                self._hinges.setdefault(frozenset((joint.parent, joint.child)), []).append(joint)
        for mimic in joints.mimics:
            self._mimic(*mimic)
        for gearbox in joints.gearboxes:
            self._gearbox(*gearbox)

    def _mimic(self, node: Node, model: Model, key: str) -> None:
        """q = multiplier (q[leader] - reference) + offset."""
        values, entry = model.file.values, self.frames.entries[key]
        name = values.word(node, "joint", entry.element)
        leader = self.frames.find(model.scope, name) if name else None
        if leader is None:
            if name:
                self.frames.unknown(entry, "<mimic> joint", name)
            return
        if leader not in self._simple or key not in self._simple:
            what = "<mimic> between joints with several axes cannot be expressed"
            remedy = "Split the joints into simple ones."
            self.tally.add(values.at(node, entry.element), "dropped", what, remedy)
            return
        factor = values.value(node, "multiplier", entry.element, 1.0)
        offset = values.value(node, "offset", entry.element, 0.0)
        shift = values.value(node, "reference", entry.element, 0.0)
        self.followings.append(Following(model.file.line_of(node), key, leader, factor, offset - factor * shift))

    def _gearbox(self, node: Node, model: Model, key: str) -> None:
        """theta_2 = -ratio theta_1: angles of the child and of the parent against the reference body."""
        entry, values = self.frames.entries[key], model.file.values
        element, ends = entry.element, self.joints.ends(node, model, entry)
        name = values.text(node, "gearbox_reference_body", element)
        reference = self.frames.find(model.scope, name, world=True) if name else None
        if name and reference is None:
            self.frames.unknown(entry, "<gearbox_reference_body>", name)
        if ends is None or reference is None:
            return
        ratio = values.value(node, "gearbox_ratio", element, 1.0)
        base = self.frames.body(reference)
        first, second = (
            self._hinge(base, link, self.joints.axis(node, tag, model, key, element), key)
            for link, tag in zip(ends, ("axis", "axis2"), strict=True)
        )
        if first is None or second is None:
            what = "a gearbox whose reference body has no hinge to parent and child along its axes cannot be expressed"
            remedy = "Expect the two to turn freely."
            self.tally.add(values.at(node, element), "dropped", what, remedy)
            return
        (leader, sign1), (follower, sign2) = first, second
        factor = -ratio * sign1 * sign2
        self.followings.append(Following(model.file.line_of(node), follower, leader, factor, 0.0))

    def _hinge(self, base: str | None, link: str, axis: Axis, gearbox: str) -> tuple[str, float] | None:
        """The hinge between two links along an axis of the gearbox's frame, and the sign of its angle there."""
        for joint in self._hinges.get(frozenset((base, link)), ()):
            along = dot(matvec(self.frames.between(gearbox, joint.name).R, joint.axis), axis)
            if abs(abs(along) - 1.0) < 1e-6:
                return joint.name, math.copysign(1.0, along if joint.child == link else -along)
        return None
