"""What a scripting language is to the emitter: a table of spellings, and how names of a model become names in it.

Names of a model never reach the text as they are: every one passes through `identifiers`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kinemorph.codegen.identifiers import identifier
from kinemorph.codegen.loops import LoopProgram
from kinemorph.codegen.program import Program
from kinemorph.codegen.routines import check_precision
from kinemorph.errors import UnsupportedError

Row = TypeVar("Row")


@dataclass(frozen=True)
class Language:
    """Spellings. Places in arrays are counted from `first`; `{}` are filled in order."""

    reserved: Collection[str]
    ops: Mapping[str, str]
    number: Callable[[float], str]
    typed_number: str  # a number where no neighbor gives it its type: inside a call
    first: int
    private: str  # opens the names of functions that only the text itself calls; no identifier of a model has it
    assign: str
    entry: str  # array, place
    span: str  # array, first place, last place (in Python the one behind it)
    gathered: str  # array, start, stride, number, count: a run that starts at start + stride * number
    picked: str  # array, start, stride, number: one entry of that kind
    block: str  # function, arguments
    between: str  # arguments of a block
    targets: str  # several arrays that a call writes to
    zeros: str  # size
    constant: str  # numbers
    repeat: str  # counter, start, last (in Python the one behind it)
    bound: str  # a number as the bound of a loop
    going: str
    chosen: str
    otherwise: str
    end: str | None  # what closes a block, None where the indent says it


class Names:
    """Hands out identifiers, each once."""

    def __init__(self, language: Language, taken: Iterable[str] = ()) -> None:
        self.reserved = language.reserved
        self.taken = set(taken)

    def new(self, name: str) -> str:
        """A name of a model as an identifier that is still free."""
        found = identifier(name, self.taken, self.reserved)
        self.taken.add(found)
        return found


def function_name(program: Program | LoopProgram) -> str:
    """The name of a program without its owner: `jacobian[flange]` of `puma.jacobian[flange]`."""
    head, bracket, rest = program.name.partition("[")
    return head.rpartition(".")[2] + bracket + rest


def of_precision(table: Mapping[str, Row], precision: str, programs: Iterable[Program | LoopProgram]) -> Row:
    """The row of a precision that can carry the programs."""
    for program in programs:
        check_precision(program, precision)
    if precision not in table:
        known = " or ".join(f"'{name}'" for name in table)
        raise UnsupportedError(f"precision '{precision}' is unknown. Choose {known}.")
    return table[precision]
