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
from kinemorph.programs import make_job, write_program
from kinemorph.simulation.integrators.methods import METHODS, method_named
from support.cases.c_programs import STRICT, needs_cc
from support.cases.program_cases import CASES, Case, table
from support.tools.program_languages import ROUGH, SANITIZED, c_program, compile_files, job_of, run_program

# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
def test_a_start_with_options_is_that_of_simulate(tmp_path: Path) -> None:
    """Times, tolerances, states, inputs and parameters at run time: as if they had been written into the job."""
    robot = kinemorph.library.double_pendulum()
    program = c_program(make_job(robot, 1.0, parameters=["m1"], inputs=[0.0, 0.0]), tmp_path, ROUGH)
    sets = ("q.q1=0.3", "v.q2=-0.5", "u.q1=0.2", "p.m1=2.5")
    options = ("--until", "0.77", "--start", "0.25", "--output-step", "0.1", "--rtol", "1e-6", "--atol", "1e-7")
    found, _ = run_program(program, *options, *(word for text in sets for word in ("--set", text)))
    plant = kinemorph.plants.plant(robot, parameters=["m1"], account=True)
    wanted = kinemorph.simulate(
        plant, 0.77, start=0.25, output_step=0.1, q={"q1": 0.3}, v={"q2": -0.5}, inputs={"q1": 0.2}, p={"m1": 2.5},
        rtol=1e-6, atol=1e-7,
    )  # fmt: skip
    assert np.array_equal(found[:, 0], wanted.t)
    assert np.abs(found - table(wanted)).max() < 1e-9


@pytest.mark.slow
@needs_cc
def test_sample_times_of_a_list_and_periods_that_are_no_ratios(tmp_path: Path) -> None:
    robot, times = kinemorph.library.pendulum(), [0.1, 0.25, 0.4, 0.9]
    listed = c_program(make_job(robot, 1.0, q=[0.5], output_step=times), tmp_path, ROUGH)
    for until, arguments in ((1.0, ()), (0.4, ("--until", "0.4")), (0.3, ("--until", "0.3"))):
        wanted = kinemorph.simulate(robot, until, q=[0.5], output_step=[t for t in times if t <= until])
        assert np.array_equal(run_program(listed, *arguments)[0][:, 0], wanted.t)
    for start, until, step in ((0.0, 1.0, 0.1), (0.1, 0.7, 0.02), (1 / 3, 1.0, 0.05), (0.0, 1.0, np.pi / 100)):
        options = ("--start", repr(start), "--until", repr(until), "--output-step", repr(float(step)))
        wanted = kinemorph.simulate(robot, until, start=start, q=[0.5], output_step=step)
        assert np.array_equal(run_program(listed, *options)[0][:, 0], wanted.t)


@pytest.mark.slow
@needs_cc
def test_a_state_that_is_set_is_brought_onto_the_constraints(tmp_path: Path) -> None:
    case = CASES["four_bar"]()
    program = c_program(job_of(case), tmp_path, ROUGH)
    found, message = run_program(program, "--set", "q.q1=1.1", "--until", "0.1")
    start = found[0, 1:]
    plant = kinemorph.plants.plant(case.model)
    phi, rate, _, _ = plant.compiled("constraints")(
        0.0, start[:3], np.concatenate([[0.0] * 3, start[3:6]]), [], plant.start["u"], []
    )
    assert np.abs(phi).max() < 1e-12 and np.abs(rate).max() < 1e-11
    assert start[0] == 1.1 and "note:" not in message
    wanted = kinemorph.simulate(case.model, 0.1, **{**case.options, "q": {"q1": 1.1}})
    assert np.abs(wanted.q[0] - start[:3]).max() < 1e-10
    moved, message = run_program(program, "--set", "q.q1=1.1", "--set", "v.q1=3", "--until", "0.1")
    assert np.abs(moved - table(wanted)).max() < 1e-9
    message = run_program(program, "--set", "q.q1=1.1", "--set", "q.q2=2.9", "--until", "0.1", code=1)[1]
    assert (
        message == "failed: The initial state of 'four_bar' cannot be brought onto its constraints. Give another one.\n"
    )


@pytest.mark.slow
@needs_cc
@pytest.mark.parametrize("until", [0.15000000000000002, 0.30000000000000004])
def test_an_end_beside_a_sample_time_by_rounding_is_that_sample_time(until: float, tmp_path: Path) -> None:
    case = CASES["dc_motor"]()
    found, message = run_program(c_program(job_of(case), tmp_path, ROUGH), "--until", repr(until))
    assert found[-1, 0] == round(until, 2) and message.startswith(f"finished at t = {until:.2g} s")


# ── sentences ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ball(**options: Any) -> Case:
    case = CASES["bouncing_ball"]()
    return Case(case.model, 5.0, {**case.options, **options})


@needs_cc
@pytest.mark.parametrize(
    "options",
    [
        {"events": [Guard("ground", lambda q: q[0], "falling", stop=True)]},
        pytest.param({"most_events": 2}, marks=pytest.mark.slow),
    ],
)
def test_a_run_ends_with_the_sentence_of_simulate(options: Any, tmp_path: Path) -> None:
    """An event that ends the run, and a number of events."""
    case = ball(**options)
    wanted = kinemorph.simulate(case.model, case.until, **case.options)
    found, message = run_program(c_program(job_of(case), tmp_path, ROUGH))
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
    found, message = run_program(c_program(make_job(plant, 5.0), tmp_path, ROUGH), code=1)
    assert not wanted.outcome.ok and message == f"failed: {wanted.outcome.message}\n"
    assert len(found) == len(wanted.t)


@needs_cc
def test_bad_options_are_refused_with_a_sentence(tmp_path: Path) -> None:
    program = c_program(job_of(ball()), tmp_path, ROUGH)
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
        assert said in run_program(program, *arguments, code=2)[1]
    listed = subprocess.run([*program.command, "--list"], capture_output=True, text=True, check=True).stdout
    assert listed.splitlines() == ["q.z = 10 m", "v.z = 0 m/s", "u.z = 0 N"]


# ── the library form ──────────────────────────────────────────────────────────────────────────────────────────────────

LOOP = """
#include <stdio.h>
#include "dc_motor.h"

static dc_motor one, other, kept;

int main(void)
{
    const int speed = dc_motor_find("v.shaft"), current = dc_motor_find("x.motor.current");
    dc_motor_init(&one);
    dc_motor_init(&other);
    dc_motor_set(&other, speed, 5.0);
    for (int k = 1; k <= 40; ++k) {
        if (dc_motor_advance(&one, 0.01 * k) != DC_MOTOR_GOING) return 1;
        if (dc_motor_advance(&other, 0.01 * k) != DC_MOTOR_GOING) return 1;
        if (k == 20) kept = one;
        printf("%.17g %.17g %.17g\\n", dc_motor_get(&one, speed), dc_motor_get(&one, current),
               dc_motor_get(&other, speed));
    }
    for (int k = 21; k <= 40; ++k) dc_motor_advance(&kept, 0.01 * k);
    printf("%d %d %d\\n", dc_motor_get(&kept, speed) == dc_motor_get(&one, speed), dc_motor_find("q.none"),
           dc_motor_set(&one, dc_motor_find("m.control.integral"), 0.0));
    return 0;
}
"""


@needs_cc
def test_a_loop_of_ones_own_advances_the_model(tmp_path: Path) -> None:
    """Two models do not disturb each other, and a copy of the data is a state that can be restored."""
    case = CASES["dc_motor"]()
    files = write_program(job_of(case), "c", tmp_path)
    (tmp_path / "main.c").write_text(LOOP)
    sources = [path.name for path in files if path.suffix == ".c"]
    compile_files(tmp_path, [*compiler(), *ROUGH, *sources, "-lm", "-o", "loop"])
    *lines, last = subprocess.run([tmp_path / "loop"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = np.array([[float(word) for word in line.split()] for line in lines])
    first, second = (kinemorph.simulate(case.model, 0.4, v=[speed], output_step=0.01) for speed in (0.0, 5.0))
    wanted = np.column_stack([first.v[1:, 0], first["motor.current"][1:], second.v[1:, 0]])
    assert np.abs(found - wanted).max() < 1e-7  # the steps of a loop end at other times
    assert last == "1 -1 -1"


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

    def noted(v: Any) -> dict[str, Any]:
        seen.append(1.0)
        return {"v": v}

    noting = Guard("noting", lambda q: q[0], reset=noted)
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
    found, _ = run_program(c_program(make_job(model, 0.05, **options), tmp_path, flags))
    assert np.abs(found - table(kinemorph.simulate(model, 0.05, **options))).max() < 1e-9
