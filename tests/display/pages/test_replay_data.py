"""Packed data in the page: surfaces and columns come back as they were, damaged data and old browsers get a sentence.

The modules of the page that draw nothing are run by themselves, in a browser, on packed scenes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.display.looks.solids import z_toward
from kinemorph.display.scenes.scene import Part, Series, Surface
from kinemorph.display.scenes.surfaces import look_surface
from kinemorph.model import library
from support.pages.packed_scenes import bare, packed


def test_surfaces_come_back_and_like_ones_are_one(modules: Any) -> None:
    ball, rod = look_surface("ball"), look_surface("rod")
    axes = z_toward(np.array([0.6, 0.0, 0.8])) * np.array([0.02, 0.03, 0.5])
    normals = rod.normals @ np.linalg.inv(axes)
    slanted = Surface(
        rod.points @ axes.T + [1.0, 2.0, 3.0], normals / np.linalg.norm(normals, axis=1, keepdims=True), rod.faces
    )
    copied = Surface(ball.points.copy(), ball.normals.copy(), ball.faces.copy())
    inward = Surface(ball.points, -ball.normals, ball.faces)
    empty = Surface(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int32))
    tilted = Surface(np.eye(3) * 1e-3 + 5.0, np.tile([0.6, 0.0, -0.8], (3, 1)), np.array([[0, 1, 2]], dtype=np.int32))
    flip = np.array([-1.0, 1.0, 1.0])
    mirrored = Surface(slanted.points * flip, slanted.normals * flip, slanted.faces)
    surfaces = [ball, rod, slanted, copied, inward, empty, tilted, mirrored]
    robot = library.pendulum()
    figure = replace(
        bare(robot, np.zeros(robot.nq)),
        parts=tuple(Part(f"p{k}", 0, one, (0.5, 0.5, 0.5, 1.0)) for k, one in enumerate(surfaces)),
    )
    found = modules.evaluate(
        """async (text) => {
          const scene = await km.unpack(text);
          return {parts: scene.figures[0].parts.map(part => part.surface), surfaces: scene.surfaces.map(one =>
            ({points: [...one.points], normals: [...one.normals], faces: [...one.faces]}))};
        }""",
        packed([figure], np.zeros(1)),
    )
    assert found["parts"] == [0, 1, 2, 0, 3, 4, 5, 6]
    for surface, number in zip(surfaces, found["parts"], strict=True):
        one = found["surfaces"][number]
        size = float(np.ptp(surface.points, axis=0).max()) if len(surface.points) else 1.0
        assert np.array(one["points"]).reshape(-1, 3) == pytest.approx(surface.points, abs=2e-5 * size + 1e-6)
        assert np.array(one["normals"]).reshape(-1, 3) == pytest.approx(surface.normals, abs=6e-3)
        assert np.array(one["faces"]).reshape(-1, 3).tolist() == surface.faces.tolist()


def test_columns_keep_their_bits_and_their_gaps(modules: Any) -> None:
    times = np.linspace(0.0, 1.0, 9)
    values = np.array([np.nan, 1.5, -2.25e8, 0.0, -0.0, np.pi, 3e-39, np.inf, np.nan])
    robot = library.pendulum()
    figure = bare(robot, np.zeros((9, robot.nq)))
    text = packed([figure], times, series=(Series("a", "energy", "J", values),), notes=("«ü»", "</script>"))
    found = modules.evaluate(
        """async (text) => {
          const scene = await km.unpack(text);
          const bits = [...new Int32Array(scene.series[0].values.buffer)];
          return {bits, notes: scene.notes, times: [...scene.times]};
        }""",
        text,
    )
    assert found["bits"] == values.astype(np.float32).view(np.int32).tolist()
    assert found["notes"] == ["«ü»", "</script>"]
    assert found["times"] == pytest.approx(times.tolist(), abs=1e-15)


def test_damaged_data_and_old_browsers_get_a_sentence(modules: Any) -> None:
    robot = library.pendulum()
    text = packed([bare(robot, np.zeros(robot.nq))], np.zeros(1))
    said = """async (text) => km.unpack(text).then(() => "fine", error => error.message)"""
    assert modules.evaluate(said, text) == "fine"
    assert "damaged" in modules.evaluate(said, text[: len(text) // 8 * 4])
    assert "damaged" in modules.evaluate(said, "%%%")
    modules.evaluate("() => { window.kept = DecompressionStream; delete window.DecompressionStream; }")
    assert "too old" in modules.evaluate(said, text)
    modules.evaluate("() => { window.DecompressionStream = window.kept; }")
