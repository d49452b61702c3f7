"""Experiments of studies: items as batches of runs, their measures, and what determines results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, Parameter, RobotBuilder, elements, library, load, simulate, simulate_batch
from kinemorph.analysis.identification.with_parameters import with_parameters
from kinemorph.errors import KinemorphError, ShapeError
from kinemorph.model.system import System
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studies.experiments import experiment as experiment_module
from kinemorph.studies.experiments import simulated as simulated_module
from kinemorph.studies.experiments.cases import Case, alike
from kinemorph.studies.experiments.experiment import experiment_of
from kinemorph.studies.experiments.setups import Setup
from kinemorph.studies.items import Items, items_of, label_column
from kinemorph.studies.outcomes import Chunk, State
from support.studies.experiments import ITEMS, computed, double_pendulum, items, span, swings

# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_measures_are_those_of_a_plain_batch_to_the_last_bit() -> None:
    system, given = double_pendulum(), swings()
    found = computed(experiment_of(system, ["q.q1", "q.q1 + 2 * m1", "t", span], until=0.5), given)
    columns = {name: given.column(name).numbers for name in given.names}
    start: dict[str, Any] = {"q": {"q1": columns["q.q1"]}, "v": {"q2": columns["v.q2"]}, "p": {"m1": columns["m1"]}}
    batch = simulate_batch(system, 0.5, **start)
    assert found.names == ("q.q1", "q.q1 + 2 * m1", "t", "span") and (found.states == State.DONE).all()
    assert np.array_equal(found.measures[:, 0], batch.final.q[:, 0])
    assert np.array_equal(found.measures[:, 1], batch.final.q[:, 0] + 2.0 * columns["m1"])
    assert np.array_equal(found.measures[:, 3], [span(run) for run in batch])


@pytest.mark.parametrize("size", [1, 2, 7])
def test_results_do_not_depend_on_chunks_or_their_order(size: int) -> None:
    given = swings()
    experiment = experiment_of(double_pendulum(), ["q.q1", "v.q2", span], until=0.3)
    whole = computed(experiment, given, keep="all")
    order = np.random.default_rng(size).permutation(ITEMS)
    measures, runs = np.full_like(whole.measures, np.nan), dict[int, bytes]()
    for first in range(0, ITEMS, size):
        some = order[first : first + size]
        part = experiment.compute(Chunk(some, given.taken(some), "all"))
        measures[some] = part.measures
        runs |= part.runs
    assert measures.tobytes() == whole.measures.tobytes() and runs == whole.runs
    plain = experiment_of(double_pendulum(), ["q.q1", "v.q2"], until=0.3)
    assert computed(plain, given).measures.tobytes() == whole.measures[:, :2].tobytes()  # with few samples, too


def test_an_item_does_not_depend_on_the_parts_of_others() -> None:
    experiment = experiment_of(double_pendulum(), "q.q1", until=0.2, q={"q1": 0.5})
    some = items({"m1": [1.2, np.nan, 1.2], "v.q2": [np.nan, 0.3, 0.3]})
    assert [group.tolist() for group in experiment.groups(some)] == [[0], [1], [2]]
    alone = computed(experiment, items({"m1": [1.2]}))
    assert computed(experiment, some).measures[0] == alone.measures[0]


def test_the_run_of_an_item_again_ends_at_its_measures() -> None:
    given = swings()
    experiment = experiment_of(double_pendulum(), ["q.q1", "v.q2"], until=0.3)
    run = experiment.run_of(given[5])
    assert np.array_equal(computed(experiment, given).measures[5], [run.q[-1, 0], run.v[-1, 1]]) and len(run) == 31


def test_kept_runs_are_files_of_the_runs(tmp_path: Path) -> None:
    given = items({"q.q1": [0.1, 0.2]})
    experiment = experiment_of(double_pendulum(), {"odd": lambda run: np.nan if run.q[0, 0] > 0.15 else 1.0}, until=0.1)
    found = computed(experiment, given, keep="failed")
    assert found.causes == {1: "measure 'odd' is nan; expected a finite number."} and [*found.runs] == [1]
    path = tmp_path / "run.npz"
    path.write_bytes(found.runs[1])
    assert np.array_equal(load_trajectory(path).q, experiment.run_of(given[1]).q)


def test_a_measure_that_changes_its_run_changes_no_other_measure_and_no_kept_run() -> None:
    def spoiled(run: Trajectory) -> float:
        run.q[:] = run["q.q1"][:] = 7.0
        return 1.0

    measures = {"a": span, "b": spoiled, "c": span}
    for one in (double_pendulum(), lambda: simulate(double_pendulum(), 0.1, q={"q1": 0.1})):
        options = {"until": 0.1, "q": {"q1": 0.1}} if isinstance(one, System) else {}
        given = Items((), 1)
        found = computed(experiment_of(one, measures, **options), given, keep="all")
        assert found.measures[0, 0] == found.measures[0, 2] > 0.0
        assert found.runs == computed(experiment_of(one, {"a": span}, **options), given, keep="all").runs


def test_ends_steps_and_methods_are_parts() -> None:
    system, start = double_pendulum(), {"q1": 0.4}
    experiment = experiment_of(system, ["q.q1", "t"], q=start)
    found = computed(experiment, items({"until": [0.1, 0.2, -1.0]}))
    runs = [simulate_batch(system, end, q=start).final for end in (0.1, 0.2)]
    assert np.array_equal(found.measures[:2], [[run.q[0, 0], run.t[0]] for run in runs])
    assert "until is -1 s" in found.causes[2]
    for given in ({"rtol": 1e-3}, {"atol": 1e-3}):  # options of adaptive steps end where a step is a part
        stepped = computed(experiment_of(system, "q.q1", until=0.1, q=start, **given), items({"step": [0.01]}))
        assert stepped.measures[0, 0] == simulate_batch(system, 0.1, q=start, step=0.01).final.q[0, 0]
    pushed = System(library.pendulum(), starts={"pushed": {"q": {"q1": 0.2}, "u": {"q1": 3.0}}})
    found = computed(experiment_of(pushed, "q.q1", until=0.1), items({"start": ["pushed"], "v.q1": [1.0]}))
    batch = simulate_batch(pushed, 0.1, start="pushed", v={"q1": 1.0})
    assert found.measures[0, 0] == batch.final.q[0, 0]
    methods = computed(experiment_of(system, "q.q1", q=start, until=0.1, step=0.01), items({"method": ["rk4", "heun"]}))
    for k, name in enumerate(("rk4", "heun")):
        assert methods.measures[k, 0] == simulate_batch(system, 0.1, q=start, step=0.01, method=name).final.q[0, 0]


def test_elements_starts_and_numbers_are_chosen_by_labels() -> None:
    system = replace(double_pendulum(), starts={"bent": {"q": {"q1": 0.5}}, "turned": {"q": {"q2": 0.5}}})
    stiff = elements.TorsionSpring("spring", "q1", Parameter("k", 50.0))
    objects = {"spring": {"soft": elements.TorsionSpring("spring", "q1", 1.0), "stiff": stiff}, "m1": {"heavy": 3.0}}
    experiment = experiment_of(system, "q.q1", objects=objects, until=0.2)
    given = items(
        {"spring": ["soft", "stiff", "stiff"], "k": [np.nan, 20.0, 30.0], "start": ["bent", "bent", "turned"]}
    )
    found = computed(experiment, given)
    assert len(experiment.groups(given)) == 3
    sprung = replace(system, elements=(stiff,))
    expected = [
        simulate_batch(sprung, 0.2, p={"k": k}, start=start).final.q[0, 0]
        for k, start in ((20.0, "bent"), (30.0, "turned"))
    ]
    assert found.measures[1:, 0].tolist() == expected
    heavy = computed(experiment, items({"m1": ["heavy"], "start": ["bent"]}))
    assert heavy.measures[0, 0] == simulate_batch(system, 0.2, p={"m1": 3.0}, start="bent").final.q[0, 0]


def test_inertial_numbers_integrals_and_guards() -> None:
    path = elements.Integral("path", ("v.q1",), of="magnitude")
    low = Guard("low", lambda q: q[0], stop=True)
    experiment = experiment_of(double_pendulum(), [path, "t"], until=5.0, q={"q1": 0.5}, events=low)
    found = computed(experiment, items({"link2.Ixx": [0.4, 0.5], "link2.Iyy": [0.4, 0.5]}))
    assert found.states.tolist() == [1, 1]
    assert np.allclose(found.measures[:, 0], 0.5, rtol=1e-9)  # from 0.5 rad to 0
    wide = with_parameters(double_pendulum(), {"link2.Ixx": 0.5, "link2.Iyy": 0.5})
    assert found.measures[1, 1] == pytest.approx(simulate(wide, 5.0, q={"q1": 0.5}, events=low).t[-1], rel=1e-9)
    wrong = computed(experiment, items({"link2.Iyy": [0.8]}))
    assert "the triangle inequality fails" in wrong.causes[0]


def test_model_files_and_run_plans_run_as_the_command_line_runs_them() -> None:
    file = Path(__file__).parents[1] / "data" / "models" / "four_bar.toml"
    system = load(file)
    joint = system.robot.q_names[0]
    plain = computed(experiment_of(file, f"q.{joint}", until=0.1), Items((), 1))
    assert plain.measures[0, 0] == pytest.approx(system.run({"time": 0.1}).q[-1, 0], rel=1e-10)
    given = items({f"q.{joint}": [0.3, 0.4]})
    found = computed(experiment_of(system, f"q.{joint}", run={"time": 0.1}), given)
    alone = system.run({"time": 0.1, "q": {joint: 0.4}})
    assert found.measures[1, 0] == pytest.approx(alone.q[-1, 0], rel=1e-10)


SLIDER = """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body name="shoe" pos="0 0 0.1">
  <joint name="along" type="slide" axis="1 0 0"/><joint name="up" type="slide" axis="0 0 1"/>
  <joint name="aside" type="slide" axis="0 1 0" range="0.5 1" limited="true"/>
  <geom type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>"""


def test_friction_of_contacts_from_the_file_is_a_part_and_starts_beyond_limits_are_told(tmp_path: Path) -> None:
    file = tmp_path / "shoe.xml"
    file.write_text(SLIDER)
    measured = experiment_of(file, "q.along", until=0.2, run={"v": {"along": 1.0}})
    found = computed(measured, items({"ground.mu": [0.1, 0.4], "q.aside": [0.5, 0.6]}))
    assert found.measures[:, 0] == pytest.approx([0.2 - 0.5 * mu * 9.81 * 0.2**2 for mu in (0.1, 0.4)], rel=2e-2)
    assert not found.warnings
    beyond = computed(measured, items({"ground.mu": [0.1, 0.4], "q.aside": [0.5, 0.2]}))
    assert "aside started beyond the limits" in beyond.warnings[0]


def test_what_a_batch_cannot_do_is_simulated_one_by_one_and_told() -> None:
    held = elements.PythonController("hold", lambda t, q: -3.0 * q, every=0.02, reads="q.q1", drives="q1")
    system = replace(double_pendulum(), elements=(held,))
    found = computed(experiment_of(system, ["q.q1", span], until=0.1, q={"q1": 0.4}), items({"m1": [1.0, 1.3]}))
    run = simulate(system, 0.1, q={"q1": 0.4}, p={"m1": 1.3})
    assert found.measures[1].tolist() == [run.q[-1, 0], span(run)]
    assert any("one by one" in sentence for sentence in found.warnings)


def test_items_that_cannot_begin_fail_alone() -> None:
    robot = library.four_bar()
    experiment = experiment_of(robot, f"q.{robot.q_names[0]}", until=0.05)
    given = items({"q.q1": [0.5, 0.6, 0.7], "q.q2": [np.nan, 40.0, np.nan]})
    found = computed(experiment, given)
    assert found.states.tolist() == [1, 2, 1] and "batch" not in found.causes[1]


def test_causes_belong_to_their_items_wherever_these_are_in_a_chunk() -> None:
    given = items({"v.q1": [1.0, 1e160, 1.0, 1.0], "u.q1": [np.nan, 1.0, 1.0, -2.0]})  # the first has its own program
    measures = {"root": "sqrt(1 + u.q1)", "end": "t"}
    found = computed(experiment_of(library.pendulum(), measures, until=0.01), given)
    assert {k: cause.split(";")[0].split(":")[-1].strip() for k, cause in found.causes.items()} == {
        1: "the motion diverges. Check the gains, forces and sample times that act there.",
        3: "measure 'root' is nan",
    }
    expected = [[1.0, 0.01], [np.nan, np.nan], [np.sqrt(2.0), 0.01], [np.nan, np.nan]]  # all or none
    assert np.array_equal(found.measures, expected, equal_nan=True)


def test_batches_are_cut_to_their_room_and_halved_where_items_cannot_begin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual, counts = Setup.batch, list[int]()

    def picky(self: Setup, values: Any, count: int, **named: Any) -> Any:
        counts.append(count)
        if (values["q.q1"] == 0.2).any():
            raise ShapeError("nobody begins there.")
        return usual(self, values, count, **named)

    def low(run: Trajectory) -> float:
        return float(run.q[0, 0]) if run.q[0, 0] < 0.4 else np.nan

    monkeypatch.setattr(Setup, "batch", picky)
    monkeypatch.setattr(simulated_module, "ROOM", 1)
    monkeypatch.setattr(simulated_module, "LEAST", 4)
    starts = [0.2, 0.1, 0.3, 0.4, 0.15, 0.25]
    found = computed(experiment_of(library.pendulum(), low, until=0.01), items({"q.q1": starts}), keep="failed")
    assert counts == [4, 2, 1, 1, 2, 1, 2]  # four with two halves, the run to be kept again, and the last two
    assert found.causes[0] == "nobody begins there." and [*found.causes] == [0, 3] and [*found.runs] == [3]
    assert found.measures[[1, 2, 4, 5], 0].tolist() == [0.1, 0.3, 0.15, 0.25]
    (tmp_path / "run.npz").write_bytes(found.runs[3])
    assert load_trajectory(tmp_path / "run.npz").q[0, 0] == 0.4


def test_items_are_alike_by_all_their_labels_however_many_parts_they_have() -> None:
    labels, rows = [f"{k}" for k in range(127)], np.tile(np.arange(40), 2)
    columns = [label_column(f"p{k:02d}", rows if k == 0 else np.zeros(80), labels) for k in range(12)]
    found = alike(items_of(columns), [one.name for one in columns], ())
    assert [group.tolist() for group in found] == [[k, k + 40] for k in range(40)]


# ── functions as models ───────────────────────────────────────────────────────────────────────────────────────────────


def quotient(a: float, b: float = 1.0) -> float:
    return a / b


def test_functions_get_values_and_return_measures() -> None:
    given = items({"a": [1.0, 2.0], "b": [2.0, 0.0]})
    found = computed(experiment_of(quotient), given)
    assert found.names == ("value",) and found.measures[0, 0] == 0.5
    assert (
        "'quotient' failed with ZeroDivisionError" in found.causes[1] and "test_experiments.py, line" in found.causes[1]
    )

    def several(a: float, seed: int) -> dict[str, float]:
        return {"seed": seed % 1000, "double": 2.0 * a}

    many = computed(experiment_of(several), items({"a": [1.0, 2.0]}))
    assert many.names == ("double", "seed") and many.measures[:, 1].tolist() == [
        items({"a": [a]}).seed(0) % 1000 for a in (1.0, 2.0)
    ]


def test_functions_return_systems_and_runs() -> None:
    def braced(brace: float) -> System:
        return replace(double_pendulum(), elements=(elements.TorsionSpring("brace", "q1", brace),))

    given = items({"brace": [5.0, 9.0], "q.q1": [0.2, 0.3]})
    found = computed(experiment_of(braced, "q.q1", until=0.1), given)
    assert found.measures[1, 0] == simulate_batch(braced(9.0), 0.1, q={"q1": 0.3}).final.q[0, 0]
    run = simulate(braced(5.0), 0.1, q={"q1": 0.2})
    assert computed(experiment_of(lambda a: run, [span]), items({"a": [0.0]})).measures[0, 0] == span(run)
    models = experiment_of({"one": braced(5.0), "two": lambda: braced(9.0)}, "q.q1", until=0.1)
    chosen = computed(models, items({"model": ["one", "two"], "q.q1": [0.2, 0.3]}))
    assert np.array_equal(chosen.measures, found.measures)
    same = computed(experiment_of(lambda a: braced(5.0), "q.q1", until=0.1, q={"q1": 0.2}), items({"a": [0.0, 1.0]}))
    assert np.array_equal(same.measures[:, 0], found.measures[[0, 0], 0])  # equal systems are simulated once


# ── what is wrong ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"m11": [1.0]},
            "part 'm11': 'double_pendulum' has no parameter of that name. Did you mean 'm1'?",
        ),
        ({"stepp": [1.0]}, "Did you mean 'step'?"),
        ({"q.q3": [1.0]}, "has no coordinate 'q3'"),
        ({"method": ["dop85"]}, "there is no method 'dop85'. Did you mean 'dop853'?"),
        ({"method": ["rk4"]}, "method 'rk4' needs a fixed step size"),
        ({"start": ["home"]}, "there is no start 'home'"),
        ({"run": ["walk"]}, "there is no run 'walk'"),
        ({"gait": ["trot"]}, "part 'gait' has the choice 'trot'"),
        ({"model": [1.0]}, "part 'model' has numbers"),
    ],
)
def test_names_that_fit_nothing_are_told_before_any_work(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(KinemorphError) as error:
        experiment_of(double_pendulum(), "q.q1", until=0.1).check(items(values))
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("measures", "sentence"),
    [
        ("q.q1 + q.knee", "measure 'q.q1 + q.knee' names 'q.knee'"),
        ({"far": 3}, "measure 'far' is 3; expected"),
        ({"far": lambda run, k: 0.0}, "has the arguments (run, k)"),
        ({"far": lambda q: q[7]}, "measure 'far' failed with IndexError"),
        (lambda run: 0.0, "has no name of its own"),
        (["t", "t"], "measure 't' is given twice"),
    ],
)
def test_wrong_measures_are_told_before_any_work(measures: Any, sentence: str) -> None:
    with pytest.raises(KinemorphError) as error:
        experiment_of(double_pendulum(), measures, until=0.1).check(items({"m1": [1.0]}))
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.nan, "measure 'far' is nan; expected a finite number."),
        (np.inf, "measure 'far' is inf; expected a finite number."),
        (np.ones(3), "measure 'far' has the shape (3,); expected one number."),
        (None, "measure 'far' is None; expected one number."),
        pytest.param(10**400, "measure 'far' is beyond the largest float; expected a finite number.", id="huge"),
    ],
)
def test_measures_that_are_no_numbers_fail_their_item(value: Any, sentence: str) -> None:
    given = items({"a": [1.0]})
    assert computed(experiment_of(lambda a: {"far": value}), given).causes == {0: sentence}
    run = simulate(double_pendulum(), 0.01)
    assert computed(experiment_of(lambda a: run, {"far": lambda run: value}), given).causes == {0: sentence}


def test_wrong_functions_and_options_are_told() -> None:
    for model, values, sentence in (
        (quotient, {"b": [1.0]}, "needs a value of 'a'"),
        (quotient, {"a": [1.0], "c": [1.0]}, "has no such argument"),
        (None, {"a": [1.0]}, "None is given"),
        ({"one": quotient}, {"model": ["two"]}, "there is no model 'two'"),
        (7, {"a": [1.0]}, "expected a System"),
    ):
        with pytest.raises(KinemorphError, match=sentence):
            experiment_of(model).check(items(values))
    with pytest.raises(KinemorphError, match=r"no option 'rtool'.* Did you mean 'rtol'\?"):
        experiment_of(quotient, rtool=1e-6)


def test_a_run_is_watched_between_its_ends_where_its_coordinates_may_fail() -> None:
    """The second angle swings through 90 degrees and back, where the angles of a gimbal describe no motion."""
    leg = Body.box("leg", 1.0, (0.1, 0.2, 0.3), (0.0, 0.0, -0.3))
    robot = RobotBuilder("swing").add(leg).joint("hip", "gimbal", "world", "leg").build()
    experiment = experiment_of(robot, {"angle": "q.hip.second"}, until=0.8, method="rk4", step=0.01)
    found = computed(experiment, items({"v.hip.second": [1.0, 9.0]}))
    assert found.states.tolist() == [State.DONE, State.FAILED]
    assert found.causes[1].startswith("At t = 0.22 s gimbal 'hip' comes to its singular angle")


def test_a_process_keeps_the_setups_that_it_used_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_module, "MOST_SETUPS", 2)
    experiment = experiment_of(library.pendulum(), {"angle": "q.q1"}, until=0.01, q=[0.1])

    def setup(method: str) -> Setup:
        return experiment._simulation(experiment.model(), Case((("method", method),), ()), "").setup

    first, second = setup("rk4"), setup("euler")
    assert setup("rk4") is first and setup("euler") is second  # none is made twice while there is room
    assert setup("rk4") is first
    setup("midpoint")
    assert len(experiment._simulated) == 2 and setup("rk4") is first and setup("euler") is not second
