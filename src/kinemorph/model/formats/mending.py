"""Repaired copies of model files: the repairs that findings carry, done on the parsed document, and the new text.

Only what can be read in one way is repaired by itself; the original is never touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kinemorph.model.formats.findings import Finding


def mend(document: Any, findings: Iterable[Finding]) -> bytes:
    """The text of a document after the repairs of these findings."""
    for finding in findings:
        if finding.repair is not None:
            finding.repair()
    if hasattr(document, "getroottree"):
        from lxml import etree

        declared = document.sourceline > 1  # so that lines keep their numbers
        text: bytes = etree.tostring(document.getroottree(), xml_declaration=declared, encoding="UTF-8")
        return text.rstrip() + b"\n"
    import tomlkit

    return tomlkit.dumps(document).encode()


def copy_name(path: Path) -> Path:
    """`arm.fixed.urdf` for `arm.urdf`."""
    return path.with_name(f"{path.stem}.fixed{path.suffix}")
