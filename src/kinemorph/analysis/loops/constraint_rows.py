"""The constraint rows phi(q) = 0 of a robot or a system: their values, Jacobian J, names, owners and units.

The owner of a row is the loop, coupled joint or element that it belongs to. Rows are in meters or radians, velocities
in m/s or rad/s, and a rank or a condition number across units means nothing. With l [m] the longest lever arm with
which a rotation moves a closure, `scaled` is

    D_r J D_c,    D_r = 1/l for rows in meters, else 1,    D_c = l for velocities in m/s, else 1

whose entries are numbers without unit, 1 at most where joints only rotate. Masses have no influence.

`RobotRows` has the rows of loops and coupled joints; `PlantRows` also has those of the elements of a system, at t = 0.
Rows that constrain velocities alone (wheels) come last: they are in J, but not in phi.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    """How far a loop is open, or a coupled joint is away from its leader: `length` [m] and `angle` [rad]."""

    length: float
    angle: float

    def __str__(self) -> str:
        parts = [f"{self.length:.3g} m"] if self.length or not self.angle else []
        return " and ".join([*parts, *([f"{self.angle:.3g} rad"] if self.angle else [])])


class RobotRows:
    """The constraint rows of the loops and coupled joints of one robot: phi, J, names, owners and units."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = replace(dynamics, constraints=(), _made={}) if dynamics.constraints else dynamics
        self.robot: Robot = dynamics.robot
        self.names = constraint_names(self.robot)
        self.owners = constraint_owners(self.robot)
        self.lengths: Mask = np.array([unit == "m" for unit in constraint_units(self.robot)], dtype=bool)
        self.slides: Mask = np.array([unit == "m/s" for unit in self.robot.v_units], dtype=bool)

    @property
    def is_always_closed(self) -> bool:
        """Whether there are no loops to close; coupled joints always follow their leaders."""
        return not self.robot.loops

    def error(self, q: Array) -> Array:
        """phi(q), the errors of the constraint rows on positions [m or rad], shape (nc,)."""
        if not self.names:
            return np.zeros(0)
        return np.asarray(self.dynamics.constraint_error(q, *self._parameters))

    def slopes(self, q: Array) -> Array:
        """The Jacobian J of all constraint rows, shape (nc, nv), including rows that constrain velocities alone."""
        return self.jacobian(q)

    def jacobian(self, q: Array) -> Array:
        """The Jacobian J of the rows of `error`, shape (nc, nv)."""
        if not self.names:
            return np.zeros((0, self.robot.nv))
        return np.asarray(self.dynamics.constraint_jacobian(q, *self._parameters))

    def rounding(self, q: Array) -> float:
        """The error of a row [m or rad] that may be only rounding near q; it grows with the longest loop."""
        sizes = constraint_sizes(self._tree, self._tree.all_joints([float(x) for x in q]).q)
        return 8.0 * float(np.finfo(float).eps) * max([1.0, *map(float, sizes)])

    def lever(self, J: Array) -> float:
        """The longest lever arm in J [m]; 1 where no rotation changes a row in meters."""
        arms = np.abs(J[np.ix_(self.lengths[: len(J)], ~self.slides)])
        longest = float(arms.max(initial=0.0))
        return longest if longest > 0.0 else 1.0

    def scaled(self, J: Array, lever: float) -> Array:
        """J (nc, nv) with rows and columns scaled by the lever arm [m], so that its entries have no unit."""
        rows = np.where(self.lengths[: len(J)], lever, 1.0)
        return np.asarray(J / rows[:, None] * np.where(self.slides, lever, 1.0))

    def gaps(self, q: Array) -> dict[str, Gap]:
        """How far each loop is open and each coupled joint is away from its leader, by name; loops first."""
        sizes = openings(self._tree, self._tree.all_joints([float(x) for x in q]).q)
        gaps = {joint.name: Gap(*size) for joint, size in zip(self.robot.loops, sizes, strict=True)}
        count, end = len(self.robot.couplings), len(constraint_owners(self.robot))
        if count:
            off = np.abs(self.error(q)[end - count : end])
            for coupling, size, length in zip(self.robot.couplings, off, self.lengths[end - count : end], strict=True):
                gaps[coupling.joint] = Gap(float(size), 0.0) if length else Gap(0.0, float(size))
        return gaps

    def by_owner(self, rows: Sequence[int]) -> dict[str, tuple[str, ...]]:
        """Owner -> the names of its rows among the given indices, without the owner's name in front."""
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
    """The constraint rows of a system: of its loops, coupled joints and elements, with initial inputs and states."""

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
    def is_always_closed(self) -> bool:
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
        """(phi, rates of all rows, J, sizes of all rows) at rest at q (nq,); a size is the largest change per rad."""
        start = self.plant.start
        s = np.concatenate([np.zeros(2 * self.robot.nv), np.asarray(start["x"], dtype=float)])
        found = self._constraints(0.0, q, s, *(np.asarray(start[group], dtype=float) for group in "mup"))
        return tuple(np.asarray(part) for part in found)

    @cached_property
    def _constraints(self) -> CompiledFunction:
        assert self.plant.constraints is not None
        return build(self.plant.constraints, backend=self.dynamics.backend)


def rows_of(model: Robot | System | Dynamics, dynamics: Dynamics) -> RobotRows:
    """All constraint rows of a model, including those of a system's elements."""
    if isinstance(model, System) and model.elements:
        whole = plant(model)
        if len(whole.constraint_names) > len(constraint_names(dynamics.robot)):
            return PlantRows(dynamics, whole)
    return RobotRows(dynamics)


def open_loops(gaps: Mapping[str, Gap], tolerance: float) -> str:
    """The gaps above the tolerance as text, the largest first: `'closure' by 0.3 m, 'jaw' by 0.1 rad`."""
    wide = sorted(gaps, key=lambda name: -max(gaps[name]))
    return ", ".join(f"'{name}' by {gaps[name]}" for name in wide if max(gaps[name]) > tolerance)
