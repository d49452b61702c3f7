"""A linkage walks: Jansen's legs on the ground, with closed loops and an account of energy that closes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import ModelError
from kinemorph.model import library
from kinemorph.model.library.bars import SLENDER, size
from kinemorph.model.library.walking_linkages import jansen_leg
from kinemorph.simulation.results.trajectory import Trajectory

UNIT = 0.476 / 91.8
TURN = 360  # crank angles of one turn


@pytest.fixture(scope="module")
def walk() -> Trajectory:
    """Four legs, as two throws are half the code of three."""
    return kinemorph.simulate(library.jansen_walker(2), 5.0, rtol=1e-8)


def stance(throws: int) -> tuple[np.ndarray, np.ndarray]:
    """(height [m], speed against the trunk [m/rad]) of the point of the lowest foot behind that touches, at all crank
    angles: by geometry of one leg alone.
    """
    legs = [jansen_leg(UNIT, 0.15, 2.0 * math.pi * k / TURN).points for k in range(TURN)]
    x, z = np.array([leg["P5"] for leg in legs]).T
    tilt = np.unwrap([math.atan2(leg["P5"][1] - leg["P3"][1], leg["P5"][0] - leg["P3"][0]) for leg in legs])
    radius = SLENDER * size(legs[0].values())  # feet are balls, which roll
    speed = (np.roll(x, -1) - np.roll(x, 1) + radius * (np.roll(tilt, -1) - np.roll(tilt, 1))) * TURN / (4.0 * math.pi)
    shifted = [np.roll(np.arange(TURN), k * TURN // throws) for k in range(throws)]
    lowest = np.array([z[k] for k in shifted]).argmin(axis=0)
    here = np.array(shifted)[lowest, np.arange(TURN)]
    return z[here], speed[here]


@pytest.mark.slow
def test_it_walks_as_fast_as_its_feet_go_back_in_stance(walk: Trajectory) -> None:
    assert walk.outcome.kind == "finished"
    later = walk.t >= 1.0
    x, crank = walk["q.trunk.x"][later], walk["q.crank"][later]
    per_radian = (x[-1] - x[0]) / (crank[0] - crank[-1])
    speeds = stance(2)[1]
    assert np.mean(speeds) < per_radian < np.max(speeds)  # feet that hold are the fast ones: slow ones carry little
    assert x[-1] > 5.0 * 0.39  # lengths of its trunk
    assert -walk["v.crank"][later].mean() == pytest.approx(4.0, rel=0.01)


def test_its_trunk_stays_level_and_its_feet_bear_it(walk: Trajectory) -> None:
    later = walk.t >= 1.0
    assert np.abs(walk["q.trunk.theta"]).max() < math.radians(2.0)
    assert np.ptp(walk["q.trunk.y"][later]) < 1.3 * np.ptp(stance(2)[0])
    weight = 9.81 * library.jansen_walker(2).robot.total_mass
    borne = sum(walk[name] for name in walk.columns if name.endswith("_foot.normal"))
    assert borne[later].mean() == pytest.approx(weight, rel=0.02)


def test_loops_stay_closed_and_energy_is_accounted_for_while_feet_land(walk: Trajectory) -> None:
    assert walk["loop_error"].max() < 1e-12
    found = kinemorph.audit(walk, tolerance=1e-6)
    assert found.passed, found
    assert walk["energy.supplied"][-1] > 1.0  # [J]: it takes work to walk


def test_with_three_throws_somebody_always_stands() -> None:
    assert np.ptp(stance(3)[0]) < 2e-3 < 8e-3 < np.ptp(stance(2)[0])


def test_data_that_cannot_walk_are_refused() -> None:
    with pytest.raises(ModelError, match=r"jansen_walker: throws is 1, expected 2 to 100"):
        library.jansen_walker(1)
    with pytest.raises(ModelError, match=r"jansen_walker: mass is -1, expected a number above 0"):
        library.jansen_walker(mass=-1.0)
