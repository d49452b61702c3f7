"""The impact of one contact, followed through the impact as its normal impulse p grows (Darboux and Keller).

    u_n = u_n0 + W_nn p + W_nt . s,      u_t = u_t0 + W_tn p + W_tt s,      s the friction impulse

While the contact slides, friction opposes the sliding velocity, ds/dp = -mu u_t / |u_t|. Where sliding stops, the
contact sticks if mu allows it, else it slides on in the one direction in which friction opposes it. In a plane there
are two pieces with constant rates, and everything has a closed form. In space the direction of sliding turns: a fixed
number of Taylor steps (`sliding_steps`) follows it until next to nothing is left of the sliding velocity or of the
turn. A straight piece in the direction that sliding approaches ends the path to a stop, and another one comes after it.
Where sliding turns so slowly that the steps end too early, its direction is approximate there: momentum holds exactly.

Keller, J. Appl. Mech. 53 (1986) 1-4; Stronge, Proc. R. Soc. A 431 (1990) 169-181; Bhatt and Koechling, J. Appl. Mech.
62 (1995) 893-898.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinemorph.algebra.scalar import S, absolute, div, less, less_equal, maximum, minimum, sqrt, where
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.impacts.sliding_steps import Step, chosen_step, last_direction, taylor_step
from kinemorph.mechanics.impacts.touch import (
    FLAT,
    Place,
    Quantity,
    Touch,
    chosen,
    direction_of,
    holding_rates,
    length,
)

STEPS = 22  # Taylor steps along a path that turns
LOCATING = 12  # steps of Newton's method that find a place within a step
ROUNDING = 1e-14  # changes of theta, from 0 to 1 within a step, that are no larger are rounding errors
STOPPED = 1e-14  # of the velocities before the impact: sliding that is no faster has stopped
SLIPPING = 6  # steps of Newton's method that find the direction of sliding after a stop


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
    """What ends a phase: a `quantity` of the path, which rises to `target`. `further(place, u_n, a)` is the normal
    impulse that is missing at a place from where du_n/dp = a is constant. A goal that is not reached `always` ends
    where friction jams the contact, a = 0.
    """

    target: S
    quantity: Quantity
    further: Callable[[Place, S, S], S]
    always: bool = False

    def value(self, at: Place, u_n: S) -> S:
        """The quantity at a place where the normal velocity is u_n."""
        return {"p": at.p, "work": at.work, "u_n": u_n}[self.quantity]


def until_velocity(target: S) -> Goal:
    """The normal velocity rises to `target` [m/s]."""
    return Goal(target, "u_n", lambda at, u_n, a: div(target - u_n, a))


def until_impulse(target: S) -> Goal:
    """The normal impulse grows to `target` [N s]."""
    return Goal(target, "p", lambda at, u_n, a: target - at.p, True)


def until_work(target: S) -> Goal:
    """The work of the normal impulse rises to `target` [J] in restitution, also where friction presses once more."""

    def further(at: Place, u_n: S, a: S) -> S:
        rest = maximum(target - at.work, 0.0)
        whole = absolute(u_n) + sqrt(u_n * u_n + 2.0 * a * rest)
        opening = div(2.0 * rest, where(less(0.0, whole), whole, 1.0))
        return where(less(u_n, 0.0), div(whole, a), opening)

    return Goal(target, "work", further)


def path_of(touch: Touch, restitution: S) -> Path:
    """The path of a contact. The restitution only says how far the smooth steps of a path in space have to reach."""
    slid, u, steps = Place(0.0, [0.0] * (len(touch.u) - 1), 0.0), list(touch.u), []
    direction = direction_of(u[1:])
    if len(u) == 3:
        whole = touch.sticking(restitution)
        for _ in range(STEPS):
            steps.append(taylor_step(touch, slid, u, whole))
            slid, u = steps[-1].at(1.0), steps[-1].velocity(1.0)
        direction = last_direction(touch, u)
    speed = length(u[1:])
    moves = less(STOPPED * touch.fastest(), speed)
    slides = [-touch.mu * x for x in direction]
    slower = -dot(direction, [row[0] + dot(row[1:], slides) for row in touch.W[1:]])  # -d|u_t|/dp
    stops = where(moves, less(0.0, slower), 1.0)
    along = where(moves * stops, div(speed, where(less(0.0, slower), slower, 1.0)), 0.0)
    return Path(touch, steps, slid, slides, stops, touch.moved(slid, slides, along), _rates_after_stop(touch))


def reach(path: Path, goal: Goal, after: Place) -> Place:
    """The first place on the path, beyond the place `after`, where a goal is reached."""
    touch = path.touch

    def is_reached(at: Place) -> S:
        return less_equal(after.p, at.p) * less_equal(goal.target, goal.value(at, touch.velocity(at)[0]))

    def straight(piece: Place, rates: Sequence[S]) -> Place:
        start = chosen(less(piece.p, after.p), after, piece)
        u_n, a = touch.velocity(start)[0], touch.stiffness(rates)
        rises = less(FLAT * touch.W[0][0], a)
        further = goal.further(start, u_n, where(rises, a, 1.0))
        return touch.moved(start, rates, further if goal.always else where(rises, further, 0.0))

    in_slide = where(path.stops, is_reached(path.corner), 1.0)
    found = chosen(in_slide, straight(path.slid, path.slides), straight(path.corner, path.rests))
    if not path.steps:
        return found
    step, smooth = path.steps[-1], is_reached(path.steps[-1].at(1.0))
    for earlier in reversed(path.steps[:-1]):
        here = is_reached(earlier.at(1.0))
        step, smooth = chosen_step(here, earlier, step), maximum(smooth, here)
    return chosen(smooth, step.at(_located(step, goal, after)), found)


def _located(step: Step, goal: Goal, after: Place) -> S:
    """The theta from 0 to 1 in a step at which a goal is reached, by Newton's method between bounds.

    The lower bound is the place `after` where it is inside the step, so that work is searched where it rises.
    """
    impulse, quantity = step.followed("p"), step.followed(goal.quantity)
    low = 0.0 * step.p[1]
    for _ in range(LOCATING):  # theta of the place `after`
        low = _improved(low, after.p, *impulse(low))
    theta, bottom, top = 0.5 * (low + 1.0), low, 1.0
    for _ in range(LOCATING):
        value, slope = quantity(theta)
        short = goal.target - value
        bottom, top = where(less(0.0, short), theta, bottom), where(less(0.0, short), top, theta)
        ahead = theta + _newton_step(short, slope)
        inside = less(bottom, ahead) * less(ahead, top)
        settled = less_equal(absolute(ahead - theta), ROUNDING)  # it is at a bound already: no bisection away from it
        theta = where(maximum(inside, settled), ahead, 0.5 * (bottom + top))
    return _improved(theta, goal.target, *quantity(theta))


def _improved(theta: S, target: S, value: S, slope: S) -> S:
    """theta after a step of Newton's method, from 0 to 1."""
    return minimum(maximum(theta + _newton_step(target - value, slope), 0.0), 1.0)


def _newton_step(short: S, slope: S) -> S:
    """The change of theta by a step of Newton's method; 0 where the slope is 0."""
    sloped = less(1e-300, absolute(slope))
    return where(sloped, div(short, where(sloped, slope, 1.0)), 0.0)


def _rates_after_stop(touch: Touch) -> list[S]:
    """The friction rates (t,) from the stop on: those that hold the contact, or sliding friction where mu is too small.

    Sliding then starts in a constant direction e with  W_tn - mu W_tt e = f e,  f > 0: |(mu W_tt + f)^-1 W_tn| = 1.
    """
    mu, w, held = touch.mu, [row[0] for row in touch.W[1:]], holding_rates(touch)
    if len(w) == 1:
        return [minimum(maximum(held[0], -mu), mu)]
    (_, xx, xy), (_, _, yy) = touch.W[1:]

    def solved(f: S, b: Sequence[S]) -> list[S]:
        p, q, r = mu * xx + f, mu * xy, mu * yy + f
        whole = p * r - q * q
        whole = where(less(0.0, whole), whole, 1.0)
        return [div(r * b[0] - q * b[1], whole), div(p * b[1] - q * b[0], whole)]

    f = maximum(length(w) - mu * (xx + yy), 0.0)
    for _ in range(SLIPPING):
        e = solved(f, w)
        size = length(e)
        bend = dot(e, solved(f, e))
        f = maximum(f + div(size * size * (size - 1.0), where(less(0.0, bend), bend, 1.0)), 0.0)
    e = solved(f, w)
    size = length(e)
    sticks = less_equal(dot(held, held), mu * mu)
    return [where(sticks, h, -mu * div(x, where(less(0.0, size), size, 1.0))) for h, x in zip(held, e, strict=True)]
