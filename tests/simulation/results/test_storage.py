"""Files of runs: they come back bit for bit, are whole or not there, run nothing, and survive a kill."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import MissingExtraError, ModelError, StorageError, StorageWarning, UnsupportedError
from kinemorph.model import library
from kinemorph.plants.own_equations import first_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.files import storage
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.regular_functions import HeldInputs
from support.robots.random_robots import robot_of_kind
from support.tools.some_slow import first

ENDINGS = (".npz", ".h5", ".csv", ".res")
CLOSED = [0.6, 0.02989836, 1.6066907]


def ball() -> kinemorph.Robot:
    builder = kinemorph.RobotBuilder("ball").add(kinemorph.Body.sphere("ball", 1.0, 0.1))
    return builder.joint("fall", "prismatic", "world", "ball", axis=(0, 0, 1)).build()


def ground(e: float) -> Guard:
    return Guard("ground", lambda q: q[0], "falling", reset=lambda v: {"v": [-e * v[0]]})


def arm_run() -> Trajectory:
    made = plant(
        library.double_pendulum(),
        forces=lambda t, v: [1.0 - 0.2 * v[0], 0.1 * t],
        states={"filter, slow": ""},
        state_rates=lambda q, x: [q[0] - x[0]],
        outputs={"sum": lambda q: q[0] + q[1]},
        output_units={"sum": "rad"},
        account=True,
    )
    return simulate(made, 1.0, q=[0.3, 1.0 / 3.0], output_step=0.05)


RUNS = {
    "arm with forces, a state and an output": arm_run,
    "bounces": lambda: simulate(ball(), 3.0, q=[1.0], events=[ground(0.8)], output_step=0.1),
    "four-bar": lambda: simulate(library.four_bar(), 0.3, q=CLOSED, output_step=0.05),
    "free body with inputs": lambda: simulate(
        robot_of_kind("free", chained=False),
        0.3,
        inputs=HeldInputs(lambda t, q, v, x: [t] * 6, every=0.1),
        output_step=0.05,
    ),
    "equations, failed": lambda: simulate(first_order(lambda x: [x[0] * x[0]], {"x": "m"}, start=[1.0]), 2.0),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Trajectory]:
    return {name: make() for name, make in RUNS.items()}


def same(one: Trajectory, other: Trajectory) -> None:
    """All that both hold is the same to the last bit."""
    for name, column in other.columns.items():
        assert one.columns[name] == column
        assert one[name].tobytes() == other[name].tobytes(), name
    assert [len(segment.t) for segment in one.segments] == [len(segment.t) for segment in other.segments]
    assert other.outcome == one.outcome and dict(other.settings) == dict(one.settings)
    for name in ("method", "accepted", "rejected", "calls"):
        assert getattr(one.statistics, name) == getattr(other.statistics, name)
    assert len(one.events) == len(other.events)
    for mine, theirs in zip(one.events, other.events, strict=True):
        assert (mine.t, mine.name, mine.kind) == (theirs.t, theirs.name, theirs.kind)
        for side in ("before", "after"):
            pairs = getattr(mine, side), getattr(theirs, side)
            assert all(np.array_equal(pairs[0][group], pairs[1][group]) for group in "qvxm")


# ── there and back ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", RUNS)
def test_a_run_comes_back_bit_for_bit(name: str, ending: str, runs: dict[str, Trajectory], tmp_path: Path) -> None:
    run, path = runs[name], tmp_path / f"run{ending}"
    if ending == ".res" and name == "free body with inputs":
        with pytest.raises(UnsupportedError, match=r"free joint 'j0' of 'free' has no such coordinates. Save it as"):
            run.save(path)
        return
    assert run.save(path) == path
    back = load_trajectory(path)
    same(run, back)
    missing = [column for column in run.columns if column not in back.columns]
    assert all(column.startswith(("tau.", "sum", "loop_error")) for column in missing) and (
        not missing or ending == ".res"
    )
    assert repr(back) == repr(run)
    for group in ("q", "v", "x", "u", "a"):
        assert np.array_equal(getattr(run, group), getattr(back, group))
    times = np.linspace(run.t[0], run.t[-1], 50)
    assert np.array_equal(run.at(times).q, back.at(times).q)
    again = tmp_path / f"again{ending}"
    back.save(again)  # a loaded run can be saved
    assert again.read_bytes() == path.read_bytes() or ending == ".h5"


def test_what_needs_the_model_says_so_and_takes_it(runs: dict[str, Trajectory], tmp_path: Path) -> None:
    run = runs["bounces"]
    back = load_trajectory(run.save(tmp_path / "run.csv"))
    with pytest.raises(UnsupportedError, match=r"holds samples and no equations of motion, because a table holds no"):
        _ = back.segments[0].plant.rate
    with pytest.raises(UnsupportedError, match=r"because a table holds no model. Give the .*\(path, model=robot\)"):
        back.reactions("fall")
    run.save(tmp_path / "run.npz")
    whole = load_trajectory(tmp_path / "run.npz", model=ball())
    assert np.array_equal(whole.reactions("fall"), run.reactions("fall"))
    with pytest.raises(StorageError, match="is a run of 'ball', whose q are"):
        load_trajectory(tmp_path / "run.npz", model=library.pendulum())
    table = load_trajectory(runs["four-bar"].save(tmp_path / "run.res"))
    with pytest.raises(UnsupportedError, match="'loop_error' of run 'four_bar' is computed from the model"):
        _ = table.loop_error
    with_model = load_trajectory(tmp_path / "run.res", model=library.four_bar())
    np.testing.assert_allclose(with_model.loop_error, runs["four-bar"].loop_error, rtol=1e-12)


def test_a_loaded_run_can_be_gone_on_with(runs: dict[str, Trajectory], tmp_path: Path) -> None:
    run = runs["bounces"]
    back, table = (load_trajectory(run.save(tmp_path / f"run.{ending}")) for ending in ("npz", "csv"))
    one, *others = (simulate(ball(), 3.5, start=each, events=[ground(0.8)]) for each in (run, back, table))
    assert np.array_equal(one.q, others[0].q) and one.t[0] == 3.0
    assert others[1].q == pytest.approx(one.q, abs=1e-9)  # a table has no place for what the method remembers


def test_tables_are_read_by_others(runs: dict[str, Trajectory], tmp_path: Path) -> None:
    run = runs["arm with forces, a state and an output"]
    path = run.save(tmp_path / "run.csv")
    header = path.read_text().splitlines()[1]
    assert header.startswith("t [s],q.q1 [rad],q.q2 [rad],v.q1 [rad/s]") and '"filter, slow"' in header
    assert np.array_equal(np.loadtxt(path, delimiter=",", skiprows=2)[:, 1], run["q.q1"])
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(
        path, comment="#", **({"float_precision": "round_trip"} if int(pandas.__version__[0]) < 3 else {})
    )
    assert np.array_equal(frame["a.q2 [rad/s^2]"], run["a.q2"]) and np.array_equal(frame["filter, slow"], run.x[:, 0])


def test_a_header_is_no_formula(tmp_path: Path) -> None:
    """Finding R11: a name from a model that begins with = has an apostrophe in front, and comes back without it."""
    slow = plant(library.pendulum(), states={"=1+1": ""}, state_rates=lambda x: [-x[0]])
    path = simulate(slow, 0.1, output_step=0.1).save(tmp_path / "run.csv")
    assert ",'=1+1," in path.read_text().splitlines()[1]
    assert "=1+1" in load_trajectory(path).columns


def test_res_files_have_the_columns_of_easydyn(runs: dict[str, Trajectory], tmp_path: Path) -> None:
    run = runs["arm with forces, a state and an output"]
    path = run.save(tmp_path / "run.res")
    table = np.loadtxt(path)  # comments are skipped, as gnuplot does
    dof = [column for k in (0, 1) for column in (run.q[:, k], run.v[:, k], run.a[:, k])]
    assert np.array_equal(table[:, :9], np.column_stack([run.t, *dof, run.u]))
    assert path.read_text().splitlines()[1].startswith("# t [s]  q.q1 [rad]  v.q1 [rad/s]  a.q1 [rad/s^2]  q.q2 [rad]")


def test_hdf5_has_units_and_needs_its_extra(
    runs: dict[str, Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    h5py = pytest.importorskip("h5py")
    run = runs["arm with forces, a state and an output"]
    path = run.save(tmp_path / "run.h5")
    with h5py.File(path) as file:
        assert np.array_equal(file["q"][()], run.q) and list(file["q"].attrs["units"]) == ["rad", "rad"]
        assert list(file["account"].attrs["names"]) == ["energy.supplied", "energy.dissipated", "energy.balance"]
        assert file["t"].attrs["units"][0] == "s"
    monkeypatch.setitem(sys.modules, "h5py", None)
    for ask in (lambda: run.save(path), lambda: load_trajectory(path), lambda: simulate(ball(), 1.0, save=path)):
        with pytest.raises(MissingExtraError, match=r"pip install 'kinemorph\[hdf5\]'"):
            ask()


# ── damaged and foreign files ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_cut_short_are_refused(ending: str, runs: dict[str, Trajectory], tmp_path: Path) -> None:
    path = runs["bounces"].save(tmp_path / f"run{ending}")
    data = path.read_bytes()
    for keep in [0, 1, 10, 100, len(data) // 3, len(data) // 2, len(data) - 100, len(data) - 2, len(data) - 1]:
        path.write_bytes(data[:keep])
        with pytest.raises(StorageError, match=r"run\.\w+' cannot be read as a run: "):
            load_trajectory(path)
    rng = np.random.default_rng(0)
    for _ in range(20):  # a wrong bit anywhere: another number, or a sentence
        damaged = bytearray(data)
        damaged[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            assert isinstance(load_trajectory(path), Trajectory)
        except StorageError as error:
            assert "cannot be read as a run" in str(error)


@pytest.mark.parametrize("ending", ENDINGS)
def test_foreign_files_are_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"other{ending}"
    with pytest.raises(StorageError, match="does not exist"):
        load_trajectory(path)
    foreign: list[bytes] = [b"", b"hello\n", os.urandom(2000), b"0 1 2\n3 4 5\n", b"# kinemorph trajectory {}\n1\n"]
    foreign += [b"# kinemorph trajectory [1, 2]\n", b'# kinemorph trajectory {"systems": [{}]}\n0\n']
    held = io.BytesIO()
    np.savez(held, a=np.zeros(3), meta=json.dumps({"format": "other"}))
    foreign.append(held.getvalue())
    for data in foreign:
        path.write_bytes(data)
        with pytest.raises(StorageError, match="cannot be read as a run"):
            load_trajectory(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match="is not a file"):
        load_trajectory(path)


def test_nothing_in_a_file_is_executed(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    held = io.BytesIO()
    np.savez(held, meta=np.array([Trap()], dtype=object))
    for ending, data in ((".npz", held.getvalue()), (".npz", pickle.dumps(Trap())), (".csv", pickle.dumps(Trap()))):
        path = tmp_path / f"trap{ending}"
        path.write_bytes(data)
        with pytest.raises(StorageError):
            load_trajectory(path)
    assert not (tmp_path / "sprung").exists()


def test_endings_are_checked(runs: dict[str, Trajectory], tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"ends in '.npy'; expected one of .npz, .h5, .* Did you mean '.npz'"):
        runs["bounces"].save(tmp_path / "run.npy")
    with pytest.raises(UnsupportedError, match="has no ending"):
        load_trajectory(tmp_path / "run")


# ── the same again ────────────────────────────────────────────────────────────────────────────────────────────────────


def run_python(code: str, **options: Any) -> subprocess.Popen[str]:
    """A fresh interpreter that can import this file."""
    here = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    start = f"import sys; sys.path[:0] = {here!r}\nfrom test_storage import *\n"
    return subprocess.Popen([sys.executable, "-c", start + code], text=True, **options)


def test_the_same_run_gives_the_same_bytes_here_and_in_another_process(
    runs: dict[str, Trajectory], tmp_path: Path
) -> None:
    names = ["arm with forces, a state and an output", "bounces"]
    here = []
    for name in names:
        once, twice = runs[name], RUNS[name]()
        same(once, twice)
        files = [run.save(tmp_path / f"{k}.npz").read_bytes() for k, run in enumerate((once, twice))]
        assert files[0] == files[1]
        assert {entry.date_time for entry in zipfile.ZipFile(tmp_path / "0.npz").filelist} == {(1980, 1, 1, 0, 0, 0)}
        here.append(hashlib.sha256(files[0]).hexdigest())
    code = f"for name in {names!r}:\n    data = RUNS[name]().save('{tmp_path}/there.npz').read_bytes()\n"
    there = run_python(code + "    print(hashlib.sha256(data).hexdigest())", stdout=subprocess.PIPE)
    assert there.communicate(timeout=120)[0].split() == here


# ── while a run goes on ───────────────────────────────────────────────────────────────────────────────────────────────


def slowly(*state: Any) -> None:
    time.sleep(0.002)


@pytest.mark.parametrize("ending", first([".npz", ".h5", ".csv"], 1))
def test_a_killed_run_leaves_what_it_had_done(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{ending}"
    code = "storage.EVERY = 0.05; storage.SHARE = 0.9\n"
    code += f"simulate(ball(), 1000.0, q=[1.0], events=[ground(1.0)], save={str(path)!r}, callback=slowly, every=0.02)"
    process = run_python(code)
    try:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:  # until two bounces are in the file; it can be read at any time
            if path.exists() and len(load_trajectory(path).events) > 1:
                break
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    left = load_trajectory(path)
    assert left.outcome.kind == "unfinished" and not left.outcome.ok and "of 1000 s" in left.outcome.message
    assert left.outcome.t >= left.t[-1] > 1.0
    whole = simulate(
        ball(), float(left.t[-1]) + 0.5, q=[1.0], events=[ground(1.0)], callback=lambda *state: None, every=0.02
    )
    n = len(left)
    assert np.array_equal(left.t, whole.t[:n]) and np.array_equal(left.q, whole.q[:n])
    assert np.array_equal(left["energy.kinetic"], whole["energy.kinetic"][:n])


def test_a_run_is_saved_at_once_and_at_the_end(tmp_path: Path) -> None:
    path, seen = tmp_path / "run.npz", []
    run = simulate(
        ball(), 1.0, q=[9.0], save=path, callback=lambda *state: seen.append(load_trajectory(path)), every=0.5
    )
    assert [one.outcome.kind for one in seen] == ["unfinished"] * 3 and len(seen[0]) == 1
    same(run, load_trajectory(path))
    assert load_trajectory(path).outcome.kind == "finished" and os.listdir(tmp_path) == ["run.npz"]


def test_interrupted_runs_are_saved_too(tmp_path: Path) -> None:
    def interrupt(t: float, *state: Any) -> None:
        if t > 0.5:
            raise KeyboardInterrupt

    simulate(ball(), 1.0, q=[9.0], save=tmp_path / "run.npz", callback=interrupt, every=0.1)
    assert load_trajectory(tmp_path / "run.npz").outcome.kind == "interrupted"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("taken.txt/run.npz", "a file has the name of its folder"),
        ("folder.npz", "it is a folder"),
        ("run.txt", "ends in '.txt'"),
    ],
)
def test_a_place_that_cannot_be_written_shows_before_the_run(path: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "taken.txt").write_text("")
    calls: list[Any] = []
    with pytest.raises((StorageError, UnsupportedError), match=sentence):
        simulate(ball(), 1.0, save=tmp_path / path, callback=lambda *state: calls.append(state))
    assert not calls


def test_missing_folders_are_made_wherever_files_are_written(tmp_path: Path) -> None:
    """run.plot and run.replay made them; run.save, kinemorph.save and simulate(save=) refused."""
    run = simulate(ball(), 0.1, save=tmp_path / "a" / "b" / "run.npz")
    assert load_trajectory(run.save(tmp_path / "c" / "d" / "run.csv")).outcome.ok
    assert load_trajectory(tmp_path / "a" / "b" / "run.npz").outcome.ok
    assert [
        path.is_file() for path in kinemorph.save(library.build("pendulum"), tmp_path / "e" / "f" / "arm.toml")
    ] == [True]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody may write to")
def test_a_read_only_folder_shows_before_the_run() -> None:
    calls: list[Any] = []
    with pytest.raises(StorageError, match=r"'/proc/.*run.npz' cannot be written: "):
        simulate(ball(), 1.0, save="/proc/self/run.npz", callback=lambda *state: calls.append(state))
    assert not calls


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not hold for this user")
def test_a_folder_without_permission_shows_before_the_run(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StorageError, match="the folder cannot be written to"):
            simulate(ball(), 1.0, save=tmp_path / "run.npz")
    finally:
        tmp_path.chmod(0o755)


def test_a_format_that_cannot_hold_the_run_shows_before_it(tmp_path: Path) -> None:
    calls: list[Any] = []
    with pytest.raises(UnsupportedError, match="has no such coordinates"):
        simulate(
            robot_of_kind("free", chained=False), 1.0, save=tmp_path / "run.res", callback=lambda t: calls.append(t)
        )
    assert not calls


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "the disk is full. Make room"),
        (errno.EROFS, "the folder is read-only"),
        (errno.EIO, "Input/output error. Choose another folder"),
    ],
)
def test_a_failed_write_leaves_the_old_file(
    number: int, sentence: str, runs: dict[str, Trajectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = runs["bounces"].save(tmp_path / "run.npz")
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=sentence):
        runs["four-bar"].save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["run.npz"]


def test_a_disk_that_fills_up_does_not_lose_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "EVERY", 0.0)
    monkeypatch.setattr(storage, "SHARE", 1e9)
    written: list[int] = []
    write = storage.write_whole

    def filling(path: Path, data: bytes) -> None:
        written.append(len(data))
        if len(written) > 2:
            raise storage.storage_error(path, OSError(errno.ENOSPC, "full"))
        write(path, data)

    monkeypatch.setattr(storage, "write_whole", filling)
    with pytest.warns(StorageWarning, match="the disk is full") as caught:
        run = simulate(ball(), 1.0, q=[9.0], save=tmp_path / "run.npz", callback=slowly, every=0.1)
    assert run.outcome.kind == "finished" and len(run) == 101 and len(written) > 6
    ours = [str(one.message) for one in caught if one.category is StorageWarning]
    assert len(ours) == 2 and "tries again" in ours[0] and "run.save(path)" in ours[1]
    assert Path(caught[0].filename).name == "test_storage.py"
    left = load_trajectory(tmp_path / "run.npz")
    assert left.outcome.kind == "unfinished" and np.array_equal(left.q, run.q[: len(left)])


LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    run = simulate(ball(), 10.0, q=[1000.0], save=PATH)
print(run.outcome.kind, len(run), [str(w.message) for w in caught if w.category is StorageWarning])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_limit_on_file_sizes_does_not_lose_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    simulate(ball(), 10.0, q=[1000.0])  # compiled, so that the process has nothing to put into the cache
    process = run_python(LIMITED.replace("PATH", repr(str(path))), stdout=subprocess.PIPE)
    said = process.communicate(timeout=120)[0]
    assert said.startswith("finished 1001") and "size are not allowed" in said and "run.save(path)" in said
    assert len(load_trajectory(path)) == 1 and os.listdir(tmp_path) == ["run.npz"]


def test_permissions_follow_the_users_mask_or_the_old_file(runs: dict[str, Trajectory], tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("permissions are POSIX")
    path, old = tmp_path / "run.npz", os.umask(0o027)
    try:
        runs["bounces"].save(path)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o600)
        runs["bounces"].save(path)
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(old)
    link = tmp_path / "link.npz"
    link.symlink_to(path)
    runs["four-bar"].save(link)  # what a link points to is replaced, not the link
    assert link.is_symlink() and load_trajectory(path).name == "four_bar"


def test_wrong_starts_are_sentences() -> None:
    with pytest.raises(ModelError, match="whose run it has to continue"), warnings.catch_warnings():
        simulate(library.pendulum(), 9.0, start=simulate(ball(), 0.1))


def test_a_file_that_is_no_archive_is_called_so(tmp_path):
    path = tmp_path / "picture.npz"
    path.write_bytes(b"GIF89a" + bytes(100))
    with pytest.raises(StorageError, match=r"the file is not an \.npz file, or"):
        load_trajectory(path)
