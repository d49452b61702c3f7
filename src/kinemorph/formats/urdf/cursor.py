"""Shared by the readers of URDF parts: reads origins, checks unknown tags, and collects warnings by kind."""

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
from kinemorph.formats.xml_documents import DRAKE, Node
from kinemorph.formats.xml_values import Tally, Values
from kinemorph.model.input_reader import short
from kinemorph.model.joint import Axis

# tags of other programs that do not affect the motion here, by the element that contains them
SILENT = {
    "robot": {"gazebo", "sensor", "ros2_control", "group_state", "static", "mujoco", "compiler", "isaac", "safety"},
    "link": {
        "gazebo",
        "self_filter",
        "collision_checking",
        "self_collision_checking",
        "sensor",
    },
    "joint": {"safety_controller", "calibration", "gazebo", "hardwareInterface", "sensor", "property"},
    "inertial": set(),
    "visual": {"meshes", "gazebo"},
    "collision": {"material", "verbose", "gazebo"},
    "geometry": set(),
}
# tags that affect the motion, but cannot be expressed in a System; so are all of Drake's own that are not read
DROPPED = {
    "link": {"surface", "gravity", "kinematic"},
    "robot": {"coupling", "loop_closure"},
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
PREFIXES = dict.fromkeys(DRAKE, "drake:")


class Reading:
    """The state of reading one URDF file: its source, options, findings and blueprint, and values read so far."""

    def __init__(self, source: Source, options: Options, findings: Findings, blueprint: Blueprint) -> None:
        self.source = source
        self.options = options
        self.findings = findings
        self.blueprint = blueprint
        self.values = Values(findings)
        self.at = self.values.at
        self.incomplete = False  # whether a link or joint has an error, so that the tree cannot be checked
        self.tally = Tally()
        self._triples: dict[str | None, tuple[float, ...]] = {None: IDENTITY.p}  # three numbers by their text
        self._rotations: dict[str | None, Mat] = {None: IDENTITY.R}  # by the text of their angles
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
        """Records a warning that is reported once per `kind`, for the first part, with the number of parts."""
        self.tally.add(self.at(node, element), rule, problem, remedy, kind, repair)

    def other(self, node: Node, place: str, element: str) -> None:
        """Checks a child of <place> that its reader does not use; warns unless it is a comment or known to have no
        effect.
        """
        tag = node.tag
        if not isinstance(tag, str):  # a comment
            return
        tag = plain(tag)
        if tag in SILENT[place]:
            return
        if tag in KNOWN[place]:
            problem = f"<{tag}> appears more than once, expected once: the first one is used"
            self.repeated("structure", f"{place}/{tag}", node, element, problem, "Remove all but one.")
        elif tag in DROPPED.get(place, ()) or (tag.startswith("drake:") and place != "visual"):
            problem = f"<{tag}> is not supported, so it has no effect"
            remedy = "Add it to the simulation in Python if you need it."
            self.repeated("dropped", f"{place}/{tag}", node, element, problem, remedy)
        elif ":" not in tag:  # a tag with a prefix belongs to another program
            hint = nearest(tag, KNOWN[place])
            problem = f"<{tag}> is not an element that <{place}> can contain, so it has no effect"
            self.repeated(
                "unknown", f"{place}/{tag}", node, element, problem, hint or "Remove it, or correct its name."
            )

    def strange(self, node: Node, known: Iterable[str], element: str) -> None:
        """Warns about attributes of a node that are not `known`: often a known one is misspelled."""
        for name in node.keys():  # noqa: SIM118 - an element is no dictionary
            if name not in known and ":" not in plain(name):
                hint = nearest(name, known)
                problem = f"<{node.tag}>: the attribute '{name}' is not known, so it has no effect"
                remedy = hint or "Remove it, or correct its name."
                self.repeated("unknown", f"{node.tag}@{name}", node, element, problem, remedy)

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    def triple(self, node: Node, text: str, what: str, element: str, values: Values | None = None) -> tuple[float, ...]:
        """The three finite numbers in a text. Any other text gives zeros, and a finding is recorded by `values`.

        Results are cached by text.
        """
        try:  # the usual case
            first, second, third = text.split()
            x, y, z = found = float(first), float(second), float(third)
            if (x + y + z) * 0.0 == 0.0 and "_" not in text:  # finite
                self._triples[text] = found
                return found
        except ValueError:
            pass
        return (values or self.values).reals(node, text, 3, what, element, what.partition("> ")[2])

    def origin(
        self, node: Node, element: str, known: tuple[str, ...] = ("xyz", "rpy"), values: Values | None = None
    ) -> Pose:
        """The pose of an <origin>: `xyz` [m] and `rpy` [rad], each 0 if it is missing.

        Attributes that are not in `known` give a warning; `values` reports wrong numbers.
        """
        return Pose(*self.placement(node, element, known, values))

    def placement(
        self, node: Node, element: str, known: tuple[str, ...] = ("xyz", "rpy"), values: Values | None = None
    ) -> Placement:
        """The pose of an <origin> as in `origin`, but as a plain pair (R, p), which takes less time to make."""
        xyz, rpy = node.get("xyz"), node.get("rpy")
        if xyz is None or rpy is None:
            self.strange(node, known, element)
        return (
            self._rotations.get(rpy) or self._rotation(node, rpy, element, values),
            self._triples.get(xyz) or self.triple(node, xyz, "<origin> xyz", element, values),
        )

    def _rotation(self, node: Node, rpy: str, element: str, values: Values | None) -> Mat:
        """The rotation matrix, shape (3, 3), of roll, pitch and yaw [rad] in a text; warns about probable degrees."""
        angles = roll, pitch, yaw = self._triples.get(rpy) or self.triple(node, rpy, "<origin> rpy", element, values)
        if angles == NO_TURN:
            R = IDENTITY.R
        else:
            R = rotation_of_turns(exact_turn(roll), exact_turn(pitch), exact_turn(yaw))
        if rpy in self._triples:  # the text has no error
            self._rotations[rpy] = R
            warning = maybe_degrees(angles)
            if warning:
                self.repeated(
                    "unit", "degrees", node, element, f"<origin> rpy is {short(rpy)}: {warning[0]}", warning[1]
                )
        return R


def plain(tag: str) -> str:
    """A tag with the prefix of its XML namespace instead of its address: `drake:joint`; "x:" if it is not known."""
    if tag[0] != "{":
        return tag
    space, _, name = tag[1:].partition("}")
    return PREFIXES.get(space, "x:") + name


def nearest(word: str, known: Iterable[str]) -> str:
    """`Did you mean 'x'?` with the known word most similar to `word`; empty if none is similar."""
    import difflib  # imported only if something is wrong

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"Did you mean '{near[0]}'?" if near else ""
