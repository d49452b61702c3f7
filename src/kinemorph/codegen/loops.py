"""Loop programs: Programs run in loops, with nothing but numbers in arrays between them.

A loop program has named, shaped inputs and outputs like a Program, and so can be built by any backend and called by
another loop program. Inside are arrays (inputs, outputs, constants, local buffers) and four statements:

    Call    runs a Program or a loop program on views of arrays
    For     counts; its bounds are affine in the counters around it, or one is a number in an array
    While   repeats as long as a number is positive, looked at before each pass
    If      goes one way where a number is positive, else the other

A number that is looked at counts as true where it is greater than zero, so a NaN ends a loop. All of it holds state by
state: over a batch, states that are done keep their values while others go on. Inputs and constants are only read;
outputs start undefined; local buffers start at zero. What a call reads may overlap what it writes: reads come first.

`LoopBuilder` writes them, with `with` for the blocks:

    loop = LoopBuilder("powers", inputs={"x": ()}, outputs={"y": (8,)})
    x, y = loop["x"], loop["y"]
    loop.let(y[0], lambda: 1.0)
    with loop.repeat(1, 8) as i:
        loop.let(y[i], lambda before, x: before * x, y[i - 1], x)
    program = loop.program()
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from kinemorph.codegen.program import Port, Program
from kinemorph.codegen.tracing import Shape, trace
from kinemorph.errors import CompileError

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
        """How many numbers."""
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
        """The row whose number, per state, stands at `at`."""
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
    """Runs the body with `counter` = start, start + 1, ..., stop - 1. A View as `stop` is read once, before."""

    counter: str
    start: Affine
    stop: Affine | View
    body: tuple[Statement, ...]


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
        """The programs it calls, each once, in the order they are met; theirs are not counted in."""
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
        """About how many operations a run takes, passes of loops counted; of those that data decide, a few."""
        return _cost(self.body, {})

    @property
    def flops(self) -> int:
        """Additions, subtractions and products in the programs it calls, counted in the same way."""
        return sum(program.flops for program in self.programs)


UNKNOWN = 8  # passes that a loop is taken to make where its data decide


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


def calls(body: Sequence[Statement]) -> Iterator[Call]:
    """Every call in a body, outer ones first."""
    for statement in body:
        match statement:
            case Call():
                yield statement
            case For() | While():
                yield from calls(statement.body)
            case If():
                yield from calls(statement.then)
                yield from calls(statement.otherwise)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class LoopBuilder:
    """Writes a loop program statement by statement. Arrays are views of the whole: `loop["x"]`, `x[i, j]`."""

    def __init__(self, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> None:
        self.name = name
        self._inputs = tuple(Port(name, tuple(shape)) for name, shape in inputs.items())
        self._outputs = tuple(Port(name, tuple(shape)) for name, shape in outputs.items())
        self._buffers: list[Port] = []
        self._constants: list[tuple[Port, tuple[float, ...]]] = []
        self._bodies: list[list[Statement]] = [[]]
        self._shapes = {port.name: port.shape for port in (*self._inputs, *self._outputs)}
        self._fixed = {port.name for port in self._inputs}
        self._counters = 0
        self._lets = 0

    def __getitem__(self, name: str) -> View:
        """The whole of an array."""
        return View(name, self._shapes[name], Affine(0))

    def buffer(self, name: str, shape: Shape = ()) -> View:
        """A new local array, zero at the start."""
        port = self._new(name, shape)
        self._buffers.append(port)
        return self[name]

    def constant(self, name: str, values: Sequence[float], shape: Shape | None = None) -> View:
        """A new array of fixed numbers, given row by row."""
        port = self._new(name, (len(values),) if shape is None else shape)
        if port.size != len(values):
            raise CompileError(f"constant '{name}': shape {port.shape} holds {port.size} numbers; {len(values)} given.")
        self._constants.append((port, tuple(map(float, values))))
        self._fixed.add(name)
        return self[name]

    def _new(self, name: str, shape: Shape) -> Port:
        if name in self._shapes:
            raise CompileError(f"loop program '{self.name}': there is already an array '{name}'. Choose another name.")
        self._shapes[name] = tuple(shape)
        return Port(name, tuple(shape))

    def call(self, program: Program | LoopProgram, outs: Sequence[View], ins: Sequence[View]) -> None:
        """Runs a program on views, in the order of its ports."""
        for kind, ports, views in (("outputs", program.outputs, outs), ("inputs", program.inputs, ins)):
            sizes, given = [port.size for port in ports], [view.size for view in views]
            if sizes != given:
                raise CompileError(f"program '{program.name}' has {kind} of sizes {sizes}; the views hold {given}.")
        for view in outs:
            if view.array in self._fixed or view.at is not None:
                raise CompileError(f"loop program '{self.name}': '{view.array}' cannot be written to here.")
        self._bodies[-1].append(Call(program, tuple(outs), tuple(ins)))

    def let(self, out: View, function: Callable[..., Any], *ins: View) -> None:
        """Writes function(*ins) to `out`: numbers for single places, lists for longer views."""
        shapes = {f"x{k}": view.shape for k, view in enumerate(ins)}
        program = trace(function, shapes, name=f"{self.name}.{self._lets}")
        self._lets += 1
        self.call(program, [out], ins)

    def copy(self, out: View, source: View) -> None:
        """Writes `source` to `out`, of the same size."""
        flat = (source.size,)
        self.let(replace(out, shape=flat), lambda x: x, replace(source, shape=flat))

    @contextmanager
    def repeat(self, start: Affine | int | View, stop: Affine | int | View | None = None) -> Iterator[Affine]:
        """A For over [start, stop), or over [0, start) where one bound is given; gives the counter."""
        first, last = (0, start) if stop is None else (start, stop)
        if isinstance(first, View):
            raise CompileError(f"loop program '{self.name}': only the upper bound of a loop may stand in an array.")
        counter = f"i{self._counters}"
        self._counters += 1
        with self._body() as body:
            yield Affine(0, ((counter, 1),))
        bound = last if isinstance(last, View) else affine(last)
        self._bodies[-1].append(For(counter, affine(first), bound, tuple(body)))

    @contextmanager
    def while_(self, condition: View) -> Iterator[None]:
        """A While."""
        with self._body() as body:
            yield
        self._bodies[-1].append(While(condition, tuple(body)))

    @contextmanager
    def if_(self, condition: View) -> Iterator[None]:
        """An If; `otherwise` may follow it."""
        with self._body() as body:
            yield
        self._bodies[-1].append(If(condition, tuple(body)))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other way of the If just closed."""
        before = self._bodies[-1].pop() if self._bodies[-1] else None
        if not isinstance(before, If) or before.otherwise:
            raise CompileError(f"loop program '{self.name}': `otherwise` has to follow an `if_`.")
        with self._body() as body:
            yield
        self._bodies[-1].append(If(before.condition, before.then, tuple(body)))

    @contextmanager
    def _body(self) -> Iterator[list[Statement]]:
        self._bodies.append([])
        yield self._bodies[-1]
        self._bodies.pop()

    def program(self) -> LoopProgram:
        """The loop program as written so far."""
        return LoopProgram(
            self.name,
            self._inputs,
            self._outputs,
            tuple(self._buffers),
            tuple(self._constants),
            tuple(self._bodies[0]),
        )
