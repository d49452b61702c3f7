"""`kinemorph bench track`: rows of a recorded fly, with SeqIKPy's part replaced, and without SeqIKPy."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

from kinemorph.analysis.tracking.track import track
from kinemorph.bench.result_tables import tracking_grid
from kinemorph.bench.timing import QUICK
from kinemorph.bench.tracking import compare
from kinemorph.errors import MissingExtraError
from kinemorph.model.library.animals.fly import HIPS


def shifted(markers):
    """Points that are 30 um off, after 400 s."""
    names = [f"{leg}_{point}" for leg in HIPS for point in ("CTr", "FTi", "TiTa", "claw")]
    return 400.0, markers.only(names).positions + np.array([0.0, 0.0, 30e-6])


def rows(monkeypatch):
    monkeypatch.setattr(compare, "QUICK_FRAMES", 4)
    monkeypatch.setattr(compare, "seqikpy_points", shifted)
    found = list(compare.compare(QUICK, quick=True, say=lambda text: None, note=lambda text: None))
    assert found[0]["rms_um"] == pytest.approx(30.0) and found[0]["ms_per_frame"] == pytest.approx(1e5)
    assert [row["contestant"] for row in found[1:]] == [*compare.OURS]
    return found


def test_rows_have_ratios_and_distances(monkeypatch):
    """The fly itself is followed in tests/analysis/tracking, and below."""
    asked = []

    def followed(*args, **options):
        bound = inspect.signature(track).bind(*args, **options).arguments
        asked.append((len(bound["markers"]), bound.get("smoothness")))
        return SimpleNamespace(rms=lambda names: 1e-6 * len(names))

    monkeypatch.setattr(compare, "track", followed)
    found = rows(monkeypatch)
    assert {*asked} == {(4, None), (4, 0.0)}
    assert all(row["verdict"] == "met" and row["rms_um"] == pytest.approx(24.0) for row in found[1:])
    assert "SeqIKPy" in tracking_grid(found).markdown()


@pytest.mark.slow
def test_a_followed_fly_is_nearer_than_shifted_points(monkeypatch):
    assert all(row["verdict"] == "met" and row["rms_um"] < 25.5 for row in rows(monkeypatch)[1:])


def test_without_seqikpy_there_is_a_note(monkeypatch):
    monkeypatch.setattr(compare, "OURS", {})

    def missing(markers):
        raise MissingExtraError("seqikpy")

    monkeypatch.setattr(compare, "seqikpy_points", missing)
    notes = []
    assert list(compare.compare(QUICK, quick=True, say=lambda text: None, note=notes.append)) == []
    assert notes == ["without SeqIKPy: 'seqikpy' is not installed. Run: pip install seqikpy"]
