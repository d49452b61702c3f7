"""The verb `optimize`: the parameters of a system that cost least, at rest or in runs."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kinemorph.cli.application import FAILED, WELL, Json, option, put, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.state_options import StateOptions
from kinemorph.cli.output_files import wrote
from kinemorph.errors import KinemorphError
from kinemorph.sheet import hidden


class At(StrEnum):
    """Where the cost is measured."""

    equilibrium = "equilibrium"
    run = "run"


class SearchName(StrEnum):
    """How designs are searched."""

    slsqp = "slsqp"
    differential_evolution = "differential_evolution"
    random = "random"


@verb
def optimize(
    robot: RobotName,
    cost: Annotated[
        str, option("What is least: an Integral, or a formula of signals, 'work / q.x'.", "TEXT", default=False)
    ],
    over: Annotated[
        list[str],
        option(
            "A parameter and its range, stiffness=1:50, or stiffness=1:50:log for a range over decades; an input, "
            "u.hip=-5:5; in runs an initial value, v.hip=0:2. May be repeated.",
            "NAME=LOW:HIGH[:log]",
            default=False,
        ),
    ],
    condition: Annotated[
        list[str] | None,
        option(
            "A formula of signals and its limits, one of which may be left out, 'foot.normal=0:', or the number that "
            "it is equal to, q.hip=30deg. May be repeated.",
            "TEXT=LOW:HIGH",
        ),
    ] = None,
    at: Annotated[At, option("Where cost and conditions are measured: equilibrium, or the end of a run.")] = (
        At.equilibrium
    ),
    until: Annotated[float | None, option("run: the end of the runs in seconds.", default="the model's")] = None,
    search: Annotated[
        SearchName | None,
        option(f"{', '.join(SearchName)}.", default="slsqp; in runs differential_evolution"),
    ] = None,
    population: Annotated[
        int | None, option("Designs of a generation, or random ones.", default="15 for each number", min=1)
    ] = None,
    iterations: Annotated[
        int | None, option("The most steps, or generations.", default="300; 60 generations", min=1)
    ] = None,
    seed: Annotated[int, option("Seed of random designs.", min=0)] = 0,
    plot: Annotated[Path | None, option("Draw all designs that were measured: .png, .svg or .pdf.", "PATH")] = None,
    *,
    state: StateOptions,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Finds the parameters of a system that cost least, under conditions.

    At an equilibrium an Integral means its rate there. --q and --v are the guess of the equilibrium, or the start of
    the runs. The same seed gives the same result.
    """
    from kinemorph.analysis.optimizing.optimize import optimize as found_by

    option_values.picture(plot, "--plot")
    system = state.begun(chosen(robot, reading))
    options: dict[str, Any] = {"q": state.values("q"), "u": state.inputs(system)}
    if at is At.run:
        options |= {"v": state.values("v"), "until": option_values.above_zero(until, "--until", "s")}
    else:
        options |= {"locked": state.lock or ()}
    for name, given, used in (
        ("until", until, at is At.run),
        ("v", state.v, at is At.run),
        ("lock", state.lock, at is At.equilibrium),
    ):
        if given and not used:
            raise KinemorphError(f"--{name} is not used with --at {at.value}. Leave --{name} out.")
    with working(f"optimizing {system.robot.name}") as tell:
        found = found_by(
            system,
            dict(_range(text) for text in over),
            cost,
            dict(_limits(text) for text in condition or ()),
            at=at.value,
            search=None if search is None else search.value,
            population=population,
            iterations=iterations,
            seed=seed,
            progress=lambda step, cost, error: tell(f"optimizing {system.robot.name}: step {step}, cost {cost:.6g}"),
            **options,
        )
    files = []
    if plot is not None and found:
        found.plot(path=plot)
        files.append(plot)
    if not found:
        say(f"failed: {found.message}")
    put(found.sheet().with_parts(hidden(files=wrote(files))), as_json)
    raise typer.Exit(WELL if found else FAILED)


def _range(text: str) -> tuple[str, Any]:
    """The name and the range in a text `name=low:high` or `name=low:high:log`."""
    name, equals, values = (part.strip() for part in text.partition("="))
    ends = values.split(":")
    if not (name and equals) or len(ends) not in (2, 3) or (len(ends) == 3 and ends[2] != "log"):
        raise KinemorphError(
            f"--over is '{text}'; expected a name with two numbers, and 'log' for a range over decades. Write for "
            "example stiffness=1:50:log."
        )
    low, high = (option_values.number(end, f"--over {name}") for end in ends[:2])
    return name, (low, high, "log") if len(ends) == 3 else (low, high)


def _limits(text: str) -> tuple[str, Any]:
    """The formula and the limits in a text `formula=low:high`, or `formula=value`; a limit may be left out."""
    name, equals, values = (part.strip() for part in text.rpartition("="))
    low, colon, high = values.partition(":")
    if not (name and equals) or values in ("", ":"):
        raise KinemorphError(
            f"--condition is '{text}'; expected a formula with limits. Write for example 'foot.normal=0:' or q.hip=0.5."
        )
    if not colon:
        return name, option_values.number(values, f"--condition {name}")
    ends = (-math.inf, math.inf)
    read = [option_values.number(end, f"--condition {name}") if end else ends[k] for k, end in enumerate((low, high))]
    return name, (read[0], read[1])
