"""Gaits as orbits: the rimless wheel in closed form; simplest walker, compass and SLIP against published data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph.orbits import bifurcation_diagram, continuation, periodic_orbit, return_map, switch_branch
from support.robots.plane_walkers import compass, rimless_wheel, simplest_walker, slip

# fixed points by other tools (closed form; DOP853 and Newton's method), which agree with the literature
WHEEL = {"omega": 1.0954628396476573, "period": 1.034549811423174, "multiplier": 0.5}  # McGeer 1990, Coleman 1997
SIMPLEST = {  # Garcia, Chatterjee, Ruina and Coleman 1998, slope 0.009
    "long": (0.2003109005442472, -0.1998324730049525, 3.882463752851374, (0.589113185969, 0.589113185969)),
    "short": (0.1939373698101818, -0.2038669274420069, 3.0961058680781635, (0.4595895897975577, 4.003864358929491)),
}
COMPASS = {  # Goswami, Thuilot and Espiau 1996, slope 3 degrees
    "state": (0.21866880293895935, -0.3233885580586191, -1.0923835898835124, -0.37737394890733433),
    "period": 0.7343463911586737,
    "multipliers": (complex(-0.1997261268293673, 0.5444760620725699), 0.13157262411846538),
}
RUNNER = {0.9402671443796007: -0.16130768626487857, 1.3376863813703583: 1.6869676209886322}  # apex [m]: multiplier


def test_the_rimless_wheel_has_the_return_map_of_its_closed_form() -> None:
    """omega'^2 = cos^2(2 alpha) (omega^2 + 4 g sin(alpha) sin(slope) / l) from spoke to spoke."""
    plant, how = rimless_wheel()
    found = return_map(plant, **how)
    for omega in (1.0, 1.3, 2.0):
        square = math.cos(math.pi / 4.0) ** 2 * (omega**2 + 4.0 * 9.81 * math.sin(math.pi / 8.0) * math.sin(0.08))
        assert found(np.array([omega]), found.p).z[0] == pytest.approx(math.sqrt(square), abs=1e-11)
    orbit = periodic_orbit(found)
    assert orbit["v.angle"] == pytest.approx(WHEEL["omega"], abs=1e-11)
    assert orbit.period == pytest.approx(WHEEL["period"], abs=1e-10)
    assert orbit.multipliers[0].real == pytest.approx(WHEEL["multiplier"], abs=1e-10)
    # the branch ends where the wheel passes the top at 0.2 rad/s; from both formulas, the slope there
    passes = {
        "passes the top": lambda o: o["v.angle"] ** 2 - 19.62 * (1.0 - math.cos(math.pi / 8.0 - o["slope"])) - 0.04
    }
    branch = continuation(orbit, "slope", (0.01, 0.1), conditions=passes, max_step=0.2)
    assert branch.ends[0] == "Condition 'passes the top' no longer holds."
    least = branch.values[0]
    square = 4.0 * 9.81 * math.sin(math.pi / 8.0) * math.sin(least)  # cos^2 / (1 - cos^2) is 1
    assert square == pytest.approx(19.62 * (1.0 - math.cos(math.pi / 8.0 - least)) + 0.04, abs=1e-9)


def test_the_simplest_walker_has_both_gaits_and_doubles_its_period_where_published() -> None:
    """Fixed points of Garcia et al. (1998) at slope 0.009; doubling at 0.015088438."""
    plant, how = simplest_walker()
    found = return_map(plant, **how)
    for name, guess in (("long", [0.4, -0.2, -0.015]), ("short", [0.388, -0.204, -0.015])):
        orbit, (theta, rate, period, sizes) = periodic_orbit(found, z=guess), SIMPLEST[name]
        assert orbit, orbit.message
        assert orbit["q.swing"] == pytest.approx(2.0 * theta, abs=1e-10)
        assert orbit["v.stance"] == pytest.approx(rate, abs=1e-10)
        assert orbit.period == pytest.approx(period, abs=1e-9)
        np.testing.assert_allclose(sorted(np.abs(orbit.multipliers))[1:], sizes, atol=1e-8)
    branch = continuation(periodic_orbit(found), "slope", (0.008, 0.016), step=0.1, max_step=0.2)
    (doubling,) = branch.at("doubling")
    assert doubling.value == pytest.approx(0.015088438, abs=1e-8)


@pytest.mark.slow
def test_the_compass_doubles_its_period_at_the_published_slope_and_goes_on_with_twice_the_period() -> None:
    """4.3908983 degrees; beyond it every second step is alike."""
    plant, how = compass()
    orbit = periodic_orbit(plant, **how)
    np.testing.assert_allclose([*orbit.state["q"], *orbit.state["v"]], COMPASS["state"], atol=1e-10)
    assert orbit.period == pytest.approx(COMPASS["period"], abs=1e-11)
    np.testing.assert_allclose(orbit.multipliers[[0, 2]], COMPASS["multipliers"], atol=1e-8)
    branch = continuation(orbit, "slope", (0.05, 0.08))
    (doubling,) = branch.at("doubling")
    assert math.degrees(doubling.value) == pytest.approx(4.3908983, abs=1e-7)
    twice = switch_branch(doubling, (0.05, 0.08))
    stable = [one for one in twice.points if one.stable and math.radians(4.45) < one["slope"]]
    diagram = bifurcation_diagram(
        return_map(plant, **how), "slope", [stable[0]["slope"]], z=1.001 * stable[0].z, transient=150, keep=4
    )
    assert diagram.periods(1e-6).tolist() == [2]
    settled = sorted(diagram["q.swing"][0][-2:])
    assert settled == pytest.approx(sorted(node[0] for node in stable[0].nodes), abs=1e-6)
    run = stable[0].trajectory
    assert len(run.events) >= 1 and run.outcome.ok


@pytest.mark.slow
def test_slip_has_a_fold_and_a_doubling_on_one_branch_over_its_angle_of_attack() -> None:
    """Fixed points at 68 degrees; the fold is where both meet, the doubling where the stable one ends."""
    for height, slope in RUNNER.items():
        plant, how = slip(height + 1e-3)
        orbit = periodic_orbit(plant, **how)
        # touchdown from an apex at this height
        assert orbit["v.y"] == pytest.approx(-math.sqrt(2.0 * 9.81 * (height - math.sin(math.radians(68.0)))), abs=1e-7)
        assert orbit.multipliers[0].real == pytest.approx(slope, abs=1e-6)
    branch = continuation(orbit, "attack", (math.radians(60.0), math.radians(75.0)))
    assert sorted(point.kind for point in branch.special) == ["doubling", "fold"]
    low, high = branch.at("fold")[0].value, branch.at("doubling")[0].value
    assert low < math.radians(68.0) < high
    stable = branch.stable & (np.abs(branch.values - low) > 1e-6) & (np.abs(branch.values - high) > 1e-6)
    assert ((branch.values[stable] > low) & (branch.values[stable] < high)).all()
