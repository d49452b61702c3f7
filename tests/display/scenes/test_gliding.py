"""Between two times of a scene bodies are where their joints carry them."""

import numpy as np
import pytest

from kinemorph.display.looks.poses import Poses
from kinemorph.display.looks.quaternions import quaternions_of
from kinemorph.display.scenes.figures import Figure, figure_of
from kinemorph.display.scenes.pose_interpolation import QUICK, Glide
from kinemorph.model.joint import JOINT_KINDS
from support.robots.random_robots import robot_of_kind
from support.tools.each_case import each_case


def motion(kind: str, rate: float) -> Figure:
    """Two bodies and joints of a kind, whose coordinates go straight at 60 pictures a second; quaternions stand."""
    robot = robot_of_kind(kind, chained=True)
    rng = np.random.default_rng(3)
    start, way = rng.normal(size=(2, robot.nq))
    angles = np.array([unit == "rad" for unit in robot.q_units])
    q = start + np.arange(6)[:, None] / 60.0 * np.where(angles, rate * np.sign(way), 0.0)
    return figure_of(robot, q)


@each_case("rate", [0.3, 100.0, 700.0])
@each_case("kind", [kind for kind in JOINT_KINDS if kind != "fixed"])
def test_bodies_are_carried_by_their_joints(kind: str, rate: float) -> None:
    figure = motion(kind, rate)
    glide = Glide(figure)
    for frame, part in ((0, 0.0), (1, 0.25), (2, 0.5), (4, 0.9), (4, 1.0), (5, 0.0)):
        after = min(frame + 1, 5)
        there = Poses(figure.robot, (1.0 - part) * figure.q[frame] + part * figure.q[after])
        positions, quaternions = glide.at(frame, part)
        for number, name in enumerate(figure.bodies):
            assert positions[number] == pytest.approx(there.p[name][0], abs=0.2 * QUICK**2 * figure.size)
            assert abs(quaternions[number] @ quaternions_of(there.R[name][0])) > 1.0 - 1e-6


def test_quaternions_go_the_shorter_way_beside_a_fast_wheel() -> None:
    figure = motion("free", 0.0)
    robot, q = figure.robot, figure.q.copy()
    wheel = next(joint for joint in robot.joints if joint.kind == "revolute")
    q[:, robot.q_slice(wheel.name)] = 3.0 * np.arange(6)[:, None]
    base = next(joint for joint in robot.joints if joint.kind == "free")
    at = slice(robot.q_slice(base.name).stop - 4, robot.q_slice(base.name).stop)
    q[1, at] *= -2.0  # the same orientation, on the other side and of another length
    glide = Glide(figure_of(robot, q))
    there = Poses(robot, [np.where(np.arange(robot.nq) == robot.q_slice(wheel.name).start, 1.5, q[0])])
    positions, quaternions = glide.at(0, 0.5)
    for number, name in enumerate(robot.body_names):
        assert positions[number] == pytest.approx(there.p[name][0], abs=1e-9)
        assert abs(quaternions[number] @ quaternions_of(there.R[name][0])) == pytest.approx(1.0)
