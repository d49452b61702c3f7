"""Declares bodies, joints and frames of all models in a blueprint.

Each link of a static model is fixed to the world. A link without a parent joint gets a free joint; its initial pose is
that of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.inertia import Inertia
from kinemorph.algebra.quaternions import rotation_to_quat
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.formats.sdf.couplings import Couplings
from kinemorph.formats.sdf.frames import Frames
from kinemorph.formats.sdf.joints import Connection, Joints
from kinemorph.formats.sdf.links import LinkParts, Links
from kinemorph.formats.sdf.models import NAMESAKE, Model, Models
from kinemorph.formats.sdf.tree import hung
from kinemorph.formats.sources import Options
from kinemorph.formats.xml_documents import Node, line_of
from kinemorph.formats.xml_values import Tally
from kinemorph.model.body import NO_INERTIA, ORIGIN
from kinemorph.model.configuration import neutral
from kinemorph.model.elements import TorsionSpring, WeightSupport
from kinemorph.model.shapes import HalfSpace
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.words import quoted

GRAVITY = (0.0, 0.0, -9.8)  # [m/s^2], SDF's default for a <world> without <gravity>
FLOATING = "no gravity"  # name of the element that carries links with <gravity>false</gravity>
NOTHING = Inertia(0.0, ORIGIN, NO_INERTIA)


class Assembly:
    """Makes a system of all models of a file."""

    def __init__(self, models: Models, options: Options, findings: Findings, frames: Frames, tally: Tally) -> None:
        self.models, self.options, self.findings = models, options, findings
        self.frames, self.tally = frames, tally
        shared = any(model.node.find(tag) is not None for model in models.opened[:1] for tag in ("frame", "joint"))
        self.alone = f"{models.top[0]}::" if len(models.top) == 1 and not shared else ""

    def name(self, key: str) -> str:
        """The name of a part in the robot: its key `model::part`, without the model if there is only one."""
        return (key.removeprefix(self.alone) if self.alone else key).removesuffix(NAMESAKE)

    def system(self, top: Node, has_world: bool) -> System | None:
        """The system of all models in `top`, which is <world> or <sdf>; None if it has errors, which are recorded."""
        frames, links, joints = (
            self.frames,
            Links(self.frames, self.options, self.tally),
            Joints(self.frames, self.tally),
        )
        bodies: dict[str, tuple[LinkParts, int, Model, Node]] = {}
        still: set[str] = set()
        for model in self.models.opened:
            static = model.static and self.options.base != "free"
            for node in model.node.iterchildren("link"):
                key = model.scope.key(node.get("name", ""))
                if model.scope.home == WORLD:
                    self._stray(node, model)
                elif key in frames.entries:
                    bodies[key] = (links.parts(node, model, key), model.file.line_of(node), model, node)
                    still |= {key} if static else set()
            for index, node in enumerate(model.node.iterchildren("joint")):
                joint_key = model.joint_keys.get(index)
                if joint_key is not None and static:
                    what = "a joint of a static model has no effect"
                    remedy = "Remove the joint, or write <static>false</static>."
                    self.tally.add(model.file.values.at(node, model.element), "dropped", what, remedy)
                elif joint_key is not None:
                    joints.read(node, model, joint_key)
        links.tell_lost_meshes()
        followings = Couplings(joints).followings
        if self.findings.failed:
            return None
        loose = [key for key in bodies if key not in still]
        connections, roots = hung(loose, self._grounded(joints.connections, still))
        blueprint = Blueprint(
            self.findings,
            self._title(top, has_world),
            line=line_of(top),
            words={"body": "link"},
            gravity=self._gravity(top) if has_world else None,
        )
        kind = self.options.base or "free"
        moving = set(bodies) - _welded(connections, {WORLD, *still, *(roots if kind == "fixed" else ())})
        self._declare_bodies(blueprint, bodies, moving)
        starts = self._declare_roots(blueprint, bodies, still, roots, kind)
        self._declare_joints(blueprint, connections)
        floating = tuple(self.name(key) for key, (parts, *_) in bodies.items() if parts.floats and key in moving)
        if floating:
            blueprint.element(0, WeightSupport(FLOATING, 1.0, floating))
        for following in followings:
            blueprint.couple(
                following.line,
                self.name(following.joint),
                self.name(following.leader),
                following.multiplier,
                following.offset,
            )
        self._declare_frames(blueprint)
        self._warn_of_assumed(bodies, moving)
        self._warn_of_untouched(bodies, moving)
        import_module("kinemorph.formats.toml.sidecar").extend(
            blueprint, self.models.main.source, self.options, self.findings, roots=tuple(starts)
        )
        system = blueprint.system()
        return None if system is None else _started(system, starts)

    def _stray(self, node: Node, model: Model) -> None:
        """Reports a link that is not in a model."""
        problem = f"the link is in <{model.node.tag}>, expected it in a <model>"
        remedy = "Move the link into a <model>."
        model.file.values.at(node, f"link '{node.get('name', '')}'").error("structure", problem, remedy)

    def _title(self, top: Node, has_world: bool) -> str:
        """The name of the robot: that of the only model, of the world, or of the file."""
        if len(self.models.top) == 1:
            return self.models.top[0]
        return (top.get("name") if has_world else "") or Path(self.models.main.source.name).stem or "models"

    def _gravity(self, world: Node) -> tuple[float, ...]:
        """The gravity of a <world> [m/s^2], shape (3,)."""
        values, physics = self.models.main.values, world.find("physics")
        if self.models.main.version < (1, 6) and physics is not None and world.find("gravity") is None:
            world = physics  # its place up to SDF 1.5
        if world.find("gravity") is None:
            problem = f"<gravity> is missing: SDF's default {GRAVITY} is used"
            values.at(world, f"world '{world.get('name', '')}'").warn("assumed", problem, "Write <gravity>.")
        return values.vector(world, "gravity", "world", GRAVITY)

    # ── declaring ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _grounded(self, connections: list[Connection], still: set[str]) -> list[Connection]:
        """The joints, with the world in place of parents that belong to static models. A child in a static model is an
        error.
        """
        grounded = []
        for connection in connections:
            joint = connection.joint
            if joint.parent in still:
                T = self.frames.between(WORLD, joint.name)
                joint = replace(joint, parent=WORLD, placement=T)
            if joint.child in still:
                entry = self.frames.entries[joint.name]
                problem = "its child belongs to a static model, expected a link that can move"
                entry.error(
                    "structure", problem, "Exchange <parent> and <child>, or make that model <static>false</static>."
                )
                continue
            if joint.parent == WORLD and joint.kind == "fixed" and self.options.base == "free":
                joint = replace(joint, kind="free")
            grounded.append(replace(connection, joint=joint))
        return grounded

    def _declare_bodies(
        self, blueprint: Blueprint, bodies: dict[str, tuple[LinkParts, int, Model, Node]], moving: set[str]
    ) -> None:
        """Declares all links as bodies. A link without mass data that does not move has no mass."""
        for key, (parts, line, _, node) in bodies.items():
            inertia = parts.inertia if key in moving or node.find("inertial") is not None else NOTHING
            blueprint.body(
                line,
                self.name(key),
                inertia.mass,
                com=inertia.com,
                inertia=inertia.moment,
                shapes=parts.shapes,
                collisions=parts.collisions,
            )

    def _declare_roots(
        self,
        blueprint: Blueprint,
        bodies: dict[str, tuple[LinkParts, int, Model, Node]],
        still: set[str],
        roots: list[str],
        kind: str,
    ) -> dict[str, Pose]:
        """Declares joints between the world and links without a parent joint: fixed for links `still` of static models,
        `kind` for `roots`. Returns the initial poses of free joints by name.
        """
        starts = {}
        hanging = set(roots)
        for key, (_, line, _, _) in bodies.items():
            if key in still or key in hanging:
                name, pose = f"{self.name(key)}_root", self.frames.between(WORLD, key)
                free = key in hanging and kind == "free"
                if free:
                    starts[name] = pose
                placement = None if free else pose
                blueprint.joint(line, name, "free" if free else "fixed", WORLD, self.name(key), placement=placement)
        return starts

    def _declare_joints(self, blueprint: Blueprint, connections: list[Connection]) -> None:
        """Declares joints and their springs."""
        for connection in connections:
            joint = connection.joint
            data = {key: getattr(joint, key) for key in PER_COORDINATE} if joint.kind not in ("free", "fixed") else {}
            blueprint.joint(
                connection.line,
                self.name(joint.name),
                joint.kind,
                joint.parent if joint.parent == WORLD else self.name(joint.parent),
                self.name(joint.child),
                placement=joint.placement,
                child_placement=joint.child_placement,
                axis=joint.axis,
                axis2=joint.axis2,
                normalize=True,
                pitch=joint.pitch,
                **data,
            )
            if connection.spring is not None:
                name = self.name(joint.name)
                blueprint.element(connection.line, TorsionSpring(f"{name} spring", name, *connection.spring))

    def _declare_frames(self, blueprint: Blueprint) -> None:
        """Declares a frame for every <frame>."""
        for model in self.models.opened:
            for node in model.node.iterchildren("frame"):
                key = model.scope.key(node.get("name", ""))
                body = self.frames.body(key)
                if body is not None:
                    on = WORLD if body == WORLD else self.name(body)
                    placement = self.frames.between(body, key)
                    blueprint.frame(model.file.line_of(node), self.name(key), on, placement=placement)

    def _warn_of_assumed(self, bodies: dict[str, tuple[LinkParts, int, Model, Node]], moving: set[str]) -> None:
        """Warns about links that move and have SDF's default of mass or inertia."""
        for key, (parts, _, model, node) in bodies.items():
            if parts.assumed and key in moving:
                what = "mass or inertia is missing: SDF's defaults of 1 kg and 1 kg m^2 are used"
                remedy = "Write <inertial> with mass and inertia."
                element = f"link '{self.name(key)}'"
                self.tally.add(model.file.values.at(node, element), "assumed", what, remedy)

    def _warn_of_untouched(self, bodies: dict[str, tuple[LinkParts, int, Model, Node]], moving: set[str]) -> None:
        """Warns that models do not touch each other: only planes are ground."""
        solid = {
            key: key.partition("::")[0]
            for key, (parts, *_) in bodies.items()
            if any(not isinstance(shape, HalfSpace) for shape in parts.collisions)
        }
        names = list(dict.fromkeys(solid.values()))
        if len(names) > 1 and any(key in moving for key in solid):
            problem = f"contacts between models have no effect: {quoted(names, 4)}"
            self.findings.warn("dropped", 0, "", problem, "Add elements.PairContact for bodies that touch each other.")


PER_COORDINATE = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")


def _welded(connections: Sequence[Connection], links: set[str]) -> set[str]:
    """The given links, and all links that fixed joints connect to them."""
    below: dict[str, list[str]] = {}
    for connection in connections:
        if connection.joint.kind == "fixed":
            below.setdefault(connection.joint.parent, []).append(connection.joint.child)
    held, ahead = set(links), list(links)
    while ahead:
        for link in below.get(ahead.pop(), ()):
            if link not in held:
                held.add(link)
                ahead.append(link)
    return held


def _started(system: System, starts: dict[str, Pose]) -> System:
    """The system with the initial poses of free joints in its settings.

    If a sidecar (a TOML file with further data beside the model file) gives the initial state, nothing is changed.
    """
    q = neutral(system.robot)
    for name, pose in starts.items():
        if name not in system.robot.joint_names:
            continue  # the sidecar has another joint for this link
        q[system.robot.q_slice(name)] = (*pose.p, *rotation_to_quat(pose.R))
    if system.settings.q or np.array_equal(q, neutral(system.robot)):
        return system
    return replace(system, settings=replace(system.settings, q=tuple(q.tolist())))
