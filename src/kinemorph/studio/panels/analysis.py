"""The panel Analysis: verification, mobility, equilibrium, poles, and mode shapes that move in the picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.studio.jobs.page_tasks import Made, document_data
from kinemorph.studio.panels.same_in_python import Code, assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session

PHASES = 48  # poses of one period of a mode
PERIOD = 2.0  # time that one period of a mode takes in the picture [s]
REPEATS = 5  # periods that are played
MOST_STATES = 200


@request("verify_model")
def verify_model(
    session: Session,
    channel: Channel,
    *,
    document: str,
    formulation: str = "newton_euler",
    states: int = 8,
    seed: int = 0,
) -> dict[str, Any]:
    """Checks the derived equations against laws of mechanics, other formulations and interpreted code."""
    if not 1 <= states <= MOST_STATES or seed < 0:
        raise UnsupportedError(
            f"states is {states} and seed is {seed}; expected 1 to {MOST_STATES} states and a seed of 0 or more."
        )
    given = {"formulation": formulation, "states": states, "seed": seed}
    named = {key: value for key, value in given.items() if value != {"states": 8, "seed": 0}.get(key, "newton_euler")}
    by = named.pop("formulation", None)
    verified = call("km.verify", Code("model" if by is None else call("km.derive", Code("model"), by)), **named)
    told = _same(document, f"print({verified})", command("verify", Path(document).name, formulation=by, **named))
    return _started(session, channel, "verify_model", document, given, told)


@request("count_freedoms")
def count_freedoms(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Counts the degrees of freedom that loops and coupled joints leave, and names redundant constraint rows."""
    found = call("km.loops.mobility", Code("model"))
    told = _same(document, f"print({found})", command("analyze", Path(document).name, "mobility"))
    return _started(session, channel, "count_freedoms", document, {"q": None}, told)


@request("find_equilibrium")
def find_equilibrium(session: Session, channel: Channel, *, document: str, stable: bool = False) -> dict[str, Any]:
    """Searches for an equilibrium near the initial state."""
    found = call("km.equilibrium", Code("model"), Code("model.settings.q or None"), stable=stable or None)
    told = _same(
        document, f"print({found})", command("analyze", Path(document).name, "equilibrium", stable=stable or None)
    )
    return _started(session, channel, "find_equilibrium", document, {"q": None, "stable": stable}, told, keep=True)


@request("find_poles")
def find_poles(
    session: Session, channel: Channel, *, document: str, low: float | None = None, high: float | None = None
) -> dict[str, Any]:
    """Poles, mode shapes and their energies about the equilibrium near the initial state.

    `low` and `high` are the frequencies to list [Hz]; both or none are given.
    """
    if (low is None) != (high is None):
        raise UnsupportedError("one limit of the frequencies is given; expected both or none. Fill in the other one.")
    window = None if low is None or high is None else [low, high]
    lines = [
        assign("rest", call("km.equilibrium", Code("model"), Code("model.settings.q or None"))),
        f"print({call('km.poles', Code('model'), Code('rest.q'), window=window)})",
    ]
    shell = command("analyze", Path(document).name, "modes", window=None if window is None else f"{low:g}:{high:g}")
    told = _same(document, "\n".join(lines), shell)
    return _started(session, channel, "find_poles", document, {"window": window}, told, keep=True)


@request("show_mode")
def show_mode(session: Session, channel: Channel, *, document: str, task: int, number: int) -> dict[str, Any]:
    """Shows a mode shape as a motion in the picture of the page; `number` counts from 1."""
    from kinemorph.display.painting.draw_modes import swung
    from kinemorph.display.scenes.building import staged
    from kinemorph.display.scenes.figures import figure_of

    found = session.tasks.kept(task)
    shapes = found.get("shapes", [])
    if not 1 <= number <= len(shapes):
        raise UnsupportedError(f"there is no mode {number}; expected a mode number from 1 to {len(shapes)}.")
    robot, shape = (model := session.model(document)).robot, shapes[number - 1]
    if (len(found["q"]), len(shape["real"])) != (robot.nq, robot.nv):
        raise UnsupportedError("the model has changed since its poles were computed. Compute them again.")
    phases = [2.0 * math.pi * k / PHASES for k in range(PHASES)]
    motion = np.array(shape["real"]) + 1j * np.array(shape["imaginary"])
    units = [coordinate["unit"] for coordinate in found["coordinates"]]
    period = swung(robot, np.array(found["q"]), motion, units, phases)
    rows = np.concatenate([period] * REPEATS + [period[:1]])
    times = np.linspace(0.0, PERIOD * REPEATS, len(rows))
    title = f"mode {found['captions'][number - 1]}"
    scene = staged([figure_of(robot, rows)], times, [model.elements], title)
    session.pictures.send(channel, scene, {"document": document, "revision": -1, "motion": "mode"})
    return {"title": title}


@request("show_equilibrium")
def show_equilibrium(session: Session, channel: Channel, *, document: str, task: int) -> dict[str, Any]:
    """Shows the robot at an equilibrium that was found."""
    from kinemorph.display.scenes.building import scene_of

    q = session.tasks.kept(task).get("configuration", [])
    model = session.model(document)
    if len(q) != model.robot.nq:
        raise UnsupportedError("the model has changed since its equilibrium was found. Search for it again.")
    session.pictures.send(channel, scene_of(model, q=q, z_up=True), {"document": document, "revision": -1})
    return {"q": q}


@request("show_model")
def show_model(session: Session, channel: Channel, *, document: str) -> None:
    """Shows the model again as it is in the file, in place of a mode or an equilibrium."""
    session.pictures.update(session.document(document), [channel], whole=True)


def _started(
    session: Session,
    channel: Channel,
    kind: str,
    document: str,
    given: dict[str, Any],
    told: dict[str, str],
    *,
    keep: bool = False,
) -> dict[str, Any]:
    """Starts an analysis; the page gets its result with the same in Python. `keep` keeps it for `show_mode`."""

    def finish(made: Made) -> dict[str, Any]:
        if keep:
            session.tasks.keep(made)
        shown = {key: value for key, value in made.data.items() if key not in ("shapes", "coordinates")}
        return {**shown, "task": made.task, "same": told}

    return session.tasks.start(channel, kind, document_data(session, document) | given, finish)


def _same(document: str, line: str, shell: str) -> dict[str, str]:
    """The Python that loads the document and then does what `line` says, and the command."""
    return same(
        script("import kinemorph as km", "", assign("model", call("km.load", Path(document).name)), line), shell
    )
