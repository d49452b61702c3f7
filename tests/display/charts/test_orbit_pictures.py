"""Pictures of orbits, branches, diagrams and basins show what the results say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import UnsupportedError
from kinemorph.orbits import basin, bifurcation_diagram, continuation, explicit_map, periodic_orbit, switch_branch
from kinemorph.plants.own_equations import first_order

LOGISTIC = explicit_map(
    lambda z, p: [p[0] * z[0] * (1.0 - z[0])], {"x": ""}, parameters={"r": 2.8}, start=[0.5], name="logistic"
)


def test_a_branch_is_solid_where_it_is_stable_and_marks_its_special_points(tmp_path: Path) -> None:
    branch = continuation(periodic_orbit(LOGISTIC), "r", (2.0, 3.6))
    twice = switch_branch(branch.at("doubling")[0], (2.0, 3.6))
    axes = branch.plot(compare=twice, path=tmp_path / "branch.png").axes[0]
    dashed, solid, *others = axes.lines
    x, y = solid.get_xdata(), solid.get_ydata()
    np.testing.assert_allclose(dashed.get_ydata(), 1.0 - 1.0 / dashed.get_xdata(), atol=1e-9)
    assert np.isnan(y[x > 3.0 + 1e-9]).all() and np.isfinite(y[x <= 3.0]).all()
    marks = [(line.get_xdata()[0], line.get_marker()) for line in axes.lines if line.get_marker() == "s"]
    assert [round(value, 6) for value, _ in marks] == [3.0, round(1.0 + 6.0**0.5, 6)]
    curves = [line for line in others if len(line.get_xdata()) == len(twice)]
    assert len(curves) == 4, "both returns of an orbit of two cycles, each dashed and solid"
    assert (tmp_path / "branch.png").stat().st_size > 5000
    periods = branch.plot(y="period").axes[0].lines[0].get_ydata()
    assert (periods == 1.0).all()


def test_diagrams_and_basins_show_every_return_and_every_start(tmp_path: Path) -> None:
    diagram = bifurcation_diagram(LOGISTIC, "r", [2.8, 3.2], transient=300, keep=4)
    axes = diagram.plot(path=tmp_path / "diagram.png").axes[0]
    np.testing.assert_allclose(axes.lines[0].get_ydata(), diagram["x"].ravel())
    two = explicit_map(
        lambda z, p: [z[0] + 0.3 * (z[0] - z[0] ** 3), 0.5 * z[1]], {"x": "m", "y": ""}, start=[0.5, 0.0], name="wells"
    )
    found = basin(two, {"x": np.linspace(-1.5, 1.5, 6), "y": np.linspace(-1.0, 1.0, 4)}, cycles=60)
    axes = found.plot(path=tmp_path / "basin.png").axes[0]
    (mesh,) = axes.collections
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(4, 6), found.labels.T)
    assert axes.get_xlabel() == "x [m]" and axes.get_ylabel() == "y"
    with pytest.raises(UnsupportedError, match="expected 2 for a picture"):
        basin(two, {"x": np.linspace(-1.5, 1.5, 6)}, cycles=20).plot()


def test_an_orbit_is_drawn_as_a_closed_curve_beside_its_multipliers(tmp_path: Path) -> None:
    circle = first_order(
        lambda x: [-x[1] + x[0] * (1.0 - x[0] ** 2 - x[1] ** 2), x[0] + x[1] * (1.0 - x[0] ** 2 - x[1] ** 2)],
        {"a": "m", "b": "m"},
        start=[0.9, 0.0],
        name="circle",
    )
    orbit = periodic_orbit(circle, section="b")
    left, right = orbit.plot(path=tmp_path / "orbit.png").axes
    x, y = left.lines[0].get_data()
    np.testing.assert_allclose(np.hypot(x, y), 1.0, atol=1e-8)
    crosses = [line for line in right.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert crosses[0].get_xdata()[0] == pytest.approx(np.exp(-4.0 * np.pi), rel=1e-5)  # in closed form
    with pytest.raises(UnsupportedError, match="no orbit to plot"):
        periodic_orbit(explicit_map(lambda z, p: [z[0] ** 2 + z[0] + 1.0], {"x": ""}, start=[0.4])).plot()
