"""A scripting language for the code generator: a table of spellings, and identifiers for names of a model.

Names of a model are never written as they are: every name is converted by `identifiers`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import LoopProgram


@dataclass(frozen=True)
class Language:
    """How a language writes operations and statements: format strings whose `{}` are filled in the order given.

    `first` is the index of the first entry of an array.
    """

    reserved: Collection[str]
    ops: Mapping[str, str]
    number: Callable[[float], str]
    typed_number: str  # a number as an argument of a call, where no other operand determines its type
    first: int
    private: str  # the prefix of functions that only the emitted code calls; no identifier of a model has it
    assign: str
    entry: str  # array, index
    span: str  # array, first index, last index (in Python the one after it)
    gathered: str  # array, start, stride, number, count: `count` entries from index start + stride * number on
    picked: str  # array, start, stride, number: the entry at index start + stride * number
    block: str  # function, arguments
    between: str  # the separator of the arguments of a block
    targets: str  # several arrays that a call writes to
    foreign: str  # a call of a foreign function: its name, the sizes of its outputs, its arguments
    zeros: str  # size
    constant: str  # numbers
    repeat: str  # a for loop: counter, start, last (in Python the number after it)
    bound: str  # a number as the bound of a loop
    going: str  # a while loop: number
    chosen: str  # an if: number
    otherwise: str
    end: str | None  # the word that ends a body; None if indentation does


class Names:
    """Makes identifiers that are all different."""

    def __init__(self, language: Language, taken: Iterable[str] = ()) -> None:
        self.reserved = language.reserved
        self.taken = set(taken)

    def new(self, name: str) -> str:
        """A new identifier made from a name of a model."""
        found = identifier(name, self.taken, self.reserved)
        self.taken.add(found)
        return found


def function_name(program: Program | LoopProgram) -> str:
    """The name of a program without its owner: `jacobian[flange]` for `puma.jacobian[flange]`."""
    head, bracket, rest = program.name.partition("[")
    return head.rpartition(".")[2] + bracket + rest
