"""What is done with finished runs: pictures, comparisons, audits and files. Runs are loaded from their files.

The data of a job list `results`, each with the model, the run or its plan, and its file `save`, as in `runs`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.analysis.audit import audit
from kinemorph.display import series
from kinemorph.display.faces.page import page_of
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.sampled_columns import between_samples
from kinemorph.display.scenes.scene import Series
from kinemorph.errors import UnsupportedError
from kinemorph.sheet import Sheet
from kinemorph.simulation.files.storage import load_trajectory
from kinemorph.simulation.results.run_sheet import columns_table
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.studio.tasks.run_tasks import prepared_by, result_data, send_piece
from kinemorph.studio.tasks.task_models import task_model
from kinemorph.studio.tasks.work import Report

_LAST: dict[str, tuple[float, Trajectory]] = {}  # the runs that were loaded last, by path, with the time of the file


def picture(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """Sends the scene of one run, or of several in one place, with chosen `columns` plotted below."""
    runs = loaded_runs(data, report)
    report("drawing the scene")
    columns = data.get("columns")
    scene = scene_of(runs, columns=columns, spread=0.0 if len(runs) > 1 else None, z_up=True)
    if data.get("difference") and len(runs) > 1:
        names = list(runs)
        differing = _differences(runs[names[0]], runs[names[1]], columns, scene.times)
        scene = replace(scene, series=tuple(differing))
    send_piece(report, scene, set(data.get("known", ())))
    return {"results": [one["number"] for one in data["results"]]}


def details(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """A run as pages list it, with the first, last, smallest and largest values of chosen columns."""
    (run,) = loaded_runs(data, report).values()
    names = [column.name for column in series.chosen(run, data.get("columns") or ())]
    return {**result_data(run), "figures": page_of(Sheet("Values of", run.name, [columns_table(run, names)]))}


def audited(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """The audit of a run: whether its samples obey the conservation laws."""
    (run,) = loaded_runs(data, report).values()
    report("checking conservation laws")
    found = audit(run)
    return {"passed": bool(found), "sheet": page_of(found.sheet())}


def compared(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """How far two runs are apart: for each column that both have, the largest difference, when, and their range.

    Columns are compared at the samples of the first run that lie within the second one.
    """
    first, second = loaded_runs(data, report).values()
    times = first.t[(first.t >= second.t[0]) & (first.t <= second.t[-1])]
    if not len(times):
        raise UnsupportedError("the two runs have no time in common, so that they cannot be compared. Choose others.")
    rows = []
    for one in _differences(first, second, data.get("columns"), times):
        known = np.isfinite(one.values)
        if known.any():
            at = int(np.nanargmax(np.abs(one.values)))
            name = one.name.removeprefix(DIFFERENCE)
            size = float(np.ptp(between_samples(first, name, times)[known]))
            rows.append(
                {
                    "name": name,
                    "unit": one.unit,
                    "largest": float(abs(one.values[at])),
                    "t": float(times[at]),
                    "range": size,
                }
            )
    return {"rows": rows, "bitwise": is_same(first, second), "samples": len(times)}


def is_same(first: Trajectory, second: Trajectory) -> bool:
    """Whether two runs have the same samples, bit by bit."""
    return all(
        np.array_equal(getattr(first, group), getattr(second, group), equal_nan=True) for group in ("t", "q", "v", "x")
    )


DIFFERENCE = "difference of "


def _differences(first: Trajectory, second: Trajectory, columns: Any, times: Any) -> list[Series]:
    """The second run minus the first, column by column, at times [s]; without columns, those of q and v."""
    wanted = columns or ("q", "v")
    common = [column for column in series.chosen(first, wanted) if column.name in second.columns]
    return [
        Series(
            "difference",
            f"{DIFFERENCE}{column.name}",
            column.unit,
            between_samples(second, column.name, times) - between_samples(first, column.name, times),
        )
        for column in common
    ]


def exported(data: dict[str, Any], report: Report) -> dict[str, Any]:
    """Writes a run as a file whose ending is in EXPORTS; returns its path."""
    (run,) = loaded_runs(data, report).values()
    target = Path(data["target"])
    write = EXPORTS.get(target.suffix)
    if write is None:
        raise UnsupportedError(f"'{target.name}' has an unknown ending; expected one of {', '.join(EXPORTS)}.")
    report(f"writing {target.name}")
    write(run, target, data)
    return {"path": str(target), "size": target.stat().st_size}


def _saved(run: Trajectory, target: Path, data: dict[str, Any]) -> None:
    run.save(target)


def _replayed(run: Trajectory, target: Path, data: dict[str, Any]) -> None:
    run.replay(target, columns=data.get("columns"))


def _filmed(run: Trajectory, target: Path, data: dict[str, Any]) -> None:
    run.animate(target)


# how a run is written, by the ending of the file
EXPORTS: dict[str, Callable[[Trajectory, Path, dict[str, Any]], None]] = {
    **dict.fromkeys((".npz", ".csv", ".h5", ".res"), _saved),
    ".html": _replayed,
    **dict.fromkeys((".gif", ".mp4"), _filmed),
}


def loaded_runs(data: dict[str, Any], report: Report) -> dict[str, Trajectory]:
    """The runs of a job by their labels."""
    report.enter("load")
    return {one["label"]: _loaded(one) for one in data["results"]}


def _loaded(result: dict[str, Any]) -> Trajectory:
    """A run with its equations. The last ones are kept, so that a change of columns does not load them again."""
    path = result["save"]
    changed = os.stat(path).st_mtime if os.path.exists(path) else 0.0
    if path in _LAST and _LAST[path][0] == changed:
        return _LAST[path][1]
    system = prepared_by(task_model(result), result)[0].system
    run = load_trajectory(path, system)
    while len(_LAST) > 1:
        del _LAST[next(iter(_LAST))]
    _LAST[path] = (changed, run)
    return run
