"""Checks of elements before they act: names exist, numbers make sense. Each problem is one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from kinemorph.errors import did_you_mean
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot


def known_body(element: Any, what: str, name: str, robot: Robot, *, frames: bool = True) -> list[str]:
    """Problems where a name is not a body, a frame or "world"; without `frames`, where it is not a body with a mass."""
    known = ["world", *robot.body_names, *(frame.name for frame in robot.frames)] if frames else [*robot.body_names]
    if name in known:
        return []
    listed = ", ".join(known[:16]) + (", ..." if len(known) > 16 else "")
    return [
        f"element '{element.name}': {what} is '{name}', and robot '{robot.name}' has no such body"
        f"{' or frame' if frames else ''}.{did_you_mean(name, known)} Known: {listed}."
    ]


def known_joint(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """Problems where a name is not a joint with coordinates, which a joint that closes a loop is not."""
    joints = [joint.name for joint in robot.joints]
    if name in joints:
        return []
    if name in (loop.name for loop in robot.loops):
        return [
            f"element '{element.name}': {what} is '{name}', which closes a loop and has no coordinate of its own. Name "
            "another joint of the loop, or put an element between the two bodies."
        ]
    listed = ", ".join(joints[:16]) + (", ..." if len(joints) > 16 else "")
    return [
        f"element '{element.name}': {what} is '{name}', and robot '{robot.name}' has no such joint."
        f"{did_you_mean(name, joints)} Known: {listed}."
    ]


def one_axis(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """Problems where a joint has not exactly one coordinate and one velocity."""
    found = known_joint(element, what, name, robot)
    if not found and len((joint := robot.joint(name)).v_names) != 1:
        found = [
            f"element '{element.name}': {what} '{name}' is {joint.kind} with {len(joint.v_names)} "
            "velocities; expected a joint with one axis. Name another joint."
        ]
    return found


def not_negative(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be finite numbers of at least 0."""
    return [
        f"element '{element.name}': {name} is {value:g}; expected a finite number of at least 0. Mend its sign."
        for name in fields
        if not 0.0 <= (value := float(evaluate(getattr(element, name)))) < math.inf
    ]


def positive(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be finite numbers above 0."""
    return [
        f"element '{element.name}': {name} is {value:g}; expected a finite number above 0. Enlarge it."
        for name in fields
        if not 0.0 < (value := float(evaluate(getattr(element, name)))) < math.inf
    ]


def vector_not_negative(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be three finite numbers of at least 0."""
    return [
        f"element '{element.name}': {name} is {_spelled(values)}; expected finite numbers, not below 0. Mend signs."
        for name, values in _each(element, fields)
        if not all(0.0 <= x < math.inf for x in values)
    ]


def finite_vector(element: Any, *fields: str) -> list[str]:
    """Problems of fields that have to be finite numbers."""
    return [
        f"element '{element.name}': {name} is {_spelled(values)}; expected finite numbers. Correct it."
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
