"""A program has the same bits however it is compiled: products are fused into sums by one rule, and by nothing else."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.backends.llvm import engine
from kinemorph.codegen.backends.llvm.engine import llvm_target
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.model.robot import Robot
from kinemorph.plants import robot_plant
from support.cases.c_programs import needs_cc
from support.robots.random_robots import random_robot, random_states

ROBOTS = {
    "arm": kinemorph.library.scara(),
    "hexapod": kinemorph.library.hexapod24(),
    **{f"random {seed}": random_robot(seed, most=14) for seed in (1, 2, 3)},
}
FUNCTIONS = {
    "mass_matrix": "q",
    "inverse_dynamics": "qva",
    "forward_dynamics": "qvt",
    "inverse_dynamics_derivatives": "qva",
    "forward_dynamics_derivatives": "qvt",
}
needs_fma = pytest.mark.skipif(not llvm_target().get("fma"), reason="the CPU has no fused products")


def ops(program: Program) -> list[str]:
    return [op for _, (op, *_) in fused(program).steps]


def bits(result: object) -> np.ndarray:
    arrays = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(array) for array in arrays]).view(np.uint8)


def test_a_product_that_is_used_once_is_taken_into_its_sum() -> None:
    ports = {"x": (4,)}
    for formula in (lambda a, b, c: a * b + c, lambda a, b, c: c - a * b, lambda a, b, c: a * b - c):
        assert ops(trace(lambda x, f=formula: [f(x[0], x[1], x[2])], ports)) == ["fma"]
    assert ops(trace(lambda x: [x[0] * x[1] + x[2] * x[3]], ports)) == ["mul", "fma"]
    assert ops(trace(lambda x: [x[0] * x[1] + x[2], x[0] * x[1] - x[3]], ports)) == ["mul", "add", "sub"]
    assert ops(trace(lambda x: [x[0] * x[1] + x[2], x[0] * x[1]], ports)) == ["mul", "add"]


def test_fusing_changes_neither_the_program_nor_what_is_fused() -> None:
    program = trace(lambda x: [x[0] * x[1] + x[2]], {"x": (3,)})
    nodes = list(program.graph.nodes)
    again = fused(fused(program))
    assert program.graph.nodes == nodes
    assert again.steps == fused(program).steps


# ── against exact arithmetic ──────────────────────────────────────────────────────────────────────────────────────────


def sums_of_products(seed: int) -> Program:
    """Sums, differences and products of three inputs, with signs, constants, and values that are used several times."""
    draw, graph = random.Random(seed), Graph()
    values = [graph.input(name) for name in "xyz"]
    for _ in range(30):
        a, b = draw.choices(values[-9:], k=2)
        values.append(draw.choice([a * b, a + b, a - b, -(a * b), 0.7 * a * b, b - 1.3 * a]))
    kept = [value for value in values[-12:] if not isinstance(value, float)]
    ports = [Port(name, ()) for name in "xyz"]
    return Program(f"sums{seed}", tuple(ports), (Port("out", (len(kept),)),), graph, tuple(e.ref for e in kept))


def exact(program: Program, given: dict[int, float]) -> list[float]:
    """The outputs by exact arithmetic, rounded after each operation of the fused program."""
    nodes, values = program.graph.nodes, {}

    def value(ref: int) -> Fraction:
        return values[ref] if ref >= 0 else -values[-ref]

    for i in fused(program).order:
        op, *args = fused(program).graph.nodes[i]
        if op == "const":
            values[i] = Fraction(nodes[i][1])
        elif op == "input":
            values[i] = Fraction(given[args[0]])
        else:
            a, b, *c = map(value, args)
            made = {"add": a + b, "sub": a - b, "mul": a * b, "fma": a * b + sum(c)}[op]
            values[i] = Fraction(float(made))
    return [float(value(ref)) for ref in program.refs]


@needs_fma
@pytest.mark.parametrize("seed", range(6))
def test_only_what_the_rule_says_is_rounded_once(seed: int) -> None:
    program = sums_of_products(seed)
    assert "fma" in ops(program)
    states = np.random.default_rng(seed).uniform(-1.0, 1.0, (11, 3))
    expected = np.array([exact(program, dict(enumerate(map(float, state)))) for state in states])
    for few_calls in (False, True):
        function = build(program, few_calls=few_calls)
        assert np.array_equal(function(*states.T.copy()), expected)
        assert all(np.array_equal(function(*state), row) for state, row in zip(states, expected, strict=True))


@needs_fma
@needs_cc
def test_c_rounds_as_machine_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -march=native")
    for seed in range(3):
        program = sums_of_products(seed)
        states = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, 11))
        for precision in ("float64", "float32"):
            made = [build(program, backend, precision=precision)(*states) for backend in ("llvm", "c")]  # type: ignore[arg-type]
            assert np.array_equal(bits(made[0]), bits(made[1]))


# ── mechanics ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ROBOTS)
def test_quick_and_best_code_give_the_same_bits(name: str) -> None:
    robot: Robot = ROBOTS[name]
    dynamics = kinemorph.derive(robot, backend="interpreter")
    states = dict(zip("qvat", random_states(robot, 5, 29), strict=True))
    for function, letters in FUNCTIONS.items():
        program = getattr(dynamics, function).program
        best, quick = (build(program, few_calls=few) for few in (False, True))
        given = [states[letter] for letter in letters]
        assert np.array_equal(bits(best(*given)), bits(quick(*given))), function
        for k in range(len(given[0])):
            one = [array[k] for array in given]
            assert np.array_equal(bits(best(*one)), bits(quick(*one))), function


@pytest.mark.parametrize("name", ["falling_rod", pytest.param("jansen_walker", marks=pytest.mark.slow)])
def test_a_run_with_contacts_has_the_same_bits(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for speed in (engine.LEAST, engine.SPEED):
        monkeypatch.setattr(engine, "SPEED", speed)
        robot_plant.forget_plants()
        run = kinemorph.simulate(getattr(kinemorph.library, name)(), 0.2)
        found.append(bits((run.t, run.q, run.v)))
    robot_plant.forget_plants()
    assert np.array_equal(*found)
