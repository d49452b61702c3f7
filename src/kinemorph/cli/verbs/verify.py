"""The verb `verify`: checks the derived equations of a robot."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, option, put, verb, working
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.verbs.derive import Formulation
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot


@verb
def verify(
    robot: RobotName,
    states: Annotated[int, option("Number of random states to check.", min=1)] = 8,
    seed: Annotated[int, option("Seed of the random states.", min=0)] = 0,
    formulation: Formulation = "newton_euler",
    table: Annotated[
        bool,
        flag(
            "--table",
            "Compare all formulations instead: error against the recursion, operations, times to derive, compile, run.",
        ),
    ] = False,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Checks the derived equations against laws of mechanics and other formulations, and compiled against interpreted
    code.
    """
    model = chosen(robot, reading).robot
    if table:
        _compare(model, formulation, states, seed, as_json)
    from kinemorph.analysis.verification import verify as verification
    from kinemorph.deriving.dynamics import derive as derived
    from kinemorph.display.tables import robot_tables

    with working(f"verifying {model.name}"):
        dynamics = derived(model, formulation, few_calls=True)  # type: ignore[arg-type]
        verdict = verification.verify(dynamics, states=states, seed=seed)
    put(verdict.as_dict(), as_json, robot_tables.check_tables)
    raise typer.Exit(WELL if verdict.passed else FAILED)


def _compare(model: Robot, formulation: str, states: int, seed: int, as_json: bool) -> NoReturn:
    """Prints the table of all formulations; the exit code tells whether all agree with the recursion."""
    from kinemorph.analysis.verification.formulation_errors import REFERENCE
    from kinemorph.bench.speed.formulations import formulation_costs
    from kinemorph.display.tables import robot_tables

    if formulation != REFERENCE:
        raise KinemorphError(
            f"--formulation is '{formulation}', but --table compares all of them. Leave one of the two options out."
        )
    with working(f"deriving {model.name} by every formulation"):
        data = formulation_costs(model, states=states, seed=seed)
    put(data, as_json, robot_tables.formulation_tables)
    raise typer.Exit(WELL if data["passed"] else FAILED)
