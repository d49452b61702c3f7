"""Planned runs, [runs.NAME] in a model file: the command line, Python and a script compute the same bits."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import (
    RobotBuilder,
    System,
    Trajectory,
    elements,
    load,
    load_text,
    load_trajectory,
    save,
    scaled,
    simulate,
)
from kinemorph.errors import InactiveWarning, ModelError, ModelWarning, ParseError, PlanWarning
from kinemorph.formats.loading import saved_texts
from kinemorph.formats.toml import template_files
from kinemorph.model.body import Body
from kinemorph.model.elements.forces.joint_forces import with_joint_forces
from kinemorph.model.library import pendulum
from kinemorph.model.run_plans import PlannedDock, PlannedUndock, RunPlan, RunPlans
from kinemorph.model.system import Settings
from kinemorph.simulation.docking.changes import ANGLE, DISTANCE, Dock, Undock
from kinemorph.simulation.planned_run import changed_plan, planned_events, prepared_run, run_planned
from support.tools.command_line import run as command

TEMPLATES = Path(next(iter(template_files.__path__)))
RUNS = """
[runs.lift]
method = "rk4"
step = "2 ms"
time = "0.2 s"
output_step = "20 ms"
q = { shoulder = "30 deg" }
v = { elbow = "10 deg/s" }
inputs = { elbow = 0.1 }

[runs.fall]
rtol = 1e-6
atol = 1e-8
time = 0.1
q = [0.1, 0.2]
limits = false
friction = false
locked = ["elbow"]
"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """A file with an arm and two runs."""
    path = tmp_path / "arm.toml"
    path.write_text((TEMPLATES / "arm.toml").read_text() + RUNS)
    return path


def same_bits(one: Trajectory, other: Trajectory) -> bool:
    """Whether two runs agree in all bits of their times and states."""
    return all(np.array_equal(getattr(one, group), getattr(other, group)) for group in ("t", "q", "v"))


def test_the_command_line_and_python_compute_the_same_bits(arm: Path, tmp_path: Path) -> None:
    result = command("simulate", str(arm), "--run", "lift", "--save", str(tmp_path / "run.npz"))
    assert result.exit_code == 0, result.stderr
    python = load(arm).run("lift")
    assert same_bits(load_trajectory(tmp_path / "run.npz"), python)
    assert "rk4" in repr(python) and len(python) == 11 and python.q[0, 0] == np.deg2rad(30.0)


@pytest.mark.slow
def test_processes_compute_the_same_bits(arm: Path, tmp_path: Path) -> None:
    save_to = tmp_path / "script.npz"
    script = f"import kinemorph; kinemorph.load({str(arm)!r}).run('lift').save({str(save_to)!r})"
    subprocess.run([sys.executable, "-c", script], check=True)
    line = [
        sys.executable,
        "-m",
        "kinemorph",
        "simulate",
        str(arm),
        "--run",
        "lift",
        "--save",
        str(tmp_path / "run.npz"),
    ]
    subprocess.run(line, check=True, capture_output=True)
    python = load(arm).run("lift")
    assert same_bits(python, load_trajectory(save_to)) and same_bits(python, load_trajectory(tmp_path / "run.npz"))


def test_a_plan_is_a_simulation_with_the_forces_of_joints(arm: Path) -> None:
    system = load(arm)
    lift = simulate(
        with_joint_forces(system), 0.2, method="rk4", step=0.002, output_step=0.02,
        q={"shoulder": np.deg2rad(30.0)}, v={"elbow": np.deg2rad(10.0)}, inputs={"elbow": 0.1},
    )  # fmt: skip
    assert np.array_equal(lift.q, system.run("lift").q)
    fall = simulate(system, 0.1, rtol=1e-6, atol=1e-8, q=[0.1, 0.2], locked=["elbow"])
    assert np.array_equal(fall.q, system.run("fall").q) and np.ptp(fall.q[:, 1]) == 0.0


def test_options_of_the_command_line_replace_those_of_the_file(arm: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    result = command("simulate", str(arm), "--run", "lift", "--time", "0.1", "--step", "0.01", "--save", str(path))
    assert result.exit_code == 0, result.stderr
    run = load_trajectory(path)
    assert run.t[-1] == 0.1 and run.settings["step"] == 0.01
    wrong = command("simulate", str(arm), "--run", "lfit")
    assert (
        wrong.exit_code == 2
        and "there is no run 'lfit'; expected one of: 'lift', 'fall'. Did you mean 'lift'?" in wrong.stderr
    )
    assert command("simulate", "pendulum", "--run", "x").stderr.startswith(
        "error: there is no run 'x'; the model has no"
    )


def test_info_lists_the_runs_of_a_file(arm: Path) -> None:
    told = command("info", str(arm))
    assert "lift   method rk4, step 0.002, time 0.2" in told.stdout and "locked elbow" in told.stdout


def test_a_step_takes_the_place_of_tolerances() -> None:
    plan = RunPlan(rtol=1e-6)
    assert changed_plan(plan, step=0.01) == RunPlan(step=0.01)
    assert changed_plan(RunPlan(step=0.01), atol=1e-6) == RunPlan(atol=1e-6)


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
def test_saving_and_loading_gives_the_same_plans(arm: Path, tmp_path: Path) -> None:
    plan = RunPlan(
        method="dop853", rtol=1e-7, max_step=0.3, time=1 / 3, q={"q1": 0.1}, v=[0.2], x={"m.current": 1.0},
        locked=("q1",), loops="baumgarte", limits=False,
        dock=(PlannedDock(1, 4, "head", 5, at=0.5, turn=2, distance=0.02), PlannedDock("a", "out", 3, 1)),
        undock=(PlannedUndock(2, 5, 1 / 7),),
    )  # fmt: skip
    system = System(pendulum(), runs={"a b": plan, "plain": {}, "other": {"time": 2.0}})
    save(system, tmp_path / "x.toml")
    assert load(tmp_path / "x.toml") == system and load(arm).runs["fall"].numbers("q") == [0.1, 0.2]
    save(system, tmp_path / "x.urdf")  # in the sidecar
    assert load(tmp_path / "x.urdf").runs == system.runs
    with pytest.warns(ModelWarning, match="cannot express runs"):
        save(system, tmp_path / "x.xml")
    assert hash(system.runs) == hash(RunPlans(dict(system.runs))) and system != System(pendulum())


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("[runs.x]\ntime = -1", 2, "time is -1.0 s, expected a finite number above 0"),
        ("[runs.x]\nq = { ellbow = 1 }", 2, "Did you mean 'elbow'"),
        ("[runs.x]\nq = [1]", 2, "q has 1 item, expected 2"),
        ("[runs.x]\nrtol = 1e-3\nstep = 0.1", 3, "step is given together with rtol or atol"),
        ('[runs.x]\nlocked = ["hip"]', 2, "there is no joint 'hip' to lock"),
        ('[runs.x]\nloops = "projektion"', 2, "loops is 'projektion'"),
        ("[runs.x]\nstepp = 1", 2, "Did you mean 'step'"),
        ("[runs.x]\ndock = [{ a = 1 }]", 2, "the key 'side_a' is missing"),
        ('[runs.x]\nundock = "m1"', 2, "expected a list"),
        ("[runs]\nx = 1", 2, "expected a table"),
        ("[runs.'']\ntime = 1", 1, "the name is '', expected printable text"),
    ],
)
def test_mistakes_have_their_lines(text: str, line: int, sentence: str) -> None:
    arm = (TEMPLATES / "arm.toml").read_text()
    with pytest.raises(ParseError) as caught:
        load_text(f"{arm}\n{text}\n", "toml")
    assert sentence in str(caught.value)
    first: Any = caught.value.findings[0]
    assert first.line == arm.count("\n") + 1 + line


def test_modules_undock_as_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "pair.toml"
    path.write_text(
        'kinemorph = 1\n[assembly]\ngrid = "B>0 B>1"\nroot = "free"\n[runs.part]\ntime = 0.1\n'
        "undock = [{ module = 0, side = 3, at = 0.05 }]\n"
    )
    system = load(path)
    run = run_planned(system, "part")
    assert [event.t for event in run.events] == [0.05] and len(run.segments) == 2
    same = simulate(with_joint_forces(system), 0.1, events=[Undock("m0", 3, at=0.05)])
    assert np.array_equal(run.segments[1].q, same.segments[1].q)


def test_dockings_of_a_plan_are_events_with_the_tolerances_of_their_rows() -> None:
    text = """
[[runs.a.dock]]
a = 0
side_a = 3
b = "tail"
side_b = 4
at = "20 ms"
turn = 2
distance = "15 mm"
angle = "20 deg"

[[runs.a.dock]]
a = "m1"
side_a = 1
b = 2
side_b = 6
"""
    plan = load_text(f"kinemorph = 1\n[assembly]\ngrid = 'L>0 L>1 L>2'\n{text}", "toml").runs["a"]
    one, two = planned_events(plan)
    assert one == Dock("m0", 3, "tail", 4, at=0.02, turn=2, distance=0.015, angle=np.radians(20.0))
    assert two == Dock("m1", 1, "m2", 6, at=None, turn=None, distance=DISTANCE, angle=ANGLE)


@pytest.mark.parametrize("name", ["step", "rtol", "atol", "max_step", "time", "output_step"])
def test_numbers_of_a_plan_are_above_zero_and_finite(name: str) -> None:
    for wrong in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ModelError, match=rf"{name} is {wrong}"):
            RunPlan(**{name: wrong})


def test_an_initial_velocity_alone_is_an_initial_state() -> None:
    """The robot starts in its neutral configuration then, not where it would fall from rest."""
    assert prepared_run(pendulum(), RunPlan(v=(0.3,))).notes == ()
    assert prepared_run(pendulum(), RunPlan(v=(0.3,))).arguments["q"] is None
    assert prepared_run(pendulum()).notes[0].options == ("q", "v")


def test_what_the_user_did_not_choose_is_told() -> None:
    prepared = prepared_run(pendulum())
    assert [note.told("--") for note in prepared.notes] == [
        "starts at rest at q1 = 0.6; --q and --v choose another initial state"
    ]
    assert prepared_run(System(pendulum(), runs={"x": {"q": [0.1]}}), "x").notes == ()
    falling = prepared_run(load(TEMPLATES / "quadruped.toml"), RunPlan(time=0.5))
    assert falling.until == 0.5


BALL = """<mujoco model="ball">{ground}<worldbody><body name="b" pos="0 0 {height}"><freejoint name="root"/>
<geom name="ball" size=".1" mass="1"/></body></worldbody></mujoco>"""
LINK = """<robot name="box"><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>"""
ON_ADDED_GROUND = "touches the ground z = 0, which its model does not have"


def told(system: System, plan: Any = None) -> list[str]:
    """What `system.run` tells of its choices, which are the notes of the command line in other words for options."""
    plan = {"time": 0.01, "step": 0.005, "method": "euler"} | (plan or {})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        system.run(plan)
    found = [str(one.message) for one in said if one.category is PlanWarning]
    assert found == [f"{system.name} {note.told()}" for note in prepared_run(system, plan).notes]
    return found


def test_an_mjcf_file_without_a_ground_has_none() -> None:
    """The plane z = 0 was added in silence, although an MJCF file is a whole scene."""
    pytest.importorskip("mujoco")
    system = load_text(BALL.format(ground="", height=0.2), "mjcf")
    assert system.settings.ground is False and elements.contacts(system) == ()
    fresh = load_text(BALL.format(ground="", height=0.2).replace("ball", "bare"), "mjcf")  # told once for each model
    says = "Collision shapes of 1 body: the file has no ground; ground = true in a run (--ground) adds the plane z = 0"
    with pytest.warns(InactiveWarning, match=re.escape(says)):
        fresh.run({"time": 0.01})
    assert told(system) == []
    prepared = prepared_run(system, {"time": 0.01, "ground": True})
    assert prepared.notes == () and [one.name for one in prepared.system.elements] == ["ball"]
    again = load_text(saved_texts(system, "toml", "ball")["ball.toml"], "toml")
    assert again.settings.ground is False and elements.contacts(again) == ()
    assert told(again) == ["ball finds no ground, because its file has none; ground = true adds the plane z = 0"]
    note = prepared_run(again, {"time": 0.01}).notes[0]
    assert note.told("--") == "finds no ground, because its file has none; --ground adds the plane z = 0"
    floor = '<worldbody><geom type="plane" size="1 1 1"/></worldbody>'
    own = load_text(BALL.format(ground=floor, height=0.2), "mjcf")
    assert own.settings.ground is None and len(elements.contacts(own)) == 1 and told(own) == []


@pytest.mark.parametrize("asked", [True, False])
def test_a_ground_that_is_asked_for_beside_another_one_has_no_effect_and_says_so(asked: bool) -> None:
    floor = '<worldbody><geom type="plane" size="1 1 1"/></worldbody>'
    own = load_text(BALL.format(ground=floor, height=0.2), "mjcf")
    word = "ground" if asked else "no-ground"
    (note,) = prepared_run(own, {"time": 0.01, "ground": asked}).notes
    assert note.told("--") == f"has a ground of its own; --{word} has no effect"
    if asked:
        notes = prepared_run(pendulum(), {"time": 0.01, "ground": True}).notes
        assert notes[0].told("--") == "has no contacts of collision shapes in this run; --ground has no effect"


def test_a_ground_that_a_file_cannot_have_is_added_and_told() -> None:
    system = load_text(LINK, "urdf", base="free")
    raised = "is raised by 0.5 m onto the ground z = 0 and starts at rest at b_root.z = 0.5"
    assert told(system) == [
        f"box {ON_ADDED_GROUND}; ground = false leaves it out",
        f"box {raised}; q and v choose another initial state",
    ]
    assert [note.told("--") for note in prepared_run(system, {"time": 0.01}).notes] == [
        f"{ON_ADDED_GROUND}; --no-ground leaves it out",
        f"{raised}; --q and --v choose another initial state",
    ]
    bare = prepared_run(system, {"time": 0.01, "ground": False})
    assert bare.system.elements == () and [note.options for note in bare.notes] == [("q", "v")]
    inner = LINK[LINK.index("<inertial>") : LINK.index("</link>")]
    hinge = '<joint name="j" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint></robot>'
    fixed = load_text(LINK.replace("</robot>", f'<link name="c">{inner}</link>{hinge}'), "urdf")
    grounds = [prepared_run(fixed, {"time": 0.01, "ground": ground}).system.elements for ground in (False, True)]
    assert elements.contacts(fixed) == () == grounds[0] and [one.body for one in grounds[1]] == ["c"]


def test_the_command_line_adds_and_removes_the_ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("box.urdf").write_text(LINK)
    common = ("simulate", "box.urdf", "--base", "free", "--time", "0.01", "--method", "euler", "--step", "0.005")
    assert f"note: box {ON_ADDED_GROUND}; --no-ground leaves it out" in command(*common).stderr
    assert "finds no ground" not in command(*common, "--no-ground").stderr
    assert ON_ADDED_GROUND not in command(*common, "--ground").stderr


def test_wrong_plans_are_refused() -> None:
    for wrong, sentence in (
        ({"x": {"tiem": 1.0}}, "Did you mean 'time'"),
        (
            {"x": {"contacts": "no"}},
            "contacts is 'no', expected true or false. Write contacts = true or contacts",
        ),
        ({"x": {"ground": 0}}, "ground is 0, expected true or false"),
        ({"x": 3}, "expected a RunPlan or a dict"),
        ({"x": {"q": "ab"}}, "q is 'ab', expected finite numbers"),
        ({"x": {"v": [np.nan]}}, "expected finite numbers"),
        ({" ": {}}, "expected printable text"),
    ):
        with pytest.raises(ModelError, match=sentence):
            System(pendulum(), runs=wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="expected the name of a run in the model file, or options"):
        run_planned(pendulum(), 3)  # type: ignore[arg-type]


def test_plans_of_a_scaled_system_give_the_scaled_run() -> None:
    system = System(
        pendulum(), runs={"x": {"time": 0.5, "output_step": 0.05, "q": {"q1": 0.3}, "v": [0.4], "inputs": [0.2]}}
    )
    large = scaled(system, length=4.0)
    one, other = system.run("x"), large.run("x")
    assert np.allclose(other.t, 2.0 * one.t, rtol=1e-14) and np.allclose(other.q, one.q, atol=1e-7)
    with pytest.raises(ModelError, match="cannot be scaled"):
        scaled(System(pendulum(), runs={"x": {"inputs": {"motor": 1.0}}}), length=2.0)


def test_a_robot_without_coordinates_can_run() -> None:
    block = RobotBuilder("block")
    block.body("block", 1.0)
    block.joint("weld", "fixed", "world", "block")
    with pytest.warns(PlanWarning, match="starts at rest"):
        run = System(block.build()).run({"time": 0.1})
    assert run.q.shape == (11, 0)


def stopped_arm() -> System:
    """An arm whose hinge may turn from 30 to 70 degrees, and begins at 0; its hand touches the ground."""
    body = Body.box("arm", 1.0, (0.1, 0.1, 0.1))
    builder = RobotBuilder("arm").add(replace(body, collisions=body.shapes))
    builder.joint("hinge", "revolute", "world", "arm", axis=(0, 1, 0), lower=0.5, upper=1.2, translation=(0, 0, 0.05))
    return System(builder.build())


def test_a_joint_that_begins_beyond_its_limit_is_told_with_how_far() -> None:
    with pytest.warns(PlanWarning, match=r"arm: hinge started beyond the limits \(by 0.5 rad\), and"):
        stopped_arm().run({"time": 0.01, "q": [0.0]})


def test_a_planned_run_continues_with_what_the_plan_adds() -> None:
    """`simulate` itself adds neither contacts nor stops: the robot fell through the floor."""
    body = Body.box("box", 1.0, (0.2, 0.2, 0.2))
    builder = RobotBuilder("box").add(replace(body, collisions=body.shapes)).root("box", "free")
    system = System(builder.build(), settings=Settings(ground=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, whole = (system.run({"time": time, "q": {"box_root.z": 0.3}}) for time in (0.3, 0.6))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        more = system.run({"time": 0.3}, start=first)
    assert (more.t[0], more.t[-1]) == (0.3, 0.6) and np.array_equal(more.q[-1], whole.q[-1])
    again = replace(system, starts={"here": {"q": [0, 0, 0.3, 1, 0, 0, 0]}})
    with pytest.raises(ModelError, match=r"the plan begins at 'here', and a run to continue is given\. Leave one"):
        again.run({"start": "here"}, start=first)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"time": "1 s"}, "run: time is '1 s', expected a number, in seconds. Give time as a number, without quotes."),
        ({"rtol": "1e-6"}, "run: rtol is '1e-6', expected a number. Give rtol as a number, without quotes."),
        ({"step": True}, "run: step is True, expected a number, in seconds. Give step as a number, without quotes."),
        ({"start": 3}, "run: start is 3, expected the name of a start of the model. Name one, or leave it out. "),
    ],
)
def test_numbers_and_names_of_other_types_are_refused(plan: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ModelError) as raised:
        stopped_arm().run(plan)
    assert sentence in str(raised.value)
