"""Tendons: lengths that are sums of joint coordinates, with springs, dampers, friction, stops, and drives on them."""

from __future__ import annotations

import math
from dataclasses import field

from kinemorph.frozen import dataclass
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.joint import ImpedanceStop


@dataclass(frozen=True)
class Tendon:
    """A tendon whose length is L = sum of coefficients * coordinates of joints with one axis: a cable over pulleys.

    Its tension T pulls every joint with the effort -coefficient * T:

        T = stiffness x + curve[0] x^2 + curve[1] x^3 + ... + damping dL/dt + damping_curve[0] |dL/dt| dL/dt + ...

    Here x is the length beyond `rest`: one length, or a pair (shortest, longest) between which x is 0. Dry `friction`
    [N] resists dL/dt, smoothed below the speed `smoothing`. At `lower` and `upper` are stops of stiffness I / time^2
    and damping 2 I / time, with the inertia I that moves with the tendon, or those that `stop` describes. `effort`
    limits the sum of the forces of the actuators on the tendon: one number for both directions, or a pair (lower,
    upper).

    Lengths and forces have the units of the joints: [rad] and [N m] where they turn, [m] and [N] where they slide or
    coefficients are radii. Signals: length, rate and tension.
    """

    name: str
    joints: tuple[str, ...]
    coefficients: tuple[float, ...] = field(metadata=declaration(unit="{length}/{joint}"))
    stiffness: float = declared(0.0, unit="{tension}/{length}")
    rest: float | tuple[float, float] = declared(0.0, unit="{length}")
    curve: tuple[float, ...] = declared((), unit="{curve}")
    damping: float = declared(0.0, unit="{tension} s/{length}")
    damping_curve: tuple[float, ...] = declared((), unit="{damping_curve}")
    friction: float = declared(0.0, unit="{tension}")
    smoothing: float = declared(1e-3, unit="{length}/s", above=0.0)
    lower: float = declared(-math.inf, unit="{length}")
    upper: float = declared(math.inf, unit="{length}")
    time: float = declared(0.01, "time", above=0.0)
    effort: float | tuple[float, float] = declared(math.inf, unit="{tension}")
    stop: ImpedanceStop | None = None

    def __post_init__(self) -> None:
        for name in ("joints", "coefficients", "rest", "curve", "damping_curve", "effort"):
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def rests(self) -> tuple[float, float]:
        """The shortest and the longest length without a force of the spring."""
        return self.rest if isinstance(self.rest, tuple) else (self.rest, self.rest)

    @property
    def efforts(self) -> tuple[float, float]:
        """The smallest and the largest force of all actuators of the tendon together."""
        return self.effort if isinstance(self.effort, tuple) else (-self.effort, self.effort)
