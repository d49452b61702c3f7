"""Joints that are driven by formulas of other coordinates (SEEDS.md 001-07, 001-11): the equations of the state."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder, System, derive, simulate, verify
from kinemorph.elements import PD, Actuator, ComputedTorque, DCMotor, JointFriction
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.building.driven_checks import state_masses
from kinemorph.model.changes.driven_couplings import coupled_drives, driven_couplings
from kinemorph.model.driven import all_joints_free, with_driven
from kinemorph.notation import TIME, Coordinate, cos, sin
from support.tools.each_case import each_case

LEAD = Coordinate("lead", 0.3, "rad")


def follower(formula: Any, **more: Any) -> Robot:
    """Two boxes on hinges that are not parallel; the second follows the first by a formula."""
    builder = RobotBuilder("follower").add(Body.box("a", 1.0, (0.1, 0.2, 1.0)), Body.box("b", 2.0, (0.3, 0.1, 0.8)))
    builder.joint("lead", "revolute", "world", "a", axis=(1.0, 0.0, 0.0))
    builder.joint("led", "revolute", "a", "b", axis=(0.0, 1.0, 0.0), translation=(0, 0, 0.5), driven=formula, **more)
    return builder.build()


CURVED = sin(LEAD) + 2.0 * LEAD


def test_a_driven_joint_has_no_coordinate_and_the_equations_are_those_along_its_motion() -> None:
    """M, h and FD of the state against those of all joints, with F and its rate written by hand."""
    robot = follower(CURVED)
    assert robot.q_names == ("lead",) and robot.all_q_names == ("lead", "led") and robot.nv == 1
    free = derive(all_joints_free(robot))
    dynamics, q, v, a = derive(robot), 0.3, 1.2, -0.4
    F, g = np.array([1.0, math.cos(q) + 2.0]), np.array([0.0, -math.sin(q) * v * v])
    at = np.array([q, math.sin(q) + 2.0 * q])
    assert dynamics.mass_matrix([q]) == pytest.approx(F @ free.mass_matrix(at) @ F, rel=1e-13)
    forces = F @ free.inverse_dynamics(at, F * v, F * a + g)
    assert dynamics.inverse_dynamics([q], [v], [a]) == pytest.approx(forces, rel=1e-12)
    assert dynamics.forward_dynamics([q], [v], [forces]) == pytest.approx([a], rel=1e-11)
    assert dynamics.jacobian([q], "b") == pytest.approx(free.jacobian(at, "b") @ F[:, None], abs=1e-13)
    assert np.array(dynamics.energy([q], [v])) == pytest.approx(np.array(free.energy(at, F * v)), rel=1e-13)
    rest = dynamics.coriolis_matrix([q], [v]) @ [v] + dynamics.gravity_forces([q])
    assert rest == pytest.approx(dynamics.bias_forces([q], [v]), rel=1e-12)


def test_rates_and_derivatives_of_driven_joints_are_exact() -> None:
    dynamics, e = derive(follower(CURVED)), 1e-6
    q, v, tau = np.array([0.3]), np.array([1.2]), np.array([0.5])
    change = (dynamics.jacobian(q + e * v, "b") - dynamics.jacobian(q - e * v, "b")) / (2.0 * e)
    assert dynamics.jacobian_rate(q, v, "b") == pytest.approx(change, abs=1e-8)
    by_q, by_v, by_tau = dynamics.forward_dynamics_derivatives(q, v, tau)
    fd = dynamics.forward_dynamics
    assert by_q[:, 0] == pytest.approx((fd(q + e, v, tau) - fd(q - e, v, tau)) / (2.0 * e), rel=1e-7)
    assert by_v[:, 0] == pytest.approx((fd(q, v + e, tau) - fd(q, v - e, tau)) / (2.0 * e), rel=1e-7)
    assert by_tau @ dynamics.mass_matrix(q) == pytest.approx(np.eye(1), rel=1e-12)
    assert dynamics.derivative("forward_dynamics", "q")(q, v, tau) == pytest.approx(by_q, rel=1e-11)


@each_case("formulation", [*FORMULATIONS])
def test_formulations_agree_where_the_time_drives_a_joint_and_an_armature_turns_with_it(formulation: str) -> None:
    """The functions of `derive` take t first; the armature of a driven joint counts with the square of its ratio."""
    robot = follower(CURVED + 0.3 * sin(2.0 * TIME) * cos(LEAD), armature=0.05)
    assert robot.is_timed
    row, reference = state_formulation(robot, formulation), state_formulation(robot)
    tree = resolve(robot).at_time(0.7)
    state = ([0.3], [1.2], [0.5])
    assert row.forward_dynamics(tree, *state) == pytest.approx(reference.forward_dynamics(tree, *state), rel=1e-12)
    if formulation == "newton_euler":
        compiled = derive(robot, backend="interpreter")
        assert [port.name for port in compiled.forward_dynamics.inputs] == ["t", "q", "v", "tau"]
        found = compiled.forward_dynamics(0.7, *state)
        assert found == pytest.approx(reference.forward_dynamics(tree, *state), rel=1e-12)
        later = resolve(robot).at_time(1.9)
        assert abs(reference.forward_dynamics(later, *state)[0] - found[0]) > 1e-2


def test_every_method_carries_a_driven_joint_to_the_same_place() -> None:
    system = System(follower(CURVED))
    exact = simulate(system, 0.5, q=[0.3], v=[1.2], rtol=1e-12, atol=1e-12)
    assert exact["q.led"] == pytest.approx(np.sin(exact["q.lead"]) + 2.0 * exact["q.lead"], rel=1e-14)
    assert np.ptp(exact["energy.balance"]) < 1e-10
    for method, near in (("rodas", 1e-5), ("newmark", 1e-4), ("variational", 1e-4), ("implicit_contact", 5e-3)):
        run = simulate(system, 0.5, q=[0.3], v=[1.2], method=method, **({} if method == "rodas" else {"step": 1e-3}))
        assert run.q[-1] == pytest.approx(exact.q[-1], abs=near), method


@each_case("method", ["dop853", "extrapolated_contact"])
def test_a_joint_that_the_time_drives_supplies_the_energy_that_the_motion_gains(method: str) -> None:
    """A shaken pendulum: the balance of energy closes only with the power of the drive."""
    robot = follower(CURVED + 0.3 * sin(5.0 * TIME))
    how = {"rtol": 1e-11, "atol": 1e-11} if method == "dop853" else {"step": 2e-4}
    run = simulate(robot, 1.0, q=[0.3], method=method, **how)
    gained = run["energy.kinetic"] + run["energy.potential"]
    assert np.ptp(gained) > 0.5 and np.ptp(run["energy.supplied"]) > 0.5
    assert np.abs(run["energy.balance"]).max() < (1e-9 if method == "dop853" else 1e-5)
    led = np.sin(run["q.lead"]) + 2.0 * run["q.lead"] + 0.3 * np.sin(5.0 * run.t)
    assert run["q.led"] == pytest.approx(led, abs=1e-13)
    assert verify(derive(robot, backend="interpreter")).passed


@each_case("method", ["dop853", "newmark", "extrapolated_contact"])
def test_the_drive_also_supplies_what_its_own_damping_takes(method: str) -> None:
    builder = RobotBuilder("lift").add(Body.box("a", 1.0, (0.1, 0.2, 1.0)), Body.box("b", 2.0, (0.3, 0.1, 0.8)))
    builder.joint("lift", "prismatic", "world", "a", driven=0.3 * sin(5.0 * TIME), damping=20.0)
    builder.joint("hinge", "revolute", "a", "b", axis=(0, 1, 0), translation=(0, 0, 0.5))
    how = {} if method == "dop853" else {"step": 5e-4}
    run = simulate(builder.build(), 1.0, q=[0.5], v=[1.0], method=method, **how)
    assert run["energy.supplied"][-1] == pytest.approx(9.7062, abs=0.02)
    assert np.ptp(run["energy.balance"]) < 0.03


def test_elements_of_all_kinds_act_on_driven_joints() -> None:
    """Against the same machine with a coupling."""
    builder = RobotBuilder("geared").add(Body.box("a", 1.0, (0.1, 0.2, 1.0)), Body.box("b", 2.0, (0.3, 0.1, 0.8)))
    builder.joint("lead", "revolute", "world", "a", axis=(1.0, 0.0, 0.0))
    builder.joint("led", "revolute", "a", "b", axis=(0.0, 1.0, 0.0), translation=(0, 0, 0.5))
    coupled = builder.couple("led", "lead", -3.0, 0.2).build()
    elements = (PD("pd", "led", 20.0, 1.0, 0.4), JointFriction("rub", ("led",), 0.3), Actuator("push", "led"))
    for method, how in (("dop853", {}), ("implicit_contact", {"step": 1e-3})):
        ours = simulate(System(driven_couplings(coupled), elements), 0.3, q=[0.3], inputs=[0.5], method=method, **how)
        theirs = simulate(System(coupled, elements), 0.3, q=[0.3, -0.7], inputs=[0.5], method=method, **how)
        assert ours.q[-1][0] == pytest.approx(theirs.q[-1][0], abs=1e-6), method


def test_what_driven_joints_cannot_do_is_said() -> None:
    with pytest.raises(
        UnsupportedError, match="method 'variational' cannot simulate robot 'follower', which moves joints along"
    ):
        simulate(follower(CURVED + 0.3 * sin(5.0 * TIME)), 0.1, q=[0.3], method="variational", step=1e-3)
    with pytest.raises(ModelError, match="computed torque does not support driven joints"):
        simulate(System(follower(CURVED), (ComputedTorque("ct", ("lead",), 10.0, 2.0),)), 0.1, q=[0.3])


def test_verify_checks_a_robot_with_driven_joints() -> None:
    assert verify(derive(follower(CURVED), backend="interpreter")).passed


def test_coupled_joints_as_driven_joints_move_alike_with_fewer_coordinates() -> None:
    """Coordinates in place of constraint rows; back to couplings for files that know nothing else."""
    builder = RobotBuilder("geared").add(Body.box("a", 1.0, (0.1, 0.2, 1.0)), Body.box("b", 2.0, (0.3, 0.1, 0.8)))
    builder.joint("lead", "revolute", "world", "a", axis=(1.0, 0.0, 0.0))
    builder.joint("led", "revolute", "a", "b", axis=(0.0, 1.0, 0.0), translation=(0, 0, 0.5))
    coupled = builder.couple("led", "lead", -3.0, 0.2).build()
    robot = driven_couplings(coupled)
    assert (coupled.nv, robot.nv, robot.couplings) == (2, 1, ())
    one, other = derive(coupled).forward_dynamics([0.3, -0.7], [1.2, -3.6], [0.5, 0.0]), derive(robot)
    assert other.forward_dynamics([0.3], [1.2], [0.5]) == pytest.approx(one[:1], rel=1e-11)
    back = coupled_drives(robot).couplings[0]
    assert (back.joint, back.leader, back.multiplier, back.offset) == ("led", "lead", -3.0, 0.2)
    with pytest.raises(ModelError, match="'led' is driven by a formula that is not a multiple of one coordinate"):
        coupled_drives(follower(CURVED))


def test_a_motor_may_drive_a_driven_joint() -> None:
    """The torque acts on the state through the ratio: 20 N m on the follower are 20 F on the leader."""
    robot = follower(3.0 * LEAD)
    system = System(robot, (DCMotor("motor", "led", 1.0, 0.5, ratio=1.0),))
    start = simulate(system, 0.01, output_step=0.01, q=[0.3], inputs=[4.0])
    expected = derive(robot).forward_dynamics([0.3], [0.0], [3.0 * 0.5 * 4.0])
    assert start["a.lead"][0] == pytest.approx(expected[0], rel=1e-9)


def test_the_check_of_masses_agrees_with_the_recursions() -> None:
    robot = follower(CURVED, armature=0.05)
    assert state_masses(robot, [0.3], ["lead"]) == pytest.approx(derive(robot).mass_matrix([0.3]), rel=1e-12)
    assert with_driven(robot, [0.3])[1] == pytest.approx(math.sin(0.3) + 0.6)


@pytest.mark.parametrize(
    ("formula", "more", "message"),
    [
        (Coordinate("laed", 0.0).sin(), {}, "names 'laed', and there is no such coordinate. Did you mean 'lead'?"),
        (Coordinate("led", 0.0) * 2.0, {}, "names the driven joint 'led'"),
        (CURVED, {"upper": 1.0}, "upper is given for a driven joint"),
        ([LEAD, LEAD], {}, "driven has 2 formulas for a revolute joint, expected one per coordinate, 1"),
        ("lead", {}, "driven\\[0\\] is 'lead'"),
    ],
)
def test_wrong_formulas_are_named(formula: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        follower(formula, **more)


def test_a_coordinate_that_moves_no_mass_is_named() -> None:
    builder = RobotBuilder("still").add(Body.box("a", 1.0, (0.1, 0.2, 1.0))).body("dial")
    builder.joint("turn", "revolute", "world", "dial")
    builder.joint("up", "prismatic", "world", "a", driven=0.0 * Coordinate("turn", 0.0) + 1.0)
    with pytest.raises(ModelError, match="joint 'turn': its coordinate moves no mass"):
        builder.build()
    assert replace(follower(CURVED), name="other").driven
