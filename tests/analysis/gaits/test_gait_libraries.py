"""Libraries of gaits by speed: closed forms, interpolation, files, and pictures of gaits."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import Parameter, RobotBuilder, System, library
from kinemorph.display.charts.gait_plots import stick_figures
from kinemorph.elements import Automaton, Edge, Integral, Phase, TorqueSpline
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.orbits import GaitLibrary, gait_library

SPEEDS = (1.6, 1.5, 1.4)


@pytest.fixture(scope="module")
def gaits():
    """A mass of 2 kg that is pushed from 1 m/s to 2 m/s in every cycle; the edge halves its velocity."""
    robot = RobotBuilder("cart").body("mass", mass=2.0).joint("x", "prismatic", "world", "mass", axis=(1, 0, 0)).build()
    force = TorqueSpline.free("force", "x", Parameter("force.duration", 0.7, "s"), count=4)
    fast = Edge("fast", "push", "push", "2.0 - v.x", reset={"v.x": "0.5 * v.x", "q.x": "0.0"}, impact="none")
    elements = (force, Integral("effort", "force", of="square"))
    system = System(robot, elements, automaton=Automaton(Phase("push", "force"), fast))
    names = [*force.parameter_names, "force.duration"]
    options = {"at_end": {"t - force.duration": 0.0}, "guess": {"q.x": [0.0, 1.0], "v.x": [1.0, 2.0]}, "arcs": 2}
    return gait_library(system, "effort", names, SPEEDS, stride="q.x", length=1.0, shift=(), **options)


def effort(speed: float) -> float:
    """The least effort: the force is a + b t, which raises the velocity by 1 m/s along 1 m in 1 / speed seconds."""
    T, m = 1.0 / speed, 2.0
    a, b = np.linalg.solve([[T, T**2 / 2], [T**2 / 2, T**3 / 6]], [m, m * (1.0 - T)])
    return float(a * a * T + a * b * T**2 + b * b * T**3 / 3)


def test_costs_are_those_of_the_closed_form(gaits):
    assert gaits.speeds == pytest.approx(sorted(SPEEDS)) and not gaits.missing
    assert gaits.costs == pytest.approx([effort(speed) for speed in gaits.speeds], rel=1e-7)
    assert gaits.durations == pytest.approx(1.0 / gaits.speeds)
    assert gaits.v[:, 0] == pytest.approx(np.ones(3), abs=1e-8)
    shown = [" ".join(line.split()) for line in str(gaits).splitlines()]
    assert shown[0] == "Gaits of cart" and "speed [m/s] duration [s] cost" in shown
    assert [line.split()[0] for line in shown[-3:]] == ["1.4", "1.5", "1.6"]


def test_gaits_in_between_are_interpolated(gaits):
    exact = gaits.at(1.5)
    assert exact["cost"] == pytest.approx(effort(1.5), rel=1e-7)
    assert exact["p"]["force.duration"] == pytest.approx(1.0 / 1.5, abs=1e-9)
    assert gaits.at(1.45)["cost"] == pytest.approx(effort(1.45), rel=0.05)
    with pytest.raises(UnsupportedError, match=r"has 1.4 to 1.6 m/s"):
        gaits.at(2.0)


def test_a_file_gives_the_library_back(gaits, tmp_path):
    again = GaitLibrary.load(gaits.save(tmp_path / "new" / "gaits.npz"))
    for name in ("speeds", "q", "v", "p", "durations", "costs"):
        assert (getattr(again, name) == getattr(gaits, name)).all()
    assert (again.name, again.q_names, again.p_names) == (gaits.name, gaits.q_names, gaits.p_names)
    with pytest.raises(UnsupportedError, match=r"ends in \.npz"):
        gaits.save(tmp_path / "gaits.csv")
    np.savez(tmp_path / "other.npz", speeds=np.ones(2))
    with pytest.raises(UnsupportedError, match="has no format"):
        GaitLibrary.load(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("no numbers")
    with pytest.raises(KinemorphError, match="cannot be read as a gait library"):
        GaitLibrary.load(tmp_path / "text.npz")


@pytest.mark.slow
def test_a_library_is_drawn(gaits, tmp_path):
    gaits.plot(path=tmp_path / "library.png")
    assert (tmp_path / "library.png").stat().st_size > 5000


def test_stick_figures_join_the_joints_of_rabbit():
    rabbit = library.rabbit()
    sticks = stick_figures(rabbit.robot, np.array([rabbit.settings.q]))
    lengths = {name: np.linalg.norm(part[..., 1, :] - part[..., 0, :], axis=-1) for name, part in sticks.items()}
    for side in ("left", "right"):
        assert lengths[f"{side}_thigh"] == pytest.approx(np.full((1, 1), 0.4))
        assert sticks[f"{side}_shin"][0, 0, 1, 2] == pytest.approx(0.0, abs=1e-12)  # the foot is on the ground
    assert lengths["torso"] == pytest.approx(np.full((1, 1), 0.48))
    assert not lengths["carriage"].size
