"""`closed_configurations`: all configurations that close a robot's loops while some of its joints are held.

    modes = closed_configurations(robot, q, held="crank")
    modes.complete, len(modes), modes["+-"].q

A held joint keeps its coordinates. Planar loops of hinges and slides are solved completely: every dyad of two links has
2 solutions, two loops without a dyad have up to 6 (see `planar_solutions`), and the solutions of loops that share no
joint are combined. Loops of other kinds are solved from many initial guesses; then there may be more solutions, and the
result says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.close_loops import Closer, signature
from kinemorph.analysis.loops.closure_sets import Listing, LoopSet, products
from kinemorph.analysis.loops.named_coordinates import Configuration
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.configuration import neutral
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.sheet import Field, Sheet, Table, Verdict, hidden, said
from kinemorph.shown import Shown
from kinemorph.words import counted, listed, quoted

MOST_MODES = 4096  # most closed configurations to list: the numbers of independent sets of loops multiply


@dataclass(frozen=True)
class ClosedConfiguration:
    """One closed configuration: `q` (nq,) and its `branch`, as "+-".

    The branch has a sign for each block of planar loops; a block is a dyad, or loops that are solved together.
    """

    q: Array
    branch: str


@dataclass(frozen=True)
class ClosedConfigurations(Shown, Sequence[ClosedConfiguration]):
    """The closed configurations of a robot, as a sequence: `modes[0]` by number, `modes["+-"]` by branch.

    `modes`      the closed configurations
    `complete`   whether there are no others within the limits of joints
    `most`       the largest number of closed configurations for any link lengths; 0 where it is not known
    `held`       the joints that keep their coordinates
    `message`    the outcome as a sentence
    `robot`      the robot
    """

    modes: tuple[ClosedConfiguration, ...]
    complete: bool
    most: int
    held: tuple[str, ...]
    message: str
    robot: Robot = field(repr=False)

    def sheet(self) -> Sheet:
        """One row for each closed configuration, with its branch and its coordinates."""
        names = self.robot.q_names
        columns = [Field("", "number"), Field("", "branch", form="name")]
        columns += [
            Field("", said("{name}", name=name), unit, 8) for name, unit in zip(names, self.robot.q_units, strict=True)
        ]
        rows = [(k, one.branch, *(round(float(x), 12) + 0.0 for x in one.q)) for k, one in enumerate(self)]
        modes = [{"branch": one.branch, "q": one.q} for one in self]
        known = hidden(complete=self.complete, most=self.most, held=self.held, q_names=names, modes=modes)
        return Sheet(
            "Closed configurations of",
            self.robot.name,
            (Verdict(len(self) > 0, self.message), hidden(message=self.message), known, Table("", columns, rows)),
        )

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[ClosedConfiguration]:
        return iter(self.modes)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.modes[key]
        found = [mode for mode in self.modes if mode.branch == key]
        if not found:
            known = quoted(dict.fromkeys(mode.branch for mode in self.modes), MOST_MODES)
            raise ShapeError(f"there is no closed configuration with branch '{key}'. Known branches: {known}.")
        return found[0]


def closed_configurations(
    model: Robot | System | Dynamics,
    q: Configuration | None = None,
    *,
    held: str | Sequence[str] | None = None,
    limits: bool = True,
    tolerance: float = 1e-11,
) -> ClosedConfigurations:
    """All closed configurations of a robot while joints are held.

    `model`       a robot or a system; or its Dynamics, whose compiled functions are used again in each call
    `q`           (nq,) gives the coordinates of held joints and of joints in no loop; by default the neutral
                  configuration. Joints whose coordinates are given by name are held where `held` is left out.
                  The angles of the results are within half a turn of q, where limits allow.
    `held`        names of joints that keep their coordinates, as many as the loops have degrees of freedom; for planar
                  loops by default the first joints that suffice
    `limits`      leave out configurations beyond the limits of joints
    `tolerance`   the largest gap of a closed loop [m or rad]

    Results are sorted by branch, + before -, then by their coordinates. Where a block has more than two solutions,
    several results have the same branch: choose one by its number.
    """
    closer = Closer(model, limits=limits, tolerance=tolerance)
    robot = closer.robot
    at = neutral(robot) if q is None else closer.names.configuration(q)
    if held is None and isinstance(q, Mapping) and q:
        held = closer.names.joints_of(q)
    named = closer.names.leading(() if held is None else held)
    at = closer.ranges.inside(at)
    rows = [_listed(closer, part, at, named, held is not None) for part in closer.sets.all]
    leads = tuple(dict.fromkeys([*named, *(name for _, lead, _ in rows for name in lead)]))
    listings = [listing for _, _, listing in rows]
    count = float(np.prod([len(listing.ways) for listing in listings], initial=1.0))
    if count > MOST_MODES:
        raise UnsupportedError(
            f"closed_configurations: robot '{robot.name}' has {count:.3g} closed configurations, more than "
            f"{MOST_MODES}: the solutions of loops that share no joint can be combined in any way. Make a separate "
            "robot of each set of loops that share joints, and list its closed configurations."
        )
    modes = []
    for way in products(listings, at, [part for part, _, _ in rows]):
        found = closer.near(way.q, leads)
        modes.append(ClosedConfiguration(found.q if found else way.q, signature(way.signs)))
    complete = all(listing.complete for listing in listings)
    most = int(np.prod([listing.most for listing in listings], initial=1.0))
    told = _sentence(len(modes), complete, most, leads, listings)
    return ClosedConfigurations(tuple(modes), complete, most, leads, told, robot)


def _listed(
    closer: Closer, part: LoopSet, q: Array, held: tuple[str, ...], chosen: bool
) -> tuple[LoopSet, tuple[str, ...], Listing]:
    """(the set of loops, its leading joints, its closed configurations within limits).

    `chosen` says that the user has given `held`.

    Raises UnsupportedError where there are infinitely many, or where held joints depend on each other.
    """
    mine = tuple(name for name in part.joints if name in held)
    lead = closer.sets.leading(part, held)
    if lead is not None and chosen and set(lead) != set(mine):
        raise _too_free(part, mine, len(lead) - len(mine))
    if lead is None and part.planar is not None:
        fault = closer.over_held(q, mine)
        if fault:
            raise UnsupportedError(f"closed_configurations: {fault[0].lower()}{fault[1:]}")
    lead = mine if lead is None else lead
    listing = closer.sets.listing(part, q, lead)
    inside = [way for way in listing.ways if closer.sets.within(part, way.q)]
    if not listing.complete and inside:
        freedom = closer.sets.freedom(part, inside[0].q, lead)
        if freedom:
            raise _too_free(part, lead, freedom)
    return part, lead, listing._replace(ways=inside)


def _too_free(part: LoopSet, held: tuple[str, ...], freedom: int) -> UnsupportedError:
    free = listed(name for name in part.joints if name not in held)
    with_held = f" with {listed(held)} held" if held else ""
    return UnsupportedError(
        f"closed_configurations: the loop{'s' * (len(part.loops) > 1)} {quoted(part.loops)} can still move{with_held}, "
        f"so there are infinitely many closed configurations. Name {counted(freedom, 'more joint')} in `held`, "
        f"out of {free}."
    )


def _sentence(count: int, complete: bool, most: int, held: Sequence[str], listings: Sequence[Listing]) -> str:
    at = f" with {listed(held)} held" if held else ""
    ways = f"{counted(count, 'closed configuration')}{at}"
    if not complete:
        return f"{ways} found from many initial guesses; there may be more."
    short = [why for listing in listings for why in listing.short]
    why = short[0] if short and count < most else ""
    if not count:
        return f"no configuration is closed{at}{f': {why}' if why else ' within the limits of joints'}."
    return f"{ways}, and there is no other within limits.{f' Others do not exist: {why}.' if why else ''}"
