"""Repaired copies of model files: the repairs that findings carry, done on the parsed document, and the new text.

Only values that can be read in one way are repaired automatically; the original is never touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kinemorph.formats.findings import Finding, Findings, Repair
from kinemorph.formats.sources import Source

LARGEST = 200_000  # bytes of a file that is repaired


def mend(document: Any, findings: Iterable[Finding]) -> bytes:
    """The text of a document after the repairs of these findings."""
    for finding in findings:
        if finding.repair is not None:
            finding.repair()
    if hasattr(document, "getroottree"):
        return _written(document.getroottree().getroot())
    import tomlkit

    return tomlkit.dumps(document).encode()


def _written(root: Any) -> bytes:
    """An XML document with the comments around it; the root begins on its original line."""
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
    return (above + gap + "\n".join([text(root), *after]) + "\n").encode()


def copy_name(path: Path) -> Path:
    """`arm.fixed.urdf` for `arm.urdf`."""
    return path.with_name(f"{path.stem}.fixed{path.suffix}")


class TomlRepairs:
    """Makes repairs of a TOML file, comments and layout kept. The document is parsed when the first one is wanted."""

    def __init__(self, source: Source, findings: Findings) -> None:
        self.source, self.findings = source, findings

    def repair(self, values: Mapping[tuple[str | int, ...], Any]) -> Repair | None:
        """A repair that writes these values, by path, into the document; None for a file that is too large."""
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
        """Parses the document with its layout, which takes much longer than reading it."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        if len(self.source.data) > LARGEST:
            return False
        try:
            self.findings.document = tomlkit.parse(self.source.data.decode("utf-8-sig"))
        except (TOMLKitError, RecursionError, ValueError):  # it is stricter than tomllib in places
            return False
        return True
