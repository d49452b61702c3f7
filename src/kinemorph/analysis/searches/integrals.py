"""Costs that are sums over time: the integrands of `Integral` elements, as laws of a plant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinemorph.analysis.searches.named_laws import named_law, readers
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.sensing.integrals import SUMMED
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.model.parameter import evaluate
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law


def integral_of(plant: Plant, name: str) -> Integral | None:
    """The Integral of that name; None where the plant has none."""
    return next((one for one in plant.elements if isinstance(one, Integral) and one.name == name), None)


def squared_signals(plant: Plant, costs: Mapping[str, float]) -> list[tuple[Law, float]]:
    """(law of a signal, weight) for all signals whose squares the Integrals `costs`, {name: weight}, sum up."""
    found = []
    for name, weight in costs.items():
        element = integral_of(plant, name)
        if element is not None and element.of == "square":
            for signal, share in zip(element.signals, _weights(element), strict=True):
                if isinstance(share, float) and signal in plant.outputs:
                    found.append((named_law(plant, signal), weight * share))
    return found


def integrand(plant: Plant, element: Integral) -> Law:
    """The rate of an Integral as a law: the weighted sum of its signals, their squares or their magnitudes."""
    known = readers(plant)
    kept = [column.name for column in plant.p]
    named = [next((name for name in text.split("|") if name in known), text) for text in element.signals]
    for name in named:
        if name not in known:
            raise ModelError(
                f"Integral '{element.name}' sums '{name}', which is not known at rest; expected a coordinate, a "
                "velocity or a signal. Sum another signal."
            )
    terms = [(known[name], weight) for name, weight in zip(named, _weights(element), strict=True)]

    def law(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        values = dict(zip(kept, p, strict=True))
        found: Any = 0.0
        for read, weight in terms:
            found = found + evaluate(weight, values) * SUMMED[element.of](read(t, q, v, x, m, u, p))
        return found

    return law


def _weights(element: Integral) -> tuple[Any, ...]:
    """One weight for each signal."""
    given: Any = element.weights
    return tuple(given) if len(given) > 1 else tuple(given) * len(element.signals)
