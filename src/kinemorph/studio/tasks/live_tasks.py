"""A live run as work: it hears messages while it runs, and sends poses of bodies up to 60 times a second.

Messages are {"do": ...} with the arguments of that row of CONTROLS, or of a command of `simulation.live.commands`; a
message may have an "id". Parts that the work sends:

    {"live": "ready", ...}      once, and after every reset, docking and undocking: bodies, inputs, ports
    {"live": "poses", "t"}      float32 positions (nb, 3) [m], then quaternions (nb, 4), w first; with "coordinates"
                                float32 coordinates (nq,), from which pages compute the poses
    {"live": "status", ...}     ten times a second, as `LiveStatus`, with the present inputs
    {"live": "done", "id"}      after a message, with its event or its file, or with "error", a sentence
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.model.joint import Joint
from kinemorph.model.system import System
from kinemorph.simulation.live.commands import COMMANDS
from kinemorph.simulation.live.live_run import LiveRun
from kinemorph.simulation.results.event import Event
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report

PICTURE = 1.0 / 60.0  # [s] between two pictures
STATUS = 0.1  # [s] between two reports of the clock
MOST_STEPS = 1000  # slices that one message may ask for
REST = 0.05  # [s] that a paused run waits for messages at once
REACH = {"rad": math.pi, "m": 1.0}  # how far sliders reach on either side where a joint has no limits
EFFORT = 20.0  # [N m or N] and for inputs of other units


def live(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """Runs a model live until it is cancelled; it begins paused.

    `data` has the model (see `task_models`), and in `run` the name of the run of the file as which it begins, or None.
    """
    report.enter("read")
    given = task_model(data)
    report.enter("prepare")
    desk = Desk(LiveRun.planned(given, data.get("run") or None), report, given)
    report.enter("run")
    desk.tell_all()
    while True:
        desk.turn()


class Desk:
    """A live run, and the pipe on which commands come in and pictures go out."""

    def __init__(self, run: LiveRun, report: Report, model: System) -> None:
        self.run, self.report = run, report
        self._by_coordinates = _has_coordinates_of(model, run)
        self._picture_at = self._status_at = 0.0  # when these are due, by the clock [s]
        self._shown = -1.0  # the time of the run [s] in the last picture

    def turn(self) -> None:
        """Hears messages, computes what the clock asks for, and sends a picture where one is due."""
        wait = min(self.run.wait, REST)
        if self.run.t != self._shown:
            wait = min(wait, max(self._picture_at - time.monotonic(), 0.0))
        for message in self.report.heard(wait):
            self._hear(message)
        self.run.catch_up()
        now = time.monotonic()
        if now >= self._picture_at and self.run.t != self._shown:
            self._picture_at = max(self._picture_at + PICTURE, now)
            self._send_poses()
        if now >= self._status_at:
            self._status_at = now + STATUS
            self.tell_status()

    def tell_all(self) -> None:
        """Sends what pages need to know of the run in its present topology, a picture, and the status."""
        self.report.part({"live": "ready", **about(self.run)})
        self._send_poses()
        self.tell_status()

    def tell_status(self) -> None:
        """Sends the clock and the inputs."""
        status = self.run.status()._asdict()
        self.report.part({"live": "status", **status, "inputs": self.run.inputs, "commands": len(self.run.commands)})

    def _send_poses(self) -> None:
        self._shown = self.run.t
        if self._by_coordinates:
            q = np.asarray(self.run.run.stepper.state[1], dtype="<f4")
            self.report.part({"live": "poses", "t": self._shown, "coordinates": True}, q.tobytes())
            return
        parts = [np.ascontiguousarray(part, dtype="<f4").tobytes() for part in self.run.poses()]
        self.report.part({"live": "poses", "t": self._shown}, b"".join(parts))

    def _hear(self, message: Mapping[str, Any]) -> None:
        """Carries out a message; a wrong one is answered with a sentence."""
        given = {name: value for name, value in message.items() if name not in ("do", "id")}
        answer: dict[str, Any] = {"live": "done", "id": message.get("id"), "do": message.get("do")}
        try:
            answer |= self._carry_out(str(message.get("do")), given)
        except KinemorphError as error:
            answer["error"] = str(error)
        except (TypeError, ValueError) as error:  # an argument of a wrong type
            answer["error"] = f"'{message.get('do')}' cannot be done: {error}."
        if answer["id"] is not None or "error" in answer:
            self.report.part(answer)

    def _carry_out(self, do: str, given: dict[str, Any]) -> dict[str, Any]:
        """Does one thing; returns what the answer tells of it."""
        if do in CONTROLS:
            found = CONTROLS[do](self.run, **given) or {}
            if do == "reset":
                self.tell_all()
            self.tell_status()
            return found
        found = self.run.give(do, **given)
        if isinstance(found, Event):
            self.tell_all()
            return {"event": event_data(found)}
        return {}


def _has_coordinates_of(model: System, run: LiveRun) -> bool:
    """Whether the coordinates of a run are those of the joints in pages' pictures of a model, now and later.

    Modules may dock and undock, which changes joints; driven joints have no coordinates in a run.
    """
    shown, run_robot = model.robot, run.robot
    alike = shown.q_names == run_robot.q_names and shown.body_names == run_robot.body_names
    return alike and model.assembly is None and not shown.driven and len(run.run.stepper.state[1]) == shown.nq


def _kept(run: LiveRun, save: str) -> dict[str, Any]:
    """Saves what was recorded until now; returns what pages list of it."""
    from kinemorph.studio.tasks.run_tasks import result_data  # with it come pictures, which a live run does not need

    kept = run.trajectory()
    if len(kept) < 2:
        raise UnsupportedError("nothing has moved yet, so there is no run to keep. Let it run first.")
    kept.save(save)
    return {"kept": result_data(kept)}


CONTROLS: dict[str, Callable[..., dict[str, Any] | None]] = {
    "resume": lambda run: run.resume(),
    "pause": lambda run: run.pause(),
    "step": lambda run, count=1: run.step(min(int(count), MOST_STEPS)),
    "speed": lambda run, speed: run.set_speed(float(speed)),
    "reset": lambda run: run.reset(),
    "keep": _kept,
}
assert not CONTROLS.keys() & COMMANDS.keys()


def event_data(event: Event) -> dict[str, Any]:
    """An event as pages show it."""
    return {
        **{"t": event.t, "name": event.name, "kind": event.kind, "note": event.note},
        "numbers": [{"name": one.name, "value": one.value, "unit": one.unit} for one in event.numbers],
    }


def about(run: LiveRun) -> dict[str, Any]:
    """What pages need to know of a live run: its bodies, inputs with units and ranges, set points, ports."""
    points = {name for names in run.set_points.values() for name in names}
    columns = [column for column in run.run.stepper.plant.u if not column.name.startswith(f"{run.hand}.")]
    return {
        "bodies": list(run.bodies),
        "hand": run.hand,
        "inputs": [
            {"name": column.name, "unit": column.unit, "point": column.name in points, "low": low, "high": high}
            for column in columns
            for low, high in [_reach(run.system, column.name, column.unit, run.inputs[column.name])]
        ],
        "ports": run.ports(),
        "strengths": {body: run.strength_for(body) for body in run.bodies},
    }


def _reach(model: System, name: str, unit: str, value: float) -> tuple[float, float]:
    """The range of a slider: the limits of the joint that an input is named after, or a usual range about its value."""
    joint = _joint_of(model, name)
    if joint is not None and unit in REACH and joint.lower and joint.upper:
        low, high = float(joint.lower[0]), float(joint.upper[0])
        if math.isfinite(low) and math.isfinite(high) and low < high:
            return low, high
    if joint is not None and unit not in REACH and joint.effort and 0.0 < float(joint.effort[0]) < math.inf:
        return -float(joint.effort[0]), float(joint.effort[0])
    most = REACH.get(unit, EFFORT)
    return value - most, value + most


def _joint_of(model: System, name: str) -> Joint | None:
    """The joint with one axis that an input is named after, as "hip" or "goal.hip"; None where there is none."""
    joints = {joint.name: joint for joint in model.robot.joints if joint.nv == 1}
    return joints.get(name) or joints.get(name.rpartition(".")[2])
