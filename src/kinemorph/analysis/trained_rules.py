"""`train_rules`: fuzzy rules whose numbers make the tracking error of a model least.

    trained = train_rules(system)
    run = simulate(trained.system, 10.0)

The errors of the controllers at n times are residuals r of a nonlinear least-squares problem in the numbers p of the
rules. Their derivatives J = dr/dp are exact: they are integrated together with the motion, as in `sensitivities`, also
through the samples of a sampled controller. The logarithms of widths are trained, so that widths stay positive. The
training minimizes

    |r|^2 / n + prior |z|^2,      z_j = (p_j - initial p_j) / s_j

The second term keeps the rules near the initial ones: without it, numbers that change the errors little would grow, and
the rules would fail where the load differs from that of the training. s_j is the change of a coefficient that alone
changes the errors by as much as they are at first; for a center it is the width, and 1 for the logarithm of a width.
Each step dz is that of Levenberg and Marquardt, with R = J diag(s):

    (R^T R / n + (prior + damping) 1) dz = -R^T r / n - prior z

The damping falls after a step that reduces this sum and rises after one that does not, which is taken back.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.sensitivities import Sensitivities, unpacked
from kinemorph.analysis.small_motions.variational_plant import varied
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.elements.control.fuzzy_rules import FuzzyRules
from kinemorph.model.elements.control.wiring import measured
from kinemorph.model.parameter import Parameter, evaluate, evaluate_all
from kinemorph.model.system import System
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.simulation.simulate import simulate
from kinemorph.words import did_you_mean, quoted

Numbers = Literal["consequents", "centers", "widths"]
SOFTER, HARDER, HARDEST = 0.3, 4.0, 1e8  # factors of the damping after a good and a bad step; its value at the end


@dataclass(frozen=True, eq=False)
class TrainedRules:
    """Rules trained by `train_rules`.

    `system`        the first system that was given, with the trained rules
    `controllers`   the trained rules
    `before`, `after`   the RMS error of each controller over the training runs, in the unit of what it measures
    `history`       the objective after each step: the RMS of all errors, each divided by its value in `before`
    """

    system: System
    controllers: tuple[FuzzyRules, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    history: tuple[float, ...]

    def in_system(self, system: System) -> System:
        """Another system with the trained rules in place of those of the same names; their sampling is kept."""
        return _exchanged(
            system,
            {one.name: replace(_rules(system, one.name), **_numbers_of(one, NUMBERS)) for one in self.controllers},
        )


NUMBERS: tuple[Numbers, ...] = get_args(Numbers)


def train_rules(
    systems: System | Sequence[System],
    controllers: str | Sequence[str] = (),
    *,
    until: float | None = None,
    since: float = 0.0,
    numbers: Sequence[Numbers] = NUMBERS,
    steps: int = 20,
    output_step: float = 0.01,
    prior: float = 0.3,
    damping: float = 0.1,
    **options: Any,
) -> TrainedRules:
    """The rules of a system, trained so that the mean square of their errors is least.

    `systems`       a system, or several that differ in their loads and have the same rules
    `controllers`   names of the FuzzyRules to train; all of them by default
    `until`         the end of the training runs [s]; by default the duration in the settings of the system
    `since`         the time [s] from which errors count
    `numbers`       which numbers of the rules are trained: "consequents", "centers", "widths"
    `steps`         the largest number of steps that are tried
    `output_step`   the time [s] between errors that count
    `prior`         how strongly the rules are kept near the initial ones, see the top of this file
    `damping`       of the first step: the more, the shorter it is. A long step may give rules that are not stable
    `options`       arguments of `simulate`: method, step, rtol, atol; a fixed step bounds the time of a run with rules
                    that are not stable

    The errors of each controller are divided by their RMS value before training.
    """
    given = [systems] if isinstance(systems, System) else list(systems)
    names = _names(given, controllers)
    until = given[0].settings.time if until is None else until
    if not 0.0 <= since < until:
        raise UnsupportedError(f"train_rules: since is {since:g} s; expected a time from 0 to {until:g} s, the end.")
    unknown = [one for one in numbers if one not in NUMBERS]
    if unknown or not numbers:
        raise UnsupportedError(f"train_rules: numbers is {tuple(numbers)!r}; expected some of {quoted(NUMBERS)}.")
    for key, value in (("prior", prior), ("damping", damping)):
        if not 0.0 <= value < math.inf:
            raise UnsupportedError(f"train_rules: {key} is {value:g}; expected a finite number of at least 0.")
    begun = {name: _rules(given[0], name) for name in names}
    named = {name: _with_parameters(rules, numbers) for name, rules in begun.items()}
    parameters = [one for name in names for one in _parameters(named[name], numbers)]
    runs = [
        _training_run(
            _exchanged(system, named), names, parameters, until=until, since=since, output_step=output_step, **options
        )
        for system in given
    ]

    def errors(p: Array) -> tuple[Array, Array]:
        """(errors (n, controllers), their derivatives (n, controllers, len(p))) of all runs."""
        found = [run(p) for run in runs]
        return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])

    p = np.array([one.value for one in parameters])
    first, slopes = errors(p)
    scale = _rms(first)
    if not np.isfinite(scale).all():
        raise UnsupportedError("train_rules: the run of the given rules fails. Begin with rules that follow the path.")
    scale = np.where(scale > 0.0, scale, 1.0)
    units = _units(begun, numbers, slopes / scale[:, None], math.sqrt(first.size))
    p, last, history = _least_squares(
        errors, p, (first, slopes), scale, units, prior=prior, damping=damping, steps=steps
    )
    lookup = {one.name: float(x) for one, x in zip(parameters, p, strict=True)}
    trained = {
        name: replace(rules, **{field: evaluate_all(getattr(rules, field), lookup) for field in numbers})
        for name, rules in named.items()
    }
    return TrainedRules(
        _exchanged(given[0], trained),
        tuple(trained.values()),
        tuple(map(float, _rms(first))),
        tuple(map(float, _rms(last))),
        tuple(history),
    )


def _least_squares(
    errors: Callable[[Array], tuple[Array, Array]],
    p: Array,
    first: tuple[Array, Array],
    scale: Array,
    units: Array,
    *,
    prior: float,
    damping: float,
    steps: int,
) -> tuple[Array, Array, list[float]]:
    """(numbers, errors, history of the RMS of scaled errors) after steps of Levenberg and Marquardt from p.

    `first` are the errors at p and their derivatives, `scale` (controllers,) and `units` (len(p),) are those of errors
    and numbers.
    """
    e, slopes = first
    z = np.zeros(len(p))
    n = e.size

    def cost(e: Array, z: Array) -> float:
        found = float(np.sum((e / scale) ** 2) / n + prior * z @ z)
        return found if math.isfinite(found) else math.inf

    now, history = cost(e, z), [math.sqrt(float(np.mean((e / scale) ** 2)))]
    for _ in range(steps):
        R = (slopes / scale[:, None]).reshape(n, len(p)) * units
        with np.errstate(over="ignore", invalid="ignore"):
            H, gradient = R.T @ R / n, R.T @ (e / scale).ravel() / n + prior * z
        if not np.isfinite(H).all():
            break
        tried = z - np.linalg.solve(H + (prior + damping) * np.eye(len(p)), gradient)
        other = errors(p + units * tried)
        better = cost(other[0], tried)
        if better < now:
            (e, slopes), z, now, damping = other, tried, better, SOFTER * damping
            history.append(math.sqrt(float(np.mean((e / scale) ** 2))))
        else:
            damping *= HARDER
        if damping > HARDEST:
            break
    return p + units * z, e, history


def _rms(e: Array) -> Array:
    found: Array = np.sqrt(np.mean(e**2, axis=0))
    return found


def _training_run(
    system: System,
    names: Sequence[str],
    parameters: Sequence[Parameter],
    *,
    until: float,
    since: float,
    output_step: float,
    **options: Any,
) -> Callable[[Array], tuple[Array, Array]]:
    """A function of the numbers of the rules that returns the errors (n, controllers) of a run, and their derivatives.

    Where a run fails, all errors are nan.
    """
    keys = [one.name for one in parameters]
    plant = as_plant(system, parameters=keys)
    wide = varied(plant, keys, 0)
    velocities = [column.name for column in plant.v]
    columns = [_coordinate(_rules(system, name), velocities) for name in names]
    x0 = np.concatenate([plant.start["x"], np.zeros(len(keys) * plant.ns)])
    times = np.arange(0.0, until + 0.5 * output_step, output_step)
    count = int((times >= since - 1e-9).sum())

    def found(p: Array) -> tuple[Array, Array]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about rules that are tried, and taken back if they are worse
            run = simulate(wide, until, x=x0, p=p, output_step=output_step, **options)
        if not run.outcome.ok:
            return np.full((count, len(names)), np.nan), np.full((count, len(names), len(p)), np.nan)
        made: Sensitivities = unpacked(plant, run, tuple(keys))
        late = made.t >= since - 1e-9
        e = np.stack([made.trajectory[f"{name}.error"][late] for name in names], axis=1)
        return e, -made.q[late][:, columns]

    return found


# ── the rules and their parameters ────────────────────────────────────────────────────────────────────────────────────


def _names(systems: Sequence[System], wanted: str | Sequence[str]) -> tuple[str, ...]:
    """The names of the rules to train. Raises ModelError where a system does not have them."""
    if not systems:
        raise ModelError("train_rules: no system is given. Give a System with FuzzyRules.")
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    names = names or tuple(one.name for one in systems[0].elements if isinstance(one, FuzzyRules))
    if not names:
        raise ModelError(f"train_rules: system '{systems[0].name}' has no FuzzyRules. Add some to its elements.")
    for system in systems:
        for name in names:
            _rules(system, name)
    return names


def _rules(system: System, name: str) -> FuzzyRules:
    known = {one.name: one for one in system.elements if isinstance(one, FuzzyRules)}
    if name not in known:
        raise ModelError(
            f"train_rules: system '{system.name}' has no FuzzyRules '{name}'.{did_you_mean(name, known)} "
            f"Known: {quoted(known)}."
        )
    return known[name]


def _coordinate(rules: FuzzyRules, velocities: Sequence[str]) -> int:
    """The index in v of the coordinate that the rules measure."""
    signal = measured(rules)[0]
    if not signal.startswith("q.") or signal[2:] not in velocities:
        raise UnsupportedError(
            f"train_rules: '{rules.name}' measures '{signal}'; expected a coordinate of the robot, as 'q.hip'."
        )
    return velocities.index(signal[2:])


def _exchanged(system: System, rules: dict[str, FuzzyRules]) -> System:
    return replace(system, elements=tuple(rules.get(one.name, one) for one in system.elements))


def _numbers_of(rules: FuzzyRules, fields: Sequence[str]) -> dict[str, Any]:
    return {field: getattr(rules, field) for field in fields}


def _with_parameters(rules: FuzzyRules, numbers: Sequence[Numbers]) -> FuzzyRules:
    """The rules with a parameter for each number in the fields `numbers`; that of a width is its logarithm."""

    def named(field: str, i: int, j: int, value: Any) -> Any:
        nominal, key = float(evaluate(value)), f"{rules.name}.{field}.{i}.{j}"
        return Parameter(key, math.log(nominal)).exp() if field == "widths" else Parameter(key, nominal)

    fields: dict[str, Any] = {
        field: tuple(
            tuple(named(field, i, j, value) for j, value in enumerate(row))
            for i, row in enumerate(getattr(rules, field))
        )
        for field in numbers
    }
    return replace(rules, **fields)


def _parameters(rules: FuzzyRules, numbers: Sequence[Numbers]) -> Iterator[Parameter]:
    for field in numbers:
        for row in getattr(rules, field):
            for value in row:
                yield value if isinstance(value, Parameter) else value.args[0]


def _units(begun: dict[str, FuzzyRules], numbers: Sequence[Numbers], slopes: Array, size: float) -> Array:
    """The unit s of each parameter, shape (k,): the change of it that counts as 1 in the training; see the top of this
    file.

    `slopes` (n, controllers, k) are the derivatives of the scaled errors, whose norm is `size` at first.
    """
    effects = np.sqrt(np.sum(slopes**2, axis=(0, 1))) / size
    found: list[float] = []
    for rules in begun.values():
        for field in numbers:
            for i, row in enumerate(getattr(rules, field)):
                for j in range(len(row)):
                    effect = effects[len(found)]
                    width = float(evaluate(rules.widths[i][j])) if field == "centers" else 1.0
                    found.append(1.0 / effect if field == "consequents" and effect > 0.0 else width)
    return np.array(found)
