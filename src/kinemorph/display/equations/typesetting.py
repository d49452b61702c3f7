"""Equations as a picture, typeset by Matplotlib's mathtext: no LaTeX installation is needed.

A line that is too long is broken by the rules of `codegen.reading.line_breaks`. A line that cannot be broken gets a
smaller font. No formula is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from kinemorph.codegen.backends.text.latex import continued
from kinemorph.codegen.reading.expression_tree import Tree
from kinemorph.codegen.reading.line_breaks import broken
from kinemorph.codegen.reading.printed_formula import formula
from kinemorph.display.canvas import INK, PALE, Figure, blank
from kinemorph.display.equations.equations_of_motion import WrittenEquations
from kinemorph.errors import UnsupportedError
from kinemorph.vocabulary.typography.marks import Mark, Named, Sign, row

POINTS = 15.0  # font size
LEADING = 2.35  # line height over font size
INDENT = r"\qquad "


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
        rows = [(Named(symbol.latex, symbol.text), tree) for symbol, tree in written.definitions]
        rows += list(zip(equations.entry_names(program), written.trees, strict=True))
        for name, tree in rows:
            lines += _broken(name, tree, room)
    return lines


def _broken(name: Mark, tree: Tree, room: float) -> list[str]:
    """`name = formula`, broken into lines of a width `room` [points]; continued lines are indented."""
    front = row(name, Sign("="))
    lines = broken(formula(tree), room, measure=_measure, first=_measure(front), step=_width(INDENT))
    return [line_text(row(front, mark)) if not indent else INDENT * indent + line_text(mark) for mark, indent in lines]


def _measure(mark: Mark) -> float:
    """The width of a formula [points]."""
    return _width(line_text(mark))


def line_text(mark: Mark) -> str:
    """A formula as a line for mathtext, which puts no space before a function, so that it is added."""
    return re.sub(r"(?<=[\w}] )\\(?=sin|cos|tan|ln|arc)", r"\\,\\", continued(mark))


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
