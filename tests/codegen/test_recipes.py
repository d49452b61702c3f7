"""Programs recalled by what they are made from: never traced in vain, never taken for another."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.codegen.backends.llvm import engine
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.storing import recipes
from kinemorph.codegen.storing.recipes import source_digest, written
from kinemorph.deriving import making
from kinemorph.deriving.dynamics import derive
from kinemorph.disk_cache import CODE, OUTLINE, source_lines
from kinemorph.model.library import pendulum, puma

Q = np.random.default_rng(3).normal(size=6)


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of programs that are traced from now on, with a cache of their own."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(tmp_path / "kept"))
    names: list[str] = []
    plain = making.trace

    def counted(*args, name: str, **options) -> Program:
        names.append(name)
        return plain(*args, name=name, **options)

    monkeypatch.setattr(making, "trace", counted)
    return names


def test_what_was_made_before_is_not_traced_again(traced: list[str]) -> None:
    cold = derive(puma()).gravity_forces
    assert traced == ["puma.gravity_forces"]
    warm = derive(puma()).gravity_forces
    assert warm(Q).tobytes() == cold(Q).tobytes() and (warm.ops, warm.name) == (cold.ops, cold.name)
    assert repr(warm) == repr(cold) and len(traced) == 1
    assert warm.program.refs == cold.program.refs and len(traced) == 2  # when somebody asks for it
    assert warm.source == cold.source


def test_batches_and_messages_need_no_graph_either(traced: list[str]) -> None:
    states = np.tile(Q, (9, 1))
    cold = derive(puma()).gravity_forces(states)
    warm = derive(puma()).gravity_forces
    assert warm(states).tobytes() == cold.tobytes()
    with pytest.raises(ValueError, match="input 'q' has shape"):
        warm(np.zeros(5))
    assert traced == ["puma.gravity_forces"]


def test_another_robot_setting_or_function_is_traced(traced: list[str]) -> None:
    robot = puma()
    derive(robot).gravity_forces  # noqa: B018
    others = [
        derive(replace(robot, gravity=(0.0, 0.0, -1.62))).gravity_forces,
        derive(robot, wrenches=robot.body_names[-1]).bias_forces,
        derive(robot).bias_forces,
        derive(pendulum(1.0, 1.0), parameters="all").gravity_forces,
        derive(pendulum(1.0, 1.0)).gravity_forces,
        derive(pendulum(1.0, np.nextafter(1.0, 2.0))).gravity_forces,
    ]
    assert len(traced) == 1 + len(others)


def test_an_outline_without_its_code_is_followed_from_the_start(traced: list[str], tmp_path: Path) -> None:
    cold = derive(puma()).gravity_forces(Q)
    for path in (tmp_path / "kept").glob(f"*{CODE}"):
        path.unlink()
    assert derive(puma()).gravity_forces(Q).tobytes() == cold.tobytes() and len(traced) == 2


def test_a_damaged_outline_is_none(traced: list[str], tmp_path: Path) -> None:
    cold = derive(puma()).gravity_forces(Q)
    for path in (tmp_path / "kept").glob(f"*{OUTLINE}"):
        path.write_bytes(path.read_bytes()[:-1])
    assert derive(puma()).gravity_forces(Q).tobytes() == cold.tobytes() and len(traced) == 2


def test_recipes_are_plain_data() -> None:
    assert written((1.0, "a", None, (2,))) == written((1.0, "a", None, (2,)))
    texts = [written(x) for x in (1, 1.0, True, "1", (1,), [1], ((1,),), 0.1, np.nextafter(0.1, 1.0), "('a','b')")]
    assert len({*texts}) == len(texts) and None not in texts
    assert written(("a", "b")) != written(("a','b",))
    assert written((1.0, lambda: 0)) is None and written(written) is None


def test_any_source_file_that_traces_counts(tmp_path: Path) -> None:
    (tmp_path / "mechanics").mkdir()
    file = tmp_path / "mechanics" / "law.py"
    file.write_text("a = 1")
    before = source_digest(tmp_path)
    source_digest.cache_clear()
    file.write_text("a = 2")
    assert source_digest(tmp_path) != before


REACH = """
import sys
import kinemorph as k

ball = k.RobotBuilder("ball")
ball.body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4))
ball.joint("float", "free", "world", "ball")
contact = k.elements.Contact("floor", "ball", k.elements.HuntCrossley(1e4, 0.5), k.elements.Regularized(0.5))
for robot in (k.library.pendulum(), k.library.four_bar(), k.library.hexapod24()):
    dynamics = k.derive(robot)
    dynamics.forward_dynamics
    dynamics.mass_matrix
k.derive(k.library.pendulum(), formulation="closed_form").bias_forces
k.plants.plant(k.library.scara())
k.simulate(k.System(ball.build(), (contact,)), 0.01)
k.simulate(k.library.pendulum(), 0.01, method="rodas")
print("\\n".join(name for name in sys.modules if name.partition(".")[0] == "kinemorph"))
"""

EMIT = """
import sys
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.tracing import trace

build(trace(lambda x: x.sin(), {"x": ()}, name="f"), "llvm")(1.0)
print(*sys.modules)
"""


def test_every_module_that_runs_take_part_in_is_watched_for_changes() -> None:
    """Machine code is found by what made it: a module that `derive`, `plant` or `simulate` reaches has to count."""
    package = Path(kinemorph.__file__).parent
    ran = subprocess.run([sys.executable, "-c", REACH], capture_output=True, text=True, check=True)
    reached = {module.replace(".", "/") for module in ran.stdout.split()}
    watched = {
        line.partition(b" ")[0].decode().removesuffix(".py").removesuffix("/__init__")
        for line in source_lines(package, recipes.NO_SAY)
    }
    ours = {path.removeprefix("kinemorph/") for path in reached - {"kinemorph"}}
    assert len(ours) > 150
    assert ours <= watched, f"not watched: {sorted(ours - watched)}"


def test_what_emits_code_is_watched_for_changes() -> None:
    """Modules that are loaded where a program is compiled, without any robot."""
    package = Path(kinemorph.__file__).parent
    ran = subprocess.run([sys.executable, "-c", EMIT], capture_output=True, text=True, check=True)
    reached = {name for name in ran.stdout.split() if name.startswith("kinemorph.")}
    files = {line.partition(b" ")[0].decode() for line in source_lines(package, engine.NO_SAY)}
    watched = {"kinemorph." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in files}
    assert len(reached) > 30 and reached <= watched, f"not watched: {sorted(reached - watched)}"
