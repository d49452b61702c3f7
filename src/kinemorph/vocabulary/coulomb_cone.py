"""The block of several contacts in Coulomb's cone: impulses that push, and friction that opposes the sliding.

    u = W p + b,     p_n >= floor  complements  u_n >= 0,     |p_t| <= mu p_n,     p_t = -mu p_n u_t / |u_t| if sliding

for n contacts in space, with p and u as [normal, two tangents] of each. The cone is first replaced by a pyramid with
eight directions of friction, for which this is a linear complementarity problem (Stewart and Trinkle, Int. J. Numer.
Methods Eng. 39 (1996) 2673-2691). From its solution, Newton's method solves the equations of the cone itself (Alart and
Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375). Where it fails, it starts again from a pyramid whose
directions lie close to the friction found so far, so that the start is closer. Where this fails too, as it may with
many redundant contacts, the contacts are solved one after the other in sweeps (the nonsmooth Gauss-Seidel method of
Jourdan, Alart and Jean, Comput. Methods Appl. Mech. Eng. 155 (1998) 31-47), and Newton's method starts from there.

The functions of one contact or of two take the functions of their numbers as `f`: arrays here, expressions in
`codegen.loops.coulomb_cone`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinemorph.frozen import dataclass
from kinemorph.vocabulary.blocks import Array, Block, LeastSquares, stacked
from kinemorph.vocabulary.complementarity import Complementarity

S = Any

FANS = (  # angles [rad] of the directions of friction: about the first sliding, then about the best friction so far
    tuple(k * math.pi / 4 for k in range(8)),
    (0.0, 0.15, -0.15, 0.6, -0.6, math.pi / 2, -math.pi / 2, math.pi),
    (0.0, 0.03, -0.03, 0.2, -0.2, math.pi / 2, -math.pi / 2, math.pi),
)
SWEEPS, SWEEP_ROUNDS = 100, 5  # sweeps over all contacts before each further start, and the number of these starts
STARTS = len(FANS) + SWEEP_ROUNDS
SIDES = 8
PER = SIDES + 2  # unknowns of a contact in the pyramid: normal impulse, friction along each direction, sliding speed
NEWTON_STEPS = 8  # after each pyramid
SHARES = (1.0, 0.5, 0.25)  # of a step of Newton's method that are tried; the best one is taken
TOLERANCE = 1e-13  # of the size of the velocities: a smaller violation of the equations is rounding
UNSWEPT = 1e-11  # of the size of the velocities: a smaller violation needs no sweeps
UNSOLVED = 1e-6  # of the size of the velocities: a larger violation of the equations is no solution
STATE = 8  # numbers of `contact_state`


@dataclass(frozen=True, eq=False)
class CoulombCone(Block):
    """The impulses p, shape (3 n,), of n contacts, and the largest violation of the equations above [m/s].

    Takes W (3 n, 3 n) row by row, b (3 n,), mu (n,) and floor (n,). W is symmetric and positive semidefinite. Where no
    solution is found, p and the violation are NaN; this does not prove that there is none.
    """

    n: int

    @property
    def n_in(self) -> int:
        return 9 * self.n * self.n + 5 * self.n

    @property
    def n_out(self) -> int:
        return 3 * self.n + 1

    @cached_property
    def key(self) -> str:
        return f"coulomb cone, {self.n} contacts"

    @property
    def cost(self) -> int:
        return Complementarity(PER * self.n).cost + 4 * LeastSquares(3 * self.n, 3 * self.n).cost

    def meaning(self, *args: Any) -> tuple[Any, ...]:
        entries = stacked(args)
        m = 3 * self.n
        best, least = np.full((len(entries), m), np.nan), np.full(len(entries), np.inf)
        swept = np.zeros_like(best)
        with np.errstate(all="ignore"):
            size = self._size(entries)
            for start in range(STARTS):
                left = np.flatnonzero(~(least <= (TOLERANCE if start < len(FANS) else UNSWEPT) * size))
                if not len(left):
                    break
                problem = _Problem(self.n, entries[left])
                if start < len(FANS):
                    p = problem.in_pyramid(best[left], least[left], FANS[start])
                else:
                    begun = np.where(np.isfinite(least), best.T, 0.0).T if start == len(FANS) else swept
                    p = swept[left] = problem.swept(begun[left])
                best[left], least[left] = problem.by_newton(p, best[left], least[left])
            least = np.where((least <= UNSOLVED * size) & np.isfinite(entries).all(axis=1), least, np.nan)
            best[np.isnan(least)] = np.nan
            best[:, ::3] = np.maximum(best[:, ::3], entries[:, m * m + m + self.n :])  # without rounding errors
        return (*best.T, least)

    def _size(self, entries: Array) -> Array:
        """The size (s,) of the velocities of a problem: the largest of b, and of what the floors alone cause."""
        n, m = self.n, 3 * self.n
        W, b, floor = entries[:, : m * m], entries[:, m * m : m * m + m], entries[:, m * m + m + n :]
        caused = W.reshape(len(entries), m, n, 3)[..., 0] * floor[:, None]
        size: Array = np.maximum(np.abs(b).max(axis=1), np.abs(caused).max(axis=(1, 2)))
        return size


class _Problem:
    """The equations of n contacts for several states s, from `entries` (s, n_in)."""

    def __init__(self, n: int, entries: Array) -> None:
        m, states = 3 * n, len(entries)
        self.n, self.m, self.states = n, m, states
        self.W, self.b = entries[:, : m * m].reshape(states, m, m), entries[:, m * m : m * m + m]
        self.mu, self.floor = entries[:, m * m + m : m * m + m + n], entries[:, m * m + m + n :]
        self.blocks = self.W.reshape(states, n, 3, n, 3).transpose(1, 3, 2, 4, 0)  # (n, n, 3, 3, s)

    def velocities(self, p: Array) -> Array:
        """u = W p + b, shape (s, m)."""
        u: Array = np.einsum("sij,sj->si", self.W, p) + self.b
        return u

    def rated(self, p: Array) -> tuple[Array, list[list[S]], Array]:
        """(the violation (s, m) of all equations, the states of the contacts, the largest violation (s,))."""
        u = self.velocities(p)
        places = [slice(3 * i, 3 * i + 3) for i in range(self.n)]
        state = [
            contact_state(ARRAYS, self.blocks[i, i], p.T[at], u.T[at], self.mu[:, i], self.floor[:, i])
            for i, at in enumerate(places)
        ]
        parts = [contact_residual(ARRAYS, state[i], p.T[at], u.T[at], self.floor[:, i]) for i, at in enumerate(places)]
        residual: Array = np.concatenate(parts).T
        return residual, state, np.abs(residual).max(axis=1)

    def in_pyramid(self, best: Array, least: Array, fan: Sequence[float]) -> Array:
        """Impulses (s, m) with friction along a fan of directions, about the best friction so far."""
        started, u_best = np.isfinite(least), self.velocities(best)
        turns = [part for angle in fan for part in (math.cos(angle), math.sin(angle))]
        directions = []
        for i in range(self.n):
            aims = _aim(self.blocks[i, i], best, u_best, i)
            first = self.b.T[3 * i + 1 : 3 * i + 3]
            aim = [np.where(started, x, y) for x, y in zip(aims, first, strict=True)]
            directions.append(fan_directions(ARRAYS, aim, turns))
        sides: Array = np.array(directions).transpose(2, 0, 1).reshape(self.states, self.n, SIDES, 2)
        return _in_pyramid(self.n, self.W, self.b, self.mu, self.floor, sides)

    def swept(self, p: Array) -> Array:
        """Impulses (s, m) after sweeps from p (s, m)."""
        p = p.copy()
        for _ in range(SWEEPS):
            for i in range(self.n):
                at = slice(3 * i, 3 * i + 3)
                u = np.einsum("sij,sj->si", self.W[:, at], p) + self.b[:, at]
                new = contact_sweep(ARRAYS, self.blocks[i, i], p.T[at], u.T, self.mu[:, i], self.floor[:, i])
                p[:, at] = np.stack(new, axis=-1)
        return p

    def by_newton(self, p: Array, best: Array, least: Array) -> tuple[Array, Array]:
        """The best impulses (s, m) and their violation (s,) after steps of Newton's method from p (s, m)."""
        m = self.m
        residual, state, error = self.rated(p)
        better = error < least
        best, least = np.where(better[:, None], p, best), np.where(better, error, least)
        for _ in range(NEWTON_STEPS):
            slope = np.zeros((self.states, m, m))
            for i in range(self.n):
                for j in range(self.n):
                    block = contact_slope(state[i], self.blocks[i, j], self.mu[:, i], float(i == j))
                    slope[:, 3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = np.moveaxis(np.array(block), -1, 0)
            *step, _ = LeastSquares(m, m).meaning(*slope.reshape(self.states, -1).T, *-residual.T)
            change = np.stack(step, axis=-1)
            tried = [(p + share * change, *self.rated(p + share * change)) for share in SHARES]
            p, residual, state, error = tried[0]
            for one in tried[1:]:
                better = one[-1] < error
                p, residual = np.where(better[:, None], one[0], p), np.where(better[:, None], one[1], residual)
                error = np.where(better, one[-1], error)
                state = [
                    [np.where(better, x, y) for x, y in zip(a, b, strict=True)]
                    for a, b in zip(one[2], state, strict=True)
                ]
            better = error < least
            best, least = np.where(better[:, None], p, best), np.where(better, error, least)
        return best, least


def _aim(W_ii: S, p: Array, u: Array, i: int) -> list[Array]:
    mean = 0.5 * (W_ii[1][1] + W_ii[2][2])
    return [u[:, k] - mean * p[:, k] for k in (3 * i + 1, 3 * i + 2)]


def _in_pyramid(n: int, W: Array, b: Array, mu: Array, floor: Array, directions: Array) -> Array:
    """The impulses (s, 3 n) with friction along directions (s, n, 8, 2), by a linear complementarity problem."""
    states, m = b.shape
    columns = np.zeros((states, n, 3, SIDES + 1))  # the unit normal, then the directions
    columns[:, :, 0, 0] = 1.0
    columns[:, :, 1:, 1:] = np.swapaxes(directions, 2, 3)
    start = b + np.einsum("sij,sj->si", W[:, :, ::3], floor)
    A, right = np.zeros((states, n, PER, n, PER)), np.zeros((states, n, PER))
    blocks = W.reshape(states, n, 3, n, 3)
    A[:, :, : SIDES + 1, :, : SIDES + 1] = np.einsum("sira,sirjq,sjqb->siajb", columns, blocks, columns)
    right[:, :, : SIDES + 1] = np.einsum("sira,sir->sia", columns, start.reshape(states, n, 3))
    right[:, :, -1] = mu * floor
    for i in range(n):
        A[:, i, 1:-1, i, -1] = 1.0
        A[:, i, -1, i, 1:-1] = -1.0
        A[:, i, -1, i, 0] = mu[:, i]
    *z, _ = Complementarity(n * PER).meaning(*A.reshape(states, -1).T, *right.reshape(states, -1).T)
    shares = np.stack(z, axis=-1).reshape(states, n, PER)[:, :, :-1]
    p: Array = np.einsum("sira,sia->sir", columns, shares)
    p[:, :, 0] += floor
    return p.reshape(states, m)


# ── the equations of one contact, over any type of number ─────────────────────────────────────────────────────────────


ARRAYS = SimpleNamespace(
    where=lambda c, a, b: np.where(np.asarray(c) != 0.0, a, b), less=lambda a, b: np.less(a, b) * 1.0, sqrt=np.sqrt
)


def fan_directions(f: Any, aim: Sequence[S], turns: Sequence[S]) -> list[S]:
    """Eight directions of friction (16,), turned by angles with given (cos, sin) (16,) from the opposite of `aim`."""
    square = aim[0] * aim[0] + aim[1] * aim[1]
    moves = f.less(0.0, square)
    size = f.sqrt(f.where(moves, square, 1.0))
    x, y = f.where(moves, -(aim[0] / size), 1.0), f.where(moves, -(aim[1] / size), 0.0)
    found = []
    for k in range(SIDES):
        c, s = turns[2 * k], turns[2 * k + 1]
        found += [c * x - s * y, s * x + c * y]
    return found


def contact_state(f: Any, W: Any, p: Any, u: Any, mu: S, floor: S) -> list[S]:
    """[pushes, slides, r_n, r_t, t (2), mu p_n, mu p_n / |p_t - r_t u_t|] of a contact with its own W (3, 3).

    r are the masses that it feels along the normal and the tangents, t is the direction of  p_t - r_t u_t,  which is
    that of friction. A contact slides where the length of this vector exceeds mu p_n.
    """
    normal, mean = W[0][0], 0.5 * (W[1][1] + W[2][2])
    r_n, r_t = (1.0 / f.where(f.less(0.0, x), x, 1.0) for x in (normal, mean))
    x, y = p[1] - r_t * u[1], p[2] - r_t * u[2]
    bound = f.where(f.less(0.0, p[0]), mu * p[0], 0.0)
    square = x * x + y * y
    slides = f.less(bound * bound, square)
    length = f.sqrt(f.where(slides, square, 1.0))
    return [f.less(r_n * u[0], p[0] - floor), slides, r_n, r_t, x / length, y / length, bound, bound / length]


def contact_residual(f: Any, state: Sequence[S], p: Any, u: Any, floor: S) -> list[S]:
    """The violation (3,) [m/s] of the equations of a contact; impulses are divided by the mass that it feels."""
    pushes, slides, r_n, r_t, x, y, bound, _ = state
    return [
        f.where(pushes, u[0], (p[0] - floor) / r_n),
        f.where(slides, (p[1] - bound * x) / r_t, u[1]),
        f.where(slides, (p[2] - bound * y) / r_t, u[2]),
    ]


def contact_sweep(f: Any, W: Any, p: Any, u: Any, mu: S, floor: S) -> list[S]:
    """The impulse (3,) of a contact in its cone that comes closest to its equations, with the others as they are.

    First the normal impulse is corrected, then the friction, at the velocity that is left.
    """
    spread = 0.5 * (W[1][1] - W[2][2])
    stiffest = 0.5 * (W[1][1] + W[2][2]) + f.sqrt(spread * spread + W[1][2] * W[1][2])
    r_n, r_t = (1.0 / f.where(f.less(0.0, x), x, 1.0) for x in (W[0][0], stiffest))
    pushed = p[0] - r_n * u[0]
    normal = f.where(f.less(floor, pushed), pushed, floor)
    x, y = (p[k] - r_t * (u[k] + W[k][0] * (normal - p[0])) for k in (1, 2))
    bound, square = mu * normal, x * x + y * y
    slides = f.less(bound * bound, square)
    share = f.where(slides, bound / f.sqrt(f.where(slides, square, 1.0)), 1.0)
    return [normal, share * x, share * y]


def contact_slope(state: Sequence[S], W: Any, mu: S, own: S) -> list[list[S]]:
    """The derivative (3, 3) of the residual of a contact by the impulse of a contact, by W (3, 3) between them.

    `own` is 1 if both are the same contact, else 0.
    """
    pushes, slides, r_n, r_t, x, y, _, ratio = state
    opens, sticks = 1.0 - pushes, 1.0 - slides
    rows = [[pushes * W[0][0] + opens * own / r_n, pushes * W[0][1], pushes * W[0][2]]]
    for a, (t, across) in enumerate(((x, -y), (y, x))):
        # I - t t^T is the product of the vector across t with itself: (-y, x)
        row = []
        for j in range(3):
            turned = ratio * across * (-y * W[1][j] + x * W[2][j])
            if j == 0:
                kept = -(mu * t) * own
            else:
                kept = (float(j == a + 1) - ratio * across * (-y if j == 1 else x)) * own
            row.append(slides * (kept / r_t + turned) + sticks * W[a + 1][j])
        rows.append(row)
    return rows
