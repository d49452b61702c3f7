"""Live runs: in step with the clock, pulled, docked, recorded and computed again (000-27, 000-24)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import System, audit, library, load_trajectory
from kinemorph.elements import PD, PrescribedMotion, PythonController, Setpoint, Sinusoid
from kinemorph.errors import KinemorphError, ModelError, UnsupportedError
from kinemorph.model.changes.live_system import live_system
from kinemorph.model.elements.forces.pulls import Pull
from kinemorph.model.parameter import evaluate
from kinemorph.model.run_plans import RunPlan
from kinemorph.simulation.live import live_run as live_module
from kinemorph.simulation.live.commands import COMMANDS, record_of_run, reproduced
from kinemorph.simulation.live.live_run import LiveRun
from kinemorph.simulation.live.pacing import CHASE, LATE, Pacer
from kinemorph.simulation.planned_run import prepared_run
from kinemorph.simulation.results.body_poses import body_poses
from kinemorph.simulation.running import execution

TIGHT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}


class FakeClock:
    """A clock that goes on when it is told to, and by `cost` [s] with each reading."""

    def __init__(self, cost: float = 0.0) -> None:
        self.now, self.cost = 100.0, cost

    def __call__(self) -> float:
        self.now += self.cost
        return self.now


@pytest.fixture(scope="module")
def pendulum() -> System:
    robot = library.build("double_pendulum")
    goal = Setpoint("goal", (0.3, 0.1), robot.joint_names)
    return System(robot, (goal, PD("hold", robot.joint_names, 5.0, 0.5, "goal")))


def waved(live: LiveRun, seconds: float, clock: FakeClock, picture: float = 1.0 / 60.0) -> list[float]:
    """Shows pictures for a time [s] of the clock, while a hand waves with the last body; returns the lags."""
    lags, end = [], clock.now + seconds
    while clock.now < end:
        live.catch_up()
        lags.append(live.status().lag)
        t = live.t
        live.pull(live.bodies[-1], (0.1, 0.0, 0.0), (0.5 * np.sin(3.0 * t), 0.0, 0.4 * np.cos(2.0 * t)))
        clock.now += picture
    return lags


# ── the clock ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_live_run_is_in_step_with_the_clock_at_any_speed(pendulum: System) -> None:
    clock = FakeClock()
    live = LiveRun(pendulum, clock=clock)
    assert live.paused and live.catch_up() == 0 and live.t == 0.0
    live.resume()
    assert max(waved(live, 1.0, clock)) < 0.011
    assert live.t == pytest.approx(1.0, abs=0.03)
    at = live.t
    live.set_speed(0.1)
    waved(live, 1.0, clock)
    assert live.t == pytest.approx(at + 0.1, abs=0.005)
    live.pause()
    clock.now += 50.0
    assert live.catch_up() == 0
    live.set_speed(4.0)
    at = live.t
    live.resume()
    waved(live, 0.5, clock)
    assert live.t == pytest.approx(at + 2.0, abs=0.08) and live.status().lost == 0.0
    assert live.status().clock == pytest.approx(2.5, abs=0.06)


def test_a_run_that_is_too_slow_says_by_how_much_and_never_has_more_to_catch_up_with(pendulum: System) -> None:
    """A slice of 10 ms takes 30 ms here: a third of real time, stated as such, and at most one picture at once."""
    clock = FakeClock()
    live = LiveRun(pendulum, clock=clock)
    advance = live._advance

    def slow() -> None:
        clock.now += 0.03
        advance()

    live._advance = slow  # type: ignore[method-assign]
    live.resume()
    for _ in range(200):
        assert live.catch_up() <= 2
        assert live.status().lag < LATE + CHASE
        clock.now += 0.001
    status = live.status()
    assert status.factor == pytest.approx(0.01 / 0.031, rel=0.05)
    assert "Slower than real time" in status.sentence and f"{status.factor:.2g}" in status.sentence
    assert status.lag <= LATE + 0.032 and status.lost == pytest.approx(status.clock - live.t - status.lag, abs=0.05)
    live._advance = advance  # type: ignore[method-assign]
    for _ in range(200):
        live.catch_up()
        clock.now += 0.01
    assert live.status().sentence == "" and live.status().factor == pytest.approx(1.0, abs=0.02)


def test_a_pacer_gives_up_what_a_run_does_not_make_up_for_in_a_quarter_of_a_second() -> None:
    """By hand, at twice the real time: lags and losses are in seconds of the clock, times that are due in the run's."""
    clock = FakeClock()
    pacer = Pacer(clock, 2.0)
    pacer.begin(5.0)
    clock.now += 0.1
    assert pacer.due() == pytest.approx(5.2)
    pacer.look(5.0)
    assert pacer.lag == pytest.approx(0.1) and pacer.lost == 0.0 and not pacer.late
    clock.now += 0.26
    pacer.look(5.0)  # late for more than 0.25 s
    assert pacer.lost == pytest.approx(0.36 - LATE) and pacer.due() == pytest.approx(5.0 + 2.0 * LATE)
    assert pacer.late and pacer.factor == 0.0
    pacer.look(5.02)
    clock.now += 0.02
    pacer.look(5.02)  # one that was late a moment ago is not waited for again
    assert pacer.lag == pytest.approx(LATE + 0.01) and pacer.lost == pytest.approx(0.37 - LATE) and pacer.late
    pacer.set_speed(4.0, 5.0)
    assert pacer.due() == 5.0 and pacer.speed == 4.0
    assert pacer.factor == 1.0 and not pacer.late  # nothing is known of the new speed yet
    pacer.begin(6.0)  # again, as after a docking: the time before counts still
    assert pacer.running_time() == pytest.approx(0.38)
    pacer.stop()
    clock.now += 0.5
    assert (pacer.lag, pacer.runs, pacer.late) == (0.0, False, False) and pacer.running_time() == pytest.approx(0.38)
    pacer.begin(6.0)
    for k in range(3):
        pacer.look(6.0 + 4.0 * 0.01 * k)
        clock.now += 0.01
    assert pacer.factor == pytest.approx(1.0) and pacer.running_time() == pytest.approx(0.41)


def test_single_steps_pause_a_run_and_a_fast_run_waits_less(pendulum: System) -> None:
    clock = FakeClock()
    live = LiveRun(pendulum, clock=clock)
    live.set_speed(4.0)
    assert live.wait == float("inf")
    live.resume()
    assert live.wait == pytest.approx(0.0025)
    clock.now += 0.001
    assert live.wait == pytest.approx(0.0015)
    live.step(2)
    assert live.paused and live.t == 0.02 and live.catch_up() == 0
    clock.now += 1.0
    assert live.wait == float("inf") and live.status().clock == pytest.approx(0.001)


def test_samples_of_a_long_run_are_joined_and_stay_the_same(pendulum: System, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    for pieces in (4, 4096):
        monkeypatch.setattr(execution, "MOST_PIECES", pieces)
        live = LiveRun(pendulum, q={"q1": 0.4})
        live.step(12)
        assert (len(live.run.done[-1]) <= 4) == (pieces == 4)
        runs.append(live.trajectory())
    for group in ("t", "q", "v", "x", "u"):
        assert np.array_equal(getattr(runs[0], group), getattr(runs[1], group)), group
    assert runs[0].t == pytest.approx(0.01 * np.arange(13))


def test_the_record_of_a_run_has_all_that_was_asked_for(pendulum: System) -> None:
    given: dict[str, Any] = {"q": {"q1": 0.4}, "v": [0.1, 0.0], "rtol": 1e-7, "max_step": 0.02, "inputs": {"q2": 0.5}}
    live = LiveRun(pendulum, **given, locked=("q2",), slice_length=0.02, speed=0.5)
    options, commands = record_of_run(live.trajectory())
    assert options == {**given, "locked": ["q2"], "slice_length": 0.02}
    assert commands == [{"t": 0.0, "do": "set_slice", "length": 0.01}]
    with pytest.raises(ModelError, match="it was not a live run"):
        record_of_run(replace(live.trajectory(), settings={}))


def test_the_hand_swings_the_whole_mass_twelve_radians_a_second_with_seven_tenths_of_the_critical_damping() -> None:
    robot = library.build("double_pendulum")
    mass = sum(float(evaluate(body.mass)) for body in robot.bodies)
    (hand,) = live_system(robot).elements
    assert isinstance(hand, Pull) and np.sqrt(hand.stiffness / mass) == pytest.approx(12.0)
    assert hand.damping == pytest.approx(0.7 * 2.0 * np.sqrt(hand.stiffness * mass))


@pytest.mark.slow
def test_sixty_seconds_are_within_fifty_milliseconds_of_the_clock(pendulum: System) -> None:
    live = LiveRun(pendulum)
    live.resume()
    began, worst = time.monotonic(), 0.0
    while (now := time.monotonic() - began) < 60.0:
        live.catch_up()
        worst = max(worst, live.status().lag)
        live.pull(live.bodies[-1], (0.1, 0.0, 0.0), (np.sin(now), 0.0, 0.3))
        live.poses()
        time.sleep(min(live.wait, 1.0 / 60.0))
    print(f"largest distance from the clock: {1000.0 * worst:.1f} ms")
    assert worst < 0.05 and live.status().lost == 0.0
    assert live.t == pytest.approx(live.status().clock, abs=0.05)
    energy = live.trajectory().energy
    turned_over = np.abs(np.diff(energy.supplied)).sum() + energy.dissipated[-1]
    print(f"energy: {np.abs(energy.balance).max() / turned_over:.1e} of what is turned over")
    assert np.abs(energy.balance).max() < 1e-6 * turned_over


@pytest.mark.slow
def test_a_chain_of_fifty_links_keeps_up_while_it_is_pulled() -> None:
    live = LiveRun(library.chain(50), q=np.full(50, 0.02))
    live.resume()
    began, costs = time.monotonic(), []
    while (now := time.monotonic() - began) < 5.0:
        start = time.perf_counter()
        live.catch_up()
        live.pull(live.bodies[-1], (0.0, 0.0, 0.0), (2.0 * np.sin(now), 0.0, -3.0))
        live.poses()
        costs.append(time.perf_counter() - start)
        time.sleep(max(0.0, 1.0 / 60.0 - costs[-1]))
    print(f"chain of 50: {1000.0 * np.median(costs):.2f} ms a picture, worst {1000.0 * max(costs):.1f} ms")
    assert live.status().lost == 0.0 and np.median(costs) < 1.0 / 60.0


# ── pulls, inputs and set points ──────────────────────────────────────────────────────────────────────────────────────


def test_the_energy_of_a_run_that_is_pulled_balances_and_it_is_computed_again_bit_by_bit(
    pendulum: System, tmp_path: Any
) -> None:
    clock = FakeClock()
    live = LiveRun(pendulum, clock=clock, q={"q1": 0.4}, inputs={"goal.q1": -0.2})
    live.resume()
    waved(live, 1.0, clock)
    live.set_inputs({"goal.q1": 0.8, "q2": 0.5})
    live.release()
    live.set_speed(0.3)
    waved(live, 0.7, clock, picture=0.021)
    live.step(3)
    run = live.trajectory()
    energy = run.energy
    turned_over = np.abs(np.diff(energy.supplied)).sum() + energy.dissipated[-1]
    assert turned_over > 10.0 and np.abs(energy.balance).max() < 1e-6 * turned_over
    assert audit(run).passed
    now = (energy.kinetic[-1], energy.potential[-1], energy.supplied[-1], energy.dissipated[-1])
    assert tuple(live.energy().values()) == pytest.approx(now) and list(live.energy())[::3] == ["kinetic", "dissipated"]
    assert run["u.goal.q1"][0] == -0.2 and run["u.goal.q1"][-1] == 0.8
    run.save(tmp_path / "live.npz")
    for one in (run, load_trajectory(tmp_path / "live.npz", pendulum)):
        again = reproduced(pendulum, one)
        for group in ("t", "q", "v", "x", "u"):
            assert np.array_equal(getattr(again, group), getattr(run, group)), group
    positions, quaternions = live.poses()
    last = body_poses(run)[-1]
    assert positions == pytest.approx(last[:, :3, 3], abs=1e-12) and quaternions.shape == (len(live.bodies), 4)
    w, x, y, z = quaternions.T
    assert 1.0 - 2.0 * (y * y + z * z) == pytest.approx(last[:, 0, 0], abs=1e-12)
    assert 2.0 * (x * z + w * y) == pytest.approx(last[:, 0, 2], abs=1e-12)
    live.reset()
    assert live.t == 0.0 and live.paused and live.commands[-1]["do"] == "set_slice" and len(live.trajectory()) == 1


def test_the_last_sample_has_the_inputs_of_a_command_and_the_work_that_they_have_done(pendulum: System) -> None:
    live = LiveRun(pendulum, q={"q1": 0.4})
    live.step(3)
    live.pull("link2", (0.0, 0.0, 0.0), (0.5, 0.0, 0.4), strength=0.5)
    live.set_inputs({"goal.q1": 0.7})
    run = live.trajectory()
    assert run["u.hand.share"][-2:].tolist() == [0.0, 0.5] and run["u.goal.q1"][-2:].tolist() == [0.3, 0.7]
    assert run.energy.supplied[-1] > 1.0 and tuple(live.energy().values()) == pytest.approx(
        [getattr(run.energy, name)[-1] for name in ("kinetic", "potential", "supplied", "dissipated")]
    )
    assert np.abs(run.energy.balance).max() < 1e-6 * run.energy.supplied[-1]


def test_references_that_are_numbers_become_set_points_and_those_of_constraints_stay() -> None:
    robot = library.build("double_pendulum")
    one, two = robot.joint_names
    system = System(
        robot,
        (Setpoint("still", 0.2), PrescribedMotion("drive", one, "still"), PD("hold", two, 5.0, reference=0.3)),
    )
    live = live_system(system)
    assert live.element("still") == system.element("still")
    assert live.element("hold reference") == Setpoint("hold reference", 0.3, two, from_inputs=True)
    assert LiveRun(system).set_points == {"hold reference": ("hold reference",)}
    assert live_system(live) is live
    taken = System(robot, (Sinusoid("hand"),))
    assert LiveRun(taken).hand == "hand 2"


def test_a_heavy_body_is_pulled_harder_than_what_it_carries(pendulum: System) -> None:
    live = LiveRun(pendulum)
    first, last = (live.strength_for(body) for body in (live.bodies[0], live.bodies[-1]))
    assert first == 1.0 and 0.0 < last < 1.0


def test_a_planned_live_run_begins_and_moves_as_the_planned_run() -> None:
    """Limits and friction act, and inputs in order are those of the model, although a live run has more of them."""
    system = System(library.build("double_pendulum"))
    plan = RunPlan(q=(0.3, -0.2), inputs=(0.4, 0.1), rtol=1e-10, atol=1e-12)
    live = LiveRun.planned(system, plan)
    live.step(10)
    run = prepared_run(system, replace(plan, time=0.1, output_step=0.01)).run()
    assert live.trajectory().q == pytest.approx(run.q, abs=1e-9) and live.inputs["q1"] == 0.4


@pytest.mark.parametrize(
    ("do", "given", "sentence"),
    [
        ("pull", {"body": "lnk", "point": (0, 0, 0), "target": (0, 0, 0)}, "has no body 'lnk'"),
        ("pull", {"body": "link2", "point": (0, 0, 0), "target": (0, 0, 0), "strength": 0.0}, "strength is 0"),
        ("pull", {"body": "link2", "point": (0, 0), "target": (0, 0, 0)}, "point has 2 numbers"),
        ("pull", {"body": "", "point": (0, 0), "target": (0, 0, 0)}, "has no body ''"),
        ("set_inputs", {"values": {"goal.q3": 1.0}}, "has no input 'goal.q3'"),
        ("set_inputs", {"values": {"goal.q1": float("nan")}}, "expected a finite number"),
        ("dock", {"a": "m", "side_a": 1, "b": "n", "side_b": 2}, "is not made of modules"),
        ("jump", {}, "expected a command of a live run"),
        ("release", {"now": 1}, "is given 'now'"),
        ("set_slice", {"length": 0.0}, "expected a number above 0"),
        ("set_slice", {"length": 1e-9}, "expected 1e-05 to 1 s"),
        ("set_slice", {"length": 1.5}, "expected 1e-05 to 1 s"),
        ("set_inputs", {"values": [1.0]}, "expected numbers by name"),
    ],
)
def test_wrong_commands_are_refused_and_not_recorded(pendulum: System, do: str, given: Any, sentence: str) -> None:
    live = LiveRun(pendulum)
    with pytest.raises(KinemorphError, match=sentence):
        live.give(do, **given)
    assert live.commands == []
    with pytest.raises(UnsupportedError, match=r"speed is 1e\+09; expected 0.001 to 100"):
        live.set_speed(1e9)
    live.step()
    assert live.t == 0.01 and len(live.trajectory()) == 2


def test_short_slices_stay_long_enough_in_slow_motion_and_wrong_ones_are_refused(pendulum: System) -> None:
    live = LiveRun(pendulum, slice_length=1e-3)
    live.set_speed(1e-3)
    live.step()
    assert live.t == 1e-5
    live.reset()
    assert live.t == 0.0
    for length in (1e-7, 2.0, float("nan")):
        with pytest.raises(UnsupportedError, match="slice_length is"):
            LiveRun(pendulum, slice_length=length)


def test_a_live_run_ends_before_it_keeps_too_much(pendulum: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "LONGEST", 0.03)
    live = LiveRun(pendulum)
    with pytest.raises(UnsupportedError, match=r"has ended: The live run has reached 0.03 s"):
        live.step(10)
    assert live.t == pytest.approx(0.03) and live.status().ended and len(live.trajectory()) == 4


def test_a_run_that_fails_says_why_and_can_begin_again() -> None:
    clock, robot = FakeClock(), library.build("double_pendulum")
    wrong = PythonController("c", lambda t, q: 1.0 / max(0.05 - t, 0.0), "q.q1", "q1", every=0.02)
    live = LiveRun(System(robot, (wrong,)), clock=clock)
    live.resume()
    for _ in range(10):
        clock.now += 0.01
        live.catch_up()
    assert live.outcome is not None and live.outcome.kind == "failed" and live.paused
    assert live.t == pytest.approx(0.06) and live.status().ended and "division by zero" in live.status().sentence
    with pytest.raises(UnsupportedError, match=r"has ended.*Reset it"):
        live.resume()
    assert live.trajectory().outcome.kind == "failed"
    live.reset()
    assert live.outcome is None and live.t == 0.0


def test_every_command_has_a_method() -> None:
    assert all(hasattr(LiveRun, f"_{do}") for do in COMMANDS)
