"""Makes a System of MuJoCo's compiled model: bodies, joints, frames, and warnings about data that are left out.

`mjcf.reader` describes how coordinates and joints correspond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose, compose, quat_to_rotation, translation, turn
from kinemorph.algebra.rotations import rotation
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings, reserved_name
from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.formats.mjcf.drives import add_drives, reflected
from kinemorph.formats.mjcf.equalities import add_equalities
from kinemorph.formats.mjcf.file_data import GEOMS_OF_WORLD, file_data
from kinemorph.formats.mjcf.files import Bundle
from kinemorph.formats.mjcf.keyframes import with_keyframes
from kinemorph.formats.mjcf.passive import add_fluid, add_springs, add_tendons, add_turning_springs, add_weight_supports
from kinemorph.formats.mjcf.sensors import add_sensors
from kinemorph.formats.mjcf.shapes import Geometry
from kinemorph.formats.mjcf.softness import softened, stop_of
from kinemorph.formats.mjcf.text import FAR
from kinemorph.mechanics.elements.ensemble import RESERVED
from kinemorph.model.elements import Constraint
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.words import quoted

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
ADD = "Add them in Python if you need them."
KINDS = {BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute"}


def system_of(model: Compiled, bundle: Bundle, findings: Findings, *, soft: bool = False) -> System | None:
    """The system of a compiled model; None if it has errors, which are recorded. `soft`: equalities are springs."""
    return _Reading(model, bundle, findings, soft).system()


class _Reading:
    """Declares the parts of one compiled model in a Blueprint. Lists are indexed by MuJoCo's ids of parts."""

    def __init__(self, model: Compiled, bundle: Bundle, findings: Findings, soft: bool) -> None:
        self.model, self.bundle, self.findings, self.soft = model, bundle, findings, soft
        self.blueprint = Blueprint(findings, model.name.strip() or "robot", gravity=tuple(model.gravity.tolist()))
        self.taken: set[str] = {WORLD}
        self.bodies = [WORLD]
        self.bodies += [self.unique(name or f"body{i + 1}") for i, name in enumerate(model.names["body"][1:])]
        self.joints: list[str] = []
        self.drives: dict[int, str] = {}  # names of elements by the number of the actuator that they are
        self.joint_frames: dict[int, tuple[str, str, Pose, Pose]] = {}  # parent, child, and the joint's frame in each
        self.depth = {WORLD: 0}
        self.joint_above: dict[str, str] = {}  # the joint that carries each body, by the name of the body
        self.armature = model.dof_armature + reflected(model, "armature")
        self.damping = model.dof_damping + reflected(model, "damping")
        self.elements: set[str] = {*RESERVED}
        self.actuators = [self.new_element(name or f"actuator{k}") for k, name in enumerate(model.names["actuator"])]
        self.tendons = [self.new_element(name or f"tendon{k}") for k, name in enumerate(model.names["tendon"])]
        self.sites = [self.unique(name or f"site{k}") for k, name in enumerate(model.names["site"])]
        self.geometry = Geometry(model, bundle)
        self.world = WORLD  # the body that gets the geoms of the world, if there are any
        self.equalities: dict[int, str] = {}  # names of loops, joints that follow and constraints, by equality
        self.violated = False  # whether qpos0 violates a coupling
        self.left_out: list[str] = []  # what a file that is written cannot have again

    def system(self) -> System | None:
        """Declares all parts, and returns the system that the blueprint makes of them."""
        model = self.model
        self._name_joints()
        looks = self.geometry.by_body()
        if any(looks.get(0, ((), ()))):
            self.world = self.unique(GEOMS_OF_WORLD)
            self._body(self.world, 0, looks[0])
            self._joint(self.new_joint(f"{self.world}_root"), "fixed", WORLD, self.world, 0)
        for i in range(1, len(self.bodies)):
            self._with_joints(i, looks.get(i, ((), ())))
        self._sites()
        add_equalities(model, self)
        add_tendons(model, self)
        add_drives(model, self)
        add_springs(model, self)
        add_turning_springs(model, self)
        add_weight_supports(model, self)
        add_fluid(model, self)
        add_sensors(model, self)
        self._left_out()
        self._start()
        system = self.blueprint.system()
        if system is None:
            return None
        system = with_keyframes(system, model, self)
        return replace(system, file_data=file_data(system, model, self.bundle.text, self))

    # ── names and lines ───────────────────────────────────────────────────────────────────────────────────────────

    def unique(self, name: str) -> str:
        """The name, with `~2`, `~3` ... added if a body or frame has it already."""
        found, count = name, 1
        while found in self.taken:
            count += 1
            found = f"{name}~{count}"
        self.taken.add(found)
        return found

    def new_element(self, name: str) -> str:
        """The name, with `~2`, `~3` ... added if an element has it already, or, with a warning, if signals have it."""
        found, count = name, 1
        while found in self.elements:
            count += 1
            found = f"{name}~{count}"
        self.elements.add(found)
        if name in RESERVED:
            self.findings.report("warning", reserved_name(name, found))
        return found

    def line(self, part: str, name: str) -> int:
        """The line of the main file on which the part of a kind and name is; 0 if it has no name."""
        return self.bundle.lines.get((part, name), 0)

    def drop(self, what: str, names: Sequence[str], remedy: str = ADD, *, kept: bool = False) -> None:
        """Warns that the parts `names` of the kind `what` are left out, if there are any; "" is an unnamed part.

        `kept`: they are in `System.file_data`, so that a file which is written has them again.
        """
        if len(names):
            named = [name for name in names if name]
            problem = f"{what}: {len(names)} left out{f' ({quoted(named, 4)})' if named else ''}"
            if not kept:
                self.left_out.append(what)
            self.findings.warn("dropped", 0, "", problem, remedy)

    def _name_joints(self) -> None:
        """Gives every joint a unique name; joints without a name are called after their body."""
        taken: set[str] = set()
        for i, body in enumerate(self.bodies):
            first, count = int(self.model.body_jntadr[i]), int(self.model.body_jntnum[i])
            for j in range(first, first + count) if count else ():
                base = self.model.names["jnt"][j] or (f"{body}_joint" if count == 1 else f"{body}_joint{j - first + 1}")
                name, number = base, 1
                while name in taken:
                    number += 1
                    name = f"{base}~{number}"
                taken.add(name)
                self.joints.append(name)
        self.joint_names = taken

    def new_joint(self, name: str) -> str:
        """The name, with `~2`, `~3` ... added if a joint has it already."""
        found, number = name, 1
        while found in self.joint_names:
            number += 1
            found = f"{name}~{number}"
        self.joint_names.add(found)
        return found

    # ── bodies and joints ─────────────────────────────────────────────────────────────────────────────────────────

    def _body(self, name: str, i: int, looks: tuple[Any, Any]) -> None:
        """Declares body number i; `looks` are its shapes and collision shapes."""
        model = self.model
        shapes, collisions = looks
        line = self.line("body", model.names["body"][i])
        if i == 0:
            self.blueprint.body(line, name, shapes=shapes, collisions=collisions)
            return
        R: Array = np.array(quat_to_rotation(model.body_iquat[i].tolist()))
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused later
            inertia = R @ np.diag(model.body_inertia[i]) @ R.T
        self.blueprint.body(
            line,
            name,
            float(model.body_mass[i]),
            com=tuple(model.body_ipos[i].tolist()),
            inertia=tuple(map(tuple, (0.5 * (inertia + inertia.T)).tolist())),
            shapes=shapes,
            collisions=collisions,
        )

    def _joint(self, name: str, kind: str, parent: str, child: str, line: int, **data: Any) -> None:
        """Declares a joint of the tree, and stores the depth of its child."""
        self.depth[child] = self.depth[parent] + 1
        self.joint_above[child] = name
        self.blueprint.joint(line, name, kind, parent, child, **data)

    def _with_joints(self, i: int, looks: tuple[Any, Any]) -> None:
        """Declares body number i and the joints that move it; several joints become a chain with massless bodies."""
        model = self.model
        name, parent = self.bodies[i], self.bodies[int(model.body_parentid[i])]
        first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
        before = Pose(quat_to_rotation(model.body_quat[i].tolist()), tuple(model.body_pos[i].tolist()))
        self._body(name, i, looks)
        if count == 0:
            joint = self.new_joint(f"{name}_root" if parent == WORLD else f"{name}_weld")
            self._joint(joint, "fixed", parent, name, self.line("body", name), placement=before)
            return
        if int(model.jnt_type[first]) == FREE:
            self._free(first, name, parent)
            return
        for j in range(first, first + count):
            child = name if j == first + count - 1 else self._between(name, self.joints[j])
            self._single(j, parent, child, before)
            parent, before = child, IDENTITY

    def _between(self, body: str, joint: str) -> str:
        """Declares a massless body between two joints of one body, and returns its name."""
        name = self.unique(f"{body}~{joint}")
        self.blueprint.body(self.line("body", body), name)
        return name

    def _single(self, j: int, parent: str, child: str, before: Pose) -> None:
        """Declares joint number j, a hinge, slide or ball. `before` is the pose of the child at qpos0.

        The reference coordinate `ref` is part of the placement, so that q equals qpos.
        """
        model = self.model
        kind = int(model.jnt_type[j])
        q, v, nv = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j]), 3 if kind == BALL else 1
        x, y, z = model.jnt_axis[j].tolist()
        anchor = IDENTITY if kind == SLIDE else translation(tuple(model.jnt_pos[j].tolist()))
        reference, data = IDENTITY, dict[str, Any]()
        if kind != BALL:
            q0 = float(model.qpos0[q])
            if q0:
                back = translation((-q0 * x, -q0 * y, -q0 * z))
                reference = back if kind == SLIDE else turn(rotation((x, y, z), -q0))
            data["axis"], data["normalize"] = (x, y, z), True
            if model.jnt_limited[j]:
                data["lower"], data["upper"] = (
                    x if abs(x) < FAR else math.copysign(math.inf, x) for x in model.jnt_range[j].tolist()
                )
                soft = (model.jnt_solref[j].tolist(), model.jnt_solimp[j].tolist(), float(model.jnt_margin[j]))
                data["stop"] = stop_of(*soft, float(model.dof_invweight0[v]), float(model.quickest))
            if model.jnt_actfrclimited[j]:
                effort = float(np.abs(model.jnt_actfrcrange[j]).max())
                data["effort"] = effort if effort > 0.0 else math.inf
        placement = compose(before, anchor, reference)
        self.joint_frames[j] = (parent, child, placement, anchor)
        self._joint(
            self.joints[j],
            KINDS[kind],
            parent,
            child,
            self.line("joint", self.joints[j]),
            placement=placement,
            child_placement=anchor,
            **self._losses(v, nv),
            **data,
        )

    def _losses(self, v: int, nv: int) -> dict[str, list[float]]:
        """Armature, damping and friction of the `nv` velocities from index v."""
        model, part = self.model, slice(v, v + nv)
        return {
            "armature": self.armature[part].tolist(),
            "damping": self.damping[part].tolist(),
            "friction": model.dof_frictionloss[part].tolist(),
        }

    def _free(self, j: int, body: str, parent: str) -> None:
        """Declares a free joint; if it has armature, as three slides along the world's axes and a ball."""
        v, name = int(self.model.jnt_dofadr[j]), self.joints[j]
        line, losses = self.line("joint", name), self._losses(v, 6)
        self.joint_frames[j] = (WORLD, body, IDENTITY, IDENTITY)
        if not any(losses["armature"]):
            self._joint(name, "free", parent, body, line, **losses)
            return
        for k, axis in enumerate(np.eye(3).tolist()):
            child = self._between(body, f"{name}.{'xyz'[k]}")
            step = {key: values[k] for key, values in losses.items()}
            self._joint(self.new_joint(f"{name}.{'xyz'[k]}"), "prismatic", parent, child, line, axis=axis, **step)
            parent = child
        rest = {key: values[3:] for key, values in losses.items()}
        self._joint(name, "spherical", parent, body, line, **rest)

    def _sites(self) -> None:
        """Declares a frame for every site."""
        model = self.model
        for k, name in enumerate(model.names["site"]):
            placement = Pose(quat_to_rotation(model.site_quat[k].tolist()), tuple(model.site_pos[k].tolist()))
            body = self.bodies[int(model.site_bodyid[k])]
            self.blueprint.frame(self.line("site", name), self.sites[k], body, placement=placement)

    def _start(self) -> None:
        """Makes qpos0 the initial configuration, unless it is neutral and a run may choose another. Sets the ground."""
        model = self.model
        if self.geometry.with_contact and not self.geometry.touching.grounds and FREE in model.jnt_type:
            self.blueprint.settings = replace(self.blueprint.settings, ground=False)
        neutral = np.zeros(len(model.qpos0))
        for kind, q in zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), strict=True):
            if kind in (FREE, BALL):
                neutral[q + (3 if kind == FREE else 0)] = 1.0
        held = self.violated or any(isinstance(element, Constraint) for element in self.blueprint.elements)
        if np.all(np.isfinite(model.qpos0)) and (np.any(model.qpos0 != neutral) or held):
            self.blueprint.settings = replace(self.blueprint.settings, q=tuple(model.qpos0.tolist()))

    # ── data that are left out ────────────────────────────────────────────────────────────────────────────────────

    def moving(self) -> NDArray[np.bool_]:
        """Whether each body moves, shape (nbody,): it, or a body that carries it, has a joint. Parents come first."""
        moving: NDArray[np.bool_] = self.model.body_jntnum > 0
        for i, parent in enumerate(self.model.body_parentid.tolist()):
            moving[i] |= moving[parent]
        return moving

    def _left_out(self) -> None:
        """Warns about all parts of the model that cannot be expressed."""
        model, counts, joints = self.model, self.model.counts, self.joints
        cones = (model.jnt_type == BALL) & (model.jnt_limited != 0)
        self.drop("limits of ball joints", [joints[j] for j in np.flatnonzero(cones)])
        mocap = [self.bodies[i] for i in np.flatnonzero(model.body_mocapid >= 0)]
        self.drop("motions of mocap bodies", mocap, "Expect these bodies to stay where the file puts them.")
        for what, key in (
            ("deformable bodies (flex), except the bodies at their nodes", "nflex"),
            ("plugins", "nplugin"),
        ):
            self.drop(what, [""] * counts[key])
        if self.soft and not len(model.eq_type):
            wrong = "soft_equalities is given, but the file has no equalities"
            self.findings.warn("unknown", 0, "", wrong, "Leave it out.")
        for what, (names, remedy) in softened(model, self.joints, self.tendons, soft=self.soft).items():
            self.drop(what, names, remedy, kept=True)
        self.drop("skins", [""] * self.bundle.skins, "Expect the same motion: skins are only drawn.")
        for what, names in self.geometry.left_out.items():
            self.drop(f"geoms of type {what}", names)
        self._untouched()

    def _untouched(self) -> None:
        """Warns about contacts of the model that do not act: only those with planes and height fields do."""
        touching = self.geometry.touching
        geoms = [name or f"geom{k}" for k, name in enumerate(self.model.names["geom"])]
        pairs = [f"{self.bodies[a]} and {self.bodies[b]}" for a, b in touching.body_pairs()]
        remedy = "Add elements.PairContact for these."
        self.drop("contacts between bodies that move, by pairs of bodies", pairs, remedy, kept=True)
        self.drop("contact pairs", [f"{geoms[a]} and {geoms[b]}" for a, b in touching.other_pairs()], kept=True)
        fixed = [geoms[k] for k in touching.scenery()]
        self.drop("contacts with fixed geoms that are no plane or height field", fixed, kept=True)
        self.drop("torsional and rolling friction of geoms", [geoms[k] for k in touching.twisting()], kept=True)
        uneven = [geoms[k] for k in touching.uneven()]
        self.drop("forces of their own on grounds after the first that geoms touch", uneven, kept=True)
        half = [geoms[k] for k in touching.half_excluded()]
        self.drop("exclusions (<exclude>) from some of the grounds that geoms touch", half, kept=True)
        if self.model.overridden:
            self.drop("parameters of <option> that override those of all contacts", [""], kept=True)
