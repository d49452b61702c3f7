"""Derivatives of inverse and forward dynamics: closed forms against dual numbers through the recursions themselves.

Mechanics run on plain numbers here, nothing is compiled. The closed forms take the reframed, regrouped links; the dual
numbers take the links as they were written. Errors are max|difference| / max|reference|.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import library
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.derivatives import inverse_derivatives
from kinemorph.mechanics.derivatives.branch_factor import branch_factor, inverse_of, solved
from kinemorph.mechanics.derivatives.forward_derivatives import forward_dynamics_derivatives
from kinemorph.mechanics.derivatives.inverse_derivatives import inverse_dynamics_derivatives
from kinemorph.mechanics.formulations.formulation import derivatives_by_duals
from kinemorph.mechanics.recursions import composite_bodies
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.recursions.newton_euler import inverse_dynamics
from kinemorph.mechanics.trees.motions import ZERO3, ZERO_SYM
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.configuration import integrate
from kinemorph.model.robot import Robot
from support.peers.pinocchio_peer import PinocchioPeer
from support.references.exact_rates import numbers
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind
from support.tools.each_case import each_case

TOLERANCE = 1e-11


def error(x: Any, reference: Any, least: float = 0.0) -> float:
    x, reference = numbers(x), numbers(reference)
    return float(np.abs(x - reference).max() / max(np.abs(reference).max(), least, 1e-300))


def state_of(robot: Robot, seed: int = 1) -> list[list[float]]:
    """(q, v, a, tau) as lists of numbers."""
    return [part[0].tolist() for part in random_states(robot, seed, 1)]


def both_trees(robot: Robot) -> tuple[Tree, Tree]:
    """As written, and as the recursions take it."""
    written = resolve(robot)
    return written, regroup(reframe(written))


def inverse_errors(robot: Robot, seed: int = 1) -> Iterable[float]:
    (written, cheap), (q, v, a, _) = both_trees(robot), state_of(robot, seed)
    exact = derivatives_by_duals(inverse_dynamics, written, q, v, a)
    least = float(np.abs(numbers(exact[2])).max())  # a derivative that vanishes is judged by the mass
    return (error(x, y, least) for x, y in zip(inverse_dynamics_derivatives(cheap, q, v, a), exact, strict=True))


def forward_errors(robot: Robot, seed: int = 1) -> Iterable[float]:
    """Errors over what the condition of the mass matrix costs."""
    (written, cheap), (q, v, _, tau) = both_trees(robot), state_of(robot, seed)
    exact = derivatives_by_duals(forward_dynamics, written, q, v, tau)
    condition = float(np.linalg.cond(numbers(mass_matrix(written, q))))
    result = forward_dynamics_derivatives(cheap, q, v, tau)
    return (error(x, y, 1.0) / max(1.0, 1e-2 * condition) for x, y in zip(result, exact, strict=True))


@pytest.fixture(params=["links", "root"])
def frames(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Products of pairs in the links' own frames, or in the root link's."""
    for module in (inverse_derivatives, composite_bodies):
        monkeypatch.setattr(module, "root_frame_pays", lambda *_, **__: request.param == "root")
    return str(request.param)


# ── equal to dual numbers ─────────────────────────────────────────────────────────────────────────────────────────────


@each_case("chained", [False, True])
@each_case("kind", KINDS)
def test_every_joint_kind(kind: str, chained: bool, frames: str) -> None:
    robot = robot_of_kind(kind, chained=chained)
    assert max(inverse_errors(robot)) < TOLERANCE
    assert max(forward_errors(robot)) < TOLERANCE


@pytest.mark.parametrize("chunk", [*range(2), *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 10))])
def test_random_trees(chunk: int, frames: str, record_property: Any) -> None:
    for seed in range(5 * chunk, 5 * chunk + 5):
        seed += 50 * (frames == "root")  # a hundred trees in all
        robot = random_robot(seed, most=12)
        inverse, forward = max(inverse_errors(robot, seed)), max(forward_errors(robot, seed))
        record_property("figure", ("derivatives", f"inverse dynamics, {frames} frames", inverse))
        record_property("figure", ("derivatives", f"forward dynamics, {frames} frames", forward))
        assert inverse < TOLERANCE, seed
        assert forward < TOLERANCE, seed


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(50))
def test_a_thousand_random_trees(chunk: int, frames: str) -> None:
    for seed in range(1000 + 20 * chunk, 1000 + 20 * chunk + 20):
        robot = random_robot(seed)
        assert max(inverse_errors(robot, seed)) < TOLERANCE, seed
        assert max(forward_errors(robot, seed)) < TOLERANCE, seed


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_wrenches_move_along_with_their_links(seed: int, frames: str) -> None:
    robot = random_robot(seed, most=14)
    (_, cheap), (q, v, a, tau) = both_trees(robot), state_of(robot)
    rng = np.random.default_rng(seed)
    loads = {n: tuple(tuple(rng.normal(size=3) * 9.0) for _ in range(2)) for n in (0, len(cheap.links) - 1)}

    def pushed(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda tree, *state: function(tree, *state, loads)

    exact = derivatives_by_duals(pushed(inverse_dynamics), cheap, q, v, a)
    for x, y in zip(inverse_dynamics_derivatives(cheap, q, v, a, loads), exact, strict=True):
        assert error(x, y) < TOLERANCE
    by_force = derivatives_by_duals(pushed(forward_dynamics), cheap, q, v, tau)
    for x, y in zip(forward_dynamics_derivatives(cheap, q, v, tau, loads), by_force, strict=True):
        assert error(x, y) < TOLERANCE
    assert error(inverse_dynamics_derivatives(cheap, q, v, a)[0], exact[0]) > 1e-3  # they do matter


# ── laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["puma", "hexapod24", "humanoid"])
def test_forward_is_minus_the_inverse_mass_times_inverse(name: str) -> None:
    robot = getattr(library, name)()
    (_, tree), (q, v, a, _) = both_trees(robot), state_of(robot)
    by_q, by_v, M = map(numbers, inverse_dynamics_derivatives(tree, q, v, a))
    forward = forward_dynamics_derivatives(tree, q, v, inverse_dynamics(tree, q, v, a))
    tolerance = 1e-14 * np.linalg.cond(M)
    for x, y in zip(forward, (-np.linalg.solve(M, by_q), -np.linalg.solve(M, by_v), np.linalg.inv(M)), strict=True):
        assert error(x, y) < tolerance


def test_helmholtz_conditions_of_a_lagrangian() -> None:
    """d tau / d v is twice a Coriolis matrix: with its transpose it gives 2 dM/dt, where every joint has one axis."""
    robot = library.puma()
    (_, tree), (q, v, a, _) = both_trees(robot), state_of(robot)
    _, by_v, _ = map(numbers, inverse_dynamics_derivatives(tree, q, v, a))
    rates = [derivatives_by_duals(lambda tree, q, k=k: mass_matrix(tree, q)[k], tree, q)[0] for k in range(tree.nv)]
    assert error(by_v + by_v.T, 2.0 * numbers(rates) @ np.array(v)) < TOLERANCE


def test_where_a_free_robot_stands_does_not_matter() -> None:
    robot = library.hexapod24()
    (_, tree), (q, v, a, tau) = both_trees(robot), state_of(robot)
    for dq in (inverse_dynamics_derivatives(tree, q, v, a).dq, forward_dynamics_derivatives(tree, q, v, tau).dq):
        assert not numbers(dq)[:, :3].any()


def test_the_factor_keeps_the_branches() -> None:
    robot = library.hexapod24()
    (_, tree), (q, _, _, tau) = both_trees(robot), state_of(robot)
    rows = mass_matrix(tree, q)
    factor, M = branch_factor(tree, rows), numbers(rows)
    assert error(numbers(inverse_of(factor)) @ M, np.eye(24)) < 1e-13 * np.linalg.cond(M)
    assert error(M @ numbers(solved(factor, tau)), tau) < 1e-14 * np.linalg.cond(M)
    assert sum(map(len, factor.N)) == sum(range(6)) + 6 * (6 + 7 + 8)  # six legs that never meet


@pytest.mark.parametrize("name", ["puma", "hexapod24", "humanoid"])
def test_the_mass_matrix_is_the_same_in_both_frames(name: str, frames: str) -> None:
    robot = getattr(library, name)()
    (written, cheap), (q, *_) = both_trees(robot), state_of(robot)
    still = [0.0] * robot.nv
    weight = numbers(inverse_dynamics(written, q, still, still))
    columns = [numbers(inverse_dynamics(written, q, still, unit)) - weight for unit in np.eye(robot.nv).tolist()]
    assert error(mass_matrix(cheap, q), np.transpose(columns)) < 1e-12


def test_a_joint_without_inertia_is_named() -> None:
    tree = resolve(robot_of_kind("revolute", chained=False))
    empty = replace(tree.links[0], mass=0.0, h=ZERO3, sigma=ZERO_SYM, armature=(0.0,))
    with pytest.raises(ModelError, match=r"'b0' \(revolute\) moves no inertia along its axis 1"):
        forward_dynamics_derivatives(replace(tree, links=(empty,)), [0.1], [0.2], [0.3])


# ── as functions ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", [0, 1, 4, 7, 11])
def test_pinocchio_agrees(seed: int) -> None:
    robot = random_robot(seed, most=25)
    dynamics, peer = derive(robot, backend="interpreter"), PinocchioPeer(robot)
    q, v, a, tau = random_states(robot, seed, 2)
    inverse, forward = dynamics.inverse_dynamics_derivatives(q, v, a), dynamics.forward_dynamics_derivatives(q, v, tau)
    for k in range(2):
        M = peer.mass_matrix(q[k])
        assert error(inverse[2][k], M) < TOLERANCE
        for mine, its in zip(inverse, peer.inverse_dynamics_derivatives(q[k], v[k], a[k]), strict=False):
            assert error(mine[k], its, float(np.abs(M).max())) < TOLERANCE
        for mine, its in zip(forward, peer.forward_dynamics_derivatives(q[k], v[k], tau[k]), strict=False):
            assert error(mine[k], its, 1.0) < max(TOLERANCE, 1e-13 * np.linalg.cond(M))


@pytest.mark.parametrize("make", [library.puma, lambda: robot_of_kind("free", chained=True)])
def test_derivatives_on_the_graph_agree_and_cost_more(make: Callable[[], Robot]) -> None:
    robot = make()
    dynamics, tree = derive(robot, backend="interpreter"), resolve(robot)
    units = np.eye(robot.nv).tolist()
    along = {"q": lambda q: [configuration_rate(tree, q, unit) for unit in units]}
    q, v, a, tau = random_states(robot, 4, 3)
    for name, last, force in (("inverse_dynamics", "a", a), ("forward_dynamics", "tau", tau)):
        on_graph = build(jacobian(getattr(dynamics, name).program, "out", ("q", "v", last), seeds=along), "interpreter")
        closed = getattr(dynamics, f"{name}_derivatives")
        for x, y in zip(closed(q, v, force), on_graph(q, v, force), strict=True):
            assert error(x, y) < TOLERANCE
        assert closed.program.flops < on_graph.program.flops


def test_machine_code_and_batches() -> None:
    robot = library.puma()
    compiled, defined = derive(robot), derive(robot, backend="interpreter")
    q, v, a, tau = random_states(robot, 3, 5)
    for name, force in (("inverse_dynamics_derivatives", a), ("forward_dynamics_derivatives", tau)):
        function = getattr(compiled, name)
        outputs = function(q, v, force)
        assert [out.shape for out in outputs] == [(5, 6, 6)] * 3
        for out, one, exact in zip(
            outputs, function(q[2], v[2], force[2]), getattr(defined, name)(q, v, force), strict=True
        ):
            assert error(out, exact) < 1e-12
            assert error(one, exact[2]) < 1e-12
    assert [port.name for port in compiled.inverse_dynamics_derivatives.program.outputs] == ["dq", "dv", "da"]
    assert [port.name for port in compiled.forward_dynamics_derivatives.program.outputs] == ["dq", "dv", "dtau"]


@pytest.mark.parametrize("kind", ["revolute", "planar", "spherical"])
def test_every_formulation_gives_the_same(kind: str) -> None:
    robot = robot_of_kind(kind, chained=False)
    states = random_states(robot, 2, 2)
    results = [
        (d.inverse_dynamics_derivatives(*states[:3]), d.forward_dynamics_derivatives(*states[:2], states[3]))
        for d in (derive(robot, backend="interpreter"), derive(robot, "lagrange", backend="interpreter"))
    ]
    for one, other in zip(*results, strict=True):
        assert all(error(x, y, 1.0) < TOLERANCE for x, y in zip(one, other, strict=True))


def test_parameters_and_wrenches_are_inputs_as_elsewhere() -> None:
    robot = random_robot(3, most=8, symbolic=True)
    folded = derive(robot, wrenches=["tool"], backend="interpreter")
    family = derive(robot, wrenches=["tool"], parameters="all", backend="interpreter")
    q, v, a, tau = random_states(robot, 1, 2)
    w = np.random.default_rng(1).normal(size=(1, 6))
    p = family.nominal_parameters
    for name, force in (("inverse_dynamics_derivatives", a), ("forward_dynamics_derivatives", tau)):
        for x, y in zip(getattr(family, name)(q, v, force, w, p), getattr(folded, name)(q, v, force, w), strict=True):
            assert error(x, y, 1.0) < TOLERANCE


def test_derivatives_with_a_loop_go_through_the_constraints() -> None:
    dynamics = derive(library.four_bar(), backend="interpreter")
    q, v, _, tau = random_states(dynamics.robot, 3, 1)
    q, v, tau = q[0], v[0], tau[0]
    slopes = dynamics.forward_dynamics_derivatives(q, v, tau)
    h = 1e-5
    for k in range(dynamics.robot.nv):
        e = h * np.eye(dynamics.robot.nv)[k]
        ahead_behind = (
            [dynamics.forward_dynamics(integrate(dynamics.robot, q, s * e), v, tau) for s in (1.0, -1.0)],
            [dynamics.forward_dynamics(q, v + s * e, tau) for s in (1.0, -1.0)],
            [dynamics.forward_dynamics(q, v, tau + s * e) for s in (1.0, -1.0)],
        )
        for slope, (ahead, behind) in zip(slopes, ahead_behind, strict=True):
            expected = (ahead - behind) / (2.0 * h)
            assert np.abs(slope[:, k] - expected).max() < 1e-7 * max(1.0, np.abs(slope).max())


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_the_derivative_of_any_function_by_any_input(name: str) -> None:
    robot = random_robot(12, most=8, symbolic=True)
    dynamics = derive(robot, parameters="all", backend="interpreter")
    q, v, a, tau = (x[0] for x in random_states(robot, 1, 1))
    p, force = dynamics.nominal_parameters, a if name == "inverse_dynamics" else tau
    closed = getattr(dynamics, f"{name}_derivatives")(q, v, force, p)
    for slope, by in zip(closed, ("q", "v", "a" if name == "inverse_dynamics" else "tau"), strict=True):
        assert error(dynamics.derivative(name, by)(q, v, force, p), slope, 1.0) < TOLERANCE
    function, h = getattr(dynamics, name), 1e-6
    slope = dynamics.derivative(name, "p")(q, v, force, p)
    assert slope.shape == (robot.nv, len(p))
    for k in range(len(p)):
        step = h * max(1.0, abs(p[k])) * np.eye(len(p))[k]
        expected = (function(q, v, force, p + step) - function(q, v, force, p - step)) / (2.0 * step[k])
        assert np.abs(slope[:, k] - expected).max() < 1e-6 * max(1.0, np.abs(expected).max())


def test_derivatives_that_are_not_there_are_named() -> None:
    dynamics = derive(library.pendulum(), backend="interpreter")
    with pytest.raises(UnsupportedError, match=r"not 'p'. Derive the robot with parameters"):
        dynamics.derivative("inverse_dynamics", "p")
    with pytest.raises(UnsupportedError, match="Did you mean 'mass_matrix'"):
        dynamics.derivative("mas_matrix", "q")
    with pytest.raises(UnsupportedError, match=r"Program is given.*differentiate.jacobian"):
        dynamics.derivative(dynamics.mass_matrix.program, "q")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"dynamics\.pose\('tool'\)"):
        dynamics.derivative(dynamics.pose, "q")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="is a loop program"):
        derive(library.chain(60), backend="interpreter").derivative("mass_matrix", "q")
