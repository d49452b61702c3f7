"""What must hold of a robot's parts, and of the parts together: one function per subject, each returns sentences.

Numbers are judged at the nominal values of the parameters. A sentence names the thing, the value found, what was
expected and the remedy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from kinemorph.algebra.inertia import inertia_problems, triangle_doubts
from kinemorph.algebra.vectors import cross, norm
from kinemorph.errors import did_you_mean
from kinemorph.model.body import Body
from kinemorph.model.input_reader import Problem, short
from kinemorph.model.joint import Joint, Z
from kinemorph.model.parameter import Parameter, evaluate, evaluate_all
from kinemorph.model.robot import Coupling, Frame
from kinemorph.model.topology import WORLD

SEARCHED = 200_000  # characters of names that are looked through for near misses


def body_problems(body: Body) -> list[str]:
    """Mass and inertia that some real body could have. A body with neither is legal: it only passes motion on."""
    mass, com, inertia = evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia)
    if mass == 0.0 and not any(x for row in inertia for x in row):
        return []
    # a mass of 0 with an inertia is a doubt; the inertia by itself is judged as that of any mass
    found = inertia_problems(mass or 1.0, com, inertia)
    return [f"body '{body.name}': {problem}. Correct its mass data." for problem in found]


def body_doubts(body: Body) -> list[tuple[str, str]]:
    """Mass data without contradiction that no real body has: (rule, sentence). The body must have no problems."""
    mass, inertia = evaluate(body.mass), evaluate_all(body.inertia)
    found = [
        ("triangle", f"body '{body.name}': {doubt}. Correct its mass data.") for doubt in triangle_doubts(inertia, mass)
    ]
    if mass == 0.0 and any(x for row in inertia for x in row):
        sentence = "the mass is 0 but the inertia is not, expected both or neither. Give it a mass."
        found.append(("massless", f"body '{body.name}': {sentence}"))
    return found


def joint_problems(joint: Joint) -> list[str]:
    """Data of one joint that do not fit its kind."""
    what, found = f"joint '{joint.name}'", []
    if joint.kind == "universal" and float(norm(cross(joint.axis, joint.axis2))) < 1e-6:
        found.append(
            f"{what}: axis {joint.axis} and axis2 {joint.axis2} are parallel, expected two directions. Turn one."
        )
    if joint.kind in ("planar", "point_on_plane") and joint.axis != Z:
        found.append(
            f"{what}: a {joint.kind} joint moves across z, but axis is {joint.axis}. Rotate its placement instead."
        )
    if joint.kind != "helical" and joint.pitch != 0.0:
        found.append(
            f"{what}: pitch is {short(joint.pitch)} but the kind is {joint.kind}. "
            f"Use kind 'helical' or leave pitch out."
        )
    if joint.parent == joint.child:
        found.append(f"{what}: parent and child are both '{joint.parent}', expected two bodies. Name the other body.")
    for name, lower, upper in zip(joint.q_names, joint.lower, joint.upper, strict=True):
        if lower > upper:
            found.append(f"{what}: lower limit {lower:.6g} is above upper limit {upper:.6g} of {name}. Swap them.")
    turns = [k for first in joint.table.quaternions for k in range(first, first + 4)]
    if joint.kind in ("spherical", "free") and np.any(np.isfinite((*joint.lower, *joint.upper))):
        found.append(f"{what}: limits are given, but a {joint.kind} joint has no limited coordinates. Leave them out.")
    elif np.any(np.isfinite([bounds[k] for bounds in (joint.lower, joint.upper) for k in turns])):
        found.append(f"{what}: limits of a quaternion are given, but it has none. Give inf in its places.")
    for key in ("velocity", "effort"):
        for name, value in zip(joint.v_names, getattr(joint, key), strict=True):
            if not value > 0.0:
                found.append(
                    f"{what}: the {key} limit of {name} is {value:.6g}, expected above 0. Leave it out for no limit."
                )
    return found


def name_problems(
    robot: str, bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> list[Problem]:
    """Names used once, "world" kept for the ground, frames on bodies that exist."""
    found: list[Problem] = []
    if not bodies:
        found.append(
            Problem(
                "robot", robot, f"robot '{robot}' has no bodies, expected at least one. Add a body and a root.", "name"
            )
        )
    body_names = [body.name for body in bodies]
    for what, names in (
        ("body", body_names),
        ("joint", [joint.name for joint in joints]),
        ("frame", [frame.name for frame in frames]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                sentence = f"{what} '{name}' is declared {count} times, expected once. Rename all but one."
                found.append(Problem(what, name, sentence, "name"))
    if WORLD in body_names:
        found.append(
            Problem("body", WORLD, f"body '{WORLD}': this name is kept for the ground. Rename the body.", "name")
        )
    places, declared = {*body_names, WORLD}, Declared("body", body_names)
    for frame in frames:
        what = f"frame '{frame.name}'"
        if frame.name in places:
            sentence = f"{what} has the name of a body, expected a name of its own. Rename the frame."
            found.append(Problem("frame", frame.name, sentence, "name"))
        if frame.body not in places:
            found.append(Problem("frame", frame.name, f"{what}: {declared.unknown(frame.body)}", "name"))
    return found


def coupling_problems(couplings: Sequence[Coupling], joints: Sequence[Joint], loops: Sequence[Joint]) -> list[Problem]:
    """Mimic joints of the tree with one coordinate, each led once, and not in a circle."""
    found: list[Problem] = []
    by_name = {joint.name: joint for joint in joints}
    closing = {loop.name for loop in loops}
    declared = Declared("tree joint", list(by_name))

    def note(joint: str, sentence: str) -> None:
        found.append(Problem("coupling", joint, sentence))

    for coupling in couplings:
        what = f"coupling of joint '{coupling.joint}'"
        for name in (coupling.joint, coupling.leader):
            if name in closing:
                note(
                    coupling.joint,
                    f"{what}: joint '{name}' closes a loop and has no coordinate, expected a joint of the tree. "
                    "Cut the loop at another joint (cut=True there).",
                )
            elif name not in by_name:
                note(coupling.joint, f"{what}: {declared.unknown(name)}")
            elif by_name[name].nq != 1:
                count = by_name[name].nq
                note(
                    coupling.joint,
                    f"{what}: joint '{name}' has {count} coordinates, expected 1. Couple a simple joint.",
                )
    for name, count in Counter(coupling.joint for coupling in couplings).items():
        if count > 1:
            note(name, f"joint '{name}' is coupled {count} times, expected once. Keep one coupling.")
    leaders = {coupling.joint: coupling.leader for coupling in couplings}
    walked: dict[str, str] = {}  # joint -> where the walk up its leaders began that met it first
    for start in leaders:
        here = start
        while here in leaders and here not in walked:
            walked[here] = start
            here = leaders[here]
        if walked.get(here) == start:  # this walk came back to itself: a circle, met for the first time
            circle = [here]
            while leaders[circle[-1]] != here:
                circle.append(leaders[circle[-1]])
            for name in circle:
                note(name, f"coupling of joint '{name}': it follows itself through its leaders. Break the circle.")
    return found


def parameter_problems(parameters: Iterable[Parameter]) -> list[Problem]:
    """One name, one parameter."""
    found: list[Problem] = []
    first: dict[str, Parameter] = {}
    for parameter in parameters:
        known = first.setdefault(parameter.name, parameter)
        if known != parameter:
            first_data, other_data = (short((p.value, p.unit, p.symbol)) for p in (known, parameter))
            sentence = (
                f"parameter {short(parameter.name)} is declared twice, with value, unit and symbol {first_data} and "
                f"{other_data}, expected one of each name. Rename one."
            )
            found.append(Problem("parameter", parameter.name, sentence))
    return found


class Declared:
    """The names of one kind of part that are there. Near misses are looked for while that takes little time."""

    def __init__(self, what: str, names: Sequence[str]) -> None:
        self.what, self.names = what, names
        self.looks = SEARCHED // (1 + sum(map(len, names)))

    def unknown(self, name: str) -> str:
        """A sentence for a name that is not there, with the nearest one that is."""
        hint = did_you_mean(name, self.names) if self.looks > 0 else ""
        self.looks -= 1
        remedy = hint or f" Declare the {self.what} or correct the name."
        return f"there is no {self.what} {short(name)}, expected a declared name.{remedy}"
