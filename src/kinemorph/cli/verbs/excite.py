"""The verb `excite`: the motion that shows the masses and the friction of a robot best."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kinemorph.cli.application import Json, flag, option, put, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen
from kinemorph.cli.options.option_values import Values
from kinemorph.cli.output_files import check_place, write_text, wrote
from kinemorph.errors import KinemorphError
from kinemorph.sheet import hidden

if TYPE_CHECKING:
    from kinemorph.analysis.identification.excitation.zones import Zone

BOX = "x,y,z:x,y,z"
LIMIT = "one number, one for each joint that moves, or by name (elbow=2.5)"


@dataclass(frozen=True)
class LimitOptions:
    """The limits that the motion keeps, in place of those of the model."""

    position: Annotated[
        list[str] | None,
        option("Range of a joint, elbow=-90deg:1.2; may be repeated.", "JOINT=LOW:HIGH", default="the model's"),
    ] = None
    velocity: Annotated[
        str | None, option(f"Largest velocities in rad/s or m/s: {LIMIT}.", "VALUES", default="the model's")
    ] = None
    acceleration: Annotated[
        str | None,
        option("Largest accelerations in rad/s^2 or m/s^2.", "VALUES", default="5 times the largest velocities"),
    ] = None
    effort: Annotated[str | None, option("Largest torques or forces.", "VALUES", default="the model's")] = None
    share: Annotated[float, option("How much of every limit the motion may use, at most 1.")] = 1.0
    keep_out: Annotated[
        list[str] | None, option("Box that bodies stay out of: two corners in m. May be repeated.", BOX)
    ] = None
    keep_in: Annotated[list[str] | None, option("Box that bodies stay in: two corners in m. May be repeated.", BOX)] = (
        None
    )

    def given(self) -> dict[str, Any]:
        """The limits as keyword arguments of `excite`."""
        found: dict[str, Any] = {
            name: _numbers(getattr(self, name), f"--{name}") for name in ("velocity", "acceleration", "effort")
        }
        ranges = {}
        for text in self.position or ():
            joint, equals, ends = text.partition("=")
            low, colon, high = ends.partition(":")
            if not (equals and colon):
                raise KinemorphError(f"--position is '{text}'; expected a joint and its range, such as elbow=-1:1.5.")
            ranges[joint] = tuple(option_values.number(end, f"--position {joint}") for end in (low, high))
        zones = [_zone(text, "--keep-out", inside=False) for text in self.keep_out or ()]
        zones += [_zone(text, "--keep-in", inside=True) for text in self.keep_in or ()]
        return {**found, "position": ranges or None, "share": self.share, "zones": zones}


@dataclass(frozen=True)
class MeasuringOptions:
    """What a recording of the motion contains."""

    measured: Annotated[str | None, option("Joints whose forces are measured.", "NAMES", default="those that move")] = (
        None
    )
    wrenches: Annotated[
        str | None, option("Joints, also fixed ones, through which the whole wrench is measured.", "NAMES")
    ] = None
    noise: Annotated[
        str | None,
        option(
            "Standard deviations of measured forces: one number, or by name (elbow=0.1).",
            "VALUES",
            default="1 % of the limits of torques",
        ),
    ] = None
    friction: Annotated[
        str, option("Unknown parameters of joints: some of viscous, coulomb, offset and armature, or none.", "NAMES")
    ] = "viscous,coulomb,offset"
    rate: Annotated[float, option("Samples of the recording per second.")] = 100.0

    def given(self) -> dict[str, Any]:
        """These options as keyword arguments of `excite`."""
        parts = option_values.names(self.friction)
        return {
            "measured": None if self.measured is None else option_values.names(self.measured),
            "wrenches": option_values.names(self.wrenches),
            "deviations": _numbers(self.noise, "--noise"),
            "friction": [] if parts == ["none"] else parts,
            "rate": self.rate,
        }


@verb
def excite(
    robot: RobotName,
    time: Annotated[float, option("Duration of the motion in seconds: the period of its series.")] = 20.0,
    harmonics: Annotated[int, option("Number of harmonics of the series.", min=2)] = 5,
    joints: Annotated[str | None, option("Joints that move.", "NAMES", default="all joints with one axis")] = None,
    q: Annotated[
        str | None,
        option("Configuration of joints that do not move: numbers in order, or by name (elbow=30deg).", "VALUES"),
    ] = None,
    anchored: Annotated[bool, flag("--anchored", "Begin and end the motion at --q.")] = False,
    hanging: Annotated[
        str | None, option("Joints that nothing drives, and that swing as others move.", "NAMES")
    ] = None,
    element: Annotated[Path | None, option("Write the motion as an element of a model file.", "PATH.toml")] = None,
    csv: Annotated[Path | None, option("Write samples of positions, rates and torques.", "PATH.csv")] = None,
    picture: Annotated[Path | None, option("Draw the motion and its limits: .png, .svg or .pdf.", "PATH")] = None,
    draws: Annotated[int, option("Random motions to compare with and to start from.", min=1)] = 100,
    starts: Annotated[int, option("Searches, each from one of the best random motions.", min=1)] = 3,
    seed: Annotated[int, option("Seed of the random motions.", min=0)] = 0,
    *,
    limits: LimitOptions,
    measuring: MeasuringOptions,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Finds the motion from rest to rest that shows the masses and the friction of a robot best, within its limits.

    Every joint moves by a finite Fourier series; log det of the information about the parameters is largest. The result
    is an element that controllers follow, and a table of samples.
    """
    from kinemorph.analysis.identification.excitation.excite import excite as search

    for path, name in ((element, "--element"), (csv, "--csv")):
        if path is not None:
            check_place(path, name)
    option_values.picture(picture, "--picture")
    system = chosen(robot, reading)
    names = None if joints is None else option_values.names(joints)
    given = {**limits.given(), **measuring.given(), "draws": draws, "starts": starts, "seed": seed}
    with working(f"exciting {system.robot.name}") as tell:
        found = search(
            system,
            joints=names,
            duration=time,
            harmonics=harmonics,
            q=option_values.values(q, "--q"),
            anchored=anchored,
            hanging=option_values.names(hanging),
            progress=lambda step, gain: tell(f"exciting {system.robot.name}: step {step}, {gain:.2f} times better"),
            **given,
        )
        written = []
        if element is not None:
            from kinemorph.formats.toml.writer import written_elements

            write_text(element, written_elements([found.element]))
            written.append(element)
        if csv is not None:
            written.append(found.write_csv(csv))
        if picture is not None:
            found.plot(path=picture)
            written.append(picture)
    put(found.sheet().with_parts(hidden(files=wrote(written))), as_json)


def _numbers(text: str | None, name: str) -> float | Values | None:
    """The numbers of an option: one alone is for all joints."""
    found = option_values.values(text, name)
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def _zone(text: str, name: str, *, inside: bool) -> Zone:
    """The box in a text such as "-1,-1,0:1,1,2"."""
    from kinemorph.analysis.identification.excitation.zones import Zone

    corners = [[part.strip() for part in corner.split(",")] for corner in text.split(":")]
    if [len(corner) for corner in corners] != [3, 3]:
        raise KinemorphError(f"{name} is '{text}'; expected two corners [m], such as -1,-1,0:1,1,2.")
    low, high = ([_coordinate(part, name) for part in corner] for corner in corners)
    return Zone((low[0], low[1], low[2]), (high[0], high[1], high[2]), inside)


def _coordinate(text: str, name: str) -> float:
    return float(text) if text in ("inf", "-inf") else option_values.number(text, name)
