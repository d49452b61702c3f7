"""Code of the user in the folder of a program: it is written once, and stays when the program is written again.

The files of the interface have a line for each name (see `interface`). Where those that are in the folder differ from
the new ones, the user's own files stay as they are, a new template lies beside each, and a sentence says what changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from kinemorph.errors import KinemorphError
from kinemorph.programs.drivers import as_bytes
from kinemorph.programs.job import Job
from kinemorph.programs.user_files.interface import LINE, Interface, changes, interface_of, written_lines

OWN = ("user.c", "user.py", "user_efforts.m", "user_rates.m", "user_sample.m", "user_save.m")  # files of the user
NEW = ".new"  # the ending of a template beside a file of the user


class Language(Protocol):
    """The files of user code in one language."""

    def interface_texts(self, face: Interface) -> dict[str, str]:
        """{file name: text} of the files that are written anew with each program."""

    def template(self, face: Interface) -> dict[str, str]:
        """{file name: text} of the user's own files before the user has written them."""


def user_texts(job: Job, name: str, language: Language) -> dict[str, str]:
    """{file name: text} of all files of user code; empty where a job has none. `name` is that of the program."""
    if job.user is None:
        return {}
    face = interface_of(job, name)
    own = language.template(face)
    if job.user.source is not None:
        own = {Path(job.user.source).name if len(own) > 1 else next(iter(own)): _source(job.user.source)}
    return language.interface_texts(face) | own


def _source(path: str | Path) -> str:
    """The text of the user's file; raises KinemorphError where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text in UTF-8"
        raise KinemorphError(f"user code: the file '{path}' cannot be read: {why}. Correct the path.") from error


def write_all(folder: Path, contents: Mapping[str, str | bytes]) -> str:
    """Writes the files of a program; files of the user that are there already stay. Raises OSError where it cannot.

    Returns a sentence about names that have changed since they were written; "" where none have.
    """
    texts = {name: content for name, content in contents.items() if isinstance(content, str)}
    there = [name for name in texts if name in OWN and (folder / name).exists()]
    old = _lines_in(folder, texts)
    new = [line for text in texts.values() for line in written_lines(text)]
    for name, content in contents.items():
        if name not in there:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(as_bytes(content))
    if not there or {*old} == {*new}:  # code refers to names, whatever their order
        return ""
    for name in there:
        (folder / f"{name}{NEW}").write_text(texts[name], encoding="utf-8")
    listed, beside = ", ".join(there), ", ".join(f"{name}{NEW}" for name in there)
    stays = f"{listed} in '{folder}' stays as it is, and a new template is in {beside}. Compare them"
    if not old:
        return f"{stays}: it is not known for which model {listed} was written."
    return f"{stays}, since the model has changed; {changes(old, new)}."


def _lines_in(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """The lines of the interface in the files of a folder that a program replaces."""
    found: list[str] = []
    for name, text in texts.items():
        if LINE in text and (folder / name).exists():
            found += written_lines((folder / name).read_text(encoding="utf-8", errors="replace"))
    return found
