"""The ways to run a program that must all agree with the interpreter: one state, SIMD lanes, C, emitted scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.codegen.backends.c.library import has_compiler
from kinemorph.codegen.backends.text.python import export_python
from kinemorph.codegen.building.compile import build
from support.tools import matlab_in_python

Run = Callable[[Any, Sequence[np.ndarray]], list[np.ndarray]]


def _listed(result: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


def interpreted(program: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Every output, batch first; what is not finite is kept."""
    return _run(program, inputs, "interpreter")


def _run(program: Any, inputs: Sequence[np.ndarray], backend: str) -> list[np.ndarray]:
    """A batch through `raw`, which looks at nothing."""
    n = len(inputs[0])
    function = build(program, backend)
    outs = [np.full((n, *port.shape), 7.0) for port in program.outputs]
    function.raw(outs[0] if len(outs) == 1 else tuple(outs), *map(np.ascontiguousarray, inputs))
    return outs


def _one_by_one(program: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    function = build(program, "llvm")
    n = len(inputs[0])
    outs = [np.full((n, *port.shape), 7.0) for port in program.outputs]
    for k in range(n):
        row = [out[k : k + 1].reshape(port.shape).copy() for out, port in zip(outs, program.outputs, strict=True)]
        function.raw(row[0] if len(row) == 1 else tuple(row), *(np.ascontiguousarray(x[k]) for x in inputs))
        for out, one in zip(outs, row, strict=True):
            out[k] = one
    return outs


def _in_python(program: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The emitted module on a batch."""
    ((_, text),) = export_python([replace(program, name="f")], "model").items()
    module: dict[str, Any] = {}
    exec(compile(text, "model.py", "exec"), module)
    return _listed(module["f"](*inputs))


def _in_matlab(program: Any, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The emitted function, state by state, run as Python."""
    function = matlab_in_python.loaded(program)
    states = [function(*(x[k] for x in inputs)) for k in range(len(inputs[0]))]
    return [np.stack(outs) for outs in zip(*states, strict=True)]


WAYS: dict[str, Run] = {
    "llvm scalar": _one_by_one,
    "llvm lanes": lambda program, inputs: _run(program, inputs, "llvm"),
    "c": lambda program, inputs: _run(program, inputs, "c"),
    "python": _in_python,
    "matlab": _in_matlab,
}
NO_COMPILER = not has_compiler()
all_ways = pytest.mark.parametrize(
    "way",
    [
        pytest.param(name, marks=pytest.mark.skipif(name == "c" and NO_COMPILER, reason="no C compiler (cc) found"))
        for name in WAYS
    ],
)


def assert_agrees(way: str, program: Any, inputs: Sequence[np.ndarray], tolerance: float = 1e-13) -> list[np.ndarray]:
    """Runs a batch one way and by the interpreter; gives the interpreter's outputs."""
    expected = interpreted(program, inputs)
    found = WAYS[way](program, inputs)
    for port, ours, exact in zip(program.outputs, found, expected, strict=True):
        same = (ours == exact) | (np.isnan(ours) & np.isnan(exact))
        with np.errstate(all="ignore"):
            scale = np.maximum(1.0, np.abs(exact).reshape(len(exact), -1).max(axis=1, initial=0.0))
            gap = np.abs(ours - exact).reshape(len(exact), -1).max(axis=1, initial=0.0) / scale
        near = same.reshape(len(exact), -1).all(axis=1) | (gap <= tolerance)
        assert near.all(), f"{port.name}: {ours[~near][:2]} against {exact[~near][:2]}"
    return expected
