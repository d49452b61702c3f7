"""The motion of a plant from one section to the next, with exact slopes: for a fixed time, or until a guard ends it.

The derivatives S of the motion are integrated together with it (`variational_plant`), from the slopes of the state on
the first section. Where a guard g ends the motion, the time T of its end changes too:

    g(t, s, p) = 0:     dT = -(g_s S + g_p) / (g_s f + g_t),      ds = S + f dT,      f = ds/dt
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.analysis.orbits.return_map import Return
from kinemorph.analysis.orbits.section import Section
from kinemorph.analysis.small_motions.plant_derivatives import Point, built
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law, of_groups
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

OFF = 1e-6  # an error of constraints above this means that coordinates lead to no state
AT_REST = 1e-7  # a state all of whose rates are smaller than this is an equilibrium
GRAZING = 1e-10  # a guard that changes more slowly than this touches zero and does not cross it


@dataclass(frozen=True)
class CycleOptions:
    """How motions are integrated: method, tolerances, and the longest time [s] until a section is reached."""

    method: str = "dop853"
    rtol: float = 1e-11
    atol: float = 1e-13
    longest: float = 100.0

    @property
    def steps(self) -> dict[str, Any]:
        """The arguments of `simulate` that say how steps are taken."""
        return {"method": self.method, "rtol": self.rtol, "atol": self.atol}

    def run(self, plant: Plant, at: Point, until: float | None = None, **options: Any) -> Trajectory:
        """The run of a plant from a point to a time [s], by default for the longest time, sampled at both ends only."""
        until = at.t + self.longest if until is None else until
        parts = {"q": at.q, "v": at.v, "x": at.x, "p": at.p, "inputs": at.u}
        given: dict[str, Any] = {name: part for name, part in parts.items() if len(part)}
        return simulate(plant, until, start=at.t, output_step=[at.t, until], **given, **self.steps, **options)


@dataclass(frozen=True, eq=False)
class Ending:
    """How a piece of a cycle ends.

    `guard`     ends it when it fires; None where the piece lasts `share` of the period or `fixed` seconds
    `period`    the period [s] as a number or a law of p; None for an autonomous motion
    `share`     the part of the period that the piece lasts
    `fixed`     the duration [s] of a piece that neither a guard nor a period ends
    """

    guard: Guard | None = None
    period: float | Law | None = None
    share: float = 1.0
    fixed: float = 0.0

    def duration(self, p: Array, places: Sequence[int]) -> tuple[float, Array]:
        """(duration [s], its derivative (k,) by the parameters at these places in p), where no guard ends the piece."""
        if self.period is None:
            return self.fixed, np.zeros(len(places))
        value, slopes = period_at(self.period, p, places)
        return self.share * value, self.share * slopes


def period_at(period: float | Law, p: Array, places: Sequence[int] = ()) -> tuple[float, Array]:
    """(period [s], its derivative (k,) by the parameters at these places in p)."""
    value = float(of_groups(period, {"p": p.tolist()}, "'period'") if callable(period) else period)
    if not 0.0 < value < np.inf:
        raise UnsupportedError(f"the period is {value:g} s; expected a finite time above 0.")
    if not callable(period):
        return value, np.zeros(len(places))
    slopes, along = [], Direction()
    for k in places:
        moved = [along.moved(one, float(j == k)) for j, one in enumerate(p.tolist())]
        slopes.append(float(along.tangent(of_groups(period, {"p": moved}, "'period'"))))
    return value, np.array(slopes)


@dataclass(frozen=True, eq=False)
class FlowPiece:
    """The motion from the section `begin` to the section `finish`."""

    plant: Plant
    wide: Plant  # the plant with its derivatives by the varied parameters and by `seeds` initial values
    seeds: int
    varied: tuple[str, ...]
    begin: Section
    finish: Section
    ending: Ending
    options: CycleOptions

    @property
    def start(self) -> Array:
        """The coordinates (n,) of the shooting node at the start of the piece."""
        return self.begin.start

    @cached_property
    def _places(self) -> list[int]:
        return [self.plant.index("p", name) for name in self.varied]

    def __call__(self, z: Array, p: Array) -> Return:
        """The end of the piece that starts at z (n,), at the parameters p, with slopes."""
        try:
            return self._carried(z, p)
        except (KinemorphError, np.linalg.LinAlgError) as error:  # a law is not defined there
            return Return.lost(len(z), len(self.varied), str(error))

    def _carried(self, z: Array, p: Array) -> Return:
        plant, k, n = self.plant, len(self.varied), len(z)
        first = self.begin.at(np.asarray(z, dtype=float), p)
        if not first.off < OFF or not np.isfinite([*first.q, *first.v, *first.x]).all():
            return Return.lost(n, k, f"no state of '{plant.name}' has these coordinates.")
        if self.ending.guard:
            there = Point(self.begin.home.t, first.q, first.v, first.x, self.begin.home.m, self.begin.home.u, p)
            if np.abs(plant.compiled("rate")(*there.inputs)).max(initial=0.0) < AT_REST:
                return Return.lost(n, k, f"'{plant.name}' is at rest there: this is an equilibrium and not an orbit.")
        S = np.zeros((k + self.seeds, plant.ns))
        S[:k], S[k : k + n] = first.by_p[:, self._places].T, first.by_z.T
        home, guard = self.begin.home, self.ending.guard
        lasting, slopes = self.ending.duration(p, self._places)
        at = replace(home, q=first.q, v=first.v, x=np.concatenate([first.x, S.ravel()]), p=p)
        events = stopping(guard, plant) if guard else ()
        run = self.options.run(self.wide, at, None if guard else home.t + lasting, events=events)
        if not run.outcome.ok:
            return Return.lost(n, k, f"the motion fails: {run.outcome.message}")
        if guard and not run.events:
            return Return.lost(
                n, k, f"the motion does not reach the section '{guard.name}' within {self.options.longest:g} s."
            )
        return self._returned(run, p, n, slopes)

    def _returned(self, run: Trajectory, p: Array, n: int, slopes: Array) -> Return:
        """The state at the end of a run with its derivatives, in the coordinates of the section there."""
        plant, k, guard, home = self.plant, len(self.varied), self.ending.guard, self.begin.home
        t, x = float(run.t[-1]), run.x[-1]
        end = Point(t, run.q[-1], run.v[-1], x[: plant.nx], home.m, home.u, p)
        S = x[plant.nx :].reshape(k + self.seeds, plant.ns).T
        f = plant.compiled("rate")(*end.inputs)
        later = np.concatenate([slopes, np.zeros(self.seeds)])  # derivatives of the time at the end
        if guard:
            (g_s,), (g_t,), (g_p,) = guard_slopes(plant, guard)(*end.inputs)
            along = float(g_s @ f + g_t)
            if abs(along) < GRAZING * max(1.0, float(np.linalg.norm(g_s))):
                return Return.lost(n, k, f"the motion touches the section '{guard.name}' and does not cross it.")
            later = -(g_s @ S) / along
            later[:k] -= g_p[self._places] / along
        S = S + np.outer(f, later)
        found = self.finish.arrive(end)
        moved = found.by_s @ S + np.outer(found.by_t, later)
        by_p = moved[:, :k] + found.by_p[:, self._places]
        return Return(found.z, t - home.t, moved[:, k : k + n], by_p, later[k : k + n], later[:k])


def stopping(guard: Guard, plant: Plant) -> Guard:
    """The guard that ends a run, whose law reads only the first states x of a larger plant: those of `plant`."""
    key = ("stopping", guard)
    if key not in plant.kept:
        nx = plant.nx

        def law(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
            given = {"t": t, "q": q, "v": v, "x": x[:nx], "m": m, "u": u, "p": p}
            return of_groups(guard.law, given, f"'{guard.name}'")

        plant.kept[key] = replace(guard, law=law, stop=True, reset=None)
    found: Guard = plant.kept[key]
    return found


def guard_slopes(plant: Plant, guard: Guard) -> CompiledFunction:
    """The derivatives of a guard by s (1, ns), t (1,) and p (1, np), from the inputs of `Plant.rate`."""
    key = ("guard slopes", guard)
    if key not in plant.kept:
        plant.kept[key] = built(jacobian(plant.observed({guard.name: guard.law}), "out", ("s", "t", "p")))
    found: CompiledFunction = plant.kept[key]
    return found
