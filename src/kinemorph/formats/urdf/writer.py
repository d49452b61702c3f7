"""Writes systems as URDF: the tree in the file itself, loops and settings in a sidecar in the same folder.

In URDF the joint frame is the frame of the child link. A body whose joint frame is elsewhere (`child_placement`) is
therefore written in the joint frame: its mass data, shapes and child joints are transformed, and the motion is the
same. Parts that URDF does not have are written as follows:

    universal, cylindrical   two joints with a massless link between them; point_on_line and point_on_plane likewise
    gimbal                   three revolute joints with massless links between them
    spherical, helical       the extended types `spherical` and `screw`, with a warning
    frames                   massless links on fixed joints
    roots                    a root fixed at the world's origin needs no joint; others have a joint from a link `world`
    parameters               their nominal values, with a warning
    friction, kp, kd         <gazebo reference="link">, where all collision shapes of a link have the same
    other shapes, surfaces   in the sidecar, with a warning; so are armature and limits of several coordinates

All numbers are written so that reading them gives the same numbers to the last bit. A missing limit is written as the
largest double.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from lxml import etree

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse
from kinemorph.algebra.inertia import Inertia, transformed
from kinemorph.algebra.roll_pitch_yaw import angles_of_rotation
from kinemorph.algebra.vectors import matvec
from kinemorph.formats.findings import Findings
from kinemorph.formats.gazebo_surfaces import ALL_GROUPS, GazeboNumbers, gazebo_numbers
from kinemorph.formats.joint_chains import free_name, without_chains
from kinemorph.formats.mesh_search import with_reachable_meshes
from kinemorph.formats.urdf.joints import NO_LIMIT, z_to
from kinemorph.formats.write_text import write_text
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import number, numbers
from kinemorph.model.body import Body
from kinemorph.model.elements import Actuator, ForceTorqueSensor, MassCenter
from kinemorph.model.elements.fields import is_part
from kinemorph.model.joint import JOINT_KINDS, Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Frame, Robot
from kinemorph.model.shapes import (
    STEEL,
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    Line,
    MeshFile,
    Shape,
    Sphere,
    Triangle,
)
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD
from kinemorph.words import counted, listed, quoted

TYPES = {"prismatic": "prismatic", "fixed": "fixed", "free": "floating", "planar": "planar", "spherical": "spherical"}
PLACES = ("body", "body_a", "body_b", "frame", "reference")  # fields of elements that name a body or frame
EXTENDED = {"spherical": "'spherical', as MuJoCo and Isaac Sim have it", "helical": "'screw', as Drake has it"}


def write(system: System, path: Path, findings: Findings) -> tuple[Path, ...]:
    """Writes a system as URDF and returns the paths of all files. Data that URDF cannot express give warnings."""
    writer = Writer(replace(system, robot=with_reachable_meshes(system.robot, path, findings)), findings)
    document = writer.document()
    files: tuple[Path, ...] = ()
    if write_text(path, document, findings):
        files = (path,)
    loops = [writer.moved_loop(loop) for loop in system.robot.loops]
    gravity = tuple(evaluate_all(system.robot.gravity)) != (0.0, 0.0, -9.81)
    from kinemorph.formats.toml.sidecar import sidecar_path, write_sidecar

    beside = sidecar_path(path)
    extra = (writer.elsewhere, writer.looks, writer.numbers, system.runs, system.starts)
    if files and (loops or gravity or system.settings != Settings() or any(map(len, extra))):
        written = write_sidecar(
            writer.system,
            loops,
            beside,
            findings,
            frames=writer.sensing,
            elements=writer.elsewhere,
            looks=writer.looks,
            numbers=writer.numbers,
        )
        files += (written,)
    elif files and beside.is_file():
        problem = f"the sidecar '{beside.name}' of another model is in the same folder and will be read with this file"
        findings.warn("file", 0, "", problem, "Remove the sidecar, or write the model under another name.")
    return files


class Writer:
    """Writes one system into an XML tree."""

    def __init__(self, system: System, findings: Findings) -> None:
        self.findings = findings
        self.left_out: dict[str, list[str]] = {}  # names of parts by what URDF does not have
        self.beside: dict[str, list[str]] = {}  # the same, of what the sidecar has
        self.system = without_chains(system, self._lack)
        self.robot: Robot = self.system.robot
        self.elsewhere: list[Any] = []  # elements for the sidecar
        self.sensing: list[Frame] = []  # frames for the sidecar
        self.looks: list[tuple[Body, list[str]]] = []  # bodies whose shapes are in the sidecar, with the keys of these
        self.numbers: list[tuple[Joint, list[str]]] = []  # joints with numbers in the sidecar, with their keys
        self.root = etree.Element("robot", name=self.robot.name)
        self.names = {body.name for body in self.robot.bodies} | {WORLD}  # of links
        self.joints = {joint.name for joint in (*self.robot.joints, *self.robot.loops)}
        # poses of link frames in their body frames
        self.frames: dict[str, Pose] = {WORLD: IDENTITY}
        for joint in self.robot.joints:
            self.frames[joint.child] = IDENTITY if _is_normal(joint) else _nominal(joint.child_placement)
        # whether the world has exactly one joint or frame
        on_world = [*(j.parent for j in self.robot.joints), *(frame.body for frame in self.robot.frames)].count(WORLD)
        self.alone = on_world == 1

    # ── the document ──────────────────────────────────────────────────────────────────────────────────────────────

    def document(self) -> str:
        """The text of the file."""
        robot = self.robot
        for note in self._notes():
            self.root.append(etree.Comment(f" {note} "))
        if not all(self._plain_root(joint) for joint in robot.joints if joint.parent == WORLD):
            etree.SubElement(self.root, "link", name=WORLD)
        for body in robot.bodies:
            self._link(body)
        mimics = {coupling.joint: coupling for coupling in robot.couplings}
        for joint in robot.joints:
            if joint.parent == WORLD and self._plain_root(joint):
                continue
            self._joint(joint, mimics.get(joint.name))
        named = {element.frame for element in self.system.elements if isinstance(element, ForceTorqueSensor)}
        for frame in robot.frames:
            if frame.name in named:  # it has to be a frame, and frames are links in URDF
                self.sensing.append(self._moved_frame(frame))
            else:
                self._frame(frame)
        for element in self.system.elements:
            self._element(element)
        self._report()
        etree.indent(self.root, space="  ")
        text: str = etree.tostring(self.root, encoding="unicode")
        return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'

    def _notes(self) -> list[str]:
        """The texts of the comments at the beginning of the file."""
        notes = [f"{self.robot.name}: {len(self.robot.bodies)} bodies, {self.robot.nv} degrees of freedom"]
        if any(joint.kind == "free" and joint.parent == WORLD for joint in self.robot.joints):
            notes.append("The base is free: a floating joint connects it to the link 'world'.")
            notes.append("Remove this link and this joint if your program makes the base free itself.")
        if self.robot.loops:
            notes.append("The joints that close loops are in the file .sidecar.toml beside this one.")
        return [note.replace("--", "- -") for note in notes]

    def _plain_root(self, joint: Joint) -> bool:
        """Whether a root joint need not be written, because a reader adds it: it is fixed at the world's origin, has
        the default name, and is the only one.
        """
        at_home = _nominal(joint.placement) == IDENTITY and joint.name == f"{joint.child}_root"
        return joint.kind == "fixed" and at_home and self.alone

    def _report(self) -> None:
        """Records one warning for each kind of data that URDF cannot express."""
        if self.robot.parameters:
            some = listed([parameter.name for parameter in self.robot.parameters], 6)
            problem = (
                f"URDF has no parameters: values are written for {counted(len(self.robot.parameters), 'parameter')} "
                f"({some})"
            )
            self.findings.warn("dropped", 0, "", problem, "Save the model as TOML to keep them.")
        moved = [body.name for body in self.robot.bodies if self.frames[body.name] != IDENTITY]
        if moved:
            what = "link frames that differ from joint frames: they are moved to the joint frames"
            self.left_out.setdefault(what, []).extend(moved)
        for found, remedy in (
            (self.left_out, "Save the model as TOML to keep all data."),
            (self.beside, "Keep the sidecar beside the file, or save the model as TOML."),
        ):
            for what, names in found.items():
                self.findings.warn("dropped", 0, quoted(list(dict.fromkeys(names)), 4), f"URDF has no {what}", remedy)

    def _lack(self, what: str, name: str) -> None:
        """Notes that URDF does not have `what`, which the part `name` needs; it is reported later."""
        self.left_out.setdefault(what, []).append(name)

    def _aside(self, what: str, name: str) -> None:
        """Notes that URDF does not have `what`, which the part `name` needs, so that it is in the sidecar only."""
        self.beside.setdefault(what, []).append(name)

    # ── links ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _link(self, body: Body) -> None:
        """Writes a body as a <link>."""
        node = etree.SubElement(self.root, "link", name=body.name)
        shift = inverse(self.frames[body.name])
        mass = Inertia(float(evaluate(body.mass)), evaluate_all(body.com), evaluate_all(body.inertia))
        if shift != IDENTITY:
            mass = transformed(mass, shift)
        if mass.mass or any(entry for row in mass.moment for entry in row):
            inertial = etree.SubElement(node, "inertial")
            _origin(inertial, Pose(IDENTITY.R, mass.com))
            etree.SubElement(inertial, "mass", value=number(mass.mass))
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = mass.moment
            entries = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
            etree.SubElement(inertial, "inertia", **{key: number(value) for key, value in entries.items()})
        lost = []
        for tag, key in (("visual", "shapes"), ("collision", "collisions")):
            said = [self._shape(node, tag, shape, shift, body.name) for shape in getattr(body, key)]
            if not all(said) or (tag == "collision" and not self._surface(body)):
                lost.append(key)
        if lost:
            moved = {key: tuple(_seen(shift, shape) for shape in getattr(body, key)) for key in lost}
            self.looks.append((replace(body, **moved), lost))  # type: ignore[arg-type]

    def _surface(self, body: Body) -> bool:
        """Writes how the collision shapes of a link touch, if all of them touch alike; False if URDF cannot say it."""
        shapes = [shape for shape in body.collisions if not isinstance(shape, (Line, Triangle))]
        touching = {gazebo_numbers(shape.surface, ground=isinstance(shape, HalfSpace)) for shape in shapes}
        one = touching.pop() if len(touching) == 1 else None if touching else GazeboNumbers()
        if one is None or one.mask != ALL_GROUPS:
            self._aside("such surfaces of collision shapes; they are in the sidecar only", body.name)
            return False
        given = {"mu1": one.mu, "mu2": one.mu, "kp": one.kp, "kd": one.kd}
        if any(value is not None for value in given.values()):
            node = etree.SubElement(self.root, "gazebo", reference=body.name)
            for tag, value in given.items():
                if value is not None:
                    etree.SubElement(node, tag).text = number(value)
        return True

    def _shape(self, link: Node, tag: str, shape: Shape, shift: Pose, body: str) -> bool:
        """Writes a shape as a <visual> or <collision>; `shift` is the pose of the body frame in the link frame.

        Returns False if URDF has no such shape.
        """
        solid = _solid(shape)
        if solid is None:
            self._aside(f"shape of type {type(shape).__name__}; it is in the sidecar only", body)
            return False
        node = etree.SubElement(link, tag)
        _origin(node, compose(shift, _nominal(shape.placement)))
        kind, sizes = solid
        etree.SubElement(etree.SubElement(node, "geometry"), kind, **sizes)
        if tag == "visual" and shape.color != STEEL:
            rgba = (*shape.color, 1.0)[:4]
            etree.SubElement(etree.SubElement(node, "material", name=""), "color", rgba=numbers(rgba))
        return True

    # ── joints ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _joint(self, joint: Joint, mimic: Any) -> None:
        """Writes a joint, with its coupling `mimic` if it is not None."""
        placement = compose(inverse(self.frames[joint.parent]), _nominal(joint.placement))
        if _is_normal(joint):
            placement = compose(placement, inverse(_nominal(joint.child_placement)))
        node = self._edge(joint.name, _type(joint), joint.parent, joint.child, placement)
        if joint.kind in EXTENDED:
            self._lack(f"{joint.kind} joint; it is written as type {EXTENDED[joint.kind]}", joint.name)
        if joint.kind in ("revolute", "prismatic", "helical"):
            etree.SubElement(node, "axis", xyz=numbers(joint.axis))
        elif joint.kind == "planar":
            normal = (
                matvec(_nominal(joint.child_placement).R, (0.0, 0.0, 1.0)) if _is_normal(joint) else (0.0, 0.0, 1.0)
            )
            etree.SubElement(node, "axis", xyz=numbers(normal))
        if joint.kind == "helical":
            etree.SubElement(node, "screw_thread_pitch", value=number(2.0 * math.pi * float(evaluate(joint.pitch))))
        self._limits(node, joint, slice(0, JOINT_KINDS[joint.kind].nv))
        if mimic is not None:
            etree.SubElement(
                node,
                "mimic",
                joint=mimic.leader,
                multiplier=number(float(evaluate(mimic.multiplier))),
                offset=number(float(evaluate(mimic.offset))),
            )

    def _edge(self, name: str, kind: str, parent: str, child: str, placement: Pose) -> Node:
        """A new <joint> between two links with its <origin>."""
        node = etree.SubElement(self.root, "joint", name=name, type=kind)
        _origin(node, placement)
        etree.SubElement(node, "parent", link=parent)
        etree.SubElement(node, "child", link=child)
        return node

    def _limits(self, node: Node, joint: Joint, part: slice) -> None:
        """Writes limits, damping and friction of the velocities `part` of a joint.

        Several velocities have no limits in URDF, and damping and friction only if they are equal.
        """
        velocity, effort = joint.velocity[part], joint.effort[part]
        lost: list[str] = []
        if len(velocity) == 1:
            bounds = {"lower": joint.lower[0], "upper": joint.upper[0], "effort": effort[0], "velocity": velocity[0]}
            if node.get("type") != "continuous" or math.isfinite(effort[0]) or math.isfinite(velocity[0]):
                if node.get("type") == "continuous":
                    del bounds["lower"], bounds["upper"]
                etree.SubElement(node, "limit", **{key: number(_bounded(value)) for key, value in bounds.items()})
        elif any(map(math.isfinite, (*joint.lower, *joint.upper, *velocity, *effort))):
            self._aside("limits of a joint with several coordinates; they are in the sidecar only", joint.name)
            lost += ["lower", "upper", "velocity", "effort"]
        losses = {}
        for key in ("damping", "friction"):
            values = [float(evaluate(value)) for value in getattr(joint, key)[part]]
            if len(set(values)) > 1:
                self._aside(f"{key} that differs between coordinates of a joint; it is in the sidecar only", joint.name)
                lost.append(key)
            elif values and values[0]:
                losses[key] = number(values[0])
        if losses:
            etree.SubElement(node, "dynamics", **losses)
        if any(evaluate(value) for value in joint.armature[part]):
            self._aside("armature; it is in the sidecar only, without which the mass matrix differs", joint.name)
            lost.append("armature")
        if lost:
            self.numbers.append((joint, lost))

    def moved_loop(self, loop: Joint) -> Joint:
        """A joint that closes a loop, with its frames relative to the links as they are written."""
        return replace(
            loop,
            placement=compose(inverse(self.frames[loop.parent]), _nominal(loop.placement)),
            child_placement=compose(inverse(self.frames[loop.child]), _nominal(loop.child_placement)),
        )

    # ── frames and elements ───────────────────────────────────────────────────────────────────────────────────────

    def _moved_frame(self, frame: Frame) -> Frame:
        """A frame relative to the link as it is written."""
        return replace(frame, placement=compose(inverse(self.frames[frame.body]), _nominal(frame.placement)))

    def _frame(self, frame: Frame) -> None:
        """Writes a frame as a massless link on a fixed joint."""
        name = free_name(frame.name, self.names)
        etree.SubElement(self.root, "link", name=name)
        placement = self._moved_frame(frame).placement
        self._edge(free_name(f"{frame.name}_joint", self.joints), "fixed", frame.body, name, placement)

    def _element(self, element: Any) -> None:
        """Writes an actuator without other data than its gear as a transmission; other elements go to the sidecar."""
        if element != Actuator(element.name, getattr(element, "joint", ""), getattr(element, "gear", 1.0)):
            self.elsewhere.append(element if isinstance(element, MassCenter) else self._on_frames(element))
            return
        node = etree.SubElement(self.root, "transmission", name=f"{element.name}_transmission")
        etree.SubElement(node, "type").text = "transmission_interface/SimpleTransmission"
        joint = etree.SubElement(node, "joint", name=element.joint)
        etree.SubElement(joint, "hardwareInterface").text = "hardware_interface/EffortJointInterface"
        motor = etree.SubElement(node, "actuator", name=element.name)
        etree.SubElement(motor, "mechanicalReduction").text = number(element.gear)

    def _on_frames(self, part: Any) -> Any:
        """An element, or a part of it, on frames in place of bodies whose links are moved: its points stay in place."""
        if isinstance(part, tuple) and not isinstance(part, Pose):
            return tuple(map(self._on_frames, part))
        if not is_part(type(part)):
            return part
        changes: dict[str, Any] = {}
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name in PLACES and self.frames.get(value, IDENTITY) != IDENTITY:
                changes[field.name] = self._body_frame(value)
            elif (other := self._on_frames(value)) is not value and other != value:
                changes[field.name] = other
        return replace(part, **changes) if changes else part

    def _body_frame(self, body: str) -> str:
        """The name of the frame of a body whose link is moved, for the sidecar."""
        frame = Frame(f"{body}~frame", body, inverse(self.frames[body]))
        if frame not in self.sensing:
            self.sensing.append(frame)
        return frame.name


def _is_normal(joint: Joint) -> bool:
    """Whether the frames of a planar joint are rotated as the reader rotates them for an axis in URDF."""
    R, p = _nominal(joint.child_placement)
    return joint.kind == "planar" and tuple(p) == (0.0, 0.0, 0.0) and z_to((R[0][2], R[1][2], R[2][2])) == R


def _type(joint: Joint) -> str:
    """The URDF type of a joint."""
    if joint.kind == "revolute":
        limited = math.isfinite(joint.lower[0]) or math.isfinite(joint.upper[0])
        return "revolute" if limited else "continuous"
    return "screw" if joint.kind == "helical" else TYPES[joint.kind]


def _seen(shift: Pose, shape: Shape) -> Shape:
    """A shape of a body, seen from a frame in which the body has the pose `shift`."""
    return replace(shape, placement=compose(shift, _nominal(shape.placement)))


def _solid(shape: Shape) -> tuple[str, dict[str, str]] | None:
    """(tag, attributes) of a shape; None if URDF has no such shape."""
    if isinstance(shape, Box):
        return "box", {"size": numbers(evaluate_all(shape.size))}
    if isinstance(shape, Sphere):
        return "sphere", {"radius": number(evaluate(shape.radius))}
    if isinstance(shape, (Cylinder, Capsule)):
        sizes = {"radius": number(evaluate(shape.radius)), "length": number(evaluate(shape.length))}
        return type(shape).__name__.lower(), sizes
    if isinstance(shape, MeshFile):
        scaled = {} if shape.scale == (1.0, 1.0, 1.0) else {"scale": numbers(shape.scale)}
        return "mesh", {"filename": shape.source, **scaled}
    return None


# ── numbers ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _origin(node: Node, pose: Pose) -> None:
    """Writes the <origin> of a node, unless the pose is the identity."""
    angles = angles_of_rotation(pose.R)
    attributes = {}
    if tuple(pose.p) != (0.0, 0.0, 0.0):
        attributes["xyz"] = numbers(pose.p)
    if angles != (0.0, 0.0, 0.0):
        attributes["rpy"] = numbers(angles)
    if attributes:
        etree.SubElement(node, "origin", **attributes)


def _nominal(pose: Pose) -> Pose:
    """A pose with the nominal values of its parameters."""
    nominal: Pose = evaluate_all(pose)
    return nominal


def _bounded(value: float) -> float:
    """A limit as it is written: the largest double instead of infinity."""
    return value if math.isfinite(value) else math.copysign(NO_LIMIT, value)
