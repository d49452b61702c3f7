"""C3D, the binary format of motion laboratories (www.c3d.org), read through the package c3d.

Frames are counted by the file, which states their rate and the unit of lengths. A point with a negative residual was
not measured, and is missing.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from kinemorph.analysis.tracking.files.raw_markers import RawMarkers, factor_to_si, times_of_frames
from kinemorph.errors import MissingExtraError, ShapeError, StorageError


def read(path: Path, unit: str | None, rate: float | None) -> RawMarkers:
    """The markers of a .c3d file; `unit` and `rate` replace those that the file states."""
    try:
        import c3d
    except ImportError:
        raise MissingExtraError("c3d", "c3d") from None

    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of files without analog data, which are not read
            reader = c3d.Reader(file)
            names = [str(label).strip() for label in reader.point_labels]
            stated = str(reader.get_string("POINT:UNITS")).strip() if reader.get("POINT:UNITS") else ""
            frames = [(number, points) for number, points, _ in reader.read_frames(camera_sum=False)]
            usual = float(reader.point_rate)
    except OSError as error:
        raise StorageError(f"recording '{path}' cannot be read: {error.strerror}. Give a .c3d file.") from None
    except Exception as error:  # the package raises whatever a damaged file leads to
        raise StorageError(
            f"recording '{path.name}' is not a whole C3D file ({type(error).__name__}: {error}). Export it again."
        ) from None
    if not frames:
        raise ShapeError(f"recording '{path.name}' has no frames. Export it again.")
    factor = factor_to_si(path.name, "POINT:UNITS", unit or stated, "length", "m")
    points = np.array([found for _, found in frames], dtype=float)[:, : len(names)]
    positions = np.where(points[:, :, 3:4] < 0.0, np.nan, points[:, :, :3]) * factor
    counts = np.array([number for number, _ in frames], dtype=float)
    return RawMarkers(names, times_of_frames(path.name, rate or usual, counts - counts[0]), positions)
