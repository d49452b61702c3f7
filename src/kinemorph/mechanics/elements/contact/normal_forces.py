"""Normal forces F(d, d') of the depth d and its rate d', with their derivatives and the stored energy.

Both laws are  F = max(k d^p + c d^r d', 0)  with d = max(depth, 0); Hunt and Crossley's has r = p. The depth is clamped
first, because damping would otherwise push above the ground too. The stored energy is that of the spring,
k d^(p+1)/(p+1); where surfaces separate so fast that the force is clamped to 0, the stored energy is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinemorph.algebra.dual import with_derivative
from kinemorph.algebra.scalar import S, less, maximum, power, times, where
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, HuntCrossley, Normal
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.words import listed


class Pressed(NamedTuple):
    """A normal force with its derivatives by the depth and its rate, dissipated power and stored energy."""

    force: S  # [N], at least 0
    pushing: S  # 1 where the force is above 0, else 0
    by_depth: S  # derivative by the depth [N/m] where it pushes, at least 0
    by_rate: S  # derivative by the rate of the depth [N s/m] where it pushes, at least 0
    dissipated: S  # [W]
    stored: S  # [J]


@dataclass(frozen=True)
class NormalLaw:
    """The normal force k d^p + c d^r d' of the depth d and its rate d'.

    k is the stiffness and c the damping; p and r are the powers of the depth in each.
    """

    k: S
    c: S
    p: S
    r: S

    def __call__(self, depth: S, rate: S) -> Pressed:
        """The normal force at a depth [m] and its rate [m/s]."""
        k, c, p, r = self.k, self.c, self.p, self.r
        touching = less(0.0, depth)
        d = where(touching, depth, 1.0)  # so that the derivative of a power is finite at 0
        spring, damper = times(k, _power(d, p)), times(c, _power(d, r))
        wanted = spring + damper * rate
        pushing = times(touching, less(0.0, wanted))
        force = where(pushing, wanted, 0.0)
        slope = times(p * k, _power(d, p - 1.0)) + times(r * c, _power(d, r - 1.0)) * rate
        return Pressed(
            force,
            pushing,
            maximum(slope, 0.0),
            damper,
            where(touching, (force - spring) * rate, 0.0),
            with_derivative(where(touching, spring * d / (p + 1.0), 0.0), self.at_rest(maximum(depth, 0.0)), depth),
        )

    def at_rest(self, depth: S) -> S:
        """The normal force [N] at a depth [m], at least 0, that does not change."""
        if _is_whole(self.p):
            return times(self.k, _power(depth, self.p))
        touching = less(0.0, depth)
        return where(touching, times(self.k, _power(where(touching, depth, 1.0), self.p)), 0.0)


def normal_law(normal: Normal, value: Callable[[Any], Any] = evaluate_all) -> NormalLaw:
    """The normal force law of a contact; `value` looks up parameters in its data."""
    return NormalLaw(*value(_FORMS[type(normal)](normal)))


def _power(x: S, exponent: S) -> S:
    """x to a power, for x above 0; whole powers from 0 to 3 are computed as products."""
    if _is_whole(exponent):
        product: S = 1.0
        for _ in range(int(exponent)):
            product = product * x
        return product
    return power(x, exponent)


def _is_whole(exponent: S) -> bool:
    """Whether an exponent is known when the law is traced, and a whole number from 0 to 3."""
    return type(exponent) is float and exponent in (0.0, 1.0, 2.0, 3.0)


def _easydyn(normal: EasyDynNormal) -> tuple[Any, ...]:
    return (normal.stiffness, normal.damping, normal.stiffness_power, normal.damping_power)


def _hunt_crossley(normal: HuntCrossley) -> tuple[Any, ...]:
    return (normal.stiffness, normal.stiffness * normal.damping, normal.exponent, normal.exponent)


_FORMS: dict[type, Callable[[Any], tuple[Any, ...]]] = {EasyDynNormal: _easydyn, HuntCrossley: _hunt_crossley}
_POWERS = {EasyDynNormal: ("stiffness_power", "damping_power"), HuntCrossley: ("exponent",)}


def normal_problems(name: str, normal: Any) -> list[str]:
    """Problems of the normal force law of the element with this name, one sentence each."""
    if type(normal) not in _FORMS:
        known = listed([*(kind.__name__ for kind in _FORMS), "Rigid"])
        return [wrong(name, f"normal is {normal!r}; expected one of {known}", "Correct it.", "normal")]
    found = []
    if not 0.0 < (k := number(normal.stiffness)) < math.inf:
        found.append(
            wrong(name, f"normal: stiffness is {k:g}; expected a finite number above 0", "Correct it.", "normal")
        )
    if not 0.0 <= (c := number(normal.damping)) < math.inf:
        found.append(
            wrong(name, f"normal: damping is {c:g}; expected a finite number of at least 0", "Correct it.", "normal")
        )
    for field in _POWERS[type(normal)]:
        if not 1.0 <= (p := number(getattr(normal, field))) < math.inf:
            problem = (
                f"normal: {field} is {p:g}; expected a finite number of at least 1, so that the force has a finite "
                "derivative where bodies begin to touch"
            )
            found.append(wrong(name, problem, "Correct it.", "normal"))
    return found


def number(value: Any) -> float:
    """The nominal value of a number in an element's data."""
    return float(evaluate(value))
