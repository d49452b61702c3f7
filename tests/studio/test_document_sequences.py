"""Random sequences of commands, undo and redo, and processes that are killed while they edit: nothing is lost."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import time
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest

from kinemorph import load, save
from kinemorph.errors import ParseError
from kinemorph.formats.toml import template_files
from kinemorph.model.library.choosing import choose
from kinemorph.studio.documents.commands.command import CommandError
from kinemorph.studio.documents.commands.layout import same
from kinemorph.studio.documents.document import Change, Document
from kinemorph.studio.documents.journal import read_journal, text_sum
from support.studio.random_commands import random_command

TEMPLATES = Path(next(iter(template_files.__path__)))
SUBJECTS = ("organism", "arm", "four_bar", "scara")
LENGTH, SHORT = 8, 4  # commands of a sequence, and of one in the default suite


def subject(name: str, folder: Path) -> Path:
    """A model file with a template, or with a model of the library."""
    path = folder / f"{name}.toml"
    if (TEMPLATES / path.name).exists():
        shutil.copy(TEMPLATES / path.name, path)
    else:
        save(choose(name), path)
    return path


class Page:
    """What a page in the browser knows: it applies the splices that it is sent."""

    def __init__(self, document: Document) -> None:
        self.text: str = document.state()["text"]

    def follow(self, change: Change | None) -> None:
        if change is None:
            return
        self.follow(change.before)
        start, removed, added = change.as_data()["splice"]
        self.text = self.text[:start] + added + self.text[start + removed :]


def one_step(document: Document, page: Page, dice: random.Random) -> bool:
    """Carries out a random command, undo or redo; whether the document changed."""
    before, revision = document.text, document.revision
    try:
        chance = dice.random()
        if chance < 0.15:
            change = document.undo()
        elif chance < 0.25:
            change = document.redo()
        else:
            change = document.apply(random_command(document, dice))
    except CommandError as error:
        assert str(error).rstrip().endswith((".", "?")) and "\n" not in str(error).strip(), str(error)
        assert document.text == before and document.revision == revision
        return False
    page.follow(change)
    assert page.text == document.text == document.state()["text"]
    assert document.path.read_bytes() == document.text.encode() and change.saved
    return change.changed


def agree(document: Document) -> bool:
    """Whether page, file and Python agree on the model; True if it is a good one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = load(document.path)
        except ParseError as error:
            wrong = [one["problem"] for one in document.findings if one["severity"] == "error"]
            found_wrong: list[Any] = [one for one in error.findings if "error" in str(getattr(one, "severity", ""))]
            assert wrong == [one.problem for one in found_wrong]
            assert document.good_revision < document.revision
            return False
    assert document.model == found and document.good_revision == document.revision
    assert not any(one["severity"] == "error" for one in document.findings)
    return True


def sequence(path: Path, seed: int, length: int = LENGTH, *, read: bool = True) -> tuple[int, bool]:
    """Carries out one random sequence; (number of changes, whether the model was good at the end, where it is read)."""
    dice = random.Random(seed)
    original = path.read_bytes()
    document = Document(path)
    page = Page(document)
    changes = sum(one_step(document, page, dice) for _ in range(length))
    if tomllib_data(document.text) is not None:
        assert same(document.data, tomllib_data(document.text))
    good = read and agree(document)
    if dice.random() < 0.3:
        document.close()
        document = Document(path)
    last = path.read_bytes()
    while document.can_undo:
        document.undo()
    assert path.read_bytes() == original
    while document.can_redo:
        document.redo()
    if not any(record["act"] == "undo" for record in read_journal(document._journal.path).records[:-1]):
        assert path.read_bytes() == last
    document.close()
    return changes, good


def tomllib_data(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


@pytest.fixture
def unforced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not forced to the disk, which takes most of the time and has tests of its own."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def sequences(tmp_path: Path, count: int, first: int = 0, length: int = LENGTH, every: int = 1) -> tuple[int, int]:
    """Carries out sequences on all subjects in turn; (changes in all, models that were good at the end).

    The model at the end is read in one of `every` sequences.
    """
    made = {name: subject(name, tmp_path).read_bytes() for name in SUBJECTS}
    changes, good = 0, 0
    for seed, name in zip(range(first, first + count), itertools.cycle(SUBJECTS), strict=False):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        path = folder / f"{name}.toml"
        path.write_bytes(made[name])
        try:
            changed, fine = sequence(path, seed, length, read=seed // len(SUBJECTS) % every == 0)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {name}: {error}") from error
        changes, good = changes + changed, good + fine
        shutil.rmtree(folder)
    return changes, good


@pytest.mark.usefixtures("unforced")
def test_page_file_and_python_agree_after_random_commands(tmp_path: Path) -> None:
    """Requirement 000-27: 50 sequences; undo to the start and redo give the same bytes."""
    changes, good = sequences(tmp_path, 50, length=SHORT, every=6)
    assert changes > 50 and good > 0


@pytest.mark.slow
@pytest.mark.usefixtures("unforced")
def test_3000_random_sequences(tmp_path: Path, record_property: Any) -> None:
    changes, good = sequences(tmp_path, 3000, first=1000, every=3)
    record_property("figure", ("documents", "changes in 3000 sequences", changes))
    assert changes > 6000 and good > 100


# ── killed processes ──────────────────────────────────────────────────────────────────────────────────────────────────


def edit_forever(path: Path, seed: int, pipe: int) -> None:
    """Edits a document without end, and writes "revision checksum" of every confirmed edit to a pipe."""
    dice = random.Random(seed)
    document = Document(path)
    os.write(pipe, b"open\n")
    while True:
        try:
            chance = dice.random()
            if chance < 0.1:
                document.undo()
            elif chance < 0.2:
                document.redo()
            elif chance < 0.3:
                document.set_text(document.text + f"# remark {dice.random()}\n")
            else:
                document.apply({"verb": "set", "path": "settings.time", "value": dice.random()})
        except CommandError:
            continue
        os.write(pipe, f"{document.revision} {text_sum(document.text)}\n".encode())


def killed_once(path: Path, seed: int, span: float) -> list[tuple[int, str]]:
    """The edits that a process confirmed before it was killed, at a random moment of the first `span` seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            edit_forever(path, seed, writing)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.readline() == b"open\n"
        first = pipe.readline().decode() if seed == 0 else ""  # however slow the machine is, one edit is confirmed
        time.sleep(random.Random(seed).uniform(0.0, span))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines = (first + pipe.read().decode()).splitlines()
    return [(int(number), total) for number, total in (line.split() for line in lines)]


def kill(tmp_path: Path, times: int) -> int:
    """Kills editing processes one after the other, on one document; the number of edits that were confirmed."""
    path = subject("arm", tmp_path)
    original = path.read_bytes()
    began = time.perf_counter()
    document = Document(path)
    document.apply({"verb": "set", "path": "settings.time", "value": 1.5})
    span = 5.0 * (time.perf_counter() - began)  # so that processes are killed in all parts of their first edits
    document.close()
    confirmed = {1: text_sum(document.text)}
    for seed in range(times):
        confirmed |= dict(killed_once(path, seed, span))
        whole = text_sum(path.read_bytes().decode())
        document = Document(path)
        sums = {record["n"]: record["sum"] for record in read_journal(document._journal.path).records if "n" in record}
        assert whole in {text_sum(original.decode()), *sums.values()}, "the file is whole"
        assert all(sums.get(number) == total for number, total in confirmed.items()), "nothing confirmed is lost"
        assert path.read_bytes() == document.text.encode() and "outside" not in " ".join(document.notes)
        document.close()
    document = Document(path)
    while document.can_undo:
        document.undo()
    assert path.read_bytes() == original
    return len(confirmed) - 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking a process with threads
def test_nothing_that_was_confirmed_is_lost_when_a_process_is_killed(tmp_path: Path) -> None:
    assert kill(tmp_path, 5) > 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_200_killed_processes_lose_nothing(tmp_path: Path, record_property: Any) -> None:
    count = kill(tmp_path, 200)
    record_property("figure", ("documents", "edits confirmed by 200 killed processes", count))
    assert count > 200
