"""Coupled maps: numbers between 0 and 1 that change step by step, each drawn towards the mean of its neighbors.

    x_i(n+1) = (1 - epsilon_i) f(x_i(n)) + epsilon_i mean of f(x_j(n)) over the neighbors j of i

K. Kaneko, Pattern dynamics in spatiotemporal chaos, Physica D 34 (1989), and Clustering, coding, switching,
hierarchical ordering, and control in a network of chaotic elements, Physica D 41 (1990). The code is written over any
scalar: it is used for gaits inside a time step and for the analysis of many initial values.

Chaos amplifies the last digit, so the digits have to be the same on every backend. Before a product is added to
anything, it is limited by a bound that it never exceeds: then no compiler can fuse product and sum into one operation
with one rounding (FMA). Only sines may differ in their last digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, maximum, minimum, sin
from kinemorph.algebra.vectors import total
from kinemorph.mechanics.elements.sensing.random_numbers import stream, uniform
from kinemorph.model.parameter import evaluate


class Map(NamedTuple):
    """A map x -> step(x, r), whose values are from 0 to 1 for x from 0 to 1 and r from 0 to `largest`."""

    step: Callable[[S, S], S]
    largest: float
    formula: str


MAPS: dict[str, Map] = {
    "logistic": Map(lambda x, r: r * (x * (1.0 - x)), 4.0, "r x (1 - x)"),
    "tent": Map(lambda x, r: r * minimum(x, 1.0 - x), 2.0, "r min(x, 1 - x)"),
    "sine": Map(lambda x, r: r * sin(math.pi * x), 1.0, "r sin(pi x)"),
    "cubic": Map(lambda x, r: r * (x * (1.0 - minimum(x * x, 1.0))), 1.5 * math.sqrt(3.0), "r x (1 - x^2)"),
}
COUPLINGS = ("ring", "chain", "global")


def neighbors(coupling: str, count: int, i: int) -> tuple[int, ...]:
    """The indices of the neighbors of map i, which is drawn towards their mean; a single map is its own neighbor."""
    if coupling == "global" or count == 1:
        return tuple(range(count))
    if coupling == "ring":
        return tuple(dict.fromkeys(((i - 1) % count, (i + 1) % count)))
    return tuple(j for j in (i - 1, i + 1) if 0 <= j < count)


def coupled_step(map_name: str, coupling: str, x: Sequence[S], r: Sequence[S], epsilon: Sequence[S]) -> list[S]:
    """The values x of all maps after one step, shape (n,); r and epsilon have one number for each map."""
    f, n = MAPS[map_name].step, len(x)
    images = [minimum(f(one, rate), 1.0) for one, rate in zip(x, r, strict=True)]
    means = {}  # neighbors -> their mean, so that a global mean is computed once
    found: list[S] = []
    for i, (image, e) in enumerate(zip(images, epsilon, strict=True)):
        who = neighbors(coupling, n, i)
        if who not in means:
            means[who] = minimum(total(images[j] for j in who) * (1.0 / len(who)), 1.0)
        found.append(maximum((1.0 - e) * image, 0.0) + maximum(e * means[who], 0.0))
    return found


def random_start(seed: int, count: int) -> tuple[float, ...]:
    """`count` random initial values between 0 and 1 that depend on the seed only."""
    state: Sequence[float] = stream("coupled maps", seed)
    found = []
    for _ in range(count):
        x, state = uniform(state)
        found.append(x)
    return tuple(found)


def map_problems(
    wrong: Callable[[str, str, str], str], name: str, r: Sequence[Any], epsilon: Sequence[Any]
) -> list[str]:
    """Problems of numbers r and epsilon with which the maps called `name` would leave the range from 0 to 1.

    `wrong` makes a problem from what is wrong, the remedy and the field.
    """
    largest = MAPS[name].largest
    leaves = f"because otherwise the {name} map {MAPS[name].formula} leaves the range from 0 to 1"
    found = [
        wrong(f"r is {x:g}; expected a number from 0 to {largest:.4g}, {leaves}", f"Give at most {largest:.4g}.", "r")
        for x in map(evaluate, r)
        if not 0.0 <= x <= largest
    ]
    return found + [
        wrong(
            f"epsilon is {x:g}; expected a number from 0 (each map follows its own value) to 1 (all follow their mean)",
            "Give a number from 0 to 1.",
            "epsilon",
        )
        for x in map(evaluate, epsilon)
        if not 0.0 <= x <= 1.0
    ]
