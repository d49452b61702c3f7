"""The panel Files: model files of the project, new ones from templates and from the library, dropped ones."""

from __future__ import annotations

import inspect
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.formats import ENDINGS, FORMATS
from kinemorph.formats.toml.templates import TEMPLATES, template, with_name
from kinemorph.model.library.choosing import CHOICE, choose, signatures
from kinemorph.studio.documents import new_files
from kinemorph.studio.panels.same_in_python import Code, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session

GRID = "grid"  # a kind of new model that only the studio has: modules are placed by hand


@request("files")
def files(session: Session, channel: Channel) -> dict[str, Any]:
    """What the panel shows: the model files of the project, the templates, the robots of the library, the formats."""
    return {
        "folder": session.folder.name,
        "files": session.documents(),
        "unlisted": session.project.unlisted,
        "templates": [
            {"kind": GRID, "title": "an empty grid for modules"},
            *({"kind": kind, "title": row.title} for kind, row in TEMPLATES.items()),
        ],
        "library": _library(),
        "formats": [{"name": row.name, "title": row.title, "endings": list(row.endings)} for row in FORMATS.values()],
        "endings": [*ENDINGS, *new_files.OTHERS],
    }


@request("robot_picture")
def robot_picture(session: Session, channel: Channel, *, robot: str) -> dict[str, Any]:
    """A small picture of a robot of the library, as a data address."""
    return _picture(robot)


@request("new_model")
def new_model(session: Session, channel: Channel, *, name: str, kind: str = "arm") -> dict[str, Any]:
    """Makes a new model file from a template, or one with an empty grid for modules, and returns its name."""
    file = name if name.endswith(".toml") else f"{name}.toml"
    robot = PurePosixPath(file).name.removesuffix(".toml")
    new_files.new_path(session.project, file)
    if kind == GRID:
        text = with_name(new_files.EMPTY_GRID, robot)
        told = same(script("from pathlib import Path", "", call(f"Path({file!r}).write_text", text)))
    else:
        text = template(kind).named(robot)
        told = same("", command("new", file.removesuffix(".toml"), kind=kind))
    return _made(session, new_files.add_new(session.project, file, text.encode())) | {"same": told}


@request("from_library")
def from_library(session: Session, channel: Channel, *, robot: str, name: str = "") -> dict[str, Any]:
    """Writes a robot of the library, such as "chain:20", as a new TOML file, and returns its name."""
    system = choose(robot)
    file = name or new_files.free_name(session.project, system.name)
    file = file if file.endswith(".toml") else f"{file}.toml"
    lost = new_files.save_model(session.project, system, file)
    python = script(
        "import kinemorph as km",
        "from kinemorph.model.library.choosing import choose",
        "",
        call("km.save", Code(call("choose", robot)), file),
    )
    return _made(session, file) | {"lost": lost, "same": same(python, command("export", robot, output=file))}


@request("copy_file")
def copy_file(session: Session, channel: Channel, *, document: str, name: str) -> dict[str, Any]:
    """Copies a model file under another name."""
    ending = PurePosixPath(document).suffix
    file = name if name.lower().endswith(ending.lower()) else f"{name}{ending}"
    new_files.new_path(session.project, file)
    text = session.document(document).text
    return _made(session, new_files.add_new(session.project, file, text.encode("utf-8", "surrogateescape")))


@request("convert")
def convert(session: Session, channel: Channel, *, document: str, name: str = "") -> dict[str, Any]:
    """Writes a file of another format as TOML beside it; `lost` are sentences about what was not carried over."""
    made, lost = new_files.convert(session.project, document, name)
    python = script("import kinemorph as km", "", call("km.save", Code(call("km.load", document)), made))
    return _made(session, made) | {"lost": lost, "same": same(python, command("export", document, output=made))}


def _made(session: Session, name: str) -> dict[str, Any]:
    """Tells all pages about a new file, and returns its name."""
    session.push({"push": "project", "documents": session.documents()})
    return {"document": name}


@cache
def _library() -> list[dict[str, Any]]:
    """The robots of the library: name, first sentence of the description, and arguments with their defaults."""
    arguments = signatures()
    return [
        {"name": name, "title": _first_sentence(make), "arguments": arguments[name]} for name, make in CHOICE.items()
    ]


def _first_sentence(function: Any) -> str:
    """The first paragraph of a docstring in one line, without the marks around names."""
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split()).replace("`", "")


@cache
def _picture(robot: str) -> dict[str, Any]:
    """The picture of a robot of the library, drawn once."""
    from kinemorph.display.faces import thumbnails

    found = thumbnails.robot_picture(choose(robot))
    return {"source": found.source, "width": found.width, "note": found.note}
