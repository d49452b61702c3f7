"""A document: a model file that is edited by commands, as text, by undo and redo, or by other programs.

An edit patches the text, is written to the journal and then to the file, and returns when both are on the disk; within
`saving_last`, both are written at the end of that context. The model is read when it is asked for, which may happen in
another thread: an edit does not wait for it. Where the text cannot be read as a model, its findings say why, and the
last good model stays.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tomlkit import TOMLDocument, dumps, parse
from tomlkit.exceptions import TOMLKitError

from kinemorph.durable_files import write_whole
from kinemorph.errors import KinemorphError, StorageError
from kinemorph.model.system import System
from kinemorph.studio.documents.commands import command_of
from kinemorph.studio.documents.commands.command import Command, CommandError
from kinemorph.studio.documents.journal import Journal, Record, text_sum
from kinemorph.studio.documents.model_reading import Reading, read_model, syntax_mistake
from kinemorph.studio.documents.splices import Splice, splice
from kinemorph.studio.documents.text_files import file_stamp, read_text, relative_name, unmarked

HIDDEN = ".kinemorph"  # the folder of a project that holds journals
OUTSIDE = "changed outside"  # the label of an edit by another program
SETTLED = 0.1  # [s]; a file that was written less long ago may change again without a new time of change
LOOKED_BACK = 8  # earlier texts among which the last good model is searched


@dataclass(frozen=True)
class Edit:
    """An edit that can be undone and redone: what it is called, and the difference of the texts."""

    label: str
    splice: Splice
    command: dict[str, Any] | None = None  # None for a change by another program


@dataclass(frozen=True)
class Change:
    """What an edit, an undo or a redo did to a document.

    `saved` says whether it is on the disk; where it is not, `problem` is a sentence that says why. `before` is the
    change by another program that was found, and kept as an edit of its own, before this one was carried out.
    """

    act: str  # "edit", "undo", "redo" or "outside"
    label: str
    revision: int  # of the document after the change
    changed: bool  # whether the text is another one than before
    splice: Splice
    saved: bool
    problem: str = ""
    before: Change | None = None

    def as_data(self) -> dict[str, Any]:
        """The change as data for pages."""
        data = {key: getattr(self, key) for key in ("act", "label", "revision", "changed", "saved", "problem")}
        data["splice"] = [self.splice.start, len(self.splice.removed), self.splice.added]
        return data | ({"before": self.before.as_data()} if self.before else {})


class Document:
    """A model file that is open in the studio.

    `path`     the model file, of any format; commands other than `set_text` need a TOML file
    `folder`   the folder of the project, which holds the journal; by default the folder of the file

    `text` is the text of the file as the document has it, `revision` counts its changes, also across restarts. All
    methods may be called from any thread. Raises StorageError if the file cannot be read.
    """

    def __init__(self, path: str | Path, folder: str | Path | None = None) -> None:
        self.path = Path(os.path.abspath(path))
        self.folder = self.path.parent if folder is None else Path(os.path.abspath(folder))
        self.name = relative_name(self.path, self.folder)
        self.notes: list[str] = []  # sentences about what was found and done when the document was opened
        self.problem = ""  # why the document is not saved; empty if it is
        self.is_unwritten = False  # whether an edit could not be written, such as on a full disk
        self._lock = threading.RLock()
        self._reading_lock = threading.Lock()
        self._done: list[Edit] = []
        self._undone: list[Edit] = []
        self._unwritten: list[Record] = []  # records that are not in the journal yet
        self._is_put_off = False  # whether writing waits for the end of `saving_last`
        self._file_waits = False  # whether the file is to be written then
        self._parsed: tuple[str, TOMLDocument] | None = None  # the text that was parsed, and what it gave
        self._data: tuple[str, dict[str, Any]] | None = None
        self._good: Reading | None = None
        self._earlier: deque[tuple[int, str]] = deque(maxlen=LOOKED_BACK)  # revisions and texts before the current one
        self._reading: Reading | None = None
        self.revision = 0
        self._journal = Journal(self.folder / HIDDEN / "journal" / f"{quote(self.name, safe=' ')}.journal")
        self._stamp, self._is_settled = file_stamp(self.path), False  # of the file when it was last read or written
        self.text = self._file_text = read_text(self.path)
        self._restore()

    # ── what the document is ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def data(self) -> dict[str, Any]:
        """The data of a TOML document as plain dicts and lists; those of the last well-formed text if it is not one.

        Documents of other formats have no data.
        """
        with self._lock:
            if self.is_toml and (self._data is None or self._data[0] != self.text):
                with contextlib.suppress(ValueError, RecursionError):
                    self._data = (self.text, tomllib.loads(unmarked(self.text)))
            return {} if self._data is None else self._data[1]

    @property
    def is_toml(self) -> bool:
        """Whether the document is a TOML file, which commands can patch."""
        return self.path.suffix.lower() == ".toml"

    @property
    def saved(self) -> bool:
        """Whether the file and the journal have all edits."""
        return not self.problem and not self._unwritten

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an edit that was taken back last."""
        return bool(self._undone)

    @property
    def history(self) -> list[str]:
        """The labels of all edits that can be undone, the oldest first."""
        return [edit.label for edit in self._done]

    def state(self) -> dict[str, Any]:
        """The document as data for pages. It does not wait for the model: `findings` are those that are known.

        `read_revision` is the revision that findings belong to, `good_revision` that of the last good model.
        """
        with self._lock:
            reading, good = self._reading, self._good
            return {
                "name": self.name,
                "text": self.text,
                "data": self.data,
                "revision": self.revision,
                "read_revision": reading.revision if reading else -1,
                "good_revision": good.revision if good else -1,
                "findings": list(reading.findings) if reading else [],
                "can_undo": self.can_undo,
                "can_redo": self.can_redo,
                "undo_label": self._done[-1].label if self._done else "",
                "redo_label": self._undone[-1].label if self._undone else "",
                "saved": self.saved,
                "problem": self.problem,
                "notes": list(self.notes),
            }

    # ── the model ─────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self) -> Reading:
        """Reads the model of the current text, unless that was done already. This may take a second for large models.

        It may be called in a thread of its own; edits do not wait for it.
        """
        with self._reading_lock:
            with self._lock:
                text, revision, known = self.text, self.revision, self._reading
                earlier = list(self._earlier)
            if known is not None and known.revision == revision:
                return known
            reading = read_model(self.path, text, revision, (self.folder,))
            good = reading if reading.system is not None else self._last_good(earlier)
            with self._lock:
                self._reading, self._good = reading, good
                if self.text == text:
                    self._parse_ahead()
            return reading

    def _last_good(self, earlier: Sequence[tuple[int, str]]) -> Reading | None:
        """The last good reading where the current text is wrong: texts that no one has read yet are read for it."""
        known = self._good.revision if self._good else -1
        for revision, text in reversed(earlier):
            if revision <= known:
                break
            reading = read_model(self.path, text, revision, (self.folder,))
            if reading.system is not None:
                return reading
        return self._good

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is wrong or questionable in the current text, each with line, key, problem, remedy and severity."""
        return list(self.read().findings)

    @property
    def model(self) -> System | None:
        """The system of the current text, or of the last text that could be read; None if there was none."""
        self.read()
        return self.last_model

    @property
    def good_revision(self) -> int:
        """The revision of the last text that could be read as a model; -1 if there was none."""
        self.read()
        return self._good.revision if self._good else -1

    @property
    def last_model(self) -> System | None:
        """The last good model that was read so far, without reading the current text."""
        good = self._good
        return good.system if good else None

    # ── edits ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def apply(self, command: Mapping[str, Any], base: int | None = None) -> Change:
        """Carries out a command, which is data with a verb of COMMANDS: {"verb": "set", "path": ..., "value": ...}.

        `base` is the revision that the command was made for: if given, and the document has another one, nothing is
        changed. Raises CommandError, and changes nothing, if the command is wrong.
        """
        row, fields = command_of(command)
        with self._lock:
            outside = self.changed_outside()
            if (base is not None and base != self.revision) or (row.on_text and outside is not None):
                who = "another program" if outside is not None else "another edit"
                raise CommandError(
                    f"'{self.name}' was changed by {who}: it has revision {self.revision}, but '{row.verb}' was made "
                    f"for revision {self.revision - 1 if base is None else base}. Look at the new text, and edit it "
                    "again."
                )
            new = self._patched(row, fields)
            label = row.label(**fields) if row.label else row.verb
            kept = {"verb": row.verb} if row.on_text else dict(command)
            return self._edited("edit", Edit(label, splice(self.text, new), kept), outside)

    def set_text(self, text: str, base: int | None = None) -> Change:
        """Replaces the whole text; see `apply`."""
        return self.apply({"verb": "set_text", "text": text}, base)

    def undo(self) -> Change:
        """Takes the last edit back. Raises CommandError if there is none."""
        return self._step("undo", self._done, "taken back")

    def redo(self) -> Change:
        """Does the edit again that was taken back last. Raises CommandError if there is none."""
        return self._step("redo", self._undone, "done again")

    def _step(self, act: str, stack: list[Edit], done: str) -> Change:
        with self._lock:
            outside = self.changed_outside()
            if not stack:
                raise CommandError(f"'{self.name}' has no edit that can be {done}.")
            edit = stack[-1]
            moved = edit if act == "redo" else Edit(edit.label, edit.splice.inverse, edit.command)
            return self._edited(act, moved, outside)

    def changed_outside(self) -> Change | None:
        """Looks whether another program has changed the file. If so, its text becomes that of the document.

        The change is an edit of its own, which can be undone. Returns None if the file is as the document left it. If
        the file is gone, the document keeps its text, and the next edit writes the file again.
        """
        with self._lock:
            stamp = file_stamp(self.path)
            if stamp == self._stamp and stamp is not None and self._is_settled:
                return None
            if stamp is None:
                self._is_settled = False  # a file that comes back is read, also where its time of change is the old one
                self.problem = f"'{self.path}' is not there any more. The next edit writes it again."
                return None
            try:
                text = read_text(self.path)
            except StorageError as error:
                self._is_settled = False
                self.problem = f"{error} The document keeps its text, and the next edit writes the file again."
                return None
            self._stamp, self._is_settled = stamp, time.time() - 1e-9 * stamp[0] > SETTLED
            before, self._file_text = self._file_text, text
            if text == self.text and not self._unwritten:
                self.problem = ""  # such as a file that was gone and is back
            if text in (before, self.text):  # `before` is not the text of the document where that is not saved
                return None
            return self._edited("outside", Edit(OUTSIDE, splice(self.text, text)), None)

    @contextlib.contextmanager
    def saving_last(self) -> Iterator[None]:
        """A context whose edits are in memory at once, and are written to the disk at its end.

        What is done in between, such as showing the picture of an edit, does not wait for the disk. `saved` is False
        until the end; edits of other threads wait for it.
        """
        with self._lock:
            self._is_put_off = True
            try:
                yield
            finally:
                self._is_put_off = False
                if self._unwritten:
                    self._save(write_file=self._file_waits)
                self._file_waits = False

    def save(self) -> bool:
        """Writes what is not on the disk yet; whether the document is saved afterwards. `problem` says why not."""
        with self._lock:
            if self.problem:
                self._save()
            return self.saved

    def close(self) -> None:
        """Closes the journal, so that another process can edit the document."""
        with self._lock:
            self._journal.close()

    # ── how edits are made ────────────────────────────────────────────────────────────────────────────────────────

    def _patched(self, row: Command, fields: dict[str, Any]) -> str:
        """The text after a command. Raises CommandError where it cannot be carried out."""
        if row.on_text:
            new = row.patch(self.text, **fields)
            assert new is not None
            return new
        document = self._document(row.verb)
        try:
            new = row.patch(document, **fields)
            new = dumps(document) if new is None else new
            tomllib.loads(new)
        except (TOMLKitError, ValueError, RecursionError) as error:
            raise CommandError(
                f"command '{row.verb}' cannot be carried out here without moving other keys ({error}). Edit the text "
                "instead."
            ) from None
        return self._in_style(new)

    def _document(self, verb: str) -> TOMLDocument:
        """The parsed text, for one use: a patch changes it."""
        if not self.is_toml:
            raise CommandError(
                f"'{self.name}' is not a TOML file, so '{verb}' cannot edit it. Edit its text, or save it as TOML."
            )
        self._parse_ahead()
        if self._parsed is None:
            where = syntax_mistake(self.path, self.text)  # `findings` would wait for a reading, which waits for us
            raise CommandError(
                f"'{self.name}' is not well-formed{where}, so '{verb}' cannot edit it. Correct the text, or undo the "
                "last edit."
            )
        document = self._parsed[1]
        self._parsed = None
        return document

    def _parse_ahead(self) -> None:
        """Parses the current text with its layout, so that the next command need not wait for that."""
        if not self.is_toml or (self._parsed is not None and self._parsed[0] == self.text):
            return
        self._parsed = None
        try:
            plain = unmarked(self.text)
            tomllib.loads(plain)
            self._parsed = (self.text, parse(plain))
        except (TOMLKitError, ValueError, RecursionError):
            pass

    def _in_style(self, new: str) -> str:
        """A patched text with the line ends and the byte order mark of the text before."""
        if "\r\n" in self.text:
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        return f"\ufeff{new}" if self.text.startswith("\ufeff") else new

    def _edited(self, act: str, edit: Edit, outside: Change | None) -> Change:
        """Carries out an edit: in memory, then in the journal, then in the file."""
        _ = self.data  # kept in case that the new text is not well-formed
        text = edit.splice.applied(self.text)
        if text == self.text and act == "edit":
            return Change(act, edit.label, self.revision, False, edit.splice, self.saved, self.problem, outside)
        if not self._unwritten and not self.revision:
            self._unwritten.append({"act": "start", "text": self.text, "sum": text_sum(self.text)})
        record: Record = {"act": act, "n": self.revision + 1, "sum": text_sum(text), "time": round(time.time(), 3)}
        if act in ("edit", "outside"):
            record |= {"label": edit.label, "splice": list(edit.splice)}
            record |= {"command": edit.command} if edit.command else {}
        self._moved(act, edit)
        self._earlier.append((self.revision, self.text))
        self.text, self.revision = text, self.revision + 1
        self._unwritten.append(record)
        self._save(write_file=act != "outside")
        return Change(act, edit.label, self.revision, True, edit.splice, self.saved, self.problem, outside)

    def _moved(self, act: str, edit: Edit) -> None:
        """Moves an edit between the stacks of edits to undo and to redo."""
        if act == "undo":
            self._undone.append(self._done.pop())
        elif act == "redo":
            self._done.append(self._undone.pop())
        else:
            self._done.append(edit)
            self._undone.clear()

    def _save(self, write_file: bool = True) -> None:
        """Writes the journal, then the file. A failure keeps everything in memory, and `problem` says why."""
        if self._is_put_off:
            self._file_waits |= write_file
            return
        try:
            if self._unwritten:
                self._journal.append(self._unwritten)
                self._unwritten = []
            if write_file:
                write_whole(self.path, self.text.encode("utf-8", "surrogateescape"))
                self._stamp, self._is_settled, self._file_text = file_stamp(self.path), False, self.text
            self._journal.append([{"act": "saved"}], settled=False)
            self.problem, self.is_unwritten = "", False
        except StorageError as error:
            self.problem, self.is_unwritten = f"'{self.name}' is not saved: {error}", True

    # ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _restore(self) -> None:
        """Restores the edits in the journal, and compares its text with that of the file.

        A file that lacks the last edits, because the process was killed before it wrote them, is written again. A file
        with another text was changed outside.
        """
        records, self._journal.records = self._journal.records, []
        if self._journal.damaged:
            self.notes.append(
                f"The journal of '{self.name}' was damaged: {len(records)} records of it were restored, and the rest "
                f"was moved to '{self._journal.damaged_path}'."
            )
        if not records:
            return
        try:
            text, unsaved = self._replayed(records)
        except (KeyError, TypeError, ValueError, IndexError):
            raise KinemorphError(
                f"the journal '{self._journal.path}' does not belong to '{self.name}', or another version wrote it. "
                "Move it away to begin a new one."
            ) from None
        file, self.text = self.text, text
        if file == text:
            return
        if text_sum(file) in unsaved:
            self.notes.append(
                f"'{self.name}' had edits that were confirmed but not yet in the file; they were restored."
            )
            self._save()
        else:
            self.notes.append(f"'{self.name}' was changed outside since it was last open; undo takes that back.")
            self._edited("outside", Edit(OUTSIDE, splice(text, file)), None)

    def _replayed(self, records: Sequence[Record]) -> tuple[str, set[str]]:
        """(text, sums): the text at the end of the journal, and the checksums of texts that the file may still have,
        because no later one is known to be saved.
        """
        unsaved: set[str] = set()
        text, last = "", ""
        for record in records:
            act = record["act"]
            if act == "saved":
                unsaved = set()
                continue
            unsaved.add(last)
            if act != "start":
                self._earlier.append((self.revision, text))
            if act == "start":
                text = record["text"]
            elif act in ("edit", "outside"):
                edit = Edit(record["label"], Splice(*record["splice"]), record.get("command"))
                text = edit.splice.applied(text)
                self._moved(act, edit)
            else:
                edit = self._done[-1] if act == "undo" else self._undone[-1]
                text = (edit.splice.inverse if act == "undo" else edit.splice).applied(text)
                self._moved(act, edit)
            self.revision += act != "start"
            last = record["sum"]
            if text_sum(text) != last:
                raise ValueError
        return text, unsaved
