"""The header of a packed scene: which body a camera follows, times, flags over time, and numbers in full."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import library
from kinemorph.display.cameras import Camera
from kinemorph.display.replays import packing
from kinemorph.display.replays.codes import Codes
from kinemorph.display.replays.joint_rows import TOLERANCE
from kinemorph.display.replays.surface_codes import SurfaceCodes
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.scene import Scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scene_of({"one": library.pendulum(), "two": library.double_pendulum(), "three": library.double_pendulum()})


def header(scene: Scene, camera: Camera | None = None) -> Any:
    codes = Codes()
    return json.loads(packing._header(scene, camera or Camera(), codes, SurfaceCodes(codes)))


def test_a_camera_follows_a_body_of_the_first_figure_that_has_it(scene: Scene) -> None:
    names = [list(figure.bodies) for figure in scene.figures]
    assert "link2" not in names[0] and names[1] == names[2]
    found = header(scene, Camera(elevation=20.0, azimuth=30.0, follow="link2"))["camera"]
    assert found == {"elevation": 20.0, "azimuth": 30.0, "follow": names[1].index("link2"), "figure": 1}
    assert header(scene)["camera"]["follow"] is None


def test_times_are_equally_spaced_only_if_every_bit_says_so() -> None:
    codes = Codes()
    even = np.linspace(0.0, 1.0, 11)
    assert packing._times(even, codes) == {"first": 0.0, "last": 1.0, "count": 11}
    uneven = even.copy()
    uneven[5] = np.nextafter(uneven[5], 1.0)
    at, channels, count, *_ = packing._times(uneven, codes)["bits"]
    assert (at, channels, count) == (0, 2, 11)


@pytest.mark.parametrize(
    ("flags", "edges"),
    [("0110", [1, 3]), ("1101", [0, 2, 3, 4]), ("0000", []), ("1111", [0, 4]), ("0001", [3, 4])],
)
def test_flags_are_the_indices_at_which_they_change(flags: str, edges: list[int]) -> None:
    assert packing._shown(np.array([one == "1" for one in flags])) == {"shown": edges}
    assert packing._shown(None) == {}


def test_vectors_are_multiples_of_a_quantum_that_fits_into_32_bits() -> None:
    codes = Codes()
    small, large = np.array([[0.5, -0.25, 0.0]]), np.array([[5e9, -1.0, 0.0]])
    assert packing._ways(small, 2.0, codes) == {"codes": codes.add(np.round(small / (2.0 * TOLERANCE)).T)} | {
        "quantum": 2.0 * TOLERANCE
    }
    quantum = packing._ways(large, 2.0, codes)["quantum"]  # type: ignore[index]
    assert 5e9 / quantum == 2.0**30 and packing._ways(None, 2.0, codes) is None


def test_configurations_have_all_their_digits(scene: Scene) -> None:
    q = np.array([[1.0 / 3.0, np.pi]])
    figures = (scene.figures[0], replace(scene.figures[1], q=q))
    assert header(replace(scene, figures=figures))["figures"][1]["q"] == q[0].tolist()


def test_a_surface_that_a_page_has_is_not_sent_again(scene: Scene) -> None:
    known: set[str] = set()
    first, again = (packing.packed_bytes(scene, Camera(), known) for _ in range(2))
    assert known and len(again) < len(first)
    assert packing.packed_bytes(scene, Camera(), set()) == first
