"""`Gait`: the result of `optimize_gait`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.gait_problem import GaitProblem
from kinemorph.analysis.orbits.periodic_orbit import Orbit, periodic_orbit
from kinemorph.plants.programs import Plant
from kinemorph.sheet import Facts, Sheet, Table, Verdict, fields, hidden
from kinemorph.shown import ShownGaits
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate


@dataclass(frozen=True, eq=False, repr=False)
class Gait(ShownGaits):
    """A periodic motion that costs little. Made by `optimize_gait`; as a bool it is True where one was found.

    `cost`                  the value of the cost
    `durations` (legs,)     of the phases of the cycle [s]
    `edges`                 the names of the edges that end them
    `p` (np,)               all parameters of the plant, `parameters` by name
    `state`                 the state at the start of the cycle, by group: q, v and x
    `residual`              the largest error of an equation: of continuity, periodicity, or a given condition
    `margins`               by condition, the smallest distance to its limits
    `iterations`, `seconds` of the search: steps, and time [s] without that of compiling
    `message`               the outcome as a sentence
    """

    problem: GaitProblem
    Y: Array
    cost: float
    residual: float
    margins: Mapping[str, float]
    found: bool
    iterations: int
    seconds: float
    building: float
    message: str

    def __bool__(self) -> bool:
        return self.found

    def __repr__(self) -> str:
        if not self.found:
            return f"<Gait of '{self.plant.name}': not found>"
        return f"<Gait of '{self.plant.name}': cost {self.cost:.6g}, {self.period:.6g} s>"

    def sheet(self) -> Sheet:
        """Whether a gait was found, its cost, its phases, and the smallest distances to limits."""
        cost, period, duration, edge = fields("cost period duration edges", edges="ends at the edge")
        return Sheet(
            "Gait of",
            self.plant.name,
            (
                Verdict(self.found, self.message, "found"),
                hidden(message=self.message),
                *((Facts([(cost, self.cost), (period, self.period)]),) if self.found else ()),
                Table("phases", (edge, duration), [*zip(self.edges, self.durations, strict=True)], "Phases"),
                Table("margins", fields("condition margin"), [*self.margins.items()], "Smallest distances to limits"),
            ),
        )

    @property
    def plant(self) -> Plant:
        """The plant whose motion this is."""
        return self.problem.plant

    @property
    def durations(self) -> Array:
        """The durations of the phases [s]."""
        return np.array(self.Y[self.problem.lasting])

    @property
    def period(self) -> float:
        """The duration of the cycle [s]."""
        return float(self.durations.sum())

    @property
    def edges(self) -> tuple[str, ...]:
        """The names of the edges of the cycle."""
        automaton = self.plant.automaton
        assert automaton is not None
        return tuple(automaton.edges[leg.edge].name for leg in self.problem.legs)

    @property
    def p(self) -> Array:
        """All parameters (np,) of the plant."""
        return self.problem.parameters(self.Y)

    @property
    def parameters(self) -> dict[str, float]:
        """All parameters of the plant by name."""
        return dict(zip((column.name for column in self.plant.p), map(float, self.p), strict=True))

    @property
    def state(self) -> dict[str, Array]:
        """The state at the start of the cycle by group: q, v and x."""
        section, z = self.problem.legs[0].section, self.problem.nodes(self.Y)[0][:1]
        return {name: part[0] for name, part in zip("qvx", section.placed(section.states(z, self.p)[0]), strict=True)}

    @property
    def start(self) -> dict[str, Any]:
        """The arguments q, v, p and m of `simulate` with which a run of `plant` begins at the start of the cycle."""
        state, plant = self.state, self.plant
        home = self.problem.legs[0].section.home
        found: dict[str, Any] = {name: part for name, part in state.items() if len(part)}
        found["m"] = {"phase": float(home.m[plant.index("m", "phase")])}
        return found | ({"p": self.p} if plant.p else {})

    def run(self, cycles: int = 1, **options: Any) -> Trajectory:
        """The motion from the start of the cycle over some cycles, by `simulate`, which takes the further `options`."""
        edges = cycles * len(self.problem.legs)
        given = {"rtol": 1e-10, "atol": 1e-12, "output_step": self.period / 100.0} | options
        return simulate(self.plant, 1.5 * cycles * self.period, most_events=edges, **self.start, **given)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion over one cycle."""
        return self.run()

    @cached_property
    def multipliers(self) -> npt.NDArray[np.complex128]:
        """Floquet multipliers: how a small deviation at the start grows in a cycle, the largest magnitude first."""
        found = np.linalg.eigvals(self.problem.monodromy(self.Y)).astype(complex)
        ordered: npt.NDArray[np.complex128] = found[np.argsort(-np.abs(found), kind="stable")]
        return ordered

    @property
    def stable(self) -> bool:
        """Whether small deviations decay."""
        return bool(np.abs(self.multipliers).max(initial=0.0) < 1.0)

    @cached_property
    def orbit(self) -> Orbit:
        """The gait as a periodic orbit, with its Floquet multipliers; see `periodic_orbit`."""
        given = {name: part for name, part in self.start.items() if name != "m"}
        return periodic_orbit(self.plant, edges=len(self.problem.legs), **given)
