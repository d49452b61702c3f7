"""Equations as a picture, set by Matplotlib's mathtext: no LaTeX installation is needed.

Lines are measured as they will be set. One that is too long is continued, broken before a plus or minus outside
all brackets where it can be, else inside one; a long fraction is written with a slash so that it can be broken, too.
What cannot be broken at all is set smaller. No formula loses its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kinemorph.codegen.backends.text.latex import latex
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.display.canvas import INK, PALE, blank
from kinemorph.display.equations.equations_of_motion import WrittenEquations
from kinemorph.errors import UnsupportedError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 15.0  # font size
LEADING = 2.35  # line height over font size
LEAST_FILL = 0.3  # of a line, for a break outside all brackets to be preferred to one inside
LONG_FRACTION = 110  # characters of source above or below the bar, from which on a fraction is written with a slash
BRACKET = re.compile(r"\\(left|right)\s*(?:\\[a-z]+|.)")
PAIRED = re.compile(r"\\(left|right)(?![a-z])\s*")
MARKS = re.compile(rf"{BRACKET.pattern}|\\[a-zA-Z]+|[{{}}]|(?<= )[+-](?= )")


class Piece(NamedTuple):
    """A part of a formula that stays together, and how many brackets are open where it begins."""

    text: str
    depth: int


def draw_equations(equations: WrittenEquations, *, title: str | None = None, width: float = 11.0) -> Figure:
    """The equations as a picture of a width in inches, long sums in several lines, with a legend below."""
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
    """All equations in lines for mathtext, none of them wider than the room [points] where it can be broken."""
    lines: list[str] = []
    for program, written in zip(equations.programs, equations.written, strict=True):
        if program.blocks:
            raise UnsupportedError(
                f"the equations of '{program.name}' hold {program.blocks[0].label}, and a picture sets no matrices. "
                "Take their `latex` or `text`."
            )
        rows = [(symbol.latex, tree) for symbol, tree in written.definitions]
        rows += list(zip(equations.entry_names(program), written.trees, strict=True))
        for name, tree in rows:
            lines += _broken(name, tree, room)
    return lines


def _broken(name: str, tree: Tree, room: float) -> list[str]:
    """`name = formula` in as many lines as the room [points] asks for; a line that continues is indented."""
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
    """How many pieces go into a line: all, or as many as end before the shallowest bracket that is far enough."""
    widths = [_width(front)]
    for piece in pieces:  # a first guess; brackets make lines a little longer or shorter than their pieces
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
    """Pieces in a line; a bracket that opens in it and closes in another, or the reverse, gets an unseen partner."""
    body, depth, least = "".join(piece.text for piece in pieces), 0, 0
    for mark in BRACKET.finditer(body):
        depth += 1 if mark[1] == "left" else -1
        least = min(least, depth)
    return " ".join([front, r"\left." * -least + body + r"\right." * (depth - least)]).strip()


def _pieces(tree: Tree) -> list[Piece]:
    """A formula, cut before every plus and minus that stands in no fraction, root or exponent."""
    # mathtext sets no space before a function, so it is put in
    formula = re.sub(r"(?<=[\w}] )\\(?=sin|cos|tan|ln|arc)", r"\\,\\", _slashed(latex(tree)))
    cuts = [(0, 0), *_cuts(formula)]
    ends = [*(start for start, _ in cuts[1:]), len(formula)]
    return [Piece(formula[start:end], depth) for (start, depth), end in zip(cuts, ends, strict=True)]


def _cuts(formula: str) -> list[tuple[int, int]]:
    """Where a formula may be broken, and how many brackets are open there."""
    found, braces, depth = [], 0, 0
    for mark in MARKS.finditer(formula):
        braces += {"{": 1, "}": -1}.get(mark[0], 0)
        depth += {"left": 1, "right": -1}.get(mark[1] or "", 0)
        if mark[0] in "+-" and not braces:
            found.append((mark.start(), depth))
    return found


def _slashed(formula: str) -> str:
    """A formula with its long fractions written as (above) / (below)."""
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
    """The place of the brace that closes the one at `start`."""
    depth = 0
    for place in range(start, len(formula)):
        depth += {"{": 1, "}": -1}.get(formula[place], 0)
        if depth == 0:
            return place
    raise ValueError(f"no brace closes the one at {start} of '{formula}'")


def _width(line: str) -> float:
    """The width of a line of formula [points]."""
    return line_size(line)[0]


@lru_cache(maxsize=4096)
def line_size(line: str) -> tuple[float, float, float]:
    """Width, height and depth below the baseline of a line of formula [points]; the height contains the depth."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    properties = FontProperties(size=POINTS, math_fontfamily="cm")
    width, height, below = text_to_path.get_text_width_height_descent(f"${line}$", properties, ismath=True)
    return float(width), float(height), float(below)


def _filled(items: Sequence[str], columns: int) -> list[str]:
    """Items side by side in lines of at most so many characters."""
    lines = [""]
    for item in items:
        joined = f"{lines[-1]}     {item}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= columns or not lines[-1] else [*lines, item]
    return lines
