"""The kinematic graph form: its matrices one by one, multiplied by NumPy as the paper writes them (002-04 to 002-11).

That it gives the same equations as all other formulations is shown by test_formulations and test_equations_agree; the
printed forms are shown to fail in tests/test_errata.py and tests/test_errata_torques.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.loops.close_loops import close_loops
from kinemorph.deriving.dynamics import derive
from kinemorph.display.equations.equations_of_motion import symbolic_dynamics, write_equations
from kinemorph.mechanics.constraints.reactions import joint_wrenches
from kinemorph.mechanics.constraints.wrench_views import WrenchView
from kinemorph.mechanics.formulations import incidence
from kinemorph.mechanics.recursions import newton_euler
from kinemorph.mechanics.recursions.kinematics import configuration_rate
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from support.references.exact_rates import numbers, rate_along
from support.robots.random_robots import random_robot, random_states

TOLERANCE = 1e-11


def differ(x: Any, y: Any) -> float:
    """max|x - y| / max|y|."""
    x, y = numbers(x), numbers(y)
    return float(np.abs(x - y).max() / np.abs(y).max())


def state(robot: Robot, seed: int = 3) -> tuple[Any, ...]:
    return tuple(part[0] for part in random_states(robot, seed, 1))


def test_the_matrices_are_those_of_the_paper() -> None:
    robot = random_robot(32, most=14)  # a free base, branches, joints of several axes
    dynamics, tree = derive(robot, "incidence", backend="interpreter"), resolve(robot)
    q, v, a, _ = state(robot)
    B, C, S, Ad, M, M_rate, ad = dynamics.block_matrices(q, v)
    n = len(dynamics.link_names)
    assert max(len(link.axes) for link in tree.links) == 6 and max(map(len, tree.children)) > 1
    assert np.abs(C @ B.T + np.eye(6 * n)).max() == 0.0  # (10): C = -B^-T, without an inverse
    t_K = Ad @ S @ v  # (7)
    t_B = C @ t_K  # (10)
    assert differ(-B.T @ t_B, t_K) < 1e-14  # (9)
    rates = configuration_rate(tree, q, v)
    moving = rate_along(lambda x: incidence.dense_matrices(tree, incidence.graph(tree, x))["M"], (q, rates))
    assert differ(M_rate, moving) < TOLERANCE  # (20), corrected
    falling = np.tile([*map(float, robot.gravity), 0.0, 0.0, 0.0], n)
    w_B = M_rate @ t_B + M @ C @ (ad @ t_K) + M @ C @ Ad @ S @ a  # (21), corrected
    w_K = C.T @ (w_B - M @ falling)  # (26), on the children
    rotors = np.zeros(robot.nv)
    for link in tree.links:
        rotors[link.velocities] = link.armature
    recursion = derive(robot, backend="interpreter")
    assert differ(S.T @ Ad.T @ w_K + rotors * a, recursion.inverse_dynamics(q, v, a)) < TOLERANCE
    assert differ(S.T @ Ad.T @ C.T @ M @ C @ Ad @ S + np.diag(rotors), recursion.mass_matrix(q)) < TOLERANCE


@pytest.mark.parametrize("robot", [library.hexapod24(), library.jansen()], ids=lambda robot: robot.name)
def test_the_graph_is_that_of_the_robot(robot: Robot) -> None:
    """002-05: B is the robot's incidence matrix without the row of the world, each entry times a unit matrix."""
    bodies = [robot.body_names.index(name) + 1 for name in derive(robot).link_names]
    q, v, *_ = state(robot)
    B = derive(robot, "incidence", backend="interpreter").block_matrices(q, v)[0]
    arcs = [next(k for k, joint in enumerate(robot.joints) if joint.child == robot.body_names[i - 1]) for i in bodies]
    arcs += range(len(robot.joints), len(robot.joints) + len(robot.loops))
    assert np.array_equal(B, np.kron(robot.incidence[bodies][:, arcs], np.eye(6)))


@pytest.mark.parametrize("make", [library.four_bar, library.bricard, library.jansen], ids=lambda make: make.__name__)
def test_with_loops_the_wrenches_balance_at_every_vertex(make: Callable[[], Robot | System]) -> None:
    """-B w_K = w_B - M t_g, where w_K of the arcs that close loops are the wrenches of their multipliers."""
    made = make()
    system = made if isinstance(made, System) else System(made)
    robot = system.robot
    dynamics, tree = derive(robot, "incidence", backend="interpreter"), resolve(robot)
    assert [link.name for link in tree.links] == [joint.child for joint in robot.order]  # each body is a link
    q = close_loops(system, system.initial_state()[0]).q
    v, tau = np.zeros(robot.nv), np.random.default_rng(5).normal(size=robot.nv)
    a = dynamics.forward_dynamics(q, v, tau)
    arcs = (*robot.order, *robot.loops)
    found = dynamics.joint_wrenches(q, v, a, tau, reference="world")
    through = dict(zip((*robot.joints, *robot.loops), found, strict=True))
    w_K = [through[arc] for arc in arcs]
    K = incidence.graph(tree, q.tolist(), v.tolist())
    B = numbers(incidence.dense_matrices(tree, K)["B"])
    needed = numbers(incidence.net_wrenches(tree, K, a.tolist()))
    assert np.abs(-B @ np.concatenate(w_K) - needed.ravel()).max() < 1e-10 * np.abs(w_K).max()


def wrench_gap(seed: int) -> float:
    """The largest difference of the wrenches w_K of (26) from those of the recursion, and of tau from inverse dynamics.

    Both are relative to the largest entry. A link that consists of several bodies has the joint of its first one.
    """
    robot = random_robot(seed, most=12)
    tree = resolve(robot)
    q, v, a, _ = (part.tolist() for part in state(robot, seed))
    found = incidence.complete_model(tree, q, v, a)
    through = numbers(joint_wrenches(robot, resolve(robot, merged=False), q, v, a, view=WrenchView("world")))
    by_child = dict(zip((joint.child for joint in robot.joints), through, strict=True))
    links = [k for k, link in enumerate(tree.links) if link.name in by_child]  # without those between two axes
    expected = [by_child[tree.links[k].name] for k in links]
    tau = newton_euler.inverse_dynamics(regroup(reframe(tree)), q, v, a)
    return max(differ(numbers(found["w_K"]).reshape(-1, 6)[links], expected), differ(found["tau"], tau))


def test_wrenches_and_forces_of_the_graph_are_those_of_the_recursion(record_property: Any) -> None:
    """25 random trees, 13 of them on a free base; the graph is seen from the world, the recursion from each link."""
    worst = max(map(wrench_gap, range(25)))
    record_property("figure", ("kinematic graph", "wrenches and forces of 25 random trees", worst))
    assert worst < TOLERANCE


@pytest.mark.slow
def test_wrenches_and_forces_of_300_random_trees() -> None:
    assert max(map(wrench_gap, range(300))) < TOLERANCE


def test_rotors_that_spin_fast_lose_no_digits() -> None:
    """At 1 m/s of its nuts the rotors of a leg of AMRU5 turn at some thousand rad/s, at levers of 0.3 m."""
    robot = library.amru5_leg().robot
    q, v, a = np.array([-0.8, 0.1, 0.12]), np.array([-0.9, -0.5, 0.2]), np.array([0.4, 0.3, -0.5])
    graph, recursion = (derive(robot, name, backend="interpreter") for name in ("incidence", "newton_euler"))  # type: ignore[arg-type]
    assert differ(graph.inverse_dynamics(q, v, a), recursion.inverse_dynamics(q, v, a)) < TOLERANCE


@pytest.mark.parametrize("free", [False, True])
def test_a_branched_hand(free: bool) -> None:
    robot = library.hand(free=free)
    q, v, a, tau = state(robot)
    graph, recursion = (derive(robot, name, backend="interpreter") for name in ("incidence", "newton_euler"))  # type: ignore[arg-type]
    assert differ(graph.inverse_dynamics(q, v, a), recursion.inverse_dynamics(q, v, a)) < TOLERANCE
    assert differ(graph.forward_dynamics(q, v, tau), recursion.forward_dynamics(q, v, tau)) < TOLERANCE


def test_the_matrices_can_be_read() -> None:
    symbolic = symbolic_dynamics(library.pendulum(), formulation="incidence")
    written = write_equations(symbolic, [symbolic.block_matrices.program])
    assert r"\mathrm{Ad}" in written.latex and r"\dot{M}" in written.latex
