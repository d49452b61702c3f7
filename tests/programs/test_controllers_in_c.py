"""Controllers in C go into programs as they are, and their programs take the steps of `simulate`."""

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kinemorph import System, library, simulate
from kinemorph.elements import CController, Sampled
from kinemorph.errors import UnsupportedError
from kinemorph.programs import make_job, write_program
from support.cases.c_controllers import OWN_PID, PID_IN_C, pid_in_c
from support.cases.c_programs import STRICT, needs_cc

QUICK = {"method": "rk4", "step": 0.01, "output_step": 0.05}
SLOW = pytest.mark.slow


def pendulum(*elements):
    return System(library.pendulum(), elements)


def rows_of(folder: Path, *options: str) -> np.ndarray:
    """The samples of the program in a folder, built with the compiler's options from the files in the folder itself."""
    sources = sorted(path.name for path in folder.glob("*.c"))
    subprocess.run(["cc", *options, *sources, "-lm", "-o", "run"], cwd=folder, check=True)
    subprocess.run(["./run", "--output", "run.csv"], cwd=folder, check=True, capture_output=True)
    return np.loadtxt(folder / "run.csv", delimiter=",", skiprows=1)


@needs_cc
@pytest.mark.parametrize(
    ("more", "options"),
    [
        ({}, ("-O0", *STRICT[1:])),
        pytest.param({"delay": 0.013, "quantum": 0.25}, STRICT, marks=SLOW),
        pytest.param({}, (*STRICT, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"), marks=SLOW),
    ],
)
def test_a_program_in_c_with_a_pid_in_c_equals_the_pid(tmp_path, more, options):
    write_program(make_job(pendulum(pid_in_c(**more)), 0.5, **QUICK), "c", tmp_path)
    assert (tmp_path / "controllers" / "pid.c").read_text() == PID_IN_C
    own = simulate(pendulum(dataclasses.replace(OWN_PID, **more)), 0.5, **QUICK)
    rows = rows_of(tmp_path, *options)
    assert len(rows) == len(own) and np.abs(own["pid"]).max() == 4.0
    assert np.abs(rows[:, 1] - own["q.q1"]).max() < 1e-12 and np.abs(rows[:, 2] - own["v.q1"]).max() < 1e-12


@SLOW
@needs_cc
def test_a_program_in_cpp_with_a_pid_in_c_equals_the_pid(tmp_path):
    write_program(make_job(pendulum(pid_in_c()), 0.5, **QUICK), "cpp", tmp_path)
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True)
    subprocess.run(["./pendulum", "--output", "run.csv"], cwd=tmp_path, check=True, capture_output=True)
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    own = simulate(pendulum(OWN_PID), 0.5, **QUICK)
    assert np.abs(rows[:, 1] - own["q.q1"]).max() < 1e-12


@SLOW
@needs_cc
def test_several_controllers_sample_in_order_and_share_their_source(tmp_path):
    home = tmp_path / "firmware"
    for folder in ("src", "inc", "boards"):
        (home / folder).mkdir(parents=True)
    (home / "inc" / "shared.h").write_text(
        "#pragma once\nextern double seen;\n#define STEP 0.5 /* \xe9t\xe9 */\n", "latin-1"
    )
    (home / "boards" / "board.h").write_text("#define GAIN 3.0\n")
    (home / "src" / "state.c").write_text('#include "../inc/shared.h"\ndouble seen;\n')
    (home / "src" / "tasks.c").write_text(
        '#include "../inc/shared.h"\n#include "board.h"\n#ifdef NEVER\n#include "absent.h"\n#endif\n'
        "void look(double t, const double *reads, double *drives, double *memory)\n"
        "{ (void)memory; seen = t; drives[0] = OFFSET + GAIN * reads[0]; }\n"
        "void act(double t, const double *reads, double *drives, double *memory)\n"
        "{ (void)t; (void)reads; memory[0] += STEP; drives[0] = seen + memory[0]; }\n"
    )
    source = {"source": (home / "src" / "tasks.c", home / "src" / "state.c"), "include": home / "boards"}
    source["defines"] = "OFFSET=2.0"
    look = CController("look", function="look", reads="q.q1", outputs="y", every=0.1, **source)
    between = Sampled("between", lambda t, y: 2.0 * y, reads="look.y", outputs="y", every=0.1)
    act = CController("act", function="act", drives="q1", every=0.1, memory={"n": 1.0}, **source)
    system = pendulum(look, between, act)
    run = simulate(system, 0.5, **QUICK)
    assert run["act"] == pytest.approx(np.floor(run.t / 0.1 + 1e-9) * 0.6 + 1.5)
    assert run["between.y"] == pytest.approx(2.0 * run["look.y"])
    write_program(make_job(system, 0.5, **QUICK), "c", tmp_path / "out")
    files = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.?"))
    copies = {
        "controllers/inc/shared.h",
        "controllers/src/board.h",
        "controllers/src/state.c",
        "controllers/src/tasks.c",
    }
    assert copies == {file for file in files if "/" in file}
    assert b"\xe9t\xe9" in (tmp_path / "out" / "controllers" / "inc" / "shared.h").read_bytes()
    rows = rows_of(tmp_path / "out", *STRICT)
    assert np.abs(rows[:, 1] - run["q.q1"]).max() < 1e-12


def test_what_a_program_cannot_take_along_is_named(tmp_path):
    job = make_job(pendulum(pid_in_c()), 0.5, **QUICK)
    for target, language in (("python", "Python"), ("matlab", "MATLAB")):
        with pytest.raises(UnsupportedError, match=f"CController 'pid' of 'pendulum' is a .* program in {language}"):
            write_program(job, target, tmp_path)
    for changed, message in (
        ({"source": tmp_path / "none.c"}, "its source '.*none.c' cannot be read"),
        ({"trusted": False}, "is C of a model file .* which would become part of a program"),
        ({"source": PID_IN_C.replace("void pid", "void pendulum_pid"), "function": "pendulum_pid"}, "begin with 'pend"),
        ({"source": f"#include <pid.h>\n{PID_IN_C}", "include": tmp_path}, 'Write #include "pid.h"'),
        ({"source": f'#include "../../x.h"\n{PID_IN_C}', "include": tmp_path / "a" / "b"}, "cannot be written there"),
    ):
        (tmp_path / "a" / "b").mkdir(parents=True, exist_ok=True)
        for name in ("pid.h", "x.h"):
            (tmp_path / name).write_text("")
        element = dataclasses.replace(pid_in_c(), **changed)
        with pytest.raises(UnsupportedError, match=message):
            write_program(make_job(pendulum(element), 0.5, **QUICK), "c", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@SLOW
@needs_cc
def test_an_output_that_is_not_written_ends_the_program(tmp_path):
    silent = "void pid(double t, const double *r, double *d, double *m) { if (t < 0.25) d[0] = r[0]; m[0] = t; }"
    write_program(make_job(pendulum(pid_in_c(silent)), 0.5, **QUICK), "c", tmp_path)
    sources = sorted(path.name for path in tmp_path.glob("*.c"))
    subprocess.run(["cc", "-O1", *sources, "-lm", "-o", "run"], cwd=tmp_path, check=True)
    done = subprocess.run(["./run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "became nan when 'pid' sampled" in done.stderr
    assert "returned nan as output" in simulate(pendulum(pid_in_c(silent)), 0.5, **QUICK).outcome.message


@SLOW
@needs_cc
@pytest.mark.parametrize("version", [2, 3])
def test_fmus_with_a_pid_in_c_equal_the_pid(tmp_path, version):
    fmpy = pytest.importorskip("fmpy")
    job = make_job(pendulum(pid_in_c()), 0.5, output_step=0.05)
    (path,) = write_program(job, f"fmu{version}", tmp_path / "pendulum.fmu", systems="this")
    own = simulate(pendulum(OWN_PID), 0.5, output_step=0.05)
    for kind, off in (("CoSimulation", 1e-12), ("ModelExchange", 1e-8)):  # the latter by the CVODE of FMPy
        found = fmpy.simulate_fmu(
            str(path), stop_time=0.5, output_interval=0.05, fmi_type=kind, relative_tolerance=1e-10, output=["q.q1"]
        )
        last = {round(float(t), 9): x for t, x in found.tolist()}  # the last of several samples at an event
        assert max(abs(last[round(float(t), 9)] - q) for t, q in zip(own.t, own["q.q1"], strict=True)) < off
