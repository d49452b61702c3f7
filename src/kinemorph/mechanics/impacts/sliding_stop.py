"""The end of sliding that turns and stops: an exact series about the direction from which sliding approaches its stop.

In polar coordinates, u_t = r e(theta), the equations of sliding in tau (`sliding_steps`) are

    dr/dtau = r g(theta),      g = e . W_tn - mu e . W_tt e,
    dtheta/dtau = h(theta),    h = e' . W_tn - mu e' . W_tt e,      e' normal to e

Sliding approaches a direction e with h = 0 and the slope lambda = dh/dtheta < 0, and stops if g < 0 there. About it,
the flow is analytically equivalent to its linear part (Poincare): with X ~ exp(g tau) and z ~ exp(lambda tau),

    u_t = X (a(z) e + b(z) e'),      a = 1 + a_1 z + ...,      b = z + ...

Every power X z^k has an integral over tau, X z^k / (g + k lambda), with a denominator that is never 0. So the place of
the stop and all places before it are sums of a power series in z.
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
    slopes_of,
    squared,
    value_of,
)

ORDER = 10  # of the series in z
TURNING = 10  # steps of Newton's method that find the direction of the stop
FITTING = 5  # steps of Newton's method that find z
FARTHEST = 0.4  # the largest turn in a step of Newton's method [rad]
CONVERGED = 1e-5  # last terms of the series that are larger than this say that it does not converge
SLOWEST = 1e-6  # of g: where the direction turns more slowly in its approach to a stop, sliding counts as straight


class Stop(NamedTuple):
    """A path from a place to its stop, in theta from 0 to 1.

    Its quantities are those of the stop plus X times a polynomial in z; the work has a part with X^2, too. Here X and z
    are shares of their values at the start, X = 1 - theta and z = X^kappa.
    """

    end: Place
    u_n: S  # the normal velocity at the end
    kappa: S  # lambda / g
    p: list[S]
    friction: list[list[S]]
    rise: list[S]  # of the normal velocity
    square: list[S]  # of the work

    def at(self, theta: S) -> Place:
        """The place at theta."""
        x, z = self._powers(theta)
        p = x * value_of(self.p, z)
        friction = [s + x * value_of(terms, z) for s, terms in zip(self.end.friction, self.friction, strict=True)]
        return Place(self.end.p + p, friction, self.end.work + self.u_n * p + x * x * value_of(self.square, z))

    def followed(self, quantity: Quantity) -> Callable[[S], tuple[S, S]]:
        """A function of theta that returns a quantity and its derivative by theta."""

        def sloped(terms: Sequence[S], degree: float) -> list[S]:
            return [-(degree + k * self.kappa) * term for k, term in enumerate(terms)]

        p, rise, square = sloped(self.p, 1.0), sloped(self.rise, 1.0), sloped(self.square, 2.0)

        def of_p(theta: S) -> tuple[S, S]:
            x, z = self._powers(theta)
            return self.end.p + x * value_of(self.p, z), value_of(p, z)

        def of_u_n(theta: S) -> tuple[S, S]:
            x, z = self._powers(theta)
            return self.u_n + x * value_of(self.rise, z), value_of(rise, z)

        def of_work(theta: S) -> tuple[S, S]:
            x, z = self._powers(theta)
            return (
                self.end.work + x * (self.u_n * value_of(self.p, z) + x * value_of(self.square, z)),
                self.u_n * value_of(p, z) + x * value_of(square, z),
            )

        return {"p": of_p, "u_n": of_u_n, "work": of_work}[quantity]

    def _powers(self, theta: S) -> tuple[S, S]:
        x = maximum(1.0 - theta, 1e-300)  # the logarithm in the derivative of the power has to be finite
        return x, power(x, self.kappa)


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


def stop_from(touch: Touch, at: Place, u: Sequence[S], e: Sequence[S]) -> tuple[Stop, S]:
    """(the path from a place to its stop; 1 where sliding stops and the series converges, else 0).

    The velocity at the place is u (3,); e (2,) is the direction that sliding approaches.
    """
    w = [row[0] for row in touch.W[1:]]
    g, _, slope = _rates(touch, e)
    stops = less(g, 0.0) * less(slope, SLOWEST * g)
    g, slope = where(stops, g, -1.0), where(stops, slope, -1.0)
    across = [-e[1], e[0]]
    a, b, size = _series(dot(e, w), dot(across, w), slope)
    z = _fitted(a, b, dot(e, u[1:]), dot(across, u[1:]))
    X = div(dot(e, u[1:]), value_of(a, z))
    powers = [X]
    for _ in range(ORDER):
        powers.append(powers[-1] * z)
    a, b, size = ([term * factor for term, factor in zip(terms, powers, strict=True)] for terms in (a, b, size))
    last = absolute(a[-2]) + absolute(a[-1]) + absolute(b[-2]) + absolute(b[-1])
    good = stops * less(last, CONVERGED * X) * less(0.0, X)
    tau = [div(1.0, g + k * slope) for k in range(ORDER + 1)]
    p = [term * factor for term, factor in zip(size, tau, strict=True)]
    friction = [
        [-touch.mu * (along * x + aside * y) * factor for x, y, factor in zip(a, b, tau, strict=True)]
        for along, aside in zip(e, across, strict=True)
    ]
    rise = [dot(touch.W[0], terms) for terms in zip(p, *friction, strict=True)]
    square = [div(convolved(rise, size, k), 2.0 * g + k * slope) for k in range(ORDER + 1)]
    u_n, whole = u[0] - value_of(rise, 1.0), value_of(p, 1.0)
    end = Place(
        at.p - whole,
        [s - value_of(terms, 1.0) for s, terms in zip(at.friction, friction, strict=True)],
        at.work - u_n * whole - value_of(square, 1.0),
    )
    return Stop(end, u_n, div(slope, g), p, friction, rise, square), good


def _rates(touch: Touch, e: Sequence[S]) -> tuple[S, S, S]:
    """(g, h, dh/dtheta) in the direction e."""
    w, A = [row[0] for row in touch.W[1:]], [row[1:] for row in touch.W[1:]]
    across = [-e[1], e[0]]
    Ae = [dot(row, e) for row in A]
    along, turned = dot(e, Ae), dot(across, [dot(row, across) for row in A])
    faster = dot(e, w) - touch.mu * along
    return faster, dot(across, w) - touch.mu * dot(across, Ae), -faster - touch.mu * turned


def _series(along: S, across: S, slope: S) -> tuple[list[S], list[S], list[S]]:
    """The series a(z), b(z) and sqrt(a^2 + b^2), from the parts of W_tn along e and across it, and lambda.

    With  J = [[g, -m], [0, g + lambda]],  m the part across, the linear part of du_t/dtau in the directions e and e',
    the terms k satisfy  (g + k lambda - J) (a_k, b_k) = (along, m) l_k,  where the size has the terms  a_k + l_k.
    """
    along, across = div(along, slope), div(across, slope)
    a: list[S] = [1.0, -across]
    b: list[S] = [0.0, 1.0]
    size: list[S] = [1.0, a[1]]
    for k in range(2, ORDER + 1):
        inner = 0.5 * (squared(a, k, 1) + squared(b, k, 1) - squared(size, k, 1))
        b.append(across * inner * (1.0 / (k - 1)))
        a.append((along * inner - across * b[k]) * (1.0 / k))
        size.append(a[k] + inner)
    return a, b, size


def _fitted(a: Sequence[S], b: Sequence[S], along: S, across: S) -> S:
    """The z at which (a, b) has the direction (along, across)."""
    ahead = less(0.0, along)
    tangent = where(ahead, div(across, where(ahead, along, 1.0)), 0.0)
    terms = [y - tangent * x for x, y in zip(a, b, strict=True)]
    slopes = slopes_of(terms)
    z = 0.0 * tangent
    for _ in range(FITTING):
        slope = value_of(slopes, z)
        steep = less(1e-300, absolute(slope))
        z = z - where(steep, div(value_of(terms, z), where(steep, slope, 1.0)), 0.0)
        z = minimum(maximum(z, -1.0), 1.0)
    return z
