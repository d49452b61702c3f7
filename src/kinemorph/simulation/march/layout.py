"""The array that a march keeps between two calls of machine code, the guards that it watches, and why it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import View
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.method import Method, Shape

LOG_LENGTH = 16  # jumps of one call
PIECES = 4  # pieces of a step; guards are evaluated at their ends
QUIET = 1e-10  # per second: a guard at zero that changes more slowly rests there, up to rounding
HUGE = 1e300  # a number that is not below it counts as infinite; in float32 this bound is infinity itself


class Status(IntEnum):
    """Why a march has returned."""

    GOING = 0  # all samples are done, nothing is wrong
    EVENT = 1  # a guard has changed its sign
    STUCK = 2  # steps have become too small to advance the time
    INFINITE = 3  # a state is not finite
    UNSOLVED = 4  # the method's own equations were not solved, at the smallest step
    BUDGET = 5  # the number of steps allowed in one call was tried
    TICK = 6  # a Python function has to sample now, or a sampled value is not finite
    LOST = 7  # velocities that were named as independent do not determine the others
    INTERRUPTED = 8  # a batch was interrupted by the user; no march returns this, nor the next one
    GIVEN_UP = 9  # a state of a batch diverges, would take too many steps, or has elements that switch without end
    BREACH = 10  # a jump led to a state that breaks constraints
    LOGGED = 11  # the log of jumps is full
    ENOUGH = 12  # as many jumps have happened as were asked for
    STOPPED = 13  # a jump ended the run
    REST = 14  # a state of a batch came to rest; no march returns this
    CUT = 15  # the next step would be cut short by the end of the run, and Python keeps the memory before it


class Layout:
    """The place of each array in the memory of a march, which is one flat array."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.shapes = dict(shapes)
        self.starts: dict[str, int] = {}
        self._parts: dict[str, slice] = {}
        self.size = 0
        for name, shape in self.shapes.items():
            self.starts[name] = self.size
            self.size += math.prod(shape)
            self._parts[name] = slice(self.starts[name], self.size)

    def view(self, memory: View, name: str) -> View:
        """A view of the named array in the memory of a loop program."""
        shape = self.shapes[name]
        flat = memory.part(self.starts[name], math.prod(shape))
        return View(flat.array, shape, flat.offset)

    def array(self, memory: Array, name: str) -> Array:
        """A writable view of the named array in `memory`, a NumPy array of shape (..., size)."""
        flat = memory[..., self._parts[name]]
        shape = self.shapes[name]
        return flat if len(shape) == 1 else flat.reshape((*memory.shape[:-1], *shape))


class Parts(Mapping[str, Array]):
    """The arrays in the memory of a march by name, each made when it is asked for."""

    def __init__(self, layout: Layout, memory: Array) -> None:
        self._layout, self._memory = layout, memory

    def __getitem__(self, name: str) -> Array:
        return self._layout.array(self._memory, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.shapes)

    def __len__(self) -> int:
        return len(self._layout.shapes)


@dataclass(frozen=True, eq=False)
class Jump:
    """How the state jumps at an event of a guard; `make` traces the program of `Plant.switching`, at its first use.

    Several guards may share a jump. Its program then has one more input, the index of the guard. Without `make`, the
    state stays the same: the event is only recorded, or ends the run.
    """

    make: Callable[[], Program] | None
    stop: bool = False  # whether the run ends there
    moves: bool = True  # whether q and v may change, so that constraints are checked afterwards
    shared: bool = False  # whether the program takes the index of the guard, in the plant's guards

    @cached_property
    def program(self) -> Program | None:
        """The program (t, base, s, m, u, p) -> (q, v, x, m, lost, impulses); None where the state stays the same."""
        return None if self.make is None else self.make()


@dataclass(frozen=True, eq=False)
class Guards:
    """Functions whose change of sign is an event, and the direction in which each of them counts.

    `make` traces the program (t, base, s, m, u, p) -> values, at its first use, and `make_awake` the program that says
    which of them count in the present phase, or returns None where all do.
    """

    make: Callable[[], Program]
    directions: tuple[int, ...]  # +1 rising, -1 falling, 0 both
    of_elements: bool = False  # whether all of them are guards of the plant's elements
    own: int = 0  # the index of the plant's first guard among them, whether or not it is watched
    located: bool = False  # whether elements change their memory at events of their guards, and not after steps
    jumps: tuple[Jump | None, ...] = ()  # of each guard, or empty; None where Python has to act at the event
    silent: tuple[bool, ...] = ()  # of each guard, or empty: whether nothing happens where it alone changes its sign
    make_awake: Callable[[], Program | None] = lambda: None

    @cached_property
    def program(self) -> Program:
        """The program (t, base, s, m, u, p) -> values of the guards, shape (count,); `LocalInstant` explains the
        letters.
        """
        return self.make()

    @cached_property
    def awake(self) -> Program | None:
        """The program (t, base, s, m, u, p) -> 1 for each guard that counts in the present phase, else 0."""
        return self.make_awake()

    @property
    def noted(self) -> tuple[bool, ...]:
        """Of each guard, or empty: whether its events are only recorded, so that steps go on as without it."""
        return tuple(jump is not None and jump.make is None and not jump.stop for jump in self.jumps)

    @property
    def log_length(self) -> int:
        """The rows of the log of one call: events that are only recorded do not end the step that they happen in."""
        return LOG_LENGTH + (PIECES + 1) * sum(self.noted)

    @property
    def compiled(self) -> bool:
        """Whether the march itself lets the state jump at some events, so that it need not return to Python there."""
        return any(jump is not None for jump in self.jumps)

    @property
    def count(self) -> int:
        """The number of guards."""
        return len(self.directions)


class ById(NamedTuple):
    """An object as part of a key, compared by identity and not by value; the key keeps the object alive."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def layout(plant: Plant, method: Method, guards: Guards | None = None) -> Layout:
    """The layout of the memory that a march needs for this plant, method and guards; it is kept with the plant."""
    count = guards.count if guards else 0
    kept: dict[Any, Layout] = plant.kept.setdefault("layouts", {})
    key = ById(method), count
    if key not in kept:
        kept[key] = _layout(plant, method, count)
    return kept[key]


def _layout(plant: Plant, method: Method, guards: int) -> Layout:
    ns, nq = plant.ns, plant.nq
    return Layout(
        {
            "t": (),
            "t_low": (),  # what t has lost to rounding
            "h": (),
            "base": (nq,),
            "s": (ns,),
            "fresh": (),
            "t_old": (),
            "h_old": (),
            "base_old": (nq,),
            "s_old": (ns,),
            "new": (ns,),
            "dense": (method.degree, ns),
            "prepared": (),
            "again": (),  # whether the last try was rejected
            "error_old": (),  # of the last step that was accepted
            "sides": (guards,),  # the sign of each guard where it last had one
            "floors": (guards,),  # below which a guard that rose from just below zero has fallen
            "m": (len(plant.m),),  # memory during the last step
            "m_next": (len(plant.m),),  # and from now on
            "clock": (len(plant.ticks),),  # number of the next tick of each clock
            "events": (),  # the number of jumps so far
            "accepted": (),
            "rejected": (),
            "ending": (),  # above 0 where the march returns before a step that the time `stop` would cut short
            **{f"own_{name}": shape for name, shape in method.memory(plant).items()},
        }
    )


def log_width(plant: Plant) -> int:
    """The length of a row in the log of jumps.

    It holds the time, the index of the guard, its side after the jump (0 where it stays at zero), the energy lost, the
    impulses of all constraints, and the rows [q, v, x, m] before and after.
    """
    return 4 + len(plant.constraint_names) + 2 * (plant.nq + plant.nv + plant.nx + len(plant.m))
