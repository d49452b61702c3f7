"""User functions that a run calls at regular times: held inputs and callbacks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinemorph.errors import UnsupportedError
from kinemorph.plants.sample_instants import instants
from kinemorph.simulation.stepping.plant_stepper import State


@dataclass(frozen=True)
class HeldInputs:
    """Held inputs: a Python function u = law(t, q, v, x) is called at regular times, and u is constant in between."""

    law: Callable[..., Any]
    every: float | None = None  # [s]; None means the time between stored samples


class Regular:
    """A user function that is called at regular times from `start` [s] on, and how often it has been called."""

    def __init__(self, function: Callable[..., Any], what: str, period: float, start: float) -> None:
        self.call, self.what = _reader(function, what), what
        self.instants, self.count = instants(period, start), 0

    @property
    def next_time(self) -> float:
        """The time of the next call [s]."""
        return self.instants.time(self.count)

    def due(self, t: float) -> bool:
        """Whether the function is due at t [s]; if so, it counts as called."""
        if t < self.next_time - 1e-12 * max(1.0, abs(t)):
            return False
        self.count += 1
        return True


def _reader(function: Callable[..., Any], what: str) -> Callable[[State], Any]:
    """A function of a State that calls a user function with the values that its arguments name, some of t, q, v, x.

    If its arguments cannot be read, it gets all four.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function written in C may have no signature
        return lambda state: function(*state)
    names = list(signature.parameters)
    if names and set(names) <= set(State._fields):
        return lambda state: function(**{name: getattr(state, name) for name in names})
    try:
        signature.bind(*State._fields)
    except TypeError:
        raise UnsupportedError(
            f"{what}: the function takes ({', '.join(names)}); expected (t, q, v, x), or some of them. Use these names "
            "for its arguments."
        ) from None
    return lambda state: function(*state)
