"""The panel Report: a document about the model and its saved runs, as PDF, HTML or LaTeX source.

An HTML report is also shown in a tab of its own: served under a policy without scripts, requests and origin, so that
nothing that a model is called can do more there than be read. It is no frame of the studio's page, whose own policy
stays free of frames.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinemorph.display.serving.channel import Channel
from kinemorph.errors import UnsupportedError
from kinemorph.studio.jobs.page_tasks import Made, document_data
from kinemorph.studio.panels.same_in_python import Code, assign, call, command, same, script
from kinemorph.studio.requests import request
from kinemorph.studio.session import Session
from kinemorph.words import listed

FORMATS = {"pdf": "PDF", "html": "HTML", "latex": "LaTeX source"}
LANGUAGES = {"en": "English", "fr": "French"}
SAVED_RUNS = (".npz", ".csv", ".h5", ".res")  # endings of runs in the folder of the project
LONGEST = 200  # characters of a title, an author or a date


@request("report_choices")
def report_choices(session: Session, channel: Channel, *, document: str) -> dict[str, Any]:
    """Formats, languages and chapters of a report, and the runs of the document.

    A run is listed as [key, title]: the key is the number of a result, or the name of a saved run in the folder.
    """
    from kinemorph.display.reports.chapters import chapter_table

    return {
        "formats": [[key, title] for key, title in FORMATS.items()],
        "missing": "" if find_spec("typst") else "PDF needs the extra 'report': pip install 'kinemorph[report]'.",
        "languages": list(LANGUAGES.items()),
        "chapters": [[key, contents] for key, contents in chapter_table().rows],
        "runs": [
            *([run.number, run.label] for run in session.results.of(document) if run.is_kept),
            *([name, name] for name in saved_runs(session)),
        ],
    }


def saved_runs(session: Session) -> list[str]:
    """The saved runs in the folder of the project, by the names of their files."""
    found = (path for path in session.folder.iterdir() if path.suffix in SAVED_RUNS and not path.is_symlink())
    return sorted(path.name for path in found if path.is_file())


@request("write_report")
def write_report(
    session: Session,
    channel: Channel,
    *,
    document: str,
    to: str = "html",
    language: str = "en",
    chapters: list[Any] | None = None,
    runs: list[Any] | None = None,
    title: str = "",
    author: str = "",
    date: str = "",
) -> dict[str, Any]:
    """Writes a report in a worker and offers it as a download; an HTML report can also be shown."""
    for what, given, known in (("format", to, FORMATS), ("language", language, LANGUAGES)):
        if given not in known:
            raise UnsupportedError(f"the {what} of the report is {given[:40]!r}; expected one of: {listed(known)}.")
    for key in chapters or []:
        if not isinstance(key, str):
            raise UnsupportedError(f"a chapter of the report is {str(key)[:40]!r}; expected the key of a chapter.")
    files = [name for name in runs or [] if isinstance(name, str)]
    for name in files:
        if name not in saved_runs(session):
            raise UnsupportedError(f"there is no saved run {name[:80]!r} in the folder of the project. Choose another.")
    results = [session.results.run(number) for number in runs or [] if isinstance(number, int)]
    texts = {"title": title[:LONGEST], "author": author[:LONGEST], "date": date[:LONGEST]}
    data = (
        document_data(session, document)
        | texts
        | {
            "to": to,
            "language": language,
            "chapters": chapters,
            "results": [run.source() for run in results],
            "files": {_title(name, files): str(session.folder / name) for name in files},
        }
    )
    paths = [os.path.relpath(run.path, session.folder) for run in results] + files
    told = _same(document, to, language, chapters, paths, texts)

    def finish(made: Made) -> dict[str, Any]:
        shown = {}
        if to == "html" and made.file:
            shown = session.offers.add(made.content, made.file["media"], made.file["name"], shown=True)
        return {**made.data, "shown": shown or None, "same": told}

    return session.tasks.start(channel, "write_report", data, finish)


def _title(name: str, names: list[str]) -> str:
    """What a saved run is called in a report: its file's name, without the ending where no other run needs it."""
    stem = Path(name).stem
    return name if sum(Path(one).stem == stem for one in {*names}) > 1 else stem


def _same(
    document: str, to: str, language: str, chapters: list[str] | None, runs: list[str], texts: dict[str, str]
) -> dict[str, str]:
    """The Python and the command that write the same report."""
    file = Path(document).name
    target = f"{Path(document).stem}{'.zip' if to == 'latex' else f'.{to}'}"
    given = {key: value or None for key, value in texts.items()}
    lines = ["import kinemorph as km", "", assign("model", call("km.load", file))]
    lines += [assign(f"run{k}", call("km.load_trajectory", run, Code("model"))) for k, run in enumerate(runs, 1)]
    named = [Code(f"run{k}") for k in range(1, len(runs) + 1)]
    names = [Path(run).stem for run in runs] or None
    spoken = None if language == "en" else language
    lines.append(
        call("km.report", Code("model"), *named, path=target, language=spoken, chapters=chapters, names=names, **given)
    )
    shell = command(
        "report", file, *runs, output=target, language=spoken,
        chapters=None if chapters is None else ",".join(map(str, chapters)), **given,
    )  # fmt: skip
    return same(script(*lines), shell)
