"""Controllers with gains: PID and PD. With `every` they are sampled and hold their outputs, otherwise continuous.

All controllers have these fields in common:

    joints          joints to read (their q) and to drive; gains are one for all joints or one for each
    reads           signals to read instead of the q of `joints`
    drives          joints, actuators or motors to drive instead of `joints`
    reference       the value to follow: a number, a signal, or an element of `references`, by name
    feedforward     a number or a signal that is added to the output
    lower, upper    limits of the output
    every, phase    the sample times are phase + k every [s]; without `every` the controller is continuous
    delay           time [s] from a sample to the change of the output; it may be longer than `every`
    quantum         the output is rounded to multiples of this value, as by a D/A converter
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from kinemorph.model.elements.control.wiring import Names, Numbers, Targets, as_names, as_numbers
from kinemorph.model.elements.declared import declaration, declared


@dataclass(frozen=True)
class PID:
    """A PID controller: u = kp e + ki (integral of e) + kd de/dt, with the error e = reference - measured signal.

    `filter` Tf [s] smooths the derivative: kd s / (1 + Tf s). With Tf = 0, a sampled controller uses differences of
    samples, and a continuous one the joint velocity. `derivative` is that of the error, or only of the measurement,
    which avoids a jump of the output when the reference jumps. `bandwidth` [rad/s] is that of a first-order low-pass
    filter on the error. See the top of this file for the other fields.

    `anti_windup` acts while the output is at a limit: "clamp" stops the integral if it would go further beyond the
    limit; "back_calculation" lets it follow the limited output with the time constant `tracking` [s], by default
    kp / ki.
    """

    name: str
    joints: Names = ()
    reads: Names = ()
    drives: Names = ()
    reference: Targets = declared((0.0,), unit="{in}")
    kp: Numbers = declared((0.0,), unit="{out}/{in}")
    ki: Numbers = declared((0.0,), unit="{out}/({in} s)")
    kd: Numbers = declared((0.0,), unit="{out} s/{in}")
    filter: float = declared(0.0, "time", least=0.0)
    derivative: Literal["error", "measurement"] = "error"
    bandwidth: float = declared(math.inf, "rate", above=0.0)
    feedforward: Targets = declared((0.0,), unit="{out}")
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    anti_windup: Literal["none", "clamp", "back_calculation"] = "none"
    tracking: float = declared(0.0, "time", least=0.0)
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)

    def __post_init__(self) -> None:
        as_names(self, "joints", "reads", "drives")
        as_numbers(self, "reference", "kp", "ki", "kd", "feedforward", "lower", "upper")


@dataclass(frozen=True)
class PD:
    """A PD controller of joints: u = kp (r - q) + kd (dr/dt - v), with the reference r.

    kp is in [N m/rad] or [N/m], kd in [N m s/rad] or [N s/m]. dr/dt is the velocity that a reference element publishes;
    it is 0 if the reference is a number. See the top of this file for the other fields.
    """

    name: str
    joints: Names
    kp: Numbers = field(metadata=declaration(unit="{out}/{in}", least=0.0))
    kd: Numbers = declared((0.0,), unit="{out} s/{in}", least=0.0)
    reference: Targets = declared((0.0,), unit="{in}")
    drives: Names = ()
    feedforward: Targets = declared((0.0,), unit="{out}")
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)

    def __post_init__(self) -> None:
        as_names(self, "joints", "drives")
        as_numbers(self, "reference", "kp", "kd", "feedforward", "lower", "upper")
