"""How much arithmetic the equations of the benchmark robots take, and that it still gives the right numbers.

The ceilings are products and sums of the best formulation known when they were set, what runs in a loop counted once;
the graphs must not grow beyond them. Times are printed with the figures, not judged: they belong to the machine.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.peers.robots import stored_robot
from kinemorph.deriving.dynamics import derive
from support.peers.pinocchio_peer import PinocchioPeer
from support.robots.random_robots import random_states
from support.tools.each_case import each_case

CEILINGS = {
    "hexapod24": {"inverse_dynamics": 2248, "mass_matrix": 1302, "forward_dynamics": 5112},
    "hexapod36": {"inverse_dynamics": 3514, "mass_matrix": 2582, "forward_dynamics": 8556},
    "chain50": {"inverse_dynamics": 7926, "forward_dynamics": 21526, "mass_matrix": 20284},
}
DERIVATIVE_CEILINGS = {
    "hexapod24": {"inverse_dynamics_derivatives": 8229, "forward_dynamics_derivatives": 2523},
    "hexapod36": {
        "inverse_dynamics_derivatives": 16285,
        "forward_dynamics_derivatives": 4307,
        "coriolis_matrix": 12550,
    },
    "chain50": {"inverse_dynamics_derivatives": 113008},
}
PAIRS = [(name, each) for row in (CEILINGS, DERIVATIVE_CEILINGS) for name in row for each in row[name]]


@each_case(("name", "function"), PAIRS)
def test_arithmetic_stays_below_its_ceiling(name: str, function: str, record_property: Any) -> None:
    program = getattr(derive(stored_robot(name), backend="interpreter"), function).program
    count = sum(program.op_counts.get(op, 0) for op in ("add", "sub", "mul"))
    ceiling = (CEILINGS[name] | DERIVATIVE_CEILINGS[name])[function]
    record_property("figure", ("products and sums", f"{name} {function}, of {ceiling}", count))
    assert count <= ceiling


@pytest.mark.parametrize("name", CEILINGS)
def test_the_cheap_equations_are_the_right_ones(name: str) -> None:
    robot = stored_robot(name)
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
    robot, best = stored_robot("hexapod36"), np.inf
    for _ in range(5):
        start = time.perf_counter()
        dynamics = derive(robot, backend="interpreter")
        made = [dynamics.inverse_dynamics, dynamics.mass_matrix, dynamics.forward_dynamics]
        taken = time.perf_counter() - start - sum(function.compile_seconds for function in made)
        best = min(best, taken)
    record_property("figure", ("build time", "three graphs of hexapod36 [s]", float(best)))
    assert all(function.ops > 1000 for function in made)
