"""The laws of guided points. Their constraint rows are in meters, so that multipliers are forces [N]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinemorph.algebra.groups import act
from kinemorph.algebra.scalar import S, div
from kinemorph.algebra.tables import lookup, through
from kinemorph.algebra.turns import Vec3
from kinemorph.algebra.vectors import dot, sub
from kinemorph.errors import KinemorphError, ModelError, ShapeError, told
from kinemorph.mechanics.elements.checks import known_body, known_ends, wrong
from kinemorph.mechanics.elements.constraints.constraint_texts import text_problems, text_value
from kinemorph.mechanics.elements.constraints.own_constraints import names_of_rows
from kinemorph.mechanics.elements.constraints.row_forces import RowForces
from kinemorph.mechanics.elements.ensemble import Ensemble
from kinemorph.mechanics.elements.forces.applied import course_problems, over_time
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import plain, register
from kinemorph.mechanics.elements.relative import across, between, pose_from, unit
from kinemorph.model.elements.constraints.guides import (
    DistanceConstraint,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointOnSurface,
)
from kinemorph.model.elements.forces.applied import Table
from kinemorph.model.input_reader import short
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot

XYZ = ("x", "y", "z")


class DistanceLaw(RowForces):
    """The row (|b - a|^2 - L^2) / (2 L), which is 0 where the distance of the points a and b is the length L.

    There its derivative is that of the distance, so that its multiplier is the thrust [N].
    """

    def problems(self, element: DistanceConstraint, robot: Robot) -> list[str]:
        found = known_ends(element, robot)
        if not found and element.body_a == element.body_b:
            problem = f"body_a and body_b are both '{element.body_a}'; expected two different bodies"
            found.append(wrong(element.name, problem, "Name another body.", "body_a"))
        if callable(element.length) or isinstance(element.length, Table):
            found += course_problems(element, "length", 1)
        return found

    def row_names(self, element: DistanceConstraint) -> tuple[Sequence[str], Sequence[str]]:
        return ("",), ()

    def position_rows(self, element: DistanceConstraint, view: ElementView) -> Sequence[S]:
        (length,) = over_time(element, "length", element.length, 1, view)
        a, b = between(view, element.body_a, element.point_a, element.body_b, element.point_b)
        apart = sub(b, a)
        return [div(0.5 * (dot(apart, apart) - length * length), length)]


# ── points guided by planes, lines, surfaces and curves that are fixed to a body ──────────────────────────────────────


def guide_problems(element: Any, robot: Robot, *directions: str) -> list[str]:
    """Problems of a point of a body that another body guides; `directions` are fields whose vectors must not be 0."""
    found = known_body(element, "body", element.body, robot) + known_body(element, "on", element.on, robot)
    if not found and element.body == element.on:
        problem = f"body and on are both '{element.body}'; expected two different bodies"
        found.append(wrong(element.name, problem, "Name another body.", "body"))
    return found or [
        wrong(element.name, f"{name} is (0, 0, 0); expected a direction", "Give a vector that is not zero.", name)
        for name in directions
        if not any(evaluate(x) for x in getattr(element, name))
    ]


def seen_point(element: Any, view: ElementView) -> Vec3:
    """The position [m] of the guided point in the axes of the body `on` that guides it."""
    if element.on == "world":
        return view.place(element.body, element.point).position
    return plain(act(pose_from(view, element.on, element.body), view.value(tuple(element.point))))


class PointOnPlaneLaw(RowForces):
    """The row n . (p - o): the height [m] of the point p above the plane with normal n through the point o."""

    def problems(self, element: PointOnPlane, robot: Robot) -> list[str]:
        return guide_problems(element, robot, "normal")

    def row_names(self, element: PointOnPlane) -> tuple[Sequence[str], Sequence[str]]:
        return ("",), ()

    def position_rows(self, element: PointOnPlane, view: ElementView) -> Sequence[S]:
        normal = unit(view, element.normal)
        if element.on == "world":
            height = view.place(element.body, element.point).along(normal)
        else:
            height = dot(normal, seen_point(element, view))
        return [height - dot(normal, view.value(element.origin))]


class PointOnLineLaw(RowForces):
    """The two rows with the distance [m] of the point from the line, along two directions normal to it."""

    def problems(self, element: PointOnLine, robot: Robot) -> list[str]:
        return guide_problems(element, robot, "direction")

    def row_names(self, element: PointOnLine) -> tuple[Sequence[str], Sequence[str]]:
        return ("1", "2"), ()

    def position_rows(self, element: PointOnLine, view: ElementView) -> Sequence[S]:
        away = sub(seen_point(element, view), view.value(element.origin))
        return [dot(one, away) for one in across(unit(view, element.direction), element.direction)]


class PointOnSurfaceLaw(RowForces):
    """Rows that are expressions of the point's x, y, z, or a user function of t, x, y, z."""

    def unit(self, element: PointOnSurface) -> str:
        return ""

    def problems(self, element: PointOnSurface, robot: Robot) -> list[str]:
        found = guide_problems(element, robot)
        if not callable(element.surface) and not element.surface:
            found.append(wrong(element.name, "surface is (); expected at least one expression", "Give one.", "surface"))
        return found

    def problems_among(self, element: PointOnSurface, ensemble: Ensemble) -> list[str]:
        if callable(element.surface):
            return []
        return [problem for text in element.surface for problem in text_problems(element, text, ensemble, XYZ, v=False)]

    def row_names(self, element: PointOnSurface) -> tuple[Sequence[str], Sequence[str]]:
        return names_of_rows(element.surface, ()), ()

    def position_rows(self, element: PointOnSurface, view: ElementView) -> Sequence[S]:
        place = seen_point(element, view)
        if not callable(element.surface):
            own = dict(zip(XYZ, place, strict=True))
            return [text_value(element, text, view, own) for text in element.surface]
        try:
            found = element.surface(view.t, *place)
        except KinemorphError:
            raise
        except Exception as error:
            raise ModelError(
                f"element '{element.name}': the function given as surface raised {told(error)}; expected a function of "
                "t, x, y, z that works for any scalar, with the functions of kinemorph.algebra.scalar."
            ) from error
        if found is None or isinstance(found, (str, list, tuple)):
            raise ModelError(
                f"element '{element.name}': the function given as surface returns {short(found)}; expected one number. "
                "Correct the function."
            )
        return [found]


class PointOnCurveLaw(RowForces):
    """The rows y - Y(x) and z - Z(x) of a point (x, y, z), with splines Y and Z through given points."""

    def problems(self, element: PointOnCurve, robot: Robot) -> list[str]:
        found = guide_problems(element, robot)
        try:
            self._splines(element)
        except (ShapeError, ValueError) as error:
            found.append(
                wrong(
                    element.name,
                    f"points: {error}".rstrip("."),
                    "Give other points.",
                    "points",
                )
            )
        return found

    def row_names(self, element: PointOnCurve) -> tuple[Sequence[str], Sequence[str]]:
        return ("z",) if element.planar else ("y", "z"), ()

    def position_rows(self, element: PointOnCurve, view: ElementView) -> Sequence[S]:
        x, *others = seen_point(element, view)
        rows = [other - lookup(curve, x) for other, curve in zip(others, self._splines(element), strict=True)]
        return rows[1:] if element.planar else rows

    def _splines(self, element: PointOnCurve) -> list[Any]:
        columns = list(zip(*element.points, strict=True)) or [(), (), ()]
        return [through(columns[0], column, kind=element.method) for column in columns[1:]]


register(DistanceConstraint, DistanceLaw())
register(PointOnPlane, PointOnPlaneLaw())
register(PointOnLine, PointOnLineLaw())
register(PointOnSurface, PointOnSurfaceLaw())
register(PointOnCurve, PointOnCurveLaw())
