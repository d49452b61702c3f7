"""What surrounds the march in each language: source files of programs, which targets copy with the name of the model.

They are complete files of their language, with the word `simulator` where a program has the name of its model. Files in
Python end in .txt, since they are no part of this package.
"""

from __future__ import annotations

import re
from pathlib import Path


def driver_texts(language: str, name: str) -> dict[str, str]:
    """{file name: text} of the driver in a language, with the identifier `name` in place of the word `simulator`."""
    files = sorted(path for path in (Path(__file__).parent / language).iterdir() if path.is_file())
    return {
        named(path.name.removesuffix(".txt"), name): named(path.read_text(encoding="utf-8"), name) for path in files
    }


def named(text: str, name: str) -> str:
    """The text with an identifier in place of the word `simulator`, and its capitals in place of `SIMULATOR`."""
    text = re.sub(r"(?<![A-Za-z0-9])simulator(?![A-Za-z0-9])", name, text)
    return re.sub(r"(?<![A-Za-z0-9])SIMULATOR(?![A-Za-z0-9])", name.upper(), text)
