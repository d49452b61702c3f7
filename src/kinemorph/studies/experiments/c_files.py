"""The C of a controller as named texts: its sources, and the headers that they include."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from kinemorph.model.elements.control.c_functions import CController, is_c_text
from kinemorph.studies.experiments.origins import file_text

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include(?:_next)?\b[ \t]*(.*)", re.MULTILINE)
NAMED = re.compile(r'(["<])([^">]+)[">]')


def c_files(element: CController, missed: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """("file NAME", its content) of every file of a controller, sources first. Headers of the system do not count."""
    seen: set[str] = set()
    for source in element.source:
        if is_c_text(source):
            yield from _headers(str(source), "", element, seen, missed)
        else:
            yield from _file(source, element, seen, missed)


def _file(path: str, element: CController, seen: set[str], missed: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    place = os.path.realpath(path)
    if place in seen:
        return
    seen.add(place)
    if not os.path.isfile(path):
        yield f"file {os.path.basename(path)}", "not found"
        return
    yield f"file {os.path.basename(path)}", file_text(path)
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    yield from _headers(text, os.path.dirname(path), element, seen, missed)


def _headers(
    text: str, folder: str, element: CController, seen: set[str], missed: Callable[[str], None]
) -> Iterator[tuple[str, str]]:
    """The headers that a text of C includes, from its folder and the folders of the element."""
    for given in INCLUDE.findall(text):
        named = NAMED.match(given)
        if named is None:
            missed(f"#include {given.strip()} of controller '{element.name}'")
            continue
        folders = [*([folder] if folder and named[1] == '"' else []), *map(str, element.include)]
        found = (os.path.join(one, named[2]) for one in folders)
        path = next(filter(os.path.isfile, found), None)
        if path is not None:
            yield from _file(path, element, seen, missed)
