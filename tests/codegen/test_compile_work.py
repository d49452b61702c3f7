"""How much the compiler is given to do for the largest robot whose compile times are promised. Times are not judged."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.verification.verify import verify
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.codegen.backends.llvm import engine
from kinemorph.codegen.backends.llvm.engine import BORDER
from kinemorph.codegen.backends.llvm.lanes import emit_lanes
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.single import emit_one
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.deriving import making
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.disk_cache import CodeCache
from kinemorph.model.library import four_bar, pendulum
from kinemorph.model.robot import Robot

# instructions, and those among them that LLVM's passes go over
MOST = {
    "inverse_dynamics_derivatives": (33_000, 400),
    "forward_dynamics_derivatives": (10_400, 5_600),
    "coriolis_matrix": (23_000, 400),
}
DYNAMICS = derive(stored_robot("hexapod36"), backend="interpreter")


def instructions(text: str) -> int:
    return len(re.findall(r"^  (?:%\S+ = |store |call )", text, re.MULTILINE))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("name", MOST)
def test_instructions_stay_below_their_ceiling(name: str, lanes: int) -> None:
    program = getattr(DYNAMICS, name).program
    text = emit_one(program, "float64", True) if lanes == 1 else emit_lanes(program, Real("float64", lanes))
    worked, _, plain = text.partition(BORDER)
    most, most_worked = MOST[name]
    assert 0 < instructions(worked) + instructions(plain) <= most
    assert instructions(worked) <= most_worked


def test_zeros_of_a_sparse_matrix_are_not_stored_one_by_one() -> None:
    program = DYNAMICS.inverse_dynamics_derivatives.program
    text = emit_one(program, "float64", True)
    assert program.refs.count(0) > 2000
    assert text.count("store double 0x0000000000000000") < 50


def test_code_is_judged_as_it_ships() -> None:
    """Some tests of laws make do with less effort (tests/conftest.py); here it is that of the package."""
    assert engine.SPEED == 2
    assert str(engine.SPEED) in engine.facts()  # so that the two never share code in the cache


# ── programs that are called a few times ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def efforts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The optimization levels of everything that is compiled, with an empty cache."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(tmp_path))
    found: list[int | None] = []
    compile_text = engine.compile_text

    def noted(name: str, source: str, speed: int | None = None) -> bytes:
        found.append(speed)
        return compile_text(name, source, speed)

    monkeypatch.setattr(engine, "compile_text", noted)
    return found


def test_a_program_for_few_calls_is_compiled_in_the_least_time(efforts: list[int | None], tmp_path: Path) -> None:
    """An equilibrium of a Stewart platform took 8 s, of which machine code for three evaluations took 4."""
    program = trace(lambda x: [x[0] * x[1] + x[2], x[0] - x[1].sin()], {"x": (3,)})
    fast, slow = build(program, few_calls=True), build(program)
    assert efforts == [engine.LEAST, engine.SPEED]
    assert CodeCache(tmp_path).size()[0] == 2  # neither takes the place of the other
    x = np.random.default_rng(0).normal(size=(40, 3))
    np.testing.assert_allclose(fast(x), slow(x), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(fast(x[0]), slow(x[0]), rtol=1e-14, atol=1e-15)
    assert (fast.effort, slow.effort) == ("least", "best")


def test_very_long_functions_are_compiled_in_the_least_time(
    efforts: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The derivatives of a Stewart platform, 270,000 operations, took 23 s, nearly all of it in the code generator."""
    assert derive(pendulum()).mass_matrix.effort == "best"
    monkeypatch.setattr(making, "MOST_FOR_SPEED", 2)
    assert derive(pendulum()).forward_dynamics.effort == "least"
    assert efforts == [engine.SPEED, engine.LEAST]


def test_verify_compiles_what_it_derives_in_the_least_time(
    efforts: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`verify` of a Stewart platform took 10 s, nearly all of it for code that is called twice."""
    options: list[dict[str, Any]] = []

    def noted(robot: Robot, **given: Any) -> Dynamics:
        options.append(given)
        return derive(robot, backend="interpreter")

    monkeypatch.setattr(import_module("kinemorph.analysis.verification.verify"), "derive", noted)
    assert verify(pendulum(), formulations=()).passed
    assert derive(pendulum(), **options[0]).mass_matrix.effort == "least"
    assert efforts == [engine.LEAST]


def test_derivatives_of_closed_chains_compile_nothing_else_and_are_traced_once(
    efforts: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forward dynamics was compiled on the way, and all was traced and differentiated again in every process."""
    first = derive(four_bar()).forward_dynamics_derivatives
    assert len(efforts) == 1
    monkeypatch.setattr(making, "trace", None)
    again = derive(four_bar()).forward_dynamics_derivatives
    inputs = [np.full(port.shape, 0.1) for port in first.inputs]
    for one, other in zip(first(*inputs), again(*inputs), strict=True):
        assert one.tolist() == other.tolist()
    assert len(efforts) == 1
