"""Starts: states by name in which runs begin. What is given beside a start takes the place of its values."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import System, draw, equilibrium, library, linearize, load_text, poles, scaled, simulate, simulate_batch
from kinemorph.conventions import Scales
from kinemorph.elements import Actuator
from kinemorph.errors import InactiveWarning, ModelError, ModelWarning, ShapeError
from kinemorph.live import LiveRun
from kinemorph.model.run_plans import RunPlan
from kinemorph.model.starts import Start
from kinemorph.programs import make_job

HOME = Start(q=(1.0, 0.5), v={"q2": 2.0}, u={"motor": 3.0}, t=0.25)


def arm(**more: object) -> System:
    """A double pendulum with a motor and two starts."""
    robot = library.double_pendulum()
    return System(robot, Actuator("motor", "q1"), starts={"home": HOME, "part": {"q": {"q1": 0.3}}}, **more)


def test_a_run_begins_at_a_start_and_keeps_its_inputs() -> None:
    run = simulate(arm(), 0.5, start="home")
    assert run.t[0] == 0.25 and run.t[-1] == 0.5
    same = simulate(arm(), 0.5, q=[1.0, 0.5], v=[0.0, 2.0], inputs=[3.0], start=0.25)
    np.testing.assert_array_equal(run.q, same.q)
    np.testing.assert_array_equal(run["tau.q1"], same["tau.q1"])
    assert simulate(arm(), 0.1, start="part").q[0].tolist() == [0.3, 0.0]


def test_what_is_given_takes_the_place_of_the_values_of_a_start() -> None:
    run = simulate(arm(), 0.3, start="home", q={"q2": -0.5}, inputs={"motor": 0.0})
    assert run.q[0].tolist() == [1.0, -0.5] and run.v[0].tolist() == [0.0, 2.0] and run.segments[0].u[0].tolist() == [0]
    assert simulate(arm(), 0.3, start="home", v=[1.0, 1.0]).v[0].tolist() == [1.0, 1.0]


def test_all_states_of_a_batch_share_a_start() -> None:
    batch = simulate_batch(arm(), 0.3, start="home", q={"q2": [0.1, 0.2]})
    assert batch.q[:, 0].tolist() == [[1.0, 0.1], [1.0, 0.2]] and batch.v[:, 0].tolist() == [[0.0, 2.0]] * 2
    alone = simulate(arm(), 0.3, start="home", q={"q2": 0.2})
    np.testing.assert_allclose(batch.q[1], alone.q, atol=1e-9)
    assert batch.t[0] == 0.25


def test_runs_live_runs_and_programs_begin_at_the_same_state() -> None:
    system = arm(runs={"lift": {"start": "home", "time": 0.2, "q": {"q1": 0.7}}})
    run = system.run("lift")
    assert (run.t[0], run.t[-1]) == (0.25, 0.45) and run.q[0].tolist() == [0.7, 0.5]
    live = LiveRun.planned(system, "lift").run.stepper
    assert live.state.q.tolist() == [0.7, 0.5] and live.state.v.tolist() == [0.0, 2.0] and live.u[0] == 3.0
    job = make_job(system, 0.5, start="home")
    assert job.first.state.q.tolist() == [1.0, 0.5] and job.times == (0.25, 0.5)


def test_analyses_and_pictures_take_the_name_of_a_start_as_configuration() -> None:
    system = arm()
    for point in (linearize(system, "home").point, poles(system, "home").point):
        assert (point.q.tolist(), point.v.tolist(), point.u.tolist()) == ([1.0, 0.5], [0.0, 2.0], [3.0])
    assert equilibrium(system, "home").u.tolist() == [3.0]
    name, numbers = (draw(system, one).axes[0].dataLim.bounds for one in ("home", [1.0, 0.5]))
    assert name == numbers and system.starting_at("home").settings.q == (1.0, 0.5)
    for call in (lambda: draw(system, "hme"), lambda: simulate(system, 1.0, start="hme"), lambda: poles(system, "hme")):
        with pytest.raises(ModelError, match=r"no start 'hme'; expected one of: 'home', 'part'. Did you mean 'home'\?"):
            call()
    with pytest.raises(ModelError, match=r"a Robot has no starts. Give a System"):
        simulate(system.robot, 1.0, start="home")


def test_starts_are_checked_with_the_system() -> None:
    for starts, said in (
        ({"a": {"q": [1.0]}}, "start 'a': q has 1 entry, expected 2"),
        ({"a": {"v": {"q3": 1.0}}}, r"start 'a': there is no velocity 'q3', expected one of q1, q2"),
        ({"a": {"q": [np.nan, 0.0]}}, "q is .*expected finite numbers"),
        ({"a": {"speed": 1.0}}, "the key 'speed' is not known, expected one of q, v, x, m, u, t"),
        ({"": {}}, "the name is '', expected printable text"),
        ({"a": {"t": np.inf}}, "t is inf, expected a finite time"),
    ):
        with pytest.raises(ModelError, match=said):
            System(library.double_pendulum(), starts=starts)
    with pytest.raises(ModelError, match=r"run 'x': start is 'hom', expected one of home, part. Did you mean 'home'\?"):
        arm(runs={"x": RunPlan(start="hom")})
    with pytest.raises(ShapeError, match=r"start 'home': plant .* has no input 'motor'"):
        simulate(replace(arm(), elements=()), 0.5, start="home")
    assert hash(arm().starts) == hash(arm().starts) and arm() == arm() and "2 starts" in repr(arm())


def test_the_run_of_a_scaled_system_is_the_scaled_run() -> None:
    by = Scales(4.0)
    one, other = simulate(arm(), 0.5, start="home"), simulate(scaled(arm(), length=4.0), 0.5 * by.time, start="home")
    assert other.t[0] == pytest.approx(by.time * 0.25)
    np.testing.assert_allclose(other.q[-1], one.q[-1], atol=1e-6)
    np.testing.assert_allclose(by.factor("rad/s") * one.v[0], other.v[0])


# ── loops ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

FOUR_BAR = """<mujoco><compiler angle="radian"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="a"><joint name="left" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
  <body name="bar" pos="0 0 -1"><joint name="middle" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/>
    <site name="a1" pos=".5 .01 0"/><site name="a2" pos="{x} -.01 0"/></body></body>
<body name="c" pos=".5 0 0"><joint name="right" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -1" size=".02" mass="1"/>
  <site name="c1" pos="0 .01 -1"/><site name="c2" pos="0 -.01 -1"/></body></worldbody>
<equality><connect site1="a1" site2="c1"/><connect site1="a2" site2="c2"/></equality>
<keyframe><key name="home" qpos=".3 {m} .3" qvel="1 -1 1.1"/></keyframe></mujoco>"""


@pytest.mark.filterwarnings("ignore::kinemorph.errors.InactiveWarning")
def test_a_start_that_leaves_loops_open_is_closed_with_a_word() -> None:
    """Keyframes of soft constraints are 2 mm away: the nearest closed state is taken, not refused."""
    system = load_text(FOUR_BAR.format(x=0.5, m=-0.302), "mjcf")
    with pytest.warns(ModelWarning, match=r"start 'home' of .*'equality\d' by 0.001 m.*0.00\d+ rad or m away"):
        run = simulate(system, 0.2, start="home")
    assert run.outcome.ok and run.loop_error.max() < 1e-12
    np.testing.assert_allclose(run.q[0], [0.3, -0.3, 0.3], atol=2e-3)
    np.testing.assert_allclose(run.v[0], [1.0, -1.0, 1.1], atol=0.11)
    with pytest.warns(ModelWarning, match="start 'home'"):
        named = simulate(system, 0.1, start="home", q={"left": 0.4})
    np.testing.assert_allclose(named.q[0], [0.4, -0.4, 0.4], atol=1e-12)  # what is named is kept, the others follow
    with pytest.raises(ShapeError, match=r"loops of .* are open in the initial state"):
        simulate(system, 0.1, start="home", q=[0.3, 0.0, 0.3])  # given in full, it is a mistake as ever
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        closed = simulate(load_text(FOUR_BAR.format(x=0.5, m=-0.3), "mjcf"), 0.2, start="home")
    assert closed.q[0].tolist() == [0.3, -0.3, 0.3]


@pytest.mark.parametrize(("gap", "told"), [(1.2e-8, r"by \S+e-08 m"), (1.5e-5, r"by \S+e-0[56] m")])
def test_loops_that_disagree_by_the_rounding_of_a_file_run_from_a_start(gap: float, told: str) -> None:
    system = load_text(FOUR_BAR.format(x=0.5 + gap, m=-0.3), "mjcf")
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", InactiveWarning)
        runs = [simulate(system, 0.1), simulate(system, 0.1, start="home")]
    for run in runs:
        assert run.outcome.ok and run.loop_error.max() < 2.0 * gap
    told_by = [str(note.message) for note in notes if note.category is ModelWarning]
    assert len(told_by) == 2 and all(re.search(f"{told}.*redundant constraints", one) for one in told_by)
