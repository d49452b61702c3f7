"""Published robots: poses of all links, M, bias and accelerations equal Pinocchio's, on a fixed and on a free base.

Mechanics run on plain floats here, so no robot is compiled; for three of them the compiled functions are asked as well.
docs/robots_read.md has the same files among those of other collections.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from kinemorph import derive
from kinemorph.formats.loading import examine
from kinemorph.formats.sources import Options
from kinemorph.model.configuration import random_configuration
from support.robots.robot_files import (
    REFUSED,
    Twin,
    rounding_of_accelerations,
    share,
    urdf_file,
    urdf_files,
    worst_errors,
)
from support.tools.each_case import each_case

DOZEN = (
    "panda.urdf",
    "ur5_robot.urdf",
    "double_pendulum_continuous.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "talos_reduced.urdf",
    "go1.urdf",
    "pr2.urdf",
    "kinova.urdf",
    "icub_reduced.urdf",
    "human.urdf",
    "tiago.urdf",
    "allegro_left_hand.urdf",
    "alex_psyonic_hands.urdf",
)


def compare(path, base):
    examined = examine(path, options=Options(base=base))
    system, findings = examined.system, examined.findings
    assert system is not None, "\n".join(map(str, findings))
    errors = worst_errors(path, system.robot, free=base == "free")
    assert errors.poses < 1e-11
    assert errors.mass_matrix < 1e-11
    assert errors.bias < 1e-11
    # one robot of all needs the second: the neck of iCub turns a link of almost no inertia
    assert errors.acceleration < 1e-11 or errors.acceleration < 4.0 * rounding_of_accelerations(system.robot)


@each_case("base", ["fixed", "free"])
@each_case("name", DOZEN)
def test_a_dozen_robots_move_as_in_pinocchio(name, base):
    compare(urdf_file(name), base)


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize(
    "path", [path for path in urdf_files() if path.name not in REFUSED], ids=lambda path: path.stem
)
def test_every_robot_of_the_package_moves_as_in_pinocchio(path, base):
    compare(path, base)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_robots_without_finite_accelerations_are_refused_with_the_reason(name):
    path = urdf_file(name)
    examined = examine(path)
    system, findings = examined.system, examined.findings
    assert system is None
    assert REFUSED[name] in {finding.rule for finding in findings if finding.severity == "error"}
    try:
        model = pin.buildModelFromUrdf(str(path))
    except ValueError:
        return
    rng = np.random.default_rng(3)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1.0, 1.0, model.nv))
    a = pin.aba(model, model.createData(), q, rng.uniform(-1.0, 1.0, model.nv), np.ones(model.nv))
    assert not np.isfinite(a).all()


@pytest.mark.parametrize("name", ["panda.urdf", "double_pendulum_continuous.urdf", "ur5_robot.urdf"])
def test_compiled_functions_agree_as_well(name):
    path = urdf_file(name)
    robot = replace(examine(path).system.robot, couplings=())  # Pinocchio leaves mimics aside as well
    twin, dynamics, rng = Twin(path, robot, free=False), derive(robot), np.random.default_rng(5)
    for _ in range(5):
        q, v = random_configuration(robot, rng), rng.uniform(-1.0, 1.0, robot.nv)
        tau = rng.uniform(-10.0, 10.0, robot.nv)
        theirs, there = twin.configuration(q), np.argsort(twin.order)
        a = np.array(pin.aba(twin.model, twin.data, theirs, v[there], tau[there]))[twin.order]
        bias = np.array(pin.nle(twin.model, twin.data, theirs, v[there]))[twin.order]
        assert share(dynamics.forward_dynamics(q, v, tau), a) < 1e-11
        assert share(dynamics.bias_forces(q, v), bias) < 1e-11


def test_bodies_joints_and_limits_stand_as_in_the_file():
    robot = examine(urdf_file("panda.urdf")).system.robot
    assert robot.body_names[:3] == ("panda_link0", "panda_link1", "panda_link2")
    assert robot.joint_names[:2] == ("panda_link0_root", "panda_joint1")
    joint = robot.joint("panda_joint4")
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == ((-3.0718,), (-0.0698,), (2.175,), (87.0,))
    assert joint.damping == (0.003,)
    assert robot.couplings[0].joint == "panda_finger_joint2"
    assert len(robot.body("panda_link1").shapes) == 1
    assert robot.body("panda_link1").shapes[0].path.endswith("visual/link1.dae")
    continuous = examine(urdf_file("double_pendulum_continuous.urdf")).system.robot
    assert set(continuous.q_upper) == {math.inf}
