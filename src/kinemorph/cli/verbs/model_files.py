"""Verbs on models as they are written: info, export, new. Each parses, calls, prints."""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kinemorph.cli.application import Json, app, out, put, say, told
from kinemorph.cli.options.model_argument import ROBOT_HELP, RobotName, chosen, examined, is_file, reads_models
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.errors import KinemorphError
from kinemorph.formats import FORMATS, Format, by_ending
from kinemorph.formats.sources import Options
from kinemorph.formats.toml.templates import TEMPLATES
from kinemorph.model.system import System
from kinemorph.words import did_you_mean


class Written(StrEnum):
    """The formats that models are written in."""

    urdf = "urdf"
    mjcf = "mjcf"
    toml = "toml"
    dh = "dh"


@app.command()
@reads_models
def info(
    options: Options,
    robot: Annotated[str | None, typer.Argument(metavar="[ROBOT]", help=ROBOT_HELP)] = None,
    as_json: Json = False,
) -> None:
    """Bodies, joints, coordinates, limits and conventions of a robot; without a robot, the list of built-in ones."""
    from kinemorph.display.tables import file_reports, summaries, terminal
    from kinemorph.model.library.choosing import choose, signatures

    if robot is None:
        rows = [
            {**summaries.robot_line(choose(name).robot), "name": name, "data": data}
            for name, data in signatures().items()
        ]
        put(rows, as_json, terminal.library_tables)
        return
    system, examination = examined(robot, options)
    put(file_reports.system_summary(system, examination, robot), as_json, terminal.robot_tables)


@app.command()
@reads_models
def export(
    robot: RobotName,
    options: Options,
    to: Annotated[
        Written | None, typer.Option(metavar="FORMAT", help=f"{', '.join(Written)}; by --output where it is left out.")
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="PATH", help="Write to this file instead of stdout.")] = None,
    as_json: Json = False,
) -> None:
    """Writes a model in another format: to stdout, or to a file. What that format cannot say is told."""
    from kinemorph.formats.loading import save

    if to is None and output is None:
        raise KinemorphError(f"export: say into which format, with --to: {', '.join(Written)}.")
    row = FORMATS[to.value] if to is not None else by_ending(str(output))
    system = chosen(robot, options)
    source = Path(robot) if is_file(robot) else None
    text: str | None = None
    files: tuple[Path, ...] = ()
    if output is None:
        made = _made(system, row)
        if len(made) == 1:
            (text,) = made.values()
        else:
            files = _kept(made, source.parent if source else Path())
            say(f"note: {row.title} takes {len(made)} files for it, so nothing goes to stdout; --output names them")
    else:
        _check_place(output, source)
        with told():
            files = save(system, output, format=row.name)
    for path in files:
        say(f"wrote {path}")
    data = {"robot": system.name, "format": row.name, "files": [str(path) for path in files], "text": text}
    if as_json:
        out(json.dumps(data, indent=2) + "\n")
    elif text is not None:
        out(text)


def _made(system: System, row: Format) -> dict[str, str]:
    """The texts of a model by file name, as they would stand in the folder where the command runs."""
    from kinemorph.formats.loading import save
    from kinemorph.formats.write_text import in_memory

    with in_memory() as texts, told():
        save(system, Path(f"{identifier(system.name)}{row.endings[0]}"), format=row.name)
    return {path.name: text for path, text in texts.items()}


def _kept(texts: dict[str, str], folder: Path) -> tuple[Path, ...]:
    """Writes the files of a model, over none that is there."""
    from kinemorph.cli.emitted_forms import write_text

    files = tuple(folder / name for name in texts)
    for path in files:
        if path.exists():
            listed = " and ".join(texts)
            raise KinemorphError(f"cannot write {listed}: '{path}' is there already. Name another file by --output.")
    for path, text in zip(files, texts.values(), strict=True):
        write_text(path, text)
    return files


def _check_place(output: Path, source: Path | None) -> None:
    if output.is_dir() or not output.parent.is_dir():
        reason = "it is a folder" if output.is_dir() else f"there is no folder '{output.parent}'"
        raise KinemorphError(f"cannot write '{output}': {reason}. Name a file in a folder that exists.")
    if source is not None and output.exists() and output.samefile(source):
        raise KinemorphError(f"--output '{output}' is the file that is read. Choose another name.")


# ── new ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the robot; the file is NAME.toml.")],
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="; ".join(f"{key}: {row.title}" for key, row in TEMPLATES.items()) + ".")
    ] = "arm",
    as_json: Json = False,
) -> None:
    """Writes a small model file with comments to start from; it loads and moves as it stands."""
    if kind not in TEMPLATES:
        hint = did_you_mean(kind, TEMPLATES)
        raise KinemorphError(f"--kind is '{kind}'; expected one of {', '.join(TEMPLATES)}.{hint}")
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    robot = path.name.removesuffix(".toml")
    if not robot or not robot.isprintable() or any(mark in robot for mark in '"\\'):
        raise KinemorphError(f"NAME is {robot!r}; expected a name for a file and a robot, such as arm.")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATES[kind].text.replace("NAME", robot))
    except FileExistsError:
        raise KinemorphError(f"'{path}' exists already. Choose another name.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise KinemorphError(f"cannot write '{path}': {reason}. Choose another place.") from None
    say(f"wrote {path}: {TEMPLATES[kind].title}. Try: kinemorph simulate {shlex.quote(str(path))} --html run.html")
    if as_json:
        out(json.dumps({"robot": robot, "kind": kind, "files": [str(path)]}, indent=2) + "\n")
