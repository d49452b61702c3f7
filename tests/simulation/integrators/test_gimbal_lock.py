"""Gimbals in runs: they agree with spherical joints, and a run ends in a sentence at their singular angle (004-08)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Guard, RobotBuilder, System, library, simulate, simulate_batch
from kinemorph.elements import PD
from kinemorph.errors import ModelError
from kinemorph.model.joint import CARDAN_ORDERS, EULER_ORDERS, GIMBAL_ORDERS
from kinemorph.model.robot import Robot
from kinemorph.notation import Coordinate

EXACT = {"rtol": 1e-12, "atol": 1e-13}
WHEN = 0.3  # [s] the time at which the leg passes beta = 90 deg
UNITS = {"x": np.eye(3)[0], "y": np.eye(3)[1], "z": np.eye(3)[2]}


def leg(kind: str, **data: Any) -> Robot:
    builder = RobotBuilder("leg").add(Body.box("coxa", 1.0, (0.1, 0.2, 0.3), (0.05, 0.0, -0.15)))
    builder.add(Body.box("femur", 0.5, (0.1, 0.1, 0.3), (0.0, 0.0, -0.15))).joint("hip", kind, "world", "coxa", **data)
    return builder.joint("knee", "revolute", "coxa", "femur", axis=(0, 1, 0), translation=(0, 0, -0.3)).build()


def turn(letter: str, angle: float) -> np.ndarray:
    """A rotation matrix about an axis, by Rodrigues' formula."""
    x, y, z = UNITS[letter]
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def quaternion(R: np.ndarray) -> np.ndarray:
    """The quaternion wxyz of a rotation, from the eigenvector of its largest eigenvalue."""
    a, b, c = R
    N = [[a[0] + b[1] + c[2], c[1] - b[2], a[2] - c[0], b[0] - a[1]]]
    N += [[0, a[0] - b[1] - c[2], a[1] + b[0], a[2] + c[0]], [0, 0, b[1] - a[0] - c[2], b[2] + c[1]]]
    N += [[0, 0, 0, c[2] - a[0] - b[1]]]
    found: np.ndarray = np.linalg.eigh(np.array(N), UPLO="U")[1][:, -1]
    return found


def rates(order: str, angles: np.ndarray) -> np.ndarray:
    """D (3, 3): the body's angular velocity at unit rates of the three angles."""
    third = turn(order[2], angles[2])
    columns = [third.T @ turn(order[1], angles[1]).T @ UNITS[order[0]], third.T @ UNITS[order[1]], UNITS[order[2]]]
    return np.array(columns).T


def rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R: np.ndarray = np.eye(3) + 2.0 * w * K + 2.0 * K @ K
    return R


@pytest.fixture(scope="module")
def tumbling() -> dict[str, np.ndarray]:
    """States of the leg with angles and with Euler parameters that lead through beta = 90 deg at the time WHEN."""
    singular = turn("z", 0.3) @ turn("y", np.pi / 2) @ turn("x", 0.2)
    w = np.array([0.7, 2.0, -0.5, 0.4])
    back = simulate(leg("spherical"), WHEN, q=[*quaternion(singular), 0.4], v=-w, **EXACT)
    R, v = rotation(back.q[-1, :4]), -back.v[-1]
    beta = np.arcsin(-R[2, 0])
    angles = np.array([np.arctan2(R[1, 0], R[0, 0]), beta, np.arctan2(R[2, 1], R[2, 2])])
    speeds = np.linalg.solve(rates("zyx", angles), v[:3])
    return {
        "spherical q": back.q[-1],
        "spherical v": v,
        "gimbal q": np.array([*angles, back.q[-1, 4]]),
        "gimbal v": np.array([*speeds, v[3]]),
    }


def test_a_tumbling_leg(tumbling: dict[str, np.ndarray]) -> None:
    """It passes the angle with Euler parameters; with angles the run ends there, and agrees before."""
    ball = simulate(leg("spherical"), 1.0, q=tumbling["spherical q"], v=tumbling["spherical v"], **EXACT)
    assert ball.outcome.kind == "finished"
    sine = np.array([-rotation(q[:4])[2, 0] for q in ball.q])
    assert sine.max() > 1.0 - 1e-12 and ball.t[np.argmax(sine)] == pytest.approx(WHEN, abs=1e-9)
    energy = ball.energy.kinetic + ball.energy.potential
    assert np.ptp(energy) < 1e-10 * np.abs(ball.energy.kinetic).max()
    run = simulate(leg("gimbal"), 1.0, q=tumbling["gimbal q"], v=tumbling["gimbal v"], **EXACT)
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(WHEN, abs=0.02)
    for word in ("gimbal 'hip'", "hip.second = 90 deg", "cond M = ", "spherical joint"):
        assert word in run.outcome.message
    assert np.isfinite(run.q).all() and np.isfinite(run.v).all()
    early = run.t < WHEN - 0.05
    assert early.sum() > 20
    for t, q, v in zip(run.t[early], run.q[early], run.v[early], strict=True):
        at = int(np.argmin(np.abs(ball.t - t)))
        R = turn("z", q[0]) @ turn("y", q[1]) @ turn("x", q[2])
        assert np.abs(R - rotation(ball.q[at, :4])).max() < 1e-9 and abs(q[3] - ball.q[at, 4]) < 1e-9
        assert np.abs(rates("zyx", q[:3]) @ v[:3] - ball.v[at, :3]).max() < 1e-9


@pytest.mark.slow
def test_the_leg_of_the_cockroach() -> None:
    """A leg on a free box swings through beta = -90 deg; its hinges and the box move alike with both kinds of hip."""
    by_angles, ball = (library.cockroach_leg(hip=hip).robot for hip in ("gimbal", "spherical"))
    singular, late = turn("z", -0.9) @ turn("y", -np.pi / 2) @ turn("x", 0.2), 0.01
    q = np.array([0.0, 0.0, 0.01, 1.0, 0.0, 0.0, 0.0, *quaternion(singular), 1.5, -1.4])
    w = np.array([0.1, -0.2, 0.0, 3.0, -2.0, 1.0, 10.0, -80.0, 5.0, 15.0, -20.0])
    back = simulate(ball, late, q=q, v=-w, **EXACT)
    free = simulate(ball, 2.0 * late, q=back.q[-1], v=-back.v[-1], output_step=5e-4, **EXACT)
    energy = free.energy.kinetic + free.energy.potential
    assert free.outcome.ok and np.ptp(energy) < 1e-10 * free.energy.kinetic.max()
    sine = np.array([-rotation(one[7:11])[2, 0] for one in free.q])
    assert free.t[np.argmin(sine)] == pytest.approx(late) and sine.min() == pytest.approx(-1.0, abs=1e-12)
    R = rotation(free.q[0, 7:11])
    angles = np.array([np.arctan2(R[1, 0], R[0, 0]), np.arcsin(-R[2, 0]), np.arctan2(R[2, 1], R[2, 2])])
    v = [*free.v[0, :6], *np.linalg.solve(rates("zyx", angles), free.v[0, 6:9]), *free.v[0, 9:]]
    start = [*free.q[0, :7], *angles, *free.q[0, 11:]]
    run = simulate(by_angles, 2.0 * late, q=start, v=v, output_step=5e-4, **EXACT)
    assert "gimbal 'front_left_body_coxa'" in run.outcome.message and "second = -90 deg" in run.outcome.message
    assert run.outcome.t == pytest.approx(late, abs=5e-4)
    early = np.flatnonzero(run.t < 0.8 * late)
    assert len(early) > 10
    assert np.abs(np.sin(run.q[early, 8]) - sine[early]).max() < 1e-9
    assert np.abs(run.q[early, 10:] - free.q[early, 11:]).max() < 1e-9
    assert np.abs(run.q[early, :7] - free.q[early, :7]).max() < 1e-9


def test_steps_do_not_leap_over_the_angle(tumbling: dict[str, np.ndarray]) -> None:
    """A fixed step sees nothing of the singular angle; the run ends all the same, in a batch too."""
    run = simulate(leg("gimbal"), 0.5, q=tumbling["gimbal q"], v=tumbling["gimbal v"], method="rk4", step=0.01)
    assert "comes to its singular angle" in run.outcome.message and run.t[-1] <= WHEN
    plain = (np.zeros(4), np.array([0.2, 0.0, 0.1, 0.0]))
    batch = simulate_batch(
        leg("gimbal"),
        0.4,
        q=np.array([tumbling["gimbal q"], plain[0]]),
        v=np.array([tumbling["gimbal v"], plain[1]]),
        method="rk4",
        step=0.01,
    )
    assert [one.kind for one in batch.outcomes] == ["failed", "finished"]
    assert "gimbal 'hip'" in batch.outcomes[0].message


def test_damping_does_not_keep_a_run_from_the_angle() -> None:
    """Damped turns become infinitely stiff at the angle: steps dwindle, and the run ends in a sentence all the same."""
    pendulum = RobotBuilder("damped").add(Body.box("b", 1.0, (0.1, 0.2, 0.3), (0, 0, -0.3)))
    robot = pendulum.joint("hip", "gimbal", "world", "b", order="zxz", damping=0.02).build()
    start = {"q": [0.1, 1.0, 0.3], "v": [0.3, 0.0, 0.0]}
    run = simulate(robot, 3.0, **start)
    assert run.outcome.kind == "failed" and "gimbal 'hip' comes to its singular angle" in run.outcome.message
    fleet = simulate_batch(robot, 3.0, q=[start["q"]], v=[start["v"]])
    assert "gimbal 'hip' comes to its singular angle" in fleet.outcomes[0].message
    hold = PD("hold", "hip.second", kp=2.0, kd=1.0, reference=0.008)
    held = simulate(System(robot, (hold,)), 20.0, q=[0.0, 0.006, 0.0], method="radau")
    assert held.outcome.kind == "finished"  # a gimbal that stays near the angle does not end the run


def lone(order: str, **data: Any) -> Robot:
    builder = RobotBuilder("lone", gravity=(0, 0, 0)).add(Body.box("b", 1.0, (0.1, 0.2, 0.3)))
    return builder.joint("hip", "gimbal", "world", "b", order=order, **data).build()


@pytest.mark.parametrize("order", ["zxz", pytest.param("zyx", marks=pytest.mark.slow)])
def test_singular_angles_of_both_families(order: str) -> None:
    angle = 90.0 if order in CARDAN_ORDERS else 180.0
    begin = np.radians(angle) - 0.1
    run = simulate(lone(order), 0.5, q=[0.1, begin, 0.2], v=[0.0, 1.0, 0.0], method="rk4", step=0.01)
    assert f"hip.second = {angle:g} deg" in run.outcome.message and run.outcome.t == pytest.approx(0.11, abs=0.011)
    still = simulate(lone(order), 0.1, q=[0.0, np.radians(angle), 0.0], v=[0.1, 0.0, 0.0], method="rk4", step=0.01)
    assert "singular angle" in still.outcome.message and np.isfinite(still.q).all()
    for armature, kind in (((0.01, 0, 0), "finished"), ((0, 0, 0.01), "finished"), ((0, 0.01, 0), "failed")):
        rotors = lone(order, armature=armature)
        assert simulate(rotors, 0.3, q=[0.1, begin, 0.2], v=[0, 1, 0], method="rk4", step=0.01).outcome.kind == kind
    held = simulate(lone(order), 0.1, q=[0.0, np.radians(angle), 0.0], locked="hip", method="rk4", step=0.01)
    assert held.outcome.kind == "finished"


def compiled(q: Any) -> dict[str, Any]:
    return {"q": [q[0], q[1] + 3.0, q[2]]}


def called(q: Any) -> dict[str, Any]:
    return {"q": np.array([float(q[0]), float(q[1]) + 3.0, float(q[2])])}


@pytest.mark.parametrize("reset", [compiled, called])
def test_an_event_may_move_the_angle_beyond_the_singular_one(reset: Any) -> None:
    """The second angle jumps from 0.3 to 3.3 rad, over 90 deg, and turns on to 270 deg, where the run ends."""
    jump = Guard("jump", lambda q: q[1] - 0.3, "rising", reset=reset)
    state: dict[str, Any] = {"q": [0.1, 0.0, 0.0], "v": [0.0, 1.0, 0.0], "method": "rk4", "step": 0.01}
    run = simulate(lone("zyx"), 1.0, events=[jump], **state)
    assert run.outcome.kind == "finished" and run.q[-1, 1] == pytest.approx(4.0, abs=1e-9)
    run = simulate(lone("zyx"), 3.0, events=[jump], **state)
    assert "hip.second = 270 deg" in run.outcome.message
    assert run.outcome.t == pytest.approx(np.radians(270.0) - 3.0, abs=0.011)
    if reset is compiled:
        batch = simulate_batch(lone("zyx"), 3.0, events=[jump], **(state | {"v": [[0, 1, 0], [0, 0.5, 0], [0, 0, 1]]}))
        assert [one.kind for one in batch.outcomes] == ["failed", "finished", "finished"]
        assert batch.outcomes[0].message == run.outcome.message


@pytest.mark.parametrize("reset", [compiled, called])
def test_an_angle_that_is_passed_right_before_a_jump_counts(reset: Any) -> None:
    """The second angle passes 90 deg and jumps by 3 rad between two samples, from one side of it to the other."""
    jump = Guard("jump", lambda q: q[1] - 1.6, "rising", reset=reset)
    state: dict[str, Any] = {"q": [0.1, 1.5, 0.0], "v": [0.0, 1.0, 0.0], "method": "rk4", "step": 0.01}
    run = simulate(lone("zyx"), 1.0, events=[jump], output_step=0.25, **state)
    assert "hip.second = 90 deg" in run.outcome.message and run.outcome.t == pytest.approx(0.1, abs=1e-6)
    if reset is compiled:
        batch = simulate_batch(lone("zyx"), 1.0, events=[jump], output_step=0.25, **(state | {"v": [[0.0, 1.0, 0.0]]}))
        assert batch.outcomes[0].message == run.outcome.message


def test_gimbals_beside_driven_joints_are_watched() -> None:
    builder = RobotBuilder("r", gravity=(0, 0, 0)).add(
        Body.box("b", 1.0, (0.1, 0.2, 0.3)), Body.box("c", 1.0, (0.1,) * 3)
    )
    builder.joint("hip", "gimbal", "world", "b")
    builder.joint("tail", "revolute", "b", "c", translation=(0.2, 0, 0), driven=2.0 * Coordinate("hip.second"))
    run = simulate(builder.build(), 0.5, q=[0.1, 1.47, 0.2], v=[0.0, 1.0, 0.0], method="rk4", step=0.01)
    assert "hip.second = 90 deg" in run.outcome.message


def test_orders() -> None:
    assert len(set(GIMBAL_ORDERS)) == 12 and set(EULER_ORDERS) == {o for o in GIMBAL_ORDERS if o[0] == o[2]}
    for wrong in ("xxy", "zy", 3):
        with pytest.raises(ModelError, match=r"order.*expected three axes"):
            lone(wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="the kind is revolute"):
        RobotBuilder("r").add(Body.sphere("b", 1.0, 0.1)).joint("j", "revolute", "world", "b", order="xyz").build()
