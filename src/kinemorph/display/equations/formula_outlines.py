"""Equations as SVG outlines of their letters, which need no font and no script and have the color of the page's text.

Matplotlib's mathtext typesets the lines of `typesetting`. The outline of every letter is stored once and referenced.
The ids of letters contain a hash of the equations, so that the ids of two cards on a page differ.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import Any

from kinemorph.display.equations.equations_of_motion import WrittenEquations
from kinemorph.display.equations.typesetting import LEADING, POINTS, equation_lines, line_size

SCALE = 1.0  # size on the page over the size in a picture of equations
ROOM = 560.0  # width of a line [points]
COMMANDS = {1: "M", 2: "L", 3: "Q", 4: "C"}  # Matplotlib's path codes and SVG's commands


def outlined(equations: WrittenEquations, room: float = ROOM) -> str:
    """The equations as an SVG element with lines of a width `room` [points]; its text alternative has Python syntax."""
    lines = equation_lines(equations, room)
    sizes = [line_size(line) for line in lines]
    steps = [max(0.8 * POINTS * LEADING, 1.3 * height) for _, height, _ in sizes]
    width, height = max((size[0] for size in sizes), default=0.0) + 4.0, sum(steps)
    letters = Letters(hashlib.sha256(equations.text.encode()).hexdigest()[:8])
    drawn, y = [], 0.0
    for line, (_, tall, below), step in zip(lines, sizes, steps, strict=True):
        baseline = y + 0.5 * (step + tall) - below
        drawn.append(f'<g transform="translate(2 {baseline:.1f}) scale(1 -1)">{letters.line(line)}</g>')
        y += step
    shown = f'width="{SCALE * width:.0f}" height="{SCALE * height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}"'
    label = f'role="img" aria-label="{escape(equations.text)}"'
    style = "max-width:100%;height:auto;display:block;margin:4px 0"
    return f'<svg {shown} {label} fill="currentColor" style="{style}">{letters.outlines}{"".join(drawn)}</svg>'


class Letters:
    """The outlines of the letters that were used so far, each with an id that starts with `digest`."""

    def __init__(self, digest: str) -> None:
        self._digest = digest
        self._paths: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def line(self, line: str) -> str:
        """A line of a formula as SVG, with its baseline at y = 0 and y upward [points]."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        properties = FontProperties(size=POINTS, math_fontfamily="cm")
        places, outlines, bars = text_to_path.get_glyphs_mathtext(properties, f"${line}$")
        scale = POINTS / text_to_path.FONT_SCALE
        parts = []
        for letter, x, y, size in places:
            self._paths.setdefault(letter, _path(*outlines[letter]) if letter in outlines else "")
            number = self._numbers.setdefault(letter, len(self._numbers))
            at = f"translate({scale * x:.1f} {scale * y:.1f}) scale({scale * size:.4g})"
            parts.append(f'<use href="#{self._digest}-{number}" transform="{at}"/>')
        for points, codes in bars:
            parts.append(f'<path d="{_path(points, codes)}" transform="scale({scale:.4g})"/>')
        return "".join(parts)

    @property
    def outlines(self) -> str:
        """The SVG definitions of the outlines of all letters used so far."""
        paths = [f'<path id="{self._digest}-{self._numbers[name]}" d="{path}"/>' for name, path in self._paths.items()]
        return f"<defs>{''.join(paths)}</defs>"


def _path(points: Any, codes: Any) -> str:
    """A Matplotlib path (points and codes) as the data of an SVG path, rounded to hundredths of a letter's size."""
    from matplotlib.path import Path

    parts = []
    for corners, code in Path(points, codes).iter_segments(simplify=False):
        word = COMMANDS.get(int(code), "Z")
        parts.append(word if word == "Z" else word + " ".join(f"{value:.0f}" for value in corners))
    return "".join(parts)
