"""Boxes in the world that points of a robot stay out of, or stay inside of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import act
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import UnsupportedError
from kinemorph.frozen import dataclass
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.tree import WORLD, Tree

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Zone:
    """A box with edges along the axes of the world, from the corner `lower` to the corner `upper` [m].

    Points of the robot stay out of it, or, where `inside` is true, stay in it; `margin` [m] is the least distance from
    its faces. Corners may be infinite: a floor is Zone((-inf, -inf, -inf), (inf, inf, 0)).
    """

    lower: Point
    upper: Point
    inside: bool = False
    margin: float = 0.0


class Clearance(NamedTuple):
    """How far points keep their zones: distances (N, points * zones) [m] and their slopes (N, points * zones, nv)."""

    distances: Array
    by_q: Array


class Zones:
    """The distances of points of a robot from zones. A distance is above 0 where the point keeps the zone.

    `points` are {body or frame: points (k, 3) in its axes [m]}; by default the origins of all bodies and frames that
    move. The distance from a box is the largest of those from the planes of its faces, so that near edges and corners
    it is less than the true one.
    """

    def __init__(self, dynamics: Dynamics, zones: Sequence[Zone], points: Mapping[str, Any] | None) -> None:
        self.zones = tuple(zones)
        robot, tree = dynamics.robot, dynamics._maker.tree
        for k, zone in enumerate(self.zones):
            low, high = np.asarray(zone.lower, dtype=float), np.asarray(zone.upper, dtype=float)
            if low.shape != (3,) or high.shape != (3,) or not (low < high).all():
                raise UnsupportedError(
                    f"excite: zone {k} reaches from {zone.lower} to {zone.upper}; expected two corners (x, y, z), the "
                    "second with larger numbers."
                )
        moving = [name for name in (*robot.body_names, *(frame.name for frame in robot.frames))
                  if tree.attachments[name].link != WORLD]  # fmt: skip
        given = points if points is not None else {name: (0.0, 0.0, 0.0) for name in moving}
        self.places: list[tuple[str, Point]] = []
        for name, rows in given.items():
            robot.frame(name)
            for row in np.atleast_2d(np.asarray(rows, dtype=float)):
                if row.shape != (3,) or not np.isfinite(row).all():
                    raise UnsupportedError(
                        f"excite: points of '{name}' are {rows}; expected three coordinates [m] for each point."
                    )
                self.places.append((name, (float(row[0]), float(row[1]), float(row[2]))))
        self.names = tuple(
            f"{name} {'in' if zone.inside else 'out of'} zone {k}" for k, zone in enumerate(self.zones)
            for name, _ in self.places
        )  # fmt: skip
        self._functions: tuple[CompiledFunction, CompiledFunction] | None = None
        self._dynamics = dynamics

    def wider(self, margin: float) -> Zones:
        """The same points, kept further away from the zones by `margin` [m]."""
        if not self.zones:
            return self
        points: dict[str, list[Point]] = {}
        for name, point in self.places:
            points.setdefault(name, []).append(point)
        return Zones(self._dynamics, [replace(zone, margin=zone.margin + margin) for zone in self.zones], points)

    def __len__(self) -> int:
        return len(self.zones) * len(self.places)

    def positions(self, q: Array) -> Array:
        """The points in the world at q (N, nq), shape (N, points, 3) [m]."""
        found: Array = self._compiled()[0](q)
        return found

    def clearance(self, q: Array) -> Clearance:
        """The distances of all points from all zones at q (N, nq), and their slopes."""
        place, slope = (function(q) for function in self._compiled())
        distances, slopes = [], []
        for zone in self.zones:
            faces = np.concatenate([zone.lower - place, place - np.asarray(zone.upper)], axis=-1)  # above 0 outside
            signs = np.concatenate([-np.ones(3), np.ones(3)])
            if zone.inside:
                nearest, sign = faces.argmax(axis=-1), -1.0
            else:
                nearest, sign = faces.argmax(axis=-1), 1.0
            value = np.take_along_axis(faces, nearest[..., None], axis=-1)[..., 0]
            distances.append(sign * value - zone.margin)
            row = np.take_along_axis(slope, (nearest % 3)[..., None, None], axis=-2)[..., 0, :]
            slopes.append(sign * signs[nearest][..., None] * row)
        return Clearance(np.concatenate(distances, axis=1), np.concatenate(slopes, axis=1))

    def _compiled(self) -> tuple[CompiledFunction, CompiledFunction]:
        """The functions of the points (points, 3) and of their slopes (points, 3, nv)."""
        if self._functions is None:
            places, maker = self.places, self._dynamics._maker

            def law(tree: Tree, q: Any) -> list[Any]:
                poses = forward_kinematics(tree, q, [name for name, _ in places])
                return [list(act(pose, point)) for pose, (_, point) in zip(poses, places, strict=True)]

            program = maker.program("points", ("q",), law, {"out": (len(places), 3)}, written=True)
            self._functions = maker.built(program), maker.built(maker.slopes(program, ("q",)))
        return self._functions
