"""What surrounds the march in each language: source files of programs, which targets copy with the name of the model.

They are complete files of their language, with the word `simulator` where a program has the name of its model. Files in
Python end in .txt, since they are no part of this package.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from kinemorph.codegen.backends.identifiers import identifier

LONGEST = 40  # characters of the name of a program; names that begin with it stay within the limits of all languages


def program_name(name: str, taken: Collection[str], reserved: Collection[str], longest: int = LONGEST) -> str:
    """The name of a job as an identifier with which all names in its program begin.

    It is none of those `taken`, nor a `reserved` word of the language, and has at most `longest` characters.
    """
    found = identifier(identifier(name)[:longest], taken, reserved)
    return f"{found}program" if found.endswith("_") else found


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


def compiled_files(texts: Iterable[str]) -> list[str]:
    """The files of a program that a C compiler compiles, sorted: those in its folder, which include the others."""
    return sorted(file for file in texts if file.endswith(".c") and "/" not in file)


def as_bytes(content: str | bytes) -> bytes:
    """The bytes of a file: texts are UTF-8, except where a source of a user has other bytes."""
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
