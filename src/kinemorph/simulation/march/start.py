"""The start of a march as a loop program: what has to be computed between a given state and the first step.

Python prepares the memory of a march with the functions of `stepping`. A program that runs without Python needs this as
compiled code, because its options may give another state, other inputs and other parameters:

    where the state has been moved:
        bring it onto the constraints; points are held where they are then
        where the time has, too: find the next tick of each clock
    let elements sample whose clocks tick now
    find on which side of zero each guard is
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.algebra.linear import least_squares
from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram, View
from kinemorph.mechanics.constraints.newton_closing import CLOSED, LONGEST, MOST_STEPS
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant
from kinemorph.plants.sample_instants import NEAR, Instants
from kinemorph.simulation.integrators.asked_inputs import all_inputs, loop_builder
from kinemorph.simulation.integrators.method import CHANGED, Method
from kinemorph.simulation.march.crossings import kept_floor
from kinemorph.simulation.march.jumps import SMALL
from kinemorph.simulation.march.layout import HUGE, Guards, Status, layout
from kinemorph.simulation.march.memory import tick_grids, tick_time
from kinemorph.simulation.march.sampling import write_samples

KEPT_OPEN = 1e-9  # relative to the size of a loop: constraints of a state that are open by more are not satisfied


def start(plant: Plant, method: Method, guards: Guards | None = None) -> LoopProgram:
    """The loop program that prepares the memory of a march for its first step, at the time t in that memory.

    Inputs      memory, with a state; moved (), 1 where the state has been changed since the memory was prepared, 2
                where the time has, 0.5 where parameters have, 0 where at most inputs have; kept (2, nv), above 0 for
                coordinates and for velocities that were given and stay the same where constraints change the others;
                u, p
    Outputs     memory_end; status (), a Status: UNSOLVED where the state cannot be brought onto the constraints, TICK
                where a sampled value is not finite, which is then in the memory
    """
    plan = layout(plant, method, guards)
    loop = loop_builder(
        plant,
        f"start of {plant.name} by {method.name}",
        {"memory": (plan.size,), "moved": (), "kept": (2, plant.nv), "u": (plant.given,), "p": plant.ports["p"]},
        {"memory_end": (plan.size,), "status": ()},
    )
    at = {name: plan.view(loop["memory_end"], name) for name in plan.shapes}
    here = LocalInstant(at["t"], at["base"], at["s"], at["m_next"], all_inputs(loop), loop["p"])
    loop.copy(loop["memory_end"], loop["memory"])
    loop.let(loop["status"], lambda: 0.0)
    goes_on = loop.buffer("goes_on")  # 1 in the middle of a motion, whose state stays the same, else 0
    loop.let(goes_on, lambda fresh, moved: (fresh < 1.0) * (moved < 1.0), at["fresh"], loop["moved"])
    loop.let(
        at["fresh"],
        lambda fresh, moved: fresh.maximum((moved > 0.0).where(1.0, CHANGED)),
        *(at["fresh"], loop["moved"]),
    )
    with loop.if_(loop["moved"]):
        loop.let(at["t_low"], lambda: 0.0)
        _close(loop, plant, here)
        for k in plant.contact_modes if getattr(method, "opens_contacts", False) else ():
            loop.let(at["m_next"][k], lambda: 0.0)
        for k, tick in enumerate(plant.ticks):
            tick_after = functools.partial(_next_tick, tick.instants)
            loop.let(
                at["clock"][k],
                lambda clock, t, moved, after=tick_after: (moved > 1.0).where(after(t), clock),
                *(at["clock"][k], at["t"], loop["moved"]),
            )
    _sample(loop, plant, here, at["clock"])
    loop.copy(at["m"], at["m_next"])
    if guards:
        _find_sides(loop, plant, guards, here, at, goes_on)
    return loop.program()


def _close(loop: LoopBuilder, plant: Plant, here: LocalInstant) -> None:
    """Writes code that brings the state onto the constraints, with the memory that elements have at the start of a run.

    Points are held where they are once loops are closed, and so they do not hinder closing.
    """
    nv, nm = plant.nv, len(plant.m)
    for k in plant.locked:
        loop.let(here.s[nv + k], lambda: 0.0)
    _place(loop, plant, here)  # quaternions get the length 1
    enters = plant.laws.jumps is not None and plant.laws.jumps.enter is not None
    for _ in range(2 if enters and plant.constraints is not None else 1):
        if enters:
            m = loop.scratch("entered", (nm,))
            loop.call(plant.entering, [m], [*here])
            loop.copy(here.m, m)
        if plant.constraints is not None:
            _satisfy(loop, plant, here)


def _place(loop: LoopBuilder, plant: Plant, here: LocalInstant) -> None:
    """Writes code that makes s = [w, v, x] the present state: `base` moves by w, and w becomes 0."""
    q = loop.scratch("placed", (plant.nq,))
    loop.call(plant.place, [q], [here.base, here.s])
    loop.copy(here.base, q)
    for k in range(plant.nv):
        loop.let(here.s[k], lambda: 0.0)


def _satisfy(loop: LoopBuilder, plant: Plant, here: LocalInstant) -> None:
    """Writes code that finds the coordinates and velocities next to the present ones that satisfy the constraints.

    Those that are kept stay the same; where none is, those that are stated. Steps are Newton's, of least norm.
    """
    assert plant.constraints is not None
    nv, nh, nc = plant.nv, plant.position_rows, len(plant.constraint_names)
    phi, rate = loop.scratch("phi", (nh,)), loop.scratch("rate", (nc,))
    J, sizes = loop.scratch("rows", (nc, nv)), loop.scratch("sizes", (nc,))
    free, going, count = loop.scratch("free", (2, nv)), loop.scratch("closing"), loop.scratch("closings")
    move, off = loop.scratch("move", (nv,)), loop.scratch("off")
    locked = [float(k not in plant.locked) for k in range(nv)]
    for level in range(2):
        loop.let(free[level], functools.partial(_free, locked, _stated(plant)[level]), loop["kept"][level])
    if nh:
        step = _closing(nh, nv)
        loop.let(count, lambda: 0.0)
        loop.let(going, lambda: 1.0)
        with loop.while_(going):
            loop.call(plant.constraints, [phi, rate, J, sizes], [*here])
            loop.call(step, [move, off], [phi, J.part(0, nh * nv), sizes.part(0, nh), free[0]])
            loop.copy(here.s.part(0, nv), move)
            _place(loop, plant, here)
            loop.let(count, lambda n: n + 1.0, count)
            loop.let(going, lambda off, n: (off > CLOSED) * (n < MOST_STEPS), off, count)
        loop.let(
            loop["status"],
            lambda status, off: (off <= KEPT_OPEN).where(status, float(Status.UNSOLVED)),
            *(loop["status"], off),
        )
    step = _closing(nc, nv, longest=HUGE)
    for _ in range(2):  # the second pass removes the rounding errors of the first
        loop.call(plant.constraints, [phi, rate, J, sizes], [*here])
        loop.call(step, [move, off], [rate, J, sizes, free[1]])
        with loop.repeat(nv) as i:
            loop.let(here.s.part(nv, nv)[i], lambda v, dv: v + dv, here.s.part(nv, nv)[i], move[i])
    loop.call(plant.constraints, [phi, rate, J, sizes], [*here])
    loop.call(step, [move, off], [rate, J, sizes, free[1]])
    loop.let(
        loop["status"],
        lambda status, off, *v: (off <= KEPT_OPEN * _largest(v)).where(status, float(Status.UNSOLVED)),
        *(loop["status"], off, *(here.s[nv + k] for k in range(nv))),
    )


def coordinate_moves(plant: Plant) -> list[tuple[int, int]]:
    """For each coordinate, the index of the first velocity that moves it, and how many do; all for quaternions."""
    rows = [(joint.v, ELEMENTARY[joint.kind]) for joint in plant.manifold]
    found = [(v + k, 1) if row.nq == row.nv else (v, row.nv) for v, row in rows for k in range(row.nq)]
    return found if rows else [(k, 1) for k in range(plant.nq)]


def _stated(plant: Plant) -> tuple[list[float], list[float]]:
    """For each velocity, 1 where its coordinate, and 1 where itself is stated by name; 0 else, and where all are."""
    moves = coordinate_moves(plant)
    chosen = [moves[plant.index("q", name)] for name in plant.stated.get("q") or ()]
    moving = {first + j for first, count in chosen for j in range(count)}
    named = {plant.index("v", name) for name in plant.stated.get("v") or ()}
    q, v = (some if len(some) < plant.nv else set() for some in (moving, named))
    return [float(j in q) for j in range(plant.nv)], [float(j in v) for j in range(plant.nv)]


def _free(movable: Sequence[float], stated: Sequence[float], kept: Sequence[Any]) -> list[Any]:
    """1 for velocities that may change, else 0. Where none is kept, those that are `stated` are; where all of them are,
    the state is given in full and may change by rounding.
    """
    some = sum((1.0 - (one > 0.0) for one in kept), 0.0) > 0.0
    none = 1.0 - (sum((one > 0.0 for one in kept), 0.0) > 0.0)
    rows = zip(movable, stated, kept, strict=True)
    return [free * (1.0 - some * (one > 0.0) - none * usual) for free, usual, one in rows]


def _largest(values: Sequence[Any]) -> Any:
    """The largest magnitude of numbers, at least 1."""
    return functools.reduce(lambda most, x: abs(x).maximum(most), values, 1.0)


@functools.cache
def _closing(rows: int, nv: int, longest: float = LONGEST) -> Program:
    """The program (errors (rows,), J (rows, nv), sizes (rows,), free (nv,)) -> (move (nv,), off ()).

    `move` reduces the errors to first order: it is the one of least norm, and at most `longest` [rad or m]. `off` is
    the largest error, relative to the sizes of rows.
    """

    def step(errors: Any, J: Any, sizes: Any, free: Any) -> dict[str, Any]:
        matrix = [[J[i][j] * free[j] / sizes[i] for j in range(nv)] for i in range(rows)]
        right = [[-errors[i] / sizes[i]] for i in range(rows)]
        found = [row[0] * one for row, one in zip(least_squares(matrix, right)[0], free, strict=True)]
        size: Any = functools.reduce(lambda most, x: abs(x).maximum(most), found, 0.0)
        share = longest / size.maximum(longest)
        off: Any = functools.reduce(lambda most, row: abs(row[0]).maximum(most), right, 0.0)
        return {"move": [share * x for x in found], "off": off}

    ports = {"errors": (rows,), "J": (rows, nv), "sizes": (rows,), "free": (nv,)}
    return trace(step, ports, name=f"closing_{rows}_{nv}", outputs={"move": (nv,), "off": ()})


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
            write_samples(loop, plant, tick, here, new)
            loop.copy(here.m, new)
            loop.let(clock[k], lambda number: number + 1.0, clock[k])
            with loop.repeat(len(plant.m)) as i:
                loop.let(
                    loop["status"],
                    lambda status, x: (abs(x) < HUGE).where(status, float(Status.TICK)),
                    *(loop["status"], new[i]),
                )


def _find_sides(
    loop: LoopBuilder, plant: Plant, guards: Guards, here: LocalInstant, at: Mapping[str, View], goes_on: View
) -> None:
    """Writes code for the side of zero on which each guard is: the sign of its value, or of its rate where it is 0.

    Where the motion `goes_on`, a guard at zero stays on its side, so that an event that is about to happen is not lost.
    """
    values, rates = loop.buffer("values", (guards.count,)), loop.buffer("rates", (guards.count,))
    ds, one = loop.buffer("ds", (plant.ns,)), loop.constant("one", [1.0])
    loop.call(plant.rate, [ds], [*here])
    loop.call(forward(guards.program, ("t", "s"), values=True), [values, rates], [*here, one[0], ds])
    with loop.repeat(guards.count) as i:
        loop.let(
            at["sides"][i],
            lambda value, rate, side, goes_on: (
                (abs(value) <= SMALL * (1.0 + abs(rate))).where((goes_on * abs(side)).where(side, rate), value).sign()
            ),
            *(values[i], rates[i], at["sides"][i], goes_on),
        )
        loop.let(at["floors"][i], lambda value, side: kept_floor(value, 0.0, side), values[i], at["sides"][i])
