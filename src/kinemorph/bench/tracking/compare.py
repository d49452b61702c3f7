"""The rows of `kinemorph bench track`: a recorded fly, followed by Kinemorph and by SeqIKPy.

Both get the same 60 frames of 30 points (a part of the recording 20250613-fly1b-012 of FlyGym, Apache-2.0), the same
lengths of segments and the same hinges. SeqIKPy puts the thorax-coxa joints at their measured places in every frame and
solves each leg in four stages; we fit a rigid thorax, six legs and all frames together. Distances are those of the 24
points beyond the thorax-coxa joints. Times are CPU times of one call, ours with compiled code on disk.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.tracking.load_markers import load_markers
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.analysis.tracking.track import track
from kinemorph.bench.foreign_python import answer, python_with
from kinemorph.bench.targets import judge_track
from kinemorph.bench.timing import Pace, Row, Say, timed
from kinemorph.errors import CompileError, MissingExtraError
from kinemorph.model.library.animals.fly import HIPS, LENGTHS, fly

HERE = Path(__file__).parent
RECORDING = HERE / "fly_keypoints_60.csv"
PYTHON = "KINEMORPH_SEQIKPY"  # environment variable: the Python that has SeqIKPy, if it is not this one
QUICK_FRAMES = 10
OURS: dict[str, dict[str, Any]] = {
    "Kinemorph, all frames together": {},
    "Kinemorph, each frame by itself": {"smoothness": 0.0},
}


def compare(pace: Pace, *, quick: bool, say: Say, note: Say) -> Iterator[Row]:
    """Yields a row for SeqIKPy, where it is installed, and one for each way of ours."""
    recorded = load_markers(RECORDING)
    markers = recorded.part(0, QUICK_FRAMES) if quick else recorded
    beyond = [name for name in markers.names if not name.endswith("ThC")]
    peer: float | None = None
    try:
        say("SeqIKPy follows the fly")
        peer, points = seqikpy_points(markers)
        yield _row("SeqIKPy", len(markers), peer, _distance(markers, points), None)
    except (MissingExtraError, CompileError) as error:
        note(f"without SeqIKPy: {error}")
    robot = fly()
    for name, options in OURS.items():
        follow = partial(track, robot, markers, **options)
        follow()  # compiled code is on disk after this
        seconds, found = timed(follow, time.process_time)
        yield _row(name, len(markers), seconds, found.rms(beyond), peer)


def _row(contestant: str, frames: int, seconds: float, distance: float, peer: float | None) -> Row:
    ratio = None if peer is None else peer / seconds
    return {
        "kind": "track",
        "contestant": contestant,
        "frames": frames,
        "ms_per_frame": 1e3 * seconds / frames,
        "rms_um": 1e6 * distance,
        "ratio": ratio,
        **judge_track(ratio)._asdict(),
    }


def seqikpy_points(markers: Markers) -> tuple[float, Array]:
    """The CPU time [s] of SeqIKPy, and its points beyond the thorax-coxa joints (n, 24, 3) [m].

    Raises MissingExtraError where no Python has SeqIKPy, CompileError where it fails.
    """
    legs = list(HIPS)
    order = [[markers.names.index(f"{leg}_{point}") for point in ("ThC", "CTr", "FTi", "TiTa", "claw")] for leg in legs]
    given = {
        "positions": (1e3 * markers.positions[:, order]).tolist(),
        "legs": [leg.upper() for leg in legs],
        "lengths": [LENGTHS[leg[1]] for leg in legs],
    }
    python = python_with("seqikpy.leg_inverse_kinematics", (os.environ.get(PYTHON, ""), sys.executable))
    if python is None:
        raise MissingExtraError("seqikpy")
    command = [python, str(HERE / "seqikpy_script.py")]
    found = answer("SeqIKPy failed", command, given, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    return found["seconds"], 1e-3 * np.array(found["points"]).reshape(len(markers), -1, 3)


def _distance(markers: Markers, points: Array) -> float:
    """The root mean square distance [m] of points (n, 24, 3), leg by leg, from the markers beyond the hips."""
    names = [f"{leg}_{point}" for leg in HIPS for point in ("CTr", "FTi", "TiTa", "claw")]
    exact = markers.only(names).positions
    return float(np.sqrt(np.mean(np.sum((points - exact) ** 2, axis=2))))
