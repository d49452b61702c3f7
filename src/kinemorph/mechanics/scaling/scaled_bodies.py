"""`scaled_bodies`: a robot some of whose bodies are larger or smaller, each by a factor of its own.

All lengths of a body have its factor f: the places of joints and frames on it, its center of mass, its shapes. Axes,
angles and coordinates stay the same. With the same density the mass has the factor f^3 and the inertia f^5; with the
same mass the inertia has the factor f^2. Parameters keep their values, because other bodies may use them, too: the
factors stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Literal, overload

from kinemorph.errors import ModelError, Problem, UnsupportedError
from kinemorph.mechanics.scaling.parts import scaled_numbers, scaled_part, scaled_pose
from kinemorph.mechanics.scaling.values import Names
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.scales import Scales
from kinemorph.model.system import Element, System, as_robot
from kinemorph.words import did_you_mean, listed

Same = Literal["density", "kept"]
Sizes = Mapping[str, Names]  # by body that gets another size
ON_BODIES = ("point", "end")  # fields of elements that are points in the axes of their `body`


@overload
def scaled_bodies(model: Robot, factors: Mapping[str, float], *, mass: Same = "density") -> Robot: ...
@overload
def scaled_bodies(model: System, factors: Mapping[str, float], *, mass: Same = "density") -> System: ...
def scaled_bodies(model: Robot | System, factors: Mapping[str, float], *, mass: Same = "density") -> Robot | System:
    """The robot or system whose bodies have other sizes: {body: factor of its lengths}.

    `mass` says what stays the same: "density", or the masses ("kept"). Of the elements of a system, points on these
    bodies are moved with them (`point`, and `end` of a capsule), and the `shape` of a contact gets their size; all
    other numbers stay as they are.
    """
    robot = as_robot(model)
    _check(robot, factors, mass)
    kept = dict.fromkeys((one.name for one in parameters_of((robot, getattr(model, "elements", ())))), 1.0)
    sizes = {
        name: Names(Scales(f, f**3 if mass == "density" else 1.0, 1.0), kept) for name, f in factors.items() if f != 1.0
    }
    scaled = replace(
        robot,
        bodies=tuple(scaled_part(body, {}, sizes[body.name]) if body.name in sizes else body for body in robot.bodies),
        joints=tuple(_joint(joint, sizes) for joint in robot.joints),
        loops=tuple(_joint(joint, sizes) for joint in robot.loops),
        frames=tuple(
            scaled_part(frame, {}, sizes[frame.body]) if frame.body in sizes else frame for frame in robot.frames
        ),
    )
    if isinstance(model, System):
        elements = tuple(_element(element, robot, sizes) for element in model.elements)
        return replace(model, robot=scaled, elements=elements)
    return scaled


def _check(robot: Robot, factors: Mapping[str, float], mass: str) -> None:
    if robot.positions or robot.driven:
        raise UnsupportedError(
            f"robot '{robot.name}' has driven joints, whose formulas contain lengths, so its bodies cannot be scaled "
            "one by one. Change the lengths in its formulas."
        )
    known = robot.body_names
    missing = f"robot '{robot.name}' has no such body; its bodies: {listed(known, 40)}"
    problems = [
        Problem("body", name, missing, did_you_mean(name, known).strip() or "Name one of these.")
        for name in factors
        if name not in robot.body_names
    ]
    problems += [
        Problem("body", name, f"its factor is {f!r:.40}, expected a finite number above 0", "Give 1 for no change.")
        for name, f in factors.items()
        if not 0.0 < f < math.inf
    ]
    if mass not in ("density", "kept"):
        problems.append(Problem("", "", f"mass is {mass!r:.40}, expected 'density' or 'kept'", "Choose one of them."))
    if problems:
        raise ModelError(problems)


def _joint(joint: Joint, sizes: Sizes) -> Joint:
    """The joint with its frames moved on the bodies that have another size."""
    moved: dict[str, Any] = {}
    if joint.parent in sizes:
        moved["placement"] = scaled_pose(joint.placement, sizes[joint.parent])
    if joint.child in sizes:
        moved["child_placement"] = scaled_pose(joint.child_placement, sizes[joint.child])
    return replace(joint, **moved) if moved else joint


def _element(element: Element, robot: Robot, sizes: Sizes) -> Element:
    """The element with its points moved with the body that they are on."""
    where = getattr(element, "body", None)
    known = {*robot.body_names, *(frame.name for frame in robot.frames)}
    body = robot.frame(where).body if isinstance(where, str) and where in known else ""
    if body not in sizes:
        return element
    names = sizes[body]
    own = [field.name for field in fields(element) if field.name in ON_BODIES]  # type: ignore[arg-type]
    moved: dict[str, Any] = {
        name: scaled_numbers(getattr(element, name), [names.scales.length], names)
        for name in own
        if getattr(element, name) is not None
    }
    if isinstance(element, Contact) and element.shape is not None:
        moved["shape"] = scaled_part(element.shape, {}, names)
    found: Element = replace(element, **moved) if moved else element  # type: ignore[type-var]
    return found
