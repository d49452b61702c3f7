"""A gait with which the organism of a document crawls, as work: waves are tried in runs until one of them moves it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tomlkit

from kinemorph.display.charts.crawl_pictures import center_of_mass_path
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.planned_run import run_planned
from kinemorph.studio.assembling.crawl_gait import NAME, WAVES, crawl_commands
from kinemorph.studio.documents.commands import command_of
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report

WELL = 0.05  # [m/s] of an organism that crawls well, after which no further wave is tried
LEAST = 0.02  # [m/s] of one that crawls at all


def choose_crawl(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """The commands that make an organism crawl, as one command, and how far it came in `seconds`: `way` [m].

    `data` has the model, see `task_models`. Raises UnsupportedError where its modules cannot crawl.
    """
    report.enter("read")
    system = task_model(data)
    if system.assembly is None or not system.robot.is_free:
        what = "has no docked modules" if system.assembly is None else "is fixed to the world"
        raise UnsupportedError(f"'{system.name}' {what}, so it cannot crawl. Dock modules, with the root 'free'.")
    report.enter("run")
    present = tomlkit.parse(data["text"]).unwrap()
    best: dict[str, Any] = {"way": 0.0}
    for k, wave in enumerate(WAVES):
        commands = crawl_commands(system.assembly, wave, present)
        if not commands:
            continue
        report(f"trying a wave along {wave.along}, {wave.height:g} deg high", fraction=k / len(WAVES))
        row, fields = command_of({"verb": "together", "label": "make it crawl", "commands": commands})
        text = row.patch(tomlkit.parse(data["text"]), **fields)
        moving = task_model({**data, "text": text})
        run = run_planned(moving, NAME, progress=lambda t, h, events: report.check())
        path = center_of_mass_path(moving.robot, run.q[[0, -1]])
        seconds, way = float(run.t[-1]), float(np.hypot(*(path[1] - path[0])[:2]))
        if run.outcome.ok and way > best["way"]:
            command = {"verb": row.verb, **fields}
            best = {"command": command, "run": NAME, "way": way, "seconds": seconds}
            if way > WELL * seconds:
                break
    if best["way"] == 0.0 or best["way"] < LEAST * best["seconds"]:
        raise UnsupportedError(
            f"none of the {len(WAVES)} gaits that were tried moves '{system.name}'; it needs two modules with level "
            "hinges in one direction, such as Backbones (B) in a row. Add some, or turn modules."
        )
    return best
