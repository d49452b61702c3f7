"""lqr() gives the feedback of least cost, near equilibria and along motions, and compiled runs decay by its poles.

FINDINGS D6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline
from scipy.linalg import expm, solve_continuous_are, solve_discrete_are

import kinemorph
from kinemorph import Body, RobotBuilder, System, elements, library, linearize, lqr, simulate
from kinemorph.errors import LimitWarning, ShapeError, UnsupportedError
from kinemorph.plants.own_equations import first_order

SMALL = 1e-6


def satellite(kind: str = "free") -> kinemorph.Robot:
    """A body without gravity that moves in all directions."""
    builder = RobotBuilder("satellite", gravity=(0.0, 0.0, 0.0)).add(Body.box("body", 2.0, (0.3, 0.2, 0.1)))
    return builder.joint("base", kind, "world", "body").build()


def floater() -> kinemorph.Robot:
    """A body that slides on a plane, with an arm: motors of the arm leave momentum and its integral as they are."""
    builder = RobotBuilder("floater", gravity=(0.0, 0.0, 0.0)).add(Body.box("body", 2.0, (0.3, 0.2, 0.1)))
    builder.add(Body.rod("arm", 0.5, 0.4, (0.2, 0.0, 0.0))).joint("base", "planar", "world", "body")
    return builder.joint("elbow", "revolute", "body", "arm", axis=(0.0, 0.0, 1.0), translation=(0.15, 0.0, 0.0)).build()


def coupled() -> kinemorph.Robot:
    """A double pendulum whose second joint follows the first one."""
    builder = RobotBuilder("coupled")
    builder.add(Body.rod("upper", 1.0, 0.5, (0.0, 0.0, -0.25))).add(Body.rod("lower", 0.6, 0.4, (0.0, 0.0, -0.2)))
    builder.joint("one", "revolute", "world", "upper", axis=(0.0, -1.0, 0.0))
    builder.joint("two", "revolute", "upper", "lower", axis=(0.0, -1.0, 0.0), translation=(0.0, 0.0, -0.5))
    return builder.couple("two", "one", -1.5).build()


def motor() -> System:
    """A pendulum with a motor whose current is a state."""
    driven = elements.DCMotor("motor", "q1", 2.0, 0.05, inductance=0.02, ratio=20.0)
    return System(library.pendulum(), (driven,))


# model, arguments of `lqr`, independent velocities
CASES: dict[str, tuple[Callable[[], Any], dict[str, Any], tuple[str, ...]]] = {
    "cart and pole": (library.cartpole, {"R": {"x": 0.1}}, ("x", "theta")),
    "pendulum": (library.pendulum, {"R": 2.0}, ("q1",)),
    "double pendulum": (library.double_pendulum, {"R": {"q1": 0.5}}, ("q1", "q2")),
    "crane": (library.crane, {"R": {"x": 1.0}}, ("x", "theta")),
    "four-bar": (library.four_bar, {"R": {"q1": 0.1}}, ("q1",)),
    "slider-crank": (library.slider_crank, {"R": 0.1}, ("crank_joint",)),
    "arm at a pose": (library.scara, {"R": 0.01, "q": [0.3, -0.4, 0.05, 0.2]}, ()),
    "free base": (satellite, {"R": 0.5, "q": [1.0, 0.0, 2.0, 0.8, 0.0, 0.6, 0.0]}, ()),
    "ball joint": (lambda: satellite("spherical"), {"R": [0.5, 1.0, 2.0]}, ()),
    "coupled joint": (coupled, {"R": {"one": 1.0}}, ("one",)),
    "motor with a current": (motor, {"R": {"motor": 0.01}}, ("q1",)),
}


@pytest.mark.parametrize("name", CASES)
def test_gains_are_those_of_the_riccati_equation_in_coordinates_chosen_here(name: str) -> None:
    make, given, independent = CASES[name]
    model = make()
    Q = np.diag(np.random.default_rng(1).uniform(0.5, 2.0, kinemorph.plants.plant(model).ns))
    found = lqr(model, Q, **given)
    linear = linearize(found.plant, found.q, found.v, found.x, outputs=())
    names = independent or [column.name for column in found.plant.v]
    states = [f"{kind}.{one}" for kind in "wv" for one in names] + [column.name for column in found.plant.x]
    rows = [linear.state_names.index(one) for one in states]
    basis = linear.basis @ np.linalg.inv(linear.basis[rows])  # the state that these independent entries give
    chosen = [linear.input_names.index(one) for one in found.input_names]
    A, B = linear.A[rows] @ basis, linear.B[np.ix_(rows, chosen)]
    weight = np.diag(
        np.broadcast_to(given["R"] if not isinstance(given["R"], dict) else [*given["R"].values()], len(chosen))
    )
    S = solve_continuous_are(A, B, basis.T @ Q @ basis, weight)
    K = np.linalg.solve(weight, B.T @ S)
    np.testing.assert_allclose(found.K @ basis, K, rtol=1e-7, atol=1e-8 * np.abs(K).max())
    np.testing.assert_allclose(basis.T @ found.S @ basis, S, rtol=1e-7, atol=1e-8 * np.abs(S).max())
    np.testing.assert_allclose(np.sort_complex(found.poles), np.sort_complex(np.linalg.eigvals(A - B @ K)), rtol=1e-6)


@pytest.mark.slow  # its import takes seconds
def test_python_control_gives_the_same_gains() -> None:
    control = pytest.importorskip("control")
    linear = linearize(library.cartpole(), outputs=["w.x"])
    space = linear.to_control()
    assert space.state_labels == ["w_x", "w_theta", "v_x", "v_theta"]
    assert (space.input_labels, space.output_labels) == (["x", "theta"], ["w_x"])
    K, S, poles = control.lqr(space, np.diag([1.0, 2.0, 3.0, 4.0]), np.diag([0.5, 2.0]))
    found = lqr(linear, [1.0, 2.0, 3.0, 4.0], [0.5, 2.0])
    np.testing.assert_allclose(found.K, K, rtol=1e-9)
    np.testing.assert_allclose(found.S, S, rtol=1e-9)
    np.testing.assert_allclose(np.sort_complex(found.poles), np.sort_complex(poles), rtol=1e-9)


def test_weights_are_matrices_vectors_numbers_or_names() -> None:
    robot = library.cartpole()
    linear = linearize(robot, outputs=())
    by_name = lqr(linear, {"q.x": 10.0, "v.theta": 2.0}, {"x": 0.1})
    assert by_name.input_names == ("x",)
    assert by_name.state_names == ("w.x", "w.theta", "v.x", "v.theta")
    both = lqr(linear, {"w.x": 10.0, "v.theta": 2.0}, {"x": 0.1, "theta": 0.3})
    np.testing.assert_array_equal(both.K, lqr(linear, [10.0, 0.0, 0.0, 2.0], np.diag([0.1, 0.3])).K)
    N = np.array([[0.1], [0.0], [0.2], [0.0]])
    A, B = linear.A, linear.B[:, :1]
    S = solve_continuous_are(A, B, np.eye(4), np.eye(1), s=N)
    np.testing.assert_allclose(lqr(linear, 1.0, {"x": 1.0}, N=N).K, B.T @ S + N.T, rtol=1e-9)


def test_sampled_gains_are_those_of_an_exact_discretization() -> None:
    T, linear = 0.05, linearize(library.cartpole(), outputs=())
    Q, R, N = np.diag([10.0, 5.0, 1.0, 2.0]), np.array([[0.3]]), np.array([[0.1], [0.0], [0.2], [0.0]])
    found = lqr(linear, Q, {"x": 0.3}, N=N, sample=T)
    whole = np.zeros((5, 5))  # s and the held input, and the cost by quadrature of its definition
    whole[:4] = np.hstack([linear.A, linear.B[:, :1]])
    nodes, shares = np.polynomial.legendre.leggauss(12)
    moves = [expm(whole * 0.5 * T * (1.0 + node)) for node in nodes]
    cost = sum(0.5 * T * share * E.T @ np.block([[Q, N], [N.T, R]]) @ E for share, E in zip(shares, moves, strict=True))
    E = expm(whole * T)
    A, B = E[:4, :4], E[:4, 4:]
    S = solve_discrete_are(A, B, cost[:4, :4], cost[4:, 4:], s=cost[:4, 4:])
    K = np.linalg.solve(cost[4:, 4:] + B.T @ S @ B, B.T @ S @ A + cost[4:, :4])
    np.testing.assert_allclose(found.K, K, rtol=1e-8)
    np.testing.assert_allclose(np.sort_complex(np.exp(found.poles * T)), np.sort_complex(np.linalg.eigvals(A - B @ K)))
    assert found.element().every == T
    np.testing.assert_allclose(
        lqr(linear, Q, {"x": 0.3}, N=N, sample=1e-6).K, lqr(linear, Q, {"x": 0.3}, N=N).K, rtol=1e-3
    )


def test_a_pose_is_held_by_inputs_that_are_found() -> None:
    arm = library.puma()
    q = [0.3, -0.2, 0.5, 0.1, 0.4, 0.2]
    found = lqr(arm, 1.0, 0.1, q=q)
    held = kinemorph.derive(arm).gravity_forces(q)
    np.testing.assert_allclose(found.u, held, atol=1e-9 * np.abs(held).max())
    bent = lqr(motor(), 1.0, 0.1, q={"q1": 0.5})  # the current is found, too
    torque = 9.81 * np.sin(0.5)
    np.testing.assert_allclose(bent.x, [torque / (20.0 * 0.05)], rtol=1e-9)
    np.testing.assert_allclose(bent.u, 2.0 * bent.x, rtol=1e-9)


# ── compiled runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["cart and pole", "four-bar", "free base", "motor with a current"])
def test_small_deviations_of_a_compiled_run_decay_by_the_poles(name: str) -> None:
    make, given, _ = CASES[name]
    model = make()
    found = lqr(model, 1.0, **given)
    open_loop = linearize(found.plant, found.q, found.v, found.x, outputs=())
    chosen = [open_loop.input_names.index(one) for one in found.input_names]
    whole = open_loop.A - open_loop.B[:, chosen] @ found.K
    slow = found.poles[np.argmax(found.poles.real)]
    values, vectors = np.linalg.eig(open_loop.dual @ whole @ open_loop.basis)
    mode = open_loop.basis @ vectors[:, np.argmin(np.abs(values - slow))]
    s, nv = SMALL * (mode / np.abs(mode).max()).real, found.plant.nv
    has = model if isinstance(model, System) else System(model, ())
    closed = System(has.robot, (*has.elements, found.element()))
    until = 2.0 / -slow.real
    q = kinemorph.integrate(has.robot, found.q, s[:nv])
    run = simulate(closed, until, q=q, v=s[nv : 2 * nv], x=found.x + s[2 * nv :], rtol=1e-10, atol=1e-14)
    end = kinemorph.difference(has.robot, found.q, run.q[-1])
    expected = (np.exp(slow * until) * SMALL * mode / np.abs(mode).max()).real
    np.testing.assert_allclose([*end, *run.v[-1]], expected[: 2 * nv], atol=2e-4 * SMALL)
    assert np.abs(expected).max() > 1e-2 * SMALL


def test_a_cart_pole_with_a_12_volt_motor_stays_up_from_0_3_rad() -> None:
    wheel = elements.DCMotor.from_nameplate(
        "motor", "x", voltage=12.0, no_load_speed=60.0, stall_torque=2.0, voltage_limit=12.0
    )
    wheel = replace(wheel, lead=0.1 * np.pi)  # a wheel of 5 cm
    plant = System(library.cartpole(), (wheel,))
    for sample in (None, 0.02):
        found = lqr(plant, {"q.x": 20.0, "q.theta": 50.0}, {"motor": 0.05}, sample=sample)
        closed = System(plant.robot, (wheel, found.element(lower=-12.0, upper=12.0)))
        run = simulate(closed, 6.0, q={"theta": 0.3})
        assert run.outcome.ok
        assert np.abs(run["lqr"]).max() == 12.0  # it is limited at first
        assert np.abs(run["q.theta"]).max() < 0.35
        assert np.abs(run.q[-1]).max() < 5e-3


def test_feedback_of_a_free_base_turns_over_as_a_rotation() -> None:
    """FINDINGS D6: the difference is that of the manifold, whatever the sign of the quaternion."""
    robot = satellite()
    found = lqr(robot, 1.0, 0.5)
    closed = System(robot, (found.element(),))
    q = np.array([0.5, -0.2, 0.1, 0.0, 0.0, 0.28, 0.96])  # more than 2 rad from upright
    q[3:] = np.array([0.3, 0.0, 0.3, 0.905]) / np.linalg.norm([0.3, 0.0, 0.3, 0.905])
    runs = [simulate(closed, 20.0, q=[*q[:3], *(sign * q[3:])], output_step=20.0) for sign in (1.0, -1.0)]
    for run in runs:
        np.testing.assert_allclose(np.abs(run.q[-1]), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], atol=1e-4)
    np.testing.assert_allclose(runs[0].v[-1], runs[1].v[-1], atol=1e-12)


# ── what inputs cannot do ─────────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_inputs_cannot_stabilize_is_refused_or_left_out_by_name() -> None:
    robot = floater()
    with pytest.raises(UnsupportedError, match=r"the inputs elbow cannot bring motions of 'w.base.vx'.* to rest. Add"):
        lqr(robot, 1.0, {"elbow": 1.0})
    found = lqr(robot, {"q.elbow": 1.0, "v.elbow": 0.1}, {"elbow": 1.0}, leave_out=True)
    assert found.left_out.endswith("6 of 8 directions are left out.")
    assert found.left_out in " ".join(str(found).split())
    assert len(found.poles) == 2
    assert (found.poles.real < 0.0).all()
    run = simulate(System(robot, (found.element(),)), 10.0, q={"elbow": 0.3}, output_step=10.0)
    assert abs(run["q.elbow"][-1]) < 1e-9
    damped = first_order(lambda x, u: [-3.0 * x[0], x[0] + u[0]], {"a": "", "b": ""}, inputs={"f": ""})
    assert lqr(damped, 1.0, 1.0).K.shape == (1, 2)  # what decays by itself need not be moved


def test_bad_input_is_told_in_a_sentence() -> None:
    robot = library.cartpole()
    linear = linearize(robot, outputs=())
    for Q, R, said in (
        ([1.0, 2.0], 1.0, r"lqr: Q has shape \(2,\); expected a number or \(4,\) or \(4, 4\)"),
        ({"w.pole": 1.0}, 1.0, r"lqr: Q names 'w.pole', which is not there.* Known: 'w.x'"),
        (1.0, {"motor": 1.0}, r"lqr: R names 'motor', which is no input. Known inputs: x, theta"),
        (1.0, 0.0, r"lqr: R is not positive definite: its least eigenvalue is 0, expected one above 0"),
        (-1.0, 1.0, r"lqr: Q is not positive semidefinite: its least eigenvalue is -1, expected none below 0"),
        (np.triu(np.ones((4, 4))), 1.0, r"lqr: Q is not symmetric; expected Q = Q\^T"),
        (np.nan, 1.0, r"lqr: Q is nan; expected finite numbers"),
        ("many", 1.0, r"lqr: Q is 'many'; expected numbers"),
    ):
        with pytest.raises(ShapeError, match=said):
            lqr(linear, Q, R)
    with pytest.raises(UnsupportedError, match=r"Q gives no weight to motions of 'w.x', which do not decay"):
        lqr(linear, {"q.theta": 1.0, "v.x": 1.0}, {"x": 1.0})
    with pytest.raises(ShapeError, match=r"lqr: N has shape \(2,\); expected \(4, 2\)"):
        lqr(linear, 1.0, 1.0, N=[1.0, 2.0])
    with pytest.raises(ShapeError, match=r"lqr: sample is 0\.0; expected a finite time above 0"):
        lqr(linear, 1.0, 1.0, sample=0.0)
    with pytest.raises(UnsupportedError, match="lqr: q is given, but the Linearization has it"):
        lqr(linear, 1.0, 1.0, q=[0.0, 0.0])
    with pytest.raises(
        UnsupportedError, match=r"lqr: 'cartpole' does not rest at this state: 'w.x' changes at a rate of 1"
    ):
        lqr(robot, 1.0, 1.0, v={"x": 1.0})
    with pytest.raises(UnsupportedError, match=r"does not rest at this state: 'v.x' changes"):
        lqr(robot, 1.0, {"x": 1.0}, q={"theta": 0.4})  # no force of the cart holds a pole that leans
    with pytest.raises(ShapeError, match="there are no inputs"):
        lqr(linear, 1.0, {})
    with pytest.raises(UnsupportedError, match=r"plant '.*' is not that of a robot"):
        lqr(first_order(lambda x, u: [u[0]], {"a": ""}, inputs={"f": ""}), 1.0, 1.0).element()


# ── along a motion ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_gains_along_a_constant_motion_become_those_of_the_equilibrium() -> None:
    robot = library.four_bar()
    still = lqr(robot, 1.0, {"q1": 0.1})
    rest = simulate(robot, 8.0, q=still.q, output_step=0.2)
    found = lqr(robot, 1.0, {"q1": 0.1}, along=rest)
    np.testing.assert_allclose(found.K[0], still.K, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found.K[-1], 0.0)  # nothing is to be gained any more at the end
    held = lqr(robot, 1.0, {"q1": 0.1}, along=rest, final=still.S)
    np.testing.assert_allclose(held.K, np.broadcast_to(still.K, held.K.shape), rtol=1e-5, atol=1e-6)
    still = lqr(robot, 1.0, {"q1": 0.1}, sample=0.16)  # periods that do not end with samples of the run
    held = lqr(robot, 1.0, {"q1": 0.1}, along=rest, sample=0.16, final=still.S)
    np.testing.assert_allclose(held.K, np.broadcast_to(still.K, held.K.shape), rtol=1e-6, atol=1e-7)


def test_gains_along_a_swing_satisfy_the_riccati_equation() -> None:
    robot = library.double_pendulum()
    swing = simulate(robot, 1.0, q=[1.0, 0.5], output_step=0.02)
    found = lqr(robot, 1.0, {"q1": 0.1}, along=swing, final=2.0)
    points = [linearize(robot, q, v, outputs=()) for q, v in zip(swing.q, swing.v, strict=True)]
    A, B = np.array([one.A for one in points]), np.array([one.B[:, :1] for one in points])

    slopes = make_interp_spline(swing.t, A, k=1), make_interp_spline(swing.t, B, k=1)

    def rate(t: float, flat: np.ndarray) -> np.ndarray:
        S, a, b = flat.reshape(4, 4), *(slope(t) for slope in slopes)
        return -(a.T @ S + S @ a - S @ b @ b.T @ S / 0.1 + np.eye(4)).ravel()

    S = solve_ivp(rate, (1.0, 0.0), 2.0 * np.eye(4).ravel(), rtol=1e-6, atol=1e-8).y[:, -1].reshape(4, 4)
    np.testing.assert_allclose(found.S[0], S, rtol=2e-3, atol=2e-3)


def test_feedback_along_a_motion_brings_a_disturbed_swing_back() -> None:
    robot = library.double_pendulum()
    joints = ("q1", "q2")
    path = elements.Sinusoid("path", amplitude=(0.6, 0.4), frequency=0.5, joints=joints)
    hold = elements.PD("pd", joints, 60.0, 5.0, reference="path")
    swing = simulate(System(robot, (path, hold)), 3.0, output_step=0.02)
    found = lqr(robot, {"q.q1": 100.0, "q.q2": 100.0, "v.q1": 1.0, "v.q2": 1.0}, 0.1, along=swing, final=10.0)
    np.testing.assert_allclose(found.u, np.column_stack([swing["pd.q1"], swing["pd.q2"]]), atol=1e-9)
    closed = System(robot, (found.element(),))
    follows = simulate(closed, 3.0, output_step=0.02)
    assert np.abs(follows.q - swing.q).max() < 2e-3
    disturbed = simulate(closed, 3.0, q=[0.2, -0.2], output_step=0.02)
    assert np.abs(disturbed.q[0] - swing.q[0]).max() == 0.2
    assert np.abs(disturbed.q[-50:] - swing.q[-50:]).max() < 5e-3


def test_feedback_along_a_turning_free_base_measures_from_the_moving_state() -> None:
    robot = satellite()
    turn = simulate(robot, 2.0, v=[0.3, 0.1, 0.0, 1.6, 2.0, -1.0], output_step=0.02)
    found = lqr(robot, 1.0, 0.5, along=turn, final=1.0)
    s = SMALL * np.array([0.5, -1.0, 0.3, 1.0, 0.4, -0.6, 0.0, 0.2, 0.1, -0.3, 0.2, 0.1])
    start = kinemorph.integrate(robot, turn.q[0], s[:6])
    run = simulate(System(robot, (found.element(),)), 2.0, q=start, v=turn.v[0] + s[6:], output_step=0.02, rtol=1e-9)
    away = np.array([kinemorph.difference(robot, a, b) for a, b in zip(turn.q, run.q, strict=True)])
    cost = s @ found.S[0] @ s  # what the run costs is what S promised
    state = np.hstack([away, run.v - turn.v])
    du = np.einsum("tij,tj->ti", found.K, state)
    spent = np.trapezoid((state**2).sum(axis=1) + 0.5 * (du**2).sum(axis=1), turn.t) + (state[-1] ** 2).sum()
    assert spent / cost == pytest.approx(1.0, abs=0.005)


def test_sampled_gains_along_a_swing_are_those_of_a_recursion_over_runs_of_the_plant() -> None:
    """Matrices and costs of each period come from differences of runs, and share nothing with the linear equations."""
    robot, period, ends = library.double_pendulum(), 0.1, [0.1, 0.2, 0.3, 0.4, 0.45]
    swing = simulate(robot, 0.45, q=[1.0, 0.5], output_step=0.002, rtol=1e-10, atol=1e-12)
    found = lqr(robot, [3.0, 1.0, 0.5, 0.2], {"q1": 0.1}, along=swing, sample=period, final=2.0)
    np.testing.assert_allclose(found.times, [0.0, *ends], atol=1e-12)
    weights = np.diag([3.0, 1.0, 0.5, 0.2])
    S, nodes = 2.0 * np.eye(4), np.polynomial.legendre.leggauss(8)
    for k in reversed(range(5)):
        T, start = ends[k] - found.times[k], swing.at(found.times[k])
        times = np.array([0.0, *(0.5 * T * (1.0 + nodes[0])), T])

        def moved(s: np.ndarray, u: float, T: float = T, start: Any = start, times: Any = times) -> np.ndarray:
            given = {"q": start.q + s[:2], "v": start.v + s[2:], "inputs": {"q1": u}}
            run = simulate(robot, T, **given, output_step=[*times], rtol=1e-11, atol=1e-13)
            return np.hstack([run.q, run.v])

        steps = 1e-4 * np.eye(5)
        slopes = [(moved(one[:4], one[4]) - moved(-one[:4], -one[4])) / 2e-4 for one in steps]
        path = np.stack(slopes, axis=-1)  # (time, state, [s, u])
        cost = sum(0.5 * T * share * P.T @ weights @ P for share, P in zip(nodes[1], path[1:-1], strict=True))
        cost[4, 4] += 0.1 * T
        cost += path[-1].T @ S @ path[-1]
        K = cost[4:, :4] / cost[4, 4]
        S = cost[:4, :4] - cost[:4, 4:] @ K
        np.testing.assert_allclose(found.K[k], K, rtol=1e-4, atol=1e-4 * np.abs(K).max())
        np.testing.assert_allclose(found.S[k], S, rtol=1e-4, atol=1e-4 * np.abs(S).max())


def test_sampled_feedback_brings_a_pole_up_along_its_motion_and_keeps_it_there() -> None:
    robot, Q, R = library.cartpole(), {"q.x": 10.0, "q.theta": 10.0, "v.theta": 1.0}, {"x": 0.1}
    fall = simulate(robot, 1.3, q={"theta": 0.01})  # a fall backwards in time rises
    up = simulate(robot, 1.3, q=fall.q[-1], v=-fall.v[-1], output_step=0.01)
    found = lqr(robot, Q, R, along=up, sample=0.05, final=lqr(robot, Q, R, sample=0.05).S)
    disturbed = {"q": up.q[0] + [0.05, 0.1], "v": up.v[0]}
    assert abs(simulate(robot, 1.3, **disturbed)["q.theta"][-1]) > 0.5
    run = simulate(System(robot, (found.element(),)), 5.0, **disturbed)
    assert abs(run["q.theta"][0]) > 3.0
    assert abs(run.at(1.3).q[1]) < 0.02
    assert abs(run["q.theta"][run.t > 3.0]).max() < 0.01
    assert found.element().every == 0.05


def test_held_inputs_along_a_motion_are_means_and_samples_begin_with_its_run() -> None:
    robot = library.pendulum()
    path = elements.Sinusoid("path", amplitude=0.8, frequency=0.5, joints=("q1",))
    driven = System(robot, (path, elements.PD("pd", "q1", 60.0, 5.0, reference="path")))
    swing = simulate(driven, time=1.0, start=simulate(driven, 0.33), output_step=0.001)
    found = lqr(robot, {"q.q1": 100.0, "v.q1": 1.0}, 0.1, along=swing, sample=0.1)
    whole = np.array([np.trapezoid(part, dx=0.001) for part in (swing["pd"][k : k + 101] for k in range(0, 1000, 100))])
    np.testing.assert_allclose(found.u[:-1, 0], whole / 0.1, rtol=1e-6, atol=1e-6)
    part = found.element()
    assert (part.every, part.phase) == (0.1, pytest.approx(0.33))
    run = simulate(System(robot, (part,)), time=1.0, start=0.33, q=swing.q[0], v=swing.v[0], output_step=0.001)
    assert np.abs(run.q - swing.q).max() < 0.02


def test_a_run_along_which_nothing_can_be_designed_is_refused() -> None:
    robot = library.pendulum()
    run = simulate(robot, 0.1)
    with pytest.raises(UnsupportedError, match=r"lqr: q is given together with along="):
        lqr(robot, 1.0, 1.0, along=run, q=[0.0])
    with pytest.raises(UnsupportedError, match=r"samples of 'pendulum'; expected one segment of 'crane'"):
        lqr(library.crane(), 1.0, 1.0, along=run)


def test_arms_with_a_motor_in_each_joint_are_never_refused() -> None:
    """Entries of A that are errors of rounding made balancing scale a state by 4e16, and such arms were refused."""
    robot = library.puma()
    poses = [[0.0, 0.5, 0.5, 0.0, 0.0, 0.0], *np.random.default_rng(1).uniform(-1.5, 1.5, (6, 6))]
    for q in poses:
        assert kinemorph.lqr(robot, 1.0, 1.0, q=q).poles.real.max() < 0.0


def test_parameters_are_those_given_or_those_of_the_run() -> None:
    robot = library.double_pendulum()
    heavy = library.double_pendulum(masses=(1.1, 3.0))
    assert np.allclose(lqr(robot, 1.0, 1.0, p={"m2": 3.0}).K, lqr(heavy, 1.0, 1.0).K, rtol=1e-9)
    run = simulate(robot, 0.3, q=[0.5, 0.2], p={"m2": 3.0}, output_step=0.02)
    assert np.abs(lqr(robot, 1.0, 1.0, along=run).u).max() < 1e-6  # nothing moved it


def test_costs_that_may_be_negative_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"N is too large: the least eigenvalue of Q - N R\^-1 N\^T is -\d.*smaller N"):
        lqr(library.cartpole(), [10.0, 10.0, 0.5, 1.0], {"x": 0.1}, N=[[3.0], [3.0], [0.0], [0.0]])


@pytest.mark.parametrize("limited", ["feedback", "motor"])
def test_feedback_that_spends_a_run_at_its_limits_is_named_with_the_share_of_time(limited: str) -> None:
    wheel = elements.DCMotor("motor", "x", 1.0, 0.2, lead=0.3, voltage_limit=3.0 if limited == "motor" else 99.0)
    plant = System(library.cartpole(), (wheel,))
    found = lqr(plant, 1.0, {"motor": 0.1})
    part = found.element(lower=-3.0, upper=3.0) if limited == "feedback" else found.element()
    closed = System(plant.robot, (wheel, part))
    with warnings.catch_warnings():
        warnings.simplefilter("error", LimitWarning)
        simulate(closed, 3.0, q={"theta": 0.01})
    with pytest.warns(LimitWarning) as told:
        run = simulate(closed, 3.0, q={"theta": 0.6})
    share = np.mean(np.abs(run["lqr"][:-1]) >= 3.0)
    assert str(told[0].message) == (
        f"'lqr' drives 'motor' of 'cartpole' at its limits (-3 and 3 V) for {share:.0%} of the run: its gains do not "
        "act there. Begin nearer to the point or motion that it keeps, design it with larger weights R, or allow more."
    )
    assert share > 0.5
