"""Pole maps and mode shapes: poles where they are, lines of constant damping through them, bends to scale."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.small_motions.poles import Poles, poles
from kinemorph.display.canvas import FAILURE
from kinemorph.display.charts.plot_poles import RATIOS, plot_poles
from kinemorph.display.painting.draw_modes import LARGEST_ANGLE, SWAY, bent, draw_modes, mode_caption
from kinemorph.display.painting.triangles import Cast
from kinemorph.display.scenes.building import staged
from kinemorph.display.scenes.figures import figure_of
from kinemorph.errors import UnsupportedError
from kinemorph.model.library import LIBRARY
from kinemorph.plants.own_equations import first_order


@pytest.fixture(scope="module")
def chain() -> Poles:
    return poles(LIBRARY["chain"](4))


@pytest.fixture(scope="module")
def damped() -> Poles:
    return poles(LIBRARY["pendulum"](), forces=lambda v: [-0.5 * v[0]])


@pytest.fixture(scope="module")
def stiff() -> Poles:
    return poles(
        first_order(lambda x: [-1000.0 * x[0], -x[1] + 3.0 * x[2], -x[2] - 4.0 * x[1]], dict.fromkeys("abc", "V"))
    )


def crosses(axes: Any, label: str) -> np.ndarray[Any, Any]:
    return np.concatenate(
        [np.asarray(c.get_offsets()) for c in axes.collections if c.get_label() == label] or [np.zeros((0, 2))]
    )


def test_poles_stand_where_they_are_and_are_numbered(chain: Poles) -> None:
    (axes,) = plot_poles(chain).axes
    assert crosses(axes, "poles") == pytest.approx(np.column_stack([chain.values.real, chain.values.imag]))
    texts = [text.get_text() for text in axes.texts]
    assert all(f"{k + 1}: {frequency:.3g} Hz" in texts for k, frequency in enumerate(chain.frequency))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("real part [1/s]", "imaginary part [rad/s]")


def test_all_poles_are_in_the_picture(chain: Poles, damped: Poles, stiff: Poles) -> None:
    for found in (chain, damped, stiff):
        (axes,) = plot_poles(found).axes
        (left, right), (_, top) = axes.get_xlim(), axes.get_ylim()
        assert ((left < found.values.real) & (found.values.real < right)).all() and (found.values.imag < top).all()


def test_poles_that_grow_are_red() -> None:
    inverted = poles(LIBRARY["pendulum"](), q=[np.pi])
    figure = plot_poles(inverted)
    assert crosses(figure.axes[0], "growing") == pytest.approx(np.array([[np.sqrt(9.81), 0.0]]))
    red = next(c for c in figure.axes[0].collections if c.get_label() == "growing")
    from matplotlib.colors import to_rgba

    assert tuple(red.get_edgecolor()[0]) == pytest.approx(to_rgba(FAILURE))
    assert any("1 grow" in text.get_text() for text in figure.texts)


def test_rays_have_the_damping_ratio_that_stands_at_them(damped: Poles, stiff: Poles) -> None:
    for found in (damped, stiff):
        (axes,) = plot_poles(found).axes
        rays = [np.array(line.get_data()).T for line in axes.lines if line.get_label() == "_damping"]
        assert len(rays) == len(RATIOS)
        for ray, ratio in zip(rays, RATIOS, strict=True):
            away = ray[np.linalg.norm(ray, axis=1) > 0.0]
            assert -away[:, 0] / np.linalg.norm(away, axis=1) == pytest.approx(np.full(len(away), ratio))


def test_sizes_far_apart_make_axes_logarithmic(chain: Poles, stiff: Poles) -> None:
    assert plot_poles(stiff).axes[0].get_xscale() == "symlog"
    assert plot_poles(chain).axes[0].get_xscale() == "linear"


def test_captions_tell_frequency_and_damping(chain: Poles, damped: Poles, stiff: Poles) -> None:
    assert mode_caption(chain, 1) == f"1: {chain.frequency[0]:.3g} Hz"
    assert mode_caption(damped, 1) == f"1: {damped.frequency[0]:.3g} Hz, ζ {damped.damping_ratio[0]:.2g}"
    assert mode_caption(stiff, 1) == "1: λ = −1000 1/s"
    assert mode_caption(poles(LIBRARY["crane"]()), 1) == "1: free"


def test_a_bend_goes_along_the_shape_both_ways(chain: Poles) -> None:
    q = bent(chain, 2, (0.0, np.pi, 0.5 * np.pi))
    assert q[0] == pytest.approx(-q[1]) and np.abs(q[2]).max() < 1e-12
    assert q[0] / np.abs(q[0]).max() == pytest.approx(chain.shapes[1] / np.abs(chain.shapes[1]).max())


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_bend_is_to_be_seen_and_not_too_large(chain: Poles, number: int) -> None:
    robot = LIBRARY["chain"](4)
    rows = np.vstack([chain.q, bent(chain, number, (0.0,))])
    figure = figure_of(robot, rows)
    cast, size = Cast(staged([figure], np.arange(2.0))), figure.size
    way = np.linalg.norm(cast.at(1).points - cast.at(0).points, axis=1).max()
    assert np.abs(rows[1]).max() <= LARGEST_ANGLE * 1.001
    assert way < 1.1 * SWAY * size and (way > 0.8 * SWAY * size or np.abs(rows[1]).max() > 0.99 * LARGEST_ANGLE)


def test_each_mode_is_drawn_at_rest_and_both_ways(chain: Poles) -> None:
    figure = draw_modes(chain, 3)
    assert [axes.get_title() for axes in figure.axes] == [mode_caption(chain, k) for k in (1, 2, 3)]
    for axes in figure.axes:  # of three shades
        shades: Any = np.asarray(axes.images[0].get_array())
        darkest = shades[shades[..., 3] > 250][:, :3].min(axis=1)
        assert all(((darkest >= low) & (darkest < high)).any() for low, high in ((0, 100), (140, 215), (215, 250)))
    assert [axes.get_title()[0] for axes in draw_modes(chain, [4, 2]).axes] == ["4", "2"]
    limits = {(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}
    assert len(limits) == 1  # all to one scale


def test_equations_show_their_modes_as_bars(stiff: Poles) -> None:
    figure = draw_modes(stiff)
    assert len(figure.axes) == len(stiff)
    heights = [patch.get_width() for patch in figure.axes[0].patches]
    assert heights == pytest.approx(stiff.shapes[0].real.tolist())


def test_modes_that_are_not_there_are_sentences(chain: Poles) -> None:
    with pytest.raises(UnsupportedError, match="no mode 5"):
        draw_modes(chain, [5])
    with pytest.raises(UnsupportedError, match="1 to 12"):
        draw_modes(chain, [1] * 13)
    with pytest.raises(UnsupportedError, match="with window="):
        draw_modes(poles(LIBRARY["pendulum"](), window=(100.0, 200.0)))


def test_poles_that_rounding_moves_off_the_axis_do_not_grow() -> None:
    """Bodies that float freely have double poles at 0, which rounding splits by the root of its size."""
    found = poles(LIBRARY["pendulum"]())
    split = dataclasses.replace(found, values=np.array([6e-8, -6e-8, -3.0, 10.0j]))
    assert not split.growing.any()
    assert list(dataclasses.replace(found, values=np.array([1e-3, 6e-8, -3.0, 10.0j])).growing) == [
        True,
        False,
        False,
        False,
    ]
