"""Films over terrain: the ground is painted once for a camera, and frames look as if it were painted every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kinemorph.display.painting import film_files, ground_picture, painter
from kinemorph.display.painting.animate import animate
from kinemorph.display.painting.ground_picture import GroundPicture
from kinemorph.display.painting.painter import Painting
from kinemorph.display.scenes.building import scene_of
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import HeightMap, Plane
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory
from kinemorph.simulation.simulate import simulate
from support.cases.contact_cases import EASYDYN, ball

HILLS = HeightMap(0.2 * np.random.default_rng(2).uniform(size=(12, 6)), (0.4, 0.4), (-1.0, -1.0))
SLOPE = Plane(normal=(0.2, 0.0, 1.0))


def rolling(ground: Any = HILLS) -> Trajectory:
    """A ball that flies over terrain for a third of a second, 1 m far."""
    skin = Contact("skin", "ball", EASYDYN, ground=ground, radius=0.1)
    start = {"q": [-0.5, 0, 0.5, 1, 0, 0, 0], "v": [3.0, 0, 1.0, 0, 0, 0]}
    return simulate(System(ball(), (skin,)), 0.32, method="implicit_contact", step=2e-3, output_step=0.04, **start)


def painted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The times at which ground is painted from now on."""
    times: list[int] = []

    class Counted(GroundPicture):
        def __init__(self, cast: Any, window: Any, k: int) -> None:
            times.append(k)
            super().__init__(cast, window, k)

    monkeypatch.setattr(painter, "GroundPicture", Counted)
    return times


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("ground", "follow"),
    [(HILLS, None), pytest.param(HILLS, "ball", marks=SLOW), pytest.param(SLOPE, None, marks=SLOW), (SLOPE, "ball")],
    ids=["hills", "hills, following", "slope", "slope, following"],
)
def test_terrain_is_painted_once_for_a_camera(monkeypatch, ground, follow) -> None:
    """A film of two seconds over terrain took 18 s, as 12,800 triangles of the ground were painted in every frame."""
    scene = scene_of(rolling(ground))
    times = painted(monkeypatch)
    film = Painting(scene, camera="iso", follow=follow, size=1.2)
    frames = [np.asarray(film.frame(k), dtype=int) for k in range(len(scene.times))]
    assert len(frames) > 7 and times == [0]
    for k in (len(frames) // 2,):
        alone = Painting(scene, camera="iso", follow=follow, size=1.2).frame(k)
        gap = np.abs(np.asarray(alone, dtype=int) - frames[k]).max(axis=-1)
        assert (gap > 8).mean() < 2e-3  # lines of the grid are a sample thick, and depths are rounded


@SLOW
def test_a_camera_that_follows_far_paints_again(monkeypatch) -> None:
    monkeypatch.setattr(ground_picture, "MOST_SAMPLES", 0)
    scene = scene_of(rolling())
    times = painted(monkeypatch)
    film = Painting(scene, camera="iso", follow="ball", size=1.2)
    last = [film.frame(k) for k in range(len(scene.times))][-1]
    assert 2 < len(times) < len(scene.times) / 2
    monkeypatch.undo()
    alone = Painting(scene, camera="iso", follow="ball", size=1.2).frame(len(scene.times) - 1)
    assert (np.abs(np.asarray(alone, dtype=int) - np.asarray(last, dtype=int)) > 8).mean() < 2e-3


def test_what_stands_behind_a_hill_is_hidden() -> None:
    """The ground is laid first, and bodies are painted where they are nearer than it."""
    wall = np.zeros((9, 3))
    wall[4] = 1.0
    hill = HeightMap(wall, (0.25, 2.0), (-1.0, -2.0))
    skin = Contact("skin", "ball", EasyDynNormal(1e-6), ground=hill, radius=0.1)
    run = simulate(
        System(ball(), (skin,)), 0.1, q=[-0.7, 0, 0.2, 1, 0, 0, 0], v=[14.0, 0, 0, 0, 0, 0], output_step=0.05
    )
    film = Painting(scene_of(run), camera=(12.0, 0.0), size=1.2)
    body = np.unique(film.cast.faces[~film.cast.ground & ~film.cast.force])
    for k, hidden in ((0, True), (-1, False)):
        number = range(len(film.scene.times))[k]
        _, near = film.painter.paint(film.painter.blank(), number)
        x, y, z = film.window.samples(film.cast.at(number).points[body]).mean(axis=0)
        nearer = (near[int(y), int(x)] - z) / (2.0 * film.window.scale)  # [m] than the middle of the ball
        assert nearer > 0.3 if hidden else 0.05 < nearer < 0.12


def test_a_long_film_says_how_far_it_is(monkeypatch, capsys, tmp_path) -> None:
    """Nothing was said while a film was painted for half a minute."""
    run = rolling()
    animate(run, tmp_path / "quiet.gif", fps=10, size=1.0)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(film_files, "PATIENCE", 0.0)
    animate(run, tmp_path / "said.gif", fps=10, size=1.0)
    said = capsys.readouterr().err
    assert "painting said.gif: 2 of 4 frames" in said and said.endswith("\r")
