"""Reads URDF, the format of ROS.

Links become bodies and joints become joints, in the order of the file. A first joint connects the root to the world; it
is fixed unless `base` is "free". Also read are: <inertial>, <visual>, <collision> and <material>; limits, dynamics and
mimic of joints; <transmission>; loops in three dialects (`loops`); <fixed_frame> of Isaac Sim; the joint types and
<screw_thread_pitch> of Drake (<drake:joint>); a sidecar, a TOML file with data that URDF cannot express; and the group
states of an SRDF file (`srdf`).

A root link called "world" without mass and shapes is the ground itself: many files of fixed robots have one. Any other
link of that name is renamed to "world_link".
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Options, Source, sidecar_name
from kinemorph.formats.urdf.cursor import Reading
from kinemorph.formats.urdf.gazebo_tags import read_gazebo
from kinemorph.formats.urdf.joints import ReadJoint, read_joint
from kinemorph.formats.urdf.links import MASSLESS, ReadLink, read_link
from kinemorph.formats.urdf.loops import DIALECTS, ReadLoop, read_loop
from kinemorph.formats.urdf.shapes import ShapeReader
from kinemorph.formats.urdf.srdf import read_srdf
from kinemorph.formats.urdf.transmissions import read_transmission
from kinemorph.formats.xml_documents import Node, line_of, parse
from kinemorph.formats.xml_values import At
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.words import did_you_mean, quoted

JOINTS = ("joint", "{http://drake.mit.edu}joint", "drake:joint")  # the last one, if its prefix is not declared
OWN_MACROS = ("include", "macro", "property", "arg", "if", "unless", "call", "element", "insert_block")  # of xacro
MACRO = re.compile(r"(?:\{[^}]*/xacro\}|xacro:)(.+)")  # its address is http://www.ros.org/wiki/xacro or a similar one


def read(source: Source, options: Options, findings: Findings) -> System | None:
    """The system of a URDF file; None if it cannot be read, which is recorded as a finding."""
    read = _read(source, options, findings)
    if read is None:
        return None
    blueprint, later = read
    later.shapes.dress()
    for node in later.transmissions:
        read_transmission(node, later.joints, later.reading)
    read_gazebo(later.gazebo, later.reading)
    read_srdf(source, options, blueprint)
    later.reading.tally.report()
    return blueprint.system()


def blueprint_of(source: Source, options: Options, findings: Findings) -> Blueprint | None:
    """The parts of a URDF file, declared but not yet checked together. None if it is not URDF, which is recorded.

    Shapes and transmissions are not included; `read` reads them later.
    """
    read = _read(source, options, findings)
    return None if read is None else read[0]


class Later(NamedTuple):
    """What is needed to read shapes and transmissions, after all links and joints are declared."""

    reading: Reading
    shapes: ShapeReader
    transmissions: list[Node]
    joints: set[str]  # names of the joints that transmissions may drive
    macros: list[tuple[Node, str]]  # macros that xacro has not expanded, with their names
    gazebo: list[Node]


def _read(source: Source, options: Options, findings: Findings) -> tuple[Blueprint, Later] | None:
    """(blueprint with the links and joints of a URDF file, nodes that are read later).

    None if the file is not URDF, which is recorded as a finding.
    """
    root = parse(source, findings, bare=not options.repairable)
    if root is None:
        return None
    if root.tag != "robot":
        problem = f"the file begins with <{root.tag}>, expected <robot>"
        remedy = "Put the model into <robot>, or give the file the ending of its format."
        At(findings, root, "").error("structure", problem, remedy)
        return None
    name = root.get("name")
    blueprint = Blueprint(findings, name or "robot", line=line_of(root), words={"body": "link"})
    reading = Reading(source, options, findings, blueprint)
    if not name:
        problem = "attribute 'name' is missing, expected one: the robot is called 'robot'"
        At(findings, root, "robot").warn("structure", problem, 'Write <robot name="...">.')
    later = Later(reading, ShapeReader(reading), [], set(), [], [])
    links, joints, loops = _parts(root, later)
    if _needs_macros(links, joints, later):
        return blueprint, later
    if links or findings.failed:
        _declare(links, joints, loops, later)
    else:
        problem = "the robot has no <link>, expected at least one"
        At(findings, root, "robot").error("structure", problem, 'Add <link name="...">.')
    return blueprint, later


def _parts(root: Node, later: Later) -> tuple[list[ReadLink], list[ReadJoint], list[ReadLoop]]:
    """The links, joints and loops in <robot>, in the order of the file. Frames are declared here; shapes, materials and
    transmissions are stored in `later`.
    """
    reading, shapes = later.reading, later.shapes
    links: list[ReadLink] = []
    joints: list[ReadJoint] = []
    loops: list[ReadLoop] = []
    for node in root[:]:
        tag = node.tag
        if tag == "link":
            link = read_link(node, reading, shapes)
            if link is not None:
                links.append(link)
            else:
                reading.incomplete = True
        elif tag in JOINTS:
            joint = read_joint(node, reading)
            if joint is not None:
                joints.append(joint)
            else:
                reading.incomplete = True
        elif tag == "gazebo":
            shapes.gazebo(node)
            later.gazebo.append(node)
        elif tag == "material":
            shapes.material(node, f"material '{node.get('name')}'")
        elif tag == "transmission":
            later.transmissions.append(node)
        elif tag in DIALECTS:
            loop = read_loop(node, reading)
            if loop is not None:
                loops.append(loop)
        elif tag == "fixed_frame":
            _frame(node, reading)
        elif isinstance(tag, str) and (macro := MACRO.fullmatch(tag)):
            later.macros.append((node, macro[1]))
        else:
            reading.other(node, "robot", "robot")
    return links, joints, loops


def _needs_macros(links: list[ReadLink], joints: list[ReadJoint], later: Later) -> bool:
    """Whether the file has macros without which its links are no tree, or which are xacro's own; this is an error.

    Other macros, which a converter has left over, are left out with a warning, as other parsers do.
    """
    if not later.macros:
        return False
    names, carried = {name for _, name, _ in links}, {draft["child"] for _, draft, _ in joints}
    ends = carried | {draft["parent"] for _, draft, _ in joints}
    needed = len(names - carried) != 1 or not ends <= names
    for node, name in later.macros:
        if needed or name in OWN_MACROS:
            problem = f"<xacro:{name}> is a macro, expected plain URDF"
            remedy = "Expand the macros by xacro, or give the file the ending .xacro."
            later.reading.at(node, "").error("structure", problem, remedy)
            return True
        problem = f"<xacro:{name}> is a macro that the file does not define: it is left out"
        remedy = "Expand the macros by xacro if it contains links or joints."
        later.reading.repeated("dropped", "macro", node, "", problem, remedy)
    return False


def _frame(node: Node, reading: Reading) -> None:
    """Declares the frame of a <fixed_frame>."""
    name, parent, origin = node.get("name"), node.find("parent"), node.find("origin")
    element = f"fixed_frame '{name}'"
    if parent is None:
        problem = "<parent> is missing, expected exactly one"
        reading.at(node, element).error("structure", problem, 'Add <parent link="..."/>.')
        return
    placement = None if origin is None else reading.origin(origin, element)
    name, body = reading.values.word(node, "name", element), reading.values.word(parent, "link", element)
    if name and body:
        reading.blueprint.frame(line_of(node), name, body, placement=placement)


# ── the tree of links and joints ──────────────────────────────────────────────────────────────────────────────────────


def _declare(links: list[ReadLink], joints: list[ReadJoint], loops: list[ReadLoop], later: Later) -> None:
    """Declares bodies, the root joint, the joints of the file, loops, couplings, and then the parts of the sidecar."""
    reading, blueprint, findings = later.reading, later.reading.blueprint, later.reading.findings
    names = dict.fromkeys([name for _, name, _ in links])
    _check_ends(names, joints, loops, reading)
    carried = {draft["child"] for _, draft, _ in joints}
    roots = [name for name in names if name not in carried]
    ground, renamed = _ground(links, names, roots, later)
    later.shapes.renamed = renamed
    for line, name, inertial in links:
        if name != ground:
            blueprint.body_of(line, renamed.get(name, name), inertial or MASSLESS)
    taken = later.joints
    taken.update([draft["name"] for _, draft, _ in joints])
    hung = []
    if roots and roots[0] != ground:
        body = renamed.get(roots[0], roots[0])
        hung.append(_free_name(f"{body}_root", taken))
        line = next(line for line, name, _ in links if name == roots[0])
        blueprint.joint(line, hung[0], reading.options.base or "fixed", WORLD, body)
    for line, draft, mimic in joints:
        name, parent, child = draft["name"], draft["parent"], draft["child"]
        if renamed:
            draft |= {"parent": renamed.get(parent, parent), "child": renamed.get(child, child)}
        blueprint.joint_of(line, draft)
        if mimic is not None:
            leader, multiplier, offset, place = mimic
            if leader in taken:
                blueprint.couple(place, name, leader, multiplier, offset)
            else:
                problem = f"<mimic> names joint '{leader}', which does not exist: this joint moves independently"
                remedy = ("" if findings.unlisted else did_you_mean(leader, taken).strip()) or "Correct the name."
                findings.warn("name", place, f"joint '{name}'", problem, remedy)
    if loops and not findings.failed:
        depth = _depths(names, joints, roots)
        for loop in loops:
            parent, child, data = loop.directed(depth)
            blueprint.joint(
                loop.line, loop.name, loop.kind, renamed.get(parent, parent), renamed.get(child, child), **data
            )
    _extend(blueprint, hung, reading)
    _check_roots(roots, ground, renamed, reading)


def _ground(
    links: list[ReadLink], names: Iterable[str], roots: list[str], later: Later
) -> tuple[str | None, dict[str, str]]:
    """(the link that is the ground itself or None, new names): a link called "world" that is a body gets a new name."""
    if WORLD not in names:
        return None, {}
    line, _, inertial = next(link for link in links if link[1] == WORLD)
    bare = inertial is None and WORLD not in later.shapes.solids
    if bare and WORLD in roots and later.reading.options.base != "free":
        return WORLD, {}
    new = _free_name("world_link", names)
    problem = f"the name is reserved for the ground, but this link is a body: it is renamed to '{new}'"
    later.reading.findings.warn("name", line, "link 'world'", problem, "Rename the link.")
    return None, {WORLD: new}


def _free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores added until it is not in `taken`."""
    while name in taken:
        name += "_"
    return name


def _check_ends(names: Collection[str], joints: list[ReadJoint], loops: list[ReadLoop], reading: Reading) -> None:
    """Checks that every joint names two different links that exist, and that no link is the child of two joints."""
    findings = reading.findings
    carrier: dict[str, ReadJoint] = {}
    for joint in joints:
        line, draft, _ = joint
        parent, child = draft["parent"], draft["child"]
        if parent in names and child in names and child not in carrier and parent != child:
            carrier[child] = joint
            continue
        element = f"joint '{draft['name']}'"
        for end, link in (("parent", parent), ("child", child)):
            if link not in names:
                reading.incomplete = True
                _unknown(line, element, end, link, names, findings)
        if parent == child:
            problem = f"parent and child are both '{parent}', expected two links"
            findings.error("structure", line, element, problem, "Name the other link.")
        elif child in carrier:
            place, other, _ = carrier[child]
            there = f"joint '{other['name']}' on {findings.where(place)}"
            problem = f"its child '{child}' is already the child of {there}, expected one parent for each link"
            remedy = (
                f"If this joint closes a loop, move it to {sidecar_name(findings.file)}, or write it as <loop_joint>."
            )
            findings.error("loop", line, element, problem, remedy)
        else:
            carrier[child] = joint
    for loop in loops:
        for link in loop.ends:
            if link not in names:
                _unknown(loop.line, f"loop '{loop.name}'", "link", link, names, findings)


def _unknown(line: int, element: str, end: str, link: str, known: Iterable[str], findings: Findings) -> None:
    """Reports that a joint names a link that does not exist; `end` is "parent", "child" or "link"."""
    hint = "" if findings.unlisted else did_you_mean(link, known).strip()
    hint = hint or "Declare the link, or correct the name."
    findings.error("name", line, element, f"{end}: there is no link '{link}', expected the name of a link", hint)


def _depths(names: Iterable[str], joints: list[ReadJoint], roots: list[str]) -> dict[str, int]:
    """The number of joints between each link and its root, by the name of the link."""
    below: dict[str, list[str]] = {name: [] for name in names}
    for _, draft, _ in joints:
        below[draft["parent"]].append(draft["child"])
    depth = dict.fromkeys(roots, 0)
    queue = list(roots)
    for name in queue:  # it grows during this loop
        for child in below[name]:
            if child not in depth:
                depth[child] = depth[name] + 1
                queue.append(child)
    return {name: depth.get(name, 0) for name in below}


def _extend(blueprint: Blueprint, hung: list[str], reading: Reading) -> None:
    """Adds the parts of the sidecar, if there is one. A joint in it between world and root replaces the default root
    joint, whose name is in `hung`.
    """
    source, options = reading.source, reading.options
    if options.sidecar is None and not (
        source.folder and os.access(os.path.join(source.folder, sidecar_name(source.name)), os.F_OK)
    ):
        return
    from kinemorph.formats.toml import sidecar

    sidecar.extend(blueprint, source, options, reading.findings, roots=hung)


def _check_roots(roots: list[str], ground: str | None, renamed: dict[str, str], reading: Reading) -> None:
    """Checks that exactly one link has no parent, apart from links that the sidecar connects to the world."""
    if reading.incomplete:  # a link may have no parent only because its joint has an error
        return
    if len(roots) == 1:  # the usual case
        return
    if not roots:
        problem = "every link is the child of a joint, so there is no root, expected one link without a parent"
        remedy = "Remove the joint that closes the cycle, or write it as <loop_joint>."
        reading.findings.error("root", line_of_first(reading), "robot", problem, remedy)
        return
    carried = {child for _, child in reading.blueprint.ends.values()}
    loose = [name for name in roots if name != ground and renamed.get(name, name) not in carried]
    lines = reading.blueprint.lines
    adrift = [name for name in loose if ("body", renamed.get(name, name)) in lines]  # other names have a finding
    if adrift:
        problem = f"the links {quoted(roots, 8)} have no parent, expected one root"
        remedy = "Add the missing joint, or remove links that are not connected."
        reading.findings.error(
            "root", lines["body", renamed.get(adrift[0], adrift[0])], f"link '{adrift[0]}'", problem, remedy
        )


def line_of_first(reading: Reading) -> int:
    """The line of <robot>."""
    return next(iter(reading.blueprint.lines.values()))
