"""Events: guards whose change of sign interrupts a run, what happens then, and how endless series of them end.

A guard is a law of one number. Where it changes sign the march stops, on the dense output of the step and to the last
digits of t; then the run continues from the state that `reset` gives, or ends. A ball that bounces ever faster has
infinitely many events in finite time (Zeno): `Pace` sees the times between events of one guard shrink and says when
the motion has come to rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.derivatives.differentiate import forward
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import ModelError, ShapeError
from kinemorph.plants.programs import Plant
from kinemorph.plants.user_laws import Law, of_groups
from kinemorph.simulation.march.layout import Guards

RESOLUTION = 1e-12  # [s] nearer events count as one: the first has not led away from the guard
MOST_QUICK = 20  # events in a row that come too soon: as many count as rest, ever faster or not
MOST_WATCHES = 4  # watches of one plant that are kept
FEW = 20  # calls for which a program is not worth compiling
FAR = 1e-3  # the magnitude above which a guard cannot be at zero, however fast it changes
DIRECTIONS = {"both": 0, "rising": 1, "falling": -1}


@dataclass(frozen=True)
class Guard:
    """A function of the state whose change of sign is an event.

    `law`           gives one number; its arguments are named after what they read, as `lambda q: q[2] - 0.1`
    `direction`     "falling" (from positive to negative), "rising" or "both"
    `reset`         gives the state after the event, a dict of the groups that change: {"v": [...]}; the state is
                    passed as floats, by the same names
    `stop`          ends the run there
    `shortest`      time between resets [s] below which ones that come ever faster count as rest

    It is evaluated four times in every step. A sign that changes back in between is not seen: bound the steps by
    `max_step` where a guard is faster than the motion.
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
    """The times between the events of one guard; says when they have run together."""

    shortest: float  # [s]
    times: list[float] = field(default_factory=list)
    quick: int = 0  # events in a row that came sooner than that

    @property
    def last(self) -> float:
        """The time between the last two events [s]."""
        return self.times[-1] - self.times[-2]

    def at_rest(self, t: float) -> float | None:
        """Notes an event; the time at which the series ends, where it does, else None."""
        self.times = [*self.times[-2:], t]
        if len(self.times) > 1 and self.last < RESOLUTION:
            return t
        if len(self.times) < 3:
            return None
        before, last = np.diff(self.times)
        self.quick = self.quick + 1 if last < self.shortest else 0
        if not self.quick or (last > before and self.quick < MOST_QUICK):
            return None
        ratio = last / before if before > 0.0 else 0.0
        return float(t + (last * ratio / (1.0 - ratio) if ratio < 1.0 else 0.0))


class Seldom:
    """A program that is called at events only: interpreted the first few times, compiled where there are many.

    To compile takes a hundred times as long as to interpret once; a run that stops at its first event never would.
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
    """The guards of a run, compiled: their values, and on which side of zero each one stands."""

    def __init__(self, plant: Plant, guards: Sequence[Guard], *, located: bool = False) -> None:
        for guard in guards:
            if not isinstance(guard, Guard):
                raise ModelError(
                    f"events: {guard!r} is given; expected a Guard, as Guard('ground', lambda "
                    "q: q[0]), a Dock or an Undock."
                )
        names = [guard.name for guard in guards]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"guard '{name}' is given {names.count(name)} times. Give each a name of its own.")
        self.plant, self.guards = plant, tuple(guards)
        self.switches = plant.guards if located else ()  # names of guards of elements, after those of the user

    @cached_property
    def marched(self) -> Guards:
        """The guards as the march takes them."""
        directions = [DIRECTIONS[guard.direction] for guard in self.guards]
        return Guards(self._traced, (*directions, *(-1 for _ in self.switches)), of_elements=not self.guards)

    def _traced(self) -> Program:
        laws = {guard.name: guard.law for guard in self.guards}
        return self.plant.observed(laws, "guards", switches=bool(self.switches))

    @property
    def program(self) -> Program:
        """The values of all guards, those of elements last, from the inputs of `rate`."""
        return self.marched.program

    @cached_property
    def _values(self) -> Seldom:
        return Seldom(self.program)

    @cached_property
    def _along(self) -> Seldom:
        """(values, their rates) from the inputs of `rate`, and d_t, d_s."""
        return Seldom(forward(self.program, ("t", "s"), values=True))

    @cached_property
    def _rate(self) -> Seldom:
        return Seldom(self.plant.rate)

    def sides(self, *state: Any, zero: Array | float = 0.0, due: Array | float = 0.0) -> Array:
        """The side of zero on which each guard is, +1 or -1: the sign of its value, or of its rate where that is zero.

        `state` are the inputs of `rate`. Values up to `zero`, shape (guards,), count as zero: see `zero_at`. `due`,
        shape (guards,), holds the sides of guards whose change of sign was not found yet, and 0 for the others: such a
        guard stays on that side while it is zero. See the method `due`.
        """
        far: Array = self._values(*state)
        if np.all(np.abs(far) > np.maximum(FAR, zero)):  # none is at zero: no need to know where they go
            return np.sign(far)
        values, rates = self._along(*state, 1.0, self._rate(*state))
        small = np.abs(values) <= np.maximum(1e-12 * (1.0 + np.abs(rates)), zero)
        sides: Array = np.where(small & (np.asarray(due) != 0.0), due, np.sign(np.where(small, rates, values)))
        return sides

    def due(self, fired: Sequence[int], sides: Array, *state: Any) -> Array:
        """The sides, before an event, of guards that are zero at it without being its cause, shape (guards,); else 0.

        The times at which feet land together differ by rounding: where one is found, the others are yet to change their
        sign.
        """
        values, rates = self._along(*state, 1.0, self._rate(*state))
        small = np.abs(values) <= 1e-12 * (1.0 + np.abs(rates))
        found: Array = np.where(small & ~np.isin(np.arange(len(values)), fired), sides, 0.0)
        return found

    def is_met(self, guard: int, *state: Any) -> bool:
        """Whether a guard of an element is still zero or negative, after other events at the same instant.

        One of them may have changed that: a foot that has left the ground does not begin to slide.
        """
        values, rates = self._along(*state, 1.0, self._rate(*state))
        return bool(values[guard] <= 1e-8 * (1.0 + abs(rates[guard])))

    def zero_at(self, fired: Sequence[int], *state: Any) -> Array:
        """How far from zero the guards of an event were when it was found, shape (guards,); 0 for the others.

        An event is as late as numbers resolve t and the guard. The run continues from there, and a guard that is no
        farther from zero afterwards counts as zero. A guard that jumps over zero has no such distance.
        """
        values, rates = self._along(*state, 1.0, self._rate(*state))
        near = np.abs(values) <= 1e-8 * (1.0 + np.abs(rates))
        found: Array = np.where(near & np.isin(np.arange(len(values)), fired), np.abs(values), 0.0)
        return found

    def switched(self, switch: int, *state: Any) -> tuple[Array, Array]:
        """(m, x) after a guard of an element has fallen through zero; `state` are the inputs of `rate`."""
        m, x = self.plant.compiled("switching", switch)(*state)
        return m, x

    def after(self, guard: Guard, state: Mapping[str, Any]) -> dict[str, Array]:
        """The groups of the state that a guard's reset changes, with their new values."""
        assert guard.reset is not None
        changed = of_groups(guard.reset, state, f"'{guard.name}', reset")
        if not isinstance(changed, Mapping) or not set(changed) <= {"q", "v", "x", "m"}:
            raise ShapeError(
                f"{changed!r} is given; expected a dict of new values for q, v, x or m, as {{'v': [0.0, 1.0]}}."
            )
        return {group: self.plant.initial(group, values) for group, values in changed.items()}


def watch_of(plant: Plant, guards: Sequence[Guard], *, located: bool = False) -> Watch:
    """The watch over guards of a plant; the last few are kept, so that the same guards get the same watch."""
    known: dict[Any, Watch] = plant.kept.setdefault("watches", {})
    key = (tuple(guards), located)
    try:
        found = known.pop(key, None) or Watch(plant, guards, located=located)
    except TypeError:  # something that is no guard, or cannot be compared
        return Watch(plant, guards, located=located)
    known[key] = found
    while len(known) > MOST_WATCHES:
        del known[next(iter(known))]
    return found
