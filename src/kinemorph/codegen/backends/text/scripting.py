"""Programs as source code of a scripting language: the code generator that Python and MATLAB share.

The code consists of functions of flat arrays, with entries row by row; each op is one line, written as the `Language`
says. The variable of a value is reused after its last reader, so that no array of a batch is kept longer than needed.
Blocks and programs that loops call become separate functions; short programs are inlined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from kinemorph.codegen.backends.text.languages import Language, Names
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.graphs.schedule import last_uses
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_program import (
    Affine,
    Call,
    For,
    Foreign,
    If,
    LoopProgram,
    Statement,
    View,
    While,
    all_statements,
    listed,
)
from kinemorph.codegen.loops.printing import format_affine
from kinemorph.codegen.reading.names import fresh_stem
from kinemorph.vocabulary.blocks import Block, Item

IN_PLACE = 24  # a program with at most this many operations and results is inlined where a loop calls it
INFIX = ("add", "sub", "mul", "div")


@dataclass(frozen=True)
class Function:
    """A program as a function of the emitted code: the names of its arrays by port, and the lines of its body."""

    program: Program | LoopProgram
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    lines: tuple[str, ...]


class Functions:
    """The functions of one source file, each written at the first request for it, after the functions that it calls.

    `foreign` are the names of foreign functions in this file, by their names in loop programs, where they differ.
    """

    def __init__(self, language: Language, foreign: Mapping[str, str] | None = None) -> None:
        self.language = language
        self.foreign = foreign or {}
        self.names = Names(language)
        self.written: list[Function] = []
        self._found: dict[int | Block, Function] = {}

    def of(self, program: Program | LoopProgram, name: str | None = None) -> Function:
        """The function of a program; its name is `name`, an identifier, or else made from the program's name."""
        return self._once(id(program), program, name)

    def of_block(self, block: Block) -> Function:
        """The function that computes a block, an operation on arrays such as solving linear equations."""
        return self._once(block, routine(block), None)

    def _once(self, key: int | Block, program: Program | LoopProgram, name: str | None) -> Function:
        if key not in self._found:
            name = name or self.language.private + self.names.new(program.name)
            self._found[key] = _Body(program, self).function(name)
            self.written.append(self._found[key])
        return self._found[key]


class _Pool:
    """Names of variables; names that are given back are reused, the lowest number first."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.made = 0
        self.free: list[int] = []

    def take(self) -> str:
        if self.free:
            return f"{self.stem}{heappop(self.free)}"
        self.made += 1
        return f"{self.stem}{self.made}"

    def give_back(self, name: str) -> None:
        heappush(self.free, int(name[len(self.stem) :]))


class _Body:
    """Writes the body of the function of one program; `functions` provides the functions that it calls."""

    def __init__(self, program: Program | LoopProgram, functions: Functions) -> None:
        self.program, self.functions, self.language = program, functions, functions.language
        own = program.foreign if isinstance(program, LoopProgram) else {}
        names = Names(self.language, [functions.foreign.get(name, name) for name in own])
        self.arrays: dict[str, str] = {}
        if isinstance(program, LoopProgram):
            ports = [*program.inputs, *program.outputs, *program.buffers, *(port for port, _ in program.constants)]
            self.arrays = {port.name: names.new(port.name) for port in ports}
            self.inputs = tuple(self.arrays[port.name] for port in program.inputs)
            self.outputs = tuple(self.arrays[port.name] for port in program.outputs)
            loops = (statement for statement in all_statements(program.body) if isinstance(statement, For))
            self.counters = {name: names.new(name) for name in dict.fromkeys(loop.counter for loop in loops)}
        else:  # an input and an output may share their name
            self.inputs = tuple(names.new(port.name) for port in program.inputs)
            self.outputs = tuple(names.new(port.name) for port in program.outputs)
        self.stem = fresh_stem(names.taken | set(self.language.reserved))
        self.lines: list[str] = []
        self.depth = 1

    def function(self, name: str) -> Function:
        """Writes the body and returns the function; its outputs and buffers start at zero."""
        program = self.program
        for array, port in zip(self.outputs, program.outputs, strict=True):
            self.assign(array, self.language.zeros.format(port.size))
        if isinstance(program, LoopProgram):
            for port in program.buffers:
                self.assign(self.arrays[port.name], self.language.zeros.format(port.size))
            for port, numbers in program.constants:
                spelled = self.language.between.join(map(self.language.number, listed(numbers)))
                self.assign(self.arrays[port.name], self.language.constant.format(spelled))
            self.statements(program.body)
        else:
            entries = self.entries_of(self.inputs, program.inputs)
            values = self.operations(program, entries, _Pool(self.stem))
            places = self.entries_of(self.outputs, program.outputs)
            for place, value, ref in zip(places, values, program.refs, strict=True):
                if ref != 0:
                    self.assign(place, value)
        return Function(program, name, self.inputs, self.outputs, tuple(self.lines))

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def assign(self, target: str, value: str) -> None:
        self.line(self.language.assign.format(target, value))

    def entries_of(self, arrays: Iterable[str], ports: Iterable[Port]) -> list[str]:
        """The expressions for all entries of some arrays, one after the other."""
        return [
            self.language.entry.format(array, k + self.language.first)
            for array, port in zip(arrays, ports, strict=True)
            for k in range(port.size)
        ]

    # ── straight lines ────────────────────────────────────────────────────────────────────────────────────────────

    def operations(self, program: Program, inputs: Sequence[str], pool: _Pool) -> list[str]:
        """Writes a line for every operation of a program; returns the expressions for its output entries.

        `inputs` are the expressions for its input entries; `pool` gives names of variables.
        """
        nodes, language = program.graph.nodes, self.language
        order = [i for i, _ in program.steps]
        last = last_uses(program, order)
        kept = {abs(ref) for ref in program.refs}
        names: dict[int, str] = {}

        def spell(ref: int, number: str = "{}") -> str:
            i = abs(ref)
            op, *args = nodes[i]
            if op == "const":
                return number.format(language.number(args[0] if ref >= 0 else -args[0]))
            text = inputs[args[0]] if op == "input" else names[i]
            return f"-{text}" if ref < 0 else text

        for position, i in enumerate(order):
            op, *args = nodes[i]
            bare = op in INFIX and any(nodes[abs(ref)][0] != "const" for ref in args)
            given = [spell(ref, "{}" if bare else language.typed_number) for ref in args]
            if isinstance(op, Item):
                text = language.entry.format(given[0], op.index + language.first)
            elif isinstance(op, Block):
                text = language.block.format(self.functions.of_block(op).name, language.between.join(given))
            else:
                text = language.ops[op].format(*given)
            for arg in {abs(ref) for ref in args}:
                if arg in names and last[arg] == position and arg not in kept:
                    pool.give_back(names[arg])
            names[i] = pool.take()
            self.assign(names[i], text)
        return [spell(ref, language.typed_number) for ref in program.refs]

    # ── loops ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def statements(self, body: Sequence[Statement]) -> None:
        """Writes the source code of the statements of a loop program, one after the other."""
        language = self.language
        for statement in body:
            match statement:
                case Call():
                    self.call(statement)
                case Foreign():
                    given = ", ".join(self.span(view) for view in statement.ins)
                    sizes = "".join(f"{size}, " for size in statement.sizes[1])
                    name = self.functions.foreign.get(statement.function, statement.function)
                    self.assign(self.targets(statement.outs), language.foreign.format(name, sizes, given))
                case For():
                    stop = statement.stop
                    if isinstance(stop, View):
                        behind = language.bound.format(self.entry(stop)) + (f" - {language.first}" * language.first)
                    else:
                        behind = self.place(stop - language.first)
                    counter = self.counters[statement.counter]
                    self.block(language.repeat.format(counter, self.place(statement.start), behind), statement.body)
                case While():
                    self.block(language.going.format(self.entry(statement.condition)), statement.body)
                case If():
                    opening = language.chosen.format(self.entry(statement.condition))
                    self.block(opening, statement.then, closed=not statement.otherwise)
                    if statement.otherwise:
                        self.block(language.otherwise, statement.otherwise)

    def block(self, opening: str, body: Sequence[Statement], *, closed: bool = True) -> None:
        """Writes an indented body after the line `opening`; with `closed`, the word that ends it follows."""
        self.line(opening)
        self.depth += 1
        before = len(self.lines)
        self.statements(body)
        if len(self.lines) == before and self.language.end is None:
            self.line("pass")
        self.depth -= 1
        if closed and self.language.end is not None:
            self.line(self.language.end)

    def call(self, call: Call) -> None:
        """Writes a call of a function, or inlines a short program. All inputs are read before an output is written."""
        program = call.program
        if isinstance(program, LoopProgram) or program.ops + len(program.refs) > IN_PLACE:
            function = self.functions.of(program)
            self.assign(self.targets(call.outs), f"{function.name}({', '.join(self.span(view) for view in call.ins)})")
            return
        pool = _Pool(self.stem)
        inputs = [entry for view in call.ins for entry in self.entries(view, pool)]
        values = self.operations(program, inputs, pool)
        places = [entry for view in call.outs for entry in self.entries(view, pool)]
        if len(places) > 1:
            for k, ref in enumerate(program.refs):
                if program.graph.nodes[abs(ref)][0] == "input":  # read now: a write may change it
                    name = pool.take()
                    self.assign(name, f"+{values[k]}" if ref > 0 else values[k])
                    values[k] = name
        for place, value in zip(places, values, strict=True):
            self.assign(place, value)

    def targets(self, views: Sequence[View]) -> str:
        """The left side of an assignment of the results of a function to views."""
        spans = [self.span(view) for view in views]
        return spans[0] if len(spans) == 1 else self.language.targets.format(", ".join(spans))

    # ── views ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def place(self, value: Affine) -> str:
        """The expression for a whole number that depends on loop counters."""
        terms = tuple((self.counters[name], factor) for name, factor in value.terms)
        return format_affine(Affine(value.constant, terms), "*")

    def entries(self, view: View, pool: _Pool) -> list[str]:
        """The expressions for the entries of a view, a range of consecutive entries of an array.

        If the start of the range depends on data, the entries are read into a variable first.
        """
        if view.at is None:
            array, start = self.arrays[view.array], view.offset + self.language.first
            return [self.language.entry.format(array, self.place(start + k)) for k in range(view.size)]
        name = pool.take()
        self.assign(name, self.span(view))
        return [self.language.entry.format(name, k + self.language.first) for k in range(view.size)]

    def entry(self, view: View) -> str:
        """The expression that reads or writes the number of `view`: one entry of an array (see `loop_program.View`)."""
        if view.at is None:
            return self.language.entry.format(self.arrays[view.array], self.place(view.offset + self.language.first))
        start = self.place(view.offset)
        return self.language.picked.format(self.arrays[view.array], start, view.stride, self.entry(view.at))

    def span(self, view: View) -> str:
        """The expression for a view, a range of consecutive entries of an array, as an array."""
        array = self.arrays[view.array]
        if view.at is None:
            start, stop = view.offset + self.language.first, view.offset + view.size
            return self.language.span.format(array, self.place(start), self.place(stop))
        return self.language.gathered.format(
            array, self.place(view.offset), view.stride, self.entry(view.at), view.size
        )
