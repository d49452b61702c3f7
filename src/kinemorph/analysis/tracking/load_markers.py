"""`load_markers`: recorded markers from files of several formats, in any unit and axes.

    markers = load_markers("walk.trc", axes=("x", "-z", "y"))          # a file whose y points up
    markers = load_markers("fly.csv", unit="mm", rate=330)

Data that cannot be meant raise ShapeError in one sentence; questionable data give a RecordingWarning.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.recorded_tables import time_gaps
from kinemorph.analysis.tracking.files.raw_markers import RawMarkers, check_rate, factor_to_si
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import Problem, RecordingWarning, ShapeError, StorageError, users_level
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.analysis.tracking.filmed import Filmed

# suffix: the file of `files/` that reads it
FORMATS: dict[str, str] = {
    ".csv": "comma_tables",
    ".tsv": "comma_tables",
    ".txt": "comma_tables",
    ".trc": "trc",
    ".c3d": "c3d_points",
}
WRITTEN = (".csv", ".tsv", ".txt", ".trc")


def load_markers(
    path: str | Path,
    *,
    unit: str | None = None,
    rate: float | None = None,
    names: Mapping[str, str] | None = None,
    axes: Sequence[str] = ("x", "y", "z"),
) -> Markers:
    """The markers in a file: .csv, .tsv or .txt (wide or long), .trc, or .c3d with the extra `c3d`.

    `unit`    of lengths, such as "mm"; by default the one that the file states, and m where it states none
    `rate`    frames per second, for a file with numbers of frames and no times
    `names`   other names for markers, {name in the file: name here}
    `axes`    of the file that are x, y and z here: ("x", "-z", "y") for a file whose y points up

    Points that were not measured may be empty cells or NaN; they are NaN in the result.
    """
    path = Path(path)
    if rate is not None:
        check_rate(rate)
    raw: RawMarkers = _format(path).read(path, unit, rate)
    markers = Markers(tuple(raw.names), raw.times, _turned(raw.positions, axes), raw.weights, path.name)
    if names:
        markers = markers.renamed(names)
    warn_of(markers, raw)
    return markers


def warn_of(points: Markers | Filmed, raw: RawMarkers) -> None:
    """Warns of what is questionable in a recording that was read: ignored columns, unseen markers, gaps in time."""
    for problem in [*_questionable(points, raw), *time_gaps(points.source, points.times)]:
        warnings.warn(problem, RecordingWarning, stacklevel=users_level())


def save_points(points: Markers | Filmed, path: Path, unit: str = "m") -> Path:
    """Writes points to a file whose format its suffix says; see `Markers.save` and `Filmed.save`."""
    spatial = isinstance(points, Markers)
    allowed = WRITTEN if spatial else WRITTEN[:-1]
    if path.suffix.lower() not in allowed:
        raise StorageError(
            f"markers cannot be saved as '{path.name}': the suffix '{path.suffix}' is none of {listed(allowed)}. Give "
            "one of them."
        )
    factor = factor_to_si(points.source, "the argument unit", unit, "length", "m")
    if points.weights is not None and path.suffix.lower() == ".trc":
        problem = Problem("recording", points.source, "weights are not saved in TRC", "Save as .csv to keep them.")
        warnings.warn(problem, RecordingWarning, stacklevel=users_level())
    text: str = _format(path).write(path, points, unit, factor)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"markers cannot be saved as '{path}': {error.strerror}. Give another path.") from None
    return path


def _format(path: Path) -> Any:
    """The module of `files/` that reads files with the suffix of this path."""
    home = FORMATS.get(path.suffix.lower())
    if home is None:
        raise StorageError(
            f"recording '{path.name}' has the suffix '{path.suffix}', which is none of {listed(FORMATS)}. Export the "
            "markers in one of these formats."
        )
    return import_module(f"kinemorph.analysis.tracking.files.{home}")


def _turned(positions: Array, axes: Sequence[str]) -> Array:
    """Positions (n, k, 3) in the axes of a file as positions in the axes here."""
    letters = [str(axis).lstrip("+-") for axis in axes]
    if sorted(letters) != ["x", "y", "z"]:
        raise ShapeError(f"axes are {axes}; expected x, y and z once each, such as ('x', '-z', 'y').")
    order = ["xyz".index(letter) for letter in letters]
    signs = np.array([-1.0 if axis.startswith("-") else 1.0 for axis in axes])
    if np.linalg.det(np.eye(3)[order] * signs[:, None]) < 0.0:
        raise ShapeError(
            f"axes are {axes}, which mirrors the recording: left and right would be exchanged. Turn the sign of one "
            "axis, or exchange two of them."
        )
    found: Array = positions[:, :, order] * signs
    return found


def _questionable(markers: Markers | Filmed, raw: RawMarkers) -> list[Problem]:
    """Problems of markers that were read: columns that were ignored, markers that are never seen."""
    found = []
    if raw.ignored:
        what = f"columns {listed(raw.ignored, 6)} are not parts of markers, and are ignored"
        found.append(Problem("recording", markers.source, what, "Name them as 'foot.x' if they are."))
    if not len(markers) or not markers.names:
        return found
    never = [name for name, seen in zip(markers.names, markers.seen.T, strict=True) if not seen.any()]
    if never:
        what = f"{'marker' if len(never) == 1 else 'markers'} {listed(never, 6)} missing in all {len(markers)} frames"
        found.append(Problem("recording", markers.source, what, "Leave them out, or check how they were exported."))
    return found
