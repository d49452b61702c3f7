"""Parts of contacts: how hard two surfaces push each other, and how they rub.

With the depth d [m] to which one has entered the other and its rate d' [m/s], the normal force is

    EasyDynNormal    F = stiffness d^stiffness_power + damping d^damping_power d'        for d > 0, never below 0
    HuntCrossley     F = stiffness d^exponent (1 + damping d')                           for d > 0, never below 0

and friction, against the slip velocity v of the touching points,

    Regularized      F_t = -coefficient F v / max(|v|, speed)
    Anchor           sticks to a point by a spring while |F_t| <= static F; slides with |F_t| = kinetic F
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

from kinemorph.errors import ModelError
from kinemorph.model.parameter import Value


@dataclass(frozen=True)
class EasyDynNormal:
    """Equation 19 of the EasyDyn paper, clamped.

    `stiffness` is in N/m^stiffness_power, `damping` in N s/m^(1 + damping_power). Powers are 1 or more, so that the
    force has a slope where two surfaces begin to touch.
    """

    stiffness: Value
    damping: Value = 0.0
    stiffness_power: Value = 1.0
    damping_power: Value = 1.0


@dataclass(frozen=True)
class HuntCrossley:
    """Hunt and Crossley (1975): `stiffness` [N/m^exponent], `damping` [s/m]; exponent 1.5 is that of Hertz.

    How much of its speed v a ball keeps depends on damping times v alone: see `bouncing`.
    """

    stiffness: Value
    damping: Value = 0.0
    exponent: Value = 1.5

    @classmethod
    def bouncing(cls, stiffness: Value, restitution: float, speed: float, exponent: Value = 1.5) -> HuntCrossley:
        """With the damping that lets an impact at `speed` [m/s] end with `restitution` times that speed.

        Exact where no other force acts meanwhile: then c = damping speed solves  c (1 + e) = log((1 + c)/(1 - e c)).
        """
        if not 0.0 < restitution <= 1.0 or not 0.0 < speed < math.inf:
            raise ModelError(
                f"HuntCrossley: restitution is {restitution:g} and speed {speed:g} m/s; expected a restitution above 0 "
                "and up to 1, at a finite speed above 0."
            )
        return cls(stiffness, damping_number(restitution) / speed, exponent)


def damping_number(restitution: float) -> float:
    """c with  c (1 + e) = log((1 + c)/(1 - e c)), by bisection on 0 < c < 1/e; 0 where e is 1."""
    e = restitution
    if e == 1.0:
        return 0.0
    low, high = 0.0, 1.0 / e
    for _ in range(200):
        c = 0.5 * (low + high)
        kept = math.log1p(c) - math.log1p(-e * c) if e * c < 1.0 else math.inf
        low, high = (c, high) if kept < c * (1.0 + e) else (low, c)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class Regularized:
    """Coulomb's friction, viscous below `speed` [m/s]: equation 20 of the EasyDyn paper. A point under load creeps."""

    coefficient: Value
    speed: Value = field(default=1e-4, metadata={"kind": "speed"})


@dataclass(frozen=True)
class Anchor:
    """Static and kinetic friction with a memory, as on the ground of Nelson and Quinn.

    A touching point sticks to its anchor by a spring with `stiffness` [N/m] and `damping` [N s/m] along the ground. It
    lets go when that takes more than `static` times the normal force, slides against `kinetic` times it, and sticks to
    a new anchor when it has come to a halt. Below `speed` [m/s] it counts as halted.
    """

    static: Value
    kinetic: Value
    stiffness: Value = field(metadata={"kind": "stiffness"})
    damping: Value = field(default=0.0, metadata={"kind": "damping"})
    speed: Value = field(default=1e-6, metadata={"kind": "speed"})


Normal: TypeAlias = EasyDynNormal | HuntCrossley
Friction: TypeAlias = Regularized | Anchor
