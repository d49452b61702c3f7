"""A plant that was made before runs without being traced again, and is never taken for another one."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pytest

from kinemorph import Guard, RobotBuilder, derive, library
from kinemorph.algebra.scalar import sin
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.deriving import making
from kinemorph.elements import Effort, ElementLaw, register
from kinemorph.model.elements import PD, AppliedWrench, Contact, Coulomb, HuntCrossley, Regularized, Rigid, Spring
from kinemorph.model.modules import Assembly, Docking, Module, scout
from kinemorph.model.system import Settings, System
from kinemorph.plants import robot_plant
from kinemorph.plants.loop_methods import Projection
from kinemorph.plants.recipe import recipe_of
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.integrators.methods import METHODS
from kinemorph.simulation.simulate import simulate
from support.tools.some_slow import first


def ball(stiffness: float = 1e4) -> System:
    builder = RobotBuilder("ball").body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4))
    contact = Contact("floor", "ball", HuntCrossley(stiffness, 0.5), Regularized(0.5), radius=0.1)
    return System(builder.joint("float", "free", "world", "ball").build(), (contact,))


def block(mu: float, restitution: float) -> System:
    """A block that flies over rigid ground in the x-z plane, and does not turn."""
    builder = RobotBuilder("block").body("carriage", mass=0.1).body("block", mass=1.0)
    builder.joint("x", "prismatic", "world", "carriage", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "carriage", "block", axis=(0, 0, 1))
    return System(builder.build(), (Contact("foot", "block", Rigid(restitution), Coulomb(mu)),))


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


@pytest.mark.parametrize("kind", first(RUNS, 2))
def test_a_second_run_of_the_same_system_builds_no_graph(kind: str, graphs: list[Graph]) -> None:
    make, options = RUNS[kind]
    first = end(make(), **options)
    assert graphs
    graphs.clear()
    assert end(make(), **options) == first and not graphs


def test_rigid_contacts_are_compiled_once_for_all_friction_and_restitution(graphs: list[Graph]) -> None:
    """Each value of mu was text of the program, and compiled anew for 4 to 25 s."""
    start = {"q": [0.0, 0.2], "v": [1.0, -2.0], "method": "dormand_prince"}
    first = simulate(block(0.3, 0.5), 0.2, **start)
    count = len(graphs)
    other = simulate(block(0.4, 0.6), 0.2, **start)
    assert len(graphs) == count + 1  # only the values of guards at the start are traced, and not compiled
    same = simulate(block(0.3, 0.5), 0.2, p={"foot.mu": 0.4, "foot.restitution": 0.6}, **start)
    assert np.array_equal(same.q, other.q) and not np.array_equal(same.q, first.q)
    recipes = [plant(block(*numbers)).recipe for numbers in ((0.3, 0.5), (0.4, 0.6), (0.0, 0.5), (0.3, 0.0))]
    assert recipes[0] == recipes[1] and len({*recipes}) == 3  # what is 0 needs less computation


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


@pytest.mark.slow
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


def test_a_system_keeps_its_plants_as_long_as_it_lives() -> None:
    """Runs of one system make its plant once for each choice of options, pickles leave it out, and it is freed."""
    system = System(library.double_pendulum(), (), Settings(q=(0.3, 0.1)))

    def made(model: System = system, **options: Any) -> Any:
        return simulate(model, 0.02, **options).segments[0].plant

    assert made() is made() and made(locked="q2") is made(locked="q2")
    assert made() is not made(locked="q2") and made(p={}) is made()
    assert made(forces=lambda t: [t, 0.0]) is not made(forces=lambda t: [t, 0.0])
    assert len(pickle.dumps(system)) == len(pickle.dumps(replace(system)))
    seen = weakref.ref(made())
    del system, made
    gc.collect()
    assert seen() is None


def test_outputs_of_the_user_stay_with_their_plant() -> None:
    robot = library.double_pendulum()
    made = plant(robot, outputs={"height": lambda q: q[0]})
    assert made.recipe == plant(robot).recipe
    assert "height" in made.outputs and "height" not in plant(robot).outputs


# ── what is shared, and what is not ───────────────────────────────────────────────────────────────────────────────────


def test_initial_states_of_other_number_types_are_told_apart() -> None:
    """A start that is not of plain floats must not make one plant stand for all."""
    arm = library.double_pendulum()
    starts = [tuple(np.array([1, 0])), tuple(np.array([0, 1])), (np.float32(0.5), 0)]
    runs = [simulate(System(arm, (), Settings(q=q)), 0.01) for q in starts]
    runs.append(simulate(System(library.crane(), (), Settings(q=starts[0])), 0.01))
    assert [run.name for run in runs] == ["double_pendulum"] * 3 + ["crane"]
    assert [tuple(run.q[0].tolist()) for run in runs[:3]] == [(1.0, 0.0), (0.0, 1.0), (0.5, 0.0)]


def test_a_system_with_another_start_is_another_plant() -> None:
    arm = library.double_pendulum()
    first, second = (simulate(System(arm, (), Settings(q=q)), 0.01) for q in ((0.3, 0.0), (0.0, 0.3)))
    assert first.q[0].tolist() == [0.3, 0.0] and second.q[0].tolist() == [0.0, 0.3]


def test_guards_read_their_surroundings_in_every_run() -> None:
    limit = [0.5]
    guard = Guard("limit", lambda q: q[0] - limit[0], stop=True)
    first = simulate(library.pendulum(), 5.0, q=[1.0], events=guard)
    limit[0] = 0.2
    second = simulate(library.pendulum(), 5.0, q=[1.0], events=guard)
    assert abs(first.q[-1, 0] - 0.5) < 1e-6 and abs(second.q[-1, 0] - 0.2) < 1e-6
    assert first.segments[0].plant is not second.segments[0].plant


def test_plants_of_users_are_their_own_and_cannot_be_changed_in_place() -> None:
    robot = library.pendulum()
    mine = plant(robot)
    assert mine is not plant(robot)
    with pytest.raises(TypeError):
        mine.start["q"] = (1.0,)  # type: ignore[index]
    with pytest.raises(TypeError):
        mine.outputs["twice"] = lambda q: q[0]  # type: ignore[index]


def test_plants_of_other_assemblies_are_not_shared() -> None:
    """Two systems may have the same robot and differ in the modules that it is made of, which docking events read."""
    duo = Assembly("duo", (Module("m0", scout()), Module("m1", scout())), (Docking("m0", 3, "m1", 4),))
    first = duo.system()
    second = replace(first, assembly=replace(duo, name="other"))
    runs = [simulate(system, 0.01) for system in (first, second)]
    plants = [run.segments[0].plant for run in runs]
    assert plants[0].recipe == plants[1].recipe is not None
    assert [made.assembly for made in plants] == [first.assembly, second.assembly]
    assert simulate(first, 0.01).segments[0].plant is plants[0]


def test_laws_of_the_same_name_in_two_files_have_two_recipes() -> None:
    robot = library.double_pendulum()
    loaded = plant(System(robot, (Spring("rope", robot.body_names[-1], "world", 40.0, 0.1),))).laws.rate.args[0]  # type: ignore[attr-defined]
    member = loaded.elements.members[0]
    kind = type(member.law)
    names = {"__module__": "kinemorph" + ".elsewhere", "__qualname__": kind.__qualname__}
    other = member._replace(law=type(kind.__name__, (kind,), names)())
    same = member._replace(law=kind())
    recipes = [
        recipe_of(replace(loaded, elements=replace(loaded.elements, members=(one,)))) for one in (member, same, other)
    ]
    assert recipes[0] == recipes[1] != recipes[2] and None not in recipes


def test_functions_are_recalled_for_the_same_limits_of_unrolled_code_only(
    graphs: list[Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    robot, unrolled, built = library.double_pendulum(), making.MOST_PAIRS, []
    for most in (unrolled, -1, unrolled):
        graphs.clear()
        monkeypatch.setattr(making, "MOST_PAIRS", most)
        _ = derive(robot).mass_matrix
        built.append(bool(graphs))
    assert built == [True, True, False]
