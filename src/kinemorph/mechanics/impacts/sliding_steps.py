"""Sliding whose direction turns during an impact in space, by Taylor steps.

With the variable tau, dp = |u_t| dtau, the equations of Darboux and Keller are smooth and homogeneous in u_t,

    dp/dtau = |u_t|,      ds/dtau = -mu u_t,      du_t/dtau = |u_t| W_tn - mu W_tt u_t

A path that stops takes an infinite tau. So that its direction is known up to its stop, the length of a step follows
from its last terms in comparison with the geometric mean of the sliding speed at its start and of the speed before the
impact, and u_t is carried from step to step: as a difference of impulses it would end in rounding errors.

In polar coordinates, u_t = r e(theta), the direction turns by itself, and the speed follows it:

    dtheta/dtau = h(theta),    h = e' . W_tn - mu e' . W_tt e,      e' normal to e
    dr/dtau = r g(theta),      g = e . W_tn - mu e . W_tt e

Sliding approaches a direction with h = 0 and dh/dtheta < 0; it stops there if g < 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, maximum, minimum, power, sign, sqrt, where
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.impacts.touch import (
    Place,
    Quantity,
    Touch,
    convolved,
    direction_of,
    length,
    slopes_of,
    squared,
    value_of,
)

ORDER = 14  # of the Taylor polynomials
NEGLECTED = 1e-9  # the share of velocities and work in the last terms of a step, which sets its length
LONGEST = 4.0  # the longest step, as a multiple of the whole impact
TURNING = 10  # steps of Newton's method that find the direction that sliding approaches
FARTHEST = 0.4  # the largest turn in one of them [rad]


class Step(NamedTuple):
    """Polynomials of a step in theta = tau / length, lowest power first, from theta = 0 at its start to 1."""

    p: list[S]
    friction: list[list[S]]
    work: list[S]
    u: list[list[S]]  # of the normal and the two tangents

    def at(self, theta: S) -> Place:
        """The place at theta."""
        return Place(value_of(self.p, theta), [value_of(s, theta) for s in self.friction], value_of(self.work, theta))

    def velocity(self, theta: S) -> list[S]:
        """The velocity of the contact (3,) at theta."""
        return [value_of(terms, theta) for terms in self.u]

    def followed(self, quantity: Quantity) -> Callable[[S], tuple[S, S]]:
        """A function of theta that returns a quantity and its derivative by theta."""
        terms = {"p": self.p, "work": self.work, "u_n": self.u[0]}[quantity]
        slopes = slopes_of(terms)
        return lambda theta: (value_of(terms, theta), value_of(slopes, theta))


def taylor_step(touch: Touch, at: Place, u: Sequence[S], whole: S) -> Step:
    """A step from a place where the velocity is u (3,), in an impact with about the normal impulse `whole` [N s].

    The terms of |u_t| follow from those of |u_t|^2. The length is that at which the last two terms are negligible, also
    those of the work (Jorba and Zou, Exp. Math. 14 (2005) 99-117), and is limited to a few times the whole impact.
    """
    n, x, y = u
    speed = length([x, y])
    moves = less(0.0, speed)
    inverse = where(moves, div(1.0, where(moves, speed, 1.0)), 0.0)
    u_n, u_x, u_y, size = [n], [x], [y], [speed]
    p, s_x, s_y, work = [at.p], [at.friction[0]], [at.friction[1]], [at.work]
    for k in range(ORDER):
        share = 1.0 / (k + 1)
        p.append(size[k] * share)
        s_x.append(-touch.mu * u_x[k] * share)
        s_y.append(-touch.mu * u_y[k] * share)
        work.append(convolved(u_n, size, k) * share)
        n, x, y = (dot(row, [p[-1], s_x[-1], s_y[-1]]) for row in touch.W)
        u_n.append(n)
        u_x.append(x)
        u_y.append(y)
        inner = squared(u_x, k + 1) + squared(u_y, k + 1) - squared(size, k + 1, 1)
        size.append(inner * 0.5 * inverse)
    fast = maximum(touch.fastest(), 1e-300)
    turning, working = sqrt(div(inverse, fast)), div(1.0, maximum(whole * fast, 1e-300))
    longest = LONGEST * whole * inverse
    for k in (ORDER - 1, ORDER):
        share = maximum((absolute(u_x[k]) + absolute(u_y[k])) * turning, absolute(work[k]) * working)
        known = less(1e-300, share)
        limit = power(div(NEGLECTED, where(known, share, 1.0)), 1.0 / k)
        longest = where(known, minimum(longest, limit), longest)
    powers: list[S] = [1.0]
    for _ in range(ORDER):
        powers.append(powers[-1] * longest)

    def scaled(terms: list[S]) -> list[S]:
        return [term * factor for term, factor in zip(terms, powers, strict=True)]

    return Step(scaled(p), [scaled(s_x), scaled(s_y)], scaled(work), [scaled(u_n), scaled(u_x), scaled(u_y)])


def chosen_step(condition: S, one: Step, other: Step) -> Step:
    """The step `one` where the condition is not zero, else the `other`."""

    def terms(a: Sequence[S], b: Sequence[S]) -> list[S]:
        return [where(condition, x, y) for x, y in zip(a, b, strict=True)]

    def lists(a: Sequence[Sequence[S]], b: Sequence[Sequence[S]]) -> list[list[S]]:
        return [terms(x, y) for x, y in zip(a, b, strict=True)]

    return Step(
        terms(one.p, other.p), lists(one.friction, other.friction), terms(one.work, other.work), lists(one.u, other.u)
    )


# ── the direction that sliding approaches ─────────────────────────────────────────────────────────────────────────────


def last_direction(touch: Touch, u: Sequence[S]) -> list[S]:
    """The direction (2,) that sliding with the velocity u (3,) approaches: the next one in which it does not turn."""
    e = direction_of(u[1:])
    for _ in range(TURNING):
        _, h, slope = _rates(touch, e)
        falls = less(slope, 0.0)
        turn = where(falls, -div(h, where(falls, slope, 1.0)), FARTHEST * sign(h))
        turn = minimum(maximum(turn, -FARTHEST), FARTHEST)
        shrink = div(1.0, sqrt(1.0 + turn * turn))
        e = [(e[0] - turn * e[1]) * shrink, (e[1] + turn * e[0]) * shrink]
    return e


def _rates(touch: Touch, e: Sequence[S]) -> tuple[S, S, S]:
    """(g, h, dh/dtheta) in the direction e."""
    w, A = [row[0] for row in touch.W[1:]], [row[1:] for row in touch.W[1:]]
    across = [-e[1], e[0]]
    Ae = [dot(row, e) for row in A]
    along, turned = dot(e, Ae), dot(across, [dot(row, across) for row in A])
    faster = dot(e, w) - touch.mu * along
    return faster, dot(across, w) - touch.mu * dot(across, Ae), -faster - touch.mu * turned
