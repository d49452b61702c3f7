"""Normal forces F(d, d') of the depth d and its rate d', with their derivatives and the stored energy.

Both laws are  F = max(k d^p + c d^r d', 0)  with d = max(depth, 0); Hunt and Crossley's has r = p. The depth is clamped
first, because damping would otherwise push above the ground too. The stored energy is that of the spring,
k d^(p+1)/(p+1); where surfaces separate so fast that the force is clamped to 0, the stored energy is lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from kinemorph.algebra.scalar import S, less, maximum, power, times, where
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, HuntCrossley, Normal
from kinemorph.model.parameter import evaluate, evaluate_all
from kinemorph.words import listed


class Pressed(NamedTuple):
    """A normal force with its derivatives, dissipated power and stored energy."""

    force: S  # [N], at least 0
    by_depth: S  # derivative by the depth [N/m], at least 0
    by_rate: S  # derivative by the rate of the depth [N s/m], at least 0
    dissipated: S  # [W]
    stored: S  # [J]


NormalLaw = Callable[[S, S], Pressed]  # (depth [m], its rate [m/s]) -> force


def normal_law(normal: Normal, value: Callable[[Any], Any] = evaluate_all) -> NormalLaw:
    """The normal force law of a contact; `value` looks up parameters in its data."""
    k, c, p, r = value(_FORMS[type(normal)](normal))

    def law(depth: S, rate: S) -> Pressed:
        touching = less(0.0, depth)
        d = where(touching, depth, 1.0)  # so that the derivative of a power is finite at 0
        spring, damper = times(k, _power(d, p)), times(c, _power(d, r))
        wanted = spring + damper * rate
        pushing = times(touching, less(0.0, wanted))
        force = where(pushing, wanted, 0.0)
        slope = times(p * k, _power(d, p - 1.0)) + times(r * c, _power(d, r - 1.0)) * rate
        return Pressed(
            force,
            where(pushing, maximum(slope, 0.0), 0.0),
            where(pushing, damper, 0.0),
            where(touching, (force - spring) * rate, 0.0),
            where(touching, spring * d / (p + 1.0), 0.0),
        )

    return law


def _power(x: S, exponent: S) -> S:
    """x to a power, for x above 0; whole powers from 0 to 3 are computed as products."""
    if type(exponent) is float and exponent in (0.0, 1.0, 2.0, 3.0):
        product: S = 1.0
        for _ in range(int(exponent)):
            product = product * x
        return product
    return power(x, exponent)


def _easydyn(normal: EasyDynNormal) -> tuple[Any, ...]:
    return (normal.stiffness, normal.damping, normal.stiffness_power, normal.damping_power)


def _hunt_crossley(normal: HuntCrossley) -> tuple[Any, ...]:
    return (normal.stiffness, normal.stiffness * normal.damping, normal.exponent, normal.exponent)


_FORMS: dict[type, Callable[[Any], tuple[Any, ...]]] = {EasyDynNormal: _easydyn, HuntCrossley: _hunt_crossley}
_POWERS = {EasyDynNormal: ("stiffness_power", "damping_power"), HuntCrossley: ("exponent",)}


def normal_problems(name: str, normal: Any) -> list[str]:
    """Problems of the normal force law of the element with this name, one sentence each."""
    if type(normal) not in _FORMS:
        known = listed(kind.__name__ for kind in _FORMS)
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
