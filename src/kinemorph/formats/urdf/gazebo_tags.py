"""Reads <gazebo> of a URDF: springs of joints act, and a warning names other tags that act in Gazebo.

A tag with `reference` belongs to a link or joint. Friction, stiffness and damping of contacts are read with the shapes
(`urdf.shapes`), springs of joints become elements.
"""

from __future__ import annotations

import math

from kinemorph.formats.urdf.cursor import Reading
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.model.elements import TorsionSpring

FLOATING = "no gravity"  # name of an element that carries a link
NO = ("0", "false", "0.0", "")
# tags that act in Gazebo if they are not 0 or false, and do not act here
LEFT_OUT = (
    *("selfCollide", "self_collide", "dampingFactor", "velocity_decay", "fdir1", "maxVel", "max_vel", "minDepth"),
    *("min_depth", "kinematic", "stopCfm", "stopErp", "stopKp", "stopKd", "fudgeFactor", "cfmDamping", "static"),
    *("initial_joint_position", "initialJointPosition", "turnGravityOff"),
)
WEIGHT = ("turnGravityOff", "gravity")


def read_gazebo(nodes: list[Node], reading: Reading) -> None:
    """Declares the springs in <gazebo> tags, and warns about what else acts in Gazebo."""
    for node in nodes:
        target = node.get("reference", "")
        springs: dict[str, float] = {}
        for part in node.iterchildren("*"):
            tag, text = str(part.tag), "".join(part.itertext()).strip() or part.get("value", "")
            idle = text.lower() in NO
            if tag in ("springStiffness", "springReference"):
                springs[tag] = _number(text)
            elif tag in ("plugin", "sensor") or (tag in LEFT_OUT and not idle) or (tag == "gravity" and idle):
                _tell(part, tag, target, reading)
        if springs.get("springStiffness", 0.0):
            _spring(node, target, springs, reading)


def _tell(part: Node, tag: str, target: str, reading: Reading) -> None:
    """Warns that a tag has no effect; plugins are named by their files, sensors by their types."""
    named = part.get("filename" if tag == "plugin" else "type", "")[:60] if tag in ("plugin", "sensor") else ""
    what = f"<{tag}>{f' {named}' if named else ''} in <gazebo> has no effect"
    element = f"reference '{target}'" if target else ""
    remedy = "Add it to the simulation in Python if you need it."
    if tag in WEIGHT:  # not acted on: where Gazebo merges links, the tag of the first one decides
        remedy = f"Add elements.WeightSupport('{FLOATING}', 1.0, ('{target}',)) if the link has to float."
    reading.repeated("dropped", f"gazebo {tag} {named}", part, element, what, remedy)


def _spring(node: Node, joint: str, given: dict[str, float], reading: Reading) -> None:
    """Declares the spring of a joint, or warns that it is left out."""
    stiffness, rest = given["springStiffness"], given.get("springReference", 0.0)
    fits = reading.blueprint.kinds.get(joint) in ("revolute", "prismatic")
    if fits and math.isfinite(stiffness) and math.isfinite(rest) and stiffness > 0.0:
        reading.blueprint.element(line_of(node), TorsionSpring(f"{joint} spring", joint, stiffness, rest))
        return
    problem = "<springStiffness> has no effect, expected a number above 0 for a revolute or prismatic joint"
    reading.repeated("dropped", "gazebo spring", node, f"reference '{joint}'", problem, "Correct it, or remove it.")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
