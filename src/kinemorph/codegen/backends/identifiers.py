"""Names and remarks of a model, made safe to stand in emitted source text.

A robot may be called anything: `"; system("x")`, `*/ int main(){`, an empty string, a line break. What a model says
about itself reaches source text in two ways only, and both pass through here: as an *identifier* and as a *comment*.
Both give plain printable ASCII that means the same in C, CUDA, Python and MATLAB.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from kinemorph.errors import CompileError

LONGEST = 56  # characters; with a suffix this stays within the 63 that MATLAB and C compilers tell apart


def identifier(name: str, taken: Collection[str] = (), reserved: Collection[str] = ()) -> str:
    """A name as an identifier: letters, digits and single underscores, a letter first.

    Accents are dropped, Greek letters are spelled out, all else becomes an underscore. A `reserved` word of the target
    language gets an underscore behind it; a name that is `taken` gets the first free number: `arm`, `arm_2`, `arm_3`.
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


def comment(text: str) -> str:
    """A text as one line of a comment that nothing in it can end or continue.

    Line breaks and control characters become spaces; a backslash (which could join lines) becomes a slash, a double
    quote (which could close a docstring) a single one; a space parts `*` from `/` and `?` from `?` (trigraphs).
    """
    line = re.sub(r"[^ -~]+", "_", re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", _in_ascii(text)))
    line = line.replace("\\", "/").replace('"', "'")
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", line).strip()


def _in_ascii(text: str) -> str:
    """Accents dropped and Greek letters spelled out; other characters stay as they are."""
    if not isinstance(text, str):
        raise CompileError(f"{text!r} is given as a name; expected a text, as 'model'.")
    spelled = re.sub(r"[\u0370-\u03ff]", lambda letter: _greek(letter.group()), unicodedata.normalize("NFKD", text))
    return re.sub(r"[\u0300-\u036f]", "", spelled)


def _greek(letter: str) -> str:
    """`tau` for the Greek small letter tau, `Omega` for the capital one."""
    found = re.match(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", unicodedata.name(letter, ""))
    if found is None:
        return letter
    size, word = found.groups()
    return word.capitalize() if size == "CAPITAL" else word.lower()
