"""What the page draws follows from the poses: marks, traces, the center of mass, pieces that come and go, the camera.

The modules of the page that draw nothing are run by themselves, in a browser, on packed scenes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.display.cameras import Camera
from kinemorph.display.looks.quaternions import rotated
from kinemorph.display.replays.joint_rows import TOLERANCE
from kinemorph.display.replays.packing import pack
from kinemorph.display.scenes.building import scene_of
from kinemorph.display.scenes.scene import Attachment, Mark, Trace
from kinemorph.model import library
from support.cases.docked_runs import docked_run
from support.pages.packed_scenes import ALL, bare, off, packed, smooth
from support.robots.random_robots import robot_of_kind


def test_marks_traces_and_the_center_of_mass_follow_the_bodies(modules: Any) -> None:
    times = np.linspace(0.0, 1.0, 21)
    robot = robot_of_kind("free", chained=True)
    figure = bare(robot, smooth(robot, len(times), 2))
    vectors = np.stack([times, 0.0 * times, -2.0 * times], axis=-1)
    start, end, ground = (
        Attachment(1, (0.1, 0.2, -0.3)),
        Attachment(2, (0.0, 0.5, 0.0)),
        Attachment(-1, (1.0, 2.0, 3.0)),
    )
    marks = (
        Mark("spring", "spring", (1.0, 0.0, 0.0, 1.0), 0.01, start, end),
        Mark("anchor", "damper", (1.0, 0.0, 0.0, 1.0), 0.01, ground, start),
        Mark("force", "arrow", (1.0, 0.0, 0.0, 1.0), 0.01, end, None, vectors, "forces"),
    )
    figure = replace(figure, marks=marks, traces=(Trace("way", start, (0.0, 0.0, 1.0, 1.0)),))
    row = 7
    found = modules.evaluate(
        """async ([text, t]) => {
          const scene = await km.unpack(text), figure = scene.figures[0], trace = figure.traces[0];
          const way = (t) => {
            km.posesAt(scene, t);
            const count = km.tracePoints(scene, figure, trace, t);
            return [...trace.points.subarray(0, 3 * count)];
          };
          const ways = [way(1.0), way(0.0), way(t)];
          km.posesAt(scene, t);
          return {marks: figure.marks.map(mark => [...km.markEnds(scene, figure, mark, t, new Float32Array(6))]), ways,
            center: [...km.centerOfMass(figure, new Float32Array(3))], looks: Object.keys(scene.looks)};
        }""",
        [packed([figure], times), float(times[row])],
    )

    def world(at: Attachment, k: int) -> np.ndarray:
        if at.owner < 0:
            return np.array(at.point)
        return rotated(figure.quaternions[k, at.owner], np.array(at.point)) + figure.positions[k, at.owner]

    expected = [[world(start, row), world(end, row)], [world(ground, row), world(start, row)]]
    expected.append([world(end, row), world(end, row) + vectors[row]])
    assert np.array(found["marks"]).reshape(3, 2, 3) == pytest.approx(np.array(expected), abs=1e-4 * figure.size)
    whole, beginning, part = (np.array(way).reshape(-1, 3) for way in found["ways"])
    way = np.array([world(start, k) for k in range(len(times))])
    assert whole[:-1] == pytest.approx(way[:-1], abs=1e-4 * figure.size)
    assert whole[-1] == pytest.approx(way[-1], abs=1e-4 * figure.size)
    assert beginning == pytest.approx(way[[0, 0]], abs=1e-4 * figure.size)
    assert part[: row + 1] == pytest.approx(way[: row + 1], abs=1e-4 * figure.size)
    assert part[-1] == pytest.approx(way[row], abs=1e-4 * figure.size)
    masses = figure.masses[:, None]
    centers = rotated(figure.quaternions[row], figure.centers) + figure.positions[row]
    assert found["center"] == pytest.approx((masses * centers).sum(axis=0) / masses.sum(), abs=1e-4 * figure.size)
    assert found["looks"] == ["arrow", "damper", "spring"]


def test_pictures_have_bodies_and_marks_in_their_places(modules: Any) -> None:
    times = np.linspace(0.0, 1.0, 3)
    robot = robot_of_kind("free", chained=True)
    first, second = Attachment(1, (0.1, 0.2, -0.3)), Attachment(2, (0.0, 0.5, 0.0))
    force = np.stack([0.3 + times, 0.0 * times, -times], axis=-1)
    red = (1.0, 0.0, 0.0, 1.0)
    marks = (
        Mark("spring", "spring", red, 0.01, first, second),
        Mark("force", "arrow", red, 0.02, second, None, force, "forces"),
        Mark("bolt", "ball", red, 0.03, first, second),
        Mark("little", "arrow", red, 0.02, second, None, 1e-2 * force, "forces"),
    )
    offset = np.array([0.5, -2.0, 0.25])
    figure = bare(robot, smooth(robot, 3, 6), marks=marks)
    figures = [figure, replace(figure, name="beside", offset=offset)]
    values, centers = modules.evaluate(
        """async (text) => {
          const scene = await km.unpack(text), gathered = km.gatherPieces(scene), slots = km.makeSlots(scene, gathered);
          km.posesAt(scene, 0.5);
          km.writeSlots(scene, slots, 0.5);
          const at = (slot) => [...slots.values.subarray(16 * slot, 16 * slot + 16)];
          return [slots.places.map((place, f) => [
            [...scene.figures[f].bodies.keys()].map((b) => at(place.bodies + b)),
            [...scene.figures[f].marks.keys()].map((m) => at(place.marks + m)), at(place.center), at(place.line),
          ]), slots.centers.map((center) => [...center])];
        }""",
        packed(figures, times, floor=-1.5),
    )

    def world(at: Attachment) -> np.ndarray:
        return rotated(figure.quaternions[1, at.owner], np.array(at.point)) + figure.positions[1, at.owner]

    near = 2e-4 * figure.size
    for (bodies, shown, ball, line), center, shift in zip(values, centers, (np.zeros(3), offset), strict=True):
        for number, body in enumerate(bodies):
            M = np.array(body).reshape(4, 4).T
            assert M[:3, 3] == pytest.approx(figure.positions[1, number] + shift, abs=near)
            assert pytest.approx(M[:3, :3], abs=1e-4) == rotated(figure.quaternions[1, number], np.eye(3)).T
        spring, arrow, bolt, little = (np.array(one).reshape(4, 4).T for one in shown)
        ends = [(spring, world(first), world(second), 0.01), (arrow, world(second), world(second) + force[1], 0.02)]
        for M, start, end, width in ends:
            assert M[:3, 3] == pytest.approx(start + shift, abs=near)
            assert M[:3, 2] == pytest.approx(end - start, abs=near)
            across = M[:3, :2]
            assert across.T @ across == pytest.approx(width**2 * np.eye(2), abs=1e-8)
            assert np.cross(M[:3, 0], M[:3, 1]) @ M[:3, 2] > 0.0 and np.abs(across.T @ M[:3, 2]).max() < 1e-5
        assert bolt[:3, 3] == pytest.approx(world(second) + shift, abs=near)
        assert bolt[:3, :3] == pytest.approx(0.03 * np.eye(3))
        # a short arrow is slim
        assert np.linalg.norm(little[:3, 0]) < 0.5 * np.linalg.norm(little[:3, 2]) < 0.02
        masses = figure.masses[:, None]
        middle = (masses * (rotated(figure.quaternions[1], figure.centers) + figure.positions[1])).sum(axis=0)
        middle = middle / masses.sum() + shift
        assert center == pytest.approx(middle, abs=near)
        assert np.array(ball).reshape(4, 4)[3, :3] == pytest.approx(middle, abs=near)
        stem = np.array(line).reshape(4, 4)
        assert {round(stem[3, 2], 3), round(stem[3, 2] + stem[2, 2], 3)} == {-1.5, round(middle[2], 3)}


def test_the_camera_sees_the_world_from_where_it_stands(modules: Any) -> None:
    """Right is right: with z up, a camera at an azimuth a sees (-sin a, cos a, 0) to its right."""
    robot = library.pendulum()
    text = packed([bare(robot, np.zeros(robot.nq))], np.zeros(1))
    points = [[0.3, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.5], [-0.2, 0.3, -0.4], [0.0, 0.0, 0.0]]
    views: dict[str, tuple[float, float]] = {"front": (0, 0), "back": (0, 180), "left": (0, 90), "right": (0, -90)}
    views |= {"top": (90, -90), "iso": (35.264, -45)}
    found = modules.evaluate(
        """async ([text, views, points]) => {
          const camera = km.makeCamera(await km.unpack(text));
          camera.aspect = 1.6;
          return views.map((view) => {
            km.lookFrom(camera, view);
            km.updateCamera(camera);
            return [camera.elevation, camera.azimuth, camera.distance, camera.target,
              points.map((point) => km.projectPoint(camera, point, [0, 0]))];
          });
        }""",
        [text, list(views), points],
    )
    for (elevation, azimuth), (e, a, distance, target, seen) in zip(views.values(), found, strict=True):
        assert e == pytest.approx(elevation) and (a - azimuth) % 360.0 == pytest.approx(0.0)
        ce, se = np.cos(np.radians(elevation)), np.sin(np.radians(elevation))
        ca, sa = np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth))
        right, up, out = np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])
        for point, place in zip(points, seen, strict=True):
            away = np.array(point) - target
            scale = np.tan(np.radians(15.0)) * (distance - away @ out)
            assert place == pytest.approx([right @ away / scale / 1.6, up @ away / scale], abs=1e-5)


SLOTS = """async ([text, times]) => {
  const scene = await km.unpack(text), gathered = km.gatherPieces(scene), slots = km.makeSlots(scene, gathered);
  return times.map((t) => {
    km.posesAt(scene, t);
    km.writeSlots(scene, slots, t);
    const there = (slot) => slots.values.subarray(16 * slot, 16 * slot + 16).some((x) => x !== 0);
    return Object.fromEntries(gathered.pieces.map((piece) => [piece.name, there(piece.slot)]));
  });
}"""


def test_what_comes_and_goes_with_a_robot_is_there_as_long_as_it(modules: Any) -> None:
    shown = scene_of(docked_run(), columns=())
    before, at, end = modules.evaluate(SLOTS, [pack(shown, Camera()), [0.1, 0.9, 1.0]])
    gone, come = {"eye x", "eye y", "eye z"}, {"tip x", "tip y", "tip z", "latch", "dock edge"}
    assert {name for name, there in before.items() if not there} == come
    assert {name for name, there in at.items() if not there} == gone
    assert at == end
    found = modules.evaluate(ALL, pack(shown, Camera()))[0]
    assert off(shown.figures[0], found, shown.figures[0].positions, shown.figures[0].quaternions) < TOLERANCE
