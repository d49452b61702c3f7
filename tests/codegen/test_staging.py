"""One program as two: together they do what it does, and every operation is in one of them."""

from __future__ import annotations

import numpy as np

from kinemorph.algebra.scalar import sin
from kinemorph.codegen.compile import build
from kinemorph.codegen.staging import staged
from kinemorph.codegen.tracing import trace


def test_two_stages_do_the_work_of_one() -> None:
    def whole(x: list, a: list, p: float) -> dict:
        s = [sin(x[0] * p), x[1] * x[1]]
        return {"early": [s[0] + s[1], 2.0], "late": [a[0] * s[0] - x[0], -s[1], s[0] * s[1], 0.0]}

    program = trace(whole, {"x": (2,), "a": (1,), "p": ()})
    first, second = staged(program, ("early",), later=("a",))
    assert [port.name for port in first.inputs] == ["x", "p"]
    assert [port.name for port in second.inputs] == ["x", "a", "p", "shared"]
    assert first.ops + second.ops == program.ops
    x, a, p = np.array([0.3, -1.2]), np.array([2.0]), np.array(0.7)
    early, late = build(program, "interpreter")(x, a, p)
    given, shared = build(first, "interpreter")(x, p)
    assert np.array_equal(given, early)
    assert np.array_equal(build(second, "interpreter")(x, a, p, shared), late)


def test_nothing_may_be_shared() -> None:
    program = trace(lambda x, y: {"early": x * x, "late": y + 1.0}, {"x": (), "y": ()})
    first, second = staged(program, ("early",), later=("y",))
    assert first.outputs[-1].shape == (0,) and [port.name for port in second.inputs] == ["x", "y"]
