"""Instrumental variables by simulated runs are unbiased where noise of velocities biases weighted least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, derive, library, simulate
from kinemorph.elements import PD, JointFriction, Sinusoid
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.identification import Measured, Recording, identify

VISCOUS = 0.5  # [N m s/rad]
NOISE = {"q": 1e-4, "v": 1.0, "a": 3.0, "tau": 0.05}  # [rad, rad/s, rad/s^2, N m]
FREE = {"rates": Measured(), "physical": False, "prior": 1e-9, "mass_deviation": None, "friction": ("viscous",)}


def arm(mass: float = 2.0) -> System:
    """A pendulum that follows a sinusoid under a PD controller."""
    bob = Body.box("bob", mass, (0.1, 0.1, 0.4), (0.0, 0.0, -0.2))
    joint = {"axis": (0.0, 1.0, 0.0), "damping": VISCOUS}
    robot = RobotBuilder("arm").add(bob).joint("pivot", "revolute", "world", "bob", **joint).build()
    path = Sinusoid("path", amplitude=(0.7,), frequency=(0.8,), joints=("pivot",))
    return System(robot, (path, PD("pd", ("pivot",), 60.0, 4.0, reference=("path",))))


@pytest.fixture(scope="module")
def clean() -> Recording:
    return replace(Recording.of(simulate(arm(), 8.0, output_step=0.01)), inputs={})


@pytest.fixture(scope="module")
def light() -> System:
    """The model to begin with, whose mass is too small."""
    return arm(1.8)


def noisy(clean: Recording, seed: int) -> Recording:
    rng = np.random.default_rng(seed)
    changed = {key: getattr(clean, key) + size * rng.normal(size=clean.q.shape) for key, size in NOISE.items()}
    return replace(clean, **changed)


@pytest.mark.filterwarnings("ignore::kinemorph.errors.RecordingWarning")
@pytest.mark.slow
def test_instruments_are_unbiased_where_least_squares_is_not(light: System, clean: Recording) -> None:
    found: dict[str, list[float]] = {"weighted": [], "instrumental": []}
    spread = []
    for seed in range(5):
        recording = noisy(clean, seed)
        for method, values in found.items():
            result = identify(light, recording, method=method, **FREE)
            values.append(result.values["pivot.viscous"])
        spread.append(result.standard_deviations["pivot.viscous"])
    means = {method: np.mean(values) - VISCOUS for method, values in found.items()}
    error = np.mean(spread) / np.sqrt(len(spread))
    shown = np.mean(clean.v**2) / (np.mean(clean.v**2) + NOISE["v"] ** 2)
    assert means["weighted"] < -5.0 * error  # noise of v makes viscous friction too small
    assert means["weighted"] == pytest.approx(-VISCOUS * (1.0 - shown), rel=0.25)
    assert abs(means["instrumental"]) < 3.0 * error
    scores = (np.array(found["instrumental"]) - VISCOUS) / spread
    assert 0.2 < np.sqrt(np.mean(scores**2)) < 2.0


@pytest.mark.filterwarnings("ignore::kinemorph.errors.RecordingWarning")
def test_without_noise_instruments_are_least_squares(light: System, clean: Recording) -> None:
    one, other = (identify(light, clean, method=method, **FREE) for method in ("weighted", "instrumental"))
    np.testing.assert_allclose(one.base_values, other.base_values, rtol=1e-4, atol=1e-6)
    assert other.values["pivot.viscous"] == pytest.approx(VISCOUS, rel=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinemorph.errors.RecordingWarning")
def test_intervals_of_instruments_hold_all_base_parameters_of_two_joints() -> None:
    """Ten seeds of a double pendulum with dry friction and noisy rates: intervals of least squares miss the truth."""
    robot = library.double_pendulum()
    joints = robot.joint_names
    path = Sinusoid("path", amplitude=(0.8, 0.6), frequency=(0.5, 0.9), joints=joints)
    control = PD("pd", joints, (120.0, 60.0), (12.0, 6.0), reference=("path",))
    friction = JointFriction("friction", joints, coulomb=0.3, viscous=0.5, smoothing=0.01)
    exact = Recording.of(simulate(System(robot, (path, control, friction)), 10.0, output_step=0.01))
    model = System(robot, (path, control))
    columns = derive(robot).regressor_columns
    truth = dict(zip(columns, derive(robot).regressor_parameters, strict=True))
    truth |= {f"{name}.{part}": x for name in joints for part, x in (("viscous", 0.5), ("coulomb", 0.3))}
    options = {"rates": Measured(), "physical": False, "prior": 1e-9, "mass_deviation": None}
    inside: dict[str, list[bool]] = {"weighted": [], "instrumental": []}
    for seed in range(10):
        recording = noisy(replace(exact, inputs={}), seed)
        for method, found in inside.items():
            result = identify(model, recording, method=method, friction=("viscous", "coulomb"), **options)
            values = result.base.combinations @ np.array([truth[name] for name in result.columns])
            low, high = result.base_intervals.T
            found += ((low <= values) & (values <= high)).tolist()
    shares = {method: float(np.mean(found)) for method, found in inside.items()}
    print(f"intervals that hold the truth: {shares}")
    assert shares["instrumental"] > 0.85 and shares["weighted"] < shares["instrumental"] - 0.1


def test_a_robot_without_controllers_is_told(clean: Recording) -> None:
    with pytest.raises(UnsupportedError, match=r"needs the input 'pivot'.*Add the controllers"):
        identify(arm().robot, clean, method="instrumental", **FREE)
    with pytest.raises(ShapeError, match="method is 'instruments'"):
        identify(arm(), clean, method="instruments", **FREE)
