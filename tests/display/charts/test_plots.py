"""Plots of runs: the right lines with their units, events and ends; small multiples; comparisons; phase portraits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.display.canvas import FAILURE, blank, factor_out
from kinemorph.display.charts.plot import plot
from kinemorph.display.charts.plot_phase import plot_phase
from kinemorph.display.charts.runs import named_runs
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.library import LIBRARY
from kinemorph.model.system import System
from kinemorph.plants.own_equations import first_order
from kinemorph.simulation.march.guards import Guard
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate

EVENTS = (Guard("bottom", lambda q: q[0]), Guard("turn", lambda v: v[1], direction="falling"))


@pytest.fixture(scope="module")
def swing() -> Trajectory:
    return simulate(LIBRARY["double_pendulum"](), 3.0, q=[1.0, 0.5], events=EVENTS)


@pytest.fixture(scope="module")
def coarse() -> Trajectory:
    return simulate(LIBRARY["double_pendulum"](), 3.0, q=[1.0, 0.5], method="rk4", step=0.02)


@pytest.fixture(scope="module")
def failed() -> Trajectory:
    run = simulate(LIBRARY["double_pendulum"](), 10.0, q=[1.0, 0.5], method="rk4", step=0.5)
    assert not run.outcome.ok
    return run


@pytest.fixture(scope="module")
def hexapod() -> Trajectory:
    return simulate(LIBRARY["hexapod24"](), 0.1, v=np.linspace(-1.0, 1.0, 24))


def lines(axes: Any) -> dict[str, Any]:
    """The lines that a legend would name."""
    return {str(line.get_label()): line for line in axes.lines if not str(line.get_label()).startswith("_")}


def all_texts(figure: Any) -> str:
    found = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return "\n".join(text.get_text() for text in found)


# ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_wish_positions_velocities_and_energies_are_shown(swing: Trajectory) -> None:
    axes = plot(swing).axes
    labels = [one.get_ylabel() for one in axes]
    assert labels[:3] == ["q [rad]", "v [rad/s]", "energy [J]"]
    assert labels[3].startswith("energy.balance [10⁻") and labels[3].endswith(" J]")
    assert [list(lines(one)) for one in axes[:3]] == [["q1", "q2"], ["q1", "q2"], ["kinetic", "potential", "total"]]
    assert axes[-1].get_xlabel() == "t [s]"


def test_lines_hold_the_samples(swing: Trajectory) -> None:
    (axes,) = plot(swing, "q.q2").axes
    (line,) = lines(axes).values()
    assert (line.get_xdata() == swing.t).all() and (line.get_ydata() == swing["q.q2"]).all()
    total = lines(plot(swing, "energy").axes[0])["total"].get_ydata()
    assert total == pytest.approx(np.full(len(swing.t), total[0]), abs=1e-6)


@pytest.mark.parametrize(
    ("wish", "names"),
    [
        (["q"], ["q1", "q2"]),
        (["v.q1"], ["q1"]),
        (["q.*"], ["q1", "q2"]),
        (["[qv].q1"], ["q1", "q1"]),
        (["q.q1", "q"], ["q1", "q2"]),
    ],
)
def test_columns_are_named_by_name_group_or_pattern(swing: Trajectory, wish: list[str], names: list[str]) -> None:
    assert [name for axes in plot(swing, *wish).axes for name in lines(axes)] == names


def test_groups_with_different_units_have_axes_of_their_own(hexapod: Trajectory) -> None:
    labels = [axes.get_ylabel() for axes in plot(hexapod, "q.trunk*").axes]
    assert labels == ["q [m]", "q [–]"]


def test_angles_are_in_degrees_only_on_request(swing: Trajectory) -> None:
    plain, turned = (plot(swing, "q", "v", degrees=degrees).axes for degrees in (False, True))
    assert [axes.get_ylabel() for axes in turned] == ["q [deg]", "v [deg/s]"]
    ratio = lines(turned[0])["q1"].get_ydata()[0] / lines(plain[0])["q1"].get_ydata()[0]
    assert ratio == pytest.approx(180.0 / np.pi)


def test_states_and_outputs_of_equations_stand_under_their_own_names() -> None:
    tank = first_order(
        lambda x: [-x[0], x[0] - x[1]],
        {"upper": "m", "lower": "m"},
        start=[1.0, 0.0],
        outputs={"flow": lambda x: x[0]},
        output_units={"flow": "m^3/s"},
    )
    run = simulate(tank, 1.0)
    assert [axes.get_ylabel() for axes in plot(run).axes] == ["states [m]"]
    assert [axes.get_ylabel() for axes in plot(run, "x", "y").axes] == ["states [m]", "flow [m³/s]"]


def test_a_column_that_is_not_there_is_a_sentence(swing: Trajectory) -> None:
    with pytest.raises(UnsupportedError, match=r"no column 'q\.elbow'.*'q\.q1'.*group \(q, v"):
        plot(swing, "q.elbow")


# ── many joints ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_legs_become_small_multiples_with_one_legend(hexapod: Trajectory) -> None:
    axes = plot(hexapod, "q.leg*").axes
    assert [one.get_title(loc="left") for one in axes] == [f"leg{k}" for k in range(1, 7)]
    assert all(list(lines(one)) == ["hip", "thigh", "shank"] for one in axes)
    legends = [one.get_legend() for one in axes if one.get_legend()]
    assert len(legends) == 1
    assert [text.get_text() for text in legends[0].get_texts()] == ["hip", "thigh", "shank"]
    colors = [[line.get_color() for line in lines(one).values()] for one in axes]
    assert all(color == colors[0] for color in colors) and len(set(colors[0])) == 3
    assert len({one.get_ylim() for one in axes}) == 1


def test_velocities_of_many_joints_are_shown_on_request_only(hexapod: Trajectory) -> None:
    assert not any(axes.get_ylabel().startswith("v") for axes in plot(hexapod).axes)
    shown = plot(hexapod, "v")
    assert sum(len(lines(axes)) for axes in shown.axes) == 24


def test_counted_joints_run_through_a_scale_of_colors_with_few_names() -> None:
    run = simulate(LIBRARY["chain"](14), 0.05, q=np.linspace(0.5, -0.5, 14))
    (axes,) = plot(run, "q").axes
    assert len(lines(axes)) == 14
    assert len({tuple(line.get_color()) for line in lines(axes).values()}) == 14
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(named) <= 12 and (named[0], named[-1]) == ("q1", "q14")


# ── events and ends ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_event_is_a_line_and_every_name_stands_once(swing: Trajectory) -> None:
    figure = plot(swing, "q", "v")
    names = [event.name for event in swing.events]
    assert names.count("bottom") > 1
    for axes in figure.axes:
        marked = sorted(line.get_xdata()[0] for line in axes.lines if str(line.get_label()).startswith("_event"))
        assert marked == sorted(event.t for event in swing.events)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(texts) == sorted(f"{name} ({names.count(name)} times)" for name in set(names))


def test_names_of_events_do_not_lie_over_each_other() -> None:
    guards = [
        Guard("one angle", lambda q: q[0] - 0.9),
        Guard("another angle", lambda q: q[0] - 0.8),
        Guard("the last angle", lambda q: q[0] + 0.9),
    ]
    run = simulate(LIBRARY["pendulum"](), 1.2, q=[1.0], events=guards)
    figure = plot(run, "q")
    figure.draw_without_rendering()
    places = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(places) == 3
    assert not any(one.overlaps(other) for k, one in enumerate(places) for other in places[:k])
    assert all(place.x1 < figure.bbox.x1 for place in places)  # the last one, near the end, stands to the left


def test_a_failed_run_shows_where_it_ended_and_why(failed: Trajectory) -> None:
    figure = plot(failed)
    for axes in figure.axes:
        (end,) = [line for line in axes.lines if line.get_label() == "_failed"]
        assert end.get_xdata()[0] == failed.outcome.t and end.get_color() == FAILURE
    written = all_texts(figure).replace("\n", " ")
    assert failed.outcome.message in written and f"failed at t = {failed.outcome.t:.4g} s of 10 s" in written


def test_a_run_that_fails_at_once_shows_its_start() -> None:
    blocked = first_order(lambda t, x: [x[0] / t], {"x": "m"}, start=[2.0])
    run = simulate(blocked, 1.0)
    assert (run.outcome.kind, len(run.t)) == ("failed", 1)
    (line,) = lines(plot(run).axes[0]).values()
    assert (line.get_marker(), list(line.get_ydata())) == ("o", [2.0])


def test_what_grew_without_end_does_not_hide_what_came_before(failed: Trajectory) -> None:
    assert np.nanmax(np.abs(failed["q.q1"])) > 1e6
    low, high = plot(failed, "q").axes[0].get_ylim()
    assert high - low < 100.0


# ── several runs ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_runs_lie_over_each_other_with_styles_of_their_own(swing: Trajectory, coarse: Trajectory) -> None:
    figure = plot(swing, "q", compare={"rk4, 20 ms": coarse})
    (axes,) = figure.axes
    drawn = [line for line in axes.lines if line.get_label() in ("q1", "_q1")]
    assert len(drawn) == 2
    assert drawn[0].get_color() == drawn[1].get_color()
    assert drawn[0].get_linestyle() != drawn[1].get_linestyle()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["dop853", "rk4, 20 ms"]


def test_colors_tell_runs_apart_where_there_is_one_column(swing: Trajectory, coarse: Trajectory) -> None:
    (axes,) = plot(swing, "q.q1", compare=[coarse]).axes
    assert len({line.get_color() for line in axes.lines if str(line.get_label()) in ("q1", "_q1")}) == 2


def test_a_difference_is_that_of_the_samples(swing: Trajectory, coarse: Trajectory) -> None:
    first, second = plot(swing, "q.q1", compare=[coarse], difference=True).axes
    assert (second.get_ylabel(), second.get_yscale()) == ("|Δ q.q1| [rad]", "log")
    (line,) = [line for line in second.lines if line.get_label() == "_q1"]
    assert line.get_ydata()[-1] == pytest.approx(abs(swing["q.q1"][-1] - coarse["q.q1"][-1]))
    assert first.get_yscale() == "linear"


def test_runs_without_a_difference_say_so(coarse: Trajectory) -> None:
    figure = plot(coarse, "q", compare=[coarse], difference=True)
    assert "no difference" in all_texts(figure)


def test_wrong_comparisons_are_sentences(swing: Trajectory) -> None:
    with pytest.raises(UnsupportedError, match="second run"):
        plot(swing, "q", difference=True)
    with pytest.raises(UnsupportedError, match="expected a Trajectory"):
        plot(swing, "q", compare=[swing.q])  # type: ignore[list-item]
    other = simulate(LIBRARY["double_pendulum"](), 2.995, q=[1.0, 0.5], output_step=0.03171, start=0.005)
    with pytest.raises(UnsupportedError, match="no sample times in common"):
        plot(swing, "q", compare=[other], difference=True)


def test_runs_of_one_name_are_numbered(swing: Trajectory, coarse: Trajectory) -> None:
    assert list(named_runs(swing, [swing, coarse])) == ["dop853", "dop853 (2)", "rk4"]


# ── files and phase portraits ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plots_are_written(swing: Trajectory, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"run.{ending}"
    plot(swing, "q", path=path)
    assert path.stat().st_size > 3000
    with pytest.raises(KinemorphError, match=r"ends in \.png"):
        plot(swing, "q", path=tmp_path / "run.xyz")


def test_phase_portrait_begins_with_a_ring_and_ends_with_a_dot(swing: Trajectory, failed: Trajectory) -> None:
    axes = plot_phase(swing, "q2", compare={"coarse": failed}).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("q.q2 [rad]", "v.q2 [rad/s]")
    line = lines(axes)["dop853"]
    assert (line.get_xdata() == swing["q.q2"]).all() and (line.get_ydata() == swing["v.q2"]).all()
    starts, ends = ([line for line in axes.lines if line.get_label() == label] for label in ("_start", "_end"))
    assert [mark.get_xdata()[0] for mark in starts] == [swing["q.q2"][0], failed["q.q2"][0]]
    assert [mark.get_color() == FAILURE for mark in ends] == [False, True]


def test_phase_portraits_wrap_angles() -> None:
    run = simulate(LIBRARY["pendulum"](), 3.0, v=[9.0])
    assert run["q.q1"][-1] > 2.0 * np.pi
    q = lines(plot_phase(run, wrap=True).axes[0])["dop853"].get_xdata()
    assert np.nanmax(np.abs(q)) <= np.pi and np.isnan(q).sum() >= 1


def test_a_coordinate_without_a_velocity_has_no_phase_portrait(hexapod: Trajectory) -> None:
    with pytest.raises(UnsupportedError, match="velocity of the same name"):
        plot_phase(hexapod, "trunk_root.qw")


# ── several runs, and contacts ────────────────────────────────────────────────────────────────────────────────────────


def test_several_runs_are_plotted_as_they_are_animated(swing: Trajectory) -> None:
    """FINDINGS D7: a list of runs was an AttributeError."""
    names = [[text.get_text() for text in plot(given, "q").legends[0].texts] for given in ({"a": swing, "b": swing},)]
    assert names == [["a", "b"]]
    listed, compared = plot([swing, swing], "q"), plot(swing, "q", compare=swing)
    assert [len(axes.lines) for axes in listed.axes] == [len(axes.lines) for axes in compared.axes]
    assert len(plot([swing], "q").axes) == len(plot(swing, "q").axes)
    with pytest.raises(UnsupportedError, match=r"plot: 'b' is of type int; expected a Trajectory\."):
        plot({"a": swing, "b": 3})
    with pytest.raises(UnsupportedError, match="a run is of type str; expected a Trajectory"):
        plot([swing, "b"])
    with pytest.raises(UnsupportedError, match="there is nothing to plot; expected at least one Trajectory"):
        plot([])
    with pytest.raises(UnsupportedError, match="Put all runs into one"):
        plot([swing], compare=swing)


def test_contacts_that_never_touch_are_left_out_of_plots() -> None:
    """FINDINGS D15: their axis was called `*.normal [N]`, and they were in the legend."""
    box = RobotBuilder("box").add(Body.box("box", 1.0, (0.2, 0.2, 0.2))).root("box", "free").build()
    contacts = [
        Contact(name, "box", EasyDynNormal(0.05), point=(0.0, 0.0, height))
        for name, height in (("low", -0.1), ("lower", -0.11), ("high", 0.1))
    ]
    run = simulate(System(box, tuple(contacts)), 0.05, q=[0, 0, 0.1, 1, 0, 0, 0])
    figure = plot(run, "*.normal")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "normal [10⁻³ N]"
    assert [text.get_text() for text in axes.get_legend().texts] == ["low", "lower"]
    assert any("1 contact without a force left out" in text.get_text() for text in figure.texts)
    assert "high" in [text.get_text() for text in plot(run, ["low.normal", "high.normal"]).axes[0].get_legend().texts]


def test_small_numbers_do_not_run_into_the_label_of_their_axis() -> None:
    """FINDINGS D15: -0.0015 covered the label "energy.balance [J]"."""
    figure = blank(3.0, 2.0)
    axes = figure.add_subplot()
    axes.set_ylabel("energy.balance [J]")
    axes.plot([0.0, -0.002])
    factor_out(axes)
    assert axes.get_ylabel() == "energy.balance [10⁻³ J]"


def test_labels_of_axes_with_long_names_fit_their_axes() -> None:
    """They ran into each other and out of the figure; names of legends were cut already."""
    builder = RobotBuilder("dog").body("thigh", mass=1.0, inertia=(1.0, 1.0, 1.0))
    joint = "left_front_hip_abduction_and_rotation_joint"
    run = simulate(builder.joint(joint, "revolute", "world", "thigh", axis=(0, 1, 0)).build(), 0.1, v=[1.0])
    figure = plot(run, [f"q.{joint}", f"v.{joint}"])
    figure.canvas.draw()
    boxes = [axes.yaxis.label.get_window_extent() for axes in figure.axes]
    assert boxes[1].y1 < boxes[0].y0 and boxes[0].y1 < figure.bbox.y1 and boxes[1].y0 > 0.0
    assert min(box.x0 for box in boxes) >= 0.0
    assert all(
        "…" in axes.get_ylabel() and axes.get_ylabel().startswith(start)
        for axes, start in zip(figure.axes, ("q.left", "v.left"), strict=True)
    )
    portrait = plot_phase(run)
    portrait.canvas.draw()
    heading = portrait.texts[0].get_window_extent()
    assert heading.x1 < portrait.bbox.x1
