"""Forms of the regressor without accelerations, along the motions of closed chains, and packed (002-12).

The momentum form is compared with M v and with a run, the energy form with energies, with a run and with Pinocchio's
regressors, closed chains with forward dynamics, whose multipliers the rows do not know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from kinemorph.algebra.groups import translation
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.deriving.parameter_functions import moving_bodies
from kinemorph.errors import UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import integrate
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from kinemorph.notation import TIME, Coordinate, sin
from support.peers.pinocchio_peer import PinocchioPeer
from support.peers.regressor_columns import from_pinocchio, off, without_friction
from support.robots.random_robots import KINDS, random_robot, random_states, robot_of_kind

LEAD = Coordinate("shoulder", 0.3, "rad")
STEP = 1e-4  # [s], of differences along a motion


def rate(function: Any) -> Any:
    """The derivative at 0 of a function of the time, by differences of fourth order."""
    return (8.0 * (function(STEP) - function(-STEP)) - (function(2.0 * STEP) - function(-2.0 * STEP))) / (12.0 * STEP)


def momentum_errors(robot: Robot, seed: int) -> tuple[float, float]:
    """Relative errors of P theta = M v, and of H = Y(q, v, 0) - dP/dt at constant v, by differences."""
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = (part[0] for part in random_states(robot, seed, 1))
    P, H = dynamics.momentum_regressor(q, v)

    def moved(t: float) -> Any:
        return dynamics.momentum_regressor(integrate(robot, q, t * v), v)[0]

    want = dynamics.regressor(q, v, 0.0 * a) - rate(moved)
    return off(P @ dynamics.regressor_parameters, dynamics.mass_matrix(q) @ v), off(H, want)


def energy_error(robot: Robot, seed: int) -> float:
    """The error of tau . v = d/dt (E . theta) + D . theta at constant v, for random theta, relative to the terms."""
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = (part[0] for part in random_states(robot, seed, 1))
    theta = np.random.default_rng(seed).normal(size=len(dynamics.regressor_columns))
    D = dynamics.energy_regressor(q, v)[1]

    def energy(t: float) -> Any:
        return dynamics.energy_regressor(integrate(robot, q, t * v), v)[0]

    terms = v @ dynamics.regressor(q, v, 0.0 * a), rate(energy), D
    return abs(float((terms[0] - terms[1] - terms[2]) @ theta)) / float(np.abs(terms).max() * np.abs(theta).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    exact, differences = momentum_errors(robot, 3)
    assert exact < 1e-12 and differences < 1e-9
    assert energy_error(robot, 3) < 1e-9


def sweep(seeds: range, most: int) -> None:
    for seed in seeds:
        robot = random_robot(seed, most=most)
        exact, differences = momentum_errors(robot, seed)
        assert exact < 1e-12 and differences < 1e-8, seed
        assert energy_error(robot, seed) < 1e-8, seed


def test_random_trees() -> None:
    sweep(range(8), 10)


@pytest.mark.slow
def test_many_random_trees() -> None:
    sweep(range(300), 20)


def test_columns_of_joints_without_accelerations() -> None:
    robot = library.double_pendulum()
    dynamics = derive(robot, backend="interpreter")
    names = dynamics.regressor_columns
    v = np.array([-1.5, 0.7])
    (P, H), (E, D) = dynamics.momentum_regressor([0.3, 0.4], v), dynamics.energy_regressor([0.3, 0.4], v)
    one, nothing = np.array([1.0, 0.0]), np.zeros(2)
    first = robot.v_names[0]
    for part, momentum, force, energy, loss in (
        ("armature", v[0] * one, nothing, 0.5 * v[0] ** 2, 0.0),
        ("viscous", nothing, v[0] * one, 0.0, v[0] ** 2),
        ("coulomb", nothing, -one, 0.0, abs(v[0])),
        ("offset", nothing, one, 0.0, v[0]),
    ):
        k = names.index(f"{first}.{part}")
        assert np.array_equal(P[:, k], momentum) and np.array_equal(H[:, k], force), part
        assert E[k] == energy and D[k] == loss, part


# ── Pinocchio ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", [5, 7, 33])
def test_energies_are_those_of_pinocchio(seed: int) -> None:
    """E is the sum of Pinocchio's regressors of the kinetic and the potential energy, column by column."""
    robot = random_robot(seed, most=12)
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    q, v, _, _ = (part[0] for part in random_states(robot, seed, 1))
    at = peer.configuration(q), v[peer.order]
    kinetic = pin.computeKineticEnergyRegressor(peer.model, peer.data, *at).copy()
    potential = pin.computePotentialEnergyRegressor(peer.model, peer.data, at[0]).copy()
    E = dynamics.energy_regressor(q, v)[0]
    want = from_pinocchio(peer, dynamics, np.reshape(kinetic + potential, (1, -1)))
    assert off(E[: want.shape[1]], want[0]) < 1e-11


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def simpson(values: Any, step: float) -> Any:
    """The integral over an even number of steps, by Simpson's rule."""
    return step / 3.0 * (values[0] + 4.0 * values[1:-1:2].sum(axis=0) + 2.0 * values[2:-1:2].sum(axis=0) + values[-1])


def test_balances_over_a_run() -> None:
    """Over a second of the motion of an arm on a free base, momentum and energy change by what the forms say."""
    from kinemorph.simulation.simulate import simulate

    builder = RobotBuilder("thrown").add(Body.box("base", 2.0, (0.3, 0.2, 0.1), center=(0.02, 0.01, -0.03)))
    builder.root("base", "free").add(Body.rod("arm", 0.7, 0.5, axis="x", center=(0.25, 0.0, 0.0), radius=0.02))
    robot = builder.joint(
        "elbow", "revolute", "base", "arm", axis=(0, 1, 0), translation=(0.1, 0.05, 0.0), damping=0.05, armature=0.02
    ).build()
    dynamics = derive(robot)
    v = np.array([0.3, -0.2, 1.0, 0.4, -1.1, 0.8, 2.0])
    run = simulate(robot, 1.0, v=v, output_step=0.005, rtol=1e-12, atol=1e-12)
    theta = dynamics.regressor_parameters
    P, H = dynamics.momentum_regressor(run.q, run.v)
    momentum = P @ theta
    assert off(simpson(H @ theta, 0.005), momentum[0] - momentum[-1]) < 1e-8  # there are no actuators
    E, D = dynamics.energy_regressor(run.q, run.v)
    lost = (E[0] - E[-1]) @ theta
    assert lost > 0.01 and simpson(D @ theta, 0.005) == pytest.approx(lost, rel=1e-8)


# ── driven joints ─────────────────────────────────────────────────────────────────────────────────────────────────────


def crank(formula: Any) -> Robot:
    """Two arms, of which the second is driven: its angle is a formula."""
    builder = RobotBuilder("driven").add(
        Body.rod("upper", 1.0, 0.5, axis="x", center=(0.25, 0.02, 0.0), radius=0.02),
        Body.rod("fore", 0.8, 0.4, axis="x", center=(0.2, 0.0, 0.03), radius=0.02),
    )
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0), armature=0.1)
    placed = {"axis": (0, 0, 1), "translation": (0.5, 0.0, 0.0), "armature": 0.03}
    return builder.joint("elbow", "revolute", "upper", "fore", driven=formula, **placed).build()


def test_driven_joints() -> None:
    """The momentum of a state with a driven joint changes with the slope of its formula."""
    robot = crank(sin(LEAD) + 0.4 * LEAD * LEAD)
    exact, differences = momentum_errors(robot, 1)
    assert exact < 1e-12 and differences < 1e-9 and energy_error(robot, 1) < 1e-9


def test_joints_that_the_time_drives() -> None:
    robot = crank(sin(LEAD) * TIME)
    dynamics = derive(robot, backend="interpreter")
    q, v, a, t = np.array([0.6]), np.array([1.3]), np.array([-0.8]), 0.7
    H = dynamics.momentum_regressor(t, q, v)[1]

    def moved(s: float) -> Any:
        return dynamics.momentum_regressor(t + s, q + s * v + 0.5 * s * s * a, v + s * a)[0]

    assert off(rate(moved) + H, dynamics.regressor(t, q, v, a)) < 1e-9
    looped = replace(on_turntable(driven=True), joints=tuple(map(_timed, on_turntable(driven=True).joints)))
    with pytest.raises(UnsupportedError, match=r"reduced: the time moves joints of robot 'turntable'"):
        derive(looped, backend="interpreter").reduced()
    with pytest.raises(UnsupportedError, match=r"do work that tau \. v does not contain"):
        _ = dynamics.energy_regressor


def _timed(joint: Joint) -> Joint:
    """The joint, moved by the time in place of another joint, where it is driven."""
    return replace(joint, driven=(0.05 * sin(TIME),)) if joint.driven else joint


# ── closed chains ─────────────────────────────────────────────────────────────────────────────────────────────────────


def on_turntable(*, driven: bool = False) -> Robot:
    """A planar four-bar on a plate that turns about a vertical axis; its crank may change its length."""
    builder = RobotBuilder("turntable").add(Body.box("plate", 3.0, (1.0, 1.0, 0.1)))
    for name, length in (("short", 0.2), ("long", 0.5), ("rocker", 0.4), ("slider", 0.05)):
        builder.add(Body.rod(name, 0.5, length, axis="x", center=(0.5 * length, 0.0, 0.0), radius=0.01))
    builder.joint("turn", "revolute", "world", "plate", axis=(0, 0, 1))
    y = {"axis": (0, 1, 0)}
    builder.joint("crank", "revolute", "plate", "short", **y)
    reach = {"driven": 0.05 * sin(Coordinate("crank", 0.0, "rad")), "axis": (1, 0, 0)} if driven else {}
    builder.joint("reach", "prismatic" if driven else "fixed", "short", "slider", translation=(0.2, 0, 0), **reach)
    builder.joint("knee", "revolute", "slider", "long", **y)
    builder.joint("rock", "revolute", "plate", "rocker", translation=(0.45, 0.0, 0.0), **y)
    end = translation((0.4, 0.0, 0.0))
    return builder.joint(
        "pin", "revolute", "long", "rocker", translation=(0.5, 0.0, 0.0), child_placement=end, **y
    ).build()


@pytest.mark.parametrize(
    "make", [library.four_bar, library.jansen, library.pantograph_leg, lambda: on_turntable(driven=True)]
)
@pytest.mark.slow
def test_rows_along_the_motions_that_loops_leave(make: Any) -> None:
    """For the accelerations that forces at all joints produce, the rows give the power of these forces."""
    robot = make()
    dynamics = derive(robot, backend="interpreter")
    reduction = dynamics.reduced()
    rng = np.random.default_rng(5)
    places = [robot.v_names.index(name) for name in reduction.independent]
    q, v_q, tau = reduction.at, rng.normal(size=len(places)), rng.normal(size=robot.nv)
    v = reduction.velocity_map(q) @ v_q
    a_q = dynamics.forward_dynamics(q, v, tau)[places]
    assert off(reduction.reduced_dynamics(q, v_q, tau), a_q) < 1e-10
    theta = without_friction(dynamics)
    Y = reduction.reduced_regressor(q, v_q, a_q)
    assert off(Y @ theta, reduction.input_map(q) @ tau) < 1e-11
    P, H = reduction.reduced_momentum_regressor(q, v_q)
    assert off(P @ theta, reduction.reduced_mass_matrix(q) @ v_q) < 1e-12

    def moved(t: float) -> Any:  # v_q stays, and so the loops are closed again at the configurations nearby
        there = closed(dynamics, integrate(robot, q, t * v), places)
        return reduction.reduced_momentum_regressor(there, v_q)[0]

    assert off(rate(moved) + H, reduction.reduced_regressor(q, v_q, 0.0 * a_q)) < 1e-8


def test_actuators_of_a_closed_chain_with_a_driven_joint() -> None:
    """Forces at two joints give the acceleration that forces at all joints produced; it was an error of an index."""
    robot = on_turntable(driven=True)
    dynamics = derive(robot, backend="interpreter")
    reduction, rng = dynamics.reduced(), np.random.default_rng(4)
    q, v = reduction.at, reduction.velocity_map(reduction.at) @ rng.normal(size=2)
    a = dynamics.forward_dynamics(q, v, rng.normal(size=robot.nv))
    tau, _, rank = dynamics.actuation(["turn", "crank"])(q, v, a)
    applied = np.zeros(robot.nv)
    applied[[robot.v_names.index(name) for name in ("turn", "crank")]] = tau
    assert off(dynamics.forward_dynamics(q, v, applied), a) < 1e-9 and rank == 2


def closed(dynamics: Dynamics, q: Any, kept: list[int]) -> Any:
    """The closed configuration near q in which the independent joints are unchanged."""
    others = [k for k in range(dynamics.robot.nv) if k not in kept]
    for _ in range(4):
        step = np.zeros(dynamics.robot.nv)
        J = dynamics.constraint_jacobian(q)[:, others]
        step[others] = -np.linalg.pinv(J, 1e-9) @ dynamics.constraint_error(q)
        q = integrate(dynamics.robot, q, step)
    return q


# ── entries ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("make", [library.scara, library.hexapod24, lambda: library.amru5_leg().robot])
def test_entries_are_all_that_is_not_zero(make: Any) -> None:
    robot = make()
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = random_states(robot, 9, 4)
    pattern, Y = dynamics.regressor_pattern, dynamics.regressor(q, v, a)
    dense = np.zeros_like(Y)
    dense[:, pattern.rows, pattern.columns] = dynamics.regressor_entries(q, v, a)
    assert np.array_equal(dense, Y)
    assert (np.diff(pattern.rows) >= 0).all() and len(pattern.rows) < 0.6 * Y[0].size


def test_entries_where_parameters_are_inputs() -> None:
    """An entry that is zero at the nominal value of a parameter is kept where the parameter is an input."""
    builder = RobotBuilder("arm").add(Body.sphere("upper", 1.0, 0.1), Body.sphere("fore", 0.5, 0.1))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    apart = (Parameter("length", 0.0, "m"), 0.0, 0.0)
    robot = builder.joint("elbow", "revolute", "upper", "fore", axis=(0, 1, 0), translation=apart).build()
    dynamics = derive(robot, parameters="all", backend="interpreter")
    (q, v, a, _), p = random_states(robot, 4, 1), np.array([[0.3]])
    pattern, Y = dynamics.regressor_pattern, dynamics.regressor(q, v, a, p)
    dense = np.zeros_like(Y)
    dense[:, pattern.rows, pattern.columns] = dynamics.regressor_entries(q, v, a, p)
    assert np.array_equal(dense, Y) and Y[0, 0, dynamics.regressor_columns.index("fore.m")] != 0.0


# ── wrenches through joints ───────────────────────────────────────────────────────────────────────────────────────────


def wrench_error(robot: Robot, seed: int, reference: str) -> float:
    """The difference of W theta from `joint_wrenches`, of all joints that carry no body fixed to the world."""
    dynamics = derive(robot, backend="interpreter")
    moving = {body.name for body in moving_bodies(robot)}
    places = [k for k, joint in enumerate(robot.joints) if joint.child in moving]
    q, v, a, _ = random_states(robot, seed, 2)
    W = dynamics.wrench_regressor([robot.joints[k].name for k in places], reference)(q, v, a)  # type: ignore[arg-type]
    assert W.shape == (2, len(places), 6, len(dynamics.regressor_columns))
    return off(W @ dynamics.regressor_parameters, dynamics.joint_wrenches(q, v, a, reference=reference)[:, places])


@pytest.mark.parametrize("kind", KINDS)
def test_wrenches_through_every_kind_of_joint(kind: str) -> None:
    robot = robot_of_kind(kind, chained=True)
    assert max(wrench_error(robot, 3, reference) for reference in ("joint", "child", "parent", "world")) < 1e-12


def test_wrenches_in_random_trees() -> None:
    for seed in range(6):
        assert wrench_error(random_robot(seed, most=10), seed, ("joint", "world")[seed % 2]) < 1e-12, seed


@pytest.mark.slow
def test_wrenches_in_many_random_trees() -> None:
    for seed in range(300):
        reference = ("joint", "child", "parent", "world")[seed % 4]
        assert wrench_error(random_robot(seed, most=20), seed, reference) < 1e-11, seed


def test_foot_forces_alone() -> None:
    """On a free base, W theta is the sum of all outside wrenches on the robot, whatever its actuators do."""
    robot = library.hexapod24()
    feet = [frame.name for frame in robot.frames]
    dynamics = derive(robot, wrenches=feet, backend="interpreter")
    rng = np.random.default_rng(2)
    (q, v, _, tau), pushes = (part[0] for part in random_states(robot, 8, 1)), rng.normal(size=(len(feet), 6))
    tau[:6] = 0.0
    a = dynamics.forward_dynamics(q, v, tau, pushes)
    total = np.zeros(6)
    for foot, push in zip(feet, pushes, strict=True):
        T = dynamics.pose(q, foot)
        force = T[:3, :3] @ push[:3]
        total += [*force, *(T[:3, :3] @ push[3:] + np.cross(T[:3, 3], force))]
    W = dynamics.wrench_regressor(reference="world")(q, v, a)
    assert off(W[0] @ dynamics.regressor_parameters, total) < 1e-9


def test_joints_that_carry_whole_loops_have_wrenches() -> None:
    """A turntable that carries a four-bar: its wrench is what an open tree of the same bodies needs."""
    robot = on_turntable()
    dynamics = derive(robot, backend="interpreter")
    reduction = dynamics.reduced()
    rng = np.random.default_rng(3)
    q, v = reduction.at, reduction.velocity_map(reduction.at) @ rng.normal(size=len(reduction.independent))
    tau = rng.normal(size=robot.nv)
    a = dynamics.forward_dynamics(q, v, tau)
    W = dynamics.wrench_regressor("turn")(q, v, a)
    assert off(W[0] @ dynamics.regressor_parameters, dynamics.joint_wrenches(q, v, a, tau)[0]) < 1e-9
    with pytest.raises(UnsupportedError, match=r"joint 'crank' is a part of a loop, which joint 'pin' closes"):
        dynamics.wrench_regressor("crank")


def test_wrenches_need_a_free_base_or_names() -> None:
    dynamics = derive(library.scara(), backend="interpreter")
    with pytest.raises(UnsupportedError, match=r"no free base in the world.*Name the joints"):
        dynamics.wrench_regressor()
    with pytest.raises(UnsupportedError, match=r"the reference is 'tool'"):
        dynamics.wrench_regressor("shoulder", "tool")  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.slow
def test_compiled_forms_are_those_of_the_interpreter(backend: Any) -> None:
    robot = library.double_pendulum()
    compiled, interpreted = derive(robot, backend=backend), derive(robot, backend="interpreter")
    q, v, a, _ = random_states(robot, 6, 3)
    for name in ("momentum_regressor", "energy_regressor"):
        for ours, theirs in zip(getattr(compiled, name)(q, v), getattr(interpreted, name)(q, v), strict=True):
            assert off(ours, theirs) < 1e-13
    W, wanted = (one.wrench_regressor(robot.joint_names, "world")(q, v, a) for one in (compiled, interpreted))
    assert off(W, wanted) < 1e-13
    assert off(compiled.regressor_entries(q, v, a), interpreted.regressor_entries(q, v, a)) < 1e-13
