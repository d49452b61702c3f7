"""A plant that was made before runs without being traced again, and is never taken for another one."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

from kinemorph import RobotBuilder, library
from kinemorph.algebra.scalar import sin
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.elements import Effort, ElementLaw, register
from kinemorph.model.elements import PD, AppliedWrench, Contact, HuntCrossley, Regularized, Spring
from kinemorph.model.system import System
from kinemorph.plants import robot_plant
from kinemorph.plants.loop_methods import Projection
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.simulate import simulate


def ball(stiffness: float = 1e4) -> System:
    builder = RobotBuilder("ball").body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4))
    contact = Contact("floor", "ball", HuntCrossley(stiffness, 0.5), Regularized(0.5), radius=0.1)
    return System(builder.joint("float", "free", "world", "ball").build(), (contact,))


def controlled() -> System:
    """A pendulum with a controller that samples."""
    robot = library.pendulum()
    return System(robot, (PD("hold", (robot.joints[0].name,), kp=5.0, kd=0.5, reference=0.3, every=0.01),))


RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "tree": (library.double_pendulum, {}),
    "loop": (library.four_bar, {"q": {"q1": 1.0}}),
    "fast motion": (library.four_bar, {"q": {"q1": 1.0}, "loops": "perturbation"}),
    "partition": (library.four_bar, {"q": {"q1": 1.0}, "loops": "partitioning"}),
    "contact": (ball, {}),
    "controller": (controlled, {}),
    "stiff": (library.double_pendulum, {"method": "rodas"}),
    "variational": (library.double_pendulum, {"method": "variational", "step": 0.005}),
}


@pytest.fixture
def graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """The graphs that are built from now on, with a cache of code and plants of its own."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(robot_plant, "_MADE", WeakValueDictionary())
    built: list[Graph] = []
    plain = Graph.__init__

    def counted(self: Graph) -> None:
        built.append(self)
        plain(self)

    monkeypatch.setattr(Graph, "__init__", counted)
    return built


def end(model: Any, **options: Any) -> bytes:
    run = simulate(model, 0.02, **options)
    assert run.outcome.ok
    return run.q.tobytes() + run.v.tobytes()


@pytest.mark.parametrize("kind", RUNS)
def test_a_second_run_of_the_same_system_builds_no_graph(kind: str, graphs: list[Graph]) -> None:
    make, options = RUNS[kind]
    first = end(make(), **options)
    assert graphs
    graphs.clear()
    assert end(make(), **options) == first and not graphs


def test_plants_in_use_are_shared_without_a_cache_too(graphs: list[Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEMORPH_CACHE", "off")
    run = simulate(controlled(), 0.02)
    graphs.clear()
    again = simulate(controlled(), 0.02)
    assert not graphs and again.segments[0].plant is run.segments[0].plant


CHILD = """
import sys
sys.path[:0] = {paths!r}
from test_plant_recipes import RUNS, Graph, end

built = []
plain = Graph.__init__
Graph.__init__ = lambda self: (built.append(self), plain(self))[1]
for kind in {kinds!r}:
    make, options = RUNS[kind]
    print(end(make(), **options).hex())
print(len(built))
"""


def test_runs_in_another_process_build_no_graph(graphs: list[Graph]) -> None:
    kinds = ("loop", "contact", "controller")
    expected = [end(make(), **options).hex() for make, options in map(RUNS.__getitem__, kinds)]
    code = CHILD.format(paths=[str(Path(__file__).parent), *sys.path], kinds=kinds)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [*expected, "0"]


def test_whatever_is_changed_is_traced(graphs: list[Graph]) -> None:
    """Robot, element, option, method: none of them is taken for another, also where all of them are in the cache."""
    robot = library.double_pendulum()
    pull = Spring("pull", robot.body_names[-1], "world", 40.0, 0.1)
    rows: list[tuple[Any, dict[str, Any]]] = [
        (robot, {}),
        (library.double_pendulum((1.1, float(np.nextafter(0.9, 1.0)))), {}),
        (replace(robot, gravity=(0.0, 0.0, -1.62)), {}),
        (System(robot, (pull,)), {}),
        (System(robot, (replace(pull, stiffness=41.0),)), {}),
        (robot, {"locked": robot.joints[1].name}),
        (robot, {"method": "rk4", "step": 0.01}),
        (
            robot,
            {"method": replace(METHODS["rk4"], name="other dense output", dense=DENSE), "step": 0.01},
        ),
        (robot, {"method": "bogacki_shampine"}),
        (robot, {"method": "bogacki_shampine", "step": None}),
        (library.four_bar(), {"q": {"q1": 1.0}}),
        (library.four_bar(), {"q": {"q1": 1.0}, "loops": Projection(stages=True)}),
        (library.four_bar(), {"q": {"q1": 1.0}, "loops": "baumgarte"}),
    ]
    start = {"v": [0.3, -0.2]}
    found = []
    for model, options in rows:
        graphs.clear()
        given = {"method": "heun", "step": 0.005, **({} if "q" in options else start), **options}
        found.append((model, given, end(model, **given)))
        assert graphs
    for model, given, one in found:  # now all of them are in the cache
        graphs.clear()
        assert end(model, **given) == one and not graphs


DENSE = tuple(tuple(2.0 * x for x in row) for row in METHODS["rk4"].dense)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Drag:
    """A brake of a user's own."""

    name: str
    strength: float = 0.1


class DragLaw(ElementLaw[Drag]):
    def effort(self, element: Drag, scene: Any) -> Effort:
        return Effort(torques={k: -element.strength * rate for k, rate in enumerate(scene.world.v)})


register(Drag, DragLaw())


@pytest.mark.parametrize(
    "options",
    [
        {"forces": lambda q: [sin(x) for x in q]},
        {"states": {"z": ""}, "state_rates": lambda x: [-x[0]]},
    ],
)
def test_python_functions_have_no_recipe(options: dict[str, Any]) -> None:
    """What a function computes may change with whatever it reads."""
    assert plant(library.double_pendulum()).recipe is not None
    assert plant(library.double_pendulum(), **options).recipe is None


def test_elements_with_functions_or_of_own_classes_have_no_recipe() -> None:
    robot = library.double_pendulum()
    body = robot.body_names[-1]
    assert plant(System(robot, (Spring("rope", body, "world", 40.0, 0.1),))).recipe is not None
    push = AppliedWrench("push", body, force=lambda t: (t, 0.0, 0.0))
    for element in (push, Drag("drag")):
        assert plant(System(robot, (element,))).recipe is None


def test_a_law_that_is_replaced_is_not_the_recipes() -> None:
    made = plant(library.double_pendulum())
    assert made.recipe is not None
    assert replace(made, laws=replace(made.laws, rate=lambda at: at.s)).recipe is None


def test_recalled_functions_do_not_keep_a_plant_alive(graphs: list[Graph]) -> None:
    for _ in range(2):
        run = simulate(library.pendulum(), 0.02)
        assert run.a.shape == (3, 1)
        seen = weakref.ref(run.segments[0].plant)
        del run
        gc.collect()
        assert seen() is None


def test_outputs_of_the_user_stay_with_their_plant() -> None:
    robot = library.double_pendulum()
    made = plant(robot, outputs={"height": lambda q: q[0]})
    assert made.recipe == plant(robot).recipe
    assert "height" in made.outputs and "height" not in plant(robot).outputs
