"""Markers in text tables: .csv, .tsv and .txt.

Wide tables have a column of times and three columns for each marker, "foot.x [mm]", "foot.y [mm]", "foot.z [mm]", and
perhaps its weights, "foot.weight". In place of the dot there may be an underscore, a colon or a space, and in place of
the weight a "score", a "likelihood" or a "confidence", as trackers call it. Long tables have one line for each point,
with the columns time, marker, x, y, z, and perhaps weight. A column "frame" replaces times where the rate is given.
Tables of DeepLabCut have three lines of heads (scorer, bodyparts, coords) in place of one.

Pictures of one camera are tables without z, or with u and v in place of x and y; their coordinates have no unit.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.recorded_tables import TextTable, Title, cells, column_of, numbers, read_lines, table_of
from kinemorph.analysis.tracking.files.raw_markers import RawMarkers, factor_to_si, times_of_frames
from kinemorph.analysis.tracking.markers import Markers
from kinemorph.errors import Problem, RecordingWarning, ShapeError, users_level
from kinemorph.words import guarded, listed, quoted

if TYPE_CHECKING:
    from kinemorph.analysis.tracking.filmed import Filmed

TIMES = ("t", "time", "times", "timestamp", "seconds")
FRAMES = ("frame", "frame#", "frames", "fnum", "index")
MARKER = ("marker", "name", "point", "label", "bodypart")
WEIGHTS = ("weight", "score", "likelihood", "confidence")
AXES = ("x", "y", "z")
OTHER_RATE = 0.01  # a given rate that differs by a larger share from that of the times of a file is reported
_PART = re.compile(rf"(.+?)[._: ]({'|'.join((*AXES, 'u', 'v', *WEIGHTS))})", re.IGNORECASE)


def read(path: Path, unit: str | None, rate: float | None) -> RawMarkers:
    """The markers in a text table, wide or long; `unit` and `rate` are those of `load_markers`."""
    table = _table(path)
    known = [name.lower() for name in table.names]
    if set(AXES) <= set(known) and any(name in known for name in MARKER):
        return _long(table, known, unit, rate)
    return _wide(table, unit, rate, AXES)


def read_pictures(path: Path, rate: float | None) -> RawMarkers:
    """The points in the pictures of one camera, from a wide table; positions have shape (n, k, 2)."""
    table = _table(path)
    pairs = [(name.lower()[-2:]) for name in table.names]
    axes = ("u", "v") if any(pair in (".u", "_u", ":u", " u") for pair in pairs) else ("x", "y")
    return _wide(table, None, rate, axes)


def _table(path: Path) -> TextTable:
    lines = read_lines(path)
    if lines and lines[0].lower().startswith("scorer,") and len(lines) > 2:  # the three heads of DeepLabCut
        parts, coords = (line.split(",")[1:] for line in lines[1:3])
        head = ",".join(["frame", *(f"{part}.{coord}" for part, coord in zip(parts, coords, strict=False))])
        lines = [head, *lines[3:]]
    return table_of(path.name, lines)


def _wide(table: TextTable, unit: str | None, rate: float | None, axes: Sequence[str]) -> RawMarkers:
    parts, ignored = columns_by_point(table, axes)
    values = numbers(table)
    positions = np.stack([_points(table, values, place, axes, unit) for place in parts.values()], axis=1)
    weights = np.ones(positions.shape[:2])
    weighted = [(k, place["weight"]) for k, place in enumerate(parts.values()) if "weight" in place]
    for k, at in weighted:
        weights[:, k] = np.where(np.isnan(values[:, at]), 0.0, values[:, at])
    times = _times(table, [values[:, k] for k in range(values.shape[1])], rate)
    return RawMarkers([*parts], times, positions, weights if weighted else None, ignored)


def columns_by_point(table: TextTable, axes: Sequence[str]) -> tuple[dict[str, dict[str, int]], tuple[str, ...]]:
    """By point the columns of its axes and of its weight, {"foot": {"x": 1, "y": 2, "z": 3}}, and ignored columns."""
    found: dict[str, dict[str, int]] = {}
    ignored = []
    for k, title in enumerate(table.titles):
        match = _PART.fullmatch(title.name)
        part = match[2].lower() if match else ""
        part = "weight" if part in WEIGHTS else part
        if match is None or part not in (*axes, "weight"):
            if title.name.lower() not in TIMES + FRAMES:
                ignored.append(title.name)
            continue
        place = found.setdefault(match[1], {})
        if part in place:
            raise ShapeError(
                f"recording '{table.label}': two columns are '{title.name}', so marker '{match[1]}' is there twice. "
                "Rename or remove one of them."
            )
        place[part] = k
    if not found:
        such = quoted([f"foot.{axis}" for axis in axes])
        raise ShapeError(
            f"recording '{table.label}' has no columns of markers; expected names such as {such}, or the columns time, "
            f"marker, x, y, z. Its columns: {listed(table.names, 12)}."
        )
    remedy = "; pictures of a single camera are read by load_view" if len(axes) == len(AXES) else ""
    for name, place in found.items():
        missing = [f"{name}.{axis}" for axis in axes if axis not in place]
        if missing:
            raise ShapeError(
                f"recording '{table.label}': marker '{name}' has no column {quoted(missing)}; expected "
                f"{listed(axes)} of every marker. Add it{remedy}."
            )
    return found, tuple(ignored)


def _points(table: TextTable, values: Array, place: dict[str, int], axes: Sequence[str], unit: str | None) -> Array:
    """The positions of one point [m], shape (n, 3), or its picture coordinates, shape (n, 2)."""
    columns = []
    for axis in axes:
        title = table.titles[place[axis]]
        factor = 1.0
        if len(axes) == len(AXES):
            factor = factor_to_si(table.label, f"column '{title.name}'", unit or title.unit, "length", "m")
        columns.append(values[:, place[axis]] * factor)
    return np.stack(columns, axis=1)


def _times(table: TextTable, columns: Sequence[Array], rate: float | None) -> Array:
    """The times [s] of all lines, from the column of times, or from that of frames with the rate."""
    lower = [name.lower() for name in table.names]
    for name in TIMES:
        if name in lower and not (rate is not None and any(frame in lower for frame in FRAMES)):
            title: Title = table.titles[lower.index(name)]
            factor = factor_to_si(table.label, f"column '{title.name}'", title.unit, "time", "s")
            found: Array = columns[lower.index(name)] * factor
            _warn_of_rate(table.label, found, rate)
            return found
    for name in FRAMES:
        if name in lower:
            return times_of_frames(table.label, rate, columns[lower.index(name)])
    if rate is not None:
        return times_of_frames(table.label, rate, np.arange(len(table.lines), dtype=float))
    raise ShapeError(
        f"recording '{table.label}' has no column 't' with times. Name it in the file, or give the frames per second: "
        "rate=200."
    )


def _warn_of_rate(label: str, times: Array, rate: float | None) -> None:
    """Warns where a rate [1/s] is given that is not that of the times [s] of a file, which count."""
    steps = np.diff(np.unique(times))
    own = 1.0 / float(np.median(steps)) if len(steps) else np.nan
    if rate is not None and abs(own - rate) > OTHER_RATE * rate:
        what = f"rate={rate:g} has no effect, as the file has times, {own:.4g} frames per second"
        problem = Problem("recording", label, what, "Leave rate out, or remove the column of times.")
        warnings.warn(problem, RecordingWarning, stacklevel=users_level())


def _long(table: TextTable, known: Sequence[str], unit: str | None, rate: float | None) -> RawMarkers:
    """Markers of a table with one line for each point, in any order of lines."""
    lines = cells(table)
    whose = next(known.index(name) for name in MARKER if name in known)
    text = [line[whose] for line in lines]
    used = {k for k, name in enumerate(known) if name in (*TIMES, *FRAMES, *AXES, *WEIGHTS)}
    columns = [
        column_of(table.label, table.names[k], [line[k] for line in lines]) if k in used else np.empty(0)
        for k in range(len(known))
    ]
    times, at = np.unique(_times(table, columns, rate), return_inverse=True)
    names = list(dict.fromkeys(text))
    which = np.array([names.index(name) for name in text])
    keys = at * len(names) + which
    first = np.unique(keys, return_index=True)[1]
    if len(first) < len(keys):
        again = int(np.setdiff1d(np.arange(len(keys)), first)[0])
        raise ShapeError(
            f"recording '{table.label}': marker '{text[again]}' is there twice at t = {times[at[again]]:.6g} s, the "
            f"second time in sample {again + 1}. Remove one of the two lines."
        )
    positions = np.full((len(times), len(names), 3), np.nan)
    place = {axis: known.index(axis) for axis in AXES}
    whole = np.stack([column if k in used else np.zeros(len(lines)) for k, column in enumerate(columns)], axis=1)
    positions[at, which] = _points(table, whole, place, AXES, unit)
    weights = None
    for name in WEIGHTS:
        if name in known:
            weights = np.zeros(positions.shape[:2])
            given = columns[known.index(name)]
            weights[at, which] = np.where(np.isnan(given), 0.0, given)
            used.add(known.index(name))
    ignored = tuple(table.names[k] for k in range(len(known)) if k not in used and k != whose)
    return RawMarkers(names, times, positions, weights, ignored)


def write(path: Path, points: Markers | Filmed, unit: str, factor: float) -> str:
    """The text of a wide table; lengths are in `unit`, which has `factor` meters. Missing positions are empty cells.

    Picture coordinates are written as they are, in px.
    """
    separator = "," if path.suffix.lower() == ".csv" else "\t"
    if isinstance(points, Markers):
        places, ends = points.positions / factor, [f"{axis} [{unit}]" for axis in AXES]
    else:
        places, ends = points.pictures, ["u [px]", "v [px]"]
    titles = ["t [s]"]
    weights = points.weights
    for name in points.names:
        titles += [f"{name}.{end}" for end in ends] + [f"{name}.weight"] * (weights is not None)
    lines = [separator.join(map(guarded, titles))]
    for k, time in enumerate(points.times.tolist()):
        row = [repr(time)]
        for j, place in enumerate(places[k].tolist()):
            row += ["" if x != x else repr(x) for x in place]
            if weights is not None:
                row.append(repr(float(weights[k, j])))
        lines.append(separator.join(row))
    return "\n".join(lines) + "\n"
