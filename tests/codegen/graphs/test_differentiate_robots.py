"""Programs of robots, differentiated on the graph, against dual numbers: equations of motion of every joint kind."""

from __future__ import annotations

import time

import numpy as np
import pytest

from kinemorph.codegen.derivatives.differentiate import forward, hessian, jacobian, pattern, reverse, sparse_jacobian
from kinemorph.codegen.graphs.ports import detached
from kinemorph.codegen.graphs.program import Program
from kinemorph.deriving.dynamics import derive
from kinemorph.model.library import build
from support.references.derivative_oracles import by_duals, run
from support.robots.random_robots import random_robot, random_states
from support.tools.some_slow import first

OPEN = ("pendulum", "double_pendulum", "crane", "scara", "puma", "hexapod24", "humanoid")


def blocks_of(program: Program, whole: np.ndarray) -> list[np.ndarray]:
    """The columns of d(outputs)/d(inputs), one block for each input."""
    return np.split(whole, np.cumsum([port.size for port in program.inputs])[:-1], axis=1)


def close(found, expected, tolerance=1e-11):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


def check(program: Program, *state: np.ndarray) -> None:
    """Both modes, dense and sparse, and one direction and one gradient agree with dual numbers in every input."""
    (out,) = (port.name for port in program.outputs)
    inputs = [port.name for port in program.inputs]
    whole = by_duals(program, np.concatenate(state))
    expected = blocks_of(program, whole)
    for mode in ("forward", "reverse"):
        found = run(jacobian(detached(program), out, inputs, mode=mode), *state)
        for part, wanted in zip(found, expected, strict=True):
            close(part.reshape(wanted.shape), wanted)
    for name, wanted in zip(inputs, expected, strict=True):
        sparse = sparse_jacobian(detached(program), out, name)
        dense = np.zeros_like(wanted)
        dense[sparse.rows, sparse.cols] = run(sparse.program, *state)
        close(dense, wanted)
        assert not wanted[~pattern(program, out, name)].any()
    rng = np.random.default_rng(1)
    rates, weights = [rng.normal(size=x.shape) for x in state], rng.normal(size=len(whole))
    close(np.ravel(run(forward(program), *state, *rates)), whole @ np.concatenate(rates))
    gradient = run(reverse(program), *state, weights.reshape(program.outputs[0].shape))
    close(np.concatenate(gradient), weights @ whole)


@pytest.mark.parametrize("name", first(OPEN, 5))
def test_inverse_dynamics_of_library_robots(name):
    robot = build(name)
    q, v, a, _ = (x[0] for x in random_states(robot, 3, 1))
    check(derive(robot, backend="interpreter").inverse_dynamics.program, q, v, a)


@pytest.mark.parametrize("seed", range(4))
def test_forward_dynamics_of_random_robots(seed):
    robot = random_robot(seed, most=8)
    q, v, _, tau = (x[0] for x in random_states(robot, seed, 1))
    check(derive(robot, backend="interpreter").forward_dynamics.program, q, v, tau)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_dynamics_of_a_hundred_random_robots(seed):
    robot = random_robot(seed, most=20)
    q, v, a, tau = (x[0] for x in random_states(robot, seed, 1))
    dynamics = derive(robot, backend="interpreter")
    check(dynamics.inverse_dynamics.program, q, v, a)
    check(dynamics.forward_dynamics.program, q, v, tau)


def test_forward_dynamics_with_a_loop():
    """Rows that repeat others are passed over; the derivative is right where differences can tell."""
    program = derive(build("four_bar"), backend="interpreter").forward_dynamics.program
    state = [np.array(x) for x in ([0.6, 0.02989836, 1.6066907], [0.3, -0.2, 0.4], [1.0, 0.5, -0.7])]
    out = program.outputs[0].name
    for mode in ("forward", "reverse"):
        by_v, by_tau = run(jacobian(detached(program), out, ("v", "tau"), mode=mode), *state)
        expected = blocks_of(program, by_duals(program, np.concatenate(state)))
        close(by_v, expected[1])
        close(by_tau, expected[2])
        q, v, tau = state
        for k, step in enumerate(np.eye(3) * 1e-6):
            close(by_v[:, k], (run(program, q, v + step, tau) - run(program, q, v - step, tau)) / 2e-6, 1e-7)


def test_constraint_forces_of_a_loop():
    """They come from a least squares, and its derivative is right where differences can tell."""
    program = derive(build("four_bar"), backend="interpreter").constraint_forces.program
    assert program.blocks
    q, v, tau = (np.array(x) for x in ([0.6, 0.02989836, 1.6066907], [0.3, -0.2, 0.4], [1.0, 0.5, -0.7]))
    for mode in ("forward", "reverse"):
        by_tau = run(jacobian(detached(program), "multipliers", "tau", mode=mode), q, v, tau)
        for k, step in enumerate(np.eye(3) * 1e-6):
            ends = [run(program, q, v, tau + sign * step)[0] for sign in (1.0, -1.0)]
            close(by_tau[:, k], (ends[0] - ends[1]) / 2e-6, 1e-7)


def test_mass_matrix_is_the_derivative_of_inverse_dynamics_and_of_the_energy():
    """M = d tau / d a = d2 T / d v2: three programs that know nothing of each other."""
    robot = build("puma")
    dynamics = derive(robot, backend="interpreter")
    q, v, a, _ = (x[0] for x in random_states(robot, 5, 1))
    M = dynamics.mass_matrix(q)
    motion, energy = dynamics.inverse_dynamics.program, dynamics.energy.program
    close(run(jacobian(motion, motion.outputs[0].name, "a"), q, v, a), M)
    close(run(hessian(energy, energy.outputs[0].name, "v"), q, v), M)


def test_seconds_and_sizes_of_a_large_jacobian(record_property):
    """36 degrees of freedom in 73 directions: no larger than it has been. The time is a figure, not judged."""
    robot = build("hexapod36")
    program = detached(derive(robot, backend="interpreter").inverse_dynamics.program)
    out = program.outputs[0].name
    start = time.perf_counter()
    derived = jacobian(program, out, ("q", "v"))
    record_property("figure", ("derivatives", "hexapod36 d(ID)/d(q,v) seconds to build", time.perf_counter() - start))
    record_property("figure", ("derivatives", "hexapod36 d(ID)/d(q,v) products and sums", derived.flops))
    assert derived.flops < 23_500
    assert jacobian(detached(program), out, "v").flops < 13_200
