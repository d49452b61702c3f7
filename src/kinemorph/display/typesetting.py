"""Equations as a picture, set by Matplotlib's mathtext: no LaTeX installation is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinemorph.codegen.backends.latex import latex
from kinemorph.codegen.tree import Sum, Tree, is_negative, scaled
from kinemorph.display.canvas import INK, PALE, blank
from kinemorph.display.equations import WrittenEquations

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 15.0  # font size
LEADING = 2.35  # line height over font size


def draw_equations(equations: WrittenEquations, *, title: str | None = None, width: float = 11.0) -> Figure:
    """The equations as a picture of a width in inches, long sums in several lines, with a legend below."""
    room = 72.0 * (width - 0.9)
    lines: list[str] = []
    for program, written in zip(equations.programs, equations.written, strict=True):
        rows = [(symbol.latex, tree) for symbol, tree in written.definitions]
        rows += list(zip(equations.entry_names(program), written.trees, strict=True))
        for name, tree in rows:
            lines += _broken(name, tree, room)
    legend = _filled([line.replace("^2", "²") for line in equations.legend], round(13 * width))
    step = POINTS * LEADING / 72.0
    height = 0.8 + step * len(lines) + 0.22 * len(legend) + 0.25
    figure = blank(width, height)
    heading = f"equations of motion of {equations.robot.name.replace('_', ' ')}" if title is None else title
    figure.text(0.5, 1.0 - 0.2 / height, heading, ha="center", va="top", fontsize=14, color=INK)
    for i, line in enumerate(lines):
        y = 1.0 - (0.8 + step * (i + 0.5)) / height
        figure.text(0.45 / width, y, f"${line}$", fontsize=POINTS, va="center", color=INK, math_fontfamily="cm")
    for i, line in enumerate(legend):
        figure.text(0.45 / width, (0.15 + 0.22 * (len(legend) - 1 - i)) / height, line, fontsize=9, color=PALE)
    return figure


def _broken(name: str, tree: Tree, room: float) -> list[str]:
    """`name = sum` in as many lines as the room [points] asks for; a line that goes on is indented."""
    lines, line = [], f"{name} ="
    for piece in _pieces(tree):
        longer = f"{line} {piece}"
        if _width(longer) > room and not line.endswith("="):
            lines.append(line)
            longer = rf"\qquad {piece}"
        line = longer
    return [*lines, line]


def _pieces(tree: Tree) -> list[str]:
    """The terms of a sum, each with its sign; mathtext sets no space before a function, so it is put in."""
    terms = tree.terms if isinstance(tree, Sum) else (tree,)
    signed = [latex(terms[0])]
    signed += [f"- {latex(scaled(-1.0, term))}" if is_negative(term) else f"+ {latex(term)}" for term in terms[1:]]
    return [re.sub(r"(?<=[\w}] )\\(?=sin|cos|tan|ln|arc)", r"\\,\\", piece) for piece in signed]


def _width(line: str) -> float:
    """The width of a line of formula [points]."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    properties = FontProperties(size=POINTS, math_fontfamily="cm")
    return float(text_to_path.get_text_width_height_descent(f"${line}$", properties, ismath=True)[0])


def _filled(items: Sequence[str], columns: int) -> list[str]:
    """Items side by side in lines of at most so many characters."""
    lines = [""]
    for item in items:
        joined = f"{lines[-1]}     {item}".strip()
        lines = [*lines[:-1], joined] if len(joined) <= columns or not lines[-1] else [*lines, item]
    return lines
