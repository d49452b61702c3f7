"""Contact laws: the normal force between two surfaces, and friction.

With the penetration depth d [m] and its rate d' [m/s], the normal force is

    EasyDynNormal    F = stiffness d^stiffness_power + damping d^damping_power d'        for d > 0, never below 0
    HuntCrossley     F = stiffness d^exponent (1 + damping d')                           for d > 0, never below 0
    ImpedanceNormal  F = i/(1 - i) (stiffness i d + damping d'),  i = i(d)               for d > 0, never below 0

and the friction force, at the slip velocity v of the contact point,

    Regularized      F_t = -coefficient F v / max(|v|, speed)
    Anchor           spring force to a fixed point while |F_t| <= static F; otherwise sliding with |F_t| = kinetic F

Rigid surfaces never overlap: the distance d >= 0 and the force F >= 0 complement each other, and impacts change
velocities from one instant to the next,

    Rigid            F >= 0,  d >= 0,  F d = 0;  impacts by one of the `impact_laws`
    Coulomb          |F_t| <= coefficient F while the contact sticks;  F_t = -coefficient F v / |v| while it slides
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kinemorph.errors import ModelError
from kinemorph.model.elements.contact.impact_laws import Energetic, ImpactLaw, Newton, Plastic, Poisson
from kinemorph.model.elements.declared import declaration, declared
from kinemorph.model.parameter import Value, evaluate

ELASTIC = "Give 0 for a plastic impact, up to 1 for an elastic one."
SMOOTH = "Give 1 or more, so that the force has a finite derivative where bodies begin to touch."


@dataclass(frozen=True)
class EasyDynNormal:
    """The normal force of equation 19 of the EasyDyn paper, limited to values of at least 0.

    `stiffness` is in N/m^stiffness_power, `damping` in N s/m^(1 + damping_power). The powers are 1 or more, so that the
    force has a finite slope at the start of contact.
    """

    stiffness: Value = field(metadata=declaration(unit="N", per=("m", "stiffness_power"), above=0.0))
    damping: Value = declared(0.0, unit="N s/m", per=("m", "damping_power"), least=0.0)
    stiffness_power: Value = declared(1.0, "number", least=1.0, give=SMOOTH)
    damping_power: Value = declared(1.0, "number", least=1.0, give=SMOOTH)


@dataclass(frozen=True)
class HuntCrossley:
    """The normal force of Hunt and Crossley (1975): `stiffness` [N/m^exponent], `damping` [s/m].

    Exponent 1.5 is that of Hertz. The restitution of an impact at speed v depends only on damping times v; see
    `bouncing`.
    """

    stiffness: Value = field(metadata=declaration(unit="N", per=("m", "exponent"), above=0.0))
    damping: Value = declared(0.0, unit="s/m", least=0.0)
    exponent: Value = declared(1.5, "number", least=1.0, give=SMOOTH)

    @classmethod
    def bouncing(cls, stiffness: Value, restitution: float, speed: float, exponent: Value = 1.5) -> HuntCrossley:
        """The law with the damping for which an impact at `speed` [m/s] ends at `restitution` times that speed.

        This is exact if no other force acts during the impact: with the restitution e, c = damping speed then solves
        c (1 + e) = log((1 + c)/(1 - e c)).
        """
        if not 0.0 < restitution <= 1.0 or not 0.0 < speed < math.inf:
            raise ModelError(
                f"HuntCrossley: restitution is {restitution:g} and speed is {speed:g} m/s; expected a restitution "
                "above 0 and at most 1, and a finite speed above 0."
            )
        return cls(stiffness, damping_number(restitution) / speed, exponent)


@dataclass(frozen=True)
class ImpedanceNormal:
    """The soft contact of MuJoCo as a force: a spring and a damper whose strength an impedance i(d) sets.

    F = i/(1 - i) (stiffness i d + damping d'), with `stiffness` [N/m] and `damping` [N s/m]. The impedance goes with
    the depth d from `start` at 0 to `end` at the depth `width` [m] and stays `end` below it. In between it follows two
    powers of d with the exponent `power`, which meet at `midpoint` times the width, and is a straight line for power 1.
    Over the first tenth of the width the damping grows from 0, so that the force does not jump when bodies touch.
    """

    stiffness: Value = field(metadata=declaration("stiffness", above=0.0))
    damping: Value = declared(0.0, "damping", least=0.0)
    start: float = declared(0.9, "number", above=0.0, below=1.0)
    end: float = declared(0.95, "number", above=0.0, below=1.0)
    width: Value = declared(0.001, "length", above=0.0)
    midpoint: float = declared(0.5, "number", above=0.0, below=1.0)
    power: float = declared(2.0, "number", least=1.0)

    def impedance(self, depth: float) -> float:
        """The impedance at a depth [m] of at least 0."""
        x = min(depth / float(evaluate(self.width)), 1.0)
        m, p = self.midpoint, self.power
        share = x**p / m ** (p - 1.0) if x <= m else 1.0 - (1.0 - x) ** p / (1.0 - m) ** (p - 1.0)
        return self.start + (x if p == 1.0 else share) * (self.end - self.start)


def damping_number(restitution: float) -> float:
    """The solution c of  c (1 + e) = log((1 + c)/(1 - e c))  for restitution e, by bisection; 0 if e is 1."""
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
    """Coulomb friction, proportional to the slip velocity below `speed` [m/s]: equation 20 of the EasyDyn paper.

    A contact point under a constant tangential load does not stick, but creeps slowly.
    """

    coefficient: Value = field(metadata=declaration("number", least=0.0))
    speed: Value = declared(1e-4, "speed", above=0.0)


@dataclass(frozen=True)
class Anchor:
    """Static and kinetic friction with an anchor point, as in the ground model of Nelson and Quinn.

    A spring along the ground, with `stiffness` [N/m] and `damping` [N s/m], connects the contact point to its anchor.
    When its force exceeds `static` times the normal force, the point slides, with a friction force of `kinetic` times
    the normal force. When its slip velocity falls below `speed` [m/s], it gets a new anchor and sticks again.
    """

    static: Value = field(metadata=declaration("number", least=0.0))
    kinetic: Value = field(metadata=declaration("number", least=0.0))
    stiffness: Value = field(metadata=declaration("stiffness", above=0.0))
    damping: Value = declared(0.0, "damping", least=0.0)
    speed: Value = declared(1e-6, "speed", above=0.0)


@dataclass(frozen=True)
class Rigid:
    """Rigid surfaces, which touch and never overlap.

    `restitution`   e, from 0 to 1, of impacts
    `law`           what e means: "energetic" (Stronge; never gains energy), "newton", "poisson", or "plastic" (e is 0)
    `in_sequence`   whether contacts that are hit at the same instant act one after the other, and not at once
    `shortest`      [s]: bounces that would be shorter are summed up, and the contact is closed from then on

    All contacts of a system have the same law, each with its own restitution. Friction is `Coulomb`, or None.
    """

    restitution: Value = declared(0.0, "number", least=0.0, most=1.0, give=ELASTIC)
    law: Literal["energetic", "newton", "poisson", "plastic"] = "energetic"
    in_sequence: bool = False
    shortest: Value = declared(1e-6, "time", above=0.0, below=1.0)

    @property
    def impact(self) -> ImpactLaw:
        """The law of impacts."""
        return IMPACTS[self.law](self.restitution, self.in_sequence)


IMPACTS: dict[str, Callable[[Value, bool], ImpactLaw]] = {
    "energetic": Energetic,
    "newton": Newton,
    "poisson": Poisson,
    "plastic": lambda restitution, in_sequence: Plastic(in_sequence),
}


@dataclass(frozen=True)
class Coulomb:
    """Coulomb friction of rigid contacts: they stick exactly, or slide; `coefficient` is mu."""

    coefficient: Value = field(metadata=declaration("number", least=0.0))


Soft: TypeAlias = EasyDynNormal | HuntCrossley | ImpedanceNormal
Normal: TypeAlias = Soft | Rigid
Friction: TypeAlias = Regularized | Anchor | Coulomb
