"""Reads URDF transmissions as actuators: a motor, the joint that it drives, and the gear ratio between them.

<mechanicalReduction> may be in <transmission>, the older form, or in <actuator> or <joint>. A transmission with several
motors or joints cannot be expressed; it is left out, with a warning, as is one whose ratio is not a number. Drake's
tags <drake:rotor_inertia> and <drake:gear_ratio> of an actuator give its joint the armature ratio^2 * inertia.
"""

from __future__ import annotations

from collections.abc import Container
from itertools import takewhile

from kinemorph.formats.urdf.cursor import Reading
from kinemorph.formats.xml_documents import Node, drake_child, line_of
from kinemorph.formats.xml_values import Values
from kinemorph.model.elements import Actuator
from kinemorph.words import counted

REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")


def read_transmission(node: Node, joints: Container[str], reading: Reading) -> None:
    """Declares the actuator of a transmission with one motor and one joint. `joints` are the names of all joints."""
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
            problem = (
                f"it has {counted(len(motors), 'actuator')} and {counted(len(driven), 'joint')}, expected one of each: "
                "it is left out"
            )
            remedy = "Write one transmission for each joint."
            reading.repeated("dropped", "transmission", node, element, problem, remedy)
        return
    if driven[0] not in joints:
        problem = f"it drives joint '{driven[0]}', which does not exist: it is left out"
        reading.repeated("name", "transmission", node, element, problem, "Correct the name of the joint.")
        return
    kind = reading.blueprint.kinds.get(driven[0], "revolute")  # a joint that is missing here has a finding already
    if kind not in ("revolute", "prismatic"):
        what = f"it drives joint '{driven[0]}', which is {kind}; expected a revolute or prismatic joint: it is left out"
        reading.repeated(
            "dropped", "transmission", node, element, what, "Change the type of the joint, or remove the transmission."
        )
        return
    gear, values = 1.0, Values(reading.findings, optional=True)
    for ratio in ratios[:1]:
        gear = values.real(ratio, _text(ratio), f"<{ratio.tag}>", element)
    if values.faults:
        return
    rotor = _rotor(node, element, reading)
    if rotor is not None:
        reading.blueprint.add_armature(driven[0], rotor[0] * rotor[1] * rotor[1])
    inertia = 0.0 if rotor is None else rotor[0]
    lines = reading.blueprint.lines
    for label in (motors[0], name, f"{motors[0]} of {driven[0]}"):
        if label and ("element", label) not in lines:
            reading.blueprint.element(line_of(node), Actuator(label, driven[0], gear, inertia=inertia))
            return
    problem = f"the name '{motors[0]}' of its actuator is used already: it is left out"
    reading.repeated("name", "actuator", node, element, problem, "Rename the actuator.")


def _rotor(node: Node, element: str, reading: Reading) -> tuple[float, float] | None:
    """(rotor inertia [kg m^2], gear ratio) of Drake's tags in the actuator of a transmission; None without them."""
    found = {"rotor_inertia": 0.0, "gear_ratio": 1.0}
    nodes = {name: drake_child(part, name) for part in node.iterchildren("actuator") for name in found}
    for name, child in nodes.items():
        if child is not None:
            found[name] = reading.values.number(child, "value", element)
    return (found["rotor_inertia"], found["gear_ratio"]) if any(one is not None for one in nodes.values()) else None


def _text(node: Node) -> str:
    """The text of an element before the first element inside it, without comments."""
    comments = takewhile(lambda inner: not isinstance(inner.tag, str), node)
    return "".join([node.text or "", *(comment.tail or "" for comment in comments)]).strip()
