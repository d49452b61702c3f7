"""Inverse dynamics with actuators: forces that give an acceleration, the least of them, and what they cannot give."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model import library
from support.robots.loop_robots import CLOSED, FIVE_BAR_START, closed_state, five_bar, looped

Array = np.ndarray


def spread(names: tuple[str, ...], chosen: tuple[str, ...], tau: Array) -> Array:
    """Forces at all velocities."""
    full = np.zeros(len(names))
    full[[names.index(name) for name in chosen]] = tau
    return full


@pytest.mark.parametrize("chosen", [("l1", "r1"), ("l1", "l2", "r1"), ("l1", "l2", "r1", "r2")])
@pytest.mark.parametrize("weights", [None, (1.0, 4.0, 0.5, 2.0)])
def test_the_five_bar_is_driven_by_the_least_forces(chosen: tuple[str, ...], weights: tuple[float, ...] | None) -> None:
    robot = five_bar()
    d = derive(robot, backend="interpreter")
    q, v = closed_state(robot, 1, FIVE_BAR_START)
    a = d.forward_dynamics(q, v, np.array([3.0, 1.0, -2.0, 0.7]))
    w = None if weights is None else weights[: len(chosen)]
    tau, residual, rank = d.actuation(chosen, w, at=q)(q, v, a)
    size = np.abs(a).max()
    assert rank == 2 and np.abs(residual).max() < 1e-11 * size
    np.testing.assert_allclose(d.forward_dynamics(q, v, spread(robot.v_names, chosen, tau)), a, atol=1e-11 * size)
    # by the motions that the loop leaves: Z^T S tau = Z^T (M a + h), least in the weighted norm
    Z = np.linalg.svd(d.constraint_jacobian(q))[2][2:].T
    S = np.eye(4)[:, [robot.v_names.index(name) for name in chosen]]
    easy = np.diag(np.ones(len(chosen)) if w is None else 1.0 / np.sqrt(w))
    needed = Z.T @ d.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, easy @ np.linalg.pinv(Z.T @ S @ easy) @ needed, atol=1e-10 * np.abs(tau).max())


def test_a_spatial_loop_with_wrenches_is_driven() -> None:
    robot = looped("revolute", 4, couple=True, long=True)
    d = derive(robot, wrenches="a2", backend="interpreter")
    q, v = closed_state(robot, 1)
    push = np.array([[3.0, -1.0, 2.0, 0.4, 0.1, 0.2]])
    a = d.forward_dynamics(q, v, np.linspace(-2.0, 2.0, robot.nv), push)
    tau, residual, rank = d.actuation(["rail", "ja0", "ja1"], at=q)(q, v, a, push)
    assert rank == 3 and tau.shape == (4,) and np.abs(residual).max() < 1e-9 * np.abs(a).max()
    found = d.forward_dynamics(q, v, spread(robot.v_names, ("rail", "ja0", "ja1.first", "ja1.second"), tau), push)
    np.testing.assert_allclose(found, a, atol=1e-9 * np.abs(a).max())


def test_what_actuators_cannot_give_is_left_over() -> None:
    """An acceleration that opens the loop: the nearest that is possible is given, and the residual tells the rest."""
    d = derive(library.four_bar(), backend="interpreter")
    drive = d.actuation("q1", at=CLOSED)
    wanted = np.array([1.0, 2.0, 3.0])
    tau, residual, _ = drive(CLOSED, np.zeros(3), wanted)
    reached = d.forward_dynamics(CLOSED, np.zeros(3), [tau[0], 0.0, 0.0])
    np.testing.assert_allclose(wanted - residual, reached, atol=1e-12)
    # no error with less energy: it is orthogonal to the free motion, in the measure of M
    Z = np.linalg.svd(d.constraint_jacobian(CLOSED))[2][2:].T
    assert np.abs(residual).max() > 0.1 and np.abs(Z.T @ d.mass_matrix(CLOSED) @ residual).max() < 1e-12


def test_open_trees_have_it_too() -> None:
    d = derive(library.double_pendulum(), backend="interpreter")
    q, v, a = np.array([0.3, -0.2]), np.array([0.5, 0.1]), np.array([1.0, -2.0])
    tau, residual, rank = d.actuation(d.robot.v_names)(q, v, a)
    np.testing.assert_allclose(tau, d.inverse_dynamics(q, v, a), rtol=1e-11)
    assert rank == 2 and np.abs(residual).max() < 1e-12
    with pytest.raises(UnsupportedError, match="cannot drive robot"):
        d.actuation(d.robot.v_names[0])


def test_wrong_actuators_are_named() -> None:
    d = derive(five_bar(), backend="interpreter")
    with pytest.raises(UnsupportedError, match=r"forces at l1 cannot drive robot 'five_bar': none of them .* r1 [+-]"):
        d.actuation("l1")
    with pytest.raises(ModelError, match=r"actuation: robot 'five_bar' has no joint 'l3'"):
        d.actuation(["l1", "l3"])
    with pytest.raises(ModelError, match="no joint is named"):
        d.actuation([])
    with pytest.raises(ShapeError, match="expected one finite number above 0 for each of the 2 actuators l1, r1"):
        d.actuation(["l1", "r1"], [1.0, -1.0])
