"""Pictures of studies: what is drawn is what was measured, nothing in between, and nothing that failed is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.display.canvas import png_of, shortened
from kinemorph.display.charts.studies.convergence_plots import best_so_far, estimate_so_far
from kinemorph.display.charts.studies.frames import color_scale
from kinemorph.display.charts.studies.histograms import Mark, histogram, shares
from kinemorph.display.charts.studies.parallel_lines import parallel_lines
from kinemorph.display.charts.studies.plotted_items import PlottedItems, axis_of
from kinemorph.display.charts.studies.response_curves import response_curve
from kinemorph.display.charts.studies.response_maps import response_map
from kinemorph.display.charts.studies.sensitivity_plots import morris_plane, sensitivity_bars
from kinemorph.errors import UnsupportedError
from kinemorph.model.library import double_pendulum
from kinemorph.studies import Range, Space, Values, load_study, sweep
from kinemorph.studies.items import Column, items_of, label_column, number_column
from kinemorph.studies.statistics.sobol import Bounded

LABELS = ("wave", "tripod", "ripple")


def study(
    columns: Sequence[Column], values: Any, *, failed: Sequence[int] = (), waiting: Sequence[int] = ()
) -> PlottedItems:
    items = items_of(columns)
    states = np.ones(len(items), dtype=np.int8)
    states[list(failed)], states[list(waiting)] = 2, 0
    measures = np.where((states == 1)[:, None], np.asarray(values, dtype=float).reshape(len(items), -1), np.nan)
    names = ("cost $a$ and $b", "work")[: measures.shape[1]]
    return PlottedItems("gaits", np.arange(len(items)), items, names, measures, states)


def grid(**states: Any) -> PlottedItems:
    """A grid of 6 masses and 4 stiffnesses over decades."""
    stiffness, mass = (one.ravel() for one in np.meshgrid(np.geomspace(1.0, 1000.0, 4), np.linspace(1.0, 2.0, 6)))
    return study([number_column("mass", mass, "kg"), number_column("k", stiffness, "N/m")], mass * stiffness, **states)


def scattered(count: int, **states: Any) -> PlottedItems:
    x, y = np.random.default_rng(2).random((2, count))
    return study([number_column("x", x), number_column("y", y)], x + 10.0 * y, **states)


def several(count: int, **states: Any) -> PlottedItems:
    """Choices, numbers, and a part that does not apply to all items."""
    random = np.random.default_rng(3)
    x, y = random.random((2, count))
    gait = np.arange(count) % 3
    push = np.where(gait == 1, np.nan, random.random(count))
    columns = [number_column("x", x), number_column("a_long_name_of_a_part.with_a_long_name", y, "N m s/rad")]
    columns += [number_column("push", push), label_column("gait", gait, LABELS)]
    return study(columns, np.column_stack([x, y]), **states)


def told(figure: Any) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def test_a_grid_has_a_cell_for_each_item_and_marks_failed_ones() -> None:
    shown = grid(failed=[3], waiting=[5, 6])
    figure = response_map(shown)
    cells, lost = figure.axes[0].collections
    values = np.ma.filled(cells.get_array(), np.nan)
    expected = shown.measures[:, 0].reshape(6, 4)  # masses are the slow part of the items; the map has k along x
    assert np.allclose(values.reshape(6, 4), expected, equal_nan=True)
    assert np.ma.count(lost.get_array()) == 1  # only the failed one, not those that wait
    assert figure.axes[0].get_xscale() == "log" and figure.axes[0].get_yscale() == "linear"
    assert figure.axes[0].get_xlabel() == "k [N/m]"
    assert "24 items, 1 failed (crosses), 2 waiting (white); smallest: 1 (item 0)" in told(figure)
    assert "largest: 2000 (item 23)" in told(response_map(shown, largest=True))


def test_every_point_of_a_voronoi_cell_is_nearest_to_its_item() -> None:
    shown = scattered(40, failed=[7])
    axes = response_map(shown).axes[0]
    polygons = axes.collections[0]
    done = np.flatnonzero(shown.done).tolist()
    assert sorted(polygons.get_array()) == sorted(shown.measures[done, 0])
    done = [int(np.flatnonzero(shown.measures[:, 0] == value)[0]) for value in polygons.get_array()]
    low, high = (np.array(one) for one in zip(axes.get_xlim(), axes.get_ylim(), strict=True))
    size = np.array(axes.get_position().size) * axes.figure.get_size_inches()
    scale = size / (high - low)
    spots = np.column_stack([column.numbers for column in shown.items.columns])
    area = 0.0
    for k, path in zip(done, polygons.get_paths(), strict=True):
        corners = path.vertices[:-1]
        assert path.contains_point(spots[k])
        inside = corners.mean(axis=0) + 0.999 * (corners - corners.mean(axis=0))
        away = np.linalg.norm((inside[:, None] - spots[None]) * scale, axis=2)
        assert (away.argmin(axis=1) == k).all()
        x, y = (corners * scale).T
        area += 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    assert area < size.prod() and area > 0.9 * size.prod()  # the cell of the failed item is missing


def test_rows_of_choices_reach_halfway_to_the_neighbors() -> None:
    x = np.array([0.0, 1.0, 3.0, 0.0, 2.0, 4.0])
    shown = study([number_column("x", x), label_column("gait", [0, 0, 0, 1, 1, 1], LABELS)], x)
    axes = response_map(shown, x="x", y="gait").axes[0]
    ends = [sorted({*path.vertices[:, 0].round(9)}) for path in axes.collections[0].get_paths()]
    assert ends == [[-0.12, 0.5], [0.5, 2.0], [2.0, 4.12], [-0.12, 1.0], [1.0, 3.0], [3.0, 4.12]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["wave", "tripod"]  # ripple does not occur


def test_a_map_of_some_parts_says_what_it_hides() -> None:
    shown = several(60)
    figure = response_map(shown, x="x", y="gait")
    assert len(figure.axes[0].collections[0].get_offsets()) == 60  # dots: neighbors differ in what is not shown
    assert "Also varied, and not shown" in told(figure)
    mean = response_map(grid(), x="mass", y="k", of="mean")
    assert "several items" not in told(mean)
    columns = [number_column(name, values) for name, values in (("x", [0, 0, 1, 1]), ("y", [0, 0, 1, 1]))]
    double = study([*columns, number_column("z", [0, 1, 0, 1])], [1.0, 3.0, 5.0, 9.0])
    for of, values in {"mean": [2.0, 7.0], "largest": [3.0, 9.0], "smallest": [1.0, 5.0]}.items():
        figure = response_map(double, x="x", y="y", of=of)  # type: ignore[arg-type]
        assert sorted(figure.axes[0].collections[0].get_array()) == values and of in told(figure)


def test_where_takes_the_items_with_these_values() -> None:
    shown = grid().where({"mass": 1.21})  # the nearest mass is 1.2
    assert shown.parts == ("k",) and shown.measures[:, 0] == pytest.approx([1.2, 12.0, 120.0, 1200.0])
    assert set(several(9).where({"gait": "ripple"}).numbers) == {2, 5, 8}
    for values, sentence in (
        ({"gait": "tripot"}, r"'tripot'; expected one of 'wave', 'tripod', 'ripple'\. Did you mean 'tripod'"),
        ({"gate": "wave"}, "no part 'gate'. Did you mean 'gait'"),
        ({"x": "wave"}, "expected a number"),
        ({"x": 0.0, "push": 1.0}, "no item of 'gaits' has"),
    ):
        with pytest.raises(UnsupportedError, match=sentence):
            several(9).where(values)  # type: ignore[arg-type]


def test_a_curve_has_a_dot_for_each_item_and_crosses_for_failed_ones() -> None:
    x = np.linspace(0.0, 1.0, 11)
    figure = response_curve(study([number_column("x", x, "m")], np.column_stack([x**2, -x]), failed=[4]))
    assert len(figure.axes) == 2
    dots, line, crosses = figure.axes[0].lines
    assert np.allclose(dots.get_ydata(), np.delete(x**2, 4)) and np.allclose(crosses.get_xdata(), [0.4])
    assert len(line.get_xdata()) == 10
    medians = response_curve(several(30), "work", x="gait").axes[0].lines[1]
    assert medians.get_ydata()[0] == pytest.approx(np.median(several(30).measures[::3, 1]))


def test_lines_of_parallel_coordinates_end_at_their_measure_and_the_best_are_in_front() -> None:
    shown = several(50, failed=[0], waiting=[1])
    axes = parallel_lines(shown).axes[0]
    lost, back, _, front = axes.collections
    assert len(lost.get_paths()) == 1 and len(back.get_paths()) + len(front.get_paths()) == 48
    values = shown.measures[:, 0]
    low, high = np.nanmin(values), np.nanmax(values)
    ends = [path.vertices[-1, 1] for path in front.get_paths()]
    assert ends == pytest.approx(sorted((values[~np.isnan(values)] - low) / (high - low))[:3][::-1])
    heights = np.array([path.vertices[shown.parts.index("push"), 1] for path in back.get_paths()])
    assert (heights < 0.0).any() and (heights >= 0.0).any()  # items without a push pass below the axis
    with pytest.raises(UnsupportedError, match="varies no part"):
        parallel_lines(study([number_column("x", [1.0, 1.0])], [1.0, 2.0]))


def test_the_best_so_far_never_gets_worse() -> None:
    shown = several(200, failed=[3])
    for largest in (False, True):
        figure = best_so_far(shown, "work", largest=largest)
        best = figure.axes[0].lines[1].get_ydata()
        assert (np.diff(best) >= 0.0).all() if largest else (np.diff(best) <= 0.0).all()
        assert best[-1] == (np.nanmax if largest else np.nanmin)(shown.measures[:, 1])


def test_estimates_have_bands_and_one_alone_has_bars() -> None:
    counts = np.array([10, 100, 1000])
    texts: dict[str, Any] = {"measure": "work", "heading": "work", "captions": ["1,000 items"]}
    figure = estimate_so_far(counts, np.ones(3), np.array([-np.inf, 0.5, 0.9]), np.array([np.inf, 1.5, 1.1]), **texts)
    assert figure.axes[0].get_xscale() == "log" and np.isfinite(figure.axes[0].get_ylim()).all()
    alone = estimate_so_far(counts[:1], np.ones(1), np.zeros(1), np.full(1, 2.0), **texts, goal=0.1)
    assert len(alone.axes[0].lines) >= 3  # the estimate, and the stated error on both sides


def test_a_histogram_counts_all_values_and_labels_do_not_collide() -> None:
    values = np.random.default_rng(0).exponential(size=400)
    marks = [Mark("5 %", 0.05, 0.03, 0.08), Mark("50 %", 0.7, 0.6, 0.8), Mark("mean", 1.0, 0.9, 1.1)]
    figure = histogram(values, marks, measure="height", heading="height", captions=[])
    axes = figure.axes[0]
    assert sum(bar.get_height() for bar in axes.containers[0]) == 400
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 3 and not any(a.overlaps(b) for a in boxes for b in boxes if a is not b)
    bars = shares(Mark("mean", 0.2, 0.1, 0.4), measure="fell", heading="", captions=[]).axes[0].patches
    assert [bar.get_height() for bar in bars] == pytest.approx([0.8, 0.2])


def bounded(values: Any) -> Bounded:
    return Bounded(np.array(values), np.array(values) - 0.02, np.array(values) + 0.02)


def test_sensitivities_are_sorted_and_the_most_important_parts_are_named() -> None:
    parts = [f"leg{k}.knee.viscous" for k in range(4)]
    indices = {"first": bounded([0.1, 0.3, 0.05, np.nan]), "total": bounded([0.2, 0.4, 0.1, np.nan])}
    figure = sensitivity_bars(parts, indices, heading="", captions=[], label="share")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()][:3] == [parts[1], parts[0], parts[2]]
    plane = morris_plane(parts, bounded([0.1, 0.3, 0.05, 0.0]), bounded([0.1] * 4), heading="", captions=[])
    plane.canvas.draw()
    names = plane.axes[0].texts
    assert parts[1] in {text.get_text() for text in names}
    boxes = [text.get_window_extent() for text in names]
    assert not any(a.overlaps(b) for a in boxes for b in boxes if a is not b)


def test_few_items_no_items_and_odd_names() -> None:
    one = scattered(1)
    assert png_of(response_map(one, x="x", y="y")) and png_of(best_so_far(one))  # dollar signs are no formulas
    nothing = scattered(3, waiting=[0, 1], failed=[2])
    for draw in (response_map, response_curve, parallel_lines, best_so_far):
        with pytest.raises(UnsupportedError, match="none of the 3 items of 'gaits' has a result"):
            draw(nothing)
    with pytest.raises(UnsupportedError, match=r"no measure 'wrok'\. Did you mean 'work'"):
        several(6).measure("wrok")
    with pytest.raises(UnsupportedError, match="a map needs two parts that vary"):
        response_map(grid().where({"mass": 1.0}))
    assert shortened("abcdefghij", 5) == "ab…ij" and shortened("a$b") == r"a\$b"


def test_logarithmic_axes_are_found_from_the_values() -> None:
    assert axis_of(number_column("k", np.geomspace(1e-3, 10.0, 9))).log
    assert not axis_of(number_column("k", np.linspace(0.1, 10.0, 9))).log
    assert not axis_of(number_column("k", np.geomspace(1e-3, 10.0, 9) - 0.1)).log
    assert not axis_of(number_column("k", np.geomspace(1.0, 10.0, 9))).log
    assert axis_of(number_column("k", [1.0, 2.0]), log=True).log


def test_a_few_far_values_do_not_leave_one_color_for_all_others() -> None:
    values = np.concatenate([np.linspace(0.0, 1.0, 99), [1e6]])
    norm, extend = color_scale(values)
    assert norm.vmax < 2.0 and extend in ("max", "both")
    assert color_scale(np.linspace(0.0, 1.0, 99))[1] == "neither"


def test_axes_have_the_units_of_parts_and_measures(tmp_path: Path) -> None:
    """Axes had names only: parts and measures never got a unit."""
    space = Space({"m1": Range(0.5, 2.0, points=2), "q.q2": Range(0.0, 1.0, points=2)})
    measures = {"far": "max(q.q1)", "force": "max(reaction.q1.fz)", "end": "v.q2", "q.q1 + 1": "q.q1 + 1"}
    sweep(double_pendulum(), space, measures, until=0.1, workers=0, store=tmp_path / "two.study")
    shown = load_study(tmp_path / "two.study")
    for measure, label in (("far", "far [rad]"), ("force", "force [N]"), ("end", "end [rad/s]"), ("q.q1 + 1",) * 2):
        plane, bar = shown.plot("map", measure).axes
        assert {plane.get_xlabel(), plane.get_ylabel()} == {"m1 [kg]", "q.q2 [rad]"} and bar.get_ylabel() == label
        for kind, axis in (("curve", "y"), ("convergence", "y"), ("histogram", "x")):
            assert getattr(shown.plot(kind, measure).axes[0], f"get_{axis}label")() == label
    weighed = sweep(double_pendulum(), Space({"link2.mass": Values([1.0])}), ["q.q1"], until=0.1, workers=0)
    assert weighed.items.columns[0].unit == "kg"
