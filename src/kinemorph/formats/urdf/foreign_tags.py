"""Tags of other programs in a URDF, which readers leave out without a word because they do not affect the motion.

A reader says nothing about them, since the URDF keeps them. Who saves the model in another format should know them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from kinemorph.formats.findings import Findings
from kinemorph.formats.sources import read_file
from kinemorph.formats.urdf.cursor import SILENT, plain
from kinemorph.formats.xml_documents import parse
from kinemorph.words import counted


def foreign_tags(path: Path) -> list[str]:
    """A sentence for every part of a URDF and every tag of another program in it, with the name of the part."""
    findings = Findings(str(path))
    source = read_file(path, findings)
    root = None if source is None else parse(source, findings, bare=True)
    if root is None:
        return []
    found: Counter[tuple[str, str]] = Counter()
    for node in (root, *root):
        place = node.tag if isinstance(node.tag, str) else ""
        for child in node if place in ("robot", "link", "joint") else ():
            tag = plain(child.tag) if isinstance(child.tag, str) else ""
            if tag in SILENT[place] or ":" in tag:
                found[f"{place} '{node.get('name', '')}'", tag] += 1
    return [
        f"{path.name}: {part}: {counted(count, f'<{tag}> is', f'<{tag}> are')} for other programs and not carried over."
        for (part, tag), count in found.items()
    ]
