"""Columns chosen by elimination: as many as the rank, by pivots, in order, or after others."""

import numpy as np
import pytest

from kinemorph.mechanics.constraints.independent_columns import independent_columns

A = np.array([[1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0]])  # rank 2, column 1 = 2 column 0


@pytest.mark.parametrize("fair", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_as_many_as_the_rank(rank: int, fair: float) -> None:
    rng = np.random.default_rng(rank)
    B = rng.normal(size=(5, rank)) @ rng.normal(size=(rank, 7))
    chosen = independent_columns(B, least=1e-9, fair=fair)
    assert len(chosen) == rank == len(set(chosen))
    assert np.sum(np.linalg.svd(B[:, chosen], compute_uv=False) > 1e-9) == rank


def test_pivots_take_the_longest_first_and_order_the_first() -> None:
    assert independent_columns(A, least=1e-9) == [2, 3]
    assert independent_columns(A, least=1e-9, fair=0.0) == [0, 2]
    assert independent_columns(A, [3, 1, 0], least=1e-9, fair=0.0) == [3, 1]


def test_columns_taken_before_decide_what_is_left() -> None:
    assert independent_columns(A, [0, 1], least=1e-9, taken=[3]) == [3, 1]
    assert independent_columns(A, least=1e-9, taken=[0], count=1) == [0]


def test_each_column_may_have_its_own_bound() -> None:
    assert independent_columns(A, least=np.array([0.0, 0.0, 9.0, 9.0]), fair=0.0) == [0]
