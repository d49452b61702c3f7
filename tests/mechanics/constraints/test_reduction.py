"""Closed chains in independent velocities: the CKC paper's functions, with its errata, against constrained dynamics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kinemorph.algebra.linear import solve_regular
from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.codegen.backends.text.python import export_python
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.function_names import REDUCED_FUNCTIONS
from kinemorph.deriving.reduction import Reduction
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot
from support.robots.loop_robots import CLOSED, FIVE_BAR_START, closed_state, five_bar, looped
from support.tools.each_case import each_case

Array = np.ndarray
ROBOTS: dict[str, Callable[[], Robot]] = {
    "four_bar": library.four_bar,
    "five_bar": five_bar,
    "ball": lambda: looped("spherical", 4, long=True),
    "hinge": lambda: looped("revolute", 4, free=True, long=True),
    "universal, coupled": lambda: looped("universal", 4, couple=True, long=True),
}
STARTS = {"four_bar": tuple(CLOSED), "five_bar": FIVE_BAR_START}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "ball" else name for name in ROBOTS]
)
def test_reduced_dynamics_are_those_of_the_closed_robot(name: str) -> None:
    robot = ROBOTS[name]()
    d = derive(robot, backend="interpreter")
    q, v = closed_state(robot, 1, STARTS.get(name))
    r = d.reduced(at=q)
    J = d.constraint_jacobian(q)
    assert len(r.dependent) == np.linalg.matrix_rank(J, 1e-9) == len(r.rows)
    rho, v_q = r.velocity_map(q), v[list(r.parts.independent)]
    scale = np.abs(v).max()
    np.testing.assert_allclose(J @ rho, 0.0, atol=1e-10)
    np.testing.assert_allclose(rho @ v_q, v, atol=1e-9 * scale)
    tau = np.linspace(-2.0, 3.0, robot.nv)
    a = d.forward_dynamics(q, v, tau)
    H, C, g, B = (
        r.reduced_mass_matrix(q),
        r.reduced_coriolis_matrix(q, v_q),
        r.reduced_gravity_forces(q),
        r.input_map(q),
    )
    expected = a[list(r.parts.independent)]
    size = np.abs(a).max()
    np.testing.assert_allclose(r.reduced_dynamics(q, v_q, tau), expected, atol=1e-9 * size)
    np.testing.assert_allclose(np.linalg.solve(H, B @ tau - C @ v_q - g), expected, atol=1e-9 * size)
    np.testing.assert_allclose(rho @ expected + r.velocity_map_rate(q, v_q) @ v_q, a, atol=1e-9 * size)
    # where loops are closed the fast dynamics are those of rho, whatever epsilon is
    np.testing.assert_allclose(r.fast_dynamics(q, v_q), v[list(r.parts.dependent)], atol=1e-7 * scale)
    full, a_q = r.perturbed_dynamics(q, v_q, tau)
    np.testing.assert_allclose(full, v, atol=1e-7 * scale)
    assert np.array_equal(a_q, r.reduced_dynamics(q, v_q, tau))


@pytest.mark.parametrize("name", ["five_bar", pytest.param("hinge", marks=pytest.mark.slow)])
def test_rates_are_derivatives_and_the_coriolis_matrix_is_skew(name: str) -> None:
    robot = ROBOTS[name]()
    d = derive(robot, backend="interpreter")
    q, v = closed_state(robot, 2, STARTS.get(name))
    r = d.reduced(at=q)
    v_q, h = v[list(r.parts.independent)], 1e-5
    ahead, behind = (integrate(robot, q, sign * h * v) for sign in (1.0, -1.0))
    slope = (r.velocity_map(ahead) - r.velocity_map(behind)) / (2.0 * h)
    np.testing.assert_allclose(r.velocity_map_rate(q, v_q), slope, atol=1e-6 * max(1.0, np.abs(slope).max()))
    H_rate = (r.reduced_mass_matrix(ahead) - r.reduced_mass_matrix(behind)) / (2.0 * h)
    skew = H_rate - 2.0 * r.reduced_coriolis_matrix(q, v_q)
    np.testing.assert_allclose(skew, -skew.T, atol=1e-6 * max(1.0, np.abs(H_rate).max()))
    J_q, J_z = r.independent_jacobian(q), r.dependent_jacobian(q)
    np.testing.assert_allclose(J_z @ r.velocity_map(q)[list(r.parts.dependent)], -J_q, atol=1e-9)
    stacked = np.linalg.solve(r.stacked_jacobian(q), np.vstack([np.zeros_like(J_q), np.eye(len(v_q))]))
    np.testing.assert_allclose(stacked, r.velocity_map(q), atol=1e-9)
    assert r.condition(q) == pytest.approx(np.linalg.cond(J_z))


# ── the four-bar of the paper ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def four_bar() -> Reduction:
    d = derive(library.four_bar())
    return d.reduced("q1", actuated="q1", at=CLOSED)


def marched(rate: Callable[[float, Array], Array], y: Array, until: float, h: float) -> Array:
    """Runge-Kutta of order 4."""
    for k in range(round(until / h)):
        t = k * h
        k1 = rate(t, y)
        k2 = rate(t + 0.5 * h, y + 0.5 * h * k1)
        k3 = rate(t + 0.5 * h, y + 0.5 * h * k2)
        k4 = rate(t + h, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def rates(r: Reduction, sign: float = -1.0) -> Callable[[float, Array], Array]:
    """d(q, v_q)/dt by equation 8, tau = 0.5 sin 2t; `sign` of C v_q: -1 is right, +1 as printed."""

    def rate(t: float, y: Array) -> Array:
        tau = np.array([0.5 * np.sin(2.0 * t)])
        v, a = r.perturbed_dynamics(y[:3], y[3:], tau)
        if sign > 0.0:  # a = H^-1 (-C v - g + B tau): at rest without C v
            a = 2.0 * r.perturbed_dynamics(y[:3], 0.0 * y[3:], tau)[1] - a
        return np.concatenate([v, a])

    return rate


def test_the_four_bar_ends_where_the_reference_does(four_bar: Reduction) -> None:
    """State of the test data after 2 s, by an index-1 reference; the printed sign of C (E003-5) is far off."""
    end = marched(rates(four_bar), np.array([*four_bar.at, 0.0]), 2.0, 5e-4)
    assert end[0] == pytest.approx(-2.62546008, abs=1e-8)
    assert end[3] == pytest.approx(-15.88372404, abs=2e-7)
    assert np.abs(four_bar.closure_error(end[:3])).max() < 1e-9
    printed = marched(rates(four_bar, +1.0), np.array([*four_bar.at, 0.0]), 2.0, 1e-3)
    assert abs(printed[0] - end[0]) == pytest.approx(0.59, abs=0.01)


def test_open_loops_close_exponentially(four_bar: Reduction) -> None:
    """From an inconsistent start phi falls by e^-2 in every 2 epsilon (E003-7); with the printed sign it would grow."""
    start = np.array([*four_bar.at, 0.0]) + np.array([0.0, 0.02, -0.03, 0.0])
    phi = four_bar.closure_error(start[:3])
    for spans in (1, 2, 3):
        end = marched(rates(four_bar), start, spans * 2.0 * four_bar.epsilon, 1e-4)
        np.testing.assert_allclose(four_bar.closure_error(end[:3]), phi * np.exp(-2.0 * spans), rtol=1e-6)


def test_exported_source_gives_the_same_numbers(four_bar: Reduction) -> None:
    functions = [four_bar.fast_dynamics, four_bar.perturbed_dynamics]
    (text,) = export_python([function.program for function in functions], "leg").values()
    module: dict[str, Callable[..., Array]] = {}
    exec(text, module)
    rng = np.random.default_rng(0)
    q, v_q, tau = four_bar.at + 0.1 * rng.normal(size=(5, 3)), rng.normal(size=(5, 1)), rng.normal(size=(5, 1))
    np.testing.assert_allclose(module["fast_dynamics"](q, v_q), four_bar.fast_dynamics(q, v_q), rtol=1e-12)
    for ours, theirs in zip(
        four_bar.perturbed_dynamics(q, v_q, tau), module["perturbed_dynamics"](q, v_q, tau), strict=True
    ):
        np.testing.assert_allclose(theirs, ours, rtol=1e-11)


# ── the choice ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_choice_is_well_conditioned_and_spares_what_is_driven() -> None:
    d = derive(library.four_bar(), backend="interpreter")
    q = close_loops(d, CLOSED).q
    assert d.reduced(at=q).condition(q) < 3.0 < d.reduced("q3", at=q).condition(q)
    assert d.reduced(actuated="q1", at=q).independent == ("q1",)
    legs = derive(five_bar(), backend="interpreter").reduced(actuated=("l1", "r1"), at=FIVE_BAR_START)
    assert legs.independent == ("l1", "r1") and legs.dependent == ("l2", "r2")
    assert legs.rows == ("tip.point.x", "tip.point.y")
    assert set(REDUCED_FUNCTIONS) <= {name for name in dir(Reduction) if not name.startswith("_")}


def test_what_cannot_be_chosen_is_said() -> None:
    d = derive(library.four_bar(), backend="interpreter")
    with pytest.raises(ModelError, match=r"reduced: independent: robot 'four_bar' has no joint 'q4'"):
        d.reduced("q4", at=CLOSED)
    with pytest.raises(UnsupportedError, match=r"2 independent velocities are named \(q1, q2\).* has 1 here"):
        d.reduced(("q1", "q2"), at=CLOSED)
    with pytest.raises(ModelError, match="'q1' is named twice"):
        d.reduced(("q1", "q1"), at=CLOSED)
    with pytest.raises(UnsupportedError, match="epsilon is 0"):
        d.reduced("q1", at=CLOSED, epsilon=0.0)
    with pytest.raises(UnsupportedError, match=r"`at` has shape \(2,\)"):
        d.reduced("q1", at=[0.0, 0.0])
    with pytest.raises(UnsupportedError, match="open tree"):
        derive(library.pendulum(), backend="interpreter").reduced()
    with pytest.raises(UnsupportedError, match="do not close near the neutral"):
        derive(library.four_bar(5.0), backend="interpreter").reduced()


def test_a_dead_point_names_the_joints_and_the_condition() -> None:
    """Crank and coupler in line: the rocker cannot drive them."""
    d = derive(library.four_bar(), backend="interpreter")
    angle = np.arccos((1.2**2 + 1.0 - 0.7**2) / (2.0 * 1.2))
    at = close_loops(d, [angle, 0.0, np.pi - np.arccos((0.7**2 + 1.0 - 1.2**2) / 1.4)]).q
    assert abs(at[1]) < 1e-6
    with pytest.raises(UnsupportedError, match=r"with q3 independent.* do not determine q1, q2 .*cond\(J_z\) is"):
        d.reduced("q3", at=[angle, 0.0, at[2]])
    assert d.reduced("q1", at=at).condition(at) < 10.0


# ── linear systems ────────────────────────────────────────────────────────────────────────────────────────────────────


@each_case("seed", range(12))
def test_regular_systems_are_solved_block_by_block(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    A = np.where(rng.random((n, n)) < 0.4, rng.normal(size=(n, n)), 0.0)
    A = rng.permutation(A + np.diag(rng.uniform(1.0, 2.0, n)))  # no zero on some diagonal
    B = rng.normal(size=(n, 2))
    if np.linalg.cond(A) < 1e6:
        np.testing.assert_allclose(solve_regular(A.tolist(), B.tolist()), np.linalg.solve(A, B), atol=1e-9)
