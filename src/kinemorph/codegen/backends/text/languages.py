"""A scripting language as the emitter sees it: a table of spellings, and how names of a model become names in it.

Names of a model never reach the text as they are: every one passes through `identifiers`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kinemorph.codegen.backends.identifiers import identifier
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import LoopProgram


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
