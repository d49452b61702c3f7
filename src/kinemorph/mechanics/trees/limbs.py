"""Alike limbs: carried by one link, with the same joints in the same order, each with its own numbers.

Six legs differ in where they are mounted and in how their mass is distributed. Where these numbers become input
scalars, and only the numbers that all limbs share stay constants, the recursions are the same for each limb. So it is
enough to run them on a tree with one limb of each kind: a loop repeats them for the other limbs with their own numbers,
and the link that carries the limbs takes the sum over all of them. A number that is zero in some limbs but not in all
counts as nonzero.

Driven joints belong to the limb whose coordinates their formulas name (`limb_drives`): the rotor of a leg's motor that
turns in the body is part of this leg. So a limb may consist of several branches on one link.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

from kinemorph.algebra.groups import Pose
from kinemorph.algebra.scalar import S
from kinemorph.algebra.turns import PlaneTurn, Turn
from kinemorph.frozen import dataclass
from kinemorph.mechanics.trees.limb_drives import Formulas, LimbDrives, formula_numbers, kept_driving
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.mechanics.trees.tree import WORLD, Link, Tree

Numbers = Sequence[S]
SUMS = 10 + 2 * 6 + 12  # sums over limbs in the derivatives: moments, loads without and with acceleration, flux


@dataclass(frozen=True)
class Limbs:
    """Limbs of one kind. In q and in v, all limbs are as far apart as the first two."""

    links: tuple[tuple[Link, ...], ...]  # the links of each limb
    places: tuple[tuple[int, ...], ...]  # the indices of these links in the tree
    formulas: tuple[tuple[Formulas, ...], ...]  # of these links, if their joints are driven

    @property
    def count(self) -> int:
        """The number of limbs."""
        return len(self.links)

    @property
    def first(self) -> int:
        """The index in the tree of the first link of the first limb."""
        return self.places[0][0]

    @cached_property
    def owners(self) -> dict[int, tuple[int, int]]:
        """For each link of a limb, by its index in the tree: (number of the limb, index of the link in the limb)."""
        return {place: (limb, j) for limb, places in enumerate(self.places) for j, place in enumerate(places)}

    @cached_property
    def own(self) -> list[tuple[int, int]]:
        """Which numbers differ between limbs, each as (index of the link in its limb, index in the list of its
        numbers).
        """
        return [
            (j, place)
            for j, rows in enumerate(zip(*map(self.numbers, range(self.count)), strict=True))
            for place, values in enumerate(zip(*rows, strict=True))
            if len(set(values)) > 1
        ]

    @cached_property
    def table(self) -> list[list[float]]:
        """The masses, lengths and other data of links that differ between limbs, ordered as `own`; a row per limb."""
        rows = map(self.numbers, range(self.count))
        return [[row[j][place] for j, place in self.own] for row in rows]

    def numbers(self, limb: int) -> list[Numbers]:
        """All numbers of each link of a limb: see `_numbers`; those of its formulas follow."""
        pairs = zip(self.links[limb], self.formulas[limb], strict=True)
        return [(*_numbers(link), *formula_numbers(formulas)) for link, formulas in pairs]

    @cached_property
    def coordinates(self) -> dict[int, int]:
        """The index in q of each coordinate of the first limb -> the distance to that of the next limb."""
        return {a.q + k: b.q - a.q for a, b in zip(*self.links[:2], strict=True) for k in range(ELEMENTARY[a.kind].nq)}

    @cached_property
    def velocities(self) -> dict[int, int]:
        """The index in v of each velocity of the first limb -> the distance to that of the next limb."""
        return {a.v + k: b.v - a.v for a, b in zip(*self.links[:2], strict=True) for k in range(ELEMENTARY[a.kind].nv)}


def like_limbs(tree: Tree, apart: Collection[int] = ()) -> list[Limbs]:
    """The groups of alike limbs, each as large as possible; a limb with a link in `apart` (indices) joins no group."""
    found: list[Limbs] = []
    drives = LimbDrives(tree)
    taken: set[int] = set()  # links of limbs that are in a group
    for carrier, roots in enumerate(tree.children):
        # links that carry one branch are skipped: in a chain they would cost all links for each link
        if len(roots) < 2 or carrier in taken:
            continue
        limbs = drives.joined([_branch(tree, root) for root in roots])
        shapes = [_shape(tree, limb, drives) for limb in limbs]
        start = 0
        while start < len(limbs):
            stop = start + 1
            while stop < len(limbs) and shapes[start] is not None and shapes[stop] == shapes[start]:
                if not _in_step(tree, limbs[start : stop + 1]):
                    break
                stop += 1
            places = tuple(limbs[start:stop])
            if stop == start + 1 or any(link in limb for limb in places for link in apart):
                start += 1
                continue
            found.append(
                Limbs(
                    tuple(tuple(tree.links[link] for link in limb) for limb in places),
                    places,
                    tuple(tuple(drives.formulas(link) for link in limb) for limb in places),
                )
            )
            taken |= {link for limb in places for link in limb}
            start = stop
    return sorted(found, key=lambda kind: kind.first)


def one_of_each(
    tree: Tree, limbs: Sequence[Limbs], rows: Sequence[Sequence[S]], sums: Sequence[Callable[[S], S]]
) -> Tree:
    """The tree with one limb of each kind.

    `rows` holds for each kind the scalars that take the place of one row of its table; `sums` holds the function that
    sums a scalar over all limbs of that kind. Bodies and frames on limbs are not among the attachments: there are
    several of each, and no single pose.
    """
    links = list(tree.links)
    constants: dict[int, Numbers] = {}  # of formulas, by link
    for kind, row in zip(limbs, rows, strict=True):
        numbers = [list(values) for values in kind.numbers(0)]
        for (j, entry), value in zip(kind.own, row, strict=True):
            numbers[j][entry] = value
        for index, link, values in zip(kind.places[0], kind.links[0], numbers, strict=True):
            own = len(_numbers(link))
            links[index], constants[index] = _rebuilt(link, values[:own]), values[own:]
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
            if not any(at.link in kind.owners for kind in limbs)
        },
        driving=kept_driving(tree, q, v, constants),
        sums={
            place[index]: total
            for kind, total in zip(limbs, sums, strict=True)
            for index in kind.places[0]
            if links[index].parent not in kind.places[0]
        },
    )


def kept_places(tree: Tree, limbs: Sequence[Limbs]) -> tuple[list[int], list[int], list[int]]:
    """The links, the indices in q and the indices in v that remain in a tree with one limb of each kind."""
    links, q, v = set(range(len(tree.links))), set(range(tree.nq)), set(range(tree.nv))
    for kind in limbs:
        links -= {place for places in kind.places[1:] for place in places}
        for left, entries in ((q, kind.coordinates), (v, kind.velocities)):
            left -= {place + k * stride for place, stride in entries.items() for k in range(1, kind.count)}
    return sorted(links), sorted(q), sorted(v)


# ── limbs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _branch(tree: Tree, root: int) -> tuple[int, ...]:
    """The indices of a link and of all links that it carries, in ascending order."""
    found = [root]
    for index in found:  # which grows
        found += tree.children[index]
    return tuple(sorted(found))


def _in_step(tree: Tree, limbs: Sequence[Sequence[int]]) -> bool:
    """Whether the coordinates and velocities of each limb are as far from those of the limb before it as the last two
    limbs from each other.
    """
    ahead = [
        [(tree.links[b].q - tree.links[a].q, tree.links[b].v - tree.links[a].v) for a, b in zip(*pair, strict=True)]
        for pair in pairwise(limbs)
    ]
    return ahead[0] == ahead[-1]


def _shape(tree: Tree, limb: Sequence[int], drives: LimbDrives) -> Any:
    """The data of a limb that have to be equal in alike limbs; None where the limb cannot be in a group.

    It cannot where it has numbers that are symbols, or where formulas name coordinates of several limbs.
    """
    shape = []
    place = {index: j for j, index in enumerate(limb)}
    formulas = drives.shapes(limb)
    if formulas is None:
        return None
    for index, form in zip(limb, formulas, strict=True):
        link = tree.links[index]
        if not all(isinstance(x, (float, int)) for x in _numbers(link)):
            return None
        shape.append((link.kind, place.get(link.parent, WORLD), form, *map(type, link.fixed_turns[0])))
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
