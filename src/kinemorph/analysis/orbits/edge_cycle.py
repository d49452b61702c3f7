"""The cycle of a hybrid automaton: how many edges it has, and what the states after its last edge have in common.

The section is "just after the last edge of a cycle". The states there satisfy the constraints of the phase that begins,
and more: the guard of the edge was zero, names were exchanged, values were reset. Such further conditions are found by
a few runs from slightly different states. After one cycle

    a coordinate, a velocity or the place of a held point that is the same after all runs is constant on the section,
    a guard that is zero after all runs is zero on the section,
    a coordinate along the ground does not count if a run from a start that is moved along it is the same run, moved,

and again from states that satisfy the conditions found so far, until there are no more.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.flow_piece import CycleOptions
from kinemorph.analysis.orbits.section import LINES, Conditions, Section
from kinemorph.analysis.small_motions.plant_derivatives import Point, built
from kinemorph.errors import AutomatonWarning, GroundWarning, UnsupportedError
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import AT, Plant
from kinemorph.plants.user_laws import Law
from kinemorph.simulation.results.event import Event
from kinemorph.simulation.stepping.initial_state import entered_memory
from kinemorph.words import counted, quoted

MOST_EDGES = 24  # edges of the first run, whose names tell how many of them make up a cycle
CONSTANT = 1e-10  # values that differ by less than this, relative to their size, are the same up to rounding
ZERO = 1e-9  # a guard that is smaller than this is zero up to the error of the time of an edge
ALIKE = 1e-8  # two runs whose ends differ by less than this are the same up to the errors of integration
NEAR = 1e-6  # a start is on the section if it satisfies all conditions up to this
AWAY = (1e-3, -1e-3, 1e-5, -1e-5)  # changes of the start, relative to each coordinate: the first that takes the edges
MOST_STAGES = 4  # of the search for conditions: each one starts on the section that the one before it found
RUNS = 3  # runs from changed starts
MOVED = 0.37  # [m], how far a start is moved along the ground
WAIT = 5.0  # the longest time of a cycle, relative to that of the first one


@dataclass(frozen=True)
class EdgeCycle:
    """A cycle of edges, and the conditions that the states after its last edge satisfy.

    `edges`         the names of its edges in the order in which the first run takes them
    `duration`      the time of the first cycle [s]
    `guards`        indices of guards that are zero on the section
    `constant`      (group, index, value) of entries of q, v, x and of the memory m that are constant on the section
    `shift`         names of coordinates on which the motion does not depend
    """

    edges: tuple[str, ...]
    duration: float
    guards: tuple[int, ...] = ()
    constant: tuple[tuple[str, int, float], ...] = ()
    shift: tuple[str, ...] = ()

    def laws(self, plant: Plant) -> dict[str, Law]:
        """Laws by name that are zero on the section."""
        found: dict[str, Law] = {f"guard of {plant.guards[k]}": _guard_law(plant, k) for k in self.guards}
        for group, index, value in self.constant:
            found[f"{group}.{getattr(plant, group)[index].name}"] = _constant_law(group, index, value)
        return found


def _guard_law(plant: Plant, index: int) -> Law:
    jumps = plant.laws.jumps
    assert jumps is not None

    def law(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        return jumps.guards(LocalInstant(t, q, [*[0.0] * plant.nv, *v, *x], m, u, p))[index]

    return law


def _constant_law(group: str, index: int, value: float) -> Law:
    laws: dict[str, Law] = {
        "q": lambda q: q[index] - value,
        "v": lambda v: v[index] - value,
        "x": lambda x: x[index] - value,
        "m": lambda m: m[index] - value,
    }
    return laws[group]


def phase_of(plant: Plant, m: Array) -> Array:
    """The number of the present phase in the memory m (..., nm), shape (...)."""
    found: Array = m[..., plant.index("m", "phase")]
    return found


def given_phase(plant: Plant, home: Point) -> dict[str, float]:
    """The memory to give to runs that start in the phase of `home`; the other memory follows from the state."""
    return {"phase": float(phase_of(plant, home.m))}


def first_cycle(
    plant: Plant, start: Point, edges: int | None, shift: Sequence[str] | None, options: CycleOptions, *, find: bool
) -> tuple[Point, EdgeCycle]:
    """(a state on the section, the cycle of edges) from a first state.

    `edges` is the number of edges of a cycle, by default the period of the names of the edges of a run. The first state
    is kept if it is on the section; otherwise the state after the first cycle takes its place. `shift` names the
    coordinates on which the motion does not depend, and None means that they are found; `find` says whether conditions
    are found.
    """
    runner = _Runner(plant, start, options)
    events = runner.edges(start, MOST_EDGES if edges is None else edges)
    names = [event.name for event in events]
    count = _period(names) if edges is None else edges
    if len(names) < count or not count:
        raise UnsupportedError(
            f"the motion of '{plant.name}' from the first state takes {counted(len(names), 'edge')} within "
            f"{options.longest:g} s; expected at least {max(count, 1)}. Give another state, or a larger `longest`."
        )
    end = runner.after(events[count - 1])
    _check_memory(plant, end)
    moved = runner.shifted(end, names[:count]) if shift is None else tuple(shift)
    cycle = EdgeCycle(tuple(names[:count]), events[count - 1].t - start.t, shift=moved)
    for _ in range(MOST_STAGES if find else 0):
        ends = [end, *runner.nearby(end, cycle)]
        before = cycle
        zero = replace(cycle, guards=runner.zero_guards(ends), constant=())
        known = runner.determined(end, zero)
        cycle = replace(zero, constant=tuple(one for one in runner.constants(ends, moved) if one[:2] not in known))
        if cycle == before:
            break
    same = phase_of(plant, start.m) == phase_of(plant, end.m)
    laws = cycle.laws(plant) if find else {}
    values = built(plant.observed(laws))(*start.inputs) if laws and same else np.zeros(1)
    home = start if same and np.abs(values).max(initial=0.0) < NEAR else replace(end, t=start.t)
    return home, cycle


def _period(names: Sequence[str]) -> int:
    """The least n such that names repeat after n of them; all of them where they do not repeat."""
    for n in range(1, len(names) // 2 + 1):
        if all(a == b for a, b in zip(names[n:], names, strict=False)):
            return n
    return len(names)


def _check_memory(plant: Plant, end: Point) -> None:
    """Raises UnsupportedError where a motion depends on memory that the state after an edge does not determine."""
    entered = replace(end, m=entered_memory(plant, given_phase(plant, end), end.inputs))
    rates = [plant.compiled("rate")(*at.inputs) for at in (end, entered)]
    if np.abs(rates[0] - rates[1]).max(initial=0.0) > NEAR * max(1.0, float(np.abs(rates[0]).max(initial=0.0))):
        names = [c.name for c, a, b in zip(plant.m, end.m, entered.m, strict=True) if abs(a - b) > NEAR]
        raise UnsupportedError(
            f"after the last edge of the cycle of '{plant.name}', its motion depends on the memory {quoted(names)} of "
            "an earlier instant, which is no coordinate of an orbit. Let cycles begin after another edge: give a state "
            "after that edge."
        )


@contextmanager
def trials() -> Iterator[None]:
    """Runs inside are trials: a walker may fall in them, and a guard may be a little below zero at their start.

    What became of a trial is in the result of the search, so that no warning tells it.
    """
    with warnings.catch_warnings():
        for kind in (AutomatonWarning, GroundWarning):
            warnings.simplefilter("ignore", kind)
        yield


class _Runner:
    """Runs of a plant from states near a first state, exact enough to find values that stay the same."""

    def __init__(self, plant: Plant, start: Point, options: CycleOptions) -> None:
        exact = CycleOptions()
        self.plant, self.start = plant, start
        self.options = replace(options, rtol=min(options.rtol, exact.rtol), atol=min(options.atol, exact.atol))

    def edges(self, at: Point, most: int) -> list[Event]:
        """The first `most` edges of the run from a state, or fewer."""
        with trials():
            run = self.options.run(self.plant, at, most_events=most, m=given_phase(self.plant, at))
        return [event for event in run.events if event.kind == "edge"]

    def after(self, event: Event) -> Point:
        """The state after an edge."""
        return replace(self.start, t=event.t, **{group: event.after[group] for group in "qvxm"})

    def cycled(self, at: Point, edges: Sequence[str]) -> Point | None:
        """The state after one cycle from a state, or None where the run does not take these edges in turn."""
        found = self.edges(replace(at, t=self.start.t), len(edges))
        return self.after(found[-1]) if [event.name for event in found] == list(edges) else None

    def shifted(self, at: Point, edges: Sequence[str]) -> tuple[str, ...]:
        """The names of the coordinates of prismatic joints on which the motion from a state does not depend."""
        found, plant, end = [], self.plant, self.cycled(at, edges)
        for place in plant.manifold:
            if place.kind != "prismatic" or end is None:
                continue
            by = np.zeros(plant.nq)
            by[place.q] = MOVED
            other = self.cycled(replace(at, q=at.q + by), edges)
            pairs = () if other is None else ((other.q, end.q + by), (other.v, end.v), (other.x, end.x))
            if pairs and all(_same(a, b, ALIKE) for a, b in pairs):
                found.append(plant.q[place.q].name)
        return tuple(found)

    def nearby(self, at: Point, cycle: EdgeCycle) -> list[Point]:
        """The states after one cycle of runs from a few states near `at`, on the section as far as it is known."""
        section = Section(self.plant, at, Conditions(cycle.laws(self.plant), {}, cycle.shift))
        random = np.random.default_rng(7)
        found: list[Point] = []
        for _ in range(RUNS):
            away = random.standard_normal(len(section.independent))
            for size in AWAY:
                z = section.start + size * np.maximum(0.1, np.abs(section.start)) * away
                state = section.at(z, at.p)
                end = self.cycled(replace(at, q=state.q, v=state.v, x=state.x), cycle.edges)
                if end is not None:
                    found.append(end)
                    break
        if len(found) < RUNS:
            raise UnsupportedError(
                f"'{self.plant.name}' does not take the edges {quoted(cycle.edges)} again from states near that after "
                "its first cycle. Start nearer to an orbit, or give `begins`: laws that are zero where cycles begin."
            )
        return found

    def zero_guards(self, ends: Sequence[Point]) -> tuple[int, ...]:
        """The indices of guards that are zero at all of these states."""
        plant = self.plant
        assert plant.laws.jumps is not None
        guards = built(plant.traced("guards", plant.laws.jumps.guards, AT, {"out": str(len(plant.guards))}))
        values = np.array([guards(*end.inputs) for end in ends])
        return tuple(int(k) for k in np.flatnonzero(np.abs(values).max(axis=0) < ZERO))

    def determined(self, at: Point, cycle: EdgeCycle) -> set[tuple[str, int]]:
        """(group, index) of the entries of q, v and x that follow from the guards that are zero.

        They are not constants: where a guard has parameters, as the height of a ground, they change with these.
        """
        plant = self.plant
        if not cycle.guards:
            return set()
        section = Section(plant, at, Conditions(cycle.laws(plant), {}, cycle.shift))
        free = np.abs(section.at(section.start, at.p).by_z).max(axis=1, initial=0.0)
        entries = {("q", place.q): place.v for place in plant.manifold if place.kind in LINES}
        entries |= {("v", k): plant.nv + k for k in range(plant.nv)}
        entries |= {("x", k): 2 * plant.nv + k for k in range(plant.nx)}
        return {entry for entry, k in entries.items() if free[k] < CONSTANT}

    def constants(self, ends: Sequence[Point], shift: Sequence[str]) -> tuple[tuple[str, int, float], ...]:
        """(group, index, value) of the entries of q, v, x and m that are the same at all of these states.

        The memory is that with which a run from the state would start.
        """
        plant = self.plant
        ends = [replace(end, m=entered_memory(plant, given_phase(plant, end), end.inputs)) for end in ends]
        moved = {name.removeprefix("q.") for name in shift}
        lines = {place.q for place in plant.manifold if place.kind in LINES}
        skipped: Mapping[str, set[int]] = {
            "q": {k for k, c in enumerate(plant.q) if c.name in moved or k not in lines},
            "v": set(plant.locked),
            "x": set(),
            "m": {plant.index("m", "phase")},
        }
        found = []
        for group, left_out in skipped.items():
            values = np.array([getattr(end, group) for end in ends])
            for k in range(values.shape[1]):
                if k not in left_out and _same(values[:, k], values[0, k]):
                    found.append((group, k, float(values[0, k])))
        return tuple(found)


def _same(a: Any, b: Any, tolerance: float = CONSTANT) -> bool:
    return bool(np.all(np.abs(np.asarray(a) - b) <= tolerance * np.maximum(1.0, np.abs(b))))


# ── conditions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def with_laws(conditions: Conditions, cycle: EdgeCycle, plant: Plant) -> Conditions:
    """The conditions of a section, with those that were found for the states after the edges of a cycle."""
    return replace(conditions, zero={**conditions.zero, **cycle.laws(plant)})
