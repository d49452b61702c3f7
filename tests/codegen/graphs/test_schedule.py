"""Schedules: every operation once, arguments first, chunks within their lengths, slots never overwritten too soon."""

import random
import re

import numpy as np
import pytest

from kinemorph.codegen.backends.llvm import module, single
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs import schedule
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.graph import LEAVES, Graph
from kinemorph.codegen.graphs.program import Port, Program


def recursion(length: int, seed: int = 0) -> Program:
    """A program like those of mechanics: a sweep out and a sweep back over a chain, values kept for the way back."""
    rng = random.Random(seed)
    graph = Graph()
    q = [graph.input(f"q{k}") for k in range(8)]
    state = [q[0], q[1], q[2]]
    kept = []
    for k in range(length):
        angle = q[k % 8] * rng.uniform(0.5, 1.5) + 0.1 * k
        c, s = angle.cos(), angle.sin()
        x, y, z = state
        state = [c * x - s * y, s * x + c * y, z + 0.1 * x * y / (2.0 + z * z)]
        kept.append((c, s, state[2]))
    outs = []
    for c, s, z in reversed(kept):
        x, y, _ = state
        state = [c * x + s * y + 0.01 * z, c * y - s * x, z]
        outs.append(state[0])
    outs = outs[:: max(1, length // 6)][:6]
    return Program(
        f"recursion{length}", (Port("q", (8,)),), (Port("y", (len(outs),)),), graph, tuple(y.ref for y in outs)
    )


def check(program: Program, plan: schedule.Plan) -> None:
    """Runs the plan on names instead of numbers: each argument must be in a register or unspoiled in its slot."""
    nodes = program.graph.nodes
    done = [i for chunk in plan.chunks for i in chunk]
    assert sorted(done) == [i for i, _ in program.steps]
    scratch: dict[int, int] = {}
    for chunk in plan.chunks:
        registers: set[int] = set()
        for i in chunk:
            for arg in map(abs, nodes[i][1:]):
                if nodes[arg][0] not in LEAVES and arg not in registers:
                    assert scratch[plan.slots[arg]] == arg, f"node {arg} is gone when node {i} reads it"
            registers.add(i)
            if i in plan.slots:
                scratch[plan.slots[i]] = i
    assert all(0 <= slot < plan.scratch for slot in plan.slots.values())


@pytest.mark.parametrize("length", [5, 60, 400])
@pytest.mark.parametrize("lengths", [(10, 25), (100, 200)])
def test_plans_are_sound(length, lengths):
    program = recursion(length)
    plan = schedule.plan(program, whole=30, shortest=lengths[0], longest=lengths[1])
    check(program, plan)
    assert all(len(chunk) <= lengths[1] for chunk in plan.chunks)
    assert all(len(chunk) >= lengths[0] for chunk in plan.chunks) or len(plan.chunks) == 1


def test_slots_are_used_again():
    plan = schedule.plan(recursion(400), whole=30, shortest=20, longest=40)
    assert plan.scratch < len(plan.slots)


def test_short_programs_stay_whole():
    plan = schedule.plan(recursion(20))
    assert len(plan.chunks) == 1
    assert plan.scratch == 0


def test_long_program_is_cut_evenly():
    """The structure behind linear compile time: pieces of bounded length, few values between them."""
    program = fused(recursion(1500))
    assert len(program.steps) > 20_000
    plan = schedule.plan(program)
    assert max(map(len, plan.chunks)) <= schedule.LONGEST
    assert len(program.steps) / schedule.LONGEST <= len(plan.chunks) <= len(program.steps) / schedule.SHORTEST
    assert len(plan.slots) < len(program.steps) / 3
    text = single.emit_one(program, "float64", False)
    assert len(re.findall(r"define internal void @main\.\d+\(", text)) == len(plan.chunks)


def test_borders_are_where_little_crosses():
    """A program of two independent halves of equal length is cut exactly between them."""
    graph = Graph()
    x = graph.input("x")
    refs = []
    for half in range(2):
        values = [(x + float(100 * half + k + 1)).sqrt() for k in range(40)]
        total = values[0]
        for value in values[1:]:
            total = total * value
        refs.append(total.ref)
    program = Program("halves", (Port("x", ()),), (Port("y", (2,)),), graph, tuple(refs))
    plan = schedule.plan(program, whole=10, shortest=70, longest=150)
    assert len(plan.chunks) == 2
    assert plan.slots == {}


@pytest.mark.parametrize("sizes", [(8, 16), (50, 100), (300, 600)])
@pytest.mark.slow
def test_chunks_do_not_change_the_result(sizes, monkeypatch):
    program = recursion(120)
    q = np.random.default_rng(3).normal(size=(20, 8))
    whole = build(program)(q)
    monkeypatch.setenv("KINEMORPH_CACHE", "off")  # the plan is not part of the key
    monkeypatch.setattr(module, "plan", lambda p: schedule.plan(p, whole=1, shortest=sizes[0], longest=sizes[1]))
    cut = build(program)
    assert "@main.2(" in cut.source
    np.testing.assert_allclose(cut(q), whole, rtol=1e-12)
    np.testing.assert_allclose(whole, build(program, "interpreter")(q), rtol=1e-12)
