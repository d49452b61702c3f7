"""Robots with many joints: the products of pairs of axes run in loops, with the same result as written out."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import verify
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.branch_matrix import Forest
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.deriving import making
from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.derivatives.axis_arrays import axis_parents
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.library import build
from kinemorph.model.library.choosing import choose
from support.robots.random_robots import random_robot, random_states

FUNCTIONS = ("mass_matrix", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def ordered(seed: int) -> bool:
    parents = axis_parents(resolve(random_robot(seed, most=14)))
    return all(parent < k for k, parent in enumerate(parents))


SEEDS = [seed for seed in range(40) if ordered(seed)][:8]


def both_ways(monkeypatch: pytest.MonkeyPatch, robot, name: str, states: tuple) -> tuple:
    """A function written out and in loops, at states."""
    results = []
    monkeypatch.setattr(making, "MOST_COLUMNS", 10**9)
    for most, kind in ((10**9, Program), (-1, LoopProgram)):
        monkeypatch.setattr(making, "MOST_PAIRS", most)
        function = getattr(derive(robot, backend="interpreter"), name)
        assert isinstance(function.program, kind)
        found = function(*states[: len(function.program.inputs)])
        results.append(found if isinstance(found, tuple) else (found,))
    return tuple(results)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "robot", [*SEEDS[:4], *(pytest.param(k, marks=pytest.mark.slow) for k in SEEDS[4:]), "hexapod24"]
)
def test_loops_give_what_is_written_out(monkeypatch: pytest.MonkeyPatch, name: str, robot: int | str) -> None:
    model = choose(robot).robot if isinstance(robot, str) else random_robot(robot, most=14)
    q, v, a, _ = random_states(model, 1, 2)
    written, looped = both_ways(monkeypatch, model, name, (q, v, a))
    condition = np.linalg.cond(derive(model, backend="interpreter").mass_matrix(q)).max()
    for ours, exact in zip(looped, written, strict=True):
        assert np.abs(ours - exact).max() <= 1e-14 * condition * max(1.0, np.abs(exact).max())


@pytest.mark.slow
def test_long_chains_run_in_loops_by_themselves() -> None:
    robot = choose("chain:60").robot
    d = derive(robot)
    q, v, a, tau = random_states(robot, 0, 3)
    assert isinstance(d.mass_matrix.program, LoopProgram)
    assert Forest(axis_parents(resolve(robot))).pairs == 60 * 59 // 2
    M = d.mass_matrix(q)
    assert np.allclose(M, M.swapaxes(1, 2), rtol=1e-13)
    taus = d.inverse_dynamics(q, v, a) - d.bias_forces(q, v)
    assert np.abs(np.einsum("nij,nj->ni", M, a) - taus).max() < 1e-10 * np.abs(taus).max()
    dq, dv, da = d.inverse_dynamics_derivatives(q, v, d.forward_dynamics(q, v, tau))
    assert np.allclose(da, M, rtol=1e-12, atol=1e-12)
    fq, fv, ft = d.forward_dynamics_derivatives(q, v, tau)
    for ours, theirs in ((fq, dq), (fv, dv), (ft, -np.broadcast_to(np.eye(60), M.shape))):
        assert np.abs(M @ ours + theirs).max() < 1e-9 * max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("name", FUNCTIONS[1:])
def test_outside_wrenches_enter_the_loops(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    robot = choose("chain:5").robot
    q, v, a, _ = random_states(robot, 2, 3)
    w = np.random.default_rng(5).normal(size=(3, 1, 6))
    found = []
    for most in (10**9, -1):
        monkeypatch.setattr(making, "MOST_PAIRS", most)
        function = getattr(derive(robot, wrenches=[robot.body_names[-1]]), name)
        found.append([function(q, v, a, w), function(q[0], v[0], a[0], w[0])])
    for written, looped in zip(*found, strict=True):
        for ours, exact in zip(looped, written, strict=True):
            assert np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max()
    monkeypatch.setattr(making, "MOST_PAIRS", -1)
    free = getattr(derive(robot), name)(q, v, a)
    assert np.abs(free[0] - found[1][0][0]).max() > 1e-3  # the wrenches do enter


def test_a_mass_matrix_in_loops_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rate, for dM/dt = C + C^T, is that of the same matrix as straight-line code."""
    monkeypatch.setattr(making, "MOST_PAIRS", -1)
    dynamics = derive(build("puma"), backend="interpreter")
    assert isinstance(dynamics.mass_matrix.program, LoopProgram)
    checks = {check.name: check.status for check in verify(dynamics, states=2, formulations=[]).checks}
    assert checks["passivity"] == "passed" and "failed" not in checks.values()


def test_small_robots_are_written_out() -> None:
    assert isinstance(derive(build("hexapod36"), backend="interpreter").mass_matrix.program, Program)
