"""Paths with a period: their period, shift and duty factor as parameters, against curves of SciPy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from kinemorph import Parameter, System, library, load, save, simulate, simulate_batch
from kinemorph.analysis.small_motions.varied_run import varied_run
from kinemorph.elements import PD, SplinePath
from kinemorph.errors import ModelError
from kinemorph.plants import plant
from support.tools.each_case import each_case

QUICK = {"method": "rk4", "step": 0.01}
TIMES, POINTS, STANCE = (0.2, 0.5, 0.8, 1.1, 1.4), (0.1, 0.7, -0.2, 0.3, 0.1), 0.45
PERIOD, SHIFT, DUTY = Parameter("period", 1.2, "s"), Parameter("ahead", 0.0), Parameter("duty", STANCE)
PATH = SplinePath("r", TIMES, POINTS, period=PERIOD, shift=SHIFT, duty=DUTY, stance=STANCE)
NAMES = ("period", "ahead", "duty")


def robot_with(*elements: Any) -> System:
    return System(library.double_pendulum(), elements)


def by_scipy(t: np.ndarray, period: float, ahead: float, duty: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration of PATH: a periodic spline over a Hermite curve from SciPy."""
    curve = CubicSpline(TIMES, POINTS, bc_type="periodic")
    slope = STANCE / duty
    warp = CubicHermiteSpline([0.0, duty, 1.0], [0.0, STANCE, 1.0], [slope] * 3)
    phase = ((t - TIMES[0]) / period + ahead) % 1.0
    place, rate = TIMES[0] + 1.2 * warp(phase), 1.2 * warp(phase, 1) / period
    second = 1.2 * warp(phase, 2) / period**2
    return curve(place), curve(place, 1) * rate, curve(place, 2) * rate**2 + curve(place, 1) * second


VALUES = [
    (1.2, 0.0, STANCE),
    (0.7, 0.0, STANCE),
    (1.2, 0.3, STANCE),
    (1.2, 0.0, 0.6),
    (1.9, -1.4, 0.3),
    (0.9, 0.8, 0.8),
]


def test_period_shift_and_duty_are_those_of_a_batch_without_another_compilation() -> None:
    """One program serves all values; each run has the path, velocity and acceleration of curves of SciPy."""
    made = plant(robot_with(PATH), parameters=NAMES)
    columns = dict(zip(NAMES, np.array(VALUES).T, strict=True))
    batch = simulate_batch(made, 2.5, p=columns, output_step=0.0173, **QUICK)
    for k, values in enumerate(VALUES):
        for name, exact in zip(("r", "r.velocity", "r.acceleration"), by_scipy(batch[k].t, *values), strict=True):
            np.testing.assert_allclose(batch[k][name], exact, rtol=1e-9, atol=1e-9, err_msg=f"{name} of {values}")


def test_rates_are_numerical_derivatives_and_velocities_do_not_jump() -> None:
    values = dict(zip(NAMES, (1.1, 0.2, 0.62), strict=True))
    run = simulate(plant(robot_with(PATH), parameters=NAMES), 2.3, p=values, output_step=1e-4, **QUICK)
    velocity, jumps = run["r.velocity"], np.abs(np.diff(run["r.acceleration"]))
    off = np.abs(np.diff(run["r"]) / 1e-4 - 0.5 * (velocity[1:] + velocity[:-1]))
    assert (off <= 1e-4 * jumps / 4 + 1e-10).all()  # the error of the trapezoidal rule, also where accelerations jump
    assert np.abs(np.diff(velocity)).max() < 1.01e-4 * np.abs(run["r.acceleration"]).max()


def test_the_duty_of_the_points_leaves_the_path_as_it_is() -> None:
    plain = SplinePath("plain", TIMES, POINTS, period=1.2)
    run = simulate(robot_with(PATH, plain), 2.5, output_step=0.01, **QUICK)
    for name in ("", ".velocity", ".acceleration"):
        np.testing.assert_allclose(run[f"r{name}"], run[f"plain{name}"], rtol=1e-12, atol=1e-12)


def test_joints_have_shifts_and_duties_of_their_own() -> None:
    rows = tuple((x, x) for x in POINTS)
    both = replace(PATH, points=rows, joints=("q1", "q2"), period=1.2, shift=(0.0, 0.3), duty=(STANCE, 0.6))
    run = simulate(robot_with(both), 2.5, output_step=0.01, **QUICK)
    np.testing.assert_allclose(run["r.q1"], by_scipy(run.t, 1.2, 0.0, STANCE)[0], atol=1e-10)
    np.testing.assert_allclose(run["r.q2"], by_scipy(run.t, 1.2, 0.3, 0.6)[0], atol=1e-10)


def test_a_motion_has_exact_derivatives_with_respect_to_period_shift_and_duty() -> None:
    """The variational equations of a pendulum that follows the path, against central differences of its runs."""
    system = robot_with(replace(PATH, joints=("q1",)), PD("c", "q1", 50.0, 5.0, reference="r"))
    made, values, tiny = plant(system, parameters=NAMES), np.array([1.1, 0.1, 0.6]), 1e-5
    options: Any = {"rtol": 1e-12, "atol": 1e-14}  # differences of runs divide their errors by 2e-5
    found = varied_run(made, 1.0, NAMES, p=dict(zip(NAMES, values, strict=True)), **options)
    assert not found.message
    rows = np.concatenate([values + tiny * np.eye(3), values - tiny * np.eye(3)])
    ends = simulate_batch(made, 1.0, p=dict(zip(NAMES, rows.T, strict=True)), output_step=1.0, **options).final.q
    np.testing.assert_allclose(found.slopes[:2], ((ends[:3] - ends[3:]) / (2.0 * tiny)).T, rtol=1e-4)


def test_model_files_keep_the_parameters_of_a_path(tmp_path: Path) -> None:
    save(robot_with(PATH), tmp_path / "path.toml")
    assert load(tmp_path / "path.toml").elements == (PATH,)


BAD = [
    ({"period": 0.0, "duty": (), "stance": 0.0, "shift": 0.2}, r"shift is given, but the path has no period"),
    ({"period": 0.0, "shift": 0.0}, r"duty is given, but the path has no period"),
    ({"period": 1.0}, r"period is 1 s and its times span 1.2 s; expected the same.*Parameter"),
    ({"shift": (0.1, 0.2)}, r"shift has 2 numbers; expected 1"),
    ({"duty": ()}, r"duty has 0 numbers and stance is 0.45; expected both"),
    ({"duty": 0.1}, r"duty is 0.1; expected at least 0.214 and below 1, since the stance is 0.45"),
    ({"duty": Parameter("duty", 1.0)}, r"duty is 1; expected at least"),
]


@each_case(("change", "says"), BAD, ids=[says[:30] for _, says in BAD])
def test_bad_data_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ModelError, match=says):
        plant(robot_with(replace(PATH, **change)))
