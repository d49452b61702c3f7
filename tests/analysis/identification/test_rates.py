"""Rates of recordings: exact motions are found again from noisy and irregular samples, nothing is delayed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kinemorph.analysis.identification.rates import Measured, Periodic, ZeroPhase, with_rates
from kinemorph.analysis.identification.recording import Recording
from kinemorph.errors import ShapeError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.simulation.simulate import simulate

ROBOT = library.double_pendulum()
W = 2.0 * np.pi / 5.0


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a of a Fourier series with period 5 s and three harmonics, shape (n, 2) each."""
    parts = [(0.5, W, 0.3), (0.2, 2 * W, 1.1), (0.1, 3 * W, 2.0)]
    q = sum(size * np.sin(w * t[:, None] + shift + [0.0, 0.9]) for size, w, shift in parts)
    v = sum(size * w * np.cos(w * t[:, None] + shift + [0.0, 0.9]) for size, w, shift in parts)
    a = sum(-size * w**2 * np.sin(w * t[:, None] + shift + [0.0, 0.9]) for size, w, shift in parts)
    return q, v, a


def worst(found: Recording) -> tuple[float, float]:
    """The largest errors of v and a, relative to their largest values."""
    _, v, a = motion(found.t)
    return float(np.abs(found.v - v).max() / np.abs(v).max()), float(np.abs(found.a - a).max() / np.abs(a).max())


@pytest.mark.parametrize("irregular", [0.0, 0.3])
@pytest.mark.parametrize("measured", [False, True])
def test_a_filter_finds_rates_of_noisy_positions(irregular: float, measured: bool) -> None:
    rng = np.random.default_rng(4)
    t = 0.01 * (np.arange(2000) + irregular * rng.uniform(-1.0, 1.0, size=2000))
    q, v, _ = motion(t)
    noisy = Recording(
        "r", t, q + 1e-5 * rng.normal(size=q.shape), v + 1e-3 * rng.normal(size=v.shape) if measured else None
    )
    found, note = with_rates(noisy, ROBOT)
    assert "cut-off" in note and "samples used" in note
    assert ("velocities recorded" if measured else "velocities slopes of coordinates") in note
    assert max(worst(found)) < 0.02
    differences = np.gradient(np.gradient(noisy.q, t, axis=0), t, axis=0)
    assert np.abs(differences - motion(t)[2]).max() > 10.0 * np.abs(found.a - motion(found.t)[2]).max()


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("rests", [0.0, 6.0])
def test_a_joint_that_is_often_at_rest_is_named_and_one_that_turns_around_is_not(measured: bool, rests: float) -> None:
    """The first joint rests for a time at the beginning and at the end of 20 s; its velocities there are only noise."""
    rng = np.random.default_rng(6)
    t = 0.01 * np.arange(2000)
    length = 20.0 - 2.0 * rests
    s = np.clip((t - rests) / length, 0.0, 1.0)
    q, v, _ = motion(t)
    q[:, 0], v[:, 0] = 2.0 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5), 60.0 / length * s**2 * (1.0 - s) ** 2
    q, v = q + 1e-4 * rng.normal(size=q.shape), v + 1e-3 * rng.normal(size=v.shape)
    note = with_rates(Recording("r", t, q, v if measured else None), ROBOT).note
    if not rests:
        assert "at rest" not in note
        return
    named = re.search(rf"at rest in more than a third of the samples.*: {ROBOT.v_names[0]} in ([\d.]+) % \(below", note)
    assert named is not None and note.endswith("rad/s)") and f"{ROBOT.v_names[1]} in" not in note
    assert 0.8 * 60.0 < float(named[1]) < 1.05 * 60.0  # rest of 12 in 20 s; the filter blurs its ends


def test_a_fourier_series_finds_its_own_rates_at_irregular_times() -> None:
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0.0, 10.0, size=400))
    found, note = with_rates(Recording("r", t, motion(t)[0]), ROBOT, Periodic(5.0, 3))
    assert max(worst(found)) < 1e-10 and "not used" not in note
    assert "recorded v and a not used" in with_rates(Recording("r", t, *motion(t)), ROBOT, Periodic(5.0, 3)).note
    noisy = Recording("r", t, motion(t)[0] + 1e-4 * rng.normal(size=(400, 2)))
    assert max(worst(with_rates(noisy, ROBOT, Periodic(5.0, 3)).recording)) < 1e-3


def test_rates_of_a_body_that_turns_freely() -> None:
    """Quaternions: angular velocities and accelerations of a tumbling body come from its configurations alone."""
    builder = RobotBuilder("stone", gravity=(0.0, 0.0, -9.81))
    builder.add(Body.box("stone", 1.0, (0.1, 0.2, 0.3)))
    robot = builder.joint("flight", "free", "world", "stone").build()
    run = simulate(robot, 3.0, v=[0.3, 0.0, 0.5, 1.0, 2.0, 0.5], output_step=0.005, rtol=1e-10)
    bare = Recording("r", run.t, run.q)
    found = with_rates(bare, robot, ZeroPhase(cutoff=20.0)).recording
    inside = np.isin(np.round(run.t, 9), np.round(found.t, 9))
    assert np.abs(found.v - run.v[inside]).max() < 1e-5 * np.abs(run.v).max()
    assert np.abs(found.a - run.a[inside]).max() < 1e-3 * np.abs(run.a).max()
    some = np.sort(np.random.default_rng(6).choice(len(run.t), size=480, replace=False))  # at irregular times
    signs = np.where(np.arange(480) % 3, 1.0, -1.0)[:, None]  # q and -q are the same rotation
    q = np.hstack([run.q[some, :3], signs * run.q[some, 3:]])
    found = with_rates(Recording("r", run.t[some], q), robot, ZeroPhase(cutoff=20.0)).recording
    wanted = np.stack([np.interp(found.t, run.t, column) for column in run.v.T], axis=1)
    assert np.abs(found.v - wanted).max() < 1e-2 * np.abs(run.v).max()


def test_bad_requests_are_refused() -> None:
    t = np.linspace(0.0, 1.0, 101)
    recording = Recording("r", t, motion(t)[0])
    for method, sentence in [
        (Measured(), "has no v and no a"),
        (ZeroPhase(cutoff=60.0), "cutoff is 60 Hz; expected between 0 and 50 Hz"),
        (Periodic(5.0, 3), "lasts 1 s"),
        (Periodic(0.5, 40), "81 coefficients"),
    ]:
        with pytest.raises(ShapeError, match=sentence):
            with_rates(recording, ROBOT, method)
    with pytest.raises(ShapeError, match="at least 40"):
        with_rates(recording.part(0, 20), ROBOT)
