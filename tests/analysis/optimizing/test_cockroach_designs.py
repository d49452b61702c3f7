"""The cockroach chooses: stiffness and stance of least effort beside 500 random ones, and the least work per meter."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Parameter, System, library, optimize, simulate
from kinemorph.legs import least_effort, with_measures
from kinemorph.model.library.animals.cockroach_gait import AHEAD, FREQUENCY
from kinemorph.model.parameter import evaluate
from kinemorph.plants import plant
from kinemorph.simulation.results.trajectory import Trajectory

PAIRS, ANGLES = ("front", "middle", "hind"), {"body_coxa.first": "gamma", "femur_tibia": "tibia"}
STRIDE = 1.0 / FREQUENCY  # [s]


def adjustable() -> tuple[System, list[str]]:
    """The cockroach whose posture has offsets of two angles for each pair of legs, and the names of these offsets."""
    animal = library.cockroach()
    names = [f"{pair}_{angle}" for pair in PAIRS for angle in ANGLES.values()]
    offsets = {name: Parameter(name, 0.0, "rad") for name in names}
    posture = next(element for element in animal.elements if element.name == "posture")
    reference = []
    for joint, angle in zip(posture.joints, posture.reference, strict=True):
        pair, _, part = joint.split("_", 2)
        reference.append(angle + offsets[f"{pair}_{ANGLES[part]}"] if part in ANGLES else angle)
    elements = [replace(one, reference=tuple(reference)) if one is posture else one for one in animal.elements]
    return with_measures(replace(animal, elements=tuple(elements)), ["effort"]), names


@pytest.mark.slow
def test_the_stance_of_least_effort_beats_500_random_ones_and_is_not_below_the_bound():
    """004-15: the effort of standing over stiffness and stance, least where optimize says so."""
    system, names = adjustable()
    over = {"posture_stiffness": (2e-4, 5e-3, "log"), **{name: (-0.1, 0.1) for name in names}}
    conditions: dict[str, tuple[float, float]] = {
        f"static_friction * {pair}_left_ground.normal - {pair}_left_ground.friction": (0.0, math.inf) for pair in PAIRS
    }
    conditions["q.body_root.z"] = (system.settings.q[2] - 1e-3, math.inf)
    best, again = (optimize(system, over, "effort", conditions) for _ in range(2))
    assert best, best.message
    assert best.values == again.values and best.cost == again.cost
    chance = optimize(system, over, "effort", conditions, search="random", population=500, seed=1)
    met = chance.history.errors == 0.0
    assert chance and met.sum() >= 5 and chance.cost == chance.history.costs[met].min()
    assert best.cost < 0.8 * chance.cost
    elsewhere = optimize(system, over, "effort", conditions, start=chance)  # the library's stance is a good start
    assert elsewhere and elsewhere.cost == pytest.approx(best.cost, rel=1e-6)
    assert min(best.margins.values()) > -1e-9
    least = least_effort(system, best.result.q)
    assert least.effort <= best.cost * (1.0 + 1e-9) and best.cost < 1.01 * least.effort
    torque = best.values["posture_stiffness"]  # by hand: the torque of a joint is stiffness times its error
    posture = next(element for element in system.elements if element.name == "posture")
    shifts = dict(best.values)
    places = [system.robot.q_names.index(name) for name in posture.joints]
    wanted = np.array([evaluate(angle, shifts) for angle in posture.reference])
    assert best.cost == pytest.approx(np.sum((torque * (wanted - best.result.q[places])) ** 2), rel=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:body")
def test_the_least_work_per_meter_at_a_speed_is_that_of_its_own_run():
    system = with_measures(library.running_cockroach(), ["work", "distance"])
    over = {"posture_stiffness": (8e-4, 3e-3, "log"), "posture_damping": (4e-6, 2e-5, "log")}
    options = {"at": "run", "until": 0.3, "step": 1e-4, "population": 12, "iterations": 3, "seed": 3}
    found = optimize(system, over, "work / distance", {"distance / t": (0.189, 0.231)}, **options)
    assert found, found.message
    met = found.history.errors == 0.0
    assert found.cost == found.history.costs[met].min() and 0.189 <= found.conditions["distance / t"] <= 0.231
    pd = {"stiffness": found.values["posture_stiffness"], "damping": found.values["posture_damping"]}
    other = with_measures(library.running_cockroach(**pd), ["work", "distance"])
    run = simulate(plant(other), 0.3, step=1e-4, output_step=0.3)  # feet that slip magnify rounding: the same program
    assert run["work"][-1] / run["distance"][-1] == pytest.approx(found.cost, rel=1e-6)


def settled(run: Trajectory, column: str) -> np.ndarray:
    """The samples of a column after the first two strides of a run."""
    return run[column][run.t > 2.0 * STRIDE - 1e-9]


def gained(run: Trajectory, column: str) -> float:
    return float(settled(run, column)[-1] - settled(run, column)[0])


def work_per_meter(run: Trajectory) -> float:
    return gained(run, "work") / gained(run, "distance")


def speed(run: Trajectory) -> float:
    return gained(run, "distance") / gained(run, "t")


def height(run: Trajectory) -> float:
    return float(settled(run, "q.body_root.z").min())


def rotation(run: Trajectory) -> float:
    """The largest angle [deg] by which the trunk is turned."""
    upright = np.abs(settled(run, "q.body_root.qw"))
    return float(np.degrees(2.0 * np.arccos(np.minimum(upright, 1.0))).max())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:body")
@pytest.mark.filterwarnings("ignore::kinemorph.errors.EnergyWarning")
def test_phases_and_duty_of_a_gait_that_needs_less_work_per_meter_at_its_speed():
    """The search of docs/optimize.md; what it finds holds with half the steps and in accurate runs."""
    animal = with_measures(library.running_cockroach(adjustable=True), ["work", "distance"])
    over = {"posture_stiffness": (8e-4, 4e-3, "log"), "posture_damping": (4e-6, 2e-5, "log"), "gait_duty": (0.45, 0.65)}
    for leg, phase in AHEAD.items():
        over |= {f"{leg}_phase": (phase - 0.2, phase + 0.2)} if leg != "front_left" else {}
    conditions = {speed: (0.20, 0.22), height: (5e-3, 1e-2), rotation: (0.0, 7.0)}
    steps = {"method": "centered_contact", "step": 1e-4, "output_step": STRIDE / 20}
    options = {"at": "run", "until": 8 * STRIDE, "population": 48, "iterations": 24, "seed": 1}
    best = optimize(animal, over, work_per_meter, conditions, **options, **steps)
    assert best and min(best.margins.values()) >= 0.0, best.message
    made = plant(animal, parameters=[*over])
    accurate = {"rtol": 1e-9, "atol": 1e-11, "output_step": STRIDE / 20}
    for share, others in ((0.65, steps), (0.65, steps | {"step": 5e-5}), (0.85, accurate)):
        before, after = (simulate(made, 8 * STRIDE, p=p, **others) for p in ({}, best.values))
        assert work_per_meter(after) < share * work_per_meter(before)
        assert 0.2 < speed(after) < 0.22 and height(after) > 5e-3 and rotation(after) < 7.0
