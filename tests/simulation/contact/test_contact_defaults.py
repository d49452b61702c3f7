"""The default steps of systems with contacts: they follow impacts of any stiffness, and are long while nothing happens.

Balls rebound by the closed form of Hunt and Crossley's law, energy balances, and single runs and batches take the same
steps.
"""

from __future__ import annotations

import importlib.metadata
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, load, load_text, simulate, simulate_batch
from kinemorph.elements import Contact, HuntCrossley
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.integrators.methods import STEADY_LONGEST
from kinemorph.simulation.planned_run import prepared_run
from kinemorph.simulation.running.energy_check import energy_error
from kinemorph.simulation.stepping.step_options import step_options

G = 9.81
BOX = """<robot name="box"><link name="box">
<inertial><mass value="2"/><inertia ixx="0.0217" iyy="0.0333" izz="0.0417" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link></robot>"""


def bouncing(stiffness: float, damping: float) -> System:
    """A ball of 1 kg and 0.1 m that moves along z only, over the ground."""
    ball = RobotBuilder("ball").add(Body.sphere("ball", 1.0, 0.1))
    robot = ball.joint("z", "prismatic", "world", "ball", axis=(0, 0, 1)).build()
    return System(robot, (Contact("ground", "ball", HuntCrossley(stiffness, damping), radius=0.1),))


def rebound_error(stiffness: float, damping: float, speeds: np.ndarray, **options: Any) -> float:
    """The largest error of the speed after an impact, as a share of that before it, over all `speeds` [m/s]."""
    heights = 0.1 + speeds**2 / (2.0 * G)
    until = float(speeds.max()) / G + 0.05
    batch = simulate_batch(bouncing(stiffness, damping), until, q=heights[:, None], output_step=until, **options)
    z, v = batch.q[:, -1, 0] - 0.1, batch.v[:, -1, 0]
    after = np.sqrt(np.maximum(v**2 + 2.0 * G * z, 0.0))  # at the ground
    return float(np.abs(after - [restitution(damping * u) * u for u in speeds]).max() / speeds.max())


def restitution(loss: float) -> float:
    """The coefficient of restitution e with loss (1 + e) = log((1 + loss) / (1 - e loss)), by bisection."""
    low, high = 0.0, min(1.0, 1.0 / loss if loss else 1.0)
    for _ in range(60):
        e = 0.5 * (low + high)
        low, high = (e, high) if loss * (1.0 + e) > math.log((1.0 + loss) / (1.0 - e * loss)) else (low, e)
    return 0.5 * (low + high) if loss else 1.0


@pytest.mark.parametrize("stiffness", [1e7, pytest.param(1e9, marks=pytest.mark.slow)])
@pytest.mark.parametrize("damping", [0.0, pytest.param(0.3, marks=pytest.mark.slow)])
def test_stiff_balls_rebound_by_the_closed_form(stiffness: float, damping: float) -> None:
    speeds = np.linspace(2.0, 2.5, 60)  # the ground is met anywhere within a step
    weight = 5e-3 if damping else 0.0  # the closed form has no weight
    assert rebound_error(stiffness, damping, speeds) < 1e-3 + weight
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert rebound_error(stiffness, damping, speeds, step=1e-3) > 0.05


def test_a_tumbling_box_of_a_file_balances_its_energy_and_stays_above_the_ground() -> None:
    start = {"q": [0, 0, 0.5, 0.9, 0.3, 0.2, 0.1], "v": [1.0, 0.5, 0, 3.0, 2.0, 5.0]}
    ready = prepared_run(load_text(BOX, "urdf", base="free"), {"time": 3.0, **start})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = ready.run()
    found = energy_error(run.segments, run.events)
    assert found is not None and found.share < 1e-3
    assert run["box box.depth"].max() < 4e-3
    assert run["box box.normal"][-1] == pytest.approx(2.0 * G, rel=1e-3)


def test_runs_and_batches_take_the_same_steps_which_are_long_at_rest() -> None:
    system = bouncing(1e6, 1.0)
    depth = (G / 1e6) ** (1.0 / 1.5)
    starts = [[0.1 - depth], [0.3]]
    runs = [simulate(system, 0.6, q=q) for q in starts]
    batch = simulate_batch(system, 0.6, q=starts)
    for found, run in zip(batch.q, runs, strict=True):
        assert found == pytest.approx(run.q, abs=1e-9)  # lanes round powers differently
    resting, falling = (run.statistics.accepted for run in runs)
    assert resting < 2.0 * 0.6 / STEADY_LONGEST < falling
    plant = shared_plant(system)
    usual = step_options(plant, None, None, None, None, math.inf)
    named = step_options(plant, "extrapolated_contact", None, None, None, math.inf)
    assert named == usual and usual.step is None and usual.max_step == STEADY_LONGEST
    assert step_options(plant, None, None, None, None, 1e-3).max_step == 1e-3
    assert step_options(plant, None, 2e-3, None, None, math.inf).step == 2e-3
    assert step_options(plant, "implicit_contact", None, None, None, math.inf).step == 1e-3
    assert step_options(plant, None, None, 1e-9, None, math.inf).method == "dop853"


@pytest.mark.slow
def test_a_robot_that_falls_is_as_deep_as_with_a_method_for_stiff_equations() -> None:
    try:
        files = importlib.metadata.distribution("example-robot-data").files or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    path = next(Path(str(one.locate())).resolve() for one in files if one.name == "hyq_no_sensors.urdf")
    system = load(path, base="free", package_dirs=[path.parents[2]])
    ready = prepared_run(system, {"time": 0.5})
    height = {
        **ready.arguments,
        "q": [x + 0.05 * (k == 2) for k, x in enumerate(ready.system.initial_state()[0].tolist())],
    }
    deepest = []
    for options in ({}, {"method": "rodas", "rtol": 1e-7, "atol": 1e-9}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run = ready._replace(arguments={}).run(**height, output_step=1e-4, **options)
        found = energy_error(run.segments, run.events)
        assert found is not None and found.share < 1e-3
        deepest.append(max(run[f"{one.name}.depth"].max() for one in ready.system.elements if isinstance(one, Contact)))
    assert deepest[0] == pytest.approx(deepest[1], rel=5e-3)
