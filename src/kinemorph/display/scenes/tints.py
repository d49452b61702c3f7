"""Figures in one place are told apart by color: the first keeps its own, every other has a tint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinemorph.display.scenes.scene import Figure

TINTS = ((0.90, 0.45, 0.10), (0.10, 0.62, 0.46), (0.78, 0.40, 0.62), (0.93, 0.75, 0.20), (0.45, 0.35, 0.75))
TINTED = 0.75  # how much of a color is its figure's


def told_apart(figures: Sequence[Figure]) -> list[Figure]:
    """The same figures, with tints for those that stand where the first does."""
    first = figures[0].offset
    return [
        _tinted(figure, number) if number and np.array_equal(figure.offset, first) else figure
        for number, figure in enumerate(figures)
    ]


def _tinted(figure: Figure, number: int) -> Figure:
    tint = TINTS[(number - 1) % len(TINTS)]
    parts = []
    for part in figure.parts:
        if part.layer == "shapes" and part.owner >= 0:
            r, g, b = (TINTED * new + (1.0 - TINTED) * old for new, old in zip(tint, part.color, strict=False))
            part = replace(part, color=(r, g, b, part.color[3]))
        parts.append(part)
    return replace(figure, parts=tuple(parts))
