"""The verb `verify`: checks the derived equations of a robot."""

from __future__ import annotations

from typing import Annotated

import typer

from kinemorph.cli.application import FAILED, WELL, Json, option, put, verb, working
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.verbs.derive import Formulation


@verb
def verify(
    robot: RobotName,
    states: Annotated[int, option("Number of random states to check.", min=1)] = 8,
    seed: Annotated[int, option("Seed of the random states.", min=0)] = 0,
    formulation: Formulation = "newton_euler",
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Checks the derived equations against laws of mechanics and other formulations, and compiled against interpreted
    code.
    """
    from kinemorph.analysis.verification import verify as verification
    from kinemorph.deriving.dynamics import derive as derived
    from kinemorph.display.tables import robot_tables

    model = chosen(robot, reading).robot
    with working(f"verifying {model.name}"):
        dynamics = derived(model, formulation, few_calls=True)  # type: ignore[arg-type]
        verdict = verification.verify(dynamics, states=states, seed=seed)
    put(verdict.as_dict(), as_json, robot_tables.check_tables)
    raise typer.Exit(WELL if verdict.passed else FAILED)
