"""The law of torques that are splines over the time of a phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.scalar import S, div, minus, where
from kinemorph.algebra.tables import lookup, spline_basis
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ElementLaw, Slot, register
from kinemorph.model.elements.control.wiring import channel_names
from kinemorph.model.elements.gaits.torque_splines import TorqueSpline
from kinemorph.model.robot import Robot
from kinemorph.words import counted


class TorqueSplineLaw(ElementLaw[TorqueSpline]):
    """Sums of B-splines of the share of the duration that has passed; its memory is the time [s] at which it began."""

    def problems(self, element: TorqueSpline, robot: Robot) -> list[str]:
        return coefficient_problems(element, element.drives, "drives") + _timing(element)

    def memory(self, element: TorqueSpline) -> tuple[Slot, ...]:
        return (Slot("began", "s"),)

    def entered(self, element: TorqueSpline, view: ElementView) -> Sequence[S]:
        return [view.t]

    def signals(self, element: TorqueSpline) -> tuple[Slot, ...]:
        return tuple(Slot(name, f"tau.{to}") for name, to in zip(channel_names(element), element.drives, strict=True))

    def drives(self, element: TorqueSpline) -> Mapping[str, str]:
        return dict(zip(element.drives, channel_names(element), strict=True))

    def publish(self, element: TorqueSpline, view: ElementView) -> Mapping[str, S]:
        rows = view.value(element.coefficients)
        share = div(minus(view.t, view.m[0]), view.value(element.duration))
        basis = [lookup(table, share) for table in spline_basis(len(rows[0]), element.degree)]
        names, active = channel_names(element), view.activity
        return {name: where(active, dot(row, basis), 0.0) for name, row in zip(names, rows, strict=True)}


def coefficient_problems(element: Any, owners: Sequence[str], what: str) -> list[str]:
    """Problems of the field `coefficients`: a row for each of the `owners`, which are in the field `what`."""
    found, rows = [], element.coefficients
    if not owners or len(rows) != len(owners):
        problem = f"{what} has {counted(len(owners), 'name')} and coefficients has {counted(len(rows), 'row')}"
        found.append(wrong(element.name, f"{problem}; expected as many", "Give a row for each name.", "coefficients"))
    sizes = {len(row) for row in rows}
    if len(sizes) > 1 or not min(sizes, default=0):
        problem = f"its rows of coefficients have {sorted(sizes)} numbers; expected the same number in all rows"
        found.append(wrong(element.name, problem, f"Give each row {max(sizes, default=1)} numbers.", "coefficients"))
    return found


def _timing(element: TorqueSpline) -> list[str]:
    rows: Any = element.coefficients
    count = min((len(row) for row in rows), default=0)
    if not element.degree < max(count, 1):
        problem = f"degree is {element.degree} and there are {count} coefficients; expected 0 to {count - 1}"
        return [wrong(element.name, problem, "Give more coefficients, or a lower degree.", "degree")]
    return []


register(TorqueSpline, TorqueSplineLaw())
