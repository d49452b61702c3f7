"""Driven joints of limbs: which limb a formula belongs to, which formulas are alike, and one limb's formulas for all.

Formulas of alike limbs have the same ops on corresponding coordinates; their numbers may differ, as those of links do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.trees.driven import Drive, Driving
from kinemorph.mechanics.trees.motions import ELEMENTARY
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.parameter import TIME, Coordinate, Formula, Parameter, Value, coordinates_of

Formulas = tuple[Value, ...]
NUMBER = "limb number {} of link {}"  # the name of a parameter in place of a number in which limbs differ
FIXED_ARGUMENT = {"pow": 1}  # op -> the index of an argument that has to be the same number in all limbs


class LimbDrives:
    """The formulas of the driven joints of a tree, by link, and the coordinates that they name."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self._formulas = tree, _by_link(tree)
        self._places = {} if tree.driving is None else tree.driving.places

    def formulas(self, link: int) -> Formulas:
        """The formulas of a link's joint; empty if the joint is not driven."""
        return self._formulas.get(link, ())

    @cached_property
    def _named(self) -> dict[int, set[int]]:
        """For each driven link the links whose coordinates its formulas name."""
        found = {}
        for link, formulas in self._formulas.items():
            named = [self._places[leaf.name][0] for leaf in coordinates_of(formulas) if leaf.name in self._places]
            found[link] = {self._owner[index] for index in named}
        return found

    @cached_property
    def _owner(self) -> dict[int, int]:
        """The link that each coordinate (index in q) belongs to."""
        links = enumerate(self.tree.links)
        return {link.q + k: index for index, link in links for k in range(ELEMENTARY[link.kind].nq)}

    def joined(self, branches: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The branches on one link as limbs: branches whose formulas name coordinates of each other are one limb."""
        if not self._formulas:
            return list(branches)
        limb = {link: number for number, branch in enumerate(branches) for link in branch}
        for link, named in self._named.items():
            meeting = {limb[other] for other in (link, *named) if other in limb}
            if len(meeting) > 1:
                limb = {other: min(meeting) if number in meeting else number for other, number in limb.items()}
        return [tuple(sorted(k for k in limb if limb[k] == number)) for number in sorted({*limb.values()})]

    def shapes(self, limb: Sequence[int]) -> list[Any] | None:
        """For each link of a limb its formulas without numbers and names, None for a link that is not driven.

        The result is None where formulas of the limb name coordinates outside of it, or others those inside.
        """
        own = {*limb}
        if any(not named <= own if link in own else named & own for link, named in self._named.items()):
            return None
        place = {link: j for j, link in enumerate(limb)}

        def form(value: Value) -> Any:
            if isinstance(value, Formula):
                fixed = FIXED_ARGUMENT.get(value.op)
                parts = [arg if k == fixed and _is_number(arg) else form(arg) for k, arg in enumerate(value.args)]
                return (value.op, *parts)
            if not isinstance(value, Coordinate):
                return "number"
            if value == TIME or value.name not in self._places:
                return value.name
            index = self._places[value.name][0]
            link = self._owner[index]
            return place[link], index - self.tree.links[link].q

        return [tuple(form(formula) for formula in self._formulas[k]) if k in self._formulas else None for k in limb]


def formula_numbers(formulas: Formulas) -> list[float]:
    """All numbers and parameters in formulas, in the order in which they appear."""
    found: list[float] = []

    def look(value: Value) -> None:
        if isinstance(value, Formula):
            for arg in value.args:
                look(arg)
        elif _is_number(value):
            found.append(float(value.value if isinstance(value, Parameter) else value))

    for formula in formulas:
        look(formula)
    return found


def kept_driving(
    tree: Tree, q: Sequence[int], v: Sequence[int], constants: Mapping[int, Sequence[S]]
) -> Driving | None:
    """The driven joints of a tree of which only the coordinates `q` and the velocities `v` (indices) are kept.

    `constants` gives by link the numbers of its formulas, see `formula_numbers`, some of which may be graph nodes.
    """
    driving = tree.driving
    if driving is None:
        return None
    lookup = dict(driving.lookup)
    drives = []
    for index, link, drive in _driven(tree, driving):
        if link.q not in q:
            continue
        numbers = constants.get(index, ())
        if all(isinstance(x, (float, int)) for x in numbers):
            drives.append(drive)
            continue
        names = [NUMBER.format(k, index) for k in range(len(numbers))]
        lookup |= dict(zip(names, numbers, strict=True))
        drives.append(drive._replace(formulas=_with_parameters(drive.formulas, names)))
    places = {name: (q.index(i), v.index(k)) for name, (i, k) in driving.places.items() if i in q and k in v}
    own = (sum(i < driving.nq for i in q), sum(k < driving.nv for k in v))
    return replace(driving, nq=own[0], nv=own[1], drives=tuple(drives), places=places, lookup=lookup)


def _with_parameters(formulas: Formulas, names: Sequence[str]) -> Formulas:
    """The formulas with parameters of these names in place of their numbers, in the order of `formula_numbers`."""
    left = iter(names)

    def named(value: Value) -> Value:
        if isinstance(value, Formula):
            return Formula(value.op, tuple(named(arg) for arg in value.args))
        return Parameter(next(left), 0.0) if _is_number(value) else value

    return tuple(named(formula) for formula in formulas)


def _is_number(value: Value) -> bool:
    return not isinstance(value, (Formula, Coordinate))


def _by_link(tree: Tree) -> dict[int, Formulas]:
    return {} if tree.driving is None else {index: drive.formulas for index, _, drive in _driven(tree, tree.driving)}


def _driven(tree: Tree, driving: Driving) -> list[tuple[int, Any, Drive]]:
    """(index, link, formulas) of each driven joint, in the order of the driven joints in q."""
    links = sorted((link.q, index) for index, link in enumerate(tree.links) if link.q >= driving.nq)
    return [(index, tree.links[index], drive) for (_, index), drive in zip(links, driving.drives, strict=True)]
