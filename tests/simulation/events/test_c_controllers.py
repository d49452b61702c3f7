"""Controllers in C: they sample as the same law in Python does, and C that fails ends a run with a sentence.

Requirements 001-13 and 003-12 ask that control code of a robot runs with its model.
"""

import dataclasses
import os
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinemorph
from kinemorph import System, library, simulate, simulate_batch
from kinemorph.elements import CController
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.formats.loading import examine
from kinemorph.mechanics.elements.law import law_of
from kinemorph.simulation.c_code.process import CProcess
from kinemorph.simulation.stepping.stepper import Stepper
from support.cases.c_controllers import OWN_PID, PID_IN_C, pid_in_c
from support.cases.c_programs import needs_cc

SLOW = pytest.mark.slow
QUICK = {"method": "rk4", "step": 0.01, "output_step": 0.05}

FAILING = """
#include <stdlib.h>
#include <math.h>
#include <stdio.h>
static int calls;
void fails(double t, const double *reads, double *drives, double *memory)
{
    drives[0] = 1e-3 * ++calls;
    printf("what C prints does not disturb the run\\n");
    if (t < 0.25) return;
    switch ((int)memory[0]) {
    case 1: *(volatile int *)(1 + (size_t)(calls > 1e9)) = 1; break;
    case 2: abort();
    case 3: exit(7);
    case 4: { volatile int none = 0; calls /= none; break; }
    case 5: for (;;) { *(volatile int *)&calls; }
    case 6: drives[0] = sqrt(-1.0 - calls); break;
    case 7: memory[0] = 1.0 / (calls > 1e9); break;
    case 8: drives[1] = drives[2] = 0.0; break;
    case 9: memory[1] = 1.0; break;
    case 10: drives[0] = reads[1]; break;
    }
}
"""


def failing(how, **more):
    return CController("bad", FAILING, "fails", "q.q1", "q1", every=0.1, memory={"how": how}, **more)


def pendulum(*elements):
    return System(library.pendulum(), elements)


@needs_cc
@pytest.mark.parametrize(
    ("options", "variants"),
    [
        pytest.param(QUICK, [{}], id="fixed"),
        pytest.param({}, [{}, {"delay": 0.013}, {"quantum": 0.25, "phase": 0.005}], id="adaptive", marks=SLOW),
        pytest.param({"method": "scipy:RK45"}, [{}, {"delay": 0.013}], id="scipy", marks=SLOW),
    ],
)
def test_a_sampled_pid_in_c_equals_the_pid(options, variants):
    for more in variants:
        run = simulate(pendulum(pid_in_c(**more)), 1.0, **options)
        own = simulate(pendulum(dataclasses.replace(OWN_PID, **more)), 1.0, **options)
        assert run.outcome.ok and np.abs(own["pid"]).max() == 4.0 and np.ptp(own["pid"]) > 1.0
        for name in ("q.q1", "v.q1", "pid"):
            assert np.abs(run[name] - own[name]).max() < 1e-12, name


CASES = {
    1: r"crashed with SIGSEGV \(it accessed memory that is not its own\)",
    2: r"crashed with SIGABRT \(it called abort, or an assertion failed\)",
    3: r"ended its process with status 7; expected that it returns",
    5: r"has not returned within 0.2 s. Correct it, or enlarge time_limit",
    6: r"returned -?nan as output; expected a finite number",
    7: r"returned inf as memory; expected a finite number",
    8: r"wrote behind the end of `drives`, which has 1 numbers",
    9: r"wrote behind the end of `memory`, which has 1 numbers",
    10: r"returned nan as output.*takes no more numbers than `reads` names",
}
if platform.machine() in ("x86_64", "AMD64", "i686"):
    CASES[4] = r"crashed with SIGFPE \(it divided an integer by 0\)"


@needs_cc
@pytest.mark.parametrize("how", [1, 5, *(pytest.param(k, marks=SLOW) for k in sorted(CASES) if k not in (1, 5))])
def test_c_that_fails_ends_the_run_with_a_sentence(how):
    run = simulate(pendulum(failing(how, time_limit=0.2)), 1.0, **QUICK)
    assert run.outcome.kind == "failed" and run.outcome.t == pytest.approx(0.3) == run.t[-1]
    assert len(run) == 7 and np.isfinite(run.q).all()
    assert re.match(rf"At t = 0.3 s controller 'bad'.*{CASES[how]}", run.outcome.message), run.outcome.message


@SLOW
@needs_cc
def test_every_run_has_a_process_of_its_own_and_starts_anew():
    system = pendulum(failing(0))
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: simulate(system, 1.0, **QUICK), range(8)))
    for run in runs:  # the static counter of calls starts at 0
        assert run["bad"][-1] == pytest.approx(11e-3)
    again = simulate(system, 2.0, start=runs[0], **QUICK)
    assert again["bad"][-1] == pytest.approx(10e-3)


@SLOW
@needs_cc
def test_sources_and_headers_in_files(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "gain.h").write_text("#define GAIN 3.0\ndouble half(double x);\n")
    (tmp_path / "half.c").write_text('#include "gain.h"\ndouble half(double x) { return 0.5 * x; }\n')
    main = tmp_path / "law.c"
    main.write_text(
        '#include "gain.h"\nstatic double seen;\n'
        "void look(double t, const double *reads, double *drives, double *memory)"
        " { seen = t; drives[0] = OFFSET + GAIN * half(reads[0]); }\n"
        "void act(double t, const double *reads, double *drives, double *memory) { drives[0] = seen; }\n"
    )
    both = {"source": (main, tmp_path / "half.c"), "include": tmp_path / "inc", "defines": "OFFSET=2"}
    look = CController("look", function="look", reads="q.q1", outputs="y", every=0.1, **both)
    act = CController("act", function="act", outputs="seen", every=0.25, **both)
    run = simulate(pendulum(look, act), 0.5, q=[0.4], **QUICK)
    assert run["look.y"] == pytest.approx(2.0 + 1.5 * run["q.q1"][::2].repeat(2)[: len(run)], abs=1e-15)
    assert run["act.seen"][-1] == 0.5 and run["act.seen"][0] == 0.0  # `act` reads what `look` wrote
    (tmp_path / "inc" / "gain.h").write_text("#define GAIN 5.0\ndouble half(double x);\n")  # a header counts too
    assert simulate(pendulum(look, act), 0.1, q=[0.4], **QUICK)["look.y"][0] == pytest.approx(3.0)
    other = dataclasses.replace(act, defines="OFFSET=3")
    assert "other `defines` or `include`" in simulate(pendulum(look, other), 0.1, **QUICK).outcome.message


@needs_cc
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("void pid(double t { }", r"the source 'pid.c' does not compile: pid.c:1:\d+: error: expected"),
        pytest.param(
            "int x[] = {1};",
            r"the function 'pid' is not in 'pid.c'. Write it as `void pid\(double t, const double",
            marks=SLOW,
        ),
        pytest.param(
            "float pid(float x) { return x; }",
            r"conflicting types.*Write it as `void pid\(double t, const double",
            marks=SLOW,
        ),
        (
            "void pid(double t, const double *r, double *d, double *m) { }\nint main(void) { return 0; }",
            r"the sources define `main`, which belongs to the simulation",
        ),
        ('#include "none.h"\n{', r"does not compile: pid.c:1:\d+: fatal error: .*none.h"),
        ("missing.c", r"its source '.*missing.c' cannot be read \(No such file or directory\)"),
    ],
)
def test_c_that_does_not_compile(source, message):
    run = simulate(pendulum(pid_in_c(source=source)), 1.0, **QUICK)
    assert run.outcome.kind == "failed" and len(run) == 1
    assert re.match(f"At t = 0 s controller 'pid': .*{message}", run.outcome.message), run.outcome.message


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -x")
    run = simulate(pendulum(pid_in_c()), 1.0, **QUICK)
    assert run.outcome.kind == "failed"
    assert "needs a C compiler, and there is no 'no-such-compiler -x'. Install one" in run.outcome.message


@SLOW
@needs_cc
def test_no_process_is_left():
    stepper = Stepper(pendulum(failing(0)), method="rk4", step=0.01)
    process = stepper.clockwork._c
    assert isinstance(process, CProcess) and process._process.poll() is None
    stepper.advance(0.2)
    assert stepper.clockwork._c is process
    assert stepper.m[0] == pytest.approx(3e-3)  # the third call
    stepper.begin()
    assert stepper.m[0] == pytest.approx(1e-3) and process._process.poll() is not None  # another process
    del stepper, process
    code = """
import sys
from kinemorph import elements
from kinemorph.simulation.c_code.process import CProcess
process = CProcess([elements.CController("bad", sys.argv[1], "fails", "q.q1", "q1", every=0.1, memory="how")])
print(process._process.pid)
"""
    done = subprocess.run([sys.executable, "-c", code, FAILING], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_what_cannot_call_c_says_so():
    with pytest.raises(UnsupportedError, match="CController 'pid' of 'pendulum' is a function in C, which a batch"):
        simulate_batch(pendulum(pid_in_c()), 1.0, q=[[0.0], [0.1]])
    with pytest.raises(ModelError, match="its function 'pid' is C with numbers in the units of this size"):
        kinemorph.scaled(pendulum(pid_in_c()), length=2.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"function": "2pid"}, "function is '2pid'; expected the name of a function in C"),
        ({"function": "main"}, "function is 'main'; expected the name of a function in C that is not `main`"),
        ({"source": ()}, "it has no source"),
        ({"source": "pid.cpp"}, "pid.cpp' is no C; expected a file that ends in .c"),
        ({"defines": "X=$(rm)"}, "'X=$(rm)' is given in `defines`; expected a name, or a name with a value"),
        ({"defines": ("ON", "-o")}, "'-o' is given in `defines`"),
        ({"defines": "X=1\n#error"}, "is given in `defines`"),
        ({"drives": ()}, "it drives nothing"),
    ],
)
def test_wrong_data_are_named(changed, message):
    element = dataclasses.replace(pid_in_c(), **changed)
    problems = " ".join(law_of(element).problems(element, library.pendulum()))
    assert message in problems


# ── model files ───────────────────────────────────────────────────────────────────────────────────────────────────────

FILE = """kinemorph = 1
[bodies.rod]
solid = { kind = "rod", length = 1.0 }
mass = 1.0
[joints.q1]
kind = "revolute"
axis = "y"
parent = "world"
child = "rod"
[elements.pid]
kind = "c controller"
source = "SOURCE"
function = "pid"
reads = "q.q1"
drives = "q1"
every = "10 ms"
memory = { i = 0.0, y = 0.0, begun = 0.0, slope = 0.0 }
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "pid.c").write_text(PID_IN_C)
    path = tmp_path / "arm.toml"
    path.write_text(FILE.replace("SOURCE", "pid.c"))
    return path


def test_a_file_is_never_compiled_without_permission(model, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")  # loading does not ask for it
    found = examine(model)
    assert [(finding.severity, finding.rule, finding.line) for finding in found.findings] == [("warning", "c", 10)]
    assert "its function 'pid' is C (pid.c), which is not compiled and cannot run" in found.findings[0].problem
    with pytest.warns(UserWarning, match="If you trust it, allow it"):
        system = kinemorph.load(model)
    for same in (system, dataclasses.replace(system, elements=tuple(map(dataclasses.replace, system.elements)))):
        with pytest.raises(UnsupportedError, match=r"controller 'pid' is C of a model file \(pid.c\).*allow_c=True"):
            simulate(same, 0.1, **QUICK)


@needs_cc
def test_a_file_runs_with_permission_and_is_written_back(model, tmp_path):
    system = kinemorph.load(model, allow_c=True)
    assert not examine(model, options=None).errors
    run = simulate(system, 0.3, **QUICK)
    own = simulate(System(system.robot, (OWN_PID,)), 0.3, **QUICK)
    assert run.outcome.ok and np.abs(run.q - own.q).max() < 1e-12
    (written,) = kinemorph.save(system, tmp_path / "again.toml")
    assert 'source   = ["pid.c"]' in written.read_text() and "trusted" not in written.read_text()
    assert kinemorph.load(written, allow_c=True) == system


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("../../pid.c", "which is outside the folders that may be read"),
        ("/etc/passwd", "which is outside the folders that may be read"),
        ("none.c", "which does not exist"),
    ],
)
def test_sources_of_a_file_are_in_its_folder(model, source, problem):
    (model.parent.parent.parent / "pid.c").write_text(PID_IN_C)
    model.write_text(FILE.replace("SOURCE", source))
    errors = examine(model).errors
    assert len(errors) == 1 and errors[0].line == 12 and problem in errors[0].problem


def test_a_file_cannot_trust_itself(model):
    model.write_text(model.read_text() + "trusted = true\n")
    assert "the key 'trusted' is not known" in examine(model).errors[0].problem


def test_a_text_has_no_folder_and_keeps_its_names():
    with pytest.warns(UserWarning, match="which is not compiled and cannot run"):
        system = kinemorph.load_text(FILE.replace("SOURCE", "pid.c"), "toml")
    assert system.elements[0].files == (os.path.abspath("pid.c"),)
