"""`report`: a model and its runs as a document, in English or French, as PDF, LaTeX source or one HTML page."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from kinemorph.display.faces.document import Attachment, Document, Figure, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.chapters import chosen_chapters
from kinemorph.display.reports.subject import ReportSettings, Subject, subject_of
from kinemorph.durable_files import write_whole
from kinemorph.errors import KinemorphError, UnsupportedError
from kinemorph.words import did_you_mean

Format = Literal["pdf", "latex", "html"]
Language = Literal["en", "fr"]
WRITERS: dict[str, str] = {"pdf": "typst", "latex": "latex", "html": "html"}
ENDINGS = {".pdf": "pdf", ".html": "html", ".htm": "html", ".tex": "latex", ".zip": "latex"}
USUAL_ENDING = {"pdf": ".pdf", "html": ".html", "latex": ".zip"}


def report(
    *subject: Any,
    path: str | Path | None = None,
    to: Format | None = None,
    language: Language = "en",
    chapters: Sequence[str] | None = None,
    title: str | None = None,
    author: str = "",
    date: str = "",
    names: Sequence[str] = (),
    settings: ReportSettings | None = None,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Writes a report about a model and its runs, and returns the path of its file.

    `subject`    a Robot, System or Assembly, and runs of it; or runs alone
    `path`       the file: .pdf, .html, .tex or .zip for LaTeX source, or a folder for it; by default it is called like
                 the model and lies in the current folder
    `to`         "pdf" (needs the extra `report`), "latex" or "html"; by default as the ending of `path` says, or "pdf"
    `language`   "en" or "fr"
    `chapters`   keys of chapters, in the order in which they shall come; all that have something to show by default
    `title`      of the title page; the name of the model by default
    `date`       a text for the title page; without it the report has no date, so that the same subject gives the same
                 bytes every time
    `names`      of the runs
    `progress`   is called with the key of each chapter before it is made
    """
    about = subject_of(*subject, names=names, settings=settings)
    form = _format(path, to)
    words = Words(language)
    chosen_chapters(chapters)
    writer = import_module(f"kinemorph.display.reports.writers.{WRITERS[form]}")
    if hasattr(writer, "required"):
        writer.required()
    document = make_document(about, words, chapters, title=title, author=author, date=date, progress=progress)
    target = Path(f"{about.model.name}{USUAL_ENDING[form]}") if path is None else Path(path)
    if progress is not None:
        progress(str(target))
    for place, data in writer.files(document, target, words):
        write_whole(place, data)
    return target


def make_document(
    subject: Subject,
    words: Words,
    chapters: Sequence[str] | None = None,
    *,
    title: str | None = None,
    author: str = "",
    date: str = "",
    progress: Callable[[str], None] | None = None,
) -> Document:
    """The document of a report; the arguments are those of `report`."""
    sections: list[Section] = []
    attachments: list[Attachment] = []
    for key, chapter in chosen_chapters(chapters).items():
        if progress is not None:
            progress(key)
        section = chapter(subject, words)
        if section is not None:
            sections.append(section)
            attachments += section.attachments
    name = subject.model.name
    return Document(
        name if title is None else title,
        words.code,
        sections,
        tuple(attachments),
        subtitle=words("Report on {name}", name=name) if title else words("Report on a model"),
        author=author,
        date=date,
        cover=_cover(subject),
    )


def _cover(subject: Subject) -> Figure | None:
    """The picture on the title page: the robot, or a run as several poses; None where nothing can be drawn."""
    from kinemorph.display.faces.thumbnails import MOST_BODIES, model_pose, poster, run_poses
    from kinemorph.display.looks.combined_robot import robot_of

    if not 0 < len(subject.robot.bodies) <= MOST_BODIES:
        return None
    run = next(iter(subject.runs.values()), None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of missing meshes, which are warned of when the model is loaded
        try:
            drawn = (subject.model, model_pose(subject.model)) if run is None else (robot_of(run), run_poses(run)[::2])
        except KinemorphError:  # a run without finite samples is reported by its chapter
            drawn = subject.model, model_pose(subject.model)
        return Figure(poster(*drawn), "", 0.8)


def _format(path: str | Path | None, to: str | None) -> str:
    """The format that the ending of a path and the option `to` say; raises UnsupportedError where they differ."""
    ending = "" if path is None else Path(path).suffix.lower()
    if to is not None and to not in get_args(Format):
        known = ", ".join(get_args(Format))
        raise UnsupportedError(
            f"the format of a report is '{to}'; expected one of: {known}.{did_you_mean(to, get_args(Format))}"
        )
    said = ENDINGS.get(ending)
    if to is None and said is None and ending:
        raise UnsupportedError(
            f"'{path}' ends in '{ending}'; expected one of: {', '.join(ENDINGS)}, or a format by to='pdf'."
        )
    if to is not None and said is not None and said != to:
        raise UnsupportedError(f"'{path}' ends in '{ending}', but the format is '{to}'. Make them agree.")
    return to or said or "pdf"
