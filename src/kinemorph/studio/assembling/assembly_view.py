"""What a page shows of the docked modules of a document: the grid with its modules, connectors and mistakes.

Everything follows from the text of the document alone, without its robot, so that it is there right after an edit. The
view of a text is stored until another text is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import tomlkit
from tomlkit.exceptions import TOMLKitError

from kinemorph.algebra.groups import Pose
from kinemorph.errors import KinemorphError, Problem
from kinemorph.formats.toml.assemblies import Docked
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.grid_edits import Board
from kinemorph.model.modules.grids import Cell, footprint
from kinemorph.studio.documents.commands.modules_of_file import board_in, docked_in, settings_of

if TYPE_CHECKING:
    from kinemorph.studio.documents.document import Document


class AssemblyView(NamedTuple):
    """The docked modules of a text.

    `docked`    what was read from the text; None if it is not a model file with docked modules
    `poses`     the poses of the modules in the world; empty if the modules are wrong
    `board`     the grid; None if no grid can show the modules, and `reason` says why
    `settings`  the keys of [assembly]
    """

    docked: Docked | None
    poses: dict[str, Pose]
    board: Board | None
    reason: str
    settings: dict[str, Any]

    @property
    def assembly(self) -> Assembly | None:
        """The assembly; None if the modules are wrong."""
        return None if self.docked is None else self.docked.assembly


def document_view(document: Document) -> AssemblyView:
    """The docked modules of a document."""
    if not document.is_toml:
        reason = f"'{document.name}' is not a TOML file, so it has no grid. Convert it to TOML in the panel Model."
        return AssemblyView(None, {}, None, reason, {})
    return assembly_view(document.text, document.name)


@lru_cache(maxsize=8)
def assembly_view(text: str, name: str = "organism.toml") -> AssemblyView:
    """The docked modules in the text of the file `name`."""
    docked = docked_in(text, name)
    assembly = None if docked is None else docked.assembly
    poses = {} if assembly is None else assembly.poses()
    settings: dict[str, Any] = {}
    try:
        document = tomlkit.parse(text.removeprefix("\ufeff"))
        settings = dict(settings_of(document))
        return AssemblyView(docked, poses, board_in(document), "", settings)
    except KinemorphError as error:
        said = str(error)
        return AssemblyView(docked, poses, None, said[:1].upper() + said[1:], settings)
    except (TOMLKitError, ValueError, RecursionError) as error:
        return AssemblyView(docked, poses, None, f"The text is not well-formed: {error}.", {})


def grid_data(view: AssemblyView) -> dict[str, Any]:
    """The grid as data for a page: its modules, connectors, mistakes and settings; see page/panels/assemble.js."""
    assembly, board = view.assembly, view.board
    base = assembly.base if assembly is not None else ""
    data: dict[str, Any] = {
        "reason": view.reason,
        "foreign": bool(view.reason) and view.docked is None,  # a robot without modules
        "size": [0, 0],
        "modules": [],
        "links": [],
        "wrong": [],
        "mistakes": mistakes(view),
        "settings": {
            "base": base,
            "root": _listed(view.settings.get("root", "free")),
            "dyads": view.settings.get("dyads", "halves"),
            **{key: bool(view.settings.get(key)) for key in ("ground", "several", "planar")},
        },
    }
    if board is None:
        return data
    data["size"] = list(board.sheet.size)
    letters = {id(kind): letter for letter, kind in board.types.items()}
    for cell, row in board.placed.items():
        filled = sorted(footprint(cell, row.kind, row.direction))
        one = {"name": row.name, "kind": letters[id(row.kind)], "front": row.direction, "cell": list(cell)}
        data["modules"].append(one | {"cells": [list(part) for part in filled], "base": row.name == base})
    known = {cell for row in data["modules"] for cell in map(tuple, row["cells"])}
    data["wrong"] = [
        {"cell": list(cell), "text": text} for cell, text in board.sheet.cells.items() if cell not in known
    ]
    links = {*board.links}
    names = {frozenset((d.a, d.b)): d.name for d in assembly.dockings} if assembly is not None else {}
    for link in sorted(board.facing):
        pair = [board.placed[board.owner[cell]].name for cell in link]
        ends = {"a": list(link[0]), "b": list(link[1]), "modules": pair, "docked": link in links}
        data["links"].append(ends | {"joint": names.get(frozenset(pair), "")})
    return data


def mistakes(view: AssemblyView) -> list[dict[str, Any]]:
    """What is wrong with the modules: a sentence, its cells in the grid, and the names of its modules."""
    found = []
    for problem in view.docked.problems if view.docked is not None else ():
        cells, names = _places(view.board, problem)
        text = f"{problem.what[:1].upper()}{problem.what[1:]}. {problem.remedy}"
        found.append({"text": text, "cells": [list(cell) for cell in cells], "modules": names})
    return found


def _places(board: Board | None, problem: Problem) -> tuple[list[Cell], list[str]]:
    """The cells and the modules that a problem is about."""
    names = [one for one in problem.at if isinstance(one, str)]
    cells = [one for one in problem.at if not isinstance(one, str)]
    if board is None:
        return [], names
    by_name = {row.name: cell for cell, row in board.placed.items()}
    cells += [by_name[name] for name in names if name in by_name]
    names += [board.placed[board.owner[cell]].name for cell in cells if board.owner.get(cell) in board.placed]
    return list(dict.fromkeys(cells)), list(dict.fromkeys(names))


def _listed(value: Any) -> list[str]:
    """A text, or a list of texts, as a list."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [str(value)]
    return [str(one) for one in value]
