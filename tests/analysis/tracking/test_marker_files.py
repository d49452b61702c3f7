"""Markers in files: what is written is read back to the last bit, in any unit, and mistakes are told in a sentence.

Requirement 004-10: joint angle histories from digitized views.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import MissingExtraError, RecordingWarning, ShapeError, StorageError
from kinemorph.tracking import Markers, load_markers

FLY = Path(kinemorph.__file__).parent / "bench" / "tracking" / "fly_keypoints_60.csv"
WHOLE = Path(__file__).resolve().parents[2] / "data" / "fly_keypoints.csv"


def some(gaps: bool = True, weights: bool = False) -> Markers:
    rng = np.random.default_rng(3)
    positions = rng.normal(size=(7, 3, 3))
    if gaps:
        positions[2, 1] = positions[6, 2] = np.nan
    times = np.cumsum(rng.uniform(0.004, 0.006, 7))
    given = rng.uniform(size=(7, 3)) if weights else None
    return Markers(("head", "left foot", "right_foot"), times, positions, given, "some")


def same(found: Markers, expected: Markers, tolerance: float = 0.0) -> None:
    assert found.names == expected.names
    np.testing.assert_array_equal(found.times, expected.times)
    np.testing.assert_allclose(found.positions, expected.positions, rtol=tolerance)
    assert (found.weights is None) == (expected.weights is None)
    if found.weights is not None:
        np.testing.assert_array_equal(found.weights, expected.weights)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".trc"])
@pytest.mark.parametrize(("unit", "tolerance"), [("m", 0.0), ("mm", 1e-15), ("inch", 1e-15)])
def test_what_is_saved_is_read_back(tmp_path: Path, suffix: str, unit: str, tolerance: float) -> None:
    markers = some(weights=suffix != ".trc")
    same(load_markers(markers.save(tmp_path / f"some{suffix}", unit=unit)), markers, tolerance)


def test_a_long_table_is_the_wide_one_in_any_order_of_lines(tmp_path: Path) -> None:
    markers = some(weights=True)
    lines = []
    for k, time in enumerate(markers.times.tolist()):
        for j, name in enumerate(markers.names):
            if markers.seen[k, j]:
                x, y, z = (1e2 * markers.positions[k, j]).tolist()
                lines.append(f"{1e3 * time!r},{name},{x!r},{y!r},{z!r},{float(markers.weights[k, j])!r}")  # type: ignore[index]
    np.random.default_rng(0).shuffle(lines)
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["time [ms],marker,x [cm],y [cm],z [cm],weight", *lines]) + "\n", encoding="utf-8")
    found = load_markers(path).only(markers.names)
    np.testing.assert_allclose(found.times, markers.times, rtol=1e-15)
    np.testing.assert_allclose(found.positions, markers.positions, rtol=1e-15)
    np.testing.assert_array_equal(found.weights[markers.seen], markers.weights[markers.seen])  # type: ignore[index]


def test_frames_with_a_rate_replace_times_and_axes_are_turned(tmp_path: Path) -> None:
    path = tmp_path / "frames.csv"
    path.write_text("fnum,a_x,a_y,a_z,a_score\n10,1,2,3,0.5\n12,4,5,6,\n", encoding="utf-8")
    found = load_markers(path, unit="mm", rate=200, axes=("x", "-z", "y"), names={"a": "toe"})
    np.testing.assert_array_equal(found.times, [0.05, 0.06])
    np.testing.assert_allclose(found.path("toe"), [[1e-3, -3e-3, 2e-3], [4e-3, -6e-3, 5e-3]])
    np.testing.assert_array_equal(found.weights, [[0.5], [0.0]])


def test_trc_files_of_other_programs_are_read(tmp_path: Path) -> None:
    """Heads with empty cells at the end, missing points whose cells are left out, times with a comma-free decimal."""
    path = tmp_path / "walk.trc"
    path.write_text(
        "PathFileType\t4\t(X/Y/Z)\tC:\\walk.trc\t\n"
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
        "100.00\t100.00\t3\t2\tmm\t100.00\t1\t3\n"
        "Frame#\tTime\tR.Knee\t\t\tL.Knee\t\t\t\n"
        "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
        "\n"
        "1\t0.00\t1\t2\t3\t4\t5\t6\t\n"
        "2\t0.01\t1\t2\t3\t\t\t\t\n"
        "3\t0.02\t1\t2\t3\n",
        encoding="utf-8",
    )
    found = load_markers(path)
    assert found.names == ("R.Knee", "L.Knee") and found.rate == pytest.approx(100.0)
    np.testing.assert_array_equal(found.seen, [[True, True], [True, False], [True, False]])
    np.testing.assert_allclose(found.path("L.Knee")[0], [4e-3, 5e-3, 6e-3])


def test_c3d_files_are_read_where_the_extra_is_installed(tmp_path: Path) -> None:
    path = tmp_path / "some.c3d"
    try:
        import c3d
    except ImportError:
        path.write_bytes(b"")
        with pytest.raises(MissingExtraError, match=r"pip install 'kinemorph\[c3d\]'"):
            load_markers(path)
        pytest.skip("the extra c3d is not installed")
    markers = some()
    writer = c3d.Writer(point_rate=200.0, point_units="mm  ")
    writer.set_point_labels([*markers.names])
    for points in markers.positions:
        row = np.zeros((3, 5), dtype=np.float32)
        row[:, :3] = np.nan_to_num(1e3 * points)
        row[:, 3] = np.where(np.isnan(points[:, 0]), -1.0, 0.0)
        writer.add_frames([(row, np.zeros((0, 0)))])
    with path.open("wb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a file without analog data
        writer.write(file)
    found = load_markers(path)
    assert found.names == markers.names and found.rate == pytest.approx(200.0) and found.times[0] == 0.0
    np.testing.assert_allclose(found.positions, markers.positions, rtol=1e-6)
    path.write_bytes(path.read_bytes()[:700])
    with pytest.raises(StorageError, match="not a whole C3D file"):
        load_markers(path)


LENGTHS = {  # published with the recording [mm]: coxa, femur, tibia, tarsus of front, middle and hind legs
    "f": (0.354, 0.606, 0.488, 0.513),
    "m": (0.181, 0.676, 0.621, 0.539),
    "h": (0.198, 0.740, 0.662, 0.631),
}
POINTS = ("ThC", "CTr", "FTi", "TiTa", "claw")


def segments(markers: Markers) -> np.ndarray:
    """The median lengths of all 24 segments of the fly, by the published ones."""
    found = []
    for leg in (side + place for side in "lr" for place in LENGTHS):
        for k, published in enumerate(LENGTHS[leg[1]]):
            distances = markers.path(f"{leg}_{POINTS[k + 1]}") - markers.path(f"{leg}_{POINTS[k]}")
            found.append(np.median(np.linalg.norm(distances, axis=1)) / (1e-3 * published))
    return np.array(found)


def test_the_recorded_fly_has_its_published_segments(tmp_path: Path) -> None:
    """660 frames were recorded; 60 of them come with the benchmark."""
    markers = load_markers(FLY)
    assert len(markers) == 60 and len(markers.names) == 30 and markers.seen.all()
    assert markers.rate == pytest.approx(330.0, rel=1e-3)
    assert np.abs(segments(markers) - 1.0).max() < 0.05
    same(load_markers(markers.save(tmp_path / "fly.trc", unit="mm")), markers, 1e-15)


def test_the_whole_recorded_fly_has_its_published_segments() -> None:
    markers = load_markers(WHOLE)
    assert len(markers) == 660 and np.abs(segments(markers) - 1.0).max() < 0.04
    np.testing.assert_array_equal(load_markers(FLY).positions, markers.positions[:60])


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

HEAD = "t,a.x,a.y,a.z,b.x,b.y,b.z\n"
BAD = [
    ("empty.csv", "", r"'empty.csv' has 0 lines; expected a line of names"),
    ("empty.trc", "", r"'empty.trc' has 0 lines and does not begin with 'PathFileType'"),
    ("names.csv", HEAD, r"has 1 line; expected a line of names and samples below"),
    ("unsorted.csv", HEAD + "0,1,1,1,1,1,1\n2,1,1,1,1,1,1\n1,1,1,1,1,1,1\n", r"1 time not later than the one before"),
    ("columns.csv", HEAD + "0,1,1,1,1,1,1\n1,1,1,1,1,1\n", r"sample 2 has 6 cells; expected 7, one for each name"),
    ("text.csv", HEAD + "0,1,1,1,1,1,high\n", r"column 'b.z' is 'high' in sample 1; expected a number"),
    ("twice.csv", "t,a.x,a.y,a.z,a.x,a.y,a.z\n0,1,1,1,1,1,1\n", r"two columns are 'a.x', so marker 'a' is there twice"),
    ("flat.csv", "t,a.x,a.y\n0,1,1\n", r"marker 'a' has no column 'a.z'; .* load_view"),
    ("none.csv", "t,q.elbow\n0,1\n", r"has no columns of markers; expected names such as 'foot.x'"),
    ("untimed.csv", "a.x,a.y,a.z\n0,1,1\n", r"has no column 't' with times.*rate=200"),
    ("frames.csv", "frame,a.x,a.y,a.z\n0,1,1,1\n", r"numbers of frames and no times. Give the frames per second"),
    (
        "pixels.csv",
        "t,a.x [px],a.y [px],a.z [px]\n0,1,1,1\n",
        r"column 'a.x' has the unit 'px'; expected that of a leng",
    ),
    ("infinite.csv", HEAD + "0,1,1,1,1,inf,1\n", r"position of marker 'b' in frame 1 is infinite"),
    ("nan.csv", HEAD + "nan,1,1,1,1,1,1\n", r"time of frame 1 is nan; expected a finite number"),
    ("long.csv", "t,marker,x,y,z\n0,a,1,1,1\n0,a,1,1,2\n", r"marker 'a' is there twice at t = 0 s"),
    ("heavy.csv", "t,a.x,a.y,a.z,a.weight\n0,1,1,1,-1\n", r"values from -1 to -1; expected .* not negative"),
    ("endless.csv", "t,a.x,a.y,a.z,a.weight\n0,1,1,1,inf\n", r"values from inf to inf; expected .* finite values"),
]
TRC = "PathFileType\t4\t(X/Y/Z)\tx\nDataRate\tNumMarkers\tUnits\n100\t{}\t{}\nFrame#\tTime\ta\t\t\tb\n\t\tX1\n\n{}\n"
BAD += [
    ("count.trc", TRC.format(3, "mm", "1\t0\t1\t1\t1\t1\t1\t1"), r"states NumMarkers 3 in line 3 and names 2 markers"),
    ("unit.trc", TRC.format(2, "kg", "1\t0\t1\t1\t1\t1\t1\t1"), r"Units in line 3 has the unit 'kg'"),
    ("cells.trc", TRC.format(2, "mm", "1\t0\t1\t1\t1\t1\t1"), r"line 7 has 7 cells; expected 8"),
    ("text.trc", TRC.format(2, "mm", "1\t0\t1\t1\t1\t1\tz\t1"), r"line 7 contains 'z'; expected a number"),
]


@pytest.mark.parametrize(("name", "text", "sentence"), BAD, ids=[name for name, _, _ in BAD])
def test_files_that_cannot_be_meant_are_refused_in_a_sentence(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ShapeError, match=sentence) as told:
        load_markers(path)
    assert str(told.value).endswith(".") and "\n" not in str(told.value)


def test_files_that_are_none_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"none.csv' cannot be read: No such file"):
        load_markers(tmp_path / "none.csv")
    with pytest.raises(StorageError, match=r"the suffix '.avi', which is none of .csv"):
        load_markers(tmp_path / "film.avi")
    with pytest.raises(StorageError, match=r"the suffix '.c3d' is none of .csv"):
        some().save(tmp_path / "some.c3d")
    with pytest.raises(StorageError, match=r"cannot be saved as"):
        some().save(tmp_path / "nowhere" / "some.csv")


@pytest.mark.parametrize(
    ("axes", "sentence"),
    [(("x", "z", "y"), "mirrors the recording"), (("x", "x", "y"), "expected x, y and z once each")],
)
def test_axes_that_mirror_are_refused(axes: tuple[str, str, str], sentence: str) -> None:
    with pytest.raises(ShapeError, match=sentence):
        load_markers(FLY, axes=axes)


def test_questionable_files_are_read_with_a_warning(tmp_path: Path) -> None:
    rows = [f"{t},1,1,1,,,,7" for t in [0, 1, 2, 3, 4, 40]]
    path = tmp_path / "gap.csv"
    path.write_text(HEAD.strip() + ",light\n" + "\n".join(rows) + "\n", encoding="utf-8")
    with pytest.warns(RecordingWarning) as told:
        markers = load_markers(path)
    texts = " ".join(str(one.message) for one in told)
    assert "columns light are not parts of markers" in texts
    assert "marker b missing in all 6 frames" in texts
    assert "1 gap between samples of more than 10 times the usual 1 s, the longest 36 s at t = 4 s" in texts
    assert not markers.seen[:, 1].any()
    with pytest.warns(RecordingWarning, match="weights are not saved in TRC"):
        some(weights=True).save(tmp_path / "some.trc")


def test_records_that_cannot_be_meant_are_refused() -> None:
    good = some()
    with pytest.raises(ShapeError, match=r"1 name of several markers, 'a'"):
        Markers(("a", "a"), np.zeros(1), np.zeros((1, 2, 3)))
    with pytest.raises(ShapeError, match=r"positions have shape \(7, 2\); expected \(7, 1, 3\)"):
        Markers(("a",), good.times, np.zeros((7, 2)))
    with pytest.raises(ShapeError, match=r"has no marker 'heat'. Did you mean 'head'\?"):
        good.path("heat")
    with pytest.raises(ValueError, match="read-only"):
        good.positions[0] = 0.0


def test_parts_and_names_of_markers() -> None:
    markers = some(weights=True)
    part = markers.part(1, 6, 2).only(["right_foot", "head"]).renamed({"head": "nose"})
    assert part.names == ("right_foot", "nose") and len(part) == 3
    np.testing.assert_array_equal(part.path("nose"), markers.path("head")[1:6:2])
    np.testing.assert_array_equal(part.weights, markers.weights[1:6:2, [2, 0]])  # type: ignore[index]
    assert "3 markers" in repr(markers) and "9.52 % missing" in repr(markers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(markers.part(0, 0)) == 0 and np.isnan(markers.part(0, 1).rate)


@pytest.mark.parametrize("rate", [0.0, -1.0, np.inf, np.nan])
def test_a_rate_that_cannot_be_meant_is_refused_also_where_the_file_has_times(rate: float, tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("t,a.x,a.y,a.z\n0,1,1,1\n")
    with pytest.raises(ShapeError, match="expected frames per second, larger than 0"):
        load_markers(path, rate=rate)


def test_a_rate_beside_times_is_told_to_have_no_effect(tmp_path: Path) -> None:
    path = tmp_path / "timed.csv"
    path.write_text("t,a.x,a.y,a.z\n0,0,0,0\n0.01,0,0,1\n0.02,0,0,2\n")
    with pytest.warns(RecordingWarning, match="rate=200 has no effect, as the file has times, 100 frames per second"):
        assert load_markers(path, rate=200).rate == pytest.approx(100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_markers(path, rate=100)
