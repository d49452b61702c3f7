"""Further outputs of a plant: those of its elements and laws, and the generalized forces on a robot.

Their names begin with `y.` and `tau.`. Their program has the inputs t, y = [q, v, x], m, u and p, as `Plant.flow` does.
"""

from __future__ import annotations

from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.mechanics.elements.ensemble import FORCE_UNITS
from kinemorph.plants.instant import Instant
from kinemorph.plants.jumps.guard_programs import values_of
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Column


def observed_columns(plant: Plant) -> list[Column]:
    """The names and units of the further outputs of a plant."""
    found = [Column(f"y.{name}", plant.output_units.get(name, "")) for name in plant.outputs]
    if plant.laws.efforts is not None:
        found += [Column(f"tau.{column.name}", FORCE_UNITS.get(column.unit, "")) for column in plant.v]
    return found


def observe(plant: Plant) -> Program:
    """The program (t, y, m, u, p) -> out: the further outputs at y = [q, v, x]."""
    nq, nv = plant.nq, plant.nv

    def values(t: Any, y: Any, m: Any, u: Any, p: Any) -> list[Any]:
        at = Instant(t, y[:nq], y[nq : nq + nv], y[nq + nv :], m, u, p).local
        found = values_of(plant, plant.outputs, at)
        if plant.laws.efforts is not None:
            forces = plant.laws.efforts(at)
            found += [one + other for one, other in zip(forces["supplied"], forces["damping"], strict=True)]
        return found

    return plant.traced("observe", values, "t y:ny m u p", {"out": str(len(observed_columns(plant)))})
