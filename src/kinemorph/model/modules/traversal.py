"""Traversals of an assembly: numbers, paths, and the lists of transformations of Meister and Gutenkunst (Table III).

A traversal starts at a base and visits every module once, depth first (path by path, as in the paper) or breadth first
(level by level). Modules are numbered in the order of the visit, so the numbers depend on the base. Two lists give the
transformations to compute; each line needs only lines before it:

    DTL     direct: module j is docked to module i,                 T_ij = H_ij(0) exp(s_j q_j)
    IDTL    indirect: module i is farther up on the path to j,      T_ij = T_ix T_xj,  j is docked to module x

The IDTL has a line for every module and each module above it, except the one it is docked to: n (n - 1) / 2 - (n - 1)
lines for a chain of n modules. A docking that closes a ring is in neither list; it is a chord.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, get_args

from kinemorph.errors import ModelError, Problem
from kinemorph.frozen import dataclass
from kinemorph.model.modules.assembly import as_assembly
from kinemorph.model.modules.module_types import Side
from kinemorph.model.topology import Edge, Method, SpanningTree, spanning_tree
from kinemorph.words import listed

if TYPE_CHECKING:
    from kinemorph.model.modules.assembly import Assembly
    from kinemorph.model.robot import Robot


class Direct(NamedTuple):
    """A line of the list of direct transformations (DTL): `j` is attached to `i`.

    `edge` is the name of the docking or joint; `side_from` and `side_to` are the docked sides of modules i and j.
    """

    i: str
    j: str
    edge: str
    side_from: Side = ""
    side_to: Side = ""


class Indirect(NamedTuple):
    """A line of the list of indirect transformations (IDTL): T_ij = T_ix T_xj, where j is docked to x."""

    i: str
    j: str
    x: str


@dataclass(frozen=True)
class Traversal:
    """A traversal of an assembly or a robot.

    `bases`     the first module of each organism
    `order`     all modules in the order of the visit
    `direct`    the list of direct transformations (DTL)
    `chords`    the dockings that close rings
    """

    bases: tuple[str, ...]
    order: tuple[str, ...]
    direct: tuple[Direct, ...]
    chords: tuple[Direct, ...] = ()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each module in the order of the visit."""
        return {name: k for k, name in enumerate(self.order)}

    @cached_property
    def parents(self) -> dict[str, str]:
        """The module to which each module is docked, on the path to its base; bases have none."""
        return {row.j: row.i for row in self.direct}

    @cached_property
    def indirect(self) -> tuple[Indirect, ...]:
        """The list of indirect transformations (IDTL); for each module, from the nearest module to the base."""
        rows, parents = [], self.parents
        for x, j, *_ in self.direct:
            above = parents.get(x)
            while above is not None:
                rows.append(Indirect(above, j, x))
                above = parents.get(above)
        return tuple(rows)

    @cached_property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The paths from a base to each last module of a branch, both included, in the order of the dockings."""
        below: dict[str, list[str]] = {name: [] for name in self.order}
        for row in self.direct:
            below[row.i].append(row.j)
        found: list[tuple[str, ...]] = []
        waiting: list[tuple[str, ...]] = [(base,) for base in reversed(self.bases)]
        while waiting:
            path = waiting.pop()
            ahead = below[path[-1]]
            if not ahead:
                found.append(path)
            waiting += [(*path, name) for name in reversed(ahead)]
        return tuple(found)

    @property
    def pendants(self) -> tuple[str, ...]:
        """The last module of each path, which has no module docked to it farther from the base."""
        return tuple(path[-1] for path in self.paths)


def traverse(assembly: Assembly, base: str | None = None, *, method: Method = "dfs") -> Traversal:
    """The traversal of an assembly from `base`, by default its own base; then of the other organisms."""
    if method not in get_args(Method):
        raise ModelError(f"traverse: method is {method!r}; expected one of: {listed(get_args(Method))}.")
    assembly = as_assembly(assembly)
    if not assembly.modules:
        raise ModelError(Problem("assembly", assembly.name, "it has no modules; expected at least one", "Add one."))
    first = assembly.module(base or assembly.base).name
    bases = [first, *(organism[0] for organism in assembly.organisms if first not in organism)]
    trees = [assembly.tree(each, method=method) for each in bases]
    sides = {docking.name: (docking.side_a, docking.side_b) for docking in assembly.dockings}
    return _traversal(trees, sides)


def traverse_bodies(robot: Robot, *, method: Method = "dfs") -> Traversal:
    """The traversal of the bodies of a robot, from the bodies that are joined to the world."""
    roots = [joint for joint in robot.joints if joint.parent not in robot.body_names]
    edges = [Edge(joint.name, joint.parent, joint.child) for joint in robot.joints if joint not in roots]
    trees = [spanning_tree(robot.body_names, edges, root.child, method=method, directed=True) for root in roots]
    return _traversal(trees, {})


def _traversal(trees: Sequence[SpanningTree], sides: dict[str, tuple[Side, Side]]) -> Traversal:
    def row(edge: Edge, i: str, j: str, against: bool) -> Direct:
        a, b = sides.get(edge.name, ("", ""))
        return Direct(i, j, edge.name, *((b, a) if against else (a, b)))

    def all_of(rows: Iterable[Iterable[Direct]]) -> tuple[Direct, ...]:
        return tuple(each for some in rows for each in some)

    return Traversal(
        tuple(tree.root for tree in trees),
        tuple(name for tree in trees for name in tree.order),
        all_of((row(*step) for step in tree.steps) for tree in trees),
        all_of((row(chord, chord.parent, chord.child, False) for chord in tree.chords) for tree in trees),
    )
