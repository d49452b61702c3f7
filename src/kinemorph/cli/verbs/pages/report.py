"""The verb `report`: writes a document about a model and saved runs of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import flag, option, put, reported_warnings, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, chosen
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.cli.output_files import check_place, wrote
from kinemorph.cli.verbs.derive import Formulation
from kinemorph.cli.verbs.pages.show import called, is_run
from kinemorph.errors import KinemorphError
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.system import System
from kinemorph.words import quoted

if TYPE_CHECKING:
    from kinemorph.simulation.results.trajectory import Trajectory

SUBJECT_HELP = "A built-in robot or a model file, and saved runs of it: .npz, .csv, .h5 or .res; or saved runs alone."


class Form(StrEnum):
    """The formats that --to chooses from."""

    pdf = "pdf"
    latex = "latex"
    html = "html"


class Tongue(StrEnum):
    """The languages that --language chooses from."""

    en = "en"
    fr = "fr"


def _print_chapters(wanted: bool) -> None:
    """Prints the chapters and exits, where --list-chapters is given."""
    if wanted:
        from kinemorph.display.reports.chapters import chapter_table

        put(None, False, lambda _: [chapter_table()])
        raise typer.Exit


@verb
def report(
    subjects: Annotated[list[str], typer.Argument(metavar="MODEL|RESULT...", help=SUBJECT_HELP, show_default=False)],
    to: Annotated[
        Form | None, option("Format: pdf, latex or html.", "FORMAT", default="as --output ends, or pdf")
    ] = None,
    language: Annotated[Tongue, option("Language of the report: en (English) or fr (French).", "LANGUAGE")] = Tongue.en,
    chapters: Annotated[
        str | None,
        option("Chapters, separated by commas, in this order.", "NAMES", default="all that have something to show"),
    ] = None,
    output: Annotated[
        Path | None,
        option("File to write: .pdf, .html, .zip, .tex; for latex also a folder.", "FILE", default="the model's name"),
    ] = None,
    title: Annotated[str | None, option("Title of the report.", "TEXT", default="the model's name")] = None,
    author: Annotated[str, option("Author on the title page.", "TEXT", default="none")] = "",
    date: Annotated[
        str, option("Date on the title page; without it the same model gives the same bytes.", "TEXT", default="none")
    ] = "",
    columns: Annotated[
        str | None,
        option("Columns of runs to show, too, separated by commas: 'reaction.knee.*'.", "NAMES"),
    ] = None,
    formulation: Formulation = "newton_euler",
    list_chapters: Annotated[
        bool, flag("--list-chapters", "List the chapters.", callback=_print_chapters, is_eager=True)
    ] = False,
    *,
    state: Annotated[StateOptions, "start"],
    reading: ReadingOptions,
) -> None:
    """Writes a report: a document about a model, with saved runs of it, in English or French.

    PDF needs the extra `report`; HTML is one page that needs nothing else, and LaTeX is a folder or a .zip file with
    the source and its figures. Before a run whose file holds no model, name the model, unless it is a built-in robot.
    """
    from kinemorph.display.reports.report import report as written
    from kinemorph.display.reports.subject import ReportSettings

    if output is not None and output.suffix:
        check_place(output, "--output")
    with reported_warnings():
        model, runs = _subject(subjects, reading)
        model = state.begun(model)
    with reported_warnings(), working(f"report on {model.name}") as tell:
        path = written(
            model, *runs.values(),
            path=output, to=None if to is None else to.value, language=language.value,
            chapters=None if chapters is None else [key.strip() for key in chapters.split(",") if key.strip()],
            title=title, author=author, date=date, names=list(runs),
            settings=ReportSettings(
                columns=tuple(option_values.names(columns)), formulation=formulation  # type: ignore[arg-type]
            ),
            progress=lambda step: tell(f"report on {model.name}: {step}"),
        )  # fmt: skip
    for name, run in runs.items():
        if not run.outcome.ok:
            say(f"note: run '{name}' did not reach its end ({run.outcome.kind}); the report shows the part before")
    wrote([path])


def _subject(names: list[str], reading: ReadingOptions) -> tuple[System, dict[str, Trajectory]]:
    """The model and the runs that the arguments name."""
    from kinemorph.simulation.files.storage import load_trajectory

    files = [name for name in names if is_run(name)]
    models = [name for name in names if not is_run(name)]
    if len(models) > 1:
        raise KinemorphError(
            f"a report is about one model, but {quoted(models)} are {len(models)}. Write a report for each of them."
        )
    if models:
        system = chosen(models[0], reading)
    else:
        first = load_trajectory(files[0])
        name, inside = first.name, first.segments[0].plant.system
        if inside is None and name not in CHOICE:
            raise KinemorphError(
                f"'{files[0]}' is a run of '{name}', which is not a built-in robot. Name its model before the run: "
                f"kinemorph report MODEL {files[0]}."
            )
        system = inside or choose(name)
        if inside is None:
            say(f"note: {files[0]} is a run of the built-in robot {name}; a model before it chooses another")
    loaded: Any = {key: load_trajectory(file, system) for key, file in zip(called(files), files, strict=True)}
    return system, loaded
