"""Controllers with gains: PID and PD. Without `every` they act at all times, with it they are sampled and hold.

What every controller has in common:

    joints      reads q of these joints, and drives them; one controller for many, gains one for all or one each
    reads       signals to read in place of that; drives: joints, actuators or motors to drive in place of that
    reference   what is followed: a number, a signal, or an element of `references`
    feedforward a number or a signal that is added to the output
    lower, upper    limits of the output
    every, phase    sample instants phase + k every [s]; without `every` it is continuous
    delay       time [s] from a sample to the output that it changes, of any length
    quantum     the output is rounded to multiples of it, as a converter does
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from kinemorph.model.elements.control.wiring import Names, Numbers, Targets, as_names, as_numbers


@dataclass(frozen=True)
class PID:
    """u = kp e + ki (integral of e) + kd de/dt, with e = reference - what is read.

    `filter` Tf [s] smooths the derivative: kd s / (1 + Tf s). With 0 a sampled one takes plain differences, and a
    continuous one reads the velocity of the joint. `derivative`: of the error, or of what is read alone, which does not
    kick when the reference jumps. `bandwidth` [rad/s] of a first-order filter on the error before everything else.

    `anti_windup`, where the output is limited:  "clamp" stops the integral while it would drive further into the limit;
    "back_calculation" lets it follow the limited output in the time `tracking` [s], kp / ki where none is given.
    """

    name: str
    joints: Names = ()
    reads: Names = ()
    drives: Names = ()
    reference: Targets = (0.0,)
    kp: Numbers = (0.0,)
    ki: Numbers = (0.0,)
    kd: Numbers = (0.0,)
    filter: float = field(default=0.0, metadata={"kind": "time"})
    derivative: Literal["error", "measurement"] = "error"
    bandwidth: float = math.inf
    feedforward: Targets = (0.0,)
    lower: Numbers = (-math.inf,)
    upper: Numbers = (math.inf,)
    anti_windup: Literal["none", "clamp", "back_calculation"] = "none"
    tracking: float = field(default=0.0, metadata={"kind": "time"})
    every: float | None = field(default=None, metadata={"kind": "time"})
    phase: float = field(default=0.0, metadata={"kind": "time"})
    delay: float = field(default=0.0, metadata={"kind": "time"})
    quantum: float = 0.0

    def __post_init__(self) -> None:
        as_names(self, "joints", "reads", "drives")
        as_numbers(self, "reference", "kp", "ki", "kd", "feedforward", "lower", "upper")


@dataclass(frozen=True)
class PD:
    """u = kp (r - q) + kd (dr/dt - v) on joints: a spring and a damper that follow a reference.

    kp [N m/rad or N/m], kd [N m s/rad or N s/m]. A reference that is an element says its velocity, a number has none.
    """

    name: str
    joints: Names
    kp: Numbers
    kd: Numbers = (0.0,)
    reference: Targets = (0.0,)
    drives: Names = ()
    feedforward: Targets = (0.0,)
    lower: Numbers = (-math.inf,)
    upper: Numbers = (math.inf,)
    every: float | None = field(default=None, metadata={"kind": "time"})
    phase: float = field(default=0.0, metadata={"kind": "time"})
    delay: float = field(default=0.0, metadata={"kind": "time"})
    quantum: float = 0.0

    def __post_init__(self) -> None:
        as_names(self, "joints", "drives")
        as_numbers(self, "reference", "kp", "kd", "feedforward", "lower", "upper")
