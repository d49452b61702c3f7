"""A session and its threads: what fails in one of them is told, and nothing is started after the end (000-29)."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph.errors import UnsupportedError
from kinemorph.formats.toml import template_files
from kinemorph.studio import session as session_module
from kinemorph.studio.jobs import live_runs as live_module
from kinemorph.studio.panels.report import saved_runs
from kinemorph.studio.session import Session
from kinemorph.studio.transfers.downloads import Offers
from kinemorph.studio.workers import pool as pool_module
from support.studio.noted_page import NotedPage

TEMPLATES = Path(next(iter(template_files.__path__)))


class FakePool:
    """A pool that starts no process; its jobs cannot be submitted where `is_broken`."""

    made = 0
    is_broken = False

    def __init__(self, *_: Any, **__: Any) -> None:
        FakePool.made += 1

    def submit(self, *_: Any, **__: Any) -> Any:
        if FakePool.is_broken:
            raise UnsupportedError("Worker processes cannot be started.")
        return type("FakeJob", (), {"cancel": lambda self: None, "wait": lambda self, seconds: None, "result": None})()

    def stop(self) -> None:
        """There is nothing to stop."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(pool_module, "Pool", FakePool)
    monkeypatch.setattr(live_module, "Pool", FakePool)
    monkeypatch.setattr(session_module, "LOOK_AGAIN", 0.02)
    monkeypatch.setattr(FakePool, "made", 0)
    monkeypatch.setattr(FakePool, "is_broken", False)
    shutil.copy(TEMPLATES / "arm.toml", tmp_path / "arm.toml")
    made = Session(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def page(session: Session) -> NotedPage:
    shown = NotedPage()
    session.channels[shown] = None
    session.show(shown, "arm.toml")
    assert shown.until(lambda one: one.get("push") == "document" and one["state"]["read_revision"] == 0)
    return shown


def test_no_process_is_started_after_the_end(session: Session) -> None:
    live = session.live_runs
    session.stop()
    session._warm_up()
    live.warm_up()
    with pytest.raises(UnsupportedError, match="has been stopped"):
        _ = session.workers
    assert FakePool.made == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_model_is_read_again_after_a_picture_of_it_has_failed(
    session: Session, page: NotedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    update, failed = session.pictures.update, threading.Event()

    def broken(document: Any, pages: Any, *, whole: bool = False) -> None:
        if whole and not failed.is_set():
            failed.set()
            raise ZeroDivisionError("of the picture")
        update(document, pages, whole=whole)

    monkeypatch.setattr(session.pictures, "update", broken)
    document = session.document("arm.toml")
    document.apply({"verb": "set", "path": "name", "value": "first"})
    session.edited(document)
    assert page.until(lambda one: one.get("kind") == "error" and "ZeroDivisionError: of the picture" in one["text"])
    document.apply({"verb": "set", "path": "name", "value": "second"})
    session.edited(document)
    assert page.until(lambda one: one.get("push") == "document" and one["state"]["good_revision"] == 2)


def test_the_picture_of_a_click_comes_before_the_disk_and_its_confirmation_after(
    session: Session, page: NotedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (session.folder / "pair.toml").write_text('kinemorph = 1\nname = "pair"\n[assembly]\ngrid = "B>0 B>1"\n')
    session.show(page, "pair.toml")  # type: ignore[arg-type]
    assert page.until(lambda one: one.get("push") == "document" and one["state"]["good_revision"] == 0)
    page.messages.clear()
    settle = os.fsync

    def settled(handle: int) -> None:
        page.messages.append({"push": "disk", "saved": session.document("pair.toml").saved})
        settle(handle)

    monkeypatch.setattr(os, "fsync", settled)
    click = {"verb": "place", "cell": [0, 2], "kind": "B", "front": ">"}
    state = session.answer(page, "edit", {"document": "pair.toml", "command": click})  # type: ignore[arg-type]
    assert state["saved"] and state["revision"] == 1
    disk = [k for k, one in enumerate(page.messages) if one["push"] == "disk"]
    picture = next(k for k, one in enumerate(page.messages) if one["push"] == "scene" and one["revision"] == 1)
    told = next(k for k, one in enumerate(page.messages) if one["push"] == "document" and one["state"]["revision"] == 1)
    assert picture < disk[0] and disk[-1] < told
    assert not page.messages[disk[0]]["saved"] and page.messages[told]["state"]["saved"]
    journal = next(session.folder.glob(".kinemorph/journal/*")).read_text()
    assert '"n":1' in journal and "B>2" in (session.folder / "pair.toml").read_text()


def test_a_click_whose_picture_fails_is_on_the_disk_nevertheless(
    session: Session, page: NotedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("of the picture")

    monkeypatch.setattr(session.pictures, "update", broken)
    renamed = {"verb": "set", "path": "name", "value": "other"}
    with pytest.raises(ZeroDivisionError):
        session.answer(page, "edit", {"document": "arm.toml", "command": renamed})  # type: ignore[arg-type]
    assert session.document("arm.toml").saved and '"other"' in (session.folder / "arm.toml").read_text()


def test_pages_hear_of_files_that_other_programs_change_and_delete(session: Session, page: NotedPage) -> None:
    path = session.folder / "arm.toml"
    path.write_text(path.read_text().replace("mass = ", "mass = 1", 1))
    assert page.until(lambda one: "was changed by another program" in one.get("text", ""))
    path.unlink()
    assert page.until(lambda one: "is not there any more" in one.get("state", {}).get("problem", ""))


def test_one_live_run_is_started_at_a_time_and_one_that_cannot_be_started_leaves_room(session: Session) -> None:
    live = session.live_runs
    FakePool.is_broken = True
    for _ in range(live_module.MOST + 1):
        with pytest.raises(UnsupportedError, match="cannot be started"):
            live.start("arm.toml", "")
    assert live.state("arm.toml") == {"state": "off"} and FakePool.made == 1
    FakePool.is_broken = False
    live.start("arm.toml", "")
    with pytest.raises(UnsupportedError, match="is being started already"):  # the fake run never ends
        live.start("arm.toml", "")


def test_a_page_that_has_gone_leaves_nothing_behind(session: Session, page: NotedPage) -> None:
    session.closed(page)
    page.is_gone = True
    session.pictures.pass_on([page], {"push": "scene", "surfaces": ["a"]}, b"")  # type: ignore[list-item]
    session.pictures.update(session.document("arm.toml"), [page], whole=True)  # type: ignore[list-item]
    assert session.pictures.known == {}


def test_many_threads_offer_files(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = Offers()
    threads = [
        threading.Thread(target=lambda: [offers.add(b"x" * 100, "text/plain", "x.txt") for _ in range(200)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(offers.offered) == 64


def test_saved_runs_behind_links_are_not_listed(session: Session, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.csv"
    outside.write_text("1")
    (session.folder / "link.csv").symlink_to(outside)
    (session.folder / "own.csv").write_text("1")
    assert saved_runs(session) == ["own.csv"]
