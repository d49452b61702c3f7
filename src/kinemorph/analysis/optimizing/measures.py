"""The cost and the conditions of a design: laws of a plant at one state, or functions of a result.

A text, or a function of some of t, q, v, x, m, u, p, is a law: it is compiled and has exact slopes. A function of one
other argument is a function of the result, a Trajectory or an Equilibrium; it is called in Python and has no slopes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.searches.conditions import Conditions, Limit, called, limits_of
from kinemorph.analysis.searches.integrals import integral_rates, squared_signals
from kinemorph.analysis.searches.law_values import LawValues, function_of_result, is_law, unchecked
from kinemorph.analysis.searches.named_laws import named_law
from kinemorph.analysis.small_motions.plant_derivatives import built
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import GROUPS, Law

Cost = str | Mapping[str, float] | Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Measures:
    """The cost, the conditions, and the signals whose squares make up the cost, as far as they are known.

    `laws`          by number, laws of the plant: the cost is number 0, the conditions follow in order
    `functions`     by number, functions of the result, for those that are no laws
    `limits`        the limits of the conditions
    `squares`       (law, weight) with cost = sum of weight law^2, or empty
    """

    plant: Plant
    laws: Mapping[int, Law]
    functions: Mapping[int, Callable[[Any], Any]]
    limits: tuple[Limit, ...]
    squares: tuple[tuple[Law, float], ...] = ()

    @property
    def count(self) -> int:
        """The number of measures: the cost and the conditions."""
        return 1 + len(self.limits)

    def name(self, number: int) -> str:
        """What messages call a measure."""
        return f"condition '{self.limits[number - 1].name}'" if number else "the cost"

    @cached_property
    def _values(self) -> LawValues:
        laws = {str(k): law for k, law in self.laws.items()} | {f"+{k}": law for k, (law, _) in enumerate(self.squares)}
        return LawValues(self.plant, laws)

    @cached_property
    def _slopes(self) -> CompiledFunction:
        return built(jacobian(self._values.program, "out", ("s", "u", "p"), values=True))

    def at(self, inputs: tuple[Any, ...], results: Sequence[Any] | Callable[[int], Any]) -> Array:
        """All measures (B, count) at the inputs (t, base, s, m, u, p) of a plant, with B rows each.

        `results` gives result k by its index, for functions of it.
        """
        found = np.full((len(inputs[1]), self.count), np.nan)
        if self.laws:
            found[:, list(self.laws)] = self._values.at(inputs)[:, : len(self.laws)]
        for k in range(len(found)) if self.functions else ():
            result = results(k) if callable(results) else results[k]
            for number, function in self.functions.items():
                found[k, number] = self._number(function(result), number)
        return found

    def _number(self, value: Any, number: int) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise UnsupportedError(
                f"optimize: the function of {self.name(number)} returns {value!r}; expected one number."
            ) from None

    def sloped(self, inputs: tuple[Any, ...], by_state: Array, by_inputs: Array, by_parameters: Array) -> Sloped:
        """All measures at one instant with their derivatives by k unknowns, and those of the squared signals.

        The arguments are the derivatives of the state s (ns, k), the inputs u (nu, k) and the parameters p (np, k).
        """
        if self.functions:
            name = self.name(min(self.functions))
            raise UnsupportedError(
                f"optimize: {name} is a function of the result, which has no slopes. Write it as a text or as a "
                f"function of some of {', '.join(GROUPS)}, or use search='differential_evolution'."
            )
        out, by_s, by_u, by_p = unchecked(self._slopes, inputs, ())
        by = by_s @ by_state + by_u @ by_inputs + by_p @ by_parameters
        n = len(self.laws)
        return Sloped(out[:n], by[:n], by[n:])


@dataclass(frozen=True, eq=False)
class Sloped:
    """Measures (m,), their derivatives (m, k) by unknowns, and those of the squared signals (r, k)."""

    values: Array
    by: Array
    squares_by: Array


def measures_of(plant: Plant, cost: Cost, subject_to: Conditions | None, *, at_rest: bool) -> Measures:
    """The measures that a user names.

    `at_rest`: the names of Integrals mean their rates there, since at an equilibrium their values grow without end.
    """
    if not isinstance(subject_to, Mapping | None):
        raise UnsupportedError(
            f"optimize: subject_to is {subject_to!r:.80}; expected conditions with their limits, such as "
            "{'q.hip': (0.1, 0.2)}."
        )
    others = integral_rates(plant) if at_rest else {}
    laws: dict[int, Law] = {}
    functions: dict[int, Callable[[Any], Any]] = {}
    limits: list[Limit] = []
    given: list[tuple[Any, str]] = [(cost, "cost"), *((text, "condition") for text in (subject_to or {}))]
    for number, (text, what) in enumerate(given):
        if isinstance(text, Mapping):
            laws[number] = _weighted(plant, text, others, what)
        elif callable(text) and not is_law(text):
            functions[number] = function_of_result(text, f"optimize: the function of the {what}")
        elif callable(text) or isinstance(text, str):
            laws[number] = named_law(plant, text, others=others, what=what)
        else:
            raise UnsupportedError(
                f"optimize: {what} is {text!r}; expected the name of an Integral, a text with names of signals, or a "
                "function."
            )
    for text, bound in (subject_to or {}).items():
        name = called(text)
        taken = sum(limit.name.partition(" #")[0] == name for limit in limits)  # such as two functions "<lambda>"
        limits.append(Limit(f"{name} #{taken + 1}" if taken else name, *limits_of(bound, name, "optimize")))
    summed = {cost: 1.0} if isinstance(cost, str) else dict(cost) if isinstance(cost, Mapping) else {}
    whole = at_rest and all(name in others for name in summed)
    squares = tuple(squared_signals(plant, summed)) if whole else ()
    return Measures(plant, laws, functions, tuple(limits), squares)


def _weighted(plant: Plant, weights: Mapping[str, float], others: Mapping[str, Law], what: str) -> Law:
    """The weighted sum of texts, {text: weight}, as a law."""
    for text, weight in weights.items():
        if not (isinstance(weight, Real) and np.isfinite(float(weight))):
            raise UnsupportedError(f"optimize: the weight of '{text}' in the {what} is {weight!r}; expected a number.")
    if not weights:
        raise UnsupportedError(f"optimize: the {what} is empty; expected texts with their weights, {{'effort': 1.0}}.")
    terms = [(named_law(plant, text, others=others, what=what), float(weight)) for text, weight in weights.items()]

    def law(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        return sum(weight * one(t, q, v, x, m, u, p) for one, weight in terms)

    return law
