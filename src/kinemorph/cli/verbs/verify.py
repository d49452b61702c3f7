"""The verb `verify`: checks the derived equations of a robot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, option, put, verb, working
from kinemorph.cli.options.model_argument import ROBOT_HELP, ReadingOptions, chosen
from kinemorph.cli.verbs.derive import Formulation
from kinemorph.errors import KinemorphError
from kinemorph.model.robot import Robot


@verb
def verify(
    robot: Annotated[str | None, typer.Argument(metavar="[ROBOT]", help=ROBOT_HELP)] = None,
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
    report: Annotated[
        Path | None,
        option("Instead of a robot: a report whose rows are computed again, .pdf, .html, .tex or .zip.", "FILE"),
    ] = None,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Checks the derived equations against laws of mechanics and other formulations, and compiled against interpreted
    code.

    With --report it reads the model that is attached to a report, computes all rows of the report again, and names
    those that no longer hold.
    """
    if report is not None:
        _check_report(report, robot, as_json)
    if robot is None:
        raise KinemorphError("ROBOT is missing: name a model file or a built-in robot, or a report with --report.")
    model = chosen(robot, reading).robot
    if table:
        _compare(model, formulation, states, seed, as_json)
    from kinemorph.analysis.verification import verify as verification
    from kinemorph.deriving.dynamics import derive as derived

    with working(f"verifying {model.name}"):
        dynamics = derived(model, formulation, few_calls=True)  # type: ignore[arg-type]
        verdict = verification.verify(dynamics, states=states, seed=seed)
    put(verdict.sheet(), as_json)
    raise typer.Exit(WELL if verdict.passed else FAILED)


def _check_report(path: Path, robot: str | None, as_json: bool) -> NoReturn:
    """Prints which rows of a report no longer hold; the exit code tells whether all of them hold."""
    from kinemorph.display.reports.signing.verify_report import verify_report

    if robot is not None:
        raise KinemorphError(
            f"--report checks the model that is attached to '{path}', but the robot '{robot}' is named, too. Leave one "
            "of the two out."
        )
    with working(f"computing {path.name} again"):
        found = verify_report(path)
    put(found.sheet(), as_json)
    raise typer.Exit(WELL if found else FAILED)


def _compare(model: Robot, formulation: str, states: int, seed: int, as_json: bool) -> NoReturn:
    """Prints the table of all formulations; the exit code tells whether all agree with the recursion."""
    from kinemorph.analysis.verification.formulation_errors import REFERENCE
    from kinemorph.bench.speed.formulations import cost_sheet, formulation_costs

    if formulation != REFERENCE:
        raise KinemorphError(
            f"--formulation is '{formulation}', but --table compares all of them. Leave one of the two options out."
        )
    with working(f"deriving {model.name} by every formulation"):
        data = formulation_costs(model, states=states, seed=seed)
    put(data, as_json, cost_sheet)
    raise typer.Exit(WELL if data["passed"] else FAILED)
