"""`RobotBuilder` collects the parts of a robot, checks them once, and reports all problems together.

    builder = RobotBuilder("crane")
    builder.add(Body.box("cart", 2.0, (0.4, 0.2, 0.2)), Body.point("load", 1.0, (0.0, 0.0, -1.0)))
    builder.joint("slide", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    builder.joint("swing", "revolute", "cart", "load", axis=(0.0, 1.0, 0.0))
    robot = builder.build()

Nothing is checked before `build` (or `problems`); parts may be declared in any order. The root of a tree is declared by
`root`, or by any joint whose parent is "world".

    builder.connect("coupler", "rocker", "revolute", translation=(0.9, 0.0, 0.0))

A joint between two bodies that are connected already closes a loop. The builder finds the loops and chooses the joints
that close them so that the tree of the other joints is shallow (`loop_cutting`). With `cut=True` you choose a joint
that closes a loop.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from inspect import signature
from typing import Any, Literal, NamedTuple, Self

from kinemorph.errors import ModelError, ModelWarning, Problem, users_level
from kinemorph.model.body import NO_INERTIA, ORIGIN, Body
from kinemorph.model.building.driven_checks import driven_problems
from kinemorph.model.building.gears import gearing_problems
from kinemorph.model.building.loop_cutting import Wishes, cut_loops, loop_remarks, structure_problems
from kinemorph.model.building.part_checks import (
    coupling_problems,
    degree_remarks,
    name_problems,
    parameter_problems,
)
from kinemorph.model.building.part_readers import (
    Draft,
    read_body,
    read_coupling,
    read_cut,
    read_frame,
    read_joint,
    used_parameters,
)
from kinemorph.model.building.regularity import regularity_problems
from kinemorph.model.couplings import limit_problems
from kinemorph.model.input_reader import Reader, short
from kinemorph.model.joint import USUAL_ORDER, ImpedanceStop, Joint, X, Z
from kinemorph.model.robot import GIVE_MASSES, NO_MASSES, Coupling, Frame, Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.topology import WORLD


class Verdict(NamedTuple):
    """The robot of a builder, None if it has problems, and everything found by the checks.

    `problems`  reasons why the robot cannot be built
    `remarks`   values that no real body has, missing masses and data without effect, which give a warning
    """

    robot: Robot | None
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...] = ()


class RobotBuilder:
    """Collects the parts of a robot. Methods return the builder, so calls can be chained."""

    def __init__(self, name: str, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.name = name
        self.gravity = gravity
        self._bodies: list[Draft] = []
        self._joints: list[Draft] = []
        self._frames: list[Draft] = []
        self._couplings: list[Draft] = []

    # ── declaring ─────────────────────────────────────────────────────────────────────────────────────────────────

    def body(
        self,
        name: str,
        mass: Any = 0.0,
        *,
        com: Any = ORIGIN,
        inertia: Any = NO_INERTIA,
        shapes: Sequence[Shape] = (),
        collisions: Sequence[Shape] = (),
    ) -> Self:
        """Declares a rigid body: `mass` [kg], center of mass `com` [m], `inertia` [kg m^2] about it, in body axes.

        `inertia` is a 3 x 3 matrix or three moments of inertia.
        """
        return self.body_of({
            "name": name, "mass": mass, "com": com, "inertia": inertia, "shapes": shapes, "collisions": collisions,
        })  # fmt: skip

    def body_of(self, draft: Draft) -> Self:
        """Declares a body by a dictionary of all arguments of `body`."""
        self._bodies.append(draft)
        return self

    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        *,
        placement: Any = None,
        translation: Any = None,
        rotation: Any = None,
        child_placement: Any = None,
        axis: Any = Z,
        axis2: Any = X,
        normalize: bool = False,
        pitch: Any = 0.0,
        order: str = USUAL_ORDER,
        lower: Any = None,
        upper: Any = None,
        velocity: Any = None,
        effort: Any = None,
        damping: Any = None,
        friction: Any = None,
        armature: Any = None,
        driven: Any = None,
        stop: ImpedanceStop | None = None,
        cut: bool = False,
    ) -> Self:
        """Declares a joint; see `Joint` for the meaning and units of its data.

        `placement` is the pose of the joint frame in the parent; instead, give `translation` [m] and `rotation` (3 x
        3). Limits, damping and the like are lists with one number per coordinate, or one number for all. `normalize`
        scales an axis to length 1 instead of reporting a problem. `driven` is a formula of coordinates of other joints,
        or a list with a formula for each coordinate, which gives the motion of this joint:

            hip = Coordinate("hip", 0.0)
            builder.joint("rotor", "revolute", "thigh", "rotor", driven=50.0 * hip)

        `cut` makes the joint close a loop: its bodies are
        then connected to the world by other joints, which are reversed if necessary.
        """
        self._joints.append({
            "name": name, "kind": kind, "parent": parent, "child": child, "placement": placement,
            "translation": translation, "rotation": rotation, "child_placement": child_placement, "axis": axis,
            "axis2": axis2, "normalize": normalize, "pitch": pitch, "order": order, "lower": lower, "upper": upper,
            "velocity": velocity, "effort": effort, "damping": damping, "friction": friction, "armature": armature,
            "driven": driven, "stop": stop, "cut": cut,
        })  # fmt: skip
        return self

    def joint_of(self, draft: Draft) -> Self:
        """Declares a joint by a dictionary of the arguments of `joint`; missing arguments have their defaults."""
        self._joints.append(draft)
        return self

    def connect(self, a: str, b: str, kind: str = "revolute", *, name: str | None = None, **data: Any) -> Self:
        """Declares a joint between two bodies, of which the one nearer to the world becomes the parent.

        If both bodies are connected to the world already, the joint closes a loop. `kind` is that of the joint and
        `data` are further arguments of `joint()`: `placement` is the joint frame in `a`, `child_placement` that in `b`.
        For kinds with one axis, the coordinate is the motion of `b` relative to `a`, whichever is the parent. The
        default name is `<a>_<b>`.
        """
        if name is None:
            taken, name, count = [draft["name"] for draft in self._joints], f"{a}_{b}", 2
            while name in taken:
                name, count = f"{a}_{b}_{count}", count + 1
        self.joint(name, kind, a, b, **data)
        self._joints[-1]["either"] = True
        return self

    def root(
        self, body: str, kind: str = "fixed", placement: Any = None, *, name: str | None = None, **data: Any
    ) -> Self:
        """Declares a body as a root: joined to the world by a joint of this kind, by default named `<body>_root`."""
        return self.joint(f"{body}_root" if name is None else name, kind, WORLD, body, placement=placement, **data)

    def frame(
        self, name: str, body: str, *, placement: Any = None, translation: Any = None, rotation: Any = None
    ) -> Self:
        """Declares a named frame on a body or on "world", by its placement or its translation [m] and rotation."""
        self._frames.append(
            {"name": name, "body": body, "placement": placement, "translation": translation, "rotation": rotation}
        )
        return self

    def couple(self, joint: str, leader: str, multiplier: Any = 1.0, offset: Any = 0.0) -> Self:
        """Declares a mimic joint: q[joint] = multiplier * q[leader] + offset."""
        return self.couple_of({"joint": joint, "leader": leader, "multiplier": multiplier, "offset": offset})

    def couple_of(self, draft: Draft) -> Self:
        """Declares a coupling by a dictionary of the arguments of `couple`, `gear` or `rack`."""
        self._couplings.append(draft)
        return self

    def gear(
        self,
        joint: str,
        leader: str,
        ratio: Any = None,
        *,
        teeth: tuple[float, float] | None = None,
        internal: bool = False,
        offset: Any = 0.0,
    ) -> Self:
        """Declares two gear wheels: `joint` turns once while `leader` turns `ratio` times in the opposite direction.

        Instead of a ratio, `teeth` gives the numbers of teeth of the joint's wheel and of the leader's wheel. In an
        `internal` gear, a wheel inside a ring, both turn in the same direction. Angles are those of the joints, each
        about its own axis.
        """
        return self.couple_of(
            {"joint": joint, "leader": leader, "offset": offset, "ratio": ratio, "teeth": teeth, "internal": internal}
        )

    def rack(self, joint: str, leader: str, radius: Any, *, offset: Any = 0.0) -> Self:
        """Declares a rack and pinion: the prismatic `joint` moves by radius * q[leader], `radius` [m] of the pinion."""
        return self.couple_of({"joint": joint, "leader": leader, "offset": offset, "radius": radius})

    def add(self, *parts: Body | Joint | Frame | Coupling) -> Self:
        """Declares parts given as objects; they are checked like all others."""
        for part in parts:
            if not isinstance(part, (Body, Joint, Frame, Coupling)):
                many = isinstance(part, (list, tuple))
                remedy = "Write add(*parts)." if many else "An element belongs to a system: System(robot, [element])."
                raise ModelError(
                    f"RobotBuilder.add: {short(part)} is not a part of a robot; expected a Body, Joint, Frame or "
                    f"Coupling. {remedy}"
                )
            data = {field.name: getattr(part, field.name) for field in fields(part)}
            if isinstance(part, Body):
                self._bodies.append(data)
            elif isinstance(part, Joint):
                self.joint(**data)
            elif isinstance(part, Frame):
                self.frame(**data)
            else:
                self._couplings.append(data)
        return self

    def dress(self, shapes: Mapping[str, tuple[Sequence[Shape], Sequence[Shape]]]) -> Self:
        """Sets the shapes of declared bodies; `shapes` gives (shapes to draw, collision shapes) by name of the body."""
        for draft in self._bodies:
            if draft["name"] in shapes:
                draft["shapes"], draft["collisions"] = shapes[draft["name"]]
        return self

    def add_armature(self, joint: str, inertia: float) -> Self:
        """Adds to the armature [kg m^2 or kg] of a declared joint with one axis."""
        for k, draft in enumerate(self._joints):
            if draft["name"] == joint:
                (before,) = draft.get("armature") or (0.0,)
                self._joints[k] = {**draft, "armature": (before + inertia,)}
        return self

    def amend(self, kind: Literal["body", "joint"], name: str, data: Mapping[str, Any]) -> Self:
        """Replaces some data of a declared body or joint; `data` are arguments of `body` or `joint` by name."""
        drafts: list[Any] = self._bodies if kind == "body" else self._joints
        for k, draft in enumerate(drafts):
            if draft["name"] == name:
                drafts[k] = {**draft, **data}
        return self

    def without(self, joint: str) -> Self:
        """Removes a declared joint."""
        self._joints = [draft for draft in self._joints if draft["name"] != joint]
        return self

    @property
    def has_cuts(self) -> bool:
        """Whether a joint is declared with `cut=True`."""
        return any(draft.get("cut") is True for draft in self._joints)

    # ── checking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def problems(self) -> tuple[Problem, ...]:
        """All problems found; empty if the robot can be built."""
        return self.judged().problems

    def build(self) -> Robot:
        """The checked robot. Raises ModelError with every problem found.

        Inertias that no real body has, a robot without masses, data without effect, and limits of hinges that look like
        degrees give a ModelWarning.
        """
        robot, problems, remarks = self.judged()
        if problems or robot is None:
            raise ModelError(problems)
        for remark in (*remarks, *degree_remarks(robot.joints)):
            warnings.warn(str(remark), ModelWarning, stacklevel=users_level())
        return robot

    def judged(self) -> Verdict:
        """The checked robot, None if it has problems, with all problems and remarks."""
        reader = Reader()
        # each part alone
        reader.part("robot", self.name)
        name, gravity = reader.name(self.name), reader.vector(reader.at("gravity"), self.gravity)
        bodies = [read_body(reader, draft) for draft in self._bodies]
        joints = [read_joint(reader, _JOINT_DEFAULTS | draft) for draft in self._joints]
        frames = [read_frame(reader, draft) for draft in self._frames]
        couplings = [read_coupling(reader, draft) for draft in self._couplings]
        # the parts together
        reader.problems += name_problems(name, bodies, joints, frames)
        declared = list(zip(joints, self._joints, strict=True))
        wishes = Wishes(
            frozenset(joint.name for joint, draft in declared if read_cut(reader, draft)),
            frozenset(joint.name for joint, draft in declared if draft.get("either")),
        )
        reader.problems += structure_problems(bodies, joints, wishes)
        parameters = used_parameters(gravity, bodies, joints, frames, couplings) if reader.symbolic else ()
        reader.problems += parameter_problems(parameters)
        if reader.problems:
            reader.problems += coupling_problems(couplings, joints, ())
            return Verdict(None, tuple(reader.problems), tuple(reader.questionable))
        # the tree joints, and the joints that close loops
        tree, loops = cut = cut_loops(bodies, joints, wishes)
        robot = Robot(name, tuple(bodies), tree, loops, tuple(frames), tuple(couplings), gravity, parameters)
        reader.problems += coupling_problems(couplings, tree, loops) or gearing_problems(self._couplings, tree)
        reader.problems += driven_problems(robot)
        if not reader.problems:
            reader.problems += limit_problems(robot)
            if robot.is_kinematic:
                what = f"{NO_MASSES}: poses, Jacobians and inverse kinematics can be computed"
                reader.questionable.append(Problem("robot", name, what, GIVE_MASSES, rule="massless"))
            else:
                reader.problems += regularity_problems(robot)
        remarks = (*reader.questionable, *loop_remarks(cut))
        return Verdict(None if reader.problems else robot, tuple(reader.problems), remarks)


_JOINT_DEFAULTS = {
    name: parameter.default
    for name, parameter in signature(RobotBuilder.joint).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}
