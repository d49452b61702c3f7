"""Recordings as they are: what another simulator moved is identified with defaults, and mistakes are told by cause.

MuJoCo simulates the arms of `mujoco_recordings`. The slow tests have 40 mixes of faults, from 50 Hz to 5 kHz, each
beside a ladder of filters that are set by hand, and all spoiled recordings.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.identification.identified import Identified
from kinemorph.analysis.identification.identify import identify
from kinemorph.analysis.identification.rates import ZeroPhase, default_cutoff, fresh_samples, with_rates
from kinemorph.analysis.identification.read_recording import read_recording
from kinemorph.analysis.identification.recording import Recording
from kinemorph.errors import RecordingWarning, ShapeError
from kinemorph.model import library
from kinemorph.model.robot import Robot
from support.peers.mujoco_recordings import ARMS, Faults, drawn, recorded, simulated
from support.robots.ur10e import JOINTS, ur10e

pytest.importorskip("mujoco")

FOLDER = Path(os.environ.get("KINEMORPH_RECORDINGS", ""))
HELD_OUT = 1.3  # times the error of the best filter of a ladder
LADDER = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0, 80.0, 120.0, 200.0)
RATES = (50.0, 100.0, 125.0, 250.0, 500.0, 1000.0, 2000.0, 5000.0)
ROBOT = library.double_pendulum()


def quiet(*given: Any, **options: Any) -> Identified:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        return identify(*given, **options)


def told(robot: Robot, recording: Recording, **options: Any) -> str:
    """All warnings of an identification with defaults."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        identify(robot, recording, **options)
    return "\n".join(str(one.message) for one in caught if one.category is RecordingWarning)


# ── the filter by default ─────────────────────────────────────────────────────────────────────────────────────────────


def mixed(k: int) -> tuple[str, Faults]:
    """The arm and the faults of the recordings with this number, below 40."""
    rng = np.random.default_rng(100 + k)
    rate = RATES[k // 5]
    faults = Faults(
        rate=rate,
        repeated=int(rng.choice([1, 2, 4, 8] if rate >= 250.0 else [1, 2])),
        irregular=float(rng.choice([0.0, 0.3, 0.8])),
        counts=int(rng.choice([0, 2**12, 2**14, 2**17, 2**20])),
        delay=int(rng.choice([0, 1])),
        noise=float(rng.choice([0.005, 0.02, 0.1])),
        speeds=[None, None, 0.005, 0.02][int(rng.integers(4))],
    )
    return list(ARMS)[k % 5], faults


def beside_filters(
    name: str, faults: Faults, folder: Path, seconds: float, seed: int, ladder: Sequence[float] = LADDER
) -> tuple[float, float, str]:
    """The error of unseen motion with all settings left out, that with the best filter of a ladder, and the notes."""
    step = min(1e-3, max(1e-4, 0.25 / faults.rate))
    runs = (simulated(name, seconds, step, seed + k, slow=slow) for k, slow in ((1, 0.2), (2, 0.25)))
    used, unseen = (recorded(run, faults, seed + k) for k, run in enumerate(runs))
    robot = drawn(name, folder)
    errors = []
    for cutoff in ladder:
        try:
            errors.append(quiet(robot, used, validate=unseen, rates=ZeroPhase(cutoff)).validation[0].error)
        except ShapeError:  # beyond what the samples show
            break
    found = quiet(robot, used, validate=unseen)
    return found.validation[0].error, min(errors), "\n".join(found.notes)


def test_defaults_predict_as_the_best_filter_does(tmp_path: Path) -> None:
    """Rows repeated about twice, at irregular times, encoders of 16384 steps, late forces, 250 Hz."""
    own, best, notes = beside_filters(*mixed(19), tmp_path, 6.0, 190, (2.0, 3.0, 5.0, 8.0))
    assert own < HELD_OUT * best
    assert "chosen by forces" in notes and "repeat the row before and are left out" in notes


@pytest.mark.slow
@pytest.mark.parametrize("k", range(40))
def test_defaults_predict_as_the_best_filter_does_for_all_mixes(k: int, tmp_path: Path) -> None:
    name, faults = mixed(k)
    own, best, _ = beside_filters(name, faults, tmp_path, 12.0 if faults.rate <= 1000.0 else 6.0, 10 * k)
    assert own < HELD_OUT * best, (own, best)


@pytest.mark.slow
@pytest.mark.skipif(not (FOLDER / "ur10e_train_30s.csv").is_file(), reason="KINEMORPH_RECORDINGS is not set")
@pytest.mark.parametrize("spoiled", [False, True])
def test_defaults_predict_a_recorded_arm_as_the_best_filter_does(spoiled: bool) -> None:
    """Also where each row is written four times, some of them later than they should be."""
    gains = dict(zip(JOINTS, (10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232), strict=True))
    columns: dict[str, Any] = {f"current.{joint}": (f"tau.{joint}", gain) for joint, gain in gains.items()}
    used, unseen = (read_recording(FOLDER / f"ur10e_{name}.csv", ur10e(), columns) for name in ("train_30s", "points"))
    if spoiled:
        used, unseen = repeated_four_times(used), repeated_four_times(unseen)
    best = min(quiet(ur10e(), used, validate=unseen, rates=ZeroPhase(c)).validation[0].error for c in LADDER[:8])
    found = quiet(ur10e(), used, validate=unseen)
    assert found.validation[0].error < HELD_OUT * best
    assert not [note for note in found.notes if "fitted badly" in note or "far from those of the model" in note]


def repeated_four_times(one: Recording) -> Recording:
    times = np.append(one.t, 2.0 * one.t[-1] - one.t[-2])
    late = 0.1 * np.random.default_rng(0).uniform(size=(len(one), 4)) + 0.25 * np.arange(4)
    t = (times[:-1, None] + late * np.diff(times)[:, None]).ravel()
    return Recording(one.name, t, *(np.repeat(x, 4, axis=0) for x in (one.q, one.v)), tau=np.repeat(one.tau, 4, axis=0))


# ── cleaning and spectra ──────────────────────────────────────────────────────────────────────────────────────────────


def test_repeated_rows_are_left_out_but_neither_rest_nor_steps_of_an_encoder() -> None:
    t = 1e-3 * np.arange(4000)
    q = np.stack([np.sin(2.0 * t), np.cos(3.0 * t)], axis=1)
    held = Recording("r", t, q[np.arange(4000) // 4 * 4], tau=np.zeros((4000, 2)))
    assert len(fresh_samples(held)) == 1000 and np.array_equal(fresh_samples(held).q, q[::4])
    note = with_rates(held, ROBOT, ZeroPhase(5.0)).note
    assert "3000 of 4000 rows repeat the row before and are left out" in note
    coarse = np.round(q * 0.02 * 500) / 500  # a slow motion: most rows are equal to the row before
    rest = np.where(t[:, None] < 2.0, q[0], q - q[2000] + q[0])
    for one in (q, coarse, rest):
        recording = Recording("r", t, one)
        assert fresh_samples(recording) is recording


def test_the_noise_of_velocities_at_rest_is_the_known_one() -> None:
    """White noise s of positions has the density 2 s^2 h; slopes up to f have the variance 2 s^2 h (2 pi)^2 f^3 / 3."""
    h, f, s = 0.005, 8.0, 2e-4
    t = h * np.arange(8000)
    rng = np.random.default_rng(3)
    q = np.stack([0.5 * np.sin(t), 0.0 * t], axis=1) + s * rng.normal(size=(8000, 2))
    for speeds, deviation in (
        (None, s * np.sqrt(2.0 * h * (2.0 * np.pi) ** 2 * f**3 / 3.0)),
        (np.stack([0.5 * np.cos(t), 0.0 * t], axis=1) + s * rng.normal(size=(8000, 2)), s * np.sqrt(2.0 * h * f)),
    ):
        prepared = with_rates(Recording("r", t, q, speeds), ROBOT, ZeroPhase(f))
        assert np.std(np.array(prepared.recording.v)[:, 1]) == pytest.approx(deviation, rel=0.15)
        assert "(below " in prepared.note  # four deviations
        below = float(prepared.note.partition("(below ")[2].split()[0])
        assert below == pytest.approx(4.0 * deviation, rel=0.1)


@pytest.mark.parametrize("h", [0.02, 1e-3, 2e-4])
def test_the_default_cutoff_is_above_the_motion_and_below_noise_of_any_color(h: float) -> None:
    """Noise that a drive has filtered is no floor in the upper part of the spectrum."""
    rng = np.random.default_rng(5)
    t = np.arange(0.0, 20.0, h)
    q = np.stack([np.sin(2.0 * np.pi * 0.7 * t), np.cos(2.0 * np.pi * 0.4 * t)], axis=1)
    noise = rng.normal(size=(len(t) + 4, 2))
    for colored in (noise[4:], noise[4:] + noise[3:-1] + noise[2:-2] + noise[1:-3] + noise[:-4]):
        assert 0.7 < default_cutoff(Recording("r", t, q + 1e-4 * colored), ROBOT) < 10.0


# ── mistakes that are told by their cause ─────────────────────────────────────────────────────────────────────────────


def swapped(x: Any) -> Any:
    return x[:, [1, 0, *range(2, x.shape[1])]]


def later(one: Recording, seconds: float) -> Recording:
    return replace(one, tau=np.stack([np.interp(one.t - seconds, one.t, x) for x in np.array(one.tau).T], axis=1))


def second(x: Any, factor: float) -> Any:
    return x * np.where(np.arange(x.shape[1]) == 1, factor, 1.0)


DEG = 180.0 / np.pi
SPOILED: dict[str, tuple[Callable[[Recording], Recording], str]] = {
    "degrees": (lambda r: replace(r, q=DEG * r.q, v=DEG * r.v), "if columns q and v are taken to be in degrees"),
    "degrees of q": (lambda r: replace(r, q=DEG * r.q), "if columns q are taken to be in degrees"),
    "degrees of v": (lambda r: replace(r, v=DEG * r.v), "if columns v are taken to be in degrees"),
    "sign of a torque": (lambda r: replace(r, tau=second(r.tau, -1.0)), "if the sign of tau.j1 is turned"),
    "signs of all torques": (lambda r: replace(r, tau=-r.tau), "if the signs of all forces are turned"),
    "swapped torques": (lambda r: replace(r, tau=swapped(r.tau)), "if tau.j0 and tau.j1 are swapped"),
    "swapped joints": (lambda r: replace(r, q=swapped(r.q), v=swapped(r.v)), "if q.j0 and q.j1 are swapped"),
    "sign of a joint": (
        lambda r: replace(r, q=second(r.q, -1.0), v=second(r.v, -1.0)),
        "if the signs of q.j1 and v.j1 are turned",
    ),
    "late torques": (lambda r: later(r, 0.06), "if forces are taken to be recorded about 60 ms too late"),
    "torques in N mm": (lambda r: replace(r, tau=1e3 * r.tau), "if all forces are taken to be in N mm, mN m or mA"),
    "a torque in N mm": (lambda r: replace(r, tau=second(r.tau, 1e3)), "if tau.j1 is taken to be in N mm, mN m or mA"),
}
QUICK = ("degrees", "swapped torques")  # with the smallest arm


@cache
def spoilable(name: str) -> Recording:
    faults = Faults(rate=500.0, repeated=2, irregular=0.3, counts=2**17, speeds=0.005)
    return recorded(simulated(name, 10.0, 1e-3, 3), faults, 3)


def assert_cause(name: str, what: str, folder: Path) -> None:
    """The mistake is told, with its size and what is left without it; mistakes of q or v alone may be an error."""
    spoil, sentence = SPOILED[what]
    try:
        found = told(drawn(name, folder), spoil(spoilable(name)))
    except ShapeError as error:
        assert what in ("degrees of q", "degrees of v") and f"so {what[-1]} is in degrees" in str(error)
        return
    assert "the forces in use are fitted badly; of their variance is unexplained: tau.j0 " in found
    assert sentence in found, found
    left = float(found.partition("It falls to ")[2].split()[0])
    assert left < 5.0 and f"It falls to {left:.3g} % or less if" in found


@pytest.mark.parametrize("what", QUICK)
def test_a_mistake_is_told_with_its_size(what: str, tmp_path: Path) -> None:
    assert_cause("plane", what, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("what", SPOILED)
@pytest.mark.parametrize("name", ["arm6", "leg", "plane"])
def test_every_mistake_is_told_with_its_size(name: str, what: str, tmp_path: Path) -> None:
    assert_cause(name, what, tmp_path)


def test_a_good_recording_gives_no_such_warning(tmp_path: Path) -> None:
    found = told(drawn("plane", tmp_path), spoilable("plane"))
    assert "fitted badly" not in found and "far from" not in found


def test_another_robot_and_forces_of_no_motion_are_told_apart(tmp_path: Path) -> None:
    """Joints of the other robot turn about vertical axes; noise that drifts follows from no motion."""
    drawing, used = drawn("plane", tmp_path), spoilable("plane")
    other = replace(drawing, joints=tuple(replace(one, axis=(0.0, 0.0, 1.0)) for one in drawing.joints), name="other")
    found = told(other, used)
    assert "forces follow from the motion, but not as in robot 'other'. The recording seems to be of another" in found
    drift = np.cumsum(np.random.default_rng(0).normal(size=(len(used), 2)), axis=0)
    assert "forces act that do not follow from the motion" in told(drawing, replace(used, tau=drift))


def test_a_filter_that_was_set_by_hand_is_named_as_the_cause(tmp_path: Path) -> None:
    found = told(drawn("plane", tmp_path), spoilable("plane"), rates=ZeroPhase(0.3))
    assert "fitted badly" in found and "or less with the default filter: leave `rates` out." in found


def test_masses_far_from_the_model_are_named(tmp_path: Path) -> None:
    """The model has a hundredth of the masses: forces are those of bodies, but of others."""
    run = simulated("plane", 6.0, 1e-3, 3)
    robot = drawn("plane", tmp_path)
    light = replace(robot, bodies=tuple(replace(one, mass=0.01 * one.mass) for one in robot.bodies))
    found = told(light, recorded(run, Faults(rate=200.0), 3), mass_deviation=None)
    assert "identified masses are far from those of the model: b0.m = " in found and "(model: 0.0" in found
