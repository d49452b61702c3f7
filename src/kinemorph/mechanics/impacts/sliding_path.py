"""The impact of one contact, followed through the impact as its normal impulse p grows (Darboux and Keller).

    u_n = u_n0 + W_nn p + W_nt . s,      u_t = u_t0 + W_tn p + W_tt s,      s the friction impulse

W is the inverse of the mass that the contact feels. While the contact slides, friction opposes the sliding velocity,
ds/dp = -mu u_t / |u_t|. Where sliding stops, the contact sticks if mu allows it, else it slides on in the one direction
in which friction opposes it. In a plane there are two pieces with constant rates, and everything has a closed form. In
space the direction of sliding turns. With the variable tau, dp = |u_t| dtau, its equations are smooth,

    dp/dtau = |u_t|,      ds/dtau = -mu u_t,

and a fixed number of Taylor steps follows them, each as long as its last terms allow; two straight pieces come after
them. Where many steps would be needed, only the direction of sliding is approximate: momentum holds exactly.

Keller, J. Appl. Mech. 53 (1986) 1-4; Stronge, Proc. R. Soc. A 431 (1990) 169-181; Bhatt and Koechling, J. Appl. Mech.
62 (1995) 893-898.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, less_equal, maximum, minimum, power, sqrt, where
from kinemorph.algebra.vectors import dot

STEPS = 20  # Taylor steps along a path that turns
ORDER = 14  # of the Taylor polynomials
NEGLECTED = 1e-10  # the share of velocities and work in the last terms of a step, which sets its length
LONGEST = 4.0  # the longest step, as a multiple of the whole impact
LOCATING = 14  # steps of Newton's method that find a place within a Taylor step
ROUNDING = 1e-14  # changes of theta, from 0 to 1 within a step, that are no larger are rounding errors
FLAT = 1e-12  # a share of the largest entry of W that counts as zero: motions that are impossible
SLIPPING = 6  # steps of Newton's method that find the direction of sliding after a stop


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


class Step(NamedTuple):
    """Polynomials of a step in theta = tau / length, lowest power first, from theta = 0 at its start to 1."""

    p: list[S]
    friction: list[list[S]]
    work: list[S]
    u_n: list[S]

    def at(self, theta: S) -> Place:
        """The place at theta."""
        return Place(_value(self.p, theta), [_value(s, theta) for s in self.friction], _value(self.work, theta))


class Path(NamedTuple):
    """The path of one contact: its smooth steps, then two pieces with constant friction rates."""

    touch: Touch
    steps: list[Step]
    slid: Place  # the end of the last smooth step
    slides: list[S]  # friction rates (t,) until sliding stops
    stops: S  # 1 where sliding stops
    corner: Place  # where it stops
    rests: list[S]  # friction rates (t,) from there on: sticking, or sliding in a constant direction


class Goal(NamedTuple):
    """What ends a phase: `value(place, u_n)`, which rises to `target`, as `quantity(step)` does within a smooth step;
    `further(place, u_n, a)` is the normal impulse that is missing at a place from where du_n/dp = a is constant. A goal
    that is not reached `always` ends where friction jams the contact, a = 0.
    """

    target: S
    value: Callable[[Place, S], S]
    quantity: Callable[[Step], list[S]]
    further: Callable[[Place, S, S], S]
    always: bool = False


def until_velocity(target: S) -> Goal:
    """The normal velocity rises to `target` [m/s]."""
    return Goal(target, lambda at, u_n: u_n, lambda step: step.u_n, lambda at, u_n, a: div(target - u_n, a))


def until_impulse(target: S) -> Goal:
    """The normal impulse grows to `target` [N s]."""
    return Goal(target, lambda at, u_n: at.p, lambda step: step.p, lambda at, u_n, a: target - at.p, True)


def until_work(target: S) -> Goal:
    """The work of the normal impulse rises to `target` [J]: only for phases of restitution, where u_n is positive."""

    def further(at: Place, u_n: S, a: S) -> S:
        rest = maximum(target - at.work, 0.0)
        slow = maximum(u_n, 0.0)
        whole = slow + sqrt(slow * slow + 2.0 * a * rest)
        return div(2.0 * rest, where(less(0.0, whole), whole, 1.0))

    return Goal(target, lambda at, u_n: at.work, lambda step: step.work, further)


def path_of(touch: Touch, restitution: S) -> Path:
    """The path of a contact. The restitution only says how far the smooth steps of a path in space have to reach."""
    start, steps = Place(0.0, [0.0] * (len(touch.u) - 1), 0.0), []
    if len(touch.u) == 3:
        for _ in range(STEPS):
            steps.append(_taylor_step(touch, start, restitution))
            start = steps[-1].at(1.0)
    u_t = touch.velocity(start)[1:]
    speed = _length(u_t)
    moves = less(0.0, speed)
    direction = [where(moves, div(x, where(moves, speed, 1.0)), 0.0) for x in u_t]
    slides = [-touch.mu * x for x in direction]
    slower = -dot(direction, [row[0] + dot(row[1:], slides) for row in touch.W[1:]])  # -d|u_t|/dp
    stops = where(moves, less(0.0, slower), 1.0)
    along = where(moves * stops, div(speed, where(less(0.0, slower), slower, 1.0)), 0.0)
    return Path(touch, steps, start, slides, stops, touch.moved(start, slides, along), _rates_after_stop(touch))


def reach(path: Path, goal: Goal, after: Place) -> Place:
    """The first place on the path, beyond the place `after`, where a goal is reached."""
    touch = path.touch

    def is_reached(at: Place) -> S:
        return less_equal(after.p, at.p) * less_equal(goal.target, goal.value(at, touch.velocity(at)[0]))

    def straight(piece: Place, rates: Sequence[S]) -> Place:
        start = _choice(less(piece.p, after.p), after, piece)
        u_n, a = touch.velocity(start)[0], touch.stiffness(rates)
        rises = less(FLAT * touch.W[0][0], a)
        further = goal.further(start, u_n, where(rises, a, 1.0))
        return touch.moved(start, rates, further if goal.always else where(rises, further, 0.0))

    in_slide = where(path.stops, is_reached(path.corner), 1.0)
    found = _choice(in_slide, straight(path.slid, path.slides), straight(path.corner, path.rests))
    if not path.steps:
        return found
    chosen, smooth = path.steps[-1], is_reached(path.steps[-1].at(1.0))
    for step in reversed(path.steps[:-1]):
        here = is_reached(step.at(1.0))
        chosen, smooth = _chosen_step(here, step, chosen), maximum(smooth, here)
    return _choice(smooth, chosen.at(_located(chosen, goal, after)), found)


# ── the smooth part ───────────────────────────────────────────────────────────────────────────────────────────────────


def _taylor_step(touch: Touch, at: Place, restitution: S) -> Step:
    """A step from a place, with the Taylor polynomials of  dp/dtau = |u_t|,  ds/dtau = -mu u_t.

    The terms of |u_t| follow from those of |u_t|^2. The length is that at which the last two terms are negligible, also
    those of the work (Jorba and Zou, Exp. Math. 14 (2005) 99-117), and is limited to a few times the whole impact.
    """
    n, x, y = touch.velocity(at)
    speed = _length([x, y])
    moves = less(0.0, speed)
    inverse = where(moves, div(0.5, where(moves, speed, 1.0)), 0.0)
    u_n, u_x, u_y, size = [n], [x], [y], [speed]
    p, s_x, s_y, work = [at.p], [at.friction[0]], [at.friction[1]], [at.work]
    for k in range(ORDER):
        share = 1.0 / (k + 1)
        p.append(size[k] * share)
        s_x.append(-touch.mu * u_x[k] * share)
        s_y.append(-touch.mu * u_y[k] * share)
        work.append(_convolved(u_n, size, k) * share)
        n, x, y = (dot(row, [p[-1], s_x[-1], s_y[-1]]) for row in touch.W)
        u_n.append(n)
        u_x.append(x)
        u_y.append(y)
        inner = _convolved(u_x, u_x, k + 1) + _convolved(u_y, u_y, k + 1)
        for i in range(1, k + 1):
            inner = inner - size[i] * size[k + 1 - i]
        size.append(inner * inverse)
    fast = absolute(touch.u[0]) + absolute(touch.u[1]) + absolute(touch.u[2])
    whole = _whole(touch, restitution)
    length = LONGEST * whole * 2.0 * inverse
    for k in (ORDER - 1, ORDER):
        turning = div(absolute(u_x[k]) + absolute(u_y[k]), maximum(fast, 1e-300))
        share = maximum(turning, div(absolute(work[k]), maximum(whole * fast, 1e-300)))
        known = less(1e-300, share)
        limit = power(div(NEGLECTED, where(known, share, 1.0)), 1.0 / k)
        length = where(known, minimum(length, limit), length)
    powers: list[S] = [1.0]
    for _ in range(ORDER):
        powers.append(powers[-1] * length)

    def scaled(terms: list[S]) -> list[S]:
        return [term * factor for term, factor in zip(terms, powers, strict=True)]

    return Step(scaled(p), [scaled(s_x), scaled(s_y)], scaled(work), scaled(u_n))


def _convolved(a: Sequence[S], b: Sequence[S], k: int) -> S:
    """The term k of a product of two power series."""
    return dot(a[: k + 1], b[k::-1])


def _whole(touch: Touch, restitution: S) -> S:
    """The normal impulse of the impact if the contact sticks [N s]."""
    normal = touch.W[0][0]
    seen = normal + dot(touch.W[0][1:], _holding_rates(touch))
    return div((1.0 + restitution) * absolute(touch.u[0]), where(less(FLAT * normal, seen), seen, normal))


def _located(step: Step, goal: Goal, after: Place) -> S:
    """The theta from 0 to 1 in a step at which a goal is reached, by Newton's method between bounds.

    The lower bound is the place `after` where it is inside the step, so that work is searched where it rises.
    """
    terms = goal.quantity(step)
    slopes = [k * term for k, term in enumerate(terms)][1:]
    rates = [k * term for k, term in enumerate(step.p)][1:]
    low = 0.0 * step.p[1]
    for _ in range(LOCATING):  # theta of the place `after`
        low = _improved(low, after.p - _value(step.p, low), _value(rates, low))
    theta, top = 0.5 * (low + 1.0), 1.0
    bottom = low
    for _ in range(LOCATING):
        short = goal.target - _value(terms, theta)
        bottom, top = where(less(0.0, short), theta, bottom), where(less(0.0, short), top, theta)
        ahead = theta + _newton_step(short, _value(slopes, theta))
        inside = less(bottom, ahead) * less(ahead, top)
        settled = less_equal(absolute(ahead - theta), ROUNDING)  # it is at a bound already: no bisection away from it
        theta = where(maximum(inside, settled), ahead, 0.5 * (bottom + top))
    return _improved(theta, goal.target - _value(terms, theta), _value(slopes, theta))


def _chosen_step(condition: S, one: Step, other: Step) -> Step:
    def terms(a: Sequence[S], b: Sequence[S]) -> list[S]:
        return [where(condition, x, y) for x, y in zip(a, b, strict=True)]

    friction = [terms(a, b) for a, b in zip(one.friction, other.friction, strict=True)]
    return Step(terms(one.p, other.p), friction, terms(one.work, other.work), terms(one.u_n, other.u_n))


def _improved(theta: S, short: S, slope: S) -> S:
    """theta after a step of Newton's method, from 0 to 1."""
    return minimum(maximum(theta + _newton_step(short, slope), 0.0), 1.0)


def _newton_step(short: S, slope: S) -> S:
    """The change of theta by a step of Newton's method; 0 where the slope is 0."""
    sloped = less(1e-300, absolute(slope))
    return where(sloped, div(short, where(sloped, slope, 1.0)), 0.0)


def _value(terms: Sequence[S], x: S) -> S:
    """The value of a polynomial, lowest power first."""
    total = terms[-1]
    for term in reversed(terms[:-1]):
        total = term + x * total
    return total


# ── after a stop ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _rates_after_stop(touch: Touch) -> list[S]:
    """The friction rates (t,) from the stop on: those that hold the contact, or sliding friction where mu is too small.

    Sliding then starts in a constant direction e with  W_tn - mu W_tt e = f e,  f > 0: |(mu W_tt + f)^-1 W_tn| = 1.
    """
    mu, w, held = touch.mu, [row[0] for row in touch.W[1:]], _holding_rates(touch)
    if len(w) == 1:
        return [minimum(maximum(held[0], -mu), mu)]
    (_, xx, xy), (_, _, yy) = touch.W[1:]

    def solved(f: S, b: Sequence[S]) -> list[S]:
        p, q, r = mu * xx + f, mu * xy, mu * yy + f
        whole = p * r - q * q
        whole = where(less(0.0, whole), whole, 1.0)
        return [div(r * b[0] - q * b[1], whole), div(p * b[1] - q * b[0], whole)]

    f = maximum(_length(w) - mu * (xx + yy), 0.0)
    for _ in range(SLIPPING):
        e = solved(f, w)
        size = _length(e)
        bend = dot(e, solved(f, e))
        f = maximum(f + div(size * size * (size - 1.0), where(less(0.0, bend), bend, 1.0)), 0.0)
    e = solved(f, w)
    size = _length(e)
    sticks = less_equal(dot(held, held), mu * mu)
    return [where(sticks, h, -mu * div(x, where(less(0.0, size), size, 1.0))) for h, x in zip(held, e, strict=True)]


def _holding_rates(touch: Touch) -> list[S]:
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


def _length(x: Sequence[S]) -> S:
    """The length of a vector; its derivative is finite where it is zero."""
    if len(x) == 1:
        return absolute(x[0])
    square = dot(x, x)
    there = less(0.0, square)
    return where(there, sqrt(where(there, square, 1.0)), 0.0)


def _choice(condition: S, one: Place, other: Place) -> Place:
    friction = [where(condition, a, b) for a, b in zip(one.friction, other.friction, strict=True)]
    return Place(where(condition, one.p, other.p), friction, where(condition, one.work, other.work))
