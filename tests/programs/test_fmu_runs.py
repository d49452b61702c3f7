"""FMUs of robots with and without constraints, quaternions, events and sampled elements, run by FMPy.

SEEDS 001-02, 001-03: the model leaves as running code. All of this is in the slow part of the tests.
"""

from __future__ import annotations

import shutil
import zipfile
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinemorph
from kinemorph import Body, Guard, Parameter, RobotBuilder, System
from kinemorph.codegen.backends.c.library import compiler
from kinemorph.elements import PID, DCMotor
from kinemorph.programs import Job, UserCode, make_job, write_program
from kinemorph.programs.fmi.binaries import has_zig
from support.cases import program_cases
from support.cases.c_programs import STRICT, needs_cc
from support.cases.fmu_cases import CASES, TIGHT
from support.tools.library_headers import library_header, parts
from support.tools.program_languages import compile_files, job_of

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed on this computer")
from fmpy import fmi2, fmi3  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402

from support.tools.fmu_instances import Instance  # noqa: E402

pytestmark = [pytest.mark.slow, needs_cc]
KINDS = ("CoSimulation", "ModelExchange")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fmus")


@cache
def case_job(name: str) -> Job:
    return job_of(CASES[name]())


def fmu_of(name: str, version: str, place: Path) -> Path:
    """The FMU of a case, written once in a module."""
    file = place / f"{name}_{version}.fmu"
    return file if file.exists() else write_program(case_job(name), version, file, systems="this")[0]


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
@pytest.mark.parametrize("name", CASES)
def test_a_run_by_fmpy_is_that_of_simulate(name: str, version: str, place: Path) -> None:
    """States to 1e-8 by steps of the FMU and by CVODE, times of events to 1e-8."""
    file, case = fmu_of(name, version, place), CASES[name]()
    assert validate_fmu(str(file)) == []
    wanted = kinemorph.simulate(case.model, case.until, **case.options)
    reference = np.concatenate([np.column_stack([s.t, s.q, s.v]) for s in wanted.segments])
    regular = reference[np.abs(reference[:, 0] * 100 - np.rint(reference[:, 0] * 100)) < 1e-9]
    events = np.array([event.t for event in wanted.events])
    assert len(regular) == round(case.until * 100) + 1 and len(events) == (3 if name == "bouncing_ball" else 0)
    for kind in KINDS:
        said: list[bytes] = []

        def log(*values: Any, said: list[bytes] = said) -> None:
            said.append(values[-1])

        found = fmpy.simulate_fmu(
            str(file), fmi_type=kind, output_interval=0.01, stop_time=case.until, relative_tolerance=1e-12,
            debug_logging=True, logger=log,
        )  # fmt: skip
        t = found["time"]
        rows = np.column_stack([found[name] for name in found.dtype.names if name.startswith(("q.", "v."))])
        for row in regular:
            near = np.flatnonzero(np.abs(t - row[0]) < 1e-9)
            assert near.size and np.abs(rows[near] - row[1:]).max(axis=1).min() < 1e-8
        jumps = np.unique(t[:-1][np.diff(t) == 0.0])  # FMPy records a state before and after an event
        if kind == "CoSimulation":
            jumps = np.array([float(text.split()[3]) for text in said if text.startswith(b"At t = ")])
        assert all(np.abs(jumps - at).min() < 1e-8 for at in events)


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
@pytest.mark.parametrize("name", CASES)
def test_states_are_restored_bitwise(name: str, version: str, place: Path, tmp_path: Path) -> None:
    """Steps after a restored state give the same bits; in model exchange, the rates do."""
    file = fmu_of(name, version, place)
    made, other = (Instance(file, tmp_path / "x").begin() for _ in range(2))
    names = list(made.references)
    times = [0.013 * k for k in range(12)]
    before = made.steps(times[:6], *names)
    state = made.saved()
    after = made.steps(times[5:], *names)
    made.restore(state)
    assert np.array_equal(made.get(*names), before[-1])
    assert np.array_equal(made.steps(times[5:], *names), after)
    other.restore(state)
    assert np.array_equal(other.steps(times[5:], *names), after)
    model = Instance(file, tmp_path / "x", exchange=True).begin()
    assert not model.settle()[0]
    n = sum(one.derivative is not None for one in model.description.modelVariables)
    first, rates = model.states(n), model.rates(0.0, model.states(n))
    state = model.saved()
    model.rates(0.3, first + 0.1)
    model.restore(state)
    assert np.array_equal(model.states(n), first) and np.array_equal(model.rates(0.0, first), rates)


def local_chart(q: np.ndarray, v: np.ndarray, n: int, quaternion: bool) -> tuple[np.ndarray, np.ndarray]:
    """(T, N): how the states of an FMU follow from local coordinates y about a configuration, and how T changes.

    Without quaternions T is the identity and N is zero. A configuration that is one quaternion is q * [1 - |y|^2 / 8,
    y / 2] up to second order in y. So a change dy of y changes the states by T dy, and their rates by T (dy)' + N dy,
    where N dy = q * [-v . dy / 4, 0] for the angular velocity v.
    """
    if not quaternion:
        return np.eye(n), np.zeros((n, n))
    w, x, y, z = q
    T, N = np.zeros((n + 1, n)), np.zeros((n + 1, n))
    T[:4, :3] = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
    T[4:, 3:] = np.eye(n - 3)
    N[:4, :3] = -0.25 * np.outer(q, v)
    return T, N


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_linearize(name: str, version: str, place: Path, tmp_path: Path) -> None:
    """Exact directional derivatives of rates and outputs, after some steps, with the memory that elements have then.

    Derivatives are compared along motions that constraints allow: `linearize` has no others.
    """
    job = case_job(name)
    made = Instance(fmu_of(name, version, place), tmp_path / "x").begin()
    made.steps([0.013 * k for k in range(9)])
    plant = job.plant
    values = {
        group: made.get(*(f"{group}.{column.name}" for column in getattr(plant, group)))
        if getattr(plant, group)
        else []
        for group in "qvxmu"
    }
    about = kinemorph.linearize(plant, **values, t=made.get("time")[0])
    states = [f"{group}.{column.name}" for group in "qvx" for column in getattr(plant, group)]
    inputs = [f"u.{column.name}" for column in plant.u]
    rates = [f"der({state})" for state in states]
    T, N = local_chart(values["q"], values["v"], len(about.A), name == "heavy_top")
    assert plant.nq - plant.nv == (name == "heavy_top") and np.abs(values["v"]).max() > 0.01

    def equal(found: np.ndarray, wanted: np.ndarray) -> bool:
        return bool(np.abs(found - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max()))

    assert equal(made.slopes(rates, states) @ T @ about.basis, (T @ about.A + N) @ about.basis)
    assert equal(made.slopes(rates, inputs), T @ about.B)
    if plant.outputs:
        outputs = [f"y.{name}" for name in plant.outputs]
        assert equal(made.slopes(outputs, states) @ T @ about.basis, about.C @ about.basis)


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
def test_an_fmu_is_rebuilt_from_its_own_sources(version: str, place: Path, tmp_path: Path) -> None:
    """The files that its description lists, by a strict compiler: the same bits as before."""
    file = fmu_of("motor", version, place)
    names, times = ("q.shaft", "v.shaft", "y.control"), [0.01 * k for k in range(30)]
    wanted = Instance(file, tmp_path / "x").begin().steps(times, *names)
    root = ElementTree.parse(tmp_path / "x" / "modelDescription.xml").getroot()
    listed = [one.get("name") or "" for one in root.findall("./CoSimulation/SourceFiles/File")]
    if version == "fmu3":
        build = ElementTree.parse(tmp_path / "x" / "sources" / "buildDescription.xml").getroot()
        listed = [one.get("name") or "" for one in build.iter("SourceFile")]
    (library,) = (tmp_path / "x" / "binaries").glob("*/motor.so")
    shutil.copytree(tmp_path / "x", tmp_path / "y")
    other = tmp_path / "y" / library.relative_to(tmp_path / "x")
    other.unlink()
    command = [*compiler(), *STRICT, "-fPIC", "-shared", "-o", str(other), *listed, "-lm"]
    compile_files(tmp_path / "y" / "sources", command)
    assert np.array_equal(Instance(file, tmp_path / "y").begin().steps(times, *names), wanted)
    number = version[-1]
    source = f"motor_fmi{number}.c"
    prefixed = [*compiler(), "-std=c99", f"-DFMI{number}_FUNCTION_PREFIX=motor_", "-c", source, "-o", "linked.o"]
    compile_files(tmp_path / "y" / "sources", prefixed)
    assert f"motor_fmi{number}DoStep".encode() in (tmp_path / "y" / "sources" / "linked.o").read_bytes()


# ── ends and failures ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_event_ends_the_simulation(tmp_path: Path) -> None:
    case = CASES["bouncing_ball"]()
    stop = Guard("ground", lambda q: q[0], "falling", stop=True)
    job = make_job(case.model, 6.0, q=[10.0], events=[stop], **TIGHT)
    wanted = kinemorph.simulate(case.model, 6.0, q=[10.0], events=[stop], **TIGHT)
    for version in ("fmu2", "fmu3"):
        (file,) = write_program(job, version, tmp_path / f"{version}.fmu", systems="this")
        assert validate_fmu(str(file)) == []
        for kind in KINDS:
            early = {"early_return_allowed": True} if version == "fmu3" else {}
            found = fmpy.simulate_fmu(
                str(file), fmi_type=kind, output_interval=0.01, relative_tolerance=1e-12, logger=lambda *values: None,
                **early,
            )  # fmt: skip
            assert abs(found["time"][-1] - wanted.t[-1]) < 1e-8 and abs(found["q.z"][-1]) < 1e-8
    made = Instance(file, tmp_path / "x").begin()
    with pytest.raises(Exception, match="failed with status 3"):
        made.steps([0.0, 3.0, 4.0])
    assert made.said[-2] == wanted.outcome.message
    assert made.said[-1].startswith("fmi3DoStep: the model has asked to end the simulation at 1.4278")


def test_a_run_that_fails_says_what_simulate_says(tmp_path: Path) -> None:
    plant = kinemorph.plants.first_order(lambda t, x: [x[0] * x[0]], {"a": "1"}, start=[2.0], name="grown")
    wanted = kinemorph.simulate(plant, 5.0)
    (file,) = write_program(make_job(plant, 5.0), "fmu3", tmp_path / "x.fmu", systems="this")
    made = Instance(file, tmp_path / "x").begin()
    with pytest.raises(Exception, match="fmi3DoStep failed with status 3"):
        made.steps([0.0, 5.0])
    assert made.said == [wanted.outcome.message]
    made.fmu.reset()
    assert abs(made.begin().steps([0.0, 0.25], "x.a")[0, 0] - 4.0) < 1e-6


def test_an_initial_state_off_the_constraints_is_closed_or_refused(place: Path, tmp_path: Path) -> None:
    """A coordinate that is set is kept, and the others follow before the initialization has ended, too."""
    file = fmu_of("four_bar", "fmu3", place)
    made = Instance(file, tmp_path / "x")
    made.set("q.q1", 1.1)
    made.fmu.enterInitializationMode()
    shown = made.get("q.q1", "q.q2", "q.q3", "v.q1")
    made.fmu.exitInitializationMode()
    assert np.array_equal(made.get("q.q1", "q.q2", "q.q3", "v.q1"), shown) and shown[0] == 1.1
    case = CASES["four_bar"]()
    wanted = kinemorph.simulate(case.model, 0.01, **{**case.options, "q": {"q1": 1.1}})
    assert np.abs(shown[:3] - wanted.q[0]).max() < 1e-9
    with pytest.raises(Exception, match="fmi3ExitInitializationMode failed with status 3"):
        (other := Instance(file, tmp_path / "x")).begin(q__q1=1.1, q__q2=2.9)
    assert other.said[-1].startswith("The initial state of 'four_bar' cannot be brought onto its constraints.")


def test_a_length_that_is_tuned_leaves_loops_closed(tmp_path: Path) -> None:
    """A bar of a four-bar gets longer between steps, or at an event of model exchange: q and v satisfy the new loop."""
    job = make_job(kinemorph.library.four_bar(), 1.0, q={"q1": 1.0}, v={"q1": 3.0}, parameters="all", **TIGHT)
    (file,) = write_program(job, "fmu3", tmp_path / "x.fmu", systems="this")
    plant, name = job.plant, "l0"
    p = job.first.p.copy()
    p[[column.name for column in plant.p].index(name)] *= 1.02
    for exchange in (False, True):
        made = Instance(file, tmp_path / "x", exchange=exchange).begin()
        if exchange:
            made.settle()
            made.fmu.enterEventMode()
        else:
            made.steps([0.0, 0.1])
        made.set(f"p.{name}", p[[column.name for column in plant.p].index(name)])
        if exchange:
            made.settle()
        else:
            made.steps([0.1, 0.11])
        q, v = (made.get(*(f"{group}.{column.name}" for column in getattr(plant, group))) for group in "qv")
        s = np.concatenate([np.zeros(3), v, np.zeros(plant.nx)])
        phi, rate, *_ = plant.compiled("constraints")(0.0, q, s, [], job.first.u, p)
        assert np.abs(phi).max() < 1e-10 and np.abs(rate).max() < 1e-9
        assert np.abs(plant.compiled("constraints")(0.0, q, s, [], job.first.u, job.first.p)[0]).max() > 1e-3


def test_a_run_that_ends_after_events_counts_those_of_all_steps(tmp_path: Path) -> None:
    case = CASES["bouncing_ball"]()
    options = {**case.options, "most_events": 2}
    wanted = kinemorph.simulate(case.model, 20.0, **options)
    (file,) = write_program(make_job(case.model, 20.0, **options), "fmu3", tmp_path / "x.fmu", systems="this")
    made = Instance(file, tmp_path / "x").begin()
    with pytest.raises(Exception, match="failed with status 3"):
        made.steps([0.25 * k for k in range(80)])
    assert made.said[-2] == wanted.outcome.message and "after 2 events" in made.said[-2]
    assert abs(made.get("time")[0] - wanted.outcome.t) < 1e-8
    made.fmu.reset()
    made.begin().steps([0.25 * k for k in range(10)])  # from the beginning, with one event
    assert abs(made.get("time")[0] - 2.25) < 1e-12


def test_a_parameter_tuned_at_a_sample_time_does_not_let_elements_sample_again(tmp_path: Path) -> None:
    """A model that goes on with another load, as `simulate` does from the state and the memory at the end of a run."""
    body = Body("rotor", mass=1.0, inertia=(Parameter("J", 0.01, unit="kg m^2"),) * 3)
    robot = RobotBuilder("tuned").add(body).joint("shaft", "revolute", "world", "rotor", damping=0.1).build()
    control = PID("control", joints="shaft", reference=1.0, kp=3.0, ki=2.0, kd=0.1, every=0.01)
    plant = kinemorph.plants.plant(System(robot, (control,)), parameters=["J"], account=True)
    (file,) = write_program(make_job(plant, 1.0, **TIGHT), "fmu3", tmp_path / "x.fmu", systems="this")
    made = Instance(file, tmp_path / "x").begin()
    made.steps([0.0, 0.1])
    made.set("p.J", 0.02)
    found = made.steps([0.1, 0.2], "q.shaft", "v.shaft")[-1]
    first = kinemorph.simulate(plant, 0.1, **TIGHT)
    state = {"q": first.q[-1], "v": first.v[-1], "x": first.x[-1], "m": first.segments[-1].m[-1]}
    second = kinemorph.simulate(plant, 0.2, start=0.1, p={"J": 0.02}, **state, **TIGHT)
    assert np.abs(found - [second.q[-1, 0], second.v[-1, 0]]).max() < 1e-10


USER_C = """#include "user.h"

void user_efforts(const user_instant *now, user_loads *add)
{
    add->generalized[V_q1] += 2.0 - 3.0 * now->q[Q_q1] * now->q[Q_q1];
}
"""


def test_code_of_the_user_acts_on_rates_and_forces_and_is_no_input(tmp_path: Path) -> None:
    """The rate is that of the same torque as an input, and derivatives contain what the user's code returns."""
    (tmp_path / "own.c").write_text(USER_C)
    user = UserCode(source=tmp_path / "own.c")
    job = make_job(kinemorph.library.pendulum(), 1.0, q=[0.5], user=user)
    (file,) = write_program(job, "fmu3", tmp_path / "x.fmu", systems="this")
    assert validate_fmu(str(file)) == []
    made = Instance(file, tmp_path / "x").begin(u__q1=0.25)
    torque = 0.25 + 2.0 - 3.0 * 0.25
    assert [name for name in made.references if name.startswith("u.")] == ["u.q1"]
    assert abs(made.get("tau.q1")[0] - torque) < 1e-15
    about = kinemorph.linearize(kinemorph.library.pendulum(), [0.5], [0.0], u=[torque])
    assert abs(made.get("der(v.q1)")[0] - about.drift[1]) < 1e-12
    slope = about.A[1, 0] + about.B[1, 0] * -3.0
    assert abs(made.slopes(["der(v.q1)"], ["q.q1"])[0, 0] - slope) < 1e-4 * abs(slope)
    assert abs(made.slopes(["tau.q1"], ["q.q1"])[0, 0] + 3.0) < 1e-4


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
@pytest.mark.parametrize("model", ["fmi3Instance", "fmu_fail", "*/ main simulator", "l" * 10_000])
def test_hostile_names_build_and_run(model: str, version: str, tmp_path: Path) -> None:
    names = ['"]]>', "<script>", "*/ #error", "%s%n", "\N{GRINNING FACE}", "??/", "l" * 10_000]
    plant = kinemorph.plants.first_order(
        lambda x: [-value for value in x], dict.fromkeys(names, "%d"), start=[1.0] * len(names), name=model
    )
    (file,) = write_program(make_job(plant, 0.1, rtol=1e-10), version, tmp_path, systems="this")
    assert validate_fmu(str(file)) == []
    made = Instance(file, tmp_path / "x").begin()
    found = made.steps([0.0, 0.1], *(f"x.{name}" for name in names))
    assert np.abs(found - np.exp(-0.1)).max() < 1e-9
    with pytest.raises(Exception, match="failed with status 3"):
        made.set(f"x.{names[-1]}", 2.0)


def test_equations_without_inertia_are_for_co_simulation_alone(tmp_path: Path) -> None:
    job = job_of(program_cases.hydraulics())
    for version in ("fmu2", "fmu3"):
        (file,) = write_program(job, version, tmp_path / f"{version}.fmu", systems="this")
        assert validate_fmu(str(file)) == []
        made = Instance(file, tmp_path / version).begin()
        assert made.description.modelExchange is None and not any("der(" in name for name in made.references)
        assert np.isfinite(made.steps([0.0, 0.01], "q.p1")).all()


# ── plant and controller as two FMUs ──────────────────────────────────────────────────────────────────────────────────


def rotor() -> tuple[Any, DCMotor]:
    body = Body("rotor", mass=1.0, inertia=(0.01,) * 3)
    robot = RobotBuilder("rotor").add(body).joint("shaft", "revolute", "world", "rotor", damping=0.1).build()
    return robot, DCMotor("motor", "shaft", 1.0, 0.01, 0.01, inductance=0.5)


def test_a_plant_and_a_sampled_controller_as_two_fmus_are_one_model(tmp_path: Path) -> None:
    """Co-simulation whose steps are those of the controller: a PI, whose integral is that of held samples."""
    robot, motor = rotor()
    kp, ki, T = 20.0, 8.0, 0.01
    control = PID("control", reads="q.shaft", drives="motor", reference=1.0, kp=kp, ki=ki, every=T)
    whole = kinemorph.simulate(System(robot, (control, motor)), 1.0, **TIGHT)
    integral = kinemorph.plants.first_order(
        lambda u: [1.0 - u[0]], {"integral": "rad s"}, inputs={"angle": "rad"},
        outputs={"voltage": lambda x, u: (kp + ki * T) * (1.0 - u[0]) + ki * x[0]}, output_units={"voltage": "V"},
        name="pi",
    )  # fmt: skip
    jobs = {"plant": make_job(System(robot, (motor,)), 1.0, **TIGHT), "pi": make_job(integral, 1.0, **TIGHT)}
    for version in ("fmu2", "fmu3"):
        files = {name: write_program(job, version, tmp_path / f"{name}{version}.fmu", systems="this")[0]
                 for name, job in jobs.items()}  # fmt: skip
        plant, pi = (Instance(files[name], tmp_path / f"{name}{version}").begin() for name in jobs)
        rows = [plant.get("q.shaft", "v.shaft")]
        for k in range(100):
            pi.set("u.angle", rows[-1][0])
            plant.set("u.motor", pi.get("y.voltage")[0])
            rows += list(plant.steps([T * k, T * (k + 1)], "q.shaft", "v.shaft"))
            pi.steps([T * k, T * (k + 1)])
        assert np.abs(np.array(rows) - np.column_stack([whole.q, whole.v])).max() < 1e-8


def test_a_plant_and_a_continuous_controller_by_one_integrator_are_one_model(tmp_path: Path) -> None:
    """Model exchange of two FMUs, whose states SciPy advances together."""
    robot, motor = rotor()
    kp, ki, kd, Tf = 20.0, 8.0, 0.5, 0.05
    control = PID("control", reads="q.shaft", drives="motor", reference=1.0, kp=kp, ki=ki, kd=kd, filter=Tf)
    whole = kinemorph.simulate(System(robot, (control, motor)), 1.0, **TIGHT)

    def rates(x: Any, u: Any) -> list[Any]:
        return [ki * (1.0 - u[0]), (1.0 - u[0] - x[1]) / Tf]

    pid = kinemorph.plants.first_order(
        rates, {"J": "V", "z": "rad"}, inputs={"angle": "rad"}, name="pid",
        outputs={"voltage": lambda x, u: kp * (1.0 - u[0]) + x[0] + kd * (1.0 - u[0] - x[1]) / Tf},
    )  # fmt: skip
    start = {name: whole[name][0] for name in ("control.integral", "control.lag")}
    jobs = {
        "plant": make_job(System(robot, (motor,)), 1.0, **TIGHT),
        "pid": make_job(pid, 1.0, x=list(start.values()), **TIGHT),
    }
    files = {
        name: write_program(job, "fmu3", tmp_path / f"{name}.fmu", systems="this")[0] for name, job in jobs.items()
    }
    plant, law = (Instance(files[name], tmp_path / name, exchange=True).begin() for name in jobs)
    assert not plant.settle()[0] and not law.settle()[0]
    n = 2 + jobs["plant"].plant.nx

    def together(t: float, y: np.ndarray) -> np.ndarray:
        law.set("u.angle", y[0])
        behind = law.rates(t, y[n:])
        plant.set("u.motor", law.get("y.voltage")[0])
        return np.concatenate([plant.rates(t, y[:n]), behind])

    first = np.concatenate([plant.states(n), law.states(2)])
    done = solve_ivp(together, (0.0, 1.0), first, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=whole.t)
    assert np.abs(done.y[:2].T - np.column_stack([whole.q, whole.v])).max() < 1e-8


# ── libraries for other systems ───────────────────────────────────────────────────────────────────────────────────────

X86, ARM = ("ELF", 62), ("ELF", 183)
WINDOWS, MAC, MAC_ARM = ("PE", 0x8664), ("Mach-O", 0x01000007), ("Mach-O", 0x0100000C)
LIBRARIES = {
    "fmu2": {"linux64/x.so": [X86], "win64/x.dll": [WINDOWS], "darwin64/x.dylib": [MAC, MAC_ARM]},
    "fmu3": {
        "x86_64-linux/x.so": [X86], "aarch64-linux/x.so": [ARM], "x86_64-windows/x.dll": [WINDOWS],
        "x86_64-darwin/x.dylib": [MAC], "aarch64-darwin/x.dylib": [MAC_ARM],
    },
}  # fmt: skip


@pytest.mark.skipif(not has_zig(), reason="zig is not installed: pip install kinemorph[fmu]")
@pytest.mark.parametrize("version", LIBRARIES)
def test_libraries_for_other_systems_export_all_functions_and_repeat(version: str, tmp_path: Path) -> None:
    """Headers and symbols of the libraries for Windows, macOS and ARM are read; they are not run."""
    plant = kinemorph.plants.first_order(lambda x: [-x[0]], {"a": ""}, start=[1.0], name="x")
    (file,) = write_program(make_job(plant, 1.0), version, tmp_path / "x.fmu")
    archive = zipfile.ZipFile(file)
    found = {name[9:]: archive.read(name) for name in archive.namelist() if name.startswith("binaries/")}
    assert set(found) == set(LIBRARIES[version])
    classes = {"fmu2": (fmi2.FMU2Model, fmi2.FMU2Slave)}
    classes["fmu3"] = (fmi3.FMU3Model, fmi3.FMU3Slave, fmi3.FMU3ScheduledExecution)
    wanted = {name for one in classes[version] for name in dir(one) if name.startswith(f"fmi{version[-1]}")}
    assert len(wanted) == {"fmu2": 44, "fmu3": 75}[version]  # all functions of the standard, which FMPy may call
    for name, processors in LIBRARIES[version].items():
        pieces = parts(found[name]) if len(processors) > 1 else [found[name]]
        headers = [library_header(piece) for piece in pieces]
        assert [(header.format, header.processor) for header in headers] == processors
        for header in headers:
            assert wanted == {export for export in header.exports if export.startswith("fmi")}
            assert not any(export.startswith("x_") for export in header.exports)
    (again,) = write_program(make_job(plant, 1.0), version, tmp_path / "again.fmu")
    assert again.read_bytes() == file.read_bytes()
