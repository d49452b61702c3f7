"""Graphs of bodies and joints: spanning trees, paths, cycles and matrices.

Vertices are bodies, edges are joints. A spanning tree is grown from a root, breadth first (all paths are as short as
possible, so the tree is shallow) or depth first. Each edge outside the tree (a chord) closes exactly one fundamental
cycle. This file uses no data of joints: an edge is a name and two vertices.

The incidence matrix follows the kinematic-graph convention of Escalera et al.: an arc points from the child to the
parent relative to which it moves; its column has -1 at the vertex it leaves and +1 at the vertex it enters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from heapq import heappop, heappush
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.frozen import dataclass

WORLD = "world"
Method = Literal["bfs", "dfs"]
IntMatrix = npt.NDArray[np.int64]


class Edge(NamedTuple):
    """A joint seen as an edge: `child` moves relative to `parent`."""

    name: str
    parent: str
    child: str


class Step(NamedTuple):
    """An edge of a spanning tree, from `parent` to `child`; with `against`, the edge itself has these two exchanged."""

    edge: Edge
    parent: str
    child: str
    against: bool


@dataclass(frozen=True)
class SpanningTree:
    """A tree of the vertices that can be reached from `root`; its steps are ordered, parents before children."""

    root: str
    steps: tuple[Step, ...]  # in the order in which the vertices were reached
    chords: tuple[Edge, ...]  # edges between reached vertices that are not in the tree: one per cycle
    unreached: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The vertices in the order in which they were reached, the root first."""
        return (self.root, *(step.child for step in self.steps))

    @property
    def parents(self) -> dict[str, str]:
        """The parent of every vertex except the root."""
        return {step.child: step.parent for step in self.steps}


def spanning_tree(
    vertices: Sequence[str], edges: Sequence[Edge], root: str = WORLD, *, method: Method = "bfs", directed: bool = False
) -> SpanningTree:
    """A tree grown from `root`, breadth first or depth first. Of two possible edges, the one listed first is taken.

    With `directed`, edges are followed only from parent to child.
    """
    around: dict[str, list[tuple[Edge, str, bool]]] = {vertex: [] for vertex in vertices}
    for edge in edges:
        around[edge.parent].append((edge, edge.child, False))
        if not directed:
            around[edge.child].append((edge, edge.parent, True))
    found = {root}
    steps: list[Step] = []
    if method == "bfs":
        queue = deque([root])
        while queue:
            here = queue.popleft()
            for edge, there, against in around[here]:
                if there not in found:
                    found.add(there)
                    steps.append(Step(edge, here, there, against))
                    queue.append(there)
    else:
        walks = [(root, iter(around[root]))]  # a stack instead of recursion, so that the depth is not limited
        while walks:
            here, ahead = walks[-1]
            for edge, there, against in ahead:
                if there not in found:
                    found.add(there)
                    steps.append(Step(edge, here, there, against))
                    walks.append((there, iter(around[there])))
                    break
            else:
                walks.pop()
    used = {step.edge.name for step in steps}
    chords = tuple(e for e in edges if e.name not in used and e.parent in found and e.child in found)
    return SpanningTree(root, tuple(steps), chords, tuple(v for v in vertices if v not in found))


def straight_tree(
    vertices: Sequence[str],
    edges: Sequence[Edge],
    root: str = WORLD,
    *,
    either: Collection[str] = (),
    against: Collection[str] = (),
) -> SpanningTree:
    """A tree whose paths from the root have as few reversed edges as possible and, among such paths, the fewest edges.

    Edges lead from parent to child. Edges named in `either` have no direction, so they never count as reversed. Edges
    named in `against` may be reversed if a vertex cannot be reached otherwise. If no edge is named in either set, the
    result is the breadth-first tree.
    """
    around: dict[str, list[tuple[Edge, str, bool, int]]] = {vertex: [] for vertex in vertices}
    for edge in edges:
        around[edge.parent].append((edge, edge.child, False, 0))
        if edge.name in either or edge.name in against:
            around[edge.child].append((edge, edge.parent, True, int(edge.name not in either)))
    best: dict[str, tuple[int, int]] = {root: (0, 0)}  # vertex -> (reversed edges, edges) of its best path
    queue: list[tuple[int, int, int, str, Step | None]] = [(0, 0, 0, root, None)]
    pushed = 0
    steps: dict[str, Step] = {}  # in the order in which the vertices were reached
    done: set[str] = set()
    while queue:
        turned, far, _, here, step = heappop(queue)
        if here in done:
            continue
        done.add(here)
        if step is not None:
            steps[here] = step
        for edge, there, backwards, price in around[here]:
            way = (turned + price, far + 1)
            if there not in done and (there not in best or way < best[there]):
                best[there] = way
                pushed += 1
                heappush(queue, (*way, pushed, there, Step(edge, here, there, backwards)))
    used = {step.edge.name for step in steps.values()}
    chords = tuple(e for e in edges if e.name not in used and e.parent in done and e.child in done)
    return SpanningTree(root, tuple(steps.values()), chords, tuple(v for v in vertices if v not in done))


def path_to_root(parents: Mapping[str, str], vertex: str) -> tuple[str, ...]:
    """The vertices from `vertex` to the root, both included."""
    path = [vertex]
    while path[-1] in parents:
        path.append(parents[path[-1]])
    return tuple(path)


def path_between(parents: Mapping[str, str], start: str, end: str) -> tuple[str, ...]:
    """The vertices of the path in the tree from `start` to `end`, both included."""
    up, down = path_to_root(parents, start), path_to_root(parents, end)
    below = set(down)
    shared = next(vertex for vertex in up if vertex in below)
    return (*up[: up.index(shared) + 1], *reversed(down[: down.index(shared)]))


def cycles(tree: SpanningTree) -> dict[str, tuple[str, ...]]:
    """For the name of every chord, the vertices of the cycle that it closes, from the chord's parent to its child."""
    parents = tree.parents
    return {chord.name: path_between(parents, chord.parent, chord.child) for chord in tree.chords}


def depths(tree: SpanningTree) -> dict[str, int]:
    """The number of edges from the root to each vertex."""
    depth = {tree.root: 0}
    for step in tree.steps:
        depth[step.child] = depth[step.parent] + 1
    return depth


def central_vertex(vertices: Sequence[str], edges: Sequence[Edge]) -> str:
    """The center of the graph: the vertex with the smallest distance to its farthest vertex.

    Of several, the one with the smallest sum of distances is taken, then the first in order.
    """

    def distance(vertex: str) -> tuple[int, int]:
        reach = depths(spanning_tree(vertices, edges, vertex)).values()
        return (max(reach) + len(vertices) * (len(vertices) - len(reach)), sum(reach))

    return min(vertices, key=distance)


def adjacency_matrix(vertices: Sequence[str], edges: Sequence[Edge]) -> IntMatrix:
    """The adjacency matrix, shape (n, n): entry (i, j) is the number of edges between vertices i and j."""
    place = {vertex: index for index, vertex in enumerate(vertices)}
    matrix = np.zeros((len(vertices), len(vertices)), dtype=np.int64)
    for edge in edges:
        a, b = place[edge.parent], place[edge.child]
        matrix[a, b] += 1
        matrix[b, a] += 1
    return matrix


def incidence_matrix(vertices: Sequence[str], edges: Sequence[Edge]) -> IntMatrix:
    """The incidence matrix, shape (n, m): column e has -1 at the child of edge e, and +1 at its parent."""
    place = {vertex: index for index, vertex in enumerate(vertices)}
    matrix = np.zeros((len(vertices), len(edges)), dtype=np.int64)
    for column, edge in enumerate(edges):
        matrix[place[edge.child], column] -= 1
        matrix[place[edge.parent], column] += 1
    return matrix
