"""Controllers defined by user functions in Python. They have these fields in common:

    reads       the signals that are the arguments of the function after t: law(t, angle, rate)
    drives      the joints, actuators or motors that the outputs drive, in order
    outputs     names of the output signals; needed if `drives` is empty and other elements read them
    memory      numbers that the function stores from sample to sample, by name, with their initial values;
                for a continuous function, `states`: numbers of which it returns the rates

A function with memory takes it as a list, its last argument, and returns it after the outputs:

    def law(t, angle, memory):
        total = memory[0] + angle
        return -3.0 * angle - 0.1 * total, [total]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kinemorph.model.elements.control.wiring import Names, Numbers, Starts, as_names, as_numbers, as_starts
from kinemorph.model.elements.declared import declared


class OwnFunction:
    """The base of controllers that are functions of the user, in Python or in C."""


@dataclass(frozen=True)
class SampledFunction(OwnFunction):
    """The base of controllers whose Python function is called at the sample times; its outputs are held in between."""

    name: str
    law: Callable[..., Any]
    reads: Names
    drives: Names = ()
    every: float = declared(0.01, "time", above=0.0)
    memory: Starts = declared((), unit="1")
    outputs: Names = ()
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")

    def __post_init__(self) -> None:
        as_names(self, "reads", "drives", "outputs")
        as_starts(self, "memory")
        as_numbers(self, "lower", "upper")


@dataclass(frozen=True)
class Sampled(SampledFunction):
    """A function that is compiled and evaluated at the sample times; its outputs are held in between.

    It is traced once: use `where` (kinemorph.algebra.scalar) instead of `if` on numbers.
    """


@dataclass(frozen=True)
class PythonController(SampledFunction):
    """Any Python function, called with plain floats at the sample times; its outputs are held in between.

    An exception, an output that is not finite, or a wrong number of outputs ends the run as failed. The outcome names
    the controller, the time and the value, and the results up to that time are kept. Numbers in `memory` are part of
    the state of the run, so that a continued run has them; data that the function stores elsewhere is not.
    """


@dataclass(frozen=True)
class Continuous(OwnFunction):
    """A function that is compiled into the equations of motion and evaluated at all times.

    With `states` it takes them as a list, its last argument, and returns (outputs, rates of the states). It is traced
    once: use `where` (kinemorph.algebra.scalar) instead of `if` on numbers.
    """

    name: str
    law: Callable[..., Any]
    reads: Names
    drives: Names = ()
    states: Starts = declared((), unit="1")
    outputs: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "reads", "drives", "outputs")
        as_starts(self, "states")
