"""Commands that edit the grid of cells of docked modules: place, erase, turn, move, copy, mirror, rename, connect.

A cell is [row, column], counted from 0. Cells above and left of the grid have negative numbers; the grid grows there,
and its first row and column are 0 again afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import tomlkit
from tomlkit import TOMLDocument

from kinemorph.model.modules import grid_edits
from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.docked_sides import module_name
from kinemorph.model.modules.grid_edits import Board
from kinemorph.model.modules.grids import DIRECTIONS
from kinemorph.model.modules.organisms import VIRTUAL
from kinemorph.studio.documents.commands.command import Cell, Command, CommandError, Field
from kinemorph.studio.documents.commands.layout import has, put, removed, renamed_header
from kinemorph.studio.documents.commands.modules_of_file import (
    BASE,
    as_list,
    assembly_of,
    base_of,
    board_in,
    has_list,
    refusals,
    settings_of,
    with_board,
)
from kinemorph.words import listed

CELLS = Field("cells", "cells", "The cells, each [row, column].")
BY = Field("by", "cell", "Number of rows down and of columns to the right; negative for up and left.")
MODULE = Field("module", "name", "The name of the module.")


def place(document: TOMLDocument, cell: Cell, kind: str, front: str, name: str) -> str:
    """Puts a module into a cell."""
    return _edited(document, lambda board: grid_edits.placed(board, [cell], kind, front, name))


def paint(document: TOMLDocument, cells: Iterable[Cell], kind: str, front: str) -> str:
    """Puts modules of one kind into several cells."""
    return _edited(document, lambda board: grid_edits.placed(board, cells, kind, front))


def erase(document: TOMLDocument, cells: Iterable[Cell]) -> str:
    """Removes the modules in cells."""
    return _edited(document, lambda board: grid_edits.erased(board, cells))


def turn(document: TOMLDocument, cells: Iterable[Cell], quarters: int) -> str:
    """Turns the modules in cells."""
    return _edited(document, lambda board: grid_edits.turned(board, cells, quarters))


def move(document: TOMLDocument, cells: Iterable[Cell], by: Cell) -> str:
    """Moves the modules in cells."""
    return _edited(document, lambda board: grid_edits.moved(board, cells, by))


def duplicate(document: TOMLDocument, cells: Iterable[Cell], by: Cell) -> str:
    """Copies the modules in cells."""
    return _edited(document, lambda board: grid_edits.copied(board, cells, by))


def mirror(document: TOMLDocument, cells: Iterable[Cell], axis: str) -> str:
    """Mirrors the modules in cells."""
    return _edited(document, lambda board: grid_edits.mirrored(board, cells, axis))


def connect(document: TOMLDocument, a: Cell, b: Cell) -> str:
    """Docks two neighboring modules."""
    return _edited(document, lambda board: grid_edits.connected(board, a, b))


def disconnect(document: TOMLDocument, a: Cell, b: Cell) -> str:
    """Undocks two neighboring modules."""
    return _edited(document, lambda board: grid_edits.disconnected(board, a, b))


def _edited(document: TOMLDocument, edit: Callable[[Board], Board]) -> str:
    with refusals():
        board = board_in(document)
        return with_board(document, edit(board), base_of(document, board))


# ── names and settings ────────────────────────────────────────────────────────────────────────────────────────────────


def rename_module(document: TOMLDocument, module: str, name: str) -> str:
    """Renames a module, and its bodies, joints and ports wherever the file names them."""
    assembly = assembly_of(document)
    with refusals():
        assembly.module(module)
        new = module_name(int(name) if name.isdecimal() and len(name) < 10 else name)
        if "grid" in settings_of(document):
            board = board_in(document)
            base = base_of(document, board)
            if has(document, BASE) and base == module:
                put(document, BASE, new)
            text = with_board(document, grid_edits.renamed(board, module, new), new if base == module else base)
        else:
            if new in assembly.names:
                raise CommandError(f"there is a module '{new}' already. Choose another name.")
            text = renamed_header(tomlkit.dumps(as_list(document)), ("modules", module), new)
    return _renamed_parts(text, assembly, module, new)


def _renamed_parts(text: str, assembly: Assembly, module: str, new: str) -> str:
    """The text with other names for what belongs to a module: m3_hinge becomes head_hinge, m3_port5 head_port5."""
    kind = assembly.module(module).type
    own: list[str] = [*(body.name for body in kind.bodies), *(joint.name for joint in kind.joints), "root", "stub"]
    own += [f"port{side}" for side in kind.sides]
    names = {f"{module}_{part}": f"{new}_{part}" for part in own}
    for docking in assembly.dockings:
        if module in (docking.a, docking.b):
            a, b = (new if end == module else end for end in (docking.a, docking.b))
            names[docking.name] = f"{a}_{docking.side_a}_{b}_{docking.side_b}"
    longest = sorted(names, key=len, reverse=True)
    text = re.sub(rf"(?<!\w)({'|'.join(map(re.escape, longest))})(?!\w)", lambda match: names[match[1]], text)
    return re.sub(rf"""(["']){re.escape(module)}\1""", lambda match: f"{match[1]}{new}{match[1]}", text)


def set_base(document: TOMLDocument, module: str) -> str | None:
    """Makes a module the base."""
    assembly = assembly_of(document)
    with refusals():
        assembly.module(module)
    if module == assembly.names[0] and not has(document, BASE):
        return None
    return put(document, BASE, module)


def root(document: TOMLDocument, joints: tuple[str, ...]) -> str | None:
    """Sets the joint or the virtual joints between the world and the base."""
    one = joints[0] if len(joints) == 1 else ""
    if one not in ("free", "fixed") and (any(joint not in VIRTUAL for joint in joints) or not 1 <= len(joints) <= 6):
        raise CommandError(
            f"root is {listed(joints) or 'empty'}, expected free, fixed, or 1 to 6 virtual joints of {listed(VIRTUAL)}."
        )
    return _setting(document, "root", one or list(joints), "free")


def dyads(document: TOMLDocument, form: str) -> str | None:
    """Chooses whether modules are two halves, or one body each."""
    return _setting(document, "dyads", form, "halves")


def ground(document: TOMLDocument, on: bool) -> str | None:
    """Puts the modules on the ground, or takes the ground away."""
    return _setting(document, "ground", on, False)


def several(document: TOMLDocument, on: bool) -> str | None:
    """Allows several organisms, or only one."""
    return _setting(document, "several", on, False)


def planar(document: TOMLDocument, on: bool) -> str | None:
    """Accepts only planar trees, or anything."""
    return _setting(document, "planar", on, False)


def _setting(document: TOMLDocument, key: str, value: object, usual: object) -> str | None:
    """Sets a key of [assembly], or removes it where the value is the usual one."""
    if not has_list(document) and "assembly" not in document:
        raise CommandError("the file has no docked modules. Place one in the grid first.")
    if value != usual:
        return put(document, ("assembly", key), value)
    return removed(document, ("assembly", key)) if has(document, ("assembly", key)) else None


def _at(cell: Cell) -> str:
    return f"row {cell[0] + 1}, column {cell[1] + 1}"


FRONT = Field("front", "choice", "Direction of the front: > is +x, ^ is +y, < is -x, v is -y.", ">", tuple(DIRECTIONS))
KIND = Field("kind", "name", "Letter of the kind of module.")
ON = Field("on", "flag", "Whether it is so.")
ROWS = (
    Command(
        "place",
        "Puts a module into a cell of the grid; a module that is there is replaced and keeps its name.",
        place,
        (
            Field("cell", "cell", "The cell, [row, column]."),
            KIND,
            FRONT,
            Field("name", "text", "Name of the module; the next free number if it is left out.", ""),
        ),
        lambda cell, kind, front, name: f"place {kind}{front}{name} in {_at(cell)}",
    ),
    Command(
        "paint",
        "Puts modules of one kind into several cells of the grid.",
        paint,
        (CELLS, KIND, FRONT),
        lambda cells, kind, front: f"place {kind}{front} in {len(cells)} cells",
    ),
    Command("erase", "Removes the modules in cells.", erase, (CELLS,), lambda cells: f"erase {len(cells)} cells"),
    Command(
        "turn",
        "Turns the modules in cells in place, counterclockwise seen from above.",
        turn,
        (CELLS, Field("quarters", "whole", "Number of quarter turns; -1 is clockwise.", 1)),
        lambda cells, quarters: f"turn {len(cells)} cells",
    ),
    Command(
        "move",
        "Moves the modules in cells.",
        move,
        (CELLS, BY),
        lambda cells, by: f"move {len(cells)} cells",
    ),
    Command(
        "duplicate",
        "Copies the modules in cells; the copies get the next free numbers.",
        duplicate,
        (CELLS, BY),
        lambda cells, by: f"copy {len(cells)} cells",
    ),
    Command(
        "mirror",
        "Mirrors the modules in cells where they are.",
        mirror,
        (CELLS, Field("axis", "choice", "x exchanges left and right, y up and down.", "x", ("x", "y"))),
        lambda cells, axis: f"mirror {len(cells)} cells",
    ),
    Command(
        "connect",
        "Docks the modules of two neighboring cells.",
        connect,
        (Field("a", "cell", "A cell."), Field("b", "cell", "The cell beside it.")),
        lambda a, b: f"dock {_at(a)} and {_at(b)}",
    ),
    Command(
        "disconnect",
        "Undocks the modules of two neighboring cells; connectors are drawn between those that stay docked.",
        disconnect,
        (Field("a", "cell", "A cell."), Field("b", "cell", "The cell beside it.")),
        lambda a, b: f"undock {_at(a)} and {_at(b)}",
    ),
    Command(
        "rename_module",
        "Renames a module, and its bodies, joints and ports wherever the file names them.",
        rename_module,
        (MODULE, Field("name", "name", "The new name, or a number.")),
        lambda module, name: f"rename {module} to {name}",
    ),
    Command("base", "Makes a module the base.", set_base, (MODULE,), lambda module: f"base = {module}"),
    Command(
        "root",
        "Sets the joint between the world and the base.",
        root,
        (Field("joints", "names", f"free, fixed, or virtual joints of {listed(VIRTUAL)}."),),
        lambda joints: f"root = {listed(joints)}",
    ),
    Command(
        "dyads",
        "Chooses whether a module is two halves with a hinge, or one body.",
        dyads,
        (Field("form", "choice", "halves or adapted.", inner=("halves", "adapted")),),
        lambda form: f"dyads = {form}",
    ),
    Command("ground", "Puts the modules on the ground z = 0.", ground, (ON,), lambda on: f"ground = {on}"),
    Command("several", "Allows modules that are not connected.", several, (ON,), lambda on: f"several = {on}"),
    Command("planar", "Accepts only planar trees of modules.", planar, (ON,), lambda on: f"planar = {on}"),
)
