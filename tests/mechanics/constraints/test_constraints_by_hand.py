"""Constraints phi(q) = 0 that a user writes by hand: the functions of a linkage with a loop, for the same linkage as a
tree with two rows of text; as machine code, as C and as LaTeX, and for a robot from position matrices.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kinemorph import Parameter, System, derive, elements, library, simulate, verify
from kinemorph.errors import UnsupportedError
from support.cases.c_programs import needs_cc
from support.tools.command_line import run

Q = np.array([0.6, 0.029898359855455824, 1.606690704227152])
TAU = np.array([0.3, -0.2, 0.5])
ROWS = (
    "l1 * cos(q.q1) + reach * cos(q.q1 + q.q2) - l0 - l3 * cos(q.q3)",
    "l1 * sin(q.q1) + reach * sin(q.q1 + q.q2) - l3 * sin(q.q3)",
)


@cache
def by_hand() -> System:
    """A four-bar without the hinge that closes it; its coupler has another name in the rows."""
    tree = replace(library.four_bar(), loops=())
    return System(tree, (elements.Constraint("phi", ROWS, names=("x", "z"), known={"reach": Parameter("reach", 0.9)}),))


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange", "closed_form"])
def test_the_functions_are_those_of_the_loop(formulation: str) -> None:
    loop, hand = (derive(one, formulation, backend="interpreter") for one in (library.four_bar(), by_hand()))
    a, b = (one.reduced("q1", at=Q) for one in (loop, hand))
    assert b.names == ("phi.x", "phi.z") and b.rows == b.names and b.independent == ("q1",)
    for name, given in (
        ("velocity_map", ()), ("velocity_map_rate", ([2.0],)), ("reduced_mass_matrix", ()),
        ("reduced_coriolis_matrix", ([2.0],)), ("reduced_gravity_forces", ()), ("fast_dynamics", ([2.0],)),
        ("reduced_dynamics", ([2.0], TAU)),
    ):  # fmt: skip
        wanted = getattr(a, name)(Q, *given)
        np.testing.assert_allclose(getattr(b, name)(Q, *given), wanted, rtol=1e-9, atol=1e-11, err_msg=name)
    v = a.velocity_map(Q) @ [2.0]
    np.testing.assert_allclose(hand.forward_dynamics(Q, v, TAU), loop.forward_dynamics(Q, v, TAU), rtol=1e-9)
    np.testing.assert_allclose(hand.constraint_jacobian(Q) @ v, 0.0, atol=1e-12)
    multipliers, rank = hand.constraint_forces(Q, v, TAU)
    unmet = hand.mass_matrix(Q) @ hand.forward_dynamics(Q, v, TAU) + hand.bias_forces(Q, v) - TAU
    np.testing.assert_allclose(hand.constraint_jacobian(Q).T @ multipliers, unmet, atol=1e-9)
    assert rank == 2


def test_the_fast_dynamics_close_what_is_open() -> None:
    """d phi/dt = -phi / epsilon, at any configuration."""
    q, hand = Q + np.array([0.0, 0.2, -0.1]), derive(by_hand(), backend="interpreter")
    reduction = hand.reduced("q1", at=Q, epsilon=0.02)
    v = np.array([1.5, *reduction.fast_dynamics(q, [1.5])])
    np.testing.assert_allclose(hand.constraint_jacobian(q) @ v, -hand.constraint_error(q) / 0.02, rtol=1e-10)
    np.testing.assert_allclose(reduction.closure_error(q), hand.constraint_error(q), rtol=1e-14)


def test_parameters_of_the_rows_are_inputs() -> None:
    hand = derive(by_hand(), parameters=["l1", "reach"], backend="interpreter")
    (phi_x, phi_z) = hand.constraint_error(Q, [0.4, 1.1])
    assert phi_x == pytest.approx(0.1 * np.cos(0.6) + 0.2 * np.cos(Q[0] + Q[1]), abs=1e-14)
    assert phi_z == pytest.approx(0.1 * np.sin(0.6) + 0.2 * np.sin(Q[0] + Q[1]), abs=1e-14)


def test_a_run_of_the_dynamics_keeps_the_constraints() -> None:
    options = {"q": {"q1": 0.6}, "v": {"q1": 2.0}, "rtol": 1e-10, "atol": 1e-11}
    runs = [simulate(model, 0.5, **options) for model in (derive(by_hand()), by_hand())]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-8)
    near = {"q": Q, "v": derive(library.four_bar()).reduced("q1", at=Q).velocity_map(Q) @ [2.0]}
    runs = [simulate(model, 0.5, **{**options, **near}) for model in (derive(by_hand()), library.four_bar())]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-8)


def test_every_law_holds() -> None:
    checked = verify(derive(by_hand(), backend="interpreter"), states=1, formulations=["lagrange"])
    assert checked, str(checked)


@needs_cc
def test_the_code_in_c_is_that_of_the_interpreter() -> None:
    in_c, plain = (derive(by_hand(), backend=backend) for backend in ("c", "interpreter"))  # type: ignore[arg-type]
    a, b = (one.reduced("q1", at=Q).perturbed_dynamics(Q, [2.0], TAU) for one in (in_c, plain))
    np.testing.assert_allclose(a[0], b[0], rtol=1e-12)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-12)


def test_the_command_line_writes_functions_of_matrices_with_rows_by_hand(tmp_path: Path) -> None:
    (tmp_path / "bar.toml").write_text("""
kinemorph = 1
name = "bar"

[parameters]
reach = 2.0

[coordinates]
turn = { value = 0.5 }
slide = { value = 1.0, unit = "m" }

[bodies]
crank = { mass = 1.0, inertia = [0.1, 0.1, 0.1], position = "Trotz(turn) * Tdisp(0.5, 0, 0)" }
block = { mass = 2.0, inertia = [0.1, 0.1, 0.1], position = "Tdisp(slide, 0, 0)" }

[elements.phi]
kind = "constraint"
rows = "(q.slide - cos(q.turn))**2 + sin(q.turn)**2 - reach**2"
""")
    place = str(tmp_path / "bar.toml")
    written = run("derive", place, "--function", "constraint_jacobian", "--emit", "latex")
    assert r"\sin q_{1}" in written.stdout and "reach" not in written.stdout.partition("aligned")[2]
    written = run("derive", place, "--function", "reduced_dynamics", "--function", "fast_dynamics", "--emit", "c",
                  "--independent", "turn", "--at", "0.5,2.8")  # fmt: skip
    assert "void bar_reduced_dynamics(" in written.stdout and "void bar_fast_dynamics(" in written.stdout
    said = " ".join(run("derive", place).stderr.split())
    assert "has 1 constraint: M, h and inverse dynamics describe the tree without these constraints" in said


@pytest.mark.parametrize(
    "element",
    [
        elements.Constraint("phi", "q.q1 - 0.3 * t"),
        elements.Constraint("phi", lambda t, q: q[0] - 0.3 * t),
        elements.VelocityConstraint("phi", "v.q1 + v.q2"),
    ],
    ids=["time", "time in Python", "velocities"],
)
def test_other_constraints_are_refused_with_what_they_need(element: elements.Constraint) -> None:
    dynamics = derive(System(by_hand().robot, (element,)))
    with pytest.raises(UnsupportedError) as told:
        dynamics.reduced()
    assert str(told.value) == (
        "reduced: robot 'four_bar' is an open tree without constraints. Use this function for robots with closed "
        "chains or coupled joints, or for a System with elements whose constraints read only coordinates; other "
        "constraints hold in runs."
    )
    assert dynamics.constraints == ()


def test_the_wrenches_through_joints_leave_out_rows_without_a_place() -> None:
    hand, tree = derive(by_hand()), derive(by_hand().robot)
    a = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(hand.joint_wrenches(Q, a, a), tree.joint_wrenches(Q, a, a))
    with pytest.raises(UnsupportedError, match="multiplier_wrenches: robot 'four_bar' is an open tree"):
        _ = hand.multiplier_wrenches
