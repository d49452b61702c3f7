"""References: splines, sums of sines, least jerk, tables; their values, velocities and accelerations."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, make_interp_spline

from kinemorph import simulate
from kinemorph.algebra.scalar import sin
from kinemorph.errors import ModelError
from kinemorph.model.elements import (
    ComputedTorque,
    FourierSeries,
    MinimumJerk,
    Profile,
    Sinusoid,
    SplinePath,
)
from support.robots.controlled_systems import JOINTS, QUICK, arm


def along(reference, until=3.0, output_step=0.01):
    run = simulate(arm(reference), until, q=[0.0, 0.0], output_step=output_step, **QUICK)
    return run


REFERENCES = {
    "sinusoid": Sinusoid("r", 0.5, 0.7, 0.1, 0.3),
    "spline": SplinePath("r", (0.5, 1.0, 1.7, 2.4), (0.0, 0.8, -0.3, 0.2)),
    "periodic": SplinePath("r", (0.0, 0.3, 0.8, 1.2), (0.1, 0.5, -0.2, 0.1), period=1.2),
    "minimum jerk": MinimumJerk("r", (0.5, 1.5, 2.5), (0.0, 1.0, -0.5)),
    "Fourier series": FourierSeries("r", 2.0, (0.6, -0.3), (0.4, -0.1), 0.2),
    "profile": Profile("r", lambda t: sin(t * t)),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_velocities_and_accelerations_are_derivatives(name):
    run = along(REFERENCES[name], output_step=0.001)
    inner = slice(2, -2)
    for value, rate in (("r", "r.velocity"), ("r.velocity", "r.acceleration")):
        slopes = np.gradient(run[value], run.t)[inner]
        off = np.abs(slopes - run[rate][inner])
        assert np.quantile(off, 0.99) < 2e-3 * (1.0 + np.abs(slopes).max())  # but at joints between pieces


@pytest.mark.parametrize("method", ["cubic", "monotone", "linear"])
def test_a_spline_path_moves_on_at_its_last_instant_and_at_the_seam_of_its_period(method):
    """The rate at the last instant is the limit of the rates before it; a smooth path has one rate at its seam."""
    times, points = (0.1, 0.4, 0.9, 1.3), (0.1, 0.5, 0.7, 1.4)
    once = along(SplinePath("r", times, points, method=method), 1.5, 0.1)
    exact = {"cubic": CubicSpline, "monotone": PchipInterpolator}.get(method, lambda x, y: make_interp_spline(x, y, 1))
    curve = exact(times, points)
    assert once.t[13] == pytest.approx(1.3) and once["r"][13] == 1.4
    assert once["r.velocity"][13] == pytest.approx(float(curve(1.3 - 1e-12, 1)), abs=1e-9)
    assert once["r.acceleration"][13] == pytest.approx(float(curve(1.3 - 1e-12, 2)) if method != "linear" else 0.0)
    assert once["r.velocity"][1] == pytest.approx(float(curve(0.1 + 1e-12, 1)), abs=1e-9)
    assert (once["r.velocity"][[0, 14, 15]] == 0.0).all()
    if method != "linear":
        repeated = SplinePath("r", (0.0, 0.3, 0.8, 1.2), (0.1, 0.5, 0.2, 0.1), method=method, period=1.2)
        rates = along(repeated, 2.4 + 2e-6, 1e-3)["r.velocity"]
        assert np.abs(np.diff(rates)).max() < 0.06, "the velocity does not jump from one period to the next"


def test_paths_go_through_their_points():
    spline = along(REFERENCES["spline"])
    assert spline["r"][[50, 100, 170, 240]] == pytest.approx([0.0, 0.8, -0.3, 0.2], abs=1e-12)
    assert (spline["r"][:50] == 0.0).all() and (spline["r"][240:] == 0.2).all()
    again = along(REFERENCES["periodic"])["r"]
    rounded = SplinePath("r", (0.0, 0.3, 0.8, 1.2), (0.1, 0.5, -0.2, 0.1 + 2e-17), period=1.2)
    assert rounded.points[-1] != rounded.points[0] and np.array_equal(along(rounded)["r"], again)
    assert np.abs(again[:120] - again[120:240]).max() < 1e-12
    jerk = along(REFERENCES["minimum jerk"])
    assert jerk["r"][[50, 100, 150, 250, 300]] == pytest.approx([0.0, 0.5, 1.0, -0.5, -0.5], abs=1e-12)
    assert np.abs(jerk["r.velocity"][[50, 150, 250]]).max() < 1e-12
    assert jerk["r.velocity"][100] == pytest.approx(15.0 / 8.0)  # the most, half way


def test_a_fourier_series_begins_and_ends_at_rest():
    """Between rests it is the sum of its harmonics, outside its cycles it stays; `at_rest` is a projection."""
    made = FourierSeries.at_rest("r", 1.2, [0.5, 0.2, 0.1], [0.3, -0.2, 0.4], 0.1, cycles=2)
    order = np.arange(1, 4)
    for rows, given, power in ((made.sines, [0.5, 0.2, 0.1], 1), (made.cosines, [0.3, -0.2, 0.4], 2)):
        kept = np.array(rows)[:, 0]
        assert abs(order**power @ kept) < 1e-15 and np.linalg.matrix_rank([kept - given, order**power]) == 1
    run = along(made)
    ends = np.isclose(run.t % 1.2, 0.0) | (run.t > 2.4)
    assert np.abs(run["r.velocity"][ends]).max() < 1e-13 and np.abs(run["r.acceleration"][ends]).max() < 1e-12
    assert np.ptp(run["r"][ends]) < 1e-14 and np.ptp(run["r"]) > 0.5
    angles = 2.0 * np.pi / 1.2 * np.outer(run.t[:240], order)
    sums = np.sin(angles) @ np.array(made.sines)[:, 0] + np.cos(angles) @ np.array(made.cosines)[:, 0]
    assert run["r"][:240] == pytest.approx(0.1 + sums, abs=1e-13)


def test_joint_angles_from_a_table(tmp_path):
    file = tmp_path / "angles.csv"
    file.write_text("# measured\ntime, q1, q2\n0.0, 0.1, 0.2\n0.5, 0.3, 0.1\n\n1.0, 0.2, 0.0\n")
    measured = SplinePath.from_csv("measured", file, method="linear")
    assert measured.joints == JOINTS and measured.times == (0.0, 0.5, 1.0)
    run = simulate(
        arm(measured, ComputedTorque("c", JOINTS, 400.0, 40.0, "measured")),
        1.0,
        q=[0.1, 0.2],
        output_step=0.25,
        **QUICK,
    )
    assert run["measured.q1"] == pytest.approx([0.1, 0.2, 0.3, 0.25, 0.2])
    assert run["measured.q2.velocity"][:2] == pytest.approx([-0.2, -0.2])
    for text, says in (
        ("t,q1\n0,1\n1,x\n", r"line 3 is '1, x', expected a number in each of the columns t, q1"),
        ("t,q1\n0,1\n", r"has 1 row of numbers, expected a line of names"),
        ("t,q1\n0,1\n1,2,3\n", r"line 3 is"),
    ):
        file.write_text(text)
        with pytest.raises(ModelError, match=says):
            SplinePath.from_csv("measured", file)
    with pytest.raises(ModelError, match="No such file"):
        SplinePath.from_csv("measured", tmp_path / "none.csv")
