"""`periodic_orbit`: a motion that repeats, its period and its Floquet multipliers.

The search is by single or multiple shooting with exact slopes (`shooting`), on any return map (`return_map`). A failed
search gives a result, too, with a sentence that says why it failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.flow_map import as_map
from kinemorph.analysis.orbits.return_map import Piece, ReturnMap, coordinates_table, edges_of, named_values
from kinemorph.analysis.orbits.shooting import Closure, closure, newton, parted
from kinemorph.analysis.small_motions.linearize import Model
from kinemorph.errors import UnsupportedError
from kinemorph.sheet import QUANTITIES, STABILITY, Facts, Field, Sheet, Table, Verdict, fields, hidden
from kinemorph.shown import ShownOrbits
from kinemorph.words import counted

MARGIN = 1e-7  # a multiplier whose magnitude is this near to 1 is neutral: the linear equations do not decide
NEUTRAL = STABILITY | {None: "neutral"}
BEGINS = "Where a cycle begins"
STABLE = QUANTITIES["stable"]._replace(form=NEUTRAL)
Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False, repr=False)
class Orbit(ShownOrbits):
    """A motion that repeats after some cycles. Made by `periodic_orbit`; as a bool it is True where one was found.

    `z` (n,)                    coordinates on the section, by the names `map.columns`
    `p` (np,)                   parameters, by the names `map.parameters`
    `cycles`                    the number of cycles after which the motion repeats
    `period`                    the time after which it repeats [s]; for a map without time, the number of iterations
    `residual`                  the largest difference between the end of a piece of the cycle and the next node
    `multipliers` (n,)          Floquet multipliers, the largest magnitude first
    `multiplier_names`          by multiplier: the coordinate that takes the largest part in its motion
    `monodromy` (n, n)          the derivative of the state after `cycles` cycles with respect to that before them
    `nodes`                     coordinates at the start of each piece of the cycle
    `message`                   the outcome as a sentence
    """

    map: ReturnMap
    z: Array
    p: Array
    cycles: int
    period: float
    residual: float
    monodromy: Array
    nodes: tuple[Array, ...]
    pieces: tuple[Piece, ...]
    found: bool
    iterations: int
    message: str

    def __bool__(self) -> bool:
        return self.found

    def __repr__(self) -> str:
        if not self.found:
            return f"<Orbit of '{self.map.name}': not found>"
        largest = abs(self.multipliers[0]) if len(self.multipliers) else 0.0
        return f"<Orbit of '{self.map.name}': period {self.period:.9g}, largest multiplier {largest:.6g}>"

    def sheet(self) -> Sheet:
        """The outcome, where a cycle begins, and the multipliers."""
        cycles, edges = fields("cycles edges")
        facts: list[tuple[Field, Any]] = [(cycles, self.cycles), (edges, edges_of(self.map))]
        if self.found:
            facts = [
                (self.period_field, self.period),
                (STABLE, self.stable),
                *facts,
            ]
        known = hidden(message=self.message, period=self.period, stable=self.stable, parameters=self.parameters)
        residual = hidden(residual=self.residual if self.found else None)
        values = self.multipliers
        return Sheet(
            "Orbit of",
            self.map.name,
            (
                Verdict(self.found, self.message, "found"),
                known,
                residual,
                Facts(facts),
                coordinates_table(self.map, self.z, BEGINS if self.found else "Where the search ended"),
                Table(
                    "multipliers",
                    fields("magnitude real imag name", name="mostly"),
                    [*zip(abs(values), values.real, values.imag, self.multiplier_names, strict=True)],
                    "Multipliers",
                ),
            ),
        )

    @cached_property
    def _eigen(self) -> tuple[Complex, Complex]:
        values, vectors = np.linalg.eig(self.monodromy)
        order = sorted(range(len(values)), key=lambda k: (-round(float(abs(values[k])), 12), -values[k].imag))
        return values[order].astype(complex), vectors[:, order].astype(complex)

    @property
    def multipliers(self) -> Complex:
        """Floquet multipliers (n,): how a small deviation grows in a period, the largest magnitude first."""
        return self._eigen[0] if self.found else np.zeros(0, dtype=complex)

    @property
    def multiplier_names(self) -> tuple[str, ...]:
        """By multiplier, the coordinate with the largest part in its eigenvector."""
        return tuple(self.map.columns[int(np.argmax(np.abs(v)))].name for v in self._eigen[1].T) if self.found else ()

    @property
    def stable(self) -> bool | None:
        """Whether small deviations decay; None where a multiplier is too near to magnitude 1 to tell."""
        if not self.found:
            return None
        largest = float(np.abs(self.multipliers).max(initial=0.0))
        return None if abs(largest - 1.0) < MARGIN else largest < 1.0

    @property
    def period_field(self) -> Field:
        """How a sheet shows the period: a map without time counts iterations."""
        return QUANTITIES["period"]._replace(unit="" if "z" in self.state else "s")

    @property
    def state(self) -> Mapping[str, Array]:
        """The state at the start of the orbit by group: q, v and x; {"z": z} for a map without a plant."""
        return self.map.state(self.z, self.p)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name."""
        return dict(zip((column.name for column in self.map.parameters), map(float, self.p), strict=True))

    def __getitem__(self, name: str) -> float:
        """A coordinate of the section, a parameter, or "period", by name."""
        known = {column.name: float(value) for column, value in zip(self.map.columns, self.z, strict=True)}
        known |= self.parameters | {"period": self.period}
        if name not in known:
            raise KeyError(f"the orbit of '{self.map.name}' has no '{name}'. Known: {', '.join(known)}.")
        return known[name]

    @cached_property
    def trajectory(self) -> Any:
        """The motion over one period: a Trajectory; for a map without time, all its points (cycles + 1, n)."""
        return self.map.motion(self.z, self.p, self.period)


def periodic_orbit(
    model: Model | ReturnMap,
    *,
    z: Any = None,
    p: Any = None,
    cycles: int = 1,
    nodes: int = 1,
    tolerance: float = 1e-9,
    iterations: int = 50,
    **motion: Any,
) -> Orbit:
    """A motion that repeats, near a first guess, by shooting with exact slopes.

        periodic_orbit(plant, period=2.0 * math.pi, q=[1.0])              a driven system
        periodic_orbit(plant, section="v.elbow", q=[0.5])                 a system without drive

    `model`         a robot, system or plant, or a return map (`return_map`, `explicit_map`)
    `z`             coordinates on the section where the search starts, by name or in order; by default those of the
                    first state
    `p`             values of parameters, by name or in order
    `cycles`        the number of cycles after which the motion repeats: 2 for an orbit of twice the period
    `nodes`         the number of pieces of a cycle. Several pieces (multiple shooting) find orbits that are too
                    unstable for one, and start from guesses that are farther away
    `tolerance`     of the residual, relative to the size of each coordinate where that is above 1
    `iterations`    the most Newton steps
    `**motion`      for a robot, system or plant, the arguments of `return_map`

    A search that fails gives an Orbit that is False and says why in its `message`.
    """
    if cycles < 1 or nodes < 1 or iterations < 1:
        raise UnsupportedError(
            f"periodic_orbit: cycles is {cycles}, nodes {nodes}, iterations {iterations}; expected at least 1 of each."
        )
    cycle = as_map(model, p, motion, "periodic_orbit")
    values = named_values(cycle.parameters, cycle.p, p, "parameter")
    first = named_values(cycle.columns, cycle.start, z, "coordinate")
    try:
        pieces = pieces_of(cycle, first, values, cycles, nodes)
    except UnsupportedError as error:
        if nodes == 1:
            raise
        return _failed(cycle, first, values, cycles, str(error))
    starts = [piece.start for piece in pieces]
    starts[0] = first
    return solved_orbit(cycle, pieces, starts, values, cycles, tolerance, iterations)


def pieces_of(cycle: ReturnMap, z: Array, p: Array, cycles: int, nodes: int) -> tuple[Piece, ...]:
    """The pieces of `cycles` cycles that start at z, each with its shooting node on the motion from z."""
    found: list[Piece] = []
    here = np.asarray(z, dtype=float)
    for k in range(cycles):
        parts = cycle.split(nodes, here, p)
        found += [Moved(parts[0], here), *parts[1:]]
        if k < cycles - 1:
            after = cycle(here, p)
            here = here if after.message else after.z
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Moved:
    """A piece whose shooting node is elsewhere."""

    piece: Piece
    start: Array

    def __call__(self, z: Array, p: Array) -> Any:
        """The end of the piece that starts at z."""
        return self.piece(z, p)


def solved_orbit(
    cycle: ReturnMap,
    pieces: Sequence[Piece],
    starts: Sequence[Array],
    p: Array,
    cycles: int,
    tolerance: float,
    iterations: int,
) -> Orbit:
    """The orbit that Newton's method finds from given nodes."""
    Y = np.concatenate(list(starts))
    found = newton(
        lambda Y: closure(pieces, parted(Y, starts), p),
        *(Y,),
        tolerance=tolerance,
        most=iterations,
        scale=np.maximum(1.0, np.abs(Y)),
    )
    return orbit_at(
        cycle, pieces, parted(found.Y, starts), p, cycles, found.here, found.iterations, found.converged, found.message
    )


def orbit_at(
    cycle: ReturnMap,
    pieces: Sequence[Piece],
    nodes: Sequence[Array],
    p: Array,
    cycles: int,
    here: Closure,
    iterations: int,
    converged: bool,
    why: str = "",
) -> Orbit:
    """The result of a search that ended at these nodes."""
    if not converged:
        return replace(_failed(cycle, nodes[0], p, cycles, why), residual=here.size, iterations=iterations)
    made = Orbit(
        *(cycle, nodes[0], np.array(p, dtype=float), cycles, here.period, here.size, here.monodromy),
        *(tuple(nodes), tuple(pieces), True, iterations, ""),
    )
    largest = abs(made.multipliers[0]) if len(made.multipliers) else 0.0
    period = f"{here.period:.9g} {made.period_field.unit}".rstrip()
    message = (
        f"Orbit of '{cycle.name}', period {period}, after {counted(iterations, 'iteration')}, "
        f"{NEUTRAL[made.stable]}: the largest multiplier has magnitude {largest:.6g}; residual {here.size:.2g}."
    )
    return replace(made, message=message)


def _failed(cycle: ReturnMap, z: Array, p: Array, cycles: int, why: str) -> Orbit:
    n = len(cycle.columns)
    remedy = "Start nearer to it, use more nodes, or allow longer cycles (longest=)."
    message = f"No orbit of '{cycle.name}' was found: {why} {remedy}"
    return Orbit(
        cycle, np.array(z), np.array(p), cycles, np.nan, np.inf, np.full((n, n), np.nan), (), (), False, 0, message
    )
