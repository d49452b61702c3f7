"""Normal forces F(d, d') of the depth d and its rate d', with their derivatives and the stored energy.

All laws are  F = max(spring(d) + damper(d) d', 0)  with d = max(depth, 0). The depth is clamped first, because damping
would otherwise push above the ground too. The stored energy is that of the spring; where surfaces separate so fast that
the force is clamped to 0, the stored energy is lost.

PowerLaw        k d^p + c d^r d';  Hunt and Crossley's law has r = p
ImpedanceLaw    i/(1 - i) (k i d + c d'),  i = i(d): MuJoCo's soft contact
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinemorph.algebra.dual import with_derivative
from kinemorph.algebra.scalar import S, div, less, maximum, minimum, power, times, where
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal, HuntCrossley, ImpedanceNormal, Normal
from kinemorph.model.parameter import evaluate, evaluate_all

RAMP = 10.0  # the damping of an impedance grows from 0 over the width divided by this
GAUSS = tuple(  # nodes between -1 and 1 and weights of Gauss's formula with six points
    (sign * node, weight)
    for node, weight in (
        (0.9324695142031521, 0.17132449237917034),
        (0.6612093864662645, 0.3607615730481386),
        (0.2386191860831969, 0.46791393457269104),
    )
    for sign in (-1.0, 1.0)
)


class Pressed(NamedTuple):
    """A normal force with its derivatives by the depth and its rate, dissipated power and stored energy."""

    force: S  # [N], at least 0
    pushing: S  # 1 where the force is above 0, else 0
    by_depth: S  # derivative by the depth [N/m] where it pushes, at least 0
    by_rate: S  # derivative by the rate of the depth [N s/m] where it pushes, at least 0
    dissipated: S  # [W]
    stored: S  # [J]


class Terms(NamedTuple):
    """A normal force at a depth d above 0: its spring, its damper, and their derivatives by d."""

    spring: S  # [N]
    damper: S  # [N s/m]
    spring_slope: S  # [N/m]
    damper_slope: S  # [N s/m^2]


@dataclass(frozen=True)
class NormalLaw(ABC):
    """A normal force  spring(d) + damper(d) d'  of the depth d and its rate d', never below 0."""

    @abstractmethod
    def terms(self, d: S) -> Terms:
        """The spring and the damper at a depth d [m] above 0."""

    @abstractmethod
    def energy(self, d: S, spring: S) -> S:
        """The energy [J] of the spring at a depth d [m] above 0, where its force is `spring` [N]."""

    @abstractmethod
    def at_rest(self, depth: S) -> S:
        """The normal force [N] at a depth [m], at least 0, that does not change."""

    @abstractmethod
    def depth_of(self, energy: float) -> float:
        """A depth [m] at which the spring has stored this energy [J], or nearly."""

    def force(self, depth: S, rate: S) -> S:
        """The normal force [N] alone at a depth [m] and its rate [m/s]."""
        touching = less(0.0, depth)
        terms = self.terms(where(touching, depth, 1.0))
        return where(touching, maximum(terms.spring + terms.damper * rate, 0.0), 0.0)

    def __call__(self, depth: S, rate: S) -> Pressed:
        """The normal force at a depth [m] and its rate [m/s]."""
        touching = less(0.0, depth)
        d = where(touching, depth, 1.0)  # so that the derivative of a power is finite at 0
        spring, damper, spring_slope, damper_slope = self.terms(d)
        wanted = spring + damper * rate
        pushing = times(touching, less(0.0, wanted))
        force = where(pushing, wanted, 0.0)
        return Pressed(
            force,
            pushing,
            maximum(spring_slope + damper_slope * rate, 0.0),
            damper,
            where(touching, (force - spring) * rate, 0.0),
            with_derivative(self._stored, lambda depth: self.at_rest(maximum(depth, 0.0)), depth),
        )

    def _stored(self, depth: S) -> S:
        touching = less(0.0, depth)
        d = where(touching, depth, 1.0)
        return where(touching, self.energy(d, self.terms(d).spring), 0.0)


@dataclass(frozen=True)
class PowerLaw(NormalLaw):
    """The normal force k d^p + c d^r d': k is the stiffness and c the damping; p and r are powers of the depth."""

    k: S
    c: S
    p: S
    r: S

    def terms(self, d: S) -> Terms:
        k, c, p, r = self.k, self.c, self.p, self.r
        slopes = times(p * k, _power(d, p - 1.0)), times(r * c, _power(d, r - 1.0))
        return Terms(times(k, _power(d, p)), times(c, _power(d, r)), *slopes)

    def energy(self, d: S, spring: S) -> S:
        return spring * d / (self.p + 1.0)

    def at_rest(self, depth: S) -> S:
        if _is_whole(self.p):
            return times(self.k, _power(depth, self.p))
        touching = less(0.0, depth)
        return where(touching, times(self.k, _power(where(touching, depth, 1.0), self.p)), 0.0)

    def depth_of(self, energy: float) -> float:
        k, p = number(self.k), number(self.p)
        return float(((p + 1.0) * energy / k) ** (1.0 / (p + 1.0)))


@dataclass(frozen=True)
class ImpedanceLaw(NormalLaw):
    """The law of `ImpedanceNormal`: i/(1 - i) (k i d + c d'), with the impedance i of the depth d.

    The energy of the spring is the sum of integrals over the two curves of the impedance, by Gauss's formula, and of
    that over the straight line beyond the width.
    """

    k: S
    c: S
    width: S
    start: float
    end: float
    midpoint: float
    power: float

    def terms(self, d: S) -> Terms:
        x, ramp = minimum(div(d, self.width), 1.0), div(RAMP, self.width)
        i = where(less(x, self.midpoint), self._first(x), self._second(x))
        rise = where(less(d, self.width), self._rise(x), 0.0)
        free = div(1.0, 1.0 - i)
        spring, damper = self.k * i * i * free, self.c * i * free
        grown = minimum(ramp * d, 1.0)
        return Terms(
            spring * d,
            damper * grown,
            spring + self.k * d * rise * i * (2.0 - i) * free * free,
            self.c * rise * free * free * grown + damper * where(less(ramp * d, 1.0), ramp, 0.0),
        )

    def _first(self, x: S) -> S:
        """The impedance at a share x of the width, up to the midpoint."""
        bend = (self.end - self.start) / self.midpoint ** (self.power - 1.0)
        return self.start + bend * _safe_power(x, self.power)

    def _second(self, x: S) -> S:
        """The impedance at a share x of the width, from the midpoint to 1."""
        bend = (self.end - self.start) / (1.0 - self.midpoint) ** (self.power - 1.0)
        return self.end - bend * _safe_power(1.0 - x, self.power)

    def _rise(self, x: S) -> S:
        """The derivative of the impedance by the depth [1/m] at a share x of the width."""
        p, m = self.power, self.midpoint
        low, high = _safe_power(div(x, m), p - 1.0), _safe_power(div(1.0 - x, 1.0 - m), p - 1.0)
        return div(p * (self.end - self.start), self.width) * where(less(x, m), low, high)

    def energy(self, d: S, spring: S) -> S:
        w, middle = self.width, self.midpoint * self.width
        stiff = self.k * (self.end**2 / (1.0 - self.end))
        low, high = minimum(d, middle), minimum(maximum(d, middle), w)
        beyond = maximum(d, w)
        parts = self._integral(self._first, 0.0, low) + self._integral(self._second, middle, high)
        return parts + 0.5 * stiff * (beyond * beyond - w * w)

    def _integral(self, impedance: Callable[[S], S], begin: S, end: S) -> S:
        """The work of the spring between two depths [m] on one curve of the impedance."""
        half, total = 0.5 * (end - begin), 0.0
        for node, weight in GAUSS:
            d = begin + half * (1.0 + node)
            i = impedance(div(d, self.width))
            total = total + weight * div(self.k * i * i * d, 1.0 - i)
        return total * half

    def at_rest(self, depth: S) -> S:
        touching = less(0.0, depth)
        return where(touching, self.terms(where(touching, depth, self.width)).spring, 0.0)

    def depth_of(self, energy: float) -> float:
        return math.sqrt(2.0 * energy * (1.0 - self.start) / number(self.k)) / self.start


def normal_law(
    normal: Normal, value: Callable[[Any], Any] = evaluate_all, strengths: Sequence[S] | None = None
) -> NormalLaw:
    """The normal force law of a contact that is not rigid; `value` looks up parameters in its data.

    `strengths` are numbers to take in place of its own `normal_strengths`.
    """
    law, own, shape = _FORMS[type(normal)](normal)
    made: NormalLaw = law(*(value(own) if strengths is None else strengths), *value(shape))
    return made


def normal_strengths(normal: Normal) -> tuple[Any, ...]:
    """The numbers of a normal force law that do not decide its form: stiffness, damping, width."""
    return _FORMS[type(normal)](normal)[1]


def normal_form(normal: Normal) -> tuple[Any, ...]:
    """What normal force laws have in common that differ in `normal_strengths` only."""
    return (type(normal), *_FORMS[type(normal)](normal)[2])


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


def _safe_power(x: S, exponent: float) -> S:
    """x to a power of at least 0, for x of at least 0, with a derivative that is finite at 0."""
    if _is_whole(exponent):
        return _power(x, exponent)
    there = less(0.0, x)
    return where(there, power(where(there, x, 1.0), exponent), 0.0)


Form = tuple[type[Any], tuple[Any, ...], tuple[Any, ...]]  # the law of a normal force, its strengths and its shape


def _easydyn(normal: EasyDynNormal) -> Form:
    return PowerLaw, (normal.stiffness, normal.damping), (normal.stiffness_power, normal.damping_power)


def _hunt_crossley(normal: HuntCrossley) -> Form:
    return PowerLaw, (normal.stiffness, normal.stiffness * normal.damping), (normal.exponent, normal.exponent)


def _impedance(normal: ImpedanceNormal) -> Form:
    n = normal
    shape = tuple(float(x) for x in (n.start, n.end, n.midpoint, n.power))
    return ImpedanceLaw, (n.stiffness, n.damping, n.width), shape


_FORMS: dict[type, Callable[[Any], Form]] = {
    EasyDynNormal: _easydyn,
    HuntCrossley: _hunt_crossley,
    ImpedanceNormal: _impedance,
}


def number(value: Any) -> float:
    """The nominal value of a number in an element's data."""
    return float(evaluate(value))
