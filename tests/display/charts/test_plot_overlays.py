"""Plots of many columns: lists of columns, references over measurements, legends that fit, colors that differ."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, library, simulate
from kinemorph.display.canvas import LINES
from kinemorph.display.charts.plot import plot
from kinemorph.errors import UnsupportedError
from kinemorph.simulation.results.trajectory import Trajectory

LEGS = ("front_right", "front_left", "hind_right", "hind_left")
JOINTS = tuple(f"{leg}_{part}" for leg in LEGS for part in ("hip", "knee"))


@pytest.fixture(scope="module")
def walking() -> Trajectory:
    """Eight joints that follow oscillators with several states each."""
    builder = RobotBuilder("quad", gravity=(0.0, 0.0, 0.0)).add(Body.box("trunk", 5.0, (0.4, 0.2, 0.1))).root("trunk")
    for joint in JOINTS:
        builder.add(Body.rod(f"{joint}_link", 0.5, 0.2, (0.0, 0.0, -0.1)))
        builder.joint(joint, "revolute", "trunk", f"{joint}_link", axis=(0.0, 1.0, 0.0))
    gait = elements.PhaseOscillators("central_pattern", joints=JOINTS)
    pd = elements.PD("pd", JOINTS, kp=(20.0,), kd=(1.0,), reference=tuple(f"central_pattern.{one}" for one in JOINTS))
    return simulate(System(builder.build(), (gait, pd)), 0.5, output_step=0.05, method="rk4", step=0.01)


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []


def test_columns_may_be_given_in_lists(walking: Trajectory) -> None:
    """`run.plot(["q", "v"])` raised "unhashable type: 'list'"."""
    expected = [axes.get_ylabel() for axes in plot(walking, "q", "v").axes]
    assert [axes.get_ylabel() for axes in walking.plot(["q", "v"]).axes] == expected
    assert [axes.get_ylabel() for axes in walking.plot("q", ("v",)).axes] == expected
    with pytest.raises(UnsupportedError, match=r"3 is given as a column, expected a name"):
        walking.plot(3)


def test_the_method_of_a_run_shows_the_arguments_of_plot() -> None:
    """help(run.plot) showed `**options: Any`."""
    own, whole = (inspect.signature(one).parameters for one in (Trajectory.plot, plot))
    assert [*own][1:] == [*whole][1:]
    assert [p.default for p in own.values()][1:] == [p.default for p in whole.values()][1:]
    assert all(f"`{name}`" in (Trajectory.plot.__doc__ or "") for name in [*own][1:] if name != "title")


def test_a_reference_shares_the_axes_of_the_measurement(walking: Trajectory) -> None:
    """It had a panel of its own, because it is a column of another group."""
    (axes,) = walking.plot("q.hind_left_knee", overlay="central_pattern.hind_left_knee").axes
    measured, reference = axes.lines[:2]
    assert (reference.get_ydata() == walking["central_pattern.hind_left_knee"]).all()
    assert (reference.get_linestyle(), reference.get_color()) == ("--", LINES[1]) and measured.get_color() == LINES[0]
    assert labels(axes) == ["hind_left_knee", "central_patter…hind_left_knee"]  # cut in the middle


def test_references_of_all_joints_have_the_colors_of_their_joints(walking: Trajectory) -> None:
    axes = walking.plot("q", overlay="central_pattern").axes[0]
    lines = {str(line.get_label()): line for line in axes.lines}
    for joint in JOINTS:
        reference = lines[f"_central_pattern.{joint}"]  # and not its phase or its amplitude
        assert reference.get_color() == lines[joint].get_color()
        assert (reference.get_ydata() == walking[f"central_pattern.{joint}"]).all()
    assert labels(axes) == [*JOINTS, "central_pattern"] and len(axes.lines) == 16
    degrees = walking.plot("q", overlay="central_pattern", degrees=True).axes[0].lines[-1]
    assert degrees.get_ydata() == pytest.approx(np.degrees(axes.lines[-1].get_ydata()))


def test_an_overlay_without_an_axis_of_its_unit_is_a_sentence(walking: Trajectory) -> None:
    with pytest.raises(UnsupportedError, match=r"overlay: 'energy.kinetic' is in J, but the axes are in rad; expected"):
        walking.plot("q", overlay="energy.kinetic")
    with pytest.raises(UnsupportedError, match=r"overlay: no column of 'central_pattern' has the unit of an axis"):
        walking.plot("energy", overlay=["central_pattern"])
    with pytest.raises(UnsupportedError, match=r"no column 'pd.nothing'"):
        walking.plot("q", overlay="pd.nothing")


def test_many_states_are_small_multiples_with_one_legend(walking: Trajectory) -> None:
    """All states shared one panel, with six names in its legend, each cut at the edge of the picture."""
    figure = walking.plot("x")
    multiples, rates = figure.axes[:8], figure.axes[8]
    assert [axes.get_title("left") for axes in multiples] == list(JOINTS)
    shown = [names for axes in multiples if (names := labels(axes))]
    assert shown == [["phase", "amplitude"]]  # one legend for all
    assert {len(axes.lines) for axes in multiples} == {2}
    assert rates.get_ylabel().endswith("amplitude.rate\n[rad/s]") and labels(rates) == list(JOINTS)


@pytest.mark.parametrize("columns", [["q"], ["x"], ["q.hind_left_knee"], ["pd"], ["energy"]])
def test_legends_lie_inside_the_picture(walking: Trajectory, columns: list[str]) -> None:
    figure = walking.plot(columns, overlay="central_pattern.hind_*" if columns[0].startswith("q") else ())
    figure.canvas.draw()
    width = figure.bbox.width
    for axes in figure.axes:
        if axes.get_legend():
            box = axes.get_legend().get_window_extent()
            assert box.x1 <= width + 1.0 and box.x0 >= axes.get_window_extent().x1 - 12.0


def test_twelve_joints_have_colors_that_can_be_told_apart() -> None:
    """Numbered joints had neighboring tones of one color scale."""
    run = simulate(library.chain(12), 0.05, method="rk4", step=0.01)
    colors = [line.get_color() for line in run.plot("q").axes[0].lines]
    assert colors == list(LINES) and len(set(colors)) == 12
    assert min(_apart(a, b) for k, a in enumerate(colors) for b in colors[:k]) > 25.0


def _apart(a: str, b: str) -> float:
    """The distance of two colors in CIELAB; 2.3 can just be noticed."""

    def lab(color: str) -> np.ndarray:
        rgb = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
        rgb = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
        f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
        return np.array([116.0 * f[1] - 16.0, 500.0 * (f[0] - f[1]), 200.0 * (f[1] - f[2])])

    return float(np.linalg.norm(lab(a) - lab(b)))
