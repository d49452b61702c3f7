"""`kinemorph bench track`: rows of a recorded fly, with SeqIKPy's part replaced, and without SeqIKPy."""

import numpy as np
import pytest

from kinemorph.bench.timing import QUICK
from kinemorph.bench.tracking import compare
from kinemorph.bench.tracking.tables import tracking_grid
from kinemorph.errors import MissingExtraError
from kinemorph.model.library.animals.fly import HIPS


def test_rows_of_a_fly_have_ratios_and_distances(monkeypatch):
    monkeypatch.setattr(compare, "QUICK_FRAMES", 4)

    def shifted(markers):
        """Points that are 30 um off, after 400 s."""
        names = [f"{leg}_{point}" for leg in HIPS for point in ("CTr", "FTi", "TiTa", "claw")]
        return 400.0, markers.only(names).positions + np.array([0.0, 0.0, 30e-6])

    monkeypatch.setattr(compare, "seqikpy_points", shifted)
    rows = list(compare.compare(QUICK, quick=True, say=lambda text: None, note=lambda text: None))
    assert rows[0]["rms_um"] == pytest.approx(30.0) and rows[0]["ms_per_frame"] == pytest.approx(1e5)
    assert all(row["verdict"] == "met" and row["rms_um"] < 25.5 for row in rows[1:])
    assert "SeqIKPy" in tracking_grid(rows).markdown()


def test_without_seqikpy_there_is_a_note(monkeypatch):
    monkeypatch.setattr(compare, "OURS", {})

    def missing(markers):
        raise MissingExtraError("seqikpy")

    monkeypatch.setattr(compare, "seqikpy_points", missing)
    notes = []
    assert list(compare.compare(QUICK, quick=True, say=lambda text: None, note=notes.append)) == []
    assert notes == ["without SeqIKPy: 'seqikpy' is not installed. Run: pip install seqikpy"]
