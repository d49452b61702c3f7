"""The verb `simulate`: computes the motion of a robot over time."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kinemorph.cli.application import Json, flag, option, put, reported_warnings, verb
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.plot_options import PlotOptions
from kinemorph.cli.options.run_options import RunOptions, progress_bar, report_run
from kinemorph.cli.options.scene_options import SceneOptions
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.errors import KinemorphError
from kinemorph.words import listed


def _print_methods(context: typer.Context, wanted: bool) -> None:
    """Prints the integration methods and exits, where --methods is given."""
    if wanted:
        from kinemorph.simulation.integrators.methods import methods_sheet

        put(methods_sheet(), context.params.get("as_json", False))
        raise typer.Exit


@verb
def simulate(
    robot: RobotName,
    *,
    named: Annotated[
        str | None,
        option("Run [runs.NAME] of the model file; options given beside it override it.", "NAME", names=("--run",)),
    ] = None,
    run: RunOptions,
    methods: Annotated[bool, flag("--methods", "List the integration methods.", callback=_print_methods)] = False,
    state: StateOptions,
    plots: Annotated[PlotOptions, "plot", "columns", "degrees"],
    scenes: Annotated[SceneOptions, "html", "open", "gif", "mp4", "van", "speed"],
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Simulates a robot; saves, plots and shows the run. A run that fails keeps the part before the failure."""
    from kinemorph.display import series
    from kinemorph.simulation.planned_run import changed_plan, plan_of, prepared_run
    from kinemorph.simulation.results.run_notes import acting_joints, beyond_limits, inactive_notes

    if run.step is not None and (run.rtol, run.atol) != (None, None):
        raise KinemorphError(
            "--step keeps the step size constant, but --rtol and --atol adapt it. Give either --step or tolerances."
        )
    in_table = plots.columns is not None and run.save is not None and run.save.suffix.lower() == ".csv"
    if plots.columns is not None and not (plots.plot or scenes.html or scenes.open or in_table):
        raise KinemorphError(
            f"--columns is '{plots.columns}', but there is no plot, replay or table to show it in. Give --plot, --html "
            "or --save FILE.csv as well."
        )
    given = chosen(robot, reading)
    options = {key: value for key, value in run.given.items() if key != "save"}
    options |= {"time": run.time, "limits": run.limits, "friction": run.friction, "contacts": run.contacts}
    options["ground"] = run.ground
    options |= state.given()
    plan = changed_plan(plan_of(given, named), **{key: value for key, value in options.items() if value is not None})
    with reported_warnings():  # such as those of collision meshes that are missing
        prepared = prepared_run(given, plan)
    system = prepared.system
    notes = [f"{given.robot.name} {note.told('--')}" for note in prepared.notes]
    if given.starts and not plan.start:
        notes.append(f"starts of the file: {listed(given.starts, 12)}; --start NAME begins there")
    quiet = prepared._replace(system=replace(system, source=""))  # notes name data of the file that do not act
    with reported_warnings(), progress_bar(given.robot.name, prepared.until) as progress:
        trajectory = quiet.run(progress=progress, save=run.save)
    if in_table and run.save is not None:
        wanted = [column.name for column in series.chosen(trajectory, plots.names)]
        trajectory.save(run.save, columns=[name for name in wanted if name in trajectory.on_request])
    notes += acting_joints(system, given) + beyond_limits(system, trajectory)
    notes += inactive_notes(system, driven=bool(plan.inputs or (plan.start and given.starts[plan.start].u)))
    sheet = trajectory.sheet()
    report_run(trajectory, sheet, save=run.save, plots=plots, scenes=scenes, notes=notes, as_json=as_json)
