"""The panel Live: a run in real time, in which bodies are pulled, inputs and set points are set, modules dock."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.formats.toml.writer import written_elements
from kinemorph.model.elements.contact.contacts_from_shapes import contacts
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.elements.contact.unstopped import touched_grounds
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD
from kinemorph.simulation.live.commands import COMMANDS
from kinemorph.simulation.planned_run import missing_contacts, put_down
from kinemorph.studio.panels.editing import edit
from kinemorph.studio.panels.same_in_python import Code, assign, call, same, script
from kinemorph.studio.panels.start import initial_values, start_table
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session
from kinemorph.words import quoted

CONTROLS = ("resume", "pause", "step", "speed", "reset")  # beside the commands, which are recorded


@request("live")
def live(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """The live run of a document, if there is one, and the same in Python."""
    found = session.document(document)
    session.live_runs.warm_up()
    state = session.live_runs.state(document)
    if state["state"] == "on":
        session.live_runs.of(document).show(channel)
    return {**state, "runs": list(found.data.get("runs") or {}), "same": in_python(Path(document).name)}


@request("live_start")
def live_start(session: Session, channel: Channel, *, document: str, run: str = "") -> dict[str, Any]:
    """Starts a live run of a document, paused; `run` names a run of the file whose method and start it has."""
    session.model(document)  # a document that has never been a model is refused here
    session.pictures.update(session.document(document), session.pages_of(document), whole=True)
    return session.live_runs.start(document, run)


@request("live_stop")
def live_stop(session: Session, channel: Channel, *, document: str) -> None:
    """Ends the live run of a document."""
    session.live_runs.stop(document)


@request("live_do")
def live_do(session: Session, channel: Channel, *, document: str, do: str, given: dict[str, Any] | None = None) -> Any:
    """Does something to the live run, and waits until it is done: a control, or a command that is recorded."""
    if do not in (*CONTROLS, *COMMANDS):
        raise UnsupportedError(f"do is {do[:80]!r}; expected one of {quoted((*CONTROLS, *COMMANDS))}.")
    answer = session.live_runs.of(document).ask({**(given or {}), "do": do})
    return {"event": answer.get("event")}


@request("live_pull")
def live_pull(
    session: Session,
    channel: Channel,
    *,
    document: str,
    body: str,
    point: list[Any],
    target: list[Any],
    strength: float | None = None,
) -> None:
    """Pulls a body of the live run, or moves the target; it does not wait, since targets follow the pointer."""
    message = {"do": "pull", "body": body, "point": point, "target": target, "strength": strength}
    session.live_runs.of(document).tell(message)


@request("live_keep")
def live_keep(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Stores what was recorded until now among the results of the document."""
    run = session.live_runs.of(document)
    kept = session.results.add(document, "live", run.name, lambda save: run.ask({"do": "keep", "save": save})["kept"])
    return kept.as_data()


@request("falls")
def falls(session: Session, channel: Channel, *, document: str) -> str:
    """Why a model falls through the floor that the picture shows, as a sentence; empty if it does not."""
    model = session.document(document).last_model
    if model is None or not model.robot.is_free or not any(model.robot.gravity):
        return ""
    if touched_grounds(model.elements) or missing_contacts(model):
        return ""
    return f"{model.name} touches nothing, so it falls through the floor of the picture."


@request("put_on_floor")
def put_on_floor(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Gives a model contacts with the floor z = 0, and puts it there."""
    commands = floor_commands(session.model(document))
    command = {"verb": "together", "label": "put it on the floor", "commands": commands}
    state: dict[str, Any] = edit(session, channel, document=document, command=command)
    return state


def floor_commands(system: System) -> list[dict[str, Any]]:
    """The commands that put a robot on the floor z = 0: contacts of its shapes at the ends of limbs and at the base.

    Docked modules have a setting for this. Raises UnsupportedError for a robot without shapes.
    """
    if system.assembly is not None:
        return [{"verb": "ground", "on": True}]
    robot = system.robot
    bases = {joint.child for joint in robot.joints if joint.parent == WORLD}
    ends = bases | set(robot.body_names) - {joint.parent for joint in robot.joints}
    bodies = (replace(one, collisions=one.shapes if one.name in ends else ()) for one in robot.bodies)
    touching = contacts(replace(system, robot=replace(robot, bodies=tuple(bodies))), ground=Plane())
    if not touching:
        raise UnsupportedError(
            f"'{system.name}' has no shapes that could touch the floor. Add solids to its bodies in the panel Model."
        )
    data = tomllib.loads(written_elements(touching))["elements"]
    added = [{"verb": "add", "path": ["elements", name], "value": value} for name, value in data.items()]
    lifted = put_down(replace(system, elements=(*system.elements, *touching)), initial_values(system))
    return [*added, {"verb": "set", "path": ["settings", "q"], "value": start_table(robot, np.array(lifted))}]


def in_python(file: str) -> dict[str, Any]:
    """What the panel does, in Python."""
    return same(
        script(
            "import time",
            "import kinemorph as km",
            "from kinemorph.live import LiveRun",
            assign("live", call("LiveRun.planned", Code(call("km.load", file)))),
            call("live.resume"),
            "while live.t < 10.0:",
            "    live.catch_up()",
            "    time.sleep(min(live.wait, 1 / 60))",
            assign("run", call("live.trajectory")),
        )
    )
