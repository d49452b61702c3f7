"""Reads joints of SDF that follow others: mimic joints, and gearboxes, which keep a ratio between two hinges."""

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
    """A joint that follows another: q[joint] = multiplier * q[leader] + offset. Both names are keys of frames."""

    line: int
    joint: str
    leader: str
    multiplier: float
    offset: float


class Couplings:
    """Reads couplings of joints (mimic, gearbox) into the list `followings`; warns of others that cannot be read."""

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
        """Adds the coupling q = multiplier (q[leader] - reference) + offset of a <mimic> in the joint `key`."""
        values, entry = model.file.values, self.frames.entries[key]
        name = values.word(node, "joint", entry.element)
        leader = self.frames.find(model.scope, name) if name else None
        if leader is None:
            if name:
                self.frames.unknown(entry, "<mimic> joint", name)
            return
        if leader not in self._simple or key not in self._simple:
            what = "<mimic> between joints with several axes has no effect"
            remedy = "Replace the joints by joints with one axis."
            self.tally.add(values.at(node, entry.element), "dropped", what, remedy)
            return
        factor = values.value(node, "multiplier", entry.element, 1.0)
        offset = values.value(node, "offset", entry.element, 0.0)
        shift = values.value(node, "reference", entry.element, 0.0)
        self.followings.append(Following(model.file.line_of(node), key, leader, factor, offset - factor * shift))

    def _gearbox(self, node: Node, model: Model, key: str) -> None:
        """Adds the coupling theta_2 = -ratio theta_1 of a gearbox joint `key`, where theta_1 and theta_2 are the angles
        of its parent and child relative to the reference body.
        """
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
            what = (
                "a gearbox needs hinges along its axes between its reference body and its parent and child, which are "
                "missing: it has no effect"
            )
            remedy = "Add the hinges, or expect both links to turn freely."
            self.tally.add(values.at(node, element), "dropped", what, remedy)
            return
        (leader, sign1), (follower, sign2) = first, second
        factor = -ratio * sign1 * sign2
        self.followings.append(Following(model.file.line_of(node), follower, leader, factor, 0.0))

    def _hinge(self, base: str | None, link: str, axis: Axis, gearbox: str) -> tuple[str, float] | None:
        """(key, sign) of the hinge between the links `base` and `link` along an axis of the gearbox; None if there is
        none. The sign is -1 if the angle of the hinge counts against the axis.
        """
        for joint in self._hinges.get(frozenset((base, link)), ()):
            along = dot(matvec(self.frames.between(gearbox, joint.name).R, joint.axis), axis)
            if abs(abs(along) - 1.0) < 1e-6:
                return joint.name, math.copysign(1.0, along if joint.child == link else -along)
        return None
