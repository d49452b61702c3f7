"""The docked modules of a document, for commands: its module types, its assembly, and its grid of cells.

A file may describe docked modules by a grid, by rows of docked sides, or by measured poses. A file without a grid gets
one when a command edits cells, if a grid can describe its modules; `as_list` is the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from kinemorph.errors import ModelError
from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import Source
from kinemorph.formats.toml.assemblies import Docked
from kinemorph.formats.toml.assembly_text import docking_sections
from kinemorph.formats.toml.reader import read_docked, read_module_types
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.grid_edits import Board, board_of
from kinemorph.model.modules.grid_text import grid_of
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.studio.documents.commands.command import CommandError, Keys
from kinemorph.studio.documents.commands.layout import found, has, plain, put, removed

GRID: Keys = ("assembly", "grid")
BASE: Keys = ("assembly", "base")
LISTS = ("modules", "dockings", "poses")  # tables that a grid replaces
LIST_KEYS = ("docked", "type", "keep", "gap", "bend")  # keys of [assembly] that a grid replaces
ALONE = ("bodies", "joints", "coordinates", "dependents", "couplings", "frames")  # tables of a robot without modules

_types: dict[str, dict[str, ModuleType]] = {}  # module types that were read last, which takes most of the time


@contextmanager
def refusals() -> Iterator[None]:
    """Problems of modules become a CommandError: the command cannot be carried out, and nothing is changed."""
    try:
        yield
    except ModelError as error:
        raise CommandError(str(error)) from None


def types_of(document: TOMLDocument) -> dict[str, ModuleType]:
    """All module types of a document by letter; wrong ones are left out."""
    if "module_types" not in document:
        return standard_types()
    text = tomlkit.dumps(document)
    return read_module_types(Source("<text>", text.encode("utf-8", "replace")), Findings("<text>"), _types)


def docked_in(text: str, name: str = "<text>") -> Docked | None:
    """The docked modules in the text of a document; None if it is not a model file with docked modules."""
    return read_docked(Source(name, text.encode("utf-8", "replace")), Findings(name), _types)


def assembly_of(document: TOMLDocument) -> Assembly:
    """The assembly of a document. Raises CommandError if its modules are wrong."""
    docked = docked_in(tomlkit.dumps(document))
    if docked is None:
        raise CommandError("the file has no docked modules. Place one in the grid first.")
    if docked.assembly is None:
        why = str(docked.problems[0]) if docked.problems else "See what is marked in the text."
        raise CommandError(f"the docked modules of the file are wrong: {why} Correct this first.")
    return docked.assembly


def settings_of(document: TOMLDocument) -> Mapping[str, Any]:
    """The keys of [assembly] as plain data; empty if there are none."""
    table = plain(document.get("assembly", {}))
    return table if isinstance(table, Mapping) else {}


def has_list(document: TOMLDocument) -> bool:
    """Whether the file lists docked sides or measured poses."""
    return any(key in document for key in LISTS) or "docked" in settings_of(document)


def board_in(document: TOMLDocument) -> Board:
    """The grid of a document as a board to edit; an empty one if the file has no modules yet.

    Raises CommandError if no grid can describe the modules of the file, or if the file has a robot without modules.
    """
    types = types_of(document)
    text = settings_of(document).get("grid")
    with refusals():
        if isinstance(text, str):
            return board_of(text, types)
        if has_list(document):
            assembly = assembly_of(document)
            grid = grid_of(assembly, types, exact=False)
            if grid is None:
                raise CommandError(f"a grid cannot show the modules of this file: {_why_no_grid(assembly)}")
            return board_of(grid, types)
    alone = next((key for key in ALONE if document.get(key)), None)
    if alone is not None:
        raise CommandError(
            f"the file has [{alone}], so it describes a robot without modules. Open a file with docked modules, or "
            "make a new one in the panel Files from the template grid."
        )
    return board_of("", types)


def _why_no_grid(assembly: Assembly) -> str:
    """Why no grid can describe an assembly, and what to do."""
    joints = next((docking for docking in assembly.dockings if docking.joint is not None), None)
    if joints is not None:
        return f"{joints} has a joint module. Dock modules in the picture, or remove the joint module."
    turned = next((docking for docking in assembly.dockings if docking.turn), None)
    if turned is not None:
        return f"{turned} has {turned.turn} quarter turns. Dock modules in the picture."
    return "its modules are not all upright, at one height and in the cells of one grid. Dock modules in the picture."


def with_board(document: TOMLDocument, board: Board, base: str) -> str:
    """The text of a document with this grid, in place of whatever described its modules before.

    `base` is the module that is the base now, if it is still there; the first module if it is not.
    """
    for key in (key for key in LISTS if key in document):
        document = tomlkit.parse(removed(document, (key,)))
    for key in (key for key in LIST_KEYS if key in settings_of(document)):
        document = tomlkit.parse(removed(document, ("assembly", key)))
    names = [row.name for row in board.placed.values()]
    first = base if base in names else names[0] if names else ""
    said = settings_of(document).get("base")
    text = None
    if said is not None and first != (f"m{said}" if isinstance(said, int) else said):
        document = tomlkit.parse(removed(document, BASE))
        said = None
    if said is None and names and first != names[0]:
        text = put(document, BASE, first)
        document = document if text is None else tomlkit.parse(text)
    text = put(document, GRID, board.text())
    return tomlkit.dumps(document) if text is None else text


def base_of(document: TOMLDocument, board: Board) -> str:
    """The base of the modules of a document, which are on a board; empty if there are none."""
    said = settings_of(document).get("base")
    first = next((row.name for row in board.placed.values()), "")
    return first if said is None else f"m{said}" if isinstance(said, int) else str(said)


def as_list(document: TOMLDocument) -> TOMLDocument:
    """The document with its modules in [modules.*] and its dockings in [[dockings]], which can describe all of them."""
    used = settings_of(document)
    listed = "dockings" in document and not any(key in used for key in ("grid", *LIST_KEYS)) and "poses" not in document
    if listed and _is_named(document):
        return document
    assembly = assembly_of(document)
    for keys in [*((key,) for key in LISTS), GRID, *(("assembly", key) for key in LIST_KEYS)]:
        if has(document, keys):
            document = tomlkit.parse(removed(document, keys))
    text = tomlkit.dumps(document).rstrip("\n")
    return tomlkit.parse("\n\n".join([text, *(part.rstrip("\n") for part in docking_sections(assembly))]) + "\n")


def _is_named(document: TOMLDocument) -> bool:
    """Whether all modules in [[dockings]] are given by name and have a type in [modules]."""
    rows, modules = plain(found(document, ("dockings",))), plain(document.get("modules", {}))
    ends = [row.get(key) for row in rows for key in ("a", "b")]
    return all(isinstance(end, str) and "type" in modules.get(end, {}) for end in ends)
