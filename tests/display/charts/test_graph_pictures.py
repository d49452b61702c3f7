"""Pictures of programs: every node once and apart from the others, every edge forward, signs and orders as they are."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import kinemorph
from kinemorph.algebra.linear import solve
from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.schedule import plan
from kinemorph.display.charts.graph_layout import BEND, layered
from kinemorph.display.charts.graph_pictures import ROW, draw_graph, draw_liveness, new_nodes, values_alive
from kinemorph.errors import UnsupportedError

Box = tuple[float, float, float, float]


def _program(name: str, function: str, **options: Any) -> Program:
    robot = kinemorph.library.build(name)
    program: Program = getattr(kinemorph.derive(robot, backend="interpreter", **options), function).program
    return program


PROGRAMS = {
    "pendulum": _program("pendulum", "forward_dynamics", parameters="all"),
    "a constant": _program("pendulum", "mass_matrix"),
    "double pendulum": _program("double_pendulum", "forward_dynamics"),
    "an input handed on": kinemorph.codegen.trace(lambda x, y: [x, -x, 0.0, x * x], {"x": (), "y": ()}),
    "blocks": kinemorph.codegen.trace(lambda x: solve([[x[0]], [x[1], x[2]]], [[x[0]], [1.0]]), {"x": (3,)}),
    "nothing": kinemorph.codegen.trace(lambda: [], {}),
}


@cache
def picture(name: str) -> Figure:
    return draw_graph(PROGRAMS[name])


def boxes(figure: Figure) -> list[Box]:
    """Left, right, top and bottom of every node drawn [inch]."""
    extents = [patch.get_path().get_extents(patch.get_patch_transform()) for patch in _patches(figure, "node")]
    return [(box.x0, box.x1, box.y0, box.y1) for box in extents]


def ways(figure: Figure) -> list[Any]:
    """The points of every edge drawn, shape (n, 2) [inch]."""
    return [np.asarray(patch._path_original.vertices) for patch in _patches(figure, "edge")]


def _patches(figure: Figure, kind: str) -> list[Any]:
    return [patch for patch in figure.axes[0].patches if patch.get_gid() == kind]


# ── the graph ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_node_is_drawn_once_and_apart_from_the_others(name: str) -> None:
    program = PROGRAMS[name]
    figure = picture(name)
    drawn = boxes(figure)
    assert len(drawn) == len(program.order) + len(program.refs)
    for i, (left, right, top, bottom) in enumerate(drawn):
        assert left > 0.0 and right < figure.get_figwidth() and top > 0.5 and bottom < figure.get_figheight() - 0.3
        for other in drawn[:i]:
            assert right < other[0] or other[1] < left or bottom < other[2] or other[3] < top


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_edge_is_drawn_and_points_forward(name: str) -> None:
    program = PROGRAMS[name]
    drawn = ways(picture(name))
    assert len(drawn) == sum(len(node) - 1 for _, node in program.steps) + len(program.refs)
    assert all((np.diff(points[:, 0]) >= 0.0).all() and points[0, 0] < points[-1, 0] for points in drawn)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_minus_stands_on_every_edge_of_a_negative_reference(name: str) -> None:
    program = PROGRAMS[name]
    refs = [*program.refs, *(ref for _, node in program.steps for ref in node[1:])]
    marks = picture(name).axes[0].lines
    assert len(marks) == sum(ref < 0 for ref in refs)


def test_the_first_argument_enters_at_the_top() -> None:
    program = kinemorph.codegen.trace(lambda x, y: y.sin() / x, {"x": (), "y": ()})
    top, bottom = sorted(ways(draw_graph(program))[1:3], key=lambda points: float(points[-1, 1]))
    assert top[0, 0] > bottom[0, 0]  # sin y starts in the second column, x in the first


def test_labels_are_symbols_names_and_numbers() -> None:
    program = kinemorph.codegen.trace(lambda x: 2.5 * x[0] - x[1].sin(), {"x": (2,)})
    shown = {text.get_text() for text in draw_graph(program, names={"x[1]": "angle"}).axes[0].texts}
    assert shown == {"2.5", "×", "−", "sin", "x[0]", "angle", "out"}


def test_what_no_output_needs_is_drawn_where_asked_for() -> None:
    def wasteful(x: Any) -> Any:
        x.cos()
        return x.sin()

    program = kinemorph.codegen.trace(wasteful, {"x": ()})
    shown = [{text.get_text() for text in draw_graph(program, unused=unused).axes[0].texts} for unused in (False, True)]
    assert shown[1] - shown[0] == {"cos"}


def test_too_large_a_graph_is_refused_with_a_remedy() -> None:
    program = _program("puma", "inverse_dynamics")
    with pytest.raises(UnsupportedError, match=rf"'puma.inverse_dynamics'.* {len(program.order)} nodes.*at most 60"):
        draw_graph(program)
    count = len(PROGRAMS["pendulum"].order)
    draw_graph(PROGRAMS["pendulum"], limit=count)
    with pytest.raises(UnsupportedError, match=f"at most {count - 1}"):
        draw_graph(PROGRAMS["pendulum"], limit=count - 1)


# ── which nodes are new ───────────────────────────────────────────────────────────────────────────────────────────────


def test_new_nodes_are_those_that_compute_something_new() -> None:
    before = kinemorph.codegen.trace(lambda x, y: 2.0 * x + y.sin(), {"x": (), "y": ()})
    after = kinemorph.codegen.trace(lambda y, x: [y.cos() * y.sin(), y.sin() + 2.0 * x], {"y": (), "x": ()})
    nodes = after.graph.nodes
    assert sorted(nodes[i][0] for i in new_nodes(after, before)) == ["cos", "mul"]
    assert not new_nodes(before, before) and not new_nodes(before, after)


def test_swapped_arguments_and_signs_are_new_where_they_matter() -> None:
    before = kinemorph.codegen.trace(lambda x, y: [x / y, (x - y).exp()], {"x": (), "y": ()})
    after = kinemorph.codegen.trace(lambda x, y: [y / x, (y - x).exp()], {"x": (), "y": ()})
    nodes = after.graph.nodes
    assert sorted(nodes[i][0] for i in new_nodes(after, before)) == ["div", "exp"]


def test_highlighted_nodes_have_a_color_of_their_own() -> None:
    program = PROGRAMS["pendulum"]
    chosen = [i for i, node in program.steps if node[0] == "mul"]
    fills = [patch.get_facecolor() for patch in _patches(draw_graph(program, highlight=chosen), "node")]
    by_node = dict(zip(program.order, fills, strict=False))
    others = {by_node[i] for i in program.order if program.graph.nodes[i][0] not in LEAVES and i not in chosen}
    assert len({by_node[i] for i in chosen}) == len(others) == 1
    assert by_node[chosen[0]] not in others


# ── layout ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(8))
def test_layout_of_random_graphs_keeps_distances_and_directions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 40))
    edges = [(int(rng.integers(b)), b) for b in range(1, count) for _ in range(rng.integers(4))]
    roots, tips = sorted(set(range(count)) - {b for _, b in edges}), sorted(set(range(count)) - {a for a, _ in edges})
    layout = layered(count, edges, distance=ROW, first=roots, last=set(tips) - set(roots))
    column_of = {vertex: k for k, column in enumerate(layout.columns) for vertex in column}
    assert sorted(column_of) == sorted(layout.heights) == list(range(sum(map(len, layout.columns))))
    assert all(column_of[root] == 0 for root in roots)
    for (a, b), bends in zip(edges, layout.bends, strict=True):
        assert [column_of[v] for v in (a, *bends, b)] == list(range(column_of[a], column_of[b] + 1))
    for column in layout.columns:
        for upper, lower in pairwise(column):
            room = 0.5 * ROW * sum(1.0 if vertex < count else BEND for vertex in (upper, lower))
            assert layout.heights[lower] - layout.heights[upper] > room - 1e-12


def test_a_tree_is_laid_out_without_crossings() -> None:
    edges = [(8, 12), (9, 12), (10, 13), (11, 13), (12, 14), (13, 14)]
    edges += [(leaf, 8 + place // 2) for place, leaf in enumerate((0, 4, 2, 6, 1, 5, 3, 7))]  # leaves in a wild order
    layout = layered(15, edges, first=range(8))
    for left, right in pairwise(layout.columns):
        ends = [right.index(b) for a in left for source, b in edges if source == a]
        assert ends == sorted(ends)


# ── values alive ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_values_alive_are_those_made_and_still_to_be_read() -> None:
    program = PROGRAMS["double pendulum"]
    order = list(plan(program).chunks[0])
    nodes = program.graph.nodes
    for place, count in enumerate(values_alive(program, order)):
        made, read = set(order[:place]), {abs(ref) for i in order[place:] for ref in nodes[i][1:]}
        assert count == len(made & read)


def test_liveness_picture_shows_the_borders_of_the_chunks() -> None:
    program = _program("hexapod36", "forward_dynamics")
    steps = plan(program)
    axes = draw_liveness(program).axes[0]
    crossing = [text.get_text() for text in axes.texts if text.get_text().startswith(" ")]
    assert len(crossing) == len(steps.chunks) - 1 > 1
    assert all(int(text.split()[0]) <= steps.scratch for text in crossing)
    assert len(draw_liveness(PROGRAMS["nothing"]).axes[0].texts) == 1
