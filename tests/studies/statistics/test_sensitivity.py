"""Sensitivity studies by sweeps: known functions, failed items, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from kinemorph.errors import UnsupportedError
from kinemorph.studies import Choice, LogNormal, Normal, Range, Space, Triangular, Values, sensitivity
from kinemorph.studies.statistics.sobol import saltelli_points, saltelli_values, sobol_indices_of
from support.studies.known_functions import (
    ISHIGAMI_FIRST,
    ISHIGAMI_TOTAL,
    MORRIS_INPUTS,
    ishigami,
    morris_effects,
    morris_function,
)

CUBE = {name: Range(-math.pi, math.pi) for name in ("x1", "x2", "x3")}


def test_sobol_indices_by_a_sweep_are_those_of_the_function() -> None:
    found = sensitivity(ishigami, CUBE, count=32, second=True, workers=0)
    points = math.pi * (2.0 * saltelli_points(32, 3, 0, second=True) - 1.0)
    expected = sobol_indices_of(saltelli_values(ishigami(*np.moveaxis(points, -1, 0)), 3), 0.05)
    (name,) = found.measures
    assert found.parts == ("x1", "x2", "x3") and len(found.study) == 32 * 8
    for index, bounded in expected.items():
        for ours, theirs in zip(found[name][index], bounded, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
    assert len(found.rows) == 9 and "x1, x3" in str(found)


@pytest.mark.slow
def test_sobol_indices_of_ishigami_by_a_sweep_are_the_known_ones() -> None:
    found = sensitivity(ishigami, CUBE, count=1024, workers=0)
    for index, truth in (("first", ISHIGAMI_FIRST), ("total", ISHIGAMI_TOTAL)):
        bounded = found["value"][index]
        assert np.all((bounded.low <= truth) & (truth <= bounded.high))
    print(found)


@pytest.mark.slow
def test_morris_own_example_by_a_sweep() -> None:
    def model(**values: float) -> float:
        return float(morris_function(np.array([values[f"x{k}"] for k in range(MORRIS_INPUTS)]), remainder=True))

    space = {f"x{k}": Range(0.0, 1.0) for k in range(MORRIS_INPUTS)}
    found = sensitivity(model, space, method="morris", count=100, workers=0)
    order = [found.parts.index(name) for name in space]
    mu, sigma = morris_effects(remainder=True)
    indices = found[found.measures[0]]
    assert np.all(np.abs(indices["mu"].value[order] - mu) < 4.0 * sigma / 10.0 + 1e-9)


def linear(a: float, b: float, kind: str = "x") -> float:
    return 2.0 * a + 3.0 * b + {"x": 0.0, "y": 5.0, "z": 1.0}[kind]


def test_effects_of_a_linear_model_are_its_slopes() -> None:
    space = {"a": Range(0.0, 1.0), "b": Range(0.0, 2.0), "kind": Choice("x", "y")}
    found = sensitivity(linear, space, method="morris", count=4, workers=0)["value"]
    np.testing.assert_allclose(found["mu"].value[:2], [2.0, 6.0])  # from end to end of the range
    np.testing.assert_allclose(found["sigma"].value[:2], 0.0, atol=1e-12)
    assert found["mu"].value[2] == pytest.approx(5.0)  # from one label to the other


def test_distribution_without_ends_is_varied_between_quantiles() -> None:
    found = sensitivity(linear, {"a": Normal(0.0, 1.0), "b": Range(0.0, 1.0)}, method="morris", count=3, workers=0)
    assert "'" not in found.notes[0] and found.notes[0].startswith("a: a distribution without ends")
    assert found.study["a"].max() == pytest.approx(stats.norm.isf(0.01), abs=1e-9)


def test_only_an_end_that_values_do_not_come_near_to_is_replaced_by_a_quantile() -> None:
    logarithm = Normal(-0.5 * math.log(1.01), math.sqrt(math.log(1.01)))  # of a lognormal number
    parts = {"a": Normal(0.0, 1.0, low=-1.0), "b": LogNormal(1.0, 0.1), "c": Triangular(0.0, 1.0, 4.0)}
    study = sensitivity(lambda a, b, c: a + b + c, parts, method="morris", count=8, workers=0).study
    ends = [(study[name].min(), study[name].max()) for name in parts]
    above = stats.norm.isf(0.01 * stats.norm.sf(-1.0))  # of the truncated distribution, 99 % are below
    tails = np.exp(logarithm.quantiles(np.array([0.01, 0.99])))  # its numbers come nowhere near to 0
    np.testing.assert_allclose(ends, [(-1.0, above), tails, (0.0, 4.0)], atol=1e-6)


def test_study_is_refined_in_its_store(tmp_path: Path) -> None:
    store = tmp_path / "a.study"
    sensitivity(linear, {"a": Range(0.0, 1.0), "b": Range(0.0, 1.0)}, count=32, store=store, workers=0)
    found = sensitivity(linear, {"a": Range(0.0, 1.0), "b": Range(0.0, 1.0)}, count=64, store=store, workers=0)
    assert found.study.tally is not None
    assert found.study.tally.done == 32 * 4  # only the new rows


def test_rows_with_failed_items_are_left_out_where_that_is_legitimate() -> None:
    def seldom(a: float, b: float) -> float:
        if a > limit:
            raise ValueError("a is too large")
        return 2.0 * a + 3.0 * b

    space = {"a": Range(0.0, 1.0), "b": Range(0.0, 1.0)}
    limit = 0.999
    few = sensitivity(seldom, space, count=1024, workers=0)
    assert "of 1024 rows" in few.notes[0]
    np.testing.assert_allclose(few["value"]["total"].value, np.array([4.0, 9.0]) / 13.0, atol=0.03)
    limit = 0.8
    many = sensitivity(seldom, space, count=64, workers=0)
    assert "has no indices" in many.notes[0] and np.isnan(many["value"]["total"].value).all()
    effects = sensitivity(seldom, space, method="morris", count=10, workers=0)
    assert "misses" in effects.notes[0]
    np.testing.assert_allclose(effects["value"]["mu"].value, [2.0, 3.0])


def test_effects_of_listed_values_are_those_from_end_to_end() -> None:
    space = {"a": Range(0.0, 2.0), "b": Choice(1.0, 4.0), "c": Values([0.0, 1.0, 2.0]), "d": Choice("x", "y")}
    found = sensitivity(lambda a, b, c, d: 3 * a - b + 2 * c + 5 * (d == "y"), space, method="morris", workers=0)
    np.testing.assert_allclose(found["value"]["mu"].value, [6.0, -3.0, 4.0, 5.0])
    np.testing.assert_allclose(found["value"]["sigma"].value, 0.0, atol=1e-12)


@pytest.mark.parametrize("part", [Values([3.0, 1.0, 2.0]), Choice(2.0, 3.0, 1.0)])
def test_effects_of_listed_numbers_do_not_depend_on_their_order(part: Any) -> None:
    found = sensitivity(linear, {"a": part, "b": Range(0.0, 1.0)}, method="morris", count=8, workers=0)["value"]
    np.testing.assert_allclose(found["mu"].value, [4.0, 3.0])  # from the smallest to the largest
    np.testing.assert_allclose(found["sigma"].value, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("space", "options", "sentence"),
    [
        (CUBE, {"count": 100}, "count is 100, expected a power of two"),
        (CUBE, {"method": "fast"}, "the method is 'fast', expected one of sobol, morris"),
        (CUBE, {"method": "morris", "levels": 3}, "levels is 3, expected an even number"),
        (CUBE, {"method": "morris", "resamples": 0}, "resamples is 0, expected a whole number of 1 or more"),
        (CUBE, {"seed": -1}, "seed is -1, expected a whole number of 0 or more"),
        ({"kind": Choice("x", "y", "z")}, {"method": "morris"}, "3 labels, which have no order"),
        ({"a": Choice(1.0)}, {}, "none of the parts a varies"),
        (
            Space({"a": Range(0, 1), "kind": Choice("x", "y")}, design="random", count=2, when={"a": {"kind": "x"}}),
            {},
            "a apply to some items only",
        ),
    ],
)
def test_what_has_no_indices_is_refused(space: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UnsupportedError, match=sentence):
        sensitivity(linear, space, workers=0, **options)
