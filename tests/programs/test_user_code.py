"""Code of a user in programs: it equals the same law as elements, it stays, and what goes wrong is said.

SEEDS 001-02, 001-09: routines of a user in the program, which add applied efforts and save data.
"""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinemorph
from kinemorph import RobotBuilder, System
from kinemorph.codegen.building.compile import build
from kinemorph.elements import Spring
from kinemorph.errors import InterfaceWarning, ModelError, UnsupportedError
from kinemorph.programs import UserCode, make_job, write_program
from support.cases.c_programs import STRICT, needs_cc
from support.cases.user_code import CODE, FILES, USER_C, Q, V, with_elements
from support.tools.command_line import run
from support.tools.program_languages import (
    ROUGH,
    SANITIZED,
    WRITERS,
    Program,
    c_program,
    has_language,
    run_program,
)

UNTIL = 0.4


QUICK = ("-O0", *STRICT[1:])  # soon compiled, with all warnings


def written(language: str, folder: Path, files: dict[str, str] | None = None, **options: Any) -> Program:
    """The double pendulum with the user's code, as a program that is ready to run."""
    folder.mkdir(exist_ok=True)
    for name, text in (FILES[language] if files is None else files).items():
        (folder / name).write_text(text)
    job = make_job(kinemorph.library.double_pendulum(), UNTIL, q=Q, v=V, output_step=0.1, user=CODE, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterfaceWarning)  # user.c is there before the first program
        return c_program(job, folder, QUICK) if language == "c" else WRITERS[language](job, folder)


def expected(**options: Any) -> np.ndarray:
    """q, v and the torque of the actuator at the samples, from `simulate` with elements."""
    run = kinemorph.simulate(with_elements(), UNTIL, q=Q, v=V, output_step=0.1, **options)
    return np.column_stack([run.t, run.q, run.v, run.x[:, :1]])


def differs(found: np.ndarray, options: dict[str, Any]) -> float:
    """The largest difference of a program's samples of q, v and torque from those with elements."""
    wanted = expected(**options)
    assert found.shape[0] == wanted.shape[0] == 5
    return float(np.abs(found[:, : wanted.shape[1]] - wanted).max())


# ── the same motion ───────────────────────────────────────────────────────────────────────────────────────────────────


@needs_cc
def test_a_spring_and_an_actuator_in_c_equal_elements(tmp_path: Path) -> None:
    """Newmark: the residual and Newton's matrix take the user's part."""
    options = {"method": "newmark", "step": 0.002}
    found, message = run_program(written("c", tmp_path, **options))
    assert differs(found, options) < 1e-10
    assert "finished" in message
    assert (tmp_path / "user.c").read_text() == USER_C


METHODS: dict[str, dict[str, Any]] = {
    "rk4": {"step": 0.002},
    "dop853": {"rtol": 1e-12, "atol": 1e-14},
    "newmark": {"step": 0.002},
    "generalized_alpha": {"step": 0.002},
    "radau": {"rtol": 1e-12, "atol": 1e-14},
    "rodas": {"step": 0.002},
    "tr_bdf2": {"step": 0.002},
    "leapfrog": {"step": 0.002},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("language", WRITERS)
def test_user_code_equals_elements(language: str, method: str, tmp_path: Path) -> None:
    """Explicit, implicit and symplectic methods, in every language."""
    if missing := has_language(language):
        pytest.skip(missing)
    if language == "matlab" and method in ("radau", "dop853", "rodas", "tr_bdf2"):
        pytest.skip("GNU Octave needs minutes for it")
    options = {"method": method, **METHODS[method]}
    found, _ = run_program(written(language, tmp_path, **options))
    # the iteration of tr_bdf2 ends by a norm of all states, among which simulate has two energies
    assert differs(found, options) < (1e-8 if method == "tr_bdf2" else 1e-10)


@pytest.mark.slow
@needs_cc
def test_newton_converges_as_with_elements(tmp_path: Path) -> None:
    """Newton's matrix has differences of the user's part: with a lag of 1 us, steps are as long as with an element."""
    quick = USER_C.replace("/ 0.04", "/ 1e-6")
    assert quick != USER_C
    for method in ("radau", "newmark"):
        options = {"method": method, "rtol": 1e-5, "atol": 1e-7}
        _, message = run_program(written("c", tmp_path, {"user.c": quick}, **options))
        accepted = int(message.split(" steps accepted")[0].split()[-1])
        run = kinemorph.simulate(with_elements(1e-6), UNTIL, q=Q, v=V, output_step=0.1, **options)
        assert accepted < 1.2 * run.statistics.accepted < 5000


@pytest.mark.slow
@needs_cc
def test_constraints_and_free_bodies_see_user_code(tmp_path: Path) -> None:
    """A four-bar by projection and a free body: a spring to the world at an origin, as element and as user code."""
    builder = RobotBuilder("stone")
    builder.body("stone", mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.05, 0.0, 0.02))
    builder.joint("base", "free", "world", "stone")
    for robot, options in (
        (kinemorph.library.four_bar(), {"rtol": 1e-11, "atol": 1e-13, "q": {"q1": 0.9}}),
        (builder.build(), {"method": "rk4", "step": 0.001}),
    ):
        name = robot.body_names[-1]
        model = System(robot, (Spring("spring", "world", name, 40.0, 0.1, 0.5, (0.3, 0.2, 0.5)),))
        word = name.replace(" ", "_")
        user = f"""#include "user.h"
#include <math.h>
void user_efforts(const user_instant *now, user_loads *add)
{{
    const double to[3] = {{0.3, 0.2, 0.5}}, *p = now->position[BODY_{word}], *v = now->velocity[BODY_{word}];
    double length = 0.0, speed = 0.0;
    for (int k = 0; k < 3; ++k) length += (p[k] - to[k]) * (p[k] - to[k]);
    length = sqrt(length);
    for (int k = 0; k < 3; ++k) speed += v[k] * (p[k] - to[k]) / length;
    for (int k = 0; k < 3; ++k) {{
        add->force[BODY_{word}][k] -= (40.0 * (length - 0.1) + 0.5 * speed) * (p[k] - to[k]) / length;
    }}
}}
"""
        folder = tmp_path / robot.name
        folder.mkdir()
        (folder / "user.c").write_text(user)
        with pytest.warns(InterfaceWarning, match=r"not known for which model user\.c was written"):
            program = c_program(make_job(robot, 0.5, output_step=0.1, user=True, **options), folder, SANITIZED)
        found, _ = run_program(program)
        run = kinemorph.simulate(model, 0.5, output_step=0.1, **options)
        wanted = np.column_stack([run.t, run.q, run.v])
        assert np.abs(found[:, : wanted.shape[1]] - wanted).max() < 1e-9


def test_the_march_asks_at_every_instant(tmp_path: Path) -> None:
    """A constant force on a mass that slides: the interpreter gives the closed form, and each call has its own time."""
    builder = RobotBuilder("cart")
    builder.body("mass", mass=2.0, inertia=(1.0, 1.0, 1.0))
    builder.joint("slide", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0))
    job = make_job(builder.build(), 0.1, method="rk4", step=0.05, user=UserCode(states={"work": 0.0}), v=[0.5])
    seen: list[float] = []

    def efforts(t: Any, q: Any, v: Any, x: Any, *rest: Any) -> np.ndarray:
        seen.append(float(t[0]))
        assert np.allclose(rest[3], [q[0], 0.0, 0.0]) and np.allclose(rest[5], [v[0], 0.0, 0.0])  # position, velocity
        return np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    table = {"user_efforts": efforts, "user_rates": lambda t, q, v, *rest: 4.0 * v}
    times = np.zeros(256)
    times[0] = 0.1
    first = job.first
    started, _ = build(job.start, "interpreter", foreign=table)(first.memory, 1.0, np.zeros((2, 1)), [0.0], [])
    rows = build(job.march, "interpreter", foreign=table)(started, times, 1.0, 0.1, first.limits, [0.0], [])[1]
    assert np.allclose(rows[0, :3], [0.06, 0.7, 0.24], atol=1e-15)  # x = v t + a t^2 / 2 with a = 4 / 2; work = F x
    assert sorted(set(seen)) == pytest.approx([0.0, 0.025, 0.05, 0.075, 0.1])


# ── the user's file stays ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "target, own",
    [
        ("c", "user.c"),
        pytest.param("python", "user.py", marks=pytest.mark.slow),
        pytest.param("matlab", "user_efforts.m", marks=pytest.mark.slow),
    ],
)
def test_user_code_is_written_once(target: str, own: str, tmp_path: Path) -> None:
    """Written again, the program leaves the user's file bitwise; a model with other names is reported by its names."""
    robot = kinemorph.library.double_pendulum()
    job = make_job(robot, 0.1, method="rk4", step=0.01, user=True)
    files = write_program(job, target, tmp_path)
    assert tmp_path / own in files and all(path.exists() for path in files)
    mine = (tmp_path / own).read_bytes() + b"\r\n" + "\u00e9".encode()
    (tmp_path / own).write_bytes(mine)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_program(job, target, tmp_path)
    assert not list(tmp_path.glob("*.new"))
    more = UserCode(states={"pressure": 1e5})
    said = rf"{own} in .* stays as it is.*{own}\.new.*new: 'state of the model user.pressure'"
    with pytest.warns(InterfaceWarning, match=said):
        write_program(make_job(robot, 0.1, method="rk4", step=0.01, user=more), target, tmp_path)
    assert (tmp_path / own).read_bytes() == mine
    assert (tmp_path / f"{own}.new").exists()
    with pytest.warns(InterfaceWarning, match="gone: 'state of the model user.pressure'"):
        write_program(job, target, tmp_path)


@pytest.mark.slow
def test_the_command_line_declares_states_and_memory(tmp_path: Path) -> None:
    """`kinemorph program --user`: code that is there is not reported as written; names that are missing are."""
    given = ("program", "double_pendulum", "--method", "euler", "--step", "0.01", "--output", str(tmp_path))
    declared = ("--user-states", "pressure=1e5", "--user-memory", "hold=2", "--sample-every", "0.1")
    assert "user.c" in run(*given, *declared).output
    assert "STATE_pressure" in (tmp_path / "user.h").read_text()
    mine = (tmp_path / "user.c").read_bytes()
    again = run(*given, "--user", "--save-every", "0.1")
    assert again.exit_code == 0 and f"wrote {tmp_path / 'user.c'}" not in again.output
    assert "gone: 'state of the model user.pressure'" in again.output
    assert (tmp_path / "user.c").read_bytes() == mine
    wrong = run(*given, "--user-states", "1")
    assert wrong.exit_code == 2 and "--user-states is '1'; expected values by name" in wrong.output
    missing = run(*given, "--user-file", str(tmp_path / "none.c"))
    assert missing.exit_code == 2 and "none.c' cannot be read: No such file" in missing.output


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────────────────────────

LATE = {  # forces that are not finite from a time on
    "c": {"user.c": USER_C.replace("length = sqrt(length);", "length = now->t > 0.25 ? 0.0 : sqrt(length);")},
    "python": {"user.py": FILES["python"]["user.py"].replace("d = (p2", "length *= now.t <= 0.25\n    d = (p2")},
    "matlab": FILES["matlab"]
    | {"user_efforts.m": FILES["matlab"]["user_efforts.m"].replace("d = (p2", "len = len * (now.t <= 0.25); d = (p2")},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "newmark", "dop853"])
@pytest.mark.parametrize("language", LATE)
def test_a_function_that_returns_nan_ends_the_run_with_a_sentence(language: str, method: str, tmp_path: Path) -> None:
    if missing := has_language(language):
        pytest.skip(missing)
    options = {"step": 0.01} if method != "dop853" else {}
    program = written(language, tmp_path, LATE[language], method=method, **options)
    found, message = run_program(program, code=1)
    assert "user code returned a number that is not finite: user_efforts gives force.link1." in message
    assert "At t = 0.2" in message and "does not divide by 0" in message
    assert found[-1, 0] <= 0.25


@pytest.mark.slow
@needs_cc
def test_a_function_that_is_missing_is_the_linkers_error(tmp_path: Path) -> None:
    job = make_job(kinemorph.library.pendulum(), 0.1, method="euler", step=0.01, user=True)
    (tmp_path / "user.c").write_text('#include "user.h"\n')
    with pytest.warns(InterfaceWarning, match="not known for which model"):
        sources = [path.name for path in write_program(job, "c", tmp_path) if path.suffix == ".c"]
    done = subprocess.run(["cc", *ROUGH, *sources, "-lm"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "pendulum_user_efforts" in done.stderr


def test_declarations_that_cannot_be_used_are_refused() -> None:
    for wrong, said in (
        ({"states": {"a b": 0.0, "a_b": 1.0}}, "'a b' and 'a_b' would both be called 'a_b'"),
        ({"states": {"p": float("nan")}}, "'p' begins at nan; expected a finite number"),
        ({"states": ["p"]}, "states is .*expected a dict"),
        ({"states": {"": 1.0}}, "has the name ''"),
        ({"memory": {"m": 0.0}}, "memory 'm' is given without sample_every"),
        ({"memory": {"saves": 0.0}, "sample_every": 1.0}, "'saves' counts calls already"),
        ({"sample_every": -1.0}, "sample_every is -1.0; expected a time above 0"),
    ):
        with pytest.raises(ModelError, match=said):
            UserCode(**wrong)
    robot = kinemorph.library.double_pendulum()
    with pytest.raises(ModelError, match="element 'user' of 'double_pendulum' has the name"):
        make_job(System(robot, (Spring("user", "world", "link1", 1.0),)), 0.1, user=True)
    with pytest.raises(UnsupportedError, match="is a plant already"):
        make_job(kinemorph.plants.plant(robot), 0.1, user=True)
    with pytest.raises(UnsupportedError, match=r"user is 'user.c'; expected True or a UserCode"):
        make_job(robot, 0.1, user="user.c")
    with pytest.raises(UnsupportedError, match="method 'variational' balances the whole step at once"):
        make_job(robot, 0.1, user=True, method="variational", step=0.01)
    with pytest.raises(UnsupportedError, match="method 'centered_contact' evaluates forces at a state in the middle"):
        make_job(robot, 0.1, user=True, method="centered_contact", step=0.01)


@pytest.mark.slow
@needs_cc
def test_names_of_any_kind_build(tmp_path: Path) -> None:
    """Bodies and states with hostile names: the interface builds with all warnings, and texts stay texts."""
    names = ['"; system("x")', "*/ int main(){", "int", "COUNT", "a\\", "??/", "\u00e9\U0001f600", "n" * 3000]
    builder = RobotBuilder("simulator")
    parent = "world"
    for k, name in enumerate(names):
        builder.body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        builder.joint(f"{name} {k}", "revolute", parent, name, axis=(0.0, 1.0, 0.0))
        parent = name
    user = UserCode(states={name: 0.0 for name in names if name.strip()}, sample_every=0.1, save_every=0.1)
    job = make_job(builder.build(), 0.01, method="euler", step=0.01, user=user)
    run_program(c_program(job, tmp_path / "c", QUICK))
    run_program(WRITERS["python"](job, tmp_path / "python"))


# ── libraries and FMUs ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@needs_cc
def test_an_fmu_contains_the_users_code(tmp_path: Path) -> None:
    """Co-simulation and model exchange of an FMU with user code equal `simulate` with elements."""
    fmpy = pytest.importorskip("fmpy")
    pytest.importorskip("fmpy.validation")
    (tmp_path / "user.c").write_text(USER_C)
    job = make_job(
        kinemorph.library.double_pendulum(), UNTIL, q=Q, v=V, rtol=1e-11, atol=1e-13, output_step=0.1, user=CODE
    )
    with pytest.warns(InterfaceWarning, match="not known"):
        write_program(job, "fmu2", tmp_path, systems="this")
    wanted = expected(rtol=1e-11, atol=1e-13)
    fmu = str(next(tmp_path.glob("*.fmu")))
    assert not fmpy.validation.validate_fmu(fmu)
    known = {variable.name for variable in fmpy.read_model_description(fmu).modelVariables}
    assert {"x.user.torque", "m.user.hold", "u.q1"} <= known and not any(".force." in name for name in known)
    for kind in ("CoSimulation", "ModelExchange"):
        found = fmpy.simulate_fmu(
            fmu,
            fmi_type=kind,
            stop_time=UNTIL,
            output_interval=0.1,
            relative_tolerance=1e-10,
            output=["q.q1", "v.q2", "x.user.torque", "tau.q2"],
        )
        rows = [np.flatnonzero(np.isclose(found["time"], t))[-1] for t in wanted[:, 0]]  # there are more at events
        assert np.abs(found["q.q1"][rows] - wanted[:, 1]).max() < 1e-7
        assert np.abs(found["v.q2"][rows] - wanted[:, 4]).max() < 1e-6
        assert np.abs(found["x.user.torque"][rows] - wanted[:, 5]).max() < 1e-7
        tau = kinemorph.simulate(with_elements(), UNTIL, q=Q, v=V, output_step=0.1, rtol=1e-11, atol=1e-13).tau
        assert np.abs(found["tau.q2"][rows] - tau[:, 1]).max() < 1e-4
    assert (tmp_path / "user.c").read_text() == USER_C


@pytest.mark.slow
@needs_cc
def test_a_c_program_with_user_code_is_clean(tmp_path: Path) -> None:
    """Address and undefined-behavior sanitizers find nothing; saving is called at its times."""
    saving = '#include "user.h"\n#include <stdio.h>\nvoid user_efforts(const user_instant *now, user_loads *add)\n'
    saving += "{ add->generalized[V_q1] = -now->v[V_q1]; }\n"
    saving += 'void user_save(const user_instant *now) { printf("%.17g %.17g\\n", now->t, now->q[Q_q1]); }\n'
    (tmp_path / "user.c").write_text(saving)
    code = UserCode(save_every=0.05)
    job = make_job(kinemorph.library.double_pendulum(), 0.2, q=Q, output_step=0.05, method="newmark", user=code)
    with pytest.warns(InterfaceWarning, match="not known"):
        program = c_program(job, tmp_path, SANITIZED)
    done = subprocess.run([*program.command, "--output", "run.csv"], cwd=tmp_path, capture_output=True, check=True)
    saved = np.array([line.split() for line in done.stdout.decode().splitlines()], dtype=float)
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert np.array_equal(saved, rows[:, :2])
