"""The verb `new`: writes a model file to start from."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from kinemorph.cli.application import Json, option, out, say, verb
from kinemorph.errors import KinemorphError
from kinemorph.formats.toml.templates import TEMPLATES, template


@verb
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the robot; the file is NAME.toml.")],
    kind: Annotated[
        str, option("; ".join(f"{key}: {row.title}" for key, row in TEMPLATES.items()) + ".", "KIND")
    ] = "arm",
    as_json: Json = False,
) -> None:
    """Writes a small model file with comments, which can be simulated at once and changed step by step."""
    chosen = template(kind, "--kind")
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    robot = path.name.removesuffix(".toml")
    text = chosen.named(robot)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise KinemorphError(f"cannot write '{path}': this file exists already. Choose another name.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise KinemorphError(f"cannot write '{path}': {reason}. Choose another name or folder.") from None
    say(f"wrote {path}: {chosen.title}. Try: kinemorph simulate {shlex.quote(str(path))} --html run.html")
    if as_json:
        out(json.dumps({"robot": robot, "kind": kind, "files": [str(path)]}, indent=2) + "\n")
