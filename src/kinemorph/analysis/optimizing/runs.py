"""Designs in motion: cost and conditions at the ends of runs. A population of designs is one batch of runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.optimizing.equilibria import plant_with, start_values
from kinemorph.analysis.optimizing.measures import Cost, Sloped, measures_of
from kinemorph.analysis.optimizing.unknowns import Range, Unknowns, unknowns_of
from kinemorph.analysis.searches.conditions import Conditions
from kinemorph.analysis.searches.law_values import final_inputs
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.analysis.small_motions.varied_run import varied_run
from kinemorph.errors import UnsupportedError
from kinemorph.model.system import System
from kinemorph.simulation.integrators.methods import DEFAULT
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate_batch import simulate_batch
from kinemorph.simulation.stepping.step_options import longest_step

SAMPLES = 200  # of the run of the best design
OF_SLOPES = ("step", "rtol", "atol", "most_events")  # options of runs that `varied_run` takes, too


class Runs:
    """Designs of a system in runs that last until a given time, or end by an event."""

    at = "run"

    def __init__(
        self,
        model: Model,
        over: dict[str, Range],
        cost: Cost,
        subject_to: Conditions | None,
        *,
        until: float | None = None,
        q: Any = None,
        v: Any = None,
        x: Any = None,
        u: Any = None,
        p: Any = None,
        m: Any = None,
        method: Any = None,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        max_step: float | None = None,
        output_step: float | None = None,
        most_events: int | None = None,
        threads: int | None = None,
    ) -> None:
        """The arguments are those of `simulate_batch`."""
        self.unknowns: Unknowns = unknowns_of(over, "puqv", at=self.at)
        self.plant = plant_with(model, self.unknowns)
        self.measures = measures_of(self.plant, cost, subject_to, at_rest=False)
        if until is None and not isinstance(model, System):
            raise UnsupportedError("optimize: the end of the runs is not given. Give until=, a time in seconds.")
        self.until = float(model.settings.time if until is None and isinstance(model, System) else until or 0.0)
        self.given = {"q": q, "v": v, "x": x, "u": u, "p": p, "m": m}
        for group in {one.group for one in self.unknowns.each} - {"p"}:
            if not (self.given[group] is None or isinstance(self.given[group], Mapping)):
                raise UnsupportedError(f"optimize: some of {group} are chosen; give the others by name, as a dict.")
        samples = self.until if output_step is None and not self.measures.functions else output_step
        self.options = {"method": method, "max_step": longest_step(model, max_step, step), "threads": threads}
        self.options |= {"step": step, "rtol": rtol, "atol": atol, "most_events": most_events}
        self.options |= {"output_step": samples or (model.settings.sample if isinstance(model, System) else None)}

    def first(self) -> Array:
        """The numbers (n,) of the model itself."""
        state = {group: self.plant.initial(group, self.given[group]) for group in "puqv"}
        return start_values(self.plant, self.unknowns, state)

    def _started(self, X: Array) -> dict[str, Any]:
        """The initial values of designs X (B, n) by group; those of a group with unknowns by name."""
        found = dict(self.given)
        for group in {one.group for one in self.unknowns.each}:
            base = self.given[group]
            if group == "p" and base is not None:
                base = dict(zip((c.name for c in self.plant.p), self.plant.initial("p", base), strict=True))
            chosen = {one.column: X[:, k] for k, one in enumerate(self.unknowns.each) if one.group == group}
            found[group] = {**(base or {}), **chosen}
        return found

    def values(self, X: Array) -> Array:
        """All measures (B, count) of designs X (B, n), as one batch of runs; nan for runs that fail.

        Runs of a population do not warn: many of its designs are poor. A single design does.
        """
        with warnings.catch_warnings():
            if len(X) > 1:
                warnings.simplefilter("ignore")
            batch = simulate_batch(self.plant, self.until, **self._started(X), **self.options)
        if batch.interrupted:
            raise KeyboardInterrupt
        ok = np.flatnonzero(batch.ok)
        measured = np.full((len(X), self.measures.count), np.nan)
        if len(ok):
            measured[ok] = self.measures.at(final_inputs(batch, ok), lambda k: batch[int(ok[k])])
        return measured

    def sloped(self, values: Array) -> Sloped | None:
        """All measures of one design (n,) with the exact slopes of its run; None where the run or its slopes fail."""
        plant, n = self.plant, len(values)
        names = [one.name for one in self.unknowns.each if one.group in "pu"]
        initial = [one.name for one in self.unknowns.each if one.group in "qv"]
        given = {group: _single(part) for group, part in self._started(values[None]).items()}
        options: dict[str, Any] = {name: self.options[name] for name in OF_SLOPES if self.options[name] is not None}
        method = self.options["method"] or DEFAULT
        run = varied_run(plant, self.until, names, initial=initial, method=method, **given, **options)
        if run.message:
            return None
        order = [self.unknowns.names.index(name) for name in (*names, *initial)]
        by_s, by_u, by_p = np.zeros((plant.ns, n)), np.zeros((plant.nu, n)), np.zeros((len(plant.p), n))
        by_s[:, order] = run.slopes
        for matrix, group in ((by_u, "u"), (by_p, "p")):
            mine, theirs = self.unknowns.places(plant, group)
            matrix[theirs, mine] = 1.0
        s = np.concatenate([np.zeros(plant.nv), run.v, run.x])
        u, p = (plant.initial(group, given[group]) for group in "up")
        return self.measures.sloped((run.t, run.q, s, run.m, u, p), by_s, by_u, by_p)

    def result(self, values: Array) -> Trajectory:
        """The run of a design (n,), with SAMPLES samples."""
        options = {**self.options, "output_step": self.until / SAMPLES}
        return simulate_batch(self.plant, self.until, **self._started(values[None]), **options)[0]

    def failure(self, values: Array) -> str:
        """Why a design (n,) has no measures."""
        outcome = self.result(values).outcome
        if outcome.kind == "failed":
            return f"its run fails: {outcome.message}"
        return "the cost or a condition is not a finite number."


def _single(part: Any) -> Any:
    """Initial values of one design, from those of a batch of one."""
    if not isinstance(part, Mapping):
        return part
    return {name: float(np.ravel(value)[0]) for name, value in part.items()}
