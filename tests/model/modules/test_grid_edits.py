"""Edits of grids keep what they do not name: text, comments, names and dockings (000-13, 000-27)."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.errors import ModelError
from kinemorph.model.modules.catalog import standard_types
from kinemorph.model.modules.grid_edits import (
    Board,
    board_of,
    connected,
    copied,
    disconnected,
    erased,
    mirrored,
    moved,
    placed,
    renamed,
    turned,
)
from kinemorph.model.modules.grid_sheet import sheet_of
from kinemorph.model.modules.grids import read_grid
from kinemorph.modules import assemble

TYPES = standard_types()
FOLDED = """
  ; a folded chain
  B>0 - Bv1
         |
  Bv3 - B>2   ; the middle
   |
  B>4 - B>5
  ; its end
"""
ROVER = """
    #   .   #
    W>0 .   W>4
    #   .   #
    B^1 S>2 B^3
"""


def dockings(text: str) -> set[frozenset[str]]:
    """The pairs of modules that are docked in a grid, as the reader of model files has it."""
    assembly = read_grid(text, TYPES, [], several=True)
    assert assembly is not None
    return {frozenset((docking.a, docking.b)) for docking in assembly.dockings}


def named(board: Board) -> set[frozenset[str]]:
    return {frozenset(board.placed[board.owner[cell]].name for cell in link) for link in board.links}


def random_edit(board: Board, rng: np.random.Generator) -> Board:
    """The board after a random edit; the board itself where the edit is refused."""
    rows, columns = board.sheet.size
    cells = [(int(rng.integers(-1, rows + 1)), int(rng.integers(-1, columns + 1))) for _ in range(rng.integers(1, 4))]
    by = (int(rng.integers(-2, 3)), int(rng.integers(-2, 3)))
    kind = str(rng.choice(["B", "B", "S", "W"]))
    edits = [
        lambda: placed(board, cells, kind, str(rng.choice([*"><^v"]))),
        lambda: erased(board, cells[:1]),
        lambda: turned(board, cells, int(rng.integers(1, 4))),
        lambda: moved(board, cells, by),
        lambda: copied(board, cells[:2], by),
        lambda: mirrored(board, cells, str(rng.choice(["x", "y"]))),
        lambda: renamed(board, str(rng.choice(sorted(r.name for r in board.placed.values()))), f"n{rng.integers(99)}"),
        lambda: disconnected(board, *sorted(board.links)[int(rng.integers(len(board.links)))]),
        lambda: connected(board, *sorted(board.facing)[int(rng.integers(len(board.facing)))]),
    ]
    try:
        return edits[int(rng.integers(len(edits)))]()
    except (ModelError, ValueError) as error:  # ValueError: there is nothing to connect, or no module to rename
        assert isinstance(error, ValueError) or str(error).count(".") >= 1
        return board


def test_random_edits_are_what_the_reader_reads() -> None:
    rng = np.random.default_rng(27)
    board = board_of("B>0", TYPES)
    seen = 0
    for _ in range(300):
        board = random_edit(board, rng)
        if len(board.placed) > 14:
            board = board_of("B>0", TYPES)
        text = board.text()
        again = board_of(text, TYPES)
        assert again.sheet == board.sheet and again.text() == text  # writing and reading lose nothing
        assert min((cell[k] for cell in board.sheet.cells for k in (0, 1)), default=0) == 0
        if board.placed:
            assert named(board) == dockings(text)
            seen += len(board.links) > 0
    assert seen > 150


def test_edits_that_undo_each_other() -> None:
    for text in (FOLDED, ROVER, "B>0 Bv1 B<2\n. S^head\n"):
        board = board_of(text, TYPES)
        every = list(board.owner)
        assert mirrored(mirrored(board, every), every) == board or "-" in text
        assert named(mirrored(mirrored(board, every), every)) == named(board)
        assert turned(turned(board, every, 2), every, 2).sheet.cells == board.sheet.cells
        away = moved(board, every, (3, -2))  # the grid begins at its first cell
        assert away.sheet.cells == board.sheet.cells and away.sheet.links == board.sheet.links
        assert sorted(away.text().split(";")[1:]) or ";" not in text  # no comment is lost
        link = sorted(board.links)[0]
        apart = disconnected(board, *link)
        assert (
            named(connected(apart, *link))
            == named(board)
            == named(apart) | {frozenset(board.placed[board.owner[cell]].name for cell in link)}
        )
        back = renamed(renamed(board, next(iter(board.placed.values())).name, "zed"), "zed", "0")
        assert back.text() == renamed(board, next(iter(board.placed.values())).name, "0").text()


def test_comments_stay_in_their_rows() -> None:
    board = placed(board_of(FOLDED, TYPES), [(-1, 0)], "S", "^", "head")
    text = board.text()
    assert text.splitlines()[0].strip().startswith("S^head") and "; the middle" in text and "; its end" in text
    lines = [line.strip() for line in text.splitlines()]
    assert lines[2] == "; a folded chain" and lines[-1] == "; its end"
    assert next(line for line in lines if "the middle" in line).startswith("Bv3    - B>2")
    gone = erased(board, [(0, 0), (1, 0), (1, 1)])
    assert "; a folded chain" in gone.text() and named(gone) == {
        frozenset(pair) for pair in (("m2", "m3"), ("m3", "m4"), ("m4", "m5"))
    }


def test_the_papers_organism_cell_by_cell() -> None:
    """Fig. 4, placed module by module, is the grid of the docs; its sides are those of Table III (000-18, 000-19)."""
    cells = [(2, 1), (2, 2), (2, 3), (1, 1), (1, 0), (0, 0), (3, 1), (3, 0), (4, 0)]
    board = board_of("", TYPES)
    origin = (2, 1)
    for k, (cell, front) in enumerate(zip(cells, ">v<>>>>^>", strict=True)):
        top, left = min(c[0] for c in cells[: k + 1]), min(c[1] for c in cells[: k + 1])
        shift = (min([c[0] for c in cells[:k]], default=origin[0]), min([c[1] for c in cells[:k]], default=origin[1]))
        board = placed(board, [(cell[0] - shift[0], cell[1] - shift[1])], "B", front)
        assert board.cell_of(f"m{k}") == (cell[0] - top, cell[1] - left)
    text = "B>5 .   .   .\nB>4 B>3 .   .\n.   B>0 Bv1 B<2\nB^7 B>6 .   .\nB>8 .   .   .\n"
    assert board.text() == text and assemble(text, planar=True).names == tuple(f"m{k}" for k in range(9))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda b: placed(b, [(0, 0)], "X"), "kind is 'X'; expected one of B (Backbone)"),
        (lambda b: placed(b, [(0, 0)], "W"), "which fills 3 rows and 1 column, would overlap 'S>2'"),
        (lambda b: placed(b, [(5, 5)], "B", name="m1"), "there is a module 'm1' already"),
        (lambda b: placed(b, [(5, 5)], "B", name="a b"), "the name is 'a b'; expected a number"),
        (lambda b: moved(b, [(0, 0)], (0, 1)), "the cell in row 1 and column 2 of the grid's text is filled by 'B>1'"),
        (lambda b: erased(b, [(4, 4)]), "the chosen cells are empty"),
        (lambda b: renamed(b, "m9", "x"), "there is no module 'm9'"),
        (lambda b: connected(b, (0, 1), (1, 0)), "'m1' and 'm2' have no ports that face each other"),
        (lambda b: connected(b, (0, 1), (3, 3)), "the cell in row 4 and column 4 of the grid's text has no module"),
        (lambda b: mirrored(b, [(0, 0)], "z"), "axis is 'z'"),
        (lambda b: placed(b, [(400, 400)], "B"), "would have 401 rows and 401 columns; expected at most 100000 cells"),
        (lambda b: moved(b, [(0, 0)], (-400, 400)), "would have 402 rows and 401 columns"),
        (lambda b: placed(b, [(r, c) for r in range(99) for c in range(99)], "L"), "expected at most 5000"),
        (lambda b: disconnected(disconnected(b, (0, 0), (0, 1)), (0, 0), (1, 0)), "no connector would be left"),
    ],
)
def test_edits_that_are_refused_say_why(edit: object, words: str) -> None:
    board = board_of("B>0 B>1\nS>2\n", TYPES)
    with pytest.raises(ModelError, match=r".") as caught:
        edit(board)  # type: ignore[operator]
    assert words in str(caught.value)


def test_a_grid_with_mistakes_can_be_edited() -> None:
    board = board_of("B>0 B>0 X>2 B\n", TYPES)
    assert erased(board, [(0, 1)]).text() == "B>0 .   X>2 B\n"
    assert placed(board, [(0, 2)], "S").text() == "B>0 B>0 S>1 B\n"
    assert moved(board, [(0, 3)], (1, 0)).text() == "B>0 B>0 X>2 .\n.   .   .   B\n"


def test_a_sheet_that_has_tabs_and_ragged_rows_is_aligned() -> None:
    sheet = sheet_of("B>0\tBv11\n\n .  \tS^head ; end\n")
    assert sheet.text() == "B>0    Bv11\n.      S^head  ; end\n"
