"""Limbs that are alike: hanging on one link, with the same joints in the same order, each with numbers of its own.

Six legs differ in where they are mounted and in how their masses lie. Where such numbers are given as graph nodes and
only what all limbs have in common stays a number, the recursions write the same operations for each: so one program
serves all of them. A number that is zero in some limbs only is then zero in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.mechanics.motions import ELEMENTARY, ZERO3, Move, PlaneTurn, S
from kinemorph.mechanics.tree import Link, Tree

Numbers = tuple[S, ...]


@dataclass(frozen=True)
class Limbs:
    """`count` limbs one behind the other, each link by link; the numbers of every link, see `_numbers`."""

    links: tuple[tuple[Link, ...], ...]
    first: int  # index of the first link of the first limb

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.links)

    @cached_property
    def own(self) -> list[tuple[int, int]]:
        """(link of the limb, place among its numbers) of all that is not the same in every limb."""
        return [
            (j, place)
            for j, links in enumerate(zip(*self.links, strict=True))
            for place, values in enumerate(zip(*map(_numbers, links), strict=True))
            if len(set(values)) > 1
        ]

    @cached_property
    def table(self) -> list[list[float]]:
        """Those numbers, one row for each limb."""
        return [[_numbers(limb[j])[place] for j, place in self.own] for limb in self.links]

    @property
    def coordinates(self) -> tuple[int, int]:
        """Where the coordinates of the first limb begin in q, and how many each limb has."""
        return self.links[0][0].q, sum(ELEMENTARY[link.kind].nq for link in self.links[0])

    @property
    def velocities(self) -> tuple[int, int]:
        """The same for velocities in v."""
        return self.links[0][0].v, sum(ELEMENTARY[link.kind].nv for link in self.links[0])


def like_limbs(tree: Tree) -> list[Limbs]:
    """All limbs that have others like them; the largest, where a part of a limb repeats too."""
    found = []
    index = 0
    while index < len(tree.links):
        shape = _shape(tree, index)
        size = _size(tree, index)
        starts = [index]
        while shape and starts[-1] + size < len(tree.links) and _follows(tree, starts[-1], shape):
            starts.append(starts[-1] + size)
        if len(starts) > 1:
            found.append(Limbs(tuple(tree.links[start : start + size] for start in starts), index))
            index = starts[-1] + size
        else:
            index += 1
    return found


def with_numbers(tree: Tree, limbs: Limbs, rows: Sequence[Sequence[S]]) -> Tree:
    """The tree with other scalars in place of the table of limbs."""
    links = list(tree.links)
    for k, (limb, row) in enumerate(zip(limbs.links, rows, strict=True)):
        numbers = [list(_numbers(link)) for link in limbs.links[0]]
        for (j, place), value in zip(limbs.own, row, strict=True):
            numbers[j][place] = value
        start = limbs.first + k * len(limb)
        links[start : start + len(limb)] = map(_rebuilt, limb, numbers)
    return replace(tree, links=tuple(links))


# ── limbs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _size(tree: Tree, index: int) -> int:
    """How many links follow each other that hang on a link, itself included."""
    stop = index + 1
    while stop < len(tree.links) and tree.links[stop].parent >= index:
        stop += 1
    return stop - index


def _follows(tree: Tree, start: int, shape: Any) -> bool:
    """Whether behind the limb at `start` stands another one of that shape, its q and v behind those of the first."""
    size = _size(tree, start)
    one, other, last = tree.links[start], tree.links[start + size], tree.links[start + size - 1]
    row = ELEMENTARY[last.kind]
    behind = (other.q, other.v) == (last.q + row.nq, last.v + row.nv)
    return behind and one.parent == other.parent and _shape(tree, start + size) == shape


def _shape(tree: Tree, index: int) -> Any:
    """All of a limb that has to be the same in limbs that are alike; None where its numbers are not plain ones."""
    links = tree.links[index : index + _size(tree, index)]
    if not all(isinstance(x, (float, int)) for link in links for x in _flat(link)):
        return None
    root = links[0]
    return [
        (link.kind, max(link.parent, index - 1) - index, link.q - root.q, link.v - root.v, _turns(link))
        for link in links
    ]


# ── the numbers of a link ─────────────────────────────────────────────────────────────────────────────────────────────


def _flat(link: Link) -> Numbers:
    """All of its numbers but those of its fixed turns."""
    return (link.mass, *link.h, *link.sigma, *link.placement.p, link.slide, link.pitch, link.offset, *link.armature)


def _numbers(link: Link) -> Numbers:
    """The same, with the whole offset of a joint that takes over a part of the fixed turn."""
    numbers = _flat(link)
    return (*numbers[:15], link.offset + link.fixed_turns[1], *numbers[16:])


def _rebuilt(link: Link, numbers: Numbers) -> Link:
    """A link with other numbers, in the order of `_numbers`."""
    mass, hx, hy, hz, *sigma = numbers[:10]
    px, py, pz, slide, pitch, offset = numbers[10:16]
    turns = Move(ZERO3, link.fixed_turns[0], 0.0)
    columns = [turns.out(axis) for axis in IDENTITY.R]
    return replace(
        link,
        placement=Pose(tuple(zip(*columns, strict=True)), (px, py, pz)),
        mass=mass,
        h=(hx, hy, hz),
        sigma=tuple(sigma),
        armature=tuple(numbers[16:]),
        offset=offset,
        slide=slide,
        pitch=pitch,
    )


def _turns(link: Link) -> Any:
    """What can be compared of its fixed turns."""
    return [(type(turn), turn.c, turn.s) if isinstance(turn, PlaneTurn) else turn for turn in link.fixed_turns[0]]
