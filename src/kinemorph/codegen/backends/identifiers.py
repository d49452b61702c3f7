"""Names from a model, made safe for use in emitted source code.

A robot may have any name: `"; system("x")`, `*/ int main(){`, an empty string, a line break. Text from a model gets
into source code only through two functions here: as an *identifier* or as a *comment*. Both return printable ASCII
that is valid in C, CUDA, Python and MATLAB. `includable` is for names of files that the user asks for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from kinemorph.errors import CompileError

LONGEST = 56  # characters; with a suffix this stays within the 63 that are significant in MATLAB and C


def identifier(name: str, taken: Collection[str] = (), reserved: Collection[str] = ()) -> str:
    """A name as an identifier: letters, digits and single underscores, a letter first.

    Accents are dropped, Greek letters are spelled out, other characters become underscores. A `reserved` word of the
    target language gets an underscore appended; a name that is `taken` gets the first free number: `arm`, `arm_2`.
    """
    words = re.sub(r"[^A-Za-z0-9]+", "_", _in_ascii(name)).strip("_")
    stem = words[:LONGEST].rstrip("_") if words[:1].isalpha() else f"x{words}"[:LONGEST].rstrip("_")
    if stem in reserved:
        stem += "_"
    found, count = stem, 1
    while found in taken or found in reserved:
        count += 1
        found = f"{stem.rstrip('_')}_{count}"
    return found


def includable(file: str) -> str:
    """The name of a file as it is, for the text `#include "file.h"`. Raises CompileError if it cannot be written there.

    The name is that of a file which the user asks for, never one from a model.
    """
    if not file or not file.isprintable() or set(file) & set('"\\/'):
        raise CompileError(
            f"the file name {file!r} cannot be written in an #include line; expected printable characters without "
            "quotes, slashes and backslashes. Choose another name."
        )
    return file


def comment(text: str) -> str:
    """A text as one line of a comment, changed so that it cannot end the comment or continue it on the next line.

    Line breaks and control characters become spaces; a backslash (which could join lines) becomes a slash, a double
    quote (which could close a docstring) a single quote; a space separates `*` from `/` and `?` from `?` (trigraphs).
    """
    line = re.sub(r"[^ -~]+", "_", re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", _in_ascii(text)))
    line = line.replace("\\", "/").replace('"', "'")
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", line).strip()


def _in_ascii(text: str) -> str:
    """The text with accents dropped and Greek letters spelled out; other characters stay, even if not ASCII."""
    if not isinstance(text, str):
        raise CompileError(f"{text!r} is given as a name; expected a string. Pass a name such as 'model'.")
    spelled = re.sub(r"[\u0370-\u03ff]", lambda letter: _greek(letter.group()), unicodedata.normalize("NFKD", text))
    return re.sub(r"[\u0300-\u036f]", "", spelled)


def _greek(letter: str) -> str:
    """The name of a Greek letter: `tau` for the small letter, `Tau` for the capital; other letters stay as they are."""
    found = re.match(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", unicodedata.name(letter, ""))
    if found is None:
        return letter
    size, word = found.groups()
    return word.capitalize() if size == "CAPITAL" else word.lower()
