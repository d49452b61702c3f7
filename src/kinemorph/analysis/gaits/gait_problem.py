"""A gait as a problem of optimization: unknowns, cost and conditions, with exact slopes (direct multiple shooting).

A cycle of a hybrid automaton is a sequence of legs: a phase, and the edge that ends it. Every leg is divided into arcs
(`collocation`). The unknowns Y are

    z       independent coordinates of the states at the starts of all arcs (`section`)
    T       the durations of the legs
    p       parameters

and the equations say that every arc ends where the next one starts, that the guard of the edge is zero at the end of a
leg, and that the state after the last edge is that at the start, except for coordinates on which the motion does not
depend. No run has to reach the edge by itself, so that the search may begin far from any gait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.gaits.collocation import Arcs, Derived, arcs, derived
from kinemorph.analysis.orbits.section import Section
from kinemorph.analysis.searches.conditions import Limit
from kinemorph.analysis.searches.integrals import squared_signals
from kinemorph.analysis.searches.problem import Evaluated, Rows, add_limited, last_kept, stacked
from kinemorph.analysis.small_motions.local_coordinates import local
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import AT, Plant
from kinemorph.plants.user_laws import Law, split


@dataclass(frozen=True)
class GaitLimit(Limit):
    """A condition on a law of the plant, at the start of the cycle, before its last edge ("end"), or all along."""

    law: Law
    where: str


@dataclass(frozen=True, eq=False)
class Leg:
    """A phase of the cycle and the edge that ends it.

    `section` has the coordinates of states in this phase, `edge` is the number of the edge, `arcs` that of arcs.
    """

    section: Section
    edge: int
    arcs: int


class GaitProblem:
    """The unknowns, the cost and the conditions of a gait; see the top of this file."""

    def __init__(
        self,
        plant: Plant,
        legs: Sequence[Leg],
        free: Sequence[str],
        costs: Mapping[str, float],
        limits: Sequence[GaitLimit],
        shift: Sequence[int],
        durations: Sequence[tuple[float, float]],
        stages: int,
    ) -> None:
        self.plant, self.legs, self.free, self.limits = plant, tuple(legs), tuple(free), tuple(limits)
        self.costs = {2 * plant.nv + plant.index("x", name): weight for name, weight in costs.items()}
        self.durations, self.stages = tuple(durations), stages
        self.places = [plant.index("p", name) for name in free]
        self.p = legs[0].section.home.p
        ends = np.cumsum([0, *(leg.arcs * len(leg.section.independent) for leg in legs)])
        self._z = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self.lasting = slice(int(ends[-1]), int(ends[-1]) + len(legs))
        self.chosen = slice(self.lasting.stop, self.lasting.stop + len(free))
        self.size = self.chosen.stop
        first = legs[0].section
        self.closing = [
            j for j, k in enumerate(first.independent) if k not in shift
        ]  # entries of z that have to repeat
        pinned = [j for j, k in enumerate(first.independent) if k in shift]
        pinned += [self.lasting.start + k for k, (low, high) in enumerate(self.durations) if low == high]
        self.moving = np.setdiff1d(np.arange(self.size), pinned)
        self._near: list[Array | None] = [None] * len(legs)

    # ── unknowns ──────────────────────────────────────────────────────────────────────────────────────────────────

    def packed(self, z: Sequence[Array], durations: Sequence[float], p: Array) -> Array:
        """All unknowns (size,) from the coordinates (arcs, n) of each leg, the durations [s] and all parameters."""
        return np.concatenate([*(part.ravel() for part in z), durations, np.asarray(p)[self.places]])

    def nodes(self, Y: Array) -> list[Array]:
        """The coordinates (arcs, n) at the starts of the arcs of each leg."""
        return [Y[part].reshape(leg.arcs, -1) for part, leg in zip(self._z, self.legs, strict=True)]

    def parameters(self, Y: Array) -> Array:
        """All parameters (np,) of the plant."""
        p = np.array(self.p, dtype=float)
        p[self.places] = Y[self.chosen]
        return p

    # ── programs ──────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _rates(self) -> list[Derived]:
        first = derived(self.plant.rate, self.legs[0].section.home)
        return [Derived(first.function, leg.section.home) for leg in self.legs]

    @cached_property
    def _landings(self) -> list[Derived]:
        """By leg, [the guard of its edge, the state after the edge in coordinates about the home of the next leg]."""
        found = []
        for leg, following in zip(self.legs, [*self.legs[1:], self.legs[0]], strict=True):
            law = partial(_landed, self.plant, leg.edge, following.section.home.q.tolist())
            program = self.plant.traced("landing", law, AT, {"out": str(1 + self.plant.ns)})
            found.append(derived(program, leg.section.home))
        return found

    @cached_property
    def _observed(self) -> list[Derived | None]:
        """By leg, the laws of all limits, then the signals whose squares the costs sum up."""
        laws = {str(k): limit.law for k, limit in enumerate(self.limits)} | {f"+{k}": s[0] for k, s in self._squares}
        if not laws:
            return [None] * len(self.legs)
        first = derived(self.plant.observed(laws), self.legs[0].section.home)
        return [Derived(first.function, leg.section.home) for leg in self.legs]

    @cached_property
    def _squares(self) -> list[tuple[int, tuple[Law, float]]]:
        """(number, (law of a signal, weight)) for all signals whose squares the costs sum up."""
        names = {self.plant.x[place - 2 * self.plant.nv].name: weight for place, weight in self.costs.items()}
        return list(enumerate(squared_signals(self.plant, names)))

    # ── values and slopes ─────────────────────────────────────────────────────────────────────────────────────────

    @last_kept
    def at(self, Y: Array) -> Evaluated:
        """Cost, equations and inequalities at Y (size,); the last result is kept."""
        p, durations = self.parameters(Y), Y[self.lasting]
        cost, cost_by = 0.0, np.zeros(self.size)
        equal: list[Rows] = []
        above: list[Rows] = []
        found, whole = True, []
        nodes = self.nodes(Y)
        for k, (leg, z) in enumerate(zip(self.legs, nodes, strict=True)):
            s0, off = leg.section.states(z, p)
            found = found and bool((off < 1e-6).all())
            motion = arcs(self._rates[k], self.plant, s0, p, float(durations[k]), self.stages, self._near[k])
            if not motion.found and self._near[k] is not None:
                motion = arcs(self._rates[k], self.plant, s0, p, float(durations[k]), self.stages, None)
            found, slopes = found and motion.found, self._by_unknowns(k, s0, p)
            if motion.found:
                self._near[k] = motion.s
            whole.append(motion)
            end_by = np.einsum("nak,nky->nay", motion.end_by, slopes)
            for place, weight in self.costs.items():
                cost += weight * float((motion.end - s0)[:, place].sum())
                cost_by += weight * (end_by[:, place] - slopes[:, place]).sum(axis=0)
            equal += self._joined(k, nodes, motion, end_by)
            equal.append(self._landed(k, nodes, motion, end_by, slopes[-1], p))
            for rows, limit in self._limited(k, motion, s0, end_by, slopes, p):
                add_limited(rows, limit, equal, above)
        return Evaluated(cost, cost_by, stacked(equal, self.size), stacked(above, self.size), found, tuple(whole))

    def _by_unknowns(self, k: int, s0: Array, p: Array) -> Array:
        """The derivatives (arcs, ns + np + 1, size) by Y of [start of the arc, p, duration] of all arcs of leg k."""
        leg, ns = self.legs[k], self.plant.ns
        by_z, by_p = leg.section.slopes(s0, p)
        found, n = np.zeros((leg.arcs, ns + len(p) + 1, self.size)), len(leg.section.independent)
        for arc in range(leg.arcs):
            first = self._z[k].start + arc * n
            found[arc, :ns, first : first + n] = by_z[arc]
        found[:, :ns, self.chosen] = by_p[:, :, self.places]
        found[:, [ns + place for place in self.places], range(self.chosen.start, self.chosen.stop)] = 1.0
        found[:, -1, self.lasting.start + k] = 1.0
        return found

    def _joined(self, k: int, nodes: Sequence[Array], motion: Arcs, end_by: Array) -> list[Rows]:
        """Every arc but the last one of a leg ends where the next one starts."""
        section, n = self.legs[k].section, len(self.legs[k].section.independent)
        found = []
        for arc, end in enumerate(section.coordinates(motion.end)[:-1]):
            by = end_by[arc, section.independent].copy()
            first = self._z[k].start + (arc + 1) * n
            by[:, first : first + n] -= np.eye(n)
            found.append(Rows(end - nodes[k][arc + 1], by))
        return found

    def _landed(self, k: int, nodes: Sequence[Array], motion: Arcs, end_by: Array, slopes: Array, p: Array) -> Rows:
        """The guard of the edge is zero, and the state after the edge is that at the start of the next leg."""
        following = (k + 1) % len(self.legs)
        section = self.legs[following].section
        kept = self.closing if following == 0 else list(range(len(section.independent)))
        (out,), by = self._at_end(self._landings[k], motion, end_by, slopes, p)
        z, places = section.coordinates(out[1:])[kept], [1 + section.independent[j] for j in kept]
        rows = by[[0, *places]]
        rows[1 + np.arange(len(kept)), [self._z[following].start + j for j in kept]] -= 1.0
        return Rows(np.concatenate([out[:1], z - nodes[following][0][kept]]), rows)

    def _at_end(self, law: Derived, motion: Arcs, end_by: Array, slopes: Array, p: Array) -> tuple[Array, Array]:
        """(values (1, n), derivatives (n, size)) of laws at the end of a leg."""
        ns, last = self.plant.ns, motion.end[-1:]
        t = motion.weights.sum()
        out, by_t, by_s, by_p = law(np.array([t]), last, p)
        return out, by_s[0] @ end_by[-1] + by_p[0] @ slopes[ns:-1] + np.outer(by_t[0], slopes[-1])

    def _limited(
        self, k: int, motion: Arcs, s0: Array, end_by: Array, slopes: Array, p: Array
    ) -> list[tuple[Rows, GaitLimit]]:
        """The values of all limits that concern leg k, with their slopes."""
        law, last, found = self._observed[k], k == len(self.legs) - 1, []
        if law is None or not self.limits:
            return []
        places = {where: [j for j, one in enumerate(self.limits) if one.where == where] for where in _WHERE}
        if places["start"] and k == 0:
            out, _, by_s, by_p = law(np.zeros(1), s0[:1], p)
            by = by_s[0] @ slopes[0, : self.plant.ns] + by_p[0] @ slopes[0, self.plant.ns : -1]
            found += [(Rows(out[0, [j]], by[[j]]), self.limits[j]) for j in places["start"]]
        if places["along"]:
            out, by = self._along(law, motion, slopes, p)
            found += [(Rows(out[:, j], by[:, j]), self.limits[j]) for j in places["along"]]
        if places["end"] and last:
            (out,), by = self._at_end(law, motion, end_by, slopes[-1], p)
            found += [(Rows(out[[j]], by[[j]]), self.limits[j]) for j in places["end"]]
        return found

    def _along(self, law: Derived, motion: Arcs, slopes: Array, p: Array) -> tuple[Array, Array]:
        """(values (points, n), derivatives (points, n, size)) of laws at all points of the arcs of a leg."""
        ns = self.plant.ns
        out, by_t, by_s, by_p = law(motion.t.ravel(), motion.s.reshape(-1, ns), p)
        stages, n = motion.t.shape[1], out.shape[1]
        shaped = [part.reshape(len(motion.t), stages, n, -1) for part in (by_s, by_p, by_t)]
        chain = shaped[0] @ motion.by
        chain[..., ns:-1] += shaped[1]
        chain[..., -1] += shaped[2][..., 0] * (motion.t / motion.weights.sum())[:, :, None]
        by = np.einsum("ncak,nky->ncay", chain, slopes)
        return out, by.reshape(-1, n, self.size)

    def margins(self, Y: Array) -> dict[str, float]:
        """By condition, the smallest distance to its limits; minus the largest error of one that is an equation."""
        found: dict[str, float] = {}
        p, here = self.parameters(Y), self.at(Y)
        for k, (leg, z, motion) in enumerate(zip(self.legs, self.nodes(Y), here.detail, strict=True)):
            s0 = leg.section.states(z, p)[0]
            slopes = self._by_unknowns(k, s0, p)
            end_by = np.einsum("nak,nky->nay", motion.end_by, slopes)
            for rows, limit in self._limited(k, motion, s0, end_by, slopes, p):
                margin = float(limit.margin(rows.values).min())
                found[limit.name] = min(found.get(limit.name, np.inf), margin)
        return found

    def monodromy(self, Y: Array) -> Array:
        """The derivative (n, n) of the coordinates after a cycle by those before it, without those that are shifted.

        Every edge is taken where its guard is zero, so that the durations change with the motion.
        """
        p, here, found = self.parameters(Y), self.at(Y), np.eye(len(self.legs[0].section.independent))
        for k, (leg, z, motion) in enumerate(zip(self.legs, self.nodes(Y), here.detail, strict=True)):
            section, following = leg.section, self.legs[(k + 1) % len(self.legs)].section
            by_z, _ = section.slopes(section.states(z, p)[0], p)
            for arc in range(leg.arcs):
                whole = motion.end_by[arc][:, : self.plant.ns] @ by_z[arc]
                found = (whole if arc == leg.arcs - 1 else whole[section.independent]) @ found
            t, end = np.array([Y[self.lasting][k]]), motion.end[-1:]
            _, (by_t,), (by_s,), _ = self._landings[k](t, end, p)
            (f,), *_ = self._rates[k](t, end, p)
            along = by_s @ f + by_t  # of the guard, and of the state after the edge
            later = -(by_s[0] @ found) / along[0]
            found = (by_s @ found + np.outer(along, later))[[1 + j for j in following.independent]]
        return found[np.ix_(self.closing, self.closing)]

    def curvature(self, Y: Array) -> Array:
        """The second derivatives (size, size) of the cost, as far as they are those of squares of linear signals."""
        found = np.zeros((self.size, self.size))
        p, count = self.parameters(Y), len(self.limits)
        here = self.at(Y)
        for k, (leg, z, motion) in enumerate(zip(self.legs, self.nodes(Y), here.detail, strict=True)):
            law = self._observed[k]
            if law is None or not self._squares:
                continue
            slopes = self._by_unknowns(k, leg.section.states(z, p)[0], p)
            _, by = self._along(law, motion, slopes, p)
            for number, (_, weight) in self._squares:
                J = by[:, count + number] * np.sqrt(np.abs(2.0 * weight) * motion.weights.ravel())[:, None]
                found += J.T @ J
        return found


_WHERE = ("start", "end", "along")


def _landed(plant: Plant, edge: int, home: Sequence[float], at: LocalInstant) -> list[Any]:
    """[the guard of an edge, the state (ns,) after it in local coordinates about the configuration `home`]."""
    jumps = plant.laws.jumps
    assert jumps is not None
    _, v, x = split(at.s, plant.nv)
    centered = at._replace(base=plant.laws.place(at.base, at.s, finished=False), s=[*[0.0] * plant.nv, *v, *x])
    new = jumps.switch(edge, centered)
    return [jumps.guards(centered)[edge], *local(plant, home, new["q"]), *new["v"], *new["x"]]
