"""The verb `bench`: measures computing times side by side with other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, option, out, put, reported_warnings, say, verb, working
from kinemorph.cli.options.option_values import above_zero
from kinemorph.errors import KinemorphError
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.bench.report import ModelFiles


@verb
def bench(
    table: Annotated[
        str | None,
        typer.Argument(
            help="speed: time per evaluation; compile: time to compile; growth: time over the number of links; load: "
            "reading model files; replay: writing replays; simulate: runs; loops: closed chains; modules: assemblies "
            "and their dockings; walk: AMRU5 beside MuJoCo and SymPy; hybrid: walks, impacts and a basin "
            "of attraction; rigid: rigid contact beside MuJoCo, Drake, Exudyn and Siconos; identify: regressors; "
            "cockroach: the animal beside MuJoCo; track: a recorded fly beside SeqIKPy; "
            "programs: C beside PyDy, FMUs beside PythonFMU; studio: the studio beside MuJoCo's and viser; studies: "
            "sweeps beside joblib, Dask and Ray Tune.",
            metavar="TABLE",
            show_default="speed",
        ),
    ] = None,
    more: Annotated[
        list[Path] | None,
        typer.Argument(help="Further model files after --files.", metavar="[FILE]...", show_default=False),
    ] = None,
    robot: Annotated[
        list[str] | None,
        option("Measure this robot: a robot of the table, a built-in robot, or a model file. May be repeated."),
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        option("Measure this algorithm: RNEA, CRBA, ABA, dRNEA, dABA, FK or Jacobian. May be repeated."),
    ] = None,
    mode: Annotated[
        list[str] | None,
        option("Measure in this mode: scalar, batched, all-cores, python-raw or python-call. May be repeated."),
    ] = None,
    quick: Annotated[bool, flag("--quick", "Measure only two robots, with fewer repetitions.")] = False,
    compile_times: Annotated[bool, flag("--compile", "The same as TABLE compile.")] = False,
    growth: Annotated[bool, flag("--growth", "The same as TABLE growth.")] = False,
    robots: Annotated[
        Path | None, option("JSON file of stored robots, which replace robots of the same name.", default=False)
    ] = None,
    files: Annotated[
        list[Path] | None,
        option("Model files that simulate runs beside MuJoCo at equal error, instead of its own problems.", "FILE..."),
    ] = None,
    most: Annotated[
        int | None, option("Compare only the first files that both read, this many.", "COUNT", default="all")
    ] = None,
    error: Annotated[
        float | None, option("Largest error of runs of --files, in every component of q and v.", default="0.001")
    ] = None,
    by_default: Annotated[
        bool, flag("--by-default", "Run --files only with the defaults of both, and no comparison at equal error.")
    ] = False,
    picture: Annotated[
        Path | None,
        option("Draw errors and times of simulate, loops or rigid: .png, .svg or .pdf.", default=False),
    ] = None,
    markdown: Annotated[bool, flag("--markdown", "Print the tables as Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Measures times side by side with Pinocchio (C++ built for this CPU, and Python), MuJoCo, Drake and Exudyn."""
    from kinemorph.bench import report as reports

    if as_json and markdown:
        raise KinemorphError("--json and --markdown are given together; expected at most one. Leave one of them out.")
    which = reports.table_of(table, compile_times, growth)
    if picture is not None and which not in reports.DRAWN:
        raise KinemorphError(
            f"--picture is '{picture}', but table '{which}' has no picture; expected table {listed(reports.DRAWN)}. "
            "Leave --picture out, or choose one of these tables."
        )
    models = _model_files(files, more, most, error, by_default)
    chosen = reports.chosen(which, robot, algorithm, mode, quick=quick, file=robots, models=models)
    with reported_warnings(), working("measuring") as tell:
        report = reports.measured(chosen, say=tell, note=lambda message: say(f"note: {message}"))
    if picture is not None:
        report.draw(picture)
    if markdown:
        out(report.as_page())
    else:
        put(report.rows, as_json, lambda rows: report.for_terminal())
    raise typer.Exit(WELL if report.agreed else FAILED)


def _model_files(
    files: list[Path] | None, more: list[Path] | None, most: int | None, error: float | None, by_default: bool
) -> ModelFiles | None:
    """The model files that are named by --files and after it; None where there are none."""
    from kinemorph.bench.report import ModelFiles

    above_zero(error, "--error")
    above_zero(most, "--most")
    paths = (*(files or ()), *(more or ()))
    if not files:
        needless = [str(path) for path in paths] + [
            f"--{name}"
            for name, value in (("most", most), ("error", error), ("by-default", by_default or None))
            if value is not None
        ]
        if needless:
            raise KinemorphError(f"'{needless[0]}' is given without --files. Add --files, or leave it out.")
        return None
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise KinemorphError(f"--files names '{missing[0]}', which is not a file. Name model files that exist.")
    return ModelFiles(paths, most, error, not by_default)
