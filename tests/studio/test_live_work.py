"""Live runs as work of a process: commands in, poses out (000-27)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph import System, library, load_trajectory
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.display.looks.poses import Poses
from kinemorph.elements import PD
from kinemorph.formats.loading import saved_texts
from kinemorph.model.modules import Assembly, Module, cube
from kinemorph.simulation.live.live_run import LiveRun
from kinemorph.studio.tasks.live_tasks import live
from kinemorph.studio.tasks.work import Cancelled, Report
from kinemorph.studio.workers.pool import Pool


class Line:
    """A live run in a thread, and what it has sent: the newest part of each kind, and all answers."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.parts: dict[str, tuple[dict[str, Any], bytes]] = {}
        self.counts: dict[str, int] = {}
        self.answers: dict[int, dict[str, Any]] = {}
        self.said: list[str] = []
        self.changed = threading.Condition()
        self.report = Report(1, self.take)
        self.ended: list[str] = []
        self.thread = threading.Thread(target=self.work, args=(data,), daemon=True)
        self.thread.start()

    def work(self, data: dict[str, Any]) -> None:
        try:
            live(data, self.report)
        except Cancelled:
            self.ended.append("cancelled")

    def take(self, header: Any, payload: bytes) -> None:
        part = dict(header["part"])
        kind = part.pop("live")
        with self.changed:
            self.parts[kind] = part, payload
            self.counts[kind] = self.counts.get(kind, 0) + 1
            if kind == "done" and part["id"] is not None:
                self.answers[part["id"]] = part
            elif kind == "done":
                self.said.append(part["error"])
            self.changed.notify_all()

    def until(self, condition: Any, seconds: float = 20.0) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, seconds), (self.parts, self.said)

    def ask(self, do: str, **given: Any) -> dict[str, Any]:
        number = len(self.answers) + 1
        self.report.hear({"do": do, "id": number, **given})
        self.until(lambda: number in self.answers)
        return self.answers[number]

    def end(self) -> None:
        self.report.cancelled = True
        self.thread.join(5.0)
        assert self.ended == ["cancelled"]


def data_of(system: Any, folder: Path) -> dict[str, Any]:
    ((name, text),) = saved_texts(system, "toml", "model").items()
    return {"text": text, "path": str(folder / name), "folder": str(folder)}


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Line, System, Path]]:
    folder = tmp_path_factory.mktemp("live")
    robot = library.build("double_pendulum")
    system = System(robot, (PD("hold", robot.joint_names, 5.0, 1.0, reference=0.3),))
    line = Line(data_of(system, folder))
    yield line, system, folder
    line.end()


def test_commands_go_in_and_poses_come_out_sixty_times_a_second_at_most(pendulum: Any, tmp_path: Path) -> None:
    line, system, _ = pendulum
    line.until(lambda: {"ready", "poses", "status"} <= line.parts.keys())
    ready = line.parts["ready"][0]
    assert ready["bodies"] == list(system.robot.body_names) and ready["ports"] == []
    points = [one["name"] for one in ready["inputs"] if one["point"]]
    assert points == ["hold reference.q1", "hold reference.q2"]
    assert line.parts["status"][0]["paused"] and "error" not in line.ask("resume")
    before, began = line.counts["poses"], time.monotonic()
    line.report.hear({"do": "pull", "body": ready["bodies"][-1], "point": [0, 0, 0], "target": [0.5, 0, 0.4]})
    line.ask("set_inputs", values={"hold reference.q1": -0.2})
    time.sleep(0.4)
    line.ask("pause")
    pictures = line.counts["poses"] - before
    assert 0 < pictures <= 60 * (time.monotonic() - began) + 2
    line.ask("step", count=3)
    line.until(lambda: line.parts["poses"][0]["t"] == line.parts["status"][0]["t"])
    kept = LiveRun.planned(system)  # the same commands at the same times give the same picture
    answer = line.ask("pull", body="lnk", point=[0, 0, 0], target=[0, 0, 0])
    assert "has no body 'lnk'" in answer["error"]
    line.report.hear({"do": "step", "count": "many"})
    line.until(lambda: line.said)
    assert "'step' cannot be done" in line.said[-1]
    header, payload = line.parts["poses"]
    numbers = np.frombuffer(payload, dtype="<f4")
    assert header["coordinates"] and len(numbers) == system.robot.nq and header["t"] > 0.3
    line.ask("reset")
    line.until(lambda: line.parts["poses"][0]["t"] == 0.0)
    q = np.frombuffer(line.parts["poses"][1], dtype="<f4")  # a page computes from it the poses of the run
    found, (places, _) = Poses(system.robot, q), kept.poses()
    assert np.array([found.p[body][0] for body in kept.bodies]) == pytest.approx(places, abs=1e-6)


def test_ports_dock_by_command_and_the_event_comes_back(tmp_path: Path) -> None:
    modules = (Module("a", cube(), IDENTITY), Module("b", cube(), Pose(IDENTITY.R, (0.104, 0.0, 0.0))))
    system = Assembly("cubes", modules).system(gravity=(0.0, 0.0, 0.0))
    v = tuple(-0.1 if name == "b_root.vx" else 0.0 for name in system.robot.v_names)
    moving = replace(system, settings=replace(system.settings, v=v))
    line = Line(data_of(moving, tmp_path))
    line.until(lambda: "ready" in line.parts)
    ports = line.parts["ready"][0]["ports"]
    assert {(port["module"], port["side"]) for port in ports} == {(m, k) for m in "ab" for k in range(1, 7)}
    facing = next(port for port in ports if (port["module"], port["side"]) == ("a", 3))
    assert facing["point"] == pytest.approx([0.05, 0.0, 0.0]) and abs(facing["normal"][0]) == pytest.approx(1.0)
    line.ask("step")
    event = line.ask("dock", a="a", side_a=3, b="b", side_b=4)["event"]
    numbers = {one["name"]: one["value"] for one in event["numbers"]}
    assert event["kind"] == "dock" and numbers["energy_loss"] == pytest.approx(0.5 * 0.75 * 0.1**2, rel=1e-9)
    docked = [port for port in line.parts["ready"][0]["ports"] if port["docked"]]
    assert {(port["module"], port["side"]) for port in docked} == {("a", 3), ("b", 4)}
    assert line.ask("undock", module="a", side=3)["event"]["kind"] == "undock"
    line.end()


@pytest.mark.slow
def test_a_live_run_in_a_process_keeps_up_and_is_kept(tmp_path: Path) -> None:
    """Through the pipes of a worker: 2 s within 50 ms, a file that holds what happened, and cancelled within 1 s."""
    robot = library.build("double_pendulum")
    system, heard = System(robot), []
    pool = Pool(1, nice=0)
    answered, poses = threading.Event(), []

    def part(header: Any, payload: bytes) -> None:
        if header["live"] == "poses":
            poses.append((time.monotonic(), header["t"]))
        elif header["live"] == "done":
            heard.append(header)
            answered.set()
        elif header["live"] == "ready":
            answered.set()

    job = pool.submit("live", data_of(system, tmp_path), on_part=part)
    assert answered.wait(30.0)
    job.tell({"do": "resume"})
    time.sleep(2.0)
    answered.clear()
    save = str(tmp_path / "kept.npz")
    job.tell({"do": "keep", "save": save, "id": 1})
    assert answered.wait(10.0) and "error" not in heard[-1], heard
    began = time.monotonic()
    job.cancel()
    assert job.wait(5.0).state == "cancelled" and time.monotonic() - began < 1.0
    pool.stop()
    clock, t = np.array(poses[5:]).T
    late = (clock - clock[0]) - (t - t[0])
    print(f"{len(poses) / 2.0:.0f} pictures per second, within {1000.0 * np.abs(late).max():.0f} ms of the clock")
    assert np.abs(late).max() < 0.05 and 40.0 < len(poses) / 2.0 < 63.0
    assert load_trajectory(save, system).t[-1] > 1.8
