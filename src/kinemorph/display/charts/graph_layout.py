"""The layout of a directed acyclic graph in columns: every edge goes from left to right.

Sugiyama, Tagawa & Toda (1981). An edge over several columns has a bend in each column between, so that it does not run
over the vertices there; the edges of one vertex share their bends as far as possible. The steps are:

    columns      longest path from a vertex without predecessors; then to the right where that shortens edges
    order        each vertex is moved to the mean place of its neighbors (barycenter), repeatedly; the best order counts
    heights      least squares: near the neighbors, at least the given distance apart, in that order

Lengths are in any one unit; y grows downward.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 24  # iterations over all columns for the order; four times as many for the heights
BEND = 0.45  # height of a bend over that of a vertex
STRAIGHT = 6.0  # weight of the distance between two bends of one edge; it is 1 between vertices

Edge = tuple[int, int]
Neighbors = Mapping[int, Sequence[int]]
Ports = Mapping[Edge, float]


@dataclass(frozen=True)
class Layout:
    """The columns of vertices and bends, each from top to bottom, their heights, and the bends of every edge."""

    columns: list[list[int]]
    heights: dict[int, float]
    bends: list[list[int]]


def layered(
    count: int,
    edges: Sequence[Edge],
    *,
    distance: float = 1.0,
    first: Collection[int] = (),
    last: Collection[int] = (),
    ordered: Collection[int] = (),
) -> Layout:
    """The layout of the vertices 0 ... count - 1, at least `distance` apart in a column; an edge (a, b) has a < b.

    The vertices `first` stay in the first column, `last` in the last. Edges to an `ordered` vertex enter it from top to
    bottom in the order of `edges`. Bends are numbered from `count` on.
    """
    column_of = _columns(count, edges, set(first), set(last))
    columns: list[list[int]] = [[] for _ in range(max(column_of, default=-1) + 1)]
    for vertex, column in enumerate(column_of):
        columns[column].append(vertex)
    trunks: list[list[int]] = []  # the bends of each vertex's edges, up to its farthest successor
    number = count
    for vertex in range(count):
        end = max((column_of[b] for a, b in edges if a == vertex), default=0)
        passed = range(column_of[vertex] + 1, end)
        trunks.append(list(range(number, number + len(passed))))
        for column, bend in zip(passed, trunks[-1], strict=True):
            columns[column].append(bend)
        number += len(passed)
    bends = [trunks[a][: column_of[b] - column_of[a] - 1] for a, b in edges]
    links = {link for (a, b), way in zip(edges, bends, strict=True) for link in pairwise([a, *way, b])}
    before: dict[int, list[int]] = {vertex: [] for vertex in range(number)}
    after: dict[int, list[int]] = {vertex: [] for vertex in range(number)}
    for a, b in sorted(links):
        after[a].append(b)
        before[b].append(a)
    ports = _ports(edges, bends, ordered)
    columns = _ordered(columns, before, after, ports)
    return Layout(columns, _heights(columns, before, after, count, distance), bends)


def _ports(edges: Sequence[Edge], bends: Sequence[list[int]], ordered: Collection[int]) -> Ports:
    """For each edge to an ordered vertex, how many rows below the top of the vertex it enters.

    The keys are (the last bend of the edge or else its start, the vertex).
    """
    entering: dict[int, list[int]] = {vertex: [] for vertex in ordered}
    for (a, b), way in zip(edges, bends, strict=True):
        if b in entering:
            entering[b].append(way[-1] if way else a)
    return {(a, b): k / len(sources) for b, sources in entering.items() for k, a in enumerate(sources)}


# ── columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _columns(count: int, edges: Sequence[Edge], first: set[int], last: set[int]) -> list[int]:
    """The column of every vertex, shape (count,); arguments as in `layered`."""
    before: list[set[int]] = [set() for _ in range(count)]
    after: list[set[int]] = [set() for _ in range(count)]
    for a, b in edges:
        before[b].add(a)
        after[a].add(b)
    column = [0] * count
    for b in range(count):
        column[b] = max((column[a] + 1 for a in before[b]), default=0)
    end = max((column[v] + (1 if v not in last and last else 0) for v in range(count)), default=0)
    for vertex in last:
        column[vertex] = end
    loose = {v for v in range(count) if not before[v] and v not in first and v not in last}  # stay beside successors
    for vertex in reversed(range(count)):
        if vertex in first or vertex in last or not after[vertex]:
            continue
        if len(before[vertex] - loose) < len(after[vertex]):
            column[vertex] = min(column[reader] for reader in after[vertex]) - 1
    return column


# ── order ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ordered(columns: list[list[int]], before: Neighbors, after: Neighbors, ports: Ports) -> list[list[int]]:
    """The columns with their vertices in an order with few crossings of edges."""
    best, fewest = columns, crossings(columns, after, ports)
    for sweep in range(SWEEPS):
        columns = [list(column) for column in columns]
        forward = sweep % 2 == 0
        for k in range(1, len(columns)) if forward else range(len(columns) - 2, -1, -1):
            if forward:
                ends = _starts(columns[k - 1], columns[k], before)
            else:
                ends = _ends(columns[k], columns[k + 1], after, ports)
            means = {v: sum(ends[v]) / len(ends[v]) if ends[v] else i for i, v in enumerate(columns[k])}
            columns[k].sort(key=means.__getitem__)
        _swap_neighbors(columns, before, after, ports)
        found = crossings(columns, after, ports)
        if found < fewest:
            best, fewest = columns, found
    return best


def crossings(columns: Sequence[Sequence[int]], after: Neighbors, ports: Ports) -> int:
    """The number of pairs of edges between neighboring columns that cross."""
    total = 0
    for left, right in pairwise(columns):
        ends = list(_ends(left, right, after, ports).values())
        total += sum(_crossed(upper, lower) for i, upper in enumerate(ends) for lower in ends[i + 1 :])
    return total


def _ends(left: Sequence[int], right: Sequence[int], after: Neighbors, ports: Ports) -> dict[int, list[float]]:
    """For each vertex of the column `left`, the places in the column `right` where its edges end."""
    place = {vertex: i for i, vertex in enumerate(right)}
    return {a: [place[b] + ports.get((a, b), 0.0) for b in after[a]] for a in left}


def _starts(left: Sequence[int], right: Sequence[int], before: Neighbors) -> dict[int, list[float]]:
    """For each vertex of the column `right`, the places in the column `left` where its edges start."""
    place = {vertex: float(i) for i, vertex in enumerate(left)}
    return {b: [place[a] for a in before[b]] for b in right}


def _crossed(upper: Sequence[float], lower: Sequence[float]) -> int:
    return sum(b > c for b in upper for c in lower)


def _swap_neighbors(columns: list[list[int]], before: Neighbors, after: Neighbors, ports: Ports) -> None:
    """Swaps neighboring vertices of a column wherever this reduces the number of crossings."""
    for k, column in enumerate(columns):
        sides = []
        if k > 0:
            sides.append(_starts(columns[k - 1], column, before))
        if k + 1 < len(columns):
            sides.append(_ends(column, columns[k + 1], after, ports))
        for i in range(len(column) - 1):
            one, two = column[i], column[i + 1]
            if sum(_crossed(side[one], side[two]) - _crossed(side[two], side[one]) for side in sides) > 0:
                column[i], column[i + 1] = two, one


# ── heights ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _heights(
    columns: list[list[int]], before: Neighbors, after: Neighbors, count: int, distance: float
) -> dict[int, float]:
    """The height y of every vertex and bend; the smallest is 0. `count` and `distance` as in `layered`."""
    rooms = [[distance * (1.0 if vertex < count else BEND) for vertex in column] for column in columns]
    starts = [[sum(room[:i]) + 0.5 * (room[i] - room[0]) for i in range(len(room))] for room in rooms]
    heights = {v: y for column, start in zip(columns, starts, strict=True) for v, y in zip(column, start, strict=True)}
    for sweep in range(4 * SWEEPS):
        for k in range(len(columns)) if sweep % 2 == 0 else reversed(range(len(columns))):
            wanted, pulls = [], []
            for v in columns[k]:
                near = [(heights[n], STRAIGHT if v >= count and n >= count else 1.0) for n in (*before[v], *after[v])]
                pull = sum(weight for _, weight in near)
                wanted.append(sum(y * weight for y, weight in near) / pull if near else heights[v])
                pulls.append(pull or 0.1)
            heights |= zip(columns[k], _apart(wanted, pulls, starts[k]), strict=True)
    top = min(heights.values(), default=0.0)
    return {vertex: y - top for vertex, y in heights.items()}


def _apart(wanted: Sequence[float], pulls: Sequence[float], starts: Sequence[float]) -> list[float]:
    """The heights nearest to `wanted` (least squares with weights `pulls`) whose steps are at least those of `starts`.

    So height minus start must not decrease: an isotonic regression, solved by pooling neighbors that violate this.
    """
    groups: list[tuple[float, float, int]] = []  # (mean, weight, number of vertices)
    for y, pull, start in zip(wanted, pulls, starts, strict=True):
        mean, weight, size = y - start, pull, 1
        while groups and groups[-1][0] > mean:
            other, heavy, many = groups.pop()
            mean, weight, size = (mean * weight + other * heavy) / (weight + heavy), weight + heavy, size + many
        groups.append((mean, weight, size))
    means = [mean for mean, _, size in groups for _ in range(size)]
    return [mean + start for mean, start in zip(means, starts, strict=True)]
