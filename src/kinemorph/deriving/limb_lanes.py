"""Functions of a robot with similar limbs, traced with one limb of each kind.

A function over any scalar type runs on a tree with one limb of each kind (`mechanics.trees.limbs`). Its operations on
the limb become one program, in a loop over all limbs with the numbers of each in a table, and on one state the limbs
are lanes of SIMD registers; operations on the body that carries the limbs are done once (`codegen.loops.splitting`).
Limbs meet in sums only:

    common ──► limbs ──► sums ──► common ──► limbs ...

In ABA these are: the motion of the body, each limb's articulated inertia and wrench, their sums, the acceleration of
the body, the accelerations of the limbs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from kinemorph.codegen.graphs.program import Program, with_loops_for_one
from kinemorph.codegen.graphs.tracing import entries_of, trace
from kinemorph.codegen.loops.loop_builder import LoopBuilder
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.codegen.loops.splitting import COMMON, LATE, SUM, SUMMAND, Spot, Sums, staged
from kinemorph.mechanics.recursions.newton_euler import loads_on_links
from kinemorph.mechanics.trees.limbs import Limbs, kept_places, like_limbs, one_of_each
from kinemorph.mechanics.trees.tree import Tree

TABLE = "limbs {}"  # the name of the input with the numbers in which limbs of a kind differ
MOST_SUMS = 400  # sums over limbs of a kind; ABA takes 27
SPARED, MOST = 100, 0.8  # operations that loops have to save at least, and the largest share that may remain


@dataclass(frozen=True)
class Spread:
    """The layout of an array with the numbers of all limbs, `size` in total.

    `spots` are the indices of numbers that belong to no limb, and of those of the first limb of each kind; a Spot also
    has the stride from a number of one limb to that of the next.
    """

    size: int
    spots: tuple[Spot, ...]

    def __add__(self, other: Spread) -> Spread:
        """The layout of an array that holds this array and then the other."""
        behind = tuple(spot._replace(place=spot.place + self.size) for spot in other.spots)
        return Spread(self.size + other.size, self.spots + behind)


def as_q(tree: Tree, limbs: Sequence[Limbs]) -> Spread:
    """The layout of an array that is ordered like the configuration q."""
    return along(tree.of_state.nq, kept_places(tree, limbs)[1], [kind.coordinates for kind in limbs])


def as_v(tree: Tree, limbs: Sequence[Limbs]) -> Spread:
    """The layout of an array that is ordered like the velocity v."""
    return along(tree.of_state.nv, kept_places(tree, limbs)[2], [kind.velocities for kind in limbs])


def common(size: int) -> Spread:
    """The layout of an array of `size` numbers that belong to no limb."""
    return Spread(size, tuple(map(Spot, range(size))))


def each(limbs: Sequence[Limbs], kind: int, size: int) -> Spread:
    """The layout of an array with a row of `size` numbers for each limb of a kind."""
    return Spread(limbs[kind].count * size, tuple(Spot(place, kind, size) for place in range(size)))


def along(size: int, places: Sequence[int], strides: Sequence[Mapping[int, int]]) -> Spread:
    """The layout of an array of `size` numbers, of which `places` (indices) belong to no limb or to a first limb.

    strides[k] has the indices of the numbers of the first limb of kind k, each with the distance to that of the next
    limb. All other indices belong to no limb.
    """
    spots = {place: Spot(place) for place in places if place < size}
    for number, entries in enumerate(strides):
        spots |= {place: Spot(place, number, stride) for place, stride in entries.items() if place < size}
    return Spread(size, tuple(spots.values()))


def limb_program(
    name: str,
    tree: Tree,
    limbs: Sequence[Limbs],
    function: Callable[..., Any],
    inputs: Mapping[str, Spread],
    outputs: Mapping[str, Spread],
    numbers: Mapping[str, tuple[Spread, Sequence[float]]] | None = None,
) -> LoopProgram:
    """The loop program of a function of a tree and arrays, which runs one limb of each kind for all limbs.

    `function(one, *inputs, *numbers)` returns a dict of the outputs. `one` is the tree with one limb of each kind;
    arrays are ordered like that tree. `numbers` are arrays of fixed numbers, such as dampings or positions of feet:
    those that are the same for all limbs become constants. To sum a value over limbs, `function` calls
    `one.of_all(index of the first link of the limb, value)`. The program has flat inputs and outputs, shape (size,).
    """
    tables = [_Table(TABLE.format(k), each(limbs, k, len(kind.own)), _flat(kind.table)) for k, kind in enumerate(limbs)]
    tables += [_Table(TABLE.format(f"of {given}"), *fixed) for given, fixed in (numbers or {}).items()]
    counts = [kind.count for kind in limbs]
    shapes = {port: (len(spread.spots),) for port, spread in inputs.items()}
    shapes |= {table.port: (len(table.own(counts)),) for table in tables}
    shapes |= {SUM.format(k): (MOST_SUMS,) for k in range(len(limbs))}

    def run(*arguments: Any) -> dict[str, Any]:
        given = dict(zip(shapes, arguments, strict=True))
        sums = [Sums(given[SUM.format(k)], kind.count) for k, kind in enumerate(limbs)]
        rows = [table.filled(counts, given[table.port]) for table in tables]
        one = one_of_each(tree, limbs, rows[: len(limbs)], sums)
        results = function(one, *(given[port] for port in inputs), *rows[len(limbs) :])
        found = {port: list(entries_of(results[port])) for port in outputs}
        return {**found, **{SUMMAND.format(k): total.summands for k, total in enumerate(sums)}}

    program = trace(run, shapes, name=name, outputs={port: (len(spread.spots),) for port, spread in outputs.items()})
    spots: dict[str, Sequence[Spot]] = {port: spread.spots for port, spread in {**inputs, **outputs}.items()}
    parts = staged(program, (), counts, spots | {table.port: table.own(counts) for table in tables})

    loop = LoopBuilder(
        name,
        {port: (spread.size,) for port, spread in inputs.items()},
        {port: (spread.size,) for port, spread in outputs.items()},
    )
    arrays = {port: loop[port] for port in (*inputs, *outputs)}
    arrays |= {port.name: loop.buffer(port.name, port.shape) for port in parts.carried}
    for table in tables:
        if table.own(counts):
            arrays[table.port] = loop.constant(table.port, table.values)
    refs = iter(program.refs)
    for port, spread in outputs.items():
        entries = zip(islice(refs, len(spread.spots)), spread.spots, strict=True)
        if [spot for ref, spot in entries if ref == 0 and spot.repeat != COMMON]:
            with loop.repeat(spread.size) as k:  # limbs do not write entries that are always zero
                loop.let(loop[port][k], lambda: 0.0)
    parts.write(loop, LATE, arrays)
    return loop.program()


def with_limbs_abreast(program: Program, tree: Tree, function: Callable[..., Any], frames: Sequence[str]) -> Program:
    """The program of a function, with similar limbs in SIMD lanes for one state, if that is faster.

    The function takes a tree, q, arrays that are ordered like v, and perhaps `wrenches` at frames. Lanes are faster
    where they save operations: measured, ABA of 6 legs becomes 2.2 to 2.5 times as fast and of two legs of three joints
    1.3 times, inverse dynamics 2.4 to 3.0 and 1.3 times. Loops and lanes cost as much as some tens of operations, so
    two wheels on a cart are not put into lanes. In a batch the lanes hold several states: there the unrolled program,
    which uses the zeros of each limb, is 3 to 25 % faster, and stays in use.
    """
    limbs = like_limbs(tree, {tree.attachments[frame].link for frame in frames})
    if not limbs:
        return program
    inputs = {port.name: as_v(tree, limbs) for port in program.inputs}
    inputs |= {"q": as_q(tree, limbs)} | ({"wrenches": common(6 * len(frames))} if frames else {})

    def run(one: Tree, *state: Any) -> dict[str, Any]:
        if not frames:
            return {"out": function(one, *state)}
        rows = [state[-1][6 * k : 6 * k + 6] for k in range(len(frames))]
        return {"out": function(one, *state[:-1], loads_on_links(one, frames, rows))}

    return faster_of(program, limb_program(program.name, tree, limbs, run, inputs, {"out": as_v(tree, limbs)}))


def faster_of(program: Program, loops: LoopProgram) -> Program:
    """The program, with `loops` over limbs for calls with one state, if they save enough operations."""
    pays = loops.ops <= program.ops - SPARED and loops.ops <= MOST * program.ops
    return with_loops_for_one(program, loops) if pays else program


@dataclass(frozen=True)
class _Table:
    """Fixed numbers of all limbs; those in which limbs differ become the input `port` of a program."""

    port: str
    spread: Spread
    values: Sequence[float]

    def own(self, counts: Sequence[int]) -> list[Spot]:
        """The Spots at which limbs of a kind have different numbers; `counts` has the number of limbs of each kind."""
        return [spot for spot in self.spread.spots if len({*self._column(spot, counts)}) > 1]

    def filled(self, counts: Sequence[int], given: Sequence[Any]) -> list[Any]:
        """The numbers of one limb of each kind (limbs of a kind have the same structure), in the order of its data.

        Numbers that differ between the limbs of a kind are taken from `given`, all others are constants; `counts` are
        the numbers of limbs of each kind.
        """
        left = iter(given)
        own = {*self.own(counts)}
        return [next(left) if spot in own else self.values[spot.place] for spot in self.spread.spots]

    def _column(self, spot: Spot, counts: Sequence[int]) -> Sequence[float]:
        count = 1 if spot.repeat == COMMON else counts[spot.repeat]
        return [self.values[spot.place + k * spot.stride] for k in range(count)]


def _flat(rows: Sequence[Sequence[float]]) -> list[float]:
    return [x for row in rows for x in row]
