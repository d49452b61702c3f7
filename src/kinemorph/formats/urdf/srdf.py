"""Reads SRDF, MoveIt's file beside a URDF: its group states become starts.

    <robot name="arm"> <group_state name="home" group="arm"> <joint name="elbow" value="0.5"/> </group_state> </robot>

States of the same name in several groups are one start, unless they give a joint different values: then the later one
is called "NAME~GROUP". Joints that a state does not name have their default configuration. Groups, end effectors,
virtual joints and pairs of links that do not collide are not read, and a warning says so.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, read_file
from kinemorph.formats.xml_documents import Node, line_of, parse
from kinemorph.model.input_reader import short
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from kinemorph.model.starts import Start
from kinemorph.words import counted, did_you_mean, listed

STATE = "group_state"


def read_srdf(source: Source, options: Options, blueprint: Blueprint) -> None:
    """Declares the starts of the SRDF file of a model, when its robot is complete; nothing where there is no file.

    A file that the options name must exist; else it is searched beside the model.
    """
    path = options.srdf or _beside(source)
    if path is None:
        return
    view = blueprint.findings.within(str(path))
    text = read_file(path, view)
    root = None if text is None else parse(text, view)
    if root is None:
        return
    if root.tag != "robot":
        problem = f"the file begins with <{root.tag}>, expected <robot>"
        view.error("structure", line_of(root), "", problem, "Name an SRDF file, or move this file elsewhere.")
        return
    nodes = [node for node in root if isinstance(node.tag, str)]
    others = Counter(str(node.tag) for node in nodes if node.tag != STATE)
    if others:
        what = f"not read: {listed((f'{count} <{tag}>' for tag, count in others.items()), 20)}; only states are"
        view.warn("dropped", 0, "", what, "Add what you need in Python.")

    def declare(robot: Robot) -> None:
        for node in nodes:
            if node.tag == STATE:
                _state(node, robot, blueprint, view)

    blueprint.afterwards.append(declare)


def _beside(source: Source) -> Path | None:
    """The SRDF file in the folder of a model: `arm.srdf` for `arm.urdf` and `arm.urdf.xacro`; None if there is none."""
    if source.folder is None:
        return None
    stem = os.path.basename(source.name)
    while os.path.splitext(stem)[1].lower() in (".urdf", ".xacro", ".xml"):
        stem = os.path.splitext(stem)[0]
    path = source.folder / f"{stem}.srdf"
    return path if path.is_file() else None


def _state(node: Node, robot: Robot, blueprint: Blueprint, view: Findings) -> None:
    """Declares the start of a <group_state>; wrong joints in it are left out, with a warning."""
    name, group = (node.get("name") or "").strip(), (node.get("group") or "").strip()
    element = f"group_state '{name}'"
    if not name or not name.isprintable():
        problem = f"attribute 'name' is {short(name)}, expected printable text"
        view.warn("name", line_of(node), STATE, f"{problem}; the state is left out", "Give it a name.")
        return
    joints = {joint.name: joint for joint in robot.joints if joint.nq}
    q: dict[str, float] = {}
    for child in node.iterfind("joint"):
        called = child.get("name", "")
        joint = joints.get(called)
        if joint is None:
            problem = f"there is no joint {short(called)} that moves, expected one of {listed(joints, 20)}"
            remedy = did_you_mean(called, joints).strip() or "Correct the name."
            view.warn("name", line_of(child), element, f"{problem}; it is left out", remedy)
            continue
        values = _values(child.get("value", ""), joint)
        if values is None:
            problem = f"value of joint '{joint.name}' is {short(child.get('value'))}, expected "
            problem += f"{counted(joint.nq, 'finite number', 'finite numbers')}; it is left out"
            view.warn("number", line_of(child), element, problem, "Correct the value.")
            continue
        q |= dict(zip(joint.q_names, values, strict=True))
    before = blueprint.starts[name].numbers("q") if name in blueprint.starts else None
    if isinstance(before, dict) and all(before.get(key, value) == value for key, value in q.items()):
        q = {**before, **q}
    elif name in blueprint.starts:
        name = f"{name}~{group or len(blueprint.starts)}"
    blueprint.starts[name] = Start(tuple(q.items()))


def _values(text: str, joint: Joint) -> list[float] | None:
    """The coordinates of a joint as this package orders them; None if they are not as many finite numbers."""
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return None
    if len(values) != joint.nq or not all(map(math.isfinite, values)):
        return None
    if joint.table.quaternions:  # the scalar part comes last there
        return [*values[:-4], values[-1], *values[-4:-1]]
    return values
