"""The verb `info`: lists the contents of a model."""

from __future__ import annotations

from typing import Annotated

import typer

from kinemorph.cli.application import Json, put, verb
from kinemorph.cli.options.model_argument import ROBOT_HELP, ReadingOptions, examined


@verb
def info(
    robot: Annotated[str | None, typer.Argument(metavar="[ROBOT]", help=ROBOT_HELP)] = None,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Lists bodies, joints, coordinates, limits and conventions of a robot; without ROBOT, the built-in robots."""
    from kinemorph.display.tables import file_reports, robot_tables, summaries
    from kinemorph.model.library.choosing import choose, signatures

    if robot is None:
        rows = [
            {**summaries.robot_line(choose(name).robot), "name": name, "data": data}
            for name, data in signatures().items()
        ]
        put(rows, as_json, robot_tables.library_tables)
        return
    system, examination = examined(robot, reading, always=True)
    put(file_reports.system_summary(system, examination, robot), as_json, robot_tables.robot_tables)
