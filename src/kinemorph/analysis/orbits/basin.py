"""`basin`: which attractor a motion reaches, for many starts on a grid at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.bifurcation_diagram import repeats
from kinemorph.analysis.orbits.flow_map import as_map
from kinemorph.analysis.orbits.periodic_orbit import Orbit
from kinemorph.analysis.orbits.return_map import ReturnMap, Steps, coordinates_table, edges_of, named_values, place_of
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.sheet import Facts, Field, Sheet, Table, fields, hidden
from kinemorph.shown import ShownOrbits
from kinemorph.words import counted

FELL, UNDECIDED = -1, 0  # labels of starts that do not return, and of those that reach no attractor
CHUNK = 65536  # starts that are simulated together
KEEP = 8  # returns that are compared


@dataclass(frozen=True, eq=False, repr=False)
class Basin(ShownOrbits):
    """The attractor that each start of a grid reaches. Made by `basin`.

    `names`             of the coordinates that span the grid; `axes` are their values
    `labels`            an array in the shape of the grid: k for attractor k - 1 of `attractors`, 0 for a start that is
                        near to none of them, -1 for a motion that does not return ("fell")
    `attractors`        one array (cycles, n) for each attractor: its returns
    """

    map: ReturnMap
    names: tuple[str, ...]
    axes: tuple[Array, ...]
    labels: npt.NDArray[np.int8]
    attractors: tuple[Array, ...]
    cycles: int

    def __repr__(self) -> str:
        found = counted(len(self.attractors), "attractor")
        return f"<Basin of '{self.map.name}': {counted(self.labels.size, 'start')}, {found}>"

    def sheet(self) -> Sheet:
        """The starts, the attractors with the shares of the starts that reach them, and the shares of the others."""
        cycles, edges, name = fields("cycles edges name")
        at = [coordinates_table(self.map, one[0]).data()["coordinates"] for one in self.attractors]
        rows = [
            (k, self.share(k), len(one), [f"{x['name']} = {x['value']:.6g}" for x in where], where)
            for k, (one, where) in enumerate(zip(self.attractors, at, strict=True), start=1)
        ]
        columns = (
            Field("label", "attractor"),
            Field("share", "share of starts", form=".2%"),
            cycles._replace(head="repeats after cycles"),
            Field("", "at", form="name"),
            Field("coordinates", ""),
        )
        axes = [
            (one, axis, f"{len(axis)} values from {axis[0]:.6g} to {axis[-1]:.6g}")
            for one, axis in zip(self.names, self.axes, strict=True)
        ]
        undecided, fell = Field("undecided", "undecided", form=".2%"), Field("fell", "do not return", form=".2%")
        shares = [(undecided, self.share(UNDECIDED)), (fell, self.share(FELL))]
        return Sheet(
            "Basin of",
            self.map.name,
            (
                Facts([(cycles, self.cycles), (edges, edges_of(self.map)), *shares]),
                Table("axes", (name, Field("values", ""), Field("", "starts", form="sentence")), axes),
                Table("attractors", columns, rows, "Attractors"),
                hidden(labels=self.labels),
            ),
        )

    def share(self, label: int) -> float:
        """The share of starts with this label."""
        return float((self.labels == label).mean())


def basin(
    model: Model | ReturnMap,
    grid: Mapping[str, Any],
    *,
    cycles: int = 30,
    attractors: Sequence[Orbit] | None = None,
    z: Any = None,
    p: Any = None,
    tolerance: float = 1e-3,
    threads: int | None = None,
    progress: Steps | None = None,
    **motion: Any,
) -> Basin:
    """Which attractor a motion reaches after some cycles, for all starts of a grid.

        basin(plant, {"q.theta": np.linspace(-3, 3, 200), "v.theta": np.linspace(-2, 2, 200)}, period=6.283)

    `grid`          values of one or two coordinates of the section, by name; the other coordinates are those of `z`
    `cycles`        after which it is decided which attractor a motion has reached
    `attractors`    orbits; by default they are found from where the motions end
    `tolerance`     how near to an attractor a motion has to be, relative to the size of each coordinate
    `threads`       the number of threads that share the work; by default as many as there are CPUs
    `progress`      a function progress(done, all), with numbers of starts
    `**motion`      for a robot, system or plant, the arguments of `return_map`, such as `period` or `section`
    """
    cycle = as_map(model, p, motion, "basin", rtol=1e-8, atol=1e-10)
    axes = {name: np.asarray(values, dtype=float) for name, values in grid.items()}
    places = [place_of(cycle.columns, name, "coordinate") for name in axes]
    if not axes or any(values.ndim != 1 or not np.isfinite(values).all() for values in axes.values()):
        raise ShapeError("grid has to map at least one coordinate to its values, {'q.theta': [0.0, 0.1]}.")
    if cycles < KEEP:
        raise UnsupportedError(f"cycles is {cycles}; expected at least {KEEP}, so that returns can be compared.")
    values = named_values(cycle.parameters, cycle.p, p, "parameter")
    shape = tuple(len(one) for one in axes.values())
    starts = np.tile(named_values(cycle.columns, cycle.start, z, "coordinate"), (int(np.prod(shape)), 1))
    starts[:, places] = np.stack([one.ravel() for one in np.meshgrid(*axes.values(), indexing="ij")], axis=-1)
    ends = np.full((len(starts), KEEP, len(cycle.columns)), np.nan)
    for first in range(0, len(starts), CHUNK):
        part = slice(first, min(first + CHUNK, len(starts)))
        inner = None if progress is None else (lambda done, _, first=first: progress(first + done, len(starts)))
        found = cycle.many(starts[part], values, cycles, KEEP, threads=threads, progress=inner)
        ends[part] = found.z
    known = _given(attractors, len(cycle.columns)) if attractors is not None else _attractors(ends, tolerance)
    return Basin(
        cycle, tuple(axes), tuple(axes.values()), _labels(ends, known, tolerance).reshape(shape), known, cycles
    )


def _given(orbits: Sequence[Orbit], n: int) -> tuple[Array, ...]:
    """The returns of given orbits, one array (cycles, n) for each."""
    for orbit in orbits:
        if not orbit or orbit.z.shape != (n,):
            raise UnsupportedError(
                f"basin: attractor {orbit!r} is not an orbit of this map. Find it with periodic_orbit."
            )
    return tuple(np.array(orbit.nodes[:: len(orbit.nodes) // orbit.cycles]) for orbit in orbits)


def _attractors(ends: Array, tolerance: float) -> tuple[Array, ...]:
    """The periodic attractors among the last returns of all motions, those that most motions reach first."""
    left, found = ends[repeats(ends, tolerance) > 0], []
    while len(left):
        cycles = int(repeats(left[:1], tolerance)[0])
        one = left[0, -cycles:]
        near = _near(left, one, tolerance)
        near[0] = True
        found.append((int(near.sum()), one))
        left = left[~near]
    return tuple(one for _, one in sorted(found, key=lambda pair: -pair[0]))


def _near(ends: Array, attractor: Array, tolerance: float) -> npt.NDArray[np.bool_]:
    """Which motions are near to one of the returns of an attractor at their last return, shape (B,)."""
    size = np.maximum(1e-3, np.abs(attractor).max(axis=0)) + np.ptp(attractor, axis=0)
    away = np.abs(ends[:, -1, None, :] - attractor[None]) / size
    with np.errstate(invalid="ignore"):
        found: npt.NDArray[np.bool_] = (away.max(axis=2) <= 10.0 * tolerance).any(axis=1)
    return found


def _labels(ends: Array, attractors: Sequence[Array], tolerance: float) -> npt.NDArray[np.int8]:
    labels = np.zeros(len(ends), dtype=np.int8)
    for k, attractor in reversed(list(enumerate(attractors, start=1))):
        labels[_near(ends, attractor, tolerance)] = k
    labels[~np.isfinite(ends).all(axis=(1, 2))] = FELL
    return labels
