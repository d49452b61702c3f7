"""Costs that are sums over time: the rates of `Integral` elements, and the squares that they sum up, as laws."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from kinemorph.analysis.searches.named_laws import named_law
from kinemorph.model.elements.sensing.integrals import Integral
from kinemorph.plants.instant import Instant
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import summed_states
from kinemorph.plants.user_laws import Law


def squared_signals(plant: Plant, costs: Mapping[str, float]) -> list[tuple[Law, float]]:
    """(law of a signal, weight) for all signals whose squares the Integrals `costs`, {name: weight}, sum up."""
    found = []
    for name, weight in costs.items():
        element = next((one for one in plant.elements if isinstance(one, Integral) and one.name == name), None)
        if element is not None and element.of == "square" and not element.times:
            given: Any = element.weights
            shares = given if len(given) > 1 else given * len(element.signals)
            for signal, share in zip(element.signals, shares, strict=True):
                if isinstance(share, float) and signal in plant.outputs:
                    found.append((named_law(plant, signal), weight * share))
    return found


def integral_rates(plant: Plant) -> dict[str, Law]:
    """The rates of all Integrals that no element reads, by name, as functions of (t, q, v, x, m, u, p)."""
    sums = {one.name for one in plant.elements if isinstance(one, Integral)}
    last: list[Any] = [(None, None)]  # the residual of the last instant: all rates are read from one of them

    def rate(place: int, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        known, left = last[0]
        if known is not q:
            left = plant.laws.residual(Instant(t, q, v, x, m, u, p).local, [0.0] * (plant.nv + plant.nx))
            last[0] = q, left
        return -left[plant.nv + place]

    return {name: partial(rate, plant.index("x", name)) for name in summed_states(plant) if name in sums}
