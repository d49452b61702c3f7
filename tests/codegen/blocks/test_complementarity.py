"""The linear complementarity problem: its laws, every backend against the definition, its derivatives."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kinemorph.algebra.linear import complementarity
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian, pattern
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.vocabulary.complementarity import Complementarity
from support.references.derivative_oracles import by_duals, run
from support.tools.program_runs import all_ways, assert_agrees

STATES = 12


def problems(n: int, kind: str, states: int = STATES) -> tuple[np.ndarray, np.ndarray]:
    """A (states, n, n) and b (states, n) of solvable problems of one kind."""
    rng = np.random.default_rng([n, len(kind)])
    A, b = np.empty((states, n, n)), rng.normal(size=(states, n))
    for s in range(states):
        rank = n if kind != "redundant" else max(1, n // 2)
        G = rng.normal(size=(n, rank))
        A[s] = G @ G.T
        if kind == "redundant":
            b[s] = G @ rng.normal(size=rank)
        if kind == "unsymmetric":
            K = rng.normal(size=(n, n))
            A[s] += K - K.T + 0.1 * np.eye(n)
        if kind == "graded":
            scale = 10.0 ** rng.uniform(-3.0, 3.0, size=n)
            A[s] = scale[:, None] * (A[s] + 0.1 * np.eye(n)) * scale
            b[s] *= scale
    return A, b


def entries(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([A.reshape(len(A), -1), b], axis=1)


def solved(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    *z, status = Complementarity(b.shape[1]).meaning(*entries(A, b).T)
    return np.stack(z, axis=-1), status


@pytest.mark.parametrize("kind", ["definite", "redundant", "unsymmetric", "graded"])
@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_every_solution_is_complementary(n: int, kind: str) -> None:
    A, b = problems(n, kind, 60)
    z, status = solved(A, b)
    w = np.einsum("sij,sj->si", A, z) + b
    size = np.abs(A) @ np.abs(z)[:, :, None]
    assert (status == 1.0).all() and (z >= 0.0).all()
    assert (w >= -1e-10 * (size[..., 0] + np.abs(b))).all()
    assert (np.abs(z * w) <= 1e-10 * z * (size[..., 0] + np.abs(b))).all()


def test_definite_problems_have_the_solution_found_by_trying_every_active_set() -> None:
    A, b = problems(4, "unsymmetric", 40)
    z, _ = solved(A, b)
    for M, right, found in zip(A, b, z, strict=True):
        sets = [list(active) for k in range(5) for active in combinations(range(4), k)]
        fits = []
        for active in sets:
            trial = np.zeros(4)
            trial[active] = np.linalg.solve(M[np.ix_(active, active)], -right[active])
            if (trial >= 0.0).all() and (M @ trial + right >= -1e-12).all():
                fits.append(trial)
        (expected,) = fits  # M is positive definite, so there is one
        np.testing.assert_allclose(found, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_a_degenerate_problem_ends() -> None:
    """A block at rest on eight feet: every gap is zero, all forces share one load, and ratios are equal throughout."""
    feet = np.array([[x, y, 1.0] for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0) if x or y])
    A = feet @ feet.T
    for load in ([0.0, 0.0, -1.0], [0.3, 0.2, -1.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]):
        b = feet @ np.array(load)
        z, status = solved(A[None], b[None])
        w = A @ z[0] + b
        assert status == 1.0 and w.min() > -1e-14 and abs(z[0] @ w) < 1e-14


def test_a_ray_is_told() -> None:
    """w = -z - 1 cannot be positive: there is no solution."""
    z, status = complementarity([[-1.0]], [-1.0])
    assert status == 0.0 and np.isnan(z[0])
    assert complementarity([[-1.0]], [1.0]) == ([0.0], 1.0)  # z = 1 also solves it; no force is the first that fits


def test_what_is_not_finite_stays_seen() -> None:
    A, b = problems(3, "definite")
    A[2, 0, 1], b[4, 2] = np.nan, np.inf
    z, _ = solved(A, b)
    assert np.isnan(z[[2, 4]]).all() and np.isfinite(np.delete(z, [2, 4], axis=0)).all()


@all_ways
def test_every_backend_computes_it_alike(way: str) -> None:
    for n, kind in ((1, "definite"), (6, "unsymmetric"), (5, "graded")):
        block = Complementarity(n)
        given = entries(*problems(n, kind))
        given[3, 0], given[5] = np.nan, 0.0
        whole = trace(lambda x, block=block: x[0].block(block, x), {"x": (block.n_in,)}, name=block.label)
        (expected,) = assert_agrees(way, whole, [given], 1e-10)
        by_loops = assert_agrees(way, routine(block), [given], 1e-10)[0]
        np.testing.assert_allclose(by_loops, expected, rtol=1e-10, atol=1e-10)


def test_redundant_contacts_compiled() -> None:
    A, b = problems(16, "redundant", 50)
    block = Complementarity(16)
    function = build(trace(lambda x: x[0].block(block, x), {"x": (block.n_in,)}))
    found = function(entries(A, b))
    z = found[:, :16]
    w = np.einsum("sij,sj->si", A, z) + b
    assert (found[:, 16] == 1.0).all() and w.min() > -1e-11 and np.abs(z * w).max() < 1e-11


def moving_program(n: int = 4):
    """A problem whose matrix and right side depend on x; about half of its unknowns are active."""

    def function(x):
        A = [[(x[(i + 2 * j) % 5] * (1 + j)).sin() * 0.4 + 3.0 * (i == j) for j in range(n)] for i in range(n)]
        b = [x[i % 5] * x[(i + 1) % 5] - 0.4 + 0.3 * i for i in range(n)]
        z, solved = complementarity(A, b)
        return {"z": z, "solved": solved}

    return trace(function, {"x": (5,)}, name="moving")


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_follow_the_active_set(mode: str) -> None:
    x = np.array([0.3, -0.7, 1.1, 0.4, -0.2])
    program = moving_program()
    z, found = run(jacobian(program, "z", "x", mode=mode, values=True), x)
    assert 0 < np.count_nonzero(z) < 4
    h = 1e-6
    steps = [(run(program, x + h * unit)[0] - run(program, x - h * unit)[0]) / (2 * h) for unit in np.eye(5)]
    np.testing.assert_allclose(found, np.array(steps).T, atol=1e-8)
    np.testing.assert_allclose(by_duals(program, x)[:-1], found, rtol=1e-12, atol=1e-13)
    assert not pattern(program, "solved", "x").any()


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(ShapeError, match=r"A is 2 x 2 and b has 3 entries"):
        complementarity([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedError, match="float32 cannot resolve"):
        build(moving_program(), precision="float32")
