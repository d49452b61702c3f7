"""Writes systems as SDF: one model in the file itself, and what SDF does not have in a sidecar in the same folder.

The pose of a link is given relative to the joint that moves it, and that of a joint relative to its parent link, so
that both frames of a joint are kept. Parts are written as follows:

    free roots               a link without a parent joint, at its initial pose, if the joint is called `<link>_root`
    other free roots, and    in the sidecar; the link has no joint in the file, with a warning
    planar roots
    fixed roots              a fixed joint whose parent is the world, also for ground: its link keeps its name
    gimbal, cylindrical      chains of simple joints with massless links between them; likewise point_on_line,
                             point_on_plane, and planar and free joints between links
    armature                 Drake's <drake:rotor_inertia>, which Gazebo does not read
    springs of hinges        <spring_stiffness>, <spring_reference>; couplings as <mimic>
    loops                    joints, if they are closed where all coordinates are 0 and the tree is the same; else in
                             the sidecar, with a warning
    gravity                  of a <world>, unless it is Kinemorph's default
    joints with the name     called `<name> (joint)`, because names of links, joints and frames must differ in SDF
    of a link or frame

Other elements, shapes and surfaces, starts, runs and settings are in the sidecar. Parameters are written as their
nominal values.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, quat_to_rotation
from kinemorph.formats.findings import Findings
from kinemorph.formats.joint_chains import CHAINS, SLIDES, without_chains
from kinemorph.formats.mesh_search import with_reachable_meshes
from kinemorph.formats.sdf.models import NAMESAKE
from kinemorph.formats.sdf.urdf_models import VERSION
from kinemorph.formats.sdf.written_shapes import place, write_shapes
from kinemorph.formats.toml.sidecar import sidecar_path, write_sidecar
from kinemorph.formats.toml.writer import chosen_cut
from kinemorph.formats.write_text import write_text
from kinemorph.formats.xml_documents import DRAKE, Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.body import Body
from kinemorph.model.configuration import neutral
from kinemorph.model.elements import TorsionSpring
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Coupling, Frame, Robot
from kinemorph.model.starts import with_names
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD

TYPES = {"prismatic": "prismatic", "helical": "screw", "spherical": "ball", "universal": "universal", "fixed": "fixed"}
SIMPLE = ("revolute", "prismatic", "helical")
NO_LIMIT = {"lower": -math.inf, "upper": math.inf, "velocity": math.inf, "effort": math.inf}
PER_COORDINATE = (*NO_LIMIT, "damping", "friction", "armature")
CLOSED = 1e-13  # [m and 1]: largest error of a loop that SDF can express, where all coordinates are 0
ASIDE = "Keep the sidecar beside the file, or save the model as TOML."


def write(system: System, path: Path, findings: Findings) -> tuple[Path, ...]:
    """Writes a system as SDF and returns the paths of all files. Data that SDF cannot express give warnings."""
    writer = Writer(replace(system, robot=with_reachable_meshes(system.robot, path, findings)), findings)
    root = writer.document()
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    if not write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n', findings):
        return ()
    beside = sidecar_path(path)
    if writer.needs_sidecar:
        return (path, writer.write_beside(beside, findings))
    if beside.is_file():
        problem = f"the sidecar '{beside.name}' of another model is in the same folder and will be read with this file"
        findings.warn("file", 0, "", problem, "Remove the sidecar, or write the model under another name.")
    return (path,)


class Writer:
    """Writes one system into an XML tree, and collects what belongs into its sidecar."""

    def __init__(self, system: System, findings: Findings) -> None:
        self.losses = Losses(findings)
        self.system = without_chains(system, lambda what, name: self.losses.add(f"SDF has no {what}", name), _is_split)
        self.robot: Robot = self.system.robot
        self.q0 = self.system.initial_state()[0].tolist()
        self.looks: list[tuple[Body, list[str]]] = []
        self.numbers: list[tuple[Joint, list[str]]] = []
        self.joints: list[Joint] = []
        self.frames: list[Frame] = []
        self.couplings: list[Coupling] = []
        self.elements: list[Any] = []
        taken = {*self.robot.body_names, *(frame.name for frame in self.robot.frames)}
        every = (*self.robot.joints, *self.robot.loops)
        self.names = {joint.name: f"{joint.name}{NAMESAKE}" if joint.name in taken else joint.name for joint in every}
        self.springs: dict[str, TorsionSpring] = {}

    # ── the document ──────────────────────────────────────────────────────────────────────────────────────────────

    def document(self) -> Node:
        """The XML tree of the whole file."""
        robot = self.robot
        armed = any(evaluate(x) for joint in robot.joints for x in joint.armature)
        root = etree.Element("sdf", nsmap={"drake": DRAKE[0]} if armed else None, version=VERSION)
        gravity = tuple(evaluate_all(robot.gravity))
        top = root
        if gravity != Robot.gravity:
            top = etree.SubElement(root, "world", name="world")
            etree.SubElement(top, "gravity").text = numbers(gravity)
        self.model = etree.SubElement(top, "model", name=robot.name)
        self._sort_elements()
        for body in robot.bodies:
            self._link(body)
        followed = {coupling.joint: coupling for coupling in robot.couplings}
        for joint in robot.joints:
            self._tree_joint(joint, followed.pop(joint.name, None))
        self.couplings += followed.values()
        for loop in robot.loops:
            self._loop(loop)
        for frame in robot.frames:
            self._frame(frame)
        self._warn()
        return root

    def _sort_elements(self) -> None:
        """Finds the springs that SDF's joints can have; all other elements are in the sidecar."""
        for element in self.system.elements:
            if isinstance(element, TorsionSpring) and self._is_simple(element):
                self.springs[element.joint] = element
            else:
                self.elements.append(element)

    def _is_simple(self, spring: TorsionSpring) -> bool:
        """Whether the reader makes this spring from a <dynamics>."""
        joint = spring.joint
        plain = spring == TorsionSpring(f"{joint} spring", joint, spring.stiffness, spring.rest)
        known = joint in self.robot.joint_names and self.robot.joint(joint).kind in SIMPLE
        return plain and known and bool(evaluate(spring.stiffness))

    def _warn(self) -> None:
        """Reports the warnings."""
        robot, losses = self.robot, self.losses
        for name, written in self.names.items():
            if name != written:
                losses.add(f"joints with the name of a link or frame are called '<name>{NAMESAKE}'", name, ASIDE)
        for name in (*robot.body_names, *robot.joint_names, *(frame.name for frame in robot.frames)):
            if "::" in name:
                losses.add("SDF reserves '::' for names in nested models, but names have it", name, "Rename them.")
        for parameter in robot.parameters:
            losses.add("parameters are written as their nominal values", parameter.name)
        losses.report()

    def _aside(self, what: str, name: str) -> None:
        """Notes that the part `name` needs `what`, which SDF does not have, so that it is in the sidecar only."""
        self.losses.add(f"SDF has no {what}, which the sidecar has", name, ASIDE)

    # ── links ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _link(self, body: Body) -> None:
        """Writes a body as a <link>, at the frame of the joint that moves it, or at its initial pose if it is free."""
        node = etree.SubElement(self.model, "link", name=body.name)
        joint = self.robot.parent_joint[body.name]
        if self._has_no_joint(joint):
            place(node, self._initial_pose(joint))
        else:
            place(node, inverse(evaluate_all(joint.child_placement)), self.names[joint.name])
        mass, com, inertia = float(evaluate(body.mass)), evaluate_all(body.com), evaluate_all(body.inertia)
        bare = not mass and not any(x for row in inertia for x in row)
        if not (bare and self._is_still(body.name)):
            inertial = etree.SubElement(node, "inertial")
            place(inertial, Pose(IDENTITY.R, com))
            etree.SubElement(inertial, "mass").text = number(mass)
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
            moments = etree.SubElement(inertial, "inertia")
            for tag, value in {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}.items():
                etree.SubElement(moments, tag).text = number(value)
            if bare:
                what = "links that move without a mass, which Gazebo refuses"
                self.losses.add(what, body.name, "Give them masses to load the file in Gazebo.")
        lost = write_shapes(node, body, lambda what: self._aside(what, body.name))
        if lost:
            self.looks.append((body, lost))

    def _is_still(self, body: str) -> bool:
        """Whether fixed joints connect a body to the world."""
        while body != WORLD:
            joint = self.robot.parent_joint[body]
            if joint.kind != "fixed":
                return False
            body = joint.parent
        return True

    # ── joints ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _has_no_joint(self, joint: Joint) -> bool:
        """Whether SDF has no joint of this kind, so that the link has none in the file."""
        return joint.kind in SLIDES

    def _is_own(self, joint: Joint) -> bool:
        """Whether a free joint is the one that the reader gives to a link without a parent joint."""
        at_home = evaluate_all(joint.placement) == IDENTITY == evaluate_all(joint.child_placement)
        named = joint.kind == "free" and joint.parent == WORLD and joint.name == f"{joint.child}_root"
        return named and at_home

    def _initial_pose(self, joint: Joint) -> Pose:
        """The initial pose of the body that a free joint moves; of other bodies, that where all coordinates are 0."""
        if joint.kind == "free" and joint.parent == WORLD:
            x, y, z, *turn = self.q0[self.robot.q_slice(joint.name)]
            moved = Pose(quat_to_rotation(turn), (x, y, z))
            return compose(evaluate_all(joint.placement), moved, inverse(evaluate_all(joint.child_placement)))
        return self._rest([joint.child])[0]

    def _rest(self, bodies: list[str]) -> list[Pose]:
        """The poses of bodies where all coordinates are 0."""
        tree = resolve(replace(self.robot, loops=(), couplings=()))
        return forward_kinematics(tree, neutral(self.robot).tolist(), bodies)

    def _tree_joint(self, joint: Joint, coupling: Coupling | None) -> None:
        """Writes a joint of the tree, with its coupling if it has one."""
        if not self._has_no_joint(joint):
            simple = coupling is not None and all(
                self.robot.joint(name).kind in SIMPLE for name in (coupling.joint, coupling.leader)
            )
            node = self._joint(joint, coupling if simple else None)
            place(node, evaluate_all(joint.placement), "__model__" if joint.parent == WORLD else joint.parent)
            self.couplings += [coupling] if coupling is not None and not simple else []
            return
        if coupling is not None:
            self.couplings.append(coupling)
        if not self._is_own(joint):
            self.joints.append(joint)
            kind = "free joints with names of their own" if joint.kind == "free" else f"{joint.kind} joints"
            self._aside(kind, joint.name)
        elif keys := [key for key in PER_COORDINATE if any(x != NO_LIMIT.get(key, 0.0) for x in getattr(joint, key))]:
            self._aside("limits, damping, friction or armature of free joints", joint.name)
            self.numbers.append((joint, keys))

    def _joint(self, joint: Joint, coupling: Coupling | None) -> Node:
        """Writes a joint without its pose."""
        node = etree.SubElement(self.model, "joint", name=self.names[joint.name], type=_type(joint))
        etree.SubElement(node, "parent").text = joint.parent
        etree.SubElement(node, "child").text = joint.child
        if joint.kind == "helical":
            etree.SubElement(node, "screw_thread_pitch").text = number(2.0 * math.pi * float(evaluate(joint.pitch)))
        lost = []
        axes = (joint.axis, joint.axis2)[: max(joint.motion.axes, 1)] if joint.nv else ()
        for k, axis in enumerate(axes):
            lost += self._axis(etree.SubElement(node, "axis2" if k else "axis"), joint, k, axis)
        armature = [float(evaluate(x)) for x in joint.armature]
        if any(armature) and joint.nv == 1:
            etree.SubElement(node, f"{{{DRAKE[0]}}}rotor_inertia").text = number(armature[0])
            what = "armature but Drake's <drake:rotor_inertia>, which Gazebo does not read"
            self.losses.add(f"SDF has no {what}", joint.name)
        elif any(armature):
            self._aside("armature of joints with several axes", joint.name)
            lost.append("armature")
        if lost:
            self.numbers.append((joint, sorted(set(lost))))
        if coupling is not None:
            mimic = etree.SubElement(node.find("axis"), "mimic", joint=self.names[coupling.leader])
            for tag, value in (("multiplier", coupling.multiplier), ("offset", coupling.offset), ("reference", 0.0)):
                etree.SubElement(mimic, tag).text = number(evaluate(value))
        return node

    def _axis(self, node: Node, joint: Joint, k: int, axis: tuple[float, ...]) -> list[str]:
        """Writes axis number k of a joint with its limits, damping and friction; returns the keys that SDF lacks."""
        ball = joint.kind == "spherical"
        if not ball:
            etree.SubElement(node, "xyz").text = numbers(axis)
        limits = {key: getattr(joint, key)[k] for key in NO_LIMIT}
        given = {key: value for key, value in limits.items() if math.isfinite(value) and not ball}
        if given:
            limit = etree.SubElement(node, "limit")
            for key, value in given.items():
                etree.SubElement(limit, key).text = number(value)
        lost = [key for key in ("velocity", "effort") if given.get(key) == 0.0]  # 0 is no limit in SDF
        if ball:
            lost += [key for key in NO_LIMIT if any(map(math.isfinite, getattr(joint, key)))]
        found = {key: [float(evaluate(x)) for x in getattr(joint, key)] for key in ("damping", "friction")}
        mixed = [key for key, values in found.items() if ball and len(set(values)) > 1]
        if lost or mixed:
            self._aside("limits of balls, limits of 0, or damping that differs between axes of balls", joint.name)
        dynamics = {key: values[k] for key, values in found.items() if values[k] and key not in mixed}
        if joint.name in self.springs:
            spring = self.springs[joint.name]
            dynamics["spring_reference"] = float(evaluate(spring.rest))
            dynamics["spring_stiffness"] = float(evaluate(spring.stiffness))
        if dynamics:
            inside = etree.SubElement(node, "dynamics")
            for key, value in dynamics.items():
                etree.SubElement(inside, key).text = number(value)
        return lost + mixed

    # ── loops and frames ──────────────────────────────────────────────────────────────────────────────────────────

    def _loop(self, loop: Joint) -> None:
        """Writes a joint that closes a loop, if the poses of the file close it; else it is in the sidecar."""
        told = "loops that are open in the poses of the file, or whose tree another reader would choose differently"
        rooted = self._has_no_joint(self.robot.parent_joint[loop.child]) and loop.child != self.robot.bodies[0].name
        if _type(loop) and not rooted and not chosen_cut(self.robot) and self._is_closed(loop):
            place(self._joint(loop, None), evaluate_all(loop.child_placement), loop.child)
        else:
            self.joints.append(loop)
            self._aside(told, loop.name)

    def _is_closed(self, loop: Joint) -> bool:
        """Whether a loop is closed where all coordinates are 0."""
        ends = [name for name in (loop.parent, loop.child) if name != WORLD]
        poses = dict(zip(ends, self._rest(ends), strict=True)) | {WORLD: IDENTITY}
        expected = compose(inverse(poses[loop.parent]), poses[loop.child], evaluate_all(loop.child_placement))
        given = evaluate_all(loop.placement)
        off = [np.abs(np.subtract(a, b)).max() for a, b in zip(expected, given, strict=True)]
        return bool(max(off) <= CLOSED)

    def _frame(self, frame: Frame) -> None:
        """Writes a frame on a link; one on the world is in the sidecar."""
        if frame.body == WORLD:
            self.frames.append(frame)
            return
        node = etree.SubElement(self.model, "frame", name=frame.name, attached_to=frame.body)
        place(node, evaluate_all(frame.placement))

    # ── the sidecar ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _settings(self) -> bool:
        """Whether the settings are others than those that follow from the poses of free links."""
        system, q = self.system, np.array(neutral(self.robot))
        for joint in self.robot.joints:
            if self._is_own(joint):
                part = self.robot.q_slice(joint.name)
                q[part] = self.q0[part]
        usual = replace(system.settings, q=())
        return usual != Settings() or q.tolist() != self.q0

    @property
    def needs_sidecar(self) -> bool:
        """Whether there are data that SDF cannot express."""
        parts = [*self.looks, *self.numbers, *self.joints, *self.frames, *self.couplings, *self.elements]
        return bool(parts or self.system.starts or self.system.runs) or self._settings

    def write_beside(self, path: Path, findings: Findings) -> Path:
        """Writes the sidecar, and returns its path."""
        starts = {name: with_names(start, self.robot) for name, start in self.system.starts.items()}
        return write_sidecar(
            replace(self.system, starts=starts),
            self.joints,
            path,
            findings,
            frames=self.frames,
            couplings=self.couplings,
            elements=self.elements,
            looks=self.looks,
            numbers=self.numbers,
            gravity=False,
            settings=self._settings,
        )


def _is_split(joint: Joint) -> bool:
    """Whether a joint is written as several simple ones."""
    return (joint.kind in CHAINS and joint.kind not in TYPES) or (joint.kind in SLIDES and joint.parent != WORLD)


def _type(joint: Joint) -> str:
    """The type of a joint in SDF; empty if SDF has no such joint."""
    if joint.kind == "revolute":
        return "revolute" if any(map(math.isfinite, (*joint.lower, *joint.upper))) else "continuous"
    return TYPES.get(joint.kind, "")
