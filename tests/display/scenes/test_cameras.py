"""Camera words: which way they look, and what is said of those that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.display.cameras import PLACES, VIEW, Camera, Lens, camera_of
from kinemorph.errors import UnsupportedError
from kinemorph.model.library import LIBRARY

X, Y, Z = np.eye(3)


@pytest.mark.parametrize(
    ("word", "right", "up", "toward"),
    [("front", Y, Z, X), ("back", -Y, Z, -X), ("left", -X, Z, Y), ("right", X, Z, -Y), ("top", X, Y, Z)],
)
def test_words_look_along_the_axes(word: Any, right: Any, up: Any, toward: Any) -> None:
    camera = camera_of(word)
    assert Lens.toward(camera.elevation, camera.azimuth).axes == pytest.approx(np.stack([right, up, toward]), abs=1e-12)


def test_iso_sees_all_axes_alike() -> None:
    camera = camera_of("iso")
    seen = Lens.toward(camera.elevation, camera.azimuth).seen(np.eye(3))[:, :2]
    assert np.linalg.norm(seen, axis=1) == pytest.approx(np.full(3, np.sqrt(2.0 / 3.0)))


def test_numbers_and_nothing() -> None:
    assert camera_of((10, 400.0)) == Camera(10.0, 400.0)
    assert camera_of(np.array([-5.0, 0.0])) == Camera(-5.0, 0.0)  # type: ignore[arg-type]
    assert camera_of() == Camera() == Camera(*VIEW)


def test_a_frame_is_followed_by_its_body() -> None:
    robot = LIBRARY["puma"]()
    frame = robot.frames[0]
    assert camera_of("left", frame.name, robot) == Camera(*PLACES["left"], follow=frame.body)
    assert camera_of(None, robot.body_names[1], LIBRARY["pendulum"](), robot).follow == robot.body_names[1]


@pytest.mark.parametrize(
    ("camera", "follow", "words"),
    [
        ("lefft", None, "camera is 'lefft'.*Did you mean 'left'"),
        ((95.0, 0.0), None, "elevation from -90 to 90"),
        ((0.0, np.nan), None, "finite azimuth"),
        ((1.0, 2.0, 3.0), None, "two numbers"),
        (("a", "b"), None, "two numbers"),
        (7, None, "camera is 7"),
        (None, "lnik1", "follow is 'lnik1'.*puma"),
        (None, ["link1"], "follow is"),
        (None, "world", "follow is 'world'"),
    ],
)
def test_what_is_no_camera_is_told(camera: Any, follow: Any, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        camera_of(camera, follow, LIBRARY["puma"]())
