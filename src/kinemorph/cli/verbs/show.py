"""The verb that shows models and saved runs: show. It parses, calls, prints.

What is given is a run where its name ends as runs do (.npz, .csv, .h5, .res), else a model: a built-in robot or a file.
A saved run holds no robot: to be seen moving it needs the one that was run, a built-in one or that of --robot.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import WELL, Json, app, put, say
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import chosen, is_file, reads_models
from kinemorph.cli.options.plot_options import Columns, Degrees, PlotPath, Plots
from kinemorph.cli.options.scene_options import GifPath, HtmlPath, Mp4Path, Open, Sights, Speed
from kinemorph.cli.verbs.simulate import Q_HELP, wrote
from kinemorph.errors import KinemorphError
from kinemorph.formats import ENDINGS
from kinemorph.formats.sources import Options
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.system import System

if TYPE_CHECKING:
    from kinemorph.display.scenes.building import Subject
    from kinemorph.simulation.results.trajectory import Trajectory

SUBJECT_HELP = "A built-in robot, a model file, or a saved run: .npz, .csv, .h5 or .res."


@app.command()
@reads_models
def show(
    subject: Annotated[str, typer.Argument(metavar="MODEL|RESULT", help=SUBJECT_HELP, show_default=False)],
    html: HtmlPath = None,
    open_: Open = False,
    gif: GifPath = None,
    mp4: Mp4Path = None,
    png: Annotated[Path | None, typer.Option(metavar="PATH", help="Write a picture of a model: .png.")] = None,
    view: Annotated[
        bool, typer.Option("--view", metavar="", help="Serve the live viewer until Ctrl-C; needs the extra 'view'.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Of the viewer; one that is free by default.")
    ] = None,
    camera: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="front, back, left, right, top, iso, or elevation,azimuth in degrees."),
    ] = None,
    follow: Annotated[str | None, typer.Option(metavar="BODY", help="A body that stays in the middle.")] = None,
    trace: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A body or frame whose way is drawn. May be repeated.")
    ] = None,
    speed: Speed = None,
    fps: Annotated[float | None, typer.Option(help="Pictures for each second.", show_default="60, of films 30")] = None,
    q: Annotated[str | None, typer.Option(metavar="VALUES", help=Q_HELP.replace("Start", "Of a model"))] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="OTHER", help="Another one: in the same plot, or side by side. May be repeated."),
    ] = None,
    columns: Columns = None,
    plot: PlotPath = None,
    difference: Annotated[
        bool, typer.Option("--difference", metavar="", help="Also plot how far the runs are apart.")
    ] = False,
    degrees: Degrees = False,
    phase: Annotated[Path | None, typer.Option(metavar="PATH", help="Write a phase portrait.")] = None,
    joint: Annotated[str | None, typer.Option(help="Of the phase portrait; the first by default.")] = None,
    robot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="The robot or model file that was run, to see it move; where modules dock, the one it began with.",
        ),
    ] = None,
    *,
    options: Options,
    as_json: Json = False,
) -> None:
    """A model or a saved run to look at: replay in the browser, live viewer, moving pictures, plots, figures."""
    sights = Sights(
        html=html,
        gif=gif,
        mp4=mp4,
        png=png,
        open=open_,
        view=view,
        port=port,
        camera=camera,
        follow=follow,
        trace=trace or [],
        speed=speed,
        fps=fps,
    )
    plots = Plots(plot, columns, degrees, phase=phase, joint=joint, difference=difference, alone=True)
    if difference and not compare:
        raise KinemorphError("--difference needs a second run. Give it with --compare.")
    if compare and plot is None and not sights.asked:
        raise KinemorphError("--compare shows runs in one plot or side by side. Give --plot or --html as well.")
    names = [subject, *(compare or [])]
    if is_run(subject):
        _refuse({"--png": png, "--q": q}, f"is for models, but '{subject}' is a run")
        _show_runs(names, sights, plots, robot or [], options, as_json)
    else:
        given = {"--plot": plot, "--phase": phase, "--columns": columns, "--robot": robot}
        _refuse({**given, "--trace": trace}, f"is for runs, but '{subject}' is a model")
        _refuse({"--gif": gif, "--mp4": mp4}, f"shows a run, but '{subject}' is a model; see `kinemorph simulate`")
        _show_models(names, sights, option_values.values(q, "--q"), options, as_json)
    raise typer.Exit(WELL)


def is_run(text: str) -> bool:
    """Whether a name means a saved run and not a model."""
    from kinemorph.simulation.files.storage import FORMATS

    return text.lower().endswith(tuple(FORMATS)) and not text.lower().endswith(tuple(ENDINGS))


def _refuse(options: Mapping[str, Any], why: str) -> None:
    for option, value in options.items():
        if value:
            raise KinemorphError(f"{option} {why}. Leave it out.")


def _seen(
    sights: Sights, subjects: Mapping[str, Subject], data: dict[str, Any], printed: Callable[[], None], **more: Any
) -> None:
    """Prints the data; the viewer, where it is asked for, serves until it is interrupted."""
    if not sights.view:
        printed()
        return
    with sights.serve(subjects, **more) as viewer:
        data["url"] = viewer.url
        printed()
        say("the viewer runs until Ctrl-C")
        viewer.wait()


# ── models ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _show_models(names: list[str], sights: Sights, q: Any, options: Options, as_json: bool) -> None:
    from kinemorph.display.tables import summaries, terminal

    for name in names[1:]:
        if is_run(name):
            raise KinemorphError(f"--compare '{name}' is a run, but '{names[0]}' is a model. Compare like with like.")
    first = chosen(names[0], options)
    others = [chosen(name, options if is_file(name) else Options()) for name in names[1:]]
    systems = dict(zip(_called(names), (first, *others), strict=True))
    if others:
        _refuse({"--q": q, "--png": sights.png}, "is for one model")
    pose = None
    if sights.asked and not others:
        pose, note = option_values.posture(first, q)
        say(f"note: {note}") if note else None
    data: dict[str, Any] = summaries.robot_line(first.robot)
    data["files"] = wrote(sights.write(systems, q=pose))
    if not sights.asked and not as_json:
        ways = f"--open (in the browser), --html {first.name}.html (the same as a file), --view (live)"
        say(f"to see it: kinemorph show {shlex.quote(names[0])} with {ways} or --png {first.name}.png")
    _seen(sights, systems, data, lambda: put(data, as_json, terminal.short_tables), q=pose)


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _show_runs(
    names: list[str], sights: Sights, plots: Plots, robots: list[str], options: Options, as_json: bool
) -> None:
    from kinemorph.display.tables import run_summaries, run_tables
    from kinemorph.simulation.files.storage import load_trajectory

    for name in names[1:]:
        if not is_run(name):
            raise KinemorphError(f"--compare '{name}' is a model, but '{names[0]}' is a run. Compare like with like.")
    runs = dict(zip(_called(names), (load_trajectory(name) for name in names), strict=True))
    if sights.asked:
        asked = _robots(runs, robots, options, sights.asked[0])
        runs = {key: load_trajectory(file, asked[key]) for key, file in zip(runs, names, strict=True)}
    elif robots:
        raise KinemorphError(f"--robot '{robots[0]}' is only needed to see a run move, as by --html. Leave it out.")
    (name, trajectory), *others = runs.items()
    data = run_summaries.run_summary(trajectory)
    data["columns"] = run_summaries.column_figures(trajectory, plots.names)
    made = plots.write(trajectory, compare=dict(others), name=name)
    data["files"] = wrote(made, sights.write(runs, columns=plots.names))
    _seen(sights, runs, data, lambda: put(data, as_json, run_tables.result_tables), columns=plots.names)


def _called(names: list[str]) -> list[str]:
    """What models or runs are called: their files' names, with the folders where those alone would be the same."""
    stems = [Path(name).stem for name in names]
    if len(set(stems)) == len(stems):
        return stems
    return [name if name not in names[:k] else f"{name} ({k + 1})" for k, name in enumerate(names)]


def _robots(
    runs: Mapping[str, Trajectory], names: list[str], options: Options, asking: str
) -> dict[str, System | list[System]]:
    """What was run: the models named, for runs that bear the same name as the first; else the built-in one.

    A run that changes its system on the way needs a model for each, or that of the modules which dock in it.
    """
    first = next(iter(runs.values())).name
    found: dict[str, System | list[System]] = {}
    for key, run in runs.items():
        turns = list(dict.fromkeys(part.segments[0].plant for part in run.stretches))
        given = [chosen(name, options) for name in names] if len(turns) > 1 else []
        if len(given) == 1 and given[0].assembly is not None:
            found[key] = given[0]  # what its modules become follows from what happened
            continue
        if len(turns) > 1 and len(names) != len(turns):
            told = ", ".join(plant.name for plant in turns)
            raise KinemorphError(
                f"{asking} needs the robots of run '{run.name}', which has {len(turns)} in turn ({told}); {len(names)} "
                "are named. Name them all with --robot, in this order; where modules dock on the way, the file of the "
                "organism that it began with is enough."
            )
        if len(turns) > 1:
            found[key] = given
        elif names and run.name == first:
            if len(names) > 1:
                raise KinemorphError(f"--robot is given {len(names)} times, but run '{run.name}' has one. Give one.")
            found[key] = chosen(names[0], options)
        elif run.name in CHOICE:
            found[key] = choose(run.name)
            say(f"note: {key} is drawn as the built-in robot {run.name}; --robot names another")
        else:
            raise KinemorphError(f"{asking} needs the robot of run '{run.name}'. Name it with --robot.")
    return found
