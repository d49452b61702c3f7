"""Programs in C: they build without a warning, take the same steps as `simulate`, and end with its sentences.

SEEDS 001-02, 001-03: the model leaves as running code.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import Guard, System
from kinemorph.codegen.backends.c.library import compiler
from kinemorph.elements import PythonController
from kinemorph.errors import UnsupportedError
from kinemorph.modules import Undock
from kinemorph.programs import Job, make_job, write_program
from kinemorph.simulation.integrators.methods import METHODS, method_named
from support.cases.c_programs import STRICT, needs_cc
from support.cases.program_cases import CASES, Case, table

SANITIZED = ("-O1", "-g", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ROUGH = ("-O0", "-std=c99")  # soon compiled
QUICK = ("bouncing_ball", "dc_motor")


def built(job: Job, folder: Path, flags: tuple[str, ...] = STRICT) -> Path:
    """The program of a job, compiled by one command; a warning is a failure."""
    files = write_program(job, "c", folder)
    sources = [path.name for path in files if path.suffix == ".c"]
    command = [*compiler(), *flags, *sources, "-lm", "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return folder / "program"


def run(program: Path, *arguments: str, code: int = 0) -> tuple[np.ndarray, str]:
    """(the samples that a program writes, its message)."""
    file = program.parent / "run.csv"
    command = [str(program), "--output", str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return (np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2) if code < 2 else np.zeros(0)), done.stderr


def job_of(case: Case) -> Job:
    return make_job(case.model, case.until, **case.options)


# ── the same steps ────────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CASES])
def test_a_program_takes_the_steps_of_simulate(name: str, tmp_path: Path) -> None:
    case = CASES[name]()
    found, message = run(built(job_of(case), tmp_path))
    wanted = kinemorph.simulate(case.model, case.until, **case.options)
    rows = table(wanted)
    assert found.shape == rows.shape
    assert np.abs(found - rows).max() < 1e-9 * max(1.0, np.abs(rows).max())
    kind, counts = wanted.outcome.kind, wanted.statistics
    assert message.startswith(f"{kind} at t = {wanted.outcome.t:.9g} s: ") and wanted.outcome.message in message
    assert f" {len(wanted.events)} events, " in message
    if kind == "finished":  # a run that comes to rest counts steps that its last call took beyond the end
        assert f": {counts.accepted} steps accepted, {counts.rejected} rejected, " in message


@needs_cc
def test_a_start_with_options_is_that_of_simulate(tmp_path: Path) -> None:
    """Times, tolerances, states, inputs and parameters at run time: as if they had been written into the job."""
    robot = kinemorph.library.double_pendulum()
    program = built(make_job(robot, 1.0, parameters=["m1"], inputs=[0.0, 0.0]), tmp_path)
    sets = ("q.q1=0.3", "v.q2=-0.5", "u.q1=0.2", "p.m1=2.5")
    options = ("--until", "0.77", "--start", "0.25", "--output-step", "0.1", "--rtol", "1e-6", "--atol", "1e-7")
    found, _ = run(program, *options, *(word for text in sets for word in ("--set", text)))
    plant = kinemorph.plants.plant(robot, parameters=["m1"], account=True)
    wanted = kinemorph.simulate(
        plant, 0.77, start=0.25, output_step=0.1, q={"q1": 0.3}, v={"q2": -0.5}, inputs={"q1": 0.2}, p={"m1": 2.5},
        rtol=1e-6, atol=1e-7,
    )  # fmt: skip
    assert np.array_equal(found[:, 0], wanted.t)
    assert np.abs(found - table(wanted)).max() < 1e-9


@needs_cc
def test_a_state_that_is_set_is_brought_onto_the_constraints(tmp_path: Path) -> None:
    case = CASES["four_bar"]()
    program = built(job_of(case), tmp_path)
    found, message = run(program, "--set", "q.q1=1.1", "--until", "0.1")
    start = found[0, 1:]
    plant = kinemorph.plants.plant(case.model)
    phi, rate, _, _ = plant.compiled("constraints")(
        0.0, start[:3], np.concatenate([[0.0] * 3, start[3:6]]), [], plant.start["u"], []
    )
    assert np.abs(phi).max() < 1e-12 and np.abs(rate).max() < 1e-11
    assert f"note: q.q1 is {start[0]:.9g} and not 1.1, so that the state satisfies the constraints" in message


# ── sentences ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ball(**options: Any) -> Case:
    case = CASES["bouncing_ball"]()
    return Case(case.model, 5.0, {**case.options, **options})


@needs_cc
@pytest.mark.parametrize(
    "options", [{"events": [Guard("ground", lambda q: q[0], "falling", stop=True)]}, {"most_events": 2}]
)
def test_a_run_ends_with_the_sentence_of_simulate(options: Any, tmp_path: Path) -> None:
    """An event that ends the run, and a number of events."""
    case = ball(**options)
    wanted = kinemorph.simulate(case.model, case.until, **case.options)
    found, message = run(built(job_of(case), tmp_path, ROUGH))
    assert np.abs(found - table(wanted)).max() < 1e-9
    assert wanted.outcome.message and wanted.outcome.message in message


FAILING: dict[str, Any] = {
    "not finite": lambda t, x: [1.0 / (x[0] - 1.0)],
    "grows": lambda t, x: [x[0] * x[0]],
}


@needs_cc
@pytest.mark.parametrize("name", FAILING)
def test_a_run_that_fails_says_what_simulate_says(name: str, tmp_path: Path) -> None:
    plant = kinemorph.plants.first_order(FAILING[name], {"a": "1"}, start=[2.0 if name == "grows" else 1.0])
    wanted = kinemorph.simulate(plant, 5.0)
    found, message = run(built(make_job(plant, 5.0), tmp_path, ROUGH), code=1)
    assert not wanted.outcome.ok and message == f"failed: {wanted.outcome.message}\n"
    assert len(found) == len(wanted.t)


@needs_cc
def test_bad_options_are_refused_with_a_sentence(tmp_path: Path) -> None:
    program = built(job_of(ball()), tmp_path, ROUGH)
    for arguments, said in (
        (("--until", "abc"), "--until is 'abc'; expected a number."),
        (("--until", "-1"), "expected an end after the start"),
        (("--output-step", "0"), "--output-step is '0'; expected a number above 0."),
        (("--set", "q.y=1"), "bouncing_ball has no such name. --list shows all names."),
        (("--set", "q.z"), "expected NAME=VALUE with a number, such as q.z=0.5."),
        (("--step", "0.1"), "--step has no effect: the method chooses its steps."),
        (("--nonsense", "1"), "'--nonsense' is no option."),
        (("--events", str(tmp_path / "no" / "file")), "cannot be written. Choose another file."),
    ):
        assert said in run(program, *arguments, code=2)[1]
    listed = subprocess.run([str(program), "--list"], capture_output=True, text=True, check=True).stdout
    assert listed.splitlines() == ["q.z = 10 m", "v.z = 0 m/s"] or "q.z = " in listed


# ── what cannot leave ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_cannot_leave_python_is_refused_by_name() -> None:
    pendulum = kinemorph.library.pendulum()
    brain = PythonController("brain", lambda t, r: [0.0], reads=("q.q1",), drives=("q1",), every=0.01)
    with pytest.raises(UnsupportedError, match="PythonController 'brain' of 'pendulum' is a Python function"):
        make_job(System(pendulum, (brain,)), 1.0)
    with pytest.raises(UnsupportedError, match="method 'scipy:RK45' belongs to another library"):
        make_job(pendulum, 1.0, method="scipy:RK45")
    with pytest.raises(UnsupportedError, match="undocking of 'm1' side 2 is given, which a program cannot carry out"):
        make_job(pendulum, 1.0, events=[Undock("m1", 2, at=0.5)])  # type: ignore[list-item]
    with pytest.raises(UnsupportedError, match="inputs: a Python function is given"):
        make_job(pendulum, 1.0, inputs=lambda t: [0.0])
    seen: list[float] = []
    noting = Guard("noting", lambda q: q[0], reset=lambda v: (seen.append(1.0), {"v": v})[1])
    with pytest.raises(UnsupportedError, match="guard 'noting': its reset cannot be compiled"):
        make_job(pendulum, 1.0, events=[noting])
    with pytest.raises(UnsupportedError, match="target 'rust' is unknown"):
        write_program(make_job(pendulum, 1.0), "rust", "nowhere")


# ── every method ──────────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
@pytest.mark.slow
@pytest.mark.parametrize("flags", [STRICT, SANITIZED], ids=["strict", "sanitized"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_builds_without_warnings_and_runs_cleanly(
    name: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    model: Any = kinemorph.library.double_pendulum()
    if name == "moreau":
        model = kinemorph.library.rigid_ball()
    step = None if method_named(name).adaptive and not name.endswith("contact") else 0.001
    options: dict[str, Any] = {"method": name, "step": step}
    found, _ = run(built(make_job(model, 0.05, **options), tmp_path, flags))
    assert np.abs(found - table(kinemorph.simulate(model, 0.05, **options))).max() < 1e-9
