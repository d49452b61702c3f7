"""The verb `demo`: writes a folder of pictures, tables and summaries that show what kinemorph does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinemorph.cli.application import FAILED, WELL, Json, option, put, verb, working
from kinemorph.cli.options.model_argument import ROBOT_HELP, ReadingOptions, chosen


@verb
def demo(
    output: Annotated[Path, option("Folder for pictures and summaries.")] = Path("out"),
    robot: Annotated[str | None, option(f"Show this robot instead of the organism. {ROBOT_HELP}")] = None,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Assembles an organism of nine modules, derives and verifies its equations, and simulates how it crawls.

    --robot derives, verifies and draws another robot instead. Pictures, tables, a replay and a summary are written to
    a folder.
    """
    from kinemorph.cli.demo import crawl_demo, robot_demo
    from kinemorph.cli.demo.summary import demo_sheet

    if robot is None:
        with working("assembling nine modules") as tell:
            data = crawl_demo.crawl_demo(output, tell)
    else:
        model = chosen(robot, reading).robot
        with working(f"deriving {model.name}") as tell:
            data = robot_demo.robot_demo(model, output, tell)
    put(data, as_json, demo_sheet)
    raise typer.Exit(WELL if data["passed"] else FAILED)
