"""The verb `simulate`: computes the motion of a robot over time."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kinemorph.cli.application import Json, flag, put, reported_warnings, verb
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.plot_options import PlotOptions
from kinemorph.cli.options.run_options import RunOptions, progress_bar, report_run
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.options.state_options import StateOptions, initial_configuration, is_free
from kinemorph.errors import KinemorphError
from kinemorph.model.system import Settings

FREE_TIME = 1.0  # [s], default duration of a run in which the robot falls freely


def _print_methods(wanted: bool) -> None:
    """Prints the integration methods and exits, where --methods is given."""
    if wanted:
        from kinemorph.display.tables import run_summaries, run_tables

        put(run_summaries.method_summary(), False, run_tables.method_tables)
        raise typer.Exit


@verb
def simulate(
    robot: RobotName,
    *,
    run: RunOptions,
    methods: Annotated[
        bool, flag("--methods", "List the integration methods.", callback=_print_methods, is_eager=True)
    ] = False,
    state: StateOptions,
    plots: Annotated[PlotOptions, "plot", "columns", "degrees"],
    scenes: Annotated[SceneOptions, "html", "open", "gif", "mp4", "van", "speed"],
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Simulates a robot; saves, plots and shows the run. A run that fails keeps the part before the failure."""
    from kinemorph.display.tables import run_summaries, run_tables
    from kinemorph.model.elements.forces.joint_forces import with_joint_forces
    from kinemorph.simulation.simulate import simulate as computed

    if run.step is not None and (run.rtol, run.atol) != (None, None):
        raise KinemorphError(
            "--step keeps the step size constant, but --rtol and --atol adapt it. Give either --step or tolerances."
        )
    if plots.columns is not None and not (plots.plot or scenes.html or scenes.open):
        raise KinemorphError(
            f"--columns is '{plots.columns}', but there is no plot or replay to show it in. Give --plot or --html as "
            "well."
        )
    given = chosen(robot, reading)
    system = with_joint_forces(given, limits=run.limits, friction=run.friction)
    model, settings, time = system.robot, system.settings, run.time
    v = state.values("v")
    q, note = initial_configuration(system, state.values("q"), v)
    notes = [f"{model.name} {note}"] if note else []
    if time is None and is_free(model) and settings.duration == Settings().duration:
        time = FREE_TIME
        notes.append(
            f"{model.name} is fixed to nothing and falls, so it is simulated for {time:g} s only; --time chooses "
            "another time"
        )
    inputs, locked = state.values("torque"), state.lock or ()
    with reported_warnings(), progress_bar(model.name, time or settings.duration) as progress:
        trajectory = computed(  # the notes below name data of the file that do not act
            replace(system, source=""), time, q=q, v=v, inputs=inputs, locked=locked, progress=progress, **run.given
        )  # fmt: skip
    notes += run_summaries.acting_joints(system, given) + run_summaries.beyond_limits(system, trajectory)
    notes += run_summaries.inactive_notes(system, driven=inputs is not None)
    data, tables = run_summaries.run_summary(trajectory), run_tables.run_tables
    report_run(trajectory, data, tables, save=run.save, plots=plots, scenes=scenes, notes=notes, as_json=as_json)
