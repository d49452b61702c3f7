"""Jumps of the state at events, as part of the march: edges of an automaton, and resets that were traced.

At an event the program of the guard gives the state from which the motion continues, and the march goes on without a
return to Python. Each jump is written to a log: a run reads it to know its events, and where its segments begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.loop_methods import leaves_errors
from kinemorph.simulation.integrators.method import Site
from kinemorph.simulation.march.constraints import Constraints
from kinemorph.simulation.march.layout import LOG_LENGTH, QUIET, Guards, Status, log_width

BREACH = 1e-6  # relative to the size of a loop, or per second: a jump that breaks constraints by more is refused
SOON = 1e-6  # [s] within which a guard that rises from just below zero is above it
SMALL, NEAR = 1e-12, 1e-8  # values of guards that count as zero; values at an event whose time is known up to rounding


class Jumps:
    """Writes the code that carries out jumps. `at` are the arrays of the march's memory, `status` is its status."""

    def __init__(
        self, site: Site, at: Mapping[str, View], guards: Guards, status: View, constraints: Constraints, values: View
    ) -> None:
        """`values` (guards,) are the values of the guards at the event."""
        self.site, self.at, self.guards, self.status, self.constraints = site, at, guards, status, constraints
        self.loop, self.plant, self.values = site.loop, site.plant, values
        loop, plant = self.loop, self.plant
        self.taken = loop.buffer("taken")  # the index of the guard whose jump is carried out
        self.old, self.new = (loop.buffer(f"jump_{name}", (self.row_size,)) for name in ("old", "new"))
        self.lost, self.side = loop.buffer("jump_lost"), loop.buffer("jump_side")
        self.moved = loop.buffer("jump_moved")  # whether q or v may have changed
        self.counts = loop.buffer("jump_counts", (guards.count,))  # 1 for guards that count before the jump
        self.numbers = loop.constant("jump_numbers", [float(i) for i in range(guards.count)])
        self.impulses = loop.buffer("jump_impulses", (len(plant.constraint_names),))
        self.places = loop.constant("log_numbers", [float(k) for k in range(guards.log_length)])

    @property
    def row_size(self) -> int:
        """The length of a row [q, v, x, m]."""
        plant = self.plant
        return plant.nq + plant.nv + plant.nx + len(plant.m)

    def write(self) -> None:
        """Writes code for the event at the present state: the first guard that fired jumps, or the march stops.

        It stops where a guard has fired whose jump is not compiled; Python then handles all of them.
        """
        loop, jumps = self.loop, self.guards.jumps
        python = loop.buffer("by_python")
        loop.let(python, lambda: 0.0)
        for i, jump in enumerate(jumps):
            if jump is None:
                loop.let(python, lambda some, fired: some.maximum(fired), python, loop["fired"][i])
        with loop.if_(python):
            loop.let(self.status, lambda: float(Status.EVENT))
        with loop.otherwise():
            before = self._errors_before()
            self._jump()
            self._check(before)
            self._find_sides()
            self._log()

    def note(self, moment: View, s: View) -> None:
        """Writes code that logs the events of guards that fired at `moment` [s], at s = [w, v, x] about `base_old`."""
        loop, at, plant = self.loop, self.at, self.plant
        nq, nv, nx = plant.nq, plant.nv, plant.nx
        noted = loop.constant("jump_noted", [float(one) for one in self.guards.noted])
        loop.call(plant.place, [self.old.part(0, nq)], [at["base_old"], s])
        loop.copy(self.old.part(nq, nv + nx), s.part(nv, nv + nx))
        loop.copy(self.old.part(nq + nv + nx, len(plant.m)), at["m"])
        self._stay()
        here = loop.buffer("jump_noting")
        with loop.repeat(self.guards.count) as i:
            loop.let(here, lambda fired, one: fired * one, loop["fired"][i], noted[i])
            with loop.if_(here):
                loop.copy(self.taken, self.numbers[i])
                zero = (self.values[i], at["sides"][i])  # a guard that stays at zero has no side until it leaves it
                loop.let(at["sides"][i], lambda g, side: g.equals(0.0).where(0.0, -side), *zero)
                loop.copy(self.side, at["sides"][i])
                loop.let(at["events"], lambda n: n + 1.0, at["events"])
                self._write_row(moment)

    def _jump(self) -> None:
        """Writes code for the state after the jump of the first guard that fired."""
        loop, at, plant, site = self.loop, self.at, self.plant, self.site
        nq, nv, nx = plant.nq, plant.nv, plant.nx
        loop.copy(self.old.part(0, nq), at["base"])
        loop.copy(self.old.part(nq, nv + nx), at["s"].part(nv, nv + nx))
        loop.copy(self.old.part(nq + nv + nx, len(plant.m)), at["m_next"])
        parts = [self.new.part(0, nq), self.new.part(nq, nv), self.new.part(nq + nv, nx)]
        parts.append(self.new.part(nq + nv + nx, len(plant.m)))
        loop.let(self.taken, lambda: -1.0)
        if self.guards.awake is not None:
            loop.call(self.guards.awake, [self.counts], site.inputs(m=at["m_next"]))
        with loop.repeat(self.guards.count) as i:
            if self.guards.awake is None:
                loop.let(self.counts[i], lambda: 1.0)
            loop.let(
                self.taken,
                lambda taken, fired, k: ((taken < 0.0) * fired).where(k, taken),
                *(self.taken, loop["fired"][i], self.numbers[i]),
            )
        here, which = loop.buffer("jump_here"), loop.buffer("jump_which")
        loop.let(self.moved, lambda: 0.0)
        for jump in dict.fromkeys(jump for jump in self.guards.jumps if jump is not None):
            own = [float(i) for i, other in enumerate(self.guards.jumps) if other is jump]
            loop.let(here, lambda taken, own=own: _is_one_of(taken, own), self.taken)
            with loop.if_(here):
                loop.let(self.moved, lambda jump=jump: float(jump.moves))
                loop.let(which, lambda taken, first=self.guards.own: taken - first, self.taken)
                more = [which] if jump.shared else []
                if jump.program is None:
                    self._stay()
                else:
                    loop.call(jump.program, [*parts, self.lost, self.impulses], [*site.inputs(m=at["m_next"]), *more])
        self._stand()
        loop.copy(at["m_next"], parts[3])
        loop.let(at["events"], lambda n: n + 1.0, at["events"])

    def _stay(self) -> None:
        """Writes code for an event after which the state is the same."""
        loop = self.loop
        loop.copy(self.new, self.old)
        loop.let(self.lost, lambda: 0.0)
        if len(self.plant.constraint_names):
            with loop.repeat(len(self.plant.constraint_names)) as i:
                loop.let(self.impulses[i], lambda: 0.0)

    def _stand(self) -> None:
        """Writes code that makes the row `new` the present state."""
        loop, at, plant = self.loop, self.at, self.plant
        nq, nv, nx = plant.nq, plant.nv, plant.nx
        loop.copy(at["base"], self.new.part(0, nq))
        if nv:
            with loop.repeat(nv) as i:
                loop.let(at["s"][i], lambda: 0.0)
        loop.copy(at["s"].part(nv, nv + nx), self.new.part(nq, nv + nx))

    @property
    def _checks(self) -> bool:
        """Whether there are constraints that a jump may break."""
        some = any(jump is not None and jump.moves for jump in self.guards.jumps)
        return some and self.plant.constraints is not None

    def _errors_before(self) -> tuple[View, View] | None:
        """Writes code for the errors of the constraints before the jump; None where they are kept exactly."""
        return self._errors("before") if self._checks and leaves_errors(self.plant.loops) else None

    def _check(self, before: tuple[View, View] | None) -> None:
        """Writes code that brings the new state onto the constraints, or stops the march where the jump breaks them.

        A jump breaks them if their largest error, or their largest rate, is afterward greater than `before`.
        """
        if self._checks:
            with self.loop.if_(self.moved):
                self._check_constraints(before)

    def _errors(self, when: str) -> tuple[View, View]:
        """Writes code for the largest error and the largest rate of the constraints, relative to the sizes of rows."""
        loop, at, plant, site = self.loop, self.at, self.plant, self.site
        assert plant.constraints is not None
        nc, nh, nv = len(plant.constraint_names), plant.position_rows, plant.nv
        phi, rate = loop.scratch("jump_phi", (nh,)), loop.scratch("jump_rate", (nc,))
        J, sizes = loop.scratch("jump_rows", (nc, nv)), loop.scratch("jump_sizes", (nc,))
        loop.call(plant.constraints, [phi, rate, J, sizes], site.inputs(m=at["m_next"]))
        found = loop.buffer(f"jump_off_{when}"), loop.buffer(f"jump_moving_{when}")
        for worst, errors, count in zip(found, (phi, rate), (nh, nc), strict=True):
            loop.let(worst, lambda: 0.0)
            if count:
                with loop.repeat(count) as i:
                    loop.let(worst, lambda w, e, size: w.maximum(abs(e) / size), worst, errors[i], sizes[i])
        return found

    def _check_constraints(self, before: tuple[View, View] | None) -> None:
        loop, at = self.loop, self.at
        off, moving = self._errors("after")
        if before is not None:
            for worst, known in zip((off, moving), before, strict=True):
                loop.let(worst, lambda worst, known: worst - known, worst, known)
        worst = loop.buffer("jump_worst")
        loop.let(worst, lambda off, moving: off.maximum(moving), off, moving)
        loop.let(
            self.status,
            lambda status, worst: (worst > BREACH).where(float(Status.BREACH), status),
            *(self.status, worst),
        )
        if self.plant.holding is not None:
            kept = loop.buffer("jump_kept")
            loop.let(kept, lambda worst: worst <= BREACH, worst)
            with loop.if_(kept):
                self.constraints.correct(at["t"], at["base"], at["s"], at["m_next"])
                self._replace()

    def _replace(self) -> None:
        """Writes code that makes the corrected s = [w, v, x] the present state: its w becomes 0 again."""
        loop, at, plant = self.loop, self.at, self.plant
        nq, nv, nx = plant.nq, plant.nv, plant.nx
        loop.call(plant.place, [self.new.part(0, nq)], [at["base"], at["s"]])
        loop.copy(self.new.part(nq, nv + nx), at["s"].part(nv, nv + nx))
        self._stand()

    def _find_sides(self) -> None:
        """Writes code for the sides of all guards at the new state: signs of values, or of rates where they are zero.

        A guard that has fired at the same instant and has not been taken keeps its side, so that it fires next; one
        that did not count before the jump does so only if it goes on falling: a knee that was locked until now is at
        rest, and its guard is zero up to rounding. Where the state stays the same, the guard that was taken changes its
        side, even if its rate points back.
        """
        loop, at, guards, site = self.loop, self.at, self.guards, self.site
        n = guards.count
        values, rates = loop.buffer("jump_values", (n,)), loop.buffer("jump_slopes", (n,))
        ds, one = loop.buffer("jump_ds", (self.plant.ns,)), loop.constant("jump_one", [1.0])
        ins = site.inputs(m=at["m_next"])
        loop.call(self.plant.rate, [ds], ins)
        loop.call(forward(guards.program, ("t", "s"), values=True), [values, rates], [*ins, one[0], ds])
        numbers = self.numbers
        turns = loop.constant("jump_turns", [float(jump is not None and jump.make is None) for jump in guards.jumps])
        directions = loop.constant("jump_directions", [float(direction) for direction in guards.directions])
        due = loop.buffer("jump_due")
        with loop.repeat(n) as i:
            now = (values[i], rates[i], self.values[i])
            loop.let(
                due,
                _due,
                *(numbers[i], self.taken, *now[1:], at["sides"][i], loop["fired"][i], self.counts[i], directions[i]),
            )
            mine = (numbers[i], self.taken, turns[i], due)
            loop.let(at["floors"][i], _floor, *mine, *now[:2], directions[i])
            loop.let(at["sides"][i], _side, *mine, *now, at["sides"][i], at["floors"][i])
            loop.let(
                self.side,
                lambda k, taken, side, known: k.equals(taken).where(side, known),
                *(numbers[i], self.taken, at["sides"][i], self.side),
            )
            loop.let(loop["fired"][i], lambda: 0.0)

    def _log(self) -> None:
        """Writes code that adds the jump to the log; the march returns where the log is full or the run has to end."""
        loop, at, logged = self.loop, self.at, self.loop["logged"]
        self._write_row(at["t"])
        stops = loop.constant("jump_stops", [float(jump is not None and jump.stop) for jump in self.guards.jumps])
        numbers, stopping = self.numbers, loop.buffer("jump_stopping")
        loop.let(stopping, lambda: 0.0)
        with loop.repeat(self.guards.count) as i:
            loop.let(
                stopping,
                lambda some, k, taken, stop: some.maximum(k.equals(taken) * stop),
                *(stopping, numbers[i], self.taken, stops[i]),
            )
        loop.let(
            self.status,
            lambda status, stopping, n, most, logged: (status > 0.0).where(
                status,
                (stopping > 0.0).where(
                    float(Status.STOPPED),
                    (n >= most).where(float(Status.ENOUGH), (logged >= LOG_LENGTH).where(float(Status.LOGGED), 0.0)),
                ),
            ),
            *(self.status, stopping, at["events"], loop["limits"][5], logged),
        )

    def _write_row(self, moment: View) -> None:
        """Writes code that adds a row to the log, of an event at `moment` [s]."""
        loop, plant, length = self.loop, self.plant, self.guards.log_length
        log, logged, nc = loop["log"], loop["logged"], len(plant.constraint_names)
        assert log.shape == (length, log_width(plant))
        here = loop.scratch("log_here")
        with loop.repeat(length) as k:
            loop.let(here, lambda k, n: k.equals(n), self.places[k], logged)
            with loop.if_(here):
                row = log[k]
                for place, number in enumerate((moment, self.taken, self.side, self.lost)):
                    loop.copy(row[place], number)
                if nc:
                    loop.copy(row.part(4, nc), self.impulses)
                loop.copy(row.part(4 + nc, self.row_size), self.old)
                loop.copy(row.part(4 + nc + self.row_size, self.row_size), self.new)
        loop.let(logged, lambda n: n + 1.0, logged)


def _is_one_of(number: Any, known: Sequence[float]) -> Any:
    """1 where a whole number is one of those known, which ascend, else 0: by runs of neighbors."""
    found: Any = 0.0
    first = known[0]
    for k, one in enumerate(known):
        if k + 1 == len(known) or known[k + 1] > one + 1.0:
            found = found + (number >= first) * (number <= one)
            first = known[k + 1] if k + 1 < len(known) else one
    return found


def _due(number: Any, taken: Any, rate: Any, before: Any, side: Any, fired: Any, counts: Any, direction: Any) -> Any:
    """1 if a guard changes its sign at the instant of another guard's jump, in the direction that counts, else 0.

    `before` is its value before the jump, `rate` its rate after it; `counts` is 1 if the guard counted before the jump.
    """
    at_zero = abs(before) <= SMALL * (1.0 + abs(rate))
    about_to = at_zero * counts.maximum(rate * side < -QUIET)
    return (1.0 - number.equals(taken)) * (direction * side <= 0.0) * fired.maximum(about_to)


def _floor(number: Any, taken: Any, turns: Any, due: Any, value: Any, rate: Any, direction: Any) -> Any:
    """The floor of a guard after a jump: just below its value where it rises from just below zero, else 0.

    Only guards that count where they fall have a floor: nothing happens where these rise.
    """
    rises = (value <= 0.0) * (-value <= NEAR * (1.0 + abs(rate))) * (-value < SOON * rate) * (direction < 0.0)
    return (rises * (1.0 - number.equals(taken) * turns) * (1.0 - due)).where(1.001 * value - 1e-300, 0.0)


def _side(
    number: Any, taken: Any, turns: Any, due: Any, value: Any, rate: Any, before: Any, side: Any, floor: Any
) -> Any:
    """The side of a guard after a jump: +1 or -1; 0 where its value is zero and stays zero.

    `turns` is 1 if the state stays the same at events of this guard: it is then on the other side after them. `floor`
    is below 0 if the guard rises from just below zero.
    """
    mine = number.equals(taken)
    slope = 1.0 + abs(rate)
    near = abs(before) <= NEAR * slope
    zero = (mine * near).where(abs(before), 0.0).maximum(SMALL * slope)
    at_zero = due.where(side, (rate > 0.0).where(1.0, (rate < 0.0).where(-1.0, 0.0)))
    found = (abs(value) <= zero).where(at_zero, (value > 0.0).where(1.0, -1.0))
    return (mine * turns).where(-side, (floor < 0.0).where(1.0, found))
