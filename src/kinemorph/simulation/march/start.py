"""The start of a march as a loop program: what has to be computed between a given state and the first step.

Python prepares the memory of a march with the functions of `stepping`. A program that runs without Python needs this as
compiled code, because its options may give another state, other inputs and other parameters:

    where the state has been moved:
        bring it onto the constraints; points are held where they are then
        find the next tick of each clock
    let elements sample whose clocks tick now
    find on which side of zero each guard is
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant
from kinemorph.plants.sample_instants import NEAR, Instants
from kinemorph.simulation.integrators.method import CHANGED, Method
from kinemorph.simulation.march.constraints import KEPT, corrected
from kinemorph.simulation.march.jumps import SMALL
from kinemorph.simulation.march.layout import HUGE, Guards, Status, layout
from kinemorph.simulation.march.memory import tick_grids, tick_time


def start(plant: Plant, method: Method, guards: Guards | None = None) -> LoopProgram:
    """The loop program that prepares the memory of a march for its first step, at the time t in that memory.

    Inputs      memory, with a state; moved (), 1 where the state, the time or parameters have been changed since the
                memory was prepared, 0 where at most inputs have; u, p
    Outputs     memory_end; status (), a Status: UNSOLVED where the state cannot be brought onto the constraints, TICK
                where a sampled value is not finite, which is then in the memory
    """
    plan = layout(plant, method, guards)
    ports = {name: plant.ports[name] for name in ("u", "p")}
    loop = LoopBuilder(
        f"start of {plant.name} by {method.name}",
        {"memory": (plan.size,), "moved": (), **ports},
        {"memory_end": (plan.size,), "status": ()},
    )
    at = {name: plan.view(loop["memory_end"], name) for name in plan.shapes}
    here = LocalInstant(at["t"], at["base"], at["s"], at["m_next"], loop["u"], loop["p"])
    loop.copy(loop["memory_end"], loop["memory"])
    loop.let(loop["status"], lambda: 0.0)
    loop.let(at["fresh"], lambda fresh, moved: fresh.maximum(CHANGED).maximum(moved), at["fresh"], loop["moved"])
    with loop.if_(loop["moved"]):
        loop.let(at["t_low"], lambda: 0.0)
        _close(loop, plant, here)
        for k in plant.contact_modes if getattr(method, "opens_contacts", False) else ():
            loop.let(at["m_next"][k], lambda: 0.0)
        for k, tick in enumerate(plant.ticks):
            loop.let(at["clock"][k], functools.partial(_next_tick, tick.instants), at["t"])
    _sample(loop, plant, here, at["clock"])
    loop.copy(at["m"], at["m_next"])
    if guards:
        _find_sides(loop, plant, guards, here, at)
    return loop.program()


def _close(loop: LoopBuilder, plant: Plant, here: LocalInstant) -> None:
    """Writes code that brings the state onto the constraints, with the memory that elements have at the start of a run.

    Where constraints are not kept exactly, the motion itself closes loops that are open.
    """
    nv = plant.nv
    q, m = loop.buffer("placed", (plant.nq,)), loop.buffer("entered", (len(plant.m),))
    enters = plant.laws.jumps is not None and plant.laws.jumps.enter is not None

    def place() -> None:
        loop.call(plant.place, [q], [here.base, here.s])  # quaternions get the length 1
        loop.copy(here.base, q)
        for k in range(nv):
            loop.let(here.s[k], lambda: 0.0)

    for k in plant.locked:
        loop.let(here.s[nv + k], lambda: 0.0)
    place()
    for _ in range(2 if plant.holding is not None else 1):  # points are held where they are once loops are closed
        if enters:
            loop.call(plant.entering, [m], [*here])
            loop.copy(here.m, m)
        if plant.holding is not None:
            left = corrected(loop, plant, here)
            loop.let(loop["status"], lambda left: (left <= KEPT).where(0.0, float(Status.UNSOLVED)), left)
            place()


def _next_tick(ticks: Instants, t: Any) -> Any:
    """The number of the first sample time at t [s] or later, as `Instants.next` finds it, over any scalar."""
    if ticks.once:
        return 0.0
    places = (t * ticks.parts - ticks.first) / ticks.step
    nearest = (places + 0.5).floor()
    off = abs(t - (ticks.first + nearest * ticks.step) / ticks.parts)
    later = -((-places).floor())
    return ((nearest >= 0.0) * (off <= NEAR * ticks.step / ticks.parts)).where(nearest, later.maximum(0.0))


def _sample(loop: LoopBuilder, plant: Plant, here: LocalInstant, clock: View) -> None:
    """Writes code that lets elements sample whose clocks tick at the present time."""
    new, due = loop.buffer("sampled", (len(plant.m),)), loop.buffer("due")
    grids = tick_grids(loop, plant)
    for k, tick in enumerate(plant.ticks):
        loop.let(due, lambda t, *tick: t >= tick_time(*tick), here.t, clock[k], *(row[k] for row in grids))
        with loop.if_(due):
            loop.call(plant.sampling(tick.stages[0].samplers), [new], [*here])
            loop.copy(here.m, new)
            loop.let(clock[k], lambda number: number + 1.0, clock[k])
            with loop.repeat(len(plant.m)) as i:
                loop.let(
                    loop["status"],
                    lambda status, x: (abs(x) < HUGE).where(status, float(Status.TICK)),
                    *(loop["status"], new[i]),
                )


def _find_sides(loop: LoopBuilder, plant: Plant, guards: Guards, here: LocalInstant, at: Mapping[str, View]) -> None:
    """Writes code for the side of zero on which each guard is: the sign of its value, or of its rate where it is 0."""
    values, rates = loop.buffer("values", (guards.count,)), loop.buffer("rates", (guards.count,))
    ds, one = loop.buffer("ds", (plant.ns,)), loop.constant("one", [1.0])
    loop.call(plant.rate, [ds], [*here])
    loop.call(forward(guards.program, ("t", "s"), values=True), [values, rates], [*here, one[0], ds])
    with loop.repeat(guards.count) as i:
        loop.let(
            at["sides"][i],
            lambda value, rate: (abs(value) <= SMALL * (1.0 + abs(rate))).where(rate, value).sign(),
            *(values[i], rates[i]),
        )
        loop.let(at["floors"][i], lambda: 0.0)
