"""Keeping the constraints of a plant from Python, state by state, as the march does in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.loops.pivoting import chosen_columns
from kinemorph.frozen import kept_with
from kinemorph.plants.loop_methods import DEGRADED, LOST, Partitioning, Projection, names_independent
from kinemorph.plants.programs import Plant
from kinemorph.simulation.march.constraints import FEW_CORRECTIONS, KEPT, MOST_CORRECTIONS, WELL_KEPT

Numbers = tuple[Array, Array, Array]  # m, u, p


class Corrected(NamedTuple):
    """A state s = [w, v, x] (ns,) after its correction onto the constraints; see `plants.LocalInstant` for the letters.

    `drift` is the largest constraint error before the correction, divided by the size of its row; `kept` tells whether
    the constraints are satisfied now.
    """

    s: Array
    drift: float
    kept: bool


class _Functions(NamedTuple):
    holding: CompiledFunction | None
    dependence: CompiledFunction | None
    choose: CompiledFunction | None  # chooses dependent velocities from J; None where the user named them


@kept_with
def _functions(plant: Plant) -> _Functions:
    free = plant.dependence is not None and names_independent(plant.loops) is None
    choose = chosen_columns(len(plant.constraint_names), plant.nv) if free else None
    programs = (plant.holding, plant.dependence, choose)
    return _Functions(*(None if program is None else build(program) for program in programs))


class ConstraintKeeper:
    """Keeps states on the constraints of a plant, with the constraint method of the plant; see `loop_methods`."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.tolerance = plant.loops.tolerance if isinstance(plant.loops, Projection | Partitioning) else 0.0
        self.functions = _functions(plant)

    def corrected(self, t: float, base: Array, s: Array, numbers: Numbers) -> Corrected:
        """The state brought onto the constraints; the same state where the constraint method does not correct states.

        The state at t [s] is s = [w, v, x] with local coordinates w about the configuration `base` (nq,). `numbers` is
        (m, u, p): memory, inputs and parameters.
        """
        if self.functions.holding is None:
            return Corrected(s, 0.0, True)
        first = error = np.inf
        for count in range(int(MOST_CORRECTIONS)):
            if error <= WELL_KEPT or (error <= KEPT and count >= FEW_CORRECTIONS):
                break
            s, error = self.functions.holding(t, base, s, *numbers)
            first = float(error) if count == 0 else first
        return Corrected(s, self.tolerance * first, bool(error <= KEPT))

    def chosen(self, t: float, base: Array, s: Array, numbers: Numbers) -> Array | None:
        """The plant's memory m (nm,) with a well-conditioned choice of dependent velocities.

        The last nv entries of m are that choice: 1 for a dependent velocity, else 0. A bad choice is replaced.
        Returns None where the user named independent velocities that hardly determine the others.
        """
        assert self.functions.dependence is not None
        m = numbers[0]
        J, margin = self.functions.dependence(t, base, s, *numbers)
        if self.functions.choose is None:
            return m if margin >= LOST else None
        if margin >= DEGRADED:
            return m
        return np.concatenate([m[: len(m) - self.plant.nv], self.functions.choose(J)])
