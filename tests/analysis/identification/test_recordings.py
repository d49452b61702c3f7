"""Recordings: files of any names and units give the same samples, and every mistake is told in one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.identification.identify import identify
from kinemorph.analysis.identification.read_recording import read_recording
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.recording_checks import check_recording
from kinemorph.deriving.dynamics import derive
from kinemorph.elements import JointFriction
from kinemorph.errors import RecordingWarning, ShapeError, StorageError
from kinemorph.model import library
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.simulation.simulate import simulate

ROBOT: Robot = library.double_pendulum()
ONE, TWO = ROBOT.v_names
DYNAMICS = derive(ROBOT, backend="interpreter")
T = np.linspace(0.0, 4.0, 401)
Q = np.stack([0.6 * np.sin(2.0 * T) + 0.1, 0.4 * np.sin(3.3 * T + 1.0)], axis=1)
V = np.stack([1.2 * np.cos(2.0 * T), 1.32 * np.cos(3.3 * T + 1.0)], axis=1)
A = np.stack([-2.4 * np.sin(2.0 * T), -4.356 * np.sin(3.3 * T + 1.0)], axis=1)
TAU = DYNAMICS.inverse_dynamics(Q, V, A)


def written(path: Path, names: list[str], table: Any, separator: str = ",") -> Path:
    np.savetxt(path, table, delimiter=separator, header=separator.join(names), comments="", fmt="%.12g")
    return path


def ours(path: Path, **changed: Any) -> Path:
    """A file in our names, where some columns are replaced."""
    table = {"t": T, f"q.{ONE}": Q[:, 0], f"q.{TWO}": Q[:, 1], f"v.{ONE}": V[:, 0], f"v.{TWO}": V[:, 1]}
    table |= {f"tau.{ONE}": TAU[:, 0], f"tau.{TWO}": TAU[:, 1]}
    for name, values in changed.items():
        table[name.replace("__", ".")] = values
    return written(path, list(table), np.stack(list(table.values()), axis=1))


def test_files_in_other_names_and_units_give_the_same_samples(tmp_path: Path) -> None:
    first = read_recording(ours(tmp_path / "a.csv"), ROBOT)
    names = ["ms [ms]", "pos1", "pos2 [deg]", "w1 [deg/s]", "w2 [rpm]", "i1", "i2", "note"]
    table = np.stack([1e3 * T, np.degrees(Q[:, 0]), np.degrees(Q[:, 1]), np.degrees(V[:, 0])], axis=1)
    table = np.column_stack([table, V[:, 1] * 30.0 / np.pi, TAU[:, 0] / 7.0, -TAU[:, 1] / 5.0, 0.0 * T])
    meaning: dict[str, Any] = {"ms": "t", "pos1": ONE, "pos2": f"q.{TWO}", "w1": f"v.{ONE}", "w2": f"v.{TWO}"}
    meaning |= {"i1": (ONE, 7.0), "i2": (f"tau.{TWO}", -5.0)}
    other = read_recording(written(tmp_path / "b.csv", names, table, ";"), ROBOT, meaning, units={"pos1": "deg"})
    for group in ("t", "q", "v", "tau"):
        assert np.allclose(getattr(other, group), getattr(first, group), rtol=1e-9, atol=1e-9), group
    assert first.a is None and len(first) == 401 and first.name == "a.csv"


def test_a_map_adds_to_the_names_of_the_file(tmp_path: Path) -> None:
    """One sign is turned, or currents are named alone, and all other columns are read as without a map."""
    plain = read_recording(ours(tmp_path / "a.csv"), ROBOT)
    turned = read_recording(tmp_path / "a.csv", ROBOT, {f"tau.{TWO}": (f"tau.{TWO}", -1)})
    for group in ("t", "q", "v"):
        assert np.array_equal(getattr(turned, group), getattr(plain, group)), group
    assert np.array_equal(turned.tau, plain.tau * [1.0, -1.0])
    currents = {"i1": TAU[:, 0] / 7.0, "i2": TAU[:, 1] / 5.0, "q__gripper": 0.0 * T, "u__valve": T}
    path = ours(tmp_path / "b.csv", **{f"tau__{ONE}": 0.0 * T, f"tau__{TWO}": 0.0 * T}, **currents)
    driven = read_recording(path, ROBOT, {"i1": (ONE, 7.0), "i2": (f"tau.{TWO}", 5.0)})
    assert np.allclose(driven.tau, plain.tau, rtol=1e-9, atol=1e-9)  # not the columns tau, whose meaning is given
    assert np.array_equal(driven.q, plain.q) and list(driven.inputs) == ["valve"]


def test_a_map_can_exchange_names_of_the_file(tmp_path: Path) -> None:
    """A title in our names has the meaning that the map gives to it, and no other."""
    path = ours(tmp_path / "a.csv", **{f"v__{ONE}": V[:, 1], f"v__{TWO}": V[:, 0]})
    back = read_recording(path, ROBOT, {f"v.{ONE}": f"v.{TWO}", f"v.{TWO}": f"v.{ONE}"})
    assert np.allclose(back.v, V, rtol=1e-9, atol=1e-9)
    with pytest.raises(ShapeError, match=f"has no column 'v.{ONE}'"):
        read_recording(path, ROBOT, {f"v.{ONE}": f"v.{TWO}"})


def test_a_saved_run_is_read_as_it_was(tmp_path: Path) -> None:
    """Forces of a run are those of the actuators: friction and damping are what identification explains."""
    element = JointFriction("rub", joints=(ROBOT.joint_names[0],), coulomb=0.3, viscous=0.2, smoothing=0.01)
    run = simulate(System(ROBOT, (element,)), 1.0, v=[2.0, 0.0], output_step=0.01)
    recording = Recording.of(run)
    assert np.abs(recording.tau).max() < 1e-12  # no actuator acts
    assert np.abs(run.tau).max() > 0.1
    assert np.allclose(recording.a, run.a)
    with pytest.warns(RecordingWarning) as said:
        back = read_recording(run.save(tmp_path / "run.csv"), ROBOT)
    told = [str(one.message) for one in said]
    assert any("not to be measured" in one for one in told)
    assert any("all generalized forces, friction of joints and elements included" in one for one in told)
    assert np.array_equal(back.q, run.q) and np.array_equal(back.tau, run.tau)


def nan(x: Any) -> Any:
    return np.where(np.arange(len(x)) == 70, np.nan, x)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("NaN", {f"q.{ONE}": nan(Q[:, 0])}, r"q is not a finite number in 1 of 401 samples \(number 71\)"),
    ("unknown", {"q.elbo": Q[:, 0]}, "column 'q.elbo' is unknown"),
    ("swapped", {f"v.{ONE}": V[:, 1], f"v.{TWO}": V[:, 0]}, f"v.{ONE} does not follow q.{ONE} .* columns are swapped"),
    ("degrees", {f"q.{ONE}": np.degrees(Q[:, 0])}, f"slope of q.{ONE} is 57.3 times v.{ONE}, so q is in degrees"),
    ("degrees of v", {f"v.{TWO}": np.degrees(V[:, 1])}, "so v is in degrees"),
    (
        "milliseconds",
        {"t": 1e3 * T},
        rf"\({ONE}, {TWO}\) are 0.001 times .* times seem to be in milliseconds.* 't \[ms\]'",
    ),
    ("microseconds", {"t": 1e6 * T}, "are 1e-06 times .* times seem to be in microseconds"),
    ("gear", {f"v.{TWO}": 50.0 * V[:, 1]}, f"the slope of q.{TWO} is 0.02 times v.{TWO}, so the units of q, v and t"),
    ("sign of v", {f"v.{ONE}": -V[:, 0]}, f"v.{ONE} is the negative slope of q.{ONE}"),
    ("repeated", {"t": np.where(np.arange(401) == 5, T[4], T)}, r"1 time not later .* t\[5\] = 0.04 s"),
    ("no times", {"t": nan(T)}, "t is not a finite number"),
]


@pytest.mark.parametrize(("changed", "sentence"), [one[1:] for one in BAD], ids=[one[0] for one in BAD])
def test_data_that_cannot_be_meant_are_refused(changed: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    path = ours(tmp_path / "bad.csv", **{name.replace(".", "__"): x for name, x in changed.items()})
    with pytest.raises(ShapeError, match=sentence) as caught:
        read_recording(path, ROBOT)
    assert "bad.csv" in str(caught.value)


def test_rows_that_are_written_twice_with_their_time_are_left_out(tmp_path: Path) -> None:
    path = ours(tmp_path / "twice.csv")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:11], lines[10], lines[10], *lines[11:]]))
    with pytest.warns(RecordingWarning, match="2 rows of 403 have the time and all values of the row before") as caught:
        recording = read_recording(path, ROBOT)
    assert len(recording) == 401 and len(caught) == 1


NOISE = 1e-3 * np.random.default_rng(1).normal(size=401)  # [rad], of an encoder
DOUBTFUL: list[tuple[str, Callable[[], Recording], str]] = [
    (
        "still",
        lambda: Recording("r", T, np.stack([Q[:, 0], 0.0 * T], 1), np.stack([V[:, 0], 0.0 * T], 1)),
        f"joint '{ROBOT.joint_names[1]}' never moves",
    ),
    (
        "noise only",
        lambda: Recording("r", T, np.stack([Q[:, 0], 0.3 + NOISE], 1)),
        f"joint '{ROBOT.joint_names[1]}' never moves",
    ),
    (
        "spike",
        lambda: Recording("r", T, Q + np.outer(np.arange(401) == 200, [0.0, 0.5]), V, A, TAU),
        f"q.{TWO} jumps by 0.504 rad in sample 201 (t = 2 s) and returns in the next",
    ),
    ("saturated", lambda: Recording("r", T, Q, V, A, np.clip(TAU, -4.0, 4.0)), f"tau.{ONE} stays at its extreme 4 in"),
    ("not measured", lambda: Recording("r", T, Q, V, A, TAU * [1.0, 0.0]), f"tau.{TWO} is 0 in all samples"),
    ("gap", lambda: Recording("r", T + (T > 2.0), Q, tau=TAU), "1 gap between samples"),
]


@pytest.mark.parametrize(("made", "sentence"), [one[1:] for one in DOUBTFUL], ids=[one[0] for one in DOUBTFUL])
def test_questionable_data_give_a_warning(made: Callable[[], Recording], sentence: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_recording(made(), ROBOT)
    assert any(sentence in str(one.message) and one.category is RecordingWarning for one in caught)


RUBBED = TAU + 2.0 * np.sign(V) + V  # with friction
CONTRADICTING = [
    pytest.param(RUBBED[:, ::-1], f"if tau.{ONE} and tau.{TWO} are swapped", id="swapped torques"),
    pytest.param(TAU * [-1.0, 1.0], f"if the sign of tau.{ONE} is turned", id="sign", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("tau", "sentence"), CONTRADICTING)
def test_forces_that_contradict_the_model_give_a_warning(tau: Any, sentence: str) -> None:
    with pytest.warns(RecordingWarning, match="fitted badly") as caught:
        identify(ROBOT, Recording("r", T, Q, V, A, tau))
    assert any(sentence in str(one.message) for one in caught)


def test_good_data_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recording = Recording("r", T, Q, V, A, TAU + 0.01 * np.random.default_rng(0).normal(size=TAU.shape))
        identify(ROBOT, recording)


def test_neither_noise_nor_coarse_encoders_nor_friction_nor_wrong_masses_give_a_warning() -> None:
    """Encoders with 4096 steps have jumps of one step; a model whose forces are off by a half has the same order."""
    steps = 2.0 * np.pi / 4096
    rubbed = 0.5 * TAU + 2.0 * np.sign(V) + V + 0.2 * np.random.default_rng(0).normal(size=TAU.shape)
    slow = np.stack([Q[:, 0], 0.02 * np.sin(T)], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for q in (Q, np.round(Q / steps) * steps, Q + NOISE[:, None], np.round(slow / steps) * steps):
            check_recording(Recording("r", T, q, tau=TAU), ROBOT)
        identify(ROBOT, Recording("r", T, Q, V, A, rubbed))


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        read_recording(tmp_path / "missing.csv", ROBOT)
    (tmp_path / "text.csv").write_text("t,q\n0,zero\n")
    with pytest.raises(ShapeError, match="column 'q' is 'zero' in sample 1"):
        read_recording(tmp_path / "text.csv", ROBOT)
    (tmp_path / "few.csv").write_text("t,x\n0,1\n")
    with pytest.raises(ShapeError, match=f"no column 'q.{ONE}'"):
        read_recording(tmp_path / "few.csv", ROBOT)
    with pytest.raises(ShapeError, match="the file has no column 'pos'"):
        read_recording(tmp_path / "few.csv", ROBOT, {"pos": ONE})
