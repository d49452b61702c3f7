"""One contact in an impact: what it feels, and the places on its path.

    u_n = u_n0 + W_nn p + W_nt . s,      u_t = u_t0 + W_tn p + W_tt s,      s the friction impulse

W is the inverse of the mass that the contact feels, and p the normal impulse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, sqrt, where
from kinemorph.algebra.vectors import dot

FLAT = 1e-12  # a share of the largest entry of W that counts as zero: motions that are impossible

Quantity = Literal["p", "work", "u_n"]  # of a place: the normal impulse, its work, the normal velocity


class Place(NamedTuple):
    """A place on the path: the normal impulse p, the friction impulse, and the work of the normal impulse [J]."""

    p: S
    friction: list[S]
    work: S


class Touch(NamedTuple):
    """One contact before its impact: W (1 + t, 1 + t) [1/kg], the velocity u (1 + t,) [m/s], normal first, and mu."""

    W: Sequence[Sequence[S]]
    u: Sequence[S]
    mu: S

    def velocity(self, at: Place) -> list[S]:
        """The velocity of the contact (1 + t,) at a place."""
        impulse = [at.p, *at.friction]
        return [before + dot(row, impulse) for before, row in zip(self.u, self.W, strict=True)]

    def moved(self, at: Place, rates: Sequence[S], x: S) -> Place:
        """The place after a further normal impulse x, with constant friction `rates` (t,) per normal impulse."""
        u_n = self.velocity(at)[0]
        friction = [s + rate * x for s, rate in zip(at.friction, rates, strict=True)]
        return Place(at.p + x, friction, at.work + x * (u_n + 0.5 * self.stiffness(rates) * x))

    def stiffness(self, rates: Sequence[S]) -> S:
        """The rate of the normal velocity per normal impulse, du_n/dp, for constant friction rates (t,)."""
        return self.W[0][0] + dot(self.W[0][1:], rates)

    def fastest(self) -> S:
        """The sum of the magnitudes of the velocities before the impact [m/s]."""
        return sum((absolute(x) for x in self.u[1:]), absolute(self.u[0]))

    def sticking(self, restitution: S) -> S:
        """The normal impulse of the impact if the contact sticks [N s]."""
        normal = self.W[0][0]
        seen = normal + dot(self.W[0][1:], holding_rates(self))
        return div((1.0 + restitution) * absolute(self.u[0]), where(less(FLAT * normal, seen), seen, normal))


def holding_rates(touch: Touch) -> list[S]:
    """The friction rates (t,) that hold a contact, -W_tt^-1 W_tn; the smallest ones if W_tt is singular."""
    w = [row[0] for row in touch.W[1:]]
    if len(w) == 1:
        moves = less(FLAT * touch.W[0][0], touch.W[1][1])
        return [where(moves, -div(w[0], where(moves, touch.W[1][1], 1.0)), 0.0)]
    (_, xx, xy), (_, _, yy) = touch.W[1:]
    whole, size = xx * yy - xy * xy, xx + yy
    full, some = less(FLAT * size * size, whole), less(FLAT * touch.W[0][0], size)
    whole, size = where(full, whole, 1.0), where(some, size, 1.0)
    regular = [-div(yy * w[0] - xy * w[1], whole), -div(xx * w[1] - xy * w[0], whole)]
    flat = [-div(xx * w[0] + xy * w[1], size * size), -div(xy * w[0] + yy * w[1], size * size)]
    return [where(full, a, where(some, b, 0.0)) for a, b in zip(regular, flat, strict=True)]


def length(x: Sequence[S]) -> S:
    """The length of a vector; its derivative is finite where it is zero."""
    if len(x) == 1:
        return absolute(x[0])
    square = dot(x, x)
    there = less(0.0, square)
    return where(there, sqrt(where(there, square, 1.0)), 0.0)


def direction_of(x: Sequence[S]) -> list[S]:
    """The unit vector along x; zeros where x is zero."""
    size = length(x)
    there = less(0.0, size)
    return [where(there, div(entry, where(there, size, 1.0)), 0.0) for entry in x]


def chosen(condition: S, one: Place, other: Place) -> Place:
    """The place `one` where the condition is not zero, else the `other`."""
    friction = [where(condition, a, b) for a, b in zip(one.friction, other.friction, strict=True)]
    return Place(where(condition, one.p, other.p), friction, where(condition, one.work, other.work))


# ── power series ──────────────────────────────────────────────────────────────────────────────────────────────────────


def convolved(a: Sequence[S], b: Sequence[S], k: int) -> S:
    """The term k of a product of two power series."""
    return dot(a[: k + 1], b[k::-1])


def squared(a: Sequence[S], k: int, first: int = 0) -> S:
    """The sum of a_i a_j with i + j = k and i, j >= first: the term k of the square of a power series."""
    pairs = range(first, (k + 1) // 2)
    terms = [2.0 * dot([a[i] for i in pairs], [a[k - i] for i in pairs])] if pairs else []
    if k % 2 == 0 and k // 2 >= first:
        terms.append(a[k // 2] * a[k // 2])
    return sum(terms[1:], terms[0]) if terms else 0.0


def value_of(terms: Sequence[S], x: S) -> S:
    """The value of a polynomial, lowest power first."""
    total = terms[-1]
    for term in reversed(terms[:-1]):
        total = term + x * total
    return total


def slopes_of(terms: Sequence[S]) -> list[S]:
    """The derivative of a polynomial."""
    return [k * term for k, term in enumerate(terms)][1:]
