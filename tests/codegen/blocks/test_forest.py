"""Loops over matrices with the structure of a forest, against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.loops.branch_matrix import Forest, factor
from kinemorph.codegen.loops.branch_matrix_rows import solve_rows
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from support.tools.some_slow import first

FORESTS = {
    "chain": (-1, 0, 1, 2, 3),
    "legs": (-1, 0, 1, 2, 2, 4, 5, 2, 7, 8),
    "branches on branches": (-1, 0, 0, 2, 3, 2, 5, 1, 7),
    "two trees": (-1, 0, 1, -1, 3, 3),
    "single": (-1,),
    "a long run between": (-1, *range(14), 3, 15, 14, 17),
}
every_forest = pytest.mark.parametrize("parents", FORESTS.values(), ids=FORESTS)


def hangs_on(parents: tuple[int, ...]) -> np.ndarray:
    """[j, i]: whether j hangs on i, over whatever is between."""
    n = len(parents)
    found = np.zeros((n, n), dtype=bool)
    for j in range(n):
        i = parents[j]
        while i >= 0:
            found[j, i] = True
            i = parents[i]
    return found


def definite(parents: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    L = np.where(hangs_on(parents), rng.normal(scale=0.5, size=(len(parents),) * 2), 0.0) + np.eye(len(parents))
    return L.T @ np.diag(rng.uniform(0.5, 2.0, size=len(parents))) @ L


def counted(parents: tuple[int, ...], way: str) -> np.ndarray:
    """How often each place is visited."""
    n = len(parents)
    loop = LoopBuilder("visits", {"one": ()}, {"count": (n, n)})
    count = loop["count"]
    with loop.repeat(n) as i, loop.repeat(n) as j:
        loop.let(count[i, j], lambda: 0.0)
    getattr(Forest(parents), way)(
        loop, lambda a, b: loop.let(count[a, b], lambda c, one: c + one, count[a, b], loop["one"])
    )
    return build(loop.program(), "interpreter")(1.0)


@every_forest
def test_every_pair_is_visited_once(parents: tuple[int, ...]) -> None:
    assert np.array_equal(counted(parents, "by_rows"), hangs_on(parents))
    assert np.array_equal(counted(parents, "by_columns"), hangs_on(parents).T)
    assert Forest(parents).pairs == hangs_on(parents).sum()


def solver(parents: tuple[int, ...], columns: int) -> LoopProgram:
    n = len(parents)
    loop = LoopBuilder("solver", {"M": (n, n), "B": (n, columns)}, {"X": (n, columns), "L": (n, n)})
    loop.copy(loop["L"], loop["M"])
    loop.copy(loop["X"], loop["B"])
    factor(loop, Forest(parents), loop["L"])
    solve_rows(loop, Forest(parents), loop["L"], loop["X"])
    return loop.program()


@every_forest
@pytest.mark.parametrize("backend", first(["llvm", "interpreter"], 1))
def test_factor_and_solve(parents: tuple[int, ...], backend: str) -> None:
    n, M = len(parents), definite(parents)
    related = hangs_on(parents) | hangs_on(parents).T | np.eye(n, dtype=bool)
    rng = np.random.default_rng(1)
    for B in (np.where(related, rng.normal(size=(n, n)), 0.0), np.eye(n), rng.normal(size=(n, 1))):
        X, F = build(solver(parents, B.shape[1]), backend)(M, B)
        L = np.where(hangs_on(parents), F, 0.0) + np.eye(n)
        assert np.allclose(L.T @ np.diag(1.0 / np.diag(F)) @ L, M, atol=1e-13)
        assert np.allclose(M @ X, B, atol=1e-12)


def test_an_index_hangs_on_a_smaller_one() -> None:
    with pytest.raises(ValueError, match="index 1 has the parent 1"):
        Forest((-1, 1))
