"""Data that take long to make are kept on disk: hulls of meshes, and what MuJoCo makes of its files."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph import load_text
from kinemorph.algebra.groups import IDENTITY
from kinemorph.disk_cache import NUMBERS, kept_data, switched_off
from kinemorph.errors import ModelError
from kinemorph.formats.mjcf import compiler
from kinemorph.model import hulls, meshes
from kinemorph.model.elements.contact import outer_shapes
from kinemorph.model.shapes import Box, MeshFile

BALL = '<mujoco model="{name}"><worldbody><body><freejoint/><geom size="{size}"/></body></worldbody></mujoco>'


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KINEMORPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_data_are_made_once_for_each_input_and_again_where_their_file_is_damaged(own_folder: Path) -> None:
    calls: list[str] = []

    def made(name: str) -> bytes:
        return kept_data((b"a", name.encode()), lambda: calls.append(name) or name.encode()) or b""  # type: ignore[func-returns-value]

    assert [made(name) for name in ("x", "y", "x")] == [b"x", b"y", b"x"] and calls == ["x", "y"]
    assert kept_data((b"ax",), lambda: b"other") == b"other", "parts that are divided in another way are another input"
    with switched_off():
        assert made("x") == b"x" and calls == ["x", "y", "x"]
    for file in own_folder.glob(f"*{NUMBERS}"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert made("y") == b"y" and calls == ["x", "y", "x", "y"]
    assert kept_data((b"none",), lambda: None) is None and kept_data((b"none",), lambda: b"some") == b"some"


def tetrahedron(size: float) -> str:
    corners = [(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)]
    return "".join(f"v {x:.3f} {y:.3f} {z:.3f}\n" for x, y, z in corners) + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_a_file_that_changes_but_for_its_time_and_size_has_a_new_hull(own_folder: Path) -> None:
    """The first hull was stored for the second content, and all later processes took it."""
    pytest.importorskip("trimesh")
    path = own_folder.parent / "part.obj"
    mesh, heights = MeshFile("part.obj", str(path)), []
    for size in (0.1, 0.2):
        path.write_text(tetrahedron(size))
        os.utime(path, ns=(10**18, 10**18))
        meshes.vertices(mesh)  # the process has read it
        heights.append(float(meshes.hull_of_file(mesh)[:, 2].max()))
    assert heights == [0.1, 0.2]


def test_a_mesh_file_is_read_once_for_its_hull(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trimesh")
    points = np.random.default_rng(2).normal(size=(60, 3))
    lines = [f"v {x} {y} {z}" for x, y, z in points.tolist()] + [f"f {k} {k + 1} {k + 2}" for k in range(1, 59)]
    path = own_folder.parent / "cloud.obj"
    path.write_text("\n".join(lines))
    mesh = MeshFile("cloud.obj", str(path), (2.0, 2.0, 2.0))
    first = meshes.hull_of_file(mesh)
    assert np.array_equal(first, hulls.hull_points(2.0 * points)) and len(first) < 60
    with monkeypatch.context() as patch:
        patch.setattr(meshes, "_parsed", lambda *given: pytest.fail("read again"))
        assert np.array_equal(meshes.hull_of_file(mesh), first)
        for other, tolerance in ((mesh, 0.3), (replace(mesh, scale=(1.0, 1.0, 1.0)), None)):
            with pytest.raises(pytest.fail.Exception, match="read again"):
                meshes.hull_of_file(other, tolerance)
        path.write_text("\n".join(lines).replace("v ", "v 1", 1))
        with pytest.raises(pytest.fail.Exception, match="read again"):
            meshes.hull_of_file(mesh)
    path.unlink()
    with pytest.raises(ModelError, match=r"mesh 'cloud\.obj': the file cannot be read: No such file"):
        meshes.hull_of_file(mesh)


def test_what_is_hidden_in_a_rigid_part_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes = [outer_shapes.extent({"shape": Box((size, size, size))}, IDENTITY) for size in (0.5, 1.0)]
    flat = [outer_shapes.extent({"point": (x, 0.0, 0.0), "radius": 0.0}, IDENTITY) for x in (0.0, 1.0)]

    def hidden() -> list[list[bool]]:
        return [one.tolist() for part in (boxes, flat) for one in outer_shapes.hidden(part, 0.1)]

    first = hidden()
    assert first == [[True] * 8, [False] * 8, [False], [False]]
    monkeypatch.setitem(sys.modules, "scipy.spatial", None)
    assert hidden() == first
    boxes.append(outer_shapes.extent({"shape": Box((1.1, 1.1, 1.1))}, IDENTITY))
    with pytest.raises(ImportError):
        hidden()


def test_mujoco_compiles_a_file_once_and_a_wrong_one_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    first = load_text(BALL.format(name="kept", size=0.1), "mjcf")
    wrong = BALL.format(name="wrong", size=-0.1)
    said = []
    for _ in range(2):
        with pytest.raises(ModelError) as refused:
            load_text(wrong, "mjcf")
        said.append(str(refused.value))
    assert said[0] == said[1] and "size" in said[0]
    monkeypatch.setattr(compiler, "ask", lambda *given: pytest.fail("asked again"))
    assert load_text(BALL.format(name="kept", size=0.1), "mjcf") == first
    with pytest.raises(pytest.fail.Exception):
        load_text(BALL.format(name="kept", size=0.2), "mjcf")
