"""Ports that face each other in modules that are side by side, and the order of dockings from the base outward.

Two ports face each other if they are at the same point, point in opposite directions, and are rotated relative to each
other by a whole number of quarter turns. Points are looked up in a hash table of bins, so the time is proportional to
the number of modules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import product

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.model.modules.assembly import Docking, Module
from kinemorph.model.modules.module_types import TURNED
from kinemorph.model.topology import Edge, spanning_tree

NEAR = 1e-6  # largest distance, relative to the pitch, and error of a rotation, of ports that face each other
BIN = 0.01  # edge of a bin of the hash table of points, relative to the pitch

Point = tuple[float, ...]


def facing(modules: Sequence[Module]) -> list[tuple[Docking, Point]]:
    """A docking for every two ports that face each other, and the point [m] where they meet.

    Every module needs a place `at`.
    """
    pitch = min((float(module.type.pitch) for module in modules), default=1.0)
    near = NEAR * pitch
    ends = [(module, side) for module in modules for side in module.type.sides]
    R, p = _placed_ports(modules)
    # a point is stored in its own bin and looked for in all bins within `near` of it: nearly always a single one
    own, low, high = (np.floor((p + shift) / (BIN * pitch)).astype(np.int64).tolist() for shift in (0.0, -near, near))
    bins: dict[tuple[int, ...], list[int]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []
    for here, (cell, first, last) in enumerate(zip(own, low, high, strict=True)):
        spread = [tuple(first)] if first == last else product(*map(range, first, (n + 1 for n in last)))
        pairs += [
            (there, here) for each in spread for there in bins.get(each, ()) if ends[there][0] is not ends[here][0]
        ]
        bins[tuple(cell)].append(here)
    if not pairs:
        return []
    a, b = np.array(pairs).T
    apart = np.linalg.norm(p[a] - p[b], axis=1)
    turns = _turns(R[a], R[b])
    return [
        (Docking(ends[i][0].name, ends[i][1], ends[j][0].name, ends[j][1], turn), tuple(p[j].tolist()))
        for (i, j), far, turn in zip(pairs, apart.tolist(), turns, strict=True)
        if far <= near and turn is not None
    ]


def _turns(R_a: Array, R_b: Array) -> list[int | None]:
    """For n pairs of ports with axes R_a and R_b, shape (n, 3, 3), the quarter turns; None where they do not face."""
    R_ab = np.swapaxes(R_a, 1, 2) @ R_b
    off = np.abs(R_ab[:, None] - np.array([turned.R for turned in TURNED])).max(axis=(2, 3))
    return [k if near else None for k, near in zip(off.argmin(axis=1).tolist(), off.min(axis=1) <= NEAR, strict=True)]


def _placed_ports(modules: Sequence[Module]) -> tuple[Array, Array]:
    """The axes (n, 3, 3) and places (n, 3) [m] in the world of all ports of all modules, module by module."""
    kinds = {id(module.type): module.type for module in modules}
    local = {
        key: [np.array([P[part] for P in kind.port_poses.values()], dtype=float) for part in (0, 1)]
        for key, kind in kinds.items()
    }
    axes: list[Array] = [np.zeros((0, 3, 3))]
    places: list[Array] = [np.zeros((0, 3))]
    for module in modules:
        assert module.at is not None
        R, p = local[id(module.type)]
        if len(R):
            R_w, p_w = np.array(module.at.R, dtype=float), np.array(module.at.p, dtype=float)
            axes.append(R_w @ R)
            places.append(p @ R_w.T + p_w)
    return np.concatenate(axes), np.concatenate(places)


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
