"""Events: guards whose change of sign interrupts a run, their resets, and the end of an infinite series of events.

A guard is a law that returns one number. The march stops at the time at which this number changes sign, found on the
step's dense output to the last digits of t; then the run continues from the state that `reset` gives, or ends. A ball
that bounces ever faster has infinitely many events in finite time (Zeno): `Pace` finds that the times between events of
one guard shrink, and computes when the motion comes to rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import ModelError, ShapeError, TracingError, UnsupportedError, told
from kinemorph.mechanics.elements.contact.rigid_contacts import GUARDS as CONTACT_GUARDS
from kinemorph.mechanics.elements.contact.rigid_contacts import SILENT
from kinemorph.model.elements.phases.automaton import Edge
from kinemorph.plants.jumps.guard_programs import awake, resetting
from kinemorph.plants.jumps.pure_functions import is_pure
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law, of_groups
from kinemorph.simulation.march.layout import QUIET, Guards, Jump

RESOLUTION = 1e-12  # [s] events of a guard that are closer count as one: the state has not left the guard's zero
SHORTEST = 1e-5  # [s] edges that follow themselves sooner, and ever faster, count as rest
MOST_QUICK = 20  # events in a row that follow too soon: so many count as rest, even if they do not come ever faster
MOST_WATCHES = 4  # watches that one plant caches
FEW = 20  # calls for which compiling a program does not pay
FAR = 1e-3  # the magnitude above which a guard cannot be at zero, however fast it changes
FALLEN = 1e-9  # a guard that is this far below zero has fallen before the run began; nearer ones are at zero
AHEAD, FALLING = 1e-4, 1e-10  # [s] after the start at which guards are read again; by how much one falls until then
DIRECTIONS = {"both": 0, "rising": 1, "falling": -1}


@dataclass(frozen=True)
class Guard:
    """A function of the state whose change of sign is an event.

    `law`           returns one number; its arguments are named after the values that they read: t, q, v, x, m, u or p,
                    as `lambda q: q[2] - 0.1`
    `direction`     the change of sign that counts: "falling" (from positive to negative), "rising" or "both"
    `reset`         returns the state after the event as a dict of the groups that change, {"v": [...]}; its arguments
                    are named like those of `law`. A function that only computes with its arguments and with constants
                    is compiled; any other function is called in Python at every event, with floats
    `stop`          whether the event ends the run
    `shortest`      the time between resets [s] below which resets that come ever faster count as rest

    A guard is evaluated four times in every step. A sign that changes back in between is missed: bound the steps by
    `max_step` where a guard changes faster than the motion.
    """

    name: str
    law: Law
    direction: str = "both"
    reset: Law | None = None
    stop: bool = False
    shortest: float = 1e-6

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            listed = ", ".join(f"'{name}'" for name in DIRECTIONS)
            raise ModelError(f"guard '{self.name}': direction '{self.direction}' is unknown. Choose one of {listed}.")


@dataclass
class Pace:
    """The times of the last events of one guard, from which `at_rest` finds whether they come ever faster."""

    shortest: float  # [s]
    times: list[float] = field(default_factory=list)
    least: int = 1  # so many quick events in a row count as rest
    quick: int = 0  # the number of events in a row that followed each other sooner than `shortest`

    @property
    def last(self) -> float:
        """The time between the last two events [s]."""
        return self.times[-1] - self.times[-2]

    def at_rest(self, t: float) -> float | None:
        """Records an event at t [s]; returns the time [s] at which the events accumulate, or None if they do not."""
        self.times = [*self.times[-2:], t]
        if self.least == 1 and len(self.times) > 1 and self.last < RESOLUTION:
            return t
        if len(self.times) < 3:
            return None
        before, last = np.diff(self.times)
        self.quick = self.quick + 1 if last < self.shortest else 0
        if self.quick < self.least or (last > before and self.quick < MOST_QUICK):
            return None
        ratio = last / before if before > 0.0 else 0.0
        return float(t + (last * ratio / (1.0 - ratio) if ratio < 1.0 else 0.0))


class Paced(NamedTuple):
    """A guard whose events may come ever faster, which counts as rest; see `Pace` and `Guard`."""

    name: str
    shortest: float  # [s]
    least: int
    stays: bool  # whether the run is at rest, too, where the guard stays at zero after its event

    def pace(self, times: Sequence[float] = ()) -> Pace:
        """The pace of its events, of which those at the `times` [s] have happened."""
        return Pace(self.shortest, list(times), self.least)


class Switched(NamedTuple):
    """The state after a jump: q (nq,), v (nv,), x (nx,), m (nm,), the energy lost [J], impulses (nc,)."""

    q: Array
    v: Array
    x: Array
    m: Array
    lost: float
    impulses: Array


class Seldom:
    """A program that is called at events only: it is interpreted for the first few calls, and compiled after them.

    Compiling takes a hundred times as long as interpreting once, and a run that stops at its first event needs few
    calls.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.calls = program, 0

    @cached_property
    def _slow(self) -> CompiledFunction:
        return build(self.program, "interpreter")

    @cached_property
    def _fast(self) -> CompiledFunction:
        return build(self.program)

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        return (self._slow if self.calls <= FEW else self._fast)(*inputs)


class Watch:
    """The guards of a run and their programs: their values, and the sign of each.

    With `located`, the guards of the plant's elements are included, after those of the user. With `compiled`, all
    events are part of the march; else Python acts at events that end the run, or whose reset is not compiled.
    """

    def __init__(self, plant: Plant, guards: Sequence[Guard], *, located: bool = False, compiled: bool = False) -> None:
        for guard in guards:
            if not isinstance(guard, Guard):
                raise ModelError(
                    f"events: {guard!r} is given; expected a Guard, such as Guard('ground', "
                    "lambda q: q[0]), a Dock or an Undock."
                )
        names = [guard.name for guard in guards]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"guard '{name}' is given {names.count(name)} times. Give each guard its own name.")
        self.plant, self.guards, self.located, self.compiled = plant, tuple(guards), located, compiled
        edges = plant.automaton.edges if plant.automaton else ()
        self.first_edge = len(plant.guards) - len(edges)  # guards of edges come last
        # indices of the guards of elements, after those of the user; edges are located by every method
        self.switches = tuple(range(0 if located else self.first_edge, len(plant.guards)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all guards: the user's, then those of elements."""
        return (*(guard.name for guard in self.guards), *(self.plant.guards[switch] for switch in self.switches))

    @cached_property
    def marched(self) -> Guards:
        """The guards in the form that the march expects."""
        directions = [DIRECTIONS[guard.direction] for guard in self.guards]
        return Guards(
            self._traced,
            (*directions, *(-1 for _ in self.switches)),
            of_elements=not self.guards,
            own=len(self.guards) - (self.switches[0] if self.switches else 0),
            located=self.located,
            jumps=(*map(self._own_jump, self.guards), *map(self._jump, self.switches)),
            silent=(*(False for _ in self.guards), *map(self._is_silent, self.switches)),
            make_awake=lambda: awake(self.plant, len(self.guards), self.switches),
        )

    def _traced(self) -> Program:
        laws = {guard.name: guard.law for guard in self.guards}
        return self.plant.observed(laws, "guards", switches=self.switches)

    def _own_jump(self, guard: Guard) -> Jump | None:
        """The jump of a guard of the user whose reset can be compiled; None where Python has to act at the event."""
        if guard.reset is None:
            return Jump(None, guard.stop, moves=False) if self.compiled or not guard.stop else None
        try:
            if not is_pure(guard.reset):
                raise TracingError(
                    "it has to compute the new state from its arguments and from numbers alone, by arithmetic and by "
                    "functions of kinemorph.notation"
                )
            program = resetting(self.plant, guard.reset, guard.name)
        except Exception as error:  # it branches on numbers, or uses NumPy in ways that cannot be traced
            if not self.compiled:  # Python calls it
                return None
            if isinstance(error, (ModelError, ShapeError)):
                raise
            reason = str(error).rstrip(".") if isinstance(error, TracingError) else f"it raises {told(error)}"
            raise UnsupportedError(
                f"guard '{guard.name}': its reset cannot be compiled, which batches and programs need: {reason}. "
                "Rewrite it, or use simulate for each state, which calls resets in Python."
            ) from error
        return Jump(lambda: program, guard.stop)

    def _jump(self, switch: int) -> Jump:
        """The jump at an edge, of rigid contacts, or of other elements: guards of these share the jump."""
        edge = self.edge(switch)
        if edge is not None:
            return Jump(partial(self.plant.switching, switch), edge.stop)
        return self._contacts if switch in self.plant.contact_guards else self._switch

    @cached_property
    def _switch(self) -> Jump:
        return Jump(partial(self.plant.switching_of, self.first_edge), moves=False, shared=True)

    @cached_property
    def _contacts(self) -> Jump:
        """The jump that all guards of rigid contacts share."""
        return Jump(lambda: self.plant.switching_contacts, shared=True)

    def _is_silent(self, switch: int) -> bool:
        contacts = self.plant.contact_guards
        return switch in contacts and CONTACT_GUARDS[contacts.index(switch) % len(CONTACT_GUARDS)] == SILENT

    def moves(self, switch: int) -> bool:
        """Whether the guard with this index in the plant's guards may change q and v: an edge, a rigid contact."""
        return self.edge(switch) is not None or switch in self.plant.contact_guards

    @cached_property
    def paced(self) -> dict[int, Paced]:
        """The guards whose events may come ever faster, by index: those of the user with a reset, and those of edges.

        Two edges of one name may happen at the same instant, so a single quick one does not count.
        """
        own = {
            k: Paced(guard.name, guard.shortest, 1, not guard.stop)
            for k, guard in enumerate(self.guards)
            if guard.reset is not None
        }
        for k, switch in enumerate(self.switches, start=len(self.guards)):
            edge = self.edge(switch)
            if edge is not None:
                stays = bool(edge.reset) and edge.source == edge.target and not edge.stop
                own[k] = Paced(edge.name, SHORTEST, 2, stays)
        return own

    def edge(self, switch: int) -> Edge | None:
        """The edge of the automaton whose guard has this index in the plant's guards; None for other guards."""
        if self.plant.automaton is None or switch < self.first_edge:
            return None
        return self.plant.automaton.edges[switch - self.first_edge]

    @property
    def program(self) -> Program:
        """The program (t, base, s, m, u, p) -> values of all guards: the user's, then those of elements.

        `LocalInstant` explains the letters.
        """
        return self.marched.program

    @cached_property
    def _values(self) -> Seldom:
        return Seldom(self.program)

    @cached_property
    def _along(self) -> Seldom:
        """The program of the values and rates of all guards.

        Its inputs are (t, base, s, m, u, p) as for `Plant.rate`, see `LocalInstant`, then the rates d_t and d_s of t
        and s.
        """
        return Seldom(forward(self.program, ("t", "s"), values=True))

    @cached_property
    def _awake(self) -> Seldom | None:
        return None if self.marched.awake is None else Seldom(self.marched.awake)

    @cached_property
    def _rate(self) -> Seldom:
        return Seldom(self.plant.rate)

    def sides(self, *state: Any, zero: Array | float = 0.0, due: Array | float = 0.0) -> Array:
        """The side of zero on which each guard is, +1 or -1: the sign of its value, or of its rate at value zero.

        `state` is (t, base, s, m, u, p), see `LocalInstant`. Values up to `zero`, shape (guards,), count as zero: see
        `zero_at`. `due`, shape (guards,), holds the sides of guards whose change of sign was not found yet, and 0 for
        the others: such a guard stays on that side while it is zero; a guard that did not count has half of its side,
        and stays only if it goes on falling or rising toward zero. See the method `due`.
        """
        far: Array = self._values(*state)
        if np.all(np.abs(far) > np.maximum(FAR, zero)):  # none is at zero: their rates do not matter
            return np.sign(far)
        values, rates = self._along(*state, 1.0, self._rate(*state))
        small = np.abs(values) <= np.maximum(1e-12 * (1.0 + np.abs(rates)), zero)
        stays = (np.abs(due) > 0.75) | ((np.abs(due) > 0.25) & (rates * due < -0.5 * QUIET))
        sides: Array = np.sign(np.where(small & stays, due, np.where(small, rates, values)))
        return sides

    def due(self, fired: Sequence[int], sides: Array, *state: Any) -> Array:
        """The sides before an event of guards that are zero at the event and did not cause it, shape (guards,).

        It is 0 for the other guards; `fired` are the indices of the guards that caused the event. The times at which
        several feet land together differ by rounding: where one is found, the others are yet to change their sign.
        Guards that do not count in the present phase have half of their sides.
        """
        if np.all(np.abs(self._values(*state)) > FAR):  # none is at zero: their rates do not matter
            return np.zeros(len(sides))
        values, rates = self._along(*state, 1.0, self._rate(*state))
        small = np.abs(values) <= 1e-12 * (1.0 + np.abs(rates))
        counts = 1.0 if self._awake is None else np.where(self._awake(*state) > 0.0, 1.0, 0.5)
        small &= np.array(self.marched.directions) * sides <= 0.0
        found: Array = np.where(small & ~np.isin(np.arange(len(values)), fired), counts * sides, 0.0)
        return found

    def is_met(self, guard: int, *state: Any) -> bool:
        """Whether a guard of an element is still zero or negative, after other events at the same instant.

        Another event may have changed its value: a foot that has left the ground does not begin to slide. An edge
        counts only in the phase that it leaves.
        """
        values, rates = self._along(*state, 1.0, self._rate(*state))
        counts = self._awake is None or self._awake(*state)[guard] > 0.0
        return bool(counts and values[guard] <= 1e-8 * (1.0 + abs(rates[guard])))

    def fallen(self, *state: Any) -> list[tuple[Edge, float]]:
        """The edges that leave the present phase, with condition met, whose guards are below zero, and their values.

        A guard that is zero and about to fall counts too: it cannot fall through zero any more.
        """
        values, soon = self._values(*state), self._values(*self._ahead(*state))
        counts = np.ones(len(values)) if self._awake is None else self._awake(*state)
        below = (values < -FALLEN) | ((np.abs(values) <= FALLEN) & (soon - values < -FALLING))
        return [(edge, float(values[k])) for edge, k in self.edges if edge is not None and counts[k] > 0.0 and below[k]]

    @property
    def edges(self) -> list[tuple[Edge | None, int]]:
        """(the edge of a switch or None, the index of its guard) of all switches."""
        first = len(self.guards)
        return [(self.edge(switch), first + k) for k, switch in enumerate(self.switches)]

    def _ahead(self, *state: Any) -> tuple[Any, ...]:
        """The state a moment later, to the second order in time for coordinates."""
        t, base, s, *others = state
        nv, rate = self.plant.nv, self._rate(*state)
        moved = np.asarray(s, dtype=float) + AHEAD * rate
        moved[:nv] += 0.5 * AHEAD**2 * rate[nv : 2 * nv]
        return (t + AHEAD, base, moved, *others)

    def values(self, *state: Any) -> Array:
        """The values of all guards at a state (t, base, s, m, u, p), shape (guards,)."""
        found: Array = self._values(*state)
        return found

    def zero_at(self, fired: Sequence[int], *state: Any) -> Array:
        """How far from zero the guards of an event were when it was found, shape (guards,); 0 for the others.

        The time of an event is found up to rounding of t and of the guard. The run continues from there, and a guard
        that is no farther from zero afterwards counts as zero. For a guard that jumps over zero the distance is 0.
        """
        values, rates = self._along(*state, 1.0, self._rate(*state))
        near = np.abs(values) <= 1e-8 * (1.0 + np.abs(rates))
        found: Array = np.where(near & np.isin(np.arange(len(values)), fired), np.abs(values), 0.0)
        return found

    def switched(self, switch: int, *state: Any) -> Switched:
        """The state after a guard of an element, or of an edge, has fallen through zero.

        `switch` is the index of that guard in the plant's guards, `state` is (t, base, s, m, u, p).
        """
        q, v, x, m, lost, impulses = self.plant.compiled("switching", switch)(*state)
        return Switched(q, v, x, m, float(lost), impulses)

    def after(self, guard: Guard, state: Mapping[str, Any]) -> dict[str, Array]:
        """The groups of the state that a guard's reset changes, with their new values."""
        assert guard.reset is not None
        changed = of_groups(guard.reset, state, f"'{guard.name}', reset")
        if not isinstance(changed, Mapping) or not set(changed) <= {"q", "v", "x", "m"}:
            raise ShapeError(
                f"the value is {changed!r}; expected a dict of new values for q, v, x or m, as {{'v': [0.0, 1.0]}}."
            )
        return {group: self.plant.initial(group, values) for group, values in changed.items()}


def watch_of(plant: Plant, guards: Sequence[Guard], *, located: bool = False, compiled: bool = False) -> Watch:
    """The Watch of these guards; the plant caches the last few, so that equal guards get the same Watch."""
    known: dict[Any, Watch] = plant.kept.setdefault("watches", {})
    compiled = compiled and bool(guards)
    key = (tuple(guards), located, compiled)
    try:
        found = known.pop(key, None) or Watch(plant, guards, located=located, compiled=compiled)
    except TypeError:  # an object that is not a guard, or a guard that cannot be hashed
        return Watch(plant, guards, located=located, compiled=compiled)
    known[key] = found
    while len(known) > MOST_WATCHES:
        del known[next(iter(known))]
    return found
