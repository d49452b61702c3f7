"""Impulses of contacts in Coulomb's cone by cone programs: an independent check of what time steps and impacts solve.

With the sliding speeds s (n,) of the contacts given, impulses p in Coulomb's cones K minimize a quadratic function,

    p(s) = argmin  1/2 p . W p + p . (b + mu s along the normals),      p in K,      u = W p + b,

since its conditions are those of the contacts for the velocity u + mu s along the normal (De Saxce and Feng, Math.
Comput. Model. 28 (1998) 225-245). The speeds are those at which s = |u_t|: they are found by iteration (Acary, Cadoux,
Lemarechal and Malick, ZAMM 91 (2011) 155-175). Clarabel solves the programs, by an interior-point method that shares
nothing with `mechanics.impacts`. Interior points leave errors of 1e-5 where a contact hardly pushes; a few steps of
Newton's method on the conditions of the program remove them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array

MOST, MEMORY = 200, 6  # iterations, and how many of them are combined (Anderson's acceleration)
POLISHED, STEPS = 1e-13, 12  # the relative violation at which the solution of a program is exact, and the most steps
SETTLED = 1e-12  # relative to the largest velocity: a smaller change of the sliding speeds ends the iteration


class ConeProgram(NamedTuple):
    """Impulses p (3 n,) and velocities u (3 n,), normal first, sliding speeds (n,), and their last change [m/s].

    Where contacts are redundant, the impulses are one choice of many, and the velocities are unique.
    """

    p: Array
    u: Array
    speeds: Array
    change: float


def impulses_by_cone_program(W: Array, b: Array, mu: Array, speeds: Array | None = None) -> ConeProgram:
    """The impulses of n contacts in space: W (3 n, 3 n) symmetric, b (3 n,), mu (n,), all mu above 0.

    The iteration begins at the sliding `speeds` (n,), by default 0.
    """
    n = len(mu)
    size = max(float(np.abs(b).max()), 1e-300)
    s = np.zeros(n) if speeds is None else np.array(speeds, dtype=float)
    tried: list[Array] = []
    images: list[Array] = []
    found = ConeProgram(np.zeros_like(b), b, s, np.inf)
    for _ in range(MOST):
        p = _minimizer(W, b, mu, s)
        u = W @ p + b
        image = np.linalg.norm(u.reshape(n, 3)[:, 1:], axis=1)
        change = float(np.abs(image - s).max())
        if change > 2.0 * found.change:  # the combination led astray: halfway from the best speeds to their image
            tried, images = [], []
            s = 0.5 * (found.speeds + np.linalg.norm(found.u.reshape(n, 3)[:, 1:], axis=1))
            found = found._replace(change=np.inf)
            continue
        if change <= found.change:
            found = ConeProgram(p, u, s, change)
        if change <= SETTLED * size:
            break
        tried, images = [*tried[-MEMORY:], s], [*images[-MEMORY:], image]
        s = np.maximum(_combined(tried, images), 0.0)
    return found


def _combined(tried: list[Array], images: list[Array]) -> Array:
    """The next speeds: a combination of the last images whose change would be least (Anderson)."""
    changes = [image - s for s, image in zip(tried, images, strict=True)]
    if len(changes) == 1:
        return images[0]
    steps = np.stack([one - changes[-1] for one in changes[:-1]], axis=1)
    shares = np.linalg.lstsq(steps, -changes[-1], rcond=1e-10)[0]
    found: Array = images[-1] + sum(
        share * (image - images[-1]) for share, image in zip(shares, images[:-1], strict=True)
    )
    return found


def _minimizer(W: Array, b: Array, mu: Array, s: Array) -> Array:
    """The impulses (3 n,) of a cone program with given sliding speeds s (n,)."""
    import clarabel
    from scipy import sparse

    scale = np.ones(len(b))
    scale[::3] = 1.0 / mu  # in the unknowns [mu p_n, p_t] all cones are those of Lorentz
    A, q = scale[:, None] * W * scale, np.array(b, dtype=float)
    q[::3] += mu * s
    q *= scale
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.SecondOrderConeT(3)] * len(mu)
    whole, identity = sparse.csc_matrix(np.triu(0.5 * (A + A.T))), sparse.identity(len(b), format="csc")
    found = clarabel.DefaultSolver(whole, q, -identity, np.zeros(len(b)), cones, settings).solve()
    return scale * _polished(A, q, np.array(found.x))


def _polished(A: Array, q: Array, y: Array) -> Array:
    """The minimizer y (m,) of  1/2 y . A y + q . y  in Lorentz cones, from one that is nearly exact.

    It solves y = P(y - r (A y + q)), with the projection P onto the cones, by Newton's method.
    """
    r = 1.0 / max(float(np.diag(A).max()), 1e-300)
    limit = POLISHED * max(float(np.abs(q).max()) * r, 1e-300)
    best, least = y, np.inf
    for _ in range(STEPS):
        places = (y - r * (A @ y + q)).reshape(-1, 3)
        found = [_projected(place) for place in places]
        gap = y - np.concatenate([value for value, _ in found])
        if np.abs(gap).max() < least:
            best, least = y, float(np.abs(gap).max())
        if least <= limit:
            break
        D = np.zeros_like(A)
        for k, (_, slope) in enumerate(found):
            D[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = slope
        slope = np.eye(len(y)) - D + r * D @ A
        y = y - np.linalg.lstsq(slope, gap, rcond=1e-12)[0]
    return best


def _projected(x: Array) -> tuple[Array, Array]:
    """The projection of x (3,) onto the cone |(x_1, x_2)| <= x_0, and its derivative (3, 3)."""
    long = float(np.hypot(x[1], x[2]))
    if long <= x[0]:
        return x, np.eye(3)
    if long <= -x[0]:
        return np.zeros(3), np.zeros((3, 3))
    t = x[1:] / long
    half = 0.5 * (1.0 + x[0] / long)
    along = np.outer(t, t)
    slope = np.full((3, 3), 0.5)
    slope[0, 1:] = slope[1:, 0] = 0.5 * t
    slope[1:, 1:] = 0.5 * along + half * (np.eye(2) - along)
    return 0.5 * (x[0] + long) * np.array([1.0, *t]), slope
