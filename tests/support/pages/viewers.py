"""Viewers in tests: their bodies where the kinematics puts them, and conditions that come true after a while."""

import time

import numpy as np

import kinemorph as km
from kinemorph.display.looks.poses import Poses
from kinemorph.display.scenes.figures import stacked_poses
from kinemorph.display.viewer.view import Viewer


def assert_posed(viewer: Viewer, robot: km.Robot, q: object, figure: int | str = 0, within: float = 1e-9) -> None:
    """Every body of the page is where the kinematics puts it."""
    positions, quaternions = stacked_poses(robot, Poses(robot, q))
    for number, body in enumerate(robot.body_names):
        p, turn = viewer.pose(figure, body)
        np.testing.assert_allclose(p, positions[0, number], atol=within)
        assert abs(abs(turn @ quaternions[0, number]) - 1.0) < within


def until(condition: object, seconds: float = 20.0) -> bool:
    """Waits for a condition."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False
