"""The long-term behavior of coupled maps: which maps move in step, and the period of their motion.

A map is an iterated function x <- f(x), such as the logistic map; in a gait, each joint follows one of several coupled
maps.

    found = gait_clusters("logistic", r=3.9, coupling="global", epsilon=0.3)
    found.frequencies           {"2 clusters, period 2": 100}

One initial state is not enough, because several gaits may be stable at the same parameters. So many random initial
states run at once, in machine code made from the function that steps the maps of a gait. Seed k has the initial state
of `elements.CoupledMaps(seed=k)`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.errors import KinemorphError, ModelError, Problem
from kinemorph.mechanics.elements.gaits.map_steps import COUPLINGS, MAPS, coupled_step, map_problems, random_start
from kinemorph.sheet import Facts, Field, Sheet, Table, fields
from kinemorph.shown import Shown
from kinemorph.words import did_you_mean

LONGEST = 64  # the longest period that is searched for
TOLERANCE = 1e-6  # values of two maps that differ by less count as equal
MOST = {
    "count": 256,
    "seeds": 100_000,
    "steps": 10_000_000,
    "longest": 1024,
    "values": 4096,
}  # upper limits of the arguments
AT_REST, IN_STEP, ALONE = "at rest", "synchronous chaos", "asynchronous"
FACTS = (
    Field("count", "maps"),
    Field("formula", "f(x)", form="name"),
    Field("r", "r"),
    Field("coupling", "coupling", form="name"),
    Field("epsilon", "epsilon"),
    *fields("starts steps"),
)
OUTCOME = (
    Field("kind", "outcome", form="name"),
    *fields("starts"),
    Field("share", "share", form=".1%"),
    Field("sizes", ""),
    Field("antiphase", "in antiphase"),
    Field("seed", "a seed"),
    Field("", "sizes of clusters", form="name"),
)


@dataclass(frozen=True)
class Orbit:
    """The periodic or chaotic motion that coupled maps reach from one initial state.

    `period`   in steps; 0 where no period was found
    `groups`   the groups of maps that move in step, as indices of maps; map 0 is in the first group
    `shifts`   for each group, how many steps it is behind the first group; empty where there is no period
    """

    period: int
    groups: tuple[tuple[int, ...], ...]
    shifts: tuple[int, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of maps in each group, the largest group first."""
        return tuple(sorted(map(len, self.groups), reverse=True))

    @property
    def antiphase(self) -> bool:
        """Whether there are two groups that are half a period apart, as in a trot or a tripod gait."""
        return len(self.groups) == 2 and self.period > 1 and 2 * self.shifts[1] == self.period

    @property
    def kind(self) -> str:
        """The kind of orbit in words, as "in phase, period 2", "3 clusters, period 2" or "synchronous chaos"."""
        count = len(self.groups)
        if self.period == 1 and count == 1:
            return AT_REST
        if self.period:
            return f"{'in phase' if count == 1 else f'{count} clusters'}, period {self.period}"
        if count == 1:
            return IN_STEP
        return ALONE if count == sum(map(len, self.groups)) else f"{count} clusters, chaotic"


@dataclass(frozen=True)
class GaitClusters(Shown):
    """The orbits that coupled maps reach from many random initial states. Made by `gait_clusters`.

    `orbits` has one orbit for each of `seeds`; the other fields are the arguments of `gait_clusters`.
    """

    map: str
    r: float
    coupling: str
    epsilon: float
    count: int
    steps: int
    seeds: tuple[int, ...] = field(repr=False)
    orbits: tuple[Orbit, ...] = field(repr=False)

    @cached_property
    def frequencies(self) -> Mapping[str, int]:
        """The number of initial states that lead to each kind of orbit, the most frequent kind first."""
        return dict(Counter(orbit.kind for orbit in self.orbits).most_common())

    def of(self, kind: str) -> tuple[int, ...]:
        """The seeds of the initial states that lead to this kind of orbit, see `Orbit.kind`."""
        return tuple(seed for seed, orbit in zip(self.seeds, self.orbits, strict=True) if orbit.kind == kind)

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row for each kind of orbit, the most frequent first.

        `kind`        its name
        `starts`      how many initial states lead to it; `share` is this number divided by that of all initial states
        `sizes`       sizes of groups, as "3+3" -> how many of its orbits have them
        `antiphase`   how many of its orbits have two groups in antiphase
        `seed`        the first seed that leads to it
        """
        rows: list[dict[str, Any]] = []
        for kind, starts in self.frequencies.items():
            orbits = [orbit for orbit in self.orbits if orbit.kind == kind]
            sizes = Counter("+".join(map(str, orbit.sizes)) for orbit in orbits)
            rows.append(
                {
                    "kind": kind,
                    "starts": starts,
                    "share": starts / len(self.orbits),
                    "sizes": dict(sizes.most_common()),
                    "antiphase": sum(orbit.antiphase for orbit in orbits),
                    "seed": self.of(kind)[0],
                }
            )
        return rows

    def sheet(self) -> Sheet:
        """The maps, and how many of the initial states led to each outcome."""
        given = (self.count, MAPS[self.map].formula, self.r, self.coupling, self.epsilon, len(self.orbits), self.steps)
        outcomes = [
            (*row.values(), [f"{size} ({number})" for size, number in row["sizes"].items()]) for row in self.table
        ]
        return Sheet(
            "Clusters of",
            self.map,
            (Facts([*zip(FACTS, given, strict=True)]), Table("outcomes", OUTCOME, outcomes)),
            "map",
        )


def gait_clusters(
    map: str = "logistic",
    r: float = 3.9,
    coupling: str = "global",
    epsilon: float = 0.3,
    *,
    count: int = 6,
    seeds: int | Sequence[int] = 100,
    steps: int = 20_000,
    longest: int = LONGEST,
    tolerance: float = TOLERANCE,
) -> GaitClusters:
    """The orbits that `count` coupled maps have reached after `steps` steps, from many random initial states.

    `seeds` is the number of initial states, or a list of their seeds. Periods are searched for up to `longest` steps.
    Maps whose values differ by `tolerance` at most count as being in step. `map`, `r`, `coupling` and `epsilon` are
    those of `elements.CoupledMaps`.
    """
    chosen = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    checked_maps(map, coupling, r, epsilon, count=count, seeds=len(chosen), steps=steps, longest=longest)
    start = np.array([random_start(seed, count) for seed in chosen])
    path = map_orbits(map, coupling, start, r, epsilon, steps=steps, keep=2 * longest + 1)
    orbits = classified(path, longest, tolerance)
    return GaitClusters(map, float(r), coupling, float(epsilon), count, steps, chosen, orbits)


def checked_maps(map: str, coupling: str, r: float, epsilon: float, **numbers: int) -> None:
    """Raises KinemorphError for an unknown map or coupling, or where a number is out of range.

    `numbers` are arguments of `gait_clusters` by name, see `MOST` for their ranges.
    """
    for what, word, known in (("map", map, tuple(MAPS)), ("coupling", coupling, COUPLINGS)):
        if word not in known:
            raise KinemorphError(f"{what} is {word!r}; expected one of {', '.join(known)}.{did_you_mean(word, known)}")
    for name, number in numbers.items():
        if not 1 <= number <= MOST[name] or number != int(number):
            raise KinemorphError(f"{name} is {number}; expected a whole number from 1 to {MOST[name]}. Give one.")
    problems = map_problems(partial(Problem, "coupled maps", ""), map, (r,), (epsilon,))
    if problems:
        raise ModelError(problems)


# ── many steps at once ────────────────────────────────────────────────────────────────────────────────────────────────


def map_orbits(
    map: str,
    coupling: str,
    start: npt.ArrayLike,
    r: npt.ArrayLike,
    epsilon: npt.ArrayLike,
    *,
    steps: int,
    keep: int,
) -> Array:
    """The state of n coupled maps after `steps` steps and the next `keep - 1` states, shape (b, keep, n).

    `start` (b, n) has b initial states. r and epsilon are one number, or arrays of shape (b, 1) with one number for
    each initial state, or of shape (b, n) with one number for each map.
    """
    begun = np.asarray(start, dtype=float)
    rates, shares = (np.ascontiguousarray(np.broadcast_to(x, begun.shape), dtype=float) for x in (r, epsilon))
    march = _march(map, coupling, begun.shape[1], keep)
    found: Array = np.asarray(march(begun, rates, shares, np.full(len(begun), float(steps))))
    return found


@lru_cache(maxsize=32)
def _march(map: str, coupling: str, count: int, keep: int) -> CompiledFunction:
    """A compiled function that makes any number of steps of the maps and returns the last `keep` states."""
    each = (count,)
    loop = LoopBuilder(
        f"{map}_maps_{coupling}", {"start": each, "r": each, "epsilon": each, "steps": ()}, {"path": (keep, count)}
    )
    path = loop["path"]

    def step(x: list[object], r: list[object], epsilon: list[object]) -> list[object]:
        return coupled_step(map, coupling, x, r, epsilon)

    loop.let(path[0], lambda x: x, loop["start"])
    with loop.repeat(0, loop["steps"]):
        loop.let(path[0], step, path[0], loop["r"], loop["epsilon"])
    with loop.repeat(1, keep) as k:
        loop.let(path[k], step, path[k - 1], loop["r"], loop["epsilon"])
    return build(loop.program())


# ── orbits from states ────────────────────────────────────────────────────────────────────────────────────────────────


def classified(path: Array, longest: int = LONGEST, tolerance: float = TOLERANCE) -> tuple[Orbit, ...]:
    """The orbit of n maps for each of b initial states, from k successive states, `path` (b, k, n).

    Periods are searched for up to `longest` steps; k has to be at least twice that. Values that differ by
    `tolerance` at most count as equal.
    """
    leaders, after = leaders_of(path, tolerance), periods_of(path, longest, tolerance)
    found = []
    for states, lead, period in zip(path, leaders, after, strict=True):
        heads = list(dict.fromkeys(lead.tolist()))
        groups = tuple(tuple(np.flatnonzero(lead == head).tolist()) for head in heads)
        found.append(Orbit(int(period), groups, _shifts(states[:, heads], int(period))))
    return tuple(found)


def periods_of(path: Array, longest: int, tolerance: float) -> npt.NDArray[np.int64]:
    """The shortest period, in steps, of each of b motions, shape (b,); 0 if it is above `longest`.

    `path` (b, k, n) has k successive states of n maps for each motion.
    """
    found = np.zeros(len(path), dtype=np.int64)
    open_ = np.arange(len(path))
    for period in range(1, longest + 1):
        left = path[open_]
        again = np.abs(left[:, period:] - left[:, :-period]).max(axis=(1, 2), initial=0.0) <= tolerance
        found[open_[again]] = period
        open_ = open_[~again]
        if not len(open_):
            break
    return found


def leaders_of(path: Array, tolerance: float) -> npt.NDArray[np.int64]:
    """For each map of each motion, the index of the first map that moves in step with it, shape (b, n).

    `path` (b, k, n) has k successive states of n maps for each of b motions.
    """
    count = path.shape[2]
    found = np.tile(np.arange(count), (len(path), 1))
    for i in range(count):
        apart = np.abs(path - path[:, :, i : i + 1]).max(axis=1)
        joins = (apart <= tolerance) & (found == np.arange(count)) & (np.arange(count) > i)
        found = np.where(joins & (found[:, i : i + 1] == i), i, found)
    return found


def _shifts(states: Array, period: int) -> tuple[int, ...]:
    """How many steps each column of `states` (k, groups), k successive states, is behind the first; () without a
    period.

    It is the shift with which the column's motion about its mean fits that of the first column best.
    """
    if not period:
        return ()
    swings = states[:period] - states[:period].mean(axis=0)
    fits = [swings.T @ np.roll(swings[:, 0], shift) for shift in range(period)]
    return tuple(np.argmax(np.round(fits, 12), axis=0).tolist())
