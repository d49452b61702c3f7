"""What is checked of elements before they act: names that exist, numbers that make sense. One sentence per problem."""

from __future__ import annotations

import math
from typing import Any

from kinemorph.errors import did_you_mean
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot


def known_body(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """A body, a frame, or "world"."""
    known = ["world", *robot.body_names, *(frame.name for frame in robot.frames)]
    if name in known:
        return []
    listed = ", ".join(known[:16]) + (", ..." if len(known) > 16 else "")
    return [
        f"element '{element.name}': {what} is '{name}', and robot '{robot.name}' has no such body or frame."
        f"{did_you_mean(name, known)} Known: {listed}."
    ]


def one_axis(element: Any, what: str, name: str, robot: Robot) -> list[str]:
    """A joint with one coordinate and one velocity."""
    joints = {joint.name: joint for joint in robot.joints}
    if name not in joints:
        listed = ", ".join(list(joints)[:16]) + (", ..." if len(joints) > 16 else "")
        return [
            f"element '{element.name}': {what} is '{name}', and robot '{robot.name}' has no such joint."
            f"{did_you_mean(name, list(joints))} Known: {listed}."
        ]
    if len(joints[name].v_names) != 1:
        return [
            f"element '{element.name}': {what} '{name}' is {joints[name].kind} with {len(joints[name].v_names)} "
            "velocities; expected a joint with one axis. Name another joint."
        ]
    return []


def not_negative(element: Any, *fields: str) -> list[str]:
    """Fields that are finite numbers of at least 0."""
    return [
        f"element '{element.name}': {name} is {value:g}; expected a finite number of at least 0. Mend its sign."
        for name in fields
        if not 0.0 <= (value := float(evaluate(getattr(element, name)))) < math.inf
    ]


def positive(element: Any, *fields: str) -> list[str]:
    """Fields that are finite numbers above 0."""
    return [
        f"element '{element.name}': {name} is {value:g}; expected a finite number above 0. Enlarge it."
        for name in fields
        if not 0.0 < (value := float(evaluate(getattr(element, name)))) < math.inf
    ]
