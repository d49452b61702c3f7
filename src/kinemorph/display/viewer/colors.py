"""Colors as the page takes them, from 0 to 255: those of meshes as on a screen, those of lines and copies as light."""

from __future__ import annotations

from kinemorph.display.scenes.scene import Color

GAMMA = 2.2  # of a screen


def screen(color: Color) -> tuple[int, int, int]:
    """A color for a mesh."""
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0)) for x in color[:3])
    return r, g, b


def light(color: Color) -> tuple[int, int, int]:
    """A color for a line, or for one of many copies of a mesh: amounts of light."""
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0) ** GAMMA) for x in color[:3])
    return r, g, b
