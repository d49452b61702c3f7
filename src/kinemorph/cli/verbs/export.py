"""The verb `export`: writes a model in another format."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from kinemorph.cli.application import Json, option, out, reported_warnings, say, verb
from kinemorph.cli.options.model_argument import ReadingOptions, RobotName, chosen, is_file
from kinemorph.cli.output_files import check_place, write_text, wrote
from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.errors import KinemorphError
from kinemorph.formats import ENDINGS, FORMATS, Format, by_ending
from kinemorph.model.system import System
from kinemorph.words import listed, quoted


class Written(StrEnum):
    """The formats that --to chooses from: those in which models can be written."""

    urdf = "urdf"
    sdf = "sdf"
    mjcf = "mjcf"
    toml = "toml"
    dh = "dh"
    cagem = "cagem"


@verb
def export(
    robot: RobotName,
    to: Annotated[
        Written | None,
        option(f"Format to write: {', '.join(Written)}.", "FORMAT", default="from the ending of --output"),
    ] = None,
    output: Annotated[Path | None, option("Write to this file instead of stdout.", "PATH")] = None,
    scale: Annotated[
        float | None,
        option("Write it with lengths this many times as large, under the same gravity.", "FACTOR", default="1"),
    ] = None,
    *,
    reading: ReadingOptions,
    as_json: Json = False,
) -> None:
    """Writes a model in another format or size, to stdout or to a file.

    Warns about data that this format cannot express. With --scale, masses, inertias, forces and times are scaled with
    the lengths, by Froude similarity.
    """
    from kinemorph.formats.loading import save

    if to is None and output is None:
        raise KinemorphError(
            f"no format is given; expected one of {listed(Written)}. Name it with --to, or give --output."
        )
    row = FORMATS[to.value] if to is not None else _format_of(str(output))
    system = chosen(robot, reading)
    if scale is not None:
        from kinemorph.mechanics.scaling.scaled import scaled

        system = scaled(system, length=scale)
    source = Path(robot) if is_file(robot) else None
    text: str | None = None
    files: tuple[Path, ...] = ()
    if output is None:
        made = _made(system, row)
        if len(made) == 1:
            (text,) = made.values()
        else:
            files = _kept(made, source.parent if source else Path())
            say(
                f"note: this model needs {len(made)} files in {row.title}, so they are not printed to stdout; "
                "--output chooses their name"
            )
    else:
        check_place(output, "--output")
        if source is not None and output.exists() and output.samefile(source):
            raise KinemorphError(f"--output '{output}' is the model file that is read. Choose another name.")
        with reported_warnings():
            files = save(system, output, format=row.name)
    data = {"robot": system.name, "format": row.name, "files": wrote(files), "text": text}
    if as_json:
        out(json.dumps(data, indent=2) + "\n")
    elif text is not None:
        out(text)


def _format_of(output: str) -> Format:
    """The format that the ending of --output names. Raises KinemorphError for other endings."""
    endings = [ending for ending, row in ENDINGS.items() if row.name in Written.__members__]
    if not output.lower().endswith(tuple(endings)):
        raise KinemorphError(
            f"--output is '{output}'; expected a file name that ends in {listed(endings)}. Change the ending, or name "
            f"the format with --to: {listed(Written)}."
        )
    return by_ending(output)


def _made(system: System, row: Format) -> dict[str, str]:
    """The texts of a model in a format, by file name; paths in them are relative to the current folder."""
    from kinemorph.formats.loading import saved_texts

    with reported_warnings():
        return saved_texts(system, row.name, identifier(system.name))


def _kept(texts: dict[str, str], folder: Path) -> tuple[Path, ...]:
    """Writes the texts of a model into a folder and returns the paths. Raises KinemorphError if a file exists."""
    files = tuple(folder / name for name in texts)
    for path in files:
        if path.exists():
            raise KinemorphError(
                f"cannot write {quoted(texts)}: '{path}' exists already. Name another file with --output."
            )
    for path, text in zip(files, texts.values(), strict=True):
        write_text(path, text)
    return files
