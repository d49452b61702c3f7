"""Estimates and indices of statistical studies that are not finished: they claim no more than their items tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies import Range, Space, sweep
from kinemorph.studies.spaces.designs import unit_points
from kinemorph.studies.spaces.distinct import distinct
from kinemorph.studies.statistics.measured_items import MeasuredItems, stored_items
from kinemorph.studies.statistics.monte_carlo import MonteCarlo, estimated
from kinemorph.studies.statistics.morris import morris_trajectories
from kinemorph.studies.statistics.plans import MonteCarloPlan, SensitivityPlan
from kinemorph.studies.statistics.sensitivity import analyzed
from kinemorph.studies.statistics.sobol import saltelli_points
from kinemorph.studies.statistics.stages import sample_in_stages

SPACE = Space({"a": Range(0.0, 1.0), "b": Range(0.0, 1.0)}, design="random", count=10)


def added(a: float, b: float) -> float:
    return a + b


def begun(points: np.ndarray, count: int, model: Callable[..., float] = added) -> MeasuredItems:
    """The items at points (n, 2) of the unit cube, of which the first `count` have results."""
    items = distinct(SPACE.at(points))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = sweep(model, items.taken(slice(count)), workers=0)
    return stored_items(SPACE, study, ("value",))


def drawn(count: int, **options: float) -> MonteCarlo:
    """What a Monte Carlo study has found of which `count` items have results."""
    points = unit_points("random", SPACE.dimensions, 300, 0)
    return estimated(begun(points, count), MonteCarloPlan(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, 60, 130, 260])
def test_an_unfinished_study_claims_neither_items_nor_an_error_that_it_does_not_have(count: int) -> None:
    found = drawn(count, error=0.02)
    assert found.pilot + found.count == len(found.values) == count
    assert not found.reached and len(found.notes) == 1 and found.notes[0].startswith("The study is not finished")
    assert f"Monte Carlo study of {found.count} items" in str(found) and found.measures == ("value",)
    assert (len(found.convergence("value").counts) > 0) == (found.count > 0) == (count == 260)


def test_a_narrow_interval_before_the_planned_look_does_not_reach_an_error() -> None:
    values = np.random.default_rng(0).normal(size=(10_000, 1))

    def interrupted(count: int) -> np.ndarray:
        return values[: min(count, there)]

    there = len(values)
    whole = sample_in_stages(interrupted, {0: 0.2}, alpha=0.05, pilot=100, most=10_000)
    assert whole.reached and whole.needed is not None
    there = whole.pilot + whole.needed - 1  # one item is missing, and the interval is narrow enough already
    part = sample_in_stages(interrupted, {0: 0.2}, alpha=0.05, pilot=100, most=10_000)
    assert part.history[-1][1][0].error < 0.2 and not part.reached


def picky(a: float, b: float) -> float:
    if a > 0.9:
        raise ValueError("a is too large")
    return a + b


def test_sobol_indices_of_an_unfinished_design_need_as_many_whole_rows_as_those_of_a_finished_one() -> None:
    points = np.swapaxes(saltelli_points(1024, 2, 0), 0, 1).reshape(-1, 2)
    found = analyzed(begun(points, 32 * 4, picky), SensitivityPlan(count=1024))
    lost = int(np.isnan(found.values[: 32 * 4, 0].reshape(32, 4)).any(axis=1).sum())
    assert 0 < lost < 10  # few of 1024, but not of 32
    assert np.isnan(found["value"]["total"].value).all() and np.isnan(found["value"]["first"].value).all()
    assert found.notes[0].startswith("The study is not finished: 992 of 1024 rows wait.")
    assert found.notes[1].startswith(f"'value' has no indices: {lost} of 32 rows")
    assert f"from {np.isfinite(found.values).sum()} points" in found.heading


@pytest.mark.parametrize("count", [0, 1, 4, 12])
def test_effects_of_morris_so_far_are_those_of_pairs_that_have_results(count: int) -> None:
    trajectories = morris_trajectories(4, 2, 4, 0)
    found = analyzed(begun(trajectories.points.reshape(-1, 2), count), SensitivityPlan("morris", 4))
    known = found["value"]["mu"].value
    np.testing.assert_allclose(known[np.isfinite(known)], 1.0)
    assert np.isfinite(known).any() == (count > 1)
    assert [note[:25] for note in found.notes[:1]] == ["The study is not finished"] * (count < 12)


def test_pages_and_pictures_of_a_study_that_has_found_nothing_say_so(tmp_path: Path) -> None:
    points = np.swapaxes(saltelli_points(64, 2, 0), 0, 1).reshape(-1, 2)
    morris = morris_trajectories(4, 2, 4, 0).points.reshape(-1, 2)
    for found in (
        drawn(3, error=0.02),
        analyzed(begun(points, 8), SensitivityPlan(count=64)),
        analyzed(begun(morris, 1), SensitivityPlan("morris", 4)),
    ):
        page = found.page(tmp_path / "page.html").read_text(encoding="utf-8")
        assert "The study is not finished" in page and "the best item so far" in page  # pictures of its items
        with pytest.raises(UnsupportedError, match=r"'value' has neither estimates nor indices .* is not finished"):
            found.plot()
        assert "No picture" in found._repr_html_()


def test_a_study_without_any_measure_says_so() -> None:
    with pytest.raises(KinemorphError, match="none of its items has a measure"):
        estimated(stored_items(SPACE, sweep(added, SPACE.items.taken(slice(0)), workers=0), ()), MonteCarloPlan())
