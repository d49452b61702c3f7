"""Collects the parts of a robot that is described by position matrices: coordinates, dependents and placed bodies."""

from __future__ import annotations

from typing import Any

from kinemorph.algebra.notation import mth, trot, vec
from kinemorph.formats.blueprint import Blueprint
from kinemorph.formats.findings import Findings
from kinemorph.model.building.builder import Verdict
from kinemorph.model.parameter import Coordinate, Value
from kinemorph.model.positions.position_builder import PositionBuilder


class PositionBlueprint(Blueprint):
    """A blueprint whose robot is made by a `PositionBuilder`; it has no joints and couplings of its own."""

    def __init__(self, findings: Findings, name: str, *, line: int = 1, gravity: Any = None) -> None:
        super().__init__(findings, name, line=line, gravity=gravity)
        self.positions = PositionBuilder(self.builder.name, self.builder.gravity)
        self.coordinates: dict[str, Coordinate] = {}  # by name

    def coordinate(self, line: int, name: str, unit: str, value: float, **data: Any) -> Coordinate:
        """Declares a coordinate, with its initial value and `data` as for `PositionBuilder.coordinate`."""
        if self._named("coordinate", name, line):
            self.coordinates[name] = self.positions.coordinate(name, unit, value, **data)
        return self.coordinates.get(name, Coordinate(name, value, unit))

    def dependent(self, line: int, name: str, formula: Value, unit: str) -> None:
        """Declares a dependent quantity."""
        if self._named("dependent", name, line):
            self.positions.dependent(name, formula, unit)

    def placed(
        self, line: int, name: str, mass: Any, inertia: Any, position: mth, reference: str = "", **shapes: Any
    ) -> None:
        """Declares a body by its position in the world or in the frame of the body `reference`."""
        self._count += 1
        if self._named("body", name, line):
            self.positions.body(
                *(name, mass, inertia),
                T0G=None if reference else position,
                TrefG=position if reference else None,
                reference=reference,
                **shapes,
            )

    def frame(self, line: int, name: str, body: str, **data: Any) -> None:
        """Declares a frame on a body; `data` is its placement, if it has one."""
        if self._named("frame", name, line):
            pose = data.get("placement")
            self.positions.frame(name, body, mth() if pose is None else mth(trot(pose.R), vec(*pose.p)))

    def verdict(self) -> Verdict:
        """The robot that the builder makes of the declared parts, None if it has problems, and everything that its
        checks found.
        """
        self.positions.gravity = self.builder.gravity  # a sidecar may have replaced it
        return self.positions.judged()
