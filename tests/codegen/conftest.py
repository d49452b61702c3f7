"""A folder for the compiled code of each test that wants one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own, not yet made."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"
