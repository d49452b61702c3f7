"""Pictures of a report as files: vector drawings that have the same bytes whenever they are written.

Texts in drawings are outlines, so that they look the same everywhere. In languages with a decimal comma the numbers at
the axes of plots have one.
"""

from __future__ import annotations

import io
import re
import struct
from typing import Any, Literal

from kinemorph.display.faces.document import Figure
from kinemorph.display.faces.languages.words import Words

Kind = Literal["svg", "pdf", "png"]
PNG_HEAD = b"\x89PNG\r\n"
DPI = 200.0  # resolution of rendered parts of a figure [pixels/inch]
# largest heights of a picture, and of a plot as wide as the text, as fractions of the width of the text
HIGHEST, HIGHEST_PLOT = 0.6, 1.0
SALT = "kinemorph"  # makes the ids in drawings the same every time
OUTLINES: Any = {"svg.hashsalt": SALT, "svg.fonttype": "path", "pdf.fonttype": 42, "pdf.compression": 9}
METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def picture_file(figure: Figure, kind: Literal["svg", "pdf"], words: Words) -> tuple[bytes, Kind]:
    """The bytes of a picture and the kind of file that they are.

    A Matplotlib figure becomes a drawing of the kind that is asked for; bytes stay what they are.
    """
    picture = figure.picture
    if isinstance(picture, bytes):
        return picture, "png" if picture.startswith(PNG_HEAD) else "svg"
    import matplotlib

    localize(picture, words)
    file = io.BytesIO()
    with matplotlib.rc_context(OUTLINES):
        picture.savefig(file, format=kind, dpi=DPI, metadata=METADATA[kind])
    return file.getvalue(), kind


def fitted_width(figure: Figure) -> float:
    """The width of a picture in the document, as a fraction of that of the text: smaller where it would be too high."""
    picture = figure.picture
    if isinstance(picture, bytes):
        sides: Any = struct.unpack(">II", picture[16:24]) if picture.startswith(PNG_HEAD) else (1, 1)
    else:
        sides = picture.get_size_inches()
    most = HIGHEST_PLOT if figure.width >= 1.0 else HIGHEST
    return float(min(figure.width, most * sides[0] / sides[1]))


def inline_svg(data: bytes, prefix: str, says: str) -> str:
    """An SVG file as an element of a page: without its header, and with `prefix` before all ids, which makes them
    unique on the page. `says` is its alternative text, in HTML.
    """
    text = data.decode("utf-8")
    text = f'<svg role="img" aria-label="{says}"{text[text.index("<svg") + 4 :]}'
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="([^"]*)"', rf'id="{prefix}\1"', text)
    text = re.sub(r'(xlink:href|href)="#([^"]*)"', rf'\1="#{prefix}\2"', text)
    return re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}\1)", text)


def localize(plot: Any, words: Words) -> None:
    """Gives the numbers at the axes and in the drawing of a Matplotlib figure the sign of decimals of a language."""
    if words.language.decimal == ".":
        return
    for axes in plot.axes:
        for text in axes.texts:
            text.set_text(words.localized(text.get_text()))
        for axis in (axes.xaxis, axes.yaxis):
            inner = axis.get_major_formatter()
            if not isinstance(inner, _formatter()):
                axis.set_major_formatter(_formatter()(inner, words))


def _formatter() -> Any:
    """The class of formatters that write the numbers of another one in a language; it needs Matplotlib's base class."""
    global _LOCALIZED
    if _LOCALIZED is None:
        from matplotlib.ticker import Formatter

        class Localized(Formatter):
            """A formatter of tick labels around another one, whose numbers it writes in a language."""

            def __init__(self, inner: Any, words: Words) -> None:
                self.inner, self.words = inner, words

            def __call__(self, x: float, pos: int | None = None) -> str:
                return self.words.localized(self.inner(x, pos))

            def format_ticks(self, values: Any) -> list[str]:
                return [self.words.localized(text) for text in self.inner.format_ticks(values)]

            def set_axis(self, axis: Any) -> None:
                super().set_axis(axis)
                if axis is not None:
                    self.inner.set_axis(axis)

            def set_locs(self, locs: Any) -> None:
                self.inner.set_locs(locs)

            def get_offset(self) -> str:
                return self.words.localized(self.inner.get_offset())

        _LOCALIZED = Localized
    return _LOCALIZED


_LOCALIZED: Any = None
