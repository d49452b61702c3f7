"""Forward derivatives of robots with many joints: columns are solved in loops, with the same result as written out."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.bench.peers.robots import stored_robot
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.deriving import making
from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.derivatives.axis_arrays import axis_parents
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.library.choosing import choose
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_robot, random_states


def ordered(seed: int) -> bool:
    parents = axis_parents(resolve(random_robot(seed, most=14)))
    return all(parent < k for k, parent in enumerate(parents))


SEEDS = [seed for seed in range(60) if ordered(seed)][:10]


def both_ways(
    monkeypatch: pytest.MonkeyPatch, robot: Robot, backend: str, wrenches: tuple[str, ...] = ()
) -> list[CompiledFunction]:
    """The function written out, and in loops."""
    made = []
    monkeypatch.setattr(making, "MOST_PAIRS", 10**9)
    monkeypatch.setattr(making, "MOST_FACTORS", 10**9)
    for most, kind in ((10**9, Program), (-1, LoopProgram)):
        monkeypatch.setattr(making, "MOST_COLUMNS", most)
        function = derive(robot, backend=backend, wrenches=wrenches).forward_dynamics_derivatives
        assert isinstance(function.program, kind)
        made.append(function)
    return made


@pytest.mark.parametrize(
    "robot", [*SEEDS[:4], *(pytest.param(k, marks=pytest.mark.slow) for k in SEEDS[4:]), "hexapod24", "humanoid"]
)
def test_loops_give_what_is_written_out(monkeypatch: pytest.MonkeyPatch, robot: int | str) -> None:
    model = choose(robot).robot if isinstance(robot, str) else random_robot(robot, most=14)
    q, v, tau, _ = random_states(model, 1, 2)
    written, looped = (function(q, v, tau) for function in both_ways(monkeypatch, model, "interpreter"))
    condition = np.linalg.cond(derive(model, backend="interpreter").mass_matrix(q)).max()
    for ours, exact in zip(looped, written, strict=True):
        assert np.abs(ours - exact).max() <= 1e-14 * condition * max(1.0, np.abs(exact).max())


@pytest.mark.slow
def test_one_state_and_a_batch_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both run the loops, one in plain numbers and one in lanes."""
    robot = choose("hexapod24").robot
    q, v, tau, _ = random_states(robot, 3, 9)
    w = np.random.default_rng(5).normal(size=(9, 1, 6))
    written, looped = both_ways(monkeypatch, robot, "llvm", (robot.body_names[-1],))
    batch = looped(q, v, tau, w)
    for k in (0, 8):
        for ours, theirs, exact in zip(
            looped(q[k], v[k], tau[k], w[k]), batch, written(q[k], v[k], tau[k], w[k]), strict=True
        ):
            assert np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max()
            assert np.abs(ours - theirs[k]).max() <= 1e-11 * np.abs(exact).max()


def test_large_hexapods_run_in_loops_by_themselves() -> None:
    robots = ((choose("puma").robot, False), (stored_robot("hexapod24"), True), (stored_robot("hexapod36"), True))
    for robot, loops in robots:
        program = derive(robot, backend="interpreter").forward_dynamics_derivatives.program
        assert isinstance(program, LoopProgram if loops else Program)
