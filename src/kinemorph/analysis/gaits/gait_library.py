"""`gait_library`: optimal gaits for several speeds, saved in a file, with gaits in between by interpolation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.gait import Gait
from kinemorph.analysis.gaits.optimize_gait import optimize_gait
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.sheet import Field, Sheet, Table, fields
from kinemorph.shown import ShownGaits
from kinemorph.simulation.files.npz import read_arrays
from kinemorph.words import counted, listed

FORMAT = 1  # the version of the file format
NAMES, NUMBERS = ("q_names", "v_names", "p_names"), ("speeds", "q", "v", "p", "durations", "costs")


@dataclass(frozen=True, eq=False, repr=False)
class GaitLibrary(ShownGaits):
    """Gaits by speed. Made by `gait_library`, or read from a file by `GaitLibrary.load`.

    `name`                              of the robot
    `speeds` (n,)                       [m/s], increasing
    `q` (n, nq), `v` (n, nv)            states at the starts of the cycles, by the names `q_names` and `v_names`
    `p` (n, np)                         parameters, by the names `p_names`
    `durations` (n,), `costs` (n,)      of a cycle [s], and its cost
    `missing`                           by speed, why no gait was found; it is not saved
    """

    name: str
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    p_names: tuple[str, ...]
    speeds: Array
    q: Array
    v: Array
    p: Array
    durations: Array
    costs: Array
    missing: tuple[tuple[float, str], ...] = ()

    def __len__(self) -> int:
        return len(self.speeds)

    def __repr__(self) -> str:
        ends = f"{self.speeds[0]:g} to {self.speeds[-1]:g} m/s" if len(self) else "none"
        return f"<GaitLibrary of '{self.name}': {counted(len(self), 'gait')}, {ends}>"

    def sheet(self) -> Sheet:
        """The gaits by speed, and why some are missing."""
        rows = [*zip(self.speeds, self.durations, self.costs, strict=True)]
        why = (*fields("speed"), Field("message", "no gait because", form="sentence"))
        return Sheet(
            "Gaits of",
            self.name,
            (Table("gaits", fields("speed duration cost"), rows), Table("missing", why, self.missing)),
        )

    def at(self, speed: float) -> dict[str, Any]:
        """The gait at a speed [m/s] within the range of the library, by interpolation between its gaits.

        A dict of q, v and p by name, as `simulate` takes them, and of duration [s] and cost. At a speed of the library
        it is that gait; in between it is a cubic curve, or a straight line where there are two gaits.
        """
        from scipy.interpolate import make_interp_spline

        if not len(self) or not self.speeds[0] <= speed <= self.speeds[-1]:
            inside = f"{self.speeds[0]:g} to {self.speeds[-1]:g} m/s" if len(self) else "no gait"
            raise UnsupportedError(
                f"the speed is {speed:g} m/s, and the library of '{self.name}' has {inside}. Give a speed in its range."
            )
        rows = np.column_stack([self.q, self.v, self.p, self.durations, self.costs])
        if len(self) == 1:
            row = rows[0]
        else:
            row = make_interp_spline(self.speeds, rows, k=min(3, len(self) - 1))(speed)
        a, b = len(self.q_names), len(self.q_names) + len(self.v_names)
        groups = (("q", self.q_names, row[:a]), ("v", self.v_names, row[a:b]), ("p", self.p_names, row[b:-2]))
        found: dict[str, Any] = {key: dict(zip(names, map(float, part), strict=True)) for key, names, part in groups}
        return found | {"duration": float(row[-2]), "cost": float(row[-1])}

    def save(self, path: str | Path) -> Path:
        """Saves the library in an .npz file; returns its path."""
        path = Path(path)
        if path.suffix != ".npz":
            raise UnsupportedError(f"the file of a gait library is '{path}'; expected a name that ends in .npz.")
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {key: np.array(getattr(self, key)) for key in NUMBERS}
        arrays |= {key: np.array(getattr(self, key), dtype=str) for key in NAMES}
        np.savez(path, format=FORMAT, name=self.name, **arrays)
        return path

    @classmethod
    def load(cls, path: str | Path) -> GaitLibrary:
        """The library in an .npz file that `save` wrote."""
        try:
            file = read_arrays(Path(path))
            absent = [key for key in ("format", "name", *NAMES, *NUMBERS) if key not in file]
            if absent or int(file["format"]) != FORMAT:
                what = f"has no {listed(absent)}" if absent else f"has the format {int(file['format'])}"
                raise UnsupportedError(f"file '{path}' {what}; expected a gait library of format {FORMAT}.")
            given: dict[str, Any] = {key: tuple(map(str, file[key])) for key in NAMES}
            given |= {key: np.array(file[key], dtype=float) for key in NUMBERS}
            return cls(str(file["name"]), **given)
        except (OSError, ValueError) as error:
            raise KinemorphError(f"file '{path}' cannot be read as a gait library: {error}.") from None


def gait_library(
    model: Model,
    cost: str,
    free: Sequence[str],
    speeds: Sequence[float],
    *,
    stride: str,
    length: float | Callable[[float], float],
    progress: Callable[[float, Gait], Any] | None = None,
    **options: Any,
) -> GaitLibrary:
    """Gaits that cost least at several speeds; every search begins at the gait of the speed before it.

    `speeds`        [m/s]; the search goes through them in the order in which they are given
    `stride`        the length of a step at the end of the cycle, as a text with names of signals: "foot.x - heel.x"
    `length`        of a step [m], or a function of the speed; the duration of the cycle is length / speed
    `progress`      a function that is called with every speed and its Gait
    `**options`     further arguments of `optimize_gait`; `guess` is that of the first search

    The coefficients of a `TorqueSpline` extend over its duration: make that a Parameter and choose it with the
    condition at_end={"t - torque.duration": 0.0}. Speeds without a gait are left out; `missing` says why.
    """
    gaits: list[tuple[float, Gait]] = []
    missing: list[tuple[float, str]] = []
    given, ends = dict(options), dict(options.pop("at_end", None) or {})
    for speed in map(float, speeds):
        long = float(length(speed)) if callable(length) else float(length)
        if not speed > 0.0 or not long > 0.0:
            raise UnsupportedError(
                f"gait_library: the speed is {speed:g} m/s and the length of a step {long:g} m; expected both above 0."
            )
        given |= {"duration": long / speed, "at_end": {**ends, stride: long}}
        gait = optimize_gait(gaits[-1][1].plant if gaits else model, cost, free, **given)
        if progress is not None:
            progress(speed, gait)
        if gait:
            gaits.append((speed, gait))
            given["guess"] = gait
        else:
            missing.append((speed, gait.message))
    if not gaits:
        why = missing[0][1] if missing else "Give at least one speed."
        raise UnsupportedError(f"gait_library: no gait was found. {why}")
    gaits.sort(key=lambda pair: pair[0])
    plant = gaits[0][1].plant
    q_names, v_names, p_names = (tuple(column.name for column in group) for group in (plant.q, plant.v, plant.p))
    return GaitLibrary(
        *(plant.name, q_names, v_names, p_names),
        speeds=np.array([speed for speed, _ in gaits]),
        q=np.array([gait.state["q"] for _, gait in gaits]),
        v=np.array([gait.state["v"] for _, gait in gaits]),
        p=np.array([gait.p for _, gait in gaits]),
        durations=np.array([gait.period for _, gait in gaits]),
        costs=np.array([gait.cost for _, gait in gaits]),
        missing=tuple(missing),
    )
