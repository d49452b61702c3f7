"""Files of moving pictures, by the ending of their names: how many frames they may have, and how they are written.

A file is written beside its place and moved there when it is complete: after a failure nothing is left behind, and an
older file is as it was.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinemorph.display.painting.videos import find_ffmpeg, write_video
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from PIL.Image import Image

Progress = Callable[[int, int], None]  # (frames done, frames in all)

COLORS = 128  # of the palette of a gif, which all frames share
LOOKED_AT = 5  # frames from which it is taken
MOST_FRAMES = 3000
PATIENCE = 2.0  # [s] after which a film says how far it is


@dataclass(frozen=True)
class Frames:
    """`count` frames, painted when they are asked for, so that a long film never lies in memory.

    `paint(k)` makes number k; `progress` is called after each frame that is taken in turn.
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


class Reel(NamedTuple):
    """A file format: the function that writes it, the least and most frames a second, the usual longer side
    [inch at 100 dpi], and a check of what it needs.
    """

    write: Callable[[Frames, Path, float], None]
    slowest: float
    fastest: float
    hundredths: bool  # the time between frames is whole hundredths of a second
    size: float
    check: Callable[[], None] = lambda: None


REELS = {
    ".gif": Reel(write_gif, 0.01, 50.0, True, 4.6),
    ".mp4": Reel(write_video, 0.01, 120.0, False, 7.2, find_ffmpeg),
}


def reel_of(path: Path | str) -> tuple[Path, Reel]:
    """The path of a moving picture, and how it is written; unknown endings and missing programs are errors."""
    path = Path(path)
    found = REELS.get(path.suffix.lower())
    if found is None:
        raise UnsupportedError(
            f"'{path}': moving pictures are written as gif or mp4. Use a name that ends in .gif or .mp4."
            + did_you_mean(path.suffix, REELS)
        )
    found.check()
    return path, found


def frame_time(fps: float, reel: Reel = REELS[".gif"]) -> float:
    """The time between frames [s] that comes nearest to a rate [1/s]; whole hundredths in a gif."""
    if not reel.slowest <= fps <= reel.fastest:
        what = "a gif" if reel.hundredths else "an mp4"
        raise UnsupportedError(
            f"fps is {fps:g}; expected a number from {reel.slowest:g} to {reel.fastest:g}, which is what {what} can "
            "show."
        )
    return max(2, round(100.0 / fps)) / 100.0 if reel.hundredths else 1.0 / fps


def check_count(count: int) -> None:
    """Raises an error for more than MOST_FRAMES frames."""
    if count > MOST_FRAMES:
        raise UnsupportedError(
            f"{count:,} frames would be painted, at most {MOST_FRAMES:,} make sense. Lower fps or raise speed."
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
    """Paints frames and writes them, `period` [s] apart. What was painted before a failure is removed."""
    if frames.progress is None:
        frames = replace(frames, progress=terminal_progress(path.name))
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        reel.write(frames, beside, period)
        beside.replace(path)
    except OSError as error:
        raise KinemorphError(f"cannot write '{path}': {error.strerror or error}. Choose another place.") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return path
