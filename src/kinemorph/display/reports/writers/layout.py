"""How a table fits on a page: which columns are broken into lines, the size of its letters, whether it is turned."""

from __future__ import annotations

from typing import NamedTuple

from kinemorph.display.faces.grid import Grid

# sizes of letters [pt] and how many letters of them fit on a line of an upright and of a turned page
UPRIGHT = ((9.0, 108), (8.0, 120), (7.0, 136))
TURNED = ((8.0, 180), (7.0, 206), (6.0, 240))
SHORT = 14  # a column with at most so many letters is not broken
WORDY = 45  # letters of a line in the longest of broken columns; with fewer, letters are made smaller
BETWEEN = 2  # letters that fit between two columns


class Layout(NamedTuple):
    """The size of letters [pt], whether the table is turned, and a share of the width for each broken column.

    `shares` has 0 for columns that are as wide as their longest cell, and the number of letters for the others.
    """

    size: float
    turned: bool
    shares: tuple[int, ...]


def layout_of(grid: Grid) -> Layout:
    """The layout of a table: upright with the largest letters with which it fits, turned if it does not fit at all.

    A table that fits by breaking its long cells is not turned.
    """
    widths = [max([len(column), *(len(row[k]) for row in grid.rows)]) for k, column in enumerate(grid.columns)]
    least = [width if width <= SHORT else max(SHORT, _longest_word(grid, k)) for k, width in enumerate(widths)]
    joints = BETWEEN * (len(widths) - 1)
    for turned, sizes in ((False, UPRIGHT), (True, TURNED)):
        for size, room in sizes:
            if sum(widths) + joints <= room:
                return Layout(size, turned, (0,) * len(widths))
        fitting = [(size, room) for size, room in sizes if sum(least) + joints <= room]
        plans = [Layout(size, turned, _shares(widths, least, room - joints)) for size, room in fitting]
        if plans:
            return next((plan for plan in plans if max(plan.shares) >= WORDY), plans[0])
    size, room = TURNED[-1]
    return Layout(size, True, tuple(max(1, min(width, room // max(1, len(widths)))) for width in widths))


def _shares(widths: list[int], least: list[int], room: int) -> tuple[int, ...]:
    """The letters of each broken column: short ones as wide as needed, and the others share the rest by their need."""
    shares = [0] * len(widths)
    open_ones = [k for k, width in enumerate(widths) if width > least[k]]
    left = room - sum(width for k, width in enumerate(widths) if k not in open_ones)
    for k in sorted(open_ones, key=lambda k: widths[k]):
        fair = left // len([j for j in open_ones if widths[j] >= widths[k] and not shares[j]])
        shares[k] = max(least[k], min(widths[k], fair))
        left -= shares[k]
    return tuple(shares)


def _longest_word(grid: Grid, k: int) -> int:
    """The letters of the longest word in a column, of which long words count as broken."""
    cells = (grid.columns[k], *(row[k] for row in grid.rows))
    return min(28, max((len(word) for cell in cells for word in cell.split()), default=1))
