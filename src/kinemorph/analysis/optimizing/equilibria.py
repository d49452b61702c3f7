"""Designs at rest: cost and conditions at the equilibrium of each design, with exact slopes by the implicit rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.optimizing.measures import Cost, Sloped, measures_of
from kinemorph.analysis.optimizing.unknowns import Range, Unknowns, unknowns_of
from kinemorph.analysis.searches.conditions import Conditions
from kinemorph.analysis.small_motions.equilibrium import Equilibrium, equilibrium
from kinemorph.analysis.small_motions.equilibrium_search import Balance, Search
from kinemorph.analysis.small_motions.equilibrium_slopes import equilibrium_slopes
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.analysis.small_motions.plant_derivatives import Point, point_of, slopes_of
from kinemorph.errors import ModelError
from kinemorph.model.parameter import parameters_of
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as plant_of
from kinemorph.words import did_you_mean, listed

ACCURATE = 1e-10  # the tolerance of `equilibrium`
MOST_STEPS = 300  # of one search for an equilibrium
REGULARIZER = 100.0  # [1/s^2], that of `equilibrium`


class Equilibria:
    """Designs of a system at their equilibria near one configuration."""

    at = "equilibrium"

    def __init__(
        self,
        model: Model,
        over: dict[str, Range],
        cost: Cost,
        subject_to: Conditions | None,
        *,
        q: Any = None,
        x: Any = None,
        u: Any = None,
        p: Any = None,
        m: Any = None,
        t: float = 0.0,
        locked: str | Sequence[str] = (),
        stable: bool = False,
    ) -> None:
        """`q`, `x` are the guess, `u`, `p`, `m`, `t` the other values; `locked` and `stable` as for `equilibrium`."""
        self.unknowns: Unknowns = unknowns_of(over, "pu", at=self.at)
        self.plant = plant_with(model, self.unknowns, locked=locked)
        self.measures = measures_of(self.plant, cost, subject_to, at_rest=True)
        self.start: Point = replace(point_of(self.plant, q, None, x, u, p, t, m), v=np.zeros(self.plant.nv))
        self.stable = stable
        self._near: Point | None = None  # the equilibrium of the last design with slopes

    def first(self) -> Array:
        """The numbers (n,) of the model itself."""
        return start_values(self.plant, self.unknowns, vars(self.start))

    def _point(self, values: Array, near: Point) -> Point:
        """The state `near` with the inputs and parameters of a design (n,)."""
        u, p = (self.unknowns.put(self.plant, group, getattr(self.start, group), values) for group in "up")
        return replace(near, u=u, p=p)

    def _settled(self, values: Array) -> Balance | None:
        """The balance of a design (n,): from the guess, or where that fails from the last equilibrium with slopes."""
        for near in (self.start, self._near):
            if near is not None:
                search = Search(self.plant, downhill=self.stable, tolerance=ACCURATE, regularizer=REGULARIZER)
                here = search.settled(self._point(values, near), MOST_STEPS)
                if here is not None:
                    return here
        return None

    def values(self, X: Array) -> Array:
        """All measures (B, count) of designs X (B, n); nan for those without an equilibrium near the guess."""
        found = [self._settled(values) for values in X]
        kept = [k for k, one in enumerate(found) if one is not None]
        points = [one.point for one in found if one is not None]
        measured = np.full((len(X), self.measures.count), np.nan)
        if kept:
            inputs = tuple(np.array(part, dtype=float) for part in zip(*(at.inputs for at in points), strict=True))
            measured[kept] = self.measures.at(inputs, lambda k: self.result(X[kept[k]]))
        return measured

    def sloped(self, values: Array) -> Sloped | None:
        """All measures of one design (n,) with their exact slopes; None where it has no equilibrium."""
        here = self._settled(values)
        if here is None:
            return None
        self._near, slopes, plant = here.point, slopes_of(self.plant), self.plant
        still = np.zeros(slopes.n)
        blocks, by_data = slopes.blocks(here.point, still), slopes.by_data(here.point, still)
        whole = equilibrium_slopes(slopes, here.point, blocks, by_data)
        n, n_p = len(values), len(plant.p)
        by_u, by_p = np.zeros((plant.nu, n)), np.zeros((n_p, n))
        for matrix, group in ((by_u, "u"), (by_p, "p")):
            mine, theirs = self.unknowns.places(plant, group)
            matrix[theirs, mine] = 1.0
        by_s = whole[:, :n_p] @ by_p + whole[:, n_p:] @ by_u
        return self.measures.sloped(here.point.inputs, by_s, by_u, by_p)

    def result(self, values: Array) -> Equilibrium:
        """The equilibrium of a design (n,)."""
        here = self._settled(values)
        at = self._point(values, self.start) if here is None else here.point
        options: dict[str, Any] = {"x": at.x, "p": at.p, "m": at.m, "t": at.t, "stable": self.stable}
        return equilibrium(self.plant, at.q if self.plant.nv else None, at.u, **options)

    def failure(self, values: Array) -> str:
        """Why a design (n,) has no measures."""
        found = self.result(values)
        return found.message if not found else "the cost or a condition is not a finite number."


def plant_with(model: Model, unknowns: Unknowns, **options: Any) -> Plant:
    """The plant of a model that keeps the parameters that are chosen; raises where a name is unknown."""
    names = dict.fromkeys(one.column for one in unknowns.each if one.group == "p")
    known: list[str] = []
    if not isinstance(model, Plant):
        robot = model if isinstance(model, Robot) else model.robot
        elements = model.elements if isinstance(model, System) else ()
        known = [*dict.fromkeys(one.name for one in parameters_of((robot.parameters, *elements)))]
    made = plant_of(model, parameters=named_parameters(model, names), **options)
    known = [*dict.fromkeys([*known, *(column.name for column in made.p)])]
    for name in (one.column for one in unknowns.each if one.group == "p"):
        if name not in known:
            raise ModelError(
                f"optimize: '{made.name}' has no parameter '{name}'.{did_you_mean(name, known)} Known: "
                f"{listed(known, 24) or 'none'}. Give a number of the robot or of its elements as "
                f"Parameter('{name}', value)."
            )
    for one in unknowns.each:
        made.index(one.group, one.column)
    return made


def start_values(plant: Plant, unknowns: Unknowns, state: dict[str, Any]) -> Array:
    """The numbers (n,) of unknowns at a state, which has values by group."""
    return np.array([state[one.group][plant.index(one.group, one.column)] for one in unknowns.each], dtype=float)
