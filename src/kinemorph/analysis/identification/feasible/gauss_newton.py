"""`solve_by_factors`: the convex problem by Newton's method on log-Cholesky factors.

A block with a log-det term that owns its unknowns is B = L L^T with a lower triangular factor L. A step multiplies it,

    L  ->  L C,      C = strict lower part of D + exp(diagonal of D),       dB = L (D + D^T) L^T  at D = 0,

so that B stays positive definite whatever the step. In the entries of E = D + D^T the curvature of -log det B is the
identity, and that of the squares is R^T R: every step is a linear least-squares problem, solved by an orthogonal
factorization. The objective is convex in x, and C only bends the path of a step, so that a line search always makes
progress and the last steps converge quadratically.

Blocks that are constraints only have the term  -mu log det B  with a mu that goes to zero. With their multipliers S,
which have S B = mu 1 at the end, its curvature is  tr(W^2 L^T S L),  W = L^-1 dB L^-T:  that of a primal-dual
interior-point method (Helmberg, Rendl, Vanderbei and Wolkowicz, SIAM J. Optim. 6 (1996) 342-361).

A bent path would leave equalities, and constraints on several unknowns of a factor. Where there are such, x moves
straight, all blocks have multipliers, and all weights begin at a larger value and decrease with mu. A step is then the
least-squares solution among the d that satisfy the equalities, and a penalty on |A x - b| is part of the objective.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.feasible.problem import (
    Block,
    ConvexProblem,
    Solution,
    entries_of,
    from_entries,
    newton_step,
    residual,
)

MOST = 100  # steps at one mu
FEWER, GENTLE = 0.05, 0.3  # mu decreases by these factors, by the second one where x moves straight
NEARLY = 1e-5  # mu from which on solutions are compared, relative to the weight of the prior
LAST = 1e-10  # the last mu, relative to the weight of the prior
LONGEST = 2.0  # the most that the logarithm of an entry of a factor changes in one step
BEFORE = 0.95  # the share of the way to the boundary of a constraint that a step may take
LEAST = 1e-10  # a line search with a shorter step makes no progress
ARMIJO = 1e-4
FAR = (1e-4, 1e4)  # the range of S B, relative to mu
SMALL, NEAR = 1e-12, 1e-3  # steps that end the iteration: at once, or as soon as they no longer become smaller
PENALTY = 2.0  # on |A x - b|, relative to the largest multiplier
EPSILON = float(np.finfo(float).eps)


class State(NamedTuple):
    """The unknowns x (n,), the factors of the owners, the multipliers of the equalities and of the constraints.

    `forces` are L^T S L for the multipliers S and the factors L of the constraints: about mu times the identity.
    """

    x: Array
    factors: tuple[Array, ...]
    multipliers: Array
    forces: tuple[Array, ...]


class Step(NamedTuple):
    """A step d (n,) in local coordinates, the decrease that its slope promises, and the new multipliers.

    `forces` are the new L^T S L of the constraints, with the factors before the step.
    """

    d: Array
    decrease: float
    multipliers: Array
    forces: tuple[Array, ...]


def solve_by_factors(problem: ConvexProblem, start: Array) -> Solution:
    """The solution of the problem from `start` (n,), where all blocks are positive definite."""
    newton = _Newton(problem)
    with suppress(np.linalg.LinAlgError):  # a block that is singular but for rounding errors ends the run
        newton.run(start)
    if newton.best is not None:
        return newton.best
    forces = tuple(np.zeros((block.size, block.size)) for block in problem.bounded)
    note = "the conditions leave no matrix that is positive definite, or nearly none"
    return Solution(start, np.zeros(len(problem.b)), forces, newton.steps, note)


class _Newton:
    """Newton's method with a line search for one problem."""

    def __init__(self, problem: ConvexProblem) -> None:
        self.problem = problem
        self.straight = bool(len(problem.b)) or not all(block.owns for block in problem.blocks)
        self.owners = () if self.straight else problem.pulled  # blocks with factors
        self.others = problem.blocks if self.straight else problem.bounded  # blocks with multipliers
        owned = {place for block in self.owners for place in block.places}
        self.free = [k for k in range(problem.n) if k not in owned]
        self.weight = min((block.weight for block in problem.pulled), default=1.0)
        self.linear = np.zeros(problem.n)
        for block in problem.pulled:
            self.linear[list(block.places)] += block.weight * np.einsum("ijj->i", block.matrices)
        self.penalty = 0.0
        self.more = 1.0  # the factor of all weights
        self.steps = 0
        self.best: Solution | None = None

    def run(self, start: Array) -> None:
        """Solves the problem for smaller and smaller mu, and keeps the best solution."""
        end = LAST * self.weight if self.problem.bounded else self.weight
        left = self.problem.R @ start - self.problem.z
        mu = max(self.weight, float(left @ left) / self.problem.n if self.straight else 0.0)
        forces = tuple(mu * np.eye(block.size) for block in self.others)
        state = State(start, self._factors(start), np.zeros(len(self.problem.b)), forces)
        least = np.inf
        while True:
            last = mu <= end
            state, settled = self._minimized(state, mu, exact=last)
            if mu <= NEARLY * self.weight or last:  # below some mu there are only rounding errors
                found = self._solution(state, settled)
                off = residual(self.problem, found)
                if self.best is None or off <= least:
                    self.best, least = found, off
            if last:
                return
            less = (GENTLE if self.straight else FEWER) * mu
            mu = max(less, self.weight if mu > self.weight else end)

    def _solution(self, state: State, settled: bool) -> Solution:
        forces = []
        for block, S in zip(self.others, state.forces, strict=True):
            if block.weight == 0.0:
                inverse = np.linalg.inv(np.linalg.cholesky(block.value(state.x)))
                forces.append(inverse.T @ S @ inverse)
        note = "" if settled else "Newton's method stopped before its steps were small"
        return Solution(state.x, state.multipliers, tuple(forces), self.steps, note)

    def _kappa(self, block: Block, mu: float) -> float:
        """The factor of -log det B: the weight of the block, or mu for a constraint."""
        return self.more * block.weight or mu

    def _minimized(self, state: State, mu: float, *, exact: bool) -> tuple[State, bool]:
        """The minimizer for one mu and fixed multipliers, and whether it was reached as well as rounding allows.

        Where mu is above the weights, it is the weight of all log-det terms. Without `exact` it ends where the
        objective is within mu of its minimum.
        """
        self.more = max(1.0, mu / self.weight)
        value, noise = self._value(state, mu)
        before = np.inf
        for _ in range(MOST):
            self.steps += 1
            step = self._step(state, mu)
            size = float(np.abs(step.d).max())
            if size <= SMALL or (size <= NEAR and size >= 0.5 * before) or (_loose(step, mu) and not exact):
                return self._with_forces(state, state, step, mu), True
            before = size
            if self.penalty < PENALTY * float(np.abs(step.multipliers).max(initial=0.0)):
                self.penalty = 2.0 * PENALTY * float(np.abs(step.multipliers).max())
                value, noise = self._value(state, mu)
            gain = step.decrease + self.penalty * self._gap(state.x)
            length = self._allowed(state, step.d)
            while True:
                new = self._moved(state, length * step.d)
                found, blur = self._value(new, mu)
                if found <= value - ARMIJO * length * gain + noise + blur:
                    break
                length *= 0.5
                if length < LEAST:
                    return state, False
            state, value, noise = self._with_forces(state, new, step, mu), found, blur
        return state, False

    # ── one step ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _step(self, state: State, mu: float) -> Step:
        """The step to the minimum of the quadratic model, in local coordinates."""
        problem, x = self.problem, state.x
        J = self._jacobian(state)
        rows, right = [problem.R @ J], [problem.z - problem.R @ x]
        for block in self.owners:
            unit = np.zeros((len(block.places), problem.n))
            unit[:, list(block.places)] = np.eye(len(block.places))
            rows.append(np.sqrt(self.more * block.weight) * unit)
            right.append(np.sqrt(self.more * block.weight) * entries_of(np.eye(block.size)))
        for block, S in zip(self.others, state.forces, strict=True):
            K = np.linalg.cholesky(S)
            wide = np.zeros((block.size**2, problem.n))
            wide[:, list(block.places)] = (block.turned(x) @ K).reshape(len(block.places), -1).T
            rows.append(wide @ J)
            right.append(self._kappa(block, mu) * np.linalg.inv(K).T.reshape(-1))
        M, r, slope = np.concatenate(rows), np.concatenate(right), self.more * J.T @ self.linear
        d, decrease, y = constrained_step(M, r, slope, problem.A @ J, problem.b - problem.A @ x)
        dx = J @ d
        forces = []
        for block, S in zip(self.others, state.forces, strict=True):
            change = np.einsum("i,ijk->jk", dx[list(block.places)], block.turned(x)) @ S
            forces.append(self._kappa(block, mu) * np.eye(block.size) - 0.5 * (change + change.T))
        return Step(d, decrease, y, tuple(forces))

    def _jacobian(self, state: State) -> Array:
        """dx/dd (n, n) at d = 0."""
        J = np.zeros((self.problem.n, self.problem.n))
        J[self.free, self.free] = 1.0
        for block, L in zip(self.owners, state.factors, strict=True):
            J[np.ix_(block.places, block.places)] = entries_of(L @ block.matrices @ L.T).T
        return J

    def _allowed(self, state: State, d: Array) -> float:
        """The share of a step, at most 1, for which no factor changes too much and no constraint is reached."""
        longest = 1.0
        for block in self.owners:
            E = from_entries(d[list(block.places)], block.size)
            longest = max(longest, 0.5 * float(np.abs(E).max()) / LONGEST)
        dx = self._jacobian(state) @ d
        for block in self.others:
            longest = max(longest, _reach(block.value(state.x), block.value(dx)) / BEFORE)
        return 1.0 / longest

    def _moved(self, state: State, d: Array) -> State:
        """The state after a step, with the old multipliers."""
        x = state.x.copy()
        x[self.free] += d[self.free]
        factors = []
        for block, L in zip(self.owners, state.factors, strict=True):
            E = from_entries(d[list(block.places)], block.size)
            new = L @ (np.tril(E, -1) + np.diag(np.exp(0.5 * np.diag(E))))
            factors.append(new)
            x[list(block.places)] = entries_of(new @ new.T)
        return state._replace(x=x, factors=tuple(factors))

    def _with_forces(self, before: State, state: State, step: Step, mu: float) -> State:
        """The state with the multipliers after a step; they stay positive definite, and S B stays near mu."""
        forces = []
        for block, S, target in zip(self.others, before.forces, step.forces, strict=True):
            kappa = self._kappa(block, mu)
            new = S + (target - S) / max(1.0, _reach(S, target - S) / BEFORE)
            old, L = (np.linalg.cholesky(block.value(one.x)) for one in (before, state))
            T = scipy.linalg.solve_triangular(old, L, lower=True)
            values, axes = np.linalg.eigh(T.T @ new @ T)
            forces.append(axes * np.clip(values, FAR[0] * kappa, FAR[1] * kappa) @ axes.T)
        return state._replace(multipliers=step.multipliers, forces=tuple(forces))

    def _factors(self, x: Array) -> tuple[Array, ...]:
        return tuple(np.array(np.linalg.cholesky(block.value(x))) for block in self.owners)

    def _gap(self, x: Array) -> float:
        """How far the equalities are from being satisfied."""
        return float(np.abs(self.problem.A @ x - self.problem.b).sum())

    def _value(self, state: State, mu: float) -> tuple[float, float]:
        """The objective with the terms of equalities and of mu, and its rounding error.

        It is infinite where a block is not positive definite.
        """
        problem, x = self.problem, state.x
        left = problem.R @ x - problem.z
        total = 0.5 * float(left @ left) + self.more * float(self.linear @ x) + self.penalty * self._gap(x)
        for block, L in zip(self.owners, state.factors, strict=True):
            total -= 2.0 * self.more * block.weight * float(np.log(np.diag(L)).sum())
        for block in self.others:
            values = np.linalg.eigvalsh(block.value(x))
            if values[0] <= 0.0:
                return np.inf, 0.0
            total -= self._kappa(block, mu) * float(np.log(values).sum())
        rounding = float(np.linalg.norm(problem.z)) * (1.0 + float(np.linalg.norm(left))) + abs(total)
        return total, 4.0 * EPSILON * rounding


def _loose(step: Step, mu: float) -> bool:
    """Whether a step changes the objective by less than mu, so that a smaller mu can follow."""
    return abs(step.decrease) <= mu and float(np.abs(step.d).max()) <= 1.0


def constrained_step(M: Array, r: Array, slope: Array, A: Array, g: Array) -> tuple[Array, float, Array]:
    """The minimizer d of  1/2 |M d - r|^2 + slope . d  with A d = g, the decrease of its slope, and the multipliers y.

    At the minimum  M^T (M d - r) + slope + A^T y = 0;  the decrease is  (M^T r - slope) . d.
    """
    if not len(A):
        d, decrease = newton_step(M, r, slope)
        return d, decrease, np.zeros(0)
    Q, T = np.linalg.qr(A.T, mode="complete")
    e = len(A)
    fixed = Q[:, :e] @ scipy.linalg.solve_triangular(T[:e], g, trans="T")
    loose = newton_step(M @ Q[:, e:], r - M @ fixed, Q[:, e:].T @ slope)[0]
    d = fixed + Q[:, e:] @ loose
    left = M.T @ (M @ d - r) + slope
    y = -scipy.linalg.solve_triangular(T[:e], Q[:, :e].T @ left)
    return d, float((r @ M - slope) @ d), y


def _reach(B: Array, change: Array) -> float:
    """The inverse of the largest share s for which B + s change is positive semidefinite; 0 if there is no largest."""
    inverse = np.linalg.inv(np.linalg.cholesky(B))
    return max(0.0, -float(np.linalg.eigvalsh(inverse @ change @ inverse.T)[0]))
