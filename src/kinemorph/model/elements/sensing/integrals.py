"""Integrals over time: further states that sum up signals, such as the cost of a gait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kinemorph.model.elements.control.wiring import Names, Numbers, as_names, as_numbers
from kinemorph.model.elements.declared import declared


@dataclass(frozen=True)
class Integral:
    """A state x whose rate is a weighted sum of signals or of their products: dx/dt = sum of weights f(signal).

    `signals`   names of one signal or several, such as "v.hip", "t", or the outputs of controllers and motors
    `times`     names of as many signals, with which those of `signals` are multiplied first: torques times speeds give
                the work of drives. Without it nothing is multiplied
    `of`        f: "value", "square" or "magnitude" of each signal, or of each product
    `weights`   one number for all signals, or one for each
    `start`     the initial value of x; `unit` is its unit, to be shown

    It has one signal, x, with the name of the element. For any other function of signals, sum the signal of a
    `Continuous` element. Signals of elements that sleep in the present phase count as 0. The integral has the accuracy
    of the run, in batches and derivatives of motions, too.
    """

    name: str
    signals: Names
    of: Literal["value", "square", "magnitude"] = "value"
    weights: Numbers = declared((1.0,), unit="{own}/({signal} s)")
    start: float = declared(0.0, unit="{own}")
    unit: str = ""
    times: Names = ()

    def __post_init__(self) -> None:
        as_names(self, "signals", "times")
        as_numbers(self, "weights")
