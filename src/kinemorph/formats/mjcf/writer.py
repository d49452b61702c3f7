"""Writes a System as MJCF: nested bodies with MuJoCo's joints, loops and couplings as equalities.

    T_parent_body = b_1 M_1(q_1) b_2 M_2(q_2) ... e,      M_k(q) = M_k(q0) M_k(q - q0)

Here M_k is the motion of joint k, q0 the initial configuration, and b_k and e are constant poses. A MuJoCo body may
have several joints, all given in the body's frame. Therefore a massless body between two joints is not written: its
joint becomes a further joint of the next body, and b and e become part of the pose of that body and the axes of its
joints.
Kinds of joints that MuJoCo does not have are written as several hinges and slides. The initial configuration is the
reference (`ref`) of hinges and slides.

MuJoCo requires more than 1e-15 kg and kg m^2 for bodies that move, and its equalities are soft. Where this changes the
model, a warning says what is written. Parameters are written as their nominal values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree

from kinemorph.algebra.groups import IDENTITY, Pose, compose, inverse, quat_to_rotation, translation, turn
from kinemorph.algebra.rotations import rotation
from kinemorph.formats.findings import Findings
from kinemorph.formats.mjcf.contact_parts import ContactParts
from kinemorph.formats.mjcf.element_parts import Target, joint_spring, write_elements
from kinemorph.formats.mjcf.file_data import GEOMS_OF_WORLD, kept, write_contacts, write_options
from kinemorph.formats.mjcf.keyframes import write_keyframe
from kinemorph.formats.mjcf.parts import write_equalities, write_inertial, write_looks
from kinemorph.formats.mjcf.softness import stop_attributes
from kinemorph.formats.mjcf.text import FAR, place
from kinemorph.formats.write_text import write_text
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_writing import Losses, number, numbers
from kinemorph.model.body import Body
from kinemorph.model.elements import TorsionSpring
from kinemorph.model.elements.contact.contacts_from_shapes import fixed_pose
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.starts import Start
from kinemorph.model.system import Settings, System
from kinemorph.model.topology import WORLD

MOST = 6  # largest number of degrees of freedom of a MuJoCo body
DOF = {"ball": 3, "free": 6}
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Step(NamedTuple):
    """One MuJoCo joint (hinge, slide, ball or free), the joint of the robot that it is a part of, and the indices v of
    the velocities of that joint that it has. q0 is its reference.
    """

    name: str
    kind: str
    axis: tuple[float, ...]
    q0: float
    joint: Joint
    v: tuple[int, ...]

    @property
    def start(self) -> Pose:
        """The displacement of a hinge or slide at its reference q0, as a pose; the identity for other joints."""
        if self.kind == "hinge" and self.q0:
            return turn(rotation(self.axis, self.q0))
        if self.kind == "slide" and self.q0:
            return translation(tuple(self.q0 * x for x in self.axis))
        return IDENTITY


def write(system: System, path: Path, findings: Findings) -> tuple[Path, ...]:
    """Writes a system as MJCF and returns the paths of the files written.

    If a file cannot be written, a finding says why.
    """
    text = mjcf_text(system, path, findings)
    return (path,) if write_text(path, text, findings) else ()


def mjcf_text(system: System, path: Path, findings: Findings) -> str:
    """The MJCF text of a system; `path` is where it will be written, because paths of meshes are relative to it."""
    root = _Writing(system, path, findings).document()
    etree.indent(root)
    return str(etree.tostring(root, encoding="unicode")) + "\n"


class _Writing:
    """Writes one system into an XML tree."""

    def __init__(self, system: System, path: Path, findings: Findings) -> None:
        self.system, self.robot, self.path = system, system.robot, path
        self.losses = Losses(findings)
        self.q0, self.v0 = (x.tolist() for x in system.initial_state())
        self.root = etree.Element("mujoco", model=self.robot.name)
        etree.SubElement(
            self.root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false", balanceinertia="false"
        )
        write_options(system, etree.SubElement(self.root, "option", gravity=numbers(evaluate_all(self.robot.gravity))))
        self.asset = etree.SubElement(self.root, "asset")
        self.nodes: dict[str, Node] = {WORLD: etree.SubElement(self.root, "worldbody")}
        self.equality = etree.SubElement(self.root, "equality")

    def document(self) -> Node:
        """The XML tree of the whole file."""
        robot = self.robot
        chains = self._chains()
        for joint in robot.order:
            if joint.child == GEOMS_OF_WORLD:
                self.nodes[joint.child] = self.nodes[WORLD]
            elif joint.child in chains:
                self._body(robot.body(joint.child), chains[joint.child])
        for frame in robot.frames:
            place(etree.SubElement(self.nodes[frame.body], "site", name=frame.name), evaluate_all(frame.placement))
        contacts = ContactParts(self.system, self._reference(), self.losses)
        write_looks(self.system, self.nodes, self.asset, self.path, contacts, self.losses)
        contacts.finish(self.root.find("option"))
        write_equalities(self.system, self.nodes, self.equality, self.q0, self.losses)
        write_elements(Target(self.system, self.root, self.nodes), self.losses)
        write_contacts(self.system, self.root, self.nodes, self.losses)
        self._start()
        self._left_out()
        for node in (self.asset, self.equality):
            if not len(node):
                self.root.remove(node)
        return self.root

    def _reference(self) -> list[float]:
        """The configuration qpos0 of the file, in our order: the initial one, but balls are not turned."""
        q = list(self.q0)
        for joint in self.robot.joints:
            first = self.robot.q_slice(joint.name).start
            for k in joint.table.quaternions if joint.kind != "free" else ():
                q[first + k : first + k + 4] = [1.0, 0.0, 0.0, 0.0]
        return q

    # ── chains of joints ──────────────────────────────────────────────────────────────────────────────────────────

    def _chains(self) -> dict[str, list[Joint]]:
        """The joints of every body that is written, by its name; they include joints of massless bodies between."""
        robot = self.robot
        passing = set() if robot.is_kinematic else _passing_on(robot)  # without masses all links count as bodies
        chains: dict[str, list[Joint]] = {}
        used: set[str] = set()
        for joint in reversed(robot.order):
            if joint.child in used:
                continue
            chain = [joint]
            while chain[0].parent in passing and self._stackable([robot.parent_joint[chain[0].parent], *chain]):
                used.add(chain[0].parent)
                chain.insert(0, robot.parent_joint[chain[0].parent])
            chains[joint.child] = chain
        return chains

    def _stackable(self, joints: Sequence[Joint]) -> bool:
        """Whether one MuJoCo body can have these joints."""
        kinds = [step.kind for joint in joints for step in self._steps(joint)]
        if sum(DOF.get(kind, 1) for kind in kinds) > MOST or ("free" in kinds and len(kinds) > 1):
            return False
        return "ball" not in kinds or not {"hinge", "ball"} & set(kinds[kinds.index("ball") + 1 :])

    def _steps(self, joint: Joint) -> list[Step]:
        """The MuJoCo joints that make up a joint, from parent to child."""
        name, q0 = joint.name, self.q0[self.robot.q_slice(joint.name)]

        def step(suffix: str, kind: str, axis: tuple[float, ...], start: float, *v: int) -> Step:
            return Step(f"{name}.{suffix}" if suffix else name, kind, axis, start, joint, v)

        one, two, *_ = joint.axes
        match joint.kind:
            case "revolute":
                return [step("", "hinge", one, q0[0], 0)]
            case "prismatic":
                return [step("", "slide", one, q0[0], 0)]
            case "helical":
                return [step("", "hinge", one, q0[0], 0), step("travel", "slide", one, evaluate(joint.pitch) * q0[0])]
            case "cylindrical":
                return [step("angle", "hinge", one, q0[0], 0), step("travel", "slide", one, q0[1], 1)]
            case "universal":
                return [step("first", "hinge", one, q0[0], 0), step("second", "hinge", two, q0[1], 1)]
            case "gimbal":
                turns = zip(joint.table.v_names, joint.axes[4:], strict=True)
                return [step(suffix, "hinge", axis, q0[k], k) for k, (suffix, axis) in enumerate(turns)]
            case "spherical":
                return [step("", "ball", one, 0.0, 0, 1, 2)]
            case "point_on_line":
                return [step("travel", "slide", one, q0[0], 0), step("", "ball", one, 0.0, 1, 2, 3)]
            case "point_on_plane":
                slides = [step("xy"[k], "slide", AXES[k], q0[k], k) for k in range(2)]
                return [*slides, step("", "ball", one, 0.0, 2, 3, 4)]
            case "planar":
                slides = [step("xy"[k], "slide", AXES[k], q0[k], k) for k in range(2)]
                return [*slides, step("theta", "hinge", AXES[2], q0[2], 2)]
            case "free" if joint.parent == WORLD and joint.placement == IDENTITY and len(set(joint.armature)) == 1:
                return [step("", "free", one, 0.0, *range(6))]
            case "free":
                slides = [step("xyz"[k], "slide", AXES[k], q0[k], k) for k in range(3)]
                return [*slides, step("", "ball", one, 0.0, 3, 4, 5)]
        return []

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _body(self, body: Body, chain: Sequence[Joint]) -> None:
        """Writes a body with the joints `chain`, which connect it to its parent.

        If the frame of a ball joint has other axes than the body, a second body inside the first has the body's axes.
        """
        steps: list[Step] = []
        between: list[Pose] = []  # constant poses before each step, at the initial configuration
        rest = IDENTITY
        for joint in chain:
            rest = compose(rest, evaluate_all(joint.placement))
            for step in self._steps(joint):
                steps.append(step)
                between.append(compose(rest, step.start))
                rest = IDENTITY
            rest = compose(rest, inverse(evaluate_all(joint.child_placement)))
        after = [rest]  # from the frame after each step to the body
        for pose in reversed(between[1:]):
            after.insert(0, compose(pose, after[0]))
        node = etree.SubElement(self.nodes[chain[0].parent], "body", name=body.name)
        inner = IDENTITY
        for step, pose in zip(steps, after, strict=False):
            if (step.kind == "ball" and pose.R != IDENTITY.R) or (step.kind == "free" and pose != IDENTITY):
                inner = pose  # the outer body has the frame of the ball
        after = [compose(pose, inverse(inner)) for pose in after] if inner is not IDENTITY else after
        at = compose(between[0], after[0]) if steps else rest
        if steps and steps[0].kind == "free":
            x, y, z, *quaternion = self.q0[self.robot.q_slice(steps[0].joint.name)]
            at = Pose(quat_to_rotation(quaternion), (x, y, z))
        place(node, at)
        for step, pose in zip(steps, after, strict=False):
            self._joint(node, step, inverse(pose))
        if inner is not IDENTITY:
            node.set("name", f"{body.name}~moving")
            node = etree.SubElement(node, "body", name=body.name)
            place(node, inner)
        fixed = fixed_pose(self.robot, body.name) is not None
        write_inertial(node, body, bool(steps), self.losses, fixed=fixed)
        self.nodes[body.name] = node

    def _joint(self, body: Node, step: Step, frame: Pose) -> None:
        """Writes one MuJoCo joint; `frame` is the pose of its frame in the body's frame."""
        joint, node = step.joint, etree.SubElement(body, "joint", name=step.name, type=step.kind)
        if step.kind in ("hinge", "slide"):
            axis = np.array(frame.R) @ np.array(step.axis)
            node.set("axis", numbers(axis.tolist()))
            if step.q0:
                node.set("ref", number(step.q0))
        if step.kind in ("hinge", "ball") and any(frame.p):
            node.set("pos", numbers(frame.p))
        if len(step.v) == 1:
            self._limits(node, joint, step.v[0])
        else:
            for key in ("velocity", "effort"):
                if any(math.isfinite(getattr(joint, key)[k]) for k in step.v):
                    self.losses.add(f"{key} limits of {step.kind} joints are left out", joint.name)
        for key, word in (("damping", "damping"), ("friction", "frictionloss"), ("armature", "armature")):
            values = [float(evaluate(getattr(joint, key)[k])) for k in step.v]
            if len(set(values)) > 1:
                self.losses.add(f"{key} that differs between axes is written as its mean", joint.name)
            if any(values):
                node.set(word, number(values[0] if len(set(values)) == 1 else sum(values) / len(values)))
        self._spring(node, step)
        node.attrib.update(kept(self.system, joint) or {})
        body_axes = {"free": (0, 1, 2), "planar": (0, 1)}.get(joint.kind, ())
        if any(k in body_axes and evaluate(joint.armature[k]) for k in step.v):
            self.losses.add("armature along the body's axes acts along the world's axes in MuJoCo", joint.name)

    def _spring(self, node: Node, step: Step) -> None:
        """Writes the first spring of a joint, if MuJoCo's joints can have it."""
        spring = joint_spring(self.system, step.name, step.joint, self.q0[self.robot.q_slice(step.joint.name)])
        if isinstance(spring, TorsionSpring):
            node.set("stiffness", numbers(evaluate_all((spring.stiffness, *spring.curve))))
            node.set("springref", number(float(evaluate(spring.rest))))
            if spring.damping_curve:
                linear = float(evaluate(step.joint.damping[step.v[0]]))
                node.set("damping", numbers((linear, *evaluate_all(spring.damping_curve))))
        elif spring is not None and step.kind in ("ball", "free"):
            node.set("stiffness", number(float(evaluate(spring.turning_stiffness[0]))))

    def _limits(self, node: Node, joint: Joint, k: int) -> None:
        """Writes the limits of velocity number k of a joint."""
        lower, upper = joint.lower[k], joint.upper[k]
        if lower >= upper:
            self.losses.add("limits without a range between them, which MuJoCo lacks, are left out", joint.name)
        elif math.isfinite(lower) or math.isfinite(upper):
            node.set("range", numbers((max(lower, -FAR), min(upper, FAR))))
            node.attrib.update(stop_attributes(joint.stop) if kept(self.system, joint) is None else {})
        if math.isfinite(joint.effort[k]):
            node.set("actuatorfrcrange", numbers((-joint.effort[k], joint.effort[k])))
        if math.isfinite(joint.velocity[k]):
            self.losses.add("velocity limits are left out", joint.name)

    # ── the initial state, and data that are left out ─────────────────────────────────────────────────────────────

    def _start(self) -> None:
        """Writes all starts as keyframes, and the initial state as well if `ref` cannot express it: if balls are
        rotated, or velocities not zero.
        """
        robot, system = self.robot, self.system
        turned = any(self.v0)
        for joint in robot.joints:
            part = self.q0[robot.q_slice(joint.name)]
            turned = turned or (bool(joint.table.quaternions) and part[-4:] != [1.0, 0.0, 0.0, 0.0])
        starts = {name: system.start(name) for name in system.starts}
        if turned:
            first = Start(tuple(self.q0), tuple(self.v0))
            starts = {"start": first, **starts} if "start" not in starts else {**starts, "start~2": first}
        steps = {step.name: joint for joint in robot.joints for step in self._steps(joint)}
        order = {steps[node.get("name", "")].name: None for node in self.nodes[WORLD].iter("joint")}
        for name, start in starts.items():
            write_keyframe(self.root, name, start, system, [robot.joint(one) for one in order], self.losses)

    def _in_order(self) -> bool:
        """Whether MuJoCo has coordinates in the order of the robot; MuJoCo's order is depth first."""
        theirs = [node.get("name") for node in self.nodes[WORLD].iter("joint")]
        return theirs == [step.name for joint in self.robot.joints for step in self._steps(joint)]

    def _left_out(self) -> None:
        """Records all remaining data that MJCF cannot express, and reports the warnings."""
        robot, losses = self.robot, self.losses
        if not self._in_order():
            what = "coordinates have another order in MuJoCo, depth first"
            losses.add(what, robot.name, "Address coordinates by their names.")
        for joint in robot.joints:
            steps = self._steps(joint)
            if joint.kind == "planar" or (joint.kind == "free" and len(steps) > 1):
                what = (
                    f"{joint.kind} joints are written as several simple joints, with velocities along the parent's axes"
                )
                losses.add(what, joint.name)
        usual = Settings()
        times = ("time", "sample", "max_step")
        if any(getattr(self.system.settings, name) != getattr(usual, name) for name in times):
            losses.add("the settings time, sample and max_step are left out", robot.name)
        if self.system.settings.loops != usual.loops:
            losses.add("the setting loops is left out", robot.name)
        if robot.is_kinematic and robot.nv:
            what = "nothing that moves has a mass, which MuJoCo needs: only the kinematics are those of the model"
            losses.add(what, robot.name, "Give its bodies masses.")
        for parameter in robot.parameters:
            losses.add("parameters are written as their nominal values", parameter.name)
        losses.report()


def _passing_on(robot: Robot) -> set[str]:
    """The names of bodies without mass, shapes, frames and loops that have exactly one child: they need not be
    written.
    """
    carried = Counter(joint.parent for joint in robot.joints)
    named = {frame.body for frame in robot.frames}
    named |= {end for loop in robot.loops for end in (loop.parent, loop.child)}
    return {
        body.name
        for body in robot.bodies
        if carried[body.name] == 1
        and body.name not in named
        and not (body.shapes or body.collisions)
        and not evaluate(body.mass)
        and not any(x for row in evaluate_all(body.inertia) for x in row)
    }
