"""Spaces of studies: parts, distributions, designs, conditions, unions, and what is refused."""

from __future__ import annotations

import itertools
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

from kinemorph.errors import KinemorphError, OptionWarning
from kinemorph.studies.items import items_of, key_of, label_column, number_column
from kinemorph.studies.spaces import distinct as distinct_module
from kinemorph.studies.spaces.designs import latin, unit_points
from kinemorph.studies.spaces.distinct import distinct
from kinemorph.studies.spaces.distributions import Distributed, LogNormal, Normal, Triangular
from kinemorph.studies.spaces.parts import Choice, Part, Range, Uniform, Values
from kinemorph.studies.spaces.space import Space

UNIT = np.linspace(0.001, 0.999, 57)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Normal(2.0, 0.5), stats.norm(2.0, 0.5)),
        (Normal(2.0, 0.5, low=1.5, high=4.0), stats.truncnorm(-1.0, 4.0, 2.0, 0.5)),
        (Triangular(-1.0, 0.0, 3.0), stats.triang(0.25, -1.0, 4.0)),
        (Triangular(-1.0, -1.0, 3.0), stats.triang(0.0, -1.0, 4.0)),
        (Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
        (Range(1e-3, 10.0, log=True), stats.loguniform(1e-3, 10.0)),
        (Distributed(stats.gamma(2.0)), stats.gamma(2.0)),
    ],
)
def test_distributions_are_those_of_scipy(part: Part, expected: Any) -> None:
    assert part.problems("a") == []
    np.testing.assert_allclose(part.at(UNIT), expected.ppf(UNIT), rtol=1e-12, atol=1e-12)
    assert np.isfinite(part.at(np.array([0.0, 1.0]))).all()


def test_a_lognormal_part_has_the_mean_and_deviation_that_it_is_given() -> None:
    logarithm = LogNormal(3.0, 0.7)._logarithm
    same = stats.lognorm(logarithm.deviation, scale=np.exp(logarithm.mean))
    assert same.mean() == pytest.approx(3.0) and same.std() == pytest.approx(0.7)
    np.testing.assert_allclose(LogNormal(3.0, 0.7).at(UNIT), same.ppf(UNIT))


def test_truncated_parts_keep_their_proportions() -> None:
    part = Triangular(0.0, 1.0, 2.0, low=0.5, high=1.0)
    whole = stats.triang(0.5, 0.0, 2.0)
    share = (whole.cdf(part.at(UNIT)) - whole.cdf(0.5)) / (whole.cdf(1.0) - whole.cdf(0.5))
    np.testing.assert_allclose(share, UNIT)


def test_truncated_parts_never_leave_their_limits() -> None:
    ends = np.array([0.0, 1.0])
    for low in np.random.default_rng(0).normal(size=50):
        values = Normal(0.0, 1.0, low=float(low), high=float(low) + 0.1).at(ends)
        assert low <= values[0] and values[1] <= low + 0.1  # also by no rounding


def test_a_grid_has_every_combination_and_the_last_part_varies_fastest() -> None:
    space = Space({"b": Range(0.0, 1.0, points=11), "a": Choice("x", "y"), "c": Values([3, 1])})
    expected = itertools.product([k / 10 for k in range(11)], "xy", [3.0, 1.0])  # 0.3, not 0.30000000000000004
    assert list(space.items) == [{"b": b, "a": a, "c": c} for b, a, c in expected]
    assert len(space) == 44
    assert Space({"a": Range(1e-2, 100.0, log=True, points=5)}).items.column("a").numbers.tolist() == [
        0.01,
        0.1,
        1.0,
        10.0,
        100.0,
    ]


def test_a_narrow_grid_has_different_values_within_its_range() -> None:
    part = Range(0.12345678901234567, 0.12345678901234597, points=5)
    assert part.problems("a") == [] and (np.diff(part.grid()) > 0.0).all()
    assert Choice(10**400, "b").labels == (f"{10**400}", "b")


def test_a_grid_with_conditions_has_the_distinct_ones_of_all_combinations() -> None:
    parts: dict[str, Part] = {  # conditions that come before and after the parts they name, and one upon another
        "lag": Range(0.0, 1.0, points=3),
        "gait": Choice("trot", "wave", "still"),
        "duty": Values([0.5, 0.75]),
        "foot": Choice("hard", "soft"),
        "damping": Values([1, 2, 3]),
    }
    when: dict[str, dict[str, Any]] = {
        "lag": {"gait": "wave"},
        "foot": {"duty": 0.5, "gait": ["trot", "wave"]},
        "damping": {"foot": "soft"},
    }
    space = Space(parts, when=when)
    every = []
    for lag, gait, duty, foot, damping in itertools.product(
        [0.0, 0.5, 1.0], ["trot", "wave", "still"], [0.5, 0.75], ["hard", "soft"], [1.0, 2.0, 3.0]
    ):
        item: dict[str, Any] = {"gait": gait, "duty": duty}
        if gait == "wave":
            item["lag"] = lag
        if duty == 0.5 and gait != "still":
            item["foot"] = foot
            if foot == "soft":
                item["damping"] = damping
        every.append(item)
    found = list(space.items)
    assert {key_of(item) for item in every} == set(space.items.keys)
    assert len(space) == len(found) == len({key_of(item) for item in every})
    order = [[item.get(name, -1) for name in ("lag", "gait")] for item in found]
    assert order == sorted(order, key=lambda row: (row[0], "trot wave still".index(str(row[1]))))
    sampled = Space(parts | {"lag": Range(0.0, 1.0)}, design="random", count=500, when=when)
    for item in sampled.items:
        assert ("lag" in item) == (item["gait"] == "wave")
        assert ("damping" in item) == (item.get("foot") == "soft")
        assert ("foot" in item) == (item["duty"] == 0.5 and item["gait"] != "still")


def test_a_million_items_are_counted_without_being_made() -> None:
    huge = Space(
        {f"p{k}": Range(0.0, 1.0, points=1000) for k in range(4)} | {"g": Choice("a", "b")}, when={"p0": {"g": "a"}}
    )
    assert len(huge) == 10**12 + 10**9
    with pytest.raises(KinemorphError, match="1,001,000,000,000 items, expected at most 10,000,000"):
        _ = huge.items
    endless = Space({"a": Range(0.0, 1.0, points=10**15), "b": Range(0.0, 1.0, points=10**15)})
    assert endless.size == 10**30
    with pytest.raises(KinemorphError, match=r"about 1\.0e\+30 items"):
        _ = endless.items
    with pytest.raises(KinemorphError, match="Use `size`"):
        len(endless)
    items = Space({"a": Range(0.0, 1.0, points=1000), "b": Range(0.0, 1.0, points=1000)}).items
    assert len(items) == 10**6 and items[123_456] == {
        "a": items.column("a").value(123_456),
        "b": pytest.approx(456 / 999),
    }


@pytest.mark.parametrize("design", ["sobol", "latin", "random"])
def test_designs_are_the_same_for_a_seed_and_for_any_order_of_parts(design: Any) -> None:
    parts: dict[str, Part] = {"a": Range(0.0, 1.0), "b": Normal(0.0, 1.0), "c": Choice("x", "y")}
    space = Space(parts, design=design, count=16)
    assert len(space.items) == 16
    turned = Space({name: parts[name] for name in "cab"} | {"fixed": Choice(1.0)}, design=design, count=16)
    for name in parts:  # a fixed part takes no dimension
        assert np.array_equal(space.items.column(name).numbers, turned.items.column(name).numbers)
    assert Space(parts, design=design, count=16, seed=1).items.keys != space.items.keys
    assert pickle.loads(pickle.dumps(space)).items.keys == space.items.keys


def test_what_stays_when_a_design_grows() -> None:
    """As the docstring of `designs` promises."""
    grown = {"sobol": ["count"], "latin": ["parts"], "random": ["count", "parts"]}
    for design, same in grown.items():
        points = unit_points(design, ["a", "b"], 32, 0)
        longer = unit_points(design, ["a", "b"], 64, 0)[:32]
        wider = unit_points(design, ["a", "aa", "b"], 32, 0)[:, [0, 2]]
        assert np.array_equal(points, longer) == ("count" in same), design
        assert np.array_equal(points, wider) == ("parts" in same), design
        assert abs(np.corrcoef(unit_points(design, ["a", "b"], 512, 0).T)[0, 1]) < 0.15, design  # not one column twice


def test_a_latin_hypercube_has_one_value_in_each_interval_and_sobol_one_pair_in_each_square() -> None:
    points = latin(["a", "b", "c"], 100, 3)
    for column in points.T:
        assert sorted((column * 100).astype(int)) == list(range(100))
    assert abs(np.corrcoef(points.T)[0, 1]) < 0.4
    even = (unit_points("sobol", ["a", "b"], 64, 5) * 8).astype(int)
    assert len({tuple(row) for row in even}) == 64


def test_choices_are_numbers_or_labels_with_objects() -> None:
    def spring() -> float:
        return 1.0

    space = Space(
        {"n": Choice(1, 2.5), "m": Choice(1, "auto", True), "o": Choice({"soft": 10.0, 2: spring}), "f": Choice(spring)}
    )
    assert space.items[0] == {"n": 1.0, "m": "1", "o": "soft", "f": "spring"}
    assert space.objects == {
        "m": {"1": 1, "auto": "auto", "True": True},
        "o": {"soft": 10.0, "2": spring},
        "f": {"spring": spring},
    }
    assert space.values(space.items[0]) == {"n": 1.0, "m": 1, "o": 10.0, "f": spring}
    same = Space({"n": Choice(1.0), "m": Choice(1.0, "auto")}).items
    assert same[0] == {"n": 1.0, "m": "1"}  # 1 and 1.0 are the same choice
    only = Space({"m": Choice(1.0, "auto"), "n": Values([1, 2])}, when={"n": {"m": 1}})
    assert len(only) == 3


def test_listed_items_and_unions_have_every_item_once() -> None:
    listed = Space.of([{"a": 1, "g": "x"}, {"a": 2}, {"a": 2.0, "g": None}, {"g": "y", "a": 1}])
    assert list(listed.items) == [{"a": 1.0, "g": "x"}, {"a": 2.0}, {"a": 1.0, "g": "y"}]
    grid = Space({"a": Values([1, 2, 3]), "g": Choice("y", "z")})
    union = listed + grid
    assert list(union.items)[:3] == list(listed.items)
    assert len(union) == 3 + 6 - 1 and len(set(union.items.keys)) == 8
    assert (union + grid).items.keys == union.items.keys
    assert union.objects == {"g": {"x": "x", "y": "y", "z": "z"}}


def test_points_of_the_unit_cube_become_items_one_for_each() -> None:
    space = Space({"b": Choice("x", "y"), "a": Range(0.0, 4.0), "c": Choice(7.0)}, design="sobol", count=2)
    assert space.dimensions == ("a", "b")
    items = space.at(np.array([[0.0, 0.0], [1.0, 1.0], [0.25, 0.5], [0.25, 0.5]]))
    assert [(item["a"], item["b"]) for item in items] == [(0.0, "x"), (4.0, "y"), (1.0, "y"), (1.0, "y")]
    with pytest.raises(KinemorphError, match=r"shape \(4,\), expected \(n, 2\) for 2 parts that vary: a, b"):
        space.at(np.zeros(4))
    with pytest.raises(KinemorphError, match="outside 0 to 1"):
        space.at(np.array([[0.5, 1.5]]))


def test_rows_with_the_same_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    items = items_of([number_column("a", [1, 2, np.nan, 1, np.nan]), label_column("b", [0, 1, -1, 0, -1], ["x", "y"])])
    assert list(distinct(items)) == [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}, {}]
    good = distinct_module._hashes
    tried = []

    def poor(words: Any, salt: Any) -> Any:
        tried.append(salt)
        return good(words, salt) if len(tried) > 2 else np.zeros(len(words[0]), dtype=np.uint64)

    monkeypatch.setattr(distinct_module, "_hashes", poor)
    assert len(distinct(items)) == 3 and len(tried) == 3


ONE = {"a": Range(0.0, 1.0)}
TWO = {"gait": Choice("trot", "wave"), "lag": Range(0.0, 1.0, points=2)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"parts": {}}, "space: it has no parts"),
        ({"parts": 3}, "space: its parts are int, expected a mapping"),
        (
            {"parts": {"a": Range(2.0, 1.0, points=2)}},
            "part 'a': the range has low = 2 and high = 1, expected low < high",
        ),
        ({"parts": {"a": Range(1.0, 1.0, points=2)}}, "use Choice(value) for a fixed value"),
        ({"parts": {"a": Range(0.0, 1.0, log=True, points=2)}}, "part 'a': low is 0 in a logarithmic range"),
        ({"parts": {"a": Range(0.0, float("inf"), points=2)}}, "part 'a': high is inf, expected a finite number"),
        ({"parts": {"a": Range("0", 1.0, points=2)}}, "part 'a': low is '0', expected a number"),
        ({"parts": {"a": Range(0.0, 1.0, points=1)}}, "part 'a': points is 1, expected a whole number of 2 or more"),
        ({"parts": ONE}, "part 'a': a grid needs the number of points"),
        ({"parts": {"a": Normal(0.0, 1.0)}}, "part 'a': Normal is a distribution, which a grid cannot contain"),
        ({"parts": {"a": Normal(0.0, 0.0)}, "design": "latin", "count": 2}, "part 'a': deviation is 0"),
        ({"parts": {"a": LogNormal(-1.0, 1.0)}, "design": "latin", "count": 2}, "part 'a': mean is -1 in a lognormal"),
        (
            {"parts": {"a": Normal(0.0, 1.0, low=20.0)}, "design": "latin", "count": 2},
            "low = 20 and high = none leave 0 of",
        ),
        (
            {"parts": {"a": Triangular(0.0, 3.0, 2.0)}, "design": "latin", "count": 2},
            "expected three numbers in rising",
        ),
        ({"parts": {"a": Values([])}}, "part 'a': its values are (), expected a list"),
        ({"parts": {"a": Values([1.0, 2.0, 1.0])}}, "part 'a': the value 1 is given twice"),
        ({"parts": {"a": Values([2**53, 2**53 + 1])}}, "part 'a': the value 9007199254740993 is given twice"),
        ({"parts": {"a": Values([10**400])}}, "..., expected a finite number"),
        ({"parts": {"a": Range(1.0, 1.0 + 1e-15, points=50)}}, "points is 50, but the range from 1.0 to 1.0000000000"),
        ({"parts": {"a": Values([1.0, np.nan])}}, "part 'a': one of its values is nan, expected a finite number"),
        ({"parts": {"a": Choice()}}, "part 'a': it has no choices"),
        ({"parts": {"a": Choice("x", "x")}}, "part 'a': the choice 'x' is given twice"),
        ({"parts": {"a": Choice(lambda: 1)}}, 'has no printable name that could be its label. Write Choice({"label"'),
        ({"parts": {"a": 1.5}}, "part 'a': 1.5 is no part of a space. Write Choice(1.5)"),
        ({"parts": {"a": [1, 2]}}, "part 'a': [1, 2] is no part of a space. Write Values([...])."),
        ({"parts": [("a", Choice(1)), ("a", Choice(2))]}, "part 'a': two parts have this name"),
        ({"parts": {"": Choice(1)}}, "space: a part is called '', expected a printable text"),
        (
            {"parts": ONE, "design": "sobl"},
            "design is 'sobl', expected one of grid, sobol, latin, random. Did you mean",
        ),
        ({"parts": ONE, "design": "sobol"}, "the design sobol needs a count of items. Add count=1024."),
        ({"parts": ONE, "design": "sobol", "count": 0}, "count is 0, expected a whole number from 1 to 10,000,000"),
        ({"parts": ONE, "design": "latin", "count": 2.5}, "count is 2.5, expected a whole number"),
        ({"parts": ONE, "design": "latin", "count": 2, "seed": -1}, "seed is -1, expected a whole number of 0 or more"),
        (
            {"parts": TWO, "when": {"lagg": {"gait": "wave"}}},
            "part 'lagg': it has a condition, but the space does not have it. Did you",
        ),
        (
            {"parts": TWO, "when": {"lag": {"gate": "wave"}}},
            "names the part 'gate', which the space does not have. Did you",
        ),
        (
            {"parts": TWO, "when": {"lag": {"gait": "waves"}}},
            "'gait' has the value 'waves', which that part does not have. Did",
        ),
        ({"parts": TWO, "when": {"lag": {"gait": []}}}, "part 'lag': it applies when 'gait' has one of no values"),
        (
            {"parts": TWO, "when": {"gait": {"lag": 0.5}}},
            "but that part is Range, which has no list. Make 'lag' a Choice",
        ),
        ({"parts": TWO, "when": {"lag": "wave"}}, "expected {part: {other part: value}}"),
        ({"parts": TWO, "when": {"gait": {"gait": "wave"}}}, "the conditions of 'gait' form a circle"),
    ],
)
def test_a_bad_space_is_refused_in_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(KinemorphError) as caught:
        Space(**arguments)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_all_problems_of_a_space_are_told_together() -> None:
    with pytest.raises(KinemorphError) as caught:
        Space({"a": Range(2.0, 1.0), "b": 3}, design="sobol")
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (lambda: Space.of([]), "expected a list of at least one mapping"),
        (lambda: Space.of([{"a": np.inf}]), "part 'a': item 0 has the value inf"),
        (lambda: Space.of([{"a": object()}]), "has no printable name"),
        (lambda: Space.of([{"a": 1}]) + Space.of([{"a": "x"}]), "part 'a': it has numbers in one space and labels in"),
        (lambda: Space({"a": Choice({"x": 1})}) + Space({"a": Choice({"x": 2})}), "the label 'x' stands for two"),
    ],
)
def test_bad_items_and_unions_are_refused(bad: Any, sentence: str) -> None:
    with pytest.raises(KinemorphError) as caught:
        bad()
    assert sentence in str(caught.value)


def test_options_without_effect_are_told_with_the_line_of_the_user() -> None:
    for arguments, sentence in [
        ({"parts": ONE, "design": "sobol", "count": 1000}, "Use 512 or 1024"),
        ({"parts": TWO, "count": 10}, "count = 10 has no effect in a grid"),
        ({"parts": TWO, "seed": 10}, "seed = 10 has no effect in a grid"),
        ({"parts": TWO, "design": "random", "count": 3}, "part 'lag': points = 2 has no effect in the design random"),
    ]:
        with pytest.warns(OptionWarning, match=sentence) as told:
            Space(**arguments)  # type: ignore[arg-type]
        assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Space(ONE, design="sobol", count=64).items) == 64
