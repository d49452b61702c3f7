"""The verb `identify`: masses, inertias and friction of a robot from recorded motions and forces."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinemorph.cli.application import Json, flag, option, put, reported_warnings, say, verb, working
from kinemorph.cli.options import option_values
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen, is_file
from kinemorph.cli.output_files import make_folder, write_text, wrote
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.errors import KinemorphError
from kinemorph.formats import FORMATS, by_ending
from kinemorph.model.system import FileData
from kinemorph.sheet import hidden
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.analysis.identification.identified import Identified
    from kinemorph.analysis.identification.rates import Rates

PICTURES = ("forces", "parameters", "residuals")


HELD = 1e-9  # [1] how far a number may change when the model is written and read back


class Written(StrEnum):
    """The formats that --to chooses from: those that keep masses, inertias and friction."""

    urdf = "urdf"
    sdf = "sdf"
    mjcf = "mjcf"
    toml = "toml"


class MethodChoice(StrEnum):
    """The estimators."""

    weighted = "weighted"
    ordinary = "ordinary"
    robust = "robust"
    total = "total"
    instrumental = "instrumental"


class FormChoice(StrEnum):
    """What is balanced: see `kinemorph.identification`."""

    torques = "torques"
    momentum = "momentum"
    wrenches = "wrenches"


@dataclass(frozen=True)
class DataOptions:
    """How recordings are read, and how velocities and accelerations are found."""

    column: Annotated[
        list[str] | None,
        option("A column with another name, unit or sign: MEANING=COLUMN or MEANING=GAIN*COLUMN, as tau.elbow=9.5*i3. "
               "Others are read by their names. May be repeated.", "TEXT"),
    ] = None  # fmt: skip
    unit: Annotated[
        list[str] | None, option("Unit of a column or a group, as q=deg. May be repeated.", "NAME=UNIT")
    ] = None
    cutoff: Annotated[float | None, option("Cut-off [Hz] of the zero-phase filter.", default="chosen by forces")] = None
    force_cutoff: Annotated[float | None, option("Cut-off [Hz] for forces.", default="forces are not filtered")] = None
    period: Annotated[float | None, option("Fit Fourier series of this period [s] instead of filtering.")] = None
    harmonics: Annotated[int | None, option("Number of harmonics of the Fourier series.", default="5")] = None

    def columns(self) -> dict[str, Any] | None:
        """{column of the file: (meaning, gain)} of --column; None where it is not given."""
        found: dict[str, Any] = {}
        for text in self.column or ():
            meaning, equals, source = (part.strip() for part in text.partition("="))
            gain, star, name = (part.strip() for part in source.rpartition("*"))
            if not equals or not meaning or not name:
                raise KinemorphError(
                    f"--column is '{text}'; expected MEANING=COLUMN or MEANING=GAIN*COLUMN, such as tau.elbow=9.5*i3. "
                    "Write it so."
                )
            factor = option_values.number(gain, f"--column {meaning}") if star else 1.0
            found[name] = (meaning, factor) if "." in meaning or star else meaning
        return found or None

    def units(self) -> dict[str, str]:
        """{name: unit} of --unit."""
        found = {}
        for text in self.unit or ():
            name, equals, unit = (part.strip() for part in text.partition("="))
            if not equals or not name or not unit:
                raise KinemorphError(f"--unit is '{text}'; expected NAME=UNIT, such as q=deg. Write it so.")
            found[name] = unit
        return found

    def rates(self) -> Rates | None:
        """How rates are found; None for the default."""
        from kinemorph.analysis.identification.rates import Periodic, ZeroPhase

        for value, name in (
            (self.cutoff, "--cutoff"),
            (self.force_cutoff, "--force-cutoff"),
            (self.period, "--period"),
        ):
            option_values.above_zero(value, name)
        filtered = self.cutoff is not None or self.force_cutoff is not None
        if self.period is not None:
            if filtered:
                raise KinemorphError("--period fits Fourier series, and --cutoff filters. Give one of them.")
            return Periodic(self.period, 5 if self.harmonics is None else self.harmonics)
        if self.harmonics is not None:
            raise KinemorphError("--harmonics belongs to --period. Give the period [s], too.")
        return ZeroPhase(self.cutoff, self.force_cutoff) if filtered else None


@verb
def identify(
    robot: RobotName,
    data: Annotated[
        list[Path], typer.Argument(metavar="DATA...", help="Files of recordings (.csv).", show_default=False)
    ],
    validate: Annotated[
        list[Path] | None, option("A recording that is predicted, not used. May be repeated.", "FILE")
    ] = None,
    output: Annotated[Path | None, option("Folder for model and report.", "DIR", default="ROBOT_identified")] = None,
    to: Annotated[
        Written | None,
        option(
            f"Format of the model: {', '.join(Written)}.",
            "FORMAT",
            default="that of the file, and TOML beside it where that cannot hold all identified values",
        ),
    ] = None,
    method: Annotated[MethodChoice, option("The estimator.")] = MethodChoice.weighted,
    form: Annotated[FormChoice, option("What is balanced; momentum needs no accelerations.")] = FormChoice.torques,
    friction: Annotated[str, option("Parts of friction that are identified, or none.", "NAMES")] = (
        "viscous,coulomb,offset"
    ),
    armature: Annotated[bool, flag("--armature", "Identify the armatures of the joints, too.")] = False,
    known: Annotated[str | None, option("Known values, such as hand.m=0.73.", "NAME=VALUE,...")] = None,
    prior: Annotated[float, option("Weight of the model's values where data leave parameters open.")] = 0.1,
    mass_deviation: Annotated[float, option("Standard deviation of the model's masses, relative to them.")] = 0.3,
    confidence: Annotated[float, option("Probability of the intervals.")] = 0.95,
    pictures: Annotated[
        bool, option("Draw forces, parameters and residuals.", names=("--pictures/--no-pictures",))
    ] = True,
    *,
    reading: ReadingOptions,
    recordings: DataOptions,
    as_json: Json = False,
) -> None:
    """Identifies masses, inertias and friction from recorded motions and forces, and writes the model and a report.

    Columns of the files are those of a saved run: t, q.elbow, v.elbow, tau.elbow. Intervals count that errors of
    neighboring samples depend on each other. The folder gets the model, report.md and report.html.
    """
    from kinemorph.analysis.identification.identify import identify as identified

    system = chosen(robot, reading)
    values = option_values.values(known, "--known")
    if isinstance(values, list):
        raise KinemorphError(f"--known is '{known}'; expected values by name, such as hand.m=0.73. Write it so.")
    folder = output or Path(f"{identifier(system.name)}_identified")
    parts = [part.strip() for part in friction.split(",") if part.strip() and part.strip() != "none"]
    with reported_warnings(), working(f"identifying {system.name}"):
        result = identified(
            system,
            data,
            validate=validate or (),
            columns=recordings.columns(),
            units=recordings.units(),
            rates=recordings.rates(),
            form=form.value,
            friction=parts,
            armature=armature,
            known=values,
            method=method.value,
            prior=prior,
            mass_deviation=mass_deviation,
            confidence=confidence,
        )
    make_folder(folder)
    report = _reported(result, folder, PICTURES if pictures else ())
    files = wrote(_written(result, folder, robot, to, reading), report)
    put(result.sheet().with_parts(hidden(files=files)), as_json)


def _written(
    result: Identified, folder: Path, robot: str, to: Written | None, reading: ReadingOptions
) -> tuple[Path, ...]:
    """Writes the identified model in the format `to` and returns the paths of all files.

    By default it is the format of the model's file if that can be written, else TOML. Where this format cannot hold
    all identified values, the model is written in TOML, too, and a note says so.
    """
    from kinemorph.formats.loading import save

    row = by_ending(robot) if is_file(robot) else FORMATS["toml"]
    if to is not None:
        row = FORMATS[to.value]
    elif row.name not in Written.__members__:
        row = FORMATS["urdf" if row.name == "xacro" else "toml"]
    ending = Path(robot).suffix if is_file(robot) and Path(robot).suffix in row.endings else row.endings[0]
    path = folder / f"{identifier(result.robot.name)}{ending}"
    with reported_warnings():
        files = save(result.model, path, format=row.name)
    lost = _lost(result, path, reading) if to is None and row.name != "toml" else []
    if lost:
        beside = path.with_suffix(FORMATS["toml"].endings[0])
        say(f"note: {row.title} cannot hold {listed(lost, 8)}, so '{beside}' has the model with all identified values")
        with reported_warnings():
            files += save(replace(result.model, file_data=FileData()), beside, format="toml")  # `path` has them
    return files


def _lost(result: Identified, path: Path, reading: ReadingOptions) -> list[str]:
    """The identified masses and parameters of joints that the model has no longer when it is read back from its file.

    Centers of mass and inertias are not compared: all formats have them, some in other frames of the bodies.
    """
    from kinemorph.analysis.identification.system_parameters import system_parameters
    from kinemorph.formats.loading import examine
    from kinemorph.formats.sources import Options
    from kinemorph.mechanics.recursions.regressors import OF_BODY, OF_VELOCITY

    back = examine(path, options=Options(package_dirs=tuple(reading.package_dir or ()))).system
    kept = {} if back is None else system_parameters(back)
    names = [name for name in result.columns if name.rpartition(".")[2] in (OF_BODY[0], *OF_VELOCITY)]
    meant = system_parameters(result.model)
    return [name for name in names if not math.isclose(kept.get(name, math.nan), meant[name], rel_tol=HELD)]


def _reported(result: Identified, folder: Path, drawn: tuple[str, ...]) -> list[Path]:
    """Writes the pictures `drawn`, report.md and report.html, and returns their paths."""
    from kinemorph.display.faces.blocks import blocks
    from kinemorph.display.faces.document import Document, Figure, Section
    from kinemorph.display.faces.languages.words import Words
    from kinemorph.display.faces.terminal import parts_of
    from kinemorph.display.reports.writers import html

    with working("drawing"):
        pictures = [folder / f"{what}.png" for what in drawn]
        for path in pictures:
            result.plot(path.stem, path=path)
    title, *parts = parts_of(result.sheet())
    shown = [f"![{path.stem}]({path.name})\n" for path in pictures]
    lines = [f"# {title}\n", *shown, *(f"{part}\n" if isinstance(part, str) else part.markdown() for part in parts)]
    write_text(folder / "report.md", "\n".join(lines))
    words = Words()
    figures = [Figure(path.read_bytes(), path.stem) for path in pictures]
    chapter = Section("result", "Result", [*figures, *blocks(result.sheet(), words, most=None)])
    page = html.source(Document(str(title), "en", [chapter]), words)["report.html"]
    write_text(folder / "report.html", page.decode())
    return [*pictures, folder / "report.md", folder / "report.html"]
