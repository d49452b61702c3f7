"""Random trees of 1 to 60 degrees of freedom against Pinocchio, and against MuJoCo where it has the joint kinds.

The default run takes the first 30 seeds, which have every kind of joint; the slow one takes 10,000. The interpreter
computes every robot, machine code every tenth; every tenth also shows its Coriolis matrix, energies and centroidal
matrix. Errors are max|difference| / max|reference|; an acceleration may lose as many digits as the mass matrix costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY
from kinemorph.bench.peers.mujoco_twin import MujocoTwin
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.model.joint import JOINT_KINDS
from kinemorph.model.parameter import evaluate
from kinemorph.model.robot import Robot
from support.peers.pinocchio_peer import PinocchioPeer
from support.robots.random_robots import random_robot, random_states

STATES = 2
Figure = tuple[str, float, float]  # name, error, tolerance


def in_mujoco(robot: Robot) -> bool:
    """Whether MuJoCo can represent the robot: it has no helical joint, and no armature of linear motion."""
    for joint in robot.joints:
        linear = {"planar": (0, 1), "free": (0, 1, 2)}.get(joint.kind, ())
        if joint.kind == "helical" or any(evaluate(joint.armature[k]) for k in linear):
            return False
    return True


def compare(seed: int) -> Iterable[Figure]:
    """Every error of one robot, with the tolerance it must meet."""
    robot = random_robot(seed)
    q, v, _, tau = random_states(robot, seed, STATES)
    peers: dict[str, Any] = {"Pinocchio": PinocchioPeer(robot)}
    if in_mujoco(robot):
        peers["MuJoCo"] = MujocoTwin(robot)
    for backend in ("interpreter", "llvm") if seed % 10 == 0 else ("interpreter",):
        dynamics = derive(robot, backend=backend)  # type: ignore[arg-type]
        M, h, a = dynamics.mass_matrix(q), dynamics.bias_forces(q, v), dynamics.forward_dynamics(q, v, tau)
        for name, peer in peers.items():
            label = f"{backend} - {name}"
            for k in range(STATES):
                M_ref = peer.mass_matrix(q[k])
                yield f"{label}: M", error(M[k], M_ref), 1e-12
                # a bias that vanishes by symmetry is judged by what unit acceleration takes
                h_ref, least = peer.bias_forces(q[k], v[k]), float(np.abs(M_ref).max())
                yield f"{label}: bias", error(h[k], h_ref, least), 1e-12
                # M a = tau - h: digits go where M is ill conditioned, and where tau nearly balances h
                left = np.abs(tau[k] - h_ref).max()
                cancelled = max(1.0, float((np.abs(tau[k]).max() + np.abs(h_ref).max()) / left)) if left else np.inf
                tolerance = min(1e-13 * np.linalg.cond(M_ref) * cancelled, 1e-8)
                a_ref = peer.forward_dynamics(q[k], v[k], tau[k])
                yield f"{label}: acceleration", error(a[k], a_ref), tolerance
                yield f"{label}: acceleration / tolerance", error(a[k], a_ref) / tolerance, 1.0
    if seed % 20 in (0, 11):  # free and held bases alike
        yield from compare_rest(derive(robot, backend="interpreter"), peers["Pinocchio"], q[0], v[0])


def compare_rest(dynamics: Dynamics, peer: PinocchioPeer, q: np.ndarray, v: np.ndarray) -> Iterable[Figure]:
    """What follows from the same kinematics and inertias by other code."""
    least = float(np.abs(peer.mass_matrix(q)).max())  # a single slider has no Coriolis force at all
    yield "Pinocchio: Coriolis matrix", error(dynamics.coriolis_matrix(q, v), peer.coriolis_matrix(q, v), least), 1e-12
    (kinetic, potential), (kinetic_ref, potential_ref) = dynamics.energy(q, v), peer.energies(q, v)
    yield "Pinocchio: kinetic energy", error(kinetic, kinetic_ref), 1e-12
    yield "Pinocchio: potential energy", error(potential, potential_ref, 10.0 * dynamics.robot.total_mass), 1e-12
    if not peer.grounded:
        com, A = peer.centroidal(q, v)
        yield "Pinocchio: center of mass", error(dynamics.center_of_mass(q), com, 1.0), 1e-12
        yield "Pinocchio: centroidal matrix", error(dynamics.centroidal_matrix(q), A), 1e-12


def error(x: Any, reference: Any, least: float = 0.0) -> float:
    return float(np.abs(x - reference).max() / max(np.abs(reference).max(), least))


def run(seeds: Iterable[int], record_property: Callable[..., None]) -> None:
    worst: dict[str, float] = {}
    failed: list[str] = []
    for seed in seeds:
        for name, value, tolerance in compare(seed):
            worst[name] = float(max(worst.get(name, 0.0), value))
            if not value <= tolerance:
                failed.append(f"seed {seed}: {name} {value:.3g}, expected at most {tolerance:.3g}")
    for name, value in worst.items():
        record_property("figure", ("random trees", name, value))
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("chunk", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_random_trees(chunk: int, record_property: Any) -> None:
    run(range(10 * chunk, 10 * chunk + 10), record_property)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(100))
def test_ten_thousand_random_trees(chunk: int, record_property: Any) -> None:
    run(range(100 * chunk, 100 * chunk + 100), record_property)


@pytest.mark.slow
def test_the_robots_are_as_varied_as_claimed() -> None:
    robots = [random_robot(seed) for seed in range(200)]
    kinds = {joint.kind for robot in robots for joint in robot.joints}
    assert kinds == set(JOINT_KINDS) - {"point_on_line", "point_on_plane", "gimbal"}
    assert min(robot.nv for robot in robots) == 1
    assert max(robot.nv for robot in robots) >= 58
    on_free_base = [any(joint.kind == "free" and joint.parent == "world" for joint in robot.joints) for robot in robots]
    assert sum(on_free_base) >= 100
    assert sum(in_mujoco(robot) for robot in robots) >= 100
    occurs = {
        "branches": lambda robot: len({joint.parent for joint in robot.joints}) < len(robot.joints),
        "several trees": lambda robot: sum(joint.parent == "world" for joint in robot.joints) > 1,
        "a child before its parent": lambda robot: robot.order != robot.joints,
        "rotor inertia": lambda robot: any(x for joint in robot.joints for x in joint.armature),
        "a joint frame off the child's": lambda robot: any(joint.child_placement != IDENTITY for joint in robot.joints),
    }
    for what, holds in occurs.items():
        assert 10 <= sum(map(holds, robots)) <= 190, what
