"""What a user does to a live run, as data. A command is a dict that JSON can hold:

    {"t": 1.25, "do": "pull", "body": "tool", "point": [0, 0, 0.1], "target": [0.4, 0, 0.8], "strength": None}

`t` [s] is the time of the run at which the command was given, and `do` a row of COMMANDS. The commands of a run, with
its options, are all that it depends on: a live run advances in slices of equal length, whatever the clock does, and
commands act between two slices. `reproduced` carries them out again, with the same numbers to the last bit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.simulation.files.run_record import LIVE
from kinemorph.words import did_you_mean, quoted

if TYPE_CHECKING:
    from kinemorph.simulation.results.trajectory import Trajectory

# what can be done, with the names of the arguments; `LiveRun` has a method for each
COMMANDS: dict[str, tuple[str, ...]] = {
    "set_inputs": ("values",),
    "pull": ("body", "point", "target", "strength"),
    "release": (),
    "dock": ("a", "side_a", "b", "side_b", "turn", "distance", "angle"),
    "undock": ("module", "side"),
    "set_slice": ("length",),
}


def check_command(do: Any, given: Mapping[str, Any]) -> None:
    """Raises UnsupportedError for a command that does not exist, or an argument that it does not have."""
    if do not in COMMANDS:
        hint = did_you_mean(str(do), COMMANDS) or f" Known: {quoted(COMMANDS)}."
        raise UnsupportedError(f"do is {do!r}; expected a command of a live run.{hint}")
    unknown = [name for name in given if name not in COMMANDS[do]]
    if unknown:
        raise UnsupportedError(
            f"command '{do}' is given '{unknown[0]}'; expected some of {quoted(COMMANDS[do]) or 'no arguments'}."
        )


def record_text(options: Mapping[str, Any], commands: Sequence[Mapping[str, Any]]) -> str:
    """The record of a live run as JSON: its options and its commands."""
    return json.dumps({"options": options, "commands": list(commands)})


def record_of_run(run: Trajectory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The options and the commands of a recorded live run; raises ModelError where the run was not live."""
    text = run.settings.get(LIVE)
    if not isinstance(text, str):
        raise ModelError(
            f"run '{run.name}' has no record of commands: it was not a live run. Simulate its model again instead."
        )
    record = json.loads(text)
    return record["options"], record["commands"]


def reproduced(model: Any, run: Trajectory) -> Trajectory:
    """The live run `run` of a model once more, from its options and commands, as fast as it can be computed."""
    from kinemorph.simulation.live.live_run import LiveRun

    options, commands = record_of_run(run)
    again = LiveRun(model, **options)
    for command in commands:
        given = {name: value for name, value in command.items() if name not in ("t", "do")}
        again.advance_to(command["t"])
        again.give(command["do"], **given)
    again.advance_to(float(run.t[-1]))
    return again.trajectory()
