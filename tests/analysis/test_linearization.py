"""linearize() gives exact derivatives about any state, in names and shapes that say what they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph.analysis.small_motions import linearize as linearize_module
from kinemorph.analysis.small_motions.linearize import linearize, second_order_matrices
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.deriving.dynamics import derive
from kinemorph.elements import Encoder
from kinemorph.errors import KinemorphError, MissingExtraError, ModelError, ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.system import System
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from support.robots.random_robots import random_body, random_robot, random_states

MOTOR = {
    "forces": lambda t, q, v, x, u: [x[0] - 0.1 * v[0] * v[1], u[1] * q[0] - 2.0 * q[1] + t],
    "states": {"torque": "N m"},
    "state_rates": lambda q, v, x, u: [5.0 * (u[0] - x[0] * x[0]) - v[0] + 0.3 * q[1]],
    "inputs": {"volts": "V", "gain": ""},
}


def exact_by_rate(system: Plant, at: object) -> tuple[np.ndarray, np.ndarray]:
    """A and B from the graph of the rate: another way to the same derivatives."""
    A, B = build(jacobian(system.rate, "out", ("s", "u")))(*at.inputs)  # type: ignore[attr-defined]
    return A, B


@pytest.mark.parametrize("seed", [5, 7])
def test_random_trees_agree_with_the_derivatives_of_forward_dynamics(seed: int) -> None:
    robot = random_robot(seed, most=9)
    (q,), (v,), _, (tau,) = random_states(robot, seed, 1)
    found = linearize(robot, q, v, u=tau)
    nv = robot.nv
    dq, dv, dtau = derive(robot, backend="interpreter").forward_dynamics_derivatives(q, v, tau)
    scale = max(np.abs(matrix).max() for matrix in (dq, dv, dtau))
    damping = np.array([float(d) for joint in robot.joints for d in joint.damping])
    np.testing.assert_allclose(found.A[nv:, :nv], dq, atol=1e-11 * scale)
    np.testing.assert_allclose(found.A[nv:, nv:], dv - dtau * damping, atol=1e-11 * scale)
    np.testing.assert_allclose(found.B[nv:], dtau, atol=1e-11 * scale)
    np.testing.assert_array_equal(found.A[:nv, nv:], np.eye(nv))


@pytest.mark.parametrize("seed", [2, 9])  # a free base, a ball joint: their charts move as well
def test_every_joint_kind_agrees_with_the_graph_of_the_rate(seed: int) -> None:
    robot = random_robot(seed, most=9)
    (q,), (v,), _, (tau,) = random_states(robot, seed, 1)
    found = linearize(robot, q, v, u=tau)
    A, B = exact_by_rate(found.plant, found.point)
    scale = np.abs(A).max()
    np.testing.assert_allclose(found.A, A, atol=1e-11 * scale)
    np.testing.assert_allclose(found.B, B, atol=1e-11 * np.abs(B).max())
    np.testing.assert_allclose(found.drift, build(found.plant.rate)(*found.point.inputs), atol=1e-10 * scale)


def test_forces_states_and_inputs_of_ones_own() -> None:
    system = plant(library.double_pendulum(), outputs={"tip": lambda q, u: q[0] + 2.0 * q[1] * u[0]}, **MOTOR)
    found = linearize(system, [0.3, -0.7], [1.0, 0.4], [0.2], [1.5, -0.5], t=0.3)
    A, B = exact_by_rate(system, found.point)
    np.testing.assert_allclose(found.A, A, atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(found.B, B, atol=1e-12 * np.abs(B).max())
    np.testing.assert_allclose(found.C, [[1.0, 3.0, 0.0, 0.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(found.D, [[-1.4, 0.0]], atol=1e-15)
    assert found.state_names == ("w.q1", "w.q2", "v.q1", "v.q2", "torque")
    assert (found.input_names, found.output_names) == (("volts", "gain"), ("tip",))
    assert found.second_order is None
    assert not found.at_rest


def test_central_differences_of_the_rate_on_a_ball_joint() -> None:
    builder = RobotBuilder("ball").add(
        random_body(np.random.default_rng(1), "a"), random_body(np.random.default_rng(2), "b")
    )
    builder.joint("ball", "spherical", "world", "a").joint("slide", "planar", "a", "b", translation=(0.1, 0.2, 0.3))
    robot = builder.build()
    (q,), (v,), _, (tau,) = random_states(robot, 6, 1)
    found = linearize(robot, q, v, u=tau)
    rate, (t, base, s, m, u, p) = build(found.plant.rate), found.point.inputs
    h, columns = 1e-4, []
    for unit in np.eye(len(s)):
        near, far = (
            (rate(t, base, s + k * h * unit, m, u, p) - rate(t, base, s - k * h * unit, m, u, p)) for k in (1, 2)
        )
        columns.append((8.0 * near - far) / (12.0 * h))
    np.testing.assert_allclose(found.A, np.array(columns).T, atol=1e-8 * np.abs(found.A).max())


def test_crane_about_rest_has_the_textbook_matrices() -> None:
    found = linearize(library.crane(cart=2.0, load=1.0, length=0.5), outputs=["w.x"])
    g, M, m, l = 9.81, 2.0, 1.0, 0.5
    np.testing.assert_allclose(found.A[2:, :2], [[0.0, m * g / M], [0.0, -(M + m) * g / (M * l)]], atol=1e-13)
    np.testing.assert_allclose(found.B[2:, 0], [1.0 / M, -1.0 / (M * l)], atol=1e-14)
    np.testing.assert_array_equal(found.C, [[1.0, 0.0, 0.0, 0.0]])
    assert found.at_rest


def test_a_locked_joint_drops_out_of_the_minimal_form() -> None:
    found = linearize(library.crane(), q=[0.0, 0.3], locked="x", outputs=["w.theta"])
    free = linearize(library.pendulum(), q=[0.3])
    A, B, C, _ = found.minimal()
    np.testing.assert_allclose(A, free.A, atol=1e-13)
    np.testing.assert_allclose(B[:, 1:], free.B, atol=1e-13)
    np.testing.assert_array_equal(C, [[1.0, 0.0]])
    assert not found.A[2].any()


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_loops_leave_one_degree_of_freedom_of_the_four_bar(speed: float) -> None:
    robot = library.four_bar()
    dynamics = derive(robot, backend="interpreter")

    def closed(angle: float) -> np.ndarray:
        q = np.array([angle, 0.02989836, 1.6066907])
        for _ in range(20):
            q[1:] -= np.linalg.pinv(dynamics.constraint_jacobian(q)[:, 1:]) @ dynamics.constraint_error(q)
        return q

    q = closed(0.6)
    Z = np.linalg.svd(dynamics.constraint_jacobian(q))[2][-1]
    found = linearize(robot, q, speed * Z)
    A, B, _, _ = found.minimal()
    assert A.shape == (2, 2)
    assert B.shape == (2, 3)
    assert abs(Z @ found.basis[:3, 0]) == pytest.approx(1.0)

    def at(angle: float, speed: float) -> tuple[float, float]:
        """(y, acceleration along Z) of the assembled linkage whose velocity along Z is `speed`."""
        q_near = closed(angle)
        J = dynamics.constraint_jacobian(q_near)
        v = np.linalg.lstsq(np.vstack([J, Z]), np.append(np.zeros(len(J)), speed), rcond=1e-12)[0]
        return float(Z @ (q_near - q)), float(Z @ dynamics.forward_dynamics(q_near, v, np.zeros(3)))

    h = 1e-4
    (far, a_far), (near, a_near) = at(0.6 + h, speed), at(0.6 - h, speed)
    assert A[1, 0] == pytest.approx((a_far - a_near) / (far - near), rel=1e-6)
    assert A[1, 1] == pytest.approx((at(0.6, speed + h)[1] - at(0.6, speed - h)[1]) / (2.0 * h), rel=1e-6, abs=1e-6)


def test_linear_equations_come_back_as_they_are() -> None:
    A, B = np.array([[0.0, 1.0], [-4.0, -0.5]]), np.array([[0.0], [2.0]])
    system = first_order(
        lambda x, u: [x[1], -4.0 * x[0] - 0.5 * x[1] + 2.0 * u[0]],
        {"x": "m", "y": "m/s"},
        inputs={"f": "N"},
        outputs={"sum": lambda x, u: x[0] + x[1] + 3.0 * u[0]},
    )
    found = linearize(system, x=[0.3, 0.1], u=[0.7])
    np.testing.assert_array_equal(found.A, A)
    np.testing.assert_array_equal(found.B, B)
    np.testing.assert_array_equal(found.C, [[1.0, 1.0]])
    np.testing.assert_array_equal(found.D, [[3.0]])
    np.testing.assert_allclose(found.drift, A @ [0.3, 0.1] + B @ [0.7])
    space = found.to_scipy()
    np.testing.assert_array_equal(space.A, A)
    assert space.outputs == 1


def test_matrices_are_printed_with_names_and_units() -> None:
    found = linearize(library.crane(), outputs=["w.x"])
    text = str(found)
    assert text.splitlines()[:2] == ["Linearization of crane", "At an equilibrium: 4 states, 2 inputs, 1 output."]
    rows = {line.split(" [")[0].strip(): line.split() for line in text.splitlines()}
    assert rows["v.theta"][-2:] == ["-0.5", "1.5"]  # B
    assert [line.split() for line in text.split("\nC\n")[1].splitlines() if line.strip("-")] == [
        ["w.x", "[m]", "w.theta", "[rad]", "v.x", "[m/s]", "v.theta", "[rad/s]"],
        ["w.x", "[m]", "1", "0", "0", "0"],
        ["D"],
        ["x", "[N]", "theta", "[N", "m]"],
        ["w.x", "[m]", "0", "0"],
    ]
    assert "w.theta [rad]" in found._repr_html_() and "4 states, 2 inputs, 1 output." in found._repr_html_()
    large = str(linearize(library.chain(10)))
    assert "20 rows, 20 columns; the first 16 and 10 are shown." in large
    assert max(map(len, large.splitlines())) < 180
    assert "At a state that is not an equilibrium" in str(linearize(library.crane(), q=[0.0, 0.3]))
    assert "0 outputs." in str(linearize(library.crane(), outputs=()))


def test_states_of_other_libraries_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """FINDINGS D6."""
    found = linearize(library.four_bar(), kinemorph.equilibrium(library.four_bar()).q)
    assert found.minimal_names == ("y1", "y2")
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingExtraError, match=r"'control' is not installed. Run: pip install control"):
        found.to_control()


def test_second_order_matrices_and_their_files(tmp_path: Path) -> None:
    found = second_order_matrices(
        library.double_pendulum(), q=[0.2, 0.1], forces=lambda q, v: [-3.0 * q[0] - 0.2 * v[0], -0.1 * v[1]]
    )
    np.testing.assert_allclose(found.M, derive(library.double_pendulum()).mass_matrix([0.2, 0.1]), atol=1e-14)
    np.testing.assert_allclose(found.C, np.diag([0.2, 0.1]), atol=1e-15)
    np.testing.assert_array_equal(found.F, np.eye(2))
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-13)  # at the accelerations that the equations give
    free = second_order_matrices(library.double_pendulum(), q=[0.2, 0.1], a=[0.0, 0.0])
    static = second_order_matrices(
        library.double_pendulum(), q=[0.2, 0.1], a=[0.0, 0.0], forces=lambda q: [-3.0 * q[0], 0.0 * q[1]]
    )
    np.testing.assert_allclose(static.K - free.K, np.diag([3.0, 0.0]), atol=1e-14)
    paths = found.save(tmp_path / "pendulum")
    assert [path.suffix for path in paths] == [".mm", ".cc", ".kk", ".ff"]
    for path, matrix in zip(paths, (found.M, found.C, found.K, found.F), strict=True):
        np.testing.assert_array_equal(np.loadtxt(path), matrix)
    with pytest.raises(KinemorphError, match="cannot be written"):
        found.save(tmp_path / "nowhere" / "pendulum")


def test_rows_without_acceleration_have_a_second_order_form_only() -> None:
    system = second_order(
        lambda q, v, a, u: [2.0 * a[0] + v[0] + 4.0 * q[0] - q[1], v[1] + 7.0 * q[1] - u[0]],
        {"x": "m", "pressure": "Pa"},
        inputs={"flow": "m^3/s"},
    )
    found = second_order_matrices(system)
    np.testing.assert_array_equal(found.M, [[2.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(found.C, [[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(found.K, [[4.0, -1.0], [0.0, 7.0]])
    np.testing.assert_array_equal(found.F, [[0.0], [1.0]])
    with pytest.raises(UnsupportedError, match="mass matrix is singular"):
        linearize(system)


def test_bad_input_is_told_in_a_sentence() -> None:
    pendulum = plant(library.pendulum())
    with pytest.raises(ShapeError, match=r"q has shape \(2,\); expected \(1,\)"):
        linearize(pendulum, q=[0.0, 1.0])
    with pytest.raises(ShapeError, match="'q1' is nan; expected a finite number"):
        linearize(pendulum, v=[np.nan])
    with pytest.raises(ShapeError, match=r"no velocity 'q2'; expected one of 'q1'"):
        linearize(pendulum, v={"q2": 1.0})
    with pytest.raises(ShapeError, match=r"no state or output 'w.q2'.*Did you mean 'w.q1'"):
        linearize(pendulum, outputs=["w.q2"])
    with pytest.raises(ShapeError, match="returns 2 numbers; expected one"):
        linearize(pendulum, outputs={"both": lambda q, v: [q[0], v[0]]})
    with pytest.raises(UnsupportedError, match="t is nan s"):
        linearize(pendulum, t=np.nan)
    with pytest.raises(ModelError, match="model is 'pendulum'; expected a Robot, a System, a Dynamics or"):
        linearize("pendulum")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"has no second-order form. Use linearize"):
        second_order_matrices(first_order(lambda x: [x[0]], {"x": ""}))
    with pytest.raises(UnsupportedError, match="its velocities depend on each other"):
        second_order_matrices(library.four_bar())


def test_outputs_of_a_plant_are_differentiated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own outputs are kept with the plant; laws of a call are differentiated in every call."""
    model = plant(System(library.pendulum(), (Encoder("encoder", "q1"),)))
    assert model.outputs
    first = linearize(model)
    made: list[str] = []

    def counted(program: Program, *others: Any) -> Program:
        made.append(program.name)
        return jacobian(program, *others)

    monkeypatch.setattr(linearize_module, "jacobian", counted)
    again = linearize(model, q=[0.3])
    assert not made and pytest.approx(first.C) == again.C
    assert linearize(model, outputs={"twice": lambda q: 2.0 * q[0]}).C[0, 0] == pytest.approx(2.0)
    assert linearize(model, outputs={"twice": lambda q: 3.0 * q[0]}).C[0, 0] == pytest.approx(3.0)
    assert len(made) == 2
