"""Loop programs: Programs run in loops, with nothing but numbers in arrays between them.

A loop program has named, shaped inputs and outputs like a Program, and so can be built by any backend and called by
another loop program. Inside are arrays (inputs, outputs, constants, local buffers) and four statements:

    Call    runs a Program or a loop program on views of arrays
    For     counts; its bounds are affine in the counters around it, or one is a number in an array
    While   repeats as long as a number is positive, looked at before each pass
    If      runs one body where a number is positive, else another

A condition is true where its number is greater than zero, so a NaN ends a loop. Every state has its own conditions: in
a batch, states that are done keep their values while others continue. Inputs and constants are only read; outputs start
undefined; local buffers start at zero. The inputs of a call may overlap its outputs: it reads before it writes.

`codegen.loops.loop_builder.LoopBuilder` writes them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TypeAlias

from kinemorph.codegen.graphs.keys import hashed
from kinemorph.codegen.graphs.program import Port, Program, as_program, as_programs
from kinemorph.codegen.graphs.tracing import Shape
from kinemorph.errors import CompileError
from kinemorph.frozen import dataclass

# ── places ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Affine:
    """A whole number  constant + sum of coefficient * counter."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()  # (counter, coefficient), by name, no zeros

    def __add__(self, other: Affine | int) -> Affine:
        other = affine(other)
        sums = dict(self.terms)
        for name, coefficient in other.terms:
            sums[name] = sums.get(name, 0) + coefficient
        return Affine(self.constant + other.constant, tuple(sorted((n, c) for n, c in sums.items() if c)))

    __radd__ = __add__

    def __mul__(self, factor: int) -> Affine:
        return Affine(self.constant * factor, tuple((name, c * factor) for name, c in self.terms if factor))

    __rmul__ = __mul__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + affine(other) * -1

    def __rsub__(self, other: int) -> Affine:
        return affine(other) - self

    def coefficient(self, counter: str) -> int:
        """How much it grows with a counter."""
        return dict(self.terms).get(counter, 0)

    def at(self, counters: Mapping[str, int]) -> int:
        """Its value for given counters."""
        return self.constant + sum(c * counters[name] for name, c in self.terms)


def affine(value: Affine | int) -> Affine:
    """A whole number as an Affine."""
    return value if isinstance(value, Affine) else Affine(int(value))


@dataclass(frozen=True)
class View:
    """A run of numbers in an array: `shape` of them, row by row, from `offset` on.

    `at`, where given, views one whole number k, each state its own; the run then starts at offset + stride k, but never
    outside the array: the start is kept within 0 and the last place where the run fits (a NaN counts as 0).
    """

    array: str
    shape: Shape
    offset: Affine
    at: View | None = None
    stride: int = 1

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    def __getitem__(self, places: Affine | int | tuple[Affine | int, ...]) -> View:
        """The entry or row at `places`, counted along the first axes. An Affine place may run through a loop."""
        places = places if isinstance(places, tuple) else (places,)
        if len(places) > len(self.shape):
            raise CompileError(f"array '{self.array}' has {len(self.shape)} axes here; {len(places)} places are given.")
        offset = self.offset
        for axis, place in enumerate(places):
            if isinstance(place, int) and not 0 <= place < self.shape[axis]:
                raise CompileError(f"array '{self.array}': place {place} is outside axis {axis} of {self.shape[axis]}.")
            offset = offset + affine(place) * math.prod(self.shape[axis + 1 :])
        return View(self.array, self.shape[len(places) :], offset, self.at, self.stride)

    def part(self, start: Affine | int, size: int) -> View:
        """`size` numbers from `start` on, of an array with one axis."""
        return View(self.array, (size,), self.offset + affine(start), self.at, self.stride)

    def picked(self, at: View) -> View:
        """The row that each state picks: `at` views the number of the row."""
        return View(self.array, self.shape[1:], self.offset, at, math.prod(self.shape[1:]))


# ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Call:
    """Runs a program: one view per output port and one per input port, each of the port's size."""

    program: Program | LoopProgram
    outs: tuple[View, ...]
    ins: tuple[View, ...]


@dataclass(frozen=True)
class For:
    """Runs the body with `counter` = start, start + 1, ..., stop - 1. A View as `stop` is read once, before.

    Where passes are `apart`, none reads what another writes: they may run in any order, or side by side in SIMD lanes.
    """

    counter: str
    start: Affine
    stop: Affine | View
    body: tuple[Statement, ...]
    apart: bool = False


@dataclass(frozen=True)
class While:
    """Runs the body as long as the viewed number is positive."""

    condition: View
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If:
    """Runs one body where the viewed number is positive, the other where it is not."""

    condition: View
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


Statement: TypeAlias = Call | For | While | If


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """Outputs as a function of inputs, by statements. `constants` are arrays with their numbers, row by row."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    buffers: tuple[Port, ...]
    constants: tuple[tuple[Port, tuple[float, ...]], ...] = field(repr=False)
    body: tuple[Statement, ...] = field(repr=False)

    @cached_property
    def programs(self) -> tuple[Program | LoopProgram, ...]:
        """The programs it calls itself, each once, in the order of their first call."""
        return tuple({id(call.program): call.program for call in calls(self.body)}.values())

    @cached_property
    def op_counts(self) -> dict[str, int]:
        """How often each op occurs in the programs it calls, each counted once however often it runs."""
        total: Counter[str] = Counter()
        for program in self.programs:
            total.update(program.op_counts)
        return dict(total.most_common())

    @property
    def ops(self) -> int:
        """Operations in the programs it calls, each counted once however often it runs."""
        return sum(program.ops for program in self.programs)

    @cached_property
    def cost(self) -> int:
        """About how many operations a run takes, with all passes of loops; UNKNOWN passes where data decide."""
        return _cost(self.body, {})

    @property
    def flops(self) -> int:
        """Additions, subtractions and products in the programs it calls, each counted once however often it runs."""
        return sum(program.flops for program in self.programs)

    @cached_property
    def decided_by_data(self) -> bool:
        """Whether numbers decide how often a loop runs, in it or in a program that it calls."""
        return any(program.decided_by_data for program in self.programs) or any(
            isinstance(statement, While) or (isinstance(statement, For) and isinstance(statement.stop, View))
            for statement in all_statements(self.body)
        )

    @cached_property
    def key(self) -> str:
        """A hash of what it computes; see `graphs.keys`."""
        from kinemorph.codegen.loops.keys import loop_parts

        return hashed(self.inputs, self.outputs, loop_parts(self))

    @property
    def traced(self) -> LoopProgram:
        """The program itself; see `graphs.program.Runnable`."""
        return self


def runnable(value: object, what: str) -> Program | LoopProgram:
    """A program of either kind; see `as_program`."""
    found: Program | LoopProgram = as_program(value, what, (LoopProgram,))
    return found


def all_runnable(values: object, what: str) -> list[Program | LoopProgram]:
    """Several programs of either kind, at least one."""
    found: list[Program | LoopProgram] = as_programs(values, what, (LoopProgram,))
    return found


UNKNOWN = 8  # assumed passes of a loop where data decide how many there are


def _cost(body: Sequence[Statement], counters: Mapping[str, int]) -> int:
    """An estimate of a body's operations, counters around it given by their middle values."""
    total = 0
    for statement in body:
        match statement:
            case Call():
                total += max(statement.program.cost, sum(view.size for view in statement.outs))
            case For():
                start = statement.start.at(counters)
                passes = UNKNOWN if isinstance(statement.stop, View) else statement.stop.at(counters) - start
                middle = {**counters, statement.counter: start + passes // 2}
                total += max(passes, 0) * _cost(statement.body, middle)
            case While():
                total += UNKNOWN * _cost(statement.body, counters)
            case If():
                total += max(_cost(statement.then, counters), _cost(statement.otherwise, counters))
    return total


def all_statements(body: Sequence[Statement]) -> Iterator[Statement]:
    """Every statement of a body, outer ones first."""
    for statement in body:
        yield statement
        match statement:
            case For() | While():
                yield from all_statements(statement.body)
            case If():
                yield from all_statements(statement.then)
                yield from all_statements(statement.otherwise)


def calls(body: Sequence[Statement]) -> Iterator[Call]:
    """Every call in a body, outer ones first."""
    return (statement for statement in all_statements(body) if isinstance(statement, Call))


def loop_depth(body: Sequence[Statement]) -> int:
    """How many counted loops run within one another: 3 where matrices are multiplied or factored."""
    deepest = 0
    for statement in body:
        match statement:
            case For():
                deepest = max(deepest, 1 + loop_depth(statement.body))
            case While():
                deepest = max(deepest, loop_depth(statement.body))
            case If():
                deepest = max(deepest, loop_depth(statement.then), loop_depth(statement.otherwise))
    return deepest


def filled_first(loop: LoopProgram) -> set[str]:
    """The buffers that need not start at zero: a call fills them completely before anything reads them, or a call in
    passes that are apart does so row by row.
    """
    sizes = {port.name: port.size for port in loop.buffers}
    filled: set[str] = set()
    seen: set[str] = set()
    for statement in loop.body:
        call = statement
        if isinstance(statement, For) and statement.apart and statement.body and statement.start == Affine(0):
            call = statement.body[0]
        if isinstance(call, Call):
            whole = {view.array for view in call.outs if sizes.get(view.array) == _covered(view, statement)}
            filled |= whole - seen - {view.array for view in _looked_at(call.ins)}
        for inner in all_statements([statement]):
            seen |= {view.array for view in views_of(inner)}
    return filled


def _covered(view: View, around: Statement) -> int | None:
    """How many numbers from the first on a view covers, alone or row by row in the passes of the loop around it."""
    if not isinstance(around, For):
        return view.size
    assert isinstance(around.stop, Affine)
    rows = view.offset == Affine(0, ((around.counter, view.size),))
    return view.size * around.stop.constant if rows else None


def views_of(statement: Statement) -> Iterator[View]:
    """The views that a statement itself reads or writes; the statements inside a block are not included."""
    match statement:
        case Call():
            yield from _looked_at((*statement.outs, *statement.ins))
        case For():
            yield from _looked_at([statement.stop] if isinstance(statement.stop, View) else [])
        case While() | If():
            yield from _looked_at([statement.condition])


def _looked_at(views: Sequence[View]) -> Iterator[View]:
    """The views, and the views that hold their places (`at`)."""
    for view in views:
        yield view
        yield from _looked_at([view.at] if view.at else [])
