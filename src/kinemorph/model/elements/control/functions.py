"""Controllers that are user functions. They have in common:

    reads       signals, in the order in which the function takes them after t: law(t, angle, rate)
    drives      what its outputs go to, in their order; `outputs` are names for them where they go nowhere, or elsewhere
    memory      numbers that are kept from sample to sample (states: that have rates), by name with what they begin with

A function with memory takes it as a list after what it reads, and gives it back:

    def law(t, angle, memory):
        total = memory[0] + angle
        return -3.0 * angle - 0.1 * total, [total]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kinemorph.model.elements.control.wiring import Names, Numbers, Starts, as_names, as_numbers, as_starts


@dataclass(frozen=True)
class SampledFunction:
    """Abstract: a function that is called at its sample instants, and whose outputs are held."""

    name: str
    law: Callable[..., Any]
    reads: Names
    drives: Names = ()
    every: float = field(default=0.01, metadata={"kind": "time"})
    memory: Starts = ()
    outputs: Names = ()
    phase: float = field(default=0.0, metadata={"kind": "time"})
    delay: float = field(default=0.0, metadata={"kind": "time"})
    quantum: float = 0.0
    lower: Numbers = (-math.inf,)
    upper: Numbers = (math.inf,)

    def __post_init__(self) -> None:
        as_names(self, "reads", "drives", "outputs")
        as_starts(self, "memory")
        as_numbers(self, "lower", "upper")


@dataclass(frozen=True)
class Sampled(SampledFunction):
    """A function over any scalar, compiled into the run: called at its sample instants, its outputs are held.

    It is traced once: no `if` on numbers, but `where` (kinemorph.algebra.scalar).
    """


@dataclass(frozen=True)
class PythonController(SampledFunction):
    """Any Python function, called with plain floats at its sample instants; its outputs are held.

    What it raises, a number that is not finite or outputs that are too many or too few end the run as failed, with the
    name, the time and the value; what was computed is kept. What the function stores elsewhere is its own affair; what
    is in `memory` is part of the run's state, and a continued run has it.
    """


@dataclass(frozen=True)
class Continuous:
    """A function over any scalar that acts at all times: compiled into the rate, and differentiated with it.

    With `states` it takes them as a list after what it reads, and gives (outputs, their rates).
    """

    name: str
    law: Callable[..., Any]
    reads: Names
    drives: Names = ()
    states: Starts = ()
    outputs: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "reads", "drives", "outputs")
        as_starts(self, "states")
