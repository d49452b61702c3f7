"""The law of integrals: the rate of a state that sums up signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.algebra.scalar import S, absolute, where
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.channels import each
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import Effort, ElementLaw, Slot, register
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.model.robot import Robot
from kinemorph.words import counted

SUMMED: dict[str, Callable[[Any], Any]] = {"value": lambda y: y, "square": lambda y: y * y, "magnitude": absolute}


class IntegralLaw(ElementLaw[Integral]):
    """The rate of the state is the weighted sum of signals or products, of their squares or of their magnitudes."""

    sums = True

    def problems(self, element: Integral, robot: Robot) -> list[str]:
        weights: Any = element.weights
        found, (n, given) = [], (len(element.signals), len(weights))
        if not n or not all(isinstance(name, str) and name for name in element.signals):
            problem = "signals has no name of a signal; expected at least one"
            found.append(wrong(element.name, problem, 'Give a name, such as "v.hip".', "signals"))
        if element.times and len(element.times) != n:
            problem = f"it has {counted(n, 'signal')} and {counted(len(element.times), 'name')} in times"
            remedy = "Give one signal in times for each of the signals, or leave times out."
            found.append(wrong(element.name, problem, remedy, "times"))
        if given not in (1, n):
            problem = f"it has {counted(n, 'signal')} and {counted(given, 'weight')}; expected one weight, or as many"
            found.append(wrong(element.name, problem, "Give one weight for each signal.", "weights"))
        return found

    def states(self, element: Integral) -> tuple[Slot, ...]:
        return (Slot("", element.unit, element.start),)

    def signals(self, element: Integral) -> tuple[Slot, ...]:
        return (Slot("", element.unit),)

    def reads(self, element: Integral) -> tuple[str, ...]:
        return (*element.signals, *element.times)

    def publish(self, element: Integral, view: ElementView) -> Mapping[str, S]:
        return {"": view.x[0]}

    def effort(self, element: Integral, view: ElementView) -> Effort:
        weights = each(view.value(element.weights), len(element.signals))
        rate: S = 0.0
        values = [_awake(view, name) for name in element.signals]
        if element.times:
            values = [value * _awake(view, name) for value, name in zip(values, element.times, strict=True)]
        for weight, value in zip(weights, values, strict=True):
            rate = rate + weight * SUMMED[element.of](value)
        return Effort(rates=[rate])


def _awake(view: ElementView, name: str) -> S:
    """The value of a signal; 0 where the element that publishes it sleeps in the present phase."""
    ensemble = view.instant.ensemble
    index, _ = ensemble.signals.get(ensemble.source(name), (None, None))
    if index is None or ensemble.acts_in[index] is None:
        return view.signal(name)
    return where(view.instant.activity(index), view.signal(name), 0.0)


register(Integral, IntegralLaw())
