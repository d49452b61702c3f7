"""The rows of phi(q) = 0 as numbers: the part that each row belongs to, its unit, and all rows scaled to one unit.

Rows are in meters or radians, velocities in m/s or rad/s, and a rank or a condition number means nothing across units.
With l the longest lever arm by which a turn moves a closure [m], `scaled` is

    D_r J D_c,    D_r = 1/l for rows in meters, else 1,    D_c = l for velocities in m/s, else 1

whose entries are plain numbers, 1 at most where joints only turn. Masses do not enter.

`RobotRows` has the rows of loops and coupled joints; `PlantRows` also has those of the elements of a system, at t = 0.
Rows on velocities alone (wheels) come last: they count in J, but there is nothing to close in them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.mechanics.constraints.closures import (
    constraint_names,
    constraint_owners,
    constraint_sizes,
    constraint_units,
    openings,
)
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant

FLAT = 1e-7  # a singular value of the scaled J below this counts as zero
Mask = npt.NDArray[np.bool_]


class Gap(NamedTuple):
    """How far a loop is open or a coupled joint is off: `length` [m] and `angle` [rad]."""

    length: float
    angle: float

    def __str__(self) -> str:
        parts = [f"{self.length:.3g} m"] if self.length or not self.angle else []
        return " and ".join([*parts, *([f"{self.angle:.3g} rad"] if self.angle else [])])


class RobotRows:
    """phi, J and the names of their rows, for one robot."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics
        self.robot: Robot = dynamics.robot
        self.names = constraint_names(self.robot)
        self.owners = constraint_owners(self.robot)
        self.lengths: Mask = np.array([unit == "m" for unit in constraint_units(self.robot)], dtype=bool)
        self.slides: Mask = np.array([unit == "m/s" for unit in self.robot.v_units], dtype=bool)

    @property
    def is_closed_by_itself(self) -> bool:
        """Whether there is nothing to close: coupled joints follow their leaders already."""
        return not self.robot.loops

    def error(self, q: Array) -> Array:
        """phi, (nc,)."""
        if not self.names:
            return np.zeros(0)
        return np.asarray(self.dynamics.constraint_error(q, *self._parameters))

    def slopes(self, q: Array) -> Array:
        """J, (nc, nv), including rows on velocities alone."""
        return self.jacobian(q)

    def jacobian(self, q: Array) -> Array:
        """J, (nc, nv), of the rows of `error`."""
        if not self.names:
            return np.zeros((0, self.robot.nv))
        return np.asarray(self.dynamics.constraint_jacobian(q, *self._parameters))

    def rounding(self, q: Array) -> float:
        """The error of a row near q that rounding alone may leave [m or rad]: it is proportional to the length of the
        longest loop.
        """
        sizes = constraint_sizes(self._tree, [float(x) for x in q])
        return 8.0 * float(np.finfo(float).eps) * max([1.0, *map(float, sizes)])

    def lever(self, J: Array) -> float:
        """The longest lever arm in J [m]; 1 where nothing turns a row in meters."""
        arms = np.abs(J[np.ix_(self.lengths[: len(J)], ~self.slides)])
        longest = float(arms.max(initial=0.0))
        return longest if longest > 0.0 else 1.0

    def scaled(self, J: Array, lever: float) -> Array:
        """J (nc, nv) without units."""
        rows = np.where(self.lengths[: len(J)], lever, 1.0)
        return np.asarray(J / rows[:, None] * np.where(self.slides, lever, 1.0))

    def gaps(self, q: Array) -> dict[str, Gap]:
        """For every loop, then for every coupled joint: how far it is open, by name."""
        sizes = openings(self._tree, [float(x) for x in q])
        gaps = {joint.name: Gap(*size) for joint, size in zip(self.robot.loops, sizes, strict=True)}
        count, end = len(self.robot.couplings), len(constraint_owners(self.robot))
        if count:
            off = np.abs(self.error(q)[end - count : end])
            for coupling, size, length in zip(self.robot.couplings, off, self.lengths[end - count : end], strict=True):
                gaps[coupling.joint] = Gap(float(size), 0.0) if length else Gap(0.0, float(size))
        return gaps

    def by_owner(self, rows: Sequence[int]) -> dict[str, tuple[str, ...]]:
        """The names of rows, given by index, by owner and without the owner's name."""
        found: dict[str, tuple[str, ...]] = {}
        for row in rows:
            owner = self.owners[row]
            found[owner] = (*found.get(owner, ()), self.names[row].removeprefix(f"{owner}."))
        return found

    @cached_property
    def _tree(self) -> Tree:
        return resolve(self.robot)

    @cached_property
    def _parameters(self) -> list[Array]:
        return [self.dynamics.nominal_parameters] if self.dynamics.parameters else []


class PlantRows(RobotRows):
    """The rows of a system: its loops, coupled joints and constraints of elements; inputs and states are the initial
    ones.
    """

    def __init__(self, dynamics: Dynamics, plant: Plant) -> None:
        super().__init__(dynamics)
        assert plant.constraints is not None
        self.plant = plant
        more = plant.constraint_names[len(self.names) :]
        self.names = plant.constraint_names
        self.owners = (*self.owners, *(name.partition(".")[0] for name in more))
        sizes = self._at(np.array(plant.start["q"], dtype=float))[3]
        self.lengths = np.concatenate([self.lengths, sizes[len(self.lengths) :] != 1.0])

    @property
    def is_closed_by_itself(self) -> bool:
        return not self.robot.loops and self.plant.position_rows == len(self.robot.couplings)

    def error(self, q: Array) -> Array:
        return self._at(q)[0]

    def jacobian(self, q: Array) -> Array:
        return np.asarray(self._at(q)[2][..., : self.plant.position_rows, :])

    def slopes(self, q: Array) -> Array:
        return self._at(q)[2]

    def gaps(self, q: Array) -> dict[str, Gap]:
        gaps, own = super().gaps(q), len(constraint_owners(self.robot))
        for row, (owner, off) in enumerate(zip(self.owners[own:], self.error(q)[own:], strict=False), own):
            length, angle = gaps.get(owner, Gap(0.0, 0.0))
            size = abs(float(off))
            gaps[owner] = Gap(math.hypot(length, size), angle) if self.lengths[row] else Gap(length, angle + size)
        return gaps

    def _at(self, q: Array) -> tuple[Array, ...]:
        """phi, rate, J, sizes at rest."""
        start = self.plant.start
        s = np.concatenate([np.zeros(2 * self.robot.nv), np.asarray(start["x"], dtype=float)])
        found = self._constraints(0.0, q, s, *(np.asarray(start[group], dtype=float) for group in "mup"))
        return tuple(np.asarray(part) for part in found)

    @cached_property
    def _constraints(self) -> CompiledFunction:
        assert self.plant.constraints is not None
        return build(self.plant.constraints, backend=self.dynamics.backend)


def rows_of(model: Robot | System | Dynamics, dynamics: Dynamics) -> RobotRows:
    """All rows of a model, including those of a system's elements."""
    if isinstance(model, System) and model.elements:
        whole = plant(model)
        if len(whole.constraint_names) > len(constraint_names(dynamics.robot)):
            return PlantRows(dynamics, whole)
    return RobotRows(dynamics)


def open_loops(gaps: Mapping[str, Gap], tolerance: float) -> str:
    """`loop 'closure' by 0.3 m, coupling of 'jaw' by 0.1 rad`: the openings above the tolerance, the largest first."""
    wide = sorted(gaps, key=lambda name: -max(gaps[name]))
    return ", ".join(f"'{name}' by {gaps[name]}" for name in wide if max(gaps[name]) > tolerance)
