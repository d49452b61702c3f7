"""Live runs: in step with the clock, pulled, docked, recorded and computed again (000-27, 000-24)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import System, audit, library, load_trajectory, simulate
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.elements import PD, PrescribedMotion, PythonController, Setpoint, Sinusoid
from kinemorph.errors import KinemorphError, ModelError, UnsupportedError
from kinemorph.model.changes.live_system import live_system
from kinemorph.model.modules import Assembly, Docking, Module, cube
from kinemorph.model.run_plans import RunPlan
from kinemorph.modules import Dock
from kinemorph.simulation.live import live_run as live_module
from kinemorph.simulation.live.commands import COMMANDS, reproduced
from kinemorph.simulation.live.live_run import LiveRun
from kinemorph.simulation.live.pacing import CHASE, LATE
from kinemorph.simulation.planned_run import prepared_run
from kinemorph.simulation.results.body_poses import body_poses
from support.references.flying_modules import loss_of_locking, momentum

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


# ── docking ───────────────────────────────────────────────────────────────────────────────────────────────────────────

GAP = 0.004  # [m] between the cubes
V = {"a_root.vx": 0.3, "a_root.wz": 0.4, "b_root.vy": -0.2, "b_root.vx": 0.1, "b_root.wx": 0.7, "b_root.wy": -0.3}


@pytest.fixture(scope="module")
def cubes() -> System:
    """Two rigid modules in free flight, face to face."""
    modules = (Module("a", cube(), IDENTITY), Module("b", cube(), Pose(IDENTITY.R, (0.1 + GAP, 0.0, 0.0))))
    return Assembly("cubes", modules).system(gravity=(0.0, 0.0, 0.0))


def plastic(segment: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """(energy lost [J], velocity of the center, angular velocity after) where the two bodies at its end become one.

    By hand: masses m, centers c, inertias I; both momenta are kept, and the new body is rigid.
    """
    names, m = ("a_cube", "b_cube"), [1.5, 1.5]
    poses = body_poses_of(segment)
    c = [poses[name][0] for name in names]
    u = [poses[name][1] for name in names]
    w = [poses[name][2] for name in names]
    I = 1.5 * 0.1**2 / 6.0 * np.eye(3)  # a cube has the same inertia about all axes
    center = (m[0] * c[0] + m[1] * c[1]) / sum(m)
    velocity = (m[0] * u[0] + m[1] * u[1]) / sum(m)
    L = sum(I @ w[k] + m[k] * np.cross(c[k] - center, u[k] - velocity) for k in (0, 1))
    whole = sum(I + m[k] * (np.dot(r := c[k] - center, r) * np.eye(3) - np.outer(r, r)) for k in (0, 1))
    turning = np.linalg.solve(whole, L)
    before = sum(0.5 * m[k] * u[k] @ u[k] + 0.5 * w[k] @ I @ w[k] for k in (0, 1))
    return float(before - 0.5 * sum(m) * velocity @ velocity - 0.5 * turning @ whole @ turning), velocity, turning


def body_poses_of(segment: Any) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Position, velocity and angular velocity of the two cubes, from the coordinates of their free joints."""
    q = dict(zip((c.name for c in segment.plant.q), segment.q[-1], strict=True))
    v = dict(zip((c.name for c in segment.plant.v), segment.v[-1], strict=True))
    found = {}
    for name in ("a", "b"):
        w, x, y, z = (q[f"{name}_root.q{axis}"] for axis in "wxyz")
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        place = np.array([q[f"{name}_root.{axis}"] for axis in "xyz"])
        linear, angular = (np.array([v[f"{name}_root.{part}{axis}"] for axis in "xyz"]) for part in "vw")
        found[f"{name}_cube"] = (place, R @ linear, R @ angular)
    return found


def test_two_organisms_docked_by_command_keep_momentum_and_lose_what_two_rigid_bodies_lose(cubes: System) -> None:
    live = LiveRun(cubes, v=V, **TIGHT)
    live.step(2)
    event = live.dock("a", 3, "b", 4)
    assert event.kind == "dock", event.note
    live.step(3)
    run = live.trajectory()
    before, after = run.segments
    change = momentum(after, 0) - momentum(before, -1)
    assert np.abs(change).max() < 1e-12 * np.abs(momentum(before, -1)).max()
    lost, *_ = plastic(before)
    assert event["energy_loss"] == pytest.approx(lost, rel=1e-11) and lost > 1e-3
    assert before.energy[-1, 0] - after.energy[0, 0] == pytest.approx(lost, rel=1e-10)
    assert np.abs(run.momentum[-1] - run.momentum[0]).max() < 1e-9 * np.abs(run.momentum[0]).max()
    timed = simulate(
        cubes, 0.05, v=V, events=[Dock("a", 3, "b", 4, at=0.02)], output_step=0.01, **TIGHT
    )  # the same physics
    for mine, other in zip(run.segments, timed.segments, strict=True):
        assert [c.name for c in mine.plant.q] == [c.name for c in other.plant.q]
        assert mine.q == pytest.approx(other.q, abs=1e-11) and mine.v == pytest.approx(other.v, abs=1e-11)
    assert event["energy_loss"] == pytest.approx(timed.events[0]["energy_loss"], rel=1e-9)


def test_organisms_that_are_pulled_dock_and_undock_and_all_of_it_is_computed_again(tmp_path: Any) -> None:
    """The hand keeps the body that it holds, and the energy balances up to the loss of the docking."""
    modules = (
        *(Module("m0", cube(), IDENTITY), Module("m1", cube())),
        Module("m2", cube(), Pose(IDENTITY.R, (0.2 + GAP, 0.0, 0.0))),
    )
    system = Assembly("trio", modules, (Docking("m0", 3, "m1", 4),)).system(gravity=(0.0, 0.0, 0.0))
    live = LiveRun(system, v={"m2_root.vx": -0.05})
    hold = live.bodies[-1]
    live.pull(hold, (0.0, 0.0, 0.01), (0.25, 0.1, 0.0))
    live.step(2)
    refused = live.dock("m0", 4, "m2", 3)
    assert refused.kind == "refused" and "is refused" in refused.note
    free = {(port["module"], port["side"]) for port in live.ports() if port["docked"] is None}
    assert ("m1", 3) in free and ("m1", 4) not in free
    place = live.poses()[0]
    expected, _ = loss_of_locking(live.trajectory().segments[-1], system.assembly, [(("m1", 3), ("m2", 4))])
    docked = live.dock("m1", 3, "m2", 4)
    assert docked.kind == "dock" and docked["energy_loss"] == pytest.approx(expected, rel=1e-9)
    assert live.poses()[0] == pytest.approx(place, abs=1e-12)
    live.step(2)
    assert live.undock("m0", 3).kind == "undock"
    live.step(2)
    with pytest.raises(ModelError, match="nothing is docked"):
        live.undock("m0", 3)
    run = live.trajectory()
    for segment in run.segments:
        number = int(segment.u[-1, [c.name for c in segment.plant.u].index("hand.body")])
        assert segment.robot.body_names[number] == hold
    jumps = docked["energy_loss"] * (run.t > docked.t)
    first_after = int(np.flatnonzero(run.t >= docked.t)[1])
    jumps[first_after:] = docked["energy_loss"]
    turned_over = np.abs(np.diff(run.energy.supplied)).sum() + run.energy.dissipated[-1]
    assert np.abs((run.energy.balance + jumps)[run.t != docked.t]).max() < 1e-6 * turned_over
    run.save(tmp_path / "live.npz")
    again = reproduced(system, load_trajectory(tmp_path / "live.npz", system))
    for mine, other in zip(again.segments, run.segments, strict=True):
        assert np.array_equal(mine.q, other.q) and np.array_equal(mine.u, other.u) and np.array_equal(mine.x, other.x)
    assert [event.kind for event in again.events] == ["refused", "dock", "undock"]
