"""Model-based controllers: computed torque and gravity compensation. See `controllers` for their common fields."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from kinemorph.model.elements.control.wiring import Names, Numbers, Targets, as_names, as_numbers
from kinemorph.model.elements.declared import declaration, declared


@dataclass(frozen=True)
class ComputedTorque:
    """Feedback linearization: u = M(q) (a_ref + kd (v_ref - v) + kp (q_ref - q)) + h(q, v).

    The error of every joint then satisfies  e'' + kd e' + kp e = 0,  with kp [1/s^2] and kd [1/s]. `joints` has to list
    all joints that move; each must have one axis. Viscous damping of joints is compensated too.
    """

    name: str
    joints: Names
    kp: Numbers = field(metadata=declaration(unit="1/s^2"))
    kd: Numbers = field(metadata=declaration(unit="1/s"))
    reference: Targets = declared((0.0,), unit="{in}")
    drives: Names = ()
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)

    def __post_init__(self) -> None:
        as_names(self, "joints", "drives")
        as_numbers(self, "reference", "kp", "kd", "lower", "upper")


@dataclass(frozen=True)
class GravityCompensation:
    """The efforts u = scale g(q) that balance gravity at these joints; a free base is treated as if it were fixed."""

    name: str
    joints: Names
    drives: Names = ()
    scale: float = declared(1.0, "number")
    lower: Numbers = declared((-math.inf,), unit="{out}")
    upper: Numbers = declared((math.inf,), unit="{out}")
    every: float | None = declared(None, "time", above=0.0)
    phase: float = declared(0.0, "time", least=0.0)
    delay: float = declared(0.0, "time", least=0.0)
    quantum: float = declared(0.0, unit="{out}", least=0.0)

    def __post_init__(self) -> None:
        as_names(self, "joints", "drives")
        as_numbers(self, "lower", "upper")
