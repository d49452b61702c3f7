"""`LoopBuilder`, with which loop programs are written: statement by statement, with a `with` block for each body.

loop = LoopBuilder("powers", inputs={"x": ()}, outputs={"y": (8,)})
x, y = loop["x"], loop["y"]
loop.let(y[0], lambda: 1.0)
with loop.repeat(1, 8) as i:
    loop.let(y[i], lambda before, x: before * x, y[i - 1], x)
program = loop.program()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kinemorph.codegen.graphs.program import Port, Program, checked_ports
from kinemorph.codegen.graphs.tracing import Shape, trace
from kinemorph.codegen.loops.loop_program import (
    Affine,
    Call,
    Constants,
    For,
    Foreign,
    If,
    LoopProgram,
    Statement,
    View,
    While,
    affine,
    all_statements,
    runnable,
    views_of,
    writes,
)
from kinemorph.errors import CompileError
from kinemorph.vocabulary.frozen_array import FrozenArray
from kinemorph.words import did_you_mean


class LoopBuilder:
    """Writes a loop program statement by statement. `x = loop["x"]` views a whole array, `x[i, j]` an entry of it."""

    def __init__(self, name: str, inputs: Mapping[str, Shape], outputs: Mapping[str, Shape]) -> None:
        self.name = name
        self._inputs = checked_ports(inputs, self._owner)
        self._outputs = checked_ports(outputs, self._owner)
        self._buffers: list[Port] = []
        self._constants: list[tuple[Port, Constants]] = []
        self._bodies: list[list[Statement]] = [[]]
        self._shapes = {port.name: port.shape for port in self._inputs}
        for port in self._outputs:
            self._new(port.name, port.shape)
        self._fixed = {port.name for port in self._inputs}
        self._counters = 0
        self._lets = 0
        self._foreign: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}  # sizes by function

    def __getitem__(self, name: str) -> View:
        """The view of a whole array: an input, an output, a buffer or a constant."""
        if name not in self._shapes:
            listed = ", ".join(f"'{one}'" for one in self._shapes)
            raise CompileError(
                f"{self._owner}: there is no array '{name}'; its arrays are {listed}.{did_you_mean(name, self._shapes)}"
            )
        return View(name, self._shapes[name], Affine(0))

    def buffer(self, name: str, shape: Shape = ()) -> View:
        """Adds a local array, which is zero when the loop program starts."""
        port = self._new(name, shape)
        self._buffers.append(port)
        return self[name]

    def scratch(self, name: str, shape: Shape = ()) -> View:
        """A local array for intermediate results; it is added at the first request for this name."""
        if name not in self._shapes:
            return self.buffer(name, shape)
        if self._shapes[name] != tuple(shape) or name in self._fixed:
            raise CompileError(
                f"{self._owner}: a scratch array '{name}' of shape {tuple(shape)} is requested, but there is another "
                f"array of that name, of shape {self._shapes[name]}. Choose another name."
            )
        return self[name]

    def constant(self, name: str, values: Sequence[float] | FrozenArray, shape: Shape | None = None) -> View:
        """Adds an array of constants, given row by row; without a shape it has one axis.

        The numbers of a FrozenArray are data: compiled code refers to them and does not contain them.
        """
        count = values.array.size if isinstance(values, FrozenArray) else len(values)
        port = self._new(name, (count,) if shape is None else shape)
        if port.size != count:
            raise CompileError(
                f"{self._owner}: constant '{name}' of shape {port.shape} needs {port.size} numbers; {count} are "
                "given. Correct the shape or the numbers."
            )
        self._constants.append((port, values if isinstance(values, FrozenArray) else tuple(map(float, values))))
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
        """The view itself; CompileError if it is not a view of an array of this loop program."""
        if not isinstance(view, View):
            raise CompileError(
                f"{self._owner}: {view!r} is given; expected a view. Write loop['{view}'] for an array, "
                "loop.constant(...) for numbers."
            )
        self[view.array]
        return view

    def call(self, program: Program | LoopProgram, outs: Sequence[View], ins: Sequence[View]) -> None:
        """Adds a call of a program on views: one per output and one per input, in the order of its ports."""
        program = runnable(program, self._owner)
        outs, ins = [self._checked(view) for view in outs], [self._checked(view) for view in ins]
        for kind, ports, views in (("outputs", program.outputs, outs), ("inputs", program.inputs, ins)):
            sizes, given = [port.size for port in ports], [view.size for view in views]
            if sizes != given:
                raise CompileError(
                    f"{self._owner}: the called program '{program.name}' has {kind} of sizes {sizes}; the given views "
                    f"have sizes {given}. Give one view of the right size for each."
                )
        self._bodies[-1].append(Call(program, self._writable(outs), tuple(ins)))

    def foreign(self, function: str, ins: Sequence[View], outs: Sequence[View]) -> None:
        """Adds a call of a function that is defined outside of the loop program; see `loop_program.Foreign`.

        `function` is its name; its arguments are the inputs, then the outputs. All of its calls have the same sizes.
        """
        if not isinstance(function, str) or re.fullmatch("[A-Za-z](_?[A-Za-z0-9])*", function) is None:
            raise CompileError(
                f"{self._owner}: {function!r} is given as the name of a foreign function; expected letters, digits and "
                "single underscores, a letter first. Rename the function."
            )
        ins = tuple(self._checked(view) for view in ins)
        new = Foreign(function, self._writable([self._checked(view) for view in outs]), ins)
        if not new.outs:
            raise CompileError(f"{self._owner}: the foreign function '{function}' has no outputs. Give at least one.")
        sizes = self._foreign.setdefault(function, new.sizes)
        if sizes != new.sizes:
            raise CompileError(
                f"{self._owner}: the foreign function '{function}' is called with inputs and outputs of sizes {sizes} "
                f"and of sizes {new.sizes}. Use the same sizes in all calls."
            )
        self._bodies[-1].append(new)

    def _writable(self, views: Sequence[View]) -> tuple[View, ...]:
        """The views themselves; CompileError if a call cannot write to one of them."""
        for view in views:
            if view.array in self._fixed or view.at is not None:
                raise CompileError(
                    f"{self._owner}: '{view.array}' cannot be written to here: it is an input, a constant, or a place "
                    "that depends on data. Write to an output or a buffer at a fixed place."
                )
        return tuple(views)

    def let(self, out: View, function: Callable[..., Any], *ins: View) -> None:
        """Adds a statement out = function(*ins); the function gets and returns numbers, or lists for longer views."""
        shapes = {f"x{k}": self._checked(view).shape for k, view in enumerate(ins)}
        program = trace(function, shapes, name=f"{self.name}.{self._lets}")
        self._lets += 1
        self.call(program, [out], ins)

    def copy(self, out: View, source: View) -> None:
        """Adds a statement that copies `source` to `out`, which has the same size."""
        flat = (self._checked(source).size,)
        self._checked(out)
        self.let(replace(out, shape=flat), lambda x: x, replace(source, shape=flat))

    @contextmanager
    def repeat(
        self, start: Affine | int | View, stop: Affine | int | View | None = None, *, apart: bool = False
    ) -> Iterator[Affine]:
        """Adds a For over [start, stop), or over [0, start) if only one bound is given; yields the counter.

        `apart` says that the passes are independent: none reads or writes a place that another pass writes to.
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
                    f"{self._owner}: {bound!r} is given as the bound of a loop. Give a whole number, a counter, or a "
                    "view of one number such as loop['n']."
                )
        if isinstance(last, View):
            self._condition(last)
        if isinstance(first, int) and isinstance(last, int) and last < first:
            raise CompileError(
                f"{self._owner}: a loop has the bounds {first} and {last}; expected an upper bound of at least {first}."
            )
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
        """Raises CompileError if a pass of the loop reads or writes a place that another pass writes to."""
        if isinstance(loop.stop, View) or (loop.stop - loop.start).terms:
            raise CompileError(
                f"{self._owner}: the number of passes of a loop with apart=True is only known while it runs; it has "
                "to be constant. Give whole numbers as bounds, or leave out apart=True."
            )
        for inner in all_statements(loop.body):
            if isinstance(inner, Foreign):
                raise CompileError(
                    f"{self._owner}: a loop with apart=True calls the foreign function '{inner.function}', which may "
                    "keep memory from pass to pass. Leave out apart=True."
                )
        outs = list(writes(loop.body))
        written = {view.array for view in outs}
        owners: dict[tuple[str, int], int] = {}  # (array, index) -> the pass that writes to it
        views = [view for inner in all_statements(loop.body) for view in views_of(inner) if view.array in written]
        around = {view.array: _around(view, loop).terms for view in outs}  # counters of outer loops
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
        """The error for passes that are not independent."""
        return CompileError(
            f"{self._owner}: a loop has apart=True, but one pass uses entries of '{view.array}' that another pass "
            "writes. Let each pass use its own entries, or leave out apart=True."
        )

    @contextmanager
    def while_(self, condition: View) -> Iterator[None]:
        """Adds a While: the `with` block is repeated as long as the viewed number is positive."""
        self._condition(condition)
        with self._body() as body:
            yield
        self._bodies[-1].append(While(condition, tuple(body)))

    @contextmanager
    def if_(self, condition: View) -> Iterator[None]:
        """Adds an If: the `with` block runs if the viewed number is positive; `otherwise` may follow."""
        self._condition(condition)
        with self._body() as body:
            yield
        self._bodies[-1].append(If(condition, tuple(body)))

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Adds an else branch to the If before it: the `with` block runs if the viewed number is not positive."""
        before = self._bodies[-1].pop() if self._bodies[-1] else None
        if not isinstance(before, If) or before.otherwise:
            raise CompileError(
                f"{self._owner}: `otherwise` does not follow an `if_`. Put it directly after the block of an `if_`."
            )
        with self._body() as body:
            yield
        self._bodies[-1].append(If(before.condition, before.then, tuple(body)))

    def _condition(self, view: Any) -> None:
        """Raises CompileError unless the view is one number, as a condition or a bound has to be."""
        if self._checked(view).size != 1:
            raise CompileError(
                f"{self._owner}: the view of '{view.array}' has {view.size} numbers; a condition or a bound is one "
                "number. Take an entry of it."
            )

    @contextmanager
    def _body(self) -> Iterator[list[Statement]]:
        """A context in which new statements are added to a new body, which it yields."""
        self._bodies.append([])
        yield self._bodies[-1]
        self._bodies.pop()

    def program(self) -> LoopProgram:
        """The finished loop program; CompileError if nothing writes to one of its outputs, which start undefined."""
        written = {view.array for view in writes(self._bodies[0])}
        for port in self._outputs:
            if port.size and port.name not in written:
                raise CompileError(
                    f"{self._owner}: nothing is written to its output '{port.name}'. Write to it with let, copy, "
                    "call or foreign."
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
    """The offset of a view in the first pass of a loop, as a function of the counters of outer loops."""
    stride = view.offset.coefficient(loop.counter)
    return view.offset - Affine(0, ((loop.counter, stride),)) + loop.start * stride


def _places(view: View, loop: For, number: int) -> Iterator[tuple[str, int]]:
    """The (array, index) of each number of a view in pass `number` of a loop, with the counters of outer loops at 0."""
    first = _around(view, loop).constant + number * view.offset.coefficient(loop.counter)
    return ((view.array, first + k) for k in range(view.size))
