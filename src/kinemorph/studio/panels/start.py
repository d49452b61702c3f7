"""The panel Start: the configuration at which runs begin, by numbers, from the picture, or from an equilibrium.

It is stored in [settings], where all runs find it, in one run, or in a start [starts.NAME]. Loops are closed before it
is stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinemorph.analysis.loops.named_coordinates import NamedCoordinates
from kinemorph.display.serving.channel import Channel
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.mechanics.constraints.newton_closing import assembled
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.studio.jobs.page_tasks import document_data
from kinemorph.studio.panels.editing import edit
from kinemorph.studio.panels.same_in_python import Code, assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session
from kinemorph.words import listed

LONGEST = 300.0  # [s] that the search for an equilibrium may take
NAMED = ("runs", "starts")  # tables of tables that may have a configuration
SAME = 1e-12  # [rad or m] difference from the value without an entry, below which a coordinate is left out


@request("start")
def start(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """The coordinates of a model: names, units, limits, and their values at the start of runs."""
    system = session.model(document)
    robot, q = system.robot, initial_values(system)
    limits = zip(robot.q_lower, robot.q_upper, strict=True)
    data = session.document(document).data
    return {
        "coordinates": [
            {"name": name, "unit": unit, "value": value, "lower": _finite(low), "upper": _finite(high)}
            for name, unit, value, (low, high) in zip(robot.q_names, robot.q_units, q, limits, strict=True)
        ],
        "places": ["settings", *(f"{key}.{name}" for key in NAMED for name in data.get(key) or ())],
        "starts": {name: dict(zip(robot.q_names, system.start(name).q, strict=True)) for name in system.starts},
        "loops": len(robot.loops),
        "same": _same(document, system),
    }


@request("close_start")
def close_start(
    session: Session,
    channel: Channel,
    *,
    document: str,
    q: dict[str, Any],
    held: list[Any] | None = None,
) -> dict[str, float]:
    """A configuration near `q`, given by name, in which all loops are closed; the joints `held` keep their values."""
    robot = session.model(document).robot
    return dict(zip(robot.q_names, _closed(robot, _values(session.model(document), q), held or []), strict=True))


@request("equilibrium_start")
def equilibrium_start(
    session: Session,
    channel: Channel,
    *,
    document: str,
    q: dict[str, Any] | None = None,
    stable: bool = True,
) -> dict[str, Any]:
    """A configuration at rest near `q`, computed by a worker: its coordinates by name, and a sentence about it."""
    system = session.model(document)
    guess = _values(system, q or {}).tolist()
    data = document_data(session, document) | {"q": guess, "stable": stable}
    result = session.workers.ask("find_equilibrium", data, LONGEST)
    rest = {row["name"]: row["value"] for row in result["q"]}
    return {"found": result["converged"], "q": rest, "message": result["message"]}


@request("store_start")
def store_start(
    session: Session,
    channel: Channel,
    *,
    document: str,
    q: dict[str, Any],
    place: str = "settings",
) -> dict[str, Any]:
    """Stores a configuration as the start of runs: in [settings], in a run or in a start. Loops are closed first."""
    system = session.model(document)  # other edits do not wait until it is read and its loops are closed
    values = _values(system, q)
    if system.robot.loops or system.robot.couplings:
        values = np.array(_closed(system.robot, values, []))
    table = start_table(system.robot, values)
    with session.edits:
        data = session.document(document).data
        path = place.split(".", 1)
        if path != ["settings"] and not (path[0] in NAMED and path[-1] in (data.get(path[0]) or {})):
            raise UnsupportedError(
                f"the place of the start is '{place}', expected settings, or a run or start of the file."
            )
        command: dict[str, Any] = {"verb": "set", "path": [*path, "q"], "value": table}
        state: dict[str, Any] = edit(session, channel, document=document, command=command)
        return state


def _same(document: str, system: System) -> dict[str, str]:
    """The Python and the command that search for an equilibrium near the start."""
    load = assign("system", call("km.load", document))
    search = assign("found", call("km.equilibrium", Code("system"), stable=True))
    python = script("import kinemorph as km", "", load, search, "print(found.message, found.q)")
    return same(python, command("analyze", document, "equilibrium", stable=True))


def initial_values(system: System) -> list[float]:
    """The configuration at which runs of a system begin, shape (nq,)."""
    return list(map(float, system.settings.q or initial_configuration(system.robot)))


def _finite(value: float) -> float | None:
    """A limit, or None where there is none."""
    return float(value) if math.isfinite(value) else None


def _values(system: System, q: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """A configuration, shape (nq,), from values by name: numbers in SI, or texts with units.

    Coordinates that are not named have their initial values. Raises KinemorphError for a wrong name or value.
    """
    named = NamedCoordinates(system.robot, np.array(initial_values(system)))
    return _normal(system.robot, named.configuration(q))


def _normal(robot: Robot, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A configuration whose quaternions have length 1."""
    for joint in robot.joints:
        for first in joint.table.quaternions:
            at = robot.q_slice(joint.name).start + first
            length = float(np.linalg.norm(values[at : at + 4]))
            if length > 0.0:
                values[at : at + 4] /= length
    return values


def _closed(robot: Robot, values: np.ndarray[Any, Any], held: list[Any]) -> list[float]:
    """A configuration near `values` with closed loops. Raises ModelError if there is none."""
    kept = [name for joint in robot.joints for name in joint.q_names if joint.name in held or name in held]
    found = assembled(robot, values.tolist(), kept) if robot.loops or robot.couplings else values
    if found is None:
        with_held = f" with {listed(kept)} at the given values" if kept else ""
        raise ModelError(f"no configuration near the given one closes the loops{with_held}. Move the joints elsewhere.")
    return [float(value) for value in found]


def start_table(robot: Robot, values: np.ndarray[Any, Any]) -> dict[str, float]:
    """The entries of a configuration by name; those of a tree that have their usual values are left out."""
    usual = initial_configuration(robot)
    whole = bool(robot.loops or robot.couplings)
    turning = {
        robot.q_slice(joint.name).start + first + k
        for joint in robot.joints
        for first in joint.table.quaternions
        for k in range(4)
    }
    changed = {i for i in range(robot.nq) if abs(values[i] - usual[i]) > SAME}
    changed |= turning if changed & turning else set()
    return {name: float(values[i]) for i, name in enumerate(robot.q_names) if whole or i in changed}
