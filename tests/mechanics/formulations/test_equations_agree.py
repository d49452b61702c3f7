"""Every joint kind, alone and between others: all ways to the equations of motion agree, and the laws behind them hold.

    inverse dynamics (RNEA) = M a + h = the inverse of forward dynamics (ABA)
    = Lagrange, from the energies alone = the stacked closed form = d'Alembert, from the positions alone
    Mdot - 2 C is skew,  h = C v + g,  d/dt (T + V) = v . tau

Rates are exact: dual numbers, no differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.deriving.dynamics import derive
from kinemorph.errors import UnsupportedError
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.recursions import articulated_bodies, composite_bodies, newton_euler
from kinemorph.mechanics.recursions.coriolis import coriolis_matrix
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.recursions.momentum import kinetic_energy, potential_energy
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.robot import Robot
from support.references.exact_rates import numbers, rate_along
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind
from support.tools.each_case import each_case

TOLERANCE = 1e-11
FORMS: dict[str, Callable[[Tree], Tree]] = {
    "written": lambda tree: tree,
    "prepared": lambda tree: regroup(reframe(tree)),
}


def differ(x: Any, y: Any) -> float:
    """max|x - y| / max|y|."""
    x, y = numbers(x), numbers(y)
    return float(np.abs(x - y).max() / np.abs(y).max())


@pytest.fixture(params=[(kind, chained) for kind in KINDS for chained in (False, True)], ids=lambda p: f"{p[0]}-{p[1]}")
def robot(request: pytest.FixtureRequest) -> Robot:
    kind, chained = request.param
    return robot_of_kind(kind, chained=chained)


def state(robot: Robot, seed: int = 3) -> tuple[list[float], ...]:
    return tuple(part[0].tolist() for part in random_states(robot, seed, 1))


@each_case("form", FORMS)
def test_all_ways_to_the_equations_agree(robot: Robot, form: str) -> None:
    written = resolve(robot)
    tree = FORMS[form](written)
    q, v, a, _ = state(robot)
    tau = newton_euler.inverse_dynamics(tree, q, v, a)
    M, h = numbers(composite_bodies.mass_matrix(tree, q)), numbers(newton_euler.bias_forces(tree, q, v))
    assert differ(M @ a + h, tau) < TOLERANCE
    assert differ(articulated_bodies.forward_dynamics(tree, q, v, tau), a) < TOLERANCE
    for name in ("lagrange", "closed_form", "dalembert", "incidence"):
        row = FORMULATIONS[name]
        own = tree if name in ("closed_form", "incidence") else written  # the others need the bodies as written
        assert differ(row.inverse_dynamics(own, q, v, a), tau) < TOLERANCE, name
        assert differ(row.mass_matrix(own, q), M) < TOLERANCE, name
        assert differ(row.bias_forces(own, q, v), h) < TOLERANCE, name
        assert differ(row.forward_dynamics(own, q, v, tau), a) < TOLERANCE, name


def test_the_derived_formulations_agree(robot: Robot) -> None:
    one, other = (derive(robot, name, backend="interpreter") for name in ("newton_euler", "lagrange"))
    q, v, a, tau = random_states(robot, 4, 2)
    assert differ(one.mass_matrix(q), other.mass_matrix(q)) < TOLERANCE
    assert differ(one.bias_forces(q, v), other.bias_forces(q, v)) < TOLERANCE
    assert differ(one.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a)) < TOLERANCE
    assert differ(one.forward_dynamics(q, v, tau), other.forward_dynamics(q, v, tau)) < TOLERANCE


@each_case("form", FORMS)
def test_mass_rate_less_twice_coriolis_is_skew(robot: Robot, form: str) -> None:
    tree = FORMS[form](resolve(robot))
    q, v, _, _ = state(robot)
    Mdot = rate_along(lambda x: composite_bodies.mass_matrix(tree, x), (q, configuration_rate(tree, q, v)))
    C = numbers(coriolis_matrix(tree, q, v))
    N = Mdot - 2.0 * C
    scale = max(np.abs(C).max(), 1e-3)  # a single slider has no Coriolis force at all
    assert np.abs(N + N.T).max() < TOLERANCE * scale
    bias, g = numbers(newton_euler.bias_forces(tree, q, v)), numbers(newton_euler.gravity_forces(tree, q))
    assert differ(C @ v + g, bias) < TOLERANCE


@each_case("form", FORMS)
def test_power_becomes_energy(robot: Robot, form: str) -> None:
    written = resolve(robot)
    q, v, a, _ = state(robot)
    tau = numbers(newton_euler.inverse_dynamics(FORMS[form](written), q, v, a))

    def energy(x: Any, y: Any) -> Any:
        return kinetic_energy(written, x, y) + potential_energy(written, x)

    gained = rate_along(energy, (q, configuration_rate(written, q, v)), (v, a))
    assert abs(gained - np.dot(v, tau)) < TOLERANCE * np.abs(np.multiply(v, tau)).max()


def test_kinetic_energy_is_half_the_mass_matrix_and_gravity_the_slope_of_the_potential(robot: Robot) -> None:
    tree = resolve(robot)
    q, v, _, _ = state(robot)
    M = numbers(composite_bodies.mass_matrix(tree, q))
    assert kinetic_energy(tree, q, v) == pytest.approx(0.5 * np.dot(v, M @ v), rel=TOLERANCE)
    slope = [
        float(rate_along(lambda x: potential_energy(tree, x), (q, configuration_rate(tree, q, unit))))
        for unit in np.eye(robot.nv).tolist()
    ]
    assert differ(slope, newton_euler.gravity_forces(tree, q)) < TOLERANCE


@pytest.mark.parametrize("kind", KINDS)
def test_rotor_inertia_is_added_to_the_diagonal_and_to_nothing_else(kind: str) -> None:
    bare = robot_of_kind(kind, chained=True)
    armature = tuple(0.1 + 0.05 * k for k in range(JOINT_KINDS[kind].nv))
    joints = [replace(joint, armature=armature if joint.kind == kind else joint.armature) for joint in bare.joints]
    geared, bare = (
        replace(bare, joints=tuple(joints)),
        replace(bare, joints=tuple(replace(joint, armature=(0.0,) * joint.nv) for joint in bare.joints)),
    )
    q, v, a, _ = state(bare)
    extra = [x for joint in geared.joints for x in joint.armature]
    robot_with_rotors, without = (regroup(reframe(resolve(robot))) for robot in (geared, bare))
    M = numbers(composite_bodies.mass_matrix(without, q)) + np.diag(extra)
    assert differ(composite_bodies.mass_matrix(robot_with_rotors, q), M) < 1e-14
    bias = newton_euler.bias_forces(without, q, v)
    assert differ(newton_euler.bias_forces(robot_with_rotors, q, v), bias) < 1e-14
    tau = newton_euler.inverse_dynamics(robot_with_rotors, q, v, a)
    assert differ(tau, M @ a + numbers(bias)) < TOLERANCE
    assert differ(articulated_bodies.forward_dynamics(robot_with_rotors, q, v, tau), a) < TOLERANCE


@pytest.mark.slow
@each_case("seed", range(20))
def test_random_trees_obey_the_same_laws(seed: int) -> None:
    robot = random_robot(seed, most=25)
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = (part[0] for part in random_states(robot, seed, 1))
    M, h, C = dynamics.mass_matrix(q), dynamics.bias_forces(q, v), dynamics.coriolis_matrix(q, v)
    assert np.linalg.eigvalsh(M).min() > 0.0
    tau = dynamics.inverse_dynamics(q, v, a)
    assert differ(M @ a + h, tau) < TOLERANCE
    assert differ(dynamics.forward_dynamics(q, v, tau), a) < 1e-13 * np.linalg.cond(M) + TOLERANCE
    assert differ(C @ v + dynamics.gravity_forces(q), h) < TOLERANCE
    tree = resolve(robot)
    Mdot = rate_along(lambda x: composite_bodies.mass_matrix(tree, x), (q, configuration_rate(tree, q, v)))
    assert np.abs(Mdot - C - C.T).max() < TOLERANCE * max(np.abs(C).max(), 1e-3)


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_single_precision_agrees_to_its_rounding(backend: Any) -> None:
    robot = robot_of_kind("revolute", chained=True)
    single, double = (derive(robot, precision=precision, backend=backend) for precision in ("float32", "float64"))
    assert "float32" in repr(single) and "float32" not in repr(double)
    q, v, a, tau = random_states(robot, 3, 4)
    for name, inputs in (
        ("mass_matrix", (q,)),
        ("inverse_dynamics", (q, v, a)),
        ("forward_dynamics", (q, v, tau)),
    ):
        found, expected = getattr(single, name)(*inputs), getattr(double, name)(*inputs)
        assert (found.dtype, expected.dtype) == (np.float32, np.float64)
        assert 1e-12 < differ(found, expected) < 1e-4
    assert single.derivative("mass_matrix", "q")(q).dtype == np.float32
    with pytest.raises(UnsupportedError, match="precision 'half' is unknown"):
        derive(robot, precision="half")  # type: ignore[arg-type]
