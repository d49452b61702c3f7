"""The convex problem of `feasible_parameters` as a cone program, which Clarabel solves by an interior-point method.

    log det B >= t_1 + ... + t_s    where   [[B, L], [L^T, diag(L)]]  is positive semidefinite, L lower triangular,
                                    and     t_i <= log L_ii,  an exponential cone

is exact (Ben-Tal and Nemirovski, Lectures on Modern Convex Optimization, 2001, section 4.2). Data determine some
combinations of the unknowns a million times better than others. The program therefore has the unknowns u = T (x - c)
about a point c, with the triangle T of the curvature of the objective there, and blocks L^-1 B L^-T that are 1 there.
The residuals R x - z are unknowns of their own, so that no condition number is squared. The first point is the start of
the problem, the next ones are what was found: how near Clarabel comes to a solution depends on its scale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import scipy.linalg

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.feasible import feasible_parameters as own
from kinemorph.analysis.identification.feasible.feasible_parameters import Feasible, feasible_parameters
from kinemorph.analysis.identification.feasible.problem import (
    Block,
    ConvexProblem,
    Solution,
    entries_of,
    entry_places,
    from_entries,
    residual,
)

TIGHT = 1e-15  # the tolerances that are asked for: the solver ends where it makes no more progress
ENOUGH = 1e-9  # a solution with a smaller residual is not improved
MOST = 200  # iterations
REFINED: dict[str, float | bool] = {
    "iterative_refinement_reltol": 1e-16,
    "iterative_refinement_abstol": 1e-16,
    "iterative_refinement_max_iter": 50,
}
PLAIN: dict[str, float | bool] = {"static_regularization_enable": False}
ATTEMPTS = (REFINED, REFINED, PLAIN, REFINED, PLAIN)  # settings that are changed; the best attempt counts


def feasible_by_cones(*given: Any, **wishes: Any) -> Feasible:
    """`feasible_parameters` with `solve_by_cones` as its solver."""
    with mock.patch.object(own, "solve_by_factors", solve_by_cones):
        return feasible_parameters(*given, **wishes)


def solve_by_cones(problem: ConvexProblem, start: Array) -> Solution:
    """The solution of the problem by Clarabel, from `start` (n,)."""
    best, least, total, at = None, np.inf, 0, start
    for settings in ATTEMPTS:
        found = _solved(_Program(problem, at), problem, settings)
        off, total = residual(problem, found), total + found.iterations
        if best is None or off < least:
            best, least = found, off
            at = found.x if np.isfinite(off) else start
        if least <= ENOUGH:
            break
    assert best is not None
    return replace(best, iterations=total)


def _solved(program: _Program, problem: ConvexProblem, changes: dict[str, float | bool]) -> Solution:
    """What Clarabel finds with some settings changed."""
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = MOST
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TIGHT
    for name, value in changes.items():
        setattr(settings, name, value)
    cones = [getattr(clarabel, kind)(*size) for kind, size in program.cones]
    P = sparse.csc_matrix(np.diag(program.squares))
    A = sparse.csc_matrix(np.concatenate(program.rows))
    found = clarabel.DefaultSolver(P, program.linear, A, np.concatenate(program.right), cones, settings).solve()
    x = program.center + program.directions @ np.array(found.x)[: problem.n]
    y = np.array(found.z) * program.least
    first = program.starts["equalities"]
    forces = []
    for k, block in enumerate(problem.bounded):
        at = program.starts[f"bounded {k}"]
        forces.append(from_entries(y[at : at + block.size * (block.size + 1) // 2], block.size))
    note = f"Clarabel ended with the status '{found.status}' after {found.iterations} iterations"
    return Solution(x, y[first : first + len(problem.b)], tuple(forces), int(found.iterations), note)


class _Program:
    """The rows, cones and costs of the program. Its unknowns are u, the residuals, then L and t of each log-det."""

    def __init__(self, problem: ConvexProblem, at: Array) -> None:
        n, m = problem.n, len(problem.z)
        self.least = min((block.weight for block in problem.pulled), default=1.0)
        curved = [problem.R, *(np.sqrt(block.weight) * block.log_rows(at) for block in problem.pulled)]
        pulled = {place for block in problem.pulled for place in block.places}
        curved.append(np.sqrt(self.least) * np.eye(n)[[k for k in range(n) if k not in pulled]])
        T = scipy.linalg.qr(np.concatenate(curved), mode="r")[0][:n]
        self.directions: Array = scipy.linalg.solve_triangular(T, np.eye(n))
        self.center = at
        self.n = n
        self.count = n + m + sum(block.size * (block.size + 3) // 2 for block in problem.pulled)
        self.rows: list[Array] = []
        self.right: list[Array] = []
        self.cones: list[tuple[str, tuple[int, ...]]] = []
        self.starts: dict[str, int] = {}
        self.squares = np.zeros(self.count)
        self.squares[n : n + m] = 1.0 / self.least
        self.linear = np.zeros(self.count)
        unit = np.eye(self.count)
        self._add(
            "residuals", self._wide(problem.R) - unit[n : n + m], problem.z - problem.R @ self.center, "ZeroConeT"
        )
        self._add("equalities", self._wide(problem.A), problem.b - problem.A @ self.center, "ZeroConeT")
        for k, block in enumerate(problem.bounded):
            rows, right = self._entries(block, block.matrices)
            kind, size = ("NonnegativeConeT", ()) if block.size == 1 else ("PSDTriangleConeT", (block.size,))
            self._add(f"bounded {k}", -rows, right, kind, *size)
        free = n + m
        for block in problem.pulled:
            s, entries = block.size, block.size * (block.size + 1) // 2
            share = block.weight / self.least
            self.linear[:n] += share * np.einsum("ijj->i", block.matrices) @ self.directions[list(block.places)]
            self._log_det(block, unit[free : free + entries], unit[free + entries : free + entries + s])
            self.linear[free + entries : free + entries + s] = -share
            free += entries + s

    def _wide(self, rows: Array) -> Array:
        """Rows that act on x as rows that act on the unknowns of the program."""
        return np.pad(rows @ self.directions, ((0, 0), (0, self.count - self.n)))

    def _entries(self, block: Block, matrices: Array) -> tuple[Array, Array]:
        """Rows and constants: the entries of B are  rows @ unknowns + constants."""
        picked = np.zeros((matrices.shape[-1] * (matrices.shape[-1] + 1) // 2, self.n))
        picked[:, list(block.places)] = entries_of(matrices).T
        return self._wide(picked), picked @ self.center

    def _log_det(self, block: Block, L: Array, t: Array) -> None:
        """Adds the cones of one log-det term; L and t are rows that pick these unknowns."""
        s = block.size
        rows, right = self._entries(block, np.pad(block.turned(self.center), ((0, 0), (0, s), (0, s))))
        place = {(i, j): k for k, (i, j) in enumerate(zip(*entry_places(2 * s)[:2], strict=True))}
        for unit, j, i in zip(L, *entry_places(s)[:2], strict=True):  # the entry (i, j) of L, i >= j
            rows[place[i, s + j]] += np.sqrt(2.0) * unit
            if i == j:
                rows[place[s + i, s + i]] += unit
                here = np.stack([-t[i], np.zeros(self.count), -unit])
                self._add("logarithm", here, np.array([0.0, 1.0, 0.0]), "ExponentialConeT")
        self._add("factor", -rows, right, "PSDTriangleConeT", 2 * s)

    def _add(self, name: str, rows: Array, right: Array, kind: str, *size: int) -> None:
        self.starts[name] = sum(map(len, self.rows))
        self.rows.append(rows)
        self.right.append(right)
        if len(rows):
            self.cones.append((kind, () if kind == "ExponentialConeT" else size or (len(rows),)))
