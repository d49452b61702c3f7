"""Joins ES modules into one text: for pages that load nothing else, and for servers, where one file loads sooner.

Files are joined in the order in which they import one another; lines with `import` and the word `export` are removed,
because all files share one scope. So a name at the top of one file must not be used at the top of another.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

IMPORT = re.compile(r'^(?:import|export)\s+\{[^}]*\}\s+from\s+"([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function\b|const\b|let\b|class\b)", re.MULTILINE)


@cache
def bundle(entry: str) -> str:
    """The text of a script of `display`, such as "stage/stage.js", and of all scripts that it imports."""
    return EXPORT.sub("", joined(entry))


@cache
def joined(entry: str) -> str:
    """The same text as a module that still exports all names which any of these scripts exports."""
    return "\n".join(trimmed(IMPORT.sub("", display_file(path))) for path in modules(entry))


@cache
def style(*names: str) -> str:
    """The style sheet of the stage, and others of `display`."""
    return "\n".join(trimmed(display_file(name)) for name in ("stage/stage.css", *names))


def modules(entry: str) -> list[str]:
    """The paths of a script and of all that it imports, below `display`: imported ones first."""
    found: dict[str, None] = {}
    begun: set[str] = set()

    def visit(path: str) -> None:
        if path in begun:
            return
        begun.add(path)
        for other in IMPORT.findall(display_file(path)):
            visit(posixpath.normpath(posixpath.join(posixpath.dirname(path), other)))
        found[path] = None

    visit(entry)
    return list(found)


def trimmed(text: str) -> str:
    """A script or style sheet without indentation and without comments.

    A comment behind code stays if it contains a quotation mark, since it may be part of a text.
    """
    text = re.sub(r"^[ \t]*/\*(?:(?!\*/).)*\*/[ \t]*$|^[ \t]*//[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(?<=\S)[ \t]+// [^\n\"'`]*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n[ \t\n]+", "\n", text).strip() + "\n"


@cache
def display_file(path: str) -> str:
    """The text of a file of `display`."""
    return files("kinemorph.display").joinpath(*path.split("/")).read_text(encoding="utf-8")
