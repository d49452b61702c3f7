"""Alike limbs: carried by one link, with the same joints in the same order, each with its own numbers.

Six legs differ in where they are mounted and in how their mass is distributed. Where these numbers become input
scalars, and only the numbers that all limbs share stay constants, the recursions are the same for each limb. So it is
enough to run them on a tree with one limb of each kind: a loop repeats them for the other limbs with their own numbers,
and the link that carries the limbs takes the sum over all of them. A number that is zero in some limbs but not in all
counts as nonzero.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import PlaneTurn, Turn
from kinemorph.frozen import dataclass
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree

Numbers = Sequence[S]
SUMS = 10 + 2 * 6 + 12  # sums over limbs in the derivatives: moments, loads without and with acceleration, flux


@dataclass(frozen=True)
class Limbs:
    """Limbs of one kind, which follow one another without gaps in the tree, in q and in v."""

    links: tuple[tuple[Link, ...], ...]  # the links of each limb
    first: int  # index in the tree of the first link of the first limb

    @property
    def count(self) -> int:
        """The number of limbs."""
        return len(self.links)

    @property
    def others(self) -> range:
        """The indices in the tree of the links of all limbs but the first."""
        size = len(self.links[0])
        return range(self.first + size, self.first + self.count * size)

    @cached_property
    def own(self) -> list[tuple[int, int]]:
        """Which numbers differ between limbs, each as (index of the link in its limb, index in the list of its
        numbers).
        """
        return [
            (j, place)
            for j, links in enumerate(zip(*self.links, strict=True))
            for place, values in enumerate(zip(*map(_numbers, links), strict=True))
            if len(set(values)) > 1
        ]

    @cached_property
    def table(self) -> list[list[float]]:
        """The masses, lengths and other data of links that differ between limbs, ordered as `own`; a row per limb."""
        return [[_numbers(limb[j])[place] for j, place in self.own] for limb in self.links]

    @property
    def coordinates(self) -> tuple[int, int]:
        """The index in q where the coordinates of the first limb begin, and the number of coordinates of each limb."""
        return self.links[0][0].q, sum(ELEMENTARY[link.kind].nq for link in self.links[0])

    @property
    def velocities(self) -> tuple[int, int]:
        """The index in v where the velocities of the first limb begin, and the number of velocities of each limb."""
        return self.links[0][0].v, sum(ELEMENTARY[link.kind].nv for link in self.links[0])


def like_limbs(tree: Tree, apart: Collection[int] = ()) -> list[Limbs]:
    """The groups of alike limbs, each as large as possible; a limb with a link in `apart` (indices) joins no group."""
    found = []
    index, spans = 0, _spans(tree)
    while index < len(tree.links):
        stop = spans[index].stop
        size = stop - index
        # limbs without a sibling are skipped: in a chain they would cost all links for each link
        shape = _shape(tree, spans[index]) if size and _follows(tree, index, stop) else None
        while shape and _follows(tree, index, stop) and _shape(tree, spans[stop]) == shape:
            stop += size
        if stop > index + size and not any(link in range(index, stop) for link in apart):
            found.append(Limbs(tuple(tree.links[start : start + size] for start in range(index, stop, size)), index))
            index = stop
        else:
            index += 1
    return found


def one_of_each(
    tree: Tree, limbs: Sequence[Limbs], rows: Sequence[Sequence[S]], sums: Sequence[Callable[[S], S]]
) -> Tree:
    """The tree with one limb of each kind.

    `rows` holds for each kind the scalars that take the place of one row of its table; `sums` holds the function that
    sums a scalar over all limbs of that kind. Bodies and frames on limbs are not among the attachments: there are
    several of each, and no single pose.
    """
    links = list(tree.links)
    for kind, row in zip(limbs, rows, strict=True):
        numbers = [list(_numbers(link)) for link in kind.links[0]]
        for (j, entry), value in zip(kind.own, row, strict=True):
            numbers[j][entry] = value
        links[kind.first : kind.first + len(numbers)] = map(_rebuilt, kind.links[0], numbers)
    kept, q, v = kept_places(tree, limbs)
    place = {WORLD: WORLD, **{index: k for k, index in enumerate(kept)}}
    return replace(
        tree,
        links=tuple(
            replace(
                links[index], parent=place[links[index].parent], q=q.index(links[index].q), v=v.index(links[index].v)
            )
            for index in kept
        ),
        nq=len(q),
        nv=len(v),
        attachments={
            name: replace(at, link=place[at.link])
            for name, at in tree.attachments.items()
            if not any(at.link in range(kind.first, kind.others.stop) for kind in limbs)
        },
        sums={place[kind.first]: total for kind, total in zip(limbs, sums, strict=True)},
    )


def kept_places(tree: Tree, limbs: Sequence[Limbs]) -> tuple[list[int], list[int], list[int]]:
    """The links, the indices in q and the indices in v that remain in a tree with one limb of each kind."""
    links, q, v = set(range(len(tree.links))), set(range(tree.nq)), set(range(tree.nv))
    for kind in limbs:
        links -= {*kind.others}
        for left, (start, size) in ((q, kind.coordinates), (v, kind.velocities)):
            left -= {*range(start + size, start + size * kind.count)}
    return sorted(links), sorted(q), sorted(v)


# ── limbs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _spans(tree: Tree) -> list[range]:
    """For each link the range of indices of all links that it carries, itself included.

    The range is empty where these indices are not contiguous.
    """
    count = len(tree.links)
    stops, latest = [count] * count, list(range(count))
    open_ones: list[int] = []  # links whose span may continue, ascending
    for index, link in enumerate(tree.links):
        while open_ones and open_ones[-1] > link.parent:
            stops[open_ones.pop()] = index
        open_ones.append(index)
        if link.parent != WORLD:
            latest[link.parent] = index
    return [range(index, stop if max(latest[index:stop]) < stop else index) for index, stop in enumerate(stops)]


def _follows(tree: Tree, first: int, index: int) -> bool:
    """Whether the limb that begins at link `index` is a sibling of the one at `first`, with coordinates and velocities
    that directly follow those of the link before it.
    """
    if index == len(tree.links):
        return False
    before, other = tree.links[index - 1], tree.links[index]
    row = ELEMENTARY[before.kind]
    return (other.parent, other.q, other.v) == (tree.links[first].parent, before.q + row.nq, before.v + row.nv)


def _shape(tree: Tree, span: range) -> Any:
    """The data of a limb that have to be equal in alike limbs; None where the limb cannot be in a group.

    It cannot where it is carried by the world, is not contiguous in links, q and v, or has numbers that are symbols.
    """
    if not span or tree.links[span.start].parent == WORLD:
        return None
    links, shape = tree.links[span.start : span.stop], []
    q, v = links[0].q, links[0].v
    for link in links:
        if (link.q, link.v) != (q, v) or not all(isinstance(x, (float, int)) for x in _numbers(link)):
            return None
        q, v = q + ELEMENTARY[link.kind].nq, v + ELEMENTARY[link.kind].nv
        shape.append((link.kind, max(link.parent, span.start - 1) - span.start, *map(type, link.fixed_turns[0])))
    return shape


# ── the numbers of a link ─────────────────────────────────────────────────────────────────────────────────────────────


def _numbers(link: Link) -> Numbers:
    """All numbers of a link, in a fixed order.

    They are: mass [kg], first (3) and second moments (6), position of the joint in the parent (3) [m], offset [rad] of
    the joint angle, slide [m], pitch [m/rad], armature (one per velocity), and cosine and sine of each fixed turn from
    the parent's axes to those of the joint. A last fixed turn about the joint axis is part of the offset.
    """
    turns, angle = link.fixed_turns
    numbers = (link.mass, *link.h, *link.sigma, *link.placement.p, link.offset + angle, link.slide, link.pitch)
    return (*numbers, *link.armature, *(x for turn in turns for x in _cosine_and_sine(turn)))


def _cosine_and_sine(turn: Turn) -> Numbers:
    return (turn.c, turn.s) if isinstance(turn, PlaneTurn) else (turn,)  # a full rotation is no plain number


def _rebuilt(link: Link, numbers: Numbers) -> Link:
    """The link with other numbers, given in the order of `_numbers`."""
    left = iter(numbers)
    mass, h, sigma, p = next(left), *(tuple(islice(left, size)) for size in (3, 6, 3))
    offset, slide, pitch = islice(left, 3)
    return replace(
        link,
        placement=Pose(link.placement.R, p),
        mass=mass,
        h=h,
        sigma=sigma,
        offset=offset,
        slide=slide,
        pitch=pitch,
        armature=tuple(islice(left, len(link.armature))),
        turns=tuple(type(turn)(*islice(left, 2)) for turn in link.fixed_turns[0]),
    )
