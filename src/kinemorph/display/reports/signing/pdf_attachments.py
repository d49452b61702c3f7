"""Files that are attached to a PDF, read from the few parts of the format that Typst writes.

A PDF is a list of objects; the table at its end says where each of them begins. The catalog leads to the names of
attached files (ISO 32000-1, 7.11.4). Files with compressed tables or encryption, which other programs write, are
refused.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

LARGEST = 64 * 2**20  # bytes of one attached file
DEEPEST = 50  # levels of arrays and dictionaries
SPACES = re.compile(rb"(?:[\x00\t\n\f\r ]|%[^\r\n]*)*")
TOKEN = re.compile(
    rb"<<|>>|[\[\]]|/(?P<name>[^\x00\t\n\f\r ()<>\[\]{}/%]*)|<(?P<hex>[0-9A-Fa-f\s]*)>"
    rb"|(?P<ref>\d+\s+\d+\s+R\b)|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))|(?P<word>true|false|null)"
)
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
ENTRY = re.compile(rb"(\d{10}) (\d{5}) ([nf])[ \r\n]{2}")


class Reference(int):
    """The number of another object."""


class PdfProblem(Exception):
    """A PDF that cannot be read; the text says what is wrong with it."""


def pdf_attachments(data: bytes) -> dict[str, bytes]:
    """{name: content} of the files attached to a PDF. Raises PdfProblem where the PDF is damaged or of another kind."""
    try:
        return _Reader(data).attachments()
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError, zlib.error) as error:
        raise PdfProblem(f"its objects cannot be read ({type(error).__name__})") from error


class _Reader:
    """The objects of a PDF, by their numbers."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        found = re.findall(rb"startxref\s+(\d+)\s+%%EOF", data)
        if not data.startswith(b"%PDF-") or not found:
            raise PdfProblem("its beginning or its end is missing")
        self.places, trailer = self._table(int(found[-1]))
        if "Encrypt" in trailer or "Prev" in trailer:
            raise PdfProblem("another program encrypted it or added to it")
        self.catalog = self.resolved(trailer["Root"])

    def _table(self, start: int) -> tuple[dict[int, int], dict[str, Any]]:
        """The places of all objects, {number: offset}, and the dictionary below the table."""
        head = re.compile(rb"xref\s+0 (\d+)\s*?\n").match(self.data, start)
        if head is None:
            raise PdfProblem("its table of objects is not of the kind that `kinemorph report` writes")
        places, at = {}, head.end()
        for number in range(int(head[1])):
            entry = ENTRY.match(self.data, at)
            if entry is None:
                raise PdfProblem("its table of objects is damaged")
            at = entry.end()
            if entry[3] == b"n":
                places[number] = int(entry[1])
        below = re.compile(rb"\s*trailer").match(self.data, at)
        if below is None:
            raise PdfProblem("its table of objects is damaged")
        return places, self._value(below.end(), 0)[0]

    def resolved(self, value: Any) -> Any:
        """The object that a reference leads to; any other value as it is."""
        return self._object(value)[0] if isinstance(value, Reference) else value

    def _object(self, number: int) -> tuple[Any, int]:
        """An object, and the place after it."""
        place = self.places[number]
        head = re.compile(rb"\s*%d \d+ obj" % number).match(self.data, place)
        if head is None:
            raise PdfProblem("its table of objects is damaged")
        return self._value(head.end(), 0)

    def attachments(self) -> dict[str, bytes]:
        """{name: content} of all attached files; empty where there are none."""
        names = self.resolved(self.catalog.get("Names"))
        tree = self.resolved(names.get("EmbeddedFiles")) if names else None
        if not tree:
            return {}
        pairs = list(self.resolved(tree["Names"]))
        found = {}
        for name, about in zip(pairs[::2], pairs[1::2], strict=True):
            content = self.resolved(about)["EF"]["F"]
            if not isinstance(content, Reference) or not isinstance(name, bytes):
                raise PdfProblem("its attached files cannot be read")
            found[_text(name)] = self._stream(content)
        return found

    def _stream(self, number: int) -> bytes:
        """The content of a stream object, decompressed."""
        about, end = self._object(number)
        start = re.compile(rb"\s*stream\r?\n").match(self.data, end)
        length = self.resolved(about["Length"])
        if start is None or not 0 <= length <= LARGEST:
            raise PdfProblem("an attached file is damaged or too large")
        content = self.data[start.end() : start.end() + length]
        if not re.compile(rb"\r?\n?endstream").match(self.data, start.end() + length):
            raise PdfProblem("an attached file does not have the length that is given for it")
        filters = about.get("Filter", [])
        for one in filters if isinstance(filters, list) else [filters]:
            if one != "FlateDecode" or "DecodeParms" in about:
                raise PdfProblem(f"an attached file is compressed by '{one}', which is not supported")
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(content, LARGEST)
            if not unpacking.eof:
                raise PdfProblem("an attached file is damaged or too large")
        return content

    # ── values ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        """The value that begins at a place, and the place after it: names are texts, texts are bytes."""
        if depth > DEEPEST:
            raise PdfProblem("its objects are nested too deeply")
        at = self._skipped(at)
        if self.data[at : at + 1] == b"(":
            return self._string(at)
        token = TOKEN.match(self.data, at)
        if token is None:
            raise PdfProblem("an object is damaged")
        text, end = token[0], token.end()
        if text == b"<<":
            return self._dictionary(end, depth)
        if text == b"[":
            return self._array(end, depth)
        if token["name"] is not None:
            return re.sub(rb"#([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), token["name"]).decode("latin-1"), end
        if token["hex"] is not None:
            digits = b"".join(token["hex"].split())
            return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()), end
        if token["ref"]:
            return Reference(text.split()[0]), end
        if token["number"]:
            return (float(text) if b"." in text else int(text)), end
        if token["word"]:
            return {b"true": True, b"false": False, b"null": None}[text], end
        raise PdfProblem("an object is damaged")

    def _skipped(self, at: int) -> int:
        space = SPACES.match(self.data, at)
        return space.end() if space else at

    def _dictionary(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        while self.data[(at := self._skipped(at)) : at + 2] != b">>":
            key, at = self._value(at, depth + 1)
            found[str(key)], at = self._value(at, depth + 1)
        return found, at + 2

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        found = []
        while self.data[(at := self._skipped(at)) : at + 1] != b"]":
            value, at = self._value(at, depth + 1)
            found.append(value)
        return found, at + 1

    def _string(self, at: int) -> tuple[bytes, int]:
        """A text in parentheses, which may be nested, with its escapes."""
        found, depth, k = bytearray(), 0, at
        while True:
            c = self.data[k : k + 1]
            if not c:
                raise PdfProblem("a text does not end")
            if c == b"\\":
                octal = re.compile(rb"[0-7]{1,3}").match(self.data, k + 1)
                if octal:
                    found.append(int(octal[0], 8) & 255)
                    k = octal.end()
                else:
                    nextone = self.data[k + 1 : k + 2]
                    found += ESCAPES.get(nextone, b"" if nextone in b"\r\n" else nextone)
                    k += 2
                continue
            depth += (c == b"(") - (c == b")")
            k += 1
            if depth == 0:
                return bytes(found[1:]), k
            found += c


def _text(name: bytes) -> str:
    """A text of a PDF: in UTF-16 after a mark, otherwise in Latin-1, as far as names of files need it."""
    return name.decode("utf-16") if name[:2] in (b"\xfe\xff", b"\xff\xfe") else name.decode("latin-1")
