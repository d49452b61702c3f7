"""Frames as an animated gif: one palette for all, that of some frames side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.display.painting.frames import Frames

if TYPE_CHECKING:
    from PIL.Image import Image

COLORS = 128  # of the palette
LOOKED_AT = 5  # frames from which it is taken


def write_gif(frames: Frames, path: Path, period: float) -> None:
    """Writes frames `period` [s] apart, whole hundredths, as a gif that starts again at its end."""
    from PIL.Image import Dither

    some = np.unique(np.linspace(0, frames.count - 1, LOOKED_AT).astype(int))
    palette = _palette([frames.paint(int(k)) for k in some])
    small = (frame.quantize(palette=palette, dither=Dither.NONE) for frame in frames)
    timing: dict[str, Any] = {"duration": round(1000.0 * period), "loop": 0}
    next(small).save(path, format="GIF", save_all=True, append_images=small, disposal=1, **timing)


def _palette(some: Sequence[Image]) -> Image:
    from PIL import Image

    width, height = some[0].size
    sheet = Image.new("RGB", (width, height * len(some)))
    for k, frame in enumerate(some):
        sheet.paste(frame, (0, k * height))
    found = sheet.quantize(colors=COLORS, method=Image.Quantize.MEDIANCUT)
    entries = np.array(found.getpalette() or [255, 255, 255])
    entries[entries > 249] = 255  # paper stays white
    found.putpalette([int(entry) for entry in entries])
    return found
