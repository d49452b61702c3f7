"""How loop programs are written: statement by statement, with `with` for the blocks.

loop = LoopBuilder("powers", inputs={"x": ()}, outputs={"y": (8,)})
x, y = loop["x"], loop["y"]
loop.let(y[0], lambda: 1.0)
with loop.repeat(1, 8) as i:
    loop.let(y[i], lambda before, x: before * x, y[i - 1], x)
program = loop.program()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kinemorph.codegen.graphs.program import Port, Program, checked_ports
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.codegen.loops.loop_program import (
    Affine,
    Call,
    For,
    If,
    LoopProgram,
    Statement,
    View,
    While,
    affine,
    all_statements,
    calls,
    runnable,
    views_of,
)
from kinemorph.errors import CompileError
from kinemorph.words import did_you_mean


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
        """A view of a whole array."""
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
        """A local array for intermediate results: the array of that name, made at its first use."""
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
        """The view itself, where it is a view of a known array; a number or a name in its place is refused."""
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
        """A For over [start, stop), or over [0, start) where one bound is given; yields the counter.

        `apart`: no pass reads or writes a place that another pass writes to.
        """
        first, last = (0, start) if stop is None else (start, stop)
        if isinstance(first, View):
            raise CompileError(
                f"{self._owner}: the lower bound of a loop is read from the array '{first.array}'; only the upper "
                "bound may be. Give a whole number or a counter."
            )
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
        """Checks that no pass reads or writes a place that another pass writes to."""
        if isinstance(loop.stop, View) or (loop.stop - loop.start).terms:
            raise CompileError(
                f"{self._owner}: a loop with apart=True has bounds that are only known while it runs; its number of "
                "passes has to be constant. Give whole numbers, or leave out apart=True."
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
            f"{self._owner}: passes of a loop with apart=True share places of '{view.array}'. Give each pass its "
            "own, or leave out apart=True."
        )

    @contextmanager
    def while_(self, condition: View) -> Iterator[None]:
        """A While: the block runs as long as the viewed number is positive."""
        self._condition(condition)
        with self._body() as body:
            yield
        self._bodies[-1].append(While(condition, tuple(body)))

    @contextmanager
    def if_(self, condition: View) -> Iterator[None]:
        """An If: the block runs where the viewed number is positive; `otherwise` may follow."""
        self._condition(condition)
        with self._body() as body:
            yield
        self._bodies[-1].append(If(condition, tuple(body)))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The block that runs where the condition of the last If is not positive."""
        before = self._bodies[-1].pop() if self._bodies[-1] else None
        if not isinstance(before, If) or before.otherwise:
            raise CompileError(f"{self._owner}: `otherwise` has to follow an `if_`.")
        with self._body() as body:
            yield
        self._bodies[-1].append(If(before.condition, before.then, tuple(body)))

    def _condition(self, view: Any) -> None:
        if self._checked(view).size != 1:
            raise CompileError(
                f"{self._owner}: '{view.array}' holds {view.size} numbers here; a condition or a bound is one number. "
                "Take an entry."
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


def _around(view: View, loop: For) -> Affine:
    """Where a view begins in the first pass of a loop."""
    stride = view.offset.coefficient(loop.counter)
    return view.offset - Affine(0, ((loop.counter, stride),)) + loop.start * stride


def _places(view: View, loop: For, number: int) -> Iterator[tuple[str, int]]:
    """The places of a view in a pass of a loop, counted from where counters around the loop have brought it."""
    first = _around(view, loop).constant + number * view.offset.coefficient(loop.counter)
    return ((view.array, first + k) for k in range(view.size))
