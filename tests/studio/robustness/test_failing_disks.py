"""A full disk, a read-only folder, files that vanish or grow too long: a sentence, and no edit is lost."""

from __future__ import annotations

import errno
import os
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph import library, save
from kinemorph.errors import StorageError
from kinemorph.studio import requests
from kinemorph.studio.session import Session
from support.studio.noted_page import NotedPage, wait_for


def opened(folder: Path) -> tuple[Session, NotedPage]:
    """A studio on a folder with a pendulum, and a page that shows it."""
    if not (folder / "swing.toml").exists():
        save(library.pendulum(), folder / "swing.toml")
    session = Session(folder)
    page = NotedPage(session)
    session.show(page, "swing.toml")
    return session, page


def edit(session: Session, page: NotedPage, **command: Any) -> dict[str, Any]:
    found: dict[str, Any] = requests.answer(session, page, "edit", {"document": "swing.toml", "command": command})
    return found


def rename(session: Session, page: NotedPage, name: str) -> dict[str, Any]:
    return edit(session, page, verb="set", path=["name"], value=name)


def check_nothing_is_lost(session: Session, page: NotedPage, folder: Path, names: list[str]) -> None:
    """The edits reach the file by themselves, and a new studio still has all of them to undo."""
    wait_for(lambda: any("is saved now" in text for text in page.told))
    assert tomllib.loads((folder / "swing.toml").read_text())["name"] == names[-1]
    session.stop()
    session, page = opened(folder)
    for name in reversed(names[:-1]):
        requests.answer(session, page, "undo", {"document": "swing.toml"})
        assert session.document("swing.toml").data["name"] == name
    session.stop()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errno.ENOSPC, "the disk is full"),
        pytest.param(errno.EROFS, "the folder is read-only", marks=pytest.mark.slow),
        pytest.param(errno.EDQUOT, "quota is used up", marks=pytest.mark.slow),
    ],
)
def test_edits_that_cannot_be_written_are_kept_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, said: str
) -> None:
    """The operating system refuses to bring files to the disk, as `fsync` reports it; later it does so again."""
    session, page = opened(tmp_path)
    rename(session, page, "one")

    def refuse(handle: int) -> None:
        raise OSError(error, os.strerror(error))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", refuse)
        for name in ("two", "three"):
            state = rename(session, page, name)
            assert not state["saved"] and said in state["problem"]
            assert state["data"]["name"] == name
    check_nothing_is_lost(session, page, tmp_path, ["one", "two", "three"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that is a disk of 400 kB of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"disks cannot be mounted here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_is_full_loses_nothing(small_disk: Path) -> None:
    session, page = opened(small_disk)
    rename(session, page, "one")
    with (small_disk / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 4096)
    state = rename(session, page, "two")
    assert not state["saved"] and "the disk is full. Make room, or choose another folder." in state["problem"]
    (small_disk / "filler").unlink()
    check_nothing_is_lost(session, page, small_disk, ["one", "two"])


@pytest.mark.slow
def test_a_disk_that_becomes_read_only_loses_nothing(small_disk: Path) -> None:
    session, page = opened(small_disk)
    rename(session, page, "one")
    session.document("swing.toml").close()  # a disk with a file that is open for writing cannot be made read-only
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    state = rename(session, page, "two")
    assert not state["saved"] and "the folder is read-only" in state["problem"]
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    check_nothing_is_lost(session, page, small_disk, ["one", "two"])


@pytest.mark.slow
def test_a_file_that_is_deleted_or_grows_too_long_is_told_and_its_text_is_kept(tmp_path: Path) -> None:
    session, page = opened(tmp_path)
    path = tmp_path / "swing.toml"
    rename(session, page, "one")
    text = path.read_text()
    path.unlink()
    wait_for(lambda: any("is not there any more. The next edit writes it again." in one for one in page.told))
    time.sleep(1.2)
    assert len(page.told) == 1  # it is told once
    state = rename(session, page, "two")
    assert state["saved"] and path.read_text() == text.replace('"one"', '"two"')
    os.truncate(path, 64 << 20)  # a file of 64 MB, which takes no room
    wait_for(lambda: any("has 67 MB, expected at most 16 MB" in one for one in page.told))
    assert session.document("swing.toml").text == text.replace('"one"', '"two"')
    assert os.stat(path).st_size == 64 << 20  # nothing is written over it before the next edit
    os.truncate(path, 0)
    path.write_text(text)
    wait_for(lambda: any("was changed by another program" in one for one in page.told))
    requests.answer(session, page, "undo", {"document": "swing.toml"})
    assert session.document("swing.toml").data["name"] == "two"
    session.stop()


def test_a_file_that_is_too_long_is_not_opened(tmp_path: Path) -> None:
    save(library.pendulum(), tmp_path / "swing.toml")
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(64 << 20)
    session, page = opened(tmp_path)
    with pytest.raises(StorageError, match="has 67 MB, expected at most 16 MB"):
        requests.answer(session, page, "show", {"document": "long.toml"})
    session.stop()


@pytest.mark.slow
def test_a_folder_with_5000_models_is_listed_quickly(tmp_path: Path) -> None:
    for number in range(5000):
        (tmp_path / f"m{number:04}.toml").write_text('kinemorph = 1\nname = "m"\n')
    session = Session(tmp_path)
    began = time.process_time()
    assert len(session.documents()) == 5000 and session.project.unlisted == 0
    assert time.process_time() - began < 2.0  # 0.3 s on a quiet machine
    session.stop()
