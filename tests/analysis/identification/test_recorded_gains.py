"""Drive gains of a recorded arm: a UR10e without and with a load of 2.805 kg at its flange, beside published gains.

The recordings are those of github.com/shamilmamedov/dynamic_calibration (doi 10.3389/frobt.2020.571574), which state no
licence and are not part of this repository. KINEMORPH_RECORDINGS names the folder that has them as .csv files with the
columns "t [s]", "q.<joint> [rad]", "v.<joint> [rad/s]" and "current.<joint> [A]"; without it the test is skipped.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from kinemorph.analysis.identification.loads.drive_gains import drive_gains
from kinemorph.analysis.identification.loads.payload import identify_payload
from kinemorph.analysis.identification.rates import ZeroPhase
from kinemorph.analysis.identification.read_recording import read_recording
from kinemorph.analysis.identification.recording import Recording
from kinemorph.errors import RecordingWarning
from support.robots.ur10e import JOINTS, ur10e

FOLDER = os.environ.get("KINEMORPH_RECORDINGS", "")
PUBLISHED = np.array([10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232])  # [N m/A], the first one at its bound

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (Path(FOLDER) / "ur10e_loaded_50s.csv").is_file(), reason="KINEMORPH_RECORDINGS is not set"),
]


def recordings(gains: np.ndarray) -> list[Recording]:
    """The recordings without and with the load, whose forces are currents times the gains."""
    columns: dict[str, str | tuple[str, float]] = {"t": "t"}
    for joint, gain in zip(JOINTS, gains.tolist(), strict=True):
        columns |= {f"q.{joint}": f"q.{joint}", f"v.{joint}": f"v.{joint}", f"current.{joint}": (f"tau.{joint}", gain)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        files = [Path(FOLDER) / f"ur10e_{name}_50s.csv" for name in ("unloaded", "loaded")]
        return [read_recording(file, ur10e(), columns) for file in files]


@pytest.mark.parametrize("rates", [None, ZeroPhase(cutoff=7.5, forces=10.0, order=5)])
def test_gains_are_within_five_percent_of_the_published_ones(rates: ZeroPhase | None) -> None:
    robot = ur10e()
    unloaded, loaded = recordings(np.ones(6))
    found = drive_gains(robot, unloaded, loaded, at=robot.bodies[-1].name, load={"m": 2.805}, rates=rates)
    assert not found.failure
    assert found.undetermined == (JOINTS[0],)
    np.testing.assert_allclose(found.gains[1:], PUBLISHED[1:], rtol=0.05)


def test_the_load_is_a_real_body_near_its_weight() -> None:
    robot = ur10e()
    unloaded, loaded = recordings(PUBLISHED)
    found = identify_payload(robot, loaded, at=robot.bodies[-1].name, unloaded=unloaded)
    assert not found.failure
    assert 0.8 * 2.805 < found.values[0] < 1.2 * 2.805
    assert np.linalg.eigvalsh(np.array(found.body.inertia))[0] > 0.0
