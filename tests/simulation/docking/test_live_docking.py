"""Docking in live runs: momentum and energy, tolerances, modules that are pulled, runs that cannot go on (000-24)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import System, Trajectory, load_trajectory, simulate
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.elements import PythonController
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.model.modules import Assembly, Docking, Module, cube
from kinemorph.modules import Dock
from kinemorph.simulation.live.commands import reproduced
from kinemorph.simulation.live.live_run import LiveRun
from support.references.flying_modules import loss_of_locking, momentum

TIGHT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}
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
    steps = live.trajectory().statistics.accepted
    assert steps > 2
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
    parts: list[Trajectory] = []
    counts: list[int] = []
    timed = simulate(
        *(cubes, 0.05),
        **{"v": V, "events": [Dock("a", 3, "b", 4, at=0.02)], "output_step": 0.01},
        **{"watch": parts.append, "progress": lambda t, h, events: counts.append(events)},
        **TIGHT,
    )  # the same physics
    assert np.concatenate([part.t for part in parts]).tolist() == timed.t.tolist() == run.t.tolist()
    assert [one for part in parts for one in part.events] == list(timed.events) and (counts[0], counts[-1]) == (0, 1)
    assert run.statistics.accepted == steps + live.run.stepper.counts[0]
    for mine, other in zip(run.segments, timed.segments, strict=True):
        assert [c.name for c in mine.plant.q] == [c.name for c in other.plant.q]
        assert mine.q == pytest.approx(other.q, abs=1e-11) and mine.v == pytest.approx(other.v, abs=1e-11)
    assert event["energy_loss"] == pytest.approx(timed.events[0]["energy_loss"], rel=1e-9)


def test_a_docking_by_command_has_the_tolerances_and_the_turn_that_it_is_given(cubes: System) -> None:
    live = LiveRun(cubes)
    ports = {(one["module"], one["side"]): one for one in live.ports()}
    assert ports["a", 3]["point"] == pytest.approx([0.05, 0.0, 0.0])
    assert ports["a", 3]["normal"] == pytest.approx([1.0, 0.0, 0.0])
    near = live.dock("a", 3, "b", 4, distance=0.9 * GAP)
    assert near.kind == "refused" and near["distance"] == pytest.approx(GAP) and "0.0036 m and" in near.note
    turned = live.dock("a", 3, "b", 4, turn=1)
    assert turned.kind == "refused" and turned["angle"] == pytest.approx(np.pi / 2)
    assert live.dock("a", 3, "b", 4, turn=1, angle=1.6).kind == "dock"
    with pytest.raises(ModelError, match=r"side 4 of module 'b' is docked to module 'a'"):
        live.dock("b", 4, "a", 3)
    assert [one["do"] for one in live.commands] == ["dock"] * 3 and live.commands[2]["angle"] == 1.6


def test_the_time_that_new_equations_take_does_not_count_as_being_late(
    cubes: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    live = LiveRun(cubes, clock=lambda: now[0])
    live.resume()
    assert live._docks is not None
    after = live._docks.after

    def slowly(*given: Any) -> Any:
        now[0] += 20.0
        return after(*given)

    monkeypatch.setattr(live._docks, "after", slowly)
    live.dock("a", 3, "b", 4)
    assert live.catch_up() == 0 and live.status().lag == live.status().lost == 0.0
    now[0] += 0.01
    assert live.catch_up() == 1


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


def test_a_docking_after_which_the_run_cannot_go_on_ends_it_and_keeps_what_was_before(cubes: System) -> None:
    """The joint of an element is gone: what was computed is there once, and a reset begins again."""
    wrong = PythonController("c", lambda t, q: 0.0, "q.b_root.x", "b_root.vx", every=0.02)
    live = LiveRun(replace(cubes, elements=(wrong,)), v=V)
    live.step(2)
    with pytest.raises(UnsupportedError, match="could not continue after the docking of 'a' side 3 with 'b' side 4"):
        live.dock("a", 3, "b", 4)
    run = live.trajectory()
    assert run.t.tolist() == [0.0, 0.01, 0.02] and run.outcome.kind == "failed" and live.commands == []
    live.reset()
    live.step()
    assert live.trajectory().t.tolist() == [0.0, 0.01]
