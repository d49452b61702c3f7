"""The law of held points: constraint rows in meters between a point and where it was when the phase began."""

from __future__ import annotations

from collections.abc import Sequence

from kinemorph.algebra.scalar import S, minus
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.elements.checks import known_body, wrong
from kinemorph.mechanics.elements.constraints.row_forces import RowForces
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Slot, register
from kinemorph.model.elements.phases.holds import Hold
from kinemorph.model.robot import Robot
from kinemorph.model.topology import WORLD

AXES = "xyz"


class HoldLaw(RowForces):
    """A point held in world directions; its memory is the position [m] at which it is held."""

    def problems(self, element: Hold, robot: Robot) -> list[str]:
        found = known_body(element, "body", element.body, robot)
        found += known_body(element, "along", element.along, robot)
        axes = element.axes
        if not axes or set(axes) - set(AXES) or len(set(axes)) < len(axes):
            problem = f"axes is '{axes}'; expected some of the letters x, y and z, each once"
            found.append(wrong(element.name, problem, 'Write "xyz", or "xz" for a planar robot.', "axes"))
        if element.normal.removeprefix("-") not in tuple(AXES):
            problem = f"normal is '{element.normal}'; expected x, y or z, or one of them with a minus sign"
            found.append(wrong(element.name, problem, 'Write "z", or "-x" for a wall.', "normal"))
        return found

    def memory(self, element: Hold) -> tuple[Slot, ...]:
        return tuple(Slot(f"{axis}.held", "m") for axis in _remembered(element))

    def entered(self, element: Hold, view: ElementView) -> Sequence[S]:
        return _position(element, view, _remembered(element))

    def row_names(self, element: Hold) -> tuple[Sequence[str], Sequence[str]]:
        return tuple(element.axes), ()

    def position_rows(self, element: Hold, view: ElementView) -> Sequence[S]:
        moved = [
            minus(now, held) for now, held in zip(_position(element, view, _remembered(element)), view.m, strict=True)
        ]
        if element.along == WORLD:
            return moved
        R = view.frame(element.along).pose.R
        return [dot([R[k][AXES.index(axis)] for k in range(3)], moved) for axis in element.axes]


def _remembered(element: Hold) -> str:
    """The world directions in which the position of the point is remembered: all of them where its axes turn."""
    return element.axes if element.along == WORLD else AXES


def _position(element: Hold, view: ElementView, axes: str) -> list[S]:
    """The coordinates [m] of the point along world directions."""
    point = view.place(element.body, element.point).position
    return [point[AXES.index(axis)] for axis in axes]


register(Hold, HoldLaw())
