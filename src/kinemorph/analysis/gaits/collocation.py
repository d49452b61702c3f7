"""Motions of a plant over given times by Gauss collocation, many at once, with exact slopes.

An arc starts at the state s0 at the time t0 and lasts h. On it the state is a polynomial of degree c that satisfies the
equations of motion ds/dt = f(t, s, p) at c Gauss points:

    S_i = s0 + h sum_j A_ij f(t_j, S_j, p),      end = s0 + h sum_j b_j f(t_j, S_j, p)

This is an implicit Runge-Kutta method of order 2 c. Newton's method finds the states S of all arcs together: each of
its steps is one call of compiled code with all points of all arcs, and a linear system for each arc. The slopes of S
and of the end follow from the same linear systems. They are the exact derivatives of the discretized motion.

    E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration (2006), section II.1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.plant_derivatives import Point, built
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.plants.programs import Plant

MET = 1e-11  # Newton's method ends where a step is smaller than this, relative to the size of the states
MOST_STEPS = 15  # of Newton's method; an arc that needs more is not found


class Gauss(NamedTuple):
    """Points c (n,) in [0, 1], weights b (n,) and matrix A (n, n) of the Gauss method with n stages."""

    c: Array
    b: Array
    A: Array


@lru_cache(maxsize=16)
def gauss(stages: int) -> Gauss:
    """The Gauss method with this number of stages."""
    x, weights = np.polynomial.legendre.leggauss(stages)
    c = 0.5 * (x + 1.0)
    powers = np.arange(1, stages + 1)
    A = (c[:, None] ** powers / powers) @ np.linalg.inv(c[:, None] ** (powers - 1))
    return Gauss(c, 0.5 * weights, A)


@dataclass(frozen=True)
class Derived:
    """A program with outputs `out` and its derivatives by t, s and p, evaluated at many instants."""

    function: CompiledFunction
    home: Point

    def __call__(self, t: Array, s: Array, p: Array) -> tuple[Array, Array, Array, Array]:
        """(values (B, n), by t (B, n), by s (B, n, ns), by p (B, n, np)) at times t (B,), states s (B, ns), p (np,)."""
        count, home = len(t), self.home
        base, m, u = (np.broadcast_to(part, (count, len(part))) for part in (home.q, home.m, home.u))
        found: tuple[Array, Array, Array, Array] = self.function(
            t, base, np.ascontiguousarray(s), m, u, np.broadcast_to(p, (count, len(p)))
        )
        return found


def derived(program: Program, home: Point) -> Derived:
    """The derivatives of a program with the inputs of `Plant.rate`; its states are local coordinates about `home`."""
    return Derived(built(jacobian(program, "out", ("t", "s", "p"), values=True)), home)


class Arcs(NamedTuple):
    """N arcs that follow each other at equal durations, with c points each, and their slopes.

    The slopes are those by the start (ns) of the same arc, by all parameters (np), and by the duration of all arcs
    together (1), in this order: k = ns + np + 1 columns.

    `t` (N, c)                  the times of the points [s]
    `weights` (N, c)            the weights of the points in integrals over time [s]
    `s` (N, c, ns), `by` (N, c, ns, k)              the states at the points
    `end` (N, ns), `end_by` (N, ns, k)              the states at the ends
    `found`                     whether Newton's method converged for all arcs
    """

    t: Array
    weights: Array
    s: Array
    by: Array
    end: Array
    end_by: Array
    found: bool


def arcs(rate: Derived, plant: Plant, s0: Array, p: Array, duration: float, stages: int, guess: Array | None) -> Arcs:
    """N arcs that start at s0 (N, ns), at the times k duration / N, each lasting duration / N [s].

    `guess` (N, c, ns) is where Newton's method begins; by default, every state is that at the start of its arc.
    """
    (N, ns), (c, b, A), n_p = s0.shape, gauss(stages), len(p)
    h = duration / N
    share = (np.arange(N)[:, None] + c) / N  # of the duration, at which each point is
    t = duration * share
    S = np.repeat(s0[:, None], stages, axis=1) if guess is None else np.array(guess)

    def at(S: Array) -> tuple[Array, Array, Array, Array]:
        f, f_t, f_s, f_p = rate(t.ravel(), S.reshape(-1, ns), p)
        shape = (N, stages)
        return f.reshape(*shape, ns), f_t.reshape(*shape, ns), f_s.reshape(*shape, ns, ns), f_p.reshape(*shape, ns, n_p)

    def matrix(f_s: Array) -> Array:
        blocks: Array = -h * np.einsum("ij,njab->niajb", A, f_s).reshape(N, stages * ns, stages * ns)
        blocks[:, np.arange(stages * ns), np.arange(stages * ns)] += 1.0
        return blocks

    found, size = False, np.inf
    for _ in range(MOST_STEPS):
        f, f_t, f_s, f_p = at(S)
        left = s0[:, None] + h * np.einsum("ij,nja->nia", A, f) - S
        if not np.isfinite(left).all() or not np.isfinite(f_s).all():
            break
        step = np.linalg.solve(matrix(f_s), left.reshape(N, -1, 1)).reshape(S.shape)
        S, size = S + step, float(np.abs(step / np.maximum(1.0, np.abs(S))).max(initial=0.0))
        if size < MET:
            found = True
            break
    f, f_t, f_s, f_p = at(S)
    # the derivatives of the right-hand sides with S held, by start, parameters and duration
    k = ns + n_p + 1
    direct = np.zeros((N, stages, ns, k))
    direct[..., ns:-1] = h * f_p
    direct[..., -1] = f / N + h * f_t * share[..., None]
    right = np.einsum("ij,njak->niak", A, direct)
    right[..., :ns] += np.eye(ns)
    by = np.full((N, stages, ns, k), np.nan)
    if np.isfinite(f_s).all() and np.isfinite(right).all():
        by = np.linalg.solve(matrix(f_s), right.reshape(N, stages * ns, k)).reshape(N, stages, ns, k)
    end = s0 + h * np.einsum("j,nja->na", b, f)
    end_by = np.einsum("j,njak->nak", b, direct + h * np.einsum("njab,njbk->njak", f_s, by))
    end_by[..., :ns] += np.eye(ns)
    return Arcs(t, h * np.broadcast_to(b, (N, stages)), S, by, end, end_by, found and bool(np.isfinite(end_by).all()))
