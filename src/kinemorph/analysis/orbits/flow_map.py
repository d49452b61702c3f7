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
from kinemorph.analysis.orbits.edge_cycle import WAIT, EdgeCycle, first_cycle, given_phase, with_laws
from kinemorph.analysis.orbits.edge_piece import EdgePiece, edge_pieces, edge_returns
from kinemorph.analysis.orbits.flow_piece import CycleOptions, Ending, FlowPiece, guard_slopes, period_at, stopping
from kinemorph.analysis.orbits.return_map import BaseMap, Return, ReturnMap, Returns, Steps, check_names
from kinemorph.analysis.orbits.section import Conditions, Section, check_supported
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.analysis.small_motions.plant_derivatives import Point, built, closed_point
from kinemorph.analysis.small_motions.start_slopes import start_of
from kinemorph.analysis.small_motions.variational_plant import varied as varied_plant
from kinemorph.errors import UnsupportedError
from kinemorph.plants.loop_methods import LoopMethod
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
HYBRID = CycleOptions(rtol=1e-10, atol=1e-12)  # for automata: slopes jump where a force has a kink, and steps get short


@dataclass(frozen=True, eq=False)
class FlowMap(BaseMap):
    """The return map of a plant over a period or between passages of a section. Made by `return_map`."""

    model: Model
    plant: Plant
    section: Section
    ending: Ending
    made: Mapping[str, Any]  # arguments with which the plant is made from the model
    options: CycleOptions
    varied: tuple[str, ...] = ()
    edges: EdgeCycle | None = None  # the edges of a cycle of an automaton
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

    def _varied_by(self, names: tuple[str, ...]) -> FlowMap:
        """The map with slopes by the named parameters; a plant that does not keep them as inputs is made again."""
        known = [column.name for column in self.plant.p]
        if all(name in known for name in names):
            return replace(self, varied=names, wides={})
        if isinstance(self.model, Plant):
            check_names(self.plant.p, names, self.name)
        wanted = [*known, *(name for name in names if name not in known)]
        plant = as_plant(self.model, **{**self.made, "parameters": wanted})
        home = replace(self.section.home, p=plant.initial("p", dict(zip(known, self.p, strict=True))))
        conditions = self.section.conditions
        conditions = conditions if self.edges is None else with_laws(conditions, self.edges, plant)
        section = Section(plant, home, conditions, [column.name for column in self.columns])  # z keeps its meaning
        return replace(self, plant=plant, section=section, varied=names, wides={})

    # ── one cycle ─────────────────────────────────────────────────────────────────────────────────────────────────

    def __call__(self, z: Array, p: Array) -> Return:
        """One cycle from z (n,) at the parameters p (np,), with slopes."""
        return self._whole(z, p)

    @cached_property
    def _whole(self) -> FlowPiece | EdgePiece:
        if self.edges is not None:
            return EdgePiece(self.plant, self.varied, self.section, self.section, len(self.edges.edges), self.options)
        return self._piece(self.section, self.section, self.ending)

    def _piece(self, begin: Section, finish: Section, ending: Ending) -> FlowPiece:
        seeds = len(begin.independent)
        if seeds not in self.wides:
            self.wides[seeds] = varied_plant(self.plant, self.varied, seeds)
        return FlowPiece(self.plant, self.wides[seeds], seeds, self.varied, begin, finish, ending, self.options)

    def split(self, count: int, z: Array, p: Array) -> tuple[FlowPiece | EdgePiece, ...]:
        """`count` pieces of one cycle, at most as many as it has edges; their nodes lie on the motion from z at p."""
        if isinstance(self._whole, EdgePiece):
            return edge_pieces(self._whole, count, z, p)
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
        given |= {"m": given_phase(self.plant, self.section.home)} if self.edges else {}
        return given | ({"inputs": self.section.home.u} if self.plant.nu else {})

    def _last_returns(
        self, z: Array, p: Array, cycles: int, keep: int, threads: int | None, progress: Steps
    ) -> Returns:
        """The last returns of all starts, in batches; those to a section are found one after the other."""
        kept = np.full((len(z), keep, len(self.columns)), np.nan)
        durations, messages = np.full(len(z), np.nan), dict[int, str]()
        for numbers in self._groups(p):
            carried = self._one if self.ending.guard else self._by_edges if self.edges else self._batch
            found = carried(z[numbers], p[numbers], cycles, keep, threads)
            kept[numbers], durations[numbers] = found.z, found.duration
            messages |= {int(numbers[k]): why for k, why in found.messages.items()}
            progress(int(np.isfinite(durations).sum()) + len(messages), len(z))
        return Returns(kept, durations, messages)

    def _groups(self, p: Array) -> list[npt.NDArray[np.intp]]:
        """The indices of starts that run together: one at a time with a guard, otherwise those of equal period."""
        if self.ending.guard is not None:
            return [np.array([k]) for k in range(len(p))]
        law = self.ending.period
        periods = np.array([period_at(law, row)[0] for row in p]) if callable(law) else None
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
                self.section.arrivals(np.full(len(z), t), run.q[:, j], run.v[:, j], run.x[:, j], p)[0]
                for j, t in enumerate(run.t[1:], start=1)
            ]
            here = found[-1]
            for return_, number in zip(found, numbers, strict=True):
                place = done + int(number) - 1 - (cycles - keep)
                if place >= 0:
                    kept[:, place] = return_
        kept[list(messages)] = np.nan
        return Returns(kept, np.full(len(z), T), messages)

    def _by_edges(self, z: Array, p: Array, cycles: int, keep: int, threads: int | None) -> Returns:
        """Returns of starts after the edges of an automaton."""
        assert self.edges is not None
        return edge_returns(self.section, len(self.edges.edges), self.options, z, p, cycles, keep, threads)

    def _one(self, z: Array, p: Array, cycles: int, keep: int, threads: int | None) -> Returns:
        """Returns of one start to a section."""
        guard, home = self.ending.guard, self.section.home
        assert guard is not None
        kept, here, lasting = np.full((1, keep, len(self.columns)), np.nan), np.array(z[0]), np.nan
        for cycle in range(cycles):
            state: dict[str, Any] = {**self.state(here, p[0]), "p": p[0]}
            run = self.options.run(self.plant, replace(home, **state), events=stopping(guard, self.plant))
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
    edges: int | None = None,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    p: Any = None,
    t: float = 0.0,
    shift: Mapping[str, float | None] | Sequence[str] | None = None,
    relabel: Law | None = None,
    begins: Law | Mapping[str, Law] | None = None,
    kept: Mapping[str, Law] | None = None,
    coordinates: Sequence[str] | None = None,
    parameters: str | Sequence[str] | None = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    loops: str | LoopMethod | None = None,
    method: str = "dop853",
    rtol: float | None = None,
    atol: float | None = None,
    longest: float | None = None,
) -> FlowMap:
    """The return map of a robot, a system or a plant: its state after one cycle, with exact slopes.

    A driven system has a `period`; a system without drive needs a `section` through which it passes once in a cycle.
    A system with an automaton needs neither: its cycles end after edges.

    `period`        the period [s] of what drives the system, or a law of p, as `lambda p: 2.0 * math.pi / p[0]`
    `section`       a Guard, a law that is zero on the section (`lambda v: v[0]`), or a column that is zero on it, such
                    as "v.elbow". Passages count in the direction in which the first state moves. The law of an angle
                    that keeps growing has to repeat, `lambda q: sin(q[0])`
    `edges`         the number of edges in a cycle of an automaton; by default the number after which the names of the
                    edges repeat
    `q`, `v`, `x`   a first state, by name or in order, by default that of the system. Where it is not on the section,
                    the motion from it is followed to the section
    `u`, `p`, `t`   constant inputs, parameters, and the time at which cycles begin [s]
    `shift`         coordinates that advance in a cycle: by a given amount, {"q.wheel": 2 pi}, or by any amount, where
                    the motion does not depend on them, ["base.x"]. For an automaton the latter ones are found
    `relabel`       a law that returns the groups of the state that change at the end of a cycle: left and right change
                    names, `lambda q, v: {"q": [q[1], q[0]], "v": [v[1], v[0]]}`, or an impact changes velocities
    `begins`        laws that are zero where cycles begin, by name, or one of them, if the state after `relabel` is not
                    on the section itself. For an automaton, what is zero or constant after the last edge of every
                    cycle is found (see `edge_cycle`), unless laws are given here
    `kept`          laws of quantities that the motion conserves, such as energy; they keep the value of the first
                    state. Without them, orbits of a conservative system are not isolated
    `coordinates`   names of independent coordinates of the section; by default they are chosen
    `parameters`    names of parameters that can be varied; a model can be asked for more of them later
    `longest`       the longest time of a cycle [s] that ends at a section, by default 100 s, or after edges, by default
                    5 times that of the first cycle

    The other arguments are those of `simulate`. By default, rtol is 1e-11 and atol 1e-13; for an automaton, whose
    forces often have kinks, they are 1e-10 and 1e-12.
    """
    made: dict[str, Any] = {"forces": forces, "locked": locked, "loops": loops, "parameters": parameters}
    plant = as_plant(model, **{name: value for name, value in made.items() if value})
    hybrid = period is None and section is None and plant.automaton is not None
    _check_ending(plant, period, section, edges, relabel, hybrid=hybrid)
    check_supported(plant, edges=hybrid)
    fine = HYBRID if hybrid else CycleOptions()
    given = {"rtol": rtol, "atol": atol, "longest": longest}
    options = replace(fine, method=method, **{name: value for name, value in given.items() if value is not None})
    first = {"q": q, "v": v, "x": x, "u": u, "p": p, "t": t}
    home = start_of(plant, **first).point if hybrid else closed_point(plant, **first)
    if period is not None:
        period_at(period, home.p)  # raises where it is not a time
    amounts = _amounts(shift)
    guard = None if section is None else _guard(plant, section, amounts)
    if guard is not None and begins is None:
        home, guard = _on_section(plant, home, guard, options)
    begun = dict(begins) if isinstance(begins, Mapping) else {"begins": begins} if begins else {}
    cycle = None
    if hybrid:
        free = None if shift is None else [name for name, by in amounts.items() if by is None]
        home, cycle = first_cycle(plant, home, edges, free, options, find=begins is None)
        amounts |= dict.fromkeys(cycle.shift)
        options = options if longest is not None else replace(options, longest=WAIT * cycle.duration)
    conditions = Conditions(
        begun if guard is None else begun or {guard.name: guard.law},
        dict(kept or {}),
        (*(name for name, by in amounts.items() if by is None), *summed_states(plant)),
        {name: by for name, by in amounts.items() if by is not None},
        relabel,
    )
    conditions = conditions if cycle is None else with_laws(conditions, cycle, plant)
    section_ = Section(plant, home, conditions, coordinates)
    return FlowMap(model, plant, section_, Ending(guard, period), made, options, edges=cycle)


def _check_ending(
    plant: Plant,
    period: float | Law | None,
    section: Guard | Law | str | None,
    edges: int | None,
    relabel: Law | None,
    *,
    hybrid: bool,
) -> None:
    """Raises UnsupportedError where it is not clear, or not possible, how cycles end."""
    if not hybrid and (period is None) == (section is None):
        raise UnsupportedError(
            "return_map: give `period` for a system that is driven in time, or `section` for one that is not; "
            f"{'neither' if period is None else 'both'} of them {'is' if period is None else 'are'} given."
        )
    if edges is not None and (not hybrid or edges < 1):
        whose = "cycles do not end after edges" if not hybrid else "expected at least 1"
        raise UnsupportedError(f"return_map: edges is {edges}, and for '{plant.name}' {whose}. Leave `edges` out.")
    if hybrid and relabel is not None:
        raise UnsupportedError(
            f"return_map: relabel is given, and the edges of the automaton of '{plant.name}' exchange names. Give "
            "`relabel` to an Edge."
        )


def _amounts(shift: Mapping[str, float | None] | Sequence[str] | None) -> dict[str, float | None]:
    """By the names of coordinates that advance in a cycle, by how much, or None for any amount."""
    if isinstance(shift, Mapping):
        return dict(shift)
    return dict.fromkeys([shift] if isinstance(shift, str) else shift or ())


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


def _on_section(plant: Plant, home: Point, guard: Guard, options: CycleOptions) -> tuple[Point, Guard]:
    """(a state on the section, the guard with the direction of the motion there)."""
    value = built(plant.observed({guard.name: guard.law}))
    if abs(float(value(*home.inputs)[0])) > ON_SECTION:
        run = options.run(plant, home, events=stopping(guard, plant))
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
