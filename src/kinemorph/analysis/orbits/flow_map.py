"""`return_map`: the return map of a robot or a plant, over one period or from a section back to that section.

For multiple shooting a cycle is divided into pieces. All but the last have a fixed duration and end at sections on
which only the constraints hold; the last one ends as the cycle does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.scalar import sin
from kinemorph.analysis.orbits.flow_piece import Ending, FlowPiece, RunOptions, guard_slopes, period_at, stopping
from kinemorph.analysis.orbits.return_map import Return, ReturnMap, Returns, Steps, check_names
from kinemorph.analysis.orbits.section import Conditions, Section, check_supported
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.analysis.small_motions.plant_derivatives import Point, built, closed_point
from kinemorph.analysis.small_motions.variational_plant import varied as varied_plant
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.robot_plant import summed_states
from kinemorph.plants.user_laws import Column, Law
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch

ON_SECTION = 1e-9  # a guard whose value is smaller than this is zero
CHUNK = 16384  # starts in one batch


@dataclass(frozen=True, eq=False)
class FlowMap:
    """The return map of a plant over a period or between passages of a section. Made by `return_map`."""

    model: Model
    plant: Plant
    section: Section
    ending: Ending
    coordinates: tuple[str, ...] | None
    made: Mapping[str, Any]  # arguments with which the plant is made from the model
    options: RunOptions
    varied: tuple[str, ...] = ()
    wides: dict[int, Plant] = field(default_factory=dict)  # the plant with its derivatives, by the number of seeds

    @property
    def name(self) -> str:
        """The name of the plant."""
        return self.plant.name

    @property
    def columns(self) -> tuple[Column, ...]:
        """Names and units of the coordinates z."""
        return self.section.columns

    @property
    def parameters(self) -> tuple[Column, ...]:
        """Names of the parameters that the plant keeps as inputs."""
        return self.plant.p

    @property
    def start(self) -> Array:
        """The coordinates (n,) of the state with which the map was made."""
        return self.section.start

    @property
    def p(self) -> Array:
        """The values (np,) of the parameters with which the map was made."""
        return self.section.home.p

    def varying(self, names: Sequence[str]) -> FlowMap:
        """The same map, whose slopes are with respect to the named parameters.

        A plant that does not keep them as inputs is made again from the model.
        """
        if tuple(names) == self.varied:
            return self
        known = [column.name for column in self.plant.p]
        if all(name in known for name in names):
            return replace(self, varied=tuple(names), wides={})
        if isinstance(self.model, Plant):
            check_names(self.plant.p, names, self.name)
        wanted = [*known, *(name for name in names if name not in known)]
        plant = as_plant(self.model, **{**self.made, "parameters": wanted})
        home = replace(self.section.home, p=plant.initial("p", dict(zip(known, self.p, strict=True))))
        section = Section(plant, home, self.section.conditions, self.coordinates)
        return replace(self, plant=plant, section=section, varied=tuple(names), wides={})

    # ── one cycle ─────────────────────────────────────────────────────────────────────────────────────────────────

    def __call__(self, z: Array, p: Array) -> Return:
        """One cycle from z (n,) at the parameters p (np,), with slopes."""
        return self._whole(z, p)

    @cached_property
    def _whole(self) -> FlowPiece:
        return self._piece(self.section, self.section, self.ending)

    def _piece(self, begin: Section, finish: Section, ending: Ending) -> FlowPiece:
        seeds = len(begin.independent)
        if seeds not in self.wides:
            self.wides[seeds] = varied_plant(self.plant, self.varied, seeds)
        return FlowPiece(self.plant, self.wides[seeds], seeds, self.varied, begin, finish, ending, self.options)

    def split(self, count: int, z: Array, p: Array) -> tuple[FlowPiece, ...]:
        """`count` pieces of one cycle; their nodes lie on the motion from z at p."""
        if count <= 1:
            return (self._whole,)
        ending = self.ending
        if ending.period is not None:
            span, slopes = period_at(ending.period, p, [self.plant.index("p", name) for name in self.varied])
            if slopes.any():
                raise UnsupportedError(
                    f"nodes is {count}, and the period of '{self.name}' changes with '{self.varied[0]}': pieces of a "
                    "driven cycle must not move in time. Use nodes=1."
                )
        else:
            first = self(z, p)
            if first.message:
                raise UnsupportedError(f"the cycle of '{self.name}' cannot be divided: {first.message}")
            span = first.duration
        run = self.motion(z, p, span)
        free = Conditions({}, {}, pinned=summed_states(self.plant))
        times = [float(t) for t in self.section.home.t + span * np.arange(1, count) / count]
        sections = [self.section]
        for t, q, v, x in zip(times, *_states_at(run, np.array(times)), strict=True):
            home = Point(t, q, v, x, self.section.home.m, self.section.home.u, np.array(p, dtype=float))
            sections.append(Section(self.plant, home, free))
        short = replace(ending, guard=None, share=1.0 / count, fixed=span / count)
        endings = [short] * (count - 1) + [ending if ending.guard else short]
        pairs = zip(sections, [*sections[1:], self.section], endings, strict=True)
        return tuple(self._piece(*pair) for pair in pairs)

    # ── states and motions ────────────────────────────────────────────────────────────────────────────────────────

    def state(self, z: Array, p: Array) -> dict[str, Array]:
        """The whole state (q, v, x) at the coordinates z."""
        found = self.section.at(np.asarray(z, dtype=float), p)
        return {"q": found.q, "v": found.v, "x": found.x}

    def motion(self, z: Array, p: Array, duration: float, samples: int = 200) -> Trajectory:
        """The motion from z for a duration [s], with `samples` samples."""
        t, guard, relabel = self.section.home.t, self.ending.guard, self.section.conditions.relabel
        given = self._given(self.state(z, p), p)
        changes = replace(guard, reset=relabel) if guard is not None and relabel is not None else ()
        return simulate(
            self.plant,
            t + duration,
            start=t,
            output_step=duration / samples,
            events=changes,
            **given,
            **self.options.steps,
        )

    def _given(self, state: Mapping[str, Array], p: Array) -> dict[str, Any]:
        """The arguments of `simulate` for a state."""
        given: dict[str, Any] = {group: values for group, values in state.items() if values.shape[-1]}
        given |= {"p": p} if self.plant.p else {}
        return given | ({"inputs": self.section.home.u} if self.plant.nu else {})

    def many(
        self,
        z: Array,
        p: Array,
        cycles: int,
        keep: int = 1,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Returns:
        """The last `keep` returns of many starts; driven plants in batches, the others one after the other."""
        p = np.broadcast_to(p, (len(z), len(self.plant.p)))
        kept = np.full((len(z), keep, len(self.columns)), np.nan)
        durations, messages = np.full(len(z), np.nan), dict[int, str]()
        for numbers in self._groups(p):
            found = (self._one if self.ending.guard else self._batch)(z[numbers], p[numbers], cycles, keep, threads)
            kept[numbers], durations[numbers] = found.z, found.duration
            messages |= {int(numbers[k]): why for k, why in found.messages.items()}
            if progress is not None:
                progress(int(np.isfinite(durations).sum()) + len(messages), len(z))
        return Returns(kept, durations, messages)

    def _groups(self, p: Array) -> list[npt.NDArray[np.intp]]:
        """The indices of starts that run together: one at a time with a guard, otherwise those of equal period."""
        if self.ending.guard is not None:
            return [np.array([k]) for k in range(len(p))]
        assert self.ending.period is not None
        periods = (
            np.array([period_at(self.ending.period, row)[0] for row in p]) if callable(self.ending.period) else None
        )
        alike = [np.arange(len(p))] if periods is None else [np.flatnonzero(periods == t) for t in np.unique(periods)]
        return [part for group in alike for part in np.split(group, range(CHUNK, len(group), CHUNK))]

    def _batch(self, z: Array, p: Array, cycles: int, keep: int, threads: int | None) -> Returns:
        """Returns of starts with a common period in one batch, cycle by cycle where states are shifted or relabeled."""
        assert self.ending.period is not None
        T, begin = period_at(self.ending.period, p[0])[0], self.section.home.t
        given = self.section.conditions
        at_once = 1 if given.relabel or given.shift else cycles
        kept = np.full((len(z), keep, len(self.columns)), np.nan)
        messages: dict[int, str] = {}
        here = np.array(z, dtype=float)
        for done in range(0, cycles, at_once):
            s, off = self.section.states(here, p)
            q, v, x = self.section.placed(s)
            last = np.arange(max(0, cycles - keep - done), at_once) + 1.0  # the returns of this round that are kept
            numbers = last if len(last) else np.array([float(at_once)])
            times = [begin, *(begin + T * numbers)]
            groups = {
                "q": q,
                "v": v,
                "x": x,
                "p": p,
                "u": np.broadcast_to(self.section.home.u, (len(z), self.plant.nu)),
            }
            states: dict[str, Any] = {name: part for name, part in groups.items() if part.shape[1]}
            run = simulate_batch(
                self.plant, times[-1], output_step=times, start=begin, threads=threads, **states, **self.options.steps
            )
            for k in np.flatnonzero(~run.ok):
                messages.setdefault(int(k), run.failures.get(int(k), "the batch was interrupted."))
            for k in np.flatnonzero(off > 1e-6):
                messages.setdefault(int(k), f"no state of '{self.name}' has these coordinates.")
            found = [
                self.section.arrivals(np.full(len(z), t), run.q[:, j], run.v[:, j], run.x[:, j], p)
                for j, t in enumerate(run.t[1:], start=1)
            ]
            here = found[-1]
            for return_, number in zip(found, numbers, strict=True):
                place = done + int(number) - 1 - (cycles - keep)
                if place >= 0:
                    kept[:, place] = return_
        kept[list(messages)] = np.nan
        return Returns(kept, np.full(len(z), T), messages)

    def _one(self, z: Array, p: Array, cycles: int, keep: int, threads: int | None) -> Returns:
        """Returns of one start to a section."""
        guard, home = self.ending.guard, self.section.home
        assert guard is not None
        kept, here, lasting = np.full((1, keep, len(self.columns)), np.nan), np.array(z[0]), np.nan
        for cycle in range(cycles):
            run = simulate(
                self.plant,
                home.t + self.options.longest,
                start=home.t,
                output_step=[home.t, home.t + self.options.longest],
                events=stopping(guard, self.plant),
                **self._given(self.state(here, p[0]), p[0]),
                **self.options.steps,
            )
            if not run.outcome.ok or not run.events:
                why = run.outcome.message or f"the motion does not reach the section '{guard.name}'."
                return Returns(np.full_like(kept, np.nan), np.array([np.nan]), {0: why})
            end = Point(float(run.t[-1]), run.q[-1], run.v[-1], run.x[-1], home.m, home.u, p[0])
            here, lasting = self.section.arrive(end).z, float(run.t[-1] - home.t)
            if cycle >= cycles - keep:
                kept[0, cycle - (cycles - keep)] = here
        return Returns(kept, np.array([lasting]), {})


def return_map(
    model: Model,
    *,
    period: float | Law | None = None,
    section: Guard | Law | str | None = None,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    t: float = 0.0,
    shift: Mapping[str, float | None] | Sequence[str] = (),
    relabel: Law | None = None,
    begins: Law | Mapping[str, Law] | None = None,
    kept: Mapping[str, Law] | None = None,
    coordinates: Sequence[str] | None = None,
    parameters: str | Sequence[str] | None = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    method: str = "dop853",
    rtol: float = 1e-11,
    atol: float = 1e-13,
    longest: float = 100.0,
) -> FlowMap:
    """The return map of a robot, a system or a plant: its state after one cycle, with exact slopes.

    A driven system has a `period`; a system without drive needs a `section` through which it passes once in a cycle.

    `period`        the period [s] of what drives the system, or a law of p, as `lambda p: 2.0 * math.pi / p[0]`
    `section`       a Guard, a law that is zero on the section (`lambda v: v[0]`), or a column that is zero on it, such
                    as "v.elbow". Passages count in the direction in which the first state moves. The law of an angle
                    that keeps growing has to repeat, `lambda q: sin(q[0])`
    `q`, `v`, `x`   a first state, by name or in order. Where it is not on the section, the motion from it is followed
                    to the section
    `u`, `p`, `t`   constant inputs, parameters, and the time at which cycles begin [s]
    `shift`         coordinates that advance in a cycle: by a given amount, {"q.wheel": 2 pi}, or by any amount, where
                    the motion does not depend on them, ["base.x"]
    `relabel`       a law that returns the groups of the state that change at the end of a cycle: left and right change
                    names, `lambda q, v: {"q": [q[1], q[0]], "v": [v[1], v[0]]}`, or an impact changes velocities
    `begins`        laws that are zero where cycles begin, by name, or one of them, if the state after `relabel` is not
                    on the section itself
    `kept`          laws of quantities that the motion conserves, such as energy; they keep the value of the first
                    state. Without them, orbits of a conservative system are not isolated
    `coordinates`   names of independent coordinates of the section; by default they are chosen
    `parameters`    names of parameters that can be varied; a model can be asked for more of them later
    `longest`       the longest time of a cycle [s] that ends at a section

    The other arguments are those of `simulate`.
    """
    if (period is None) == (section is None):
        raise UnsupportedError(
            "return_map: give `period` for a system that is driven in time, or `section` for one that is not; "
            f"{'neither' if period is None else 'both'} of them {'is' if period is None else 'are'} given."
        )
    made: dict[str, Any] = {"forces": forces, "locked": locked, "parameters": parameters}
    plant = as_plant(model, **{name: value for name, value in made.items() if value})
    check_supported(plant)
    options = RunOptions(method, rtol, atol, longest)
    home = closed_point(plant, q, v, x, u, p, t)
    if period is not None:
        period_at(period, home.p)  # raises where it is not a time
    amounts = shift if isinstance(shift, Mapping) else dict.fromkeys([shift] if isinstance(shift, str) else shift)
    guard = None if section is None else _guard(plant, section, amounts)
    if guard is not None and begins is None:
        home, guard = _on_section(plant, home, guard, options)
    begun = begins if isinstance(begins, Mapping) else {"begins": begins} if begins else {}
    conditions = Conditions(
        {} if guard is None else dict(begun) or {guard.name: guard.law},
        dict(kept or {}),
        (*(name for name, by in amounts.items() if by is None), *summed_states(plant)),
        {name: by for name, by in amounts.items() if by is not None},
        relabel,
    )
    chosen = None if coordinates is None else tuple(coordinates)
    section_ = Section(plant, home, conditions, chosen)
    return FlowMap(model, plant, section_, Ending(guard, period), chosen, made, options)


def as_map(model: Model | ReturnMap, p: Any, motion: Mapping[str, Any], caller: str, **defaults: Any) -> ReturnMap:
    """The return map that is given, or that of a model with the arguments `motion` of `return_map`, or `defaults`."""
    if not isinstance(model, ReturnMap):
        return return_map(model, p=p, **{**defaults, **motion})
    if motion:
        raise UnsupportedError(f"{caller}: '{next(iter(motion))}' is an argument of `return_map`. Give it there.")
    return model


def _guard(plant: Plant, section: Guard | Law | str, shift: Mapping[str, float | None]) -> Guard:
    """The section as a guard. A coordinate that is shifted by an amount after each cycle is zero at multiples of it."""
    if isinstance(section, Guard):
        return section
    if callable(section):
        return Guard("section", section)
    group, name = (section[0], section[2:]) if section[:2] in ("q.", "v.") else ("x", section)
    place = plant.index(group, name)
    turn = shift.get(section, shift.get(name)) if group == "q" else None
    if turn:
        return Guard(section, lambda q: sin(q[place] * (2.0 * math.pi / turn)))
    laws: dict[str, Law] = {"q": lambda q: q[place], "v": lambda v: v[place], "x": lambda x: x[place]}
    return Guard(section, laws[group])


def _on_section(plant: Plant, home: Point, guard: Guard, options: RunOptions) -> tuple[Point, Guard]:
    """(a state on the section, the guard with the direction of the motion there)."""
    value = built(plant.observed({guard.name: guard.law}))
    if abs(float(value(*home.inputs)[0])) > ON_SECTION:
        states: dict[str, Any] = {
            name: part for name, part in zip("qvx", (home.q, home.v, home.x), strict=True) if len(part)
        }
        run = simulate(
            plant,
            home.t + options.longest,
            start=home.t,
            output_step=[home.t, home.t + options.longest],
            events=stopping(guard, plant),
            p=home.p if plant.p else None,
            inputs=home.u if plant.nu else None,
            **states,
            **options.steps,
        )
        if not run.events:
            why = run.outcome.message or f"it is not reached within {options.longest:g} s."
            raise UnsupportedError(
                f"section '{guard.name}': the motion from the first state does not reach it: {why} Give another state, "
                "or a larger `longest`."
            )
        home = replace(home, q=run.q[-1], v=run.v[-1], x=run.x[-1])
    if guard.direction == "both":
        (g_s,), (g_t,), _ = guard_slopes(plant, guard)(*home.inputs)
        along = float(g_s @ plant.compiled("rate")(*home.inputs) + g_t)
        guard = replace(guard, direction="rising" if along > 0.0 else "falling")
    return home, guard


def _states_at(run: Trajectory, times: Array) -> tuple[Array, Array, Array]:
    found = run.at(times)
    return found.q, found.v, found.x
