"""Angles that are more than a turn: radians were expected, and degrees are there."""

from __future__ import annotations

import math
from collections.abc import Iterable

TURN = 2.0 * math.pi * (1.0 + 1e-3)


def degrees_doubt(angles: Iterable[float]) -> tuple[str, str] | None:
    """(problem, remedy) where one of finite angles [rad] is more than a turn; None where none is."""
    if max(angles) <= TURN and min(angles) >= -TURN:  # the usual case
        return None
    for angle in angles:
        if abs(angle) > TURN:
            degrees = f"{math.radians(angle):.9g}"
            return (
                f"{angle:g} rad is more than a turn, expected radians: it is taken as it is",
                f"Write {degrees} if {angle:g} degrees are meant.",
            )
    return None
