"""Assemblies given as a grid of cells in text: a map of the modules, seen from above.

    B>5 .   .   .           A cell is empty, ".", or a token: the letter of a module type, the direction of its front
    B>4 B>3 .   .           (side 3) and, optionally, its number or name: "B>4" is module m4, "Svhead" is a Scout named
    .   B>0 Bv1 B<2         "head".
    B^7 B>6 .   .           > is +x, ^ is +y, < is -x, v is -y. Rows go from +y (top) to -y; cells are a pitch apart.
    B>8 .   .   .

Neighbors are docked wherever they have ports that face each other. If the grid has connectors, "-" between two cells of
a row or "|" between two rows, only the cells with a connector between them are docked:

    B>0 - Bv1   B>2
           |     |          "|" is in a line between two rows, in the same column of text as both cells
    B>4   B^3 - B<5

A module that fills several cells has its token in its middle cell and "#" in the others. If two cells are in the
middle, the token is in the one nearer to sides 2, 4 and 6. Rows may differ in length; text after ";" is a comment.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import NamedTuple

from kinemorph.algebra.groups import Pose
from kinemorph.errors import ModelError, Problem
from kinemorph.model.modules.assembly import Assembly, Docking, Module
from kinemorph.model.modules.facing_ports import Point, facing, outward
from kinemorph.model.modules.module_types import ModuleType
from kinemorph.model.modules.occupancy import organism_problems
from kinemorph.words import counted, did_you_mean, listed

# cosine and sine of the angle of a module about z, for the direction of its front
DIRECTIONS = {">": (1, 0), "^": (0, 1), "<": (-1, 0), "v": (0, -1)}
EMPTY, FILLED, REMARK = ".", "#", ";"
MOST_CELLS = 5_000  # larger grids take minutes
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PIECES = re.compile(r"-+|\|+|[^\s\-|]+")

Cell = tuple[int, int]  # row, counted downward, and column
Link = tuple[Cell, Cell]  # two neighboring cells: the upper or left one first


class Token(NamedTuple):
    """The text of a cell that is not empty, with its line and the position in the line where it starts."""

    line: int
    start: int
    text: str


class Drawing(NamedTuple):
    """The content of a text grid.

    `cells` are the cells that are not empty, by (row, column); `links` gives, for each pair of cells with a connector
    ("-" or "|") between them, the line of the text with that connector; `rows` are the lines of the rows of cells.
    """

    cells: dict[Cell, Token]
    links: dict[Link, int]
    rows: tuple[int, ...] = ()


class Placed(NamedTuple):
    """A module in a grid: its name, its type and the direction of its front."""

    name: str
    kind: ModuleType
    direction: str


def grid_assembly(
    text: str,
    types: Mapping[str, ModuleType],
    *,
    name: str = "organism",
    base: str | None = None,
    planar: bool = False,
    several: bool = False,
) -> Assembly:
    """The assembly given by a grid. Raises ModelError with all problems. See `assemble`."""
    problems: list[Problem] = []
    assembly = read_grid(text, types, problems, name=name, base=base, planar=planar, several=several)
    if assembly is None:
        problems.sort(key=line_of)
        raise ModelError(problems)
    return assembly


def line_of(problem: Problem) -> int:
    """The line of the text, counted from 1, that has the problem; 0 if the problem belongs to no single line."""
    return problem.key if isinstance(problem.key, int) else 0


def read_grid(
    text: str,
    types: Mapping[str, ModuleType],
    problems: list[Problem],
    *,
    name: str = "organism",
    base: str | None = None,
    planar: bool = False,
    several: bool = False,
) -> Assembly | None:
    """The assembly given by a grid; None if the grid is wrong, with its problems added to `problems`."""
    about, before = partial(Problem, "assembly", name), len(problems)
    drawing = drawing_of(text, problems)
    if not drawing.cells and len(problems) == before:
        problems.append(about("the grid has no modules; expected at least one", "Write B> for a Backbone."))
    if len(drawing.cells) > MOST_CELLS:
        what = f"the grid has {len(drawing.cells)} modules; expected at most {MOST_CELLS}"
        problems.append(about(what, "Leave some out."))
        return None
    placed = placed_in(drawing.cells, types, problems)
    owner = _owners(drawing.cells, placed, problems)
    if len(problems) > before:
        return None
    names = [module for module, _, _ in placed.values()]
    first = names[0] if base is None else base
    if first not in names:
        what = f"base is '{first}', which is not one of its modules: {listed(names)}"
        problems.append(about(what, did_you_mean(first, names).strip() or "Name one of them.", "base"))
        return None
    origin = next(middle_of(cell, *row[1:]) for cell, row in placed.items() if row[0] == first)
    modules = _modules(placed, first, origin, problems)
    if len(problems) > before:
        return None
    dockings = _dockings(modules, drawing, owner, origin, problems)
    if len(problems) > before:
        return None
    assembly = Assembly(name, modules, outward(names, dockings, first), first)
    problems += organism_problems(assembly, planar=planar, several=several)
    return None if len(problems) > before else assembly


def _in_line(line: int, what: str, remedy: str, *cells: Cell) -> Problem:
    """A problem in a line of the text, which is about these cells."""
    return Problem(f"grid, line {line}", "", what, remedy, line, at=cells)


# ── from text to cells ────────────────────────────────────────────────────────────────────────────────────────────────


def drawing_of(text: str, problems: list[Problem]) -> Drawing:
    """The cells and connectors of a grid. Empty lines have no effect."""
    cells: dict[Cell, Token] = {}
    links: dict[Link, int] = {}
    spans: list[list[tuple[int, int]]] = []  # for every row, where its cells start and end in the line
    rows: list[int] = []
    bars: list[tuple[int, int, int]] = []  # line, position in the line, row above
    for line, raw in enumerate(text.expandtabs(4).splitlines(), start=1):
        pieces = [*_PIECES.finditer(raw.partition(REMARK)[0])]
        if not pieces:
            continue
        if all(piece[0][0] == "|" or piece[0] == EMPTY for piece in pieces) and any(p[0][0] == "|" for p in pieces):
            bars += [(line, piece.start(), len(spans) - 1) for piece in pieces if piece[0][0] == "|"]
            continue
        row, drawn = len(spans), 0
        ends: list[tuple[int, int]] = []
        for piece in pieces:
            here = (row, len(ends))
            if piece[0][0] == "-":
                drawn = line
                continue
            if piece[0][0] == "|":
                what = "'|' is in a line of cells, expected in a line between two rows"
                problems.append(_in_line(line, what, "Put it in a line of its own.", here))
                continue
            if drawn:
                links[(row, len(ends) - 1), here] = line
                drawn = 0
            ends.append((piece.start(), piece.end()))
            if piece[0] != EMPTY:
                cells[here] = Token(line, piece.start(), piece[0])
        if drawn:
            remedy = "Leave it out, or add a cell."
            problems.append(_in_line(line, "'-' has no cell to its right", remedy, (row, max(len(ends) - 1, 0))))
        spans.append(ends)
        rows.append(line)
    for line, at, row in bars:
        above, below = (_under(spans[r], at) if 0 <= r < len(spans) else None for r in (row, row + 1))
        if above is None or below is None or above != below:
            what = f"'|' at position {at + 1} does not connect a cell with the cell below it"
            remedy = "Put it directly below one cell and above the other, and align the cells of a column."
            problems.append(_in_line(line, what, remedy))
            continue
        links[(row, above), (row + 1, below)] = line
    _check_links(cells, links, problems)
    return Drawing(cells, links, tuple(rows))


def _under(spans: Sequence[tuple[int, int]], at: int) -> int | None:
    """The column of the cell of a row that covers position `at` of its line; None if no cell does."""
    return next((k for k, (start, end) in enumerate(spans) if start <= at < end), None)


def _check_links(cells: Mapping[Cell, Token], links: Mapping[Link, int], problems: list[Problem]) -> None:
    for ends, line in links.items():
        for row, column in ends:
            if column < 0 or (row, column) not in cells:
                what = "a connector leads to an empty cell; expected a module at both ends"
                problems.append(_in_line(line, what, "Leave it out, or add a module.", (row, max(column, 0))))


# ── from cells to modules ─────────────────────────────────────────────────────────────────────────────────────────────


def placed_in(
    cells: Mapping[Cell, Token], types: Mapping[str, ModuleType], problems: list[Problem]
) -> dict[Cell, Placed]:
    """The name, type and direction of the module in each cell that has a token; m0, m1, ... first, in order."""
    found: dict[Cell, Placed] = {}
    named: dict[str, Token] = {}
    nameless = []
    for cell, token in cells.items():
        if token.text == FILLED:
            continue
        read = _parsed(cell, token, types, problems)
        if read is None:
            continue
        kind, direction, label = read
        if not label:
            nameless.append((cell, kind, direction))
            continue
        name = f"m{int(label)}" if label.isdigit() else label
        if name in named:
            what = f"module '{name}' is already in line {named[name].line} of the grid's text, expected once"
            problems.append(_in_line(token.line, what, "Rename one of them.", cell))
        named.setdefault(name, token)
        found[cell] = Placed(name, kind, direction)
    free = (f"m{k}" for k in count() if f"m{k}" not in named)
    for (cell, kind, direction), name in zip(nameless, free, strict=False):
        found[cell] = Placed(name, kind, direction)
    numbered = {cell: int(row[0][1:]) for cell, row in found.items() if re.fullmatch(r"m\d+", row[0])}
    return dict(sorted(found.items(), key=lambda item: (item[0] not in numbered, numbered.get(item[0], 0))))


def _parsed(
    cell: Cell, token: Token, types: Mapping[str, ModuleType], problems: list[Problem]
) -> tuple[ModuleType, str, str] | None:
    """The module type, direction and label of a token; None, with a problem, if it is not a valid token."""
    text = token.text
    letters = [letter for letter in types if text.startswith(letter)]
    letter = max((x for x in letters if text[len(x) : len(x) + 1] in DIRECTIONS), key=len, default="")
    if not letter:
        known = listed(f"{letter} ({kind.name})" for letter, kind in types.items())
        signs = "> (+x), ^ (+y), < (-x), v (-y)"
        if not letters:
            upper = next((letter for letter in types if text.upper().startswith(letter.upper())), "")
            remedy = f"Letters are upper case: {upper}." if upper else "Choose one of them."
            what = f"'{text}' does not start with the letter of a module type; known are {known}"
        else:
            longest = max(letters, key=len)
            found = repr(text[len(longest)]) if len(text) > len(longest) else "nothing"
            what = f"'{text}' has {found} after the letter; expected the direction of the module's front: {signs}"
            remedy = "Write one of these signs."
        problems.append(_in_line(token.line, what, remedy, cell))
        return None
    label = text[len(letter) + 1 :]
    if label and not (label.isascii() and label.isdigit() and len(label) < 10) and not NAME.fullmatch(label):
        what = f"'{text}': the module's name is '{label}'; expected a number below 1e9, or a letter followed by "
        problems.append(_in_line(token.line, f"{what}letters, digits and _", "Rename it.", cell))
        return None
    return types[letter], text[len(letter)], label


def _owners(cells: Mapping[Cell, Token], placed: Mapping[Cell, Placed], problems: list[Problem]) -> dict[Cell, str]:
    """The name of the module that fills each cell, with problems for overlaps and for "#" missing or too many."""
    owner: dict[Cell, str] = {}
    for cell, (name, kind, direction) in placed.items():
        for row, column in footprint(cell, kind, direction):
            token = cells.get((row, column))
            other = owner.get((row, column))
            line = cells[cell].line
            if other is not None:
                what = f"modules '{other}' and '{name}' overlap"
                problems.append(_in_line(line, what, "Move one of them.", cell, (row, column)))
            elif (row, column) != cell and (token is None or token.text != FILLED):
                what = "is empty" if token is None else f"has '{token.text}'"
                x, y = (abs(a) for a in _turned(direction, kind.cells[0], kind.cells[1]))
                size = f"{counted(y, 'row')} and {counted(x, 'column')}"
                where = f"the cell {_beside(cell, (row, column))} its token"
                problem = f"module '{name}' ({kind.name}) fills {size} here, but {where} {what}, expected '{FILLED}'"
                problems.append(_in_line(line, problem, f"Write {FILLED} there.", cell, (row, column)))
            owner.setdefault((row, column), name)
    for cell, token in cells.items():
        if token.text == FILLED and cell not in owner:
            what = f"'{FILLED}' in cell {cell[1] + 1} of the row belongs to no module"
            problems.append(_in_line(token.line, what, "Write . for an empty cell.", cell))
    return owner


def footprint(cell: Cell, kind: ModuleType, direction: str) -> Iterator[Cell]:
    """The cells of the grid that a module with its token in `cell` fills."""
    for i in _steps(kind.cells[0]):
        for j in _steps(kind.cells[1]):
            x, y = _turned(direction, i, j)
            yield cell[0] - y, cell[1] + x


def _steps(cells: int) -> range:
    return range(-((cells - 1) // 2), cells // 2 + 1)


def _turned(direction: str, x: int, y: int) -> tuple[int, int]:
    """The vector (x, y) of a module's frame in the axes of the grid."""
    c, s = DIRECTIONS[direction]
    return c * x - s * y, s * x + c * y


def _beside(cell: Cell, other: Cell) -> str:
    """The position of a cell relative to another for a message, such as "1 below and 2 left of"."""
    down, right = other[0] - cell[0], other[1] - cell[1]
    steps = [
        f"{abs(n)} {a if n > 0 else b}" for n, a, b in ((down, "below", "above"), (right, "right of", "left of")) if n
    ]
    return " and ".join(steps)


def _modules(
    placed: Mapping[Cell, Placed], base: str, origin: tuple[float, float], problems: list[Problem]
) -> tuple[Module, ...]:
    """The modules with their places: upright, on the ground z = 0, the base above the origin."""
    kinds = {name: kind for name, kind, _ in placed.values()}
    pitch = kinds[base].pitch
    expected = f"expected {pitch:g} m, the pitch of the base '{base}'"
    for name, kind in kinds.items():
        if abs(kind.pitch - pitch) > 1e-9 * pitch:
            what = f"module '{name}' ({kind.name}) has a pitch of {kind.pitch:g} m; {expected}"
            remedy = "Give it that pitch, or use a list of docked sides instead."
            problems.append(Problem("grid", "", what, remedy, at=(name,)))
    found, (x0, y0) = [], origin
    for cell, (name, kind, direction) in placed.items():
        c, s = (float(x) for x in DIRECTIONS[direction])
        x, y = middle_of(cell, kind, direction)
        R = ((c, 0.0 - s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
        found.append(Module(name, kind, Pose(R, ((x - x0) * pitch, (y - y0) * pitch, 0.5 * kind.size[2]))))
    return tuple(found)


def middle_of(cell: Cell, kind: ModuleType, direction: str) -> tuple[float, float]:
    """The middle of a module relative to the middle of the grid's first cell, in units of the pitch."""
    i, j = (cells // 2 - (cells - 1) // 2 for cells in kind.cells[:2])  # 1 for an even number of cells, else 0
    x, y = _turned(direction, i, j)
    return cell[1] + 0.5 * x, -cell[0] + 0.5 * y


# ── dockings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _dockings(
    modules: Sequence[Module], drawing: Drawing, owner: Mapping[Cell, str], origin: Point, problems: list[Problem]
) -> list[Docking]:
    """The dockings of ports that face each other; if connectors are drawn, only those with a connector."""
    everywhere = facing(modules)
    if not drawing.links:
        return [docking for docking, _ in everywhere]
    between = _by_pair(everywhere, modules[0].type.pitch, origin)
    found: list[Docking] = []
    for link, line in drawing.links.items():
        names = (owner[link[0]], owner[link[1]])
        near = [docking for docking, point in between[frozenset(names)] if _is_at(link, point)]
        if not near:
            what = f"there is a connector between '{names[0]}' and '{names[1]}', but no ports that face each other"
            problems.append(_in_line(line, what, "Turn one of the modules, or leave the connector out.", *link))
        found += near
    return found


def facing_cells(placed: Mapping[Cell, Placed]) -> set[Link]:
    """The pairs of neighboring cells between which modules have ports that face each other, the upper or left first."""
    if not placed:
        return set()
    placed = {cell: row._replace(name=str(cell)) for cell, row in placed.items()}  # names may be given twice
    first = next(iter(placed))
    origin = middle_of(first, *placed[first][1:])
    modules = _modules(placed, placed[first].name, origin, [])
    filled = {row.name: set(footprint(cell, row.kind, row.direction)) for cell, row in placed.items()}
    found = set()
    for pair, dockings in _by_pair(facing(modules), modules[0].type.pitch, origin).items():
        one, other = (filled[name] for name in pair)
        for _, point in dockings:
            links = [link for cell in one for link in _neighbors(cell) if not other.isdisjoint(link)]
            found |= set(sorted(link for link in links if _is_at(link, point))[:1])
    return found


def _neighbors(cell: Cell) -> Iterator[Link]:
    """The four pairs of a cell and a neighbor, the upper or left cell first."""
    row, column = cell
    yield cell, (row, column + 1)
    yield (row, column - 1), cell
    yield cell, (row + 1, column)
    yield (row - 1, column), cell


def _by_pair(
    dockings: Sequence[tuple[Docking, Point]], pitch: float, origin: Point
) -> defaultdict[frozenset[str], list[tuple[Docking, Point]]]:
    """Dockings by the names of their modules, each with the point where ports meet: its row and column in the grid."""
    found: defaultdict[frozenset[str], list[tuple[Docking, Point]]] = defaultdict(list)
    for docking, (x, y, _) in dockings:
        place = (-(y / pitch + origin[1]), x / pitch + origin[0])
        found[frozenset((docking.a, docking.b))].append((docking, place))
    return found


def _is_at(link: Link, point: Point) -> bool:
    """Whether a point, given by its row and column, is where a connector between two cells is drawn."""
    (row_a, column_a), (row_b, column_b) = link
    return max(abs(0.5 * (row_a + row_b) - point[0]), abs(0.5 * (column_a + column_b) - point[1])) < 0.5
