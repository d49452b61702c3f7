"""Monte Carlo studies: what they estimate, when they stop, what they say of failed items, and that items stay."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.studies import Choice, Normal, Range, Space, Values, monte_carlo
from kinemorph.studies.statistics.intervals import Estimate, probability_estimate

PARTS = {"a": Range(0.0, 1.0), "b": Normal(0.0, 1.0)}
RUNS: list[float] = []


def thrown(a: float, b: float) -> dict[str, Any]:
    """A model with a known mean of `sum`, 0.5, and a known probability of `high`, 0.1."""
    RUNS.append(a)
    return {"sum": a + b, "high": a > 0.9}


def plain(a: float, b: float) -> dict[str, Any]:
    return {"sum": a + b, "high": a > 0.9}


def breaking(a: float, b: float) -> dict[str, Any]:
    if a > 0.9:
        raise ValueError("a is too large")
    return {"sum": a + b, "high": b > 0.0}


def test_estimates_of_a_count() -> None:
    found = monte_carlo(thrown, PARTS, count=400, workers=0)
    assert found.measures == ("high", "sum")
    assert found.probabilities == ("high",)
    assert found["sum"].low < 0.5 < found["sum"].high
    assert found["high"].low < 0.1 < found["high"].high
    assert found["sum"].error == pytest.approx(1.96 * math.sqrt(13.0 / 12.0 / 400.0), rel=0.1)
    assert found.pilot == 0 and len(found.study) == 400 and not found.notes
    median = found.quantiles("sum")[0.5]
    assert median.low < 0.5 < median.high
    assert "mean" in str(found) and "probability" in str(found)


def test_items_are_added_until_the_error_is_reached() -> None:
    found = monte_carlo(thrown, PARTS, error={"high": 0.05}, workers=0)
    assert found.reached and found["high"].error <= 0.05
    assert found.pilot >= 100 and len(found.values) == found.pilot + found.count == len(found.study)
    assert not found.notes


def test_most_items_without_the_error_is_told() -> None:
    found = monte_carlo(thrown, PARTS, error=0.01, most=300, workers=0)
    assert not found.reached and len(found.values) == 300
    assert "The error of 'sum' is 0.1" in found.notes[1] and "raise most" in found.notes[1]


def test_interrupted_pilot_is_told() -> None:
    seen: list[float] = []

    def interrupted(a: float, b: float) -> dict[str, Any]:
        seen.append(a)
        if len(seen) == 30:
            raise KeyboardInterrupt
        return plain(a, b)

    found = monte_carlo(interrupted, PARTS, error={"sum": 0.01}, workers=0)
    assert (found.count, found.reached) == (0, False) and 0 < found.pilot < 30
    (note,) = found.notes  # and none about an error that was not reached
    assert note.startswith("The study is not finished: nothing is estimated before its pilot is done.")
    assert not len(found.convergence("sum").counts)


def test_items_stay_when_more_are_added(tmp_path: Path) -> None:
    store = tmp_path / "throws.study"
    few = monte_carlo(plain, PARTS, count=50, store=store, workers=0)
    more = monte_carlo(plain, PARTS, count=80, store=store, workers=0)
    np.testing.assert_array_equal(more.values[:50], few.values)
    assert few.study.status.done == 50 and more.study.status.done == 80
    assert more.study.tally is not None and more.study.tally.done == 30  # no item is computed twice
    other = monte_carlo(plain, Space({**PARTS, "b": Normal(0.0, 2.0)}, design="random", count=50), workers=0)
    np.testing.assert_array_equal(other.values[:, 0], few.values[:, 0])  # a part has random numbers of its own
    assert not np.array_equal(monte_carlo(plain, PARTS, count=50, seed=1, workers=0).values, few.values)


def test_failed_items_are_counted_and_told() -> None:
    found = monte_carlo(breaking, PARTS, count=300, workers=0)
    assert found.failed.low < 0.1 < found.failed.high
    assert found["sum"].count == 300 - len(found.study.failed)
    assert found["sum"].low < 0.45 < found["sum"].high  # the mean of items that finish
    assert "failed" in found.notes[0] and "Whatever 'high' were" in found.notes[1]
    some = monte_carlo(lambda a, b: {"a": a, "b": b} if a < 0.5 else {"a": a}, PARTS, count=40, workers=0)
    assert some.failed.value == 0.0 and not any("failed" in note for note in some.notes)  # some have one measure only
    with pytest.raises(UnsupportedError, match=r"a share is 1\.5, expected a number between 0 and 1"):
        some.quantiles("a", [1.5])
    with pytest.raises(KinemorphError, match="all of its first 100 items failed"):
        monte_carlo(breaking, {"a": Range(0.95, 1.0), "b": Range(0.0, 1.0)}, error=0.1, workers=0)


def test_what_is_said_of_failed_items_is_of_those_after_the_pilot_at_the_level_of_the_look() -> None:
    found = monte_carlo(breaking, PARTS, error={"high": 0.08}, workers=0)
    (look, _), later = found.staged.history[-1], found.values[found.pilot :]
    failed, true = int(np.isnan(later[:, 0]).sum()), int(np.nansum(later[:, 0]))
    assert found.pilot and found.measures[0] == "high" and look.alpha < 0.05
    assert found.failed == probability_estimate(failed, look.count, look.alpha)
    low = probability_estimate(true, look.count, look.alpha).low
    high = probability_estimate(true + failed, look.count, look.alpha).high
    assert found.notes[1].endswith(f"its probability is in {low:.4g} to {high:.4g}.")


def test_equal_items_are_computed_once_and_counted_as_drawn() -> None:
    RUNS.clear()
    found = monte_carlo(thrown, {"a": Choice(0.5, 1.0), "b": Values([0.0, 1.0])}, count=60, workers=0)
    assert len(RUNS) == 4 and found["high"].count == 60
    assert found["high"].low < 0.5 < found["high"].high
    assert "56 items of 60 were drawn before" in found.notes[0]


def test_skewed_values_are_told() -> None:
    found = monte_carlo(lambda b: math.exp(3.0 * b), {"b": Normal(0.0, 1.0)}, count=50, workers=0)
    assert "skewed" in found.notes[0]


@pytest.mark.parametrize("options", [{"count": 50}, {"error": 0.1, "most": 300}])
@pytest.mark.parametrize("scale", [1e-180, 1.0, 1e150])
def test_values_that_differ_by_rounding_only_and_those_of_any_size_are_estimated(
    options: dict[str, Any], scale: float
) -> None:
    other = scale * math.nextafter(0.1, 1.0)
    found = monte_carlo(lambda a: other if a > 0.9 else scale * 0.1, {"a": Range(0.0, 1.0)}, workers=0, **options)
    assert found["value"].value == pytest.approx(scale * 0.1)


def test_equal_values_say_nothing_of_rarer_ones_and_the_notes_say_so() -> None:
    found = monte_carlo(lambda a: 100.0 if a > 0.9999 else 5.0, {"a": Range(0.0, 1.0)}, error=0.1, workers=0)
    assert found["value"] == Estimate(5.0, 5.0, 5.0, 32)
    rare = 100.0 * (1.0 - 0.05 ** (1.0 / 32.0))  # where 32 values of which none is another one are seen in 5 %
    assert found.notes == (
        f"All 32 values of 'value' are 5: its interval says nothing of other values, which may be up to {rare:.3g} % "
        "of all.",
    )


def test_design_of_a_space_is_not_used_and_told() -> None:
    found = monte_carlo(thrown, Space(PARTS, design="latin", count=16), count=20, workers=0)
    assert "The design 'latin' of the space is not used" in found.notes[0]


def test_convergence_ends_at_the_estimate() -> None:
    found = monte_carlo(thrown, PARTS, count=100, workers=0)
    curve = found.convergence("sum")
    assert Estimate(curve.value[-1], curve.low[-1], curve.high[-1], int(curve.counts[-1])) == found["sum"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"confidence": 95}, "confidence is 95, expected a number between 0 and 1"),
        ({"error": 0.1, "count": 10}, "both error and count are given"),
        ({"error": {"hight": 0.1}}, "no measure 'hight'.*Did you mean 'high'"),
        ({"error": -1.0}, "is -1.0, expected a number above 0"),
        ({"count": 1}, "count is 1, expected a whole number of 2 or more"),
        ({"count": 0}, "count is 0, expected a whole number of 2 or more"),
        ({"confidence": "high"}, "confidence is 'high', expected a number"),
        ({"seed": -1}, "seed is -1, expected a whole number of 0 or more"),
    ],
)
def test_bad_options_are_refused_before_any_work(options: dict[str, Any], sentence: str) -> None:
    RUNS.clear()
    with pytest.raises(UnsupportedError, match=sentence):
        monte_carlo(thrown, PARTS, {"high": "high", "sum": "sum"}, workers=0, **options)
    with pytest.raises(UnsupportedError, match="expected a Space or a mapping"):
        monte_carlo(thrown, [1, 2], workers=0)  # type: ignore[arg-type]
    assert not RUNS
