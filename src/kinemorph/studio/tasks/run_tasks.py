"""A planned run as work: its samples stream while it is computed, and it comes back as a file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.display.faces.page import page_of
from kinemorph.display.replays.packing import packed_bytes
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.growing import Frames, GrowingScene
from kinemorph.display.scenes.scene import Scene
from kinemorph.display.scenes.usual_view import replay_camera
from kinemorph.errors import told
from kinemorph.model.run_plans import RunPlan
from kinemorph.model.system import System
from kinemorph.simulation.planned_run import PreparedRun, plan_of, prepared_run
from kinemorph.simulation.results import run_notes
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import KEEPING, Cancelled, Report

MOST_EVENTS = 500  # events that a result lists
WHEN_CANCELLED = "cancelled; what was computed is saved"


def run(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """Carries out a run and saves it; returns what pages show of it.

    `data` has the model (see `task_models`), the name of a run in `run` or its options in `plan`, the file to write in
    `save`, names of columns to plot in `columns`, and the surfaces that pages have already in `known`.
    """
    report.enter("read")
    given = task_model(data)
    prepared, driven = prepared_by(given, data)
    known, columns = set(data.get("known", ())), data.get("columns")
    growing = GrowingScene(prepared.system, columns)
    report.enter("prepare")

    def progress(t: float, h: float, events: int) -> None:
        try:
            if report.phase != "run":
                report.enter("run")
            report("computing", fraction=min(max(t / prepared.until, 0.0), 1.0), t=t, step=h, events=events)
        except Cancelled:
            report.enter(KEEPING)
            raise KeyboardInterrupt from None  # ends the run, which keeps what it has

    is_watched = True

    def watch(part: Trajectory) -> None:
        nonlocal is_watched
        if part.outcome.kind != "unfinished":  # the integration has ended, or a part of it before a docking
            report.enter(KEEPING)
            report(WHEN_CANCELLED if report.cancelled else "saving and checking the samples", fraction=0.1)
        if not is_watched:
            return
        try:
            for piece in growing.grow(part):
                send_piece(report, piece, known, growing=True)
        except Exception as error:  # a picture that fails does not end a run
            is_watched = False
            warnings.warn(f"The picture of the run does not grow: {told(error)}.", stacklevel=1)

    quiet = prepared._replace(system=replace(prepared.system, source=""))  # notes name data that do not act
    found = quiet.run(progress=progress, watch=watch, save=data["save"])
    if not report.cancelled:  # a cancelled run ends at once; what has streamed stays in the picture
        report("drawing the picture", fraction=0.6)
        send_piece(report, scene_of(found, columns=columns, z_up=True), known)
    report.cancelled = found.outcome.kind == "interrupted"  # a cancel after the end has nothing to end
    report("adding up energies", fraction=0.9)
    notes = [f"{given.robot.name} {note.told()}" for note in prepared.notes]
    notes += run_notes.acting_joints(prepared.system, given, "{} = false in a run of the file")
    notes += run_notes.beyond_limits(prepared.system, found)
    notes += run_notes.inactive_notes(prepared.system, driven=driven)
    return {"path": data["save"], **result_data(found), "notes": notes + run_notes.cautions(found)}


def prepared_by(given: System, data: Mapping[str, Any]) -> tuple[PreparedRun, bool]:
    """The run of a job, ready to be carried out, and whether it has inputs."""
    plan = RunPlan(**data["plan"]) if data.get("plan") is not None else plan_of(given, data.get("run"))
    return prepared_run(given, plan), bool(plan.inputs)


def result_data(run: Trajectory) -> dict[str, Any]:
    """A run as pages list it: its sheet, and this as data with its first events; the columns that can be plotted."""
    sheet = run.sheet()
    summary = sheet.data()
    count = len(summary["events"])
    summary["events"] = summary["events"][:MOST_EVENTS]
    columns = [{"name": column.name, "unit": column.unit} for column in run.columns.values()]
    return {"summary": summary, "sheet": page_of(sheet), "columns": columns, "eventCount": count}


def send_piece(report: Report, piece: Scene | Frames, known: set[str], *, growing: bool = False) -> None:
    """Sends a scene, or frames that are appended to it. `known` are surfaces that pages have; sent ones are added.

    `growing` says that frames will follow.
    """
    if isinstance(piece, Scene):
        before = set(known)
        payload = packed_bytes(piece, replay_camera(piece, None, None), known)
        header = {"push": "scene", "growing": growing, "surfaces": sorted(known - before)}
        report.part(header, payload, anyway=True)
        return  # also where the run was cancelled: what it has computed is shown
    if not len(piece.times):
        return
    frame = {
        "push": "frames",
        "count": len(piece.times),
        "coordinates": piece.coordinates.shape[1],
        "series": len(piece.series),
        "events": [{"t": event.t, "name": event.name} for event in piece.events],
    }
    arrays = (np.ascontiguousarray(one, dtype="<f8") for one in (piece.times, piece.coordinates, piece.series))
    report.part(frame, b"".join(one.tobytes() for one in arrays), anyway=True)
