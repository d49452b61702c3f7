"""Ports that face each other in modules that are side by side, and the order of dockings from the base outward.

Two ports face each other if they are at the same point, point in opposite directions, and are rotated relative to each
other by a whole number of quarter turns. Points are looked up in a hash table of cells, so the time is proportional to
the number of modules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import product

import numpy as np

from kinemorph.algebra.groups import Pose, compose, relative
from kinemorph.model.modules.assembly import Docking, Module
from kinemorph.model.modules.module_types import TURNED, ModuleType, Side
from kinemorph.model.topology import Edge, spanning_tree

NEAR = 1e-6  # largest distance, relative to the pitch, and error of a rotation, of ports that face each other

Point = tuple[float, ...]


def facing(modules: Sequence[Module]) -> list[tuple[Docking, Point]]:
    """A docking for every two ports that face each other, and the point [m] where they meet.

    Every module needs a place `at`.
    """
    pitch = min((float(module.type.pitch) for module in modules), default=1.0)
    near = NEAR * pitch
    cells: dict[tuple[int, ...], list[tuple[Module, Side, Pose]]] = defaultdict(list)
    found = []
    poses = {id(kind): _ports(kind) for kind in (module.type for module in modules)}
    for module in modules:
        assert module.at is not None
        for side, pose in poses[id(module.type)].items():
            here = compose(module.at, pose)
            cell = tuple(int(np.floor(float(x) / pitch)) for x in here.p)
            for step in product((-1, 0, 1), repeat=3):
                for other, side_other, there in cells.get(tuple(a + b for a, b in zip(cell, step, strict=True)), ()):
                    if other is module or _apart(here, there) > near:
                        continue
                    turn = turn_between(there, here)
                    if turn is not None:
                        docking = Docking(other.name, side_other, module.name, side, turn)
                        found.append((docking, tuple(float(x) for x in here.p)))
            cells[cell].append((module, side, here))
    return found


def turn_between(P_a: Pose, P_b: Pose) -> int | None:
    """The number of quarter turns of a port at `P_b` that faces a port at `P_a`; None if it does not face it."""
    R_ab = np.asarray(relative(P_a, P_b).R, dtype=float)
    for k, turned in enumerate(TURNED):
        if np.abs(R_ab - np.asarray(turned.R)).max() <= NEAR:
            return k
    return None


def outward(names: Sequence[str], dockings: Collection[Docking], base: str) -> tuple[Docking, ...]:
    """The dockings in depth-first order from the base, each with the module nearer to the base as `a`.

    Branches are followed in the order of `names`. Dockings that close rings come last.
    """
    rank = {name: k for k, name in enumerate(names)}
    by_name = {docking.name: docking for docking in dockings}
    ordered = sorted(dockings, key=lambda d: sorted((rank[d.a], rank[d.b])))
    edges = [Edge(d.name, d.a, d.b) for d in ordered]
    found: list[Docking] = []
    rings: list[Docking] = []
    reached: set[str] = set()
    for root in dict.fromkeys((base, *names)):
        if root in reached:
            continue
        nearest = spanning_tree(names, edges, root)
        carrying = {step.edge.name for step in nearest.steps}
        for step in spanning_tree(names, [e for e in edges if e.name in carrying], root, method="dfs").steps:
            docking = by_name[step.edge.name]
            found.append(docking.reversed() if step.against else docking)
        for chord in nearest.chords:
            ring = by_name[chord.name]
            rings.append(ring if rank[ring.a] <= rank[ring.b] else ring.reversed())
        reached |= set(nearest.order)
    return (*found, *rings)


def _ports(kind: ModuleType) -> dict[Side, Pose]:
    parts = kind.part_poses
    return {port.side: compose(parts[port.body], port.pose) for port in kind.ports}


def _apart(a: Pose, b: Pose) -> float:
    return float(np.linalg.norm(np.subtract(np.asarray(a.p, dtype=float), np.asarray(b.p, dtype=float))))
