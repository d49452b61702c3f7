"""Equations as outlines of their letters in SVG: no font, no script, and the color of the page's own text.

Set by Matplotlib's mathtext in the lines of `typesetting`. Every letter is outlined once and used where it stands; the
names of letters hold a digest of the equations, so that two cards on a page do not mix theirs.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import Any

from kinemorph.display.equations.equations_of_motion import WrittenEquations
from kinemorph.display.equations.typesetting import LEADING, POINTS, equation_lines, line_size

SCALE = 1.0  # size on the page over that of a picture of equations
ROOM = 560.0  # [points] for a line
COMMANDS = {1: "M", 2: "L", 3: "Q", 4: "C"}  # Matplotlib's codes of a path


def outlined(equations: WrittenEquations, room: float = ROOM) -> str:
    """Equations as an SVG element; its text alternative is the equations in Python's syntax."""
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
    """Letters that lines have used so far, each under a short name."""

    def __init__(self, digest: str) -> None:
        self._digest = digest
        self._paths: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def line(self, line: str) -> str:
        """A line of formula, its baseline at y = 0, y up [points]."""
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
        """The outlines of all letters."""
        paths = [f'<path id="{self._digest}-{self._numbers[name]}" d="{path}"/>' for name, path in self._paths.items()]
        return f"<defs>{''.join(paths)}</defs>"


def _path(points: Any, codes: Any) -> str:
    """An outline as the data of an SVG path, rounded to hundredths of a letter's size."""
    from matplotlib.path import Path

    parts = []
    for corners, code in Path(points, codes).iter_segments(simplify=False):
        word = COMMANDS.get(int(code), "Z")
        parts.append(word if word == "Z" else word + " ".join(f"{value:.0f}" for value in corners))
    return "".join(parts)
