"""Finds the line of every key of a TOML text in one pass over its tokens, without parsing values.

The path of a key is a tuple such as ("bodies", "arm", "shapes", 0, "radius"). The pass understands tables, arrays of
tables, dotted and quoted keys, inline tables and arrays, and all four kinds of strings. It runs before the text is
parsed, so it accepts any text: it stops where the text is not TOML. It also finds how deep brackets and dotted keys are
nested, before the parser, which recurses, reads them.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from kinemorph.formats import limits

Path: TypeAlias = tuple[str | int, ...]

_PIECE = re.compile(
    r"""[ \t\r]*(?:
        (?P<newline>\n)
      | (?P<string>\"\"\"(?:[^"\\]+|\\.|\"{1,2}(?!\"))*+\"{3,5}|'''.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
      | (?P<bare>[\w+.:-]+)
      | (?P<sign>[\[\]{},=])
      | (?P<comment>\#[^\n]*)
      | (?P<other>[^ \t\r]))""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r'\\(?:([btnfr"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))')
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


class Lines:
    """The lines of all keys of a text, and how deep its brackets and keys are nested."""

    def __init__(self, text: str) -> None:
        self.depth = 0  # greatest depth of brackets, or number of parts of a key
        self._keys = self._parts = 0  # numbers so far
        self._lines: dict[Path, int] = {(): 1}
        self._counts: dict[Path, int] = {}  # number of tables so far in each array of tables
        self.number = 1  # the current line
        self._walk(text)

    def line(self, path: Path) -> int:
        """The line of a key or an item of a list, counted from 1; if unknown, that of the table or list around it."""
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]

    def has(self, path: Path) -> bool:
        """Whether the text has a key."""
        return path in self._lines

    @property
    def too_many(self) -> bool:
        """Whether there are more keys than allowed; then the pass has stopped early."""
        return self._keys > limits.TOML_KEYS or self._parts > limits.TOML_PARTS

    # ── the pass over the tokens ──────────────────────────────────────────────────────────────────────────────────

    def _walk(self, text: str) -> None:
        """Stores the lines of all keys of a text."""
        table: Path = ()
        key: list[str] = []  # parts of the key that is being read
        header = 0  # how many brackets opened the header that is being read
        open_paths: list[Path] = []  # arrays and inline tables around the current token
        is_array: list[bool] = []
        counts: list[int] = []  # number of items so far in each of them
        value = False  # whether a value is expected rather than a key
        path: Path = ()  # of the value that is expected
        for match in _PIECE.finditer(text):
            kind = match.lastgroup or ""
            piece = match[kind]
            if kind == "newline":
                self.number += 1
                if not open_paths:
                    key, header, value = [], 0, False
            elif kind == "sign":
                if piece == "=" and key and not value:
                    path = self._note(open_paths[-1] if open_paths else table, key)
                    key, value = [], True
                    if self.too_many:
                        return
                elif piece in "[{" and (value or (open_paths and is_array[-1])):
                    if open_paths and is_array[-1]:
                        path = self._item(open_paths[-1], counts)
                    open_paths.append(path)
                    is_array.append(piece == "[")
                    counts.append(0)
                    self.depth = max(self.depth, len(open_paths))
                    if self.depth > limits.NESTING:
                        return
                    value = piece == "["
                elif piece in "]}" and open_paths:
                    open_paths.pop()
                    is_array.pop()
                    counts.pop()
                    value, key = bool(open_paths) and is_array[-1], []
                elif piece == "," and open_paths:
                    counts[-1] += 1
                    value, key = is_array[-1], []
                elif piece == "[":
                    header += 1
                elif piece == "]" and header:
                    table = self._header(key, header) if key else table
                    key, header = [], 0
                    if self.too_many:
                        return
            elif kind in ("string", "bare"):
                if not value:
                    self._part(key, kind, piece)
                    if len(key) > limits.NESTING:
                        self.depth = len(key)
                        return
                elif open_paths and is_array[-1]:
                    self._item(open_paths[-1], counts)
                self.number += piece.count("\n")
            elif kind == "other":
                return  # the text is not TOML from here on

    def _part(self, key: list[str], kind: str, piece: str) -> None:
        """Adds the parts of a key in one token to `key`: one quoted part, or bare parts separated by dots."""
        if kind == "bare":
            key += [part for part in piece.split(".", limits.NESTING + 1) if part]
        elif piece[0] == "'":
            key.append(piece[1:-1])
        else:
            key.append(_ESCAPE.sub(_unescaped, piece[1:-1]))

    def _item(self, array: Path, counts: list[int]) -> Path:
        """The path of the item of an array that begins at the current place in the text.

        Its line is stored only if it differs from that of the array.
        """
        path = (*array, counts[-1])
        if self.number != self._lines.get(array):
            self._lines.setdefault(path, self.number)
        return path

    def _note(self, table: Path, key: list[str]) -> Path:
        """Stores the line of a key, and of the tables that its dots imply; returns its path."""
        path = table
        self._keys += 1
        for part in key:
            path = (*path, part)
            self._parts += len(path)
            self._lines.setdefault(path, self.number)
        return path

    def _header(self, key: list[str], brackets: int) -> Path:
        """The path of the table that a header [key] opens; a part that is an array of tables stands for its last
        table.
        """
        path: Path = ()
        self._keys += 1
        for place, part in enumerate(key):
            path = (*path, part)
            self._parts += len(path)
            if brackets > 1 and place == len(key) - 1:
                self._counts[path] = self._counts.get(path, 0) + 1
            self._lines.setdefault(path, self.number)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
                self._lines.setdefault(path, self.number)
        return path


def _unescaped(match: re.Match[str]) -> str:
    """The character of an escape sequence."""
    if match[1]:
        return _ESCAPED[match[1]]
    code = int(match[2] or match[3], 16)
    return chr(code) if code < 0x110000 else ""
