"""Functional mock-up units: one small FMU in all its functions, and what is refused.

SEEDS 001-02, 001-03: the model leaves as running code.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import kinemorph
from kinemorph import Guard, Robot, RobotBuilder, System
from kinemorph.algebra.scalar import sin
from kinemorph.elements import PythonController
from kinemorph.errors import KinemorphError, ModelWarning, UnsupportedError
from kinemorph.programs import Job, make_job, write_program
from kinemorph.programs.fmi import binaries
from kinemorph.programs.fmi.description import unit_definition
from kinemorph.programs.targets.fmu import fmu_files
from support.cases.c_programs import needs_cc
from support.tools.command_line import parsed, run

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed on this computer")
from fmpy.validation import validate_fmu  # noqa: E402

from support.tools.fmu_instances import Instance, null_calls  # noqa: E402

TIMES = [0.01 * k for k in range(21)]


OPTIONS: dict[str, Any] = {
    "output_step": 0.01,
    "rtol": 1e-10,
    "forces": lambda t: [0.4 * sin(3.0 * t)],
    "events": Guard("wall", lambda q: q[0] + 0.1, "falling", reset=lambda v: {"v": [-0.5 * v[0]]}),
}  # a torque that depends on time, and a wall that is hit after 0.62 s


def damped() -> Robot:
    """A pendulum with friction in its joint."""
    robot = kinemorph.library.pendulum()
    return replace(robot, joints=(replace(robot.joints[0], damping=(0.3,)),))


def pendulum() -> Job:
    return make_job(damped(), 0.2, q=[0.5], parameters="all", **OPTIONS)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_program(pendulum(), "fmu3", tmp_path_factory.mktemp("fmu") / "swing.fmu", systems="this")[0]


@pytest.fixture
def made(file: Path, tmp_path: Path) -> Iterator[Instance]:
    yield Instance(file, tmp_path / "made")


@needs_cc
def test_fmpy_finds_nothing_and_the_run_is_that_of_simulate(file: Path) -> None:
    assert file.name == "swing.fmu" and validate_fmu(str(file)) == []
    wanted = kinemorph.simulate(damped(), 0.2, q=[0.5], **OPTIONS)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(str(file), fmi_type=kind, output_interval=0.01, relative_tolerance=1e-11)
        assert np.abs(found["time"] - wanted.t).max() < 1e-12
        assert np.abs(found["q.q1"] - wanted.q[:, 0]).max() < 1e-8
        assert np.abs(found["v.q1"] - wanted.v[:, 0]).max() < 1e-8


@needs_cc
def test_states_are_restored_bitwise_and_two_instances_are_apart(file: Path, made: Instance, tmp_path: Path) -> None:
    names = ("time", "q.q1", "v.q1")
    other = Instance(file, tmp_path / "made").begin(q__q1=-0.3)
    made.begin()
    first = made.steps(TIMES[:11], *names)
    state = made.saved()
    other.steps(TIMES[:6], *names)
    rest = made.steps(TIMES[10:], *names)
    made.restore(state)
    assert np.array_equal(made.get(*names), first[-1])
    assert np.array_equal(made.steps(TIMES[10:], *names), rest)
    other.restore(state)  # a state is of the FMU, and not of one of its instances
    assert np.array_equal(other.steps(TIMES[10:], *names), rest)
    other.fmu.reset()
    assert other.begin().get("q.q1") == 0.5
    with pytest.raises(Exception, match="fmi3DeserializeFMUState failed with status 3"):
        made.restore(state[:-1])
    assert made.said[-1] == "fmi3DeserializeFMUState: the bytes are not a state of this FMU."


@needs_cc
def test_derivatives_are_those_of_linearize(file: Path, tmp_path: Path) -> None:
    job = pendulum()
    about = kinemorph.linearize(job.plant, [0.7], [-0.4], u=[0.1], t=0.25)
    for exchange in (False, True):
        made = Instance(file, tmp_path / "made", exchange=exchange).begin(0.25, q__q1=0.7, v__q1=-0.4, u__q1=0.1)
        rates, states = ("der(q.q1)", "der(v.q1)"), ("q.q1", "v.q1")
        assert np.abs(made.slopes(rates, states) - about.A[:2, :2]).max() < 1e-12
        assert np.abs(made.slopes(rates, ["u.q1"]) - about.B[:2]).max() < 1e-12
        assert made.slopes(["tau.q1"], ["u.q1"]) == 1.0 and made.slopes(["q.q1"], ["q.q1"]) == 1.0
        name = next(name for name in made.references if name.startswith("p."))
        value, h = made.get(name)[0], 1e-6
        tuned = [Instance(file, tmp_path / "made").begin(q__q1=0.7, **{name: value + d}) for d in (-h, h)]
        change = np.diff([one.get(*rates) for one in tuned], axis=0)[0] / (2 * h)
        assert np.abs(tuned[0].slopes(rates, [name])[:, 0] - change).max() < 1e-5 * (1 + np.abs(change).max())


@needs_cc
def test_wrong_calls_are_answered_with_a_sentence(file: Path, made: Instance, tmp_path: Path) -> None:
    def refused(call: str, *values: object) -> str:
        with pytest.raises(Exception, match="failed with status 3"):
            getattr(made.fmu, call)(*values)
        return made.said[-1]

    q1, u1 = made.references["q.q1"], made.references["u.q1"]
    assert (
        refused("doStep", 0.0, 0.1) == "fmi3DoStep was called after its instantiation; expected a call between steps."
    )
    assert "the value reference 99 does not exist; expected one below" in refused("getFloat64", [99])
    assert "cannot be set; expected an input, a parameter or an initial state" in refused("setFloat64", [0], [1.0])
    assert "'u.q1' is nan; expected a finite number" in refused("setFloat64", [u1], [float("nan")])
    assert "references of another type are given" in refused("getInt32", [q1])
    made.begin()
    assert "'q.q1' cannot be set at this time; expected a call before the end" in refused("setFloat64", [q1], [1.0])
    assert "the step begins at 0.5 s; expected 0 s, the end of the last one" in refused("doStep", 0.5, 0.1)
    assert "the step size is -1 s; expected a number above 0" in refused("doStep", 0.0, -1.0)
    assert "the value with the reference 0 is no known" in refused("getDirectionalDerivative", [q1], [0], [1.0])
    assert "fmi3GetAdjointDerivative is an optional function" in refused("getAdjointDerivative", [q1], [u1], [1.0])
    made.fmu.terminate()
    assert "fmi3DoStep was called after its end" in refused("doStep", 0.0, 0.1)
    with pytest.raises(Exception, match="Failed to instantiate"):
        Instance(file, tmp_path / "made", token="{wrong}")


@needs_cc
def test_null_in_place_of_arrays_is_answered_with_a_sentence(file: Path, tmp_path: Path) -> None:
    """No function crashes where it gets NULL for arrays and results, whatever the mode, the sizes and the numbers."""
    for exchange, ready in itertools.product((False, True), (False, True)):
        made = Instance(file, tmp_path / "made", exchange=exchange)
        if ready:
            made.begin()
        assert null_calls(made) > 50
        assert any("NULL is given for an array" in text for text in made.said)
    state = Instance(file, tmp_path / "made").begin().saved()
    with pytest.raises(Exception, match="fmi3SetFMUState failed with status 3"):
        made.restore(state)
    assert "the state is that of an instance for co-simulation, and this one is for model exchange" in made.said[-1]
    with pytest.raises(Exception, match="fmi3EnterInitializationMode failed with status 3"):
        (made := Instance(file, tmp_path / "made")).fmu.enterInitializationMode(tolerance=float("inf"))
    assert "the tolerance is inf; expected a number above 0" in made.said[-1]


@needs_cc
def test_inputs_and_parameters_act_as_in_simulate(file: Path, made: Instance) -> None:
    """An input that changes at a communication point, and a parameter that is tuned there."""
    name = next(name for name in made.references if name.startswith("p."))
    changed = 1.2 * made.begin(u__q1=0.3).get(name)[0]
    first = made.steps(TIMES[:11], "q.q1", "v.q1")[-1]
    before = made.get("tau.q1", "der(v.q1)")
    made.set("u.q1", -0.6)
    after = made.get("tau.q1", "der(v.q1)")
    assert abs(before[0] - after[0] - 0.9) < 1e-12 and before[1] > after[1]  # no value is out of date
    made.set(name, changed)
    last = made.steps(TIMES[10:], "q.q1", "v.q1")[-1]
    plant, options = pendulum().plant, {"output_step": 0.1, "rtol": 1e-10, "events": OPTIONS["events"]}
    one = kinemorph.simulate(plant, 0.1, q=[0.5], inputs=[0.3], **options)
    two = kinemorph.simulate(
        plant, 0.2, start=0.1, q=one.q[-1], v=one.v[-1], inputs=[-0.6], p={name[2:]: changed}, **options
    )
    assert np.abs(first - [one.q[-1, 0], one.v[-1, 0]]).max() < 1e-9
    assert np.abs(last - [two.q[-1, 0], two.v[-1, 0]]).max() < 1e-9


@needs_cc
def test_values_follow_what_was_set_last(file: Path, tmp_path: Path) -> None:
    """Rates and forces at a state, a time, an input and after a state is restored, which are computed once and kept."""
    made = Instance(file, tmp_path / "made", exchange=True).begin()
    plant, names = pendulum().plant, ("der(q.q1)", "der(v.q1)", "tau.q1")
    m, g, l = (made.get(name)[0] for name in ("p.m1", "p.g", "p.l1"))
    n = 2 + plant.nx

    def expected(t: float, q: float, v: float, u: float) -> list[float]:
        torque = u + 0.4 * np.sin(3.0 * t) - 0.3 * v
        return [v, torque / (m * l * l) - g / l * np.sin(q), torque]

    made.settle()
    y, other = np.zeros(n), np.zeros(n)
    y[:2], other[:2] = (0.3, -1.2), (-0.05, 0.7)
    made.rates(0.1, y)
    assert np.abs(made.get(*names) - expected(0.1, 0.3, -1.2, 0.0)).max() < 1e-12
    made.fmu.setTime(0.9)
    assert np.abs(made.get(*names) - expected(0.9, 0.3, -1.2, 0.0)).max() < 1e-12
    made.set("u.q1", 2.0)
    assert np.abs(made.get(*names) - expected(0.9, 0.3, -1.2, 2.0)).max() < 1e-12
    state = made.saved()
    made.rates(0.2, other)
    made.set("u.q1", -1.0)
    assert np.abs(made.get(*names) - expected(0.2, -0.05, 0.7, -1.0)).max() < 1e-12
    made.restore(state)
    assert np.abs(made.get(*names) - expected(0.9, 0.3, -1.2, 2.0)).max() < 1e-12
    fresh = Instance(file, tmp_path / "made", exchange=True)  # a state includes the mode
    fresh.restore(state)
    assert np.array_equal(fresh.states(n)[:2], y[:2]) and np.array_equal(fresh.get(*names), made.get(*names))
    assert np.abs(fresh.rates(0.2, other)[:2] - expected(0.2, -0.05, 0.7, 2.0)[:2]).max() < 1e-12


@needs_cc
def test_a_hit_at_a_wall_is_the_event_of_simulate(file: Path, made: Instance, tmp_path: Path) -> None:
    """By steps of the FMU, in the middle of which it is saved, and by an importing tool that locates the event."""
    wanted = kinemorph.simulate(damped(), 1.0, q=[0.5], **OPTIONS)
    (hit,) = [event.t for event in wanted.events]
    names, times = ("q.q1", "v.q1"), [0.07 * k for k in range(11)]
    made.begin()
    before = made.steps(times[:9], *names)
    state = made.saved()
    after = made.steps(times[8:], *names)
    assert times[8] < hit < times[9] and np.array_equal(made.get("time"), [times[10]])
    made.restore(state)
    assert np.array_equal(made.steps(times[8:], *names), after)
    for t, row in zip(times[1:], [*before, *after], strict=True):
        exact = kinemorph.simulate(damped(), t, q=[0.5], **{**OPTIONS, "output_step": t})
        assert np.abs(row - [exact.q[-1, 0], exact.v[-1, 0]]).max() < 1e-8
    model = Instance(file, tmp_path / "made", exchange=True).begin()
    model.settle()
    n = 2 + pendulum().plant.nx
    y = model.states(n)
    for side, jumped in ((1e-6, False), (-1e-9, True)):  # on this side of the wall nothing happens
        y[:2] = -0.1 + side, -0.8
        model.rates(hit, y)
        value = (ctypes.c_double * 1)()
        model.fmu.getEventIndicators(value, 1)
        assert (value[0] > 0.0) != jumped
        model.fmu.enterEventMode()
        _, end, _, changed, _, _ = model.fmu.updateDiscreteStates()
        assert not end and bool(changed) == jumped
        model.fmu.enterContinuousTimeMode()
        assert np.allclose(model.states(n)[:2], [y[0], 0.4 if jumped else -0.8], rtol=0.0, atol=1e-12)
    model.fmu.getEventIndicators(value, 1)
    assert value[0] != 0.0


@needs_cc
def test_the_experiment_sets_tolerances_and_the_end(file: Path, made: Instance) -> None:
    """Both tolerances change in the same ratio; no step goes beyond the end."""
    made.fmu.enterInitializationMode(tolerance=1e-4, stopTime=0.15)
    made.fmu.exitInitializationMode()
    found = made.steps([0.0, 0.14], "q.q1", "v.q1")[0]
    atol = pendulum().first.limits[1] * 1e6
    run = kinemorph.simulate(damped(), 0.14, q=[0.5], **{**OPTIONS, "rtol": 1e-4, "output_step": 0.14}, atol=atol)
    assert np.abs(found - [run.q[-1, 0], run.v[-1, 0]]).max() < 1e-13
    with pytest.raises(Exception, match="fmi3DoStep failed with status 3"):
        made.steps([0.14, 0.2])
    assert "the step ends at 0.2 s; expected a time up to 0.15 s, the end of the simulation" in made.said[-1]


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_hostile_names_stay_text_and_the_same_job_gives_the_same_bytes(tmp_path: Path) -> None:
    names = [
        '"]]>',
        "<script>",
        "a\nb",
        "a b",
        "\N{GRINNING FACE}",
        "\x00\x1f",
        "&amp;",
        "*/ #error",
        "q",
        "\uffff",
        "'",
    ]
    states = dict.fromkeys(names, "<unit> & \"']]>")
    plant = kinemorph.plants.first_order(
        lambda x: [-value for value in x], states, start=[1.0] * len(names), outputs={n: lambda x: x[0] for n in names},
        name="]]><x>*/",
    )  # fmt: skip
    for version in (2, 3):
        job = make_job(plant, 0.1)
        with pytest.warns(ModelWarning, match="has its sources and no library for any system"):
            files = fmu_files(job, version, [])
        with pytest.warns(ModelWarning, match="no library"):
            assert fmu_files(make_job(plant, 0.1), version, []) == files
        text = str(files["modelDescription.xml"])
        root = ElementTree.fromstring(text)
        found = [one.get("name") or "" for one in root.iter() if one.tag in ("Float64", "ScalarVariable")]
        assert len(set(found)) == len(found) == 1 + 3 * len(names)
        assert {"x.<script>", "x.a b", "x.a b_2", "x.\N{GRINNING FACE}", 'x."]]>', "y.&amp;"} <= set(found)
        (unit,) = [one for one in root.iter("Unit") if one.get("name") == "<unit> & \"']]>"]
        assert list(unit) == [] and root.get("variableNamingConvention") == "flat"
        folder = tmp_path / str(version)
        folder.mkdir()
        (folder / "modelDescription.xml").write_text(text)
        assert validate_fmu(str(folder)) == []


def described(job: Job) -> ElementTree.Element:
    """The model description of a job by FMI 3.0, without libraries."""
    with pytest.warns(ModelWarning, match="no library"):
        return ElementTree.fromstring(str(fmu_files(job, 3, [])["modelDescription.xml"]))


def test_the_description_has_derivatives_dependencies_and_factors() -> None:
    """Each rate names its own state; a rate depends on what its equation contains; 1 rpm is pi / 30 rad/s."""

    def rates(t: Any, x: Any, u: Any) -> list[Any]:
        return [x[1], -x[0] + u[1], t + x[2]]

    states = {"angle": "rad", "speed": "rpm", "rest": ""}
    plant = kinemorph.plants.first_order(rates, states, inputs={"a": "N", "b": "N"}, name="told")
    root = described(make_job(plant, 1.0))
    reference = {one.get("name"): one.get("valueReference") for one in root.iter("Float64")}
    by_reference = {number: name for name, number in reference.items()}
    found = {one.get("name"): one.get("derivative") for one in root.iter("Float64") if one.get("derivative")}
    assert found == {f"der(x.{name})": reference[f"x.{name}"] for name in states}
    told = {
        by_reference[one.get("valueReference")]: {by_reference[k] for k in (one.get("dependencies") or "").split()}
        for one in root.iter("ContinuousStateDerivative")
    }
    assert told["der(x.angle)"] == {"x.speed"} and told["der(x.rest)"] == {"time", "x.rest"}
    assert told["der(x.speed)"] == {"x.angle", "u.b"}
    (unit,) = [one for one in root.iter("Unit") if one.get("name") == "rpm"]
    assert float(unit[0].get("factor") or 0.0) == pytest.approx(np.pi / 30.0, rel=1e-15)
    builder = RobotBuilder("stone").body("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    root = described(make_job(builder.joint("base", "free", "world", "stone").build(), 1.0))
    starts = {one.get("initial") for one in root.iter("Float64") if (one.get("name") or "").startswith("q.")}
    assert starts == {"approx"}  # a quaternion gets the length 1


def test_units_have_the_exponents_of_si() -> None:
    assert unit_definition("N m/A").powers == {"m": 2, "kg": 1, "s": -2, "A": -1}
    assert unit_definition("rpm").powers == {"s": -1, "rad": 1}
    assert unit_definition("rpm").factor == pytest.approx(np.pi / 30, rel=1e-15)
    assert unit_definition("rad").shown == {"deg": pytest.approx(180 / np.pi)}
    assert unit_definition("furlong").powers is None


def test_what_an_fmu_cannot_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    brain = PythonController("brain", lambda t, r: [0.0], reads=("q.q1",), drives=("q1",), every=0.01)
    with pytest.raises(UnsupportedError, match="PythonController 'brain' of 'pendulum' is a Python function"):
        make_job(System(kinemorph.library.pendulum(), (brain,)), 1.0)
    with pytest.raises(UnsupportedError, match=r"system 'windowz' is unknown. Did you mean 'windows'\?"):
        write_program(pendulum(), "fmu3", tmp_path, systems=["windowz"])
    with pytest.raises(UnsupportedError, match="systems: 'this' is given for the target 'c'"):
        write_program(pendulum(), "c", tmp_path, systems="this")
    monkeypatch.setattr(binaries, "has_zig", lambda: False)
    with pytest.raises(UnsupportedError, match=re.escape("Install zig: `pip install kinemorph[fmu]`")):
        write_program(pendulum(), "fmu3", tmp_path, systems=["mac", "windows"])
    monkeypatch.setattr(binaries, "has_compiler", lambda: False)
    (tmp_path / "file").write_text("")
    with (
        pytest.warns(ModelWarning, match="no library"),
        pytest.raises(KinemorphError, match=r"cannot be written to: .* Choose another folder"),
    ):
        write_program(pendulum(), "fmu3", tmp_path / "file" / "x.fmu")
    with pytest.warns(ModelWarning, match="or import the FMU with a tool that compiles sources"):
        (path,) = write_program(pendulum(), "fmu2", tmp_path)
    names = zipfile.ZipFile(path).namelist()
    assert path.name == "pendulum.fmu" and not any(name.startswith("binaries") for name in names)
    assert {"modelDescription.xml", "sources/pendulum_fmi2.c"} <= set(names)


@pytest.mark.slow
@needs_cc
def test_the_verb_writes_an_fmu(tmp_path: Path) -> None:
    file = tmp_path / "x.fmu"
    data = parsed("program", "pendulum", "--to", "fmu2", "--output", str(file), "--time", "0.1", "--systems", "this")
    assert data["target"] == "fmu2" and validate_fmu(str(file)) == []
    result = run("program", "pendulum", "--to", "fmu3", "--systems", "amiga", "--output", str(file))
    assert result.exit_code == 2 and "system 'amiga' is unknown" in result.stderr
