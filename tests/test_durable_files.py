"""Files that are replaced: whole or not there, with their permissions, and a sentence where they cannot be written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from kinemorph.durable_files import replacing, storage_error, write_whole
from kinemorph.errors import StorageError


def test_a_new_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []
    path = tmp_path / "a" / "b.toml"
    real = os.fsync

    def synced(handle: int) -> None:
        seen.append(("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file", path.exists()))
        real(handle)

    monkeypatch.setattr(os, "fsync", synced)
    assert write_whole(path, "h\u00e9") == path and path.read_bytes() == b"h\xc3\xa9"
    assert seen == [("file", False), ("folder", True)]


def test_a_file_keeps_its_permissions_and_a_link_is_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "x.txt", tmp_path / "link"
    write_whole(path, b"1")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, b"2")
    assert link.is_symlink() and path.read_bytes() == b"2" and path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "x.txt"]


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "x.gif", b"old")
    with pytest.raises(ValueError, match="a frame"), replacing(path) as part:
        assert part.suffix == ".gif" and part.parent == tmp_path
        part.write_bytes(b"half")
        raise ValueError("a frame is wrong")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["x.gif"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [(".", "it is a folder. Name a file in it."), ("file/x", "a file has the name of its folder."), ("a\0b", "null")],
)
def test_places_that_cannot_be_written_get_a_sentence(tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=sentence):
        write_whole(tmp_path / name, b"x")
    assert os.listdir(tmp_path) == ["file"]


def test_the_error_has_its_cause_and_remedy_as_data() -> None:
    problem = storage_error("run.npz", OSError(errno.ENOSPC, "no space"), 2_000_000).args[0]
    assert problem.what == "'run.npz' (2 MB) cannot be written: the disk is full"
    assert problem.remedy == "Make room, or choose another folder." and problem.rule == "file"
