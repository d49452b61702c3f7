"""Several contacts at once, in Coulomb's cone: impulses that push, and friction that opposes the velocity at the end.

    u = W p + b,     p_n >= floor  complements  u_n >= 0,     |p_t| <= mu p_n,     p_t = -mu p_n u_t / |u_t| if sliding

In a plane this is a linear complementarity problem (`complementarity`), with the friction split into two directions and
the sliding speed as a further unknown (Glocker and Pfeiffer; Stewart and Trinkle). In space, the problem with four
directions of friction at each contact, one of them that of the sliding, is the start of Newton's method on the
equations of the exact cone (Alart and Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375); the best iterate
counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.linear import complementarity, least_squares
from kinemorph.algebra.scalar import S, absolute, div, less, maximum, sqrt, times, where
from kinemorph.algebra.vectors import add, dot, matvec

# angles [rad] of directions of friction for the start of Newton's method: about the first sliding, then the best result
FANS = (
    tuple(k * math.pi / 4 for k in range(8)),
    (0.0, 0.15, -0.15, math.pi / 2, math.pi, -math.pi / 2),
    (0.0, 0.03, -0.03, math.pi / 2, math.pi, -math.pi / 2),
)
SHARES = (1.0, 0.5, 0.25)  # of a step of Newton's method that are tried
NEWTON_STEPS = 6  # on the equations of the exact cone, in each round


class ConeSolution(NamedTuple):
    """Impulses p (m,), velocities u (m,), and the largest violation of the cone's equations [m/s]; NaN if unsolved."""

    p: Sequence[S]
    u: Sequence[S]
    error: S


def in_coulomb_cone(
    W: Sequence[Sequence[S]], b: Sequence[S], mu: Sequence[S], floor: Sequence[S] | None = None
) -> ConeSolution:
    """The impulses of n contacts, normal first: W (m, m), b (m,), mu (n,), m = 2 n in a plane and 3 n in space.

    `floor` (n,) are normal impulses that act in any case, as in a phase of restitution; 0 by default.
    """
    n = len(mu)
    width = len(b) // n
    least = [0.0] * n if floor is None else floor
    aims = [list(b[i * width + 1 : (i + 1) * width]) for i in range(n)]
    p: Sequence[S] = _in_pyramid(W, b, mu, least, [_directions(aim, FANS[0]) for aim in aims])
    best = _rated(W, b, mu, least, p)
    if width == 2:
        return best
    for k, fan in enumerate(FANS):
        if k:
            frames = [_directions(_aim(W, best, i, width), fan) for i in range(n)]
            p = _in_pyramid(W, b, mu, least, frames)
        now = _rated(W, b, mu, least, p)
        best = _better(now, best)
        for _ in range(NEWTON_STEPS):
            active = _active(W, now.p, now.u, mu, least)
            residual = _residual(active, now.p, now.u, least)
            step, _ = least_squares(_slope(active, W, mu), [[-x] for x in residual])
            tried = [
                _rated(W, b, mu, least, [x + share * change[0] for x, change in zip(now.p, step, strict=True)])
                for share in SHARES
            ]
            now = tried[0]
            for other in tried[1:]:
                now = _better(now, other)
            best = _better(now, best)
    p = [
        maximum(x, least[k // width]) if k % width == 0 else x for k, x in enumerate(best.p)
    ]  # without rounding errors
    return _rated(W, b, mu, least, p)


def _rated(
    W: Sequence[Sequence[S]], b: Sequence[S], mu: Sequence[S], least: Sequence[S], p: Sequence[S]
) -> ConeSolution:
    u = add(matvec(W, p), b)
    return ConeSolution(p, u, _error(_residual(_active(W, p, u, mu, least), p, u, least)))


def _better(one: ConeSolution, other: ConeSolution) -> ConeSolution:
    better = less(one.error, other.error)
    p, u = ([where(better, x, y) for x, y in zip(a, b, strict=True)] for a, b in ((one.p, other.p), (one.u, other.u)))
    return ConeSolution(p, u, where(better, one.error, other.error))


def _aim(W: Sequence[Sequence[S]], at: ConeSolution, i: int, width: int) -> list[S]:
    """The direction against which friction acts at a contact, or would if it slid: of  u_t - p_t / r."""
    places = range(i * width + 1, (i + 1) * width)
    mean = sum((W[k][k] for k in places), 0.0) / (width - 1)
    return [at.u[k] - mean * at.p[k] for k in places]


def _directions(u_t: Sequence[S], angles: Sequence[float]) -> list[list[S]]:
    """The directions of friction: both along the tangent of a plane; in space, at `angles` [rad] from  -u_t."""
    if len(u_t) == 1:
        return [[1.0], [-1.0]]
    x, y = u_t
    square = x * x + y * y
    moves = less(0.0, square)
    size = sqrt(where(moves, square, 1.0))
    x, y = where(moves, -div(x, size), 1.0), where(moves, -div(y, size), 0.0)
    turns = [(math.cos(angle), math.sin(angle)) for angle in angles]
    return [[c * x - s * y, s * x + c * y] for c, s in turns]


def _in_pyramid(
    W: Sequence[Sequence[S]],
    b: Sequence[S],
    mu: Sequence[S],
    least: Sequence[S],
    frames: Sequence[Sequence[Sequence[S]]],
) -> list[S]:
    """The impulses p (m,) with friction along given directions: a linear complementarity problem.

    Its unknowns are, for each contact, the normal impulse above its floor, the friction along each direction and the
    sliding speed; they complement the normal velocity, the velocity along each direction plus the speed, and the rest
    of the friction.
    """
    n, sides = len(mu), len(frames[0])
    width = len(b) // n
    # columns of p: the unit normals, then the directions
    columns = []
    for i in range(n):
        for local in ([1.0, *[0.0] * (width - 1)], *([0.0, *d] for d in frames[i])):
            columns.append((i, local))

    def product(a: tuple[int, list[S]], c: tuple[int, list[S]]) -> S:
        (i, left), (j, right) = a, c
        total: S = 0.0
        for r in range(width):
            row = W[i * width + r][j * width : (j + 1) * width]
            total = total + times(left[r], dot(row, right)) if not _zero(left[r]) else total
        return total

    per = sides + 2
    size = n * per
    A: list[list[S]] = [[0.0] * size for _ in range(size)]
    right: list[S] = [0.0] * size
    places = [i * per + k for i in range(n) for k in range(1 + sides)]
    start = [x + dot([row[j * width] for j in range(n)], least) for x, row in zip(b, W, strict=True)]
    for at, column in zip(places, columns, strict=True):
        for to, other in zip(places, columns, strict=True):
            A[at][to] = product(column, other)
        right[at] = dot(column[1], start[column[0] * width : (column[0] + 1) * width])
    for i in range(n):
        speed = i * per + sides + 1
        A[speed][i * per] = mu[i]
        right[speed] = times(mu[i], least[i])
        for k in range(sides):
            A[i * per + 1 + k][speed] = 1.0
            A[speed][i * per + 1 + k] = -1.0
    z, _ = complementarity(A, right)
    p: list[S] = []
    for i in range(n):
        shares = z[i * per + 1 : i * per + 1 + sides]
        p.append(least[i] + z[i * per])
        p += [dot(shares, [d[r] for d in frames[i]]) for r in range(width - 1)]
    return p


def _zero(x: S) -> bool:
    return type(x) is float and x == 0.0


def _error(residual: Sequence[S]) -> S:
    worst = absolute(residual[0])
    for x in residual[1:]:
        worst = maximum(worst, absolute(x))
    return worst


class _Active(NamedTuple):
    """The state of one contact: 1 where it pushes and where it slides, and the numbers of its equations."""

    pushes: S
    slides: S
    masses: tuple[S, S]  # that it feels along the normal and along the tangents
    t: list[S]  # the direction of sliding friction
    bound: S  # mu p_n
    ratio: S  # mu p_n / |p_t - r u_t|


def _active(
    W: Sequence[Sequence[S]], p: Sequence[S], u: Sequence[S], mu: Sequence[S], least: Sequence[S]
) -> list[_Active]:
    width = len(p) // len(mu)
    found = []
    for i in range(len(mu)):
        at, tangents = i * width, range(i * width + 1, (i + 1) * width)
        normal, mean = W[at][at], sum((W[k][k] for k in tangents), 0.0) / (width - 1)
        r_n, r_t = (div(1.0, where(less(0.0, x), x, 1.0)) for x in (normal, mean))
        aim = [p[k] - r_t * u[k] for k in tangents]
        bound = mu[i] * maximum(p[at], 0.0)
        square = dot(aim, aim)
        slides = less(bound * bound, square)
        length = sqrt(where(slides, square, 1.0))
        pushes = less(r_n * u[at], p[at] - least[i])
        t = [div(x, length) for x in aim]
        found.append(_Active(pushes, slides, (r_n, r_t), t, bound, div(bound, length)))
    return found


def _residual(active: Sequence[_Active], p: Sequence[S], u: Sequence[S], least: Sequence[S]) -> list[S]:
    """The violation (m,) [m/s] of the cone's equations.

    A contact that pushes has u_n = 0, else p_n is its floor. Friction inside the cone has u_t = 0, else it is
    mu p_n t, where t is the direction of  p_t - r u_t.  Equations of impulses are divided by the mass r that the
    contact feels, so that all are velocities.
    """
    width = len(p) // len(active)
    found = []
    for i, one in enumerate(active):
        at = i * width
        found.append(where(one.pushes, u[at], div(p[at] - least[i], one.masses[0])))
        for a, t in enumerate(one.t):
            k = at + 1 + a
            found.append(where(one.slides, div(p[k] - one.bound * t, one.masses[1]), u[k]))
    return found


def _slope(active: Sequence[_Active], W: Sequence[Sequence[S]], mu: Sequence[S]) -> list[list[S]]:
    """The derivative (m, m) of `_residual` by p."""
    m = len(W)
    width = m // len(active)
    found: list[list[S]] = []
    for i, one in enumerate(active):
        at = i * width
        r_n, r_t = one.masses
        found.append([where(one.pushes, W[at][j], div(float(j == at), r_n)) for j in range(m)])
        for a, t in enumerate(one.t):
            turned = [(float(a == c) - t * other) * one.ratio for c, other in enumerate(one.t)]
            row = []
            for j in range(m):
                own: S = float(j == at + 1 + a) - (mu[i] * t if j == at else 0.0)
                for c, factor in enumerate(turned):
                    k = at + 1 + c
                    own = own - factor * (float(j == k) - r_t * W[k][j])
                row.append(where(one.slides, div(own, r_t), W[at + 1 + a][j]))
            found.append(row)
    return found


def cone_errors(p: Sequence[S], u: Sequence[S], mu: Sequence[S], W: Sequence[Sequence[S]]) -> S:
    """The largest violation [m/s] of the laws of the cone by impulses p (m,) and velocities u (m,) after them."""
    least = [0.0] * len(mu)
    return _error(_residual(_active(W, p, u, mu, least), p, u, least))
