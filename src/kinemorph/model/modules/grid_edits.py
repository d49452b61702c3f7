"""Edits of a grid of cells: place, erase, turn, move, copy, mirror, rename, connect and disconnect modules.

    board = board_of("B>0 B>1", types)
    placed(board, [(1, 1)], "S", "v").text()        # a Scout below m1

Every edit returns a new board. Cells are (row, column), counted from 0; an edit may name cells above or left of the
grid, with negative numbers, and the grid grows there. An edit that would put two modules into one cell raises a
ModelError. Whether the modules are connected is not checked: a grid may be wrong while it is being edited.

Without connectors, neighbors dock wherever their ports face each other. A grid that has connectors gets them between a
module that is placed, turned or moved and all neighbors that it faces; where all neighbors that face each other are
connected, connectors say nothing and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import count

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.modules.grid_sheet import Sheet, sheet_of
from kinemorph.model.modules.grid_text import MOST, label_of
from kinemorph.model.modules.grids import (
    DIRECTIONS,
    FILLED,
    MOST_CELLS,
    NAME,
    Cell,
    Link,
    Placed,
    Token,
    facing_cells,
    footprint,
    placed_in,
)
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.words import counted, did_you_mean, listed

Pair = frozenset[Cell]

FARTHEST = 10_000  # largest number of a row or column
SIGNS = "".join(DIRECTIONS)  # in the order of quarter turns, counterclockwise
MIRRORED = {"x": {">": "<", "<": ">"}, "y": {"^": "v", "v": "^"}}  # the direction that is turned around


@dataclass(frozen=True)
class Board:
    """A grid to edit: its sheet, and the module types by letter that its tokens name."""

    sheet: Sheet
    types: Mapping[str, ModuleType]

    @cached_property
    def placed(self) -> dict[Cell, Placed]:
        """The modules by the cell of their token, in the order of their numbers; wrong tokens are left out."""
        tokens = {cell: Token(0, 0, text) for cell, text in self.sheet.cells.items()}
        return placed_in(tokens, self.types, [])

    @cached_property
    def owner(self) -> dict[Cell, Cell]:
        """For every cell that is not empty, the cell of the token of its module."""
        found = {cell: cell for cell in self.sheet.cells}
        for token, row in self.placed.items():
            found |= dict.fromkeys(footprint(token, row.kind, row.direction), token)
        return found

    @cached_property
    def facing(self) -> set[Link]:
        """The pairs of cells between which ports face each other."""
        return facing_cells(self.placed)

    @property
    def links(self) -> Collection[Link]:
        """The pairs of cells between which modules are docked."""
        return self.sheet.links or self.facing

    def text(self) -> str:
        """The text of the grid."""
        return self.sheet.text()

    def cell_of(self, module: str) -> Cell:
        """The cell of a module's token."""
        names = [row.name for row in self.placed.values()]
        for cell, row in self.placed.items():
            if row.name == module:
                return cell
        what = f"there is no module {module!r}; its modules are {listed(names)}"
        raise _wrong(what, did_you_mean(module, names).strip() or "Name one of them.")


def board_of(text: str, types: Mapping[str, ModuleType]) -> Board:
    """The board of a grid's text. Raises ModelError for misplaced connectors."""
    return Board(sheet_of(text), types)


# ── edits ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def placed(board: Board, cells: Iterable[Cell], kind: str, front: str = ">", name: str = "") -> Board:
    """The board with a module of a kind in each of these cells; a module that is there is replaced and keeps its name.

    `front` is the direction of its front. `name` is the name of a single module; by default the next free number.
    """
    if kind not in board.types:
        known = listed(f"{letter} ({one.name})" for letter, one in board.types.items())
        raise _wrong(f"kind is {kind!r}; expected one of {known}", "Choose one of them.")
    wanted = list(dict.fromkeys(cells))
    _check_room(board.sheet.cells, {*board.sheet.cells, *wanted})
    if name and len(wanted) > 1:
        raise _wrong(f"the name {name!r} is given for {len(wanted)} cells", "Name one cell, or leave the name out.")
    tokens = _tokens(board)
    changed = set()
    for cell in wanted:
        if cell in changed:
            continue
        there = next((token for token, row in tokens.items() if cell in row.cells), None)
        before = tokens.pop(there) if there is not None else None
        label = _new_label(name, tokens) if name else (before and before.label) or _next_label(tokens)
        tokens[cell] = _Tile(board.types[kind], kind, front, label, cell)
        changed.add(cell)
    return _laid(board, tokens, changed)


def erased(board: Board, cells: Iterable[Cell]) -> Board:
    """The board without the modules in these cells."""
    gone = _chosen(board, cells)
    return _laid(board, {cell: tile for cell, tile in _tokens(board).items() if cell not in gone}, ())


def turned(board: Board, cells: Iterable[Cell], quarters: int = 1) -> Board:
    """The board with the modules in these cells turned in place, counterclockwise seen from above."""
    chosen = _chosen(board, cells)
    tokens = _tokens(board)
    for cell in chosen:
        tile = tokens[cell]
        if tile.kind is not None:
            front = SIGNS[(SIGNS.index(tile.front) + quarters) % 4]
            tokens[cell] = replace(tile, front=front)
    return _laid(board, tokens, chosen)


def moved(board: Board, cells: Iterable[Cell], by: tuple[int, int]) -> Board:
    """The board with the modules in these cells moved by a number of rows and columns."""
    chosen = _chosen(board, cells)
    tokens = {cell: tile for cell, tile in _tokens(board).items() if cell not in chosen}
    own = _tokens(board)
    there = {_shifted(cell, by): own[cell] for cell in chosen}
    _check_free(tokens, there)
    return _laid(board, tokens | there, there, {frozenset(_shifted(c, by) for c in pair) for pair in _pairs(board)})


def copied(board: Board, cells: Iterable[Cell], by: tuple[int, int]) -> Board:
    """The board with copies of the modules in these cells, moved by a number of rows and columns, with free numbers."""
    chosen = _chosen(board, cells)
    tokens = _tokens(board)
    made: dict[Cell, _Tile] = {}
    for cell in (cell for cell in [*board.placed, *tokens] if cell in chosen):
        there = _shifted(cell, by)
        if there not in made:
            made[there] = replace(tokens[cell], label=_next_label({**tokens, **made}), cell=there)
    _check_free(tokens, made)
    return _laid(board, tokens | made, made, {frozenset(_shifted(c, by) for c in pair) for pair in _pairs(board)})


def mirrored(board: Board, cells: Iterable[Cell], axis: str = "x") -> Board:
    """The board with the modules in these cells mirrored: left and right for the axis x, up and down for y."""
    if axis not in MIRRORED:
        raise _wrong(f"axis is {axis!r}; expected 'x' (left and right) or 'y' (up and down)", "Choose one of them.")
    chosen = _chosen(board, cells)
    tokens = _tokens(board)
    own = {cell: tokens.pop(cell) for cell in chosen}
    filled = [cell for tile in own.values() for cell in tile.cells]
    k = 1 if axis == "x" else 0
    ends = min(cell[k] for cell in filled) + max(cell[k] for cell in filled)

    def image(cell: Cell) -> Cell:
        return (cell[0], ends - cell[1]) if axis == "x" else (ends - cell[0], cell[1])

    made: dict[Cell, _Tile] = {}
    places: dict[Cell, Cell] = {}
    for tile in own.values():
        front = MIRRORED[axis].get(tile.front, tile.front)
        there = {image(cell) for cell in tile.cells}
        fits = (replace(tile, front=front, cell=cell) for cell in sorted(there))
        new = next(one for one in fits if {*one.cells} == there)
        made[new.cell], places[tile.cell] = new, new.cell
    _check_free(tokens, made)
    return _laid(board, tokens | made, made, {frozenset(places.get(c, c) for c in pair) for pair in _pairs(board)})


def renamed(board: Board, module: str, name: str) -> Board:
    """The board with another name for a module: a number, or a letter followed by letters, digits and _."""
    cell, tokens = board.cell_of(module), _tokens(board)
    others = {there: tile for there, tile in tokens.items() if there != cell}
    return _laid(board, {**others, cell: replace(tokens[cell], label=_new_label(name, others))}, ())


def connected(board: Board, a: Cell, b: Cell) -> Board:
    """The board with a connector between two neighboring cells, whose modules are docked there."""
    link = _facing_link(board, a, b)
    return _linked(board, {*board.links, link})


def disconnected(board: Board, a: Cell, b: Cell) -> Board:
    """The board without the docking between the modules of two neighboring cells."""
    link = _facing_link(board, a, b)
    owners = {board.owner[cell] for cell in link}
    return _linked(board, {one for one in board.links if {board.owner.get(cell) for cell in one} != owners})


# ── tiles ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Tile:
    """The token of a cell: its module type, front and label, or a text that is not a token, with kind None."""

    kind: ModuleType | None
    letter: str
    front: str
    label: str
    cell: Cell

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that the module fills."""
        return (self.cell,) if self.kind is None else tuple(footprint(self.cell, self.kind, self.front))

    @property
    def text(self) -> str:
        return f"{self.letter}{self.front}{self.label}"


def _tokens(board: Board) -> dict[Cell, _Tile]:
    """All tokens of a board by cell, in its order."""
    found = {}
    for cell, text in board.sheet.cells.items():
        row = board.placed.get(cell)
        if row is not None:
            letter = text[: text.index(row.direction)]
            found[cell] = _Tile(row.kind, letter, row.direction, label_of(row.name), cell)
        elif text != FILLED or board.owner[cell] == cell:
            found[cell] = _Tile(None, text, "", "", cell)
    return found


def _chosen(board: Board, cells: Iterable[Cell]) -> dict[Cell, None]:
    """The cells of the tokens of the modules that fill these cells. Raises ModelError if all of them are empty."""
    found = dict.fromkeys(board.owner[cell] for cell in cells if cell in board.owner)
    if not found:
        raise _wrong("the chosen cells are empty; expected a module in at least one of them", "Choose a module.")
    return found


def _next_label(tokens: Mapping[Cell, _Tile]) -> str:
    taken = {tile.label for tile in tokens.values()}
    return next(str(k) for k in count() if str(k) not in taken)


def _new_label(name: str, tokens: Mapping[Cell, _Tile]) -> str:
    """A name as it is written in a cell. Raises ModelError if it is not a name, or if another module has it."""
    label = label_of(str(int(name)) if name.isascii() and name.isdigit() and len(name) < 10 else name)
    if not (label.isascii() and label.isdigit() and len(label) < 10) and not NAME.fullmatch(label):
        what = f"the name is {name!r}; expected a number below 1e9, or a letter followed by letters, digits and _"
        raise _wrong(what, "Choose another name.")
    if label in {tile.label for tile in tokens.values()}:
        raise _wrong(f"there is a module {name!r} already", "Choose another name.")
    return label


def _shifted(cell: Cell, by: tuple[int, int]) -> Cell:
    return cell[0] + by[0], cell[1] + by[1]


def _ordered(a: Cell, b: Cell) -> Link:
    return (a, b) if a <= b else (b, a)


def _pairs(board: Board) -> set[Pair]:
    """The pairs of modules with a connector between them, by the cells of their tokens."""
    return {_pair(board, link) for link in board.sheet.links}


def _check_free(tokens: Mapping[Cell, _Tile], made: Mapping[Cell, _Tile]) -> None:
    """Raises ModelError if a token in `made` would be put into the cell of another token."""
    taken = {cell: tile for tile in tokens.values() for cell in tile.cells}
    for cell in made:
        if cell in taken:
            raise _taken(cell, taken[cell])


def _taken(cell: Cell, tile: _Tile) -> ModelError:
    what = f"the cell in {_place(cell)} is filled by '{tile.text}'"
    return _wrong(what, "Move or erase it first, or choose other cells.", cell)


# ── from tiles to a board ─────────────────────────────────────────────────────────────────────────────────────────────


def _laid(
    board: Board, tokens: Mapping[Cell, _Tile], changed: Collection[Cell], docked: Collection[Pair] | None = None
) -> Board:
    """The board with these tokens, of which those in the cells `changed` are new.

    If the board has connectors, a changed module gets them to all neighbors that it faces. `docked` are the pairs of
    changed modules that are connected to each other, by the cells of their tokens; None for all that face each other.
    """
    cells: dict[Cell, str] = {}
    owner: dict[Cell, Cell] = {}
    tiles = {cell: replace(tile, cell=cell) for cell, tile in tokens.items()}
    # unchanged modules first, so that a message names the module that was there before
    for cell in sorted(tiles, key=lambda one: one in changed):
        tile = tiles[cell]
        for part in tile.cells:
            if part in owner:
                size = "" if tile.kind is None or len(tile.cells) == 1 else f", which fills {_size(tile)},"
                what = f"'{tile.text}' in {_place(cell)}{size} would overlap "
                remedy = "Move or erase it first, or choose other cells."
                raise _wrong(f"{what}'{tiles[owner[part]].text}'", remedy, cell, part)
            if max(map(abs, part)) > FARTHEST:
                raise _wrong(f"{_place(part)} is too far away", "Choose a nearer cell.", part)
            cells[part], owner[part] = FILLED, cell
        cells[cell] = tile.text
    _check_room(board.sheet.cells, cells)
    new = Board(replace(board.sheet, cells=cells, links=frozenset()), board.types)
    if board.sheet.links:
        before = _pairs(board)

        def is_docked(link: Link) -> bool:
            pair = _pair(new, link)
            count = sum(cell in changed for cell in pair)
            return pair in before if not count else count == 1 or docked is None or pair in docked

        new = _linked(new, {link for link in new.facing if is_docked(link)})
    return replace(new, sheet=new.sheet.trimmed())


def _check_room(before: Collection[Cell], after: Collection[Cell]) -> None:
    """Raises ModelError for more modules, or a larger grid with the empty cells between them, than a file may hold.

    A grid that is too large already may still be made smaller.
    """
    if len(after) > max(MOST_CELLS, len(before)):
        what = f"the grid would have {len(after)} cells that are filled; expected at most {MOST_CELLS}"
        raise _wrong(what, "Place fewer modules.")
    rows, columns = _span(after)
    if rows * columns > max(MOST, math.prod(_span(before))):
        what = f"the grid would have {rows} rows and {columns} columns; expected at most {MOST} cells"
        raise _wrong(what, "Choose cells that are nearer to the other modules.")


def _span(cells: Collection[Cell]) -> tuple[int, int]:
    """The number of rows and of columns from the first cell to the last one."""
    rows, columns = ([cell[k] for cell in cells] for k in range(2))
    return max(rows, default=-1) - min(rows, default=0) + 1, max(columns, default=-1) - min(columns, default=0) + 1


def _pair(board: Board, link: Link) -> Pair:
    """The cells of the tokens of the two modules that a pair of cells belongs to."""
    return frozenset(board.owner.get(cell, cell) for cell in link)


def _linked(board: Board, links: Collection[Link]) -> Board:
    """The board with these connectors; without any if they are between all neighbors that face each other."""
    if {*links} == board.facing:
        return replace(board, sheet=replace(board.sheet, links=frozenset()))
    if not links:
        docked = sorted(board.facing)
        a, b = (board.placed[board.owner[cell]].name for cell in docked[0])
        what = f"no connector would be left, and a grid without connectors docks all neighbors, such as '{a}' and '{b}'"
        raise _wrong(what, "Move one of them away, so that an empty cell is between them.", *docked[0])
    return replace(board, sheet=replace(board.sheet, links=frozenset(links)))


def _facing_link(board: Board, a: Cell, b: Cell) -> Link:
    """The pair of cells at which the modules in two cells face each other. Raises ModelError if they do not."""
    for cell in (a, b):
        if board.owner.get(cell) not in board.placed:
            what = f"the cell in {_place(cell)} has no module"
            raise _wrong(what, "Choose two modules that are side by side.", cell)
    owners = {board.owner[a], board.owner[b]}
    found = [link for link in board.facing if {board.owner[cell] for cell in link} == owners]
    if not found or len(owners) < 2:
        one, other = (board.placed[board.owner[cell]].name for cell in (a, b))
        what = f"modules '{one}' and '{other}' have no ports that face each other"
        raise _wrong(what, "Turn one of them, or choose two that are side by side.", a, b)
    return _ordered(a, b) if _ordered(a, b) in found else min(found)


def _place(cell: Cell) -> str:
    """Where a cell is, in words: as rows and columns are counted in the text of the grid, not on the page."""
    return f"row {cell[0] + 1} and column {cell[1] + 1} of the grid's text"


def _size(tile: _Tile) -> str:
    rows, columns = (len({cell[k] for cell in tile.cells}) for k in range(2))
    return f"{counted(rows, 'row')} and {counted(columns, 'column')}"


def _wrong(what: str, remedy: str, *cells: Cell) -> ModelError:
    return ModelError(Problem("", "", what, remedy, at=cells))
