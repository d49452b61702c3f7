"""Loop programs: Programs that are called in loops and pass numbers to each other in arrays.

A loop program has named, shaped inputs and outputs like a Program, and so can be built by any backend and called by
another loop program. Inside are arrays (inputs, outputs, constants, local buffers) and five statements:

    Call      runs a Program or a loop program on views of arrays
    Foreign   calls a function by name that is defined outside of the loop program, such as a function of a user
    For       counts; its bounds are affine in the counters of outer loops, and the upper may be a number in an array
    While     repeats as long as a number is positive, which is checked before each pass
    If        runs one body if a number is positive, else another

A condition is true if its number is greater than zero, so a NaN ends a loop. Every state has its own conditions: in a
batch, states that have left a loop keep their values while others continue. Inputs and constants are only read; outputs
start undefined; local buffers start at zero. The inputs of a call may overlap its outputs: it reads before it writes.

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
from kinemorph.errors import CompileError, UnsupportedError
from kinemorph.frozen import Fixed, dataclass
from kinemorph.vocabulary.frozen_array import FrozenArray

Constants: TypeAlias = tuple[float, ...] | FrozenArray  # numbers of the program's text, or data that it refers to

# ── places ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Affine:
    """A whole number that depends on loop counters: constant + sum of coefficient * counter."""

    constant: int
    terms: tuple[tuple[str, int], ...] = ()  # (counter, coefficient), sorted by counter, without zeros

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
        """The coefficient of a counter; 0 if the number does not depend on it."""
        return dict(self.terms).get(counter, 0)

    def at(self, counters: Mapping[str, int]) -> int:
        """The value of the number for given values of the counters."""
        return self.constant + sum(c * counters[name] for name, c in self.terms)


def affine(value: Affine | int) -> Affine:
    """The value as an Affine: an int becomes a constant."""
    return value if isinstance(value, Affine) else Affine(int(value))


@dataclass(frozen=True)
class View:
    """Consecutive numbers of an array from index `offset` on, arranged row by row in `shape`.

    With `at`, which views one whole number k, the start depends on data: it is offset + stride * k, for each state of a
    batch with its own k. It is clipped so that the view stays inside the array; a NaN counts as 0.
    """

    array: str
    shape: Shape
    offset: Affine
    at: View | None = None
    stride: int = 1

    @property
    def size(self) -> int:
        """The number of entries of the view."""
        return math.prod(self.shape)

    def __getitem__(self, places: Affine | int | tuple[Affine | int, ...]) -> View:
        """The view of an entry or a row, by its indices along the first axes; an index may contain loop counters."""
        places = places if isinstance(places, tuple) else (places,)
        if len(places) > len(self.shape):
            raise CompileError(
                f"array '{self.array}': a view with {len(self.shape)} axes is indexed with {len(places)} indices. Give "
                f"at most {len(self.shape)}."
            )
        offset = self.offset
        for axis, place in enumerate(places):
            if isinstance(place, int) and not 0 <= place < self.shape[axis]:
                raise CompileError(
                    f"array '{self.array}': index {place} is outside axis {axis}; expected an index from 0 to "
                    f"{self.shape[axis] - 1}."
                )
            offset = offset + affine(place) * math.prod(self.shape[axis + 1 :])
        return View(self.array, self.shape[len(places) :], offset, self.at, self.stride)

    def part(self, start: Affine | int, size: int) -> View:
        """The view of `size` numbers from index `start` on; only for a view with one axis."""
        return View(self.array, (size,), self.offset + affine(start), self.at, self.stride)

    def picked(self, at: View) -> View:
        """The view of the row whose number `at` views; each state of a batch has its own row."""
        return View(self.array, self.shape[1:], self.offset, at, math.prod(self.shape[1:]))


# ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Call:
    """Calls a program on one view per output port and one per input port, each of the port's size."""

    program: Program | LoopProgram
    outs: tuple[View, ...]
    ins: tuple[View, ...]


@dataclass(frozen=True)
class Foreign:
    """Calls a function by name that is defined elsewhere, on views of the arrays that it reads and writes.

    In C it is `void function(const double *in0, ..., double *out0, ...)`, which the linker finds. In Python and MATLAB
    it takes the inputs as flat arrays and returns the outputs, several of them as a tuple or a list of outputs. The
    interpreter gets a table {name: callable}. It may keep memory of its own, so no backend reorders or repeats calls.
    """

    function: str
    outs: tuple[View, ...]
    ins: tuple[View, ...]

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of entries of its inputs and of its outputs."""
        return tuple(view.size for view in self.ins), tuple(view.size for view in self.outs)


@dataclass(frozen=True)
class For:
    """Runs the body with `counter` = start, start + 1, ..., stop - 1. If `stop` is a View, it is read before the loop.

    `apart` says that the passes are independent: none reads or writes what another writes, so they may run in any order
    or at the same time in SIMD lanes.
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
    """Runs the body `then` if the viewed number is positive, else the body `otherwise`."""

    condition: View
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


Statement: TypeAlias = Call | Foreign | For | While | If


@dataclass(frozen=True, eq=False)
class LoopProgram(Fixed):
    """A program with loops: statements that compute outputs from inputs.

    `buffers` are local arrays; `constants` are arrays with their numbers, row by row: few as a tuple, many as data.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    buffers: tuple[Port, ...]
    constants: tuple[tuple[Port, Constants], ...] = field(repr=False)
    body: tuple[Statement, ...] = field(repr=False)

    @cached_property
    def programs(self) -> tuple[Program | LoopProgram, ...]:
        """The programs that its statements call, each once, in the order of their first call."""
        return tuple({id(call.program): call.program for call in calls(self.body)}.values())

    @cached_property
    def foreign(self) -> dict[str, Foreign]:
        """The foreign functions that it calls, itself or in programs that it calls: for each name one of the calls."""
        found = {call.function: call for call in all_statements(self.body) if isinstance(call, Foreign)}
        for program in self.programs:
            found |= program.foreign if isinstance(program, LoopProgram) else {}
        return found

    @cached_property
    def op_counts(self) -> dict[str, int]:
        """How often each op occurs in the called programs, most frequent first; each program is counted once."""
        total: Counter[str] = Counter()
        for program in self.programs:
            total.update(program.op_counts)
        return dict(total.most_common())

    @property
    def ops(self) -> int:
        """The number of operations in the called programs; each program is counted once, however often it runs."""
        return sum(program.ops for program in self.programs)

    @cached_property
    def cost(self) -> int:
        """An estimate of the operations of a run, with all passes of loops; UNKNOWN passes if they depend on data."""
        return _cost(self.body, {})

    @property
    def flops(self) -> int:
        """The number of additions, subtractions and products in the called programs; each program is counted once."""
        return sum(program.flops for program in self.programs)

    @cached_property
    def decided_by_data(self) -> bool:
        """Whether the number of passes of a loop depends on data, here or in a program that is called."""
        return any(program.decided_by_data for program in self.programs) or any(
            isinstance(statement, While) or (isinstance(statement, For) and isinstance(statement.stop, View))
            for statement in all_statements(self.body)
        )

    @cached_property
    def key(self) -> str:
        """A hash of what the loop program computes; see `graphs.keys`."""
        from kinemorph.codegen.loops.keys import loop_parts

        return hashed(self.inputs, self.outputs, loop_parts(self))

    @property
    def traced(self) -> LoopProgram:
        """The loop program itself; see `graphs.program.Runnable`."""
        return self


def listed(constants: Constants) -> Sequence[float]:
    """All numbers of an array of constants, row by row."""
    if isinstance(constants, FrozenArray):
        found: list[float] = constants.array.ravel().tolist()
        return found
    return constants


def runnable(value: object, what: str) -> Program | LoopProgram:
    """The value itself if it is a Program or a LoopProgram; else raises an error, as `as_program` does."""
    found: Program | LoopProgram = as_program(value, what, (LoopProgram,))
    return found


def all_runnable(values: object, what: str) -> list[Program | LoopProgram]:
    """A list of one or more Programs and LoopPrograms; raises an error for anything else, as `as_programs` does."""
    found: list[Program | LoopProgram] = as_programs(values, what, (LoopProgram,))
    return found


def refuse_foreign(program: object, who: str) -> None:
    """Raises UnsupportedError if a program calls foreign functions; `who` is a backend that cannot call any."""
    if isinstance(program, LoopProgram) and program.foreign:
        names = ", ".join(f"'{name}'" for name in program.foreign)
        raise UnsupportedError(
            f"program '{program.name}' calls the foreign functions {names}, which {who} cannot call. Write it as C, "
            "Python or MATLAB with `write_program`, or build it with the backend 'interpreter' and `foreign`."
        )


UNKNOWN = 8  # the assumed number of passes of a loop if it depends on data


def _cost(body: Sequence[Statement], counters: Mapping[str, int]) -> int:
    """An estimate of the operations of a body; `counters` are the middle values of the counters of outer loops."""
    total = 0
    for statement in body:
        match statement:
            case Call():
                total += max(statement.program.cost, sum(view.size for view in statement.outs))
            case Foreign():
                total += UNKNOWN * sum(view.size for view in (*statement.ins, *statement.outs))
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
    """All statements of a body and, after each, those inside it."""
    for statement in body:
        yield statement
        match statement:
            case For() | While():
                yield from all_statements(statement.body)
            case If():
                yield from all_statements(statement.then)
                yield from all_statements(statement.otherwise)


def calls(body: Sequence[Statement]) -> Iterator[Call]:
    """All calls in a body, also those inside loops and branches."""
    return (statement for statement in all_statements(body) if isinstance(statement, Call))


def writes(body: Sequence[Statement]) -> Iterator[View]:
    """The views that the calls in a body write to, also those inside loops and branches."""
    return (view for one in all_statements(body) if isinstance(one, (Call, Foreign)) for view in one.outs)


def loop_depth(body: Sequence[Statement]) -> int:
    """The nesting depth of For loops in a body: for example 3 where matrices are multiplied or factored."""
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
    """The buffers that need not be set to zero at the start, since a call fills them before anything reads them.

    The call fills the whole buffer at once, or row by row in a loop with independent passes.
    """
    sizes = {port.name: port.size for port in loop.buffers}
    filled: set[str] = set()
    seen: set[str] = set()
    for statement in loop.body:
        call = statement
        if isinstance(statement, For) and statement.apart and statement.body and statement.start == Affine(0):
            call = statement.body[0]
        if isinstance(call, (Call, Foreign)):
            whole = {view.array for view in call.outs if sizes.get(view.array) == _covered(view, statement)}
            filled |= whole - seen - {view.array for view in _looked_at(call.ins)}
        for inner in all_statements([statement]):
            seen |= {view.array for view in views_of(inner)}
    return filled


def _covered(view: View, around: Statement) -> int | None:
    """How many numbers of its array a view covers: its own size, or inside a For the sum of its sizes in all passes.

    None if the view does not move by its own size from pass to pass, so that passes overlap or leave gaps.
    """
    if not isinstance(around, For):
        return view.size
    assert isinstance(around.stop, Affine)
    rows = view.offset == Affine(0, ((around.counter, view.size),))
    return view.size * around.stop.constant if rows else None


def views_of(statement: Statement) -> Iterator[View]:
    """The views that a statement itself reads or writes, without those of the statements inside it."""
    match statement:
        case Call() | Foreign():
            yield from _looked_at((*statement.outs, *statement.ins))
        case For():
            yield from _looked_at([statement.stop] if isinstance(statement.stop, View) else [])
        case While() | If():
            yield from _looked_at([statement.condition])


def _looked_at(views: Sequence[View]) -> Iterator[View]:
    """The given views, and for each whose start depends on data also the view `at` of the number that it depends on."""
    for view in views:
        yield view
        yield from _looked_at([view.at] if view.at else [])
