"""The strict builder: collect a robot piece by piece, check everything once, report every mistake at once.

    builder = RobotBuilder("crane")
    builder.add(Body.box("cart", 2.0, (0.4, 0.2, 0.2)), Body.point("load", 1.0, (0.0, 0.0, -1.0)))
    builder.joint("slide", "prismatic", "world", "cart", axis=(1.0, 0.0, 0.0))
    builder.joint("swing", "revolute", "cart", "load", axis=(0.0, 1.0, 0.0))
    robot = builder.build()

Nothing is checked before `build` (or `problems`); the order of declaration is free. A body's root is declared by
`root`, or by any joint whose parent is "world". A joint whose child already hangs somewhere closes a cycle; the
builder finds it and makes it a loop, and keeps as tree joints those that leave the tree shallow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from inspect import signature
from typing import Any, NamedTuple, Self

from kinemorph.errors import ModelError
from kinemorph.model.body import NO_INERTIA, ORIGIN, Body
from kinemorph.model.checks import coupling_problems, name_problems, parameter_problems, structure_problems
from kinemorph.model.couplings import limit_problems
from kinemorph.model.drafts import Draft, read_body, read_coupling, read_frame, read_joint, used_parameters
from kinemorph.model.joint import Joint, X, Z
from kinemorph.model.reading import Problem, Reader
from kinemorph.model.regularity import regularity_problems
from kinemorph.model.robot import Coupling, Frame, Robot
from kinemorph.model.shapes import Shape
from kinemorph.model.topology import WORLD, Edge, spanning_tree


class Verdict(NamedTuple):
    """What a builder makes of its parts. `doubts` are refused by `build`; a file may have them with a warning."""

    robot: Robot | None
    problems: tuple[Problem, ...]
    doubts: tuple[Problem, ...]


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
        """A rigid body: `mass` [kg], `com` [m], `inertia` [kg m^2] about the com, a 3 x 3 matrix or three moments."""
        return self.body_of({
            "name": name, "mass": mass, "com": com, "inertia": inertia, "shapes": shapes, "collisions": collisions,
        })  # fmt: skip

    def body_of(self, draft: Draft) -> Self:
        """A body by a dictionary of all arguments of `body`."""
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
        lower: Any = None,
        upper: Any = None,
        velocity: Any = None,
        effort: Any = None,
        damping: Any = None,
        friction: Any = None,
        armature: Any = None,
    ) -> Self:
        """A joint; see `Joint` for the meaning and units of its data.

        `placement` is the pose of the joint frame in the parent; or give `translation` [m] and `rotation` (3 x 3)
        apart. Numbers per coordinate may be one number for all. `normalize` scales an axis to length 1 instead of
        reporting it.
        """
        self._joints.append({
            "name": name, "kind": kind, "parent": parent, "child": child, "placement": placement,
            "translation": translation, "rotation": rotation, "child_placement": child_placement, "axis": axis,
            "axis2": axis2, "normalize": normalize, "pitch": pitch, "lower": lower, "upper": upper,
            "velocity": velocity, "effort": effort, "damping": damping, "friction": friction, "armature": armature,
        })  # fmt: skip
        return self

    def joint_of(self, draft: Draft) -> Self:
        """A joint by a dictionary of the arguments of `joint`; those that are not there have their defaults."""
        self._joints.append(draft)
        return self

    def root(
        self, body: str, kind: str = "fixed", placement: Any = None, *, name: str | None = None, **data: Any
    ) -> Self:
        """Declares how a body hangs on the world: "fixed", "free" or any kind. The joint is called `<body>_root`."""
        return self.joint(f"{body}_root" if name is None else name, kind, WORLD, body, placement=placement, **data)

    def frame(
        self, name: str, body: str, *, placement: Any = None, translation: Any = None, rotation: Any = None
    ) -> Self:
        """A named frame on a body or on "world"."""
        self._frames.append(
            {"name": name, "body": body, "placement": placement, "translation": translation, "rotation": rotation}
        )
        return self

    def couple(self, joint: str, leader: str, multiplier: Any = 1.0, offset: Any = 0.0) -> Self:
        """A mimic joint: q[joint] = multiplier * q[leader] + offset."""
        self._couplings.append({"joint": joint, "leader": leader, "multiplier": multiplier, "offset": offset})
        return self

    def add(self, *parts: Body | Joint | Frame | Coupling) -> Self:
        """Ready-made parts; they are checked like all others."""
        for part in parts:
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
        """Gives declared bodies, by name, what they look like and what they touch with."""
        for draft in self._bodies:
            if draft["name"] in shapes:
                draft["shapes"], draft["collisions"] = shapes[draft["name"]]
        return self

    def without(self, joint: str) -> Self:
        """Takes a joint back."""
        self._joints = [draft for draft in self._joints if draft["name"] != joint]
        return self

    # ── checking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def problems(self) -> tuple[str, ...]:
        """Every mistake found, one sentence each; empty where the robot can be built."""
        verdict = self.judged()
        return verdict.problems + verdict.doubts

    def build(self) -> Robot:
        """The checked robot. Raises ModelError with every mistake found."""
        robot, problems, doubts = self.judged()
        if problems or doubts or robot is None:
            raise ModelError(problems + doubts)
        return robot

    def judged(self) -> Verdict:
        """The robot, where one can be made, with all that forbids it and all that is doubtful about it."""
        reader = Reader()
        # each part by itself
        name = reader.name("robot", self.name)
        gravity = reader.vector(f"robot '{name}': gravity", self.gravity)
        bodies = [read_body(reader, draft) for draft in self._bodies]
        joints = [read_joint(reader, _JOINT_DEFAULTS | draft) for draft in self._joints]
        frames = [read_frame(reader, draft) for draft in self._frames]
        couplings = [read_coupling(reader, draft) for draft in self._couplings]
        # the parts together
        reader.problems += name_problems(name, bodies, joints, frames)
        reader.problems += structure_problems(bodies, joints)
        parameters = used_parameters(gravity, bodies, joints, frames, couplings) if reader.symbolic else ()
        reader.problems += parameter_problems(parameters)
        if reader.problems:
            reader.problems += coupling_problems(couplings, joints)
            return Verdict(None, tuple(reader.problems), tuple(reader.doubts))
        # the tree, and what closes cycles over it
        edges = [Edge(joint.name, joint.parent, joint.child) for joint in joints]
        chords = {edge.name for edge in spanning_tree([WORLD, *(b.name for b in bodies)], edges, directed=True).chords}
        tree = tuple(joint for joint in joints if joint.name not in chords)
        loops = tuple(joint for joint in joints if joint.name in chords)
        robot = Robot(name, tuple(bodies), tree, loops, tuple(frames), tuple(couplings), gravity, parameters)
        reader.problems += coupling_problems(couplings, tree)
        if not reader.problems:
            reader.problems += limit_problems(robot) + regularity_problems(robot)
        return Verdict(None if reader.problems else robot, tuple(reader.problems), tuple(reader.doubts))


_JOINT_DEFAULTS = {
    name: parameter.default
    for name, parameter in signature(RobotBuilder.joint).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}
