"""Contacts in Coulomb's cone: the laws of the cone, every backend against the definition, derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.vocabulary.coulomb_cone import CoulombCone
from support.references.derivative_oracles import by_duals, run
from support.tools.program_runs import WAYS, assert_agrees


def entries(n: int, freedom: int, states: int, seed: int = 0) -> np.ndarray:
    """[W, b, mu, floor] of random contacts on a body with `freedom` velocities; a few have a floor."""
    rng = np.random.default_rng([n, freedom, seed])
    J = rng.normal(size=(states, 3 * n, freedom)) / np.sqrt(freedom)
    b = np.einsum("sij,sj->si", J, rng.normal(size=(states, freedom)))
    floor = rng.uniform(0.0, 0.3, size=(states, n)) * (rng.uniform(size=(states, n)) < 0.2)
    W = np.einsum("sij,skj->sik", J, J)
    return np.concatenate([W.reshape(states, -1), b, rng.uniform(0.1, 0.9, size=(states, n)), floor], axis=1)


def check(n: int, given: np.ndarray, found: np.ndarray, tolerance: float = 1e-12) -> None:
    """The laws of the cone, written out."""
    m = 3 * n
    W, b = given[:, : m * m].reshape(-1, m, m), given[:, m * m : m * m + m]
    mu, floor = given[:, m * m + m : m * m + m + n], given[:, m * m + m + n :]
    p, u = found[:, :m].reshape(-1, n, 3), (np.einsum("sij,sj->si", W, found[:, :m]) + b).reshape(-1, n, 3)
    assert np.abs(found[:, m]).max() < tolerance
    assert (p[..., 0] >= floor - tolerance).all() and (u[..., 0] >= -tolerance).all()
    assert np.abs((p[..., 0] - floor) * u[..., 0]).max() < tolerance
    friction, speed = np.linalg.norm(p[..., 1:], axis=-1), np.linalg.norm(u[..., 1:], axis=-1)
    assert (friction <= mu * p[..., 0] + tolerance).all()
    assert np.abs((mu * p[..., 0] - friction) * speed).max() < tolerance
    assert np.abs((p[..., 1:] * u[..., 1:]).sum(axis=-1) + friction * speed).max() < tolerance


@pytest.mark.parametrize(("n", "freedom"), [(1, 6), (3, 6), (3, 20)])
def test_impulses_obey_the_cone(n: int, freedom: int) -> None:
    given = entries(n, freedom, 40)
    check(n, given, np.stack(CoulombCone(n).meaning(*given.T), axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "freedom"), [(5, 6), (8, 6), (8, 12), (12, 30)])
def test_many_impulses_obey_the_cone(n: int, freedom: int) -> None:
    """Up to 24 rows on 6 velocities: impulses are not unique, velocities are."""
    given = entries(n, freedom, 100)
    check(n, given, np.stack(CoulombCone(n).meaning(*given.T), axis=-1), 1e-10)


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way == "llvm lanes" else pytest.mark.slow) for way in WAYS]
)
@pytest.mark.slow
def test_every_backend_computes_it_alike(way: str) -> None:
    block = CoulombCone(1 if way in ("c", "matlab") else 2)
    given = entries(block.n, 8, 6)
    given[2, 5] = np.nan
    (found,) = assert_agrees(way, routine(block), [given], 1e-9)
    np.testing.assert_allclose(found, np.stack(block.meaning(*given.T), axis=-1), rtol=1e-9, atol=1e-9)
    assert np.isnan(found[2]).all() and np.isfinite(np.delete(found, 2, axis=0)).all()


@pytest.mark.slow
def test_redundant_contacts_compiled() -> None:
    block = CoulombCone(3)
    given = entries(3, 6, 40)
    function = build(trace(lambda x: x[0].block(block, x), {"x": (block.n_in,)}))
    check(3, given, function(given))


def boxes(count: int, mu: float) -> np.ndarray:
    """[W, b, mu, floor] of boxes with a contact at each of their eight corners, four on a floor and four on a ceiling.

    Impulses are not unique: there are 24 of them, and 6 velocities.
    """
    rng, rows = np.random.default_rng(1), []
    for _ in range(count):
        half = rng.uniform(0.2, 1.0, 3)
        inertia = (half @ half - half**2) / 3.0
        corners = [half * (x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        J = np.concatenate([_corner(r) for r in corners])
        W = J @ np.diag([1.0, 1.0, 1.0, *1.0 / inertia]) @ J.T
        rows.append(np.concatenate([W.ravel(), J @ rng.normal(size=6), np.full(8, mu), np.zeros(8)]))
    return np.array(rows)


def _corner(r: np.ndarray) -> np.ndarray:
    """The rows (3, 6) of the corner r of a box: normal, which points into the room, and two tangents."""
    point = np.hstack([np.eye(3), -np.cross(np.eye(3), r).T])
    return np.stack([-np.sign(r[2]) * point[2], point[0], point[1]])


def test_boxes_between_a_floor_and_a_ceiling_obey_the_cone() -> None:
    """Newton's method alone misses these two by up to 8e-8 of the velocities; after sweeps it finds them."""
    given = boxes(60, 0.96)[[39, 44]]
    check(8, given, np.stack(CoulombCone(8).meaning(*given.T), axis=-1), 1e-10)


@pytest.mark.slow
def test_sweeps_compiled() -> None:
    block, given = CoulombCone(8), boxes(60, 0.96)
    function = build(trace(lambda x: x[0].block(block, x), {"x": (block.n_in,)}))
    check(8, given, function(given), 1e-10)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_follow_the_contacts_that_push_and_slide(mode: str) -> None:
    block = CoulombCone(2)
    start, turn = entries(2, 8, 3, seed=3), np.random.default_rng(1).normal(size=(block.n_in, 3))
    symmetric = np.array([[i * 6 + j, j * 6 + i] for i in range(6) for j in range(i)])
    turn[symmetric[:, 1]] = turn[symmetric[:, 0]]
    start[:, -2:] += 0.1  # floors are not negative

    for row in start:

        def function(x, row=row):
            given = [
                float(a) + sum((float(c) * y for c, y in zip(line, x, strict=True)), 0.0)
                for a, line in zip(row, turn, strict=True)
            ]
            return {"p": given[0].block(block, given)[:-1]}

        program = trace(function, {"x": (3,)})
        x, h = np.array([0.02, -0.01, 0.015]), 1e-7
        found = run(jacobian(program, "p", "x", mode=mode), x)
        assert np.isfinite(found).all()
        steps = [(run(program, x + h * unit) - run(program, x - h * unit)) / (2 * h) for unit in np.eye(3)]
        np.testing.assert_allclose(found, np.array(steps).T, atol=1e-6 * max(1.0, np.abs(found).max()))
        if mode == "forward":
            np.testing.assert_allclose(by_duals(program, x), found, rtol=1e-9, atol=1e-10)
