"""Constraint forces as signals: "rod.force", "wheel.height.force"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import ElementLaw, Slot
from kinemorph.model.elements.control.wiring import below


class RowForces(ElementLaw[Any]):
    """The abstract base of laws of constraints: the multiplier lambda of each row is a signal.

    J^T lambda acts on the robot, so lambda is the force along the quantity that the row measures: for a row in meters
    or meters per second it is in newtons.
    """

    def unit(self, element: Any) -> str:
        """The unit of the multipliers."""
        return "N"

    def signals(self, element: Any) -> tuple[Slot, ...]:
        return tuple(Slot(below(row, "force"), self.unit(element)) for row in self._rows(element))

    def publish(self, element: Any, view: ElementView) -> Mapping[str, S]:
        multipliers = view.instant.multipliers
        return {below(row, "force"): multipliers[below(element.name, row).rstrip(".")] for row in self._rows(element)}

    def _rows(self, element: Any) -> tuple[str, ...]:
        positions, velocities = self.row_names(element)
        return (*positions, *velocities)
