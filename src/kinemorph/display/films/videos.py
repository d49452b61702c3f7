"""Frames as an mp4 that every browser and player shows: H.264 in yuv420p, by the ffmpeg that imageio-ffmpeg brings.

ffmpeg runs beside us and takes frames from a pipe. It is asked for its version first, as a program that does not start
or does not answer is told in time; what it wrote is read back as far as the boxes of the file, as it fails silently.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from kinemorph.display.films.frames import Frames
from kinemorph.errors import KinemorphError, MissingExtraError

QUALITY = 18  # constant rate factor: lines stay clean, files small
PATIENCE = 15.0  # for an answer of ffmpeg [s]
LAST_PATIENCE = 120.0  # for it to finish a file [s]


def find_ffmpeg() -> None:
    """Says so where there is no ffmpeg, or one that does not work."""
    try:
        import imageio_ffmpeg  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("imageio-ffmpeg", "video") from None
    try:
        program = imageio_ffmpeg.get_ffmpeg_exe()
        subprocess.run(
            [program, "-version"], stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=PATIENCE
        )
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise KinemorphError(
            f"ffmpeg does not start ({_reason(error)}), so no mp4 can be written. Install imageio-ffmpeg anew, unset "
            "IMAGEIO_FFMPEG_EXE, or write a gif."
        ) from None


def write_video(frames: Frames, path: Path, period: float) -> None:
    """Writes frames `period` [s] apart. Their sizes are even."""
    import imageio_ffmpeg

    writer: Any = None
    try:
        for frame in frames:
            if writer is None:
                settings = ["-crf", str(QUALITY), "-preset", "medium", "-movflags", "+faststart"]
                writer = imageio_ffmpeg.write_frames(
                    str(path),
                    frame.size,
                    fps=1.0 / period,
                    codec="libx264",
                    quality=None,
                    macro_block_size=2,
                    ffmpeg_log_level="quiet",
                    ffmpeg_timeout=LAST_PATIENCE,
                    output_params=settings,
                )
                writer.send(None)
            writer.send(frame.tobytes())
    except OSError as error:
        raise OSError("ffmpeg stopped before its end, as it does when the disk is full") from error
    finally:
        if writer is not None:
            writer.close()
    if not _whole(path):
        raise OSError("ffmpeg did not finish the file, as it does when the disk is full")


def _whole(path: Path) -> bool:
    """Whether an mp4 has its table of contents and is as long as its boxes say."""
    kinds, at = set(), 0
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            while at < size:
                file.seek(at)
                head = file.read(16)
                length = int.from_bytes(head[:4], "big")
                length = int.from_bytes(head[8:], "big") if length == 1 else length
                if len(head) < 8 or length < 8:
                    return False
                kinds.add(head[4:8])
                at += length
    except OSError:
        return False
    return at == size and {b"ftyp", b"moov", b"mdat"} <= kinds


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {PATIENCE:g} s"
    if isinstance(error, subprocess.CalledProcessError):
        return f"it ends with code {error.returncode}"
    return getattr(error, "strerror", None) or str(error).splitlines()[0]
