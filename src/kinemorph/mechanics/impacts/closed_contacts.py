"""Contacts that stay closed while bodies move: their forces, and which of them stick, slide or open.

The accelerations of n contacts follow from their forces p, normal first, as velocities follow from impulses:

    c = W p + b,      b = J a - gamma  for the accelerations a without these forces

While a contact is closed, c_n = 0. While it sticks, c_t = 0. While it slides along the unit vector d, its friction is
p_t = -mu p_n d, so that W with the columns of sliding contacts combined is not symmetric. Where forces are not
determined, as those of the four feet of a table, they have the least norm; friction is shared in proportion to mu
times the normal forces.

The modes are decided by complementarity (`coulomb_cone`): c_n >= 0 complements p_n >= 0, and friction is in its cone.
A sliding contact whose normal acceleration falls as its normal force grows has no solution if it is pressed to the
ground (Painleve, 1895).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinemorph.algebra.linear import least_squares
from kinemorph.algebra.scalar import (
    S,
    absolute,
    div,
    is_zero,
    less,
    less_equal,
    maximum,
    minus,
    plus,
    sqrt,
    times,
    where,
)
from kinemorph.algebra.vectors import dot
from kinemorph.mechanics.impacts.coulomb_cone import in_coulomb_cone

SLIDING = 1e-6  # [m/s]; a contact that moves more slowly along its tangents does not slide
EXACT = 1e-9  # relative to the accelerations of the contacts, or to their forces: what is smaller counts as zero
SOLVED = 1e-6  # relative to these accelerations: a larger violation of the cone's equations is no solution
LEAST = 1e-6  # of the mean friction that is possible: the least share that a contact has in redundant friction


class Modes(NamedTuple):
    """The modes of n contacts: 1 or 0 for each, and the directions (n, t) in which they slide."""

    closed: Sequence[S]
    sticks: Sequence[S]
    directions: Sequence[Sequence[S]]


class Decided(NamedTuple):
    """New modes of n contacts. `idle` is 1 for contacts that touch without a force, see `decided_modes`."""

    modes: Modes
    idle: list[S]


def closed_forces(W: Sequence[Sequence[S]], b: Sequence[S], mu: Sequence[S], modes: Modes) -> list[S]:
    """The forces (m,) [N] of contacts in given modes, contact by contact, normal first; 0 for open contacts."""
    n = len(mu)
    width = len(b) // n
    combined = with_sliding(W, mu, modes)
    active = [modes.closed[k // width] if k % width == 0 else modes.sticks[k // width] for k in range(len(b))]
    real = [k for k in range(len(b)) if not is_zero(W[k][k])]
    A = [[times(times(active[i], active[j]), combined[i][j]) for j in real] for i in real]
    right = [[-times(active[i], b[i])] for i in real]
    found = [row[0] for row in least_squares(A, right)[0]]
    if n > 1 and width > 1:
        shares = _shares(found, real, mu, width)
        scaled = [[times(x, shares[j]) for x, j in zip(row, real, strict=True)] for row in A]
        again = least_squares(scaled, right)[0]
        found = [times(row[0], shares[k]) for row, k in zip(again, real, strict=True)]
    known = dict(zip(real, found, strict=True))
    forces: list[S] = []
    for i in range(n):
        normal = times(modes.closed[i], known.get(i * width, 0.0))
        forces.append(normal)
        slides = times(modes.closed[i], 1.0 - modes.sticks[i])
        for k, d in enumerate(modes.directions[i]):
            sliding = -times(times(mu[i], normal), d)
            forces.append(where(slides, sliding, times(modes.sticks[i], known.get(i * width + 1 + k, 0.0))))
    return forces


def with_sliding(W: Sequence[Sequence[S]], mu: Sequence[S], modes: Modes) -> list[list[S]]:
    """W (m, m) with the columns of sliding contacts combined: the accelerations that their normal forces cause."""
    width = len(W) // len(mu)
    found = [list(row) for row in W]
    for i, direction in enumerate(modes.directions):
        slides = times(mu[i], times(modes.closed[i], 1.0 - modes.sticks[i]))
        for row in found:
            pull = dot(row[i * width + 1 : (i + 1) * width], direction)
            row[i * width] = minus(row[i * width], times(slides, pull))
    return found


def grips(W: Sequence[Sequence[S]], mu: Sequence[S], modes: Modes) -> list[S]:
    """For each contact, the normal acceleration that its normal force causes, relative to that without friction.

    Where it falls to 0, friction jams the contact.
    """
    width = len(W) // len(mu)
    combined = with_sliding(W, mu, modes)
    return [div(combined[k][k], where(less(0.0, W[k][k]), W[k][k], 1.0)) for k in range(0, len(W), width)]


def decided_modes(
    W: Sequence[Sequence[S]],
    b: Sequence[S],
    slip: Sequence[Sequence[S]],
    mu: Sequence[S],
    near: Sequence[S],
    yields: Sequence[tuple[S, Sequence[S]]] | None = None,
) -> Decided:
    """The modes of n contacts from now on, by complementarity of forces and accelerations.

    `near` (n,) is 1 for contacts that touch and neither approach nor separate, `slip` (n, t) are their velocities along
    the tangents [m/s]. Contacts that others make redundant and that would have to pull are `idle`, and so are contacts
    for which there are no forces. A contact that sticks and whose friction has just reached its cone begins to slide,
    though its acceleration is still 0: `yields` has 1 or 0 for each contact, and the direction (t,).
    """
    n = len(mu)
    width = len(b) // n
    speeds = [sqrt(maximum(dot(one, one), 1e-300)) for one in slip]
    slides = [less(SLIDING, speed) for speed in speeds]
    sliding = [[div(x, speed) for x in one] for one, speed in zip(slip, speeds, strict=True)]
    if yields is not None:
        slides = [maximum(one, given) for one, (given, _) in zip(slides, yields, strict=True)]
        sliding = [
            [where(given, y, x) for x, y in zip(one, direction, strict=True)]
            for one, (given, direction) in zip(sliding, yields, strict=True)
        ]
    moving = Modes(slides, [0.0] * n, sliding)
    combined = with_sliding(W, mu, moving)
    jams = [
        times(times(near[i], slides[i]), times(less_equal(combined[k][k], 0.0), less(b[k], 0.0)))
        for i, k in enumerate(range(0, len(b), width))
    ]
    there = [times(one, 1.0 - jam) for one, jam in zip(near, jams, strict=True)]
    # a contact that slides has no friction to be found: its tangents become equations of their own
    counts = [
        there[k // width] if k % width == 0 else times(there[k // width], 1.0 - slides[k // width])
        for k in range(len(b))
    ]
    A = [
        [where(times(counts[i], counts[j]), x, float(i == j)) for j, x in enumerate(row)]
        for i, row in enumerate(combined)
    ]
    right = [where(counts[k], x, float(k % width == 0)) for k, x in enumerate(b)]
    found = in_coulomb_cone(A, right, mu)
    size: S = 1.0
    for k, x in enumerate(b):
        size = maximum(size, times(there[k // width], absolute(x)))
    solved = less_equal(found.error, SOLVED * size)
    closed, sticks, directions = [], [], []
    for i in range(n):
        c_n, *c_t = found.u[i * width : (i + 1) * width]
        closed.append(times(times(there[i], solved), less_equal(c_n, EXACT * size)))
        speed = sqrt(maximum(dot(c_t, c_t), 1e-300))
        grips_now = times(less_equal(speed, EXACT * size), times(1.0 - slides[i], less(0.0, mu[i])))
        sticks.append(times(closed[i], grips_now))
        directions.append([where(slides[i], x, div(y, speed)) for x, y in zip(sliding[i], c_t, strict=True)])
    modes = Modes(closed, sticks, directions)
    idle = [times(one, maximum(jam, 1.0 - solved)) for one, jam in zip(near, jams, strict=True)]
    if n > 1:
        modes, spare = _without_pulling(W, b, mu, modes, found.p)
        idle = [maximum(one, other) for one, other in zip(idle, spare, strict=True)]
    return Decided(modes, idle)


def _without_pulling(
    W: Sequence[Sequence[S]], b: Sequence[S], mu: Sequence[S], modes: Modes, p: Sequence[S]
) -> tuple[Modes, list[S]]:
    """(modes, idle): if shared forces would pull somewhere, contacts that need no force, by the forces p, are idle."""
    width = len(b) // len(mu)
    shared = closed_forces(W, b, mu, modes)
    normals = range(0, len(b), width)
    largest: S = 1e-300
    for i, k in enumerate(normals):
        largest = maximum(largest, times(modes.closed[i], p[k]))
    pulls: S = 0.0
    for k in normals:
        pulls = maximum(pulls, less(shared[k], -EXACT * largest))
    idle = [times(times(modes.closed[i], pulls), less_equal(p[k], EXACT * largest)) for i, k in enumerate(normals)]
    kept = [1.0 - one for one in idle]
    return Modes(
        [times(one, keep) for one, keep in zip(modes.closed, kept, strict=True)],
        [times(one, keep) for one, keep in zip(modes.sticks, kept, strict=True)],
        modes.directions,
    ), idle


def _shares(found: Sequence[S], real: Sequence[int], mu: Sequence[S], width: int) -> list[S]:
    """The factors (m,) of columns with which friction of least norm is shared in proportion to mu times the loads.

    A column with the factor c has the share c^2 in a load that several of them carry.
    """
    normals, n = dict(zip(real, found, strict=True)), len(mu)
    loads = [times(mu[i], maximum(normals.get(i * width, 0.0), 0.0)) for i in range(n)]
    mean: S = 1e-300
    for load in loads:
        mean = plus(mean, load / n)
    factors = [sqrt(maximum(div(load, mean), LEAST)) for load in loads]
    return [1.0 if k % width == 0 else factors[k // width] for k in range(n * width)]
