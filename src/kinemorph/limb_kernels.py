"""Functions of a robot with limbs that are alike, traced with one limb of each kind.

A function over any scalar runs on a tree with one limb of each kind (`mechanics.limbs`). What it does to the limb is
then one program, in a loop over all limbs with the numbers of each in a table, and on one state the limbs are lanes of
SIMD registers; what it does to the body they hang on is done once (`codegen.staging`). Limbs meet in sums only:

    common ──► limbs ──► sums ──► common ──► limbs ...

In ABA that is: how the body moves, each limb's articulated inertia and wrench, their sums, the acceleration of the
body, the accelerations of the limbs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinemorph.codegen.loops import LoopBuilder, LoopProgram
from kinemorph.codegen.staging import LATE, SUM, SUMMAND, Spot, Sums, staged
from kinemorph.codegen.tracing import trace
from kinemorph.mechanics.limbs import Limbs, kept_places, one_of_each
from kinemorph.mechanics.tree import Tree

TABLE = "limbs {}"  # port: the numbers in which limbs of a kind differ
MOST_SUMS = 400  # over limbs of a kind; ABA takes 27
Numbers = tuple[int, Sequence[Sequence[float]]]  # the kind of limb, and a row for each of its limbs


@dataclass(frozen=True)
class Spread:
    """An array with numbers of all limbs, as a function of one limb of each kind sees it: `spots` of `size` numbers."""

    size: int
    spots: tuple[Spot, ...]

    def __add__(self, other: Spread) -> Spread:
        """Two arrays one after the other as one."""
        behind = tuple(spot._replace(place=spot.place + self.size) for spot in other.spots)
        return Spread(self.size + other.size, self.spots + behind)


def as_q(tree: Tree, limbs: Sequence[Limbs]) -> Spread:
    """An array laid out as the configuration."""
    return Spread(tree.nq, tuple(along(kept_places(tree, limbs)[1], [kind.coordinates for kind in limbs])))


def as_v(tree: Tree, limbs: Sequence[Limbs]) -> Spread:
    """An array laid out as the velocity."""
    return Spread(tree.nv, tuple(along(kept_places(tree, limbs)[2], [kind.velocities for kind in limbs])))


def common(size: int) -> Spread:
    """An array that belongs to no limb."""
    return Spread(size, tuple(map(Spot, range(size))))


def each(limbs: Sequence[Limbs], kind: int, size: int) -> Spread:
    """An array with a row of `size` numbers for each limb of a kind."""
    return Spread(limbs[kind].count * size, tuple(Spot(place, kind, size) for place in range(size)))


def along(places: Sequence[int], shares: Sequence[tuple[int, int]]) -> list[Spot]:
    """Spots at places, of which shares (start, size) belong to the first of several limbs."""
    spots = {place: Spot(place) for place in places}
    for number, (start, size) in enumerate(shares):
        spots |= {place: Spot(place, number, size) for place in range(start, start + size)}
    return [spots[place] for place in places]


def limb_program(
    name: str,
    tree: Tree,
    limbs: Sequence[Limbs],
    function: Callable[..., Any],
    inputs: Mapping[str, Spread],
    outputs: Mapping[str, Spread],
    numbers: Mapping[str, Numbers] | None = None,
) -> LoopProgram:
    """A function of a tree and arrays, for all limbs.

    `function(one, *inputs, *numbers)` gives a dict of the outputs. `one` is the tree with one limb of each kind; arrays
    come and go as such a tree has them. `numbers` are fixed ones of each limb, as where its foot is: name -> (kind,
    rows); those that are the same in all rows come as plain numbers. What limbs add up to is to be taken by
    `one.of_all(first link of the limb, value)`. The program's ports are flat, shape (size,).
    """
    tables = {TABLE.format(k): (k, kind.table) for k, kind in enumerate(limbs)}
    tables |= {f"{TABLE.format(k)}: {given}": (k, rows) for given, (k, rows) in (numbers or {}).items()}
    kept = {port: _own(rows) for port, (_, rows) in tables.items()}
    shapes = {port: (len(spread.spots),) for port, spread in inputs.items()}
    shapes |= {port: (len(own),) for port, own in kept.items()}
    shapes |= {SUM.format(k): (MOST_SUMS,) for k in range(len(limbs))}

    def run(*arguments: Any) -> dict[str, Any]:
        given = dict(zip(shapes, arguments, strict=True))
        sums = [Sums(given[SUM.format(k)], kind.count) for k, kind in enumerate(limbs)]
        rows = [_filled(tables[port][1], kept[port], given[port]) for port in tables]
        one = one_of_each(tree, limbs, rows[: len(limbs)], sums)
        found = function(one, *(given[port] for port in inputs), *rows[len(limbs) :])
        return {**found, **{SUMMAND.format(k): total.summands for k, total in enumerate(sums)}}

    program = trace(run, shapes, name=name, outputs={port: (len(spread.spots),) for port, spread in outputs.items()})
    spots: dict[str, Sequence[Spot]] = {port: spread.spots for port, spread in {**inputs, **outputs}.items()}
    spots |= {port: [Spot(e, k, len(kept[port])) for e in range(len(kept[port]))] for port, (k, _) in tables.items()}
    parts = staged(program, (), [kind.count for kind in limbs], spots)

    loop = LoopBuilder(
        name,
        {port: (spread.size,) for port, spread in inputs.items()},
        {port: (spread.size,) for port, spread in outputs.items()},
    )
    arrays = {port: loop[port] for port in (*inputs, *outputs)}
    arrays |= {port.name: loop.buffer(port.name, port.shape) for port in parts.carried}
    for port, (_, rows) in tables.items():
        if kept[port]:
            arrays[port] = loop.constant(port, [row[k] for row in rows for k in kept[port]])
    parts.write(loop, LATE, arrays)
    return loop.program()


def _own(rows: Sequence[Sequence[float]]) -> list[int]:
    """The columns that are not the same number in all rows."""
    return [k for k, column in enumerate(zip(*rows, strict=True)) if len(set(column)) > 1]


def _filled(rows: Sequence[Sequence[float]], own: Sequence[int], given: Sequence[Any]) -> list[Any]:
    """A row with what is given in the columns that differ."""
    row: list[Any] = list(rows[0])
    for k, value in zip(own, given, strict=True):
        row[k] = value
    return row
