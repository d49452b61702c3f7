"""The panel Assemble: the grid of docked modules, the kinds to choose from, docking at ports, and the tables.

All answers follow from the text of the document, so that they are there right after an edit.
"""

from __future__ import annotations

from typing import Any

from kinemorph.display.scenes.module_scene import port_marks
from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.catalog import standard_types
from kinemorph.studio.assembling.assembly_view import AssemblyView, document_view, grid_data
from kinemorph.studio.assembling.ghosts import Ghost, ghost, join_ghost
from kinemorph.studio.assembling.linked_tables import linked_tables
from kinemorph.studio.assembling.palette import palette
from kinemorph.studio.documents.document import Document
from kinemorph.studio.jobs.page_tasks import document_data
from kinemorph.studio.panels.same_in_python import assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session


@request("grid")
def grid(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """The grid of a document: its modules, connectors, mistakes and settings, and the kinds to choose from."""
    found = session.document(document)
    view = document_view(found)
    types = (
        view.board.types if view.board is not None else standard_types() if view.docked is None else view.docked.types
    )
    data = grid_data(view) | {"revision": found.revision, "kinds": palette(types)}
    data["listed"] = _modules(view.assembly)
    data["ports"] = _ports(view)
    lines = assign("assembly", call("assemble", found.name)), "print(assembly_tables(assembly).written())"
    tables_line = "from kinemorph.display.tables.assembly_tables import assembly_tables"
    python = script("from kinemorph.modules import assemble", tables_line, "", *lines)
    return data | {"same": same(python, command("assemble", found.name, tables=True))}


@request("tables")
def tables(session: Session, channel: Channel, *, document: str, method: str = "dfs") -> dict[str, Any]:
    """The tables of the docked modules, each cell with what it is about; numbered path by path, or level by level."""
    if method not in ("dfs", "bfs"):
        raise UnsupportedError(f"method is {method[:80]!r}; expected 'dfs' (path by path) or 'bfs' (level by level).")
    found = session.document(document)
    view = document_view(found)
    if view.assembly is None or not view.assembly.modules:
        return {"revision": found.revision, "tables": [], "reason": _why(view)}
    made = linked_tables(view.assembly, method="dfs" if method == "dfs" else "bfs")
    return {"revision": found.revision, "tables": made, "reason": ""}


@request("ghost")
def show_ghost(
    session: Session,
    channel: Channel,
    *,
    document: str,
    module: str,
    side: str,
    kind: str,
    own_side: str,
    turn: int = 0,
    joint: str = "",
) -> dict[str, Any]:
    """What would dock at a port: why not, or the command that docks it; the page gets its picture as a push."""
    found = session.document(document)
    view = document_view(found)
    if view.assembly is None or view.docked is None:
        return {"sentence": _why(view), "command": None}
    made = ghost(
        view.assembly, view.docked.types, module, side, kind, own_side, turn, joint=joint, ground=_has_ground(view),
        poses=view.poses,
    )  # fmt: skip
    return _offered(session, channel, found, made)


@request("join_ghost")
def show_join_ghost(
    session: Session,
    channel: Channel,
    *,
    document: str,
    module: str,
    side: str,
    other: str,
    own_side: str,
    turn: int = 0,
    joint: str = "",
) -> dict[str, Any]:
    """What docking another module of the file at a port would do, answered as "ghost" answers for a new module."""
    found = session.document(document)
    view = document_view(found)
    if view.assembly is None:
        return {"sentence": _why(view), "command": None}
    return _offered(
        session, channel, found,
        join_ghost(view.assembly, module, side, other, own_side, turn, joint=joint, ground=_has_ground(view)),
    )  # fmt: skip


@request("choose_crawl")
def choose_crawl(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Starts the search for a gait with which the modules crawl; its data have the command that adds it."""
    return session.tasks.start(channel, "choose_crawl", document_data(session, document))


def _has_ground(view: AssemblyView) -> bool:
    """Whether the modules stand on the ground."""
    return bool(view.settings.get("ground")) or "grid" in view.settings


def _offered(session: Session, channel: Channel, found: Document, made: Ghost) -> dict[str, Any]:
    """Sends the picture of a ghost to a page, and returns the rest of the answer."""
    if made.scene is not None:
        about: dict[str, object] = {"document": found.name, "revision": found.revision, "possible": not made.sentence}
        session.pictures.send(channel, made.scene, about, push="ghost")
    return {"sentence": made.sentence, "command": made.command}


def _why(view: AssemblyView) -> str:
    """Why there is no assembly, as a sentence."""
    if view.docked is None:
        return "This file has no docked modules."
    return "The modules are wrong: " + str(view.docked.problems[0]) if view.docked.problems else "There are no modules."


def _modules(assembly: Assembly | None) -> list[dict[str, Any]]:
    """The modules with the names of their bodies, joints and docked sides, also where no grid shows them."""
    if assembly is None:
        return []
    letters = {module.name: module.type.letter for module in assembly.modules}
    rows = []
    for module in assembly.modules:
        docked = [
            {
                "side": str(side),
                "to": other.b,
                "on": str(other.side_b),
                "joint": other.joint.kind if other.joint else "",
            }
            for side in module.type.sides
            if (other := assembly.docking(module.name, side)) is not None
        ]
        rows.append(
            {
                "name": module.name,
                "kind": letters[module.name],
                "bodies": [f"{module.name}_{body.name}" for body in module.type.bodies],
                "joints": [f"{module.name}_{joint.name}" for joint in module.type.joints],
                "docked": docked,
                "free": [str(side) for side in assembly.free_sides(module.name)],
            }
        )
    return rows


def _ports(view: AssemblyView) -> list[dict[str, Any]]:
    """The markers of all ports."""
    if view.assembly is None:
        return []
    return [
        {
            "name": mark.name,
            "module": mark.module,
            "side": str(mark.side),
            "position": [round(x, 6) for x in mark.position],
            "normal": [round(x, 6) for x in mark.normal],
            "free": mark.free,
            "label": f"side {mark.side} of {mark.module}",
        }
        for mark in port_marks(view.assembly, view.poses)
    ]
