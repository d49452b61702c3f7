"""A run that docked, out of its file and the model it began with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import load_trajectory, modules, save, simulate
from kinemorph.errors import StorageError
from kinemorph.modules import Dock, Undock, assemble
from kinemorph.simulation.results.body_poses import body_poses

EVENTS = [
    Undock("left_arm", 3, at=0.02),
    Dock("m1", 5, "left_arm", 3, at=0.03, distance=0.2, angle=2.5, turn=1),  # a quarter turn off: it holds as it is
]


def test_a_run_that_docked_is_seen_with_the_model_it_began_with(tmp_path: Path) -> None:
    kinds = {"left_arm": "B", 1: "B"}  # a name with _ in it
    start = assemble([("left_arm", 3, "m1", 4)], modules=kinds, base="left_arm")
    system = start.system(gravity=(0.0, 0.0, 0.0))
    run = simulate(system, 0.04, v={"left_arm_root.wz": 0.5, "m1_hinge": 0.3}, events=EVENTS)
    assert [event.kind for event in run.events] == ["undock", "dock"] and run.events[-1]["turn"] == 1
    run.save(tmp_path / "run.npz")
    inside = load_trajectory(tmp_path / "run.npz")  # with the model in the file
    assert [one.robot for one in inside.segments] == [one.robot for one in run.segments]
    save(system, tmp_path / "start.toml")
    back = load_trajectory(tmp_path / "run.npz", system)
    assert [one.robot for one in back.segments] == [one.robot for one in run.segments]
    assert np.array_equal(body_poses(back), body_poses(run), equal_nan=True)
    with pytest.raises(StorageError, match="Give the model"):
        load_trajectory(tmp_path / "run.npz", assemble([(0, 1, 3, 4)], modules=modules.backbone()).system())
