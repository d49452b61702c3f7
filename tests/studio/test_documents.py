"""Documents of the studio: commands that keep layout, findings, undo across restarts, changes outside, projects."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kinemorph import load
from kinemorph.errors import StorageError
from kinemorph.studio.documents import document as document_module
from kinemorph.studio.documents import journal as journals
from kinemorph.studio.documents.commands import COMMANDS
from kinemorph.studio.documents.commands.command import CommandError
from kinemorph.studio.documents.document import OUTSIDE, Document
from kinemorph.studio.documents.projects import Project
from support.studio.opened_documents import TEMPLATES, opened


def test_a_command_changes_what_it_names_and_no_comment(tmp_path: Path) -> None:
    document = opened(tmp_path)
    before = document.text
    change = document.apply({"verb": "set", "path": "bodies.forearm.mass", "value": "2 kg"})
    assert change.saved and document.revision == change.revision == 1
    old, new = before.split("\n"), document.text.split("\n")
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(changed) == 1 and 'mass = "2 kg"' in changed[0][1]
    assert changed[0][0].partition("#")[2] == changed[0][1].partition("#")[2]
    assert (tmp_path / "arm.toml").read_text() == document.text
    assert document.model == load(tmp_path / "arm.toml")
    assert document.model is not None and document.model.robot.body("forearm").mass == 2.0


def test_every_command_says_what_it_does_and_needs() -> None:
    for row in COMMANDS.values():
        data = json.loads(json.dumps(row.as_data()))
        assert data["help"].endswith(".") and all(field["help"].endswith(".") for field in data["fields"]), row.verb


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ({"verb": "st", "path": "name", "value": 1}, r"the verb of a command is 'st'.*Did you mean 'set'\?"),
        ({"verb": "set", "path": "name"}, "has no field 'value'"),
        ({"verb": "set", "path": "name", "value": None}, "value is None, expected a number"),
        ({"verb": "set", "path": "name", "value": float("nan")}, "not a number"),
        ({"verb": "set", "path": "name", "value": 2**70}, "too many digits"),
        ({"verb": "set", "path": "a..b", "value": 1}, r"path is 'a\.\.b', expected the path of a key"),
        ({"verb": "set", "path": ["name", "x"], "value": 1}, "name is .*so it has no 'x'"),
        ({"verb": "set", "path": ["bodies", 0], "value": 1}, "has no 0"),
        ({"verb": "set", "path": "name", "value": 1, "valeu": 2}, r"no field 'valeu'.*Did you mean 'value'\?"),
        ({"verb": "unset", "path": "bodies.forarm"}, r"bodies has no 'forarm'.*Did you mean 'forearm'\?"),
        ({"verb": "add", "path": "bodies.forearm", "value": {}}, "there is a bodies.forearm already"),
        ({"verb": "copy", "kind": "body", "name": "forearm", "to": "upper_arm"}, "a body 'upper_arm' already"),
        ({"verb": "remove", "kind": "bod", "name": "forearm"}, "kind is 'bod', expected one of parameter, body"),
        ({"verb": "insert", "path": "bodies", "value": 1}, "expected a list"),
        ([], "expected a table with the key 'verb'"),
    ],
)
def test_a_wrong_command_gives_a_sentence_and_changes_nothing(tmp_path: Path, command: Any, sentence: str) -> None:
    document = opened(tmp_path)
    before = document.text
    with pytest.raises(CommandError, match=sentence) as caught:
        document.apply(command)
    assert str(caught.value).endswith((".", "?"))
    assert document.text == before and document.revision == 0 and not document.can_undo
    document.apply({"verb": "set", "path": "bodies.forearm.mass", "value": 3})  # and the next command works
    assert document.data["bodies"]["forearm"]["mass"] == 3


def test_a_wrong_edit_shows_its_findings_in_place_and_the_last_good_model_stays(tmp_path: Path) -> None:
    document = opened(tmp_path)
    good = document.model
    document.apply({"verb": "set", "path": "joints.elbow.axis", "value": "w"})
    (finding,) = document.findings
    assert finding["key"] == "joints.elbow.axis" and finding["severity"] == "error"
    assert document.text.split("\n")[finding["line"] - 1].startswith("axis")
    assert document.model is good and document.good_revision == 0 and document.revision == 1
    document.set_text(document.text.replace('axis = "w"', "axis = "))  # now it is not even TOML
    assert document.findings[0]["rule"] == "syntax" and document.data["joints"]["elbow"]["axis"] == "w"
    with pytest.raises(CommandError, match="is not well-formed on line"):
        document.apply({"verb": "set", "path": "name", "value": "x"})
    document.undo()
    document.undo()
    assert document.findings == [] and document.good_revision == document.revision == 4


def test_a_command_on_a_wrong_text_does_not_wait_for_the_reading_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reading waits for the document at its end, so that an edit that waited for the reading would never end."""
    document = opened(tmp_path)
    begun, go_on = threading.Event(), threading.Event()
    read = document_module.read_model

    def slow(*given: Any) -> Any:
        begun.set()
        go_on.wait(10.0)
        return read(*given)

    monkeypatch.setattr(document_module, "read_model", slow)
    document.set_text("name = \n")
    said: list[str] = []

    def edit() -> None:
        with pytest.raises(CommandError) as refused:
            document.apply({"verb": "set", "path": ["name"], "value": "arm"})
        said.append(str(refused.value))

    reading = threading.Thread(target=document.read, daemon=True)
    reading.start()
    assert begun.wait(5.0)
    editing = threading.Thread(target=edit, daemon=True)
    editing.start()
    editing.join(2.0)
    go_on.set()
    reading.join(5.0)
    assert not reading.is_alive() and "is not well-formed on line 1" in said[0]


def test_the_last_good_model_is_found_also_where_nothing_was_read_before(tmp_path: Path) -> None:
    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "bodies.forearm.mass", "value": 7})
    for axis in ("w", "u"):
        document.apply({"verb": "set", "path": "joints.elbow.axis", "value": axis})
    assert document.good_revision == 1 and document.model is not None
    assert document.model.robot.body("forearm").mass == 7.0
    document.close()
    again = Document(document.path)  # after a restart too
    assert again.good_revision == 1 and again.model == document.model and again.findings == document.findings


def test_undo_reaches_across_restarts_and_gives_the_same_bytes(tmp_path: Path) -> None:
    document = opened(tmp_path, "organism")
    path = document.path
    texts = [path.read_bytes()]
    for k in range(6):
        document.apply({"verb": "set", "path": "settings.time", "value": k + 1.5})
        texts.append(path.read_bytes())
    document.undo()
    document.close()
    document = Document(path)
    assert document.revision == 7 and document.can_redo and document.notes == []
    document.redo()
    assert path.read_bytes() == texts[-1]
    for text in texts[-2::-1]:
        document.close()
        document = Document(path)
        document.undo()
        assert path.read_bytes() == text
    assert not document.can_undo
    with pytest.raises(CommandError, match="no edit that can be taken back"):
        document.undo()


@pytest.mark.parametrize("running", [True, False])
def test_a_file_that_another_program_changes_is_noticed(tmp_path: Path, running: bool) -> None:
    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    before = document.text
    outside = before.replace("time = 3", "time = 4")
    if not running:
        document.close()
    document.path.write_text(outside)
    if running:
        with pytest.raises(CommandError, match="changed by another program"):
            document.set_text("kinemorph = 1\n")
    else:
        document = Document(document.path)
        assert "changed outside" in document.notes[0]
    assert document.text == outside and document.history[-1] == OUTSIDE
    document.apply({"verb": "set", "path": "settings.sample", "value": 0.5})
    document.undo()
    document.undo()
    assert document.text == before == document.path.read_text()
    document.redo()
    assert document.text == outside


def test_a_change_outside_that_an_edit_meets_is_told_with_it(tmp_path: Path) -> None:
    document = opened(tmp_path)
    for k, act in enumerate((lambda: document.apply({"verb": "set", "path": "name", "value": "b"}), document.undo)):
        document.path.write_text(f"{document.text}# {k}\n")
        change = act()
        assert change.before is not None and change.before.label == OUTSIDE and change.before.revision == 2 * k + 1
        assert change.as_data()["before"]["splice"][2] == f"# {k}\n" and change.revision == 2 * k + 2
    assert document.data["name"] == "b" and document.history == [OUTSIDE, document.history[1]]


@pytest.mark.parametrize("journaled", [True, False])
def test_a_file_that_another_program_brings_to_the_unsaved_text_is_no_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journaled: bool
) -> None:
    """Where the journal has the edit, the document is saved then; where it has not, the document still says so."""
    document = opened(tmp_path)
    for value in (3, 4, 5):
        document.apply({"verb": "set", "path": "settings.time", "value": value})
    document.undo()
    document.undo()

    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace" if journaled else "fsync", full)
        assert not document.redo().saved
    assert document.path.read_text() != document.text
    document.path.write_text(document.text)
    assert document.changed_outside() is None and document.saved == journaled
    assert document.can_redo and document.revision == 6


def test_a_file_that_is_moved_away_and_back_is_saved_again(tmp_path: Path) -> None:
    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    os.utime(document.path, (1e9, 1e9))  # written long ago: its time of change tells that nothing has changed
    assert document.changed_outside() is None and document.saved
    away = document.path.rename(tmp_path / "away.toml")
    assert document.changed_outside() is None and "not there any more" in document.problem
    away.rename(document.path)
    assert document.changed_outside() is None and document.problem == "" and document.revision == 1


def test_a_change_within_the_same_tick_of_the_clock_is_noticed(tmp_path: Path) -> None:
    document = opened(tmp_path)
    document.apply({"verb": "set", "path": "settings.time", "value": 3})
    status = document.path.stat()
    outside = document.text.replace("time = 3", "time = 4").encode()
    with document.path.open("r+b") as file:  # the same size, the same file, and the same time of change
        file.write(outside)
    os.utime(document.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert document.changed_outside() is not None and document.data["settings"]["time"] == 4


def test_edits_of_several_threads_come_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    document = opened(tmp_path)

    def edit(number: int) -> None:
        for k in range(5):
            document.apply({"verb": "parameter", "name": f"p{number}_{k}", "value": k})
            document.read()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(edit, range(4)))
    assert document.revision == 20 and document.path.read_text() == document.text
    assert {f"p{number}_{k}" for number in range(4) for k in range(5)} <= document.data["parameters"].keys()
    document.close()
    assert Document(document.path).text == document.text and document.good_revision == 20


def test_a_file_that_is_gone_is_written_again(tmp_path: Path) -> None:
    document = opened(tmp_path)
    document.path.unlink()
    assert document.changed_outside() is None and "not there" in document.problem
    assert document.apply({"verb": "set", "path": "settings.time", "value": 3}).saved
    assert document.path.read_text() == document.text


def test_an_edit_for_an_older_revision_is_refused(tmp_path: Path) -> None:
    document = opened(tmp_path)
    change = document.apply({"verb": "set", "path": "settings.time", "value": 3}, base=0)
    assert change.revision == 1
    with pytest.raises(CommandError, match="changed by another edit: it has revision 1"):
        document.set_text("kinemorph = 1\n", base=0)
    with pytest.raises(CommandError, match="it has revision 1, but 'set' was made for revision 2"):
        document.apply({"verb": "set", "path": "settings.time", "value": 4}, base=2)
    assert document.revision == 1 and "time = 3" in document.text
    document.set_text(f"{document.text}# more\n", base=1)
    edit = journals.read_journal(document._journal.path).records[-2]
    assert edit["command"] == {"verb": "set_text"}  # the text is in its splice already


@pytest.mark.parametrize("name", [".kinemorph/journal/arm.toml.journal", ".hidden.toml", "robots/.git/arm.toml"])
def test_hidden_files_of_a_project_are_not_opened(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("kinemorph = 1\n")
    with pytest.raises(StorageError, match="is not in the folder of the project"):
        Project(tmp_path).open(name)


def test_bytes_that_are_unusual_stay(tmp_path: Path) -> None:
    text = (TEMPLATES / "arm.toml").read_text().replace("\n", "\r\n")
    path = tmp_path / "dos.toml"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    document = Document(path)
    document.apply({"verb": "set", "path": "bodies.forearm.mass", "value": 9})
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf") and data.count(b"\n") == data.count(b"\r\n") == text.count("\n")
    document.set_text(document.text + "# \udcff")  # a byte that is not UTF-8
    assert path.read_bytes().endswith(b"# \xff") and "UTF-8" in document.findings[0]["problem"]
    document.undo()
    document.undo()
    assert path.read_bytes() == b"\xef\xbb\xbf" + text.encode()


def test_a_project_lists_its_model_files_and_lets_nothing_out(tmp_path: Path) -> None:
    shutil.copy(TEMPLATES / "arm.toml", tmp_path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "box.urdf").write_text("<robot name='box'><link name='a'/></robot>")
    (tmp_path / "notes.xml").write_text("<notes/>")
    (tmp_path / "secret.csv").write_text("1")
    (tmp_path / "link.toml").symlink_to("/etc/passwd")
    project = Project(tmp_path)
    assert [(file.name, file.format) for file in project.model_files()] == [
        ("arm.toml", "toml"),
        ("parts/box.urdf", "urdf"),
    ]
    document = project.open("arm.toml")
    assert project.open("arm.toml") is document
    urdf = project.open("parts/box.urdf")
    with pytest.raises(CommandError, match="not a TOML file"):
        urdf.apply({"verb": "set", "path": "name", "value": "x"})
    assert urdf.set_text(urdf.text.replace("'a'", "'b'")).saved
    assert urdf.model is not None and urdf.model.robot.body_names == ("b",)
    assert sorted(path.name for path in (tmp_path / ".kinemorph" / "journal").iterdir()) == ["parts%2Fbox.urdf.journal"]
    for name in ("../x.toml", "/etc/passwd", "link.toml", ".kinemorph/journal/x", "a\0b", "..\\x", "", "missing.toml"):
        with pytest.raises(StorageError):
            project.open(name)
