"""Writes frames as an mp4 that every browser and player shows: H.264 in yuv420p, by the ffmpeg of imageio-ffmpeg.

ffmpeg runs as a process that reads frames from a pipe. It is asked for its version first, so that a failure to start is
reported before anything is rendered. If it stops reading, it is killed. Since it fails silently, the boxes (the
top-level structure) of the written mp4 are checked.
"""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.errors import KinemorphError, MissingExtraError

if TYPE_CHECKING:
    from kinemorph.display.painting.film_files import Frames

QUALITY = 18  # constant rate factor of H.264: sharp lines, small files
PATIENCE = 30.0  # longest wait for ffmpeg to start, and to read a frame [s]
LAST_PATIENCE = 120.0  # longest wait for ffmpeg to finish the file [s]


def find_ffmpeg() -> None:
    """Raises an error where ffmpeg is missing or does not start."""
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
            f"ffmpeg does not start ({_reason(error)}), so no mp4 can be written. Install imageio-ffmpeg again, unset "
            "IMAGEIO_FFMPEG_EXE, or write a gif."
        ) from None


def write_video(frames: Frames, path: Path, period: float) -> None:
    """Writes frames that are `period` [s] apart as an mp4; their width and height have to be even numbers of pixels."""
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
            _send(writer, frame.tobytes())
    except OSError as error:
        raise OSError("ffmpeg stopped reading frames; the disk may be full") from error
    finally:
        if writer is not None:
            writer.close()
    if not _whole(path):
        raise OSError("ffmpeg did not finish the file; the disk may be full")


def _send(writer: Any, data: bytes) -> None:
    """Sends a frame to ffmpeg; kills ffmpeg if it does not read it within PATIENCE, as the pipe would block forever."""
    process = writer.gi_frame.f_locals.get("p")
    watch = threading.Timer(PATIENCE, lambda: process and process.kill())
    watch.daemon = True
    watch.start()
    try:
        writer.send(data)
    finally:
        watch.cancel()


def _whole(path: Path) -> bool:
    """Whether an mp4 file has the boxes ftyp, moov and mdat, and exactly the length that its boxes add up to."""
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
