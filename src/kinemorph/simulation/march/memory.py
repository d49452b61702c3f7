"""Memory of elements, as part of the march: changes after steps and at the ticks of clocks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant
from kinemorph.plants.sample_instants import FAR
from kinemorph.simulation.integrators.method import CHANGED, Site
from kinemorph.simulation.march.layout import HUGE, Status
from kinemorph.simulation.march.sampling import write_samples


class Clocks:
    """Writes code that finds when the clocks of a plant tick next, and the time that no step goes beyond."""

    def __init__(self, loop: LoopBuilder, plant: Plant, at: Mapping[str, View], *, to_samples: bool) -> None:
        """With `to_samples`, steps end at sample times too."""
        self.loop, self.plant, self.at, self.to_samples = loop, plant, at, to_samples
        ticks = plant.ticks
        if ticks:
            self.next = loop.buffer("ticking", (len(ticks),))  # when each clock ticks next
            self.grids = tick_grids(loop, plant)

    @cached_property
    def bound(self) -> View:
        """The view of the time that no step goes beyond [s]."""
        return self.loop.buffer("bound") if self.plant.ticks or self.to_samples else self.loop["stop"]

    def find_bound(self, target: View) -> View:
        """Writes code for the time that no step goes beyond, and returns its view: `stop`, or an earlier tick.

        With `to_samples`, it is at most the time of the next sample, `target`. This is needed where a fast motion
        closes the loops (singular perturbation): the ends of steps are within the tolerances, but steps are so long for
        this motion that interpolation within them would be far off.
        """
        loop, ticks = self.loop, self.plant.ticks
        if self.to_samples:
            loop.let(self.bound, lambda stop, t: stop.minimum(t), loop["stop"], target)
        elif ticks:
            loop.copy(self.bound, loop["stop"])
        if ticks:
            self.find_ticks()
            with loop.repeat(len(ticks)) as i:
                loop.let(self.bound, lambda b, t: b.minimum(t), self.bound, self.next[i])
        return self.bound

    def find_ticks(self) -> None:
        """Writes code for the time of the next tick of each clock [s]; there has to be a clock."""
        with self.loop.repeat(len(self.plant.ticks)) as i:
            self.loop.let(self.next[i], tick_time, self.at["clock"][i], *(row[i] for row in self.grids))


def tick_grids(loop: LoopBuilder, plant: Plant) -> list[View]:
    """Constant arrays of a loop program, each of shape (clocks,): the `first`, `step` and `parts` of `tick_time`.

    They are arrays and not numbers in the code, so that no compiler replaces the division by `parts`.
    """
    grids = zip(*(tick.instants for tick in plant.ticks), strict=True)
    return [loop.constant(f"tick_{k}", numbers) for k, numbers in enumerate(grids)]


def tick_time(k: Any, first: Any, step: Any, parts: Any) -> Any:
    """The time [s] of tick number k of a clock, by the formula of plants.sample_instants."""
    return (first + (k * step).minimum(FAR)) / parts


class Memory:
    """Writes code that changes the memory of elements.

    `settling` is the plant's program for changes after every step, or None. With `calls_c`, elements that are functions
    in C sample within the march, by foreign calls; else it returns for them.
    """

    def __init__(
        self,
        site: Site,
        at: Mapping[str, View],
        status: View,
        clocks: Clocks,
        settling: Program | None,
        *,
        calls_c: bool,
    ) -> None:
        self.site, self.at, self.status, self.clocks, self.settling = site, at, status, clocks, settling
        self.marched = ("compiled", "c") if calls_c else ("compiled",)  # the stages of ticks that are written here
        self.loop, self.plant = site.loop, site.plant

    def change(self) -> None:
        """Writes code that changes memory after the step just taken, and for the clocks that tick at its end."""
        loop, at, plant = self.loop, self.at, self.plant
        due, whole = loop.buffer("due"), loop.buffer("whole")
        nv, nx = plant.nv, plant.nx
        ins = self.site.inputs(m=at["m_next"])
        new, x = loop.buffer("new_memory", (len(plant.m),)), loop.buffer("new_extra", (nx,))
        if self.settling:
            loop.let(due, lambda status: status <= 0.0, self.status)
            with loop.if_(due):
                loop.call(self.settling, [new, x], ins)
                self.remember(new)
                if nx:
                    loop.copy(at["s"].part(2 * nv, nx), x)
        for i, tick in enumerate(plant.ticks):
            loop.let(
                due,
                lambda t, at, status: (t >= at) * (status <= 0.0),
                *(at["t"], self.clocks.next[i], self.status),
            )
            with loop.if_(due):
                if any(stage.runs not in self.marched for stage in tick.stages):
                    loop.let(self.status, lambda: float(Status.TICK))
                    continue
                write_samples(loop, plant, tick, LocalInstant(*ins), new)
                loop.let(whole, lambda: 1.0)
                with loop.repeat(len(plant.m)) as j:
                    loop.let(whole, lambda whole, x: whole * (abs(x) < HUGE), whole, new[j])
                with loop.if_(whole):
                    self.remember(new)
                    loop.let(at["clock"][i], lambda k: k + 1.0, at["clock"][i])
                with loop.otherwise():  # Python says what is wrong
                    loop.let(self.status, lambda: float(Status.TICK))

    def remember(self, new: View) -> None:
        """Writes code that stores new memory; where it differs, the next step does not use rates of the last one."""
        loop, at = self.loop, self.at
        with loop.repeat(len(self.plant.m)) as i:
            loop.let(
                at["fresh"],
                lambda fresh, old, new: (old.equals(new)).where(fresh, fresh.maximum(CHANGED)),
                *(at["fresh"], at["m_next"][i], new[i]),
            )
        loop.copy(at["m_next"], new)
