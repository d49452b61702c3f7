"""How much arithmetic the equations of the benchmark robots take, and that it still gives the right numbers.

The ceilings are products and sums of the best formulation known when they were set; the graphs must not grow beyond
them. Times are printed with the figures, not judged: they belong to the machine.
"""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose
from kinemorph.deriving import derive
from kinemorph.model.body import Body
from kinemorph.model.joint import JOINT_KINDS, Joint
from kinemorph.model.robot import Robot
from peers import PinocchioPeer
from random_robots import random_states

FILE = Path(__file__).parents[1] / "data" / "bench_robots.json"
CEILINGS = {
    "hexapod24": {"inverse_dynamics": 2248, "mass_matrix": 1302, "forward_dynamics": 5112},
    "hexapod36": {"inverse_dynamics": 3514, "mass_matrix": 2582, "forward_dynamics": 8556},
    "chain50": {"inverse_dynamics": 7926, "forward_dynamics": 21526, "mass_matrix": 20284},
}
DERIVATIVE_CEILINGS = {
    "hexapod24": {"inverse_dynamics_derivatives": 8229, "forward_dynamics_derivatives": 27705},
    "hexapod36": {"inverse_dynamics_derivatives": 16285, "forward_dynamics_derivatives": 63287},
    "chain50": {"inverse_dynamics_derivatives": 113008},
}
PAIRS = [(name, each) for row in (CEILINGS, DERIVATIVE_CEILINGS) for name in row for each in row[name]]


@cache
def bench_robot(name: str) -> Robot:
    """A robot of the file, put together without the builder: some of its inertias are numbers no real body has."""
    bodies, joints = [], []
    for n, link in enumerate(json.loads(FILE.read_text())["robots"][name]["links"]):
        nv = JOINT_KINDS[link["kind"]].nv
        bodies.append(Body(f"b{n}", link["mass"], tuple(link["com"]), rows(link["inertia_at_com"])))
        joints.append(
            Joint(
                f"j{n}",
                link["kind"],
                "world" if link["parent"] < 0 else f"b{link['parent']}",
                f"b{n}",
                Pose(rows(link["rotation"]), tuple(link["translation"])),
                axis=tuple(link["axis"]),
                armature=(0.0,) * nv,
                lower=(-np.inf,) * JOINT_KINDS[link["kind"]].nq,
                upper=(np.inf,) * JOINT_KINDS[link["kind"]].nq,
            )
        )
    return Robot(name, tuple(bodies), tuple(joints))


def rows(matrix: Any) -> Any:
    return tuple(map(tuple, matrix))


@pytest.mark.parametrize(("name", "function"), PAIRS)
def test_arithmetic_stays_below_its_ceiling(name: str, function: str, record_property: Any) -> None:
    program = getattr(derive(bench_robot(name), backend="interpreter"), function).program
    count = sum(program.op_counts.get(op, 0) for op in ("add", "sub", "mul"))
    ceiling = (CEILINGS[name] | DERIVATIVE_CEILINGS[name])[function]
    record_property("figure", ("products and sums", f"{name} {function}, of {ceiling}", count))
    assert count <= ceiling


@pytest.mark.parametrize("name", CEILINGS)
def test_the_cheap_equations_are_the_right_ones(name: str) -> None:
    robot = bench_robot(name)
    q, v, a, tau = random_states(robot, 1, 2)
    peer, dynamics = PinocchioPeer(robot), derive(robot, backend="interpreter")
    M, needed, moved = dynamics.mass_matrix(q), dynamics.inverse_dynamics(q, v, a), dynamics.forward_dynamics(q, v, tau)
    for k in range(2):
        M_ref, tau_ref = peer.mass_matrix(q[k]), peer.inverse_dynamics(q[k], v[k], a[k])
        a_ref = peer.forward_dynamics(q[k], v[k], tau[k])
        assert np.abs(M[k] - M_ref).max() < 1e-12 * np.abs(M_ref).max()
        assert np.abs(needed[k] - tau_ref).max() < 1e-12 * np.abs(tau_ref).max()
        tolerance = min(1e-13 * np.linalg.cond(M_ref), 1e-8)
        assert np.abs(moved[k] - a_ref).max() < tolerance * np.abs(a_ref).max()


def test_the_three_graphs_of_the_large_hexapod_are_built_in_a_moment(record_property: Any) -> None:
    """The target is 0.1 s on a quiet machine; here only the time is taken."""
    robot, best = bench_robot("hexapod36"), np.inf
    for _ in range(5):
        start = time.perf_counter()
        dynamics = derive(robot, backend="interpreter")
        made = [dynamics.inverse_dynamics, dynamics.mass_matrix, dynamics.forward_dynamics]
        taken = time.perf_counter() - start - sum(function.compile_seconds for function in made)
        best = min(best, taken)
    record_property("figure", ("build time", "three graphs of hexapod36 [s]", float(best)))
    assert all(function.ops > 1000 for function in made)
