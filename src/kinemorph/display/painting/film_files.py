"""Film files, by the suffix of their names: how many frames they may have, and how they are written.

After a failure no film is left behind, and an older file is unchanged.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import evenly
from kinemorph.display.painting.videos import find_ffmpeg, write_video
from kinemorph.durable_files import replacing
from kinemorph.errors import UnsupportedError
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[int, int], None]  # (frames done, frames in total)

COLORS = 128  # size of the palette of a gif, which all frames share
LOOKED_AT = 5  # number of frames from which the palette is chosen
MOST_FRAMES = 3000
PATIENCE = 2.0  # [s] after which a film says how far it is


@dataclass(frozen=True)
class Frames:
    """The `count` frames of a film, each rendered when it is iterated over, so that a film is never whole in memory.

    `paint(k)` renders frame k; `progress` is called after each frame of an iteration.
    """

    paint: Callable[[int], Image]
    count: int
    progress: Progress | None = None

    def __iter__(self) -> Iterator[Image]:
        for number in range(self.count):
            yield self.paint(number)
            if self.progress:
                self.progress(number + 1, self.count)


def write_gif(frames: Frames, path: Path, period: float) -> None:
    """Writes frames as a gif that repeats forever; `period` is the time between them, in whole hundredths [s]."""
    from PIL.Image import Dither

    some = evenly(frames.count, LOOKED_AT)
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


class Reel(NamedTuple):
    """A film format: the function that writes it, the least and most frames per second, the default longer side
    [inch at 100 dpi], and a function that raises an error where a required program is missing.
    """

    write: Callable[[Frames, Path, float], None]
    slowest: float
    fastest: float
    hundredths: bool  # whether the time between frames has to be whole hundredths of a second
    size: float
    check: Callable[[], None] = lambda: None


REELS = {
    ".gif": Reel(write_gif, 0.01, 50.0, True, 7.2),
    ".mp4": Reel(write_video, 0.01, 120.0, False, 7.2, find_ffmpeg),
}


def reel_of(path: Path | str) -> tuple[Path, Reel]:
    """The path of a film and its format, by its suffix; unknown suffixes and missing programs are errors."""
    path = Path(path)
    found = REELS.get(path.suffix.lower())
    if found is None:
        raise UnsupportedError(
            f"'{path}': films are written as gif or mp4. Use a name that ends in .gif or .mp4."
            + did_you_mean(path.suffix, REELS)
        )
    found.check()
    return path, found


def frame_time(fps: float, reel: Reel = REELS[".gif"]) -> float:
    """The time between frames [s] of a film format for a frame rate `fps` [1/s]; whole hundredths in a gif."""
    if not reel.slowest <= fps <= reel.fastest:
        what = "a gif" if reel.hundredths else "an mp4"
        raise UnsupportedError(
            f"fps is {fps:g}; expected a number from {reel.slowest:g} to {reel.fastest:g} frames per second for {what}."
        )
    return max(2, round(100.0 / fps)) / 100.0 if reel.hundredths else 1.0 / fps


def check_count(count: int) -> None:
    """Raises an error for more than MOST_FRAMES frames."""
    if count > MOST_FRAMES:
        raise UnsupportedError(
            f"the film would have {count:,} frames; expected at most {MOST_FRAMES:,}. Lower fps or raise speed."
        )


def terminal_progress(name: str) -> Progress | None:
    """Shows how many frames of a film are painted, in one line on stderr; None if that is not a terminal.

    The line appears only if the film takes longer than PATIENCE, and is removed at the end.
    """
    if not sys.stderr.isatty():
        return None
    start = time.monotonic()

    def show(done: int, count: int) -> None:
        if time.monotonic() - start > PATIENCE:
            text = f"painting {name}: {done} of {count} frames"
            sys.stderr.write("\r" + (text if done < count else " " * len(text) + "\r"))
            sys.stderr.flush()

    return show


def write_frames(frames: Frames, path: Path, reel: Reel, period: float) -> Path:
    """Renders frames, writes them as a film with `period` [s] between them, and returns its path.

    After a failure no file is left.
    """
    if frames.progress is None:
        frames = replace(frames, progress=terminal_progress(path.name))
    with replacing(path) as part:
        reel.write(frames, part, period)
    return path
