"""Loop programs for a motion that another integrator advances: events, memory and constraints between its steps.

The integrator gets the rates of the state from `Plant.flow` and calls these programs, which work on the memory of a
march and are made of the same parts:

    indicating    event indicators: numbers that change their sign where an event happens
    happening     one round of the events at one instant: corrections, one jump, changes of memory
    completing    what has to be noted after a step, and whether an event is needed

A march searches each step for the first event. Here the integrator does this, and may end a little before or after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import Affine, LoopProgram, View
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.loop_methods import DEGRADED, LOST, Partitioning, Projection, names_independent
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.asked_inputs import all_inputs, loop_builder
from kinemorph.simulation.integrators.method import Method
from kinemorph.simulation.march.constraints import DRIFT, KEPT, Constraints
from kinemorph.simulation.march.crossings import crossed, kept_floor, note_side
from kinemorph.simulation.march.jumps import NEAR, SMALL, Jumps
from kinemorph.simulation.march.layout import QUIET, Guards, Status, layout, log_width
from kinemorph.simulation.march.march import site_of
from kinemorph.simulation.march.memory import Clocks, Memory

LEAST_DRIFT = 1e-10  # smaller errors are not corrected: they may be rounding errors


def indicating(plant: Plant, method: Method, guards: Guards) -> LoopProgram:
    """The loop program of event indicators.

    Inputs      memory; u, p
    Outputs     values (guards,): above its floor, a guard has a positive indicator, below it a negative one. A guard
                that does not count in the present phase, or that stays at zero, has +1 or -1, by its side
    """
    plan = layout(plant, method, guards)
    loop = loop_builder(
        plant,
        f"indicators of {plant.name}",
        {"memory": (plan.size,), "u": (plant.given,), "p": plant.ports["p"]},
        {"values": (guards.count,)},
    )
    at = {name: plan.view(loop["memory"], name) for name in plan.shapes}
    here = _here(loop, at)
    found, counts = loop.buffer("found", (guards.count,)), _counting(loop, guards, here)
    loop.call(guards.program, [found], [*here])
    with loop.repeat(guards.count) as i:
        loop.let(
            loop["values"][i],
            lambda g, floor, side, counts: (counts * abs(side)).where(g - floor, (side < 0.0).where(-1.0, 1.0)),
            *(found[i], at["floors"][i], at["sides"][i], counts[i]),
        )
    return loop.program()


def happening(plant: Plant, method: Method, guards: Guards | None = None) -> LoopProgram:
    """The loop program of one round of the events at the time in the memory of a march.

    The state is brought onto the constraints, quaternions get the length 1, the first guard that has changed its sign
    jumps, elements settle, and those sample whose clocks tick now.

    Inputs      memory; limits (6,), those of `march`; u, p
    Outputs     memory_end; status (), a Status; jumped (), 1 where q, v or x have changed, else 0; more (), 1 where
                another guard has changed its sign; where there are guards, fired, log and logged as those of `march`,
                and returned (), the index of a guard that is just beyond zero and goes back without a jump, or -1:
                since its last jump it has moved less than the integrator's error
    """
    plan = layout(plant, method, guards)
    loop = loop_builder(
        plant,
        f"events of {plant.name}",
        {"memory": (plan.size,), "limits": (6,), "u": (plant.given,), "p": plant.ports["p"]},
        {
            "memory_end": (plan.size,),
            "status": (),
            "jumped": (),
            "more": (),
            **({"fired": (guards.count,)} if guards else {}),
            **({"log": (guards.log_length, log_width(plant)), "logged": (), "returned": ()} if guards else {}),
        },
    )
    _Between(loop, plant, method, guards).happen()
    return loop.program()


def completing(plant: Plant, method: Method, guards: Guards | None = None) -> LoopProgram:
    """The loop program for the end of a step of the integrator; it changes no state.

    Inputs      memory; limits (6,), those of `march`; u, p
    Outputs     memory_end, with the sides of guards; status (), a Status; event (), 1 where `happening` has to be
                called at this instant, else 0: where constraints or quaternions are off by more than DRIFT rtol, where
                other velocities have to be chosen as dependent, and where elements change their memory after steps
    """
    plan = layout(plant, method, guards)
    loop = loop_builder(
        plant,
        f"completed steps of {plant.name}",
        {"memory": (plan.size,), "limits": (6,), "u": (plant.given,), "p": plant.ports["p"]},
        {"memory_end": (plan.size,), "status": (), "event": ()},
    )
    _Between(loop, plant, method, guards).complete()
    return loop.program()


class _Between:
    """Writes the code of what happens between two steps into a loop program, part by part."""

    def __init__(self, loop: LoopBuilder, plant: Plant, method: Method, guards: Guards | None) -> None:
        self.loop, self.plant, self.guards = loop, plant, guards
        plan = layout(plant, method, guards)
        self.at = at = {name: plan.view(loop["memory_end"], name) for name in plan.shapes}
        self.status = loop["status"]
        self.site = site_of(loop, plant, method, at, loop.buffer("step"))
        self.here = _here(loop, at)
        self.settling = plant.settling(located=guards is not None and guards.located)
        if guards:
            self.values, self.slopes = (loop.buffer(f"guard_{name}", (guards.count,)) for name in ("values", "slopes"))
            self.ds, self.one = loop.buffer("guard_ds", (plant.ns,)), loop.constant("guard_one", [1.0])
            self.directions = loop.constant("guard_directions", [float(d) for d in guards.directions])
            self.silent = loop.constant("guard_silent", [float(one) for one in guards.silent])
        loop.copy(loop["memory_end"], loop["memory"])
        loop.let(self.status, lambda: 0.0)
        loop.copy(at["m"], at["m_next"])

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    def happen(self) -> None:
        """Writes the code of one round of events."""
        loop, at, plant = self.loop, self.at, self.plant
        nq, nz = plant.nq, plant.nv + plant.nx
        before, now = (loop.buffer(f"row_{name}", (nq + nz,)) for name in ("before", "now"))
        clocks = Clocks(loop, plant, at, to_samples=False)
        memory = Memory(self.site, at, self.status, clocks, self.settling, calls_c=True)
        constraints = Constraints(self.site, at, self.status)
        self._copy_state(before)
        loud = loop.buffer("guard_loud")
        if self.guards:  # before the state is corrected, which may bring a guard back
            self._look(self.guards, loud, _has_changed)
            self._find_returned(self.guards, loud)
        self._stand()
        constraints.choose_dependent(memory.remember)
        if plant.holding is not None:
            left = constraints.correct(at["t"], at["base"], at["s"], at["m_next"])
            loop.let(
                self.status,
                lambda status, left: (left <= KEPT).where(status, float(Status.UNSOLVED)),
                *(self.status, left),
            )
            self._stand()
        if self.guards:
            self._jump(self.guards, constraints, loud)
        if plant.ticks:
            clocks.find_ticks()
        if plant.ticks or self.settling:
            memory.change()
        loop.let(loop["more"], lambda: 0.0)
        if self.guards:
            self._look_again(self.guards)
        self._copy_state(now)
        loop.let(loop["jumped"], lambda: 0.0)
        with loop.repeat(nq + nz) as i:
            loop.let(
                loop["jumped"],
                lambda some, old, new: some.maximum(1.0 - old.equals(new)),
                *(loop["jumped"], before[i], now[i]),
            )

    def _copy_state(self, row: View) -> None:
        nq, nv, nz = self.plant.nq, self.plant.nv, self.plant.nv + self.plant.nx
        self.loop.copy(row.part(0, nq), self.at["base"])
        self.loop.copy(row.part(nq, nz), self.at["s"].part(nv, nz))

    def _stand(self) -> None:
        """Writes code that makes s = [w, v, x] the present state: w becomes 0, quaternions get the length 1."""
        loop, at, plant = self.loop, self.at, self.plant
        placed = loop.scratch("placed", (plant.nq,))
        loop.call(plant.place, [placed], [at["base"], at["s"]])
        loop.copy(at["base"], placed)
        with loop.repeat(plant.nv) as i:
            loop.let(at["s"][i], lambda: 0.0)

    def _find_returned(self, guards: Guards, loud: View) -> None:
        """Writes code for guards with jumps of their own that are just beyond zero and go back: these do not jump.

        After a bounce that is lower than the integrator's error, its first step may end below the ground at once.
        """
        loop, at, n = self.loop, self.at, guards.count
        own = [float(jump is not None and jump.make is not None and not jump.shared) for jump in guards.jumps]
        turns, numbers = loop.constant("guard_turns", own), loop.constant("guard_numbers", [float(k) for k in range(n)])
        back = loop.buffer("guard_back")
        loop.let(loop["returned"], lambda: -1.0)
        loop.let(loud, lambda: 0.0)
        with loop.repeat(n) as i:
            loop.let(
                back,
                lambda g, rate, side, fired, own: (
                    own * fired * (abs(g) <= NEAR * (1.0 + abs(rate))) * (rate * side > QUIET)
                ),
                *(self.values[i], self.slopes[i], at["sides"][i], loop["fired"][i], turns[i]),
            )
            loop.let(
                loop["returned"],
                lambda known, back, k: (back > 0.0).where(k, known),
                loop["returned"],
                back,
                numbers[i],
            )
            loop.let(loop["fired"][i], lambda fired, back: fired * (1.0 - back), loop["fired"][i], back)
            self._hear(loud, i)

    def _jump(self, guards: Guards, constraints: Constraints, loud: View) -> None:
        """Writes code that lets the first guard that has changed its sign jump, where one is `loud`."""
        loop, at = self.loop, self.at
        jumps = Jumps(self.site, at, guards, self.status, constraints, self.values)
        loop.let(loop["logged"], lambda: 0.0)
        with loop.repeat(loop["log"].shape[0]) as k, loop.repeat(loop["log"].shape[1]) as i:
            loop.let(loop["log"][k, i], lambda: 0.0)
        with loop.if_(loud):
            jumps.write()

    def _look_again(self, guards: Guards) -> None:
        """Writes code for `more`; the indicators of guards that do not jump next get the signs of their sides.

        A guard that is at zero up to rounding stays on its side: it gets a floor. Where its value has jumped to another
        side, at a tick or a jump of another guard, this is its side now, and likewise where it is silent.
        """
        loop, at = self.loop, self.at
        free, near = loop.buffer("guard_free"), loop.buffer("guard_near")
        self._look(guards, loop["more"], _goes_on)
        with loop.repeat(guards.count) as i:
            side, floor = at["sides"][i], at["floors"][i]
            loop.let(free, lambda fired, more: 1.0 - fired * more, loop["fired"][i], loop["more"])
            with loop.if_(free):
                loop.let(side, lambda side, fired: (1.0 - 2.0 * fired) * side, side, loop["fired"][i])
                loop.let(near, lambda g, rate: abs(g) <= NEAR * (1.0 + abs(rate)), self.values[i], self.slopes[i])
                with loop.if_(near):
                    loop.let(floor, kept_floor, self.values[i], floor, side)
                with loop.otherwise():
                    note_side(loop, at, self.values, i)

    def _look(self, guards: Guards, loud: View, judge: Callable[..., Any]) -> None:
        """Writes code for the values and slopes of guards, for `fired`, 1 for those that have changed their sign, and
        for `loud`, 1 where one of them is not silent. `judge` says whether a guard that counts has changed its sign.
        """
        loop, at = self.loop, self.at
        loop.call(self.plant.rate, [self.ds], [*self.here])
        along = [*self.here, self.one[0], self.ds]
        loop.call(forward(guards.program, ("t", "s"), values=True), [self.values, self.slopes], along)
        counts = _counting(loop, guards, self.here)
        loop.let(loud, lambda: 0.0)
        with loop.repeat(guards.count) as i:
            loop.let(
                loop["fired"][i],
                lambda g, rate, floor, side, direction, counts: counts * judge(g, rate, floor, side, direction),
                *(self.values[i], self.slopes[i], at["floors"][i], at["sides"][i], self.directions[i], counts[i]),
            )
            self._hear(loud, i)

    def _hear(self, loud: View, i: Affine) -> None:
        """Writes code that makes `loud` 1 where guard i has fired and is not silent."""
        self.loop.let(
            loud,
            lambda loud, fired, one, status: loud.maximum(fired * (1.0 - one) * (status <= 0.0)),
            *(loud, self.loop["fired"][i], self.silent[i], self.status),
        )

    # ── the end of a step ─────────────────────────────────────────────────────────────────────────────────────────

    def complete(self) -> None:
        """Writes the code for the end of a step."""
        loop, plant = self.loop, self.plant
        loop.let(loop["event"], lambda: 0.0)
        self._check_lengths()
        if plant.holding is not None and isinstance(plant.loops, Projection | Partitioning):
            self._check_drift(plant.loops.tolerance)
        if plant.dependence is not None:
            self._check_dependence()
        if plant.flatness is not None:
            flat = loop.buffer("flat")
            loop.call(plant.flatness, [flat], [*self.here])
            loop.let(
                self.status, lambda status, flat: (flat > 0.0).where(float(Status.LOST), status), self.status, flat
            )
        if self.settling is not None:
            new, x = loop.buffer("new_memory", (len(plant.m),)), loop.buffer("new_extra", (plant.nx,))
            loop.call(self.settling, [new, x], [*self.here])
            self._ask_where_different(new, self.here.m)
            self._ask_where_different(x, self.here.s.part(2 * plant.nv, plant.nx))
        if self.guards:
            self._note_sides(self.guards)

    def _check_lengths(self) -> None:
        """Writes code that asks for an event where the length of a quaternion is not 1."""
        loop, plant = self.loop, self.plant
        placed = loop.buffer("placed", (plant.nq,))
        loop.call(plant.place, [placed], [self.here.base, self.here.s])
        with loop.repeat(plant.nq) as i:
            loop.let(
                loop["event"],
                lambda event, q, placed, rtol: event.maximum(abs(q - placed) > _allowed(rtol)),
                *(loop["event"], self.here.base[i], placed[i], self.site.rtol),
            )

    def _check_drift(self, tolerance: float) -> None:
        """Writes code that asks for an event where constraints are off; their errors are relative to `tolerance`."""
        loop, plant = self.loop, self.plant
        assert plant.holding is not None
        better, left = loop.buffer("better", (plant.ns,)), loop.buffer("left")
        loop.call(plant.holding, [better, left], [*self.here])
        loop.let(
            loop["event"],
            lambda event, left, rtol: event.maximum(left * tolerance > _allowed(rtol)),
            *(loop["event"], left, self.site.rtol),
        )

    def _check_dependence(self) -> None:
        """Writes code that asks for an event where the choice of dependent velocities has become badly conditioned."""
        loop, plant = self.loop, self.plant
        assert plant.dependence is not None
        rows, margin = loop.buffer("row_slopes", (len(plant.constraint_names), plant.nv)), loop.buffer("margin")
        loop.call(plant.dependence, [rows, margin], [*self.here])
        if names_independent(plant.loops) is not None:
            loop.let(
                self.status,
                lambda status, margin: (margin < LOST).where(float(Status.LOST), status),
                *(self.status, margin),
            )
        else:
            loop.let(loop["event"], lambda event, margin: event.maximum(margin < DEGRADED), loop["event"], margin)

    def _ask_where_different(self, new: View, old: View) -> None:
        loop = self.loop
        with loop.repeat(new.size) as i:
            loop.let(
                loop["event"],
                lambda event, a, b: event.maximum(1.0 - a.equals(b)),
                *(loop["event"], new[i], old[i]),
            )

    def _note_sides(self, guards: Guards) -> None:
        """Writes code for the sides of guards that have not changed their sign in a way that counts."""
        loop, at = self.loop, self.at
        free = loop.buffer("guard_free")
        loop.call(guards.program, [self.values], [*self.here])
        counts = _counting(loop, guards, self.here)
        with loop.repeat(guards.count) as i:
            loop.let(
                free,
                lambda g, floor, side, direction, counts: 1.0 - counts * crossed(g, floor, side, direction),
                *(self.values[i], at["floors"][i], at["sides"][i], self.directions[i], counts[i]),
            )
            with loop.if_(free):
                note_side(loop, at, self.values, i)


def _here(loop: LoopBuilder, at: Mapping[str, View]) -> LocalInstant:
    """Views of the present instant in the memory of a march."""
    return LocalInstant(at["t"], at["base"], at["s"], at["m_next"], all_inputs(loop), loop["p"])


def _counting(loop: LoopBuilder, guards: Guards, here: LocalInstant) -> View:
    """Writes code for 1 for each guard that counts in the present phase, else 0; returns its view, shape (guards,)."""
    counts = loop.scratch("guard_counts", (guards.count,))
    if guards.awake is not None:
        loop.call(guards.awake, [counts], [*here])
    else:
        with loop.repeat(guards.count) as i:
            loop.let(counts[i], lambda: 1.0)
    return counts


def _has_changed(g: Any, rate: Any, floor: Any, side: Any, direction: Any) -> Any:
    """1 if a guard has changed its sign, or is zero up to rounding and about to change it, else 0.

    An integrator may stop just before the change.
    """
    about_to = (abs(g - floor) <= SMALL * (1.0 + abs(rate))) * (rate * side < -QUIET) * (direction * side <= 0.0)
    return crossed(g, floor, side, direction).maximum(about_to)


def _goes_on(g: Any, rate: Any, floor: Any, side: Any, direction: Any) -> Any:
    """1 if a guard changes its sign right after a jump of another one, or after a correction of the state, else 0.

    The sign of a guard near zero is then that of rounding errors, and its rate decides: feet land at times that differ
    by rounding, and the next one goes on; a knee that is about to open does not.
    """
    back = (abs(g) <= NEAR * (1.0 + abs(rate))) * (rate * side >= -QUIET)
    return _has_changed(g, rate, floor, side, direction) * (1.0 - back)


def _allowed(rtol: Any) -> Any:
    """The error of constraints, relative to the size of a loop, and of lengths of quaternions, up to which no event is
    needed.
    """
    return (DRIFT * rtol).maximum(LEAST_DRIFT)
