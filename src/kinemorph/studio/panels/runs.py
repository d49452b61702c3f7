"""The panel Runs: the runs of a file, those that are computed now, and what is done with their results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from kinemorph.display.faces.page import page_of
from kinemorph.display.serving.channel import Channel
from kinemorph.display.tables.element_tables import element_rows
from kinemorph.errors import UnsupportedError
from kinemorph.model.elements import CoupledMaps
from kinemorph.model.parameter import evaluate
from kinemorph.model.system import Settings
from kinemorph.simulation.integrators.methods import methods_sheet
from kinemorph.studio.documents import new_files
from kinemorph.studio.jobs.page_tasks import Made
from kinemorph.studio.jobs.run_results import RunResult
from kinemorph.studio.panels.same_in_python import assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session
from kinemorph.words import listed, quoted

BRIEF = 1.0  # [s], the longest default run of a file that says nothing about runs
MEDIA = {
    ".npz": "application/octet-stream",
    ".csv": "text/csv",
    ".h5": "application/x-hdf5",
    ".res": "text/plain",
    ".html": "text/html",
    ".gif": "image/gif",
    ".mp4": "video/mp4",
}


@request("runs")
def runs_of(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """The runs of a document, the results so far, and the methods to choose from."""
    found, methods = session.document(document), methods_sheet()
    return {
        "revision": found.revision,
        "runs": list(found.data.get("runs") or {}),
        "editable": found.is_toml,
        "default": default_plan(session, document),
        "results": [run.as_data() for run in session.results.of(document)],
        "methods": methods.data(),
        "methodSheet": page_of(methods),
        "endings": list(MEDIA),
    }


@request("acting")
def acting(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """The elements of a model that act in its runs: gaits, controllers, drives, contacts, with what they act on."""
    names = ("name", "kind", "acts_on", "drives", "reads")
    system = session.model(document)
    clustered = {one.name for one in system.elements if isinstance(one, CoupledMaps)}
    return {
        "elements": [
            {name: row.get(name) or ([] if name != "name" else "") for name in names}
            | {"clusters": row.get("name") in clustered}
            for row in element_rows(system)
        ]
    }


@request("plot_clusters")
def plot_clusters(session: Session, channel: Channel, *, document: str, element: str) -> dict[str, Any]:
    """Plots the clusters of a gait of coupled maps over the coupling; the picture is the file of the task."""
    system = session.model(document)
    gait = next((one for one in system.elements if one.name == element), None)
    if not isinstance(gait, CoupledMaps):
        known = [one.name for one in system.elements if isinstance(one, CoupledMaps)]
        raise UnsupportedError(
            f"element is {element[:80]!r}; expected a gait of coupled maps: {listed(known) or 'none'}."
        )
    given = {key: float(evaluate(getattr(gait, key)[0])) for key in ("r", "epsilon")}
    if any(float(evaluate(value)) != given[key] for key in given for value in getattr(gait, key)):
        raise UnsupportedError(
            f"the maps of '{element}' have different values of r or epsilon, so that no plot over one coupling shows "
            "them. Give all maps the same values."
        )
    maps = {"map": gait.map, "coupling": gait.coupling, **given, "count": max(len(gait.joints), 1), "seed": gait.seed}
    told = same(
        script(
            "from kinemorph.elements import plot_clusters", "", call("plot_clusters", **maps, path=f"{element}.png")
        ),
    )
    name = f"{_stem(document, element)}-clusters.png"
    return session.tasks.start(channel, "plot_clusters", {"maps": maps, "name": name}, lambda made: {"same": told})


@request("start_run")
def start_run(
    session: Session,
    channel: Channel,
    *,
    document: str,
    run: str = "",
    columns: list[Any] | None = None,
) -> dict[str, Any]:
    """Starts a run of the file by its name, or the default run without one. It waits where others are computed."""
    plan = _checked(session, document, run)
    return session.results.start(document, run, plan, _names(columns)).as_data()


@request("cancel_run")
def cancel_run(session: Session, channel: Channel, *, number: int) -> None:
    """Cancels a run; it keeps its samples so far."""
    session.results.cancel(number)


@request("remove_run")
def remove_run(session: Session, channel: Channel, *, number: int) -> None:
    """Deletes the result of a run."""
    session.results.remove(number)


@request("same_run")
def same_run(session: Session, channel: Channel, *, document: str, run: str = "") -> dict[str, str]:
    """The Python and the command that carry out a run of the file."""
    plan = _checked(session, document, run)
    name = Path(document).name
    lines = ["import kinemorph as km", "", assign("system", call("km.load", name))]
    if run:
        lines.append(assign("run", call("system.run", run)))
    elif plan:
        lines.append(assign("run", call("system.run", plan)))
    else:
        lines.append(assign("run", call("system.run")))
    lines += [call("run.save", f"{_stem(name, run)}.npz")]
    shell = command("simulate", name, run=run or None, **(plan or {}), save=f"{_stem(name, run)}.npz")
    return same(script(*lines), shell)


# ── results ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@request("show_run")
def show_run(
    session: Session,
    channel: Channel,
    *,
    numbers: list[Any],
    columns: list[Any] | None = None,
    difference: bool = False,
) -> dict[str, Any]:
    """Shows one run on the page, or several in one place, with columns plotted below, or their difference."""
    found = [session.results.run(number) for number in numbers]
    known = session.pictures.common_surfaces([channel])
    data = {**_sources(found), "columns": _names(columns), "difference": difference, "known": sorted(known)}

    def show(header: Any, payload: bytes) -> None:
        about = {"document": found[0].document, "revision": found[0].revision, "run": numbers[0]}
        session.pictures.pass_on([channel], {**header, **about}, payload)

    return session.tasks.start(channel, "run_picture", data, on_part=show)


@request("run_figures")
def run_figures(
    session: Session,
    channel: Channel,
    *,
    number: int,
    columns: list[Any],
) -> dict[str, Any]:
    """The first, last, smallest and largest values of chosen columns of a run."""
    return session.tasks.start(
        channel, "run_details", {**_sources([session.results.run(number)]), "columns": _names(columns)}
    )


@request("audit_run")
def audit_run(session: Session, channel: Channel, *, number: int) -> dict[str, Any]:
    """Whether a run obeys the conservation laws."""
    return session.tasks.start(channel, "run_audit", _sources([session.results.run(number)]))


@request("compare_runs")
def compare_runs(
    session: Session,
    channel: Channel,
    *,
    numbers: list[Any],
    columns: list[Any] | None = None,
) -> dict[str, Any]:
    """How far two runs are apart, column by column."""
    found = [session.results.run(number) for number in numbers]
    if len(found) != 2:
        raise UnsupportedError(f"{len(found)} runs are chosen; expected two to compare. Choose another one.")
    return session.tasks.start(channel, "run_comparison", {**_sources(found), "columns": _names(columns)})


@request("export_run")
def export_run(
    session: Session,
    channel: Channel,
    *,
    number: int,
    ending: str,
    columns: list[Any] | None = None,
) -> dict[str, Any]:
    """Writes a run as a file and offers it for download: numbers, a replay page or a film."""
    found = session.results.run(number)
    if ending not in MEDIA:
        raise UnsupportedError(f"the ending is '{ending}'; expected one of {quoted(MEDIA)}.")
    target = session.results.folder / f"{number}-export{ending}"

    def offered(made: Made) -> dict[str, Any]:
        name = f"{_stem(found.document, found.run)}-{found.number}{ending}"
        content = target.read_bytes()
        target.unlink(missing_ok=True)
        return session.offers.add(content, MEDIA[ending], name)

    data = {**_sources([found]), "target": str(target), "columns": _names(columns)}
    return session.tasks.start(channel, "run_export", data, offered)


@request("keep_run")
def keep_run(session: Session, channel: Channel, *, number: int) -> dict[str, str]:
    """Saves a run as a file of the project, where reports and other programs find it; returns the file's name."""
    found = session.results.run(number)
    found.source()  # raises where there is nothing to save
    name = new_files.free_name(session.project, f"{_stem(found.document, found.run)}-{number}", ".npz")
    return {"name": new_files.add_new(session.project, name, found.path.read_bytes())}


def default_plan(session: Session, document: str) -> dict[str, Any] | None:
    """The plan of the default run: short where the file says nothing about its duration; None for that of the file."""
    model = session.document(document).last_model
    if model is not None and model.settings.time != Settings().time:
        return None
    return {"time": BRIEF}


def _checked(session: Session, document: str, run: str) -> dict[str, Any] | None:
    """The plan of a run without a name; for a name, None, after a check that the file has it."""
    names = session.document(document).data.get("runs") or {}
    if run and run not in names:
        known = f"expected one of {quoted(names)}" if names else "the file has none"
        raise UnsupportedError(f"there is no run '{run}' in '{document}'; {known}. Add it.")
    return None if run else default_plan(session, document)


def _names(columns: list[Any] | None) -> list[str] | None:
    """Columns that a page names; None for those that are plotted by default."""
    if columns is not None and not all(isinstance(name, str) for name in columns):
        raise UnsupportedError(f"columns are {str(columns)[:80]}; expected names of columns. Reload the page.")
    return columns


def _sources(found: list[RunResult]) -> dict[str, Any]:
    """What workers need to load runs."""
    if not found:
        raise UnsupportedError("no run is chosen; expected at least one. Choose a result in the list.")
    return {"results": [run.source() for run in found]}


def _stem(document: str, run: str) -> str:
    """A name for files of a run, without characters that files cannot have."""
    words = [Path(document).stem, run]
    return "-".join(re.sub(r"[^\w-]+", "_", word) for word in words if word)
