"""Intervals hold the truth as often as they say, stopping rules included; Sobol and Morris find known indices."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from kinemorph.studies.statistics.intervals import (
    mean_estimate,
    needed_by_skewness,
    probability_estimate,
    quantile_estimate,
)
from kinemorph.studies.statistics.morris import elementary_effects, morris_indices, morris_step, morris_trajectories
from kinemorph.studies.statistics.sobol import (
    SaltelliValues,
    first_and_total,
    interactions,
    saltelli_points,
    saltelli_values,
    sobol_indices_of,
)
from kinemorph.studies.statistics.stages import FEWEST, needed_for_mean, planned_looks, sample_in_stages
from support.studies.known_functions import (
    ISHIGAMI_FIRST,
    ISHIGAMI_SECOND,
    ISHIGAMI_TOTAL,
    MORRIS_INPUTS,
    ishigami,
    morris_effects,
    morris_function,
)

ALPHA = 0.05

# ── intervals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_student_interval_is_that_of_the_textbook() -> None:
    found = mean_estimate(np.array([1.0, 2.0, 3.0, 4.0]), ALPHA)
    assert found.value == 2.5
    assert found.error == pytest.approx(3.182446 * math.sqrt(5.0 / 3.0) / 2.0, rel=1e-6)  # t(3) of tables: 3.182
    assert mean_estimate(np.array([1.0]), ALPHA).error == math.inf


@pytest.mark.parametrize("count", [5, 30, 300])
def test_interval_of_a_probability_holds_every_probability_often_enough(count: int) -> None:
    """The coverage is a finite sum of binomial probabilities, so that nothing is left to chance."""
    bounds = [probability_estimate(true, count, ALPHA) for true in range(count + 1)]
    low, high = np.array([one.low for one in bounds]), np.array([one.high for one in bounds])
    for p in (0.0, 0.001, 0.02, 0.1, 0.37, 0.5, 0.9, 1.0):
        holds = (low <= p) & (p <= high)
        assert stats.binom.pmf(np.arange(count + 1), count, p)[holds].sum() >= 1.0 - ALPHA


def test_interval_of_a_quantile_holds_for_a_skewed_distribution() -> None:
    chance = np.random.default_rng(1)
    truth = stats.lognorm.ppf(0.9, 1.0)
    found = [quantile_estimate(chance.lognormal(size=60), 0.9, ALPHA) for _ in range(150)]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.91
    assert quantile_estimate(np.arange(5.0), 0.99, ALPHA).high == math.inf  # five values say nothing about it


def test_skewed_values_need_more_of_them() -> None:
    chance = np.random.default_rng(0)
    assert needed_by_skewness(chance.normal(size=1000)) < 10
    assert needed_by_skewness(chance.exponential(size=1000)) > 50


# ── stages ────────────────────────────────────────────────────────────────────────────────────────────────────────────

DRAWS: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], float, float]] = {
    "normal": (lambda chance, n: chance.normal(size=n), 0.0, 0.1),
    "uniform": (lambda chance, n: chance.random(n), 0.5, 0.02),
    "exponential": (lambda chance, n: chance.exponential(size=n), 1.0, 0.1),
    **{
        f"probability {p}": (lambda chance, n, p=p: (chance.random(n) < p) * 1.0, p, error)
        for p, error in ((0.5, 0.04), (0.1, 0.03), (0.02, 0.015), (0.002, 0.01))
    },
}


def _missed(name: str, repetitions: int) -> tuple[float, float]:
    """The shares of repetitions that missed the truth, and that reached the error."""
    draw, truth, error = DRAWS[name]
    missed = reached = 0
    for k in range(repetitions):
        values = draw(np.random.default_rng((k, 5)), 20_000)[:, None]
        found = sample_in_stages(lambda n, values=values: values[:n], {0: error}, alpha=ALPHA, pilot=100, most=20_000)
        estimate = found.history[-1][1][0]
        missed += not estimate.low <= truth <= estimate.high
        reached += found.reached
        assert not found.reached or estimate.error <= error
    return missed / repetitions, reached / repetitions


def test_alpha_is_shared_out_over_all_looks() -> None:
    looks = list(planned_looks(100, 5000, ALPHA))
    assert [look.count for look in looks] == [100, 300, 900, 2700, 5000]
    assert sum(look.alpha for look in looks) == pytest.approx(ALPHA)


@pytest.mark.parametrize("name", ["normal", "probability 0.1"])
def test_stopping_at_an_error_keeps_the_confidence(name: str) -> None:
    missed, reached = _missed(name, 30)
    assert missed <= 0.17  # 6 misses of 30, where each has a probability of 5 %, have one of 0.3 %
    assert reached == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWS)
def test_stopping_at_an_error_keeps_the_confidence_in_2000_repetitions(name: str) -> None:
    missed, reached = _missed(name, 2000)
    print(f"{name}: missed {100 * missed:.2f} %, reached {100 * reached:.1f} %")
    assert missed <= ALPHA + 3.0 * math.sqrt(ALPHA * (1.0 - ALPHA) / 2000)
    assert reached == 1.0


@pytest.mark.slow
def test_stopping_at_the_first_narrow_interval_would_not_keep_it() -> None:
    """What the stages avoid: waiting time and mean of skewed values go together, so that an early stop is a miss."""
    eager = staged = 0
    for k in range(200):
        values = np.random.default_rng((k, 5)).exponential(size=(500, 1))
        found = (mean_estimate(values[:count, 0], ALPHA) for count in range(5, 500))
        first = next(one for one in found if one.error <= 0.5)
        eager += not first.low <= 1.0 <= first.high
        planned = sample_in_stages(lambda n, values=values: values[:n], {0: 0.5}, alpha=ALPHA, pilot=100, most=500)
        last = planned.history[-1][1][0]
        staged += not last.low <= 1.0 <= last.high
    assert eager / 200 > 0.15
    assert staged / 200 < 0.09


def test_pilot_is_in_no_estimate() -> None:
    values = np.concatenate([np.full(100, 1e3) + np.arange(100), np.random.default_rng(0).normal(size=9900)])[:, None]
    found = sample_in_stages(lambda n: values[:n], {0: 5.0}, alpha=ALPHA, pilot=100, most=10_000)
    assert found.pilot == 100
    assert abs(found.history[0][1][0].value) < 1.0


def test_most_values_are_enough_or_not() -> None:
    values = np.random.default_rng(0).normal(size=(500, 1))
    found = sample_in_stages(lambda n: values[:n], {0: 0.01}, alpha=ALPHA, pilot=50, most=500)
    assert not found.reached
    assert found.needed is not None and found.needed > 20_000
    assert [look.count for look, _ in found.history] == [450]
    assert found.history[0][0].alpha == pytest.approx(ALPHA)  # one look has all of it


# ── Sobol ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ishigami_values(count: int, seed: int, second: bool = False) -> SaltelliValues:
    points = math.pi * (2.0 * saltelli_points(count, 3, seed, second=second) - 1.0)
    return saltelli_values(ishigami(*np.moveaxis(points, -1, 0)), 3)


def test_indices_are_those_of_scipy() -> None:
    values = _ishigami_values(64, 3)
    theirs = stats.sobol_indices(func={"f_A": values.a, "f_B": values.b, "f_AB": values.ab[:, None, :]}, n=64)
    first, total = first_and_total(values)
    np.testing.assert_allclose(first, theirs.first_order, rtol=1e-12)
    np.testing.assert_allclose(total, theirs.total_order, rtol=1e-12)


def test_indices_of_ishigami_are_the_known_ones() -> None:
    found = sobol_indices_of(_ishigami_values(1024, 0, second=True), ALPHA)
    np.testing.assert_allclose(ISHIGAMI_FIRST, [0.3139, 0.4424, 0.0], atol=5e-5)
    np.testing.assert_allclose(ISHIGAMI_TOTAL, [0.5576, 0.4424, 0.2437], atol=5e-5)
    for name, truth in (("first", ISHIGAMI_FIRST), ("total", ISHIGAMI_TOTAL)):
        assert np.all((found[name].low <= truth) & (truth <= found[name].high))
        np.testing.assert_allclose(found[name].value, truth, atol=0.05)
        assert np.all(found[name].high - found[name].low < 0.25)
    upper = np.triu_indices(3, 1)
    assert np.all((found["second"].low <= ISHIGAMI_SECOND)[upper] & (found["second"].high >= ISHIGAMI_SECOND)[upper])


def test_indices_converge_to_the_known_ones() -> None:
    first, total = first_and_total(_ishigami_values(2**14, 1))
    np.testing.assert_allclose(first, ISHIGAMI_FIRST, atol=4e-3)
    np.testing.assert_allclose(total, ISHIGAMI_TOTAL, atol=4e-3)
    second = interactions(_ishigami_values(2**14, 1, second=True))
    np.testing.assert_allclose(second[~np.eye(3, dtype=bool)], ISHIGAMI_SECOND[~np.eye(3, dtype=bool)], atol=6e-3)


def _sum_values(count: int, seed: int) -> SaltelliValues:
    """A sum of eight parts with variances from 1 to 8."""
    return saltelli_values(saltelli_points(count, 8, seed) @ np.sqrt(np.arange(1.0, 9.0)), 8)


@pytest.mark.slow
def test_intervals_of_indices_hold_the_truth() -> None:
    """Of the Ishigami function, of a truth value, and of a sum of many parts."""

    def beyond(count: int, seed: int) -> SaltelliValues:
        points = saltelli_points(count, 3, seed)
        return saltelli_values((points[..., 0] + points[..., 1] * points[..., 2] > 0.9) * 1.0, 3)

    share = np.arange(1.0, 9.0) / 36.0
    cases = {
        "Ishigami": (_ishigami_values, (ISHIGAMI_FIRST, ISHIGAMI_TOTAL)),
        "truth value": (beyond, first_and_total(beyond(2**18, 999))),
        "sum": (_sum_values, (share, share)),
    }
    for name, (values_of, truths) in cases.items():
        held = np.zeros((2, len(truths[0])))
        for seed in range(200):
            found = sobol_indices_of(values_of(256, seed), ALPHA)
            for j, (index, truth) in enumerate(zip(("first", "total"), truths, strict=True)):
                held[j] += (found[index].low <= truth) & (truth <= found[index].high)
        print(f"{name}: {held / 200}")
        assert np.mean(held / 200) >= 0.94
        assert np.all(held / 200 >= 0.90)


def test_rows_of_a_design_stay_when_it_grows() -> None:
    np.testing.assert_array_equal(saltelli_points(32, 4, 7), saltelli_points(64, 4, 7)[:, :32])
    small, large = morris_trajectories(3, 5, 4, 7), morris_trajectories(9, 5, 4, 7)
    np.testing.assert_array_equal(small.points, large.points[:3])
    assert not np.array_equal(saltelli_points(32, 4, 7), saltelli_points(32, 4, 8))


def test_measure_that_does_not_vary_has_no_indices() -> None:
    found = sobol_indices_of(saltelli_values(np.ones((5, 32)), 3), ALPHA)
    assert np.isnan(found["first"].value).all()


# ── Morris ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_trajectories_change_each_part_once_and_visit_all_levels() -> None:
    found = morris_trajectories(400, 3, 4, 0)
    changes = np.diff(found.points, axis=1)
    assert np.all(np.sum(changes != 0.0, axis=2) == 1)
    assert np.all(np.sum(changes != 0.0, axis=1) == 1)
    np.testing.assert_allclose(np.abs(changes[changes != 0.0]), morris_step(4))
    levels, visits = np.unique(found.points.round(12), return_counts=True)
    np.testing.assert_allclose(levels, [0.0, 1 / 3, 2 / 3, 1.0])
    assert visits.min() > 0.9 * visits.mean()


@pytest.mark.parametrize("remainder", [False, True])
def test_effects_of_morris_own_example_are_the_exact_ones(remainder: bool) -> None:
    """The 20 inputs of Morris (1991), section 4. Means and deviations of all effects are found by enumeration."""
    count = 400
    trajectories = morris_trajectories(count, MORRIS_INPUTS, 4, 0)
    values = morris_function(trajectories.points, remainder=remainder)
    found = morris_indices(elementary_effects(values, trajectories), ALPHA, 50, 0)
    mu, sigma = morris_effects(remainder=remainder)
    np.testing.assert_array_less(np.abs(found["mu"].value - mu), 4.0 * sigma / math.sqrt(count) + 1e-9)
    np.testing.assert_allclose(found["sigma"].value, sigma, rtol=0.25, atol=1e-9)
    held = np.sum((found["mu"].low <= mu + 1e-9) & (mu - 1e-9 <= found["mu"].high))
    assert held >= 17  # of 20, each with 95 %


def test_morris_example_has_the_three_kinds_of_inputs_of_his_paper() -> None:
    trajectories = morris_trajectories(20, MORRIS_INPUTS, 4, 2)
    values = morris_function(trajectories.points, remainder=True)
    found = morris_indices(elementary_effects(values, trajectories), ALPHA, 20, 0)
    sizes, spread = found["mu_star"].value, found["sigma"].value
    assert np.all(sizes[:10] > 2.0 * sizes[10:].max())  # the first ten matter, the others do not
    assert np.all(spread[7:10] < 0.25 * sizes[7:10])  # 8, 9 and 10 act linearly and alone
    assert np.all(spread[:7] > 0.4 * sizes[:7])  # 1 to 6 interact, 7 is nonlinear


def test_missing_values_leave_out_their_effects_only() -> None:
    trajectories = morris_trajectories(6, 3, 4, 0)
    values = trajectories.points @ np.array([1.0, 2.0, 3.0])
    values[0, 0] = math.nan
    effects = elementary_effects(values, trajectories)
    assert np.isnan(effects).sum() == 1
    np.testing.assert_allclose(morris_indices(effects, ALPHA, 10, 0)["mu"].value, [1.0, 2.0, 3.0])


def test_interval_of_a_quantile_has_the_tightest_ranks_of_the_binomial_distribution() -> None:
    for count, share in ((40, 0.5), (60, 0.05), (200, 0.9)):
        found = quantile_estimate(np.arange(1.0, count + 1.0), share, 0.05)
        below = stats.binom(count, share).cdf(np.arange(count + 1))  # the probability that so many are below, or fewer
        low = max((rank for rank in range(1, count + 1) if below[rank - 1] <= 0.025), default=-math.inf)
        high = min((rank for rank in range(1, count + 1) if 1.0 - below[rank - 1] <= 0.025), default=math.inf)
        assert (found.low, found.high) == (low, high)


def test_items_that_fail_are_planned_for() -> None:
    values = np.random.default_rng(0).normal(size=(4000, 1))
    some = np.where(np.arange(4000)[:, None] % 2, values, np.nan)
    whole, half = (
        sample_in_stages(lambda count, one=one: one[:count], {0: 0.1}, alpha=0.05, pilot=100, most=4000)  # type: ignore[misc]
        for one in (values, some)
    )
    assert whole.needed is not None and half.needed is not None and 1.5 < half.needed / whole.needed < 2.5


def test_a_pilot_plans_for_skewness_grows_for_small_errors_and_says_what_is_no_probability() -> None:
    chance = np.random.default_rng(0)
    pilot = chance.lognormal(size=100)
    assert needed_for_mean(pilot, 100.0, ALPHA) == needed_by_skewness(pilot) > FEWEST
    values = chance.normal(size=(20_000, 1))
    found = sample_in_stages(lambda n: values[:n], {0: 0.03}, alpha=ALPHA, pilot=100, most=20_000)
    assert found.pilot == pytest.approx(found.needed / 10.0, rel=0.1) and found.pilot > 300  # type: ignore[operator]
    values = (chance.random((2000, 1)) < 0.5).astype(float)
    values[0] = 0.5  # which only the pilot has
    found = sample_in_stages(lambda n: values[:n], {0: 0.05}, alpha=ALPHA, pilot=100, most=2000)
    ((look, (estimate,)),) = found.history
    assert estimate == mean_estimate(values[found.pilot : found.pilot + look.count, 0], look.alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.32])
def test_interval_of_sigma_has_the_width_of_the_level_that_is_asked_for(alpha: float) -> None:
    """The deviation of n normal effects has itself a deviation of sigma / sqrt(2 n)."""
    effects = 3.0 * np.random.default_rng(0).normal(size=(400, 1))
    sigma = morris_indices(effects, alpha, 4000, 0)["sigma"]
    reach = stats.norm.isf(alpha / 2) * sigma.value / math.sqrt(800.0)
    np.testing.assert_allclose([sigma.value - sigma.low, sigma.high - sigma.value], [reach, reach], rtol=0.12)


@pytest.mark.parametrize("draw", ["normal", "uniform"])
@pytest.mark.parametrize("count", [4, 20])
def test_interval_of_sigma_holds_the_truth_from_few_effects(draw: str, count: int) -> None:
    chance = np.random.default_rng(1)
    effects, truth = chance.normal(size=(count, 250)), 1.0
    if draw == "uniform":
        effects, truth = chance.uniform(size=(count, 250)), 12.0**-0.5
    sigma = morris_indices(effects, ALPHA, 300, 0)["sigma"]
    assert (
        np.mean((sigma.low <= truth) & (truth <= sigma.high)) > 1.0 - 2.0 * ALPHA
    )  # of 250 studies, about 1.4 % is chance


def test_interval_of_sigma_of_equal_effects_and_of_too_few_is_none_or_all() -> None:
    equal = morris_indices(np.full((10, 1), 2.0), ALPHA, 300, 0)["sigma"]
    assert [one.tolist() for one in equal] == [[0.0], [0.0], [0.0]]
    few = morris_indices(np.array([[1.0], [2.0], [4.0]]), ALPHA, 300, 0)["sigma"]
    assert (few.low[0], few.high[0]) == (0.0, math.inf) and few.value[0] == pytest.approx(np.std([1, 2, 4], ddof=1))


@pytest.mark.parametrize(("pilot", "most", "left"), [(100, 199, 199), (100, 200, 100), (10, 41, 41), (10, 42, 32)])
def test_a_pilot_takes_at_most_half_of_the_values_and_leaves_a_look(pilot: int, most: int, left: int) -> None:
    values = np.random.default_rng(0).normal(size=(most, 1))
    found = sample_in_stages(lambda count: values[:count], {0: 1e-3}, alpha=ALPHA, pilot=pilot, most=most)
    assert found.history[-1][0].count == left == most - found.pilot and not found.reached
