"""Forces along single velocities of joints, for springs, friction and stops.

A `JointLaw` gets one velocity of a joint and, if this is the rate of a coordinate, the coordinate. It returns the
effort, the dissipated power and the stored energy. For implicit steps, which evaluate stiff forces at their end
(mechanics.steps.implicit_forces), it also returns a pivot:

    effort at the end = force - pivot (a - a_guess),      pivot = -(h df/dv + h^2 df/dq), not below 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from kinemorph.algebra.scalar import S, absolute, div, exp, less, maximum, minimum, sqrt, where
from kinemorph.mechanics.elements.contact.normal_forces import NormalLaw, Pressed
from kinemorph.mechanics.elements.forces.springs import one_sided
from kinemorph.mechanics.steps.point_states import JointLaw as AtItsEnd
from kinemorph.mechanics.steps.point_states import joint_slope


class JointLaw(AtItsEnd, Protocol):
    """A generalized force [N m or N] along one velocity of a joint, with its dissipated power and stored energy."""

    def dissipated(self, joint: Any) -> S:
        """The dissipated power [W] at this state of the joint."""
        ...

    def stored(self, joint: Any) -> S:
        """The stored energy [J] at this state of the joint."""
        ...


@dataclass(frozen=True, eq=False)
class Elastic:
    """The force of a spring with stiffness k and damping c, both with further coefficients of higher order:

        -(k x + curve[0] x^2 + curve[1] x^3 + ...) - (c v + damping_curve[0] |v| v + damping_curve[1] v^3 + ...)

    Here x is q - rest, or with a `slack` the part of q - rest that is below 0 or beyond the slack.
    """

    stiffness: S
    rest: S
    damping: S
    curve: tuple[S, ...] = ()
    damping_curve: tuple[S, ...] = ()
    slack: float = 0.0

    @property
    def affine(self) -> bool:
        """Whether its derivatives are the same everywhere."""
        return not (self.curve or self.damping_curve or self.slack)

    def stretch(self, joint: Any) -> S:
        """The displacement x [rad or m] from where the spring is at rest."""
        x = joint.position - self.rest
        return maximum(x - self.slack, 0.0) + minimum(x, 0.0) if self.slack else x

    def force(self, joint: Any) -> S:
        x, v = self.stretch(joint), joint.velocity
        spring = self.stiffness * x
        for n, factor in enumerate(self.curve, start=2):
            spring = spring + factor * _power(x, n)
        return -spring - self._resistance(v) * v

    def _resistance(self, v: S) -> S:
        """The secant of the damper [N m s/rad or N s/m]: its force divided by the velocity."""
        secant = self.damping
        for n, factor in enumerate(self.damping_curve, start=1):
            secant = secant + factor * (_power(absolute(v), n) if n % 2 else _power(v, n))
        return secant

    def dissipated(self, joint: Any) -> S:
        return self._resistance(joint.velocity) * joint.velocity * joint.velocity

    def stored(self, joint: Any) -> S:
        x = self.stretch(joint)
        energy = 0.5 * self.stiffness * x * x
        for n, factor in enumerate(self.curve, start=3):
            energy = energy + (factor / n) * _power(x, n)
        return energy

    def linear(self, joint: Any, h: S) -> tuple[S, S]:
        if self.affine:
            return self.force(joint), h * (self.damping + h * self.stiffness)
        return joint_slope(self.force, joint, h)


def _power(x: S, n: int) -> S:
    """The power x^n, by multiplication."""
    return x if n == 1 else x * _power(x, n - 1)


@dataclass(frozen=True, eq=False)
class Friction:
    """The friction force -F(v) v / sqrt(v^2 + e^2) - b v, with F(v) = Fc (1 + (breakaway - 1) exp(-(v / vs)^2)).

    Fc is `coulomb`, b `viscous`, vs `stribeck` and e `smoothing`.
    """

    coulomb: S
    viscous: S
    breakaway: S
    stribeck: S
    smoothing: S
    affine: bool = False

    def secant(self, v: S) -> S:
        """The secant -force / v of the force law at the velocity v [N m s/rad or N s/m]; it is finite at v = 0."""
        share = div(v, self.stribeck)
        peak = 1.0 + (self.breakaway - 1.0) * exp(-share * share)
        return div(self.coulomb * peak, sqrt(v * v + self.smoothing * self.smoothing)) + self.viscous

    def force(self, joint: Any) -> S:
        return -self.secant(joint.velocity) * joint.velocity

    def dissipated(self, joint: Any) -> S:
        return self.secant(joint.velocity) * joint.velocity * joint.velocity

    def stored(self, joint: Any) -> S:
        return 0.0

    def linear(self, joint: Any, h: S) -> tuple[S, S]:
        """(force, pivot) for a step of h [s]; the pivot is the inertia that the force adds to the joint.

        It is computed with the secant in place of the derivative by v.

        A stuck joint needs the secant, because the derivative is nearly zero at small velocities already.
        """
        secant = self.secant(joint.velocity)
        return -secant * joint.velocity, h * secant


@dataclass(frozen=True, eq=False)
class ImpedanceStops:
    """Stops at a lower and at an upper limit whose strength an impedance of the depth sets; None has no stop.

    With a lower limit not above the upper one only the nearer one can act, so that the law is computed once.
    """

    lower: float | None
    upper: float | None
    law: NormalLaw
    affine: bool = False

    def _acting(self, joint: Any) -> list[tuple[S, Pressed]]:
        """(direction of the limit, -1 or 1, what presses at it) for each stop."""
        q, v = joint.position, joint.velocity
        if self.lower is not None and self.upper is not None and self.lower <= self.upper:
            above = q - 0.5 * (self.lower + self.upper)
            side = where(less(above, 0.0), -1.0, 1.0)
            return [(side, self.law(side * above - 0.5 * (self.upper - self.lower), side * v))]
        below = [] if self.lower is None else [(-1.0, self.law(self.lower - q, -v))]
        return below + ([] if self.upper is None else [(1.0, self.law(q - self.upper, v))])

    def force(self, joint: Any) -> S:
        return sum((-side * one.force for side, one in self._acting(joint)), 0.0)

    def dissipated(self, joint: Any) -> S:
        return sum((one.dissipated for _, one in self._acting(joint)), 0.0)

    def stored(self, joint: Any) -> S:
        return sum((one.stored for _, one in self._acting(joint)), 0.0)

    def linear(self, joint: Any, h: S) -> tuple[S, S]:
        pivots = (where(one.pushing, h * (one.by_rate + h * one.by_depth), 0.0) for _, one in self._acting(joint))
        return self.force(joint), sum(pivots, 0.0)


@dataclass(frozen=True, eq=False)
class Stops:
    """Stops at a lower and at an upper limit of the coordinate; a limit that is None has no stop."""

    lower: float | None
    upper: float | None
    stiffness: S
    damping: S
    onset: S
    affine: bool = False

    def _each(self, joint: Any) -> list[tuple[float, S]]:
        """(direction of the limit, -1 or 1, depth of the coordinate beyond the limit) for each stop."""
        below = [] if self.lower is None else [(-1.0, self.lower - joint.position)]
        return below + ([] if self.upper is None else [(1.0, joint.position - self.upper)])

    def _acting(self, joint: Any) -> list[tuple[float, S, tuple[S, S, S]]]:
        return [
            (side, beyond, one_sided(beyond, side * joint.velocity, self.stiffness, self.damping, self.onset))
            for side, beyond in self._each(joint)
        ]

    def force(self, joint: Any) -> S:
        return sum((-side * force for side, _, (force, *_) in self._acting(joint)), 0.0)

    def dissipated(self, joint: Any) -> S:
        return sum((lost for *_, (_, lost, _) in self._acting(joint)), 0.0)

    def stored(self, joint: Any) -> S:
        return sum((kept for *_, (_, _, kept) in self._acting(joint)), 0.0)

    def linear(self, joint: Any, h: S) -> tuple[S, S]:
        pivot: S = 0.0
        for _, beyond, (force, *_) in self._acting(joint):
            damping = self.damping * minimum(div(maximum(beyond, 0.0), self.onset), 1.0)
            pivot = pivot + where(less(0.0, force), h * (damping + h * self.stiffness), 0.0)
        return self.force(joint), pivot
