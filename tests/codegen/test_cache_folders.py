"""Folders of the code cache: where they are, and that those which cannot be used or trusted never cost a result."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kinemorph import disk_cache as cache
from kinemorph.codegen.building.compile import build
from kinemorph.errors import CacheWarning
from support.codegen.cached_code import X, compilations, sample, stored


def build_twice_with_one_warning(match: str) -> None:
    expected = build(sample(), "interpreter")(X)
    with pytest.warns(CacheWarning, match=match) as caught:
        for _ in range(2):
            np.testing.assert_allclose(build(sample())(X), expected, rtol=1e-14)
    assert len(caught) == 1


def test_a_file_in_place_of_the_folder(folder):
    folder.write_text("not a folder")
    build_twice_with_one_warning("it is a file, not a folder")
    assert folder.read_text() == "not a folder"


@pytest.mark.parametrize(
    ("call", "number"), [("replace", errno.EROFS), ("replace", errno.EACCES), ("mkdir", errno.EROFS)]
)
def test_a_file_system_that_refuses(folder, monkeypatch, call, number):
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, refused)
    build_twice_with_one_warning(os.strerror(number))
    assert stored(folder) == []


def test_a_full_disk(folder, monkeypatch):
    def full(self: Path, data: bytes) -> int:
        with open(self, "wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    build_twice_with_one_warning("No space left")
    assert stored(folder) == []


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of an ordinary user, who this process is until the end of the test: modes say nothing to root."""
    home = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(home, 65534, 65534)
        os.seteuid(65534)
    yield home
    if root:
        os.seteuid(0)
    for path in (home, *home.iterdir()):
        path.chmod(0o700)
    shutil.rmtree(home)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")
def test_a_read_only_folder_still_serves_what_it_holds(ordinary_user, monkeypatch):
    folder = ordinary_user / "kept"
    monkeypatch.setenv("KINEMORPH_CACHE", str(folder))
    build(sample())
    folder.chmod(0o500)
    compiled = compilations(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(sample())
    assert compiled == []
    with pytest.warns(CacheWarning, match="Permission denied"):
        np.testing.assert_allclose(build(sample(5.0))(X)[0], np.sin(5.0 * X[0]), rtol=1e-12)


@pytest.mark.skipif(sys.platform == "win32", reason="owners of files are POSIX")
def test_what_belongs_to_somebody_else_is_refused(folder, monkeypatch):
    build(sample())
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    compiled = compilations(monkeypatch)
    build_twice_with_one_warning(f"belongs to user {user}, not to user {user + 1}")
    assert compiled == ["sample"] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")
@pytest.mark.parametrize("mode", [0o720, 0o702])
def test_a_folder_that_others_may_write_to_is_refused(folder, monkeypatch, mode):
    build(sample())
    folder.chmod(mode)
    compiled = compilations(monkeypatch)
    build_twice_with_one_warning("other users can write to the folder or file; run chmod go-w")
    assert compiled == ["sample"] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")
def test_a_file_that_others_may_write_to_is_refused_and_replaced(folder, monkeypatch):
    build(sample())
    (path,) = stored(folder)
    path.chmod(0o666)
    compiled = compilations(monkeypatch)
    build_twice_with_one_warning("other users can write to the folder or file")
    assert compiled == ["sample"] and path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")
def test_folder_and_files_are_closed_to_others(folder, monkeypatch):
    before = os.umask(0)
    try:
        build(sample())
    finally:
        os.umask(before)
    (path,) = stored(folder)
    assert folder.stat().st_mode & 0o777 == 0o700 and path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("word", ["off", "OFF", "0"])
def test_switched_off(tmp_path, monkeypatch, word):
    monkeypatch.setenv("KINEMORPH_CACHE", word)
    monkeypatch.chdir(tmp_path)
    assert cache.code_cache() is None
    compiled = compilations(monkeypatch)
    assert build(sample())(X).tobytes() == build(sample())(X).tobytes()
    assert compiled == ["sample"] * 2 and stored(tmp_path) == []


PLACES = {
    "linux": ({}, "/home/ada/.cache/kinemorph"),
    "linux, XDG": ({"XDG_CACHE_HOME": "/var/ada"}, "/var/ada/kinemorph"),
    "linux, XDG relative": ({"XDG_CACHE_HOME": "here"}, "/home/ada/.cache/kinemorph"),
    "darwin": ({}, "/home/ada/Library/Caches/kinemorph"),
    "win32": ({"LOCALAPPDATA": "/users/ada/local"}, "/users/ada/local/kinemorph/cache"),
    "linux, chosen": ({"KINEMORPH_CACHE": "~/code"}, "/home/ada/code"),
    "linux, empty": ({"KINEMORPH_CACHE": ""}, "/home/ada/.cache/kinemorph"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="paths are written as on POSIX")
@pytest.mark.parametrize("case", PLACES)
def test_the_folder_follows_the_platform(monkeypatch, case):
    variables, expected = PLACES[case]
    for name in ("KINEMORPH_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ada", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", case.partition(",")[0])
    found = cache.cache_folder()
    monkeypatch.undo()
    assert found == Path(expected)


@pytest.mark.skipif(sys.platform == "win32", reason="homes are found as on POSIX")
def test_without_a_home_there_is_no_cache(tmp_path, monkeypatch):
    import pwd

    def unknown(user: int) -> None:
        raise KeyError(user)

    monkeypatch.chdir(tmp_path)
    for name in ("KINEMORPH_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache.code_cache() is None
    assert build(sample())(X).shape == (3,) and stored(tmp_path) == []
