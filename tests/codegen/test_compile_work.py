"""How much the compiler is given to do for the largest robot whose compile times are promised. Times are not judged."""

from __future__ import annotations

import re

import pytest

from kinemorph.bench.peers.robots import stored_robot
from kinemorph.codegen.backends.llvm import engine
from kinemorph.codegen.backends.llvm.engine import BORDER
from kinemorph.codegen.backends.llvm.lanes import emit_lanes
from kinemorph.codegen.backends.llvm.math import Real
from kinemorph.codegen.backends.llvm.single import emit_one
from kinemorph.deriving.dynamics import derive

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
