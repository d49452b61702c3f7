"""Equations as a picture, typeset by Matplotlib's mathtext: no LaTeX installation is needed.

A line that is too long is broken before a plus or minus, outside all brackets where possible, else inside one. A long
fraction is written with a slash so that it can be broken too. A line that cannot be broken gets a smaller font. No
formula is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kinemorph.codegen.backends.text.latex import latex
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.display.canvas import INK, PALE, Figure, blank
from kinemorph.display.equations.equations_of_motion import WrittenEquations
from kinemorph.errors import UnsupportedError

POINTS = 15.0  # font size
LEADING = 2.35  # line height over font size
LEAST_FILL = 0.3  # a line is broken outside all brackets if it is filled to at least this fraction
LONG_FRACTION = 110  # a fraction with more characters of source above or below the bar is written with a slash
BRACKET = re.compile(r"\\(left|right)\s*(?:\\[a-z]+|.)")
PAIRED = re.compile(r"\\(left|right)(?![a-z])\s*")
MARKS = re.compile(rf"{BRACKET.pattern}|\\[a-zA-Z]+|[{{}}]|(?<= )[+-](?= )")


class Piece(NamedTuple):
    """A part of a formula that is not broken, and the number of brackets that are open at its start."""

    text: str
    depth: int


def draw_equations(equations: WrittenEquations, *, title: str | None = None, width: float = 11.0) -> Figure:
    """A figure of the equations, `width` [inch] wide, with long sums on several lines and a legend below."""
    room = 72.0 * (width - 0.9)
    lines = equation_lines(equations, room)
    legend = _filled([line.replace("^2", "²") for line in equations.legend], round(13 * width))
    steps = [max(POINTS * LEADING, 1.3 * line_size(line)[1]) / 72.0 for line in lines]
    height = 0.8 + sum(steps) + 0.22 * len(legend) + 0.25
    figure = blank(width, height)
    heading = f"equations of motion of {equations.robot.name.replace('_', ' ')}" if title is None else title
    figure.text(0.5, 1.0 - 0.2 / height, heading, ha="center", va="top", fontsize=14, color=INK)
    for i, line in enumerate(lines):
        y = 1.0 - (0.8 + sum(steps[:i]) + 0.5 * steps[i]) / height
        points = POINTS * min(1.0, room / max(_width(line), 1.0))
        figure.text(0.45 / width, y, f"${line}$", fontsize=points, va="center", color=INK, math_fontfamily="cm")
    for i, line in enumerate(legend):
        figure.text(0.45 / width, (0.15 + 0.22 * (len(legend) - 1 - i)) / height, line, fontsize=9, color=PALE)
    return figure


def equation_lines(equations: WrittenEquations, room: float) -> list[str]:
    """All equations as lines for mathtext, broken so that they are not wider than `room` [points] where possible."""
    lines: list[str] = []
    for program, written in zip(equations.programs, equations.written, strict=True):
        if program.blocks:
            raise UnsupportedError(
                f"the equations of '{program.name}' contain {program.blocks[0].label}, and a picture cannot show "
                "matrices. Use their `latex` or `text`."
            )
        rows = [(symbol.latex, tree) for symbol, tree in written.definitions]
        rows += list(zip(equations.entry_names(program), written.trees, strict=True))
        for name, tree in rows:
            lines += _broken(name, tree, room)
    return lines


def _broken(name: str, tree: Tree, room: float) -> list[str]:
    """`name = formula`, broken into lines of a width `room` [points]; continued lines are indented."""
    waiting = _pieces(tree)
    lines: list[str] = []
    front = f"{name} ="
    while waiting:
        count = _fitting(front, waiting, room)
        lines.append(_line(front, waiting[:count]))
        waiting = waiting[count:]
        front = r"\qquad" if waiting and not waiting[0].depth else r"\qquad \qquad"
    return lines


def _fitting(front: str, pieces: Sequence[Piece], room: float) -> int:
    """The number of pieces for the next line of a width `room` [points], which starts with the text `front`.

    A line that is not the last ends where the fewest brackets are open, if it is filled to LEAST_FILL there.
    """
    widths = [_width(front)]
    for piece in pieces:  # an estimate: with brackets, a line is a little longer or shorter than the sum of its pieces
        widths.append(widths[-1] + _width(PAIRED.sub("", piece.text)))
        if widths[-1] > room:
            break
    most = max(len(widths) - (2 if widths[-1] > room else 1), 1)
    while most > 1 and _width(_line(front, pieces[:most])) > room:
        most -= 1
    if most == len(pieces):
        return most
    ends = [count for count in range(1, most + 1) if widths[count] > LEAST_FILL * room] or [most]
    return min(ends, key=lambda count: (pieces[count].depth, -count))


def _line(front: str, pieces: Sequence[Piece]) -> str:
    """The pieces as one line; a bracket whose partner is on another line gets an invisible partner on this one."""
    body, depth, least = "".join(piece.text for piece in pieces), 0, 0
    for mark in BRACKET.finditer(body):
        depth += 1 if mark[1] == "left" else -1
        least = min(least, depth)
    return " ".join([front, r"\left." * -least + body + r"\right." * (depth - least)]).strip()


def _pieces(tree: Tree) -> list[Piece]:
    """A formula as pieces, split before every plus and minus outside fractions, roots and exponents."""
    # mathtext puts no space before a function, so it is added
    formula = re.sub(r"(?<=[\w}] )\\(?=sin|cos|tan|ln|arc)", r"\\,\\", _slashed(latex(tree)))
    cuts = [(0, 0), *_cuts(formula)]
    ends = [*(start for start, _ in cuts[1:]), len(formula)]
    return [Piece(formula[start:end], depth) for (start, depth), end in zip(cuts, ends, strict=True)]


def _cuts(formula: str) -> list[tuple[int, int]]:
    """(position, number of open brackets) of every place where a LaTeX formula may be broken."""
    found, braces, depth = [], 0, 0
    for mark in MARKS.finditer(formula):
        braces += {"{": 1, "}": -1}.get(mark[0], 0)
        depth += {"left": 1, "right": -1}.get(mark[1] or "", 0)
        if mark[0] in "+-" and not braces:
            found.append((mark.start(), depth))
    return found


def _slashed(formula: str) -> str:
    """The LaTeX formula with its long fractions written as (numerator) / (denominator)."""
    start = formula.find(r"\frac{")
    if start < 0:
        return formula
    middle = _closing(formula, start + 5)
    end = _closing(formula, middle + 1)
    above, below, rest = formula[start + 6 : middle], formula[middle + 2 : end], _slashed(formula[end + 1 :])
    if max(len(above), len(below)) < LONG_FRACTION:
        return formula[: end + 1] + rest
    above, below = _slashed(above), _slashed(below)
    if any(depth == 0 for _, depth in _cuts(above)):
        above = rf"\left({above}\right)"
    return rf"{formula[:start]}{above} / \left({below}\right){rest}"


def _closing(formula: str, start: int) -> int:
    """The index of the brace that closes the one at index `start`."""
    depth = 0
    for place in range(start, len(formula)):
        depth += {"{": 1, "}": -1}.get(formula[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"the brace at index {start} of '{formula}' is never closed. Add its closing brace.")


def _width(line: str) -> float:
    """The width of a line of a formula [points]."""
    return line_size(line)[0]


@lru_cache(maxsize=4096)
def line_size(line: str) -> tuple[float, float, float]:
    """(width, height, depth below the baseline) of a line of a formula [points]; the height includes the depth."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    properties = FontProperties(size=POINTS, math_fontfamily="cm")
    width, height, below = text_to_path.get_text_width_height_descent(f"${line}$", properties, ismath=True)
    return float(width), float(height), float(below)


def _filled(items: Sequence[str], columns: int) -> list[str]:
    """The items side by side on lines of at most `columns` characters."""
    lines = [""]
    for item in items:
        joined = f"{lines[-1]}     {item}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= columns or not lines[-1] else [*lines, item]
    return lines
