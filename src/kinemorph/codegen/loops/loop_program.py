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
from dataclasses import field, replace
from functools import cached_property
from typing import Any, TypeAlias

from kinemorph.codegen.graphs.program import Port, Program, as_program, as_programs, checked_ports
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.errors import CompileError
from kinemorph.frozen import dataclass
from kinemorph.words import did_you_mean

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


def runnable(value: object, what: str) -> Program | LoopProgram:
    """A program of either kind; see `as_program`."""
    found: Program | LoopProgram = as_program(value, what, (LoopProgram,))
    return found


def all_runnable(values: object, what: str) -> list[Program | LoopProgram]:
    """Several programs of either kind, at least one."""
    found: list[Program | LoopProgram] = as_programs(values, what, (LoopProgram,))
    return found


def decided_by_data(program: Program | LoopProgram) -> bool:
    """Whether numbers decide how often a loop runs, in it or in what it calls; bad ones may then keep it going."""
    if isinstance(program, Program):
        return False
    return any(
        isinstance(statement, While) or (isinstance(statement, For) and isinstance(statement.stop, View))
        for statement in all_statements(program.body)
    ) or any(map(decided_by_data, program.programs))


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
    """The buffers that a call fills from end to end before anything else looks at them, or a call in passes that are
    apart, row by row: they need not start at zero.
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
    """How many numbers from the first on a view covers, by itself or row by row in the passes of a loop around it."""
    if not isinstance(around, For):
        return view.size
    assert isinstance(around.stop, Affine)
    rows = view.offset == Affine(0, ((around.counter, view.size),))
    return view.size * around.stop.constant if rows else None


def views_of(statement: Statement) -> Iterator[View]:
    """All that a statement itself reads or writes; of a block, not what is in it."""
    match statement:
        case Call():
            yield from _looked_at((*statement.outs, *statement.ins))
        case For():
            yield from _looked_at([statement.stop] if isinstance(statement.stop, View) else [])
        case While() | If():
            yield from _looked_at([statement.condition])


def _around(view: View, loop: For) -> Affine:
    """Where a view begins in the first pass of a loop."""
    stride = view.offset.coefficient(loop.counter)
    return view.offset - Affine(0, ((loop.counter, stride),)) + loop.start * stride


def _places(view: View, loop: For, number: int) -> Iterator[tuple[str, int]]:
    """The places of a view in a pass of a loop, counted from where counters around the loop have brought it."""
    first = _around(view, loop).constant + number * view.offset.coefficient(loop.counter)
    return ((view.array, first + k) for k in range(view.size))


def _looked_at(views: Sequence[View]) -> Iterator[View]:
    """Views, and those at which they are looked up."""
    for view in views:
        yield view
        yield from _looked_at([view.at] if view.at else [])


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class LoopBuilder:
    """Writes a loop program statement by statement. Arrays are views of the whole: `loop["x"]`, `x[i, j]`."""

    def __init__(self, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> None:
        self.name = name
        self._inputs = checked_ports(inputs, self._owner)
        self._outputs = checked_ports(outputs, self._owner)
        self._buffers: list[Port] = []
        self._constants: list[tuple[Port, tuple[float, ...]]] = []
        self._bodies: list[list[Statement]] = [[]]
        self._shapes = {port.name: port.shape for port in self._inputs}
        for port in self._outputs:
            self._new(port.name, port.shape)
        self._fixed = {port.name for port in self._inputs}
        self._counters = 0
        self._lets = 0

    def __getitem__(self, name: str) -> View:
        """The whole of an array."""
        if name not in self._shapes:
            listed = ", ".join(f"'{one}'" for one in self._shapes)
            raise CompileError(
                f"{self._owner}: there is no array '{name}'; there are {listed}.{did_you_mean(name, self._shapes)}"
            )
        return View(name, self._shapes[name], Affine(0))

    def buffer(self, name: str, shape: Shape = ()) -> View:
        """A new local array, zero at the start."""
        port = self._new(name, shape)
        self._buffers.append(port)
        return self[name]

    def scratch(self, name: str, shape: Shape = ()) -> View:
        """A local array for intermediate results: the one of that name, new where there is none yet."""
        if name not in self._shapes:
            return self.buffer(name, shape)
        if self._shapes[name] != tuple(shape) or name in self._fixed:
            raise CompileError(
                f"{self._owner}: '{name}' of shape {self._shapes[name]} is no scratch array of shape {tuple(shape)}. "
                "Choose another name."
            )
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
            raise CompileError(f"{self._owner}: there is already an array '{name}'. Choose another name.")
        (port,) = checked_ports({name: shape}, self._owner)
        self._shapes[name] = port.shape
        return port

    @property
    def _owner(self) -> str:
        return f"loop program '{self.name}'"

    def _checked(self, view: Any) -> View:
        """A view of an array that there is; a number or a name in its place is refused."""
        if not isinstance(view, View):
            raise CompileError(
                f"{self._owner}: {view!r} is given in place of a view. Write loop['{view}'] for an array, "
                "loop.constant(...) for numbers."
            )
        self[view.array]
        return view

    def call(self, program: Program | LoopProgram, outs: Sequence[View], ins: Sequence[View]) -> None:
        """Runs a program on views, in the order of its ports."""
        program = runnable(program, self._owner)
        outs, ins = [self._checked(view) for view in outs], [self._checked(view) for view in ins]
        for kind, ports, views in (("outputs", program.outputs, outs), ("inputs", program.inputs, ins)):
            sizes, given = [port.size for port in ports], [view.size for view in views]
            if sizes != given:
                raise CompileError(f"program '{program.name}' has {kind} of sizes {sizes}; the views hold {given}.")
        for view in outs:
            if view.array in self._fixed or view.at is not None:
                raise CompileError(f"{self._owner}: '{view.array}' cannot be written to here.")
        self._bodies[-1].append(Call(program, tuple(outs), tuple(ins)))

    def let(self, out: View, function: Callable[..., Any], *ins: View) -> None:
        """Writes function(*ins) to `out`: numbers for single places, lists for longer views."""
        shapes = {f"x{k}": self._checked(view).shape for k, view in enumerate(ins)}
        program = trace(function, shapes, name=f"{self.name}.{self._lets}")
        self._lets += 1
        self.call(program, [out], ins)

    def copy(self, out: View, source: View) -> None:
        """Writes `source` to `out`, of the same size."""
        flat = (self._checked(source).size,)
        self._checked(out)
        self.let(replace(out, shape=flat), lambda x: x, replace(source, shape=flat))

    @contextmanager
    def repeat(
        self, start: Affine | int | View, stop: Affine | int | View | None = None, *, apart: bool = False
    ) -> Iterator[Affine]:
        """A For over [start, stop), or over [0, start) where one bound is given; gives the counter.

        `apart`: no pass reads or writes what another one writes.
        """
        first, last = (0, start) if stop is None else (start, stop)
        if isinstance(first, View):
            raise CompileError(f"{self._owner}: only the upper bound of a loop may stand in an array.")
        for bound in (first, last):
            if isinstance(bound, bool) or not isinstance(bound, (Affine, int, View)):
                raise CompileError(
                    f"{self._owner}: {bound!r} is given as the bound of a loop; expected a whole number, a counter or "
                    "a view of one number, as loop['n']."
                )
        if isinstance(last, View):
            self._condition(last)
        if isinstance(first, int) and isinstance(last, int) and last < first:
            raise CompileError(f"{self._owner}: a loop from {first} to {last} never runs. Give bounds that rise.")
        counter = f"i{self._counters}"
        self._counters += 1
        with self._body() as body:
            yield Affine(0, ((counter, 1),))
        stop = last if isinstance(last, View) else affine(last)
        made = For(counter, affine(first), stop, tuple(body), apart)
        if apart:
            self._check_apart(made)
        self._bodies[-1].append(made)

    def _check_apart(self, loop: For) -> None:
        """Sees that no pass looks at a place which another one writes to."""
        if isinstance(loop.stop, View) or (loop.stop - loop.start).terms:
            raise CompileError(
                f"{self._owner}: how often a loop with passes apart runs has to be known. Give a number."
            )
        written = {view.array for call in calls(loop.body) for view in call.outs}
        owners: dict[tuple[str, int], int] = {}  # place in an array -> the pass that writes to it
        outs = [view for call in calls(loop.body) for view in call.outs]
        views = [view for inner in all_statements(loop.body) for view in views_of(inner) if view.array in written]
        around = {view.array: _around(view, loop).terms for view in outs}  # counters of loops around it
        for number in range((loop.stop - loop.start).constant):
            for view in outs:
                if any(owners.setdefault(place, number) != number for place in _places(view, loop, number)):
                    raise self._shared(view)
        for number in range((loop.stop - loop.start).constant):
            for view in views:
                places = _places(view, loop, number)
                if (
                    view.at
                    or _around(view, loop).terms != around[view.array]
                    or any(owners.get(place, number) != number for place in places)
                ):
                    raise self._shared(view)

    def _shared(self, view: View) -> CompileError:
        return CompileError(
            f"{self._owner}: passes of a loop that are to be apart share places of '{view.array}'. Give each pass its "
            "own, or leave out apart=True."
        )

    @contextmanager
    def while_(self, condition: View) -> Iterator[None]:
        """A While."""
        self._condition(condition)
        with self._body() as body:
            yield
        self._bodies[-1].append(While(condition, tuple(body)))

    @contextmanager
    def if_(self, condition: View) -> Iterator[None]:
        """An If; `otherwise` may follow it."""
        self._condition(condition)
        with self._body() as body:
            yield
        self._bodies[-1].append(If(condition, tuple(body)))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The other way of the If just closed."""
        before = self._bodies[-1].pop() if self._bodies[-1] else None
        if not isinstance(before, If) or before.otherwise:
            raise CompileError(f"{self._owner}: `otherwise` has to follow an `if_`.")
        with self._body() as body:
            yield
        self._bodies[-1].append(If(before.condition, before.then, tuple(body)))

    def _condition(self, view: Any) -> None:
        if self._checked(view).size != 1:
            raise CompileError(
                f"{self._owner}: '{view.array}' holds {view.size} numbers here; a loop looks at one. Take an entry."
            )

    @contextmanager
    def _body(self) -> Iterator[list[Statement]]:
        self._bodies.append([])
        yield self._bodies[-1]
        self._bodies.pop()

    def program(self) -> LoopProgram:
        """The loop program as written so far. Every output has to be written somewhere, since it starts undefined."""
        written = {view.array for call in calls(self._bodies[0]) for view in call.outs}
        for port in self._outputs:
            if port.size and port.name not in written:
                raise CompileError(
                    f"{self._owner}: nothing is written to its output '{port.name}', which starts undefined. "
                    "Use let, copy or call with it."
                )
        return LoopProgram(
            self.name,
            self._inputs,
            self._outputs,
            tuple(self._buffers),
            tuple(self._constants),
            tuple(self._bodies[0]),
        )
