"""`kinemorph track` on the command line: markers in, angles, a picture and a report out; and pictures of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinemorph
from kinemorph.errors import UnsupportedError
from kinemorph.tracking import Markers, track
from support.tools.command_line import parsed, run

T = 0.02 * np.arange(12)
Q = np.stack([0.3 + 0.5 * np.sin(6.0 * T), -0.4 + 0.3 * np.cos(5.0 * T)], axis=1)


def double() -> Markers:
    """Exact markers at the ends of both links of the double pendulum of the library, which move as Q."""
    from kinemorph.analysis.tracking.attachments import attached, marker_positions

    robot = kinemorph.library.double_pendulum()
    bodies = robot.body_names
    places = {"m1": (bodies[0], (0.0, 0.0, -0.5)), "m2": (bodies[1], (0.0, 0.1, -0.4))}
    frames = attached(robot, tuple(places), places)
    return Markers(tuple(places), T, marker_positions(robot, frames, Q), source="double")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a file of markers in mm."""
    monkeypatch.chdir(tmp_path)
    double().save("markers.csv", unit="mm")
    return tmp_path


def places() -> list[str]:
    one, two = kinemorph.library.double_pendulum().body_names
    return ["--attach", f"m1={one}@0,0,-0.5", "--attach", f"m2={two}@0,0.1,-0.4"]


def test_axes_of_a_file_whose_y_points_up(folder: Path) -> None:
    turned = double()
    up = replace(turned, positions=turned.positions[..., [0, 2, 1]] * np.array([1.0, 1.0, -1.0]))
    up.save("up.csv")
    data = parsed("track", "double_pendulum", "up.csv", *places(), "--smoothness", "0", "--axes", "x,-z,y")
    assert data["converged"] and data["rms"] < 1e-9


def test_track_writes_angles_and_a_picture(folder: Path) -> None:
    data = parsed(
        "track", "double_pendulum", "markers.csv", *places(), "--smoothness", "0", "--output", "new/angles.csv",
        "--picture", "motion.png",
    )  # fmt: skip
    assert data["converged"] and data["frames"] == 12 and data["rms"] < 1e-9
    two = kinemorph.library.double_pendulum().body_names[1]
    assert [row["marker"] for row in data["markers"]] == ["m1", "m2"]
    assert data["markers"][1]["place"] == f"{two} at (0, 0.1, -0.4) m"
    table = np.genfromtxt(folder / "new" / "angles.csv", delimiter=",", skip_header=1)
    assert np.abs(table[:, 1:3] - Q).max() < 1e-7
    assert (folder / "motion.png").read_bytes()[:4] == b"\x89PNG"
    ranges = [(row["least"], row["largest"]) for row in data["joints"]]
    np.testing.assert_allclose(np.array(ranges)[..., 0], np.stack([Q.min(axis=0), Q.max(axis=0)], axis=1), atol=1e-7)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("markers.csv",), "error: marker 'm1': robot 'double_pendulum' has no frame or body 'm1'"),
        (("none.csv",), "error: recording 'none.csv' cannot be read"),
        (("markers.csv", "--attach", "m1"), "error: --attach is 'm1'; expected MARKER=FRAME"),
        (("markers.csv", "--attach", "m1=world@1,x,3"), "error: --attach m1"),
        (("markers.csv", "--unit", "m", *places()), "seem to be in mm"),
        (("markers.csv", "--smoothness", "-1", *places()), "error: track: smoothness is -1.0; expected 0 or larger"),
        (("markers.csv", "--output", "markers.csv/angles.csv", *places()), "error: --output"),
    ],
)
def test_wrong_arguments_give_one_sentence(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    result = run("track", "double_pendulum", *arguments)
    assert result.exit_code == 2 and says in result.stderr and "Traceback" not in result.stderr


TOLD = """\
Motion tracked by double_pendulum
12 frames of 2 markers are tracked with 0.001581 m root mean square; marker 'm1' is farthest off.

recording              double
frames                 12
duration               0.22 s
distance               1.581 mm root mean square of all markers
noise                  1 mm in each coordinate of a marker
weight of smoothness   0
iterations             1

Markers
marker  on the robot               seen  distance [mm]
------------------------------------------------------
m1      link1 at (0, 0, -0.5) m      12              2
m2      link2 at (0, 0.1, -0.4) m    12              1

Coordinates
coordinate    from     to  95 % interval: +-  unit
--------------------------------------------------
q1           17.19  44.94              0.212  deg
q2          -15.12  -5.73              0.888  deg
"""


def test_the_result_is_told_as_a_table() -> None:
    robot = kinemorph.library.double_pendulum()
    one, two = robot.body_names
    across = np.array([[0.0, 2e-3, 0.0], [0.0, 1e-3, 0.0]])  # errors of both markers, which no joint can follow
    moved = replace(double(), positions=double().positions + across)
    attachments = {"m1": (one, (0.0, 0.0, -0.5)), "m2": (two, (0.0, 0.1, -0.4))}
    found = track(robot, moved, attachments, smoothness=0.0, noise=1e-3, backend="interpreter", search=4)
    assert f"{found}\n" == TOLD


def test_pictures_of_a_tracked_motion(tmp_path: Path) -> None:
    robot = kinemorph.library.double_pendulum()
    one, two = robot.body_names
    attachments = {"m1": (one, (0.0, 0.0, -0.5)), "m2": (two, (0.0, 0.1, -0.4))}
    found = track(robot, double(), attachments, backend="interpreter", search=4)
    for what in ("motion", "angles", "residuals"):
        assert found.plot(what, path=tmp_path / f"{what}.png").axes
        assert (tmp_path / f"{what}.png").stat().st_size > 5000
    lines = found.plot(frames=[3]).axes[0].get_lines()
    drawn = np.concatenate([line.get_xydata() for line in lines])
    tip = double().positions[3, 1, [0, 2]]
    assert np.abs(drawn - tip).max(axis=1).min() < 1e-4, "a line of the model ends at the marker"
    with pytest.raises(UnsupportedError, match="what is 'colors'; expected one of motion"):
        found.plot("colors")
    with pytest.raises(UnsupportedError, match="has no hinge or slide 'q9'"):
        found.plot("angles", joints=["q9"])
    with pytest.raises(UnsupportedError, match="frames is"):
        found.plot(frames=[99])
