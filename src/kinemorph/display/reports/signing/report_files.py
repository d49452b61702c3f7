"""The files that are attached to a report, from its own file: a PDF, a page, or LaTeX source with files beside."""

from __future__ import annotations

import base64
import binascii
import io
import re
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

from kinemorph.display.reports.signing.pdf_attachments import LARGEST, PdfProblem, pdf_attachments
from kinemorph.display.reports.signing.sealed import Seal, seal_of
from kinemorph.display.reports.signing.verdicts import MODEL_FILE, VERDICT_FILE
from kinemorph.errors import KinemorphError
from kinemorph.frozen import dataclass

FOLDER, SOURCE = "attached", "report.tex"  # beside LaTeX source, and that source in a folder of its own
LINK = re.compile(r'<a download="([^"]*)" href="data:[^",;]*;base64,([A-Za-z0-9+/=]*)"')


@dataclass(frozen=True, eq=False)
class ReportFiles:
    """The attached files of a report, {name: content}, and whether its seal fits."""

    files: dict[str, bytes]
    seal: Seal


def read_report(path: Path) -> ReportFiles:
    """The attached files of a report. Raises KinemorphError where the file is no report or has no verdict attached."""
    path = path / SOURCE if path.is_dir() else path
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise KinemorphError(
            f"'{path}' is not a report: it ends in '{path.suffix}'; expected one of: {', '.join(READERS)}."
        )
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= 4 * LARGEST else b""
    except OSError as error:
        raise KinemorphError(f"cannot read '{path}': {error.strerror or error}. Check its name.") from error
    if not data:
        raise KinemorphError(f"'{path}' is not a report: it has {size} bytes.")
    found = reader(data, path)
    if VERDICT_FILE not in found.files:
        raise KinemorphError(
            f"no verdict is attached to '{path}', so nothing can be checked. Write the report with the chapter "
            "'verification', and for LaTeX source keep the folder of attached files beside it."
        )
    return found


def _pdf(data: bytes, path: Path) -> ReportFiles:
    try:
        return ReportFiles(pdf_attachments(data), seal_of(data))
    except PdfProblem as problem:
        raise KinemorphError(f"'{path}' is not a PDF that `kinemorph report` wrote: {problem}.") from problem


def _html(data: bytes, path: Path) -> ReportFiles:
    """The files behind the links of a page."""
    text = data.decode("utf-8", errors="replace")
    if "<html" not in text[:1000].lower():
        raise KinemorphError(f"'{path}' is not an HTML page that `kinemorph report` wrote.")
    found = {}
    for name, inside in LINK.findall(text):
        try:
            found[unescape(name)] = base64.b64decode(inside, validate=True)
        except (binascii.Error, ValueError) as error:
            raise KinemorphError(f"the file '{name}' in '{path}' is damaged: it is not base64.") from error
    return ReportFiles(found, seal_of(data))


def _tex(data: bytes, path: Path) -> ReportFiles:
    found = {}
    for name in (MODEL_FILE, VERDICT_FILE):
        try:
            found[name] = (path.parent / FOLDER / name).read_bytes()
        except OSError:
            continue
    return ReportFiles(found, seal_of(data))


def _zip(data: bytes, path: Path) -> ReportFiles:
    found, source = {}, b""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for one in archive.infolist():
                if one.file_size > LARGEST:
                    raise KinemorphError(f"'{path}' is not a report: the file '{one.filename}' in it is too large.")
                place = Path(one.filename)
                if place.parent.name == FOLDER:
                    found[place.name] = archive.read(one)
                elif place.suffix == ".tex":
                    source = archive.read(one)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise KinemorphError(f"'{path}' is not a report: the archive is damaged ({error}).") from error
    return ReportFiles(found, seal_of(source))


READERS: dict[str, Callable[[bytes, Path], ReportFiles]] = {
    ".pdf": _pdf,
    ".html": _html,
    ".htm": _html,
    ".tex": _tex,
    ".zip": _zip,
}
