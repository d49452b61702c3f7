"""Orbits of maps that are written down: doublings, folds and Neimark-Sacker points in closed form, diagrams, basins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.orbits import (
    FunctionMap,
    Return,
    ReturnMap,
    basin,
    bifurcation_diagram,
    continuation,
    explicit_map,
    periodic_orbit,
    switch_branch,
)
from kinemorph.plants.user_laws import Column

LOGISTIC = explicit_map(
    lambda z, p: [p[0] * z[0] * (1.0 - z[0])], {"x": ""}, parameters={"r": 2.5}, start=[0.5], name="logistic"
)
HENON = explicit_map(
    lambda z, p: [1.0 - p[0] * z[0] * z[0] + z[1], p[1] * z[0]],
    {"x": "", "y": ""},
    parameters={"a": 0.2, "b": 0.3},
    start=[0.6, 0.2],
    name="henon",
)
# z' = z (1 - r z_delayed): its fixed point loses stability where multipliers are exp(+- i pi / 3), at r = 2
DELAYED = explicit_map(
    lambda z, p: [p[0] * z[0] * (1.0 - z[1]), z[0]],
    {"x": "", "before": ""},
    parameters={"r": 1.6},
    start=[0.4, 0.4],
    name="delayed_logistic",
)


def test_the_fixed_point_of_the_logistic_map_and_its_multiplier_are_those_of_the_formula() -> None:
    found = periodic_orbit(LOGISTIC, p={"r": 2.8})
    assert found
    assert found["x"] == pytest.approx(1.0 - 1.0 / 2.8, abs=1e-14)
    assert found.multipliers[0] == pytest.approx(2.0 - 2.8, abs=1e-13)
    assert found.stable is True and found.multiplier_names == ("x",)


def test_doublings_of_the_logistic_map_are_located_to_ten_digits_and_branches_are_switched() -> None:
    """r = 3 and 1 + sqrt(6) in closed form; r_3 = 3.5440903595519... is a root of a polynomial of degree 12."""
    branch = continuation(periodic_orbit(LOGISTIC), "r", (1.5, 4.0))
    for exact in (3.0, 1.0 + math.sqrt(6.0), 3.544090359551922853615965986604804540583):
        (point,) = branch.at("doubling")
        assert point.value == pytest.approx(exact, abs=1e-10)
        assert np.abs(point.orbit.multipliers + 1.0).min() < 1e-9
        assert not branch.at("fold")
        branch = switch_branch(point, (1.5, 4.0))
        assert branch.points[0].cycles == 2 * point.orbit.cycles
        assert branch.points[3].stable
    assert branch.ends[0] == "It begins at the doubling." and branch.ends[1] == "'r' reaches the end 4 of its range."


def test_the_fold_and_the_doubling_of_henons_map_are_those_of_the_formula() -> None:
    """At b = 0.3: fold at a = -(1 - b)^2 / 4, doubling at a = 3 (1 - b)^2 / 4."""
    branch = continuation(periodic_orbit(HENON), "a", (-0.2, 0.5), points=40)
    assert [point.kind for point in branch.special] == ["fold", "doubling"]
    assert branch.special[0].value == pytest.approx(-(0.7**2) / 4.0, abs=1e-12)
    assert branch.special[1].value == pytest.approx(3.0 * 0.7**2 / 4.0, abs=1e-10)
    turn = int(np.argmin(branch.values))
    assert 5 < turn < len(branch) - 5, "the branch goes on behind its fold"
    x = branch["x"]
    assert np.abs(branch.values * x * x + 0.7 * x - 1.0).max() < 1e-9


def test_a_neimark_sacker_point_is_located_and_a_neutral_saddle_is_not_taken_for_one() -> None:
    branch = continuation(periodic_orbit(DELAYED), "r", (1.2, 2.4))
    (point,) = branch.special
    assert point.kind == "Neimark-Sacker"
    assert point.value == pytest.approx(2.0, abs=1e-10)
    np.testing.assert_allclose(point.orbit.multipliers[0], np.exp(1j * math.pi / 3.0), atol=1e-9)
    stable = branch.values < 2.0
    assert (branch.stable[np.abs(branch.values - 2.0) > 1e-6] == stable[np.abs(branch.values - 2.0) > 1e-6]).all()
    # multipliers p and 1/2: their product is 1 at p = 2, which is no Neimark-Sacker point
    saddle = explicit_map(lambda z, p: [p[0] * z[0], 0.5 * z[1]], {"x": "", "y": ""}, parameters={"p": 1.5})
    assert not continuation(periodic_orbit(saddle), "p", (1.2, 2.8)).at("Neimark-Sacker")


def test_another_branch_crosses_where_the_logistic_maps_fixed_points_meet() -> None:
    branch = continuation(periodic_orbit(LOGISTIC, z=[0.0], p={"r": 0.5}), "r", (0.4, 2.0))
    (point,) = branch.special
    assert point.kind == "branch point" and point.value == pytest.approx(1.0, abs=1e-9)
    other = switch_branch(point, (0.4, 2.0))
    np.testing.assert_allclose(other["x"], 1.0 - 1.0 / other.values, atol=1e-8)


def test_a_branch_ends_by_name_where_a_condition_breaks() -> None:
    above = {"below 0.7": lambda orbit: 0.7 - orbit["x"]}
    branch = continuation(periodic_orbit(LOGISTIC), "r", (1.5, 4.0), conditions=above)
    assert branch.ends[1] == "Condition 'below 0.7' no longer holds."
    assert branch.values[-1] == pytest.approx(1.0 / 0.3, abs=1e-10)
    broken = continuation(periodic_orbit(LOGISTIC), "r", (1.5, 4.0), conditions={"never": lambda orbit: -1.0})
    assert len(broken) == 1 and broken.ends == ("Condition 'never' does not hold at the first orbit.",) * 2


def test_a_branch_that_returns_to_its_start_is_closed() -> None:
    """x^2 + r^2 = 1 as the fixed points of a map."""
    ring = explicit_map(
        lambda z, p: [z[0] + 0.1 * (1.0 - z[0] * z[0] - p[0] * p[0])], {"x": ""}, parameters={"r": 0.3}, start=[1.0]
    )
    branch = continuation(periodic_orbit(ring), "r", (-2.0, 2.0), points=400)
    assert branch.ends[1] == "The branch is closed: it returned to its first orbit."
    np.testing.assert_allclose(branch["x"] ** 2 + branch.values**2, 1.0, atol=1e-9)
    assert {round(point.value, 9) for point in branch.at("fold")} == {1.0, -1.0}


def test_the_bifurcation_diagram_counts_the_periods_of_the_logistic_map() -> None:
    """Period 1, 2, 4, 8; the window of period 3 opens at 1 + sqrt(8); above 4 the iterates leave for infinity."""
    values = [2.9, 3.2, 3.5, 3.55, 1.0 + math.sqrt(8.0) + 5e-3, 3.9, 4.1]
    found = bifurcation_diagram(LOGISTIC, "r", values, z=[0.4], transient=4000)
    assert found.periods().tolist() == [1, 2, 4, 8, 3, 0, -1]
    assert list(found.messages) == [6] and "grow without bound" in found.messages[6]
    r = 3.2
    exact = [(r + 1.0 + sign * math.sqrt((r - 3.0) * (r + 1.0))) / (2.0 * r) for sign in (-1.0, 1.0)]
    assert np.unique(found["x"][1].round(9)) == pytest.approx(exact, abs=1e-9)


def test_basins_of_a_map_with_two_attractors_meet_at_the_unstable_fixed_point() -> None:
    """z' = z + 0.3 (z - z^3) has attractors at 1 and -1; 0 is unstable, and beyond sqrt(1 + 2 / 0.3) it diverges."""
    two = explicit_map(lambda z, p: [z[0] + 0.3 * (z[0] - z[0] ** 3)], {"x": ""}, start=[0.5], name="two wells")
    edge = math.sqrt(1.0 + 2.0 / 0.3)
    starts = np.array([-edge - 0.01, -1.2, -1e-3, 1e-3, 0.5, edge + 0.01])
    found = basin(two, {"x": starts}, cycles=80)
    ends = [attractor[0, 0] for attractor in found.attractors]
    assert sorted(ends) == pytest.approx([-1.0, 1.0], abs=1e-6)
    up, down = (1 + int(np.argmax(ends)), 1 + int(np.argmin(ends)))
    assert found.labels.tolist() == [-1, down, down, up, up, -1]
    given = basin(two, {"x": starts}, cycles=80, attractors=[periodic_orbit(two, z=[0.9])])
    assert given.labels.tolist() == [-1, 0, 0, 1, 1, -1] and given.share(1) == pytest.approx(1.0 / 3.0)


def test_any_object_with_the_protocol_can_be_searched() -> None:
    def step(z: np.ndarray, p: np.ndarray) -> Return:
        if z[0] < 0.0:
            return Return.lost(1, 1, "x is negative.")
        out = np.array([p[0] * z[0] * (1.0 - z[0])])
        slopes = np.array([[p[0] * (1.0 - 2.0 * z[0])]]), np.array([[z[0] * (1.0 - z[0])]])
        return Return(out, 1.0, *slopes, np.zeros(1), np.zeros(1))

    own = FunctionMap("own", (Column("x"),), (Column("r"),), np.array([0.6]), np.array([2.8]), step, ("r",))
    assert isinstance(own, ReturnMap) and isinstance(LOGISTIC, ReturnMap)
    assert periodic_orbit(own)["x"] == pytest.approx(1.0 - 1.0 / 2.8, abs=1e-12)
    assert continuation(periodic_orbit(own), "r", (2.0, 3.3)).at("doubling")[0].value == pytest.approx(3.0, abs=1e-10)
    lost = bifurcation_diagram(own, "r", [2.8], z=[-0.1])
    assert lost.messages == {0: "x is negative."}


def test_failures_and_wrong_arguments_are_said() -> None:
    empty = explicit_map(lambda z, p: [z[0] + 1.0 + z[0] ** 2], {"x": ""}, start=[0.5], name="nowhere")
    lost = periodic_orbit(empty)
    assert not lost and lost.stable is None and len(lost.multipliers) == 0
    assert lost.message.startswith("No orbit of 'nowhere' was found: ")
    with pytest.raises(UnsupportedError, match="no orbit is given"):
        continuation(lost, "r", (0.0, 1.0))
    with pytest.raises(ModelError, match=r"'logistic' has no parameter 'R'\..*Known: 'r'"):
        continuation(periodic_orbit(LOGISTIC), "R", (1.0, 2.0))
    with pytest.raises(UnsupportedError, match=r"'r' is 2\.5 at the orbit; expected a value in the range 3 to 4"):
        continuation(periodic_orbit(LOGISTIC), "r", (3.0, 4.0))
    with pytest.raises(UnsupportedError, match="the lower one first"):
        continuation(periodic_orbit(LOGISTIC), "r", (4.0, 3.0))
    with pytest.raises(ShapeError, match="coordinate 'y' is unknown"):
        periodic_orbit(LOGISTIC, z={"y": 0.1})
    with pytest.raises(UnsupportedError, match="'section' is an argument of `return_map`"):
        periodic_orbit(LOGISTIC, section="x")
    with pytest.raises(UnsupportedError, match="no branch of orbits begins at a fold"):
        fold = continuation(periodic_orbit(HENON), "a", (-0.2, 0.3), points=40).at("fold")[0]
        switch_branch(fold, (-0.2, 0.3))
    with pytest.raises(ShapeError, match="values has shape"):
        bifurcation_diagram(LOGISTIC, "r", [[1.0, 2.0]])
    with pytest.raises(UnsupportedError, match="cycles is 3; expected at least 8"):
        basin(LOGISTIC, {"x": [0.1]}, cycles=3)
    with pytest.raises(KeyError, match="has no 'speed'"):
        _ = periodic_orbit(LOGISTIC)["speed"]


def test_sheets_say_what_was_found() -> None:
    orbit = periodic_orbit(LOGISTIC, p={"r": 2.8})
    shown = [orbit, continuation(orbit, "r", (2.0, 3.3))]
    shown += [bifurcation_diagram(LOGISTIC, "r", [2.8, 2.9, 3.2, 5.0], transient=300, keep=4, rounds=0)]
    shown += [basin(LOGISTIC, {"x": [0.1, 0.2, 0.5, 1.5]}, p={"r": 2.8}, cycles=200)]
    text = "\n".join(" ".join(line.split()) for one in shown for line in str(one).splitlines() if line.strip("- "))
    assert "the largest multiplier has magnitude 0.8" in text and text.endswith(SHOWN.strip())


SHOWN = """
stability stable
cycles 1
Where a cycle begins
coordinate value
x 0.6428571429
Multipliers
magnitude real part imaginary part mostly
0.8 -0.8 0 x
Branch of logistic
29 orbits along r.
first point 'r' reaches the end 2 of its range.
last point 'r' reaches the end 3.3 of its range.
Special points
kind r period
doubling 3 1
Bifurcation diagram of logistic
Values of r
from to values repeats after
2.8 2.9 2 1 cycle
3.2 3.2 1 2 cycles
5 5 1 lost
1 value is lost: the iterates of the map 'logistic' grow without bound.
Basin of logistic
cycles 200
undecided 0.00 %
do not return 25.00 %
coordinate starts
x 4 values from 0.1 to 1.5
Attractors
attractor share of starts repeats after cycles at
1 75.00 % 1 x = 0.642857
"""
