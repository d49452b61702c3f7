"""The verb `track`: the motion of a robot that follows recorded markers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinemorph.cli.application import FAILED, Json, flag, option, put, reported_warnings, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.output_files import check_place, wrote
from kinemorph.errors import KinemorphError
from kinemorph.sheet import hidden


@verb
def track(
    robot: RobotName,
    markers: Annotated[
        Path, typer.Argument(metavar="MARKERS", help="File of markers: .csv, .tsv, .trc or .c3d.", show_default=False)
    ],
    attach: Annotated[
        list[str] | None,
        option(
            "Where a marker sits: MARKER=FRAME, MARKER=BODY@X,Y,Z with a place in m, or MARKER= to leave it out. "
            "May be repeated.",
            "TEXT",
            default="the frame or body with the name of the marker",
        ),
    ] = None,
    unit: Annotated[str | None, option("Unit of lengths, such as mm.", default="the one that the file states")] = None,
    axes: Annotated[
        str,
        option("Axes of the file that are x, y and z of the model: x,-z,y for a file whose y points up.", "X,Y,Z"),
    ] = "x,y,z",
    rate: Annotated[float | None, option("Frames per second, for a file without times.")] = None,
    smoothness: Annotated[float, option("Weight of second differences over time; 0 for none.")] = 0.01,
    outliers: Annotated[
        float | None, option("Distance in m at which the weight of a marker is halved.", default="no outliers")
    ] = None,
    noise: Annotated[
        float | None, option("Standard deviation of coordinates of markers in m.", default="from the residuals")
    ] = None,
    no_limits: Annotated[bool, flag("--no-limits", "Ignore the limits of joints.")] = False,
    seed: Annotated[int, option("Seed of the random first configurations.", min=0)] = 0,
    output: Annotated[Path | None, option("Write configurations and intervals.", "PATH.csv")] = None,
    picture: Annotated[Path | None, option("Draw the model over the markers: .png, .svg or .pdf.", "PATH")] = None,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Finds the motion of a robot whose points come nearest to recorded markers, in all frames together.

    A free base is placed, too. Gaps are filled, joints keep their limits, and every angle has an interval. The exit
    code is 1 if the search did not converge.
    """
    from kinemorph.analysis.tracking.load_markers import load_markers
    from kinemorph.analysis.tracking.track import track as tracked

    system = chosen(robot, reading)
    for path, name in ((output, "--output"), (picture, "--picture")):
        if path is not None:
            check_place(path, name)
    attachments = dict(_attachment(text) for text in attach or ())
    with reported_warnings(), working(f"tracking {system.name}") as told:
        recorded = load_markers(markers, unit=unit, rate=rate, axes=tuple(part.strip() for part in axes.split(",")))
        result = tracked(
            system,
            recorded,
            attachments,
            smoothness=smoothness,
            outliers=outliers,
            limits=not no_limits,
            noise=noise,
            seed=seed,
            progress=lambda phase, step, size: told(f"{phase}, step {step}: {1e3 * size:.2g} mm"),
        )
    files = [] if output is None else [result.write_csv(output, intervals=True)]
    if picture is not None:
        result.plot(path=picture)
        files.append(picture)
    put(result.sheet().with_parts(hidden(files=wrote(files))), as_json)
    if not result:
        raise typer.Exit(FAILED)


def _attachment(text: str) -> tuple[str, str | tuple[str, tuple[float, ...]] | None]:
    """A marker and its place on the robot, from the text of one --attach."""
    marker, equals, place = (part.strip() for part in text.partition("="))
    if not marker or not equals:
        expected = "MARKER=FRAME, MARKER=BODY@X,Y,Z or MARKER=, such as toe=left_foot"
        raise KinemorphError(f"--attach is '{text}'; expected {expected}. Write it so.")
    body, at, numbers = place.partition("@")
    if not at:
        return marker, place or None
    offset = tuple(option_values.number(number.strip(), f"--attach {marker}") for number in numbers.split(","))
    return marker, (body.strip(), offset)
