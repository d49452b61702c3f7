"""The state about which a plant is analyzed where its user gives none: an equilibrium, near where its runs begin.

Linear equations say little about a motion that accelerates. So the initial values of a model are taken as they are only
where the motion goes on steadily from them, as that of a rolling bicycle; else the search for an equilibrium begins
there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from kinemorph.analysis.small_motions.equilibrium import equilibrium
from kinemorph.analysis.small_motions.linearize import linearize
from kinemorph.analysis.small_motions.plant_derivatives import Point, closed_point
from kinemorph.errors import KinemorphError
from kinemorph.plants.programs import Plant
from kinemorph.sheet import Said, said
from kinemorph.words import listed


class UsualPoint(NamedTuple):
    """The state, what it is called, and why it is no equilibrium; "" where it is one, or a steady motion."""

    point: Point
    place: Said
    note: str = ""


def usual_point(plant: Plant, *, u: Any = None, p: Any = None, t: float = 0.0) -> UsualPoint:
    """The steady motion in which runs begin, else an equilibrium near there; the initial state where none is found."""
    begun = closed_point(plant, None, None, x=None, u=u, p=p, t=t)
    if begun.v.any():
        with suppress(KinemorphError):
            if linearize(plant, **vars(begun), outputs=()).is_steady:
                return UsualPoint(begun, said("the steady motion of the initial state"))
    found = equilibrium(plant, u=u, p=p, t=t)
    if not found:
        return UsualPoint(begun, said("the initial state"), f"No equilibrium of '{plant.name}' was found near it.")
    named = zip((column.name for column in plant.q or plant.x), found.q if plant.q else found.x, strict=True)
    moved = [f"{name} = {value:.6g}" for name, value in named if abs(value) > 1e-9]
    where = listed(moved, 6) if moved else "the neutral configuration" if plant.q else "0"
    point = replace(begun, q=found.q, v=0.0 * begun.v, x=found.x, m=found.m)
    return UsualPoint(point, said("the equilibrium at {where}", where=where))
