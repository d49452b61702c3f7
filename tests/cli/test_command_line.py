"""The command line as a whole: help, info, verify, doctor and demo, exit codes, bad input, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kinemorph import Body, RobotBuilder, __version__, save
from kinemorph.analysis.verification.verdict import Verification, judged
from kinemorph.cli.application import VERBS
from kinemorph.codegen.building.compile import runnable_backends
from kinemorph.model.library.choosing import CHOICE, choose
from support.tools.command_line import parsed, run
from support.tools.each_case import each_case

# ── verbs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_version() -> None:
    assert run("--version").stdout.strip() == f"kinemorph {__version__}"


def test_help_names_every_verb_and_every_robot() -> None:
    text = run("--help").stdout
    for word in ("info", "derive", "verify", "doctor", "demo", *CHOICE):
        assert word in text


def test_help_lists_the_verbs_in_order_with_the_first_sentence_of_each() -> None:
    listed = re.findall(r"^│ ([a-z]+) +(\w.+?) *│$", run("--help").stdout.partition(" Commands ")[2], re.MULTILINE)
    assert [name for name, _ in listed] == list(VERBS)
    assert dict(listed)["studio"].startswith("Opens the studio in the browser")


def test_only_the_verb_that_is_called_is_imported() -> None:
    calls = """
import sys
from support.tools.command_line import run
for arguments in (["--version"], ["new", "--wrong"], ["nwe"]):
    code = run(*arguments).exit_code
    print(code, [name for name in sys.modules if name.startswith(("kinemorph.cli.verbs.", "numpy"))])
"""
    ran = subprocess.run([sys.executable, "-c", calls], capture_output=True, text=True, cwd=Path(__file__).parents[1])
    new = ["kinemorph.cli.verbs.new"]
    assert ran.stdout.splitlines() == ["0 []", f"2 {new}", f"2 {new}"], ran.stderr


def test_info_lists_the_library() -> None:
    assert [row["name"] for row in parsed("info")] == list(CHOICE)
    text = run("info").stdout
    assert all(name in text for name in CHOICE)


SHOWN = ("double_pendulum", "puma", "four_bar", "amru5", "rover", "organism9")  # the others are slow


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in SHOWN), id=n) for n in CHOICE])
def test_info_agrees_with_the_robot(name: str) -> None:
    robot, data = choose(name).robot, parsed("info", name)
    assert (data["nq"], data["nv"]) == (robot.nq, robot.nv)
    assert [joint["name"] for joint in data["joints"]] == list(robot.joint_names)
    assert data["mass"] == pytest.approx(robot.total_mass)
    text = run("info", name).stdout
    for word in (robot.name, *robot.body_names, *robot.joint_names, "Conventions"):
        assert word in text


def test_robots_take_data_after_a_colon() -> None:
    assert parsed("info", "chain:3")["nv"] == 3
    assert parsed("info", "chain:n=4,mass=2")["mass"] == pytest.approx(8.0)
    lengths = parsed("info", "double_pendulum:lengths=2;3,point=yes")["parameters"]
    assert {row["name"]: row["value"] for row in lengths}["l2"] == 3.0


def test_info_tells_the_axes_of_joints_with_several_turns(tmp_path: Path) -> None:
    builder = RobotBuilder("r").add(*(Body.box(name, 1.0, (0.1, 0.2, 0.3)) for name in "ab"))
    builder.joint("ball", "gimbal", "world", "a", order="zxz").joint("cross", "universal", "a", "b")
    save(builder.build(), tmp_path / "r.toml")
    ball, cross = parsed("info", str(tmp_path / "r.toml"))["joints"]
    assert (ball["order"], ball["axis"], ball["axis2"]) == ("zxz", None, None)
    assert (cross["order"], cross["axis"], cross["axis2"]) == (None, [0, 0, 1], [1, 0, 0])
    text = run("info", str(tmp_path / "r.toml")).stdout
    assert re.search(r"ball .*zxz", text) and re.search(r"cross .*\(0, 0, 1\), \(1, 0, 0\)", text)


def test_info_of_a_loop_speaks_of_the_cut_tree() -> None:
    told = run("info", "four_bar").stdout
    for fact in ("of the cut tree +3", "loops +1", "with loops closed +1", "constraint rows +5", "independent rows +2"):
        assert re.search(fact, told), fact
    assert "The last joint of this table closes a loop and has no coordinate" in told
    assert "point.z, parallel.x, parallel.y" in told
    assert parsed("info", "four_bar")["mobility"]["independent"] == ["q1"]
    assert parsed("info", "puma")["mobility"] is None
    assert "cut tree" not in run("info", "puma").stdout


def test_the_bare_command_prints_its_help() -> None:
    alone = run()
    assert (alone.exit_code, alone.stderr) == (0, "")
    assert alone.stdout.strip() == run("--help").stdout.strip()


def test_missing_folders_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots and replays made them; files of runs, models and code were refused."""
    monkeypatch.chdir(tmp_path)
    assert run("derive", "pendulum", "--emit", "c", "--output", "a/b/arm").exit_code == 0
    assert run("derive", "pendulum", "--emit", "text", "--output", "c/").exit_code == 0
    assert run("export", "pendulum", "--output", "d/e/arm.urdf").exit_code == 0
    assert run("simulate", "pendulum", "--time", "0.1", "--save", "f/run.npz").exit_code == 0
    for file in ("a/b/arm.c", "a/b/arm.h", "c/pendulum.txt", "d/e/arm.urdf", "f/run.npz"):
        assert Path(file).is_file()


def test_verify_passes_and_is_repeatable() -> None:
    data = parsed("verify", "double_pendulum", "--states", "3", "--seed", "5")
    assert (data["passed"], data["states"], data["seed"]) == (True, 3, 5)
    assert "0 failed" in run("verify", "crane", "--states", "2").stdout


def test_a_check_that_fails_gives_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = judged("mass matrix symmetric", "M equals its transpose.", 0.5, 1e-13, "largest at state 0")
    verdict = Verification("pendulum", "newton_euler", "llvm", 8, 0, (failed,))
    monkeypatch.setattr("kinemorph.analysis.verification.verify.verify", lambda *args, **options: verdict)
    result = run("verify", "pendulum")
    assert result.exit_code == 1
    assert "failed" in result.stdout and "largest at state 0" in result.stdout
    assert parsed("verify", "pendulum", code=1)["passed"] is False


def test_doctor_finds_this_installation() -> None:
    data = parsed("doctor")
    assert data["ok"] and data["llvm"]["simd_bits"] in (64, 128, 256, 512)
    assert {row["backend"] for row in data["self_test"]} == set(runnable_backends())
    text = run("doctor").stdout
    assert "SIMD" in text and "Self-test" in text


def test_doctor_lists_the_packages_of_every_extra_for_users() -> None:
    """MJCF models were said to need `kinemorph[dev]`, and xacro and h5py were not listed."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    users = re.findall(r"[a-z0-9]+", extras["all"][0].partition("[")[2])
    named = [(re.match(r"[\w-]+", one)[0], extra) for extra in users for one in extras[extra]]  # type: ignore[index]
    wanted = {row for row in named if row[0] != "kinemorph"}  # an extra that is another one brings no packages
    rows = {(row["package"], row["install"].partition("[")[2][:-2]): row for row in parsed("doctor")["extras"]}
    assert wanted <= set(rows)
    assert rows["mujoco-core", "mujoco"]["purpose"] == "MJCF models"
    assert rows["mujoco-core", "mujoco"]["version"]  # the package mujoco contains it


@pytest.mark.parametrize(
    "arguments",
    [["info"], *(pytest.param(a, marks=pytest.mark.slow) for a in (["simulate", "--time", "0.01"], ["check"]))],
)
def test_a_terminal_without_unicode_shows_escapes(arguments: list[str], tmp_path: Path) -> None:
    """A robot with an accent in its name ended in "unexpected UnicodeEncodeError ... This is a bug"."""
    model = tmp_path / "arm.toml"
    builder = RobotBuilder("bras é ☂").add(Body.sphere("länk", 1.0, 0.1)).joint("gélenk", "revolute", "world", "länk")
    save(builder.build(), model)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "kinemorph", arguments[0], str(model), *arguments[1:]]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    text = (done.stdout + done.stderr).decode("ascii")
    assert done.returncode == 0 and "unexpected" not in text
    if arguments[0] != "check":
        assert "bras \\xe9 \\u2602" in text and "\\u2500" not in text  # rules of tables are made of other characters


def test_doctor_names_packages_that_are_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed("doctor")["outdated"] == []
    monkeypatch.setattr("kinemorph.cli.installation._version", lambda name: "1.9.7" if name == "numpy" else "9999")
    monkeypatch.setattr("platform.python_version", lambda: "3.9.2")
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "problem: Python 3.9.2 is installed; expected 3.11 or later. Install a newer version.",
        "problem: numpy 1.9.7 is installed; expected 2.0 or later. Install a newer version.",
    ]


def test_doctor_shows_and_clears_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kept"
    monkeypatch.setenv("KINEMORPH_CACHE", str(folder))
    found = parsed("doctor")["cache"]
    assert (found["folder"], found["usable"], found["problem"]) == (str(folder), True, None)
    assert (found["files"], found["bytes"]) == (0, 0)  # the self-test compiles, whatever is kept
    run("derive", "pendulum", "--function", "mass_matrix", "--function", "gravity_forces")
    size = sum(path.stat().st_size for path in folder.iterdir())
    found = parsed("doctor")["cache"]
    assert (found["files"], found["bytes"]) == (2, size) and size > 1000
    assert f"{folder}: 2 programs" in run("doctor").stdout.replace("\n", "")
    (folder / "notes.txt").touch()
    found = parsed("doctor", "--clear-cache")
    assert (found["removed_files"], found["removed_bytes"], found["files"]) == (2, size, 0)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert "0 files" in run("doctor", "--clear-cache").stdout


@pytest.mark.parametrize(("chosen", "problem"), [("off", "switched off by KINEMORPH_CACHE"), ("file", "not a folder")])
def test_doctor_says_why_there_is_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, problem: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KINEMORPH_CACHE", chosen)
    data = parsed("doctor")
    assert data["ok"] and not data["cache"]["usable"] and problem in data["cache"]["problem"]
    assert problem in run("doctor").stdout


def test_demo_writes_pictures_and_summaries(tmp_path: Path) -> None:
    data = parsed("demo", "--robot", "double_pendulum", "--output", str(tmp_path / "out"))
    assert data["passed"]
    for file in data["files"]:
        assert Path(file).stat().st_size > 300
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["robot"] == "double_pendulum"
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert "At the pose shown: condition number" in summary
    for picture in re.findall(r"\]\((.*?)\)", summary):
        assert (tmp_path / "out" / picture).is_file()


# ── bad input ─────────────────────────────────────────────────────────────────────────────────────────────────────────


BAD = [
    (["info", "pumma"], "Did you mean 'puma'"),
    (["info", "zzz"], "Built-in robots: pendulum"),
    (["info", "arm.urdf"], "arm.urdf: the file does not exist"),
    (["info", "models/arm"], "models/arm: the file does not exist"),
    (["info", "puma", "--base", "free"], "--base is for model files"),
    (["info", "chain:0"], "whole number above 0"),
    (["info", "rimless_wheel:300000"], "above 0 and at most 2000"),
    (["info", "chain:n=x"], "n is 'x'"),
    (["info", "pendulum:weight=2"], "'weight'"),
    (["info", "pendulum:mass=-1"], "mass is -1 kg"),
    (["info", "pendulum:mass=nan"], "mass"),
    (["info", "puma:3"], "takes no arguments after a colon"),
    (["info", ""], "''"),
    (["info", ":3"], "there is no robot ''"),
    (["info", "PUMA"], "Did you mean 'puma'"),
    (["info", "--foo"], "--foo"),
    (["info", "double_pendulum:lengths=1"], "2 numbers"),
    (["derive", "puma", "--function", "mass"], "Did you mean 'mass_matrix'"),
    (["derive", "puma", "--function", "jacobian"], "--frame"),
    (["derive", "puma", "--function", "jacobian", "--frame", "hand"], "'hand'"),
    (["derive", "puma", "--function", "jacobian", "--frame", "flange", "--reference", "body"], "'body'"),
    (["derive", "puma", "--formulation", "kane"], "'kane'"),
    (["derive", "puma", "--parameters", "m9"], "has no parameters"),
    (["derive", "crane", "--parameters", "m9"], "'m9'"),
    (["derive", "puma", "--frame", "flange"], "--function"),
    (["derive", "four_bar", "--emit", "sympy", "--function", "constraint_forces"], "least squares"),
    (["derive", "pendulum", "--output", f"{__file__}/folder/file.txt"], "test_command_line.py' is not a folder"),
    (["derive", "pendulum", "--emit", "c", "--output", f"{__file__}/"], "test_command_line.py' is not a folder"),
    (["derive", "pendulum", "--emit", "c", "--output", f"{__file__}/arm"], "test_command_line.py' is not a folder"),
    (["derive", "pendulum", "--output", ""], "--output is empty"),
    (["derive", "pendulum", "--emit", "python", "--precision", "half"], "half"),
    (["derive", "pendulum", "--emit", "text", "--precision", "float32"], "python, matlab, c, cuda"),
    (["derive", "pendulum", "--precision", "float32"], "the form 'summary' has no precision"),
    (["derive", "pendulum", "--emit", "pdf"], "pdf"),
    (["derive", "pendulum", "--emit", "rust"], "'--emit': 'rust' is not one of"),
    (["derive", "pendulum", *["--function", "energy"] * 2], "--function 'energy' is given twice"),
    (["verify", "pendulum", "--states", "0"], "states"),
    (["verify"], "ROBOT"),
    (["simulat", "pendulum"], "simulat"),
    (["derv"], "Did you mean 'derive'"),
]


@each_case(("arguments", "named"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_is_a_sentence_on_stderr_and_exit_code_2(arguments: list[str], named: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert named in result.stderr
    assert all(line.startswith("error: ") for line in result.stderr.splitlines())


def test_every_problem_has_a_line_of_its_own() -> None:
    lines = run("info", "pendulum:weight=2,length=long").stderr.splitlines()
    assert len(lines) == 2 and all(line.startswith("error: ") for line in lines)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    result = run("demo", "--robot", "pendulum", "--output", str(tmp_path / "taken" / "out"))
    assert result.exit_code == 2 and "taken" in result.stderr


def test_an_interruption_gives_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kinemorph.cli.options.model_argument.choose", interrupted)
    assert run("info", "puma").exit_code == 130


def test_a_mistake_of_ours_is_a_sentence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("of two numbers")

    monkeypatch.setattr("kinemorph.cli.options.model_argument.choose", broken)
    monkeypatch.delenv("KINEMORPH_TRACEBACK", raising=False)
    result = run("info", "puma")
    assert result.exit_code == 70
    assert "unexpected ZeroDivisionError: of two numbers" in result.stderr and "Traceback" not in result.stderr


# ── as a process ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_module_and_closed_pipe() -> None:
    """`python -m kinemorph` runs the command; a reader that goes away is no reason for a message."""
    script = f"'{sys.executable}' -m kinemorph info hexapod36 --json | head -c 10"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{") and done.stderr == ""


def test_no_color_in_a_pipe_or_when_refused() -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "kinemorph", "info", "pendulum"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "\x1b" not in done.stdout + done.stderr
