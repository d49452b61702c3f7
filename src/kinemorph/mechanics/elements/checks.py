"""Checks of an element's names for a robot: bodies, joints and axes have to exist."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinemorph.errors import Problem
from kinemorph.model.robot import Robot
from kinemorph.words import counted, did_you_mean, listed, quoted


def known_body(element: Any, what: str, name: str, robot: Robot, *, frames: bool = True) -> list[str]:
    """A problem where `name`, given in the field `what`, is not a body, a frame or "world" of the robot; else none.

    Without `frames` it has to be a body.
    """
    known = ["world", *robot.body_names, *(frame.name for frame in robot.frames)] if frames else [*robot.body_names]
    if name in known:
        return []
    problem = f"{_holds(what)} '{name}', and robot '{robot.name}' has no such body{' or frame' if frames else ''}"
    return [wrong(element.name, problem, nearest(name, known), what)]


def known_ends(element: Any, robot: Robot) -> list[str]:
    """A problem for each of the fields `body_a` and `body_b` that names nothing of the robot; else none."""
    return [one for end in ("body_a", "body_b") for one in known_body(element, end, getattr(element, end), robot)]


def known_joint(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """A problem where `name`, given in the field `what`, is not a joint with coordinates; else none.

    A joint that closes a loop has no coordinates.
    """
    joints = [joint.name for joint in robot.joints]
    if name in joints:
        return []
    if name in (loop.name for loop in robot.loops):
        problem = f"{_holds(what)} '{name}', a joint that closes a loop and has no coordinate"
        remedy = "Name another joint of the loop, or put an element between the two bodies."
        return [wrong(element.name, problem, remedy, what)]
    problem = f"{_holds(what)} '{name}', and robot '{robot.name}' has no such joint"
    return [wrong(element.name, problem, nearest(name, joints), what)]


def _holds(field: str) -> str:
    """The beginning of a message about a name in a field: "joint is", or "joints contains" for a field of names."""
    return f"{field} {'contains' if field in ('joints', 'bodies') else 'is'}"


def one_axis(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """A problem where `name`, given in the field `what`, is neither a joint with one axis nor an axis of a joint."""
    if name in robot.axis_places:
        return []
    found = known_joint(element, what, name, robot)
    if not found:
        joint = robot.joint(name)
        axes = [axis for axis in joint.motion_names("v") if axis in robot.axis_places]
        problem = (
            f"joint '{name}' is {joint.kind} with {counted(joint.motion.nv, 'velocity', 'velocities')}; expected a "
            "joint with one axis"
        )
        remedy = f"Name one of its axes: {quoted(axes)}." if axes else "Name a joint with one axis."
        found = [wrong(element.name, problem, remedy, what)]
    return found


def one_or_each(element: Any, count: int, what: str, *fields: str) -> list[str]:
    """A problem for each of these fields with neither one number nor `count` numbers, one for each `what`."""
    more = f", or {count}" if count > 1 else ""
    such = f"1{more}, one for each {what}" if more else "1"
    return [
        wrong(element.name, f"{name} has {counted(given, 'number')}; expected {such}", f"Give one number{more}.", name)
        for name in fields
        if (given := len(getattr(element, name))) not in (1, count)
    ]


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for a name that is not known: it names the nearest known name, and lists the known names."""
    return f"{did_you_mean(name, known)} Known: {listed(known, 16)}.".strip()


def wrong(element: str, what: str, remedy: str, key: str = "") -> str:
    """The `Problem` of the element with this name: `what` is wrong, and `remedy` tells what to do.

    `key` is the field that is wrong, where it is one field.
    """
    return Problem("element", element, what, remedy, key, rule="element")
