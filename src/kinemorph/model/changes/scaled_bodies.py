"""`scaled_bodies`: a robot some of whose bodies are larger or smaller, each by a factor of its own.

All lengths of a body have its factor f: the places of joints and frames on it, its center of mass, its shapes. Axes,
angles and coordinates stay the same. With the same density the mass has the factor f^3 and the inertia f^5; with the
same mass the inertia has the factor f^2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Literal, overload

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelError, Problem, UnsupportedError
from kinemorph.model.body import Body
from kinemorph.model.joint import Joint
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import SHAPE_FIELDS, Mesh, MeshFile, Shape
from kinemorph.model.system import Element, System
from kinemorph.words import did_you_mean

Same = Literal["density", "kept"]
ON_BODIES = ("point", "end")  # fields of elements that are points in the axes of their `body`


@overload
def scaled_bodies(model: Robot, factors: Mapping[str, float], *, mass: Same = "density") -> Robot: ...
@overload
def scaled_bodies(model: System, factors: Mapping[str, float], *, mass: Same = "density") -> System: ...
def scaled_bodies(model: Robot | System, factors: Mapping[str, float], *, mass: Same = "density") -> Robot | System:
    """The robot or system whose bodies have other sizes: {body: factor of its lengths}.

    `mass` says what stays the same: "density", or the masses ("kept"). Of the elements of a system, points on these
    bodies are moved with them (`point`, and `end` of a capsule); all other numbers stay as they are.
    """
    robot = model if isinstance(model, Robot) else model.robot
    _check(robot, factors, mass)
    scaled = replace(
        robot,
        bodies=tuple(_body(body, factors.get(body.name, 1.0), mass) for body in robot.bodies),
        joints=tuple(_joint(joint, factors) for joint in robot.joints),
        loops=tuple(_joint(joint, factors) for joint in robot.loops),
        frames=tuple(
            replace(frame, placement=_pose(frame.placement, factors.get(frame.body, 1.0))) for frame in robot.frames
        ),
    )
    if isinstance(model, System):
        elements = tuple(_element(element, robot, factors) for element in model.elements)
        return replace(model, robot=scaled, elements=elements)
    return scaled


def _check(robot: Robot, factors: Mapping[str, float], mass: str) -> None:
    if robot.positions or robot.driven:
        raise UnsupportedError(
            f"robot '{robot.name}' has driven joints, whose formulas contain lengths, so its bodies cannot be scaled "
            "one by one. Change the lengths in its formulas."
        )
    problems = [
        Problem("body", name, f"robot '{robot.name}' has no such body", did_you_mean(name, robot.body_names).strip())
        for name in factors
        if name not in robot.body_names
    ]
    problems += [
        Problem("body", name, f"its factor is {f!r:.40}, expected a finite number above 0", "Correct it.")
        for name, f in factors.items()
        if not 0.0 < f < math.inf
    ]
    if mass not in ("density", "kept"):
        problems.append(Problem("", "", f"mass is {mass!r:.40}, expected 'density' or 'kept'", "Choose one of them."))
    if problems:
        raise ModelError(problems)


def _times(values: Any, f: float) -> Any:
    """A number, vector or matrix of Values times a factor; the same object where the factor is 1."""
    if f == 1.0:
        return values
    return tuple(_times(value, f) for value in values) if isinstance(values, tuple) else values * f


def _pose(pose: Pose, f: float) -> Pose:
    return pose if f == 1.0 else Pose(pose.R, _times(tuple(pose.p), f))


def _body(body: Body, f: float, mass: str) -> Body:
    if f == 1.0:
        return body
    heavier = f**3 if mass == "density" else 1.0
    return replace(
        body,
        mass=_times(body.mass, heavier),
        com=_times(body.com, f),
        inertia=_times(body.inertia, heavier * f**2),
        shapes=tuple(_shape(shape, f) for shape in body.shapes),
        collisions=tuple(_shape(shape, f) for shape in body.collisions),
    )


def _shape(shape: Shape, f: float) -> Shape:
    row = SHAPE_FIELDS[type(shape)]
    sizes = {name: _times(getattr(shape, name), f) for name in (*row.lengths, *row.points)}
    if isinstance(shape, Mesh):
        sizes["vertices"] = _times(shape.vertices, f)
    if isinstance(shape, MeshFile):
        sizes["scale"] = _times(shape.scale, f)
    found: Shape = replace(shape, placement=_pose(shape.placement, f), **sizes)
    return found


def _joint(joint: Joint, factors: Mapping[str, float]) -> Joint:
    on_parent, on_child = factors.get(joint.parent, 1.0), factors.get(joint.child, 1.0)
    if on_parent == on_child == 1.0:
        return joint
    return replace(
        joint,
        placement=_pose(joint.placement, on_parent),
        child_placement=_pose(joint.child_placement, on_child),
    )


def _element(element: Element, robot: Robot, factors: Mapping[str, float]) -> Element:
    """The element with its points moved with the body that they are on."""
    where = getattr(element, "body", None)
    names = [frame.name for frame in robot.frames]
    body = robot.frame(where).body if isinstance(where, str) and where in names else where
    f = factors.get(body, 1.0) if isinstance(body, str) else 1.0
    own = [field.name for field in fields(element) if field.name in ON_BODIES]  # type: ignore[arg-type]
    moved = {name: _times(tuple(getattr(element, name)), f) for name in own if getattr(element, name) is not None}
    found: Element = replace(element, **moved) if moved and f != 1.0 else element  # type: ignore[type-var]
    return found
