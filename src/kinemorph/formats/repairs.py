"""Repaired copies of model files: the repairs that findings carry, done on the parsed document, and the new text.

Only what can be read in one way is repaired by itself; the original is never touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kinemorph.formats.findings import Finding


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
    """An XML document with the comments around it; the root begins on the line where it did."""
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
