"""The verb `program`: writes a model with its method and its initial state as a program in another language."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from kinemorph.cli.application import Json, option, out, reported_warnings, say, verb, working
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.run_options import RunOptions
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.cli.options.user_code_options import UserCodeOptions
from kinemorph.cli.output_files import wrote


class Target(StrEnum):
    """The languages that --to chooses from."""

    c = "c"
    cpp = "cpp"
    python = "python"
    matlab = "matlab"
    fmu2 = "fmu2"
    fmu3 = "fmu3"


@verb
def program(
    robot: RobotName,
    to: Annotated[Target, option(f"Language of the program, or an FMU: {', '.join(Target)}.", "LANGUAGE")] = Target.c,
    output: Annotated[
        Path | None,
        option(
            "Folder of the program; it is made if needed. For an FMU also its file, NAME.fmu.",
            "FOLDER",
            default="./program",
        ),
    ] = None,
    *,
    named: Annotated[
        str | None,
        option("Run [runs.NAME] of the model file; options given beside it override it.", "NAME", names=("--run",)),
    ] = None,
    run: Annotated[RunOptions, "time", "rtol", "atol", "loops", "method", "step", "output_step", "limits", "friction"],
    parameters: Annotated[
        str | None,
        option(
            "Parameters that the program keeps as inputs: all, or names separated by commas.", "NAMES", default="none"
        ),
    ] = None,
    systems: Annotated[
        str | None,
        option(
            "Systems whose libraries an FMU has, separated by commas: linux, linux-arm, windows, mac, mac-arm, this.",
            "NAMES",
            default="all for which there is a compiler",
        ),
    ] = None,
    scene: Annotated[
        bool,
        option(
            "Put the shapes into the program, whose option --van writes scenes for EasyDyn's viewer (C, C++, Python)."
        ),
    ] = False,
    state: StateOptions,
    code: UserCodeOptions,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Writes a program that simulates a robot without Python: its model, its method and its initial state.

    The program takes the same steps as `kinemorph simulate` with the same options. Its own options set times, step
    size, tolerances, the initial state, inputs and parameters; they are listed by its option --help. With --user, the
    program calls code of your own, which is in user.c (user.py, user_*.m) and stays when the program is written again.

    An FMU is a file for other simulation tools, by FMI 2.0 or 3.0, for co-simulation and for model exchange.
    """
    from kinemorph.programs import make_job, write_program
    from kinemorph.programs.user_files.written_once import OWN
    from kinemorph.simulation.planned_run import changed_plan, plan_of, prepared_run

    system = chosen(robot, reading)
    options = {**run.given, "time": run.time, "limits": run.limits, "friction": run.friction, **state.given()}
    plan = changed_plan(plan_of(system, named), **{key: value for key, value in options.items() if value is not None})
    prepared = prepared_run(system, plan)
    for note in prepared.notes:
        say(f"note: {system.robot.name} {note.told('--')}")
    kept = None if parameters in (None, "none") else "all" if parameters == "all" else str(parameters).split(",")
    with reported_warnings(), working(f"writing {system.robot.name} in {to.value}"):
        job = make_job(
            replace(prepared.system, source=""),
            prepared.until,
            **prepared.arguments,
            parameters=kept,
            user=code.code,
        )
        if scene:
            from kinemorph.display.scenes.program_scene import with_scene

            job = with_scene(job)
        built = None if systems is None else systems.split(",")
        folder = output or Path("program")
        known = [path / name for path in (folder, folder.parent) for name in OWN if (path / name).exists()]
        files = write_program(job, to.value, folder, systems=built)
    new = wrote([path for path in files if path not in known])  # code of the user is not written again
    data = {"robot": system.name, "target": to.value, "method": job.method.name, "files": new}
    if as_json:
        out(json.dumps(data, indent=2) + "\n")
