"""Instrumental variables by simulated runs are unbiased where noise of velocities biases weighted least squares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, simulate
from kinemorph.elements import PD, Sinusoid
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


def test_a_robot_without_controllers_is_told(clean: Recording) -> None:
    with pytest.raises(UnsupportedError, match=r"needs the input 'pivot'.*Add the controllers"):
        identify(arm().robot, clean, method="instrumental", **FREE)
    with pytest.raises(ShapeError, match="method is 'instruments'"):
        identify(arm(), clean, method="instruments", **FREE)
