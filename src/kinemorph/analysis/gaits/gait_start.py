"""Where the search for a gait begins: the edges of a cycle, a first guess of the motion, and its coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.collocation import derived
from kinemorph.analysis.gaits.gait import Gait
from kinemorph.analysis.gaits.gait_problem import Leg
from kinemorph.analysis.orbits.section import LINES, Conditions, Section
from kinemorph.analysis.small_motions.local_coordinates import local
from kinemorph.analysis.small_motions.plant_derivatives import Point, point_of
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import AT, Plant
from kinemorph.plants.robot_plant import summed_states
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.initial_state import entered_memory
from kinemorph.words import did_you_mean, quoted

Columns = Mapping[str, Sequence[float]]
Guess = Trajectory | Gait | Columns | Sequence[Columns]
STILL = 1e-9  # a motion does not depend on a coordinate if no rate changes by more than this with it


class Begun(NamedTuple):
    """A first guess: homes (a state in each phase), states (arcs, ns) about them, durations [s], parameters (np,)."""

    homes: list[Point]
    states: list[Array]
    durations: list[float]
    p: Array


def cycle_edges(plant: Plant, names: Sequence[str]) -> list[int]:
    """The numbers of the edges of a cycle; each one leads to the phase that the next one leaves."""
    automaton = plant.automaton
    assert automaton is not None
    known = [edge.name for edge in automaton.edges]
    given = [names] if isinstance(names, str) else list(names)
    if not given and len(known) > 1:
        raise UnsupportedError(
            f"optimize_gait: '{plant.name}' has the edges {quoted(known)}. Name those of a cycle in turn, as `edges`."
        )
    given = given or known
    for name in given:
        if name not in known:
            raise UnsupportedError(
                f"optimize_gait: '{plant.name}' has no edge '{name}'.{did_you_mean(name, known)} Known: "
                f"{quoted(known)}."
            )
    found = [automaton.edges[known.index(name)] for name in given]
    for edge, following in zip(found, [*found[1:], found[0]], strict=True):
        if edge.target != following.source:
            raise UnsupportedError(
                f"optimize_gait: edge '{edge.name}' leads to phase '{edge.target}', and edge '{following.name}' leaves "
                f"phase '{following.source}'. Name edges that follow each other, and the first one after the last."
            )
    return [known.index(name) for name in given]


def first_guess(
    plant: Plant,
    edges: Sequence[int],
    guess: Guess | None,
    spans: Sequence[tuple[float, float]],
    arcs: int,
    **given: Any,
) -> Begun:
    """A first guess of the motion; see `optimize_gait`."""
    automaton = plant.automaton
    assert automaton is not None
    phases = [automaton.number(automaton.edges[edge].source) for edge in edges]
    start = point_of(plant, **given)
    if isinstance(guess, Gait):
        return _continued(plant, guess, start, arcs, spans)
    if guess is None:
        guess = _run(plant, start, len(edges), phases[0], spans)
    if isinstance(guess, Trajectory):
        pieces = _segments(guess, len(edges))
        q = [_sampled(piece.t, piece.q, arcs) for piece in pieces]
        v = [_sampled(piece.t, piece.v, arcs) for piece in pieces]
        durations = [float(piece.t[-1] - piece.t[0]) for piece in pieces]
    else:
        dicts = [guess] if isinstance(guess, Mapping) else list(guess)
        if len(dicts) != len(edges):
            raise UnsupportedError(
                f"optimize_gait: guess has {len(dicts)} dicts, and the cycle {len(edges)} phases; expected one for "
                "each."
            )
        durations = [low if low == high else _middle(low, high) for low, high in spans]
        both = [_named(plant, one, lasting, arcs) for one, lasting in zip(dicts, durations, strict=True)]
        q, v = [pair[0] for pair in both], [pair[1] for pair in both]
    durations = [float(np.clip(one, *span)) for one, span in zip(durations, spans, strict=True)]
    homes, states = [], []
    for phase, places, moving in zip(phases, q, v, strict=True):
        m = np.array(start.m)
        m[plant.index("m", "phase")] = phase
        home = replace(start, t=0.0, q=places[0], v=moving[0], m=m)
        home = replace(home, m=entered_memory(plant, {"phase": float(phase)}, home.inputs))
        homes.append(home)
        w = [local(plant, home.q.tolist(), row.tolist()) for row in places]
        states.append(np.hstack([np.array(w, dtype=float), moving, np.tile(home.x, (arcs, 1))]))
    return Begun(homes, states, durations, start.p)


def _continued(plant: Plant, gait: Gait, start: Point, arcs: int, spans: Sequence[tuple[float, float]]) -> Begun:
    """A gait that was found, as the first guess of another one; parameters that it does not have keep their values."""
    problem = gait.problem
    sections = [leg.section for leg in problem.legs]
    if len(spans) != len(sections) or any(leg.arcs != arcs for leg in problem.legs):
        raise UnsupportedError(
            f"optimize_gait: guess is a gait with {len(sections)} phases of {problem.legs[0].arcs} arcs; expected "
            f"{len(spans)} phases of {arcs} arcs. Give the same `edges` and `arcs` as for that gait."
        )
    for group in "qvxm":
        names, others = ([column.name for column in getattr(one, group)] for one in (plant, gait.plant))
        if names != others:
            raise UnsupportedError(
                f"optimize_gait: guess is a gait of '{gait.plant.name}', whose {group} has {quoted(others)}; expected "
                f"those of '{plant.name}', {quoted(names)}. Give a guess by columns."
            )
    known = gait.parameters
    p = np.array([known.get(column.name, value) for column, value in zip(plant.p, start.p, strict=True)])
    states = [one.states(z, gait.p)[0] for one, z in zip(sections, problem.nodes(gait.Y), strict=True)]
    durations = [float(np.clip(one, *span)) for one, span in zip(gait.durations, spans, strict=True)]
    return Begun([replace(one.home, p=p, u=start.u) for one in sections], states, durations, p)


def _middle(low: float, high: float) -> float:
    """A duration [s] to begin with, between the shortest and the longest one."""
    return float(np.sqrt(low * high)) if np.isfinite(high) else 2.0 * low


def _run(plant: Plant, start: Point, count: int, phase: int, spans: Sequence[tuple[float, float]]) -> Trajectory:
    """The motion from the initial state until it has taken `count` edges."""
    longest = float(np.clip(2.0 * sum(high for _, high in spans), 0.1, 100.0))
    found = simulate(
        plant,
        longest,
        q=start.q,
        v=start.v,
        p=start.p if plant.p else None,
        inputs=start.u if plant.nu else None,
        m={"phase": float(phase)},
        most_events=count,
        output_step=longest / 500.0,
    )
    taken = [event for event in found.events if event.kind == "edge"]
    if len(taken) < count:
        raise UnsupportedError(
            f"optimize_gait: the motion of '{plant.name}' from its initial state takes {len(taken)} of {count} edges "
            f"within {longest:g} s. Give a guess of the motion, {{'q.hip': [-0.3, 0.3]}}."
        )
    return found


def _segments(run: Trajectory, count: int) -> list[Any]:
    pieces = [piece for piece in run.segments if len(piece.t) > 1]
    if len(pieces) < count:
        raise UnsupportedError(
            f"optimize_gait: guess is a run with {len(pieces)} segments between edges, and the cycle has {count} "
            "phases. Give a run over one cycle, with at least two samples in each phase."
        )
    return pieces[:count]


def _sampled(t: Array, values: Array, arcs: int) -> Array:
    """Values (n, ...) at times t, interpolated at the starts of arcs of equal duration."""
    at = t[0] + (t[-1] - t[0]) * np.arange(arcs) / arcs
    return np.stack([np.interp(at, t, column) for column in values.T], axis=1)


def _named(plant: Plant, columns: Columns, duration: float, arcs: int) -> tuple[Array, Array]:
    """(q (arcs, nq), v (arcs, nv)) from columns by name; velocities that are not given are slopes of coordinates."""
    names = {f"q.{c.name}": k for k, c in enumerate(plant.q)} | {f"v.{c.name}": k for k, c in enumerate(plant.v)}
    for name in columns:
        if name not in names:
            raise UnsupportedError(
                f"optimize_gait: guess names '{name}', which is neither a coordinate nor a velocity of '{plant.name}'."
                f"{did_you_mean(name, names)} Known: {quoted(names)}."
            )
    q, v = (np.tile(np.array(plant.start[group], dtype=float), (arcs, 1)) for group in "qv")
    at = np.arange(arcs) / arcs
    lines = {plant.q[place.q].name: place for place in plant.manifold if place.kind in LINES}
    for name, values in columns.items():
        curve = _curve(name, values)
        if name.startswith("v."):
            v[:, names[name]] = curve(at)
            continue
        q[:, names[name]] = curve(at)
        place = lines.get(name[2:])
        if place is not None and f"v.{plant.v[place.v].name}" not in columns:
            v[:, place.v] = curve(at, 1) / duration
    return q, v


def _curve(name: str, values: Sequence[float]) -> Any:
    from scipy.interpolate import make_interp_spline

    given = np.atleast_1d(np.asarray(values, dtype=float))
    if given.ndim != 1 or not np.isfinite(given).all():
        raise UnsupportedError(f"optimize_gait: guess '{name}' is {values!r}; expected a list of finite numbers.")
    given = np.repeat(given, 2) if len(given) == 1 else given
    return make_interp_spline(np.linspace(0.0, 1.0, len(given)), given, k=min(3, len(given) - 1))


def cycle_legs(plant: Plant, edges: Sequence[int], begun: Begun, arcs: int) -> list[Leg]:
    """The legs of a cycle, each with the coordinates of its states."""
    pinned = summed_states(plant)
    found = [
        Leg(Section(plant, home, Conditions({}, {}, pinned=pinned)), edge, arcs)
        for home, edge in zip(begun.homes, edges, strict=True)
    ]
    for leg in found:
        _check_memory(plant, leg.section.home)
    return found


def _check_memory(plant: Plant, home: Point) -> None:
    """Raises UnsupportedError where forces depend on where a point is held, which the unknowns do not determine."""
    rate = plant.compiled("rate")
    before = rate(*home.inputs)
    for k, column in enumerate(plant.m):
        if column.name.endswith(".held"):
            m = np.array(home.m)
            m[k] += 1e-3
            if np.abs(rate(*replace(home, m=m).inputs) - before).max(initial=0.0) > STILL:
                raise UnsupportedError(
                    f"optimize_gait: the forces on '{plant.name}' depend on the error of the constraint "
                    f"'{column.name}', as {type(plant.loops).__name__} has it. Use loops='projection'."
                )


def shifted(plant: Plant, legs: Sequence[Leg], given: Sequence[str] | None) -> list[int]:
    """The entries of s that need not repeat: coordinates of prismatic joints on which neither rates nor guards depend.

    `given` are their names, if the user named them.
    """
    places = {plant.q[place.q].name: place.v for place in plant.manifold if place.kind == "prismatic"}
    if given is not None:
        names = [name.removeprefix("q.") for name in ([given] if isinstance(given, str) else given)]
        for name in names:
            if name not in places:
                raise UnsupportedError(
                    f"optimize_gait: shift '{name}' is not the coordinate of a prismatic joint of '{plant.name}'."
                    f"{did_you_mean(name, places)} Known: {quoted(places)}."
                )
        return [places[name] for name in names]
    jumps = plant.laws.jumps
    assert jumps is not None
    size = str(plant.ns + len(plant.guards))
    program = plant.traced("shifting", lambda at: [*plant.laws.rate(at), *jumps.guards(at)], AT, {"out": size})
    moving = np.zeros(plant.ns)
    for leg in legs:
        home = leg.section.home
        by_s = derived(program, home)(np.zeros(1), home.s[None], home.p)[2][0]
        moving = np.maximum(moving, np.abs(by_s).max(axis=0))
    return [k for k in places.values() if moving[k] < STILL]
