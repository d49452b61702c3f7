"""`kinemorph bench modules`: the same assemblies on both sides, and work that grows as it should. No time is judged."""

from __future__ import annotations

import gc
import json
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kinemorph.bench.modules import redocking, redocking_rows
from kinemorph.bench.modules.forward_dynamics import off
from kinemorph.bench.modules.models import GRIDS, grown, organism, tree_grid
from kinemorph.bench.modules.scale import STAGES, exponents
from kinemorph.bench.peers.robots import general_chain
from kinemorph.bench.report import Report
from kinemorph.bench.targets import judge_redocking
from kinemorph.bench.timing import Pace
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import KinemorphError
from kinemorph.formats.assemble import assemble
from kinemorph.mechanics.trees.limbs import like_limbs
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.modules import Assembly, assembly_incidence, traverse
from support.tools.command_line import run


def calls(work: Callable[[], Any]) -> int:
    """How many functions a piece of work calls: the same on every machine, however busy."""
    count = 0

    def look(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()  # what is called when garbage of earlier tests is found does not count
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


WORKS: dict[str, Callable[[str, Assembly], Any]] = {
    "assemble": lambda grid, assembly: assemble(grid),
    "system": lambda grid, assembly: assembly.system(),
    "tables": lambda grid, assembly: (assembly_incidence(assembly), traverse(assembly).paths),
    "trace": lambda grid, assembly: derive(assembly.robot(), backend="interpreter").forward_dynamics.ops,
}


@pytest.mark.parametrize("stage", WORKS)
def test_twice_as_many_modules_are_twice_the_work(stage: str) -> None:
    WORKS[stage](GRIDS["chain"](3), grown("chain", 3))  # imports what is imported when it is first used
    small, medium, large = (
        calls(partial(WORKS[stage], grid, assemble(grid))) for grid in map(GRIDS["chain"], (8, 16, 32))
    )
    assert 1.9 < (large - medium) / (medium - small) < 2.1  # what does not depend on the number of modules cancels
    assert medium / small > 1.8


def test_like_limbs_of_a_chain_are_looked_for_once() -> None:
    small, large = (calls(partial(like_limbs, resolve(general_chain(n)))) for n in (40, 80))
    assert large / small < 2.1


def test_trees_are_trees_the_same_each_time_and_not_chains() -> None:
    tree = grown("tree", 40)
    assert len(tree.modules) == 40 and tree.is_tree and len(tree.organisms) == 1
    assert tree_grid(40) == tree_grid(40) != tree_grid(40, seed=1)
    assert len(traverse(tree).paths) > 3 and len(traverse(grown("chain", 40)).paths) == 1
    # all pairs of a chain but neighbors
    assert len(traverse(grown("chain", 40)).indirect) == 40 * 39 // 2 - 39


def test_exponents_say_what_is_steep() -> None:
    small, large = ({"modules": n, **{stage: 3.0 * n for stage in STAGES}} for n in (100, 200))
    large["trace_ms"], large["idtl_ms"] = 4.0 * small["trace_ms"], 4.0 * small["idtl_ms"]
    found = exponents(small, large)
    assert found["robot_ms"] == pytest.approx(1.0) and found["trace_ms"] == pytest.approx(2.0)
    assert found["steep"] == ["trace_ms"]  # the IDTL may be


def test_dockings_that_are_off_are_off_and_the_same_each_time() -> None:
    assembly = off(organism())
    assert assembly == off(organism())
    found = [math.dist(docking.offset.p, (0.0, 0.0, 0.0)) for docking in assembly.dockings]
    assert len(found) == 8 and min(found) > 1e-4 and max(found) < 0.01


def test_targets_of_a_new_topology() -> None:
    assert judge_redocking(300.0, 10.0).verdict == "met"
    assert judge_redocking(1200.0, 10.0).verdict == "missed: cold 1000"
    assert judge_redocking(300.0, 60.0).verdict == "missed: seen 50"


@pytest.mark.slow
def test_a_chain_longer_than_the_stack_goes_to_mujoco() -> None:
    pytest.importorskip("mujoco")
    from kinemorph.bench.peers.mujoco_twin import MujocoTwin

    assert MujocoTwin(general_chain(480)).model.nv == 480


def test_a_process_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redocking, "SCRIPT", "raise SystemExit('no such module')")
    with pytest.raises(KinemorphError, match="in a new Python process failed: no such module"):
        redocking.redocked("rk4", 1)


@pytest.mark.slow
def test_all_tables_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny sizes, Pinocchio from Python: nothing is built."""
    monkeypatch.setattr("kinemorph.bench.timing.QUICK", Pace(rounds=1, seconds=1e-5))
    monkeypatch.setattr(redocking_rows, "QUICK_SIZES", (3, 6))
    monkeypatch.setattr(redocking_rows, "ROBOTS", (("organism", 9), ("tree", 6)))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    result = run("bench", "modules", "--quick", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in ("scale", "growth", "forward", "redock")}
    assert [(row["shape"], row["modules"]) for row in kinds["scale"]] == [
        *(("chain", 3), ("chain", 6)),
        *(("tree", 3), ("tree", 6)),
    ]
    assert [row["idtl_rows"] for row in kinds["scale"][:2]] == [1, 10]
    assert all(row[stage] > 0.0 for row in kinds["scale"] for stage in STAGES)
    for row in kinds["forward"]:
        assert row["difference"] < 1e-12 and row["mujoco_difference"] < 1e-12 and row["inputs_difference"] < 1e-12
        assert row["peer"] == "pin (Python)" and row["ops"] < row["measured_ops"] < row["inputs_ops"]
    ours = [row for row in kinds["redock"] if row["contestant"] == "Kinemorph"]
    assert [row["change"] for row in ours] == ["undock", "dock"]
    assert all(0.0 < row["seen_ms"] < row["cold_ms"] for row in ours)
    peers = [row for row in kinds["redock"] if row["contestant"] != "Kinemorph"]
    assert {row["contestant"] for row in peers} == {"MuJoCo", "Pinocchio"}
    assert all(row["difference"] < 1e-12 for row in peers)
    page = "".join(grid.markdown() for grid in Report("modules", rows, {"peak_gflops": 1.0})._grids(page=True))
    assert "| chain, exponent | 3 to 6 |" in page and "| organism | 15 |" in page and "| Pinocchio |" in page


def test_modules_have_their_own_robots() -> None:
    result = run("bench", "modules", "--robot", "panda")
    assert result.exit_code == 2 and "`bench modules` has its own robots" in result.stderr
