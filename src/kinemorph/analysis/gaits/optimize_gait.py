"""`optimize_gait`: the periodic motion of a hybrid system that costs least, under conditions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinemorph.analysis.gaits.gait import Gait
from kinemorph.analysis.gaits.gait_problem import GaitLimit, GaitProblem
from kinemorph.analysis.gaits.gait_start import Guess, cycle_edges, cycle_legs, first_guess, shifted
from kinemorph.analysis.searches.conditions import Bound, Conditions, called, limits_of
from kinemorph.analysis.searches.local_search import Bounds, Searched, broken, searched
from kinemorph.analysis.searches.named_laws import named_law
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant as plant_of
from kinemorph.plants.robot_plant import summed_states
from kinemorph.words import counted, did_you_mean, quoted

CALLED = "optimize_gait"


def optimize_gait(
    model: Model,
    cost: str | Mapping[str, float],
    free: Sequence[str],
    *,
    duration: Bound | Sequence[Bound] = (0.05, 10.0),
    along: Conditions | None = None,
    at_start: Conditions | None = None,
    at_end: Conditions | None = None,
    limits: Mapping[str, Bound] | None = None,
    edges: Sequence[str] = (),
    guess: Guess | None = None,
    shift: Sequence[str] | None = None,
    p: Any = None,
    u: Any = None,
    arcs: int = 6,
    stages: int = 6,
    tolerance: float = 1e-8,
    iterations: int = 300,
    progress: Callable[[int, float, float], Any] | None = None,
) -> Gait:
    """The periodic motion of a system with an automaton that costs least, and the parameters with which it moves so.

    `cost`          the name of an `Integral` element, whose growth in a cycle is the cost, or {name: weight} of several
    `free`          names of Parameters that are chosen, such as those of a `TorqueSpline` or of `VirtualConstraints`
    `duration`      of each phase [s], or (shortest, longest); a list has one entry for each phase of the cycle
    `along`         conditions that hold all along the cycle, {"foot.z": (0.0, math.inf)}: a text with names of
                    coordinates, velocities, parameters and signals, or a function of some of t, q, v, x, m, u, p, and
                    its lower and upper limit, or the number that it is equal to. They hold at the points of collocation
    `at_start`      conditions at the start of the cycle, after the last edge
    `at_end`        conditions at the end of the cycle, before the last edge, {"foot.x - heel.x": 0.5}
    `limits`        lower and upper limits of parameters that are chosen
    `edges`         the names of the edges of a cycle, in turn; by default the only edge of the automaton
    `guess`         where the search begins: a Gait that was found, a Trajectory over one cycle, or columns by name,
                    each with values at equal times from the start to the end, {"q.hip": [-0.3, 0.3]}; for several
                    edges, one such dict for each phase. Velocities that are not given follow from the coordinates. By
                    default the motion from the initial state of the model
    `shift`         coordinates that need not repeat, because the motion does not depend on them; found by default
    `p`, `u`        values of parameters where the search begins, and constant inputs
    `arcs`, `stages`    pieces of each phase, and points in each of them: order 2 `stages`
    `tolerance`     relative, of the cost; `iterations`: the most steps of the search
    `progress`      a function that is called after every step with its number, the cost and the largest error

    The time of a phase counts from its beginning. A search that fails gives a Gait that is False, and its message says
    which equation or condition is not met.
    """
    began = time.perf_counter()
    plant = model if isinstance(model, Plant) else plant_of(model, parameters=tuple(free))
    costs = {cost: 1.0} if isinstance(cost, str) else dict(cost)
    _check(plant, costs, free)
    for name, value, least in (("arcs", arcs, 1), ("stages", stages, 1), ("iterations", iterations, 1)):
        if value < least:
            raise UnsupportedError(f"optimize_gait: {name} is {value}; expected {least} or more.")
    if not tolerance > 0.0:
        raise UnsupportedError(f"optimize_gait: tolerance is {tolerance}; expected a number above 0, such as 1e-8.")
    numbers = cycle_edges(plant, edges)
    spans = _spans(duration, len(numbers))
    begun = first_guess(plant, numbers, guess, spans, arcs, p=p, u=u)
    legs = cycle_legs(plant, numbers, begun, arcs)
    conditions = [
        GaitLimit(called(text), *limits_of(bound, called(text), CALLED), named_law(plant, text), where)
        for where, given in (("start", at_start), ("along", along), ("end", at_end))
        for text, bound in (given or {}).items()
    ]
    problem = GaitProblem(plant, legs, free, costs, conditions, shifted(plant, legs, shift), spans, stages)
    Y = problem.packed(
        [leg.section.coordinates(s) for leg, s in zip(legs, begun.states, strict=True)], begun.durations, begun.p
    )
    bounds = _bounds(problem, limits or {})
    problem.at(Y), problem.curvature(Y)
    building = time.perf_counter() - began
    return _gait(problem, searched(problem, Y, bounds, tolerance, iterations, progress), building)


def _gait(problem: GaitProblem, ended: Searched, building: float) -> Gait:
    """The gait where a search ended, with a sentence about the outcome."""
    Y, here, found, taken, seconds, _ = ended
    name, margins = problem.plant.name, problem.margins(Y)
    if found:
        period = float(Y[problem.lasting].sum())
        message = (
            f"Gait of '{name}': cost {here.cost:.9g} in {period:.9g} s, after {counted(taken, 'iteration')} in "
            f"{seconds:.3g} s; the largest error is {here.error:.2g}."
        )
    else:
        message = (
            f"No gait of '{name}' was found: {ended.told} The largest error of an equation is {here.error:.2g}."
            f"{broken(margins)} Give another guess, fewer conditions, or more parameters to choose."
        )
    return Gait(problem, Y, here.cost, here.error, margins, found, taken, seconds, building, message)


def _check(plant: Plant, costs: Mapping[str, float], free: Sequence[str]) -> None:
    """Raises UnsupportedError where the model has no automaton, or a name is unknown."""
    if plant.automaton is None or not plant.automaton.edges:
        raise UnsupportedError(
            f"optimize_gait: '{plant.name}' has no edges, at which a cycle could end. Give the system an automaton."
        )
    known = [name for name in summed_states(plant)]
    for name in costs:
        if name not in known:
            raise UnsupportedError(
                f"optimize_gait: cost '{name}' is not an Integral of '{plant.name}'.{did_you_mean(name, known)} "
                f"Known: {quoted(known) or 'none; add elements.Integral to the system'}."
            )
    parameters = [column.name for column in plant.p]
    for name in free:
        if name not in parameters:
            raise UnsupportedError(
                f"optimize_gait: '{plant.name}' has no parameter '{name}'.{did_you_mean(name, parameters)} Known: "
                f"{quoted(parameters)}."
            )


def _spans(duration: Bound | Sequence[Bound], count: int) -> list[tuple[float, float]]:
    """(shortest, longest) duration [s] of each phase of the cycle."""
    given: list[Any] = list(duration) if isinstance(duration, list) else [duration] * count
    spans = [limits_of(one, "duration", CALLED) for one in given]
    if len(spans) != count or any(low <= 0.0 for low, _ in spans):
        raise UnsupportedError(
            f"optimize_gait: duration is {duration}; expected a time above 0, or (shortest, longest), for each of "
            f"{count} phases."
        )
    return spans


def _bounds(problem: GaitProblem, limits: Mapping[str, Bound]) -> Bounds:
    """Lower and upper limits (size,) of all unknowns."""
    lower, upper = np.full(problem.size, -np.inf), np.full(problem.size, np.inf)
    for k, (low, high) in enumerate(problem.durations):
        if low < high:
            lower[problem.lasting.start + k], upper[problem.lasting.start + k] = low, high
    for name, bound in limits.items():
        if name not in problem.free:
            raise UnsupportedError(
                f"optimize_gait: limits are given for '{name}', which is not in `free`."
                f"{did_you_mean(name, problem.free)} Name it there too."
            )
        place = problem.chosen.start + problem.free.index(name)
        lower[place], upper[place] = limits_of(bound, name, CALLED)
    return lower, upper
