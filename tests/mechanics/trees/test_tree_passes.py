"""What makes the equations cheaper must not change them: reframing, regrouping, folding of parameters, batching.

Reframing also meets the axes of real files: parallel but for a hair. The foot of their common normal lies anywhere up
to infinity, and the turns between them are all but undefined; both have cost digits once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import matrix_of
from kinemorph.algebra.rotations import rotation
from kinemorph.algebra.vectors import matmul, transpose
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError
from kinemorph.mechanics.recursions import articulated_bodies, composite_bodies, newton_euler
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import evaluate_all
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from support.peers.pinocchio_peer import PinocchioPeer
from support.references.exact_rates import numbers
from support.robots.random_robots import KINDS, random_body, random_pose, random_robot, random_states
from support.tools.each_case import each_case
from support.tools.some_slow import first

PASSES: dict[str, Callable[[Tree], Tree]] = {
    "reframe": reframe,
    "regroup": regroup,
    "both": lambda tree: regroup(reframe(tree)),
    "both twice": lambda tree: regroup(reframe(regroup(reframe(tree)))),
}


def close(x: Any, y: Any, tolerance: float = 1e-12) -> None:
    x, y = numbers(x), numbers(y)
    np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * max(np.abs(y).max(), 1e-3))


@each_case("seed", range(24))
@each_case("name", PASSES)
def test_passes_leave_the_physics_alone(seed: int, name: str) -> None:
    robot = random_robot(seed, most=25)
    tree = resolve(robot)
    changed = PASSES[name](tree)
    q, v, a, tau = (part[0].tolist() for part in random_states(robot, seed, 1))
    M = numbers(composite_bodies.mass_matrix(tree, q))
    close(composite_bodies.mass_matrix(changed, q), M)
    expected = newton_euler.inverse_dynamics(tree, q, v, a)
    close(newton_euler.inverse_dynamics(changed, q, v, a), expected)
    moved = articulated_bodies.forward_dynamics(tree, q, v, tau)
    close(articulated_bodies.forward_dynamics(changed, q, v, tau), moved, min(1e-12 * np.linalg.cond(M), 1e-8))
    frames = [*robot.body_names, "tool", "world"]
    poses = zip(forward_kinematics(changed, q, frames), forward_kinematics(tree, q, frames), strict=True)
    for one, other in poses:
        close(matrix_of(one), matrix_of(other))


def test_regrouping_really_removes_mass() -> None:
    """Or the test above would prove nothing: a revolute link keeps neither mass nor the moments along its axis."""
    for seed in range(6):
        for link in regroup(reframe(resolve(random_robot(seed)))).links:
            if link.kind == "revolute":
                assert (link.mass, link.h[2], link.sigma[5]) == (0.0, 0.0, 0.0)


# ── axes that are parallel but for a hair ─────────────────────────────────────────────────────────────────────────────


def nearly_parallel(kind: str, tilt: float) -> Robot:
    """Three joints of a kind below a ball, each tilted against the last; every rotation carries rounding dust."""
    rng = np.random.default_rng(0)
    builder = RobotBuilder("nearly_parallel").add(*(random_body(rng, f"b{n}") for n in range(4)))
    builder.joint("ball", "spherical", "world", "b0")
    for n in (1, 2, 3):
        R = matmul(matmul(turn_z(0.3 + n), rotation((1.0, 0.0, 0.0), tilt)), turn_z(0.7 * n))
        W = random_pose(rng).R
        R = matmul(transpose(W), matmul(W, R))
        builder.joint(f"j{n}", kind, f"b{n - 1}", f"b{n}", rotation=R, translation=(0.3, 0.1, 0.2))
    return builder.build()


def turn_z(angle: float) -> Any:
    return rotation((0.0, 0.0, 1.0), angle)


@each_case("tilt", [0.3, 0.11, 0.09, 1e-2, 3.7e-6, 1e-8, 2e-9, 5e-10, 1e-12, 1e-14, 2e-15, 1e-15, 1e-16, 0.0])
@each_case("kind", ["revolute", "prismatic", "planar"])
def test_nearly_parallel_axes_cost_no_digits(kind: str, tilt: float) -> None:
    robot = nearly_parallel(kind, tilt)
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    q, v, _, tau = (part[0] for part in random_states(robot, 1, 1))
    close(dynamics.mass_matrix(q), peer.mass_matrix(q), 3e-14)
    close(dynamics.bias_forces(q, v), peer.bias_forces(q, v), 3e-14)
    close(dynamics.forward_dynamics(q, v, tau), peer.forward_dynamics(q, v, tau), 1e-12)
    close(dynamics.pose("b3")(q), peer.pose("b3", q), 1e-14)


@pytest.mark.parametrize("tilt", [1e-2, 1e-3, 1e-4, 1e-5])
def test_nearly_parallel_axes_cost_no_digits_far_from_the_origin(tilt: float) -> None:
    """How far the base stands from the origin of the world says nothing about the size of the robot."""
    robot = nearly_parallel("revolute", tilt)
    ball, *others = robot.joints
    robot = replace(robot, joints=(replace(ball, placement=ball.placement._replace(p=(1e4, 0.0, 0.0))), *others))
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    q, v, _, _ = (part[0] for part in random_states(robot, 1, 1))
    close(dynamics.mass_matrix(q), peer.mass_matrix(q), 3e-14)
    close(dynamics.bias_forces(q, v), peer.bias_forces(q, v), 3e-14)


# ── parameters, batches, systems ──────────────────────────────────────────────────────────────────────────────────────

FUNCTIONS = {
    "mass_matrix": "q",
    "bias_forces": "qv",
    "inverse_dynamics": "qva",
    "forward_dynamics": "qvt",
    "coriolis_matrix": "qv",
    "gravity_forces": "q",
    "forward_kinematics": "q",
    "center_of_mass": "q",
    "centroidal_matrix": "q",
}


@pytest.mark.parametrize("seed", first(range(10), 4))
def test_parameters_as_inputs_change_nothing_at_their_nominal_values(seed: int) -> None:
    robot = random_robot(seed, most=12, symbolic=True)
    folded = derive(robot, backend="interpreter")
    open_ended = derive(robot, parameters="all", backend="interpreter")
    some = derive(robot, parameters=[p.name for p in robot.parameters[::3]], backend="interpreter")
    given = dict(zip("qvat", random_states(robot, seed, 2), strict=True))
    cond = np.linalg.cond(folded.mass_matrix(given["q"])).max()
    for name, letters in FUNCTIONS.items():
        arguments = [given[letter] for letter in letters]
        expected = getattr(folded, name)(*arguments)
        tolerance = 1e-12 if name != "forward_dynamics" else min(1e-12 * cond, 1e-8)
        close(getattr(open_ended, name)(*arguments, open_ended.nominal_parameters), expected, tolerance)
        close(getattr(some, name)(*arguments, some.nominal_parameters), expected, tolerance)


@each_case("kinds", [KINDS, ("helical",)])
@each_case("seed", range(5))
def test_other_parameter_values_give_the_other_robot(seed: int, kinds: tuple[str, ...]) -> None:
    robot = random_robot(seed, kinds=kinds, most=12, symbolic=True)
    dynamics = derive(robot, parameters="all", backend="interpreter")
    p = dynamics.nominal_parameters * np.random.default_rng(seed).uniform(0.95, 1.05, size=len(dynamics.parameters))
    other = derive(with_values(robot, p), backend="interpreter")
    q, v, a, _ = (part[0] for part in random_states(robot, seed, 1))
    close(dynamics.mass_matrix(q, p), other.mass_matrix(q))
    close(dynamics.inverse_dynamics(q, v, a, p), other.inverse_dynamics(q, v, a))
    close(dynamics.pose("tool")(q, p), other.pose("tool")(q))


def with_values(robot: Robot, p: np.ndarray) -> Robot:
    """The robot written with plain numbers: other values of its parameters."""
    lookup = {parameter.name: float(x) for parameter, x in zip(robot.parameters, p, strict=True)}

    def plain(part: Any, *fields: str) -> Any:
        return replace(part, **{field: evaluate_all(getattr(part, field), lookup) for field in fields})

    return replace(
        robot,
        bodies=tuple(plain(body, "mass", "com", "inertia") for body in robot.bodies),
        joints=tuple(plain(joint, "placement", "child_placement", "pitch", "armature") for joint in robot.joints),
        gravity=evaluate_all(robot.gravity, lookup),
        parameters=(),
    )


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(ModelError, match="girth"):
        derive(random_robot(0, most=8, symbolic=True), parameters=["girth"])


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_a_result_depends_on_its_state_alone(backend: Any) -> None:
    """Not on the batch the state is in, its size or its shape: to the last bit. One state alone agrees to rounding."""
    robot = random_robot(4, most=20)
    dynamics, of_system = derive(robot, backend=backend), derive(System(robot), backend=backend)
    states = dict(zip("qvat", random_states(robot, 4, 18), strict=True))
    for name, letters in FUNCTIONS.items():
        function = getattr(dynamics, name)
        arguments = [states[letter] for letter in letters]
        batch = function(*arguments)
        for start, size in ((0, 1), (3, 1), (0, 2), (5, 3), (1, 4), (2, 7), (4, 8), (1, 17)):
            part = function(*(x[start : start + size] for x in arguments))
            np.testing.assert_array_equal(part, batch[start : start + size])
        np.testing.assert_array_equal(getattr(of_system, name)(*arguments), batch)
        grid = function(*(x.reshape(6, 3, -1) for x in arguments))
        np.testing.assert_array_equal(grid.reshape(batch.shape), batch)
        close([function(*one) for one in zip(*arguments, strict=True)], batch, 1e-13)
    held = dynamics.bias_forces(states["q"][0], states["v"])  # one q serves all v
    np.testing.assert_array_equal(held, dynamics.bias_forces(states["q"][[0] * 18], states["v"]))
