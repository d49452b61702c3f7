"""Verbs on runs: simulate, show. Each parses, calls, prints."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli import reading
from kinemorph.cli.application import FAILED, INTERRUPTED, WELL, Json, app, put, say, told, working
from kinemorph.cli.choosing import RobotName, chosen, chosen_robot, reads_models
from kinemorph.errors import KinemorphError
from kinemorph.model.formats.sources import Options
from kinemorph.model.library import LIBRARY
from kinemorph.model.system import Settings

if TYPE_CHECKING:
    from kinemorph.simulation.trajectory import Trajectory

Q_HELP = "Start: numbers in order (0.1,0.2) or by name (elbow=30deg); others are neutral."
PLOT_HELP = "Write a plot over time: .png, .svg or .pdf."
COLUMNS_HELP = "What to plot: columns, groups or patterns, with commas: q,v.elbow,'energy*'."
GIF_HELP = "Write a moving picture: .gif or .mp4."


def _print_methods(wanted: bool) -> None:
    if wanted:
        from kinemorph.display import run_summaries, run_tables

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
    step: Annotated[float | None, typer.Option(help="Equal steps of this size in seconds.", show_default=False)] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance.", show_default="1e-8")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance.", show_default="1e-10")] = None,
    sample: Annotated[
        float | None,
        typer.Option(help="Time between stored states in seconds.", show_default="what the file says, 0.01"),
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
    limits: Annotated[bool, typer.Option(help="Stops at the limits of joints.")] = True,
    friction: Annotated[bool, typer.Option(help="Coulomb friction of joints.")] = True,
    save: Annotated[Path | None, typer.Option(metavar="PATH", help="Write the run: .npz, .csv, .h5 or .res.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="PATH", help=PLOT_HELP)] = None,
    columns: Annotated[str | None, typer.Option(metavar="NAMES", help=COLUMNS_HELP)] = None,
    degrees: Annotated[bool, typer.Option("--degrees", metavar="", help="Angles of the plot in degrees.")] = False,
    animate: Annotated[Path | None, typer.Option(metavar="PATH", help=GIF_HELP)] = None,
    speed: Annotated[float | None, typer.Option(help="Of the moving picture.", show_default="1")] = None,
    methods: Annotated[
        bool, typer.Option("--methods", metavar="", callback=_print_methods, is_eager=True, help="List the methods.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Runs a robot through time; saves, plots and animates the run. A run that fails keeps what was computed."""
    from kinemorph.display import run_summaries, run_tables
    from kinemorph.model.elements.joint_forces import with_joint_forces
    from kinemorph.simulation.run import simulate as run

    given = chosen(robot, options)
    system = with_joint_forces(given, limits=limits, friction=friction)
    model, settings = system.robot, system.settings
    for value, option in ((time, "--time"), (step, "--step"), (sample, "--sample")):
        reading.above_zero(value, option, "s")
    for value, option in ((rtol, "--rtol"), (atol, "--atol"), (speed, "--speed")):
        reading.above_zero(value, option)
    if step is not None and (rtol is not None or atol is not None):
        raise KinemorphError("--step makes steps equal, --rtol and --atol let them vary. Give one or the other.")
    pictures = Pictures(plot, columns, degrees, animate, speed)
    place, note = reading.start(system, reading.values(q, "--q"), speeds := reading.values(v, "--v"))
    notes = [f"{model.name} {note}"] if note else []
    until = time
    if time is None and reading.is_free(model) and settings.duration == Settings().duration:
        until = reading.FREE_TIME
        notes.append(f"nothing holds {model.name}, so it is watched for {until:g} s; --time chooses another time")
    chosen_numbers: dict[str, Any] = {"step": step, "rtol": rtol, "atol": atol, "sample": sample}
    with told(), _advancing(model.name, until or settings.duration) as progress:
        trajectory = run(
            system,
            until,
            q=place,
            v=speeds,
            method=method,
            inputs=reading.values(torque, "--torque"),
            locked=lock or (),
            progress=progress,
            save=save,
            **{name: value for name, value in chosen_numbers.items() if value is not None},
        )
    data = run_summaries.run_summary(trajectory)
    data["files"] = _wrote([save] if save else [], pictures.write(trajectory))
    notes += run_summaries.acting_joints(system, given) + run_summaries.beyond_limits(system, trajectory)
    for line in [*notes, *run_summaries.cautions(trajectory)]:
        say(f"note: {line}")
    put(data, as_json, run_tables.run_tables)
    raise typer.Exit(_code(trajectory))


@app.command()
@reads_models
def show(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="A saved run: .npz, .csv, .h5 or .res.")],
    columns: Annotated[str | None, typer.Option(metavar="NAMES", help=COLUMNS_HELP)] = None,
    plot: Annotated[Path | None, typer.Option(metavar="PATH", help=PLOT_HELP)] = None,
    compare: Annotated[
        list[Path] | None, typer.Option(metavar="RESULT", help="Another run in the same plot. May be repeated.")
    ] = None,
    difference: Annotated[
        bool, typer.Option("--difference", metavar="", help="Also plot how far the runs are apart.")
    ] = False,
    degrees: Annotated[bool, typer.Option("--degrees", metavar="", help="Angles of plots in degrees.")] = False,
    phase: Annotated[Path | None, typer.Option(metavar="PATH", help="Write a phase portrait.")] = None,
    joint: Annotated[str | None, typer.Option(help="Of the phase portrait; the first by default.")] = None,
    animate: Annotated[Path | None, typer.Option(metavar="PATH", help=GIF_HELP)] = None,
    speed: Annotated[float | None, typer.Option(help="Of the moving picture.", show_default="1")] = None,
    robot: Annotated[str | None, typer.Option(help="The robot or model file that was run, for --animate.")] = None,
    *,
    options: Options,
    as_json: Json = False,
) -> None:
    """A saved run: how it ended, what it cost, its columns in figures; plots, phase portraits, moving pictures."""
    from kinemorph.display import run_summaries, run_tables
    from kinemorph.simulation.storage import load_trajectory

    reading.above_zero(speed, "--speed")
    if joint is not None and phase is None:
        raise KinemorphError(f"--joint '{joint}' says what --phase shows. Give --phase as well.")
    if compare and plot is None:
        raise KinemorphError("--compare puts runs into one plot. Give --plot as well.")
    if difference and not compare:
        raise KinemorphError("--difference needs a second run. Give it with --compare.")
    trajectory = load_trajectory(result)
    others = {path.stem: load_trajectory(path) for path in compare or []}
    wanted: dict[str, Any] = {"name": result.stem, "difference": difference, "phase": phase, "joint": joint}
    pictures = Pictures(plot, columns, degrees, animate, speed, alone=True, compare=others, **wanted)
    if animate is not None:
        trajectory = load_trajectory(result, _known_robot(trajectory, robot, options))
    elif robot is not None:
        raise KinemorphError(f"--robot '{robot}' is only needed for --animate. Leave it out.")
    data = run_summaries.run_summary(trajectory)
    data["columns"] = run_summaries.column_figures(trajectory, pictures.names)
    data["files"] = _wrote([], pictures.write(trajectory))
    put(data, as_json, run_tables.result_tables)
    raise typer.Exit(WELL)


def _known_robot(trajectory: Trajectory, name: str | None, options: Options) -> Any:
    """The robot that was run: the one named, or the built-in one with the run's name."""
    if name is not None:
        return chosen_robot(name, options)
    if trajectory.name not in LIBRARY:
        raise KinemorphError(f"--animate needs the robot of run '{trajectory.name}'. Name it with --robot.")
    say(f"note: drawn as the built-in robot {trajectory.name}; --robot names another")
    return LIBRARY[trajectory.name]()


def _code(trajectory: Trajectory) -> int:
    """The exit code of a run; one that failed says why."""
    if trajectory.outcome.ok:
        return WELL
    say(f"failed: {trajectory.outcome.message or trajectory.outcome.kind}")
    return INTERRUPTED if trajectory.outcome.kind == "interrupted" else FAILED


def _wrote(*groups: list[Path]) -> list[str]:
    paths = [str(path) for group in groups for path in group]
    for path in paths:
        say(f"wrote {path}")
    return paths


# ── pictures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Pictures:
    """The pictures that options ask for, checked before any work is done."""

    def __init__(
        self,
        plot: Path | None,
        columns: str | None,
        degrees: bool,
        animate: Path | None,
        speed: float | None,
        *,
        alone: bool = False,
        compare: dict[str, Trajectory] | None = None,
        name: str | None = None,
        difference: bool = False,
        phase: Path | None = None,
        joint: str | None = None,
    ) -> None:
        """`alone` says whether --columns means something without --plot."""
        if columns is not None and plot is None and not alone:
            raise KinemorphError(f"--columns '{columns}' says what --plot shows. Give --plot as well.")
        if degrees and plot is None and phase is None:
            raise KinemorphError("--degrees is for the angles of a plot. Give --plot as well.")
        if speed is not None and animate is None:
            raise KinemorphError("--speed is that of --animate. Give --animate as well.")
        self.plot, self.phase = reading.picture(plot, "--plot"), reading.picture(phase, "--phase")
        self.animate = reading.picture(animate, "--animate", (".gif", ".mp4"))
        self.names = [name.strip() for name in (columns or "").split(",") if name.strip()]
        self.speed, self.joint, self.difference = speed or 1.0, joint, difference
        self.common: dict[str, Any] = {"degrees": degrees, "compare": compare or None, "name": name}

    def write(self, trajectory: Trajectory) -> list[Path]:
        """Draws and writes them."""
        made = []
        if self.plot is not None:
            from kinemorph.display.plots import plot

            with working("plotting"):
                plot(trajectory, *self.names, difference=self.difference, path=self.plot, **self.common)
            made.append(self.plot)
        if self.phase is not None:
            from kinemorph.display.portraits import phase_portrait

            phase_portrait(trajectory, self.joint, path=self.phase, **self.common)
            made.append(self.phase)
        if self.animate is not None:
            from kinemorph.display.animation import animate

            with working("painting") as tell:
                told = lambda done, total: tell(f"painting frame {done} of {total}")  # noqa: E731
                animate(trajectory, self.animate, speed=self.speed, progress=told)
            made.append(self.animate)
        return made


# ── while it runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def _advancing(name: str, until: float) -> Iterator[Callable[[float, float, int], None] | None]:
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
