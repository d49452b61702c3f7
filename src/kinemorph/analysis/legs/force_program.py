"""The convex program of forces in friction cones whose effort is least.

    minimize  |b - A x|^2      subject to      C x = c,     mu_i n_i . f_i >= |t_i . f_i|  for every foot i

The unknowns x (n,) begin with the forces f_i (3,) of k feet in world axes; the others, multipliers of loops, are free.
n_i is the normal of the ground and t_i (2, 3) are two directions along it. With `sides`, a pyramid with this number of
faces, which touch the cone from outside, replaces each cone.

SciPy solves it thus: the equations are eliminated, and least squares with linear inequalities become a problem of
least distance, which is one of nonnegative least squares (C. Lawson, R. Hanson, Solving Least Squares Problems, 1974,
chapter 23: LSI, LDP, NNLS). That is exact for pyramids. For cones, faces that touch them are added where a force is
outside, until none is: every step is a problem with fewer conditions, whose least effort is a bound from below. Where
some changes of forces cost nothing, every step takes those nearest to the step before (the proximal point method).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array

FLAT = 1e-11  # singular values of equations below this, relative to the largest, count as zero
UNMET = 1e-8  # errors of equations, relative to their right-hand sides, above which they contradict each other
OUTSIDE = 1e-11  # how far a force may be outside its cone, relative to the largest force
SLACK = 1e-13  # likewise, how far outside counts as inside: without friction, rounding alone would leave no force
FACES, ROUNDS = 8, 300  # of a cone where the search begins, and the most rounds of added faces
NEAR = 1e-2  # weight of the distance to the last step, along forces without effort; their choice is not unique
NULL = 1e-9  # singular values of the scaled effort below this belong to forces without effort
SETTLED = 1e-10  # the last change of forces without effort, relative to the largest force


@dataclass(frozen=True, eq=False)
class ForceProgram:
    """The data of the program above: A (m, n), b (m,), C (e, n), c (e,), normals (k, 3), along (k, 2, 3), mu (k,)."""

    A: Array
    b: Array
    C: Array
    c: Array
    normals: Array
    along: Array
    mu: Array

    def effort(self, x: Array) -> float:
        """|b - A x|^2."""
        return float(np.sum((self.b - self.A @ x) ** 2))

    def forces(self, x: Array) -> Array:
        """The forces (k, 3) among the unknowns."""
        return x[: 3 * len(self.mu)].reshape(-1, 3)

    def faces(self, angles: Array) -> Array:
        """Rows (k, s, n), zero or more inside the faces that touch the cones at `angles` (k, s) [rad]."""
        count, n = len(self.mu), self.A.shape[1]
        sides = np.stack([np.cos(angles), np.sin(angles)], axis=-1) @ self.along
        found = np.zeros((*angles.shape, n))
        for k in range(count):
            found[k, :, 3 * k : 3 * k + 3] = self.mu[k] * self.normals[k] - sides[k]
        return found

    def pressing(self) -> Array:
        """Rows (k, n), zero or more where the feet do not pull; a cone without friction does not say this."""
        found = np.zeros((len(self.mu), self.A.shape[1]))
        for k, normal in enumerate(self.normals):
            found[k, 3 * k : 3 * k + 3] = normal
        return found

    def around(self, sides: int) -> Array:
        """The rows (r, n) of all faces of pyramids with this number of sides, and those of `pressing`."""
        angles = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
        faces = self.faces(np.tile(angles, (len(self.mu), 1)))
        return np.concatenate([faces.reshape(-1, faces.shape[2]), self.pressing()])

    def outside(self, x: Array) -> Array:
        """How far the force of every foot is outside its cone [N], (k,); negative inside."""
        forces = self.forces(x)
        up = np.einsum("ka,ka->k", self.normals, forces)
        found: Array = np.linalg.norm(np.einsum("kja,ka->kj", self.along, forces), axis=1) - self.mu * up
        return found


class Distribution(NamedTuple):
    """Unknowns x (n,) of least effort; `bound`, below which no effort is; and why there is none, or ""."""

    x: Array
    bound: float
    why: str


def solved_by_scipy(program: ForceProgram, sides: int | None) -> Distribution:
    """The unknowns of least effort by SciPy's nonnegative least squares; `sides` of pyramids, or None for cones."""
    x0, N, why = balanced(program)
    if why:
        return Distribution(x0, np.inf, why)
    rows = program.around(FACES if sides is None else sides)
    E, d, size, _ = scaled(program, x0, N)
    _, sizes, right = np.linalg.svd(E)
    free = right[int((sizes > NULL).sum()) :]  # changes of y that cost nothing
    E = E - (E @ free.T) @ free
    x, y, first = x0, np.zeros(N.shape[1]), len(rows)
    for _ in range(ROUNDS):
        found = _least_squares(
            np.vstack([E, NEAR * free]), np.concatenate([d, NEAR * (free @ y)]), rows @ N, rows @ x0 / size
        )
        if found is None:
            return Distribution(x0, np.inf, NO_FORCES)
        new, holds = found
        moved, y = float(np.abs(free @ (new - y)).max(initial=0.0)), new
        x = x0 + size * (N @ y)
        beyond = np.flatnonzero(program.outside(x) > OUTSIDE * size) if sides is None else np.zeros(0, dtype=int)
        if not len(beyond) and moved <= SETTLED:
            break
        tangential = np.einsum("kja,ka->kj", program.along, program.forces(x))
        angles = np.arctan2(tangential[:, 1], tangential[:, 0])[:, None]
        kept = holds | (np.arange(len(rows)) < first)  # added faces that do not hold a force are dropped
        rows = np.concatenate([rows[kept], program.faces(angles)[beyond, 0]])
    return Distribution(x, program.effort(x), "")


NO_FORCES = "forces that balance the robot would have to pull, or to leave the friction cones"


def balanced(program: ForceProgram) -> tuple[Array, Array, str]:
    """(x0 (n,) that satisfies the equations, N (n, r) whose columns do not change them, why there is none or "")."""
    left, sizes, right = np.linalg.svd(program.C)
    rank = int((sizes > FLAT * sizes.max(initial=1e-300)).sum())
    x0 = right[:rank].T @ ((left[:, :rank].T @ program.c) / sizes[:rank])
    error = float(np.abs(program.C @ x0 - program.c).max(initial=0.0))
    if error > UNMET * max(float(np.abs(program.c).max(initial=0.0)), 1e-300):
        return x0, right[rank:].T, "no forces of these feet balance the robot"
    return x0, right[rank:].T, ""


def scaled(program: ForceProgram, x0: Array, N: Array) -> tuple[Array, Array, float, float]:
    """(E, d, size, unit): the effort is (size unit)^2 |E y - d|^2 with x = x0 + size N y."""
    size = max(float(np.abs(x0).max(initial=0.0)), 1e-300)
    unit = max(float(np.abs(program.A).max(initial=0.0)), 1e-300)
    return program.A @ N / unit, (program.b - program.A @ x0) / (unit * size), size, unit


def _least_squares(E: Array, d: Array, rows: Array, above: Array) -> tuple[Array, npt.NDArray[np.bool_]] | None:
    """(y (r,) at which |E y - d| is least while rows y + above >= 0, which rows hold it there); None without such y.

    E has as many independent columns as there are unknowns. The problem of least distance is that of the least z with
    G z >= h, where y = first + R^-1 z.
    """
    from scipy.optimize import nnls

    if not E.shape[1]:
        return (np.zeros(0), np.zeros(len(rows), dtype=bool)) if (above >= -SLACK).all() else None
    Q, R = np.linalg.qr(E)
    first = np.linalg.solve(R, Q.T @ d)  # without conditions
    G = np.linalg.solve(R.T, rows.T).T
    h = -(above + rows @ first) - SLACK
    stacked = np.vstack([G.T, h])
    last = np.zeros(len(stacked))
    last[-1] = 1.0
    shares, far = nnls(stacked, last, maxiter=100 * stacked.shape[1])
    if far < EMPTY:
        return None
    left = stacked @ shares - last
    return first + np.linalg.solve(R, -left[:-1] / left[-1]), shares > 0.0


EMPTY = 1e-9  # the residual of nonnegative least squares below which no point satisfies all conditions
