"""The motion of a plant through some edges of its automaton: one with exact slopes, or many at once without.

The slopes are those of the state just after the last edge, and include the change of the times of all edges
(`varied_run`). Many motions run in compiled batches, cycle by cycle; those that do not finish a cycle are left out of
the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.orbits.edge_cycle import given_phase, phase_of, trials
from kinemorph.analysis.orbits.flow_piece import OFF, CycleOptions
from kinemorph.analysis.orbits.return_map import Return, Returns
from kinemorph.analysis.orbits.section import Conditions, Section
from kinemorph.analysis.small_motions.plant_derivatives import Point
from kinemorph.analysis.small_motions.varied_run import VariedRun, varied_run
from kinemorph.errors import KinemorphError
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import summed_states
from kinemorph.simulation.simulate_batch import simulate_batch
from kinemorph.words import counted


@dataclass(frozen=True, eq=False)
class EdgePiece:
    """The motion from the section `begin` through `edges` edges to the section `finish`."""

    plant: Plant
    varied: tuple[str, ...]
    begin: Section
    finish: Section
    edges: int
    options: CycleOptions

    @property
    def start(self) -> Array:
        """The coordinates (n,) of the shooting node at the start of the piece."""
        return self.begin.start

    def __call__(self, z: Array, p: Array) -> Return:
        """The end of the piece that starts at z (n,), at the parameters p, with slopes."""
        k = len(self.varied)
        try:
            first = self.begin.at(np.asarray(z, dtype=float), p)
            if not first.off < OFF or not np.isfinite([*first.q, *first.v, *first.x]).all():
                return Return.lost(len(z), k, f"no state of '{self.plant.name}' has these coordinates.")
            home, plant = self.begin.home, self.plant
            run = varied_run(
                plant,
                home.t + self.options.longest,
                self.varied,
                slopes=np.hstack([first.by_p[:, [plant.index("p", name) for name in self.varied]], first.by_z]),
                most_events=self.edges,
                q=first.q if plant.nv else None,
                v=first.v if plant.nv else None,
                x=first.x if plant.nx else None,
                u=home.u if plant.nu else None,
                p=p if len(p) else None,
                m=given_phase(plant, home),
                start=home.t,
                **self.options.steps,
            )
            return self._returned(run, p, len(z))
        except (KinemorphError, np.linalg.LinAlgError) as error:  # a law is not defined there
            return Return.lost(len(z), k, str(error))

    def _returned(self, run: VariedRun, p: Array, n: int) -> Return:
        """The state after the last edge with its derivatives, in the coordinates of the section there."""
        k, home = len(self.varied), self.begin.home
        if run.message:
            return Return.lost(n, k, run.message)
        if len(run.edges) < self.edges:
            return Return.lost(n, k, unfinished(len(run.edges), self.edges, self.options))
        if phase_of(self.plant, run.m) != phase_of(self.plant, self.finish.home.m):
            return Return.lost(n, k, f"edge '{run.edges[-1]}' leads to another phase than that of the section.")
        end = Point(run.t, run.q, run.v, run.x, self.finish.home.m, home.u, p)
        found = self.finish.arrive(end)
        if not found.off < OFF:
            return Return.lost(n, k, elsewhere(self.plant, found.off))
        later = run.time_slopes[-1]
        moved = found.by_s @ run.slopes + np.outer(found.by_t, later)
        by_p = moved[:, :k] + found.by_p[:, [self.plant.index("p", name) for name in self.varied]]
        return Return(found.z, run.t - home.t, moved[:, k:], by_p, later[k:], later[:k])


def unfinished(taken: int, edges: int, options: CycleOptions) -> str:
    """A sentence for a motion that takes fewer edges than a cycle has."""
    return f"the motion takes {counted(taken, 'edge')} of {edges} within {options.longest:g} s (`longest`)."


def elsewhere(plant: Plant, off: float) -> str:
    """A sentence for a state after the last edge that does not satisfy the conditions of the section."""
    return (
        f"the state of '{plant.name}' after the last edge differs by {off:.2g} from what is constant or zero where "
        "cycles begin. Give `begins={}`, and all coordinates count."
    )


def edge_returns(
    section: Section, edges: int, options: CycleOptions, z: Array, p: Array, cycles: int, keep: int, threads: int | None
) -> Returns:
    """The last `keep` returns of all starts z (B, n) with parameters p (B, np), in batches of one cycle each."""
    plant, home = section.plant, section.home
    s, off = section.states(z, p)
    groups = dict(zip("qvx", section.placed(s), strict=True))
    kept, lasting = np.full((len(z), keep, len(section.columns)), np.nan), np.full(len(z), np.nan)
    messages = {int(k): f"no state of '{plant.name}' has these coordinates." for k in np.flatnonzero(~(off < OFF))}
    alive = np.flatnonzero(off < OFF)
    groups = {name: part[alive] for name, part in groups.items()}
    memory: Any = given_phase(plant, home)
    for cycle in range(cycles):
        if not len(alive):
            break
        until = home.t + options.longest
        given: dict[str, Any] = {**groups, "p": p[alive], "u": np.broadcast_to(home.u, (len(alive), plant.nu))}
        with trials():
            run = simulate_batch(
                plant,
                until,
                start=home.t,
                output_step=[home.t, until],
                most_events=edges,
                keep_events=False,
                threads=threads,
                m=memory,
                **{name: part for name, part in given.items() if part.shape[1]},
                **options.steps,
            )
        taken, end = run.event_counts, run.final
        fine = run.ok & (taken == edges) & (phase_of(plant, end.m) == phase_of(plant, home.m))
        for k in np.flatnonzero(~fine):
            why = run.failures.get(int(k), unfinished(int(taken[k]), edges, options))
            messages[int(alive[k])] = why if taken[k] < edges else "the motion ends in another phase."
        lasting[alive] = end.t - home.t
        if cycle >= cycles - keep and fine.any():
            found, away = section.arrivals(end.t[fine], end.q[fine], end.v[fine], end.x[fine], p[alive[fine]])
            kept[alive[fine], cycle - (cycles - keep)] = found
            for k in np.flatnonzero(~(away < OFF)):
                messages.setdefault(int(alive[fine][k]), elsewhere(plant, float(away[k])))
        alive, memory = alive[fine], end.m[fine]
        groups = {name: getattr(end, name)[fine] for name in "qvx"}
    kept[list(messages)] = np.nan
    return Returns(kept, lasting, messages)


def edge_pieces(whole: EdgePiece, count: int, z: Array, p: Array) -> tuple[EdgePiece, ...]:
    """At most `count` pieces of a cycle, each of one edge or more; their nodes lie on the motion from z at p."""
    shares = [len(part) for part in np.array_split(np.arange(whole.edges), min(count, whole.edges))]
    if len(shares) <= 1:
        return (whole,)
    plant, sections, here = whole.plant, [whole.begin], whole.begin.at(np.asarray(z, dtype=float), p)
    state: dict[str, Any] = {"q": here.q, "v": here.v, "x": here.x}
    phase, pinned = given_phase(plant, whole.begin.home), (*whole.begin.conditions.pinned, *summed_states(plant))
    fixed = {name: part for name, part in (("p", p), ("u", whole.begin.home.u)) if len(part)}
    for edges in shares[:-1]:
        given: dict[str, Any] = {name: part[None] for name, part in {**state, **fixed}.items() if len(part)}
        run = simulate_batch(
            plant,
            whole.begin.home.t + whole.options.longest,
            start=whole.begin.home.t,
            most_events=edges,
            m=phase,
            **given,
            **whole.options.steps,
        )
        state = {name: getattr(run.final, name)[0] for name in "qvx"}
        home = replace(whole.begin.home, **state, m=run.final.m[0], p=np.array(p, dtype=float))
        phase = given_phase(plant, home)
        sections.append(Section(plant, home, Conditions({}, {}, pinned=tuple(dict.fromkeys(pinned)))))
    pairs = zip(sections, [*sections[1:], whole.finish], shares, strict=True)
    return tuple(replace(whole, begin=begin, finish=finish, edges=edges) for begin, finish, edges in pairs)
