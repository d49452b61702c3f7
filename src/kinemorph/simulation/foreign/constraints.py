"""Constraints of a plant kept from Python, state by state, as the march keeps them in compiled code."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.loops.pivoting import chosen_columns
from kinemorph.plants.loop_methods import DEGRADED, LOST, Partitioning, Projection, names_independent
from kinemorph.plants.plant import Plant
from kinemorph.simulation.march.constraints import FEW_CORRECTIONS, KEPT, MOST_CORRECTIONS, WELL_KEPT

Numbers = tuple[Array, Array, Array]  # m, u, p


class Held(NamedTuple):
    """A state s (ns,) on the constraints; how far it was off, against the sizes of rows; and whether it is there."""

    s: Array
    drift: float
    kept: bool


class _Functions(NamedTuple):
    holding: CompiledFunction | None
    dependence: CompiledFunction | None
    choose: CompiledFunction | None  # which velocities depend on the others, by J; none where they were named


_BUILT: WeakKeyDictionary[Plant, _Functions] = WeakKeyDictionary()


class Keeping:
    """What keeps the constraints of a plant, in the way that it was made for; see `loop_methods`."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.tolerance = plant.loops.tolerance if isinstance(plant.loops, Projection | Partitioning) else 0.0
        if plant not in _BUILT:
            free = plant.dependence is not None and names_independent(plant.loops) is None
            programs = (
                *(plant.holding, plant.dependence),
                chosen_columns(len(plant.constraint_names), plant.nv) if free else None,
            )
            _BUILT[plant] = _Functions(*(None if program is None else build(program) for program in programs))
        self.functions = _BUILT[plant]

    def held(self, t: float, base: Array, s: Array, numbers: Numbers) -> Held:
        """The state brought onto the constraints, where the method does that to states."""
        if self.functions.holding is None:
            return Held(s, 0.0, True)
        first = error = np.inf
        for count in range(int(MOST_CORRECTIONS)):
            if error <= WELL_KEPT or (error <= KEPT and count >= FEW_CORRECTIONS):
                break
            s, error = self.functions.holding(t, base, s, *numbers)
            first = float(error) if count == 0 else first
        return Held(s, self.tolerance * first, bool(error <= KEPT))

    def chosen(self, t: float, base: Array, s: Array, numbers: Numbers) -> Array | None:
        """Memory with a choice of dependent velocities that will do: the one there is, or a new one. None where they
        were named and hardly follow from the others.
        """
        assert self.functions.dependence is not None
        m = numbers[0]
        J, margin = self.functions.dependence(t, base, s, *numbers)
        if self.functions.choose is None:
            return m if margin >= LOST else None
        if margin >= DEGRADED:
            return m
        return np.concatenate([m[: len(m) - self.plant.nv], self.functions.choose(J)])
