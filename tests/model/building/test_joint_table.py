"""The joint table: counts add up, and every kind's velocity is the rate of its motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinemorph.algebra.groups import compose, inverse, matrix_of
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import integrate, joint_motion, joint_pose, joint_twist, random_configuration
from kinemorph.model.joint import CLOSURE_ROWS, JOINT_KINDS
from kinemorph.model.robot import Robot
from support.references.twist_matrices import log_se3
from support.tools.each_case import each_case

MOVING = [kind for kind in JOINT_KINDS if kind != "fixed"]


def one_joint(kind: str, **data: Any) -> Robot:
    """A single body on one joint with a skew axis and skew placements."""
    axis = (0.0, 0.0, 1.0) if kind in ("planar", "point_on_plane") else (0.48, 0.6, 0.64)
    extra: dict[str, Any] = {"pitch": 0.3} if kind == "helical" else {}
    builder = RobotBuilder("one").add(Body.box("body", 2.0, (0.3, 0.2, 0.1), (0.1, 0.2, 0.3)))
    builder.joint("j", kind, "world", "body", axis=axis, axis2=(0.8, 0.0, -0.6), translation=(1, 2, 3), **extra, **data)
    return builder.build()


def test_the_table_has_the_kinds_of_the_design() -> None:
    names = "revolute prismatic helical cylindrical universal gimbal spherical planar"
    assert list(JOINT_KINDS) == [*names.split(), "point_on_line", "point_on_plane", "free", "fixed"]


@each_case("kind", JOINT_KINDS)
def test_rows_are_consistent(kind: str) -> None:
    row = JOINT_KINDS[kind]
    assert row.nv + sum(CLOSURE_ROWS[name] for name in row.closure) == 6
    assert len(row.neutral) == len(row.q_units) == row.nq and len(row.v_units) == row.nv
    # the primitives tile q and v without gap or overlap
    assert [i for step in row.primitives for i in range(*step.q)] == list(range(row.nq))
    assert [i for step in row.primitives for i in range(*step.v)] == list(range(row.nv))


@each_case("kind", MOVING)
def test_motion_is_the_identity_at_neutral(kind: str) -> None:
    joint = one_joint(kind).joint("j")
    assert np.allclose(matrix_of(joint_motion(joint, joint.table.neutral)), np.eye(4))


@each_case("kind", MOVING)
def test_twist_is_the_rate_of_the_motion(kind: str) -> None:
    robot, rng = one_joint(kind), np.random.default_rng(3)
    joint, h = robot.joint("j"), 1e-5
    q, v = random_configuration(robot, rng), rng.normal(size=robot.nv)
    before, after = (joint_motion(joint, integrate(robot, q, sign * h * v)) for sign in (-1.0, 1.0))
    rate = np.array(log_se3(compose(inverse(before), after))) / (2.0 * h)
    assert np.allclose(rate, joint_twist(joint, q, v), atol=1e-8)


def test_helical_travels_by_its_pitch_and_cylindrical_by_its_second_coordinate() -> None:
    axis = np.array([0.48, 0.6, 0.64])
    assert np.allclose(joint_motion(one_joint("helical").joint("j"), [2.0]).p, 0.6 * axis)
    helical = joint_motion(one_joint("helical").joint("j"), [2.0])
    cylindrical = joint_motion(one_joint("cylindrical").joint("j"), [2.0, 0.6])
    assert np.allclose(matrix_of(helical), matrix_of(cylindrical))


def test_the_child_frame_is_set_back_by_its_placement() -> None:
    shift = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.5)
    robot = one_joint("revolute", child_placement=shift)
    assert np.allclose(joint_pose(robot.joint("j"), [0.0]).p, (1.0, 2.0, 2.5))
