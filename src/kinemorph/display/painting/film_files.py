"""The files that moving pictures become, by the ending of their names: how many frames they show, who writes them.

A file is written beside its place and put there when it is whole, so what cannot be written leaves nothing behind, and
an older file as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kinemorph.display.painting.frames import Frames
from kinemorph.display.painting.gifs import write_gif
from kinemorph.display.painting.videos import find_ffmpeg, write_video
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.words import did_you_mean

MOST_FRAMES = 3000


class Reel(NamedTuple):
    """A format: who writes it, least and most frames a second, the usual longer side [inch at 100 dpi], what it needs
    first.
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
    """The path of a moving picture, and how it is written; unknown endings and missing programs are told."""
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
    """Refuses more frames than make sense."""
    if count > MOST_FRAMES:
        raise UnsupportedError(
            f"{count:,} frames would be painted, at most {MOST_FRAMES:,} make sense. Lower fps or raise speed."
        )


def write_frames(frames: Frames, path: Path, reel: Reel, period: float) -> Path:
    """Paints frames and writes them, `period` [s] apart. What was painted before a failure is removed."""
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
