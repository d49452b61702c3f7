"""One program as several: together they do what it does; every operation is in one of them, what repeats only once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.linear import solve
from kinemorph.algebra.scalar import sin
from kinemorph.codegen.building.compile import build, runnable_backends
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.loops.splitting import EARLY, LATE, SUM, SUMMAND, Spot, Staged, Sums, staged
from kinemorph.errors import CompileError


def together(parts: Staged, inputs: dict[str, tuple[int, ...]], outputs: dict[str, tuple[int, ...]]) -> LoopProgram:
    """Both stages one after the other."""
    loop = LoopBuilder("together", inputs, outputs)
    arrays = {name: loop[name] for name in (*inputs, *outputs)}
    arrays |= {port.name: loop.buffer(port.name, port.shape) for port in parts.carried}
    for name, shape in outputs.items():
        loop.let(loop[name], lambda shape=shape: np.zeros(shape).tolist())
    for stage in (EARLY, LATE):
        parts.write(loop, stage, arrays)
    return loop.program()


def ops(parts: Staged) -> int:
    return sum(part.program.ops for stage in parts.stages for part in stage)


def test_two_stages_do_the_work_of_one() -> None:
    def whole(x: list, a: list, p: Any) -> dict:
        s = [sin(x[0] * p), x[1] * x[1]]
        return {"early": [s[0] + s[1], 2.0], "late": [a[0] * s[0] - x[0], -s[1], s[0] * s[1], 0.0]}

    shapes = {"x": (2,), "a": (1,), "p": ()}
    program = trace(whole, shapes)
    parts = staged(program, ("early",))
    (first,), (second,) = parts.stages
    assert {place.array for place in first.ins} == {"x", "p"}
    assert {place.array for place in second.ins} == {"x", "a", "common, early"}
    assert ops(parts) == program.ops
    state = np.array([0.3, -1.2]), np.array([2.0]), np.array(0.7)
    both = together(parts, shapes, {"early": (2,), "late": (4,)})
    for ours, exact in zip(build(both, "interpreter")(*state), build(program, "interpreter")(*state), strict=True):
        assert np.array_equal(ours, exact)


def test_nothing_may_be_shared() -> None:
    parts = staged(trace(lambda x, y: {"early": x * x, "late": y + 1.0}, {"x": (), "y": ()}), ("early",))
    assert not parts.carried and [len(stage) for stage in parts.stages] == [1, 1]


def test_entries_of_a_block_stay_with_it() -> None:
    """One entry is wanted early and the other late, but the system is solved once."""

    def halves(x: list, y: Any) -> dict:
        (first,), (second,) = solve([[2.0 + x[0], x[1]], [x[1], 3.0]], [[x[0]], [x[1]]])
        return {"early": first, "late": second * y}

    program = trace(halves, {"x": (2,), "y": ()})
    parts = staged(program, ("early",))
    assert [sum(len(part.program.blocks) for part in stage) for stage in parts.stages] == [1, 0]
    state = np.array([0.4, 0.7]), np.array(1.5)
    both = together(parts, {"x": (2,), "y": ()}, {"early": (), "late": ()})
    for ours, exact in zip(build(both, "interpreter")(*state), build(program, "interpreter")(*state), strict=True):
        assert np.array_equal(ours, exact)


# ── copies ────────────────────────────────────────────────────────────────────────────────────────────────────────────

COUNT = 3


def one_copy(x: list, y: list, total: list) -> dict[str, Any]:
    """y[0] belongs to all, y[1:] to a copy, of which there are three; the copy adds y[1] x[0] and minus it again."""
    sums = Sums(total, COUNT)
    shared = sin(x[0])
    own = y[1] * y[2]
    joined = sums(own * shared) + sums(-(own * shared)) * 0.5 + sums(2.0)
    return {
        "early": [[joined * y[0], 0.0], [own + shared, x[1]]],
        "late": [y[2] * own - y[0], joined + x[1]],
        SUMMAND.format(0): sums.summands,
    }


def all_copies(x: list, y: list) -> dict[str, Any]:
    shared, own = sin(x[0]), [y[1 + 2 * k] * y[2 + 2 * k] for k in range(COUNT)]
    joined = sum(o * shared for o in own) * 0.5 + 2.0 * COUNT
    late = [y[2 + 2 * k] * own[k] - y[0] for k in range(COUNT)]
    rows = [[own[k] + shared, *(x[1] * float(i == k) for i in range(COUNT))] for k in range(COUNT)]
    return {"early": [[joined * y[0], *[0.0] * COUNT], *rows], "late": [*late, joined + x[1]]}


SPOTS = {
    "y": [Spot(0), Spot(1, 0, 2), Spot(2, 0, 2)],
    "early": [Spot(0), Spot(1, 0, 1), Spot(COUNT + 1, 0, COUNT + 1), Spot(COUNT + 2, 0, COUNT + 2)],
    "late": [Spot(0, 0, 1), Spot(COUNT)],
}


@pytest.mark.parametrize("backend", runnable_backends())
def test_copies_run_in_a_loop(backend: str) -> None:
    program = trace(one_copy, {"x": (2,), "y": (3,), SUM.format(0): (4,)})
    parts = staged(program, ("early",), [COUNT], SPOTS)
    assert [part.count for stage in parts.stages for part in stage].count(COUNT) == 2
    assert ops(parts) == program.ops + COUNT - 1  # and the sum
    shapes: dict[str, tuple[int, ...]] = {"x": (2,), "y": (1 + 2 * COUNT,)}
    outputs: dict[str, tuple[int, ...]] = {"early": (COUNT + 1, COUNT + 1), "late": (COUNT + 1,)}
    x, y = np.random.default_rng(3).normal(size=(2, 5, 7))
    written = build(trace(all_copies, shapes), "interpreter")
    looped = build(together(parts, shapes, outputs), backend)
    for ours, exact in zip(looped(x[:, :2], y), written(x[:, :2], y), strict=True):
        assert np.abs(ours - exact).max() < 1e-14
    for ours, exact in zip(looped(x[0, :2], y[0]), written(x[0, :2], y[0]), strict=True):
        assert np.abs(ours - exact).max() < 1e-14


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y, total: {"late": [y[1], 0.0]},  # a copy's, where there is one place for all
        lambda x, y, total: {"late": [0.0, y[1]]},
        lambda x, y, total: {"late": [Sums(total, COUNT)(y[1]) * y[2], 0.0]},  # also where it has waited for all
    ],
)
def test_copies_that_are_not_independent_are_refused(wrong: Any) -> None:
    def function(x: list, y: list, total: list) -> dict[str, Any]:
        return {**wrong(x, y, total), SUMMAND.format(0): [y[1]]}

    program = trace(function, {"x": (2,), "y": (3,), SUM.format(0): (1,)})
    spots = {"y": SPOTS["y"], "late": [Spot(0), Spot(1)]}
    with pytest.raises(CompileError, match="depends on several copies"):
        staged(program, (), [COUNT], spots)


# ── rounds ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def relaxed(y: Any, total: Any) -> dict[str, Any]:
    """Twice, every copy is drawn to the mean of all: the second time, to that of what the first has made of them."""
    sums = Sums(total, COUNT)
    for _ in range(2):
        y = y[0] + 0.5 * (sums(y[0]) / COUNT - y[0]), sums(y[1] * y[0])
    return {"out": list(y), SUMMAND.format(0): sums.summands}


@pytest.mark.parametrize("backend", runnable_backends())
def test_copies_may_wait_for_sums_and_be_added_up_again(backend: str) -> None:
    program = trace(relaxed, {"y": (2,), SUM.format(0): (4,)})
    parts = staged(program, (), [COUNT], {"y": [Spot(0, 0, 2), Spot(1, 0, 2)], "out": [Spot(0, 0, 1), Spot(COUNT)]})
    assert [part.count for part in parts.stages[LATE]].count(COUNT) == 3
    looped = build(together(parts, {"y": (2 * COUNT,)}, {"out": (COUNT + 1,)}), backend)
    given = np.random.default_rng(4).normal(size=(2, COUNT, 2))
    for y in given:
        a, b = y.T
        for _ in range(2):
            a, b = a + 0.5 * (a.mean() - a), np.full(COUNT, (b * a).sum())
        assert np.abs(looped(y.ravel()) - [*a, b[0]]).max() < 1e-14


def test_more_sums_than_inputs_for_them_are_refused() -> None:
    with pytest.raises(CompileError, match=r"all inputs that stand for sums \(1\) are in use"):
        trace(relaxed, {"y": (2,), SUM.format(0): (1,)})
