"""The verb `show`: shows models and saved runs.

A name that ends in .npz, .csv, .h5 or .res is a saved run; any other name is a model: a built-in robot or a model file.
A table contains no robot. Its motion, and columns that are computed from a model, such as 'reaction.*', are shown if
the robot is a built-in one, or is named by --robot.
"""

from __future__ import annotations

import fnmatch
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import Json, option, put, say, verb
from kinemorph.cli.options.model_argument import ReadingOptions, chosen, is_file
from kinemorph.cli.options.option_values import picture
from kinemorph.cli.options.plot_options import PlotOptions
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.options.state_options import StateOptions, shown_configuration
from kinemorph.cli.output_files import wrote
from kinemorph.errors import KinemorphError
from kinemorph.formats import ENDINGS
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.system import System
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.display.scenes.building import Subject
    from kinemorph.simulation.results.trajectory import Trajectory

SUBJECT_HELP = "A built-in robot, a model file, or a saved run: .npz, .csv, .h5 or .res."


@verb
def show(
    subject: Annotated[str, typer.Argument(metavar="MODEL|RESULT", help=SUBJECT_HELP, show_default=False)],
    compare: Annotated[
        list[str] | None,
        option("Show another model or run side by side, or in the same plot. May be repeated.", "OTHER"),
    ] = None,
    robot: Annotated[
        list[str] | None,
        option(
            "Robot or model file of the saved run, for its motion and columns such as 'reaction.*'; if modules dock in "
            "the run, the initial one.",
            "MODEL",
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        option("Write the kinematic graph of a model, bodies and joints with their names: .png, .svg or .pdf.", "PATH"),
    ] = None,
    *,
    scenes: SceneOptions,
    state: Annotated[StateOptions, "start", "q"],
    plots: PlotOptions,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Shows a model or a saved run as numbers, plots, a replay in the browser, films, or in the live viewer."""
    if plots.difference and not compare:
        raise KinemorphError("--difference needs a second run to compare with. Name it with --compare.")
    if compare and plots.plot is None and not scenes.asked:
        raise KinemorphError(
            f"--compare is '{compare[0]}', but there is no plot or replay to show it in. Give --plot or --html as well."
        )
    names = [subject, *(compare or [])]
    if is_run(subject):
        _refuse(
            {"--png": scenes.png, "--start": state.start, "--q": state.q, "--graph": graph},
            f"is for models, but '{subject}' is a run",
        )
        _show_runs(names, scenes, plots, robot or [], reading, as_json)
    else:
        given = {"--plot": plots.plot, "--phase": plots.phase, "--columns": plots.columns, "--robot": robot}
        _refuse({**given, "--trace": scenes.trace}, f"is for runs, but '{subject}' is a model")
        films = {"--gif": scenes.gif, "--mp4": scenes.mp4, "--van": scenes.van}
        _refuse(films, f"is for runs, but '{subject}' is a model, which `kinemorph simulate` can run")
        picture(graph, "--graph")
        _show_models(names, scenes, state, graph, reading, as_json)


def is_run(text: str) -> bool:
    """Whether the name of a file ends like that of a saved run."""
    from kinemorph.simulation.files.storage import FORMATS

    return text.lower().endswith(tuple(FORMATS)) and not text.lower().endswith(tuple(ENDINGS))


def _refuse(options: Mapping[str, Any], why: str) -> None:
    """Raises KinemorphError for the first option that is given; `why` continues the sentence after its name."""
    for name, value in options.items():
        if value:
            raise KinemorphError(f"{name} {why}. Leave {name} out.")


def _print_or_serve(
    scenes: SceneOptions,
    subjects: Mapping[str, Subject],
    printed: Callable[[dict[str, Any]], None],
    **more: Any,
) -> None:
    """Calls `printed` with further data. With --view, these are the URL of the live viewer, served until Ctrl-C."""
    if not scenes.view:
        printed({})
        return
    with scenes.serve(subjects, **more) as viewer:
        printed({"url": viewer.url})
        say("the viewer runs until Ctrl-C")
        viewer.wait()


# ── models ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _show_models(
    names: list[str],
    scenes: SceneOptions,
    state: StateOptions,
    graph: Path | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Shows one or several models; `state` has the configuration of a single one, `graph` is the file for its graph."""
    from kinemorph.model.sheets.robot_sheet import CUT, LINE, robot_line
    from kinemorph.sheet import Facts, Field, Sheet, hidden

    for name in names[1:]:
        if is_run(name):
            raise KinemorphError(
                f"--compare '{name}' is a run, but '{names[0]}' is a model. Compare models with models, runs with runs."
            )
    first, q = state.begun(chosen(names[0], reading)), state.values("q")
    others = [chosen(name, reading if is_file(name) else None) for name in names[1:]]
    systems = dict(zip(called(names), (first, *others), strict=True))
    if others:
        _refuse(
            {"--start": state.start, "--q": q, "--png": scenes.png, "--graph": graph},
            f"is for one model, but {len(names)} are given",
        )
    pose = None
    if scenes.asked and not others:
        pose, note = shown_configuration(first, q)
        if note:
            say(f"note: {note}")
    bodies, dof, loops, *rest = zip(LINE, robot_line(first.robot), strict=True)
    lines = [bodies, (dof[0]._replace(head=CUT[bool(loops[1])]), dof[1]), loops, *rest]
    files = wrote(_graph_picture(first, graph), scenes.write(systems, q=pose))

    def sheet(url: dict[str, Any]) -> Sheet:
        served = [(Field(key, "viewer", form="name"), value) for key, value in url.items()]
        return Sheet("Robot", first.name, (Facts([*lines, *served]), hidden(files=files)))

    if not scenes.asked and graph is None and not as_json:
        options = f"--open (in the browser), --html {first.name}.html (the same page as a file), --view (live)"
        say(f"to see the model: kinemorph show {shlex.quote(names[0])} with {options} or --png {first.name}.png")
    _print_or_serve(scenes, systems, lambda url: put(sheet(url), as_json), q=pose)


def _graph_picture(system: System, path: Path | None) -> list[Path]:
    """Writes the kinematic graph of a model; returns the paths of the files that it wrote."""
    if path is None:
        return []
    from kinemorph.display.canvas import save
    from kinemorph.display.charts.figures import draw_topology

    return [save(draw_topology(system.robot, directed=True), path)]


# ── runs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _show_runs(
    names: list[str],
    scenes: SceneOptions,
    plots: PlotOptions,
    robots: list[str],
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Shows one or several saved runs; `robots` are the values of --robot."""
    from kinemorph.display.series import chosen as chosen_columns
    from kinemorph.sheet import hidden
    from kinemorph.simulation.files.storage import load_trajectory

    for name in names[1:]:
        if not is_run(name):
            raise KinemorphError(
                f"--compare '{name}' is a model, but '{names[0]}' is a run. Compare models with models, runs with runs."
            )
    runs = dict(zip(called(names), (load_trajectory(name) for name in names), strict=True))
    asking = [*scenes.asked, *(["--columns"] if (robots and plots.names) or _computed(runs, plots.names) else [])]
    if asking:
        asked = _robots(runs, robots, reading, asking[0])
        runs = {key: load_trajectory(file, asked[key]) for key, file in zip(runs, names, strict=True)}
    elif robots:
        raise KinemorphError(
            f"--robot is '{robots[0]}', but nothing that needs a model is asked for. Give --html or --columns as well, "
            "or leave --robot out."
        )
    (name, trajectory), *others = runs.items()
    sheet = trajectory.sheet([column.name for column in chosen_columns(trajectory, plots.names)])
    made = plots.write(trajectory, compare=dict(others), name=name)
    files = {"files": wrote(made, scenes.write(runs, columns=plots.names))}

    def printed(url: dict[str, Any]) -> None:
        put(sheet.with_parts(hidden(**files, **url)), as_json)

    _print_or_serve(scenes, runs, printed, columns=plots.names)


def _computed(runs: Mapping[str, Trajectory], wishes: Sequence[str]) -> bool:
    """Whether some of the columns are computed from a model, such as "reaction.*", and not in the runs themselves."""
    from kinemorph.simulation.results.quantities import COMPONENTS

    asked = [wish for wish in wishes if wish.partition(".")[0] in COMPONENTS]
    return any(not fnmatch.filter(run.columns, wish) for run in runs.values() for wish in asked)


def called(names: list[str]) -> list[str]:
    """The names of models or runs in plots and replays: the stems of their files, or whole paths if stems are equal."""
    stems = [Path(name).stem for name in names]
    if len(set(stems)) == len(stems):
        return stems
    return [name if name not in names[:k] else f"{name} ({k + 1})" for k, name in enumerate(names)]


def _robots(
    runs: Mapping[str, Trajectory], names: list[str], reading: ReadingOptions, asking: str
) -> dict[str, System | list[System] | None]:
    """The systems of saved runs, by the name of the run: those that --robot names, for the first run and all runs of
    the same robot; None for those in the file, and built-in robots for the others.

    A run whose system changes needs one model per system; if modules dock in it, the initial model is enough. `asking`
    is the option that needs the systems; messages name it.
    """
    first = next(iter(runs.values())).name
    found: dict[str, System | list[System] | None] = {}
    for key, run in runs.items():
        turns = list(dict.fromkeys(part.segments[0].plant for part in run.stretches))
        if not names and all(plant.robot is not None for plant in turns):
            found[key] = None  # the models are in the file
            continue
        given = [chosen(name, reading) for name in names] if len(turns) > 1 else []
        if len(given) == 1 and given[0].assembly is not None:
            found[key] = given[0]  # its later systems follow from the dockings of the run
            continue
        if len(turns) > 1 and len(names) != len(turns):
            raise KinemorphError(
                f"{asking} needs the {len(turns)} robots of run '{run.name}', "
                f"{listed(plant.name for plant in turns)}, but --robot names {len(names)}. Name all of them with "
                "--robot, in this order; if modules dock during the run, the file of its initial organism is enough."
            )
        if len(turns) > 1:
            found[key] = given
        elif names and run.name == first:
            if len(names) > 1:
                raise KinemorphError(
                    f"--robot is given {len(names)} times, but run '{run.name}' has one robot. Give --robot once."
                )
            found[key] = chosen(names[0], reading)
        elif run.name in CHOICE:
            found[key] = choose(run.name)
            say(f"note: {key} is shown as a run of the built-in robot {run.name}; --robot chooses another")
        else:
            raise KinemorphError(
                f"{asking} needs the robot of run '{run.name}', which is not a built-in one. Name it with --robot."
            )
    return found
