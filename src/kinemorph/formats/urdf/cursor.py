"""What the readers of URDF parts share: origins, unknown parts, and warnings that are reported once per kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.roll_pitch_yaw import exact_turn, rotation_of_turns
from kinemorph.algebra.vectors import Mat, Vec
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings, Repair
from kinemorph.formats.hints import maybe_degrees
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.xml_documents import Node
from kinemorph.formats.xml_values import Tally, Values
from kinemorph.model.input_reader import short
from kinemorph.model.joint import Axis

# tags of other programs, by the element they stand in: decoration, or orders to a simulator or a driver
SILENT = {
    "robot": {"gazebo", "sensor", "ros2_control", "group_state", "static", "mujoco", "compiler", "isaac", "safety"},
    "link": {
        "gazebo",
        "self_filter",
        "collision_checking",
        "self_collision_checking",
        "sensor",
        "gravity",
        "kinematic",
    },
    "joint": {"safety_controller", "calibration", "gazebo", "hardwareInterface", "sensor", "property"},
    "inertial": set(),
    "visual": {"meshes", "gazebo"},
    "collision": {"material", "verbose", "gazebo"},
    "geometry": set(),
}
# tags that say something about the motion that a System has no place for
DROPPED = {
    "link": {"contact", "surface", "drake:proximity_properties"},
    "robot": {
        "coupling",
        "loop_closure",
        "drake:linear_bushing_rpy",
        "drake:collision_filter_group",
        "drake:tendon_constraint",
    },
    "joint": {"drake:mimic", "drake:controller_gains", "drake:rotor_inertia", "drake:gear_ratio"},
}
KNOWN = {
    "robot": ("link", "joint", "material", "transmission", "gazebo", "loop_joint", "loop", "constraint", "fixed_frame"),
    "link": ("inertial", "visual", "collision"),
    "joint": ("origin", "parent", "child", "axis", "axis2", "limit", "dynamics", "mimic", "safety_controller"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "geometry": ("box", "cylinder", "sphere", "capsule", "mesh"),
}
Placement: TypeAlias = tuple[Mat, Vec]  # of a frame in its parent: rotation (3, 3), origin (3,) [m]
NO_TURN = (0.0, 0.0, 0.0)
PREFIXES = {"http://drake.mit.edu": "drake:", "https://drake.mit.edu": "drake:"}


class Reading:
    """One file being read: where findings, parts and numbers go."""

    def __init__(self, source: Source, options: Options, findings: Findings, blueprint: Blueprint) -> None:
        self.source = source
        self.options = options
        self.findings = findings
        self.blueprint = blueprint
        self.values = Values(findings)
        self.at = self.values.at
        self.incomplete = False  # whether a link or joint is missing because it could not be read
        self.tally = Tally()
        self._triples: dict[str | None, tuple[float, ...]] = {None: IDENTITY.p}  # by the text that says them
        self._rotations: dict[str | None, Mat] = {None: IDENTITY.R}
        self.axes: dict[str, Axis] = {}  # axes of length 1, by their text

    # ── warnings ──────────────────────────────────────────────────────────────────────────────────────────────────

    def repeated(
        self,
        rule: str,
        kind: str,
        node: Node,
        element: str,
        problem: str,
        remedy: str,
        repair: Repair | None = None,
    ) -> None:
        """A warning that is reported once for all parts of its `kind`."""
        self.tally.add(self.at(node, element), rule, problem, remedy, kind, repair)

    def other(self, node: Node, place: str, element: str) -> None:
        """Judges a child that the reader of its parent does not use: a comment, decoration, or a mistake."""
        tag = node.tag
        if not isinstance(tag, str):  # a comment
            return
        tag = plain(tag)
        if tag in SILENT[place]:
            return
        if tag in KNOWN[place]:
            problem = f"<{tag}> stands here a second time, expected once: the first one counts"
            self.repeated("structure", f"{place}/{tag}", node, element, problem, "Remove all but one.")
        elif tag in DROPPED.get(place, ()):
            problem = f"<{tag}> is not used"
            self.repeated("dropped", f"{place}/{tag}", node, element, problem, "State it where the robot is run.")
        elif ":" not in tag:  # what bears a prefix belongs to another program
            hint = nearest(tag, KNOWN[place])
            problem = f"<{tag}> is no element of <{place}>, so it is not used"
            self.repeated(
                "unknown", f"{place}/{tag}", node, element, problem, hint or "Remove it, or correct its name."
            )

    def strange(self, node: Node, known: Iterable[str], element: str) -> None:
        """Warns of attributes that the format does not have: often a known one is misspelled."""
        for name in node.keys():  # noqa: SIM118 - an element is no dictionary
            if name not in known and ":" not in plain(name):
                hint = nearest(name, known)
                problem = f"<{node.tag}>: there is no attribute '{name}', so it is not used"
                remedy = hint or "Remove it, or correct its name."
                self.repeated("unknown", f"{node.tag}@{name}", node, element, problem, remedy)

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    def triple(self, node: Node, text: str, what: str, element: str) -> tuple[float, ...]:
        """Three finite numbers. They are kept by their text, so that the same text is not read again."""
        try:  # the usual case
            first, second, third = text.split()
            x, y, z = found = float(first), float(second), float(third)
            if (x + y + z) * 0.0 == 0.0 and "_" not in text:  # finite
                self._triples[text] = found
                return found
        except ValueError:
            pass
        return self.values.reals(node, text, 3, what, element, what.partition("> ")[2])

    def origin(self, node: Node, element: str, known: tuple[str, ...] = ("xyz", "rpy")) -> Pose:
        """The pose of an <origin>: `xyz` [m] and `rpy` [rad], each 0 where it is missing; `known` attributes pass."""
        return Pose(*self.placement(node, element, known))

    def placement(self, node: Node, element: str, known: tuple[str, ...] = ("xyz", "rpy")) -> Placement:
        """The pose of an <origin> as a plain pair (R, p), which takes less time."""
        xyz, rpy = node.get("xyz"), node.get("rpy")
        if xyz is None or rpy is None:
            self.strange(node, known, element)
        return (
            self._rotations.get(rpy) or self._rotation(node, rpy, element),
            self._triples.get(xyz) or self.triple(node, xyz, "<origin> xyz", element),
        )

    def _rotation(self, node: Node, rpy: str, element: str) -> Mat:
        angles = roll, pitch, yaw = self._triples.get(rpy) or self.triple(node, rpy, "<origin> rpy", element)
        if angles == NO_TURN:
            R = IDENTITY.R
        else:
            R = rotation_of_turns(exact_turn(roll), exact_turn(pitch), exact_turn(yaw))
        if rpy in self._triples:  # it could be read
            self._rotations[rpy] = R
            doubt = maybe_degrees(angles)
            if doubt:
                self.repeated("unit", "degrees", node, element, f"<origin> rpy is {short(rpy)}: {doubt[0]}", doubt[1])
        return R


def plain(tag: str) -> str:
    """A tag with the usual prefix of its name space in place of its address."""
    if tag[0] != "{":
        return tag
    space, _, name = tag[1:].partition("}")
    return PREFIXES.get(space, "x:") + name


def nearest(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?` for a misspelled word; empty where no known word is near."""
    import difflib  # it is needed where something is wrong

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"Did you mean '{near[0]}'?" if near else ""
