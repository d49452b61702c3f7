"""Controllers that know the robot: computed torque, and gravity compensation. See `controllers` for what all share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from kinemorph.model.elements.control.wiring import Names, Numbers, Targets, as_names, as_numbers


@dataclass(frozen=True)
class ComputedTorque:
    """u = M(q) (a_ref + kd (v_ref - v) + kp (q_ref - q)) + h(q, v): feedback linearization.

    The error of every joint then obeys  e'' + kd e' + kp e = 0,  kp [1/s^2], kd [1/s]. `joints` are all that move; each
    must have one axis. Viscous damping of joints is compensated as well.
    """

    name: str
    joints: Names
    kp: Numbers
    kd: Numbers
    reference: Targets = (0.0,)
    drives: Names = ()
    lower: Numbers = (-math.inf,)
    upper: Numbers = (math.inf,)
    every: float | None = field(default=None, metadata={"kind": "time"})
    phase: float = field(default=0.0, metadata={"kind": "time"})
    delay: float = field(default=0.0, metadata={"kind": "time"})
    quantum: float = 0.0

    def __post_init__(self) -> None:
        as_names(self, "joints", "drives")
        as_numbers(self, "reference", "kp", "kd", "lower", "upper")


@dataclass(frozen=True)
class GravityCompensation:
    """u = g(q): what holds these joints against gravity. On a free robot, as if the base were held where it is."""

    name: str
    joints: Names
    drives: Names = ()
    scale: float = 1.0
    lower: Numbers = (-math.inf,)
    upper: Numbers = (math.inf,)
    every: float | None = field(default=None, metadata={"kind": "time"})
    phase: float = field(default=0.0, metadata={"kind": "time"})
    delay: float = field(default=0.0, metadata={"kind": "time"})
    quantum: float = 0.0

    def __post_init__(self) -> None:
        as_names(self, "joints", "drives")
        as_numbers(self, "lower", "upper")
