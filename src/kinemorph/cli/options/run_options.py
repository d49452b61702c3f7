"""Options of the verbs that simulate a robot, the progress bar of a run, and the report at its end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import FAILED, INTERRUPTED, WELL, option, put, say
from kinemorph.cli.options import option_values
from kinemorph.cli.options.plot_options import PlotOptions
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.output_files import wrote
from kinemorph.sheet import Sheet, hidden

if TYPE_CHECKING:
    from kinemorph.simulation.results.trajectory import Trajectory


@dataclass(frozen=True)
class RunOptions:
    """The options of the command line that say how a run is computed and saved, such as --method and --step."""

    time: Annotated[
        float | None,
        option("Simulated time in seconds.", default="the one in the model file, or 10"),
    ] = None
    rtol: Annotated[float | None, option("Relative tolerance of the error of a step.", default="1e-8")] = None
    atol: Annotated[float | None, option("Absolute tolerance of the error of a step.", default="1e-10")] = None
    loops: Annotated[
        str | None,
        option(
            "How loops are kept closed: projection, partitioning, perturbation, baumgarte or multipliers.",
            "NAME",
            default="projection",
        ),
    ] = None
    method: Annotated[
        str | None,
        option("Integrator by name; see `simulate --methods`.", default="dop853, or extrapolated_contact on ground"),
    ] = None
    step: Annotated[float | None, option("Constant step size in seconds.", default=False)] = None
    output_step: Annotated[
        float | None,
        option(
            "Time between stored samples in seconds.",
            default="the one in the model file, or 0.01",
            names=("--output-step", "--sample"),
        ),
    ] = None
    limits: Annotated[
        bool | None, option("Stop joints at their limits.", default="limits", names=("--limits/--no-limits",))
    ] = None
    friction: Annotated[
        bool | None,
        option("Apply the Coulomb friction of joints.", default="friction", names=("--friction/--no-friction",)),
    ] = None
    contacts: Annotated[
        bool | None,
        option(
            "Let the collision shapes of the model touch the ground, if it has no contacts of its own.",
            default="contacts",
            names=("--contacts/--no-contacts",),
        ),
    ] = None
    ground: Annotated[
        bool | None,
        option(
            "Let them touch the plane z = 0, if the model has no other ground.",
            default="the one in the model file, or --ground under a free base, but not for MJCF",
            names=("--ground/--no-ground",),
        ),
    ] = None
    save: Annotated[Path | None, option("Write the run to a file: .npz, .csv, .h5 or .res.", "PATH")] = None

    def __post_init__(self) -> None:
        option_values.above_zero(self.time, "--time", "s")
        option_values.above_zero(self.rtol, "--rtol")
        option_values.above_zero(self.atol, "--atol")
        option_values.above_zero(self.step, "--step", "s")
        option_values.above_zero(self.output_step, "--output-step", "s")

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, except for --time, as keyword arguments of `kinemorph.simulate`."""
        names = ("rtol", "atol", "loops", "method", "step", "output_step", "save")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


@contextlib.contextmanager
def progress_bar(name: str, until: float) -> Iterator[Callable[[float, float, int], None] | None]:
    """Shows simulated time, step size and number of events while a run is computed, if stderr is a terminal.

    Yields the function (t [s], step size [s], events) that updates the bar; None if stderr is not a terminal. `name`
    is shown before the bar, `until` [s] is the time at which the run ends. After two seconds of deriving or compiling,
    it says what is being made and how long that has taken so far.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from kinemorph.codegen.work_clock import reported_by

    numbers = "{task.fields[t]:.2f} of {task.total:g} s   step {task.fields[h]:.2g} s   {task.fields[events]} events"
    shown = (TextColumn("{task.description}"), BarColumn(), TextColumn(numbers), TimeElapsedColumn())

    def report(work: str) -> None:
        bar.update(task, description=f"{name} ({work})" if work else name)

    with Progress(*shown, console=Console(stderr=True), transient=True) as bar, reported_by(report):
        task = bar.add_task(name, total=until, t=0.0, h=0.0, events=0)
        yield lambda t, h, events: bar.update(task, completed=t, t=t, h=h, events=events)


def report_run(
    trajectory: Trajectory,
    sheet: Sheet,
    *,
    save: Path | None,
    plots: PlotOptions,
    scenes: SceneOptions,
    notes: Sequence[str],
    as_json: bool,
    columns: Sequence[str] = (),
) -> None:
    """Writes the files of a finished run, prints its notes and sheet, and exits: 0 if it reached its end, 1 if not.

    `columns` are plotted if --columns does not name others.
    """
    from kinemorph.simulation.results.run_notes import cautions

    files = wrote(
        [save] if save else [],
        plots.write(trajectory, default=columns),
        scenes.write({trajectory.name: trajectory}, columns=plots.names),
    )
    for line in [*notes, *cautions(trajectory)]:
        say(f"note: {line}")
    put(sheet.with_parts(hidden(files=files)), as_json)
    outcome = trajectory.outcome
    if outcome.ok:
        raise typer.Exit(WELL)
    say(f"failed: {outcome.message or outcome.kind}")
    raise typer.Exit(INTERRUPTED if outcome.kind == "interrupted" else FAILED)
