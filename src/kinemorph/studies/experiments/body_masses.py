"""Masses of bodies as numbers that a study varies: `NAME.mass` makes a body heavier or lighter, and keeps its shape.

The center of mass stays where it is, and the moments of inertia are in proportion to the mass. `NAME.m`, a number of
identification, is the mass alone: first moments and moments of inertia about the origin of the body keep their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.model.body import Body
from kinemorph.model.parameter import Value, evaluate, evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot

ENDING = ".mass"
ALONE = ".m"  # the mass alone


def body_masses(model: Robot | System) -> dict[str, float]:
    """The masses [kg] of all bodies that have one, as `NAME.mass`."""
    found = {body.name + ENDING: float(evaluate(body.mass)) for body in as_robot(model).bodies}
    return {name: mass for name, mass in found.items() if mass > 0.0}


def with_masses(model: Robot | System, masses: Mapping[str, Value]) -> System:
    """The system with these masses by `NAME.mass`; they may be Parameters."""
    system = model if isinstance(model, System) else System(model)
    bodies = tuple(
        _scaled(body, masses[body.name + ENDING]) if body.name + ENDING in masses else body
        for body in system.robot.bodies
    )
    return replace(system, robot=replace(system.robot, bodies=bodies), assembly=None)


def _scaled(body: Body, mass: Value) -> Body:
    nominal = float(evaluate(body.mass))
    shares = np.array(evaluate_all(body.inertia), dtype=float) / nominal  # moments of inertia per kg
    rows = tuple(tuple(one * mass if one else 0.0 for one in row) for row in shares.tolist())
    return replace(body, mass=mass, inertia=rows)  # type: ignore[arg-type]


def impossible_masses(values: Mapping[str, float]) -> str:
    """Why no body can have these masses by `NAME.mass`; empty where bodies can."""
    wrong = [f"part '{name}' is {value:g} kg, expected more than 0." for name, value in values.items() if not value > 0]
    return " ".join([*wrong, "Leave such values out."]) if wrong else ""


def check_masses(names: Mapping[str, Value]) -> None:
    """Refuses parts that give the mass of one body twice."""
    for name in names:
        body = name.removesuffix(ENDING)
        twice = [f"{body}.{part}" for part in OF_BODY if f"{body}.{part}" in names]
        if name.endswith(ENDING) and twice:
            raise ModelError(
                f"part '{name}' scales all inertial numbers of the body, but '{twice[0]}' is a part, too. Leave one of "
                "them out."
            ).concerning("part", name)


def notes_on_masses(names: Mapping[str, Value]) -> tuple[str, ...]:
    """Sentences on parts that change masses alone."""
    found = []
    for name in names:
        body = name.removesuffix(ALONE)
        if name.endswith(ALONE) and not any(f"{body}.{part}" in names for part in OF_BODY[1:]):
            found.append(
                f"part '{name}' changes the mass alone: the first moments of the body and its moments of inertia about "
                f"its origin stay as they are. '{body}{ENDING}' scales the whole body; its center of mass stays."
            )
    return tuple(found)
