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
    from kinemorph.display.faces.terminal import parts_of
    from kinemorph.display.tables.system_sheet import info_sheet
    from kinemorph.model.library.choosing import choose, signatures
    from kinemorph.model.sheets.robot_sheet import LINE, robot_line
    from kinemorph.sheet import Field, Sheet, Table

    if robot is None:
        columns = (Field("name", "robot", form="name"), *LINE, Field("data", "data, as in name:data", form="name"))
        rows = [(name, *robot_line(choose(name).robot), data) for name, data in signatures().items()]
        table = Table("robots", columns, rows)
        put(table.data()["robots"] if as_json else Sheet("Built-in", "robots", [table]), as_json, parts_of)
        return
    system, examination = examined(robot, reading, always=True)
    put(info_sheet(system, examination, robot), as_json)
