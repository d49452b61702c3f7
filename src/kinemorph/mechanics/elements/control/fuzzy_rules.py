"""The law of controllers of Sugeno fuzzy rules.

The weights are normalized by the largest one before they are added, so that no sum is 0 where the inputs are far from
all centers. The integral I and the rate d of the error e are

    continuous      I' = e,  z' = (e - z) / Tf,  d = (e - z) / Tf
    sampled         I += T e,  d = (Tf d + e - e_before) / (Tf + T)

as in a PID with gains of 1 (see `controllers`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, div, exp, maximum, where
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import (
    channel_problems,
    count_problems,
    followed,
    rate_of,
    wishes,
)
from kinemorph.mechanics.elements.control.controllers import ChannelLaw, limits
from kinemorph.mechanics.elements.control.sample_hold import converted, held_count, let_in, let_out, sampling_problems
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, Slot, register
from kinemorph.mechanics.elements.saturation import winds_up
from kinemorph.model.elements.control.fuzzy_rules import OWN_INPUTS, FuzzyRules, premises
from kinemorph.model.elements.control.wiring import channel_names, measured
from kinemorph.model.robot import Robot
from kinemorph.words import counted


class Inferred(NamedTuple):
    """The output of the rules before its limits, and its coefficient of the input "integral" (0 without that input)."""

    output: S
    integral_gain: S


def inferred(element: FuzzyRules, view: ElementView, inputs: Sequence[S]) -> Inferred:
    """What the rules give for the values of their inputs, in the order of `element.inputs`."""
    centers, widths, consequents = view.value((element.centers, element.widths, element.consequents))
    distances = [
        [div(x - c, s) for c, s in zip(row, across, strict=True)]
        for x, row, across in zip(inputs, centers, widths, strict=True)
    ]
    exponents: list[S] = []
    for premise in premises(element):
        squares: S = 0.0
        for j, k in premise.items():
            squares = squares + distances[j][k] * distances[j][k]
        exponents.append(-0.5 * squares)
    largest = exponents[0]
    for one in exponents[1:]:
        largest = maximum(largest, one)
    weights = [exp(one - largest) for one in exponents] if len(exponents) > 1 else [1.0]
    total: S = 0.0
    sums: list[S] = [0.0] * (len(inputs) + 1)
    for weight, row in zip(weights, consequents, strict=True):
        total = total + weight
        sums = [one + weight * p for one, p in zip(sums, row, strict=True)]
    p = [div(one, total) for one in sums]  # the coefficients of the inputs at this instant, and the constant
    u = p[-1]
    for x, gain in zip(inputs, p[:-1], strict=True):
        u = u + gain * x
    return Inferred(u, p[element.inputs.index("integral")] if "integral" in element.inputs else 0.0)


class FuzzyRulesLaw(ChannelLaw):
    """Fuzzy rules, continuous or sampled."""

    def problems(self, element: FuzzyRules, robot: Robot) -> list[str]:
        found = channel_problems(element, robot) or count_problems(element, "reference", "lower", "upper")
        if not found and len(channel_names(element)) != 1:
            problem = f"it has {counted(len(channel_names(element)), 'channel')}; expected one joint"
            found = [wrong(element.name, problem, "Give one FuzzyRules to each joint.", "joints")]
        found = found or sampling_problems(element) + _input_problems(element, robot)
        return found or _rule_problems(element)

    def reads(self, element: FuzzyRules) -> tuple[str, ...]:
        return (*measured(element), *followed(element), *(one for one in element.inputs if one not in OWN_INPUTS))

    def signals(self, element: FuzzyRules) -> tuple[Slot, ...]:
        return (*super().signals(element), Slot("error", measured(element)[0]))

    def publish(self, element: FuzzyRules, view: ElementView) -> Mapping[str, S]:
        return {**super().publish(element, view), "error": _error(element, view)}

    # ── continuous ────────────────────────────────────────────────────────────────────────────────────────────────

    def states(self, element: FuzzyRules) -> tuple[Slot, ...]:
        if element.every:
            return ()
        lag = "rate" in element.inputs and element.filter
        lags = (Slot("lag", measured(element)[0]),) * bool(lag)
        return (Slot("integral"),) * ("integral" in element.inputs) + lags

    def outputs(self, element: FuzzyRules, view: ElementView) -> list[S]:
        return [inferred(element, view, self._inputs(element, view)).output]

    def effort(self, element: FuzzyRules, view: ElementView) -> Effort:
        states = [slot.name for slot in self.states(element)]
        error, rates = _error(element, view), list[S]()
        if "integral" in states:
            rate = error
            if element.anti_windup == "clamp":
                (lower,), (upper,) = limits(element, view)
                u, gain = inferred(element, view, self._inputs(element, view))
                rate = where(winds_up(u, gain * error, lower, upper), 0.0, error)
            rates.append(rate)
        if "lag" in states:
            rates.append((error - view.x[-1]) / element.filter)
        return Effort(rates=rates)

    def _inputs(self, element: FuzzyRules, view: ElementView) -> list[S]:
        """The values of the inputs of continuous rules."""
        error = _error(element, view)
        rate: S = 0.0
        if "rate" in element.inputs:
            slope = (error - view.x[-1]) / element.filter if element.filter else None
            rate = _measured_rate(element, view) if slope is None else slope
        return _values(element, view, error, view.x[0] if "integral" in element.inputs else 0.0, rate)

    # ── sampled ───────────────────────────────────────────────────────────────────────────────────────────────────

    def memory(self, element: FuzzyRules) -> tuple[Slot, ...]:
        if not element.every:
            return ()
        own = ["integral"] * ("integral" in element.inputs)
        own += ["before", "difference", "begun"] if "rate" in element.inputs else []
        return (*super().memory(element), *map(Slot, own))

    def sample(self, element: FuzzyRules, view: ElementView, clock: int) -> Sequence[S]:
        front, T = held_count(element, 1), element.every or 0.0
        if clock == 1:
            return [*let_out(view.m[:front], 1), *view.m[front:]]
        own, memory = list(view.m[front:]), list[S]()
        error, (lower,), (upper,) = _error(element, view), *limits(element, view)
        before, d = error, 0.0
        I = own.pop(0) if "integral" in element.inputs else 0.0
        if "rate" in element.inputs:
            before, d, begun = own
            before = where(begun, before, error)  # the first sample has no sample before it
            d = (element.filter * d + error - before) / (element.filter + T)
        grown = I + T * error
        u, gain = inferred(element, view, _values(element, view, error, grown, d))
        if "integral" in element.inputs:
            if element.anti_windup == "clamp":
                grown = where(winds_up(u, gain * error, lower, upper), I, grown)
                u = inferred(element, view, _values(element, view, error, grown, d)).output
            memory.append(grown)
        memory += [error, d, 1.0] if "rate" in element.inputs else []
        return [*let_in(view.m[:front], [converted(u, lower, upper, element.quantum)]), *memory]


def _error(element: FuzzyRules, view: ElementView) -> S:
    return wishes(element, view)[0].position - view.signal(measured(element)[0])


def _measured_rate(element: FuzzyRules, view: ElementView) -> S:
    return wishes(element, view)[0].velocity - rate_of(view, measured(element)[0])


def _values(element: FuzzyRules, view: ElementView, error: S, integral: S, rate: S) -> list[S]:
    own = dict(zip(OWN_INPUTS, (error, integral, rate), strict=True))
    return [own[name] if name in own else view.signal(name) for name in element.inputs]


# ── checks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _input_problems(element: FuzzyRules, robot: Robot) -> list[str]:
    """Problems of the inputs, and of the rows of membership functions."""
    found, names = [], element.inputs
    if not names or len(set(names)) < len(names):
        problem = f"inputs is {names}; expected one or more names, each of them once"
        found.append(wrong(element.name, problem, "Give each name once.", "inputs"))
    blind = (name := measured(element)[0])[2:] not in robot.all_v_names or not name.startswith("q.")
    if "rate" in names and not element.every and not element.filter and blind:
        problem = f"the input 'rate' needs the rate of '{name}', which only joint coordinates have"
        found.append(wrong(element.name, problem, "Give `filter` [s], or `every`.", "inputs"))
    for field in ("centers", "widths"):
        rows = getattr(element, field)
        if len(rows) != len(names):
            problem = f"{field} has {counted(len(rows), 'row')}; expected {len(names)}, one for each input"
            found.append(wrong(element.name, problem, "Give an empty row to an input without any.", field))
    for name, row, across in zip(names, element.centers, element.widths, strict=False):
        if len(row) != len(across):
            both = f"{counted(len(row), 'center')} and {counted(len(across), 'width')}"
            problem = f"the input '{name}' has {both}; expected as many widths as centers"
            found.append(wrong(element.name, problem, "Give one of each to every membership function.", "widths"))
    return found


def _rule_problems(element: FuzzyRules) -> list[str]:
    """Problems of the rules and their consequents, where the membership functions are right."""
    fuzzy = [(name, len(row)) for name, row in zip(element.inputs, element.centers, strict=True) if row]
    found = []
    for i, row in enumerate(element.rules):
        if len(row) != len(fuzzy):
            problem = f"rules[{i}] has {counted(len(row), 'number')}; expected {len(fuzzy)}, one for each input with "
            found.append(wrong(element.name, problem + "membership functions", "Correct that row.", "rules"))
            continue
        for (name, count), k in zip(fuzzy, row, strict=True):
            if k not in range(count):
                problem = f"rules[{i}] has {k:g} for the input '{name}'; expected a whole number from 0 to {count - 1}"
                found.append(wrong(element.name, problem, "Correct that row.", "rules"))
    count = len(element.rules) or math.prod(size for _, size in fuzzy)
    if len(element.consequents) != count:
        problem = f"consequents has {counted(len(element.consequents), 'row')}; expected {count}, one for each rule"
        found.append(wrong(element.name, problem, f"Give {counted(count, 'row')}.", "consequents"))
    width = len(element.inputs) + 1
    for i, row in enumerate(element.consequents):
        if len(row) != width:
            problem = f"consequents[{i}] has {counted(len(row), 'number')}; expected {width}: "
            problem += "a coefficient for each input, then a constant"
            found.append(wrong(element.name, problem, "Correct that row.", "consequents"))
    return found


register(FuzzyRules, FuzzyRulesLaw())
