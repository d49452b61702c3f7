"""The verb `studio`: opens the browser application in which robots are assembled, edited, simulated and reported."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from kinemorph.cli.application import Json, option, out, say, verb
from kinemorph.errors import KinemorphError, MissingExtraError
from kinemorph.formats import ENDINGS
from kinemorph.words import did_you_mean, listed

PACKAGES = ("starlette", "uvicorn", "websockets")  # of the extra [studio]


@verb
def studio(
    place: Annotated[
        str,
        typer.Argument(
            metavar="[FOLDER|MODEL]", help="A folder with model files, or a model file in it.", show_default=False
        ),
    ] = ".",
    port: Annotated[
        int | None, option("Port of the page on this computer.", "PORT", default="the next free one from 8080 on")
    ] = None,
    no_open: Annotated[bool, option("Print the address, and do not open the browser.", names=("--no-open",))] = False,
    load: Annotated[
        list[Path] | None,
        option(
            "Python file that is executed at start, such as one with element kinds of your own. It runs with all "
            "rights of your account. May be repeated.",
            "FILE.py",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Opens the studio in the browser: models are assembled and edited by clicks, derived, simulated and reported.

    The page is served by this computer and reachable from this computer only. Every edit is stored in the model file
    at once. The studio runs until Ctrl-C.
    """
    path = _checked_place(place)
    if port is not None and not 0 <= port <= 65_535:
        raise KinemorphError(f"--port is {port}; expected a whole number from 0 to 65535. Leave it out for a free one.")
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(package, "studio")
    from kinemorph.studio.open_studio import open_studio

    with contextlib.redirect_stdout(sys.stderr):  # the address is a message; with --json it is also in the data
        opened = open_studio(path, port=port, open=not no_open, load=tuple(load or ()))
    with opened as running, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends it well, also before `wait`
        if as_json:
            out(json.dumps({"url": running.url, "folder": str(running.folder)}, indent=2) + "\n")
        say("the studio runs until Ctrl-C")
        running.wait()


def _checked_place(text: str) -> Path:
    """The folder or model file that the studio opens. Raises KinemorphError if it cannot be opened or written to."""
    path = Path(text)
    name = text.partition(":")[0]
    if "\0" in text or not path.exists():
        from kinemorph.model.library.choosing import CHOICE

        if name in CHOICE:
            raise KinemorphError(
                f"'{text}' is a built-in robot, expected a folder or a model file. Open a folder, and choose the robot "
                "in the panel Files; it is written to a file there."
            )
        where = path.parent if "\0" not in text and path.parent.is_dir() else Path(".")
        here = sorted(one.name for one in where.iterdir() if one.is_dir() or one.name.endswith(tuple(ENDINGS)))
        hint = did_you_mean(path.name, here)
        raise KinemorphError(
            f"'{text}' does not exist; expected a folder or a model file.{hint} Make the folder first, or name another."
        )
    if not path.is_dir() and not path.is_file():
        raise KinemorphError(f"'{text}' is a device or a pipe; expected a folder or a model file. Name another.")
    if path.is_file() and not path.name.lower().endswith(tuple(ENDINGS)):
        raise KinemorphError(
            f"'{text}' is not a model file; expected a name that ends in one of {listed(ENDINGS)}. Name another file, "
            "or the folder."
        )
    folder = path if path.is_dir() else path.parent
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise KinemorphError(
            f"folder '{folder}' cannot be read and written, so that edits could not be stored. Change its permissions, "
            "or copy the models to another folder."
        )
    return path
