"""Loops with independent passes (`apart`) in C: all passes at a time, in loops that a compiler puts in SIMD lanes.

    for (int l = 0; l < 8; ++l) {                  /* six legs; the last two lanes repeat the last leg */
        const double n0 = x1[l] + x9[80 + l];
        scratch[0][l] = n0;
    }
    for (int l = 0; l < 6; ++l) {                  /* functions of the math library have no lanes */
        scratch[1][l] = sin(scratch[0][l]);
    }

The operations of a program are divided into stages, which are such loops: in turns those that compilers know for
vectors, and calls of the math library. Values from stage to stage are in arrays with one number for each lane, and so
are the arrays of a loop program that only such loops use (`rows_in_lanes`). Other arguments are copied to such arrays
before the first stage, and back after the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinemorph.codegen.backends.c.functions import SCRATCH, Place, Statements, Unit, braced, parameters
from kinemorph.codegen.backends.c.spelling import number
from kinemorph.codegen.graphs.fused import fused
from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.schedule import assign_slots, last_uses, twins_together
from kinemorph.codegen.loops.loop_program import Affine, Call, For, View
from kinemorph.codegen.loops.rows_in_lanes import passes_of

LIBRARY = frozenset({"sqrt", "pow", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan2"})  # calls without lanes
FEWEST = 3  # passes that are put in lanes
WORTH = 64  # operations in a pass that are worth lanes
LONGEST = 400  # operations in a stage; compilers take long for longer ones
LANE = "l"  # the number of a lane


class Argument(NamedTuple):
    """How an argument of a call is stored: `size` numbers for each pass.

    `stride`    the distance of the passes' numbers in the array; 0 if all passes have the same numbers
    `in_lanes`  whether the array has a row of lanes for each number
    `table`     the numbers of all passes one after the other, where they are constants; else empty
    """

    size: int
    stride: int
    in_lanes: bool = False
    table: tuple[float, ...] = ()

    @property
    def is_copied(self) -> bool:
        """Whether its numbers are copied to lanes, or back from them."""
        return bool(self.stride) and not self.in_lanes and not self.table


def lanes_of(loop: For, most: int) -> int:
    """The number of lanes in which the passes of a loop run, up to `most`; 1 if they run one after the other."""
    if not loop.apart or isinstance(loop.stop, View) or loop.start != Affine(0):
        return 1
    if not FEWEST <= passes_of(loop) <= most:
        return 1
    worth = 0
    for call in loop.body:
        if not isinstance(call, Call) or not isinstance(call.program, Program) or call.program.blocks:
            return 1
        if any(view.at for view in (*call.outs, *call.ins)) or _overlaps(call):
            return 1
        if any(not view.offset.coefficient(loop.counter) for view in call.outs):
            return 1
        worth = max(worth, call.program.ops)
    return 1 << (passes_of(loop) - 1).bit_length() if worth >= WORTH else 1


def _overlaps(call: Call) -> bool:
    arrays = [view.array for view in call.outs]
    return bool({*arrays} & {view.array for view in call.ins})


def define_abreast(
    program: Program, unit: Unit, ins: Sequence[Argument], outs: Sequence[Argument], passes: int, lanes: int
) -> tuple[str, list[str]]:
    """(name, lines) of the function that computes all passes of a loop over `program`.

    Its parameters are pointers to the arguments of the first pass, without those that are tables.
    """
    dialect, program = unit.dialect, fused(program)
    name = unit.names.new(f"{program.name}_abreast")
    given = [f"x{k}" for k in range(len(ins))]
    made = [f"y{k}" for k in range(len(outs))]
    moved: list[tuple[Place, str]] = []  # (place in lanes, place in the array) of each number to copy
    inputs = [place for k, one in enumerate(ins) for place in _places(given[k], one, lanes, moved)]
    before, moved = moved, []
    outputs = [place for k, one in enumerate(outs) for place in _places(made[k], one, lanes, moved)]
    after = moved

    stages = list(_stages(program))
    chunks = tuple(tuple(stage) for _, stage in stages)
    slots, count = assign_slots(chunks, last_uses(program, [i for chunk in chunks for i in chunk]))
    kept = {i: Place(SCRATCH, f"{SCRATCH}[{slot}][{LANE}]") for i, slot in slots.items()}
    body: list[str] = []
    used: set[str] = set()
    for library, stage in stages:
        statements = Statements(program, unit, inputs, outputs, kept=kept)
        if not body:
            statements.store_leaves()
        for i in stage:
            statements.carry_out(i)
            statements.store(i)
        used |= statements.touched
        body += _looped(statements.lines, passes if library else lanes)
        if library:
            body += _repeated(statements.lines, passes, lanes)

    arrays = [f"{dialect.real} {SCRATCH}[{count}][{lanes}];"] if count else []
    named = [*zip(given, ins, strict=True), *zip(made, outs, strict=True)]
    for array, one in named:
        if one.table and array in used:
            filled = [one.table[min(k, passes - 1) * one.size + j] for j in range(one.size) for k in range(lanes)]
            numbers = ", ".join(number(value, dialect) for value in filled)
            arrays.append(f"{dialect.constant} {dialect.real} {array}[] = {{{numbers}}};")
        elif one.is_copied and array in used:
            arrays.append(f"{dialect.real} {array}_lanes[{one.size}][{lanes}];")
    taken = [f"{place.text} = {text};" for place, text in before if place.array in used]
    given_back = [f"{text} = {place.text};" for place, text in after]
    lines = [f"(void){array};" for array, one in named if array not in used and not one.table]
    lines += [*arrays, *_looped(taken, passes), *_repeated(taken, passes, lanes), *body, *_looped(given_back, passes)]
    listed = parameters([array for array, one in named[: len(ins)] if not one.table], made, dialect)
    return name, braced(f"{dialect.internal} void {name}({listed})", lines)


def _places(name: str, one: Argument, lanes: int, moved: list[tuple[Place, str]]) -> Iterator[Place]:
    """The places of the numbers of an argument in a stage; those that are copied are added to `moved`."""
    for k in range(one.size):
        if not one.stride:
            yield Place(name, f"{name}[{k}]")
        elif not one.is_copied:
            yield Place(name, f"{name}[{lanes * k} + {LANE}]")
        else:
            place = Place(name, f"{name}_lanes[{k}][{LANE}]")
            moved.append((place, f"{name}[{one.stride} * {LANE} + {k}]"))
            yield place


def _stages(program: Program) -> Iterator[tuple[bool, list[int]]]:
    """(whether they call the math library, operations) of each stage, in an order in which they can be evaluated."""
    nodes = program.graph.nodes
    level: dict[int, int] = {}
    levels: dict[int, list[int]] = {}
    for i in twins_together(program):
        op, *args = nodes[i]
        own = max((level[abs(arg)] for arg in args if nodes[abs(arg)][0] not in LEAVES), default=0)
        if (own % 2 == 1) != (op in LIBRARY):  # odd levels call the library, even ones do not
            own += 1
        level[i] = own
        levels.setdefault(own, []).append(i)
    for own in sorted(levels):
        for first in range(0, len(levels[own]), LONGEST):
            yield own % 2 == 1, levels[own][first : first + LONGEST]


def _looped(lines: Sequence[str], count: int) -> list[str]:
    """Lines in a loop over the first `count` lanes."""
    if not lines:
        return []
    return [f"for (int {LANE} = 0; {LANE} < {count}; ++{LANE}) {{", *(f"    {line}" for line in lines), "}"]


def _repeated(lines: Sequence[str], passes: int, lanes: int) -> list[str]:
    """Lines that copy the numbers of the last pass, which `lines` assign, to the lanes after it."""
    if passes == lanes:
        return []
    last = re.compile(rf"\b{LANE}\b")
    places = [line.partition(" = ")[0] for line in lines if not line.startswith("const ")]
    found = [f"{place} = {last.sub(str(passes - 1), place)};" for place in places]
    if not found:
        return []
    return [f"for (int {LANE} = {passes}; {LANE} < {lanes}; ++{LANE}) {{", *(f"    {line}" for line in found), "}"]
