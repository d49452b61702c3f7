"""A recorded arm: parameters of a UR10e from joint positions, velocities and currents that others published.

The recordings are those of github.com/shamilmamedov/dynamic_calibration (doi 10.3389/frobt.2020.571574), which state no
licence and are not part of this repository. KINEMORPH_RECORDINGS names the folder that has them as .csv files with the
columns "t [s]", "q.<joint> [rad]", "v.<joint> [rad/s]" and "current.<joint> [A]"; without it the test is skipped.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.identification.feasible import feasible_parameters
from kinemorph.analysis.identification.identified import Identified
from kinemorph.analysis.identification.identify import identify
from kinemorph.analysis.identification.rates import ZeroPhase
from kinemorph.errors import RecordingWarning
from kinemorph.model.parameter import evaluate
from support.references.cone_fit import solve_by_cones
from support.robots.ur10e import JOINTS, ur10e

FOLDER = os.environ.get("KINEMORPH_RECORDINGS", "")
GAINS = dict(zip(JOINTS, (10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232), strict=True))  # published [N m/A]
PUBLISHED = [  # viscous [N m s/rad] and Coulomb friction [N m], published with the data
    (21.256, 12.548),
    (20.221, 13.266),
    (10.378, 4.994),
    (3.575, 1.998),
    (2.491, 2.690),
    (3.026, 2.298),
]
# the published filters: order 5, 0.15 and 0.20 of half the sample rate, all samples
FILTER = ZeroPhase(cutoff=7.5, forces=10.0, order=5, ends=0.0)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (Path(FOLDER) / "ur10e_train_30s.csv").is_file(), reason="KINEMORPH_RECORDINGS is not set"),
]


def columns() -> dict[str, Any]:
    found: dict[str, Any] = {"t": "t"}
    for joint in JOINTS:
        found |= {f"q.{joint}": f"q.{joint}", f"v.{joint}": f"v.{joint}"}
        found[f"current.{joint}"] = (f"tau.{joint}", GAINS[joint])
    return found


def identified(**options: Any) -> Identified:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        used, unseen = (Path(FOLDER) / f"ur10e_{name}.csv" for name in ("train_30s", "points"))
        return identify(ur10e(), used, validate=unseen, columns=columns(), rates=FILTER, armature=True, **options)


def mass_ratios(result: Identified) -> list[float]:
    return [result.values[f"{body.name}.m"] / evaluate(body.mass) for body in result.robot.bodies]


@pytest.mark.parametrize("solver", ["gauss_newton", "clarabel"])
def test_friction_is_the_published_one_and_an_unseen_motion_is_predicted(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The published estimate weighs all joints alike. All bodies are real, and masses are near those of the maker."""
    if solver == "clarabel":
        pytest.importorskip("clarabel")
        monkeypatch.setattr(feasible_parameters, "solve_by_factors", solve_by_cones)
    result = identified(method="ordinary")
    friction = np.array([[result.values[f"{joint}.{part}"] for part in ("viscous", "coulomb")] for joint in JOINTS])
    assert np.abs(friction / PUBLISHED - 1.0).max() < 0.02
    assert result.validation[0].error < 0.053
    assert all(0.5 < ratio < 2.0 for ratio in mass_ratios(result))
    assert result.model.robot.bodies  # raises ModelError where a body is impossible


def test_defaults_predict_the_unseen_motion_as_well() -> None:
    result = identified()
    assert result.validation[0].error < 0.053
    assert all(0.5 < ratio < 2.0 for ratio in mass_ratios(result))
