"""Files of runs that are damaged or forged: each is refused with one sentence, before it takes memory."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import BatchRun, library, load_trajectory, simulate, simulate_batch
from kinemorph.analysis.gaits.gait_library import GaitLibrary
from kinemorph.analysis.identification.recording import Recording
from kinemorph.errors import KinemorphError, ShapeError, StorageError
from kinemorph.simulation.files import comma_separated, hdf5, npz, run_record
from kinemorph.simulation.files.batch_record import record_of_batch
from kinemorph.simulation.files.run_record import Record, record_of
from kinemorph.simulation.results.trajectory import Trajectory

CODERS = {".npz": npz.encode, ".csv": comma_separated.encode, ".h5": hdf5.encode}
Change = Callable[[dict[str, Any], dict[str, np.ndarray]], Any]


@pytest.fixture(scope="module")
def run() -> Trajectory:
    return simulate(library.double_pendulum(), 0.3, q=[0.3, 0.1], output_step=0.1)


def at(name: str, place: Any, value: float) -> Change:
    """A change of some numbers of an array."""
    return lambda meta, arrays: arrays[name].__setitem__(place, value)


def segments(*pairs: Any) -> Change:
    """Another list of segments."""
    return lambda meta, arrays: meta.__setitem__("segments", [*pairs])


AGAIN = ". Save the run again."
WRONG: dict[str, tuple[Change, str]] = {
    "no times": (
        at("t", slice(None), np.nan),
        "its times t are wrong from sample 1 on: t = nan s; expected finite numbers that do not fall" + AGAIN,
    ),
    "a time that falls": (
        lambda meta, arrays: arrays.update(t=arrays["t"][::-1].copy()),
        "its times t are wrong from sample 2 on: t = 0.2 s after 0.3 s; expected finite numbers that do not fall"
        + AGAIN,
    ),
    "an endless time": (
        at("t", 3, np.inf),
        "its times t are wrong from sample 4 on: t = inf s after 0.2 s; expected finite numbers that do not fall"
        + AGAIN,
    ),
    "no positions": (
        at("q", slice(None), np.nan),
        "q.q1 is nan in sample 1; expected finite numbers, which the states of a run are" + AGAIN,
    ),
    "one velocity": (
        at("v", (2, 1), -np.inf),
        "v.q2 is -inf in sample 3; expected finite numbers, which the states of a run are" + AGAIN,
    ),
    "another system": (
        segments([1, 4]),
        "its description has the segment [1, 4]; expected the number of one of its 1 systems, from 0, and a number of "
        "samples" + AGAIN,
    ),
    "less than no samples": (
        segments([0, 5], [0, -1]),
        "its description has the segment [0, -1]; expected the number of one of its 1 systems, from 0, and a number of "
        "samples" + AGAIN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("ending", CODERS)
@pytest.mark.parametrize("name", WRONG)
def test_numbers_that_no_run_has_are_refused(name: str, ending: str, run: Trajectory, tmp_path: Path) -> None:
    """Runs of NaN, and runs that went backwards, were loaded as finished."""
    change, sentence = WRONG[name]
    record = record_of(run)
    meta, arrays = json.loads(json.dumps(record.meta)), {key: array.copy() for key, array in record.arrays.items()}
    path = tmp_path / f"run{ending}"
    if name in ("another system", "less than no samples"):  # which no file of ours can be made of
        path.write_bytes(CODERS[ending](record))
        change(meta, arrays)
        if ending == ".csv":
            rest = path.read_text().split("\n", 1)[1]
            path.write_text(f"# kinemorph trajectory {json.dumps(meta)}\n{rest}")
        else:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(hdf5, "labels", lambda meta: {})
                path.write_bytes(CODERS[ending](Record(meta, arrays)))
    else:
        change(meta, arrays)
        path.write_bytes(CODERS[ending](Record(meta, arrays)))
    with pytest.raises(StorageError) as caught:
        load_trajectory(path)
    assert str(caught.value) == f"'{path}' cannot be read as a run: {sentence}"


def test_a_batch_with_numbers_that_no_run_has_is_refused(tmp_path: Path) -> None:
    batch = simulate_batch(library.double_pendulum(), 0.2, q=np.full((3, 2), 0.1), output_step=0.1)
    path = tmp_path / "batch.npz"
    for name, value, sentence in (
        ("t", -1.0, "wrong from sample 2 on: t = -1 s after 0 s"),
        ("q", np.nan, "q.q1 is nan"),
    ):
        record = record_of_batch(batch)
        arrays = record.arrays | {name: record.arrays[name].copy()}
        arrays[name][..., 1 if name == "t" else 0] = value
        path.write_bytes(npz.encode(Record(record.meta, arrays)))
        with pytest.raises(StorageError, match=sentence):
            BatchRun.load(path)


def packed(path: Path, arrays: dict[str, bytes]) -> Path:
    """A compressed archive of members by name."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in arrays.items():
            archive.writestr(f"{name}.npy", data)
    return path


def member(array: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def refused(path: Path, sentence: str, load: Callable[[Path], Any] = load_trajectory) -> None:
    """Asserts that a file is refused with a sentence, without taking more than a few megabytes."""
    tracemalloc.start()
    with pytest.raises(KinemorphError) as caught:
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sentence in str(caught.value), str(caught.value)
    assert peak < 20e6


def test_small_files_of_large_arrays_are_refused_before_they_take_memory(
    run: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An .npz file of 1.5 MB took 3 GB."""
    members = {name: member(array) for name, array in record_of(run).arrays.items()}
    members["meta"] = member(np.array(json.dumps(record_of(run).meta)))
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**8, 2)})
    path = packed(tmp_path / "run.npz", members | {"q": header.getvalue() + b"\0" * 16})
    refused(
        path,
        "its array 'q' is said to have type float64 and shape (100000000, 2), which are 1600000000 bytes; the file has "
        "16 bytes of it. Save the run again.",
    )
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file["meta"] = "{}"
        file.create_dataset("q", (10**9, 2), dtype=float, chunks=True)
    refused(tmp_path / "run.h5", "its arrays are said to take 160000000")
    monkeypatch.setattr(run_record, "SMALL", 1 << 20)
    packed(path, {"q": member(np.zeros((200, 1000)))})
    sentence = "its arrays are said to take 1600128 bytes; expected at most 1048576, 100 times the size of the file"
    refused(path, f"{sentence}. Do not trust it, or save the run again without compression.")
    refused(path, sentence, GaitLibrary.load)


def test_an_honest_run_that_was_compressed_is_read(tmp_path: Path, run: Trajectory) -> None:
    path = packed(tmp_path / "run.npz", {"meta": member(np.array(json.dumps(record_of(run).meta)))} | {
        name: member(array) for name, array in record_of(run).arrays.items()
    })  # fmt: skip
    assert np.array_equal(load_trajectory(path).q, run.q)


@pytest.mark.parametrize(
    "damage", [(b"{'descr'", b"{'des(r'"), (b"'<f8'", b"'<f8("), (b"(4,", b"((4"), (b"NUMPY", b"NUMPI")]
)
def test_damaged_headers_are_named(damage: tuple[bytes, bytes], run: Trajectory, tmp_path: Path) -> None:
    """They ended in tokenize.TokenError."""
    record = record_of(run)
    members = {name: member(array) for name, array in record.arrays.items()}
    members |= {"meta": member(np.array(json.dumps(record.meta))), "q": members["q"].replace(*damage)}
    path = packed(tmp_path / "run.npz", members)
    refused(path, f"'{path}' cannot be read as a run: the header of its array 'q' is damaged. Save the run again.")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "\n0.0,0.3,",
            "\n0.0,0.3x,",
            "'0.3x' in row 1, column 'q.q1', is not a number; expected one. Save the run again.",
        ),
        ("\n0.1,", "\n0.1,7.0,", "row 2 has 17 numbers; expected 16, one per column. Save the run again."),
        ("\n0.1,", "\n0.1,\n", "the file has 5 samples; its first line, the description of the run, says 4. Save"),
        ('"segments": [[0, 4]]', '"segments": [[0, 4000000000000]]', "the file has 4 samples; its first line, the"),
    ],
)
def test_damaged_tables_are_named(old: str, new: str, sentence: str, run: Trajectory, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.csv")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    refused(path, f"'{path}' cannot be read as a run: {sentence}")


def test_a_recording_of_numbers_that_nothing_has_is_refused() -> None:
    """Values that mark missing samples, such as 1e300, passed."""
    q = np.zeros((5, 2))
    q[3, 1] = 1e300
    with pytest.raises(ShapeError) as caught:
        Recording("arm.csv", np.arange(5.0), q)
    assert str(caught.value) == (
        "recording 'arm.csv': q is 1e+300 in sample 4; expected at most 1e+12 in SI units. Remove what marks missing "
        "samples, or correct the unit."
    )
