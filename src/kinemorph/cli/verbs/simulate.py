"""The verb that runs a robot through time: simulate. It parses, calls, prints."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import FAILED, INTERRUPTED, WELL, Json, app, put, say, told
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import RobotName, chosen, reads_models
from kinemorph.cli.options.plot_options import Columns, Degrees, PlotPath, Plots
from kinemorph.cli.options.scene_options import GifPath, HtmlPath, Mp4Path, Open, Sights, Speed
from kinemorph.errors import KinemorphError
from kinemorph.formats.sources import Options
from kinemorph.model.system import Settings

if TYPE_CHECKING:
    from kinemorph.simulation.results.trajectory import Trajectory

# options of all verbs that run a robot
Limits = Annotated[bool, typer.Option(help="Stops at the limits of joints.")]
Friction = Annotated[bool, typer.Option(help="Coulomb friction of joints.")]
SavePath = Annotated[Path | None, typer.Option(metavar="PATH", help="Write the run: .npz, .csv, .h5 or .res.")]
Q_HELP = "Start: numbers in order (0.1,0.2) or by name (elbow=30deg); others are neutral."


def _print_methods(wanted: bool) -> None:
    if wanted:
        from kinemorph.display.tables import run_summaries, run_tables

        put(run_summaries.method_summary(), False, run_tables.method_tables)
        raise typer.Exit


@app.command()
@reads_models
def simulate(
    robot: RobotName,
    options: Options,
    time: Annotated[
        float | None, typer.Option(help="Simulated time in seconds.", show_default="what the file says, 10")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Integrator by name; see --methods.", show_default="dop853, or extrapolated_contact on ground"
        ),
    ] = None,
    loops: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How loops are kept: projection, partitioning, perturbation, baumgarte or multipliers.",
            show_default="projection",
        ),
    ] = None,
    step: Annotated[float | None, typer.Option(help="Equal steps of this size in seconds.", show_default=False)] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance.", show_default="1e-8")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance.", show_default="1e-10")] = None,
    output_step: Annotated[
        float | None,
        typer.Option(
            "--output-step",
            "--sample",
            help="Time between stored samples in seconds.",
            show_default="what the file says, 0.01",
        ),
    ] = None,
    q: Annotated[str | None, typer.Option(metavar="VALUES", help=Q_HELP, show_default=False)] = None,
    v: Annotated[str | None, typer.Option(metavar="VALUES", help="Velocities at the start, likewise.")] = None,
    lock: Annotated[
        list[str] | None, typer.Option(metavar="JOINT", help="A joint that stays. May be repeated.")
    ] = None,
    torque: Annotated[
        str | None,
        typer.Option(
            "--torque",
            "--u",
            metavar="VALUES",
            help="Constant inputs: torques or forces of joints, or what nothing drives (motor=6).",
        ),
    ] = None,
    limits: Limits = True,
    friction: Friction = True,
    save: SavePath = None,
    plot: PlotPath = None,
    columns: Columns = None,
    degrees: Degrees = False,
    html: HtmlPath = None,
    open_: Open = False,
    gif: GifPath = None,
    mp4: Mp4Path = None,
    speed: Speed = None,
    methods: Annotated[
        bool, typer.Option("--methods", metavar="", callback=_print_methods, is_eager=True, help="List the methods.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Runs a robot through time; saves, plots and shows the run. A run that fails keeps what was computed."""
    from kinemorph.display.tables import run_summaries, run_tables
    from kinemorph.model.elements.forces.joint_forces import with_joint_forces
    from kinemorph.simulation.simulate import simulate as run

    given = chosen(robot, options)
    system = with_joint_forces(given, limits=limits, friction=friction)
    model, settings = system.robot, system.settings
    for value, option in ((time, "--time"), (step, "--step"), (output_step, "--output-step")):
        option_values.above_zero(value, option, "s")
    for value, option in ((rtol, "--rtol"), (atol, "--atol")):
        option_values.above_zero(value, option)
    if step is not None and (rtol is not None or atol is not None):
        raise KinemorphError("--step makes steps equal, --rtol and --atol let them vary. Give one or the other.")
    plots = Plots(plot, columns, degrees, alone=bool(html or open_))
    sights = Sights(html=html, open=open_, gif=gif, mp4=mp4, speed=speed)
    place, note = option_values.start(system, option_values.values(q, "--q"), speeds := option_values.values(v, "--v"))
    notes = [f"{model.name} {note}"] if note else []
    until = time
    if time is None and option_values.is_free(model) and settings.duration == Settings().duration:
        until = option_values.FREE_TIME
        notes.append(f"nothing holds {model.name}, so it is watched for {until:g} s; --time chooses another time")
    chosen_numbers: dict[str, Any] = {"step": step, "rtol": rtol, "atol": atol, "output_step": output_step}
    with told(), advancing(model.name, until or settings.duration) as progress:
        trajectory = run(
            system,
            until,
            q=place,
            v=speeds,
            method=method,
            loops=loops,
            inputs=option_values.values(torque, "--torque"),
            locked=lock or (),
            progress=progress,
            save=save,
            **{name: value for name, value in chosen_numbers.items() if value is not None},
        )
    data = run_summaries.run_summary(trajectory)
    data["files"] = wrote(
        [save] if save else [],
        plots.write(trajectory),
        sights.write({model.name: trajectory}, columns=plots.names),
    )
    notes += run_summaries.acting_joints(system, given) + run_summaries.beyond_limits(system, trajectory)
    for line in [*notes, *run_summaries.cautions(trajectory)]:
        say(f"note: {line}")
    put(data, as_json, run_tables.run_tables)
    raise typer.Exit(exit_code(trajectory))


def exit_code(trajectory: Trajectory) -> int:
    """The exit code of a run; one that failed says why."""
    if trajectory.outcome.ok:
        return WELL
    say(f"failed: {trajectory.outcome.message or trajectory.outcome.kind}")
    return INTERRUPTED if trajectory.outcome.kind == "interrupted" else FAILED


def wrote(*groups: list[Path]) -> list[str]:
    """Says which files were written, and gives their names."""
    paths = [str(path) for group in groups for path in group]
    for path in paths:
        say(f"wrote {path}")
    return paths


# ── while it runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def advancing(name: str, until: float) -> Iterator[Callable[[float, float, int], None] | None]:
    """A bar on stderr while a run goes on, where stderr is a terminal: simulated time, step size, events."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    told = "{task.fields[t]:.2f} of {task.total:g} s   step {task.fields[h]:.2g} s   {task.fields[events]} events"
    shown = (TextColumn("{task.description}"), BarColumn(), TextColumn(told), TimeElapsedColumn())
    with Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=until, t=0.0, h=0.0, events=0)
        yield lambda t, h, events: bar.update(task, completed=t, t=t, h=h, events=events)
