"""The laws of applied wrenches, of applied joint efforts, and of additional gravity fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.scalar import S, div, maximum, sqrt
from kinemorph.algebra.tables import lookup, through
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import add, dot, matvec_transposed, neg, scale, sub
from kinemorph.errors import ModelError, ShapeError
from kinemorph.mechanics.elements.checks import known_body, one_axis, wrong
from kinemorph.mechanics.elements.forces.springs import TINY
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Push, Slot, Wrench, plain, register
from kinemorph.mechanics.trees.motions import ZERO3
from kinemorph.model.elements.forces.applied import (
    AppliedEffort,
    AppliedWrench,
    CentralGravity,
    Gravity,
    Table,
    WeightSupport,
)
from kinemorph.model.robot import Robot
from kinemorph.words import counted


def over_time(element: Any, what: str, course: Any, size: int, view: ElementView) -> list[S]:
    """The value at this instant of a quantity that may change over time, as `size` scalars.

    `course` is a table over time, a user function of time, or constant numbers; `what` is its field in the element.
    """
    if isinstance(course, Table):
        columns = zip(*course.values, strict=True)
        curves = [through(course.times, c, kind=course.method, outside=course.outside) for c in columns]
        return [lookup(curve, view.t) for curve in curves]
    if callable(course):
        given = course(view.t)
        found = list(given) if isinstance(given, (tuple, list)) else [given]
        if len(found) != size:
            raise ModelError(
                f"element '{element.name}': the function given as {what} returns {counted(len(found), 'number')}; "
                f"expected {size}. Correct the function."
            )
        return found
    return list(view.value(course)) if isinstance(course, tuple) else [view.value(course)]


def course_problems(element: Any, what: str, size: int) -> list[str]:
    """Problems of a field that may change over time and has to have `size` numbers; user functions are not called."""
    course = getattr(element, what)
    if callable(course):
        return []
    if not isinstance(course, Table):
        return []
    if course.file:
        remedy = "Read it with Table.from_csv."
        return [wrong(element.name, f"{what} is a table in the file '{course.file}', which was not read", remedy, what)]
    bad = next((k for k, row in enumerate(course.values) if len(row) != size), None)
    if bad is not None:
        problem = f"row {bad + 1} of {what} has {counted(len(course.values[bad]), 'number')}; expected {size}"
        return [wrong(element.name, problem, f"Give {counted(size, 'number')} for each time.", what)]
    try:
        for column in list(zip(*course.values, strict=True)) or [()] * size:
            through(course.times, column, kind=course.method, outside=course.outside)
    except ShapeError as error:
        return [wrong(element.name, f"{what}: {error}".rstrip("."), "Change the table.", what)]
    return []


class AppliedWrenchLaw(ElementLaw[AppliedWrench]):
    """A force and a moment on a body, constant, changing over time, or scaled by an input."""

    def problems(self, element: AppliedWrench, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot)
        return found + course_problems(element, "force", 3) + course_problems(element, "moment", 3)

    def acts_on(self, element: AppliedWrench, robot: Robot) -> Sequence[str]:
        return (element.body,)

    def inputs(self, element: AppliedWrench) -> tuple[Slot, ...]:
        return (Slot("level"),) if element.scaled else ()

    def effort(self, element: AppliedWrench, view: ElementView) -> Effort:
        force = over_time(element, "force", element.force, 3, view)
        moment = over_time(element, "moment", element.moment, 3, view)
        point, frame = view.point(element.body, element.point), view.frame(element.body)
        if element.axes == "world":
            pushed, turned = point.into(force), matvec_transposed(frame.pose.R, moment)
        else:
            pushed, turned = frame.to_link(force), tuple(moment)
        if element.scaled:
            u = view.input("level")
            pushed, turned = scale(u, pushed), scale(u, turned)
        power = dot(pushed, point.velocity) + dot(turned, frame.turning)
        return Effort(pushes=(Push(point, pushed),), wrenches=(Wrench(frame, ZERO3, turned),), supplied=power)


class AppliedEffortLaw(ElementLaw[AppliedEffort]):
    """An effort [N m or N] on a joint, constant or changing over time."""

    def problems(self, element: AppliedEffort, robot: Robot) -> list[str]:
        return one_axis(element, "joint", element.joint, robot) + course_problems(element, "effort", 1)

    def effort(self, element: AppliedEffort, view: ElementView) -> Effort:
        joint = view.hinge(element.joint)
        (effort,) = over_time(element, "effort", element.effort, 1, view)
        return Effort(torques={joint.place: effort}, supplied=effort * joint.v)


# ── gravity ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _heavy(element: Gravity | CentralGravity | WeightSupport, robot: Robot, *, but: str = "") -> Sequence[Any]:
    """The bodies that a gravity field acts on, without massless bodies; `but` is the name of a body to leave out."""
    named = element.bodies or [name for name in robot.body_names if name != but]
    bodies = [robot.body(name) for name in named]
    return [body for body in bodies if not (isinstance(body.mass, float) and body.mass == 0.0)]


def _body_problems(element: Any, robot: Robot) -> list[str]:
    return [
        sentence
        for name in element.bodies
        if name not in robot.body_names
        for sentence in known_body(element, "bodies", name, robot, frames=False)
    ]


class GravityLaw(ElementLaw[Gravity]):
    """The force m g at the center of mass of every body, with its mass m and the acceleration g of the element."""

    def problems(self, element: Gravity, robot: Robot) -> list[str]:
        return _body_problems(element, robot)

    def acts_on(self, element: Gravity, robot: Robot) -> Sequence[str]:
        return [body.name for body in _heavy(element, robot)]

    def effort(self, element: Gravity, view: ElementView) -> Effort:
        field = view.value(element.acceleration)
        pushes, stored = [], 0.0
        for body in _heavy(element, view.robot):
            point, weight = view.point(body.name, body.com), scale(view.value(body.mass), field)
            pushes.append(Push(point, point.into(weight)))
            stored = stored - dot(weight, point.position)
        return Effort(pushes=pushes, stored=stored)

    def field(self, element: Gravity, view: ElementView, body: str) -> Vec3 | None:
        return None if element.bodies and body not in element.bodies else plain(view.value(element.acceleration))


class WeightSupportLaw(ElementLaw[WeightSupport]):
    """The force -share m g at the center of mass of every body, with its mass m and the gravity g of the robot."""

    steady = True

    def problems(self, element: WeightSupport, robot: Robot) -> list[str]:
        return _body_problems(element, robot)

    def acts_on(self, element: WeightSupport, robot: Robot) -> Sequence[str]:
        return [body.name for body in _heavy(element, robot)]

    def effort(self, element: WeightSupport, view: ElementView) -> Effort:
        pushes, stored = [], 0.0
        for body in _heavy(element, view.robot):
            point = view.point(body.name, body.com)
            lift = scale(-view.value(element.share) * view.value(body.mass), view.gravity)
            pushes.append(Push(point, point.into(lift)))
            stored = stored - dot(lift, point.position)
        return Effort(pushes=pushes, stored=stored)


class CentralGravityLaw(ElementLaw[CentralGravity]):
    """The force -mu m r / |r|^3 at the center of mass of every body, with r from the center of attraction.

    m is the mass of the body, mu the gravitational constant times the attracting mass.
    """

    def problems(self, element: CentralGravity, robot: Robot) -> list[str]:
        return _body_problems(element, robot) + known_body(element, "center", element.center, robot)

    def acts_on(self, element: CentralGravity, robot: Robot) -> Sequence[str]:
        return [body.name for body in _heavy(element, robot, but=element.center)]

    def effort(self, element: CentralGravity, view: ElementView) -> Effort:
        center, strength = view.point(element.center, element.point), view.value(element.parameter)
        pushes, back, stored = [], ZERO3, 0.0
        for body in _heavy(element, view.robot, but=element.center):
            point = view.point(body.name, body.com)
            way = sub(point.position, center.position)
            square = maximum(dot(way, way), TINY * TINY)
            potential = div(strength * view.value(body.mass), sqrt(square))
            force = scale(-div(potential, square), way)
            pushes.append(Push(point, point.into(force)))
            back = add(back, neg(force))
            stored = stored - potential
        return Effort(pushes=(*pushes, Push(center, center.into(back))), stored=stored)

    def field(self, element: CentralGravity, view: ElementView, body: str) -> Vec3 | None:
        if body in (element.center, "world") or (element.bodies and body not in element.bodies):
            return None
        center, strength = view.point(element.center, element.point), view.value(element.parameter)
        way = sub(view.point(body, view.robot.body(body).com).position, center.position)
        square = maximum(dot(way, way), TINY * TINY)
        return plain(scale(-div(strength, square * sqrt(square)), way))


register(AppliedWrench, AppliedWrenchLaw())
register(AppliedEffort, AppliedEffortLaw())
register(Gravity, GravityLaw())
register(WeightSupport, WeightSupportLaw())
register(CentralGravity, CentralGravityLaw())
