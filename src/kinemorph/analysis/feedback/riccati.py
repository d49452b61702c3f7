"""Riccati equations: algebraic ones, and those backwards in time; and linear equations with held inputs.

cost = integral of  s^T Q s + 2 s^T N u + u^T R u,     u = -K s,     K = R^-1 (B^T S + N^T)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array


class Sampled(NamedTuple):
    """The state after a period of held inputs, s' = A s + B u, and the cost of that period by Q, R and N."""

    A: Array
    B: Array
    Q: Array
    R: Array
    N: Array


def sampled(A: Array, B: Array, Q: Array, R: Array, N: Array, T: float) -> Sampled:
    """Linear equations and their cost over a period of T [s] with held inputs, exactly.

    C. F. Van Loan, Computing integrals involving the matrix exponential, IEEE Trans. Automatic Control 23 (1978): with
    F = [[A, B], [0, 0]] and the weights W = [[Q, N], [N^T, R]], exp([[-F^T, W], [0, F]] T) has exp(F T) at its lower
    right, and exp(F T)^T times its upper right block is the cost.
    """
    from scipy.linalg import expm

    n, k = B.shape
    F, W = np.zeros((n + k, n + k)), np.block([[Q, N], [N.T, R]])
    F[:n, :n], F[:n, n:] = A, B
    found = expm(T * np.block([[-F.T, W], [np.zeros_like(F), F]]))
    after = found[n + k :, n + k :]
    cost = after.T @ found[: n + k, n + k :]
    cost = 0.5 * (cost + cost.T)
    return Sampled(after[:n, :n], after[:n, n:], cost[:n, :n], cost[n:, n:], cost[:n, n:])


def least_cost(A: Array, B: Array, Q: Array, R: Array, N: Array, *, discrete: bool = False) -> tuple[Array, Array]:
    """(K, S) of least cost, continuous or from sample to sample; raises LinAlgError where there is no solution."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    if not len(A):
        return np.zeros(B.T.shape), np.zeros(A.shape)
    if discrete:
        S = solve_discrete_are(A, B, Q, R, s=N)
        return np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A + N.T), S
    S = solve_continuous_are(A, B, Q, R, s=N)
    return np.linalg.solve(R, B.T @ S + N.T), S


def backwards(t: Array, A: Array, B: Array, Q: Array, R: Array, N: Array, final: Array) -> tuple[Array, Array]:
    """(K (n, nu, ns), S (n, ns, ns)) at the times t (n,), for A (n, ns, ns) and B (n, ns, nu) at these times.

    S is `final` at the last time and satisfies  -dS/dt = A^T S + S A - (S B + N) R^-1 (B^T S + N^T) + Q. Over each
    interval, with A and B of its middle, S = Y X^-1 with [X; Y] from the exponential of the Hamiltonian matrix.
    """
    from scipy.linalg import expm

    n, h = A.shape[1], np.diff(t)[:, None, None]
    b = 0.5 * (B[:-1] + B[1:])
    shared = np.linalg.solve(R, N.T)  # of the inputs that N asks for
    a = 0.5 * (A[:-1] + A[1:]) - b @ shared
    W = np.broadcast_to(N @ shared - Q, a.shape)
    H = np.block([[a, -b @ np.linalg.solve(R, b.transpose(0, 2, 1))], [W, -a.transpose(0, 2, 1)]])
    S = np.zeros(A.shape)
    S[-1] = final
    for k, step in reversed([*enumerate(expm(-h * H))]):
        X, Y = np.split(step @ np.vstack([np.eye(n), S[k + 1]]), 2)
        found = np.linalg.solve(X.T, Y.T).T
        S[k] = 0.5 * (found + found.T)
    K = np.array([np.linalg.solve(R, b.T @ s + N.T) for b, s in zip(B, S, strict=True)])
    return K, S


def sampled_backwards(
    ticks: Array, t: Array, A: Array, B: Array, Q: Array, R: Array, N: Array, final: Array
) -> tuple[Array, Array]:
    """(K (m, nu, ns), S (m, ns, ns)) at the `ticks` (m,), between which the inputs are held.

    A (n, ns, ns) and B (n, ns, nu) are those in the middle of the intervals between the times t (n + 1,), which contain
    all ticks: over each interval the equations and the cost are integrated exactly. S is `final` at the last tick,
    where K is that of the last period.
    """
    n, whole = A.shape[1], np.eye(A.shape[1] + B.shape[2])
    S, K = np.zeros((len(ticks), n, n)), np.zeros((len(ticks), B.shape[2], n))
    S[-1] = final
    inside = np.searchsorted(t, ticks)
    for k in reversed(range(len(ticks) - 1)):
        moved, cost = whole, 0.0 * whole  # of [s, u] since the tick
        for j in range(inside[k], inside[k + 1]):
            one = sampled(A[j], B[j], Q, R, N, float(t[j + 1] - t[j]))
            cost += moved.T @ np.block([[one.Q, one.N], [one.N.T, one.R]]) @ moved
            moved = np.vstack([np.hstack([one.A, one.B]) @ moved, whole[n:]])
        cost += moved[:n].T @ S[k + 1] @ moved[:n]
        K[k] = np.linalg.solve(cost[n:, n:], cost[n:, :n])
        found = cost[:n, :n] - cost[:n, n:] @ K[k]
        S[k] = 0.5 * (found + found.T)
    K[-1] = K[-2]
    return K, S
