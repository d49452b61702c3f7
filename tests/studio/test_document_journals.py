"""Documents on the disk: full and read-only ones keep edits in memory, torn and damaged journals keep what is whole."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from kinemorph.studio.documents import journal as journals
from kinemorph.studio.documents.document import Document
from support.studio.opened_documents import TEMPLATES, opened


def test_a_full_disk_keeps_the_edits_in_memory_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    on_disk = document.path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        for value in (4, 5):
            change = document.apply({"verb": "set", "path": "settings.time", "value": value})
            assert not change.saved and "is not saved: " in change.problem and "the disk is full" in change.problem
        assert document.data["settings"]["time"] == 5 and document.path.read_bytes() == on_disk
    assert not document.saved and document.save() and document.saved
    document.close()
    again = Document(document.path)
    assert again.text == document.text == again.path.read_text() and again.revision == 3 and again.notes == []


def test_a_read_only_folder_keeps_the_edits_in_memory_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = opened(tmp_path)
    before = document.path.read_bytes()
    real = os.open

    def refused(path: Any, flags: int, *more: Any, **options: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "read-only")
        return real(path, flags, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        change = document.apply({"verb": "set", "path": "settings.time", "value": 4})
        assert not change.saved and "the folder is read-only" in change.problem
        assert document.data["settings"]["time"] == 4 and document.path.read_bytes() == before
        document.undo()
        assert not document.saved and document.text.encode() == before
    document.redo()
    assert document.saved and document.path.read_text() == document.text


def test_a_file_size_limit_leaves_whole_files(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    import signal

    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    size = max(document.path.stat().st_size, document._journal.path.stat().st_size)
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, limits[1]))
        change = document.apply({"verb": "set", "path": "name", "value": "x" * 1000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert not change.saved and "of this size are not allowed" in change.problem
    assert document._journal.path.read_bytes().endswith(b"\n")
    assert document.apply({"verb": "set", "path": "settings.time", "value": 4}).saved
    document.close()
    again = Document(document.path)
    assert again.data["name"] == "x" * 1000 and again.notes == []


def test_a_torn_last_record_is_cut_and_a_damaged_journal_keeps_its_rest(tmp_path: Path) -> None:
    document = opened(tmp_path)
    for value in (3, 4, 5):
        document.apply({"verb": "set", "path": "settings.time", "value": value})
    document.close()
    journal = document._journal.path
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'0123456789abcdef {"act":"ed')
    again = Document(document.path)
    assert again.revision == 3 and again.notes == []
    again.apply({"verb": "set", "path": "settings.time", "value": 6})
    again.close()
    assert Document(document.path).revision == 4
    journal.write_bytes(whole + b"0" * 5000)  # nothing of a longer one is left behind the next record either
    longer = Document(document.path)
    longer.apply({"verb": "set", "path": "settings.time", "value": 6})
    longer.close()
    assert journals.read_journal(journal).rest == b"" and b"0000000" not in journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"4"', b'"7"').replace(b"4", b"7")
    journal.write_bytes(b"".join(lines))
    damaged = Document(document.path)
    assert "was damaged" in damaged.notes[0] and "changed outside" in damaged.notes[1]
    assert damaged.text == damaged.path.read_text() == again.text
    assert damaged._journal.damaged_path.read_bytes() == b"".join(lines[3:])
    while damaged.can_undo:
        damaged.undo()
    assert damaged.text == (TEMPLATES / "arm.toml").read_text()


def test_a_journal_without_one_of_its_lines_or_in_another_order_is_damaged_there(tmp_path: Path) -> None:
    journal = journals.Journal(tmp_path / "folder" / "x.journal")
    records: list[journals.Record] = [{"act": "saved", "n": k} for k in range(4)]
    journal.append(records)
    journal.close()
    zero, one, two, three = journal.path.read_bytes().splitlines(keepends=True)
    assert journals.read_journal(journal.path) == (records, len(zero + one + two + three), three[:16].decode(), b"")
    for lines in ((zero, two, three), (zero, two, one, three), (zero, zero, one)):
        journal.path.write_bytes(b"".join(lines))
        found = journals.read_journal(journal.path)
        assert (found.records, found.rest) == (records[:1], b"".join(lines[1:]))
    kept = b""
    for lines in ((zero, two), (zero, three)):  # what is cut off is kept, each time
        journal.path.write_bytes(b"".join(lines))
        kept += lines[1]
        damaged = journals.Journal(journal.path)
        damaged.append([{"act": "saved"}])
        damaged.close()
        assert damaged.damaged and damaged.damaged_path.read_bytes() == kept


def test_edits_that_reached_only_the_journal_are_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    before = document.path.read_bytes()
    document.apply({"verb": "set", "path": "settings.time", "value": 4})
    document.close()
    journal = document._journal.path
    lines = journal.read_bytes().splitlines(keepends=True)
    assert b'"saved"' in lines[-1]
    document.path.write_bytes(before)  # as if another program had written the older text again
    assert "changed outside" in Document(document.path).notes[0]
    journal.write_bytes(b"".join(lines[:-1]))  # as if the process had been killed before it wrote the file
    again = Document(document.path)
    assert "were restored" in again.notes[0] and again.path.read_text() == again.text == document.text
    again.close()

    def fails(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    again = Document(document.path)
    with monkeypatch.context() as patch:  # as if it had been killed after several edits that the file does not have
        patch.setattr(os, "replace", fails)
        for value in (5, 6):
            again.apply({"verb": "set", "path": "settings.time", "value": value})
    again.close()
    assert again.path.read_text() == document.text != again.text
    last = Document(document.path)
    assert "were restored" in last.notes[0] and last.path.read_text() == last.text == again.text


def test_two_studios_do_not_write_to_one_journal(tmp_path: Path) -> None:
    one = opened(tmp_path)
    one.apply({"verb": "set", "path": "settings.time", "value": 3})
    other = Document(one.path)
    change = other.apply({"verb": "set", "path": "settings.time", "value": 4})
    assert not change.saved and "edited by another studio" in change.problem
    assert one.path.read_text() == one.text


def test_a_journal_that_has_grown_since_it_was_read_is_not_written_to(tmp_path: Path) -> None:
    """Two studios in turn: the second one does not know the edits that the first one made after both had opened it."""
    one = opened(tmp_path)
    one.apply({"verb": "set", "path": "settings.time", "value": 3})
    other = Document(one.path)
    one.apply({"verb": "set", "path": "settings.time", "value": 4})
    one.close()
    change = other.apply({"verb": "set", "path": "settings.sample", "value": 0.5})
    assert not change.saved and "edited by another studio" in change.problem
    assert Document(one.path).history == one.history


def test_the_journal_is_on_the_disk_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = opened(tmp_path)
    seen: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        seen.append(f"sync {os.path.basename(os.readlink(f'/proc/self/fd/{handle}'))}")
        sync(handle)

    def replaced(old: Any, new: Any) -> None:
        seen.append(f"rename {os.path.basename(new)}")
        replace(old, new)

    if not os.path.exists("/proc/self/fd"):
        pytest.skip("names of open files are known in Linux only")
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    document.apply({"verb": "set", "path": "settings.time", "value": 4})
    assert [name.split(".")[0] for name in seen[:1]] == ["sync arm"] and seen[0].endswith(".journal")
    assert ".part" in seen[1] and seen[2] == "rename arm.toml" and len(seen) == 4
    assert journals.read_journal(document._journal.path).records[-1] == {"act": "saved"}
