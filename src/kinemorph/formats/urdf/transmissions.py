"""URDF transmissions as actuators: a motor, the joint it drives and the reduction between them.

Both forms are read: the older one with <mechanicalReduction> in the transmission, and the one with it in <actuator> or
<joint>. A transmission that mixes several motors and joints has no counterpart in a System; this gives a warning.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import takewhile

from kinemorph.formats.urdf.cursor import Reading
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.model.elements import Actuator

REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")


def read_transmission(node: Node, joints: Container[str], reading: Reading) -> None:
    """Declares the actuator of a transmission that moves one joint by one motor."""
    name = node.get("name") or ""
    element = f"transmission '{name}'"
    motors: list[str] = []
    driven: list[str] = []
    ratios: list[Node] = []
    for part in node:
        tag = part.tag
        if tag in REDUCTIONS:
            ratios.append(part)
        elif tag in ("actuator", "joint") and part.get("name"):
            (motors if tag == "actuator" else driven).append(part.get("name"))
            ratios += [inner for inner in part if inner.tag in REDUCTIONS]
    if len(motors) != 1 or len(driven) != 1:
        if motors or driven:
            problem = f"motors: {len(motors)}, joints: {len(driven)}, expected one of each: it is left out"
            remedy = "Give every joint a transmission of its own."
            reading.repeated("dropped", "transmission", node, element, problem, remedy)
        return
    if driven[0] not in joints:
        problem = f"there is no joint '{driven[0]}', expected the joint that it drives: it is left out"
        reading.repeated("name", "transmission", node, element, problem, "Correct the name.")
        return
    kind = reading.blueprint.kinds.get(driven[0], "revolute")  # a wrong joint has a finding already
    if kind not in ("revolute", "prismatic"):
        what = f"joint '{driven[0]}' is {kind} and cannot be driven: it is left out"
        reading.repeated(
            "dropped", "transmission", node, element, what, "Let the joint move, or remove the transmission."
        )
        return
    gear = 1.0
    for ratio in ratios[:1]:
        gear = reading.values.real(ratio, _text(ratio), f"<{ratio.tag}>", element)
    lines = reading.blueprint.lines
    for label in (motors[0], name, f"{motors[0]} of {driven[0]}"):
        if label and ("element", label) not in lines:
            reading.blueprint.element(line_of(node), Actuator(label, driven[0], gear))
            return
    problem = f"the name '{motors[0]}' is used already: it is left out"
    reading.repeated("name", "actuator", node, element, problem, "Rename it.")


def _text(node: Node) -> str:
    """The text of an element, up to the first one inside it; comments are left out."""
    comments = takewhile(lambda inner: not isinstance(inner.tag, str), node)
    return "".join([node.text or "", *(comment.tail or "" for comment in comments)]).strip()
