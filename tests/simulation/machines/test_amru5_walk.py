"""AMRU5 walks: the published statements about its motion, loads and voltages, judged by the data of whole walks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph.algebra.scalar import sin
from kinemorph.errors import ModelError
from kinemorph.model.elements import Contact, HeightFunction
from kinemorph.model.library.amru_walk import amru5_walk
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

DRIVES = ("rotation", "vertical", "horizontal")
SETTLED, CYCLE, END = 1.0, 4.0, 26.0
STANCES = {1: SETTLED, 4: SETTLED + 2.0}  # when the first stance of a leg begins [s]; each lasts 2 s
WEIGHT = 34.0 * 9.81


@pytest.fixture(scope="module")
def walk() -> Trajectory:
    return simulate(amru5_walk(), END)


def traveled(run: Trajectory) -> float:
    """The distance along +y [m] in the 25 s after settling."""
    return float(np.interp(END, run.t, run["q.q1"]) - np.interp(SETTLED, run.t, run["q.q1"]))


def loads(run: Trajectory) -> np.ndarray:
    """The vertical forces on the feet [N], a column for each leg."""
    return np.stack([run[f"foot{leg}.force_z"] for leg in range(1, 7)], axis=1)


@pytest.mark.slow
def test_it_walks_straight_along_y(walk: Trajectory) -> None:
    """At least 1 m within 25 s, at most 30 mm aside and 2 degrees of yaw; half the step size changes it by < 1 %."""
    assert walk.outcome.kind == "finished"
    assert traveled(walk) > 1.0
    assert np.abs(walk["q.q0"]).max() < 0.030
    assert np.abs(walk["q.q5"]).max() < math.radians(2.0)
    finer = simulate(amru5_walk(), END, step=5e-4, method="extrapolated_contact")
    assert traveled(finer) == pytest.approx(traveled(walk), rel=0.01)


@pytest.mark.slow
def test_its_feet_bear_its_weight_in_every_cycle(walk: Trajectory) -> None:
    whole = loads(walk).sum(axis=1)
    for begin in np.arange(SETTLED, END - CYCLE, CYCLE):
        cycle = (walk.t > begin + 1e-6) & (walk.t < begin + CYCLE + 1e-6)
        assert whole[cycle].mean() == pytest.approx(WEIGHT, rel=0.005)


@pytest.mark.slow
def test_load_moves_from_the_rear_to_the_front_in_every_stance(walk: Trajectory) -> None:
    """The load of leg 1 falls and that of leg 4 rises, by more than a tenth of the weight; between, no way back."""
    for leg, sign in ((1, -1.0), (4, 1.0)):
        for begin in np.arange(STANCES[leg], END - 2.0, CYCLE):
            alone = (walk.t > begin + 0.15) & (walk.t < begin + 1.9)  # without the change of tripods
            t, load = walk.t[alone], loads(walk)[alone, leg - 1]
            thirds = [part.mean() for part in np.array_split(load, 3)]
            assert sign * np.polyfit(t, load, 1)[0] > 0.1 * WEIGHT / 2.0
            assert all(np.diff(thirds) * sign > 0.0)


@pytest.mark.slow
def test_feet_are_in_the_air_as_commanded(walk: Trajectory) -> None:
    """A foot that is commanded up by 10 mm or more is in the air; one on the ground for 0.15 s bears load."""
    for leg in range(1, 7):
        q7 = walk[f"gait.q{3 * leg + 4}"]
        up = 3.0 * (0.08 - q7)
        load = loads(walk)[:, leg - 1]
        assert np.all(load[up > 0.010] == 0.0)
        down = up < 1e-9
        for k in np.flatnonzero(down):
            if walk.t[k] > 0.2 and np.all(down[max(k - 15, 0) : k + 1]):
                assert load[k] > 0.0


@pytest.mark.slow
def test_voltages_stay_within_the_supply(walk: Trajectory) -> None:
    voltages = np.stack([walk[f"motor{leg}_{drive}.voltage"] for leg in range(1, 7) for drive in DRIVES])
    assert np.abs(voltages).max() < 12.0
    assert np.abs(voltages[1::3]).max() > 6.0  # the vertical drives work hardest


@pytest.mark.slow
def test_it_bounces_on_elastic_ground_and_its_velocity_jumps(walk: Trajectory) -> None:
    """The height changes by less than the depth of the contacts; the velocity has jumps between sequences."""
    later = walk.t > SETTLED + CYCLE
    height = walk["q.q2"][later]
    assert 2e-4 < np.ptp(height) < 5e-3
    assert np.ptp(walk["v.q1"][later]) > 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    "choices", [{"motor": "second"}, {"controller": "continuous"}, {"trigonometry": "exact"}], ids=str
)
def test_other_motors_controllers_and_trigonometry_walk_alike(walk: Trajectory, choices: dict[str, str]) -> None:
    """A motor without inductance is enough for slow motion, as the paper says; polynomials let feet slip a little."""
    other = simulate(amru5_walk(**choices), END)  # type: ignore[arg-type]
    assert np.abs(other["q.q1"] - walk["q.q1"]).max() < 1e-3
    difference = np.abs(other["foot1.force_x"] - walk["foot1.force_x"]).max()
    assert 0.01 < difference < 20.0


def test_wrong_choices_are_named() -> None:
    with pytest.raises(ModelError, match="motor is 'third', expected 'first' or 'second'"):
        amru5_walk("third")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"step is 0.5 m, expected 0 to 0.2 m"):
        amru5_walk(step=0.5)


@pytest.mark.slow
def test_it_walks_on_self_locking_screws() -> None:
    """With real screws it travels as far and needs more energy: about 1.6 times as much as without friction."""
    energies = {}
    for screws in ("ideal", "self-locking"):
        run = simulate(amru5_walk(screws=screws), END, step=5e-4, method="extrapolated_contact")  # type: ignore[arg-type]
        assert traveled(run) > 1.0 and np.abs(run["q.q0"]).max() < 0.030
        assert np.abs([run[f"motor{leg}_{drive}.voltage"] for leg in range(1, 7) for drive in DRIVES]).max() <= 12.0
        two_cycles = np.interp([5.0, 13.0], run.t, run["energy.supplied"]), np.interp([5.0, 13.0], run.t, run["q.q1"])
        energies[screws] = np.diff(two_cycles[0])[0] / np.diff(two_cycles[1])[0]
    assert energies["ideal"] == pytest.approx(231.0, rel=0.02)  # [J/m]
    assert 1.4 < energies["self-locking"] / energies["ideal"] < 1.9


@pytest.mark.slow
@pytest.mark.parametrize("step, turn", [(0.1, 0.1), (0.0, 0.15)])
def test_it_turns(step: float, turn: float) -> None:
    """12.5 steps in 25 s: it turns by 12.5 times the angle of a step; without steps forward, it turns on the spot."""
    run = simulate(amru5_walk(step=step, turn=turn), END)
    assert run["q.q5"][-1] == pytest.approx(12.5 * turn, rel=0.02)
    radius = step / turn
    assert run["q.q0"][-1] == pytest.approx(radius * (math.cos(12.5 * turn) - 1.0), abs=0.02)
    assert run["q.q1"][-1] == pytest.approx(radius * math.sin(12.5 * turn), abs=0.02)


@pytest.mark.slow
def test_it_walks_on_rough_ground() -> None:
    """Bumps of 10 mm, a quarter of the height to which feet are lifted: it still travels 1 m within its voltage."""
    system = amru5_walk()
    bumps = HeightFunction(lambda x, y: 0.01 * sin(9.0 * x + 1.0) * sin(7.0 * y))
    elements = [replace(one, ground=bumps) if isinstance(one, Contact) else one for one in system.elements]
    run = simulate(System(system.robot, tuple(elements), system.settings), END)
    assert traveled(run) > 1.0 and np.abs(run["q.q0"]).max() < 0.030
    assert np.abs([run[f"motor{leg}_{drive}.voltage"] for leg in range(1, 7) for drive in DRIVES]).max() <= 12.0
