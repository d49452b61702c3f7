"""The seal of a report: the last line of its file, a comment with the SHA-256 of all bytes before it.

A PDF, a page and LaTeX source each have a kind of comment that may stand at their end, so that one line tells whether a
report was changed after it was written.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal

WORDS = "kinemorph report, sha256"
COMMENTS = {"pdf": ("% ", ""), "tex": ("% ", ""), "html": ("<!-- ", " -->")}  # before and after the text, by ending
SEAL = re.compile(rb"\n(?:%|<!--) kinemorph report, sha256 ([0-9a-f]{64})(?: -->)?\n?$")

Seal = Literal["intact", "broken", "missing"]


def digest(data: bytes) -> str:
    """The SHA-256 of data, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sealed(data: bytes, ending: str) -> bytes:
    """The content of a report with its seal; `ending` is that of its file: "pdf", "html" or "tex"."""
    before, after = COMMENTS[ending]
    return data + f"\n{before}{WORDS} {digest(data)}{after}\n".encode()


def seal_of(data: bytes) -> Seal:
    """Whether the content of a report has a seal, and whether the seal fits to all bytes before it."""
    found = SEAL.search(data)
    if found is None:
        return "missing"
    return "intact" if digest(data[: found.start()]) == found[1].decode() else "broken"
