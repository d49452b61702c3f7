"""The verb `study`: what a file of results has, its pictures and exports, and the rest of an interrupted study."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import Json, flag, option, out, put, reported_warnings, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.study_options import WorkOptions
from kinemorph.cli.output_files import check_place, wrote
from kinemorph.errors import KinemorphError
from kinemorph.sheet import Note, Sheet, Text, hidden, said
from kinemorph.words import listed, quoted

if TYPE_CHECKING:
    from kinemorph.studies.statistics.monte_carlo import MonteCarlo
    from kinemorph.studies.statistics.sensitivity import Sensitivity
    from kinemorph.studies.sweeps.study import Study, StudyItem

COUNT = 10  # items that are listed
TABLES = (".csv", ".parquet")
PAGES = (".html", ".htm")


class What(StrEnum):
    """What is done with a study."""

    status = "status"
    best = "best"
    failed = "failed"
    resume = "resume"
    export = "export"
    plot = "plot"
    show = "show"


# which actions use an option; all of them take --json and --quiet
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
    count: Annotated[
        int | None, option("best, failed: how many items to list.", default=f"{COUNT}; failed --json: all", min=1)
    ] = None,
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
    asked = Asked(measure, largest, count, output, kind, x, y, where, item, open)
    _check_used({**vars(asked), **vars(work)}, what)
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
    ACTIONS[what](opened, file, asked, as_json)


@dataclass(frozen=True)
class Asked:
    """What the user asks of a study: the options of this verb, without those of work."""

    measure: str | None
    largest: bool
    count: int | None
    output: Path | None
    kind: str | None
    x: str | None
    y: str | None
    where: list[str] | None
    item: int | None
    open: bool


def _check_used(options: Mapping[str, Any], what: What) -> None:
    """Refuses options that this action does not use."""
    for name, value in options.items():
        is_given = value is not None if name == "item" else bool(value)  # an item may have the number 0
        if is_given and what not in USED.get(name, What):
            spelled = name.replace("_", "-")
            raise KinemorphError(
                f"--{spelled} is not used by '{what.value}', only by {listed(USED[name])}. Leave --{spelled} out."
            )


def _found(study: Study) -> Study | MonteCarlo | Sensitivity:
    """The study, or its estimates or indices where it is a statistical one."""
    from kinemorph.studies.study_files.stored_plan import found_so_far

    with reported_warnings():
        return found_so_far(study)


def _status(study: Study, file: Path, asked: Asked, as_json: bool) -> None:
    put(_found(study).sheet().with_parts(hidden(store=str(file))), as_json)


def _best(study: Study, file: Path, asked: Asked, as_json: bool) -> None:
    if asked.measure is None and len(study.measures) > 1:
        raise KinemorphError(
            f"the study has several measures: {quoted(study.measures)}. Name one of them by --measure."
        )
    found = study.best(asked.measure or "", asked.count or COUNT, largest=asked.largest)
    title = "largest {measure}" if asked.largest else "smallest {measure}"
    _put_items(said(title, measure=asked.measure or study.measures[0]), study, found, as_json)


def _failed(study: Study, file: Path, asked: Asked, as_json: bool) -> None:
    found = study.failed
    most = asked.count or (len(found) if as_json else COUNT)
    _put_items("items that failed", study, found[:most], as_json)
    if len(found) > most:
        say(f"note: {len(found) - most:,} more items failed; --count lists more")


def _put_items(title: Text, study: Study, items: list[StudyItem], as_json: bool) -> None:
    """Prints items: a list of them as JSON, or a table."""
    from kinemorph.display.faces.terminal import parts_of
    from kinemorph.studies.sweeps.study_sheet import item_data, items_table

    none = Note("" if items else said("{title}: none", title=title))
    sheet = Sheet("Items of", study.name, (items_table(title, items), none))
    put([item_data(item) for item in items], as_json, lambda rows: parts_of(sheet))


def _resume(file: Path, work: WorkOptions, as_json: bool) -> None:
    from kinemorph.cli.study_runs import carry_out_plan
    from kinemorph.studies.study_files.stored_plan import stored_plan

    with reported_warnings():
        plan = stored_plan(file)
    carry_out_plan(plan, {}, work, as_json=as_json)


def _export(study: Study, file: Path, asked: Asked, as_json: bool) -> None:
    path = _output(asked.output, TABLES)
    if path is None:
        with tempfile.TemporaryDirectory(prefix="kinemorph-") as folder:
            out(study.save(Path(folder) / "table.csv").read_text(encoding="utf-8"))
        return
    with working(f"writing {path}"):
        study.save(path)
    _wrote([path], as_json)


def _plot(study: Study, file: Path, asked: Asked, as_json: bool) -> None:
    path = _output(asked.output, option_values.PICTURES) or file.with_suffix(".png")
    options: dict[str, Any] = {"x": asked.x, "y": asked.y, "largest": asked.largest}
    options = {name: value for name, value in options.items() if value}
    where = dict(_value(study, text) for text in asked.where or ())
    found = _found(study)
    with working("drawing"):
        found.plot(asked.kind, asked.measure, where=where, path=path, **options)
    _wrote([path], as_json)


def _show(study: Study, file: Path, asked: Asked, as_json: bool) -> None:
    from kinemorph.display.browsers import open_page
    from kinemorph.studies.study_files.stored_plan import TEXT

    path = _output(asked.output, PAGES)
    if asked.item is not None:
        path = path or file.with_name(f"{file.stem}-{asked.item}.html")
        item = study.item(asked.item)
        if study.experiment is None:
            made = "study was made by Python" if TEXT not in study.store.facts else "model has changed"
            raise KinemorphError(
                f"item {item.number} of '{file}' cannot be shown, since replays need its model, and its {made}. Call "
                f"sweep in Python with the model of the results and this store, then item({item.number}).replay()."
            )
        with reported_warnings(), working(f"replaying item {asked.item}"):
            item.replay(path)
    else:
        path = path or file.with_suffix(".html")
        found = _found(study)
        with reported_warnings(), working("writing the page"):
            found.page(path, measure=asked.measure, largest=asked.largest)
    _wrote([path], as_json)
    if asked.open and not open_page(path.resolve().as_uri()):
        say("note: no graphical browser was found; open the page in a browser on any machine")


ACTIONS: dict[What, Callable[[Study, Path, Asked, bool], None]] = {
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
