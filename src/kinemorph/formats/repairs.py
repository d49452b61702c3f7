"""Repaired copies of model files: applies the repairs of findings to the parsed document and writes its text.

Only a value with one possible meaning is repaired automatically. The original file is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kinemorph.formats.findings import Finding, Findings, Repair
from kinemorph.formats.sources import Source

ADDRESSES = {"drake": "http://drake.mit.edu", "xacro": "http://www.ros.org/wiki/xacro"}  # of prefixes with a meaning
_OPENING = re.compile(r"<[^\s/>]+")
LARGEST = 200_000  # bytes of a TOML file; larger ones are not repaired


def repaired(document: Any, findings: Iterable[Finding]) -> bytes:
    """The text of a document after the repairs of these findings; the document itself is changed."""
    for finding in findings:
        if finding.repair is not None:
            finding.repair()
    if hasattr(document, "getroottree"):
        return _written(document.getroottree().getroot())
    import tomlkit

    return tomlkit.dumps(document).encode()


def _written(root: Any) -> bytes:
    """The text of an XML document with the comments before and after its root; the root begins on its original line."""
    from lxml import etree

    def text(node: Any) -> str:
        written: str = etree.tostring(node, encoding="unicode", with_tail=False)
        return written

    before = [text(node) for node in root.itersiblings(preceding=True)][::-1]
    after = [text(node) for node in root.itersiblings()]
    above = "\n".join(before)
    if root.sourceline - 1 > above.count("\n") + len(above[:1]):  # there was a line more: that of the declaration
        above = "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *before])
    gap = "\n" * max(root.sourceline - 1 - above.count("\n"), 1) if above else ""
    whole = _OPENING.sub(lambda found: found[0] + _declarations(root), text(root), count=1)
    return (above + gap + "\n".join([whole, *after]) + "\n").encode()


def _declarations(root: Any) -> str:
    """Declarations of the prefixes in a document that has none for them, as attributes of its root element."""
    names = [name for node in root.iter("*") for name in (node.tag, *node.keys())]
    prefixes = sorted({name.partition(":")[0] for name in names if ":" in name and not name.startswith("{")})
    return "".join(f' xmlns:{prefix}="{ADDRESSES.get(prefix, f"urn:{prefix}")}"' for prefix in prefixes)


def copy_name(path: Path) -> Path:
    """The path of the repaired copy of a file: `arm.fixed.urdf` for `arm.urdf`."""
    return path.with_name(f"{path.stem}.fixed{path.suffix}")


class TomlRepairs:
    """Makes repairs of a TOML file that keep comments and layout. The file is parsed when the first repair is made."""

    def __init__(self, source: Source, findings: Findings) -> None:
        self.source, self.findings = source, findings

    def repair(self, values: Mapping[tuple[str | int, ...], Any]) -> Repair | None:
        """A repair that writes values into the document, by the paths of their keys; None if the file is too large."""
        if self.findings.document is None and not self._parsed():
            return None
        document = self.findings.document

        def write() -> None:
            for path, value in values.items():
                table: Any = document
                for key in path[:-1]:
                    table = table[key]
                table[path[-1]] = value

        return write

    def _parsed(self) -> bool:
        """Parses the document with its layout, which takes much longer than parsing its data. False if that fails."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        if len(self.source.data) > LARGEST:
            return False
        try:
            self.findings.document = tomlkit.parse(self.source.data.decode("utf-8-sig"))
        except (TOMLKitError, RecursionError, ValueError):  # it is stricter than tomllib in places
            return False
        return True
