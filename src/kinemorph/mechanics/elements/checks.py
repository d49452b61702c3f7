"""Checks of elements before they act: names that exist, numbers that make sense."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from kinemorph.errors import Problem
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean, listed


def known_body(element: Any, what: str, name: str, robot: Robot, *, frames: bool = True) -> list[str]:
    """Problems where a name is not a body, a frame or "world"; without `frames`, where it is not a body with a mass."""
    known = ["world", *robot.body_names, *(frame.name for frame in robot.frames)] if frames else [*robot.body_names]
    if name in known:
        return []
    problem = f"{what} is '{name}', and robot '{robot.name}' has no such body{' or frame' if frames else ''}"
    return [wrong(element.name, problem, nearest(name, known), what)]


def known_joint(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """Problems where a name is not a joint with coordinates, which a joint that closes a loop is not."""
    joints = [joint.name for joint in robot.joints]
    if name in joints:
        return []
    if name in (loop.name for loop in robot.loops):
        problem = f"{what} is '{name}', which closes a loop and has no coordinate of its own"
        remedy = "Name another joint of the loop, or put an element between the two bodies."
        return [wrong(element.name, problem, remedy, what)]
    problem = f"{what} is '{name}', and robot '{robot.name}' has no such joint"
    return [wrong(element.name, problem, nearest(name, joints), what)]


def one_axis(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """Problems where a joint has not exactly one coordinate and one velocity."""
    found = known_joint(element, what, name, robot)
    if not found and len((joint := robot.joint(name)).v_names) != 1:
        problem = (
            f"{what} '{name}' is {joint.kind} with {len(joint.v_names)} velocities; expected a joint with one axis"
        )
        found = [wrong(element.name, problem, "Name another joint.", what)]
    return found


def not_negative(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be finite numbers of at least 0."""
    return [
        wrong(element.name, f"{name} is {value:g}; expected a finite number of at least 0", "Mend its sign.", name)
        for name in fields
        if not 0.0 <= (value := float(evaluate(getattr(element, name)))) < math.inf
    ]


def positive(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be finite numbers above 0."""
    return [
        wrong(element.name, f"{name} is {value:g}; expected a finite number above 0", "Enlarge it.", name)
        for name in fields
        if not 0.0 < (value := float(evaluate(getattr(element, name)))) < math.inf
    ]


def vector_not_negative(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be three finite numbers of at least 0."""
    return [
        wrong(element.name, f"{name} is {_spelled(values)}; expected finite numbers, not below 0", "Mend signs.", name)
        for name, values in _each(element, fields)
        if not all(0.0 <= x < math.inf for x in values)
    ]


def finite_vector(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be finite numbers."""
    return [
        wrong(element.name, f"{name} is {_spelled(values)}; expected finite numbers", "Correct it.", name)
        for name, values in _each(element, fields)
        if not all(map(math.isfinite, values))
    ]


def _each(element: Any, fields: tuple[str, ...]) -> Iterator[tuple[str, list[float]]]:
    for name in fields:
        value = getattr(element, name)
        yield name, [float(evaluate(x)) for x in (value if isinstance(value, tuple) else (value,))]


def _spelled(values: list[float]) -> str:
    listed = ", ".join(f"{x:g}" for x in values)
    return listed if len(values) == 1 else f"({listed})"


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for a name that is not known: the nearest one that is, and all of them."""
    return f"{did_you_mean(name, known)} Known: {listed(known, 16)}.".strip()


def wrong(element: str, what: str, remedy: str, key: str = "") -> str:
    """A `Problem` of an element by name; `key` is the field that is wrong, where it is one field."""
    return Problem("element", element, what, remedy, key, rule="element")
