"""Data that take long to make are kept on disk: hulls of meshes, and what MuJoCo makes of its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import load_text
from kinemorph.disk_cache import NUMBERS, kept_data, switched_off
from kinemorph.errors import ModelError
from kinemorph.formats.mjcf import compiler
from kinemorph.model import hulls

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


def test_a_hull_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(2).normal(size=(600, 3))
    first = hulls.hull_points(points, 0.05)
    with switched_off():
        assert np.array_equal(hulls.hull_points(points, 0.05), first)
    monkeypatch.setattr(hulls, "_chosen", lambda *given: pytest.fail("computed again"))
    assert np.array_equal(hulls.hull_points(points, 0.05), first)
    with pytest.raises(pytest.fail.Exception):
        hulls.hull_points(points, 0.04)
    with pytest.raises(ModelError, match="a mesh has 600 points, expected at least one, all of them finite"):
        hulls.hull_points(np.full((600, 3), np.nan), 0.05)


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
