"""Reads values of SDF elements: numbers, switches, poses.

In SDF, values are the text of child elements, while other formats have attributes. A missing value is the default of
the format; a wrong value gives a finding.
"""

from __future__ import annotations

import math

from lxml import etree

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.quaternions import quat_normalize, quat_to_rotation
from kinemorph.algebra.roll_pitch_yaw import rotation_of_angles
from kinemorph.formats.hints import maybe_degrees
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.formats.xml_values import Values, replacement
from kinemorph.model.input_reader import short

ENDLESS = 1e16  # larger limits mean that there is no limit (up to SDF 1.6, 1e16 is written for this)
SWITCHES = {"1": True, "true": True, "0": False, "false": False}
_STRING = etree.XPath("string()")


def text_of(node: Node) -> str:
    """The text of an element, without comments."""
    return str(_STRING(node) if len(node) else node.text or "").strip()


class SdfValues(Values):
    """Reads the texts of child elements. In its methods, `element` is the part that messages name: "link 'arm'"."""

    _warned = False  # whether there is a warning already about angles that may be degrees

    def only(self, node: Node, tag: str, element: str) -> Node | None:
        """The child <tag> of a node; None if there is none. If there are several, the first, and a warning."""
        found = node.findall(tag)
        if len(found) > 1:
            problem = f"<{node.tag}> contains <{tag}> {len(found)} times, expected once: the first one is used"
            self.at(found[1], element).warn("structure", problem, "Keep one of them.")
        return found[0] if found else None

    def text(self, node: Node, tag: str, element: str, default: str | None = None) -> str:
        """The text of the child <tag>. If it is missing, the default; without a default, "" and a finding."""
        child = self.only(node, tag, element)
        text = "" if child is None else text_of(child)
        if text or (child is None and default is not None):
            return text or str(default)
        what = f"<{tag}> is missing" if child is None else f"<{tag}> is empty"
        problem = f"{what}, expected text"
        self.wrong(node if child is None else child, element, "structure", problem, f"Write <{tag}>...</{tag}>.")
        return ""

    def value(self, node: Node, tag: str, element: str, default: float) -> float:
        """The number in a child; the default if it is missing."""
        child = self.only(node, tag, element)
        return default if child is None else self.real(child, text_of(child), f"<{tag}>", element, "")

    def vector(self, node: Node, tag: str, element: str, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """The three numbers in the child <tag>. If it is missing, the default.

        Without a default, zeros are returned and a finding is recorded.
        """
        child = self.only(node, tag, element)
        if child is not None:
            return self.reals(child, text_of(child), 3, f"<{tag}>", element, "")
        if default is None:
            self.text(node, tag, element)
            return (0.0, 0.0, 0.0)
        return default

    def bound(self, node: Node, tag: str, element: str, default: float) -> float:
        """The limit in a child, which may be infinite; the default if it is missing."""
        child = self.only(node, tag, element)
        if child is None:
            return default
        text = text_of(child)
        if text.lower().lstrip("+-") in ("inf", "infinity"):
            return -math.inf if text.startswith("-") else math.inf
        value = self.real(child, text, f"<{tag}>", element, "")
        return math.copysign(math.inf, value) if abs(value) >= ENDLESS else value

    def switch(self, node: Node, tag: str, element: str, default: bool = False) -> bool:
        """The truth value in a child; the default if it is missing."""
        child = self.only(node, tag, element)
        return default if child is None else self.truth(child, text_of(child), f"<{tag}>", element, default)

    def truth(self, node: Node, text: str, what: str, element: str, default: bool) -> bool:
        """The truth value of a text such as "true" or "0".

        Another text gives the `default`, and an error is recorded, in which `what` is the name of the value.
        """
        found = SWITCHES.get(text.strip().lower())
        if found is None:
            problem = f"{what} is {short(text)}, expected true or false"
            self.wrong(node, element, "structure", problem, "Write true or false.")
            return default
        return found

    def pose(self, node: Node, element: str) -> tuple[Pose, str]:
        """(pose, name of the frame that it is relative to) of the <pose> in a node; the identity and "" if it has none.

        The attribute is called `relative_to` since SDF 1.7 and `frame` before.
        """
        child = self.only(node, "pose", element)
        if child is None:
            return IDENTITY, ""
        return self._placed(child, element), (child.get("relative_to") or child.get("frame") or "").strip()

    def _placed(self, node: Node, element: str) -> Pose:
        """The pose in the text of a <pose>, in any of the formats of its rotation."""
        text = text_of(node)
        if not text:
            return IDENTITY
        form = node.get("rotation_format", "euler_rpy")
        if form == "quat_xyzw":
            x, y, z, *turn = self.reals(node, text, 7, "<pose>", element, "")
            return Pose(self._turned(node, turn, (x, y, z), element), (x, y, z))
        if form != "euler_rpy":
            problem = f"<pose>: rotation_format is {short(form)}, expected euler_rpy or quat_xyzw"
            self.wrong(node, element, "structure", problem, "Choose one of the two.")
            return IDENTITY
        x, y, z, *angles = self.reals(node, text, 6, "<pose>", element, "")
        if self.truth(node, node.get("degrees", "0"), "<pose> degrees", element, False):
            angles = [math.radians(angle) for angle in angles]
        elif not self._warned and (warning := maybe_degrees(angles)):
            self._warned = True
            remedy = warning[1].replace(" if ", ', or <pose degrees="true">, if ')
            self.at(node, element).warn("unit", f"<pose> is {short(text)}: {warning[0]}", remedy)
        return Pose(rotation_of_angles(*angles) if any(angles) else IDENTITY.R, (x, y, z))

    def _turned(
        self, node: Node, xyzw: list[float], place: tuple[float, ...], element: str
    ) -> tuple[tuple[float, ...], ...]:
        """The rotation matrix of a quaternion (x, y, z, w), with a finding if its length is not 1.

        `place` are the first three numbers of the <pose>, for its repair.
        """
        length = math.hypot(*xyzw)
        if abs(length - 1.0) > 1e-3:
            useful = 1e-6 <= length <= 1e6
            report = self.findings.warn if useful else self.findings.error
            corrected = " ".join(f"{x:.17g}" for x in (*place, *(x / length for x in xyzw if useful)))
            report(
                "rotation",
                line_of(node),
                element,
                f"<pose>: the quaternion {short(tuple(xyzw))} has length {length:.6g}, expected 1",
                "Divide the quaternion by its length.",
                replacement(node, "" if useful else None, corrected),
            )
            if not useful:
                return IDENTITY.R
        x, y, z, w = xyzw
        return quat_to_rotation(quat_normalize((w, x, y, z)))
