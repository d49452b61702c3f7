"""One source file of C or CUDA: its names, its functions, and the internal functions that these call.

The functions that a user calls get their names first, so that the names do not depend on internal functions. Programs
and block routines that they call become internal functions of the file, each defined once, above its first caller.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from kinemorph.codegen.backends.c.abreast import Argument, define_abreast
from kinemorph.codegen.backends.c.functions import Function, about, define_program
from kinemorph.codegen.backends.c.loop_programs import define_loops, define_picked
from kinemorph.codegen.backends.c.spelling import RESERVED, Dialect, Names, block_comment
from kinemorph.codegen.backends.identifiers import comment, identifier, includable
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.loops.loop_program import Foreign, LoopProgram
from kinemorph.vocabulary.blocks import Block


class Unit:
    """A source file being written. `functions` are those that a user calls, in order; `lines` are the lines so far.

    `file` is the name of the file without its ending, by default `name` as an identifier. `foreign` are the names of
    foreign functions in this file, by their names in loop programs, where they differ.
    """

    def __init__(
        self,
        programs: Sequence[Program | LoopProgram],
        name: str,
        dialect: Dialect,
        file: str | None = None,
        foreign: Mapping[str, str] | None = None,
    ) -> None:
        self.dialect = dialect
        self.names = Names()
        self._foreign = dict(foreign or {})
        called = [name for program in programs if isinstance(program, LoopProgram) for name in program.foreign]
        self.names.taken.update(self._foreign.get(name, name) for name in called)  # no other function may have them
        self.name = identifier(name, reserved=RESERVED)  # of the header guard; a function may have the same name
        self.file = self.name if file is None else includable(file)
        self.functions = [self._named(program) for program in programs]
        self.lines: list[str] = []
        self._internal: dict[Any, Function] = {}
        self._picked = ""
        self._declared: set[str] = set()

    def _named(self, program: Program | LoopProgram) -> Function:
        """A program with new names for its function and arrays; as loops, if these are faster for one state."""
        inputs = self.names.local(port.name for port in program.inputs)
        outputs = self.names.local((port.name for port in program.outputs), beside=inputs)
        loops = program.for_one if isinstance(program, Program) and self.dialect.lanes > 1 else None
        return Function(loops or program, self.names.new(program.name), inputs, outputs)

    def define(self, function: Function, before: str = "") -> None:
        """Adds the definition of a function after those of functions it calls; `before` are words such as "static "."""
        program = function.program
        if isinstance(program, LoopProgram):
            lines = define_loops(function, program, self, before)
        else:
            lines = define_program(function, program, self, before)
        self.lines += [*block_comment(about(function)), *lines]

    def internal(self, program: Program | LoopProgram | Block) -> str:
        """The name of the internal function of a program or a block, which is defined at the first request."""
        key = program if isinstance(program, Block) else id(program)
        if key not in self._internal:
            function = self._named(routine(program) if isinstance(program, Block) else program)
            self._internal[key] = function  # the Function keeps the program alive, so that no other object gets its id
            self.define(function, f"{self.dialect.internal} ")
        return self._internal[key].name

    def abreast(
        self, program: Program, ins: Sequence[Argument], outs: Sequence[Argument], passes: int, lanes: int
    ) -> str:
        """The name of an internal function that computes all passes of a loop over a program, in lanes."""
        name, lines = define_abreast(program, self, ins, outs, passes, lanes)
        said = f"{comment(program.name)}: {program.ops} operations in {passes} passes side by side"
        self.lines += [*block_comment([said]), *lines]
        return name

    def picked(self) -> str:
        """The name of the function that computes where a view (a range of an array) starts, if that depends on data.

        It is defined at the first request.
        """
        if not self._picked:
            self._picked = self.names.new("picked")
            self.lines += define_picked(self._picked, self.dialect)
        return self._picked

    def foreign(self, call: Foreign) -> str:
        """The name of a function that is defined in another file; it is declared at the first request."""
        name = self._foreign.get(call.function, call.function)
        if name not in self._declared:
            self._declared.add(name)
            real = self.dialect.real
            listed = ", ".join([f"const {real} *"] * len(call.ins) + [f"{real} *"] * len(call.outs))
            self.lines += [f"extern void {name}({listed});", ""]
        return name

    def opening(self, remarks: Sequence[str]) -> list[str]:
        """The lines of the comment at the top of a file; `remarks` are its last lines."""
        listed = ", ".join(comment(function.program.name) for function in self.functions)
        first = textwrap.wrap(f"{self.name}: {listed}", 110, subsequent_indent="    ")
        origin = f"Emitted by Kinemorph. Numbers are of type {self.dialect.real}, in SI units and radians."
        return [*block_comment([*first, "", origin, *remarks]), ""]

    def macros(self, function: Function) -> list[str]:
        """Lines that define the sizes of a function's arrays as macros."""
        ports = (*function.program.inputs, *function.program.outputs)
        return [
            f"#define {self.names.new(f'{function.name}_{name}_size'.upper())} {port.size}"
            for name, port in zip(function.arrays, ports, strict=True)
        ]

    def header(self, ending: str, remarks: Sequence[str], prototypes: Sequence[str]) -> str:
        """The text of the header file `name.ending`, with one prototype per function."""
        guard = self.names.new(f"{self.name}_{ending}".upper())
        lines = self.opening(remarks)
        lines += [f"#ifndef {guard}", f"#define {guard}", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        for function, prototype in zip(self.functions, prototypes, strict=True):
            lines += [*block_comment(about(function)), *self.macros(function), prototype, ""]
        return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])
