"""How derivatives of a motion jump at edges of an automaton and events of rigid contacts, and those of memory, too.

An edge is taken at the time T at which its guard g falls through zero. With the derivative S of the state just before,
and the rates f- and f+ of the state just before and just after,

    dT = -dg(S) / (dg/dt along f-),     S+ = d(jump)(S + f- dT) - f+ dT

The derivatives dg and d(jump) include those by the time, by memory and by the quantity itself. All of them come from
the plant's own laws on dual numbers, whatever the jump does: exchanges of names, resets, impacts, points that are held
from now on. The matrix that takes S to S+ is known as the saltation matrix.

There are no derivatives where a guard touches zero without crossing it (grazing), and where two edges are met at the
same time: nearby motions take other edges. The memory `ended` then has the reason, 1 for grazing and 2 + j where the
edge j is met too, and all derivatives are 0 from there on. `edge_slopes` reads it, and gives the reason in words.

Rigid contacts that touch, lift, slip or halt are events of the same kind. All of their guards share one jump, and so
one program, which takes the index of the guard as a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.dual import Direction
from kinemorph.algebra.scalar import absolute, div, less, maximum, minus, plus, times, where
from kinemorph.analysis.small_motions.local_coordinates import local
from kinemorph.analysis.small_motions.variation import Variation
from kinemorph.mechanics.elements.contact.rigid_contacts import GUARDS, SILENT
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.laws import Jumps
from kinemorph.plants.programs import Plant
from kinemorph.simulation.results.event import Event

GRAZING = 1e-6  # [s] a guard whose rate changes its sign so soon before or after an edge touches zero
CONTACT_GRAZING = 1e-9  # [s] the same for rigid contacts, whose last bounces are about as short as `Rigid.shortest`
LIFTING = (GUARDS.index("lifts"), GUARDS.index("slips"))
TOGETHER = 1e-9  # [s] edges that are met within this time are met at once
STILL = 1e-9  # per second: a guard that changes more slowly than this rests


def varied_jumps(whole: Variation) -> Jumps:
    """The laws by which memory and state of the larger plant jump, derivatives included."""
    own = whole.plant.laws.jumps
    assert own is not None
    return replace(
        own,
        sample=lambda samplers, at: {"m": _sampled(whole, samplers, at)},
        guards=lambda at: own.guards(whole.motion(at)),
        awake=lambda at: own.awake(whole.motion(at)),
        switch=lambda guard, at: _Edge(whole, (guard,), at, guard).taken(),
        switch_contacts=lambda at, guard: _Edge(whole, whole.plant.contact_guards, at, guard).taken(),
        enter=(lambda at: _entered(whole, at)) if own.enter else None,
    )


def edge_slopes(whole: Variation, events: Sequence[Event]) -> tuple[Array, str]:
    """(the derivatives (n, k) of the times of n edges, why they end) from the events of a run of the larger plant.

    The text is empty where all edges have derivatives; otherwise the first one without derivatives and all after it
    have nan.
    """
    found = np.full((len(events), whole.count), np.nan)
    for k, event in enumerate(events):
        m = event.after["m"]
        slopes = whole.by_quantity(m)[:, -1]
        reason = _ending(whole.plant, event, float(m[whole.count * whole.per_quantity]), bool(slopes.any()))
        if reason:
            return found, reason
        found[k] = slopes
    return found, ""


def _ending(plant: Plant, event: Event, ended: float, moves: bool) -> str:
    """Why there are no derivatives after an edge, in a sentence; an empty text where there are.

    `ended` is the number in the memory, and `moves` says whether the time of the edge changes with some quantity.
    """
    t, edge = event.t, f"{_word(plant, event.name)} '{event.name}'"
    ticks = [tick.instants for tick in plant.ticks if moves]
    if not ended and any(grid.time(grid.next(t - TOGETHER)) <= t + TOGETHER for grid in ticks):
        return (
            f"At t = {t:.9g} s {edge} is taken at a sample time: nearby motions take it before or after the "
            "sample, and there are no derivatives from here on."
        )
    if not ended:
        return ""
    if ended < 1.5:
        return (
            f"At t = {t:.9g} s the guard of {edge} touches zero and hardly crosses it (grazing): nearby motions "
            "do not take it, and there are no derivatives from here on."
        )
    other = plant.guards[round(ended) - 2]
    return (
        f"At t = {t:.9g} s {edge} is taken while {_word(plant, other)} '{other}' is met too: nearby motions take them "
        "in another order, and there are no derivatives from here on."
    )


def of_contacts(plant: Plant) -> list[str]:
    """The names of the events of rigid contacts."""
    return [plant.guards[k] for k in plant.contact_guards]


def _word(plant: Plant, name: str) -> str:
    """What an event with this name is called in messages."""
    return "event" if name in of_contacts(plant) else "edge"


def _remembered(whole: Variation, at: LocalInstant, new: Sequence[Sequence[Any]], own: Sequence[Any]) -> list[Any]:
    """The memory of the larger plant: the derivatives `new` (nm,) by each quantity, and the plant's `own` (nm,)."""
    memory = list(at.m)
    for k, slopes in enumerate(new):
        for place, index in enumerate(whole.sloped):
            memory[k * whole.per_quantity + place] = slopes[index]
    memory[len(memory) - len(own) :] = own
    return memory


def _sampled(whole: Variation, samplers: Any, at: LocalInstant) -> list[Any]:
    """The memory after a sample, and its derivatives."""
    jumps = whole.plant.laws.jumps
    assert jumps is not None
    along = Direction()
    new = [along.tangents(jumps.sample(samplers, whole.displaced(along, at, k))["m"]) for k in range(whole.count)]
    return _remembered(whole, at, new, jumps.sample(samplers, whole.motion(at))["m"])


def _entered(whole: Variation, at: LocalInstant) -> list[Any]:
    """The memory at the start of a run, and its derivatives: a point that is held starts where the state puts it."""
    jumps = whole.plant.laws.jumps
    assert jumps is not None and jumps.enter is not None
    along = Direction()
    new = [along.tangents(jumps.enter(whole.displaced(along, at, k))) for k in range(whole.count)]
    return _remembered(whole, at, new, jumps.enter(whole.motion(at)))


class _Edge:
    """An edge, or an event of rigid contacts, at the instant `at` of the larger plant at which its guard fell to zero.

    `guards` are the indices of guards whose jump it is; `guard` is that of the one that fell, a number of any type.
    """

    def __init__(self, whole: Variation, guards: Sequence[int], at: LocalInstant, guard: Any) -> None:
        self.whole, self.plant, self.guards, self.guard, self.at = whole, whole.plant, guards, guard, at
        self.along = Direction()
        jumps = self.plant.laws.jumps
        assert jumps is not None
        self.jumps, self.laws = jumps, self.plant.laws
        self.contacts = [*self.plant.contact_guards]
        self.before = whole.centered(at)
        self.jump = jumps.switch(guards[0], self.before)
        state = [*[0.0] * self.plant.nv, *self.jump["v"], *self.jump["x"]]
        self.after = self.before._replace(base=self.jump["q"], s=state, m=self.jump["m"])
        self.f_before, self.f_after = self.laws.rate(self.before), self.laws.rate(self.after)

    def _own(self, values: Sequence[Any]) -> Any:
        """Of one number for each guard of the plant, that of the guard that fell."""
        found = values[self.guards[-1]]
        for k in self.guards[-2::-1]:
            found = where(self._is(k), values[k], found)
        return found

    def _is(self, k: int) -> Any:
        """1 if the guard with the index k is the one that fell, else 0."""
        if k not in self.guards or len(self.guards) == 1:
            return float(k == self.guards[0])
        return less(absolute(minus(self.guard, float(k))), 0.5)

    def taken(self) -> dict[str, Any]:
        """The state after the edge, its derivatives included; see `Plant.switching`."""
        whole, count = self.whole, self.whole.count
        rates = self.f_before, self.f_after
        near_before, near_after = map(self._moving_guards, (self.before, self.after), rates)
        speed = self._own(self.along.tangents(near_before))
        ended = self._ended(speed, near_before, near_after)
        fine = less(ended, 0.5)
        speed = where(fine, speed, -1.0)
        states: list[Any] = []
        memories, times_ = [], []
        for k in range(count):
            guards = self.jumps.guards(whole.displaced(self.along, self.at, k))
            later = -div(self._own(self.along.tangents(guards)), speed)
            S, dm = self._jumped(k, later)
            states += [where(fine, one, 0.0) for one in S]
            memories.append([where(fine, one, 0.0) for one in dm])
            times_.append(where(fine, later, 0.0))
        memory = _remembered(whole, self.at, memories, self.jump["m"])
        for k, later in enumerate(times_):
            memory[(k + 1) * whole.per_quantity - 1] = later
        memory[count * whole.per_quantity] = ended
        return {**self.jump, "x": [*self.jump["x"], *states], "m": memory}

    def _jumped(self, k: int, later: Any) -> tuple[list[Any], list[Any]]:
        """The derivatives of the state (ns,) and of the memory (nm,) after the edge, by quantity k.

        `later` [s] is the derivative of the time of the edge.
        """
        new = self.jumps.switch(self.guards[0], self.whole.displaced(self.along, self.at, k, later, self.f_before))
        tangents = self.along.tangents
        moved = tangents(local(self.plant, self.along.values(new["q"]), new["q"]))
        S = [*moved, *tangents(new["v"]), *tangents(new["x"])]
        return [minus(one, times(rate, later)) for one, rate in zip(S, self.f_after, strict=True)], tangents(new["m"])

    def _moving_guards(self, at: LocalInstant, f: Sequence[Any]) -> list[Any]:
        """The guards at an instant as dual numbers, whose tangents are their rates along the motion."""
        moving = at._replace(t=self.along.moved(at.t), s=self.along.all_moved(at.s, f))
        found: list[Any] = self.jumps.guards(moving)
        return found

    def _ended(self, speed: Any, near_before: Sequence[Any], near_after: Sequence[Any]) -> Any:
        """0 where the edge has derivatives, else the reason why it has none; see the docstring of this file.

        `speed` is the rate of its guard, `near_before` and `near_after` are all guards with their rates.
        """
        crosses = less(speed, 0.0)
        window = CONTACT_GRAZING if self.guards[0] in self.contacts else GRAZING
        for side in (-window, window):
            s = [plus(one, times(side, rate)) for one, rate in zip(self.before.s, self.f_before, strict=True)]
            there = self.before._replace(t=self.before.t + side, s=s)
            turned = self._own(self.along.tangents(self._moving_guards(there, self.laws.rate(there))))
            crosses = times(crosses, less(turned, 0.0))
        ended = where(crosses, 0.0, 1.0)
        pairs = ((near_before, self.jumps.awake(self.before)), (near_after, self.jumps.awake(self.after)))
        for guards, awake in pairs:
            for j, (guard, counts) in enumerate(zip(guards, awake, strict=True)):
                number = self.contacts.index(j) % len(GUARDS) if j in self.contacts else None
                if self.guards == (j,) or number == GUARDS.index(SILENT):  # an edge may leave its guard falling
                    continue
                g, rate = self.along.value(guard), self.along.tangent(guard)
                same = [j] if j in self.guards else []
                if number in LIFTING:  # a point without load along its surface lifts and slips at once
                    same = [j - number + k for k in LIFTING]
                for k in same:
                    counts = times(counts, minus(1.0, self._is(k)))
                met = times(less(absolute(g), TOGETHER * absolute(rate)), less(rate, -STILL))
                ended = maximum(ended, where(times(met, counts), 2.0 + j, 0.0))
        known = self.at.m[self.whole.count * self.whole.per_quantity]
        return where(less(0.5, known), known, ended)
