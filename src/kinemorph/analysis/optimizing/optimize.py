"""`optimize`: the parameters of a system that cost least, at an equilibrium, in a run or in a gait."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Real
from typing import Any, Literal

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.optimizing.design_problem import DesignProblem, Designs, History
from kinemorph.analysis.optimizing.equilibria import Equilibria
from kinemorph.analysis.optimizing.measures import Cost
from kinemorph.analysis.optimizing.optimized import Optimized
from kinemorph.analysis.optimizing.runs import Runs
from kinemorph.analysis.optimizing.unknowns import Range, Unknowns
from kinemorph.analysis.searches.conditions import Conditions, limits_of
from kinemorph.analysis.searches.local_search import Progress, Searched, broken, searched
from kinemorph.analysis.searches.population_search import PopulationSettings, differential_evolution, random_search
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.errors import UnsupportedError
from kinemorph.words import counted, did_you_mean, quoted

Search = Literal["slsqp", "differential_evolution", "random"]
DESIGNS: dict[str, type[Any]] = {"equilibrium": Equilibria, "run": Runs}  # how designs are measured
POPULATIONS = {"differential_evolution": differential_evolution, "random": random_search}  # searches without slopes
USUAL: dict[str, Search] = {"equilibrium": "slsqp", "run": "differential_evolution", "gait": "slsqp"}
TOLERANCES = {"slsqp": 1e-8, "differential_evolution": 1e-3, "random": 1.0}
MOST = {"slsqp": 300, "differential_evolution": 60, "random": 1}  # iterations
POINTS = 15  # of a population, for each number that is chosen


def optimize(
    model: Model,
    over: Mapping[str, Range],
    cost: Cost,
    subject_to: Conditions | None = None,
    *,
    at: Literal["equilibrium", "run", "gait"] = "equilibrium",
    search: Search | None = None,
    start: Mapping[str, float] | Optimized | None = None,
    starts: int = 1,
    population: int | None = None,
    iterations: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Optimized:
    """The parameters of a system that cost least, under conditions.

        optimize(system, over={"stiffness": (1.0, 100.0, "log")}, cost="effort")
        optimize(system, over={"phase": (0.0, 1.0)}, cost="work / q.x", subject_to={"q.x / t": (0.2, 0.22)},
                 at="run", until=2.0)

    `over`          what is chosen, with its range (low, high), or (low, high, "log") to search along its logarithm:
                    Parameters of the robot and of elements by name, inputs "u.hip"; in runs also initial values
                    "q.hip" and "v.hip"
    `cost`          the name of an `Integral`, a text with names of coordinates, velocities, parameters, Integrals and
                    signals, {text: weight}, or a function
    `subject_to`    conditions {text or function: (lower, upper)}, or the number that it is equal to
    `at`            where cost and conditions are measured: at the "equilibrium" of each design, at the end of a "run"
                    of it, or in the "gait" that costs least (see `optimize_gait`)
    `search`        "slsqp", which needs a start and follows exact slopes; "differential_evolution", which measures
                    populations, in runs each as one batch; or "random", the best of a number of random designs. By
                    default "slsqp", in runs "differential_evolution"
    `start`         where the search begins, by default the values of the model; `starts` is the number of searches by
                    "slsqp", all but the first one from random designs
    `population`    designs of a population, by default 15 for each number that is chosen
    `iterations`    the most steps, or generations; `tolerance` is relative to the cost
    `seed`          of random numbers: the same seed gives the same result
    `progress`      a function that is called after every step or generation with its number, the cost and the error

    Further options: those of `equilibrium` (q, x, u, p, m, t, locked, stable), of `simulate_batch` (until, q, v, x, u,
    p, m, method, step, rtol, atol, max_step, output_step, most_events, threads), or of `optimize_gait` (duration,
    at_start, at_end, edges, guess, arcs, ...), whose `along` is `subject_to`.

    At an equilibrium an Integral means its rate there: the cost of one second of standing. A function of some of t, q,
    v, x, m, u, p is a law with exact slopes; a function of one other argument is called with the Equilibrium or the
    Trajectory. Where nothing is found the result is False, and its message says why.
    """
    chosen = _checked(at, search, starts, population, iterations, tolerance, seed, progress)
    told = (TOLERANCES[chosen] if tolerance is None else tolerance, MOST[chosen] if iterations is None else iterations)
    begin = dict(start.values if isinstance(start, Optimized) else start or {})
    if at == "gait":
        return _of_gait(model, over, cost, subject_to, begin, *told, progress, options)
    designs = _made(DESIGNS[at], model, over, cost, subject_to, options, at)
    problem = DesignProblem(designs)
    first = _first(designs, begin)
    if chosen == "slsqp":
        return _local(problem, first, told, starts, seed, progress)
    for limit in problem.limits:
        if limit.lower == limit.upper:
            raise UnsupportedError(
                f"optimize: condition '{limit.name}' is an equation, which a population does not meet exactly. Give a "
                "lower and an upper limit, or use search='slsqp'."
            )
    count = POINTS * problem.size if population is None else population
    settings = PopulationSettings(first, seed, count, told[1], told[0], progress)
    ended = POPULATIONS[chosen](problem.measured, len(problem.limits), settings)
    return _result(problem, chosen, ended.Y, ended.found, ended.iterations, ended.seconds, ended.told)


# ── searches ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _local(
    problem: DesignProblem,
    first: Array,
    told: tuple[float, int],
    starts: int,
    seed: int,
    progress: Progress | None,
) -> Optimized:
    """The best of `starts` searches by SLSQP: from `first`, then from random designs."""
    n = problem.size
    bounds = (np.zeros(n), np.ones(n))
    begin = [first, *np.random.default_rng(seed).random((starts - 1, n))]
    tried: list[Searched] = [searched(problem, Y, bounds, *told, progress) for Y in begin]
    best = min(tried, key=lambda one: (not one.found, one.here.error if not one.found else 0.0, one.here.cost))
    taken, seconds = sum(one.iterations for one in tried), sum(one.seconds for one in tried)
    return _result(problem, "slsqp", best.Y, best.found, taken, seconds, best.told)


def _result(
    problem: DesignProblem, search: str, Y: Array, found: bool, iterations: int, seconds: float, told: str
) -> Optimized:
    """The result of a search that ended at Y, with a sentence about the outcome."""
    designs, name = problem.designs, problem.designs.plant.name
    history = problem.history  # without the following measurement
    empty = not len(Y)
    values = problem.unknowns.values(Y) if not empty else designs.first()
    (cost, *conditions) = designs.values(values[None])[0].tolist()
    margins = {limit.name: float(limit.margin(np.array(conditions[k]))) for k, limit in enumerate(problem.limits)}
    known = np.isfinite(history.costs)
    if found:
        message = (
            f"Least cost of '{name}': {cost:.9g}, after {counted(iterations, 'iteration')} and "
            f"{counted(len(history.costs), 'design')} in {seconds:.3g} s."
        )
    elif not known.any():
        message = (
            f"No design of '{name}' was found: none of {counted(len(history.costs), 'design')} could be measured. At "
            f"{_listed(problem.unknowns, values)}: {designs.failure(values)}"
        )
    else:
        message = (
            f"No design of '{name}' was found: {told}{broken(margins)} Widen ranges or conditions, or begin elsewhere."
        )
    return Optimized(
        name,
        designs.at,
        search,
        dict(zip(problem.unknowns.names, values.tolist(), strict=True)),
        cost,
        {limit.name: conditions[k] for k, limit in enumerate(problem.limits)},
        margins,
        history,
        found,
        iterations,
        seconds,
        message,
        problem.unknowns,
        partial(designs.result, values),
    )


def _listed(unknowns: Unknowns, values: Array) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in zip(unknowns.names, values, strict=True))


def _of_gait(
    model: Model,
    over: Mapping[str, Range],
    cost: Cost,
    subject_to: Conditions | None,
    begin: Mapping[str, float],
    tolerance: float,
    iterations: int,
    progress: Progress | None,
    options: Mapping[str, Any],
) -> Optimized:
    """The gait that costs least, by `optimize_gait`, as a result of `optimize`."""
    from kinemorph.analysis.gaits.optimize_gait import optimize_gait

    if callable(cost):
        raise UnsupportedError(
            "optimize: the cost of a gait is a function; expected the name of an Integral, or {name: weight}. Add an "
            "Integral of the signal that costs."
        )
    _known_options(optimize_gait, options, "gait")
    given = {"p": dict(begin)} if begin else {}
    gait = optimize_gait(
        model,
        cost,
        list(over),
        along=subject_to,
        limits={name: _linear(name, given) for name, given in over.items()},
        tolerance=tolerance,
        iterations=iterations,
        progress=progress,
        **{**given, **options},
    )
    values = {name: gait.parameters[name] for name in over}
    row = np.array([[*values.values()]])
    history = History(row, np.array([gait.cost]), np.array([gait.residual]))
    conditions = {name: margin for name, margin in gait.margins.items()}
    return Optimized(
        gait.plant.name,
        "gait",
        "slsqp",
        values,
        gait.cost,
        {},
        conditions,
        history,
        gait.found,
        gait.iterations,
        gait.seconds,
        gait.message,
        Unknowns(()),
        lambda: gait,
    )


def _linear(name: str, given: Any) -> tuple[float, float]:
    """The range of a parameter of a gait, which may be without ends."""
    if isinstance(given, tuple | list) and len(given) == 3:
        raise UnsupportedError(
            f"optimize: the range of '{name}' is {given!r}; expected a lower and an upper end, since at='gait'."
        )
    return limits_of(given, name, "optimize")


# ── what is given ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _checked(
    at: str,
    search: str | None,
    starts: int,
    population: int | None,
    iterations: int | None,
    tolerance: float | None,
    seed: int,
    progress: Progress | None,
) -> Search:
    """The search to use; raises UnsupportedError for wrong options."""
    for name, given, known in (("at", at, [*USUAL]), ("search", search, [*TOLERANCES])):
        if given not in known and not (name == "search" and given is None):
            raise UnsupportedError(
                f"optimize: {name} is {given!r}; expected one of {quoted(known)}.{did_you_mean(str(given), known)}"
            )
    chosen: Any = search or USUAL[at]
    if at == "gait" and chosen != "slsqp":
        raise UnsupportedError(
            f"optimize: search is '{chosen}', but gaits are found by 'slsqp' only. Leave search out."
        )
    for name, count in (("starts", starts), ("population", population), ("iterations", iterations)):
        if count is not None and (not isinstance(count, int | np.integer) or count is True or count < 1):
            raise UnsupportedError(f"optimize: {name} is {count!r}; expected a whole number, 1 or more.")
    if tolerance is not None and not (isinstance(tolerance, Real) and 0.0 < float(tolerance) < math.inf):
        raise UnsupportedError(f"optimize: tolerance is {tolerance!r}; expected a number above 0, such as 1e-8.")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise UnsupportedError(f"optimize: seed is {seed!r}; expected a whole number, 0 or more.")
    if not (progress is None or callable(progress)):
        raise UnsupportedError(f"optimize: progress is {progress!r}; expected a function of three arguments.")
    return chosen  # type: ignore[no-any-return]


def _made(
    kind: type[Any],
    model: Model,
    over: Mapping[str, Range],
    cost: Cost,
    subject_to: Conditions | None,
    options: Mapping[str, Any],
    at: str,
) -> Designs:
    _known_options(kind.__init__, options, at)
    made: Designs = kind(model, over, cost, subject_to, **options)
    return made


def _known_options(function: Callable[..., Any], options: Mapping[str, Any], at: str) -> None:
    """Raises UnsupportedError for an option that is not used with this `at`."""
    taken = inspect.signature(function).parameters.values()
    known = [one.name for one in taken if one.kind is one.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise UnsupportedError(
                f"optimize: option '{name}' is not used with at='{at}'.{did_you_mean(name, known)} Known: "
                f"{quoted(known)}."
            )


def _first(designs: Designs, begin: Mapping[str, float]) -> Array:
    """Y (n,) where a search begins: the values of the model, or those that are given."""
    values = designs.first()
    for name, value in begin.items():
        if name not in designs.unknowns.names:
            raise UnsupportedError(
                f"optimize: start names '{name}', which is not in `over`.{did_you_mean(name, designs.unknowns.names)}"
            )
        if not (isinstance(value, Real) and np.isfinite(float(value))):
            raise UnsupportedError(f"optimize: start has {value!r} for '{name}'; expected a finite number.")
        values[designs.unknowns.names.index(name)] = float(value)
    return designs.unknowns.scaled(values)
