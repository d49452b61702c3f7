"""The verb `study`: what a file of results has, its pictures and exports, and the rest of an interrupted study."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import Json, flag, option, out, put, reported_warnings, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.study_options import WorkOptions
from kinemorph.cli.output_files import check_place, wrote
from kinemorph.errors import KinemorphError
from kinemorph.words import listed, quoted

if TYPE_CHECKING:
    from kinemorph.studies.statistics.monte_carlo import MonteCarlo
    from kinemorph.studies.statistics.sensitivity import Sensitivity
    from kinemorph.studies.sweeps.study import Study

COUNT = 10  # items that are listed
TABLES = (".csv", ".parquet")
PAGES = (".html", ".htm")


class What(StrEnum):
    """What is wanted of a study."""

    status = "status"
    best = "best"
    failed = "failed"
    resume = "resume"
    export = "export"
    plot = "plot"
    show = "show"


# the options of each; --json and what is named by no option apply to all
USED: dict[str, tuple[What, ...]] = {
    "measure": (What.best, What.plot, What.show),
    "largest": (What.best, What.plot, What.show),
    "count": (What.best, What.failed),
    "output": (What.export, What.plot, What.show),
    "kind": (What.plot,),
    "x": (What.plot,),
    "y": (What.plot,),
    "where": (What.plot,),
    "item": (What.show,),
    "open": (What.show,),
    "workers": (What.resume,),
    "limit_seconds": (What.resume,),
    "limit_memory": (What.resume,),
    "recompute": (What.resume,),
    "quiet": (What.resume,),
}


@verb
def study(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of results: .study.", show_default=False)],
    what: Annotated[
        What,
        typer.Argument(
            metavar="WHAT",
            help="status: how many items are done, failed and waiting; best: items with the best measure; failed: "
            "items that failed, and why; resume: compute the items that wait; export: write a table; plot: write a "
            "picture; show: write a page of the study, or the replay of an item.",
        ),
    ] = What.status,
    measure: Annotated[
        str | None,
        option("best, plot, show: the measure.", "NAME", default="the first one; of best the only one"),
    ] = None,
    largest: Annotated[
        bool, flag("--largest", "best, plot, show: the best items have the largest measure, not the smallest.")
    ] = False,
    count: Annotated[int | None, option("best, failed: how many items to list.", default=str(COUNT), min=1)] = None,
    output: Annotated[
        Path | None,
        option(
            "export: .csv or .parquet; plot: .png, .svg or .pdf; show: .html.",
            "PATH",
            default="export: prints CSV; plot, show: FILE with the ending .png, .html",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        option(
            "plot: curve, map, parallel, convergence, histogram or sensitivity.", "KIND", default="by what is varied"
        ),
    ] = None,
    x: Annotated[str | None, option("plot: the part along the horizontal axis.", "PART")] = None,
    y: Annotated[str | None, option("plot: the part along the vertical axis of a map.", "PART")] = None,
    where: Annotated[
        list[str] | None, option("plot: only items with this value of a part. May be repeated.", "PART=VALUE")
    ] = None,
    item: Annotated[int | None, option("show: the replay of this item.", "NUMBER", min=0)] = None,
    open: Annotated[bool, flag("--open", "show: open the page in the browser.")] = False,
    *,
    work: WorkOptions,
    as_json: Json = False,
) -> None:
    """Tells what a study has found, draws and exports it, and goes on with it.

    Examples: `kinemorph study gaits.study`, `kinemorph study gaits.study best --count 3 --measure distance`,
    `kinemorph study gaits.study plot --kind map --output map.png`, `kinemorph study gaits.study show --item 7 --output
    best.html`, `kinemorph study gaits.study resume --workers 4`.
    """
    given: dict[str, Any] = {"measure": measure, "largest": largest, "count": count, "output": output, "kind": kind}
    given |= {"x": x, "y": y, "where": where, "item": item, "open": open}
    given |= {name: getattr(work, name) for name in USED if hasattr(work, name)}
    for name, value in given.items():
        if (value and what not in USED[name]) or (name == "item" and value is not None and what is not What.show):
            spelled = name.replace("_", "-")
            raise KinemorphError(
                f"--{spelled} is not used by '{what.value}', only by {listed(USED[name])}. Leave --{spelled} out."
            )
    if file.suffix == ".toml":
        raise KinemorphError(
            f"'{file}' is a study file; expected a file of results (.study). `kinemorph sweep {file}` carries it out."
        )
    if what is What.resume:
        _resume(file, work, as_json)
        return
    from kinemorph.studies.study_files.stored_plan import planned_study
    from kinemorph.studies.sweeps.study import load_study

    with reported_warnings():
        opened = (planned_study if what is What.show else load_study)(file)
    ACTIONS[what](opened, file, given, as_json)


def _found(study: Study) -> Study | MonteCarlo | Sensitivity:
    """The study, or its estimates or indices where it is a statistical one."""
    from kinemorph.studies.study_files.stored_plan import found_so_far

    with reported_warnings():
        return found_so_far(study)


def _status(study: Study, file: Path, given: dict[str, Any], as_json: bool) -> None:
    from kinemorph.display.tables import study_reports

    put({**study_reports.found_summary(_found(study)), "store": str(file)}, as_json, study_reports.status_tables)


def _best(study: Study, file: Path, given: dict[str, Any], as_json: bool) -> None:
    from kinemorph.display.tables import study_reports

    if given["measure"] is None and len(study.measures) > 1:
        raise KinemorphError(
            f"the study has several measures: {quoted(study.measures)}. Name one of them by --measure."
        )
    found = study.best(given["measure"] or "", given["count"] or COUNT, largest=given["largest"])
    rows = study_reports.items_summary(found)
    name = given["measure"] or study.measures[0]
    title = f"{'largest' if given['largest'] else 'smallest'} {name}"
    put(rows, as_json, lambda rows: study_reports.items_tables(title, rows))


def _failed(study: Study, file: Path, given: dict[str, Any], as_json: bool) -> None:
    from kinemorph.display.tables import study_reports

    found = study.failed
    rows = study_reports.items_summary(found[: given["count"] or COUNT])
    put(rows, as_json, lambda rows: study_reports.items_tables("items that failed", rows))
    if len(found) > len(rows) and not as_json:
        say(f"note: {len(found) - len(rows):,} more items failed; --count lists more")


def _resume(file: Path, work: WorkOptions, as_json: bool) -> None:
    from kinemorph.cli.study_runs import carry_out_plan
    from kinemorph.studies.study_files.stored_plan import stored_plan

    with reported_warnings():
        plan = stored_plan(file)
    carry_out_plan(plan, {}, work, as_json=as_json)


def _export(study: Study, file: Path, given: dict[str, Any], as_json: bool) -> None:
    path = _output(given["output"], TABLES)
    if path is None:
        with tempfile.TemporaryDirectory(prefix="kinemorph-") as folder:
            out(study.save(Path(folder) / "table.csv").read_text(encoding="utf-8"))
        return
    with working(f"writing {path}"):
        study.save(path)
    _wrote([path], as_json)


def _plot(study: Study, file: Path, given: dict[str, Any], as_json: bool) -> None:
    path = _output(given["output"], option_values.PICTURES) or file.with_suffix(".png")
    options: dict[str, Any] = {name: given[name] for name in ("x", "y") if given[name]}
    options |= {"largest": True} if given["largest"] else {}
    where = dict(_value(study, text) for text in given["where"] or ())
    found = _found(study)
    with working("drawing"):
        found.plot(given["kind"], given["measure"], where=where, path=path, **options)
    _wrote([path], as_json)


def _show(study: Study, file: Path, given: dict[str, Any], as_json: bool) -> None:
    from kinemorph.display.browsers import open_page
    from kinemorph.studies.study_files.stored_plan import TEXT

    path = _output(given["output"], PAGES)
    if given["item"] is not None:
        path = path or file.with_name(f"{file.stem}-{given['item']}.html")
        item = study.item(given["item"])
        if study.experiment is None:
            made = "study was made by Python" if TEXT not in study.store.facts else "model has changed"
            raise KinemorphError(
                f"item {item.number} of '{file}' cannot be shown, since replays need its model, and its {made}. Call "
                f"sweep in Python with the model of the results and this store, then item({item.number}).replay()."
            )
        with reported_warnings(), working(f"replaying item {given['item']}"):
            item.replay(path)
    else:
        path = path or file.with_suffix(".html")
        found = _found(study)
        with reported_warnings(), working("writing the page"):
            found.page(path, measure=given["measure"], largest=given["largest"])
    _wrote([path], as_json)
    if given["open"] and not open_page(path.resolve().as_uri()):
        say("note: no graphical browser was found; open the page in a browser on any machine")


ACTIONS: dict[What, Callable[[Any, Path, dict[str, Any], bool], None]] = {
    What.status: _status,
    What.best: _best,
    What.failed: _failed,
    What.export: _export,
    What.plot: _plot,
    What.show: _show,
}


def _output(path: Path | None, endings: tuple[str, ...]) -> Path | None:
    """The path of --output, which has one of these endings and can be written."""
    if path is None:
        return None
    option_values.picture(path, "--output", endings)
    check_place(path, "--output")
    return path


def _wrote(paths: list[Path], as_json: bool) -> None:
    files = wrote(paths)
    if as_json:
        put({"files": files}, True, lambda data: [])


def _value(study: Study, text: str) -> tuple[str, float | str]:
    """The part and the value in a text `part=value`: a label of a choice, or a number."""
    name, equals, value = (piece.strip() for piece in text.partition("="))
    if not (name and equals and value):
        raise KinemorphError(f"--where is '{text}'; expected a part and its value. Write for example gait=wave.")
    known = name in study.items.names and study.items.column(name).labels
    return name, value if known else option_values.number(value, f"--where {name}")
