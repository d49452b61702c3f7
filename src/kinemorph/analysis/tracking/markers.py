"""`Markers`: the positions of named points on a moving body, frame by frame, as cameras or a tracker measured them.

A point that was not seen in a frame is missing: its position is NaN. Weights say how much each position is trusted.
Markers come from files by `load_markers`, from two camera views by `reconstruct`, and from runs by `synthetic_markers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.recorded_tables import check_times
from kinemorph.errors import ShapeError
from kinemorph.frozen import dataclass
from kinemorph.words import counted, did_you_mean, listed, quoted


@dataclass(frozen=True, eq=False, repr=False)
class Markers:
    """Positions of k points in n frames, in one fixed frame: that of the world, or of the body that carries them.

    `names`        of the points, all different
    `times`        of the frames [s], shape (n,), increasing; their distances may differ
    `positions`    [m], shape (n, k, 3); NaN where a point is missing
    `weights`      of the squared errors of positions, shape (n, k), 0 and larger; None gives all points the weight 1
    `source`       what messages call the recording, usually the name of its file
    """

    names: tuple[str, ...]
    times: Array
    positions: Array
    weights: Array | None = None
    source: str = ""

    def __post_init__(self) -> None:
        self.__dict__.update(checked_points(self.source or "markers", self, "positions", 3))

    def __len__(self) -> int:
        """The number of frames."""
        return len(self.times)

    def __repr__(self) -> str:
        span = f"{self.times[0]:g} to {self.times[-1]:g} s" if len(self) else "empty"
        missing = f", {100.0 * (1.0 - self.seen.mean()):.3g} % missing" if not self.seen.all() else ""
        points = counted(len(self.names), "marker")
        return f"<Markers '{self.source}': {span}, {counted(len(self), 'frame')} of {points}{missing}>"

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """Whether each point was measured in each frame, shape (n, k)."""
        return np.isfinite(self.positions[:, :, 0])

    @property
    def rate(self) -> float:
        """Frames per second, by the median distance of times; NaN for fewer than two frames."""
        return 1.0 / float(np.median(np.diff(self.times))) if len(self) > 1 else np.nan

    def path(self, name: str) -> Array:
        """The positions of one marker [m], shape (n, 3)."""
        if name not in self.names:
            raise ShapeError(
                f"recording '{self.source}' has no marker '{name}'.{did_you_mean(name, self.names)} Its markers: "
                f"{listed(self.names, 40)}."
            )
        found: Array = self.positions[:, self.names.index(name)]
        return found

    def part(self, first: int, last: int | None = None, step: int = 1) -> Markers:
        """The frames from index `first` up to, and without, index `last`, every `step`-th of them."""
        cut = slice(first, last, step)
        weights = None if self.weights is None else self.weights[cut]
        return replace(self, times=self.times[cut], positions=self.positions[cut], weights=weights)

    def only(self, names: Sequence[str]) -> Markers:
        """The markers with these names, in this order."""
        if not len(names):
            raise ShapeError(f"recording '{self.source}': only was given no names; expected one or more markers.")
        for name in names:
            self.path(name)  # raises where there is no such marker
        at = np.array([self.names.index(name) for name in names], dtype=np.intp)
        weights = None if self.weights is None else self.weights[:, at]
        return replace(self, names=tuple(names), positions=self.positions[:, at], weights=weights)

    def renamed(self, names: Mapping[str, str]) -> Markers:
        """The same markers with other names: {old name: new name}. Markers that are not mentioned keep their names."""
        for name in names:
            self.path(name)  # raises where there is no such marker
        return replace(self, names=tuple(names.get(name, name) for name in self.names))

    def save(self, path: str | Path, *, unit: str = "m") -> Path:
        """Writes a .csv file with three columns for each marker, or a .trc file; lengths are in `unit`.

        The numbers of a file are those of the record to the last bit where the unit is m. A .trc file has no weights.
        """
        from kinemorph.analysis.tracking.load_markers import save_points

        return save_points(self, Path(path), unit)


def checked_points(label: str, points: Any, field: str, axes: int) -> dict[str, Any]:
    """The fields names, times, `field` (n, k, axes) and weights of a record of points, as arrays that cannot change.

    Raises ShapeError where they do not belong together. A point with one unknown coordinate is missing: all are NaN.
    """
    names = tuple(points.names)
    times, places = _fixed(points.times), np.array(getattr(points, field), dtype=float)
    n, k = times.size, len(names)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ShapeError(
            f"recording '{label}': {counted(len(twice), 'name')} of several markers, {quoted(twice)}; expected "
            "different names. Rename all but one of them."
        )
    if times.ndim != 1 or places.shape != (n, k, axes):
        raise ShapeError(
            f"recording '{label}': {field} have shape {places.shape}; expected ({n}, {k}, {axes}) for "
            f"{counted(n, 'time')} and {counted(k, 'marker')}. Give {axes} coordinates of every marker at every time."
        )
    if not np.isfinite(times).all():
        frame = int(np.flatnonzero(~np.isfinite(times))[0])
        raise ShapeError(
            f"recording '{label}': the time of frame {frame + 1} is {times[frame]}; expected a finite number. Remove "
            "this frame."
        )
    check_times(label, times)
    if np.isinf(places).any():
        frame, marker, _ = (int(at) for at in np.argwhere(np.isinf(places))[0])
        raise ShapeError(
            f"recording '{label}': the position of marker '{names[marker]}' in frame {frame + 1} is infinite. Leave a "
            "position that was not measured empty, or write NaN."
        )
    places[np.isnan(places).any(axis=2)] = np.nan
    weights = None if points.weights is None else _fixed(points.weights)
    if weights is not None and (weights.shape != (n, k) or not ((weights >= 0.0) & (weights < np.inf)).all()):
        raise ShapeError(
            f"recording '{label}': weights have shape {weights.shape} and values from "
            f"{np.min(weights, initial=np.inf):.3g} to {np.max(weights, initial=-np.inf):.3g}; expected shape "
            f"({n}, {k}) and finite values that are not negative. Give 0 to a position that shall not count."
        )
    return {"names": names, "times": times, field: _fixed(places), "weights": weights}


def _fixed(values: npt.ArrayLike) -> Array:
    """The values as a new array that cannot be written to."""
    found = np.array(values, dtype=float)
    found.flags.writeable = False
    return found
