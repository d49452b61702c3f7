"""Batches in pictures: few runs as lines, many as bands of quantiles, some of them in a replay.

The stumble: nothing showed a batch, and the message said to give its runs one by one, which was not possible.
"""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import animate, library, plot, replay, simulate_batch
from kinemorph.display.charts.batch_bands import MOST_TIMES
from kinemorph.errors import UnsupportedError
from kinemorph.plants.own_equations import first_order


@pytest.fixture(scope="module")
def batch():
    return simulate_batch(library.double_pendulum(), 1.0, q=np.random.default_rng(0).normal(0.0, 0.5, (30, 2)))


def texts(figure):
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return [text.get_text() for text in figure.texts] + legends


def test_many_runs_are_a_median_and_bands(batch):
    (axes,) = (figure := plot(batch, "q.q1")).axes
    (line,) = axes.lines
    assert np.allclose(line.get_ydata(), np.median(batch["q.q1"], axis=0)) and len(axes.collections) == 2
    low, high = (np.quantile(batch["q.q1"], part, axis=0) for part in (0.05, 0.95))
    points = axes.collections[1].get_paths()[0].vertices
    assert points[:, 1].min() == pytest.approx(low.min()) and points[:, 1].max() == pytest.approx(high.max())
    assert any("30 runs" in text and "50 % and 90 %" in text for text in texts(figure))


def test_few_runs_are_lines_with_their_numbers(batch):
    figure = plot(batch[[3, 8, 20, 21, 22]], "q.q1")
    assert len(figure.axes[0].lines) == 5 and {"run 3", "run 22"} <= {*texts(figure)}
    assert len({line.get_color() for line in figure.axes[0].lines}) == 5
    figure = batch[[3, 8]].plot("q", difference=True)
    assert len(figure.axes[0].lines) == 4 and {"run 3", "run 8"} <= {*texts(figure)}
    assert len(plot(batch[:5], "q").axes[0].lines) == 2  # medians: five line styles would not be told apart


def test_defaults_and_long_runs_are_drawn(batch):
    figure = plot(batch)
    assert len(figure.axes) > 2 and all(axes.lines for axes in figure.axes)
    long = simulate_batch(library.pendulum(), 20.0, q=np.linspace(0.0, 1.0, 10)[:, None])
    assert len(plot(long, "a.q1").axes[0].lines[0].get_xdata()) == MOST_TIMES


def test_failed_runs_are_reported_and_the_others_shown():
    blowing_up = first_order(lambda x: [x[0] * x[0]], {"x": "m"}, start=[0.1], name="blowing_up")
    batch = simulate_batch(blowing_up, 1.0, x=np.linspace(0.1, 1.5, 12)[:, None], output_step=0.1)
    figure = plot(batch)
    assert any("4 of 12 runs failed" in text and "Run 8: At t =" in text for text in texts(figure))
    assert np.isfinite(figure.axes[0].lines[0].get_ydata()).all() and figure.axes[0].get_ylim()[1] < 100.0


def test_a_replay_shows_some_runs_and_says_so(batch):
    made = replay(batch)
    assert [figure.name for figure in made.scene.figures] == ["run 0", "run 10", "run 19", "run 29"]
    assert any("4 of 30 runs are shown" in note for note in made.scene.notes)
    chosen = batch[[3, 8]].replay()
    assert [figure.name for figure in chosen.scene.figures] == ["run 3", "run 8"]
    assert not any("are shown" in note for note in chosen.scene.notes)
    named = replay({"sweep": batch[:2], "one": batch[5]})
    assert [figure.name for figure in named.scene.figures] == ["sweep, run 0", "sweep, run 1", "one"]


def test_a_batch_is_animated(batch, tmp_path):
    assert animate(batch[:2], tmp_path / "two.gif", fps=2.0, size=1.0).stat().st_size > 1000


def test_what_a_batch_cannot_show_is_one_sentence(batch):
    with pytest.raises(UnsupportedError, match=r"no column 'q\.q3'"):
        plot(batch, "q.q3")
    with pytest.raises(UnsupportedError, match=r"plot\(batch\[0\], compare="):
        plot(batch, compare=batch[0])
    with pytest.raises(UnsupportedError, match="difference=True compares single runs"):
        plot(batch, difference=True)
    with pytest.raises(UnsupportedError, match="overlay= is drawn over single runs"):
        plot(batch, "q.q1", overlay="q.q2")
    for show in (plot, replay):
        with pytest.raises(UnsupportedError, match=r"no run in the batch .* has samples to"):
            show(batch[[]])
