"""Checks of a robot's parts, each alone and all together. Each function checks one subject and returns problems.

Numbers are checked at the nominal values of the parameters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from kinemorph.algebra.inertia import inertia_problems, triangle_doubts
from kinemorph.algebra.vectors import cross, norm
from kinemorph.errors import Problem
from kinemorph.model.body import Body
from kinemorph.model.input_reader import short
from kinemorph.model.joint import ImpedanceStop, Joint, Z
from kinemorph.model.parameter import Parameter, evaluate, evaluate_all
from kinemorph.model.robot import Coupling, Frame
from kinemorph.model.topology import WORLD
from kinemorph.words import counted, did_you_mean

WIDE = 30.0  # [rad]; nearly five turns: a hinge with a wider limit probably has it in degrees
ENDLESS = 1e4  # [rad]; larger limits mean that there is no limit
SEARCHED = 200_000  # characters of names that are searched for similar names, over all messages
USUAL_STOP = "Leave this number out for the one of MuJoCo."


def body_problems(body: Body) -> list[Problem]:
    """Problems with the mass and inertia of a body. A body without mass and inertia is valid."""
    mass, com, inertia = evaluate(body.mass), evaluate_all(body.com), evaluate_all(body.inertia)
    if mass == 0.0 and not any(x for row in inertia for x in row):
        return []
    # a mass of 0 with an inertia is questionable; the inertia is then checked as that of a mass of 1
    found = inertia_problems(mass or 1.0, com, inertia)
    keys = ["mass", *("inertia" for _ in found)][mass >= 0.0 :]  # a negative mass is the first problem
    remedy = "Correct its mass data."
    return [Problem("body", body.name, what, remedy, key, rule="mass") for key, what in zip(keys, found, strict=False)]


def questionable_mass(body: Body) -> list[Problem]:
    """Mass and inertia that no real body has, for a body without `body_problems`."""
    mass, inertia = evaluate(body.mass), evaluate_all(body.inertia)
    found = [
        Problem("body", body.name, what, "Correct its mass data.", "inertia", rule="triangle")
        for what in triangle_doubts(inertia, mass)
    ]
    if mass == 0.0 and any(x for row in inertia for x in row):
        what = "the mass is 0 but the inertia is not, expected both or neither to be 0"
        found.append(Problem("body", body.name, what, "Give it a mass.", "mass", rule="massless"))
    return found


def degree_remarks(joints: Iterable[Joint]) -> list[Problem]:
    """A remark on limits of hinges that may be in degrees: at most one, for all hinges together."""
    wide = []
    for joint in joints:
        if joint.kind == "revolute":
            limit = max((abs(x) for x in (*joint.lower, *joint.upper) if abs(x) < ENDLESS), default=0.0)
            wide += [(joint.name, limit)] if limit > WIDE else []
    if not wide:
        return []
    name, limit = wide[0]
    others = f", and {len(wide) - 1} more like it" if len(wide) > 1 else ""
    what = f"its limit is {limit:g} rad{others}; it is used as written, but degrees may be meant"
    return [Problem("joint", name, what, f"Write {math.radians(limit):.6g} if {limit:g} degrees are meant.", "upper")]


def joint_problems(joint: Joint) -> list[Problem]:
    """Problems with data of a joint that do not fit its kind."""
    found: list[Problem] = []

    def note(what: str, remedy: str, key: str) -> None:
        found.append(Problem("joint", joint.name, what, remedy, key))

    if joint.kind == "universal" and float(norm(cross(joint.axis, joint.axis2))) < 1e-6:
        problem = f"axis {joint.axis} and axis2 {joint.axis2} are parallel, expected two directions"
        note(problem, "Change one of the two.", "axis")
    if joint.kind in ("planar", "point_on_plane") and joint.axis != Z:
        problem = f"axis is {joint.axis}, but a {joint.kind} joint always has the normal z"
        note(problem, "Rotate its placement instead.", "axis")
    if joint.kind != "helical" and joint.pitch != 0.0:
        problem = f"pitch is {short(joint.pitch)} but the kind is {joint.kind}"
        note(problem, "Use kind 'helical' or leave pitch out.", "pitch")
    if joint.parent == joint.child:
        note(f"parent and child are both '{joint.parent}', expected two bodies", "Name the other body.", "parent")
    for name, lower, upper in zip(joint.q_names, joint.lower, joint.upper, strict=True):
        if lower > upper:
            note(f"lower limit {lower:.6g} is above upper limit {upper:.6g} of {name}", "Swap them.", "lower")
    turns = [k for first in joint.table.quaternions for k in range(first, first + 4)]
    if joint.kind in ("spherical", "free") and np.any(np.isfinite((*joint.lower, *joint.upper))):
        problem = f"limits are given, but a {joint.kind} joint has no limited coordinates"
        note(problem, "Leave the limits out.", "lower")
    elif np.any(np.isfinite([bounds[k] for bounds in (joint.lower, joint.upper) for k in turns])):
        note("limits are given for a quaternion, but it cannot be limited", "Give -inf and inf for it.", "lower")
    for key in ("velocity", "effort"):
        for name, value in zip(joint.v_names, getattr(joint, key), strict=True):
            if not value > 0.0:
                note(f"the {key} limit of {name} is {value:.6g}, expected above 0", "Leave it out for no limit.", key)
    if joint.stop is not None and (joint.driven or joint.nq != 1):
        note(f"stop is given, but a {joint.kind} joint has no single coordinate with limits", "Leave stop out.", "stop")
    elif joint.stop is not None:
        for what in stop_problems(joint.stop):
            note(f"stop: {what}", USUAL_STOP, "stop")
    return found


def stop_problems(stop: ImpedanceStop) -> list[str]:
    """What is wrong with the numbers of a stop, each as a clause with the value and what is expected."""
    if not isinstance(stop, ImpedanceStop):
        return [f"it is {short(stop)}, expected an ImpedanceStop"]
    unit, positive = dict.fromkeys(("start", "end", "midpoint"), 1.0), ("time", "width", "inertia")
    least = {"ratio": 0.0, "power": 1.0, "margin": -math.inf}
    found = []
    for key, value in vars(stop).items():
        low, high = least.get(key, 0.0), unit.get(key, math.inf)
        if value is not None and not (low < value < high or (value == low and key in ("ratio", "power"))):
            expected = f"above {low:g}" if key in positive else f"from {low:g} to {high:g}"
            found.append(f"{key} is {value:g}, expected a number {expected}")
    return found


def name_problems(
    robot: str, bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> list[Problem]:
    """Problems with names that are used twice, with "world" as a name, and with frames on unknown bodies."""
    found: list[Problem] = []
    if not bodies:
        what = "it has no bodies, expected at least one"
        found.append(Problem("robot", robot, what, "Add a body and declare it as a root.", rule="name"))
    body_names = [body.name for body in bodies]
    for kind, names in (
        ("body", body_names),
        ("joint", [joint.name for joint in joints]),
        ("frame", [frame.name for frame in frames]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                what = f"it is declared {count} times, expected once"
                found.append(Problem(kind, name, what, "Rename all but one.", rule="name"))
    if WORLD in body_names:
        found.append(Problem("body", WORLD, "this name is reserved for the ground", "Rename the body.", rule="name"))
    places, declared = {*body_names, WORLD}, Declared("body", body_names)
    for frame in frames:
        if frame.name in places:
            what = "it has the same name as a body, expected a different name"
            found.append(Problem("frame", frame.name, what, "Rename the frame.", rule="name"))
        if frame.body not in places:
            found.append(Problem("frame", frame.name, *declared.unknown(frame.body), "body", rule="name"))
    return found


def coupling_problems(couplings: Sequence[Coupling], joints: Sequence[Joint], loops: Sequence[Joint]) -> list[Problem]:
    """Problems with mimic joints that are unknown, have several coordinates or two leaders, or follow themselves."""
    found: list[Problem] = []
    by_name = {joint.name: joint for joint in joints}
    closing = {loop.name for loop in loops}
    declared = Declared("tree joint", list(by_name))

    def note(joint: str, what: str, remedy: str, key: str = "") -> None:
        found.append(Problem("coupling", joint, what, remedy, key))

    for coupling in couplings:
        for key, name in (("joint", coupling.joint), ("leader", coupling.leader)):
            if name in closing:
                problem = f"joint '{name}' closes a loop, so it has no coordinate; expected a tree joint"
                note(coupling.joint, problem, "Cut the loop at another joint (cut=True there).", key)
            elif name not in by_name:
                note(coupling.joint, *declared.unknown(name), key)
            elif by_name[name].nq != 1:
                problem = f"joint '{name}' has {counted(by_name[name].nq, 'coordinate')}, expected 1"
                note(coupling.joint, problem, "Couple joints with one coordinate.", key)
    for name, count in Counter(coupling.joint for coupling in couplings).items():
        if count > 1:
            note(name, f"the joint is coupled {count} times, expected once", "Keep one coupling.")
    leaders = {coupling.joint: coupling.leader for coupling in couplings}
    walked: dict[str, str] = {}  # joint -> the joint from which, following leaders, it was reached first
    for start in leaders:
        here = start
        while here in leaders and here not in walked:
            walked[here] = start
            here = leaders[here]
        if walked.get(here) == start:  # a circle that was not found before
            circle = [here]
            while leaders[circle[-1]] != here:
                circle.append(leaders[circle[-1]])
            for name in circle:
                note(name, "the joint follows itself in a cycle of couplings", "Remove one of them.", "leader")
    return found


def parameter_problems(parameters: Iterable[Parameter]) -> list[Problem]:
    """Problems with parameters that have the same name but different data."""
    found: list[Problem] = []
    first: dict[str, Parameter] = {}
    for parameter in parameters:
        known = first.setdefault(parameter.name, parameter)
        if known != parameter:
            first_data, other_data = (short((p.value, p.unit, p.symbol)) for p in (known, parameter))
            what = f"it is declared twice, with value, unit and symbol {first_data} and {other_data}, expected once"
            found.append(Problem("parameter", parameter.name, what, "Rename one of them."))
    return found


class Declared:
    """The declared names of one kind of part, for messages about unknown names.

    Similar names are offered only for the first few unknown names, because each search takes time.
    """

    def __init__(self, what: str, names: Sequence[str]) -> None:
        self.what, self.names = what, names
        self.looks = SEARCHED // (1 + sum(map(len, names)))

    def unknown(self, name: str) -> tuple[str, str]:
        """The message and the remedy for a name that is not declared; the remedy may offer a similar name."""
        hint = did_you_mean(name, self.names).strip() if self.looks > 0 else ""
        self.looks -= 1
        remedy = hint or f"Declare the {self.what} or correct the name."
        return f"there is no {self.what} {short(name)}, expected a declared name", remedy
